/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - whose room a plan or a pod may use (struct reach): the rules about preempted room
 * (preempted_room.h), and about slots that it displaces.
 */
#ifndef MUSTER_GANG_CLUSTER_REACH_H
#define MUSTER_GANG_CLUSTER_REACH_H

#include "gang/cluster/lookup.h"

/* For struct reach. */
uint64_t namespace_digest(const char *ns);
/* Whether `reach` must leave the room of the slot free, which is preempted room, or a slot of a
 * gang for which others were evicted. */
bool room_is_kept(const struct slot *slot, const struct reach *reach);
/* Whether `reach` displaces the slot: its member is not at bind, and the priority of its gang is
 * low enough. If others were evicted for the gang, its room must not be kept from `reach`. */
bool slot_yields(const struct slot *slot, const struct reach *reach);

#endif
