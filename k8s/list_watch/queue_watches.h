/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_watches.h - follows the queues of every dialect, and the namespaces that name queues.
 *
 * Feeds them to the core (queue_feed.h). It follows namespaces only while the queues of a dialect
 * are served in which namespaces can name queues (Volcano).
 *
 * synced() is called once, when the first lists are complete, or missing or forbidden. Client's
 * thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_QUEUE_WATCHES_H
#define MUSTER_K8S_LIST_WATCH_QUEUE_WATCHES_H

#include "k8s/client/client.h"
#include "k8s/interface/cluster.h"
#include "k8s/list_watch/queue_cache.h"

struct queue_watches;

struct queue_watches_options {
    struct client *client; /* all borrowed, until queue_watches_stop() */
    struct api_metrics *metrics;
    struct queue_cache *cache;
    const struct cluster_sink *sink;
    void (*synced)(void *arg);
    void *arg;
};

struct queue_watches *queue_watches_start(const struct queue_watches_options *options);
/* Returns NULL. */
struct queue_watches *queue_watches_stop(struct queue_watches *w);

#endif
