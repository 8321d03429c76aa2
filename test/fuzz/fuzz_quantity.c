/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities ("100m", "16Gi", "1e3"): compares quantity_parse() with the value computed digit by
 * digit, with exact arithmetic.
 */
#include <ctype.h>
#include <inttypes.h>

#include "base/quantity.h"
#include "test/fuzz/fuzz.h"

#define MOST_DIGITS 4096
/* The most that decimals after the 18th can add: 2^60 times 1000 times 10^-18, rounded up. */
#define FINE 1153

/* 0.d[0]d[1]… times 10^point. */
struct decimal {
    uint8_t d[MOST_DIGITS];
    size_t n;
    long point;
};

static void times(struct decimal *x, unsigned factor)
{
    unsigned carry = 0;
    for (size_t i = x->n; i-- > 0;) {
        unsigned v = x->d[i] * factor + carry;
        x->d[i] = (uint8_t)(v % 10);
        carry = v / 10;
    }
    for (; carry; carry /= 10) {
        HOLDS(x->n < MOST_DIGITS, "too many digits");
        memmove(x->d + 1, x->d, x->n++);
        x->d[0] = (uint8_t)(carry % 10);
        x->point++;
    }
}

/* Rounded up, capped at INT64_MAX. */
static int64_t whole(const struct decimal *x)
{
    unsigned __int128 v = 0;
    bool more = false;
    const unsigned __int128 cap = INT64_MAX;
    for (size_t i = 0; i < x->n; i++)
        if ((long)i >= x->point)
            more = more || x->d[i];
        else if (v <= cap)
            v = v * 10 + x->d[i];
    for (long i = (long)x->n; i < x->point && v && v <= cap; i++)
        v *= 10;
    v += more;
    return v > cap ? INT64_MAX : (int64_t)v;
}

static bool suffix(const char *p, long *exp10, int *exp2)
{
    static const char *const small[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    for (size_t i = 0; i < ARRAY_SIZE(small); i++)
        if (strcmp(p, small[i]) == 0) {
            *exp10 = ((long)i - 3) * 3;
            return true;
        }
    for (size_t i = 1; i < ARRAY_SIZE(binary); i++)
        if (strcmp(p, binary[i]) == 0) {
            *exp2 = (int)i * 10;
            return true;
        }
    if (*p != 'e' && *p != 'E')
        return false;
    size_t sign = p[1] == '+' || p[1] == '-', n = strspn(p + 1 + sign, "0123456789");
    if (n == 0 || p[1 + sign + n])
        return false;
    *exp10 = strtol(p + 1, NULL, 10);
    return *exp10 >= -1000 && *exp10 <= 1000;
}

/* False: the text is not a quantity. *fine: it has more decimals than quantity_parse() keeps before
 * it multiplies. */
static bool exact_value(const char *text, int64_t scale, int64_t *ret, bool *fine)
{
    static struct decimal x;
    x.n = 0;
    x.point = 0;
    bool dot = false, any = false;
    const char *p = text + (*text == '+' || *text == '-');
    for (; isdigit((unsigned char)*p) || (*p == '.' && !dot); p++) {
        if (*p == '.') {
            dot = true;
            continue;
        }
        any = true;
        x.point += !dot;
        x.d[x.n++] = (uint8_t)(*p - '0');
    }
    long exp10 = 0;
    int exp2 = 0;
    if (!any || !suffix(p, &exp10, &exp2))
        return false;
    *fine = exp2 > 0 && (long)x.n - x.point > 18;
    for (; exp2 > 0; exp2--)
        times(&x, 2);
    times(&x, (unsigned)scale);
    x.point += exp10;
    *ret = *text == '-' ? -whole(&x) : whole(&x);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_DIGITS / 2)
        return 0;
    cleanup_free char *text = fuzz_text(data, size);
    static const int64_t scales[] = {1, 1000};
    for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
        int64_t got = 0, want = 0;
        struct err err;
        bool good = quantity_parse(text, scales[i], &got, &err) == 0;
        bool fine = false, is_one = exact_value(text, scales[i], &want, &fine);
        HOLDS(good == is_one, "\"%s\" is %staken", text, good ? "" : "not ");
        HOLDS(got == want || (fine && imaxabs(got - want) <= FINE),
              "\"%s\" times %" PRId64 " is %" PRId64 ", not %" PRId64, text, scales[i], got, want);
        if (!good) {
            fuzz_check_error(&err);
            return 0;
        }
        cleanup_buf struct buf out = BUF_INIT;
        quantity_format(&out, scales[i] == 1 ? "memory" : "cpu", got);
        int64_t again = 0;
        HOLDS(quantity_parse(buf_str(&out), scales[i], &again, &err) == 0 && again == got,
              "%" PRId64 " is written as %s and read as %" PRId64, got, buf_str(&out), again);
    }
    return 0;
}
