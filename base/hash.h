/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - 64-bit hashes, FNV-1a for texts: digests that are the same in every process and every
 * version.
 *
 * Do not use it for keys that a user can choose, because it is easy to find texts with the same
 * digest. base/map.h has a keyed hash for such keys. Start with HASH_START, and pass each result
 * to the next call. Stateless; any thread.
 *
 * Sources: Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm" (RFC 9923);
 * Knuth, "The Art of Computer Programming", volume 3, section 6.4 (multiplicative hashing).
 */
#ifndef MUSTER_BASE_HASH_H
#define MUSTER_BASE_HASH_H

#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t h, unsigned char byte)
{
    return (h ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = hash_byte(h, (unsigned char)*text);
    return h;
}

/* Hashes the value in one step, by 2^64 / golden ratio, instead of byte by byte. The shift lets the
 * high bits reach the low ones. */
static inline uint64_t hash_u64(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

#endif
