/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the use of a node: charged pods and reserved slots.
 */
#ifndef MUSTER_GANG_CLUSTER_LEDGER_H
#define MUSTER_GANG_CLUSTER_LEDGER_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"

/* The amount that is neither charged nor reserved; negative if assigned pods exceed the node. */
static inline int64_t node_free(const struct node *node, uint32_t resource)
{
    return amount_of(&node->allocatable, resource) - amount_of(&node->used, resource) -
           amount_of(&node->reserved, resource);
}
int64_t node_room(const struct node *node, uint32_t resource, const struct reach *reach);
/* The resource that is short on the node for one more pod of the signature, or -1. */
int node_short(const struct node *node, const struct signature *signature,
               const struct reach *reach);
/* Like node_short(), but also checks host ports: -2 means a port conflict. */
int node_misfit(const struct node *node, const struct signature *signature,
                const struct reach *reach);
/*
 * For pods that kube-scheduler has filtered itself: whether one more fits beside the reservations
 * and `others` pods of its signature. Resources that the node lacks entirely are not checked
 * (another extender may count them, ignoredByScheduler), nor are host ports of assigned pods.
 */
bool node_takes(const struct node *node, const struct signature *signature, int others,
                const struct reach *reach);
/* Whether the slot holds a resource or host port that a pod of the signature lacks there. */
bool slot_in_way(const struct slot *slot, const struct signature *signature);
/* Whether pods and slots exceed the node in a resource that the slot needs, or a charged pod
 * conflicts with it. */
bool slot_in_excess(const struct slot *slot);
/* The same for a charged pod and the other charged pods. */
bool charge_in_excess(const struct pod *pod);
/* Whether pods on the node are charged for the resource: true for pods, cpu, memory and what the
 * node has. A pod created with a node name may request any number of other resources. */
bool node_counts(const struct node *node, uint32_t resource);
/* Recomputes the charges of its pods after its allocatable resources changed. */
void node_recount(struct gang_core *core, struct node *node);
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
/* Whether host ports of charged pods collide with the signature's. */
bool ports_charged(const struct node *node, const struct signature *signature);
/* A pod or slot of the signature comes (sign 1) or goes (-1). */
void node_joined(struct gang_core *core, struct node *node, const struct signature *signature,
                 int sign);
/* Charges the pod again after its signature changed, as if it had never left. left: node->left
 * before. */
void charge_back(struct gang_core *core, struct pod *pod, struct node *node, enum charge how,
                 usec_t left);
/* For a trial: takes the pod off its node, and puts it back at its old list position. */
struct charge_place {
    struct node *node;
    enum charge how;
    struct list *before;
    uint64_t changed; /* node->marks.changed */
};
struct charge_place charge_lift(struct gang_core *core, struct pod *pod);
void charge_lower(struct gang_core *core, struct pod *pod, const struct charge_place *was);
/* The pod's Binding was carried out. */
void charge_confirm(struct pod *pod);
void uncharge(struct gang_core *core, struct pod *pod);

#endif
