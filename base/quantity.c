/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>

#define ONE INT64_C(1000000000000000000) /* the fraction is a multiple of 1 / ONE */

static const struct suffix {
    const char *text;
    int exp10, exp2;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* A number without its sign: (whole + parts / ONE) * 2^exp2. */
struct number {
    __int128 whole; /* does not grow once it exceeds INT64_MAX */
    __int128 parts;
    bool more; /* a decimal beyond the precision of `parts` is not zero */
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

/* Adds n characters, which are digits and at most one dot. The first `point` digits are before the
 * decimal point, wherever the dot is. */
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

/* Rounds up, to at most INT64_MAX. Nothing overflows: `whole` is below 2^67, exp2 is at most 60,
 * and values that are multiplied by `scale` do not exceed INT64_MAX. */
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

static void put_milli(struct buf *b, int64_t milli)
{
    if (milli % 1000 == 0)
        buf_printf(b, "%" PRId64, milli / 1000);
    else
        buf_printf(b, "%" PRId64 "m", milli);
}

/* Divides by the step as long as that gives a whole number; returns how often, at most 5 times. */
static int divide(int64_t *n, int64_t step)
{
    int times = 0;
    while (*n && *n % step == 0 && times < 5) {
        *n /= step;
        times++;
    }
    return times;
}

/* With the unit that gives the smallest whole number. */
static void put_bytes(struct buf *b, int64_t bytes)
{
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    static const char *const decimal[] = {"", "k", "M", "G", "T", "P"};
    int64_t twos = bytes, tens = bytes;
    int of_twos = divide(&twos, 1024), of_tens = divide(&tens, 1000);
    if (bytes < 0 ? twos >= tens : twos <= tens)
        buf_printf(b, "%" PRId64 "%s", twos, binary[of_twos]);
    else
        buf_printf(b, "%" PRId64 "%s", tens, decimal[of_tens]);
}

static bool is_bytes(const char *resource)
{
    return str_eq(resource, "memory") || str_eq(resource, "storage") ||
           str_eq(resource, "ephemeral-storage") || strncmp(resource, "hugepages-", 10) == 0;
}

void quantity_format(struct buf *b, const char *resource, int64_t amount)
{
    if (str_eq(resource, "cpu"))
        put_milli(b, amount);
    else if (is_bytes(resource))
        put_bytes(b, amount);
    else
        buf_printf(b, "%" PRId64, amount);
}
