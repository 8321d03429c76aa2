/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_facts.h - the core's input about queues, as plain C structs.
 *
 * One model for KAI's Queue, Volcano's Queue and ElasticQuota. The rules for making, owning and
 * freeing facts are those of facts.h. Amounts have the units of facts.h.
 */
#ifndef MUSTER_GANG_QUEUE_FACTS_H
#define MUSTER_GANG_QUEUE_FACTS_H

#include "gang/facts.h"

#define GANG_UNLIMITED  INT64_MAX
#define GANG_NOT_STATED (-1)

/* KAI counts all devices whose resource is named VENDOR/gpu together, under this name. */
#define GANG_ANY_GPU "gpu"

/* What a queue states about one resource. */
struct gang_quota {
    char *resource;
    int64_t reserved; /* kept free for the queue; never lent; 0: none */
    int64_t deserved; /* the queue's own share, lent while it is unused; GANG_UNLIMITED,
                         GANG_NOT_STATED */
    int64_t implied;  /* the part of `deserved` that only `reserved` implies; 0: all is stated */
    int64_t cap;      /* most that its pods use at once; GANG_UNLIMITED */
    bool cap_unset;   /* the cap is 0 because the queue does not set it */
    int64_t weight;   /* of its part in what is left over, in thousandths; see weighs_amounts */
};

struct gang_queue_facts {
    /* api_group identifies the dialect. ns: "" for cluster-scoped names. */
    struct gang_ref ref;
    char *of_namespace; /* pods of this namespace are in the queue unless they name another; NULL */
    char **more_namespaces; /* the same, unless another queue's of_namespace is theirs */
    size_t n_more_namespaces;
    bool fallback; /* other gangs of its API group that name no queue are in it */
    char *uid;
    char *invalid; /* an error that only the decoder can see: a sentence; NULL: none */
    char *parent;  /* name of the parent in the same API group; NULL: directly below the cluster */
    const char *parent_field;  /* the parent's field name, for people; constant */
    struct gang_quota *quotas; /* sorted by resource, see gang_quota_add() */
    size_t n_quotas;
    int64_t weight;        /* for resources without a quota, in thousandths */
    bool weighs_amounts;   /* the weights of its quotas are amounts: a weight of 1 is all that the
                              cluster has, and so is GANG_UNLIMITED */
    int32_t priority;      /* relative to the dialect's default */
    int32_t firm_priority; /* gangs and single pods of this priority or a higher one are not
                              preemptible, unless they state it; 0: all are */
    bool closed;           /* takes no new pods */
    bool closing;          /* muster writes that it is closed as soon as its gangs have ended */
    bool fifo;             /* nothing passes its first waiting gang */
    bool reclaimable;      /* others may take back what it uses above its deserved share */
    /* How long a gang runs at least before others of its queue preempt it, and before other queues
     * take its room back; GANG_NOT_STATED: as in the queue above. */
    usec_t preempt_min_runtime, reclaim_min_runtime;
    usec_t created;
};

/* What a namespace says about queues. */
struct gang_namespace_facts {
    char *name;
    /* The queue of its PodGroups of that API group that name none or "default"; NULL: none */
    char *api_group, *queue;
};

struct gang_queue_facts *gang_queue_facts_new(void);
struct gang_queue_facts *gang_queue_facts_free(struct gang_queue_facts *f);
/* Whether both are for the same namespaces. */
bool gang_queue_namespaces_equal(const struct gang_queue_facts *a,
                                 const struct gang_queue_facts *b);
bool gang_queue_facts_equal(const struct gang_queue_facts *a, const struct gang_queue_facts *b);
/* The quota of a resource; adds one without limits (weight: the queue's) if it has none. The
 * pointer is valid until the next call. */
struct gang_quota *gang_quota_add(struct gang_queue_facts *f, const char *resource);
/* NULL: it states nothing about the resource. */
const struct gang_quota *gang_quota_of(const struct gang_queue_facts *f, const char *resource);
/* "nvidia.com/gpu", "amd.com/gpu": counted in GANG_ANY_GPU too. */
bool gang_is_any_gpu(const char *resource);

struct gang_namespace_facts *gang_namespace_facts_new(void);
struct gang_namespace_facts *gang_namespace_facts_free(struct gang_namespace_facts *f);

#endif
