/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_text.h - the families of metrics of metrics_table.h, and their text format.
 *
 * Constant data and functions without state: any thread may use them.
 */
#ifndef MUSTER_SERVER_VIEWS_METRICS_TEXT_H
#define MUSTER_SERVER_VIEWS_METRICS_TEXT_H

#include "base/buf.h"
#include "server/views/metrics_table.h"

enum metric_family {
#define X(id, section, name, type, labels, help, note) FAMILY_##id,
    SERVER_METRICS(X)
#undef X
        METRIC_FAMILY_MAX
};

struct metric_family_row {
    const char *name, *type, *help;
};
extern const struct metric_family_row metric_families[METRIC_FAMILY_MAX];

/* The lines before the series of a family. */
void metric_head(struct buf *out, enum metric_family family);
/* The value of a label, without its quotes. Different values stay different. */
void metric_label(struct buf *out, const char *value);

#endif
