/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair.h - a queue that serves its owners in turn (namespaces, for all users of it today).
 *
 * Each owner has a line, first come first served; the lines take turns of `turn` items. So who puts
 * many items in keeps himself waiting, and others for one turn at most. What must be dropped when
 * there is no room is the line's that is longest.
 *
 * Items are embedded and never owned; a line exists while it has items. fair_init() first,
 * fair_done() when it is empty. Not locked.
 */
#ifndef MUSTER_BASE_FAIR_H
#define MUSTER_BASE_FAIR_H

#include "base/list.h"
#include "base/map.h"

struct fair_line;
struct fair_item {
    struct list in_line;
    struct list in_queue; /* in the order they came, whoever they are of */
    struct fair_line *line;
};
struct fair {
    struct map lines; /* owner -> struct fair_line */
    struct list ring; /* the lines; the first has the turn */
    struct list all;
    size_t n;
    int turn;
};

void fair_init(struct fair *f, int turn);
/* It must be empty. */
void fair_done(struct fair *f);
void fair_push(struct fair *f, const char *owner, struct fair_item *item);
/* In the place of another, which leaves. */
void fair_replace(struct fair *f, struct fair_item *old, struct fair_item *item);
void fair_remove(struct fair *f, struct fair_item *item);
/* Removes it because it is served: it counts for the turn of its line. */
void fair_serve(struct fair *f, struct fair_item *item);
/* Whose turn it is, and who would be next: a line after the other. NULL: nobody. */
struct fair_item *fair_first(const struct fair *f);
struct fair_item *fair_next(const struct fair *f, const struct fair_item *item);
/* The next in the line after that of the item. */
struct fair_item *fair_next_line(const struct fair *f, const struct fair_item *item);
/* Who came first of all; NULL: nobody. */
struct fair_item *fair_oldest(const struct fair *f);
/* The owner's items. */
size_t fair_length(const struct fair *f, const char *owner);
/* Ends of the longest line; if the owner's is as long, of the owner's. NULL: the queue is empty. */
struct fair_item *fair_longest_first(const struct fair *f, const char *owner);
struct fair_item *fair_longest_last(const struct fair *f, const char *owner);

#endif
