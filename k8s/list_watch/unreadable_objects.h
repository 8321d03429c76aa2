/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unreadable_objects.h - reports the objects of one kind that cannot be decoded, or only in part.
 *
 * Each is logged once: call unreadable_objects_add() when it becomes unreadable and
 * unreadable_objects_remove() when it is readable again, replaced, or gone. A tenant can create
 * thousands, so each minute only the first ten are named; a line at the end of the minute counts
 * the rest. The metrics muster_unreadable_objects and muster_watch_errors_total follow. Belongs to
 * the client's thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_UNREADABLE_OBJECTS_H
#define MUSTER_K8S_LIST_WATCH_UNREADABLE_OBJECTS_H

#include "k8s/client/client.h"

struct unreadable_objects {
    struct client *client;
    struct api_metrics *metrics;
    const char *resource; /* constant */
    usec_t period;
    size_t now;   /* that many there are */
    int named;    /* in this period */
    size_t added; /* in this period, and not named */
    struct client_timer end_of_period;
};

/* period 0: a minute. */
void unreadable_objects_begin(struct unreadable_objects *u, struct client *c,
                              struct api_metrics *metrics, const char *resource, usec_t period);
void unreadable_objects_end(struct unreadable_objects *u);

/* One more, "namespace/name"; NULL: it has no name, and nobody will remove it. Not in_part: it is
 * left out. */
void unreadable_objects_add(struct unreadable_objects *u, const char *object, bool in_part,
                            const struct err *why);
void unreadable_objects_remove(struct unreadable_objects *u);

#endif
