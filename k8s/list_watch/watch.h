/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - one kind of object, followed by list and watch.
 *
 *   1. watch_start() lists (page by page), then watches from there, for ever.
 *   2. Each object that is new or has changed is given to set(), each that vanished to gone(); a
 *      list that has to be read again is given as the difference to what was known.
 *   3. synced() is called when a first list is whole, and only then.
 *   4. behind(true) is called when what was given may not be all there is any more, behind(false)
 *      when it is again: the server has answered the watch, and had half a second to send what came
 *      meanwhile. It is behind from the end of one watch on, and when there was no word for longer
 *      than bookmarks come.
 *   5. watch_stop() ends it; with `forget` everything known is given to gone() first.
 *
 * Connection lost, reply cut, 410 Gone, ERROR events, unreadable lines: handled inside, with
 * growing, jittered pauses. resourceVersion is opaque text. Belongs to the client's thread; set()
 * and gone() may be called while data arrives and must not send anything.
 */
#ifndef MUSTER_K8S_LIST_WATCH_WATCH_H
#define MUSTER_K8S_LIST_WATCH_WATCH_H

#include <jansson.h>

#include "k8s/client/client.h"
#include "k8s/encoding/kube_protobuf.h"

struct watch;

struct watch_options {
    const char *path;     /* "/api/v1/pods"; copied */
    const char *resource; /* "pods": for metrics and messages; constant */
    const char *rule;     /* what RBAC must allow, for people: "list and watch pods"; copied */
    const struct kube_protobuf_message
        *proto; /* asked for in protobuf; NULL: JSON, as custom resources */
    /*
     * Takes an object (borrowed). -1: it cannot be read, and counts as not there; 1: it was taken,
     * but for what err says. Either is named and counted (unreadable_objects.h), and costs nobody
     * else anything.
     */
    int (*set)(void *arg, json_t *object, struct err *err);
    /* Takes what there is of an object that cannot be read whole: metadata with its name at least.
     * Returns as set() does, but never 0. NULL: it counts as not there. */
    int (*unread)(void *arg, json_t *object, const struct err *why);
    void (*gone)(void *arg, const char *ns, const char *name);
    void (*synced)(void *arg);
    void (*behind)(void *arg, bool behind); /* NULL: nobody wants to know */
    /* The server does not know this resource (any more): the watch has stopped and is to be
     * freed with watch_stop(), but not inside this call. NULL: it is asked again. */
    void (*missing)(void *arg);
    /* The server refuses the list (403); it is asked again. May be NULL. */
    void (*forbidden)(void *arg);
    void *arg;
    /* 0: the defaults (500 objects, 2,000 in protobuf, 16 MiB, 64 MiB, 150 s, 75 s, a minute). etcd
     * keeps an object of 1.5 MiB, which may be six times as long where JSON escapes it: less than
     * a line, and pages shrink until they fit. */
    int page;
    size_t max_line, max_page;
    usec_t max_silence; /* a watch that says nothing for so long is begun again, */
    usec_t max_pause;   /* and for so long is behind */
    usec_t naming;      /* the period of unreadable_objects.h */
};

struct watch *watch_start(struct client *c, struct api_metrics *metrics,
                          const struct watch_options *options);
/* Returns NULL. */
struct watch *watch_stop(struct watch *w, bool forget);

#endif
