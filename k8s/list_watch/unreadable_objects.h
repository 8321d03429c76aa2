/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unreadable_objects.h - reports the objects of one kind that muster cannot read, or only in part.
 *
 * Call unreadable_objects_add() when an object becomes unreadable, and unreadable_objects_remove()
 * when it is readable again, replaced, or gone. Each unreadable object is logged once. A tenant can
 * create thousands of them, so the log names only the first ten of each minute. A line at the end
 * of the minute counts the others. The metric muster_unreadable_objects counts all objects with a
 * name. Belongs to the client's thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_UNREADABLE_OBJECTS_H
#define MUSTER_K8S_LIST_WATCH_UNREADABLE_OBJECTS_H

#include "k8s/client/client.h"

struct unreadable_objects {
    struct client *client;
    struct api_metrics *metrics;
    const char *resource; /* constant */
    usec_t period;
    size_t now;   /* how many objects are unreadable now */
    int named;    /* log lines in this period */
    size_t added; /* objects of this period that the log does not name */
    struct client_timer end_of_period;
};

/* period 0: one minute. */
void unreadable_objects_begin(struct unreadable_objects *u, struct client *c,
                              struct api_metrics *metrics, const char *resource, usec_t period);
void unreadable_objects_end(struct unreadable_objects *u);

/* `object` is "namespace/name". NULL: the object has no name; do not remove it later. in_part:
 * muster uses what it could read; else it ignores the object. */
void unreadable_objects_add(struct unreadable_objects *u, const char *object, bool in_part,
                            const struct err *why);
void unreadable_objects_remove(struct unreadable_objects *u);

#endif
