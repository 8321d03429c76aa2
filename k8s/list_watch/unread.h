/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unread.h - the objects of one kind that cannot be read, or only in part: what people learn of
 * them.
 *
 * Each is named in the log once: by whoever calls unread_add() when it becomes unreadable and
 * unread_remove() when it is readable again, another object, or gone. A tenant can make thousands,
 * so in one minute only the first ten are named and the others counted in a line at its end. The
 * metrics muster_unreadable_objects and muster_watch_errors_total follow. Belongs to the client's
 * thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_UNREAD_H
#define MUSTER_K8S_LIST_WATCH_UNREAD_H

#include "k8s/client/client.h"

struct unread {
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
void unread_begin(struct unread *u, struct client *c, struct api_metrics *metrics,
                  const char *resource, usec_t period);
void unread_end(struct unread *u);

/* One more, "namespace/name"; NULL: it has no name, and nobody will remove it. Not in_part: it is
 * left out. */
void unread_add(struct unread *u, const char *object, bool in_part, const struct err *why);
void unread_remove(struct unread *u);

#endif
