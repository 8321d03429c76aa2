/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - what is in use on a node: pods that are charged, slots that are reserved.
 */
#ifndef MUSTER_GANG_CLUSTER_LEDGER_H
#define MUSTER_GANG_CLUSTER_LEDGER_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"

/* What is neither charged nor reserved; negative when assigned pods exceed the node. */
static inline int64_t node_free(const struct node *node, uint32_t resource)
{
    return amount_of(&node->allocatable, resource) - amount_of(&node->used, resource) -
           amount_of(&node->reserved, resource);
}
int64_t node_room(const struct node *node, uint32_t resource, const struct reach *reach);
/* The resource of which the node has too little left for one more pod of the signature, or -1. */
int node_short(const struct node *node, const struct signature *signature,
               const struct reach *reach);
/* As node_short, and host ports: -2 is a port conflict. */
int node_misfit(const struct node *node, const struct signature *signature,
                const struct reach *reach);
/*
 * For pods that kube-scheduler has judged itself: whether one fits beside the reservations and as
 * many others of its signature. A resource that the node does not have at all is somebody else's to
 * count (ignoredByScheduler of another extender), as are host ports of assigned pods.
 */
bool node_takes(const struct node *node, const struct signature *signature, int others,
                const struct reach *reach);
/* The slot has something of which the pod lacks some there. */
bool slot_in_way(const struct slot *slot, const struct signature *signature);
/* Assigned pods and slots exceed the node in something the slot needs. */
bool slot_in_excess(const struct slot *slot);
/* The same of a pod that is charged. */
bool charge_in_excess(const struct pod *pod);
/* Whether pods there are charged for it: for what the node has, cpu and the like. Whoever may
 * create a pod with a node name may invent any number of other names. */
bool node_counts(const struct node *node, uint32_t resource);
/* After its allocatable resources changed: what its pods are charged. */
void node_recount(struct gang_core *core, struct node *node);
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
/* Host ports of pods that are charged there collide with the signature's. */
bool ports_charged(const struct node *node, const struct signature *signature);
/* A pod or slot of the signature came (sign 1) or goes (-1). */
void node_joined(struct gang_core *core, struct node *node, const struct signature *signature,
                 int sign);
/* The same once more, after its signature changed: it did not leave. left: node->left before. */
void charge_back(struct gang_core *core, struct pod *pod, struct node *node, enum charge how,
                 usec_t left);
/* For a trial: takes the pod off its node, and puts it back where it stood among the others. */
struct charge_place {
    struct node *node;
    enum charge how;
    struct list *before;
    uint64_t changed; /* node->marks.changed */
};
struct charge_place charge_lift(struct gang_core *core, struct pod *pod);
void charge_lower(struct gang_core *core, struct pod *pod, const struct charge_place *was);
/* Its Binding was carried out. */
void charge_stands(struct pod *pod);
void uncharge(struct gang_core *core, struct pod *pod);

#endif
