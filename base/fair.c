/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fair.h"

struct fair_line {
    char *owner;
    struct list in_ring;
    struct list items;
    size_t n;
    int left; /* of its turn */
};

void fair_init(struct fair *f, int turn)
{
    *f = (struct fair){.lines = MAP_INIT, .turn = turn};
    list_init(&f->ring);
    list_init(&f->all);
}

void fair_done(struct fair *f)
{
    map_done(&f->lines);
}

static struct fair_item *item_in_line(struct list *l)
{
    return CONTAINER_OF(l, struct fair_item, in_line);
}

static struct fair_line *line_in_ring(struct list *l)
{
    return CONTAINER_OF(l, struct fair_line, in_ring);
}

static struct fair_line *line_of(struct fair *f, const char *owner)
{
    struct fair_line *line = map_get(&f->lines, owner);
    if (line)
        return line;
    line = xcalloc(1, sizeof *line);
    line->owner = xstrdup(owner);
    line->left = f->turn;
    list_init(&line->items);
    list_push(&f->ring, &line->in_ring);
    map_set(&f->lines, owner, line);
    return line;
}

void fair_push(struct fair *f, const char *owner, struct fair_item *item)
{
    item->line = line_of(f, owner);
    list_push(&item->line->items, &item->in_line);
    list_push(&f->all, &item->in_queue);
    item->line->n++;
    f->n++;
}

void fair_replace(struct fair *f, struct fair_item *old, struct fair_item *item)
{
    item->line = old->line;
    list_push(&old->in_line, &item->in_line); /* before it */
    list_push(&old->in_queue, &item->in_queue);
    item->line->n++;
    f->n++;
    fair_remove(f, old);
}

void fair_remove(struct fair *f, struct fair_item *item)
{
    struct fair_line *line = item->line;
    list_remove(&item->in_line);
    list_remove(&item->in_queue);
    f->n--;
    if (--line->n > 0)
        return;
    list_remove(&line->in_ring);
    map_remove(&f->lines, line->owner);
    free(line->owner);
    free(line);
}

void fair_serve(struct fair *f, struct fair_item *item)
{
    struct fair_line *line = item->line;
    if (--line->left <= 0) {
        line->left = f->turn;
        list_remove(&line->in_ring);
        list_push(&f->ring, &line->in_ring);
    }
    fair_remove(f, item);
}

struct fair_item *fair_first(const struct fair *f)
{
    return f->n ? item_in_line(line_in_ring(f->ring.next)->items.next) : NULL;
}

struct fair_item *fair_next_line(const struct fair *f, const struct fair_item *item)
{
    struct list *next = item->line->in_ring.next;
    return next != &f->ring ? item_in_line(line_in_ring(next)->items.next) : NULL;
}

struct fair_item *fair_next(const struct fair *f, const struct fair_item *item)
{
    struct list *next = item->in_line.next;
    return next != &item->line->items ? item_in_line(next) : fair_next_line(f, item);
}

struct fair_item *fair_oldest(const struct fair *f)
{
    return f->n ? CONTAINER_OF(f->all.next, struct fair_item, in_queue) : NULL;
}

size_t fair_length(const struct fair *f, const char *owner)
{
    const struct fair_line *line = map_get(&f->lines, owner);
    return line ? line->n : 0;
}

static struct fair_line *longest(const struct fair *f, const char *owner)
{
    struct fair_line *found = map_get(&f->lines, owner);
    list_for_each (line, &f->ring, struct fair_line, in_ring)
        if (!found || line->n > found->n)
            found = line;
    return found;
}

struct fair_item *fair_longest_first(const struct fair *f, const char *owner)
{
    const struct fair_line *line = longest(f, owner);
    return line ? item_in_line(line->items.next) : NULL;
}

struct fair_item *fair_longest_last(const struct fair *f, const char *owner)
{
    const struct fair_line *line = longest(f, owner);
    return line ? item_in_line(line->items.prev) : NULL;
}
