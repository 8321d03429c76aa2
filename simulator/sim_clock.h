/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_clock.h - simulated time, the tasks that are due at a time, and the duration of each action.
 *
 * built_in_cluster.c sets `now`, takes the tasks that are due, and runs them. Tasks with equal
 * times leave in the order in which they were added, so that a run repeats exactly. The clock owns
 * a task until it is taken. All tasks end with the cluster, so a task never outlives its owner. A
 * struct of zeros is an empty clock. sim_clock_done() frees the remaining tasks. One thread.
 */
#ifndef MUSTER_SIMULATOR_SIM_CLOCK_H
#define MUSTER_SIMULATOR_SIM_CLOCK_H

#include <jansson.h>

#include "base/heap.h"

/* Simulated durations, measured on a real control plane with two cores and rounded. */
enum {
    COST_CYCLE = 2 * USEC_PER_MSEC,        /* a scheduling cycle */
    COST_TO_BIND = 1 * USEC_PER_MSEC,      /* from the end of the cycle to the bind call */
    COST_WRITE = 2 * USEC_PER_MSEC,        /* a write to the API server */
    COST_CONDITION = 10 * USEC_PER_MSEC,   /* the scheduler's patch of a pod that it rejected */
    COST_READ = 1 * USEC_PER_MSEC,         /* a read from the API server */
    COST_WATCH = 1 * USEC_PER_MSEC,        /* from a write to its watch event */
    COST_CREATE = 10 * USEC_PER_MSEC,      /* between two batches of pods of a controller */
    COST_START = 500 * USEC_PER_MSEC,      /* from bound to running */
    COST_TERMINATE = 1 * USEC_PER_SEC,     /* from the deletion of a bound pod to its end */
    COST_HTTP_TIMEOUT = 30 * USEC_PER_SEC, /* the scheduler's timeout for a call */
    COST_BACKOFF_MIN = 1 * USEC_PER_SEC,   /* a pod's first backoff; it doubles */
    COST_BACKOFF_MAX = 10 * USEC_PER_SEC,  /* a pod's longest backoff */
    COST_FLUSH = 300 * USEC_PER_SEC, /* until an unschedulable pod is tried without an event */
};

struct sim_clock {
    usec_t now;
    usec_t origin; /* of the scenario's clock */
    usec_t wall;   /* the wall clock at `origin`; -1: not read yet */
    struct heap tasks;
};

struct task;
typedef void sim_task_fn(void *owner, struct task *t);

/* Something that happens at a time. The task owns its arguments, the members after `owner`. */
struct task {
    struct heap_node node;
    sim_task_fn *run; /* NULL: the task shows a change of an object, see api_server.h */
    void *owner;
    char *uid; /* of the object */
    char *ns, *name, *to;
    json_t *json;
    uint64_t id;
    int64_t n;
};

/* Adds a task that is due at `at`. The caller sets its arguments, and the clock owns it. */
struct task *sim_clock_at(struct sim_clock *c, usec_t at, sim_task_fn *run, void *owner);
/* Takes the first task that is due at or before `until`; NULL: none. The caller owns the task. */
struct task *sim_clock_due(struct sim_clock *c, usec_t until);
void sim_task_free(struct task *t);
/* The time of the first task; USEC_NEVER: none. */
usec_t sim_clock_next(const struct sim_clock *c);
/* The current time by the scenario's wall clock, such as "2026-01-01T00:00:00Z", in buf. */
const char *sim_clock_timestamp(const struct sim_clock *c, char buf[32]);
void sim_clock_done(struct sim_clock *c);

#endif
