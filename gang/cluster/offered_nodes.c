/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/offered_nodes.h"

#include "gang/cluster/lookup.h"

void look_up_names(struct gang_core *core, const struct gang_event *ev)
{
    core->offers++;
    for (size_t i = 0; i < ev->n_names; i++) {
        struct node *node = node_by_name(core, ev->names[i]);
        if (node) {
            node->offered = core->offers;
            node->offer_index = (uint32_t)i;
        }
    }
}
