/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fuzz.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"

#define FIRST_MOMENT (1000 * USEC_PER_SEC)
#define WALL         (INT64_C(1790000000) * USEC_PER_SEC)

usec_t fuzz_time = FIRST_MOMENT;

void fuzz_begin(void)
{
    fuzz_time = FIRST_MOMENT;
}

/* ---- replaces base/usec.c ---- */

usec_t usec_now(void)
{
    return fuzz_time;
}

int64_t nsec_now(void)
{
    return fuzz_time * 1000;
}

usec_t usec_wall(void)
{
    return WALL + fuzz_time;
}

/* ---- replaces base/log.c: writes nothing, but reads every value ---- */

void log_setup(enum log_level level, enum log_format format)
{
    (void)level;
    (void)format;
}

enum log_level log_level(void)
{
    return LOG_DEBUG;
}

void log_line(enum log_level level, const char *msg, ...)
{
    size_t read = strlen(msg);
    va_list ap;
    (void)level;
    va_start(ap, msg);
    for (const char *key; (key = va_arg(ap, const char *)) != NULL;) {
        const char *value = va_arg(ap, const char *);
        read += strlen(key) + (value ? strlen(value) : 0);
    }
    va_end(ap);
    HOLDS(read > 0, "a line that says nothing");
}

const char *log_int_into(char *buf, int64_t n)
{
    snprintf(buf, 24, "%" PRId64, n);
    return buf;
}

/* ---- helpers ---- */

void fuzz_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}

struct fuzz_dice fuzz_dice(const uint8_t *data, size_t size)
{
    struct fuzz_dice d = {UINT64_C(0x9e3779b97f4a7c15)};
    for (size_t i = 0; i < size; i++)
        d.state = (d.state ^ data[i]) * UINT64_C(0x100000001b3);
    return d;
}

size_t fuzz_roll(struct fuzz_dice *d, size_t n)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(d->state >> 33) % n;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = xmalloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const char *fuzz_file(int which, const void *data, size_t size)
{
    static struct {
        char path[64];
        int fd; /* + 1 */
    } files[FUZZ_FILES];
    int fd = files[which].fd ? files[which].fd - 1 : memfd_create("fuzz", MFD_CLOEXEC);
    HOLDS(fd >= 0 && ftruncate(fd, 0) == 0, "no file in memory");
    HOLDS(pwrite(fd, data, size, 0) == (ssize_t)size, "the file in memory cannot be written");
    files[which].fd = fd + 1;
    snprintf(files[which].path, sizeof files[which].path, "/proc/self/fd/%d", fd);
    return files[which].path;
}

void fuzz_check_error(const struct err *err)
{
    HOLDS(err->code != ERR_NONE, "failed without an error code");
    HOLDS(memchr(err->text, '\0', sizeof err->text) && err->text[0], "failed without a sentence");
    cleanup_free char *clean = xstrdup(err->text);
    utf8_clean(clean);
    HOLDS(str_eq(clean, err->text), "not fit to be shown: %s", clean);
}

json_t *fuzz_json(const char *what, const char *data, size_t len)
{
    json_error_t at;
    json_t *tree = json_loadb(data, len, JSON_DECODE_ANY, &at);
    HOLDS(tree, "%s is no JSON: %s, at byte %d: %.*s", what, at.text, at.position,
          (int)(len < 2000 ? len : 2000), data);
    return tree;
}
