/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - resource numbers, and amounts of resources.
 *
 * A user who can create pods can invent resource names. So a name has a number only while a
 * signature or an amount of a node uses it; afterwards the number is reused. A node stores amounts
 * only for resources that it has, and not for others that its pods request.
 */
#ifndef MUSTER_GANG_CLUSTER_RESOURCES_H
#define MUSTER_GANG_CLUSTER_RESOURCES_H

#include "gang/cluster/lookup.h"

/* Returns the number of a resource and adds a user. resource_unref() removes the user. */
uint32_t resource_ref(struct gang_core *core, const char *name);
void resource_unref(struct gang_core *core, uint32_t number);
/* The number of a resource; RES_UNKNOWN: no node has it and no pod requests it. */
uint32_t resource_find(const struct gang_core *core, const char *name);
void resources_done(struct gang_core *core);
/* What the name says about the resource: see gang_is_device() and gang_is_any_gpu(). */
enum resource_kind { RESOURCE_DEVICE = 1, RESOURCE_GPU = 2 };
static inline bool resource_is(const struct gang_core *core, uint32_t number,
                               enum resource_kind kind)
{
    return core->resources.kinds[number] & kind;
}
/* The amount of the resource; 0: it is not listed. amount_of() is faster for pods, cpu and memory:
 * every node has them, so their index is usually their number. */
int64_t amount_search(const struct amounts *a, uint32_t resource);
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n && a->items[resource].resource == resource ? a->items[resource].amount
                                                                      : amount_search(a, resource);
}
/* To walk several lists in parallel: amounts_lowest() returns the lowest resource number at the
 * current indexes, RES_UNKNOWN at the end. Then amounts_take() returns the amount in one list and
 * advances the index of that list. */
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
/* Adds `by` to the amount. The resource must already have a user. amounts_change() is faster if the
 * index of the resource is its number and the resource stays listed. */
void amounts_change_search(struct gang_core *core, struct amounts *a, uint32_t resource,
                           int64_t by);
static inline void amounts_change(struct gang_core *core, struct amounts *a, uint32_t resource,
                                  int64_t by)
{
    bool stays = resource < a->n && a->items[resource].resource == resource &&
                 (resource < RES_FIRST_OTHER || a->items[resource].amount + by != 0);
    if (stays)
        a->items[resource].amount += by;
    else
        amounts_change_search(core, a, resource, by);
}
static inline void amount_set(struct gang_core *core, struct amounts *a, uint32_t resource,
                              int64_t amount)
{
    amounts_change(core, a, resource, amount - amount_of(a, resource));
}
/* At most INT64_MAX. */
static inline int64_t thousandths(int64_t amount)
{
    return amount > INT64_MAX / 1000 ? INT64_MAX : amount * 1000;
}
/* Adds (sign 1) or subtracts (-1) the needs of one pod of the signature. */
void amounts_add(struct gang_core *core, struct amounts *to, const struct signature *signature,
                 int sign);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
bool amounts_equal(const struct amounts *a, const struct amounts *b);
void amounts_clear(struct gang_core *core, struct amounts *a);
void amounts_done(struct gang_core *core, struct amounts *a);

#endif
