/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/resources.h"

#include "gang/cluster/lookup.h"
#include "gang/node_predicates.h"
#include "gang/queue_facts.h"

/* ---- names ---- */

static uint32_t free_number(struct gang_core *core)
{
    if (core->resources.n_free)
        return core->resources.free[--core->resources.n_free];
    size_t n = ++core->resources.n;
    if (n > core->resources.cap) {
        core->resources.cap = 2 * n + 8;
        core->resources.names = xreallocarray(core->resources.names, core->resources.cap,
                                              sizeof *core->resources.names);
        core->resources.users = xreallocarray(core->resources.users, core->resources.cap,
                                              sizeof *core->resources.users);
        core->resources.kinds = xreallocarray(core->resources.kinds, core->resources.cap,
                                              sizeof *core->resources.kinds);
        core->resources.free =
            xreallocarray(core->resources.free, core->resources.cap, sizeof *core->resources.free);
    }
    return (uint32_t)n - 1;
}

uint32_t resource_find(const struct gang_core *core, const char *name)
{
    uintptr_t known = (uintptr_t)map_get(&core->resources.numbers, name);
    return known ? (uint32_t)known - 1 : RES_UNKNOWN;
}

static uint8_t kinds_of(const char *name)
{
    return (gang_is_device(name) ? RESOURCE_DEVICE : 0) |
           (gang_is_any_gpu(name) ? RESOURCE_GPU : 0);
}

uint32_t resource_ref(struct gang_core *core, const char *name)
{
    uint32_t number = resource_find(core, name);
    if (number == RES_UNKNOWN) {
        number = free_number(core);
        core->resources.names[number] = xstrdup(name);
        core->resources.users[number] = 0;
        core->resources.kinds[number] = kinds_of(name);
        map_set(&core->resources.numbers, name, (void *)((uintptr_t)number + 1));
    }
    core->resources.users[number]++;
    return number;
}

void resource_unref(struct gang_core *core, uint32_t number)
{
    if (--core->resources.users[number] > 0)
        return;
    map_remove(&core->resources.numbers, core->resources.names[number]);
    free(STEAL(core->resources.names[number]));
    core->resources.free[core->resources.n_free++] = number;
}

void resources_done(struct gang_core *core)
{
    for (size_t i = 0; i < core->resources.n; i++)
        free(core->resources.names[i]);
    free(core->resources.names);
    free(core->resources.users);
    free(core->resources.kinds);
    free(core->resources.free);
    map_done(&core->resources.numbers);
}

/* ---- amounts ---- */

/* The index of the resource, or the index at which to insert it. */
static size_t position_of(const struct amounts *a, uint32_t resource)
{
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->items[middle].resource < resource)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t amount_search(const struct amounts *a, uint32_t resource)
{
    size_t at = position_of(a, resource);
    return at < a->n && a->items[at].resource == resource ? a->items[at].amount : 0;
}

void amounts_change_search(struct gang_core *core, struct amounts *a, uint32_t resource, int64_t by)
{
    size_t at = position_of(a, resource);
    if (at == a->n || a->items[at].resource != resource) {
        if (!by)
            return;
        GROW(a->items, a->cap, a->n + 1);
        memmove(&a->items[at + 1], &a->items[at], (a->n++ - at) * sizeof *a->items);
        a->items[at] = (struct need){resource, 0};
        core->resources.users[resource]++;
    }
    a->items[at].amount += by;
    if (a->items[at].amount || resource < RES_FIRST_OTHER)
        return;
    memmove(&a->items[at], &a->items[at + 1], (--a->n - at) * sizeof *a->items);
    resource_unref(core, resource);
}

void amounts_add(struct gang_core *core, struct amounts *to, const struct signature *signature,
                 int sign)
{
    for (size_t i = 0; i < signature->n_needs; i++)
        amounts_change(core, to, signature->needs[i].resource, sign * signature->needs[i].amount);
}

void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from)
{
    struct amounts before = *to;
    *to = (struct amounts){0};
    for (size_t i = 0; i < from->n; i++) {
        uint32_t r = resource_ref(core, from->items[i].resource);
        amount_set(core, to, r, from->items[i].amount);
        resource_unref(core, r);
    }
    amounts_done(core, &before);
}

static bool all_in(const struct amounts *a, const struct amounts *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].amount != amount_of(b, a->items[i].resource))
            return false;
    return true;
}

bool amounts_equal(const struct amounts *a, const struct amounts *b)
{
    return all_in(a, b) && all_in(b, a);
}

void amounts_clear(struct gang_core *core, struct amounts *a)
{
    while (a->n)
        resource_unref(core, a->items[--a->n].resource);
}

void amounts_done(struct gang_core *core, struct amounts *a)
{
    amounts_clear(core, a);
    free(a->items);
    *a = (struct amounts){0};
}
