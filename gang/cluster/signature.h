/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - scheduling signatures (struct signature), and what refers to them.
 *
 * A signature stands for all properties of a pod that decide where kube-scheduler can place it. So
 * a result for one pod of a signature is valid for all its pods. signatures.c creates a signature,
 * and frees it when no pod, slot or list of infeasible nodes refers to it. The core owns it. The
 * comment before a group of fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_H

#include "base/list.h"
#include "gang/cluster/cache_budget.h"
#include "gang/gang.h"

/* Resource numbers, see resources.h. "pods" is a resource; each pod needs one. */
enum { RES_PODS, RES_CPU, RES_MEMORY, RES_FIRST_OTHER };
#define RES_UNKNOWN UINT32_MAX /* a resource without a number */

struct need {
    uint32_t resource;
    int64_t amount; /* > 0 */
};

struct amounts {
    struct need *items; /* sorted by resource number; resources that are not listed have 0 */
    size_t n, cap;
};

/* Cached results of signature_refusal() for each node. Signatures with the same rules about nodes
 * and volumes share them. */
struct rule_results {
    struct cached by_id; /* node id -> rule_result */
    char *key;
    size_t users; /* number of signatures */
};
struct rule_result {
    uint64_t gen;   /* `gen` of the node when it was evaluated; 0: never */
    const char *no; /* which rule excludes the node; NULL: none */
};

enum displace { DISPLACE_NONE, DISPLACE_LOWER, DISPLACE_ALL };
/* What a plan or a pod may use of a node: the free room, with these restrictions and additions. */
struct reach {
    bool respects_earmark;   /* not earmarked room */
    bool respects_nominated; /* not nominated room of pods of `priority` or more */
    bool respects_preempted; /* not preempted room of gangs of `priority` or more */
    bool extra; /* of members beyond the minimum: no room for which others were evicted */
    const struct gang *gang;     /* the gang that plans, or the gang of the pod; NULL: none */
    const struct gang *own_gang; /* `gang`, if it keeps preempted room, which it may use */
    const struct queue *queue;   /* preempted room of other queues is respected whatever priority
                                    their gangs have; NULL: an ordinary pod in no queue */
    enum displace displace; /* also slots whose members are not at bind: no slot, those of gangs
                               with a lower priority than `priority`, or all */
    int32_t priority;
    uint64_t ns;            /* digest of the namespace, if room is kept for gangs; 0: unknown */
    const struct pod *self; /* the pod's own nominated room is free for it; NULL: no pod */
};

/* Which limit of which queue leaves no room. */
struct queue_short {
    const struct queue *queue; /* NULL: none */
    uint32_t resource;
    enum gang_reason_code code;
    int64_t limit, used, need; /* need: of all members that were to be placed */
};

/* Why a plan failed, see shortage.h. The counts are about the culprit, the first member without a
 * slot. */
struct shortage {
    int room;            /* how many needed members got a slot, or are bound */
    int lacks;           /* how many needed members did not */
    int alike;           /* how many of these are like the culprit, or do not exist yet */
    int n_nodes;         /* nodes that pass its rules about nodes and volumes */
    int n_able;          /* of n_nodes, nodes that could hold it if they were empty */
    int ports;           /* of n_nodes, nodes where only its host ports conflict */
    int resource;        /* what most of n_nodes lack for it; -1: nothing, -2: host ports */
    int64_t amount;      /* its need of this resource */
    int64_t missing;     /* the need of all members without a slot */
    bool stopped;        /* planning stopped, because it took too much work */
    bool unknown;        /* it stopped before any try was complete: room is a lower bound, and the
                            other fields say nothing */
    bool refused;        /* some nodes have room, but kube-scheduler refuses them */
    bool earmarked;      /* some nodes have room, but it is earmarked for another gang */
    bool nominated_room; /* some nodes have room, but it is nominated for other pods */
    const struct gang
        *preemptor;            /* some nodes have room, but it is kept for this gang; NULL: none */
    bool tied;                 /* it is pinned to one node */
    int volumes;               /* nodes that only its volumes rule out */
    int anti_affinity, spread; /* nodes with room that a rule between pods rules out */
    bool strangers; /* some pods that its anti-affinity conflicts with are outside the gang */
    const struct pod *culprit; /* NULL: no shortage was found */
    struct queue_short queue;  /* its queue is short; queue NULL: no */
    bool queue_alone;          /* and no choice of its members would fit, whatever nodes have */
};

struct signature {
    /* cluster/signatures.c */
    char *key;
    struct need *needs;
    size_t n_needs;
    int device;                 /* resource number of its first device by name; -1: none */
    bool ports;                 /* has host ports */
    bool anti_affinity, spread; /* has anti-affinity or topology spread over hosts */
    bool alone;   /* because of host ports or anti-affinity, a node holds only one pod */
    bool limited; /* only some nodes can use its volumes */
    size_t base;  /* length of the key's part before the volumes */
    size_t users; /* number of pods, slots and lists that refer to it */
    struct rule_results *rule_results; /* shared with other signatures */

    /* cluster/signatures.c */
    struct list pods;  /* its pods that count, see pod_counts() */
    struct list ended; /* its other pods */

    /* cluster/class_labels.c */
    struct signature_labels {
        struct label_key **keys; /* node labels that its rules read */
        size_t n;
        uint64_t gen; /* valid while equal to core->labels.gen */
    } labels;
    bool singly; /* scans visit every node, because a key is not a class label */

    /* cluster/anti_affinity_and_spread.c */
    struct cached pod_counts; /* counts for its rules between pods: a struct pod_counts */

    /* plan/placement.c */
    uint64_t full; /* core->trials when no feasible node was left for it */

    /* plan/shortage_cache.c */
    struct signature_shortage {
        uint64_t layout; /* core->marks.layout then; 0: never */
        struct reach reach;
        int room; /* how many members fit */
        struct shortage shortage;
        uint64_t version; /* identifies the shortage */
    } fill;               /* the last shortage of a gang with only this signature */

    /* lifecycle/gate_lifting.c */
    int visible; /* within gates_of(): members of the gang that wait without a gate and a slot */

    /* verb/filter.c */
    uint64_t offered_without; /* needs that offered nodes lacked, as in node_lacks(). Another
                                 extender manages these resources (ignoredByScheduler). */

    /* lifecycle/wake.c */
    uint64_t blocked_full; /* core->wake.round when no node was feasible for a blocked pod of it */
};

#endif
