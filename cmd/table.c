/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/table.h"

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

static bool is_empty(const struct table *t, size_t column)
{
    for (size_t i = t->columns + column; i < t->n; i += t->columns)
        if (*t->cells[i])
            return false;
    return true;
}

void table_drop_empty(struct table *t)
{
    cleanup_free bool *empty = xcalloc(t->columns, sizeof *empty);
    size_t kept = 0, columns = 0;
    for (size_t c = 0; c < t->columns; c++)
        columns += !(empty[c] = is_empty(t, c));
    for (size_t i = 0; i < t->n; i++) {
        if (empty[i % t->columns])
            free(t->cells[i]);
        else
            t->cells[kept++] = t->cells[i];
    }
    t->n = kept;
    t->columns = columns;
}

void table_write(const struct table *t, struct buf *out)
{
    cleanup_free size_t *widths = xcalloc(t->columns, sizeof *widths);
    for (size_t c = 0; c < t->columns; c++)
        widths[c] = column_width(t, c);
    for (size_t row = 0; row + t->columns <= t->n; row += t->columns) {
        size_t blanks = 0; /* written before the next cell, so that no line ends with blanks */
        for (size_t c = 0; c < t->columns; c++) {
            const char *cell = t->cells[row + c];
            for (; *cell && blanks > 0; blanks--)
                buf_putc(out, ' ');
            buf_puts(out, cell);
            blanks += widths[c] - width(cell) + 3;
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
