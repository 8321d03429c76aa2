/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a page of docs/reference: `print-reference PAGE ROOT`. `print-reference` lists the pages.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "base/buf.h"
#include "test/reference/reference.h"

static const struct {
    const char *name;
    void (*print)(const char *root);
} pages[] = {
    {"chart-values", page_chart_values},
    {"events", page_events},
    {"metrics", page_metrics},
    {"podgroup-fields", page_podgroup_fields},
    {"reasons", page_reasons},
    {"settings", page_settings},
    {"states", page_states},
    {"workload-kinds", page_workload_kinds},
};

void page_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

void page_title(const char *title, const char *readers, const char *table)
{
    printf("# %s\n\n"
           "Reference · [all pages](../README.md)\n\n"
           "%s\n"
           "`./dev docs` generates the page from %s.\nA test checks that the page matches its "
           "sources.\n\n",
           title, readers, table);
}

void page_cell(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cleanup_free char *cell = NULL;
    if (vasprintf(&cell, fmt, ap) < 0)
        page_fail("out of memory");
    va_end(ap);
    putchar(' ');
    for (const char *c = cell; *c; c++)
        printf("%s%c", *c == '|' ? "\\" : "", *c);
    printf("%s|", *cell ? " " : "");
}

char *page_number(int64_t n)
{
    cleanup_free char *digits = xasprintf("%" PRId64, n);
    struct buf b = BUF_INIT;
    size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_putc(&b, ',');
        buf_putc(&b, digits[i]);
    }
    return buf_steal(&b);
}

char *page_file(const char *root, const char *path)
{
    cleanup_free char *full = xasprintf("%s/%s", root, path);
    struct buf b = BUF_INIT;
    FILE *file = fopen(full, "r");
    if (!file)
        page_fail("%s cannot be opened", full);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        buf_append(&b, part, n);
    fclose(file);
    buf_putc(&b, '\0');
    return buf_steal(&b);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        if (argc == 1)
            puts(pages[i].name);
        else if (argc == 3 && str_eq(argv[1], pages[i].name)) {
            pages[i].print(argv[2]);
            return 0;
        }
    }
    if (argc != 1)
        page_fail("usage: print-reference [PAGE ROOT]; without arguments, it lists the pages");
    return 0;
}
