/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_picks.h - picks the next gang of a planning pass from the gangs that are due, queue by
 * queue.
 *
 * Without queue objects, gangs are picked in the order of gangs. With them, the first gang of the
 * queue that comes first, level by level, is picked. A plan changes what its queue uses, so the
 * next pick may be from another queue. Gangs with an unfinished commit go before all others.
 */
#ifndef MUSTER_GANG_PLAN_QUEUE_PICKS_H
#define MUSTER_GANG_PLAN_QUEUE_PICKS_H

#include "gang/cluster/lookup.h"
#include "gang/plan/plan_gang.h"

struct queue_picks {
    struct due due; /* NULL for a gang that a queue had and that was picked */
    size_t *next;   /* by index in due: the queue's next gang, as index + 1; NULL: no queues */
    size_t singly;  /* with queues: this many gangs go before all queues */
    size_t at;      /* gangs before it were picked, as far as they go in order */
    struct queue *picked; /* the queue of the last pick; NULL: none */
    uint64_t changes;     /* core->queue_changes at that pick */
};

/* Takes the gangs, in order. */
struct queue_picks queue_picks_begin(struct gang_core *core, struct due due);
/* The next gang; NULL: all were picked. */
struct gang *queue_picks_next(struct gang_core *core, struct queue_picks *p);
/* The gangs that have not been picked. Ends the picks; the caller owns the list. */
struct due queue_picks_rest(struct queue_picks *picks);
void queue_picks_end(struct queue_picks *p);
/* Between two passes: the order changed, so queue_picks_blocker() must look again. */
void queue_picks_forget(struct gang_core *core);
/* The waiting gang that this one must not pass, because its queue is first in, first out; NULL:
 * none. */
const struct gang *queue_picks_blocker(const struct gang_core *core, const struct gang *gang);

#endif
