/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_preemptions.h"

#define LIMIT (5 * USEC_PER_SEC)

struct kube_preemption {
    char *uid; /* of the preemptor */
    usec_t since;
    char **victims; /* UIDs */
    size_t n;
};

static bool is_open(const struct gang_core *core, const struct kube_preemption *p)
{
    if (core->now - p->since <= LIMIT)
        return true;
    const struct pod *pod = pod_by_uid(core, p->uid);
    return pod && pod->nominated_room;
}

static void forget(struct gang_core *core, struct kube_preemption *p)
{
    struct map *by_victim = &core->kube_preemptions.by_victim;
    for (size_t i = 0; i < p->n; i++) {
        if (map_get(by_victim, p->victims[i]) == p) /* else a later one has the same victim */
            map_remove(by_victim, p->victims[i]);
        free(p->victims[i]);
    }
    map_remove(&core->kube_preemptions.by_preemptor, p->uid);
    free(p->victims);
    free(p->uid);
    free(p);
}

void kube_preemption_add(struct gang_core *core, const struct pod *pod,
                         const struct gang_victims *victims)
{
    kube_preemption_end(core, pod);
    map_for_each (e, &core->kube_preemptions.by_preemptor)
        if (!is_open(core, e->value))
            forget(core, e->value);
    struct kube_preemption *p = xcalloc(1, sizeof *p);
    p->uid = xstrdup(pod->facts->uid);
    p->since = core->now;
    map_set(&core->kube_preemptions.by_preemptor, p->uid, p);
    p->victims = xcalloc((victims ? victims->n : 0) + 1, sizeof *p->victims);
    for (size_t i = 0; victims && i < victims->n; i++) {
        const struct pod *victim = pod_by_uid(core, victims->uids[i]);
        if (!victim || !pod_runs(victim))
            continue;
        p->victims[p->n++] = xstrdup(victim->facts->uid);
        map_set(&core->kube_preemptions.by_victim, victim->facts->uid, p);
    }
}

void kube_preemption_end(struct gang_core *core, const struct pod *pod)
{
    struct kube_preemption *p = map_get(&core->kube_preemptions.by_preemptor, pod->facts->uid);
    if (p)
        forget(core, p);
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
        map_count(by_victim) ? map_get(by_victim, pod->facts->uid) : NULL;
    return p && pod_runs(pod) && is_open(core, p);
}

void kube_preemptions_done(struct gang_core *core)
{
    map_for_each (e, &core->kube_preemptions.by_preemptor)
        forget(core, e->value);
    map_done(&core->kube_preemptions.by_preemptor);
    map_done(&core->kube_preemptions.by_victim);
}
