/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/json_put.h"

#include <inttypes.h>
#include <time.h>

void json_put_comma(struct buf *out)
{
    char last = out->len ? out->data[out->len - 1] : '{';
    if (last != '{' && last != '[')
        buf_putc(out, ',');
}

void json_put_object(struct buf *out)
{
    json_put_comma(out);
    buf_putc(out, '{');
}

void json_put_key(struct buf *out, const char *key)
{
    json_put_comma(out);
    buf_printf(out, "\"%s\":", key);
}

void json_put_text(struct buf *out, const char *key, const char *value)
{
    json_put_key(out, key);
    if (value)
        buf_json(out, value, strlen(value));
    else
        buf_puts(out, "null");
}

void json_put_number(struct buf *out, const char *key, int64_t value)
{
    json_put_key(out, key);
    buf_printf(out, "%" PRId64, value);
}

void json_put_flag(struct buf *out, const char *key, bool value)
{
    json_put_key(out, key);
    buf_puts(out, value ? "true" : "false");
}

void json_put_moment(struct buf *out, const char *key, usec_t wall)
{
    char s[32];
    time_t sec = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    gmtime_r(&sec, &tm);
    strftime(s, sizeof s, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_put_text(out, key, s);
}
