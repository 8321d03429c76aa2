/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - a queue that serves its owners (today: namespaces) in turn.
 *
 * Each owner has a subqueue, first in, first out. The subqueues take turns of `turn` items, so an
 * owner with many items delays the others by one turn at most. When an item must be dropped for
 * lack of room, it comes from the longest subqueue.
 *
 * Items are embedded and never owned. A subqueue exists while it has items. fair_queue_init()
 * first, fair_queue_done() when the queue is empty. Not locked.
 */
#ifndef MUSTER_BASE_FAIR_QUEUE_H
#define MUSTER_BASE_FAIR_QUEUE_H

#include "base/list.h"
#include "base/map.h"

struct fair_subqueue;
struct fair_queue_item {
    struct list in_subqueue;
    struct list in_queue; /* in order of arrival, all owners */
    struct fair_subqueue *subqueue;
};
struct fair_queue {
    struct map subqueues; /* owner -> struct fair_subqueue */
    struct list ring;     /* the subqueues; the first has the turn */
    struct list all;
    size_t n;
    int turn;
};

void fair_queue_init(struct fair_queue *f, int turn);
/* The queue must be empty. */
void fair_queue_done(struct fair_queue *f);
void fair_queue_push(struct fair_queue *f, const char *owner, struct fair_queue_item *item);
/* Puts the item in the place of another, which leaves. */
void fair_queue_replace(struct fair_queue *f, struct fair_queue_item *old,
                        struct fair_queue_item *item);
void fair_queue_remove(struct fair_queue *f, struct fair_queue_item *item);
/* Removes an item that is served: it counts for the turn of its subqueue. */
void fair_queue_serve(struct fair_queue *f, struct fair_queue_item *item);
/* The item whose turn it is, and the one after it: one subqueue after the other. NULL: none. */
struct fair_queue_item *fair_queue_first(const struct fair_queue *f);
struct fair_queue_item *fair_queue_next(const struct fair_queue *f,
                                        const struct fair_queue_item *item);
/* The first item of the owner after this item's. */
struct fair_queue_item *fair_queue_next_owner(const struct fair_queue *f,
                                              const struct fair_queue_item *item);
/* The item that came first; NULL: none. */
struct fair_queue_item *fair_queue_oldest(const struct fair_queue *f);
/* The number of the owner's items. */
size_t fair_queue_length(const struct fair_queue *f, const char *owner);
/* The ends of the longest subqueue; of the owner's, if that is as long. NULL: the queue is empty.
 */
struct fair_queue_item *fair_queue_longest_first(const struct fair_queue *f, const char *owner);
struct fair_queue_item *fair_queue_longest_last(const struct fair_queue *f, const char *owner);

#endif
