/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/reach.h"

#include "base/hash.h"
#include "gang/cluster/queue_usage.h"

uint64_t namespace_digest(const char *ns)
{
    uint64_t digest = hash_text(HASH_START, ns);
    return digest ? digest : 1;
}

/* Pods of at most this priority must leave the gang's room free. It could evict them: inside a
 * namespace, the priority of its PodGroup counts. */
static int32_t priority_for(const struct gang *gang, const struct reach *reach)
{
    bool inside = reach->ns && reach->ns == namespace_digest(gang->head->ref.ns);
    int32_t most = gang->priority > gang->pod_priority ? gang->priority : gang->pod_priority;
    return inside && gang->own_priority > most ? gang->own_priority : most;
}

/* Of two gangs of the same priority that both have preempted room, the later one respects the room
 * of the other. So they do not wait for each other. */
bool room_is_kept(const struct slot *slot, const struct reach *reach)
{
    const struct gang *gang = slot->gang, *own = reach->own_gang;
    bool other = reach->queue && queue_of_gang(gang->core, gang) != reach->queue;
    if (!reach->respects_preempted || gang == own)
        return false;
    if (reach->extra)
        return true;
    int32_t priority = priority_for(gang, reach);
    if (!other && priority < reach->priority)
        return false;
    bool higher = !other && priority > reach->priority;
    return !own || higher || gang->room_since < own->room_since;
}

bool slot_yields(const struct slot *slot, const struct reach *reach)
{
    if (reach->displace == DISPLACE_NONE || (slot->pod && slot->pod->held))
        return false;
    if (reach->displace == DISPLACE_ALL)
        return true;
    return slot->gang->priority < reach->priority &&
           !(slot->gang->takes_room && room_is_kept(slot, reach));
}
