/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - keeps the latest decisions about gangs for /api/v1/events, and logs each change of a
 * gang's state.
 *
 * The history gets every effect of the core. It keeps what muster reports: changes of a PodGroup's
 * state (without the intermediate states of a step), Kubernetes events about PodGroups, evictions,
 * and deleted PodGroups. It keeps HISTORY_SIZE entries. At this limit, it drops the oldest entry of
 * the namespace that has the most entries. It logs at most HISTORY_LOG_RATE lines a second, and
 * logs how many lines it has skipped. Life cycle: history_new(), the functions below,
 * history_free(). On the thread that has the turn.
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

/* Call it before the step, with the step's events. */
void history_events(struct history *h, usec_t wall, const struct gang_event *events, size_t n);
/* Call it after the step. `now` is the time of the core's clock, and `wall` is the same moment by
 * the wall clock. */
void history_effects(struct history *h, usec_t now, usec_t wall, const struct gang_core *core,
                     const struct gang_effect *effects, size_t n);

struct history_filter {
    const char *ns, *name, *api_group; /* NULL: any */
    size_t limit;                      /* at most this many of the newest entries */
};
/* Writes [{…},…], the newest last. */
void history_json(const struct history *h, const struct history_filter *filter, struct buf *out);

#endif
