/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - how many bytes the next character takes, after RFC 3629 (no surrogates, no overlong
 * forms, nothing above U+10FFFF), and texts that may be shown.
 */
#ifndef MUSTER_BASE_UTF8_H
#define MUSTER_BASE_UTF8_H

#include "base/mem.h"

/* 1..4, or 0 when the bytes at p (p < end) are no UTF-8. */
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

/* Replaces control characters and what is no UTF-8 by '?', in place: one line that may be printed
 * and written to the API, whatever was put into it. */
void utf8_clean(char *text);

#endif
