/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a node in the cluster cache, with its ledger.
 *
 * A node has three sums per resource: allocatable (facts), used (charged pods: assigned, or with a
 * Binding under way) and reserved (slots). Pods are charged for the resources that the node has and
 * for those that every node has. After a step, used + reserved <= allocatable on every node, unless
 * assigned pods alone exceed it.
 *
 * nodes.c makes a node when the watch shows it or a pod names it. It lives until it is deleted and
 * nothing is charged or reserved there. Owned by the core; one thread. The comment before some
 * fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_H
#define MUSTER_GANG_CLUSTER_NODE_H

#include "gang/cluster/signature.h"

struct node {
    /* cluster/nodes.c */
    char *name;
    struct gang_node_facts *facts; /* NULL: deleted, or known only from a pod */
    uint32_t id;                   /* small, reused */
    uint64_t born;                 /* core->marks.clock when it was added */
    uint64_t gen;                  /* core->marks.clock when facts that rules read last changed */
    struct amounts allocatable;
    bool devices; /* its allocatable includes devices */

    /* cluster/dirty_nodes.c */
    struct node_marks {
        uint64_t freed;        /* core->marks.clock when room last grew here in muster's ledger */
        uint64_t changed;      /* the same, as far as kube-scheduler can know */
        uint64_t pods_changed; /* core->marks.pods_changes when its pods or labels changed */
        usec_t touched_at;     /* last change of anything that a rule reads */
        uint64_t rules_gen;    /* gen when last classified; 0: its rules must be read again */
        struct list in_reclassify, in_recheck_slots;
    } marks;

    /* cluster/ledger.c */
    struct amounts used;
    struct list pods; /* pods charged here */
    size_t n_pods;
    size_t n_anti_affinity; /* pods and slots with anti-affinity */
    usec_t left;            /* when a pod last left */

    /* cluster/reservations.c */
    struct amounts reserved;
    struct list slots; /* slots reserved here */
    size_t n_slots;

    /* cluster/node_classes.c */
    struct node_class *class; /* NULL: not classified */
    size_t in_class;          /* its index in the class */

    /* cluster/class_labels.c */
    uint64_t class_labels; /* digest of the values of its class labels */

    /* cluster/offered_nodes.c */
    uint64_t offered;     /* core->offers of the last filter call that offered it */
    uint32_t offer_index; /* its index among the names of that call */

    /* cluster/nominations.c */
    struct list nominated; /* unbound pods with this status.nominatedNodeName */

    /* cluster/nominated_room.c */
    struct list nominated_room; /* of these, pods that have nominated room */

    /* podgroup/earmark.c */
    struct amounts earmarked; /* for the gang that has the earmark */
    bool earmarked_alone;     /* for one of its members that must be alone on its node */
    struct list in_earmarked;

    /* lifecycle/wake.c */
    int n_woken; /* blocked pods woken for this node in the last core->wake.round */
    struct list in_sent;

    /* lifecycle/commit.c */
    usec_t unasked; /* when a Binding to it was last sent without a bind call */
};

#endif
