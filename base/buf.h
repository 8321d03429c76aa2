/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growing byte string. A NUL always follows the last byte.
 *
 *     cleanup_buf struct buf b = BUF_INIT;
 *     buf_printf(&b, "%s/%s", ns, name);
 *     return buf_steal(&b);
 *
 * The owner of the struct owns the bytes and frees them with buf_done(). Not thread-safe.
 */
#ifndef MUSTER_BASE_BUF_H
#define MUSTER_BASE_BUF_H

#include "base/mem.h"

struct buf {
    char *data; /* NULL while empty and never written */
    size_t len;
    size_t cap;
};
#define BUF_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void buf_append(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Appends the bytes as a JSON string, with quotes. Each byte that is not valid UTF-8 becomes
 * U+FFFD. */
void buf_json(struct buf *b, const char *s, size_t len);
/* Empties the buf and keeps its memory. */
void buf_clear(struct buf *b);
/* Frees the memory; the buf may be used again. */
void buf_done(struct buf *b);
/* The bytes as a C string; never NULL. The buf still owns them. */
const char *buf_str(const struct buf *b);
/* The bytes as an allocated C string that the caller owns; never NULL. Empties the buf. */
char *buf_steal(struct buf *b);

#define cleanup_buf __attribute__((cleanup(buf_done)))

#endif
