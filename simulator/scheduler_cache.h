/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_cache.h - the simulated kube-scheduler's cache: nodes, pods, and the node to which each
 * pod is charged. It also has the filters and the score for one node.
 *
 * The cache holds what the watches have shown and what the scheduler has assumed. It owns its nodes
 * and pods. A pod exists until cache_remove_pod(). scheduler_queue.h manages the pod's place in the
 * queue. Life cycle: a struct of zeros, the functions below, cache_done(). One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_CACHE_H
#define MUSTER_SIMULATOR_SCHEDULER_CACHE_H

#include <jansson.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "gang/facts.h"

/* The place of a pod in the scheduler. */
enum sched_place {
    SCHED_GATED,
    SCHED_ACTIVE,
    SCHED_BACKOFF,       /* woken; tried when the active queue is empty */
    SCHED_ERROR_BACKOFF, /* waits until its backoff ends */
    SCHED_UNSCHEDULABLE, /* waits for an event */
    SCHED_CYCLE,         /* in its scheduling cycle */
    SCHED_ASSUMED,       /* has a node in the scheduler's cache, but not yet in the watch */
    SCHED_ASSIGNED,
};

struct sched_pod {
    json_t *json; /* the last version that the watch has shown */
    struct gang_pod_facts *facts;
    struct sched_node *node; /* the node to which the pod is charged, if ASSUMED or ASSIGNED */
    char *node_name;         /* its name, which is set even if the cache has no such node */
    struct list on_node;
    struct list nominated; /* in sched_node.nominated while the pod waits */

    /* scheduler_queue.h */
    enum sched_place place;
    struct list link;      /* in the list of its place */
    struct heap_node wake; /* ERROR_BACKOFF: its end; UNSCHEDULABLE: flush; ASSUMED: HTTP timeout */
    usec_t stamp;          /* the order among pods of equal priority */
    uint64_t seq;
    int rejections, errors; /* in a row; they determine the backoff */
    bool by_extender;       /* the extender refused nodes in the last rejected try */

    /* scheduler_cycle.h */
    char *message; /* of the PodScheduled condition */
    uint64_t call; /* the unanswered bind call; 0: none */
};

struct sched_node {
    struct gang_node_facts *facts;
    struct gang_amounts used;
    struct list pods;      /* sched_pod.on_node */
    struct list nominated; /* sched_pod.nominated */
    int64_t n_pods;
};

struct sched_cache {
    struct map pods;  /* uid -> sched_pod */
    struct map nodes; /* name -> sched_node */
    struct sched_node **order;
    size_t n_order, cap_order;
    size_t next_start; /* the index in `order` at which the next scan starts */
};

void cache_set_node(struct sched_cache *c, const json_t *json);
/* False: the cache has no such node. */
bool cache_remove_node(struct sched_cache *c, const char *name);
struct sched_node *cache_node(const struct sched_cache *c, const char *name);

struct sched_pod *cache_pod(const struct sched_cache *c, const char *uid);
/* Adds a pod without facts that is in no queue. The caller then calls cache_set_pod(). */
struct sched_pod *cache_add_pod(struct sched_cache *c, const char *uid);
/* Sets the version that the watch has shown. If the pod is charged to a node, it stays charged. */
void cache_set_pod(struct sched_cache *c, struct sched_pod *pod, json_t *json);
/* The pod must be in the cache, and no longer in a queue. */
void cache_remove_pod(struct sched_cache *c, const char *uid);
void cache_charge(struct sched_cache *c, struct sched_pod *pod, const char *node);
void cache_discharge(struct sched_pod *pod);
/* Updates the node to which the pod is nominated, from its facts. Only for pods without a node. */
void cache_nominate(struct sched_cache *c, struct sched_pod *pod);

/* Checks the room on the node and the rules that concern only the pod and the node. NULL: the pod
 * fits. Otherwise the reason, which is constant text or in buf. */
const char *cache_refusal(const struct sched_pod *pod, const struct sched_node *node,
                          char buf[128]);
/* The score of the node, from 0 to 100. */
int cache_score(const struct sched_pod *pod, const struct sched_node *node);
void cache_done(struct sched_cache *c);

#endif
