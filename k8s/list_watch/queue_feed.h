/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_feed.h - turns the queues and namespaces that a watch shows into events for the core.
 *
 * Posts QUEUE_SET and QUEUE_GONE, and keeps the objects in the queue cache. The root of a dialect
 * is not a queue, and of two objects with the same name the older one is the queue. Posts
 * NAMESPACE_SET and NAMESPACE_GONE for the namespaces that name a queue. The thread of the watch
 * only.
 */
#ifndef MUSTER_K8S_LIST_WATCH_QUEUE_FEED_H
#define MUSTER_K8S_LIST_WATCH_QUEUE_FEED_H

#include "k8s/interface/cluster.h"
#include "k8s/list_watch/queue_cache.h"

struct queue_feed;

/* Both are borrowed, until queue_feed_free(). */
struct queue_feed *queue_feed_new(struct queue_cache *cache, const struct cluster_sink *sink);
struct queue_feed *queue_feed_free(struct queue_feed *f);

/* These return as `set` and `unread` of a watch do. */
int queue_feed_set(struct queue_feed *f, const struct queue_dialect *dialect, json_t *object,
                   struct err *err);
int queue_feed_unread(struct queue_feed *f, const struct queue_dialect *dialect, json_t *object,
                      const struct err *why);
void queue_feed_gone(struct queue_feed *f, const struct queue_dialect *dialect, const char *ns,
                     const char *name);

/* The dialect is the one whose annotation names the queue. */
int queue_feed_set_namespace(struct queue_feed *f, const struct queue_dialect *dialect,
                             const json_t *object, struct err *err);
void queue_feed_namespace_gone(struct queue_feed *f, const char *name);

#endif
