/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a table of text with aligned columns, as kubectl prints it.
 *
 * Life cycle: an empty struct with `columns` set, table_add() for each cell of each row, a
 * table_write(), table_done(). One thread.
 */
#ifndef MUSTER_CMD_TABLE_H
#define MUSTER_CMD_TABLE_H

#include "base/buf.h"

struct table {
    size_t columns;
    char **cells;
    size_t n, cap;
};

/* Adds a cell. The first row contains the headings. */
void table_add(struct table *t, const char *cell);
void table_addf(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Removes the columns whose cells below the heading are all empty. */
void table_drop_empty(struct table *t);
/* Appends all complete rows, with three blanks between columns. */
void table_write(const struct table *t, struct buf *out);
/* Frees the cells. */
void table_done(struct table *t);

#endif
