/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the sums of a node's charged pods and reserved slots, and what still fits.
 *
 * The sums are in struct node (node.h); this file and reservations.c keep them up to date.
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
/* The amount that may be used with this reach. */
int64_t node_room(const struct node *node, uint32_t resource, const struct reach *reach);
/* The resource that the node lacks for one more pod of the signature; -1: none. */
int node_short(const struct node *node, const struct signature *signature,
               const struct reach *reach);
/* Like node_short(). -2: host ports conflict, or a pod of the signature would keep out a member for
 * which muster protects the node. */
int node_misfit(const struct node *node, const struct signature *signature,
                const struct reach *reach);
/*
 * Whether the node has room for a pod of the signature, next to all reservations and `others` pods
 * of the same signature. For pods that kube-scheduler filters itself. Skips resources that the node
 * does not have, because another extender may manage them (ignoredByScheduler), and host ports of
 * charged pods.
 */
bool node_has_room(const struct node *node, const struct signature *signature, int others,
                   const struct reach *reach);
/* Whether the node has room for the pod, and the pod would keep out no member for which muster
 * protects the node. */
bool node_takes(const struct node *node, const struct pod *pod, const struct reach *reach);
/* The needs whose resource the node does not have: one bit for each of the first 64. */
uint64_t node_lacks(const struct node *node, const struct signature *signature);
/* Whether the slot uses a resource or host port that a pod of the signature lacks on the node. */
bool slot_in_way(const struct slot *slot, const struct signature *signature);
/* Whether the slot no longer fits: a resource that it needs is overbooked on the node, or a charged
 * pod conflicts with it. */
bool slot_in_excess(const struct slot *slot);
/* The same for a charged pod and the other charged pods on its node. */
bool charge_in_excess(const struct pod *pod);
/* Whether the node charges pods for the resource: for pods, cpu, memory, and what it has. A pod
 * that was created with spec.nodeName may request any other resource. */
bool node_counts(const struct node *node, uint32_t resource);
/* Computes `used` again, after the allocatable resources of the node changed. */
void node_recount(struct gang_core *core, struct node *node);
/* Charges the pod to the node. If it is charged to another node, it is moved. */
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
/* Whether the signature's host ports collide with those of charged pods. */
bool ports_charged(const struct node *node, const struct signature *signature);
/* A pod or slot of the signature joins the node (sign 1) or leaves it (-1). */
void node_joined(struct gang_core *core, struct node *node, const struct signature *signature,
                 int sign);
/* Charges the pod again after its signature changed. Restores node->left, as if the pod had never
 * left the node. */
void charge_back(struct gang_core *core, struct pod *pod, struct node *node, enum charge how,
                 usec_t left);
/* For a trial: takes the pod off its node; puts it on the node, at this position in the list. */
struct charge_position {
    struct node *node;
    enum charge how;
    struct list *before;
    uint64_t changed; /* node->marks.changed */
};
/* The position of one more assigned pod on the node. */
struct charge_position charge_position_on(struct node *node);
struct charge_position charge_lift(struct gang_core *core, struct pod *pod);
void charge_lower(struct gang_core *core, struct pod *pod, const struct charge_position *was);
/* A gang or pod of this priority uses room. */
void lowest_priority_seen(struct gang_core *core, int32_t priority);
/* Whether the lowest priority fell since this was last asked. */
bool lower_priority_came(struct gang_core *core);
/* The lowest priority of all gangs and pods that use room, counted again. */
void lowest_priority_is(struct gang_core *core, int32_t priority);
/* The pod's Binding succeeded. */
void charge_confirm(struct pod *pod);
void uncharge(struct gang_core *core, struct pod *pod);

#endif
