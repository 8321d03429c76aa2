/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a node in the cluster cache, with its ledger.
 *
 * A node has three sums for each resource: allocatable (from its facts), used (of charged pods) and
 * reserved (of slots). A pod is charged for the resources that the node has, and for pods, cpu and
 * memory. After a step, used + reserved <= allocatable on every node, unless assigned pods alone
 * exceed allocatable.
 *
 * nodes.c creates a node when the watch shows it or a pod names it. It is freed when it is deleted
 * and nothing is charged or reserved there. The core owns it. The comment before a group of fields
 * names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_H
#define MUSTER_GANG_CLUSTER_NODE_H

#include "gang/cluster/signature.h"

struct node {
    /* cluster/nodes.c */
    char *name;
    struct gang_node_facts *facts; /* NULL: the node is deleted, or only a pod names it */
    uint32_t id;                   /* index in core->by_id; reused after the node is freed */
    uint64_t born;                 /* core->marks.clock when the node was created */
    uint64_t gen;                  /* core->marks.clock when facts that rules read last changed */
    struct amounts allocatable;
    bool devices; /* its allocatable includes devices */

    /* cluster/dirty_nodes.c */
    struct node_marks {
        uint64_t freed;        /* core->marks.clock when room last grew in muster's ledger */
        uint64_t changed;      /* the same, counting only changes that kube-scheduler can see */
        uint64_t pods_changed; /* core->marks.pods_changes when its pods or labels last changed */
        usec_t touched_at;     /* when anything that rules read last changed */
        uint64_t rules_gen;    /* `gen` when it was last classified; 0: taints or labels changed */
        struct list in_reclassify, in_recheck_slots, in_by_pods_changed;
    } marks;

    /* cluster/ledger.c */
    struct amounts used;
    struct list pods; /* pods charged here */
    size_t n_pods;
    size_t n_anti_affinity; /* pods and slots here that have anti-affinity */
    usec_t left;            /* when a charged pod last left the node */

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
    uint64_t offered;     /* core->offers when a call last offered the node */
    uint32_t offer_index; /* its index in the list of that call */

    /* cluster/nominations.c */
    struct list nominated; /* unbound pods that are nominated to this node */

    /* cluster/nominated_room.c */
    struct list nominated_room; /* of these, pods that have nominated room */

    /* cluster/preempted_room.c */
    struct list preempted_room; /* slots that are kept for gangs while evicted pods leave */
    size_t n_preempted_room;

    /* podgroup/earmark.c */
    struct amounts earmarked; /* for the gang that has the earmark */
    bool earmarked_alone;     /* also for a member that must be the only one on its node */
    struct list in_earmarked;

    /* lifecycle/wake.c */
    int n_woken; /* blocked pods that the last round (core->wake.round) woke for this node */
    struct list in_sent;

    /* lifecycle/commit.c */
    usec_t unasked; /* when muster last sent a Binding to this node without a bind call */
};

#endif
