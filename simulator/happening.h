/* SPDX-License-Identifier: Apache-2.0 */
/*
 * happening.h - what happens to the objects of the built-in cluster, as whoever looks on is
 * told. Types only. What a happening points to is borrowed for the call, which comes in the thread
 * of the cluster, from within its functions.
 */
#ifndef MUSTER_SIMULATOR_HAPPENING_H
#define MUSTER_SIMULATOR_HAPPENING_H

#include "base/usec.h"
#include "simulator/manifest.h"

#define BUILTIN_HAPPENINGS(X)                                                                      \
    X(CREATED, "created")                                                                          \
    X(DELETED, "deleted")                                                                          \
    X(CHANGED, "changed") /* cordoned, uncordoned, scaled; text says it */                         \
    X(BOUND, "bound")                                                                              \
    X(RUNNING, "running")                                                                          \
    X(FINISHED, "finished")                                                                        \
    X(REJECTED, "not scheduled") /* text: the scheduler's message, when it is a new one */         \
    X(BIND_FAILED, "bind failed")                                                                  \
    X(EVENT, "event") /* a Kubernetes event; text: reason and message */

enum builtin_happening_kind {
#define X(id, name) BUILTIN_##id,
    BUILTIN_HAPPENINGS(X)
#undef X
        BUILTIN_HAPPENING_MAX
};

struct builtin_happening {
    enum builtin_happening_kind kind;
    enum manifest_kind object;
    const json_t *json;    /* the object */
    const char *ns, *name; /* ns "" where there is none */
    const char *node;      /* BOUND, RUNNING, FINISHED; else NULL */
    const char *text;      /* may be NULL */
};
typedef void builtin_watch_fn(void *arg, usec_t now, const struct builtin_happening *what);

#endif
