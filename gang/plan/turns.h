/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - whose turn it is in a planning pass: the gangs that are due, queue by queue.
 *
 * Without queue objects, gangs take their turns in the order of gangs. With them, each turn goes to
 * the first gang of the queue that comes first, level by level; a plan changes what its queue uses,
 * so the next turn may go to another queue. Gangs with an unfinished commit go before all others.
 */
#ifndef MUSTER_GANG_PLAN_TURNS_H
#define MUSTER_GANG_PLAN_TURNS_H

#include "gang/cluster/lookup.h"
#include "gang/plan/plan_gang.h"

struct turns {
    struct due due;
    size_t *next;       /* by index in due: the queue's next gang, as index + 1; NULL: no queues */
    size_t singly;      /* with queues: this many gangs go before all queues */
    size_t at;          /* gangs before it have had their turn, as far as they go in order */
    struct queue *turn; /* the queue of the last turn; NULL: none */
    uint64_t changes;   /* core->queue_changes when that turn began */
};

/* Takes the gangs, in order. */
struct turns turns_begin(struct gang_core *core, struct due due);
/* The next gang; NULL: all have had their turn. */
struct gang *turns_next(struct gang_core *core, struct turns *t);
void turns_end(struct turns *t);
/* Between two passes: the order changed, so turns_blocker() must look again. */
void turns_forget(struct gang_core *core);
/* The waiting gang that this one must not pass, because its queue is first in, first out; NULL:
 * none. */
const struct gang *turns_blocker(const struct gang_core *core, const struct gang *gang);

#endif
