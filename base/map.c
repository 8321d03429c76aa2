/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/must.h"

static uint64_t seed0, seed1;

void map_seed(uint64_t k0, uint64_t k1)
{
    seed0 = k0;
    seed1 = k1;
}

/* SipHash-1-3. Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012); hash
 * tables of Rust and Python use this variant. */
#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define SIPROUND                                                                                   \
    do {                                                                                           \
        v0 += v1, v1 = ROTL(v1, 13), v1 ^= v0, v0 = ROTL(v0, 32);                                  \
        v2 += v3, v3 = ROTL(v3, 16), v3 ^= v2;                                                     \
        v0 += v3, v3 = ROTL(v3, 21), v3 ^= v0;                                                     \
        v2 += v1, v1 = ROTL(v1, 17), v1 ^= v2, v2 = ROTL(v2, 32);                                  \
    } while (0)

static uint64_t hash_key(const char *key)
{
    size_t len = strlen(key);
    const unsigned char *p = (const unsigned char *)key;
    uint64_t v0 = 0x736f6d6570736575ULL ^ seed0, v1 = 0x646f72616e646f6dULL ^ seed1;
    uint64_t v2 = 0x6c7967656e657261ULL ^ seed0, v3 = 0x7465646279746573ULL ^ seed1;
    for (size_t left = len; left >= 8; left -= 8, p += 8) {
        uint64_t m;
        memcpy(&m, p, 8);
        v3 ^= m;
        SIPROUND;
        v0 ^= m;
    }
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = 0; i < (len & 7); i++)
        last |= (uint64_t)p[i] << (8 * i);
    v3 ^= last;
    SIPROUND;
    v0 ^= last;
    v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        SIPROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

/* Drops removed entries, and makes room for at least `want` entries. */
static void rebuild(struct map *m, size_t want)
{
    size_t live = 0;
    for (size_t i = 0; i < m->used; i++)
        if (m->entries[i].key)
            m->entries[live++] = m->entries[i];
    m->used = live;
    if (want > m->cap) {
        m->cap = want < 8 ? 8 : want;
        m->entries = xreallocarray(m->entries, m->cap, sizeof *m->entries);
    }
    size_t index_cap = 16;
    while (index_cap < m->cap * 2)
        index_cap *= 2;
    free(m->index);
    m->index = xcalloc(index_cap, sizeof *m->index);
    m->index_cap = index_cap;
    for (size_t i = 0; i < m->used; i++) {
        size_t at = m->entries[i].hash & (index_cap - 1);
        while (m->index[at])
            at = (at + 1) & (index_cap - 1);
        m->index[at] = (uint32_t)i + 1;
    }
}

static struct map_entry *find(const struct map *m, const char *key, uint64_t hash)
{
    if (!m->index_cap)
        return NULL;
    for (size_t at = hash & (m->index_cap - 1); m->index[at]; at = (at + 1) & (m->index_cap - 1)) {
        struct map_entry *e = &m->entries[m->index[at] - 1];
        if (e->key && e->hash == hash && strcmp(e->key, key) == 0)
            return e;
    }
    return NULL;
}

void *map_get(const struct map *m, const char *key)
{
    if (!m->count)
        return NULL;
    struct map_entry *e = find(m, key, hash_key(key));
    return e ? e->value : NULL;
}

void *map_set(struct map *m, const char *key, void *value)
{
    MUST(value); /* map_get() returns NULL for an unknown key */
    uint64_t hash = hash_key(key);
    struct map_entry *e = find(m, key, hash);
    if (e) {
        void *old = e->value;
        e->value = value;
        return old;
    }
    if (m->used == m->cap)
        rebuild(m, m->count * 2 > m->cap ? m->cap * 2 : m->cap);
    if (m->used == m->cap)
        rebuild(m, m->cap ? m->cap * 2 : 8);
    m->entries[m->used] = (struct map_entry){xstrdup(key), value, hash};
    size_t at = hash & (m->index_cap - 1);
    while (m->index[at])
        at = (at + 1) & (m->index_cap - 1);
    m->index[at] = (uint32_t)++m->used;
    m->count++;
    return NULL;
}

void *map_remove(struct map *m, const char *key)
{
    struct map_entry *e = m->count ? find(m, key, hash_key(key)) : NULL;
    if (!e)
        return NULL;
    /* The place in the index stays taken until the next rebuild. */
    void *old = e->value;
    free(e->key);
    e->key = NULL;
    e->value = NULL;
    m->count--;
    return old;
}

void map_done(struct map *m)
{
    for (size_t i = 0; i < m->used; i++)
        free(m->entries[i].key);
    free(m->entries);
    free(m->index);
    *m = (struct map)MAP_INIT;
}

struct map_entry *map_next(const struct map *m, size_t *i)
{
    while (*i < m->used) {
        struct map_entry *e = &m->entries[(*i)++];
        if (e->key)
            return e;
    }
    return NULL;
}
