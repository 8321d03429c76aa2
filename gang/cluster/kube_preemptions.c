/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_preemptions.h"

#define LIMIT (5 * USEC_PER_SEC)
/* Callers may invent preemptors. kube-scheduler makes fewer calls in 5 seconds. */
#define PREEMPTORS_MAX 4096

struct kube_preemption {
    usec_t since;
    char *preemptor; /* of a victim: its UID; NULL: this is the preemptor itself */
};

static bool is_open(const struct gang_core *core, const struct kube_preemption *p)
{
    if (core->now - p->since <= LIMIT || core->behind[GANG_WATCH_PODS])
        return true;
    const struct pod *pod = p->preemptor ? pod_by_uid(core, p->preemptor) : NULL;
    return pod && pod->nominated_room;
}

bool kube_will_evict_some(const struct gang_core *core)
{
    return map_count(&core->kube_preemptions.by_victim) &&
           (core->now - core->kube_preemptions.last <= LIMIT || core->n_nominated_room ||
            core->behind[GANG_WATCH_PODS]);
}

static void forget(struct map *map, const char *uid)
{
    struct kube_preemption *p = map_remove(map, uid);
    if (p)
        free(p->preemptor);
    free(p);
}

static void put(const struct gang_core *core, struct map *map, const char *uid,
                const char *preemptor)
{
    forget(map, uid); /* so that the oldest come first */
    struct kube_preemption *p = xcalloc(1, sizeof *p);
    p->since = core->now;
    p->preemptor = preemptor ? xstrdup(preemptor) : NULL;
    map_set(map, uid, p);
}

static void forget_closed(const struct gang_core *core, struct map *map, size_t most)
{
    map_for_each (e, map)
        if (map_count(map) > most || !is_open(core, e->value))
            forget(map, e->key);
}

void kube_preemption_add(struct gang_core *core, const char *uid,
                         const struct gang_victims *victims)
{
    struct map *by_victim = &core->kube_preemptions.by_victim;
    core->kube_preemptions.last = core->now;
    forget_closed(core, &core->kube_preemptions.by_preemptor, PREEMPTORS_MAX - 1);
    forget_closed(core, by_victim, SIZE_MAX);
    put(core, &core->kube_preemptions.by_preemptor, uid, NULL);
    for (size_t i = 0; victims && i < victims->n; i++) {
        const struct pod *victim = pod_by_uid(core, victims->uids[i]);
        if (victim && pod_runs(victim))
            put(core, by_victim, victim->facts->uid, uid);
    }
}

const struct pod *kube_preemptor(const struct gang_core *core, const struct map_entry *entry)
{
    const struct pod *pod = is_open(core, entry->value) ? pod_by_uid(core, entry->key) : NULL;
    return pod && !pod->nominated_room && !pod->node && pod_counts(pod) ? pod : NULL;
}

struct pod *kube_victim(const struct gang_core *core, const struct map_entry *entry)
{
    struct pod *pod = is_open(core, entry->value) ? pod_by_uid(core, entry->key) : NULL;
    return pod && pod_runs(pod) ? pod : NULL;
}

bool kube_will_evict(const struct gang_core *core, const struct pod *pod)
{
    const struct map *by_victim = &core->kube_preemptions.by_victim;
    const struct kube_preemption *p =
        kube_will_evict_some(core) ? map_get(by_victim, pod->facts->uid) : NULL;
    return p && pod_runs(pod) && is_open(core, p);
}

void kube_preemptions_done(struct gang_core *core)
{
    struct map *maps[] = {&core->kube_preemptions.by_preemptor, &core->kube_preemptions.by_victim};
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
        map_for_each (e, maps[i])
            forget(maps[i], e->key);
        map_done(maps[i]);
    }
}
