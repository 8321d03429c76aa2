/* SPDX-License-Identifier: Apache-2.0 */
#include "base/edit_distance.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 256

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

static int folded(char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

size_t edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST];
    size_t n = strlen(b);
    if (n >= LONGEST || strlen(a) >= LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];
            int same = folded(a[i - 1]) == folded(b[j - 1]);
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return row[n];
}
