/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a node, as the core knows it.
 *
 * The ledger. A node has three sums per resource: allocatable (facts), used (pods charged:
 * assigned, or with a Binding under way) and reserved (slots). Pods are charged for the resources
 * that the node has, and for those that every node has. After a step used + reserved <=
 * allocatable on every node, unless assigned pods alone exceed it.
 *
 * Made by nodes.c when the watch shows it or a pod names it; it lives until it is deleted and
 * nothing is charged or reserved there. Owned by the core; one thread. The comment before some
 * fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_H
#define MUSTER_GANG_CLUSTER_NODE_H

#include "gang/cluster/signature.h"

struct node {
    /* cluster/nodes.c */
    char *name;
    struct gang_node_facts *facts; /* NULL: only known from a pod that runs there */
    uint32_t id;                   /* small, reused */
    uint64_t born;                 /* core->marks.clock when it came */
    uint64_t gen;                  /* grows with every change of facts */
    struct amounts allocatable;
    bool devices; /* has devices in allocatable */

    /* cluster/dirty_nodes.c */
    struct node_marks {
        uint64_t freed;        /* core->marks.clock when room last grew here, by our count */
        uint64_t changed;      /* the same, by what kube-scheduler can know */
        uint64_t pods_changed; /* core->marks.crowds when who is here, or its labels, changed */
        usec_t touched_at;     /* when anything about it changed last that a rule looks at */
        uint64_t rules_gen;    /* gen when it was put into its class; 0: its rules are to be looked
                                * at */
        struct list in_reclassify, in_recheck_slots;
    } marks;

    /* cluster/ledger.c */
    struct amounts used;
    struct list pods; /* charged here */
    size_t n_pods;
    size_t n_anti_affinity; /* pods and slots with anti-affinity */
    usec_t left;            /* when a pod last left it */

    /* cluster/reservations.c */
    struct amounts reserved;
    struct list slots; /* reserved here */
    size_t n_slots;

    /* cluster/node_classes.c */
    struct node_class *class; /* NULL: it is in none */
    size_t in_class;          /* its place there */

    /* cluster/class_labels.c */
    uint64_t class_labels; /* digest of the labels by which nodes are told apart */

    /* cluster/offered_nodes.c */
    uint64_t offered;     /* core->offers of the filter call that last offered it */
    uint32_t offer_index; /* its place among the names of that call */

    /* cluster/nominations.c */
    struct list nominated; /* unbound pods with this node as status.nominatedNodeName */

    /* cluster/nominated_room.c */
    struct list nominated_room; /* of these, those that room is promised to */

    /* podgroup/earmark.c */
    struct amounts earmarked; /* for the gang that has waited too long */
    bool earmarked_alone;     /* for one of its members that is alone on its node */
    struct list in_earmarked;

    /* lifecycle/wake.c */
    int n_woken; /* starved pods sent here in the last core->wake.round */
    struct list in_sent;

    /* lifecycle/commit.c */
    usec_t unasked; /* when a Binding to it was last sent that nobody asked for */
};

#endif
