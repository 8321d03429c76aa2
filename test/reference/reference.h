/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - the pages of docs/reference that are generated from tables in the code.
 *
 * Each page is one function in one file, page_*.c, which prints the page to stdout. `./dev docs`
 * writes all pages, and check-reference compares them. A table that lacks a text ends the program
 * with a message and exit code 1. One thread.
 */
#ifndef MUSTER_TEST_REFERENCE_H
#define MUSTER_TEST_REFERENCE_H

#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

/* root is the folder of the repository. */
void page_chart_values(const char *root);
void page_events(const char *root);
void page_metrics(const char *root);
void page_podgroup_fields(const char *root);
void page_reasons(const char *root);
void page_settings(const char *root);
void page_states(const char *root);
void page_workload_kinds(const char *root);

/* The title, and the first paragraph: `readers` is a sentence about readers and content, `table`
 * the source. */
void page_title(const char *title, const char *readers, const char *table);
/* A cell of a table, and the pipe after it. Escapes pipes in the text. */
void page_cell(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* With commas between groups of digits: "10,000". The caller frees it. */
char *page_number(int64_t n);
/* The file ROOT/PATH. The caller frees it. */
char *page_file(const char *root, const char *path);
/* Ends the program. */
void page_fail(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));

#endif
