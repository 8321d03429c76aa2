/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered_nodes.h - the nodes that kube-scheduler offers in a call.
 *
 * filter.c looks them up when it answers a call, and predicate_parity.c when it learns from one.
 * The marks on the nodes are valid until the next look_up_names().
 */
#ifndef MUSTER_GANG_CLUSTER_OFFERED_NODES_H
#define MUSTER_GANG_CLUSTER_OFFERED_NODES_H

#include "gang/cluster/lookup.h"

/* Whether the list may be a sample. A node that is missing from a sample may be feasible. */
static inline bool is_sample(const struct gang_core *core, const struct gang_event *ev)
{
    return ev->n_names >= SAMPLE_SIZE && !core->config.whole_lists;
}
/* Marks each offered node with core->offers and its index in the list. */
void look_up_names(struct gang_core *core, const struct gang_event *ev);

#endif
