/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/min_resources_check.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/resources.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/quorum.h"

/* How much of the resource the gang may use on all nodes that are not cordoned. */
static int64_t room_for(struct gang_core *core, const struct gang *gang, uint32_t resource)
{
    int64_t sum = 0;
    struct reach reach = gang_reach(core, gang);
    classes_settle(core);
    map_for_each (e, &core->node_classes) {
        const struct node_class *class = e->value;
        const struct node *node = class_first(class, NULL);
        int64_t left = node && !node->facts->unschedulable ? node_room(node, resource, &reach) : 0;
        sum += left > 0 ? left * (int64_t) class->n : 0;
    }
    return sum;
}

/* How much of the resource all members need. A missing member counts as much as the largest
 * existing one. */
static int64_t members_need(const struct gang *gang, uint32_t resource)
{
    int64_t sum = 0, largest = 0;
    int missing = unit_lacks(gang->root, STAGE_EXISTS);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        int64_t need = pod_counts(pod) ? signature_need(pod->signature, resource) : 0;
        sum += need;
        largest = need > largest ? need : largest;
    }
    int64_t more, all;
    if (missing <= 0)
        return sum;
    bool beyond = __builtin_mul_overflow((int64_t)missing, largest, &more) ||
                  __builtin_add_overflow(sum, more, &all);
    return beyond ? INT64_MAX : all;
}

/* The minResources of the unit and the PodGroups below: the sum of the children, or the parent's
 * own value if it is larger, because that includes the children. */
static int64_t min_of_all(const struct unit *unit, const char *resource)
{
    int64_t own = unit->group ? gang_amounts_get(&unit->group->facts->min_resources, resource) : 0;
    int64_t below = 0;
    list_for_each (child, &unit->children, struct unit, in_parent)
        if (!child->spec && __builtin_add_overflow(below, min_of_all(child, resource), &below))
            return INT64_MAX;
    return own > below ? own : below;
}

/* Whether minResources exceed what the members need. */
static bool exceeds_members(struct gang_core *core, const struct gang *gang, const char *resource)
{
    uint32_t number = resource_find(core, resource);
    return min_of_all(gang->root, resource) > members_need(gang, number);
}

bool min_resources_exceed_members(struct gang_core *core, const struct gang *gang)
{
    list_for_each (group, &gang->groups, struct group, in_gang)
        for (size_t i = 0; i < group->facts->min_resources.n; i++)
            if (exceeds_members(core, gang, group->facts->min_resources.items[i].resource))
                return true;
    return false;
}

struct min_short min_resources_short(struct gang_core *core, const struct gang *gang)
{
    struct min_short none = {.group = NULL};
    if (gang->state == GANG_RECOVERING || gang->n_slots)
        return none;
    list_for_each (group, &gang->groups, struct group, in_gang) {
        const struct gang_amounts *min = &group->facts->min_resources;
        for (size_t i = 0; i < min->n; i++) {
            const char *resource = min->items[i].resource;
            int64_t room = room_for(core, gang, resource_find(core, resource));
            int64_t all = min_of_all(gang->root, resource);
            if (room >= all)
                continue;
            return (struct min_short){group, &min->items[i], all, room,
                                      exceeds_members(core, gang, resource)};
        }
    }
    return none;
}
