/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/human_readable.h"

#include <inttypes.h>
#include <time.h>

#include "base/usec.h"

static void put_length(struct buf *out, int64_t s)
{
    if (s < 0)
        s = 0;
    if (s < 120)
        buf_printf(out, "%" PRId64 "s", s);
    else if (s < 120 * 60)
        buf_printf(out, "%" PRId64 "m", s / 60);
    else if (s < 48 * 3600)
        buf_printf(out, "%" PRId64 "h", s / 3600);
    else
        buf_printf(out, "%" PRId64 "d", s / 86400);
}

/* sign 1: the time from now to the moment. -1: from the moment to now. */
static void put_distance(struct buf *out, const char *moment, int sign)
{
    struct tm tm = {0};
    if (!strptime(moment, "%Y-%m-%dT%H:%M:%SZ", &tm))
        buf_puts(out, "<unknown>");
    else
        put_length(out, sign * ((int64_t)timegm(&tm) - (int64_t)(usec_wall() / USEC_PER_SEC)));
}

void format_age(struct buf *out, const char *moment)
{
    put_distance(out, moment, -1);
}

void format_until(struct buf *out, const char *moment)
{
    put_distance(out, moment, 1);
}
