/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - resources by number, and amounts of them.
 *
 * Whoever may create a pod may invent names of resources. So a name has a number only while a
 * signature or an amount on some node uses it, the number of a forgotten name is given to the next
 * one, and a node stores the resources that it has, whatever pods there ask for.
 */
#ifndef MUSTER_GANG_CLUSTER_RESOURCES_H
#define MUSTER_GANG_CLUSTER_RESOURCES_H

#include "gang/cluster/lookup.h"

/* The number of a resource, with one more user; to be given back with resource_unref(). */
uint32_t resource_ref(struct gang_core *core, const char *name);
void resource_unref(struct gang_core *core, uint32_t number);
/* RES_UNKNOWN: no node has it, and no pod asks for it. */
uint32_t resource_find(const struct gang_core *core, const char *name);
void resources_done(struct gang_core *core);
int64_t amount_search(const struct amounts *a, uint32_t resource);
/* The first resources are on every node, so their place is their number. */
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n && a->items[resource].resource == resource ? a->items[resource].amount
                                                                      : amount_search(a, resource);
}
/* For a pass over several: the lowest number in any of them at its place, RES_UNKNOWN at the end;
 * and how much of it one has, which moves its place on. */
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
/* The resource needs a user already. */
void amounts_change(struct gang_core *core, struct amounts *a, uint32_t resource, int64_t by);
/* Adds (sign 1) or takes (-1) what one pod of the signature needs. */
void amounts_add(struct gang_core *core, struct amounts *to, const struct signature *signature,
                 int sign);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
void amounts_clear(struct gang_core *core, struct amounts *a);
void amounts_done(struct gang_core *core, struct amounts *a);

#endif
