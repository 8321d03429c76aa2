/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - what must be true of a core in its world. Every check compares the core with the truth
 * of the model, or with a plain planner written here; none of them asks the core's own code, but
 * gang_core_check(), which recomputes its sums.
 *
 *   oracle_step     after every step: I1, I2, I3, I4, I5, and the ledger pod by pod
 *   oracle_binding  at every Binding: I2, with what the core must have charged
 *   oracle_nominated  who is nominated, to where, and whether it is due
 *   oracle_refused  what kube-scheduler does not offer is believed, if its list was whole
 *   oracle_calm     when all has gone well for long enough: nothing that fits is left over
 *   oracle_rebuild  I6: cores made anew from the same objects
 *
 * A violation calls model_fail().
 */
#ifndef MUSTER_TEST_PROP_ORACLE_H
#define MUSTER_TEST_PROP_ORACLE_H

#include "test/prop/model.h"

void oracle_step(struct model *m);
void oracle_binding(struct model *m, int p, int n);
/* The Binding is what that bind call asked for: filter let the pod through to the node in time, and
 * the node passes the pod's rules. */
void oracle_let(struct model *m, int p, int n, const struct call *call);
/* How long muster remembers that filter let the pod through. */
usec_t oracle_let_time(const struct pod_truth *t);
/* The Binding is one that the scheduler did not ask for: it would have let the pod go there. */
void oracle_unasked(struct model *m, int p, int n);
/* Where a member has its place, or is bound; -1: nowhere. And the state of its gang. */
struct place {
    int node;
    enum gang_state state;
};
struct place oracle_place(const struct model *m, int p);
/* Muster writes status.nominatedNodeName; n -1 clears it. Neither twice, nor behind a gate, nor of
 * members that nobody refused unless steering is always. */
void oracle_nominated(struct model *m, int p, int n);
/* After a step: who was nominated in it was nominated to its place. */
void oracle_nominations(struct model *m);
/* Before and after time that is enough to steer everybody, if steering is always. */
void oracle_steered(struct model *m, bool before);
/* After a step in which the core let a pod pass: a member of a gang that is not Scheduled has its
 * place where it was sent. */
void oracle_passed(struct model *m, int p);
/* After a step in which the core refused a member because its place was not among the offered
 * nodes: a whole list is believed, a sample is not, except about the node that was tried first,
 * alone (-1: none was). */
void oracle_refused(struct model *m, int p, uint32_t offered, bool sample, int tried);
/* NULL, or what is stuck (allocated). */
/* The core asks for the pod's gate to be lifted: is there a reason to? */
void oracle_lifted(struct model *m, int p);
char *oracle_calm(struct model *m);
void oracle_rebuild(struct model *m);

/* ---- oracle_nominations.c ---- */
/* No more than what counts of the family's priority between namespaces. */
int family_least(const struct model *m, uint32_t family);
/* What is promised on the node to pods of that priority or more: for sure, or maybe. */
void promised(const struct model *m, int n, int least, bool sure, int64_t ret[RESOURCES]);
/* kube-scheduler keeps room for a pod that it has nominated until the pod has gone, and never tries
 * one that is being deleted. */
void less_kept_for_deleted(const struct model *m, int n, int64_t left[RESOURCES]);
/* No gang has, or needs, a place for the pod. */
bool oracle_single(const struct model *m, int p);
/* After each step: nothing was planned into room that is promised to pods before the gang. */
void oracle_promises(struct model *m, int n, const int64_t all[RESOURCES],
                     const int64_t used[RESOURCES], const int64_t reserved[RESOURCES]);
/* After a step in which no offered node passed for the pod: slots of gangs below it, and what is
 * kept for one, are no reason. */
void oracle_kept_out(struct model *m, int p, const char *const *names, size_t n_names);

/* So many pods, each no larger than this, each able to run on any of these nodes. */
struct ask {
    int pods;
    int64_t need[RESOURCES];
    uint32_t nodes;
    bool anti_affinity; /* and no two of them on one */
    bool alike;         /* all of the gang's members ask for just this */
};
/*
 * What the gang lacks to its minimum; false: nothing, too few members, or too involved to say. Of a
 * plain group as many as are missing; of a tree all members: if these have room, the needed ones
 * do.
 */
bool oracle_ask(const struct model *m, uint32_t family, struct ask *ask);

/* What the core says of a gang that stands back by rule. */
struct back {
    bool pauses;           /* it backs off, or gives back for a while what it reserved in vain */
    bool respects_earmark; /* what is kept for one that has waited too long is not for it */
    bool earmark_gang;     /* there is such a one */
};
struct back oracle_back(const struct model *m, int g);

/* What the node has less what the core must have charged there. */
void oracle_left(const struct model *m, int n, int64_t left[RESOURCES]);
/* The core may think that the pod could run there. */
bool oracle_room(const struct model *m, int p, int n);

#endif
