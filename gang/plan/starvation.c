/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/starvation.h"

#include "base/hash.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"

void starvation_begin(struct gang_core *core, struct gang *gang)
{
    if (gang->waits)
        return;
    gang->waits = core->now;
    if (core->config.starvation)
        timer_set(core, &gang->timers[TIMER_STARVE], core->now + core->config.starvation);
}

void starvation_reached(struct gang *gang)
{
    gang->starved = true;
    gang_plan_again(gang);
}

void starvation_end(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_STARVE]);
    gang->waits = 0;
    gang->starved = false;
}

/* Gives the gang the earmark. False: it would not fit even if all nodes were empty. */
static bool earmark_places(struct gang_core *core, struct gang *gang)
{
    earmark_set(core, gang);
    if (place_in_future(core, gang))
        return true;
    if (core->config.strict_order) /* gangs behind it must wait even then */
        return true;
    earmark_clear(core);
    earmark_set(core, NULL);
    return false;
}

/* A digest of the earmarked amounts of all nodes. */
static uint64_t earmark_digest(const struct gang_core *core)
{
    uint64_t sum = 0; /* independent of the order of the list */
    list_for_each (node, &core->earmarked, struct node, in_earmarked) {
        uint64_t h = hash_u64(HASH_START, node->id);
        for (size_t i = 0; i < node->earmarked.n; i++)
            h = hash_u64(hash_u64(h, node->earmarked.items[i].resource),
                         (uint64_t)node->earmarked.items[i].amount);
        sum += hash_u64(h, h >> 32); /* a swap of two nodes changes the sum */
    }
    return sum;
}

void earmark_for_starved(struct gang_core *core, struct gang *gang)
{
    struct gang *before = core->earmark_gang;
    if (before && before != gang && by_order(&before, &gang) < 0)
        return;
    uint64_t was = earmark_digest(core);
    if (!earmark_places(core, gang) && before && before != gang)
        earmark_places(core, before);
    if (before && earmark_digest(core) != was)
        room_grew(core); /* room that was earmarked may be free for others now */
}
