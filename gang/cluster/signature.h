/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - scheduling signatures (struct signature): everything by which kube-scheduler can
 * tell pods apart.
 *
 * Pods of one signature have the same requests and the same rules about nodes, so one result holds
 * for all of them. signatures.c makes a signature; it lives while a pod, a slot or a list of
 * infeasible nodes refers to it. Owned by the core; one thread. In all objects of the core, the
 * comment before some fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_H

#include "base/list.h"
#include "gang/gang.h"

/* Resources have numbers. "pods" is a resource of which every pod needs one. */
enum { RES_PODS, RES_CPU, RES_MEMORY, RES_FIRST_OTHER };
#define RES_UNKNOWN UINT32_MAX /* a name that nothing uses */

struct need {
    uint32_t resource;
    int64_t amount; /* > 0 */
};

struct amounts {
    struct need *items; /* sorted by resource number; missing ones are 0 */
    size_t n, cap;
};

/* Cached results of signature_refusal() by node, shared by signatures with the same rules about
 * nodes and the same volume limits. */
struct rule_results {
    char *key;
    size_t users; /* signatures */
    struct rule_result {
        uint64_t gen;   /* gen of the node then; 0: not evaluated */
        const char *no; /* why not; NULL: the node suits */
    } * by_id;
    size_t n;
};

enum displace { DISPLACE_NONE, DISPLACE_LOWER, DISPLACE_ALL };
/* The room on a node that a plan or a pod may use: the free room, with these restrictions and
 * additions. */
struct reach {
    bool respects_earmark;   /* leave out earmarked room */
    bool respects_nominated; /* leave out nominated room of pods of `priority` or more */
    enum displace displace;  /* add slots not at bind: none, of gangs below `priority`, or all */
    int32_t priority;
    const struct pod *self; /* its own nominated room counts as free; NULL: no such pod */
};

/* Why a plan failed, see placement.c. */
struct shortage {
    int room;                  /* needed members with a slot */
    int lacks;                 /* needed members without a slot */
    int n_nodes;               /* nodes that pass the culprit's rules */
    int n_able;                /* of these, nodes that could hold it if they were empty */
    int ports;                 /* of these, nodes where only host ports conflict */
    int resource;              /* the resource that most of them lack; -1: none, -2: host ports */
    int64_t amount, missing;   /* need of one member; need of all without a slot */
    bool refused;              /* nodes would suit, but kube-scheduler refused them */
    bool earmarked;            /* nodes would suit, but their room is earmarked for another gang */
    bool nominated_room;       /* nodes would suit, but their room is nominated for other pods */
    bool tied;                 /* its volumes tie it to one node */
    int volumes;               /* nodes that only its volumes rule out */
    int anti_affinity, spread; /* nodes that would suit, but for pods there or elsewhere */
    bool strangers; /* some pods that its anti-affinity conflicts with are outside the gang */
    const struct pod *culprit; /* the first member without a slot; NULL: nothing is short */
};

struct signature {
    /* cluster/signatures.c */
    char *key;
    struct need *needs;
    size_t n_needs;
    int device;                 /* resource number of its first device, or -1 */
    bool ports;                 /* has host ports */
    bool anti_affinity, spread; /* has anti-affinity or topology spread over hosts */
    bool alone;                 /* host ports or anti-affinity allow only one per node */
    bool limited;               /* only some nodes can use its volumes */
    size_t base;                /* length of the key's part before its volumes */
    size_t users;               /* pods, slots and lists of infeasible nodes that refer to it */
    struct rule_results *rule_results; /* shared with signatures of the same rules */

    /* cluster/pods.c */
    struct list pods; /* all pods of this signature */

    /* cluster/class_labels.c */
    struct signature_labels {
        struct label_key **keys; /* node labels that its rules read */
        size_t n;
        uint64_t gen; /* valid while equal to core->labels.gen */
    } labels;
    bool singly; /* nodes are scanned one by one, not by class */

    /* cluster/anti_affinity_and_spread.c */
    struct pod_counts *pod_counts; /* its rules' counts on the nodes; NULL: not counted */

    /* plan/placement.c */
    uint64_t full; /* core->trials when no node had room for it */

    /* plan/shortage_cache.c */
    struct signature_shortage {
        uint64_t layout; /* core->marks.layout then; 0: never */
        struct reach reach;
        int room; /* members that would fit */
        struct shortage shortage;
        uint64_t version; /* identifies this shortage */
    } fill;               /* the result of the last plan of a gang of this signature alone */

    /* lifecycle/wake.c */
    uint64_t blocked_full; /* core->wake.round when no node had room for a blocked pod of it */
};

#endif
