/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - scheduling signatures (struct signature): what kube-scheduler could tell pods apart
 * by.
 *
 * Pods of one signature ask for the same and have the same rules about nodes, so one answer goes
 * for all of them. A signature is made by signatures.c and lives while a pod, a slot or evidence
 * holds it. Owned by the core; one thread. As in all objects of the core, the comment before some
 * fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_H

#include "base/list.h"
#include "gang/gang.h"

/* Resources by number; "pods" is a resource of which every pod needs one. */
enum { RES_PODS, RES_CPU, RES_MEMORY, RES_FIRST_OTHER };
#define RES_UNKNOWN UINT32_MAX /* of a name that nobody uses */

struct need {
    uint32_t resource;
    int64_t amount; /* > 0 */
};

struct amounts {
    struct need *items; /* by resource number, in order; what is not there is 0 */
    size_t n, cap;
};

/* What signature_refusal() said of the nodes, for all signatures with the same rules about nodes
 * and the same limits by volumes. */
struct rule_results {
    char *key;
    size_t users; /* signatures */
    struct rule_result {
        uint64_t gen;   /* of the node when it was asked; 0: not asked */
        const char *no; /* NULL: the node will do */
    } * by_id;
    size_t n;
};

enum displace { DISPLACE_NONE, DISPLACE_LOWER, DISPLACE_ALL };
/* What somebody may count on, on a node: what is free, */
struct reach {
    bool respects_earmark;   /* less what is kept for the gang that has waited too long
                                (starvation.c), */
    bool respects_nominated; /* less what is promised to pods of `priority` or more
                                (nominated_room.c), */
    enum displace displace;  /* and what slots have whose member is not at bind: those of gangs
                              * below `priority`, or all */
    int32_t priority;
    const struct pod *self; /* what is promised to it is its own; NULL: nobody */
};

/* Why a plan failed, see placement.c. */
struct shortage {
    int room;                  /* needed members that have a place */
    int lacks;                 /* those that have none */
    int n_nodes;               /* that pass the rules of the culprit */
    int n_able;                /* of these, those that could hold it if they were empty */
    int ports;                 /* of these, those with a port conflict alone */
    int resource;              /* the one most of them lack; -1: none, -2: host ports */
    int64_t amount, missing;   /* of it, in its own unit: one member needs, all that lack need */
    bool refused;              /* nodes would do, but the scheduler refused them */
    bool earmarked;            /* nodes would do, but their room is kept for another gang */
    bool nominated_room;       /* nodes would do, but nominated pods have their room */
    bool tied;                 /* its volumes are on one node */
    int volumes;               /* nodes that pass the rules but for its volumes */
    int anti_affinity, spread; /* nodes that would do, but for pods that are there or elsewhere */
    bool strangers;            /* some of those that keep it apart are no siblings */
    const struct pod *culprit; /* the first member without a place; NULL: nothing is short */
};

struct signature {
    /* cluster/signatures.c */
    char *key;
    struct need *needs;
    size_t n_needs;
    int device;                 /* the resource number of its first device, or -1 */
    bool ports;                 /* has host ports */
    bool anti_affinity, spread; /* has anti-affinity, topology spread over hosts */
    bool alone;                 /* by its host ports or anti-affinity never two of it on one node */
    bool limited;               /* its volumes can be used on some nodes only */
    size_t base;                /* so much of the key is not about its volumes */
    size_t users;               /* pods, slots and evidence that hold it */
    struct rule_results *rule_results; /* of signatures with the same rules about nodes */

    /* cluster/pods.c */
    struct list pods; /* all pods of this signature */

    /* cluster/class_labels.c */
    struct signature_labels {
        struct label_key **keys; /* labels of nodes that it asks for */
        size_t n;
        uint64_t gen; /* core->labels.gen when it asked; else it has to ask again */
    } labels;
    bool singly; /* it looks at each node */

    /* cluster/anti_affinity_and_spread.c */
    struct pod_counts *pod_counts; /* what its rules see on the nodes; NULL: not asked */

    /* plan/placement.c */
    uint64_t full; /* core->trials in which no node had room for it */

    /* plan/shortage_cache.c */
    struct signature_shortage {
        uint64_t layout; /* core->marks.layout when it was tried; 0: never */
        struct reach reach;
        int room; /* for so many of it */
        struct shortage shortage;
        uint64_t version; /* a number for these words: others have another */
    } fill;               /* what the last plain gang of it found out */

    /* lifecycle/wake.c */
    uint64_t blocked_full; /* core->wake.round in which no node took a pod of it */
};

#endif
