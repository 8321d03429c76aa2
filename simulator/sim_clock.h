/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_clock.h - simulated time: what time it is, what is to happen when, how long things take.
 *
 * Time passes only when built_in_cluster.c says so: it sets `now`, takes out what is due and runs
 * it. Tasks of the same time leave in the order in which they were set, so that a run repeats
 * exactly. The clock owns its tasks until they are taken out; a task never outlives its owner,
 * because all of them end with the cluster. A clock of zeros is empty; sim_clock_done() drops what
 * is left. One thread.
 */
#ifndef MUSTER_SIMULATOR_SIM_CLOCK_H
#define MUSTER_SIMULATOR_SIM_CLOCK_H

#include <jansson.h>

#include "base/heap.h"

/* Simulated costs, one table for all: how long things take (measured on a real control plane of
 * two cores, in round numbers). */
enum {
    COST_CYCLE = 2 * USEC_PER_MSEC,        /* a scheduling cycle */
    COST_TO_BIND = 1 * USEC_PER_MSEC,      /* from its end to the bind call */
    COST_WRITE = 2 * USEC_PER_MSEC,        /* a write to the API (binding, patch) */
    COST_CONDITION = 10 * USEC_PER_MSEC,   /* the scheduler's own patch of a pod it rejected */
    COST_READ = 1 * USEC_PER_MSEC,         /* a read from the API */
    COST_WATCH = 1 * USEC_PER_MSEC,        /* until a watch shows a write */
    COST_CREATE = 10 * USEC_PER_MSEC,      /* a controller between two batches of pods */
    COST_START = 500 * USEC_PER_MSEC,      /* from bound to running */
    COST_TERMINATE = 1 * USEC_PER_SEC,     /* from the deletion of a bound pod to its end */
    COST_HTTP_TIMEOUT = 30 * USEC_PER_SEC, /* the scheduler's wait for a reply */
    COST_BACKOFF_MIN = 1 * USEC_PER_SEC,   /* a pod's first backoff; doubles */
    COST_BACKOFF_MAX = 10 * USEC_PER_SEC,  /* a pod's longest backoff */
    COST_FLUSH = 300 * USEC_PER_SEC, /* unschedulable pods are tried again without any event */
};

struct sim_clock {
    usec_t now;
    usec_t origin; /* of the scenario's clock */
    usec_t wall;   /* wall clock at origin; -1: not read yet */
    struct heap tasks;
};

struct task;
typedef void sim_task_fn(void *owner, struct task *t);

/* Something that happens at a time. The fields behind owner are its arguments, owned. */
struct task {
    struct heap_node node;
    sim_task_fn *run; /* NULL: a change of an object, see api_server.h */
    void *owner;
    char *uid; /* of the object it is about */
    char *ns, *name, *to;
    json_t *json;
    uint64_t id;
    int64_t n;
};

/* A task for the caller to fill in; the clock keeps it. run(owner, task) is called at its time. */
struct task *sim_clock_at(struct sim_clock *c, usec_t at, sim_task_fn *run, void *owner);
/* Takes out the first task due at `until`, for the caller to free; NULL when none is. */
struct task *sim_clock_due(struct sim_clock *c, usec_t until);
void sim_task_free(struct task *t);
/* When the first task is due; USEC_NEVER: there is none. */
usec_t sim_clock_next(const struct sim_clock *c);
/* "2026-01-01T00:00:00Z", now on the scenario's wall clock. */
const char *sim_clock_timestamp(const struct sim_clock *c, char buf[32]);
void sim_clock_done(struct sim_clock *c);

#endif
