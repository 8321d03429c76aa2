/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated_event.h - what happens to the objects of the built-in cluster, as reported to a watch
 * function. Types only. Pointers in an event are borrowed for the call. The call comes on the
 * cluster's thread, from within its functions.
 */
#ifndef MUSTER_SIMULATOR_SIMULATED_EVENT_H
#define MUSTER_SIMULATOR_SIMULATED_EVENT_H

#include "base/usec.h"
#include "simulator/manifest.h"

#define SIMULATED_EVENTS(X)                                                                        \
    X(CREATED, "created")                                                                          \
    X(DELETED, "deleted")                                                                          \
    X(CHANGED, "changed") /* cordoned, uncordoned, scaled; text says it */                         \
    X(BOUND, "bound")                                                                              \
    X(RUNNING, "running")                                                                          \
    X(FINISHED, "finished")                                                                        \
    X(REJECTED, "not scheduled") /* text: the scheduler's message, when it is a new one */         \
    X(BIND_FAILED, "bind failed")                                                                  \
    X(EVENT, "event") /* a Kubernetes event; text: reason and message */

enum simulated_event_kind {
#define X(id, name) SIMULATED_##id,
    SIMULATED_EVENTS(X)
#undef X
        SIMULATED_EVENT_MAX
};

struct simulated_event {
    enum simulated_event_kind kind;
    enum manifest_kind object;
    const json_t *json;    /* the object */
    const char *ns, *name; /* ns "" where there is none */
    const char *node;      /* BOUND, RUNNING, FINISHED; else NULL */
    const char *text;      /* may be NULL */
};
typedef void builtin_watch_fn(void *arg, usec_t now, const struct simulated_event *what);

#endif
