/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <inttypes.h>

#define LONGEST (INT64_C(100) * 365 * 24 * 3600 * USEC_PER_SEC)

static const struct unit {
    const char *name;
    usec_t usec;
} units[] = {
    /* unit_at() takes the first match, so "ms" must come before "m". */
    {"us", 1},
    {"ms", USEC_PER_MSEC},
    {"s", USEC_PER_SEC},
    {"m", 60 * USEC_PER_SEC},
    {"h", 3600 * USEC_PER_SEC},
    {"d", 24 * 3600 * USEC_PER_SEC},
};

static const struct unit *unit_at(const char *p)
{
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (strncmp(p, units[i].name, strlen(units[i].name)) == 0)
            return &units[i];
    return NULL;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads "12" or "1.5" as millionths into *ret. Returns the end of the number; NULL: no number. */
static const char *number(const char *p, int64_t *ret)
{
    int64_t whole = 0, fraction = 0, scale = 1000000;
    if (!digit(*p))
        return NULL;
    for (; digit(*p); p++) {
        whole = whole * 10 + (*p - '0');
        if (whole > LONGEST / 1000000)
            return NULL;
    }
    if (*p == '.') {
        if (!digit(*++p))
            return NULL;
        for (; digit(*p); p++)
            if (scale > 1) {
                scale /= 10;
                fraction += scale * (*p - '0');
            }
    }
    *ret = whole * 1000000 + fraction;
    return p;
}

int duration_parse(const char *text, usec_t *ret, struct err *err)
{
    const char *p = text;
    usec_t sum = 0;
    bool bare = false;
    do {
        int64_t millionths;
        p = number(p, &millionths);
        if (!p)
            break;
        const struct unit *u = *p ? unit_at(p) : NULL;
        bare = !u;
        __int128 part = (__int128)millionths * (u ? u->usec : USEC_PER_SEC) / 1000000;
        if (part > LONGEST - sum)
            return err_set(err, ERR_INVALID, "\"%.40s\" is too long: the maximum is 100 years",
                           text);
        sum += (usec_t)part;
        p += u ? strlen(u->name) : 0;
    } while (*p && !bare);
    /* A number without a unit must be the only part. */
    bool parts = p && p > text && bare && strspn(text, "0123456789.") != strlen(text);
    if (!p || *p || parts)
        return err_set(err, ERR_INVALID, "\"%.40s\" is not a duration: write 90s, 1m30s or 500ms",
                       text);
    *ret = sum;
    return 0;
}

int duration_parse_units(const char *text, usec_t *ret)
{
    size_t len = strlen(text);
    bool unit = len > 0 && (!strchr("0123456789.", text[len - 1]) || strcmp(text, "0") == 0);
    return unit ? duration_parse(text, ret, NULL) : -1;
}

void duration_format(struct buf *b, usec_t d)
{
    if (d > 0 && d < USEC_PER_MSEC) {
        buf_printf(b, "%" PRId64 "us", d);
        return;
    }
    if (d > 0 && d < USEC_PER_SEC && d % USEC_PER_MSEC == 0) {
        buf_printf(b, "%" PRId64 "ms", d / USEC_PER_MSEC);
        return;
    }
    int64_t minutes = d / (60 * USEC_PER_SEC), rest = d % (60 * USEC_PER_SEC);
    if (minutes >= 60)
        buf_printf(b, "%" PRId64 "h", minutes / 60);
    if (minutes % 60)
        buf_printf(b, "%" PRId64 "m", minutes % 60);
    if (!rest && minutes)
        return;
    buf_printf(b, "%" PRId64, rest / USEC_PER_SEC);
    int fraction = (int)(rest % USEC_PER_SEC), width = 6;
    if (fraction) {
        for (; fraction % 10 == 0; fraction /= 10)
            width--;
        buf_printf(b, ".%0*d", width, fraction);
    }
    buf_putc(b, 's');
}
