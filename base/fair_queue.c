/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fair_queue.h"

struct fair_subqueue {
    char *owner;
    struct list in_ring;
    struct list items;
    size_t n;
    int left; /* items that it may still serve in this turn */
};

void fair_queue_init(struct fair_queue *f, int turn)
{
    *f = (struct fair_queue){.subqueues = MAP_INIT, .turn = turn};
    list_init(&f->ring);
    list_init(&f->all);
}

void fair_queue_done(struct fair_queue *f)
{
    map_done(&f->subqueues);
}

static struct fair_queue_item *item_in_subqueue(struct list *l)
{
    return CONTAINER_OF(l, struct fair_queue_item, in_subqueue);
}

static struct fair_subqueue *subqueue_in_ring(struct list *l)
{
    return CONTAINER_OF(l, struct fair_subqueue, in_ring);
}

static struct fair_subqueue *subqueue_of(struct fair_queue *f, const char *owner)
{
    struct fair_subqueue *subqueue = map_get(&f->subqueues, owner);
    if (subqueue)
        return subqueue;
    subqueue = xcalloc(1, sizeof *subqueue);
    subqueue->owner = xstrdup(owner);
    subqueue->left = f->turn;
    list_init(&subqueue->items);
    list_push(&f->ring, &subqueue->in_ring);
    map_set(&f->subqueues, owner, subqueue);
    return subqueue;
}

void fair_queue_push(struct fair_queue *f, const char *owner, struct fair_queue_item *item)
{
    item->subqueue = subqueue_of(f, owner);
    list_push(&item->subqueue->items, &item->in_subqueue);
    list_push(&f->all, &item->in_queue);
    item->subqueue->n++;
    f->n++;
}

void fair_queue_replace(struct fair_queue *f, struct fair_queue_item *old,
                        struct fair_queue_item *item)
{
    item->subqueue = old->subqueue;
    /* list_push() on an item inserts before that item. */
    list_push(&old->in_subqueue, &item->in_subqueue);
    list_push(&old->in_queue, &item->in_queue);
    item->subqueue->n++;
    f->n++;
    fair_queue_remove(f, old);
}

void fair_queue_remove(struct fair_queue *f, struct fair_queue_item *item)
{
    struct fair_subqueue *subqueue = item->subqueue;
    list_remove(&item->in_subqueue);
    list_remove(&item->in_queue);
    f->n--;
    if (--subqueue->n > 0)
        return;
    list_remove(&subqueue->in_ring);
    map_remove(&f->subqueues, subqueue->owner);
    free(subqueue->owner);
    free(subqueue);
}

void fair_queue_serve(struct fair_queue *f, struct fair_queue_item *item)
{
    struct fair_subqueue *subqueue = item->subqueue;
    if (--subqueue->left <= 0) {
        subqueue->left = f->turn;
        list_remove(&subqueue->in_ring);
        list_push(&f->ring, &subqueue->in_ring);
    }
    fair_queue_remove(f, item);
}

struct fair_queue_item *fair_queue_first(const struct fair_queue *f)
{
    return f->n ? item_in_subqueue(subqueue_in_ring(f->ring.next)->items.next) : NULL;
}

struct fair_queue_item *fair_queue_next_owner(const struct fair_queue *f,
                                              const struct fair_queue_item *item)
{
    struct list *next = item->subqueue->in_ring.next;
    return next != &f->ring ? item_in_subqueue(subqueue_in_ring(next)->items.next) : NULL;
}

struct fair_queue_item *fair_queue_next(const struct fair_queue *f,
                                        const struct fair_queue_item *item)
{
    struct list *next = item->in_subqueue.next;
    return next != &item->subqueue->items ? item_in_subqueue(next) : fair_queue_next_owner(f, item);
}

struct fair_queue_item *fair_queue_oldest(const struct fair_queue *f)
{
    return f->n ? CONTAINER_OF(f->all.next, struct fair_queue_item, in_queue) : NULL;
}

size_t fair_queue_length(const struct fair_queue *f, const char *owner)
{
    const struct fair_subqueue *subqueue = map_get(&f->subqueues, owner);
    return subqueue ? subqueue->n : 0;
}

static struct fair_subqueue *longest(const struct fair_queue *f, const char *owner)
{
    struct fair_subqueue *found = map_get(&f->subqueues, owner);
    list_for_each (subqueue, &f->ring, struct fair_subqueue, in_ring)
        if (!found || subqueue->n > found->n)
            found = subqueue;
    return found;
}

struct fair_queue_item *fair_queue_longest_first(const struct fair_queue *f, const char *owner)
{
    const struct fair_subqueue *subqueue = longest(f, owner);
    return subqueue ? item_in_subqueue(subqueue->items.next) : NULL;
}

struct fair_queue_item *fair_queue_longest_last(const struct fair_queue *f, const char *owner)
{
    const struct fair_subqueue *subqueue = longest(f, owner);
    return subqueue ? item_in_subqueue(subqueue->items.prev) : NULL;
}
