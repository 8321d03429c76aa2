/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/metrics_text.h"

#include <string.h>

const struct metric_family_row metric_families[] = {
#define X(id, section, name, type, labels, help, note) {name, type, help},
    SERVER_METRICS(X)
#undef X
};

void metric_head(struct buf *out, enum metric_family family)
{
    const struct metric_family_row *f = &metric_families[family];
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
}

void metric_label(struct buf *out, const char *value)
{
    for (;;) {
        size_t plain = strcspn(value, "\"\\\n");
        buf_append(out, value, plain);
        value += plain;
        if (!*value)
            return;
        buf_putc(out, '\\');
        buf_putc(out, *value == '\n' ? 'n' : *value);
        value++;
    }
}
