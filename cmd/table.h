/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - columns for people, aligned as kubectl aligns them. One thread.
 */
#ifndef MUSTER_CMD_TABLE_H
#define MUSTER_CMD_TABLE_H

#include "base/buf.h"

struct table {
    size_t columns;
    char **cells;
    size_t n, cap;
};

/* The first cells added are the heads. */
void table_add(struct table *t, const char *cell);
void table_addf(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Takes out columns that have nothing below their heads. */
void table_drop_empty(struct table *t);
/* Writes all full rows, three blanks between columns. */
void table_write(const struct table *t, struct buf *out);
void table_done(struct table *t);

#endif
