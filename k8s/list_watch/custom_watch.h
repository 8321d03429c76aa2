/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_watch.h - follows a custom resource, which may be installed and removed at any time.
 *
 *   1. custom_watch_start() asks whether the resource is served, until it is.
 *   2. served() is called with its version, and the watch begins (watch.h).
 *   3. settled() is called when the first list is complete. It is also called when the CRD is
 *      missing. forbidden() is called instead if muster has no right to read the resource. Both can
 *      be called several times.
 *   4. When the CRD is removed, gone() is called for each known object, then served() with NULL,
 *      then settled(). It goes on at step 1.
 *
 * Client's thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_CUSTOM_WATCH_H
#define MUSTER_K8S_LIST_WATCH_CUSTOM_WATCH_H

#include "k8s/list_watch/api_discovery.h"
#include "k8s/list_watch/watch.h"

struct custom_watch;

struct custom_watch_options {
    struct api_resource resource; /* its strings are constant */
    const char *selector;         /* as in struct watch_options */
    bool may_be_forbidden;        /* the right to read it may be missing, so this is not logged */
    /* As in struct watch_options. */
    int (*set)(void *arg, json_t *object, struct err *err);
    int (*unread)(void *arg, json_t *object, const struct err *why);
    void (*gone)(void *arg, const char *ns, const char *name);
    void (*served)(void *arg, const char *version, bool status_subresource);
    void (*settled)(void *arg);
    void (*forbidden)(void *arg); /* muster has no right to read it; NULL: as settled() */
    void *arg;
};

struct custom_watch *custom_watch_start(struct client *c, struct api_metrics *metrics,
                                        const struct custom_watch_options *options);
/* Calls nothing. Returns NULL. */
struct custom_watch *custom_watch_stop(struct custom_watch *w);

#endif
