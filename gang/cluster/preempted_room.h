/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempted_room.h - room that muster keeps for a gang while evicted pods leave it.
 *
 * When muster evicts pods to make room for a gang, the gang is not planned until they are gone.
 * Until then, muster keeps the room of its future plan: a slot for each member, which has no pod
 * and is not in the plan of the gang. Plans, filter and bind leave this room free for the gang.
 * Only these may use it: gangs and pods of a higher priority in the same queue, ordinary pods of a
 * higher priority in no queue, and gangs that have had preempted room for longer. Members beyond
 * the minimum of their gang may not, because nothing is evicted for them (struct reach). The gang's
 * queue counts it.
 *
 * The evicted pods stay charged while they exist. So preempted room is a separate sum, and used +
 * reserved + preempted room may exceed allocatable.
 */
#ifndef MUSTER_GANG_CLUSTER_PREEMPTED_ROOM_H
#define MUSTER_GANG_CLUSTER_PREEMPTED_ROOM_H

#include "gang/cluster/lookup.h"

/* Keeps room for one member of the signature on the node. */
void preempted_room_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                        struct node *node);
/* The limits of the gang's queue have room for the slot now, so the queue uses it from now on. */
void preempted_slot_count(struct gang_core *core, struct slot *slot);
/* Keeps no more room for the gang. */
void preempted_room_end(struct gang_core *core, struct gang *gang);
/* The same, but the gang is planned now or gets other room: the caller decides whether room grew
 * for others, and calls preempted_room_end() unless it gets other room. */
void preempted_room_lift(struct gang_core *core, struct gang *gang);
/* Keeps no more room on the node. */
void preempted_room_leave(struct gang_core *core, struct node *node);
/* Sets gang->takes_room. While it is set, the slots of the gang keep away pods as preempted room
 * does, see slot_keeps_spread(). */
void gang_takes_room(struct gang_core *core, struct gang *gang, bool takes);
/* Call this when the gang's priority or queue changes, which decides who may use the room. */
void preempted_room_reclassify(struct gang_core *core, struct gang *gang);
static inline bool has_preempted_room(const struct gang *gang)
{
    return !list_empty(&gang->preempted_room);
}
/* The room on the node that `reach` must leave free for gangs of reach->priority or more. */
int64_t preempted_amount(const struct node *node, uint32_t resource, const struct reach *reach);
/* Whether the slot keeps away pods that its topology spread counts: pods were evicted for its plan.
 * Otherwise, muster would evict again. Anti-affinity needs no such rule, because every slot
 * enforces it. */
static inline bool slot_keeps_spread(const struct slot *slot)
{
    return slot->signature->spread && slot->gang->takes_room;
}
/* Whether the rules for kept room give the same result for both slots on one node. a NULL: no. */
static inline bool slots_alike(const struct slot *a, const struct slot *b)
{
    return a && a->gang == b->gang && a->signature == b->signature;
}
/* Whether `who` on the slot's node would keep out the slot's member, by host ports, anti-affinity
 * or topology spread. Ignores the skew, because the counts change while pods leave. */
bool kept_slot_excludes(const struct slot *slot, const struct gang_pod_facts *who);
/* Whether `who` on the node would keep out a member for which muster keeps room there, or for whose
 * plan it has evicted pods. */
bool preempted_rules_conflict(const struct node *node, const struct gang_pod_facts *who,
                              const struct reach *reach);
/* Of two gangs (NULL: none), the one for which muster has kept room for longer. */
const struct gang *keeper_first(const struct gang *gang, const struct gang *other);
/* The first gang whose room on the node `reach` must leave free; NULL: none. Does not depend on the
 * order of slots, which a dry run changes. */
const struct gang *preempted_room_owner(const struct node *node, const struct reach *reach);
/* Checks the sums. Returns 0, or -1 with the first violation in err. */
int preempted_room_check(const struct gang_core *core, struct err *err);

#endif
