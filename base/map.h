/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - string to pointer, in insertion order.
 *
 * The map copies its keys and owns them; values belong to the caller. Lookup is O(1); iteration
 * goes in the order of insertion (so that the same events give the same decisions) and tolerates
 * removal of the current entry. Keys hash with SipHash under a fixed per-process key (map_seed), so
 * that keys from outside cannot be chosen to collide; the order of iteration does not depend on it.
 * Not thread-safe.
 */
#ifndef MUSTER_BASE_MAP_H
#define MUSTER_BASE_MAP_H

#include <stdint.h>

#include "base/mem.h"

struct map_entry {
    char *key; /* NULL: removed */
    void *value;
    uint64_t hash;
};

struct map {
    struct map_entry *entries; /* in insertion order, with holes */
    size_t used, cap;          /* of entries */
    uint32_t *index;           /* open addressing; 0 = free, else entry + 1 */
    size_t index_cap;          /* power of two */
    size_t count;
};
#define MAP_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0, NULL, 0, 0                                                                     \
    }

/* Once, before the first map is used; without it the seed is zero (tests, replay). */
void map_seed(uint64_t k0, uint64_t k1);

void *map_get(const struct map *m, const char *key);
/* Returns the old value (or NULL). Storing NULL is not allowed: use map_remove. */
void *map_set(struct map *m, const char *key, void *value);
/* Returns the removed value, or NULL. */
void *map_remove(struct map *m, const char *key);
size_t map_count(const struct map *m);
/* Frees keys and tables, not values. */
void map_done(struct map *m);

/* i must be a size_t. `var` is void * (or assignable from it). Insertions in the body are not
 * allowed. */
struct map_entry *map_next(const struct map *m, size_t *i);
#define map_for_each(e, m)                                                                         \
    for (size_t e##_i = 0, e##_once = 1; e##_once; e##_once = 0)                                   \
        for (struct map_entry * e; (e = map_next((m), &e##_i)) != NULL;)

#endif
