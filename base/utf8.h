/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - UTF-8 as in RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_UTF8_H
#define MUSTER_BASE_UTF8_H

#include "base/mem.h"

/* The number of bytes of the character at p, from 1 to 4; 0: not valid UTF-8. p must be before
 * `end`. */
static inline size_t utf8_len(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    if (s[0] < 0x80)
        return 1;
    if (left < 2 || (s[1] & 0xc0) != 0x80)
        return 0;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        return 2;
    if (left < 3 || (s[2] & 0xc0) != 0x80)
        return 0;
    if ((s[0] == 0xe0 && s[1] >= 0xa0) || (s[0] >= 0xe1 && s[0] <= 0xec) ||
        (s[0] == 0xed && s[1] <= 0x9f) || s[0] == 0xee || s[0] == 0xef)
        return 3;
    if (left < 4 || (s[3] & 0xc0) != 0x80)
        return 0;
    if ((s[0] == 0xf0 && s[1] >= 0x90) || (s[0] >= 0xf1 && s[0] <= 0xf3) ||
        (s[0] == 0xf4 && s[1] <= 0x8f))
        return 4;
    return 0;
}

/* Replaces each control character, and each byte that is not valid UTF-8, with '?' in place. The
 * result is one line that is safe to print and to write to the API. */
void utf8_clean(char *text);

#endif
