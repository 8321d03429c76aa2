/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_suspension.c - simulates the workloads that own PodGroups, and muster's requests to suspend
 * and resume them.
 *
 * Each PodGroup has a workload with its number. It owns the members that have a controller. When it
 * is suspended, its controller deletes them, and creates them again when it is resumed. Users
 * suspend and resume workloads too. Only the label tells whether muster did it.
 *
 * While a workload with the label is suspended, the core is shown stand-ins, as by
 * k8s/grouper/suspended_workloads.h: pods that do not exist. They stay for a minute after the
 * workload was resumed, unless muster restarts or the PodGroup is deleted. A suspended workload
 * without a PodGroup is resumed.
 */
#include <stdio.h>

#include "test/prop/model.h"
#include "test/prop/oracle.h"

/* How long stand-ins stay after their workload was resumed. */
#define STAY SECONDS(60)

static bool is_its_pod(const struct model *m, int g, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->exists && !t->stands_in && pod_group(t) == g && !op_has(&t->spec, A_BARE) &&
           !pod_finished(t);
}

static bool is_stand_in(const struct model *m, int g, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->exists && t->stands_in && pod_group(t) == g;
}

static bool has_stand_ins(const struct model *m, int g)
{
    for (int p = 0; p < PODS; p++)
        if (is_stand_in(m, g, p))
            return true;
    return false;
}

bool stand_in_lingers(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->stands_in && m->workloads[pod_group(t)].until;
}

/* ---- pods ---- */

/* A number that the core does not know as a pod, or -1. */
static int unused_number(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists && !t->shown && !t->ghost && t->charged == NOT_CHARGED)
            return p;
    }
    return -1;
}

/* Creates nothing if all numbers are used. `op` says whether the watch shows the pod. */
static void make_pod(struct model *m, const struct op *spec, bool stands_in, const struct op *op)
{
    /* The template of a workload does not have what happens to single pods. */
    static const enum attr of_real_pods[] = {A_GATED, A_CLOSED, A_BARRED, A_HOOKED, A_KEPT};
    int p = unused_number(m);
    struct op template = *spec;
    if (p < 0)
        return;
    template.subject = p;
    template.joined = false;
    for (size_t i = 0; stands_in && i < ARRAY_SIZE(of_real_pods); i++)
        op_unset(&template, of_real_pods[i]);
    pod_made(m, p, &template);
    m->pods[p].stands_in = stands_in;
    if (!op_has(op, A_UNSEEN))
        objects_show(m, 'p', p);
}

static void note_pods(struct model *m, int g)
{
    struct workload_truth *w = &m->workloads[g];
    w->n_pods = 0;
    for (int p = 0; p < PODS && w->n_pods < WORKLOAD_PODS; p++)
        if (is_its_pod(m, g, p))
            w->pods[w->n_pods++] = m->pods[p].spec;
}

static void delete_pods(struct model *m, int g, const struct op *op)
{
    for (int p = 0; p < PODS; p++) {
        if (!is_its_pod(m, g, p) || m->pods[p].deleting)
            continue;
        struct op gone = op_make(m->pods[p].node >= 0 ? OP_TERMINATE : OP_NOPOD, 'p', p);
        if (op_has(op, A_UNSEEN))
            op_set(&gone, A_UNSEEN, 1);
        budgets_count(m, p);
        do_object(m, &gone);
    }
}

static void drop_stand_ins(struct model *m, int g)
{
    for (int p = 0; p < PODS; p++)
        if (is_stand_in(m, g, p)) {
            m->pods[p].exists = false;
            objects_show(m, 'p', p);
        }
    m->workloads[g].until = 0;
}

static void make_stand_ins(struct model *m, int g, const struct op *op)
{
    const struct workload_truth *w = &m->workloads[g];
    drop_stand_ins(m, g);
    for (int i = 0; i < w->n_pods; i++)
        make_pod(m, &w->pods[i], true, op);
}

void stand_ins_end(struct model *m)
{
    for (int g = 0; g < GROUPS; g++)
        if (m->workloads[g].until && m->now >= m->workloads[g].until)
            drop_stand_ins(m, g);
}

usec_t stand_ins_next(const struct model *m)
{
    usec_t next = USEC_NEVER;
    for (int g = 0; g < GROUPS; g++)
        if (m->workloads[g].until && m->workloads[g].until < next)
            next = m->workloads[g].until;
    return next;
}

/* ---- workloads ---- */

static bool suspended_by_muster(const struct workload_truth *w)
{
    return w->suspended && w->by_muster;
}

static void resume(struct model *m, int g, const struct op *op)
{
    struct workload_truth *w = &m->workloads[g];
    bool its_pods_are_there = w->idle;
    w->suspended = w->by_muster = w->idle = false;
    w->until = has_stand_ins(m, g) ? m->now + STAY : 0;
    for (int i = 0; i < w->n_pods && !its_pods_are_there; i++)
        make_pod(m, &w->pods[i], false, op);
    w->n_pods = 0;
}

void workload_sees_group(struct model *m, int g)
{
    struct workload_truth *w = &m->workloads[g];
    const struct op now = op_make(OP_SHOW, 'g', g);
    bool exists = m->groups[g].exists;
    if (!exists)
        drop_stand_ins(m, g);
    if (exists && suspended_by_muster(w) && !has_stand_ins(m, g))
        make_stand_ins(m, g, &now);
    if (!exists && suspended_by_muster(w)) {
        w->wish = WISH_RESUME;
        w->wish_serial = 0;
    }
}

void do_suspend(struct model *m, const struct op *op)
{
    struct workload_truth *w = &m->workloads[op->subject];
    if (!w->suspended)
        note_pods(m, op->subject);
    if (w->suspended || w->n_pods == 0) {
        m->did_something = false;
        return;
    }
    w->suspended = true;
    delete_pods(m, op->subject, op);
}

void do_resume(struct model *m, const struct op *op)
{
    if (m->workloads[op->subject].suspended)
        resume(m, op->subject, op);
    else
        m->did_something = false;
}

/* ---- muster's requests ---- */

/* Whether the core counts the pod as a member of the gang that runs. */
static bool runs_in_core(const struct model *m, int g, int p)
{
    const struct pod_truth *t = &m->pods[p];
    bool leaves = t->shown_end == t->serial;
    return t->exists && (t->shown ? t->shown_group : pod_group(t)) == g && !leaves &&
           t->charged == CHARGED_ASSIGNED && t->charged_serial == t->serial;
}

static int group_of(const struct gang_effect *e, int *ret_serial)
{
    int g;
    if (sscanf(e->workload.ref->name, "g%d", &g) != 1 || g < 0 || g >= GROUPS)
        return -1;
    if (sscanf(e->workload.uid, "uid-g%*d-%d", ret_serial) != 1)
        *ret_serial = -1;
    return g;
}

void suspension_asked(struct model *m, const struct gang_effect *e)
{
    int serial, g = group_of(e, &serial);
    bool pods[PODS];
    if (g < 0)
        model_fail(m, "suspend", "suspension for the unknown PodGroup %s", e->workload.ref->name);
    for (int p = 0; p < PODS; p++)
        pods[p] = runs_in_core(m, g, p);
    oracle_suspended(m, g, pods);
    evictions_by_suspension(m, pods);
    m->workloads[g].wish = WISH_SUSPEND;
    m->workloads[g].wish_serial = serial;
    m->workloads[g].failed = m->states[g] != GANG_SCHEDULED;
    for (int p = 0; p < PODS; p++)
        if (pods[p]) {
            m->pods[p].paused = m->pods[p].preempted = m->pods[p].serial;
            m->pods[p].paused_at = m->now;
            m->pods[p].runs_on = false;
        }
    group_excuse(m, g); /* its pods may end at different times */
}

void resumption_asked(struct model *m, const struct gang_effect *e)
{
    int serial, g = group_of(e, &serial);
    if (g < 0)
        model_fail(m, "resume", "resumption for the unknown PodGroup %s", e->workload.ref->name);
    oracle_resumed(m, g);
    if (!suspended_by_muster(&m->workloads[g]))
        return; /* the core does not know yet that it was resumed */
    m->workloads[g].wish = WISH_RESUME;
    m->workloads[g].wish_serial = serial;
}

static bool same_group(const struct model *m, int g)
{
    return m->groups[g].exists && m->groups[g].serial == m->workloads[g].wish_serial;
}

/* What muster checks before it suspends a workload. */
static bool may_be_suspended(struct model *m, int g)
{
    struct workload_truth *w = &m->workloads[g];
    if (!same_group(m, g) || !op_has(&m->groups[g].spec, A_SUSPENDS) || w->suspended)
        return false;
    note_pods(m, g);
    bool plannable = w->n_pods > 0;
    for (int i = 0; i < w->n_pods; i++)
        plannable &= !op_has(&w->pods[i], A_BEYOND);
    return plannable;
}

static void runs_on(struct model *m, int g)
{
    model_tell(m, (struct gang_event){.kind = GANG_EV_SUSPEND_REFUSED, .gone = facts_ref(g)}, g);
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        t->runs_on |= t->exists && t->shown && t->shown_group == g && t->paused == t->serial;
    }
}

static void carry_out(struct model *m, int g, const struct op *op)
{
    struct workload_truth *w = &m->workloads[g];
    enum wish wish = w->wish;
    bool refused = op_has(op, A_REFUSED);
    w->wish = NO_WISH;
    if (wish == WISH_RESUME) {
        if (!refused && suspended_by_muster(w) && (!w->wish_serial || same_group(m, g)))
            resume(m, g, op);
    } else if (!refused && may_be_suspended(m, g)) {
        w->suspended = w->by_muster = true;
        w->idle = op_has(op, A_IDLE);
        make_stand_ins(m, g, op);
        if (!w->idle)
            delete_pods(m, g, op);
    } else if (op->kind != OP_KILL && (refused || !suspended_by_muster(w))) {
        runs_on(m, g);
    }
}

static bool is_pending(const struct workload_truth *w)
{
    return w->wish || w->idle;
}

static int next_pending(const struct model *m, int skip)
{
    int first = -1;
    for (int g = 0; g < GROUPS; g++) {
        if (!is_pending(&m->workloads[g]))
            continue;
        if (first < 0)
            first = g;
        if (skip-- <= 0)
            return g;
    }
    return first;
}

bool do_patch(struct model *m, const struct op *op)
{
    int g = op->class ? op->subject : next_pending(m, op_get(op, A_SKIP, 0));
    if (g < 0 || !is_pending(&m->workloads[g]))
        return false;
    if (!m->calm) {
        m->did.class = 'g';
        m->did.subject = g;
        op_unset(&m->did, A_SKIP);
    }
    if (m->workloads[g].wish) {
        carry_out(m, g, op);
    } else {
        m->workloads[g].idle = false;
        delete_pods(m, g, op);
    }
    return true;
}

void workloads_orphaned(struct model *m, int32_t landed)
{
    struct op kill = op_make(OP_KILL, 0, 0);
    op_set(&kill, A_UNSEEN, 1);
    for (int g = 0; g < GROUPS; g++) {
        struct workload_truth *w = &m->workloads[g];
        if (w->wish) {
            if (landed & 1)
                carry_out(m, g, &kill);
            landed >>= 1;
        }
        w->wish = NO_WISH;
        w->failed = false; /* the next core does not know */
        w->resumed_step = 0;
        if (w->until)
            drop_stand_ins(m, g);
    }
    for (int p = 0; p < PODS; p++) {
        m->pods[p].paused = 0;
        m->pods[p].runs_on = false;
    }
}
