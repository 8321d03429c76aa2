/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - resource numbers, and amounts of resources.
 *
 * Anyone who can create a pod can invent resource names. So a name has a number only while a
 * signature or a node's amount uses it, and the number is then reused. A node stores only the
 * resources that it has, whatever its pods request.
 */
#ifndef MUSTER_GANG_CLUSTER_RESOURCES_H
#define MUSTER_GANG_CLUSTER_RESOURCES_H

#include "gang/cluster/lookup.h"

/* Returns the number of a resource and adds a user; return it with resource_unref(). */
uint32_t resource_ref(struct gang_core *core, const char *name);
void resource_unref(struct gang_core *core, uint32_t number);
/* RES_UNKNOWN: no node has it and no pod requests it. */
uint32_t resource_find(const struct gang_core *core, const char *name);
void resources_done(struct gang_core *core);
int64_t amount_search(const struct amounts *a, uint32_t resource);
/* Every node has the first resources, so their index is their number. */
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n && a->items[resource].resource == resource ? a->items[resource].amount
                                                                      : amount_search(a, resource);
}
/* To walk several lists in parallel: the lowest number at their current indexes, RES_UNKNOWN at
 * the end; then the amount in one list, which advances its index. */
static inline uint32_t amounts_lowest(const struct amounts *const *lists, const size_t *at,
                                      size_t n)
{
    uint32_t low = RES_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        if (at[i] < lists[i]->n && lists[i]->items[at[i]].resource < low)
            low = lists[i]->items[at[i]].resource;
    return low;
}
static inline int64_t amounts_take(const struct amounts *a, size_t *at, uint32_t resource)
{
    bool here = *at < a->n && a->items[*at].resource == resource;
    return here ? a->items[(*at)++].amount : 0;
}
/* The resource must already have a user. */
void amounts_change(struct gang_core *core, struct amounts *a, uint32_t resource, int64_t by);
/* Adds (sign 1) or subtracts (-1) the needs of one pod of the signature. */
void amounts_add(struct gang_core *core, struct amounts *to, const struct signature *signature,
                 int sign);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
void amounts_clear(struct gang_core *core, struct amounts *a);
void amounts_done(struct gang_core *core, struct amounts *a);

#endif
