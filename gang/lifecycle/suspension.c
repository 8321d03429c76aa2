/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/suspension.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/lifecycle/steering.h"
#include "gang/podgroup/podgroups.h"

static void ask(struct gang_core *core, const struct group *group, enum gang_effect_kind kind,
                const char *text)
{
    struct gang_effect *e = fx_add(core, kind);
    e->workload.ref = fx_ref(core, &group->ref);
    e->workload.uid = fx_str(core, group->facts ? group->facts->uid : "");
    e->workload.text = text ? fx_str(core, text) : NULL;
}

void suspend_request(struct gang_core *core, const struct gang *gang, const char *why)
{
    ask(core, gang->head, GANG_SUSPEND, why);
}

void suspend_refused(struct gang_core *core, const struct gang_ref *ref)
{
    struct gang *gang = gang_find(core, ref);
    if (!gang)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        eviction_not_suspended(core, pod);
}

/* Since the workload was suspended, its PodGroup may have joined others. */
void resume_request(struct gang_core *core, const struct pod *pod)
{
    struct group *group = pod->unit->group;
    if (group->resumed == core->steps)
        return;
    group->resumed = core->steps;
    ask(core, group, GANG_RESUME, NULL);
}

/* ---- new pods ---- */

/* After a restart, bound pods of a workload that was just suspended look like new ones. */
static bool is_new_member(const struct pod *pod)
{
    return pod->gang && !pod->facts->suspended && !pod->replaces && !pod->facts->node &&
           pod_counts(pod) && !pod_is_finished(pod);
}

/* The suspended pod that it replaces, if possible one with a slot; NULL: none is left. */
static struct pod *find_suspended(const struct pod *pod)
{
    struct pod *found = NULL;
    list_for_each (other, &pod->gang->members, struct pod, in_gang) {
        if (!other->facts->suspended || other->replaced_by || other->unit != pod->unit)
            continue;
        if (other->slot)
            return other;
        found = other;
    }
    return found;
}

static bool may_take_slot(const struct gang_core *core, const struct pod *pod,
                          const struct slot *slot)
{
    return slot && !pod->slot && pod_plannable(core, pod) &&
           signature_needs_equal(pod->signature, slot->signature) &&
           !signature_refusal(pod->signature, slot->node);
}

/* The new member that can replace the suspended pod: it came first. NULL: there is none. */
static struct pod *find_new(const struct pod *suspended)
{
    list_for_each (other, &suspended->gang->members, struct pod, in_gang)
        if (is_new_member(other) && other->unit == suspended->unit)
            return other;
    return NULL;
}

static void replace(struct gang_core *core, struct pod *old, struct pod *pod)
{
    struct slot *slot = old->slot;
    pod->replaces = old;
    old->replaced_by = pod;
    if (may_take_slot(core, pod, slot)) {
        slot_empty(slot);
        slot_signature_update(core, slot, pod->signature);
        slot_fill(core, slot, pod);
        steer(core, pod);
    }
    lose_slot(core, old);
    pod_recount(old);
}

void suspended_replace(struct gang_core *core, struct pod *pod)
{
    if (!core->n_suspended || !pod->gang)
        return;
    bool suspended = pod->facts->suspended;
    struct pod *other = NULL;
    if (suspended && !pod->replaced_by)
        other = find_new(pod);
    else if (is_new_member(pod))
        other = find_suspended(pod);
    if (other)
        replace(core, suspended ? pod : other, suspended ? other : pod);
}

void suspended_replace_undo(struct gang_core *core, struct pod *pod)
{
    struct pod *old = pod->replaces, *by = pod->replaced_by;
    pod->replaces = pod->replaced_by = NULL;
    if (by)
        by->replaces = NULL;
    if (!old)
        return;
    old->replaced_by = NULL;
    pod_recount(old);
    if (old->gang)
        gang_touch(core, old->gang);
}
