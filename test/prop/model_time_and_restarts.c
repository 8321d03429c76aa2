/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_time_and_restarts.c - simulates time, restarts of muster and of kube-scheduler, and calm
 * phases, in which nothing fails.
 */
#include "test/prop/model.h"
#include "test/prop/oracle.h"

/* The longest time of a calm phase. Pods and gangs that are still pending then count as stuck. It
 * is longer than an attempt, in which a member that kube-scheduler never tries keeps its slot. */
#define CALM_LIMIT SECONDS(3000)

/* ---- time ---- */

/* Offers hidden nodes again: wakes the pods from which nodes were hidden. */
static void hidden_return(struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].hidden) {
            m->pods[p].hidden = false;
            m->pods[p].sleep = AWAKE;
        }
}

/* Shows new pods within 45 seconds. The model does not cover watches that lag a minute, because
 * filter results of such pods expire. */
static void watch_catches_up(struct model *m, usec_t until)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && !m->pods[p].shown && until - m->pods[p].created > SECONDS(45))
            objects_show(m, 'p', p);
}

/* Advances the time, with a tick at each time that the core asks for, like the server's loop. */
static void pass_time(struct model *m, usec_t t)
{
    usec_t to = m->now + t, next = gang_core_next(m->core);
    watch_catches_up(m, to);
    if (t > 0)
        objects_notice(m);
    model_step(m);
    oracle_steered(m, /* before= */ true);
    for (int ticks = 0; (next = gang_core_next(m->core)) <= to; ticks++) {
        m->now = next > m->now ? next : m->now;
        evictions_give_up(m);
        model_tell(m, (struct gang_event){.kind = GANG_EV_TICK}, -1);
        model_step(m);
        if (gang_core_next(m->core) == next)
            model_fail(m, "timer", "after a tick, the core asks for a tick at the same time again");
        if (ticks > 100000)
            model_fail(m, "timer", "the core asks for ticks without end");
    }
    m->now = to;
    stand_ins_end(m);
    if (t >= SECONDS(1))
        oracle_steered(m, /* before= */ false);
    model_tell(m, (struct gang_event){.kind = GANG_EV_TICK}, -1);
    if (t > 0)
        hidden_return(m);
}

void let_time_pass(struct model *m, usec_t t)
{
    pass_time(m, t);
    evictions_end(m);
}

/* ---- restarts ---- */

/* Ends the requests in flight without a result. A Binding succeeds if its bit in `landed` is set.
 * Returns the bits that are left. */
static int32_t requests_orphaned(struct model *m, int32_t landed)
{
    int bit = 0;
    for (size_t i = 0; i < m->n_requests; i++) {
        const struct request *r = &m->requests[i];
        struct pod_truth *t = &m->pods[r->pod];
        if (r->read || !t->exists || t->serial != r->serial || t->node >= 0)
            continue;
        if (landed >> (bit++ & 31) & 1)
            pod_bound_by_us(m, r->pod, r->node);
        else
            t->lost = r->node, t->lost_sent = r->sent;
        if (pod_group(t) >= 0)
            group_excuse(m, pod_group(t));
    }
    m->n_requests = 0;
    return bit < 31 ? landed >> bit : 0;
}

static void list_everything(struct model *m)
{
    memset(m->left, 0, sizeof m->left);
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        t->charged = NOT_CHARGED;
        t->shown = t->learnt = t->ghost = t->replaced = t->lift_asked = false;
        t->named = t->ours = t->rewritten = -1;
        t->asked_at = 0;
        t->asked_turn = 0;
        t->inherited = t->nominated >= 0;
        t->inherited_mark = t->marked == t->serial;
        t->chosen = t->refused = 0;
        t->preempted = t->deleting ? t->preempted : 0;
        model_let(m, p, t->exists && t->node < 0 ? UINT32_MAX : 0);
        objects_show(m, 'p', p);
        if (t->exists && (t->node >= 0 || t->lost >= 0) && pod_group(t) >= 0)
            group_excuse(m, pod_group(t)); /* the restart interrupted a commit: it is Recovering */
    }
    struct object_truth *lists[] = {m->nodes,  m->groups,     m->classes, m->claims,
                                    m->queues, m->namespaces, m->budgets};
    static const int counts[] = {NODES, GROUPS, CLASSES, CLAIMS, QUEUES, NAMESPACES, BUDGETS};
    static const char classes[] = "ngkcqsb";
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        for (int i = 0; i < counts[k]; i++) {
            lists[k][i].shown = false;
            objects_show(m, classes[k], i);
        }
}

/* Writes about pods in the last step before the kill are lost if their bit in A_MASK is not set. */
static void do_kill(struct model *m, const struct op *op)
{
    m->dying = true;
    m->landed = (uint32_t)op_get(op, A_MASK, 0);
    model_step(m);
    m->dying = false;
    workloads_orphaned(m, requests_orphaned(m, op_get(op, A_MASK, 0)));
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].call)
            sched_forget(m, p);
    m->n_calls = 0;
    model_start_core(m);
    list_everything(m);
    model_step(m);
    model_tell(m, (struct gang_event){.kind = GANG_EV_SYNCED}, -1);
    model_step(m);
    oracle_half_evicted(m);
}

static void do_restart(struct model *m, const struct op *op)
{
    for (size_t i = 0; i < m->n_calls; i++) {
        m->calls[i].closed = true;
        if (!op_has(op, A_UNSEEN))
            model_tell(m, (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = m->calls[i].id},
                       -1);
    }
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        t->call = 0;
        t->picked = -1;
        t->sleep = AWAKE;
        t->retry_at = 0;
    }
}

static void do_rebuild(struct model *m, const struct op *op)
{
    (void)op;
    objects_show_all(m);
    objects_notice(m);
    model_step(m);
    oracle_rebuild(m);
}

/* ---- calm ---- */

static bool ask_again(struct model *m, enum op_kind kind)
{
    struct op op = op_make(kind, 0, 0);
    m->did_something = false;
    if (kind < OP_RESULT)
        do_sched(m, &op);
    else
        do_request(m, &op);
    bool did = m->did_something;
    if (did)
        model_step(m);
    return did;
}

/* kube-scheduler and the API server do all work that is possible without a change of time. */
static void work_off(struct model *m)
{
    /* A Binding lands before its result, because kube-scheduler may see it before muster does. */
    static const enum op_kind kinds[] = {OP_FILTER, OP_BIND, OP_LAND, OP_FILTER,
                                         OP_RESULT, OP_READ, OP_PATCH};
    for (int round = 0; round < 8 * PODS; round++) {
        bool any = false;
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
            any |= ask_again(m, kinds[i]);
        if (!any)
            return;
    }
}

static void end_terminating(struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && m->pods[p].deleting && !op_has(&m->pods[p].spec, A_KEPT)) {
            struct op op = op_make(OP_NOPOD, 'p', p);
            do_object(m, &op);
        }
}

/* Refused evictions stay refused for this time, but watches do not lag as long. */
static void wait_for_evictions(struct model *m, usec_t t)
{
    for (usec_t end = m->now + t; m->now < end;) {
        end_terminating(m);
        objects_show_all(m);
        pass_time(m, SECONDS(5));
    }
}

static void do_wait(struct model *m, const struct op *op)
{
    usec_t t = op_get(op, A_TIME, 0) * USEC_PER_MSEC;
    if (t < EVICTIONS_END)
        let_time_pass(m, t);
    else
        wait_for_evictions(m, t);
}

static bool any_barred(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && op_has(&m->pods[p].spec, A_BARRED))
            return true;
    return false;
}

/* Within a few seconds, the statuses of all queues show what is. Gangs may change again right after
 * the statuses, so this stops at each time that the core asks for, and only there. */
static void show_queues(struct model *m)
{
    usec_t end = m->now + SECONDS(5);
    cleanup_free char *stale = NULL;
    while ((stale = oracle_stale_status(m)) && m->now < end) {
        usec_t next = gang_core_next(m->core);
        if (next > end)
            break;
        free(STEAL(stale));
        let_time_pass(m, next > m->now ? next - m->now : USEC_PER_MSEC);
        model_step(m);
    }
    if (stale)
        model_fail(m, "status", "%s", stale);
}

static void do_calm(struct model *m, const struct op *op)
{
    (void)op;
    usec_t end = m->now + CALM_LIMIT, flush = m->now + SECONDS(300);
    cleanup_free char *stuck = NULL;
    hidden_return(m);
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && op_has(&m->pods[p].spec, A_GATED)) {
            op_unset(&m->pods[p].spec, A_GATED);
            m->pods[p].sleep = AWAKE;
            m->pods[p].dirty = CHANGED;
        }
    m->totals->calms++;
    m->calm = true;
    memset(m->preemptions, 0, sizeof m->preemptions);
    while (m->now < end) {
        end_terminating(m);
        objects_show_all(m);
        model_step(m);
        work_off(m);
        free(STEAL(stuck));
        stuck = oracle_calm(m);
        if (!stuck)
            break;
        usec_t next = gang_core_next(m->core);
        for (int p = 0; p < PODS; p++)
            if (m->pods[p].exists && m->pods[p].retry_at > m->now && m->pods[p].retry_at < next)
                next = m->pods[p].retry_at;
        next = stand_ins_next(m) < next ? stand_ins_next(m) : next;
        if (next == USEC_NEVER)
            break;
        if (m->now >= flush && any_barred(m)) { /* all other pods must be woken by events */
            sched_flush(m);
            flush = m->now + SECONDS(300);
        }
        let_time_pass(m, next > m->now ? next - m->now : USEC_PER_MSEC);
        model_step(m);
    }
    if (stuck)
        model_fail(m, "stuck", "%s", stuck);
    show_queues(m);
    m->calm = false;
    m->did_something = true;
}

static void do_expect(struct model *m, const struct op *op)
{
    int bound = 0, wanted = op_get(op, A_BOUND, op_has(op, A_ON));
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        bool its = op->class == 'p' ? p == op->subject : pod_group(t) == op->subject;
        bound += its && t->exists && t->node >= 0 && op_get(op, A_ON, t->node) == t->node;
    }
    if ((op_has(op, A_BOUND) || !op_has(op, A_STOPPED)) && bound != wanted)
        model_fail(m, "expect", "%c%d: expected %d bound pods, found %d", op->class, op->subject,
                   wanted, bound);
    const struct workload_truth *w = op->class == 'g' ? &m->workloads[op->subject] : NULL;
    if (w && op_has(op, A_STOPPED) && (w->suspended && w->by_muster) != op->value[A_STOPPED])
        model_fail(m, "expect", "g%d: its workload is%s suspended by muster", op->subject,
                   op->value[A_STOPPED] ? " not" : "");
}

void do_life(struct model *m, const struct op *op)
{
    static void (*const table[])(struct model *, const struct op *) = {
        [OP_WAIT] = do_wait,       [OP_KILL] = do_kill, [OP_RESTART] = do_restart,
        [OP_REBUILD] = do_rebuild, [OP_CALM] = do_calm, [OP_EXPECT] = do_expect,
    };
    table[op->kind](m, op);
}
