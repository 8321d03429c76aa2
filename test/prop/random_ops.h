/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_ops.h - shared by random_ops.c and random_quiet_runs.c: the features that a seed turns
 * on, and the operations that runs are made of.
 */
#ifndef MUSTER_TEST_PROP_RANDOM_OPS_H
#define MUSTER_TEST_PROP_RANDOM_OPS_H

#include "test/prop/run.h"

/* id, percent of the seeds that have it */
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
    X(UNREAD, 15)

enum feature {
#define X(id, percent) F_##id,
    FEATURES(X)
#undef X
        F_COUNT
};

struct drawing {
    uint64_t random;
    int last; /* the group that was last created or got members */
    struct ops *ops;
    bool on[F_COUNT];
    bool pod[PODS], group[GROUPS], node[NODES], class[CLASSES], claim[CLAIMS];
    struct op pod_spec[PODS];
    struct op node_spec[NODES];
    struct op group_spec[GROUPS], member[GROUPS]; /* what its members look like */
};

uint32_t draw(struct drawing *d, uint32_t below);
bool chance(struct drawing *d, uint32_t percent);
/* One of those that are (or are not) there; -1: none. */
int pick(struct drawing *d, const bool *there, int n, bool want);
/* The group that was created last, or any; -1: none. */
int pick_group(struct drawing *d);
/* Appends the operation; the watch may be late with it, and it may share its step with the next. */
void add(struct drawing *d, struct op *op);
/* The same with the attributes of its kind drawn. Nothing is done about a subject of -1. */
void line(struct drawing *d, enum op_kind kind, char class, int subject);

void set_node(struct drawing *d, int n);
void draw_gang(struct drawing *d);
void draw_group(struct drawing *d, int g);
/* g -1: an ordinary pod. */
void draw_member(struct drawing *d, int g);
void draw_members(struct drawing *d, int g);
void draw_end(struct drawing *d);
void draw_pod(struct drawing *d);
/* The group becomes a child of another, or is none any more. */
void draw_kin(struct drawing *d, int g);
/* Another scheduler binds a member, which may end before the watch shows either. */
void draw_elsewhere(struct drawing *d);
/* All members of a group end; then this and that about it. */
void draw_done(struct drawing *d);
/* So many operations of any kind, at most. */
void draw_some(struct drawing *d, uint32_t most);

/* Rounds of short runs, each followed by calm. */
void draw_quiet(struct drawing *d);

#endif
