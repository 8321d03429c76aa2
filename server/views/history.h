/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - the last decisions about gangs, for /api/v1/events, and a log line for each change of
 * a gang's state.
 *
 * It gets every effect of the core, so it sees what muster reports: each change of a PodGroup's
 * state (not those within one step), Kubernetes events about PodGroups, evictions, and PodGroups
 * that are deleted. It keeps HISTORY_SIZE entries; beyond that it drops the oldest entry of the
 * namespace that has most. It logs at most HISTORY_LOG_RATE lines a second, and logs how many it
 * left out. Life cycle: history_new(), history_*(), history_free(); on the core thread.
 */
#ifndef MUSTER_SERVER_VIEWS_HISTORY_H
#define MUSTER_SERVER_VIEWS_HISTORY_H

#include "base/buf.h"
#include "gang/gang.h"

#define HISTORY_SIZE     1000
#define HISTORY_LOG_RATE 50

struct history;

struct history *history_new(void);
struct history *history_free(struct history *h);

/* Before the step: what is in it that matters here. */
void history_events(struct history *h, usec_t wall, const struct gang_event *events, size_t n);
/* After it. `now` is the core's clock, `wall` the same moment by the wall clock. */
void history_effects(struct history *h, usec_t now, usec_t wall, const struct gang_core *core,
                     const struct gang_effect *effects, size_t n);

struct history_filter {
    const char *ns, *name, *api_group; /* NULL: any */
    size_t limit;                      /* the last so many */
};
/* [{…},…], the newest last. */
void history_json(const struct history *h, const struct history_filter *filter, struct buf *out);

#endif
