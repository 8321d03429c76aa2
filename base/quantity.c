/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>

/* A decimal number of up to 18 significant digits, times 10^exp10 times 2^exp2. */
struct decimal {
    __int128 digits;
    int exp10;
    int exp2;
    bool negative;
    bool sticky; /* non-zero digits were dropped: the true value is a little larger */
};

static const struct suffix {
    const char *text;
    int exp10, exp2;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static const char *scan_digits(const char *p, struct decimal *d, bool *any)
{
    bool fraction = false;
    for (;; p++) {
        if (*p == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!isdigit((unsigned char)*p))
            return p;
        *any = true;
        if (d->digits < (__int128)100000000000000000LL) {
            d->digits = d->digits * 10 + (*p - '0');
            if (fraction)
                d->exp10--;
        } else {
            d->sticky |= *p != '0';
            if (!fraction)
                d->exp10++;
        }
    }
}

static bool scan_suffix(const char *p, struct decimal *d)
{
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (strcmp(p, suffixes[i].text) == 0) {
            d->exp10 += suffixes[i].exp10;
            d->exp2 = suffixes[i].exp2;
            return true;
        }
    if (*p != 'e' && *p != 'E')
        return false;
    char *end;
    long e = strtol(p + 1, &end, 10);
    if (end == p + 1 || *end || isspace((unsigned char)p[1]) || e < -1000 || e > 1000)
        return false;
    d->exp10 += (int)e;
    return true;
}

/* digits * 10^exp10 * 2^exp2 * scale, rounded away from zero, capped at int64. */
static int64_t evaluate(struct decimal d, int64_t scale)
{
    if (d.digits == 0)
        return 0;
    const __int128 cap = INT64_MAX;
    /* Multiply first, so that nothing is lost; beyond `huge` no division below can bring the
     * value back under the cap (18 fraction digits at the most). */
    const __int128 huge = cap * 1000000000000000000LL;
    __int128 v = d.digits * scale;
    for (; d.exp2 > 0 && v <= huge; d.exp2--)
        v *= 2;
    for (; d.exp10 > 0 && v <= huge; d.exp10--)
        v *= 10;
    for (; d.exp10 < 0 && v > 0; d.exp10++) {
        d.sticky |= v % 10 != 0;
        v /= 10;
    }
    if (d.sticky)
        v++;
    if (v > cap)
        v = cap;
    return d.negative ? -(int64_t)v : (int64_t)v;
}

int quantity_parse(const char *text, int64_t scale, int64_t *ret, struct err *err)
{
    struct decimal d = {0};
    const char *p = text;
    if (*p == '+' || *p == '-')
        d.negative = *p++ == '-';
    bool any = false;
    p = scan_digits(p, &d, &any);
    if (!any || !scan_suffix(p, &d))
        return err_set(err, ERR_INVALID, "\"%.40s\" is not a quantity (such as 2, 500m or 16Gi)",
                       text);
    *ret = evaluate(d, scale);
    return 0;
}

void quantity_format_milli(struct buf *b, int64_t milli)
{
    if (milli % 1000 == 0)
        buf_printf(b, "%" PRId64, milli / 1000);
    else
        buf_printf(b, "%" PRId64 "m", milli);
}

void quantity_format_bytes(struct buf *b, int64_t bytes)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t u = 0;
    while (bytes && bytes % 1024 == 0 && u + 1 < ARRAY_SIZE(units)) {
        bytes /= 1024;
        u++;
    }
    buf_printf(b, "%" PRId64 "%s", bytes, units[u]);
}
