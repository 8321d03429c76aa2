/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_objects.h - the queues of the built-in cluster, and the namespaces that name queues.
 *
 * Shows them to the core with the same code as the watches of an API server do
 * (k8s/list_watch/queue_feed.h), and writes the statuses of queues into the store.
 *
 * Life cycle: queue_objects_new(), the functions below, queue_objects_free(). The store and the
 * sink are borrowed. One thread.
 */
#ifndef MUSTER_SIMULATOR_QUEUE_OBJECTS_H
#define MUSTER_SIMULATOR_QUEUE_OBJECTS_H

#include "k8s/interface/cluster.h"
#include "simulator/api_server.h"

struct queue_objects;

struct queue_objects *queue_objects_new(struct store *store, const struct cluster_sink *sink);
struct queue_objects *queue_objects_free(struct queue_objects *q);

/* Shows a change of a queue or of a namespace. -1: the core does not see it. */
int queue_objects_show(struct queue_objects *q, json_t *json, bool gone, struct err *err);
int queue_objects_show_namespace(struct queue_objects *q, json_t *json, bool gone, struct err *err);

/*
 * Stores the status. Returns the queue if it is invalid, and was not or for another reason; else
 * NULL. *ret_has_conditions: its status says why; else a Kubernetes event must.
 */
const struct object *queue_objects_write(struct queue_objects *q,
                                         const struct gang_queue_status *status,
                                         bool *ret_has_conditions);

#endif
