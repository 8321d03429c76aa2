/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "test/lib/test_config.h"
#include "test/prop/digest.h"
#include "test/prop/event_text.h"
#include "test/prop/oracle.h"

/* ---- start and end ---- */

struct gang_config model_config(const struct model *m)
{
    static const char *const ours[] = {"default-scheduler"};
    struct gang_config c = test_config();
    c.assemble = op_get(&m->config, A_HOPE, 0) * USEC_PER_MSEC;
    c.max_holds = (size_t)op_get(&m->config, A_HOLDS, 10000);
    c.commit_batch_threshold = (size_t)op_get(&m->config, A_TOGETHER, 0);
    c.starvation = op_get(&m->config, A_STARVE, 300000) * USEC_PER_MSEC;
    c.strict_order = op_has(&m->config, A_STRICT);
    c.plan_work = op_has(&m->config, A_SLOW) ? 1 : c.plan_work;
    c.preemption = op_has(&m->config, A_EVICTS);
    c.evict_on_failed_commit = op_has(&m->config, A_EVICT);
    c.requeue_below_minimum = op_has(&m->config, A_REQUEUE);
    c.steering = (enum gang_steering)op_get(&m->config, A_STEER, GANG_STEER_AUTO);
    c.gates = op_get(&m->config, A_GATES, 0) & GATES_ON;
    c.show_gated = op_get(&m->config, A_GATES, 0) & GATES_SHOW;
    c.express_lane = op_has(&m->config, A_EXPRESS);
    c.queue_grants = m->grants;
    c.n_queue_grants = m->n_grants;
    c.queue_half_life = op_get(&m->config, A_HALFLIFE, 3600000) * USEC_PER_MSEC;
    c.queue_time_factor = op_get(&m->config, A_FACTOR, 0) * INT64_C(10);
    c.scheduler_names = ours;
    c.n_scheduler_names = ARRAY_SIZE(ours);
    return c;
}

/* Adds the core's counters of the state table to the totals. A new core starts at 0. */
static void keep_cells(struct model *m)
{
    struct gang_stats stats;
    gang_core_stats(m->core, &stats);
    for (int s = 0; s < GANG_STATE_MAX; s++)
        for (int h = 0; h < TRIGGER_MAX; h++) {
            if (stats.cells[s][h] && !gang_cell((enum gang_state)s, (enum gang_trigger)h)[0])
                model_fail(
                    m, "table", "trigger \"%s\" in state %s, which the state table rules out",
                    gang_trigger_name((enum gang_trigger)h), gang_state_name((enum gang_state)s));
            m->totals->cells[s][h] += stats.cells[s][h];
        }
}

void model_start_core(struct model *m)
{
    keep_cells(m);
    struct gang_config config = model_config(m);
    bool twin = m->twin != NULL;
    m->gates = op_get(&m->config, A_GATES, 0);
    m->forbids = op_get(&m->config, A_FORBIDS, 0);
    m->max_holds = config.max_holds;
    m->steering = config.steering;
    memset(m->behind, 0, sizeof m->behind);
    memset(m->queues_shown, 0, sizeof m->queues_shown);
    m->core = gang_core_free(m->core);
    m->twin = gang_core_free(m->twin);
    m->core = gang_core_new(&config);
    if (twin)
        m->twin = gang_core_new(&config);
}

struct model *model_new(void (*fail)(struct model *, const char *, const char *),
                        struct totals *totals, bool twin)
{
    struct model *m = xcalloc(1, sizeof *m);
    struct gang_config config = model_config(m);
    m->max_holds = config.max_holds;
    m->fail = fail;
    m->totals = totals;
    m->now = SECONDS(1000);
    m->queue = xcalloc(BATCH_MAX, sizeof *m->queue);
    for (int p = 0; p < PODS; p++)
        m->pods[p] = (struct pod_truth){.node = -1,
                                        .lost = -1,
                                        .nominated = -1,
                                        .named = -1,
                                        .shown_nominated = -1,
                                        .ours = -1,
                                        .rewritten = -1,
                                        .sent_to = -1,
                                        .picked = -1,
                                        .charged_node = -1,
                                        .shown_group = -1};
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < NEEDS * NODES; i++)
            m->doubted[g][i / NODES][i % NODES] = -SECONDS(1000000);
    m->core = gang_core_new(&config);
    if (twin)
        m->twin = gang_core_new(&config);
    model_tell(m, (struct gang_event){.kind = GANG_EV_SYNCED}, -1);
    model_step(m);
    return m;
}

void model_free(struct model *m)
{
    keep_cells(m);
    gang_core_free(m->core);
    gang_core_free(m->twin);
    free(m->queue);
    free(m);
}

void model_end(struct model *m)
{
    model_tell(m, (struct gang_event){.kind = GANG_EV_STOP}, -1);
    model_step(m);
    for (size_t i = 0; i < m->n_calls; i++)
        if (!m->calls[i].closed)
            model_fail(m, "I3", "bind call #%" PRIu64 " of p%d has no reply at the end",
                       m->calls[i].id, m->calls[i].pod);
    m->totals->runs++;
}

void model_fail(struct model *m, const char *tag, const char *fmt, ...)
{
    cleanup_free char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    m->fail(m, tag, text);
    abort(); /* fail() must not return */
}

void model_say(const struct model *m, const char *fmt, ...)
{
    if (!m->loud)
        return;
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

/* ---- events ---- */

static struct gang_ref ref_copy(const struct gang_ref *ref)
{
    return (struct gang_ref){xstrdup_null(ref->api_group), xstrdup_null(ref->ns),
                             xstrdup_null(ref->name)};
}

/* A copy of the event for the twin. The facts are made anew from the objects of the model. */
static struct gang_event same_event(const struct model *m, const struct gang_event *ev, int index)
{
    struct gang_event twin = *ev;
    switch (ev->kind) {
    case GANG_EV_NODE_SET:
        twin.node = facts_node(m, index);
        break;
    case GANG_EV_POD_SET:
    case GANG_EV_FILTER:
    case GANG_EV_PRIORITIZE:
    case GANG_EV_PREEMPT:
        twin.pod = facts_pod(m, index);
        break;
    case GANG_EV_GROUP_SET:
        twin.group = facts_group(m, index);
        break;
    case GANG_EV_CLASS_SET:
        twin.class = facts_class(m, index);
        break;
    case GANG_EV_CLAIM_SET:
        twin.claim = facts_claim(m, index);
        break;
    case GANG_EV_BUDGET_SET:
        twin.budget = facts_budget(m, index);
        break;
    case GANG_EV_QUEUE_SET:
        twin.queue = facts_queue(m, index);
        break;
    case GANG_EV_NAMESPACE_SET:
        twin.namespace = facts_namespace(m);
        break;
    case GANG_EV_NODE_GONE:
    case GANG_EV_POD_GONE:
    case GANG_EV_GROUP_GONE:
    case GANG_EV_CLASS_GONE:
    case GANG_EV_CLAIM_GONE:
    case GANG_EV_BUDGET_GONE:
    case GANG_EV_QUEUE_GONE:
    case GANG_EV_NAMESPACE_GONE:
    case GANG_EV_SUSPEND_REFUSED:
        twin.gone = ref_copy(&ev->gone);
        break;
    case GANG_EV_BIND:
        twin.bind.ns = xstrdup(ev->bind.ns);
        twin.bind.name = xstrdup(ev->bind.name);
        twin.bind.uid = xstrdup(ev->bind.uid);
        twin.bind.node = xstrdup(ev->bind.node);
        break;
    case GANG_EV_BIND_DONE:
    case GANG_EV_POD_READ:
        twin.result.uid = xstrdup(ev->result.uid);
        twin.result.node = xstrdup_null(ev->result.node);
        twin.result.text = xstrdup_null(ev->result.text);
        break;
    default:
        break;
    }
    return twin;
}

static struct queued *enqueue(struct model *m, struct gang_event ev, int index)
{
    if (m->n_queue == BATCH_MAX)
        model_step(m);
    struct queued *q = &m->queue[m->n_queue++];
    q->ev = ev;
    q->pod = index;
    q->n_names = 0;
    q->refused = q->passed = q->tried = -1;
    if (m->twin)
        q->twin = same_event(m, &ev, index);
    m->totals->events++;
    m->totals->kinds[ev.kind]++;
    return q;
}

void model_tell(struct model *m, struct gang_event ev, int index)
{
    enqueue(m, ev, index);
}

void model_ask(struct model *m, struct gang_event ev, int pod, const char *const *names, size_t n,
               int pick)
{
    struct queued *q = enqueue(m, ev, pod);
    q->pick = pick;
    q->n_names = n;
    q->own = n == 1 && m->pods[pod].nominated == node_number(names[0]);
    for (size_t i = 0; i < n; i++)
        q->names[i] = names[i];
    q->ev.names = q->twin.names = q->names;
    q->ev.n_names = q->twin.n_names = n;
}

/* ---- effects ---- */

struct call *call_of(struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->n_calls; i++)
        if (m->calls[i].id == id)
            return &m->calls[i];
    return NULL;
}

static struct queued *question(struct model *m, size_t n, enum gang_event_kind kind, uint64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (m->queue[i].ev.kind == kind && m->queue[i].ev.id == id)
            return &m->queue[i];
    model_fail(m, "I3", "reply to the unknown call #%" PRIu64, id);
    return NULL;
}

static void once(struct model *m, struct queued *q)
{
    if (q->pod == -2)
        model_fail(m, "I3", "two replies to call #%" PRIu64, q->ev.id);
    q->pod = -2;
}

void model_let(struct model *m, int p, uint32_t nodes)
{
    m->pods[p].let = nodes;
    m->pods[p].let_at = m->now;
}

/* The nodes that passed, one bit for each. */
static uint32_t let_through(const struct queued *q, const struct gang_filter_reply *r)
{
    uint32_t nodes = 0;
    for (size_t i = 0; i < (r->pass_all ? q->n_names : r->n_passed); i++) {
        int n = node_number(q->names[r->pass_all ? i : r->passed[i]]);
        if (n >= 0)
            nodes |= UINT32_C(1) << n;
    }
    return nodes;
}

/* Nodes that are refused as full get kube-scheduler's message, and then all nodes get a message. */
static void check_full(struct model *m, int p, const struct gang_filter_reply *r, size_t n_names)
{
    bool good = !r->n_full || (r->n_refused == n_names && r->n_full + 1 >= n_names);
    for (size_t i = r->n_refused - r->n_full; i < r->n_refused; i++)
        good = good && strncmp(r->refused[i].text, "Insufficient ", 13) == 0;
    if (!good)
        model_fail(m, "answer", "p%d: full nodes are not refused with \"Insufficient\"", p);
}

static void see_filter(struct model *m, const struct gang_effect *e, size_t n)
{
    const struct gang_filter_reply *r = &e->filter;
    struct queued *q = question(m, n, GANG_EV_FILTER, r->id);
    int p = q->pod, serial = q->pick >> 8, pick = q->pick & 255;
    once(m, q);
    for (size_t i = 0; i < r->n_passed; i++)
        if (r->passed[i] >= q->n_names)
            model_fail(m, "answer", "filter returns a node that was not offered");
    for (size_t i = 0; i < r->n_refused; i++)
        if (r->refused[i].index >= q->n_names || !r->refused[i].text[0])
            model_fail(m, "answer", "filter refuses a node without a reason, or an unknown node");
    if ((r->error && !r->error[0]) ||
        (!r->error && !r->pass_all && !r->n_passed && !r->n_refused && q->n_names))
        model_fail(m, "answer", "filter returns neither a node nor a reason");
    struct pod_truth *t = &m->pods[p];
    if (!t->exists || t->serial != serial)
        return;
    size_t passed = r->pass_all ? q->n_names : r->n_passed;
    if (!r->error)
        model_let(m, p, let_through(q, r));
    if (r->error || passed == 0)
        t->named = -1; /* muster may write the nomination again */
    if (r->error) {
        t->retry_at = m->now + SECONDS(1);
    } else if (passed == 0) {
        t->sleep = SLEEPS_EXTENDER;
        t->unschedulable = true;
        t->said = r->n_full && r->n_full == r->n_refused ? SAID_FULL : SAID_GANG;
        if (t->dirty == CLEAN)
            t->dirty = RENOMINATED;
        check_full(m, p, r, q->n_names);
        t->plain = r->n_full || q->n_names < NODES; /* the other nodes lacked room */
        if (n == 1) /* otherwise, later events of the step can have changed the state */
            oracle_kept_out(m, p, q->names, q->n_names);
        if (n == 1 && strstr(r->refused[0].text, "which kube-scheduler did not offer"))
            q->refused = p;
    } else {
        size_t i = (size_t)pick % passed;
        t->picked = node_number(q->names[r->pass_all ? i : r->passed[i]]);
        q->passed = p;
        t->picked_at = ++m->next_pick;
    }
}

static void see_scores(struct model *m, const struct gang_effect *e, size_t n)
{
    struct queued *q = question(m, n, GANG_EV_PRIORITIZE, e->prioritize.id);
    once(m, q);
    if (e->prioritize.n && e->prioritize.n != q->n_names)
        model_fail(m, "answer", "prioritize: %zu scores for %zu nodes", e->prioritize.n,
                   q->n_names);
    for (size_t i = 0; i < e->prioritize.n; i++)
        if (e->prioritize.scores[i] > 10)
            model_fail(m, "answer", "prioritize: score %d is above 10", e->prioritize.scores[i]);
}

static void see_preempt(struct model *m, const struct gang_effect *e, size_t n)
{
    struct queued *q = question(m, n, GANG_EV_PREEMPT, e->preempt.id);
    m->kept = 0;
    if (e->preempt.n_kept && q->pod >= 0 && n == 1)
        oracle_preempts(m, q->pod);
    if (e->preempt.n_kept && q->pod >= 0)
        m->pods[q->pod].ours = -1; /* from here on, kube-scheduler may write the same nomination */
    once(m, q);
    for (size_t i = 0; i < e->preempt.n_kept; i++) {
        if (e->preempt.kept[i] >= q->n_names)
            model_fail(m, "answer", "preempt returns a node that was not a candidate");
        m->kept |= UINT32_C(1) << node_number(q->names[e->preempt.kept[i]]);
    }
}

static void see_answer(struct model *m, const struct gang_effect *e, size_t n)
{
    (void)n;
    struct call *call = call_of(m, e->bind_reply.id);
    if (!call)
        model_fail(m, "I3", "reply to bind call #%" PRIu64 ", which is not open", e->bind_reply.id);
    struct call was = *call;
    *call = m->calls[--m->n_calls];
    struct pod_truth *t = &m->pods[was.pod];
    if (t->call != was.id)
        return; /* kube-scheduler no longer waits for this call */
    if (e->bind_reply.error[0]) {
        m->forgotten |= t->call_node >= 0 ? UINT32_C(1) << t->call_node : 0;
        sched_forget(m, was.pod);
        return;
    }
    t->call = 0;
    if (t->node < 0)
        model_fail(m, "answer",
                   "the bind call of p%d is answered with success, but p%d is not bound", was.pod,
                   was.pod);
    if (t->node != t->call_node)
        model_fail(m, "answer", "p%d: success for the bind call to %s, but it is bound to %s",
                   was.pod, node_name(t->call_node), node_name(t->node));
}

static void add_request(struct model *m, int p, int serial, int node, bool read)
{
    if (m->n_requests == REQUESTS_MAX)
        model_fail(m, "requests", "more than %d requests are in flight", REQUESTS_MAX);
    m->requests[m->n_requests++] = (struct request){p, serial, node, m->now, read, false};
}

/* Whether the pod has an open bind call. */
static bool was_asked(const struct model *m, int p)
{
    for (size_t i = 0; i < m->n_calls; i++)
        if (m->calls[i].pod == p)
            return true;
    return false;
}

/* Whether the bind call is in the current step. The step may commit the gang because of another
 * member's call before it reads this one. */
static bool comes_now(const struct model *m, int p, uint64_t id)
{
    for (size_t i = 0; i < m->n_queue; i++)
        if (m->queue[i].ev.kind == GANG_EV_BIND && m->queue[i].pod == p && m->queue[i].ev.id == id)
            return true;
    return false;
}

void model_uncharge(struct model *m, struct pod_truth *t)
{
    if (t->charged != NOT_CHARGED)
        m->left[t->charged_node] = m->now;
    t->charged = NOT_CHARGED;
}

static void see_binding(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int serial, p = pod_number(e->pod.uid, &serial), n = node_number(e->pod.node);
    if (p < 0 || n < 0)
        model_fail(m, "binding", "Binding of unknown pod %s, or to unknown node %s", e->pod.uid,
                   e->pod.node);
    for (size_t i = 0; i < m->n_requests; i++)
        if (m->requests[i].pod == p && m->requests[i].serial == serial && !m->requests[i].read &&
            m->requests[i].node != n) /* a repeated Binding is harmless */
            model_fail(m, "binding", "p%d: Binding to %s while a Binding to %s is in flight", p,
                       node_name(n), node_name(m->requests[i].node));
    add_request(m, p, serial, n, false);
    struct pod_truth *t = &m->pods[p];
    bool first = t->charged == NOT_CHARGED || t->charged_serial != serial;
    if (first) {
        t->charged = CHARGED_BINDING;
        t->charged_serial = serial;
        t->charged_node = n;
    } else if (t->charged_node != n) {
        model_fail(m, "binding", "p%d: Binding to %s while it is charged on %s", p, node_name(n),
                   node_name(t->charged_node));
    }
    t->sent_at = m->now;
    if (!t->exists || t->serial != serial)
        return; /* deleted, but the watch has not shown it yet */
    if (t->deleting && t->dirty != CHANGED && !first)
        model_fail(m, "binding", "p%d is Terminating, but its Binding is repeated", p);
    if (pod_gated(t))
        model_fail(m, "gate", "Binding of p%d, which has a scheduling gate", p);
    bool crossed = op_has(&m->config, A_EXPRESS) && comes_now(m, p, t->call);
    if (t->call && t->call_node != n && !crossed)
        model_fail(m, "binding", "p%d: bind call to %s, but Binding to %s", p,
                   node_name(t->call_node), node_name(n));
    if (first && !was_asked(m, p))
        oracle_express(m, p, n);
    else if (first && t->call_node == n)
        oracle_let(m, p, n, call_of(m, t->call));
    t->sent_to = n;
    t->of_commit = e->pod.of_commit;
    oracle_binding(m, p, n);
}

static void see_read(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int serial, p = pod_number(e->pod.uid, &serial);
    if (p < 0)
        model_fail(m, "binding", "read of unknown pod %s", e->pod.uid);
    add_request(m, p, serial, -1, true);
}

static void see_nomination(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int serial, p = pod_number(e->pod.uid, &serial);
    if (p < 0 || !m->pods[p].exists || m->pods[p].serial != serial || m->pods[p].node >= 0)
        return;
    int n = e->pod.node ? node_number(e->pod.node) : -1;
    uint64_t lost = (uint64_t)op_get(&m->config, A_LOST, 0);
    oracle_no_stand_in(m, e->pod.uid, "nomination of");
    oracle_nominated(m, p, n);
    if (m->pods[p].shown_nominated != n || m->pods[p].nominated != n || !oracle_single(m, p))
        m->pods[p].ours = n; /* otherwise, the write only wakes the pod */
    m->pods[p].rewritten = m->pods[p].shown_nominated == n ? n : -1;
    m->pods[p].steered |= n >= 0;
    if (n >= 0 && lost && !m->calm && ++m->namings % (lost + 1) == 0) {
        m->pods[p].named = -1; /* the write is lost, so muster may repeat it */
        return;
    }
    bool changes = m->pods[p].nominated != n; /* otherwise, the write causes no event */
    sched_nominated(m, p, n);
    m->pods[p].named = n;
    m->pods[p].named_at = m->now;
    m->pods[p].steered_turn = ++m->turn;
    if (changes)
        wake_pod(m, p);
}

static void see_lifting(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int serial, p = pod_number(e->pod.uid, &serial);
    if (p < 0 || !m->pods[p].exists || m->pods[p].serial != serial)
        return;
    struct pod_truth *t = &m->pods[p];
    oracle_no_stand_in(m, e->pod.uid, "removal of the gate of");
    oracle_lifted(m, p);
    t->lift_asked = true;
    if (e->pod.node && t->node < 0) {
        t->named = t->ours = node_number(e->pod.node);
        t->named_now = true;
    }
    if (m->gates & GATES_LOST && m->liftings++ % 3 == 0) {
        t->named = -1; /* the write is lost, so muster may repeat it */
        return;
    }
    if (t->node < 0 && e->pod.node) {
        sched_nominated(m, p, node_number(e->pod.node));
        m->pods[p].steered = true;
    }
    if (!op_has(&t->spec, A_CLOSED))
        return;
    op_unset(&t->spec, A_CLOSED);
    t->sleep = AWAKE;
    t->dirty = CHANGED;
    t->lifted = !(m->gates & GATES_LATE);
    t->joins = true;
}

/* The pod of an effect that evicts or marks it; -1: it is gone. */
static int victim_of(struct model *m, const struct gang_effect *e)
{
    int serial, p = pod_number(e->pod.uid, &serial);
    if (p < 0)
        model_fail(m, "evict", "eviction of unknown pod %s", e->pod.uid);
    if (!op_has(&m->config, A_EVICT) && !op_has(&m->config, A_EVICTS))
        model_fail(m, "evict",
                   "eviction of p%d, but onFailedCommit is not evict and preemption is off", p);
    if (!m->pods[p].exists || m->pods[p].serial != serial)
        return -1;
    if (op_has(&m->pods[p].spec, A_BARE))
        model_fail(m, "evict", "eviction of p%d, which has no controller", p);
    oracle_no_stand_in(m, e->pod.uid, "eviction of");
    return p;
}

/* muster has just decided to evict the pod. Returns whether it has chosen it as a victim. */
static bool decided(struct model *m, int p)
{
    struct pod_truth *t = &m->pods[p];
    bool paused = t->paused == t->serial;
    if (paused)
        oracle_not_suspended(m, p);
    else if (!op_has(&m->config, A_EVICT))
        oracle_preempted(m, p);
    t->paused = 0;
    if (pod_group(t) >= 0 && (op_has(&m->config, A_EVICT) || paused || oracle_broken(m, p)))
        group_excuse(m, pod_group(t));
    return !paused;
}

static void see_mark(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int p = victim_of(m, e);
    if (p >= 0)
        victim_marked(m, p, decided(m, p));
}

static void see_eviction(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    int p = victim_of(m, e);
    if (p < 0)
        return;
    struct pod_truth *t = &m->pods[p];
    bool was_marked = t->chosen == t->serial;
    if (was_marked && m->now - t->chosen_at < MARK_LIMIT && !marks_shown(m, p))
        model_fail(m, "evict", "eviction of p%d before its whole gang is marked", p);
    t->chosen = 0;
    if (!was_marked && t->marked != t->serial && !op_has(&m->config, A_EVICT))
        oracle_evicted_alone(m, p);
    eviction_asked(m, p, !was_marked && decided(m, p));
}

static void see_queue_status(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    oracle_queue_status(m, &e->queue);
}

static void see_workload(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    if (e->kind == GANG_SUSPEND)
        suspension_asked(m, e);
    else
        resumption_asked(m, e);
}

static void see_event(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    if (strcmp(e->event.kind, "Pod") == 0)
        oracle_no_stand_in(m, e->event.uid, "event of");
    if (strcmp(e->event.reason, "Preempting") == 0 && m->calm)
        oracle_made_room(m, e->event.name);
}

/* muster must not rely on this write to wake the pod. */
static void see_condition(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)count;
    oracle_no_stand_in(m, e->pod.uid, "condition of");
}

static void see_nothing(struct model *m, const struct gang_effect *e, size_t count)
{
    (void)m;
    (void)e;
    (void)count;
}

static void (*const see[])(struct model *, const struct gang_effect *, size_t) = {
    [GANG_REPLY_FILTER] = see_filter,   [GANG_REPLY_PRIORITIZE] = see_scores,
    [GANG_REPLY_PREEMPT] = see_preempt, [GANG_REPLY_BIND] = see_answer,
    [GANG_BIND] = see_binding,          [GANG_READ_POD] = see_read,
    [GANG_NOMINATE] = see_nomination,   [GANG_MARK_VICTIM] = see_mark,
    [GANG_EVICT] = see_eviction,        [GANG_UNGATE] = see_lifting,
    [GANG_STATUS] = see_nothing,        [GANG_QUEUE_STATUS] = see_queue_status,
    [GANG_EVENT] = see_event,           [GANG_SUSPEND] = see_workload,
    [GANG_RESUME] = see_workload,       [GANG_PATCH_CONDITION] = see_condition,
};

/* ---- a step ---- */

static void say_all(const struct model *m, const struct gang_effect *e, size_t n)
{
    cleanup_buf struct buf b = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        buf_puts(&b, "        ");
        effect_text(&b, &e[i]);
        buf_putc(&b, '\n');
    }
    if (b.len)
        model_say(m, "%.*s", (int)b.len - 1, b.data);
}

static void say_queue(const struct model *m, size_t n)
{
    cleanup_buf struct buf b = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        buf_printf(&b, "%s    ", i ? "\n" : "");
        event_text(&b, &m->queue[i].ev);
    }
    model_say(m, "%s   at %.3f s", buf_str(&b), (double)(m->now - SECONDS(1000)) / 1e6);
}

/* I7: the same events cause the same effects. */
static void step_twin(struct model *m, size_t n, const struct gang_effect *e, size_t n_effects)
{
    struct gang_event events[BATCH_MAX];
    for (size_t i = 0; i < n; i++)
        events[i] = m->queue[i].twin;
    size_t n_twin;
    const struct gang_effect *twin = gang_step(m->twin, m->now, events, n, &n_twin);
    cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
    for (size_t i = 0; i < n_effects || i < n_twin; i++) {
        buf_clear(&a);
        buf_clear(&b);
        if (i < n_effects)
            effect_text(&a, &e[i]);
        if (i < n_twin)
            effect_text(&b, &twin[i]);
        if (strcmp(buf_str(&a), buf_str(&b)) != 0)
            model_fail(m, "I7", "different effects of the same events: \"%s\" and \"%s\"",
                       buf_str(&a), buf_str(&b));
    }
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

/* Checks the first filter reply of the step. A call for the nominated node alone shows nothing
 * about other nodes. */
static void check_filtered(struct model *m)
{
    const struct queued *q = &m->queue[0];
    if (m->n_queue == 1 && q->passed >= 0)
        oracle_passed(m, q->passed);
    if (q->refused < 0 || q->own)
        return;
    uint32_t offered = 0;
    for (size_t i = 0; i < q->n_names && i < NODES; i++)
        if (node_number(q->names[i]) >= 0)
            offered |= UINT32_C(1) << node_number(q->names[i]);
    oracle_refused(m, q->refused, offered, q->n_names >= STRANGERS, q->tried);
}

static void all_answered(struct model *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum gang_event_kind kind = m->queue[i].ev.kind;
        if ((kind == GANG_EV_FILTER || kind == GANG_EV_PRIORITIZE || kind == GANG_EV_PREEMPT) &&
            m->queue[i].pod != -2)
            model_fail(m, "I3", "%s call #%" PRIu64 " has no reply in its step",
                       gang_event_name(kind), m->queue[i].ev.id);
    }
}

/* A bind call that the step does not refuse counts as a filter result: kube-scheduler may repeat
 * it. */
static void calls_taken(struct model *m)
{
    for (size_t i = 0; i < m->n_calls; i++) {
        const struct call *call = &m->calls[i];
        const struct pod_truth *t = &m->pods[call->pod];
        if (call->since == m->now && t->call == call->id)
            model_let(m, call->pod, UINT32_C(1) << t->call_node);
    }
}

void model_step(struct model *m)
{
    struct gang_event events[BATCH_MAX];
    size_t n = m->n_queue, n_effects;
    if (!n)
        return;
    if (m->loud)
        say_queue(m, n);
    for (size_t i = 0; i < n; i++)
        events[i] = m->queue[i].ev;
    if (m->twin)
        model_dry_run(m);
    m->closed = gang_core_parity_difference(m->core) != NULL;
    const struct gang_effect *e = gang_step(m->core, m->now, events, n, &n_effects);
    m->totals->steps++;
    m->totals->effects += n_effects;
    if (m->loud)
        say_all(m, e, n_effects);
    if (m->digest)
        digest_step(m->digest, (uint64_t)m->line, e, n_effects);
    if (m->twin)
        step_twin(m, n, e, n_effects);
    m->forgotten = 0;
    for (size_t i = 0; i < n_effects; i++)
        see[e[i].kind](m, &e[i], n);
    all_answered(m, n);
    check_filtered(m);
    calls_taken(m);
    m->n_queue = 0;
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    oracle_step(m);
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].lifted && m->pods[p].exists) {
            m->pods[p].lifted = false;
            objects_show(m, 'p', p); /* in the next step */
        }
}

/* ---- operations ---- */

void model_do(struct model *m, const struct op *op)
{
    m->line++;
    m->did = *op;
    m->did_something = true;
    m->totals->ops++;
    if (m->loud) {
        cleanup_buf struct buf b = BUF_INIT;
        op_print(&b, op);
        model_say(m, "%d: %s", m->line, buf_str(&b));
    }
    if (op->kind < OP_FILTER)
        do_object(m, op);
    else if (op->kind < OP_RESULT)
        do_sched(m, op);
    else if (op->kind < OP_WAIT)
        do_request(m, op);
    else
        do_life(m, op);
    if (m->did_something && m->trace)
        ops_add(m->trace, &m->did);
    else if (m->trace && m->trace->n && !op->joined) /* it did nothing but end the step */
        m->trace->items[m->trace->n - 1].joined = false;
    if (!op->joined)
        model_step(m);
}
