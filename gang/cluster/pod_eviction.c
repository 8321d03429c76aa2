/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pod_eviction.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

/* Why a pod is evicted that has left its gang since it was marked. */
#define WITH_GANG "because muster evicts its gang"
/* How long the marks of a gang may take, and how much longer for each member. Then it is evicted
 * without them. */
#define MARK_LIMIT      (5 * USEC_PER_SEC)
#define MARK_LIMIT_EACH (5 * USEC_PER_MSEC)
/* How long muster waits for an eviction, which a PodDisruptionBudget may delay. */
#define EVICT_LIMIT (300 * USEC_PER_SEC)
/* How long the controller of a suspended workload may take to delete the pods. */
#define SUSPEND_LIMIT (30 * USEC_PER_SEC)
/* How long a pod that was not evicted in this time is not tried again. */
#define IN_VAIN_LIMIT (600 * USEC_PER_SEC)

void ending_update(struct gang_core *core, struct pod *pod)
{
    bool ends = pod->facts->deleting || pod->eviction.requested;
    if (!ends)
        list_remove(&pod->in_ending);
    else if (list_empty(&pod->in_ending))
        list_push(&core->ending, &pod->in_ending);
}

static void begin(struct gang_core *core, struct pod *pod, bool for_room)
{
    pod->eviction.requested = true;
    pod->eviction.for_room = for_room;
    core->n_evicted += for_room;
    ending_update(core, pod);
    pod_recount(pod);
}

static void evict(struct gang_core *core, struct pod *pod, const char *why)
{
    pod->eviction.marks = false;
    if (pod->node && !pod->facts->deleting)
        fx_pod(core, GANG_EVICT, pod, NULL)->pod.text = fx_str(core, why);
    pod_timer_set(core, pod, TIMER_RETRY, core->now + EVICT_LIMIT);
}

/* Writes the mark even if there is one: it may be old, see eviction_mark_ends(). */
static void mark(struct gang_core *core, struct pod *pod, const char *why)
{
    usec_t limit = MARK_LIMIT + pod->gang->root->t.members * MARK_LIMIT_EACH;
    pod->eviction.marks = pod->eviction.keeps = true;
    if (!pod->gang->evicting)
        pod->gang->evicting = xstrdup(why);
    fx_pod(core, GANG_MARK_VICTIM, pod, NULL)->pod.text = fx_str(core, why);
    gang_touch(core, pod->gang);
    pod_timer_set(core, pod, TIMER_RETRY, core->now + limit);
}

void eviction_mark_ends(struct gang_core *core, const struct pod *pod)
{
    if (pod->eviction.requested && pod->eviction.keeps && !pod->facts->deleting)
        fx_pod(core, GANG_MARK_VICTIM, pod, NULL)->pod.text = fx_str(core, WITH_GANG);
}

void evicting_inherit(struct gang *gang, const struct gang *from)
{
    if (from->evicting && !gang->evicting)
        gang->evicting = xstrdup(from->evicting);
}

void eviction_request(struct gang_core *core, struct pod *pod, bool for_room, const char *why)
{
    begin(core, pod, for_room);
    evict(core, pod, why);
}

void eviction_with_gang(struct gang_core *core, struct pod *pod, bool for_room, const char *why)
{
    begin(core, pod, for_room);
    mark(core, pod, why);
}

void evict_marked(struct gang_core *core, struct gang *gang)
{
    if (!gang->evicting)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->eviction.marks && !pod->facts->marked && !pod->facts->deleting)
            return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->eviction.marks)
            evict(core, pod, gang->evicting);
    free(STEAL(gang->evicting));
}

void eviction_by_suspension(struct gang_core *core, struct pod *pod, bool for_room)
{
    pod->eviction.suspends = true;
    begin(core, pod, for_room);
    pod_timer_set(core, pod, TIMER_RETRY, core->now + SUSPEND_LIMIT);
}

void eviction_not_suspended(struct gang_core *core, struct pod *pod)
{
    static const char why[] = "because its workload was not suspended";
    if (!pod->eviction.suspends)
        return;
    pod->eviction.suspends = false;
    if (pod->gang && pod->node && !pod->facts->deleting)
        mark(core, pod, why);
    else
        evict(core, pod, why);
}

void eviction_leaves(struct gang_core *core, struct pod *pod)
{
    core->n_evicted -= pod->eviction.for_room;
    pod->eviction.for_room = pod->eviction.suspends = false;
    pod->eviction.marks = pod->eviction.keeps = false;
}

void eviction_stays(struct gang_core *core, struct pod *pod, const struct pod_eviction *was)
{
    core->n_evicted += was->for_room;
    pod->eviction = *was;
}

void eviction_timed_out(struct gang_core *core, struct pod *pod)
{
    if (pod->eviction.suspends) {
        eviction_not_suspended(core, pod);
        return;
    }
    if (pod->eviction.marks) {
        evict(core, pod, pod->gang && pod->gang->evicting ? pod->gang->evicting : WITH_GANG);
        if (pod->gang)
            gang_touch(core, pod->gang);
        return;
    }
    eviction_leaves(core, pod);
    pod->eviction.requested = false;
    pod->eviction.in_vain = core->now;
    ending_update(core, pod);
    pod_recount(pod);
    if (pod->gang)
        gang_touch(core, pod->gang);
}

void eviction_ended(struct gang_core *core, struct pod *pod)
{
    if (!pod->eviction.requested)
        return;
    pod->eviction.requested = false;
    pod_timer_stop(core, pod, TIMER_RETRY);
    ending_update(core, pod);
    pod_recount(pod);
}

bool eviction_was_in_vain(const struct gang_core *core, const struct pod *pod)
{
    return pod->eviction.in_vain && core->now < pod->eviction.in_vain + IN_VAIN_LIMIT;
}

bool pod_is_leaving(const struct gang_core *core, const struct pod *pod)
{
    const struct gang_pod_facts *f = pod->facts;
    if (!pod->node || !f->deleting)
        return pod->node && pod->eviction.requested;
    usec_t left = f->gone_by - api_time(core);
    return !f->gone_by || (left <= GRACE_LIMIT && left > -END_LIMIT);
}
