/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - 64-bit FNV-1a: digests that are the same in every process and every version.
 *
 * Do not use it for keys that a user can choose, because it is easy to find texts with the same
 * digest. base/map.h has a keyed hash for such keys. Start with HASH_START, and pass each result
 * to the next call. Stateless; any thread.
 *
 * Source: Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm" (RFC 9923).
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

/* Hashes eight bytes, the lowest first. */
static inline uint64_t hash_u64(uint64_t h, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        h = hash_byte(h, (unsigned char)(value & 0xff));
    return h;
}

#endif
