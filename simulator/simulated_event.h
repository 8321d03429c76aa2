/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated_event.h - changes of objects in the built-in cluster, as reported to a watch function.
 * Types only. The pointers in an event are valid during the call. The cluster calls the function on
 * its own thread.
 */
#ifndef MUSTER_SIMULATOR_SIMULATED_EVENT_H
#define MUSTER_SIMULATOR_SIMULATED_EVENT_H

#include "base/usec.h"
#include "simulator/manifest.h"

#define SIMULATED_EVENTS(X)                                                                        \
    X(CREATED, "created")                                                                          \
    X(DELETED, "deleted")                                                                          \
    X(CHANGED, "changed") /* text: cordoned, uncordoned, scaled, or the patch */                   \
    X(BOUND, "bound")                                                                              \
    X(RUNNING, "running")                                                                          \
    X(FINISHED, "finished")                                                                        \
    X(REJECTED, "not scheduled") /* text: the scheduler's new message */                           \
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
    const char *ns, *name; /* ns is "" for kinds without a namespace */
    const char *node;      /* of BOUND, RUNNING, FINISHED, BIND_FAILED; otherwise NULL */
    const char *text;      /* may be NULL */
};
typedef void builtin_watch_fn(void *arg, usec_t now, const struct simulated_event *what);

#endif
