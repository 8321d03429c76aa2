/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered_nodes.h - the nodes that kube-scheduler names in a call.
 */
#ifndef MUSTER_GANG_CLUSTER_OFFERED_NODES_H
#define MUSTER_GANG_CLUSTER_OFFERED_NODES_H

#include "gang/cluster/lookup.h"

/* Nodes that are not in the list say nothing: kube-scheduler may not have looked at them. */
static inline bool is_sample(const struct gang_core *core, const struct gang_event *ev)
{
    return ev->n_names >= SAMPLE_SIZE && !core->config.whole_lists;
}
/* Marks the offered nodes with their place in the list: node->offered is core->offers then. */
void look_up_names(struct gang_core *core, const struct gang_event *ev);

#endif
