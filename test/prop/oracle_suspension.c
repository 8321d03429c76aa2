/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_suspension.c - checks about workloads that muster suspends instead of evicting their pods.
 */
#include "test/prop/family.h"
#include "test/prop/oracle.h"

/* How long muster waits until the pods of the workload are Terminating. */
#define SUSPEND_LIMIT SECONDS(30)

/* ---- when muster suspends a workload ---- */

static int groups_in(const struct model *m, uint32_t family)
{
    int n = 0;
    for (int g = 0; g < GROUPS; g++)
        n += family >> g & 1 && m->groups[g].exists;
    return n;
}

void oracle_suspended(struct model *m, int g, const bool pods[PODS])
{
    const struct object_truth *group = &m->groups[g];
    bool any = false, known = true;
    if (!op_has(&m->config, A_EVICTS))
        model_fail(m, "suspend", "the workload of g%d is suspended, but preemption is off", g);
    if (oracle_groups_known(m) && !(group->exists && op_has(&group->spec, A_SUSPENDS)))
        model_fail(m, "suspend", "the workload of g%d is suspended, but does not ask for it", g);
    if (oracle_groups_known(m) && groups_in(m, family_of(m, g)) > 1)
        model_fail(m, "suspend",
                   "the workload of g%d is suspended, but its gang has other PodGroups", g);
    for (int p = 0; p < PODS; p++) {
        known &= m->pods[p].shown_group != g || m->pods[p].dirty != CHANGED;
        if (!pods[p])
            continue;
        any = true;
        if (op_has(&m->pods[p].spec, A_BARE))
            model_fail(m, "suspend", "the workload of g%d is suspended, but p%d has no controller",
                       g, p);
        oracle_preempted(m, p);
    }
    if (!any && known)
        model_fail(m, "suspend", "the workload of g%d is suspended, but none of its pods runs", g);
}

void oracle_not_suspended(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (!t->runs_on && m->now < t->paused_at + SUSPEND_LIMIT)
        model_fail(m, "suspend", "p%d is evicted before the suspension of its workload failed", p);
}

/* If the workload runs on, or its pods are not Terminating in time, muster evicts them, once all
 * are marked. */
static void check_running_on(struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        bool runs = t->exists && t->node >= 0 && !t->deleting && !pod_finished(t);
        bool over = t->runs_on || m->now > t->paused_at + SUSPEND_LIMIT;
        if (over && t->paused == t->serial && runs && t->dirty != CHANGED && marks_shown(m, p))
            model_fail(m, "suspend", "the workload of p%d runs on, but p%d is not evicted", p, p);
        t->runs_on = false;
    }
}

/* ---- when muster resumes a workload ---- */

/* Whether the members that are bound or have a slot meet all minimums. */
static bool has_places(const struct model *m, uint32_t family)
{
    bool has[PODS];
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t);
        has[p] = g >= 0 && family >> g & 1 && member_counts(t) &&
                 (oracle_committed(m, p) || oracle_place(m, p).node >= 0);
    }
    return family_whole(m, family, has);
}

void oracle_resumed(struct model *m, int g)
{
    struct workload_truth *w = &m->workloads[g];
    uint32_t family = family_of(m, g);
    bool any = false, place = false, foreign = false;
    enum gang_state state = GANG_ASSEMBLING;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists || !t->stands_in || pod_group(t) != g)
            continue;
        struct place seen = oracle_place(m, p);
        state = seen.state;
        any |= t->shown;
        place |= seen.node >= 0;
        foreign |= op_has(&t->spec, A_FOREIGN);
    }
    if (!any)
        model_fail(m, "resume", "the workload of g%d is resumed, but muster has not suspended it",
                   g);
    if (w->resumed_step == m->totals->steps)
        model_fail(m, "resume", "the workload of g%d is resumed twice in one step", g);
    w->resumed_step = m->totals->steps;
    if (state == GANG_SCHEDULED || state == GANG_DONE || foreign)
        return;
    if (!place)
        model_fail(m, "resume", "the workload of g%d is resumed without a plan: its gang is %s", g,
                   gang_state_name(state));
    if (oracle_groups_known(m) && state == GANG_PLANNED && oracle_all_shown(m, family) &&
        !oracle_members_unsure(m, family) && family_valid(m, family) && !has_places(m, family))
        model_fail(m, "resume", "the workload of g%d is resumed, but only a part of it has room",
                   g);
}

/* ---- stand-ins ---- */

bool oracle_members_unsure(const struct model *m, uint32_t family)
{
    bool stand_ins = false, others = false;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t);
        if (g < 0 || !(family >> g & 1))
            continue;
        stand_ins |= t->stands_in && (t->exists || t->shown);
        others |= !t->stands_in && member_counts(t);
    }
    return stand_ins && others;
}

/* Whether the two pods may not be exchanged in a plan. */
static bool needs_differ(const struct pod_truth *a, const struct pod_truth *b)
{
    static const enum attr ignored[] = {A_GATED, A_CLOSED, A_BARRED, A_HOOKED,
                                        A_KEPT,  A_BARE,   A_UNSEEN};
    struct op x = a->spec, y = b->spec;
    for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
        op_unset(&x, ignored[i]);
        op_unset(&y, ignored[i]);
    }
    return memcmp(x.has, y.has, sizeof x.has) != 0 || memcmp(x.value, y.value, sizeof x.value) != 0;
}

bool oracle_stand_ins_differ(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        for (int q = 0; q < PODS; q++) {
            const struct pod_truth *a = &m->pods[p], *b = &m->pods[q];
            if (a->exists && a->stands_in && b->exists && b->node < 0 &&
                pod_group(a) == pod_group(b) &&
                oracle_members_unsure(m, UINT32_C(1) << pod_group(a)) && needs_differ(a, b))
                return true;
        }
    return false;
}

void oracle_no_stand_in(struct model *m, const char *uid, const char *what)
{
    int serial, p = pod_number(uid, &serial);
    if (p >= 0 && m->pods[p].stands_in && m->pods[p].serial == serial)
        model_fail(m, "stand-in", "%s p%d, which does not exist", what, p);
}

char *oracle_still_suspended(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->exists && stand_in_lingers(m, p))
            return xasprintf("p%d still stands for a pod of a workload that was resumed", p);
        if (t->exists && t->stands_in && op_has(&t->spec, A_FOREIGN) &&
            !oracle_members_unsure(m, family_of(m, pod_group(t))))
            return xasprintf("the workload of g%d is suspended, but muster does not plan p%d",
                             pod_group(t), p);
    }
    return NULL;
}

/* ---- the order ---- */

struct turn {
    bool is_alone; /* it is the only PodGroup of its gang */
    enum gang_state state;
    int position; /* 0: it does not wait */
    int32_t priority, own_priority;
    usec_t waits_since;
    const struct gang_ref *queue;
};

struct turns {
    struct model *m;
    struct turn of[GROUPS];
};

static void see_turn(void *arg, const struct gang_view *v)
{
    struct turns *turns = arg;
    int g = v->status.ref->name[1] - '0';
    turns->m->states[g] = v->status.state;
    turns->m->workloads[g].failed |= v->status.state == GANG_BACKED_OFF || v->status.timed_out;
    turns->of[g] =
        (struct turn){.is_alone = v->known && strcmp(v->root->name, v->status.ref->name) == 0,
                      .state = v->status.state,
                      .position = v->position,
                      .priority = v->priority,
                      .own_priority = v->own_priority,
                      .waits_since = v->waiting_since,
                      .queue = v->queue};
}

/* Whether priorities between namespaces and inside a namespace are the same. */
static bool priorities_agree(const struct turns *turns)
{
    for (int g = 0; g < GROUPS; g++)
        if (turns->of[g].position && turns->of[g].priority != turns->of[g].own_priority)
            return false;
    return true;
}

static bool may_be_starved(const struct model *m, const struct turn *turn)
{
    usec_t limit = model_config(m).starvation;
    return limit && turn->waits_since && m->now - turn->waits_since >= limit;
}

static bool is_older(const struct model *m, int g, int h)
{
    usec_t a = m->groups[g].created, b = m->groups[h].created;
    return a != b ? a < b : g < h;
}

/* A suspended gang keeps its place: it is ahead of younger gangs of its priority, unless it failed.
 */
static void check_order(struct model *m, const struct turns *turns)
{
    for (int g = 0; g < GROUPS; g++) {
        const struct turn *its = &turns->of[g];
        const struct workload_truth *w = &m->workloads[g];
        if (!w->suspended || !w->by_muster || w->failed || !its->position || !its->is_alone ||
            its->state != GANG_WAITING)
            continue;
        for (int h = 0; h < GROUPS; h++) {
            const struct turn *other = &turns->of[h];
            if (h != g && other->position && other->is_alone && other->state != GANG_RECOVERING &&
                other->queue == its->queue && other->own_priority == its->own_priority &&
                is_older(m, g, h) && !may_be_starved(m, other) && other->position < its->position)
                model_fail(m, "order", "g%d was suspended, and is now behind g%d, which is younger",
                           g, h);
        }
    }
}

void oracle_suspensions(struct model *m)
{
    struct turns turns = {.m = m};
    check_running_on(m);
    gang_core_each_gang(m->core, see_turn, &turns);
    if (oracle_groups_known(m) && priorities_agree(&turns))
        check_order(m, &turns);
}
