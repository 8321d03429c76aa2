/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_ops.h - the features that a seed turns on, and functions that draw operations. Shared by
 * the files random_*.c. One `struct drawing` for each seed; no shared state.
 */
#ifndef MUSTER_TEST_PROP_RANDOM_OPS_H
#define MUSTER_TEST_PROP_RANDOM_OPS_H

#include "test/prop/run.h"

/* id, percentage of the seeds that have the feature */
#define FEATURES(X)                                                                                \
    X(ALWAYS, 100)                                                                                 \
    X(LAG, 50)                                                                                     \
    X(BATCH, 50)                                                                                   \
    X(FAULTS, 60)                                                                                  \
    X(KILLS, 60)                                                                                   \
    X(REBUILDS, 50)                                                                                \
    X(HOPE, 50)                                                                                    \
    X(MIXED, 40)                                                                                   \
    X(CPU, 30)                                                                                     \
    X(ROOM, 10)                                                                                    \
    X(PORTS, 20)                                                                                   \
    X(TAINTS, 30)                                                                                  \
    X(HIDES, 50)                                                                                   \
    X(SAMPLES, 30)                                                                                 \
    X(FORBID, 25)                                                                                  \
    X(GATES, 30)                                                                                   \
    X(CLOSED, 35)                                                                                  \
    X(FOREIGN, 20)                                                                                 \
    X(PRIORITY, 50)                                                                                \
    X(PREEMPTS, 30)                                                                                \
    X(STRANGE, 40)                                                                                 \
    X(FEW_HOLDS, 10)                                                                               \
    X(MAXIMUM, 25)                                                                                 \
    X(RESOURCES, 15)                                                                               \
    X(FAMILIES, 30)                                                                                \
    X(SUBGROUPS, 30)                                                                               \
    X(SPLITS, 15)                                                                                  \
    X(MATCHES, 20)                                                                                 \
    X(KINDS, 15)                                                                                   \
    X(DECLARED, 20)                                                                                \
    X(CLASSES, 15)                                                                                 \
    X(CLAIMS, 15)                                                                                  \
    X(STRICT, 10)                                                                                  \
    X(STARVING, 15)                                                                                \
    X(EVICTS, 20)                                                                                  \
    X(PREEMPTION, 25)                                                                              \
    X(TOGETHER, 20)                                                                                \
    X(REQUEUES, 20)                                                                                \
    X(QUIET, 40)                                                                                   \
    X(APART, 20)                                                                                   \
    X(APPS, 20)                                                                                    \
    X(ENDS, 35)                                                                                    \
    X(STEERS, 40)                                                                                  \
    X(EXPRESS, 40)                                                                                 \
    X(SHUNS, 10)                                                                                   \
    X(BARS, 20)                                                                                    \
    X(BEYOND, 15)                                                                                  \
    X(PICKY, 15)                                                                                   \
    X(SLOW, 15)                                                                                    \
    X(UNREAD, 15)                                                                                  \
    X(QUEUES, 30)                                                                                  \
    X(BUDGETS, 15)                                                                                 \
    X(DISRUPTS, 60)                                                                                \
    X(SUSPENDS, 20)

enum feature {
#define X(id, percent) F_##id,
    FEATURES(X)
#undef X
        F_COUNT
};

struct drawing {
    uint64_t random;
    int last; /* the group that was created last or got members last */
    struct ops *ops;
    bool on[F_COUNT];
    /* which exist */
    bool pod[PODS], group[GROUPS], node[NODES], class[CLASSES], claim[CLAIMS], queue[QUEUES];
    bool budget[BUDGETS];
    struct op pod_spec[PODS];
    struct op node_spec[NODES];
    struct op group_spec[GROUPS];
    struct op queue_spec[QUEUES];
    struct op member[GROUPS]; /* the template of the group's members */
};

uint32_t draw(struct drawing *d, uint32_t below);
bool chance(struct drawing *d, uint32_t percent);
/* A random index of n with there[index] == want, or -1. */
int pick(struct drawing *d, const bool *there, int n, bool want);
/* Often d->last, otherwise a random group; -1: there is none. */
int pick_group(struct drawing *d);
/* Appends the operation. At random, makes the watch late for it, or joins it with the next one. */
void add(struct drawing *d, struct op *op);
/* The same for a new operation with random attributes. Does nothing if `subject` is -1 and `class`
 * is not 0. */
void line(struct drawing *d, enum op_kind kind, char class, int subject);

/* Draws the attributes of the operation. */
void draw_traits(struct drawing *d, struct op *op);

void set_node(struct drawing *d, int n);
void draw_gang(struct drawing *d);
void draw_group(struct drawing *d, int g);
/* A pod of group g, or an ordinary pod if g is -1. */
void draw_member(struct drawing *d, int g);
void draw_members(struct drawing *d, int g);
void draw_end(struct drawing *d);
void draw_pod(struct drawing *d);
/* Makes the group a child of another group, or ends this. */
void draw_kin(struct drawing *d, int g);
/* Another client binds a member. The member may end before the watch shows the Binding. */
void draw_elsewhere(struct drawing *d);
/* All members of a group end. A few random operations on the group follow. */
void draw_done(struct drawing *d);
/* Up to `most` operations of any kind. */
void draw_some(struct drawing *d, uint32_t most);

/* ---- random_suspensions.c ---- */
/* A request of muster about a workload is carried out. */
void draw_patch(struct drawing *d);
/* A user suspends or resumes a workload. */
void draw_workload(struct drawing *d);
/* Requests about workloads are carried out, or not in time, or muster is killed meanwhile. */
void draw_suspensions(struct drawing *d);
/* A gang runs whose workload can be suspended. A gang of a higher priority takes its room for a
 * while. */
void draw_suspended(struct drawing *d);

/* ---- random_queues.c ---- */
/* Several queues for the beginning. */
void draw_queues(struct drawing *d);
/* Creates, changes or deletes a queue. */
void draw_queue(struct drawing *d);
/* The namespace names a queue, or none. */
void draw_namespace(struct drawing *d);
/* A gang or a pod names another queue. */
void draw_move(struct drawing *d);
/* A queue with a number below `below`, usually one that exists and takes gangs. */
int draw_name(struct drawing *d, int below);
/* Lets the PodGroup or pod name a queue, at random, if the seed has queues. */
void name_queue(struct drawing *d, struct op *op);

/* ---- random_quiet_runs.c ---- */
/* Several short runs, each with a calm phase at its end. */
void draw_quiet(struct drawing *d);
/* Adds a member exactly like the template of the group. Returns its number, or -1 if all numbers
 * are used. */
int plain_member(struct drawing *d, int g);

#endif
