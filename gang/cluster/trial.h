/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - changes of the ledger that can be reverted completely.
 *
 * A trial is a transaction. It can reserve slots, remove pods and slots as if they had ended, put
 * removed pods on other nodes, and add nodes. trial_back() reverts all changes since a mark, the
 * last one first. So functions that share a trial can nest: each reverts to its own mark.
 *
 *     struct trial t = trial_begin(core);
 *     trial_without_pod(&t, pod);                 what if the pod ended?
 *     struct trial_mark mark = trial_mark(&t);
 *     ... trial_reserve(&t, ...) ...
 *     trial_back(&t, mark);                       reverts to the mark
 *     trial_end(&t);                              reverts everything
 *
 * After a revert, all sums and lists are as before, in the same order, and so are all inputs of
 * plans, waking and predicate parity. Only counters that identify changes keep their new values, so
 * that no cache uses results of a trial for the real state.
 *
 * The trial is on the caller's stack. Only one trial may be open at a time, within a step or
 * between two steps.
 */
#ifndef MUSTER_GANG_CLUSTER_TRIAL_H
#define MUSTER_GANG_CLUSTER_TRIAL_H

#include "gang/cluster/lookup.h"

struct trial {
    struct gang_core *core;
    struct trial_change *changes; /* since trial_begin() */
    size_t n, cap;
    size_t n_counted; /* queues count the slots of the changes before this one */
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

/* Reserves a slot for the pod; NULL: for an expected member. It takes room on its node at once, and
 * in its queue from the next trial_count() on. */
struct slot *trial_reserve(struct trial *t, struct gang *gang, struct unit *unit,
                           struct signature *signature, struct node *node, struct pod *pod);
/* The slot that change i (below t->n) reserved; NULL: the change is of another kind. */
struct slot *trial_slot(const struct trial *t, size_t i);
/* The node from which change i (below t->n) removed a pod or slot; NULL: it did not. */
struct node *trial_left_node(const struct trial *t, size_t i);
/* The signature of what change i (below t->n) removed from its node; NULL: it removed nothing. */
const struct signature *trial_left_signature(const struct trial *t, size_t i);
/* Counts the slots in their queues: all together, because most are alike. Call it before anything
 * reads the use of a queue. */
void trial_count(struct trial *t);
/* Removes the pod, which is charged to a node, from its node. The next gang_count() counts it as
 * unbound, and its disruption budget counts it as evicted. */
void trial_without_pod(struct trial *t, struct pod *pod);
/* Puts a removed pod on the node, as if its replacement ran there. Its disruption budget does not
 * count it as evicted any more. */
void trial_with_pod(struct trial *t, struct pod *pod, struct node *node);
/* Removes the slot. */
void trial_without_slot(struct trial *t, struct slot *slot);
/* Adds an empty copy of the node. */
struct node *trial_with_node(struct trial *t, const struct node *like);

/* Reverts all changes since the mark. */
void trial_back(struct trial *t, struct trial_mark mark);
/* Keeps the reserved slots. The trial must have no other changes. Call trial_end() afterwards. */
void trial_keep(struct trial *t);
/* Ends the trial. Reverts all changes that were not kept. */
void trial_end(struct trial *t);

#endif
