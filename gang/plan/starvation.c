/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/starvation.h"

#include "base/hash.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/objects.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/kept_room.h"
#include "gang/podgroup/order.h"

/* Keeps what the gang could use some day; false: it could not run on the empty cluster. */
static bool keep_places(struct gang_core *core, struct gang *gang)
{
    kept_for(core, gang);
    if (place_some_day(core, gang, kept_forget, kept_add))
        return true;
    if (core->config.strict_order) /* what comes after it waits all the same */
        return true;
    kept_forget(core);
    kept_for(core, NULL);
    return false;
}

/* Tells one distribution of what is kept from another. */
static uint64_t kept_digest(const struct gang_core *core)
{
    uint64_t sum = 0; /* the nodes are in no order */
    list_for_each (node, &core->kept, struct node, in_kept) {
        uint64_t h = hash_u64(HASH_START, node->id);
        for (size_t i = 0; i < node->kept.n; i++)
            h = hash_u64(hash_u64(h, node->kept.items[i].resource),
                         (uint64_t)node->kept.items[i].amount);
        sum += hash_u64(h, h >> 32); /* FNV alone would miss what two nodes have exchanged */
    }
    return sum;
}

void keep_for(struct gang_core *core, struct gang *gang)
{
    struct gang *before = core->keeper;
    if (before && before != gang && by_order(&before, &gang) < 0)
        return;
    uint64_t was = kept_digest(core);
    if (!keep_places(core, gang) && before && before != gang)
        keep_places(core, before);
    if (before && kept_digest(core) != was)
        room_grew(core); /* what was kept elsewhere is another's now */
}
