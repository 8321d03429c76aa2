/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/usec.h"

static enum log_level max_level = LOG_INFO;
static enum log_format line_format = LOG_TEXT;

void log_setup(enum log_level level, enum log_format format)
{
    max_level = level;
    line_format = format;
}

enum log_level log_level(void)
{
    return max_level;
}

static void put_quoted(struct buf *b, const char *s)
{
    buf_putc(b, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_puts(b, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else
            buf_putc(b, (char)c);
    }
    buf_putc(b, '"');
}

static void begin_text(struct buf *b, enum log_level level, usec_t wall, const char *msg)
{
    time_t sec = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    gmtime_r(&sec, &tm);
    buf_printf(b, "%c%02d%02d %02d:%02d:%02d.%06d %s", "EWID"[level], tm.tm_mon + 1, tm.tm_mday,
               tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(wall % USEC_PER_SEC), msg);
}

static void begin_json(struct buf *b, enum log_level level, usec_t wall, const char *msg)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    buf_printf(b, "{\"ts\":%" PRId64 ".%06d,\"level\":\"%s\",\"msg\":", wall / USEC_PER_SEC,
               (int)(wall % USEC_PER_SEC), names[level]);
    put_quoted(b, msg);
}

void log_line(enum log_level level, const char *msg, ...)
{
    if (level > max_level)
        return;
    cleanup_buf struct buf b = BUF_INIT;
    usec_t wall = usec_wall();
    if (line_format == LOG_JSON)
        begin_json(&b, level, wall, msg);
    else
        begin_text(&b, level, wall, msg);
    va_list ap;
    va_start(ap, msg);
    for (const char *key; (key = va_arg(ap, const char *)) != NULL;) {
        const char *value = va_arg(ap, const char *);
        if (line_format == LOG_JSON) {
            buf_putc(&b, ',');
            put_quoted(&b, key);
            buf_putc(&b, ':');
        } else {
            buf_printf(&b, " %s=", key);
        }
        put_quoted(&b, value ? value : "");
    }
    va_end(ap);
    buf_puts(&b, line_format == LOG_JSON ? "}\n" : "\n");
    /* One write for each line, so that lines of different threads do not mix. */
    ssize_t n = write(STDERR_FILENO, b.data, b.len);
    (void)n; /* an error cannot be reported anywhere */
}

const char *log_int_into(char *buf, int64_t n)
{
    snprintf(buf, 24, "%" PRId64, n);
    return buf;
}
