/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - maps strings to pointers, and iterates in insertion order.
 *
 * The map copies its keys and owns the copies. The caller owns the values. Lookup is O(1).
 * Iteration follows insertion order, so that the same events give the same decisions. The body of
 * an iteration may remove the current entry. Keys are hashed with SipHash and a seed that is fixed
 * for the process, so that a user cannot choose keys that collide. Not thread-safe.
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
    struct map_entry *entries; /* in insertion order; removed entries stay until a rebuild */
    size_t used, cap;          /* of `entries` */
    uint32_t *index;           /* open addressing; 0: free, otherwise the entry's index + 1 */
    size_t index_cap;          /* power of two */
    size_t count;
};
#define MAP_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0, NULL, 0, 0                                                                     \
    }

/* Call it once, before the first map is used. Without it, the seed is zero. */
void map_seed(uint64_t k0, uint64_t k1);

void *map_get(const struct map *m, const char *key);
/* Returns the old value, or NULL. The value must not be NULL. */
void *map_set(struct map *m, const char *key, void *value);
/* Returns the removed value, or NULL. */
void *map_remove(struct map *m, const char *key);
static inline size_t map_count(const struct map *m)
{
    return m->count;
}
/* Frees the map's memory, but not the values. */
void map_done(struct map *m);

/* The next entry from *i on, which starts at 0; NULL: the end. */
struct map_entry *map_next(const struct map *m, size_t *i);
/* The body must not insert entries. */
#define map_for_each(e, m)                                                                         \
    for (size_t e##_i = 0, e##_once = 1; e##_once; e##_once = 0)                                   \
        for (struct map_entry * e; (e = map_next((m), &e##_i)) != NULL;)

#endif
