/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/gang_priority.h"

#include "gang/cluster/lookup.h"

static bool own_priority(const struct gang_core *core, const struct group *group, int32_t *ret)
{
    const struct gang_group_facts *f = group->facts;
    const struct gang_priority_class_facts *class =
        f && f->priority_class ? map_get(&core->priority_classes, f->priority_class) : NULL;
    if (!f || (!f->has_priority && !class))
        return false;
    *ret = f->has_priority ? f->priority : class->value;
    return true;
}

/* The priority of the head; else the highest of the other PodGroups; else the highest of the
 * members. */
int32_t gang_own_priority(const struct gang_core *core, const struct gang *gang)
{
    int32_t p, highest = INT32_MIN;
    if (own_priority(core, gang->head, &p))
        return p;
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (own_priority(core, group, &p) && p > highest)
            highest = p;
    if (highest != INT32_MIN)
        return highest;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->priority > highest)
            highest = pod->facts->priority;
    return highest == INT32_MIN ? 0 : highest;
}

/* A user may write any priority into a PodGroup, but the priority of a pod comes from admission,
 * which quotas limit. So a PodGroup can lower the priority of its pods, but not raise it. */
int32_t gang_pod_priority(const struct gang_core *core, const struct gang *gang)
{
    int32_t lowest = gang_own_priority(core, gang);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_counts(pod) && pod->facts->priority < lowest)
            lowest = pod->facts->priority;
    return lowest;
}
