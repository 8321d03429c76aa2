/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin_internal.h - what the files of the built-in cluster share with each other, and nobody
 * else.
 *
 *   builtin.c        the cluster's operations, effects, what watches show, time
 *   builtin_cache.c  the driver's picture of nodes, and the filters of kube-scheduler
 *   builtin_rules.c  those of them that look at other pods and at volumes
 *   builtin_sched.c  the driver: kube-scheduler's queue, its scheduling and binding cycles
 */
#ifndef MUSTER_K8S_BUILTIN_INTERNAL_H
#define MUSTER_K8S_BUILTIN_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "k8s/builtin.h"
#include "k8s/builtin_store.h"
#include "k8s/builtin_timetable.h"
#include "k8s/claim_volumes.h"

struct builtin;
struct sched_node;

/* ---- the driver ---- */

/* Where a pod is in the scheduler. */
enum sched_place {
    SCHED_GATED,
    SCHED_ACTIVE,
    SCHED_BACKOFF,       /* woken, tried when the active queue is empty */
    SCHED_ERROR_BACKOFF, /* sits its backoff out */
    SCHED_UNSCHEDULABLE, /* until an event wakes it */
    SCHED_CYCLE,         /* its scheduling cycle runs */
    SCHED_ASSUMED,       /* has a node in the scheduler's picture, not yet in the watch's */
    SCHED_ASSIGNED,
};

struct sched_pod {
    enum sched_place place;
    struct list link;      /* queue of its place */
    struct heap_node wake; /* end of ERROR_BACKOFF; flush of UNSCHEDULABLE; ASSUMED: HTTP timeout */
    json_t *json;          /* as the watch showed it last */
    struct gang_pod_facts *facts;
    usec_t stamp; /* queue order among equal priorities */
    uint64_t seq;
    int rejections, errors;  /* in a row; they set the backoff */
    bool by_extender;        /* the last rejection was (also) the extender's */
    char *message;           /* of the PodScheduled condition */
    struct sched_node *node; /* ASSUMED, ASSIGNED: charged to it */
    char *node_name;         /* the same, also when the node is not (yet) known */
    struct list on_node;
    struct list nominated; /* in sched_node.nominated while it waits */
    uint64_t call;         /* bind call not yet answered; 0: none */
};

struct sched_node {
    struct gang_node_facts *facts;
    struct gang_amounts used;
    struct list pods;      /* sched_pod.on_node */
    struct list nominated; /* sched_pod.nominated */
    int64_t n_pods;
};

/* What is counted on the hosts of a topology spread. */
struct sched_spread {
    int64_t least, hosts;
};

/* Refusals by their words, as the scheduler counts them in its message. */
struct sched_refusals {
    struct map counts; /* words -> size_t * */
};

enum sched_state { SCHED_IDLE, SCHED_NOMINATED, SCHED_FILTER, SCHED_PRIORITIZE };

struct sched {
    struct map pods;  /* uid -> sched_pod */
    struct map nodes; /* name -> sched_node */
    struct sched_node **order;
    size_t n_order, cap_order;
    struct list active, backoff, unschedulable, resting; /* resting: all other places */
    struct heap wake;
    uint64_t seq;
    size_t next_start; /* where the next scan begins */

    /* the cycle that runs */
    enum sched_state state;
    usec_t free_at;
    struct sched_pod *pod;
    uint64_t call;
    struct sched_node **offered;
    const char **names;
    size_t n_offered, cap_offered;
    struct sched_refusals refusals;
    bool extender_refused;
    struct sched_spread *spreads;     /* of its pod */
    struct gang_claim_facts **claims; /* those of its pod that any node will not do for */
    size_t n_claims;
};

struct builtin {
    struct cluster base;
    struct cluster_sink sink;
    struct scenario *scenario;
    struct sim_clock clock;
    bool started;
    uint64_t calls;
    struct store store;
    struct timetable timetable;
    json_t *events; /* the last ones */
    struct claims *claims;
    struct sched sched;
};

/* ---- builtin.c ---- */

void builtin_post(struct builtin *b, struct gang_event *ev);
uint64_t builtin_new_call(struct builtin *b);

/* ---- builtin_cache.c ---- */

void cache_set_node(struct builtin *b, const json_t *json);
void cache_remove_node(struct builtin *b, const char *name);
struct sched_node *cache_node(const struct sched *s, const char *name);
void cache_charge(struct sched *s, struct sched_pod *pod, const char *node);
void cache_discharge(struct sched_pod *pod);
void cache_nominate(struct sched *s, struct sched_pod *pod);
/* Whether the pod fits beside those that are there, and the rules about the node alone: NULL when
 * it does, else why not; constant text or in buf. */
const char *cache_refusal(const struct sched_pod *pod, const struct sched_node *node,
                          char buf[128]);
int cache_score(const struct sched_pod *pod, const struct sched_node *node);
void cache_done(struct sched *s);

/* ---- builtin_rules.c ---- */

/* A cycle for the pod begins: what is to be known of all nodes and of its claims. */
void sched_rules_prepare(struct sched *s, const struct claims *claims, const struct sched_pod *pod);
/* NULL when the pod of the cycle may join those on the node; else why not, constant text. */
const char *sched_rules_refusal(const struct sched *s, const struct sched_pod *pod,
                                const struct sched_node *node);
void sched_rules_forget(struct sched *s);

/* ---- builtin_sched.c ---- */

void sched_init(struct sched *s);
void sched_show_pod(struct builtin *b, json_t *json);
void sched_remove_pod(struct builtin *b, const char *uid);
/* Something happened; `room`: it may have made room. */
void sched_event(struct builtin *b, bool room);
void sched_advance(struct builtin *b);
usec_t sched_next(const struct builtin *b);
void sched_reply(struct builtin *b, const struct gang_effect *effect);
/* Writes words into the condition of a waiting pod. */
void sched_tell(void *owner, struct task *t);
/* A filter or prioritize call is not answered yet: nothing may change meanwhile. */
bool sched_asks(const struct sched *s);
bool sched_settled(const struct sched *s);
void sched_done(struct sched *s);

#endif
