/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - intrusive doubly linked list. The node lives in the object; the list owns nothing.
 */
#ifndef MUSTER_BASE_LIST_H
#define MUSTER_BASE_LIST_H

#include "base/mem.h"

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_push(struct list *head, struct list *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

/* Removing an item that is in no list (list_init) is fine. */
static inline void list_remove(struct list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    list_init(item);
}

/* Takes the first item out of the list; NULL: it is empty. */
static inline struct list *list_pop(struct list *head)
{
    struct list *first = head->next;
    if (first == head)
        return NULL;
    list_remove(first);
    return first;
}

#define list_for_each(it, head, type, field)                                                       \
    for (type *it = CONTAINER_OF((head)->next, type, field); &it->field != (head);                 \
         it = CONTAINER_OF(it->field.next, type, field))

/* The body may remove `it` (and nothing else) from the list. */
#define list_for_each_safe(it, head, type, field)                                                  \
    for (type *it = CONTAINER_OF((head)->next, type, field),                                       \
              *it##_next = CONTAINER_OF(it->field.next, type, field);                              \
         &it->field != (head);                                                                     \
         it = it##_next, it##_next = CONTAINER_OF(it->field.next, type, field))

#endif
