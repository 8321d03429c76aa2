/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_places.c - compares filter replies and nominations with the slots of members.
 */
#include <stdio.h>

#include "test/prop/oracle.h"

/* ---- slots ---- */

struct look {
    int pod;
    struct place place;
    const char *group;
};

static void see_member(void *arg, const struct gang_member_view *v)
{
    struct look *look = arg;
    if (atoi(v->facts->name + 1) == look->pod)
        look->place.node =
            node_number(v->slot ? v->slot : v->node); /* v->node: bound, or Binding sent */
}

static void see_state(void *arg, const struct gang_view *v)
{
    struct look *look = arg;
    if (strcmp(v->status.ref->name, look->group) == 0)
        look->place.state = v->status.state;
}

struct place oracle_place(const struct model *m, int p)
{
    struct gang_ref ref = facts_ref(pod_group(&m->pods[p]));
    struct look look = {p, {-1, GANG_ASSEMBLING}, ref.name};
    gang_core_each_member(m->core, &ref, see_member, &look);
    gang_core_each_gang(m->core, see_state, &look);
    free(ref.api_group);
    free(ref.ns);
    free(ref.name);
    return look.place;
}

static bool passes_singly(enum gang_state state)
{
    return state == GANG_SCHEDULED || state == GANG_DONE;
}

void oracle_passed(struct model *m, int p)
{
    if (pod_group(&m->pods[p]) < 0 || m->pods[p].dirty == CHANGED)
        return;
    struct place place = oracle_place(m, p);
    if (place.node < 0 && oracle_room_is_kept(m))
        return; /* then the plan gave way to a gang for which muster keeps room */
    if (!passes_singly(place.state) && place.node != m->pods[p].picked)
        model_fail(m, "passed", "p%d passes to n%d, but its slot is on n%d and its gang is %s", p,
                   m->pods[p].picked, place.node, gang_state_name(place.state));
}

/* ---- nominations ---- */

/* A member that muster can plan, with no change that the watch has not shown, and no Binding. */
static bool is_known_member(const struct pod_truth *t)
{
    return t->exists && t->shown && t->dirty != CHANGED && t->node < 0 && !t->deleting &&
           t->charged == NOT_CHARGED && pod_group(t) >= 0 && t->shown_group == pod_group(t) &&
           !op_has(&t->spec, A_FOREIGN) && !op_has(&t->spec, A_GATED);
}

/* Whether the watch shows the pod in this step, as it was before the write. */
static bool is_shown_now(const struct model *m, int p)
{
    for (size_t i = 0; i < m->n_queue; i++)
        if (m->queue[i].ev.kind == GANG_EV_POD_SET && m->queue[i].pod == p)
            return true;
    return false;
}

/* Whether the watch has not shown the last write for 10 seconds, so that muster may repeat it. */
static bool is_repeated(const struct model *m, const struct pod_truth *t)
{
    return t->dirty != CLEAN && m->now >= t->named_at + SECONDS(10);
}

void oracle_nominated(struct model *m, int p, int n)
{
    struct pod_truth *t = &m->pods[p];
    bool always = m->steering == GANG_STEER_ALWAYS;
    bool before = is_shown_now(m, p);
    if (n >= 0 && t->named == n && !before && !t->overtaken && !is_repeated(m, t))
        model_fail(m, "nominated", "p%d is nominated to %s again for no reason", p, node_name(n));
    if (n >= 0 && op_has(&t->spec, A_CLOSED) && is_known_member(t) && !t->lift_asked)
        model_fail(m, "nominated", "p%d is nominated, but still has its gate", p);
    if (n >= 0 && is_known_member(t) && !t->steered && !t->lift_asked && !t->unschedulable &&
        !always)
        model_fail(m, "nominated",
                   "p%d is nominated, but it was not rejected and steering is not always", p);
    t->named_now = true;
    t->overtaken = before;
}

/* A nomination from before the restart must not keep room on another node than the slot's. */
static void check_astray(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (!t->inherited || t->picked >= 0 || t->call || t->dirty != CLEAN || !is_known_member(t) ||
        t->lift_asked || op_has(&t->spec, A_CLOSED) || m->namings)
        return; /* m->namings: muster's write may have been lost */
    struct place place = oracle_place(m, p);
    if (place.node >= 0 && place.node != t->nominated)
        model_fail(m, "nominated", "p%d stays nominated to n%d, but its slot is on n%d", p,
                   t->nominated, place.node);
}

void oracle_nominations(struct model *m)
{
    for (int p = 0; p < PODS; p++)
        check_astray(m, p);
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        bool now = t->named_now;
        t->named_now = false;
        if (!now || t->named < 0 || t->picked >= 0 || !is_known_member(t))
            continue; /* picked: the pod passed filter in the same step */
        struct place place = oracle_place(m, p);
        bool none = place.node < 0; /* it may pass singly, or the next step may plan it */
        if (place.node != t->named &&
            !(none && (passes_singly(place.state) || gang_core_plans_deferred(m->core))))
            model_fail(m, "nominated", "p%d is nominated to n%d, but its slot is on n%d", p,
                       t->named, place.node);
    }
}

/* The members with a slot that muster has not steered yet, one bit for each. */
static uint64_t unsteered(const struct model *m)
{
    uint64_t pods = 0;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (is_known_member(t) && !pod_gated(t) && !t->steered && t->nominated < 0 && !t->asked &&
            oracle_place(m, p).node >= 0)
            pods |= UINT64_C(1) << p;
    }
    return pods;
}

void oracle_steered(struct model *m, bool before)
{
    bool always = m->steering == GANG_STEER_ALWAYS;
    uint64_t pods = always && gang_core_synced(m->core) ? unsteered(m) : 0;
    for (int p = 0; p < PODS && !before; p++)
        if (m->unsteered >> p & pods >> p & 1)
            model_fail(m, "nominated", "p%d has a slot, but is not steered to its node", p);
    m->unsteered = pods;
}
