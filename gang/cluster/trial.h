/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - changes of the ledger that can be taken back without a trace.
 *
 * A trial is a transaction. Places are reserved in it, pods are taken off their nodes and
 * reservations away as if they had ended, nodes are added as if they were there. trial_back() takes
 * back what came after a mark, the last change first. So trials nest: whoever works within one
 * knows its own mark only.
 *
 *     struct trial t = trial_begin(core);
 *     trial_without_pod(&t, pod);                 what if it were gone?
 *     struct trial_mark mark = trial_mark(&t);
 *     ... trial_reserve(&t, ...) ...
 *     trial_back(&t, mark);                       as it was at the mark
 *     trial_end(&t);                              as it was in the beginning
 *
 * Without a trace: sums, lists and their order, and all that plans, waking and the model check go
 * by are what they were. Only the counters that number changes go on, so that no cache takes what
 * it saw in a trial for what is there.
 *
 * Owned by the caller, on its stack; one at a time, within a step or between two; one thread.
 */
#ifndef MUSTER_GANG_CLUSTER_TRIAL_H
#define MUSTER_GANG_CLUSTER_TRIAL_H

#include "gang/cluster/lookup.h"

struct trial {
    struct gang_core *core;
    struct trial_change *changes; /* what there is to be taken back */
    size_t n, cap;
    struct trial_mark {
        size_t n;
        uint64_t layout; /* core->marks.layout then */
    } begin;
};

struct trial trial_begin(struct gang_core *core);
static inline struct trial_mark trial_mark(const struct trial *t)
{
    return (struct trial_mark){t->n, t->core->marks.layout};
}

/* A place for the pod; NULL: for a member that does not exist yet. */
struct slot *trial_reserve(struct trial *t, struct gang *gang, struct unit *unit,
                           struct signature *signature, struct node *node, struct pod *pod);
/* The place that was reserved with the change of this number, for i < t->n; NULL: that was
 * something else. */
struct slot *trial_slot(const struct trial *t, size_t i);
/* As if the pod, which is charged to a node, were not there. Who counts its gang does not notice.
 */
void trial_without_pod(struct trial *t, struct pod *pod);
/* As if the place were not reserved. */
void trial_without_slot(struct trial *t, struct slot *slot);
/* As if there were one more node like this one, and nothing on it. */
struct node *trial_with_node(struct trial *t, const struct node *like);

void trial_back(struct trial *t, struct trial_mark mark);
/* The places stay. There must be no other change in the trial, which is over. */
void trial_keep(struct trial *t);
/* Takes back all that was not kept. */
void trial_end(struct trial *t);

#endif
