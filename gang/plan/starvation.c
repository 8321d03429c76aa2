/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/starvation.h"

#include "base/hash.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"

/* Keeps what the gang could use some day; false: it could not run on the empty cluster. */
static bool keep_places(struct gang_core *core, struct gang *gang)
{
    earmark_set(core, gang);
    if (place_in_future(core, gang, earmark_clear, earmark_add))
        return true;
    if (core->config.strict_order) /* what comes after it waits all the same */
        return true;
    earmark_clear(core);
    earmark_set(core, NULL);
    return false;
}

/* Tells one distribution of what is kept from another. */
static uint64_t kept_digest(const struct gang_core *core)
{
    uint64_t sum = 0; /* the nodes are in no order */
    list_for_each (node, &core->earmarked, struct node, in_earmarked) {
        uint64_t h = hash_u64(HASH_START, node->id);
        for (size_t i = 0; i < node->earmarked.n; i++)
            h = hash_u64(hash_u64(h, node->earmarked.items[i].resource),
                         (uint64_t)node->earmarked.items[i].amount);
        sum += hash_u64(h, h >> 32); /* FNV alone would miss what two nodes have exchanged */
    }
    return sum;
}

void earmark_for_starved(struct gang_core *core, struct gang *gang)
{
    struct gang *before = core->earmark_gang;
    if (before && before != gang && by_order(&before, &gang) < 0)
        return;
    uint64_t was = kept_digest(core);
    if (!keep_places(core, gang) && before && before != gang)
        keep_places(core, before);
    if (before && kept_digest(core) != was)
        room_grew(core); /* what was kept elsewhere is another's now */
}
