/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - follows all objects of one kind by list and watch.
 *
 *   1. watch_start() lists the objects page by page. It then watches them until watch_stop().
 *   2. set() gets each object that is new or has changed, and gone() each object that has vanished.
 *      After a new list, set() and gone() get only the differences.
 *   3. synced() is called once, when the first list is complete.
 *   4. behind(true) is called when changes may be missing, and behind(false) when none are missing
 *      any more. The watch falls behind when a watch request ends, and when it receives nothing for
 *      longer than the interval of bookmarks. It has caught up when the API server has answered the
 *      new watch request and has had half a second to send the missed events.
 *   5. watch_stop() ends it. With `forget`, it first passes every known object to gone().
 *
 * The watch handles lost connections, truncated replies, 410 Gone, ERROR events and unreadable
 * lines itself. It retries after growing, jittered pauses. It treats resourceVersion as opaque
 * text.
 *
 * Belongs to the client's thread. set() and gone() may be called while data arrives, so they must
 * not send anything.
 */
#ifndef MUSTER_K8S_LIST_WATCH_WATCH_H
#define MUSTER_K8S_LIST_WATCH_WATCH_H

#include <jansson.h>

#include "k8s/client/client.h"
#include "k8s/encoding/kube_protobuf.h"

struct watch;

struct watch_options {
    const char *path;     /* "/api/v1/pods"; copied */
    const char *selector; /* "labelSelector=a%3Db", escaped; NULL: all objects; constant */
    const char *resource; /* "pods": for metrics and log lines; constant */
    const char *rule;     /* RBAC rule that it needs, for the log: "list and watch pods"; copied.
                             NULL: the rule may be missing, so this is not logged */
    /* Requests the objects in protobuf. NULL: in JSON, the only format of custom resources. */
    const struct kube_protobuf_message *proto;
    /*
     * Takes a borrowed object. -1: the object cannot be read, and counts as absent. 1: only a part
     * of it can be read, and err names the rest. In both cases the watch reports the object
     * (unreadable_objects.h) and continues with the others.
     */
    int (*set)(void *arg, json_t *object, struct err *err);
    /* Takes the readable part of an object: at least its metadata with the name. Returns 1 or -1,
     * as set() does. NULL: such an object counts as absent. */
    int (*unread)(void *arg, json_t *object, const struct err *why);
    void (*gone)(void *arg, const char *ns, const char *name);
    void (*synced)(void *arg);
    void (*behind)(void *arg, bool behind); /* may be NULL */
    /* The API server does not serve the resource, or no longer. The watch has stopped; free it with
     * watch_stop(), but not inside this call. NULL: the watch retries. */
    void (*missing)(void *arg);
    /* The API server refuses the list (403). The watch retries. May be NULL. */
    void (*forbidden)(void *arg);
    void *arg;
    /* 0 selects the default of each: 500 objects (2,000 in protobuf), 16 MiB, 64 MiB, 15 s, 150 s,
     * 75 s, one minute. The largest object in etcd has 1.5 MiB. JSON escapes can make it six times
     * as long, which still fits into a line. Pages shrink until they fit. */
    int page;                  /* objects in a page of a list */
    size_t max_line, max_page; /* bytes */
    usec_t page_timeout;       /* doubles with each failure in a row, up to a minute */
    usec_t max_silence;        /* a watch that receives nothing for this long is restarted */
    usec_t max_pause;          /* a watch that receives nothing for this long is behind */
    usec_t naming;             /* the period of unreadable_objects.h */
};

struct watch *watch_start(struct client *c, struct api_metrics *metrics,
                          const struct watch_options *options);
/* Accepts NULL; returns NULL. */
struct watch *watch_stop(struct watch *w, bool forget);

#endif
