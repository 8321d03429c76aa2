/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_history.h - which part of the cluster each queue used over the simulated time.
 *
 * The time of the run is divided into at most SHARE_COLUMNS columns of equal width. When the run
 * gets longer, the width doubles, so the memory for a queue is bounded. Queues that never used
 * anything have no row.
 *
 * Life cycle: share_history_new(), share_history_add() in order of time, then the other functions,
 * share_history_free(). One thread.
 */
#ifndef MUSTER_SIMULATOR_SHARE_HISTORY_H
#define MUSTER_SIMULATOR_SHARE_HISTORY_H

#include "gang/gang.h"

enum { SHARE_COLUMNS = 300 };

/* A share is a part of the cluster, of cpu, memory or devices the largest one: 1 is all of it. */
struct share_row {
    char *name;                    /* "training" or "namespace/name" */
    bool leaf;                     /* the queue has no children */
    double sum;                    /* share times microseconds, over the run */
    double columns[SHARE_COLUMNS]; /* the same in each column */
};

struct share_history;

struct share_history *share_history_new(void);
struct share_history *share_history_free(struct share_history *h);
/* The core's queues used what they use now from `from` to `to`, on the scenario's clock. */
void share_history_add(struct share_history *h, const struct gang_core *core, usec_t from,
                       usec_t to);

/* The end of the run so far, and the width of a column. */
usec_t share_history_end(const struct share_history *h);
usec_t share_history_width(const struct share_history *h);
/* All pods of the cluster. */
const struct share_row *share_history_all(const struct share_history *h);
/* The rows of the queues without children, the largest sum first. The caller frees the array. */
const struct share_row **share_history_rows(const struct share_history *h, size_t *ret_n);
/* The mean share of a queue over the run. */
double share_history_mean(const struct share_history *h, const struct gang_ref *ref);

#endif
