/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - a queue that serves its owners in turn. The owners are namespaces.
 *
 * Each owner has a subqueue: first in, first out. The subqueues take turns of `turn` items, so an
 * owner with many items delays each of the others by at most one turn. A caller that must drop an
 * item for lack of room takes it from the longest subqueue.
 *
 * Life cycle: fair_queue_init(), the functions below, and fair_queue_done() when the queue is
 * empty. The item is a member of the caller's struct, and the queue does not own it. A subqueue
 * exists while it has items. Not thread-safe.
 */
#ifndef MUSTER_BASE_FAIR_QUEUE_H
#define MUSTER_BASE_FAIR_QUEUE_H

#include "base/list.h"
#include "base/map.h"

struct fair_subqueue;
struct fair_queue_item {
    struct list in_subqueue;
    struct list in_queue; /* of all owners, in order of arrival */
    struct fair_subqueue *subqueue;
};
struct fair_queue {
    struct map subqueues; /* owner -> struct fair_subqueue */
    struct list ring;     /* the subqueues; the first one has the turn */
    struct list all;
    size_t n;
    int turn;
};

void fair_queue_init(struct fair_queue *f, int turn);
/* The queue must be empty. */
void fair_queue_done(struct fair_queue *f);
void fair_queue_push(struct fair_queue *f, const char *owner, struct fair_queue_item *item);
/* Removes `old` and puts the item in its place. */
void fair_queue_replace(struct fair_queue *f, struct fair_queue_item *old,
                        struct fair_queue_item *item);
void fair_queue_remove(struct fair_queue *f, struct fair_queue_item *item);
/* Removes an item and counts it for the turn of its subqueue. */
void fair_queue_serve(struct fair_queue *f, struct fair_queue_item *item);
/* Iterate over all items: one subqueue after the other, first the subqueue that has the
 * turn. NULL: no more items. */
struct fair_queue_item *fair_queue_first(const struct fair_queue *f);
struct fair_queue_item *fair_queue_next(const struct fair_queue *f,
                                        const struct fair_queue_item *item);
/* The first item of the next subqueue in the ring. NULL: none. */
struct fair_queue_item *fair_queue_next_owner(const struct fair_queue *f,
                                              const struct fair_queue_item *item);
/* The item that has been in the queue longest; NULL: none. */
struct fair_queue_item *fair_queue_oldest(const struct fair_queue *f);
size_t fair_queue_length(const struct fair_queue *f, const char *owner);
/* The first and the last item of the longest subqueue. The owner's subqueue is preferred if no
 * other is longer. NULL: the queue is empty. */
struct fair_queue_item *fair_queue_longest_first(const struct fair_queue *f, const char *owner);
struct fair_queue_item *fair_queue_longest_last(const struct fair_queue *f, const char *owner);

#endif
