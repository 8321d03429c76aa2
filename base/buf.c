/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static void reserve(struct buf *b, size_t more)
{
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap *= 2;
    b->data = xrealloc(b->data, cap);
    b->cap = cap;
}

void buf_append(struct buf *b, const void *data, size_t len)
{
    reserve(b, len);
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
    buf_append(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
    buf_append(b, &c, 1);
}

/* Writes the digits from last to first, of a negative value because -INT64_MIN overflows. */
static void put_int(struct buf *b, int64_t value)
{
    char digits[20], *at = digits + sizeof digits;
    int64_t rest = value < 0 ? value : -value;
    do
        *--at = (char)('0' - rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    buf_append(b, at, (size_t)(digits + sizeof digits - at));
}

static void put_formatted(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char small[128]; /* most texts fit, so they are formatted only once */
    int n = vsnprintf(small, sizeof small, fmt, ap);
    if (n > 0 && (size_t)n < sizeof small) {
        buf_append(b, small, (size_t)n);
    } else if (n > 0) {
        reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

/* Strings and integers are formatted here, because vsnprintf() took 40 % of the time to list a long
 * queue of gangs. The C library formats the rest of the text from the first other directive on. */
void buf_printf(struct buf *b, const char *fmt, ...)
{
    static const char int64[] = "%" PRId64;
    va_list ap;
    va_start(ap, fmt);
    for (;;) {
        size_t run = strcspn(fmt, "%");
        buf_append(b, fmt, run);
        fmt += run;
        if (strncmp(fmt, "%s", 2) == 0) {
            const char *text = va_arg(ap, const char *);
            buf_puts(b, text ? text : "(null)");
            fmt += 2;
        } else if (strncmp(fmt, "%d", 2) == 0) {
            put_int(b, va_arg(ap, int));
            fmt += 2;
        } else if (strncmp(fmt, int64, sizeof int64 - 1) == 0) {
            put_int(b, va_arg(ap, int64_t));
            fmt += sizeof int64 - 1;
        } else {
            break;
        }
    }
    if (*fmt)
        put_formatted(b, fmt, ap);
    va_end(ap);
}

static void json_escape(struct buf *b, unsigned char c)
{
    static const char short_form[] = "btn\0fr";
    if (c == '"' || c == '\\')
        buf_printf(b, "\\%c", c);
    else if (c >= '\b' && c <= '\r' && c != '\v')
        buf_printf(b, "\\%c", short_form[c - '\b']);
    else
        buf_printf(b, "\\u%04x", c);
}

void buf_json(struct buf *b, const char *s, size_t len)
{
    const char *end = s + len, *run = s;
    buf_putc(b, '"');
    while (s < end) {
        unsigned char c = (unsigned char)*s;
        size_t n = c < 0x80 ? 1 : utf8_len(s, end);
        if (n && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            s += n;
            continue;
        }
        buf_append(b, run, (size_t)(s - run));
        if (n)
            json_escape(b, c);
        else
            buf_puts(b, "\xef\xbf\xbd");
        run = ++s;
    }
    buf_append(b, run, (size_t)(s - run));
    buf_putc(b, '"');
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf)BUF_INIT;
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
    char *s = b->data ? b->data : xstrdup("");
    *b = (struct buf)BUF_INIT;
    return s;
}
