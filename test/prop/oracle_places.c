/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_places.c - the nodes of members in plans, from the core's replies: who passes filter to
 * which node, and who is nominated to which.
 */
#include <stdio.h>

#include "test/prop/oracle.h"

/* ---- looking ---- */

struct look {
    int pod;
    struct place place;
    const char *group;
};

static void see_member(void *arg, const struct gang_member_view *v)
{
    struct look *look = arg;
    if (atoi(v->facts->name + 1) == look->pod)
        look->place.node = node_number(v->slot ? v->slot : v->node); /* bound, or about to be */
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
    if (!passes_singly(place.state) && place.node != m->pods[p].picked)
        model_fail(m, "passed", "p%d passes to n%d, its place is on n%d and its gang is %s", p,
                   m->pods[p].picked, place.node, gang_state_name(place.state));
}

/* ---- nominations ---- */

/* A member that muster plans for, and knows as it is; no Binding of it is under way. */
static bool is_known_member(const struct pod_truth *t)
{
    return t->exists && t->shown && t->dirty != CHANGED && t->node < 0 && !t->deleting &&
           t->charged == NOT_CHARGED && pod_group(t) >= 0 && t->shown_group == pod_group(t) &&
           !op_has(&t->spec, A_FOREIGN) && !op_has(&t->spec, A_GATED);
}

/* In this step the watch shows what it was before the write. */
static bool is_shown_now(const struct model *m, int p)
{
    for (size_t i = 0; i < m->n_queue; i++)
        if (m->queue[i].ev.kind == GANG_EV_POD_SET && m->queue[i].pod == p)
            return true;
    return false;
}

/* Written long ago, and the watch has not shown it: it may be lost. */
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
        model_fail(m, "nominated", "p%d is nominated to %s once more, for nothing", p,
                   node_name(n));
    if (n >= 0 && op_has(&t->spec, A_CLOSED) && is_known_member(t) && !t->lift_asked)
        model_fail(m, "nominated", "p%d is nominated behind its gate", p);
    if (n >= 0 && is_known_member(t) && !t->steered && !t->lift_asked && !t->unschedulable &&
        !always)
        model_fail(m, "nominated", "p%d is nominated unasked, and steering is not always", p);
    t->named_now = true;
    t->overtaken = before;
}

/* The nomination by an earlier life keeps room from others where the pod will not go. */
static void check_astray(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (!t->inherited || t->picked >= 0 || t->call || t->dirty != CLEAN || !is_known_member(t) ||
        t->lift_asked || op_has(&t->spec, A_CLOSED) || m->namings)
        return; /* or what was written there may be lost */
    struct place place = oracle_place(m, p);
    if (place.node >= 0 && place.node != t->nominated)
        model_fail(m, "nominated", "p%d stays nominated to n%d, its place is on n%d", p,
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
            continue; /* it went on, to where it is offered, in the same step */
        struct place place = oracle_place(m, p);
        bool none = place.node < 0; /* it passes singly, or the next step plans for it */
        if (place.node != t->named &&
            !(none && (passes_singly(place.state) || gang_core_plans_deferred(m->core))))
            model_fail(m, "nominated", "p%d is nominated to n%d, its place is on n%d", p, t->named,
                       place.node);
    }
}

/* Members that are to be steered, and are not. */
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
            model_fail(m, "nominated", "p%d has a place, and is not steered there", p);
    m->unsteered = pods;
}
