/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>

#define ONE INT64_C(1000000000000000000) /* decimals are kept as so many parts of one */

static const struct suffix {
    const char *text;
    int exp10, exp2;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* A number without its sign: times 2^exp2. */
struct number {
    __int128 whole; /* beyond INT64_MAX it counts no further */
    __int128 parts; /* of ONE */
    bool more;      /* some decimal that was not kept is not zero */
    int exp2;
};

static bool scan_suffix(const char *p, int *exp10, int *exp2)
{
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (strcmp(p, suffixes[i].text) == 0) {
            *exp10 = suffixes[i].exp10;
            *exp2 = suffixes[i].exp2;
            return true;
        }
    if (*p != 'e' && *p != 'E')
        return false;
    char *end;
    long e = strtol(p + 1, &end, 10);
    if (end == p + 1 || *end || isspace((unsigned char)p[1]) || e < -1000 || e > 1000)
        return false;
    *exp10 = (int)e;
    return true;
}

static __int128 next_digit(__int128 whole, int digit)
{
    return whole > INT64_MAX ? whole : whole * 10 + digit;
}

/* Puts the digits (with a dot among them, maybe) on both sides of the point, which is `point`
 * digits behind the first one. */
static void put_digits(struct number *x, const char *p, size_t n, int64_t point)
{
    int64_t unit = ONE / 10;
    for (; point < 0 && unit > 0; point++)
        unit /= 10;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '.')
            continue;
        int digit = p[i] - '0';
        if (point-- > 0) {
            x->whole = next_digit(x->whole, digit);
            continue;
        }
        x->parts += (__int128)unit * digit;
        x->more |= unit == 0 && digit;
        unit /= 10;
    }
    for (; point > 0 && x->whole > 0 && x->whole <= INT64_MAX; point--)
        x->whole = next_digit(x->whole, 0);
}

/* Rounded up and capped. Nothing overflows: `whole` is below 2^67 and exp2 at most 60, and what is
 * scaled is below the cap. */
static int64_t evaluate(const struct number *x, int64_t scale)
{
    const __int128 factor = (__int128)1 << x->exp2;
    __int128 parts = x->parts * factor, whole = x->whole * factor + parts / ONE;
    if (whole > INT64_MAX)
        return INT64_MAX;
    parts = parts % ONE * scale;
    whole = whole * scale + parts / ONE;
    whole += x->more || parts % ONE != 0;
    return whole > INT64_MAX ? INT64_MAX : (int64_t)whole;
}

int quantity_parse(const char *text, int64_t scale, int64_t *ret, struct err *err)
{
    struct number x = {0};
    int exp10 = 0;
    const char *p = text + (*text == '+' || *text == '-');
    size_t whole = strspn(p, "0123456789"), dot = p[whole] == '.';
    size_t decimals = dot ? strspn(p + whole + 1, "0123456789") : 0, n = whole + dot + decimals;
    if (whole + decimals == 0 || !scan_suffix(p + n, &exp10, &x.exp2))
        return err_set(err, ERR_INVALID, "\"%.40s\" is not a quantity (such as 2, 500m or 16Gi)",
                       text);
    put_digits(&x, p, n, (int64_t)whole + exp10);
    *ret = *text == '-' ? -evaluate(&x, scale) : evaluate(&x, scale);
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
