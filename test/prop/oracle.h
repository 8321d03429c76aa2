/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - checks the core against the model. Each check compares the core with the objects of
 * the model, or with a simple planner of its own. Only gang_core_check() and gang_core_violation()
 * are the core's own code. A violation calls model_fail().
 *
 *   oracle_step       after every step: I1, I2, I3, I4, I5, and the charges on each node
 *   oracle_binding    at every Binding: I2
 *   oracle_nominated  at every nomination
 *   oracle_suspended  when muster suspends a workload; oracle_resumed: when it resumes one
 *   oracle_refused    after muster refused a member because of the offered nodes
 *   oracle_calm       in a calm phase: no pod or gang that fits is pending
 *   oracle_rebuild    I6: new cores, made from the same objects
 *
 * In all functions, p is the number of a pod and n the number of a node.
 */
#ifndef MUSTER_TEST_PROP_ORACLE_H
#define MUSTER_TEST_PROP_ORACLE_H

#include "test/prop/model.h"

void oracle_step(struct model *m);
void oracle_binding(struct model *m, int p, int n);
/* At a Binding that a bind call asked for: the node is in a filter result that had not expired when
 * the call came, and is allowed by the rules of the pod. */
void oracle_let(struct model *m, int p, int n, const struct call *call);
/* How long muster keeps the pod's filter result. */
usec_t oracle_let_time(const struct pod_truth *t);
/* At a Binding without a bind call, which only the express lane sends: muster's predicates cover
 * all rules of the pod, and no watch is behind. */
void oracle_express(struct model *m, int p, int n);
/* The node of a member's slot, or the node to which it is bound; -1: neither. And its gang's state.
 */
struct place {
    int node;
    enum gang_state state;
};
struct place oracle_place(const struct model *m, int p);
/* At a write of status.nominatedNodeName (n is -1: cleared). muster must not repeat a nomination,
 * nominate gated members, or, unless steering is always, members that were not rejected. */
void oracle_nominated(struct model *m, int p, int n);
/* After a step: each member that it nominated is nominated to the node of its slot. */
void oracle_nominations(struct model *m);
/* Call this before and after a time in which muster must steer all members if steering is always.
 */
void oracle_steered(struct model *m, bool before);
/* After a step in which the pod passed filter: a member of a gang that is not Scheduled passes only
 * to the node of its slot. */
void oracle_passed(struct model *m, int p);
/* After a step in which muster refused a member because its slot's node was not offered. `offered`
 * has one bit for each node. muster must move the slot if the list is complete, but not if it is a
 * sample. `tried` is the node that kube-scheduler refused before it sent the list, or -1: muster
 * must move a slot on this node in both cases. */
void oracle_refused(struct model *m, int p, uint32_t offered, bool sample, int tried);
/* When muster removes the pod's gate: the pod has a slot, or may pass singly. */
void oracle_lifted(struct model *m, int p);
/* NULL if nothing is stuck. Otherwise a text that the caller frees. */
char *oracle_calm(struct model *m);
void oracle_rebuild(struct model *m);

/* ---- oracle_nominations.c ---- */
/* A lower bound of the priority with which the family counts between namespaces. */
int family_least(const struct model *m, uint32_t family);
/* The nominated room on the node for pods with at least this priority. `sure`: only room that
 * muster must know about. Otherwise also room that it may know about. */
void nominated_room(const struct model *m, int n, int least, bool sure, int64_t ret[RESOURCES]);
/* Subtracts the room that kube-scheduler keeps for Terminating nominated pods until they are gone.
 */
void without_room_of_terminating(const struct model *m, int n, int64_t left[RESOURCES]);
/* Whether the pod needs no slot: an ordinary pod, or a later member of a Scheduled or Done gang. */
bool oracle_single(const struct model *m, int p);
/* After each step: muster reserved no room that is nominated for pods ahead of the gang. */
void oracle_nominated_room(struct model *m, int n, const int64_t all[RESOURCES],
                           const int64_t used[RESOURCES], const int64_t reserved[RESOURCES]);
/* After a step in which muster refused all offered nodes for the pod: slots and earmarks of lower
 * gangs alone must not keep the pod out. */
void oracle_kept_out(struct model *m, int p, const char *const *names, size_t n_names);

/* A demand: a number of pods, the largest request of each resource, and the nodes that all of them
 * can use. */
struct ask {
    int pods;
    int64_t need[RESOURCES];
    uint32_t nodes;
    bool anti_affinity; /* no two of the pods can share a node */
    bool alike;         /* all pods have the same requests and nodes */
};
/*
 * The demand of the gang until its minimum is met: the missing members of a single group, or all
 * members of a family or of a group with subgroups. Returns false if nothing is missing, if there
 * are too few members, or if the rules are too complex for this check.
 */
bool oracle_ask(const struct model *m, uint32_t family, struct ask *ask);

/* Whether the watch has shown all changes of nodes, and the model knows all charges. */
bool oracle_nodes_known(const struct model *m);

/* ---- oracle_queues.c ---- */
/* After each step. `slots` is the number of slots on all nodes. */
void oracle_queues(struct model *m, int64_t slots);
/* Whether the queues of the gang that g leads certainly allow it to begin. `calm`: slots do not
 * count. */
bool oracle_queue_allows(struct model *m, int g, const struct ask *ask, bool calm);
/* The same for a pod that needs no slot. */
bool oracle_queue_takes(struct model *m, int p, bool calm);
/* When muster removes the pod's gate: its gang does not wait for its queue. */
void oracle_lifted_in_queue(struct model *m, int p);
/* When a status of a queue is emitted. */
void oracle_queue_status(struct model *m, const struct gang_queue_status *s);
/* NULL if the last emitted status of each queue shows what is. Otherwise a text that the caller
 * frees. */
char *oracle_stale_status(struct model *m);
/* When muster allows the pod to preempt others: its queue does not stop it. */
void oracle_preempts(struct model *m, int p);
/* muster evicts the pod to make room for a gang. */
void oracle_preempted(struct model *m, int p);
/* Whether kube-scheduler has preempted a member of the pod's gang, or muster was killed while it
 * evicted the gang, and the gang is below its minimum now. */
bool oracle_broken(const struct model *m, int p);
/* kube-scheduler preempts these victims for an ordinary pod, as muster has allowed: this breaks no
 * gang. */
void oracle_kube_evicts(struct model *m, int p, const bool victims[PODS]);
/* muster evicts a pod that it has not marked: its gang does not need the pod, or has no other. */
void oracle_evicted_alone(struct model *m, int p);
/* In a calm phase, muster evicts pods to make room for the gang of this PodGroup. */
void oracle_made_room(struct model *m, const char *group);
/* After a restart: muster evicts the rest of the gangs that it was evicting. */
void oracle_half_evicted(struct model *m);
/* Whether muster keeps room for a gang while evicted pods leave it. */
bool oracle_room_is_kept(const struct model *m);
/* After a restart: the order of the lists changes nothing about queues. */
void oracle_queues_alike(struct model *m, const struct gang_core *a, const struct gang_core *b);

/* Reasons of the core not to plan a gang that has room. */
struct back {
    bool pauses;           /* it is in a backoff or another pause */
    bool respects_earmark; /* it must not use the earmark of another gang */
    bool earmark_gang;     /* some gang has an earmark */
};
struct back oracle_back(const struct model *m, int g);

/* Whether the pod is bound, has succeeded, or a Binding of it is on its way. */
bool oracle_committed(const struct model *m, int p);
/* Whether the watch has shown all changes of the family's pods and of all PodGroups, and no lost
 * Binding can still succeed. */
bool oracle_all_shown(const struct model *m, uint32_t family);
/* The same, but pods that kube-scheduler has just preempted need not be shown. */
bool oracle_shown_except_taken(const struct model *m, uint32_t family);
/* Whether the watch has shown all changes of PodGroups. */
bool oracle_groups_known(const struct model *m);
/* What the node has, minus what the core must have charged. */
void oracle_left(const struct model *m, int n, int64_t left[RESOURCES]);
/* Whether the pod fits on the node, by these amounts. */
bool oracle_room(const struct model *m, int p, int n);

/* ---- oracle_suspension.c ---- */
/* After each step. */
void oracle_suspensions(struct model *m);
/* muster asks to suspend the workload of g, whose gang has these running pods: it asks for this,
 * and each pod may be evicted. */
void oracle_suspended(struct model *m, int g, const bool pods[PODS]);
/* muster evicts the pod after all, because its workload was not suspended. */
void oracle_not_suspended(struct model *m, int p);
/* muster asks to resume the workload of g: there is room for the minimums of its gang. */
void oracle_resumed(struct model *m, int g);
/* muster writes something (`what`) to the pod with this UID, which must exist. */
void oracle_no_stand_in(struct model *m, const char *uid, const char *what);
/* Whether real pods of the family may have taken the place of stand-ins, so that the model does not
 * know which of them count. */
bool oracle_members_unsure(const struct model *m, uint32_t family);
/* Whether a real pod may take the place of one stand-in or of another that differs. Then muster's
 * choice depends on the order in which it sees them. */
bool oracle_stand_ins_differ(const struct model *m);
/* NULL if calm may end. Otherwise a text that the caller frees. */
char *oracle_still_suspended(const struct model *m);

#endif
