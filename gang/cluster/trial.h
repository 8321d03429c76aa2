/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - changes of the ledger that can be reverted without a trace.
 *
 * A trial is a transaction. It can reserve slots, remove pods and slots as if they had ended, and
 * add nodes. trial_back() reverts the changes after a mark, the last one first. So trials nest: an
 * inner user needs only its own mark.
 *
 *     struct trial t = trial_begin(core);
 *     trial_without_pod(&t, pod);                 what if it were gone?
 *     struct trial_mark mark = trial_mark(&t);
 *     ... trial_reserve(&t, ...) ...
 *     trial_back(&t, mark);                       as it was at the mark
 *     trial_end(&t);                              as it was in the beginning
 *
 * Afterwards, sums, lists, their order and every input of plans, waking and predicate parity are as
 * before. Only the counters that number changes keep their new values, so that no cache mistakes
 * the state of a trial for the real one.
 *
 * The caller owns the trial, on its stack. One at a time, within a step or between two; one thread.
 */
#ifndef MUSTER_GANG_CLUSTER_TRIAL_H
#define MUSTER_GANG_CLUSTER_TRIAL_H

#include "gang/cluster/lookup.h"

struct trial {
    struct gang_core *core;
    struct trial_change *changes; /* changes to revert */
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

/* Reserves a slot for the pod; NULL: for a member that does not exist yet. */
struct slot *trial_reserve(struct trial *t, struct gang *gang, struct unit *unit,
                           struct signature *signature, struct node *node, struct pod *pod);
/* The slot that change number i < t->n reserved; NULL: another kind of change. */
struct slot *trial_slot(const struct trial *t, size_t i);
/* Removes the pod, which is charged to a node. The counts of its gang stay. */
void trial_without_pod(struct trial *t, struct pod *pod);
/* Removes the slot. */
void trial_without_slot(struct trial *t, struct slot *slot);
/* Adds an empty copy of the node. */
struct node *trial_with_node(struct trial *t, const struct node *like);

void trial_back(struct trial *t, struct trial_mark mark);
/* Keeps the reserved slots and ends the trial, which must have no other changes. */
void trial_keep(struct trial *t);
/* Reverts all changes that were not kept. */
void trial_end(struct trial *t);

#endif
