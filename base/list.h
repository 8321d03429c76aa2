/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - intrusive doubly linked list. The node is a member of the caller's object, and the list
 * owns nothing. Not thread-safe.
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

/* Appends the item to the list. If `head` is an item of a list, inserts before that item. */
static inline void list_push(struct list *head, struct list *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

/* Does nothing if the item is initialized but not in a list. */
static inline void list_remove(struct list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    list_init(item);
}

/* Removes the first item and returns it; NULL: the list is empty. */
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

/* The body may remove `it` from the list, but no other item. */
#define list_for_each_safe(it, head, type, field)                                                  \
    for (type *it = CONTAINER_OF((head)->next, type, field),                                       \
              *it##_next = CONTAINER_OF(it->field.next, type, field);                              \
         &it->field != (head);                                                                     \
         it = it##_next, it##_next = CONTAINER_OF(it->field.next, type, field))

#endif
