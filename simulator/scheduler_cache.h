/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_cache.h - the scheduler's cache: nodes, pods and which pod is charged to which node,
 * and what kube-scheduler's filters and scores make of one node.
 *
 * It knows what the watches showed and what the scheduler assumed, and reports what changed to its
 * caller, which wakes pods. It owns nodes and pods; a pod lives until cache_remove_pod(), its place
 * in the queue is scheduler_queue.h's. Life cycle: zeros, then the functions below, cache_done().
 * One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_CACHE_H
#define MUSTER_SIMULATOR_SCHEDULER_CACHE_H

#include <jansson.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "gang/facts.h"

/* Where a pod is in the scheduler. */
enum sched_place {
    SCHED_GATED,
    SCHED_ACTIVE,
    SCHED_BACKOFF,       /* woken, tried when the active queue is empty */
    SCHED_ERROR_BACKOFF, /* sits its backoff out */
    SCHED_UNSCHEDULABLE, /* until an event wakes it */
    SCHED_CYCLE,         /* its scheduling cycle runs */
    SCHED_ASSUMED,       /* has a node in the scheduler's cache, not yet in the watch */
    SCHED_ASSIGNED,
};

struct sched_pod {
    json_t *json; /* as the watch showed it last */
    struct gang_pod_facts *facts;
    struct sched_node *node; /* ASSUMED, ASSIGNED: charged to it */
    char *node_name;         /* the same, also when the node is not (yet) known */
    struct list on_node;
    struct list nominated; /* in sched_node.nominated while it waits */

    /* scheduler_queue.h */
    enum sched_place place;
    struct list link;      /* queue of its place */
    struct heap_node wake; /* end of ERROR_BACKOFF; flush of UNSCHEDULABLE; ASSUMED: HTTP timeout */
    usec_t stamp;          /* queue order among equal priorities */
    uint64_t seq;
    int rejections, errors; /* in a row; they set the backoff */
    bool by_extender;       /* the last rejection was (also) the extender's */

    /* scheduler_cycle.h */
    char *message; /* of the PodScheduled condition */
    uint64_t call; /* bind call not yet answered; 0: none */
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
    size_t next_start; /* where the next scan of the order begins */
};

void cache_set_node(struct sched_cache *c, const json_t *json);
/* False: there was no such node. */
bool cache_remove_node(struct sched_cache *c, const char *name);
struct sched_node *cache_node(const struct sched_cache *c, const char *name);

struct sched_pod *cache_pod(const struct sched_cache *c, const char *uid);
/* An empty one, in no queue: cache_set_pod() follows. */
struct sched_pod *cache_add_pod(struct sched_cache *c, const char *uid);
/* As the watch shows it now; a pod that is charged to a node stays charged to it. */
void cache_set_pod(struct sched_cache *c, struct sched_pod *pod, json_t *json);
/* The pod is there, and in no queue any more. */
void cache_remove_pod(struct sched_cache *c, const char *uid);
void cache_charge(struct sched_cache *c, struct sched_pod *pod, const char *node);
void cache_discharge(struct sched_pod *pod);
/* Puts a pod without a node to those that are nominated to the node of its facts, if any. */
void cache_nominate(struct sched_cache *c, struct sched_pod *pod);

/* Whether the pod fits beside those that are there, and the rules about the node alone: NULL when
 * it does, else why not; constant text or in buf. */
const char *cache_refusal(const struct sched_pod *pod, const struct sched_node *node,
                          char buf[128]);
/* 0 to 100. */
int cache_score(const struct sched_pod *pod, const struct sched_node *node);
void cache_done(struct sched_cache *c);

#endif
