/* SPDX-License-Identifier: Apache-2.0 */
#include "server/table.h"

#include <stdarg.h>
#include <stdio.h>

void table_add(struct table *t, const char *cell)
{
    GROW(t->cells, t->cap, t->n + 1);
    t->cells[t->n++] = xstrdup(cell);
}

void table_addf(struct table *t, const char *fmt, ...)
{
    char *cell = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&cell, fmt, ap) < 0)
        abort(); /* out of memory, as in base/mem.h */
    va_end(ap);
    GROW(t->cells, t->cap, t->n + 1);
    t->cells[t->n++] = cell;
}

/* In characters, not bytes. */
static size_t width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t column_width(const struct table *t, size_t column)
{
    size_t widest = 0;
    for (size_t i = column; i < t->n; i += t->columns)
        if (width(t->cells[i]) > widest)
            widest = width(t->cells[i]);
    return widest;
}

void table_write(const struct table *t, struct buf *out)
{
    for (size_t row = 0; row + t->columns <= t->n; row += t->columns) {
        for (size_t c = 0; c < t->columns; c++) {
            const char *cell = t->cells[row + c];
            buf_puts(out, cell);
            for (size_t pad = width(cell); c + 1 < t->columns && pad < column_width(t, c) + 3;
                 pad++)
                buf_putc(out, ' ');
        }
        buf_putc(out, '\n');
    }
}

void table_done(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
    *t = (struct table){0};
}
