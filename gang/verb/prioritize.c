/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prioritize.c - the verb prioritize: scores full nodes higher.
 */
#include "gang/verb/verbs.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"

/* For a pod with a device: 0 to 10, by how much of the device is used or reserved. For other pods:
 * 10 on nodes without devices, else 0. */
static uint8_t score(const struct node *node, const struct signature *signature)
{
    if (!node)
        return 0;
    if (signature->device < 0)
        return node->devices ? 0 : 10;
    int64_t all = amount_of(&node->allocatable, (uint32_t)signature->device);
    int64_t used = amount_of(&node->used, (uint32_t)signature->device) +
                   amount_of(&node->reserved, (uint32_t)signature->device);
    if (all <= 0 || used < 0)
        return 0;
    return used >= all ? 10 : (uint8_t)(10.0 * (double)used / (double)all);
}

void answer_prioritize(struct gang_core *core, const struct gang_event *ev)
{
    struct gang_effect *e = fx_add(core, GANG_REPLY_PRIORITIZE);
    uint8_t *scores = fx_alloc(core, ev->n_names + 1);
    e->prioritize.id = ev->id;
    e->prioritize.scores = scores;
    e->prioritize.n = core->synced && !core->stopping ? ev->n_names : 0;
    const struct pod *known = ev->pod_is_known ? pod_by_uid(core, ev->pod->uid) : NULL;
    struct signature *own = known ? NULL : signature_of(core, ev->pod);
    for (size_t i = 0; i < ev->n_names; i++)
        scores[i] = score(node_by_name(core, ev->names[i]), known ? known->signature : own);
    if (own)
        signature_unref(core, own);
}
