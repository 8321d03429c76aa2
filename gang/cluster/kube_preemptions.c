/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_preemptions.h"

/* kube-scheduler may also give up, for example because another extender allows no node. */
#define LIMIT (5 * USEC_PER_SEC)

static bool is_over(const struct gang_core *core, const struct map_entry *entry)
{
    const usec_t *since = entry->value;
    return core->now - *since > LIMIT;
}

static void put(const struct gang_core *core, struct map *map, const char *uid)
{
    free(map_remove(map, uid)); /* so that the oldest entries come first */
    usec_t *since = xcalloc(1, sizeof *since);
    *since = core->now;
    map_set(map, uid, since);
}

static void drop_over(const struct gang_core *core, struct map *map)
{
    map_for_each (e, map) {
        if (!is_over(core, e))
            break;
        free(map_remove(map, e->key));
    }
}

void kube_preemption_add(struct gang_core *core, const char *uid,
                         const struct gang_victims *victims)
{
    struct map *known = &core->kube_preemptions.victims;
    drop_over(core, &core->kube_preemptions.preemptors);
    drop_over(core, known);
    core->kube_preemptions.last = core->now;
    put(core, &core->kube_preemptions.preemptors, uid);
    for (size_t i = 0; victims && i < victims->n; i++)
        put(core, known, victims->uids[i]);
}

const struct pod *kube_preemptor(const struct gang_core *core, const struct map_entry *entry)
{
    const struct pod *pod = is_over(core, entry) ? NULL : pod_by_uid(core, entry->key);
    return pod && !pod->nominated_room && !pod->node ? pod : NULL;
}

struct pod *kube_victim(const struct gang_core *core, const struct map_entry *entry)
{
    struct pod *pod = is_over(core, entry) ? NULL : pod_by_uid(core, entry->key);
    return pod && pod_runs(pod) ? pod : NULL;
}

bool kube_preempts_some(const struct gang_core *core)
{
    return map_count(&core->kube_preemptions.victims) > 0 &&
           core->now - core->kube_preemptions.last <= LIMIT;
}

bool kube_preempts(const struct gang_core *core, const struct pod *pod)
{
    if (!kube_preempts_some(core))
        return false;
    const usec_t *since = map_get(&core->kube_preemptions.victims, pod->facts->uid);
    return since && core->now - *since <= LIMIT && pod_runs(pod);
}

void kube_preemptions_done(struct gang_core *core)
{
    struct map *maps[] = {&core->kube_preemptions.preemptors, &core->kube_preemptions.victims};
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
        map_for_each (e, maps[i])
            free(e->value);
        map_done(maps[i]);
    }
}
