/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_scheduler.c - simulates kube-scheduler, and the API server's replies to Bindings and reads.
 *
 * kube-scheduler tries only pods that are awake. A pod falls asleep in two cases:
 * - No node passes kube-scheduler's own filters. Only new room or a change of a node wakes the pod.
 * - muster refuses the pod. Any event of the cluster wakes it, also an update of the pod itself.
 *
 * kube-scheduler tries a nominated pod on the nominated node alone first, and clears the nomination
 * after a failed attempt. It assumes a pod on the chosen node until the bind call ends. After an
 * error it tries the pod again a second later. It keeps room for nominated pods from all pods that
 * do not have a higher priority.
 */
#include "test/prop/model.h"
#include "test/prop/oracle.h"

/* ---- sleep ---- */

void wake_pods(struct model *m, bool room)
{
    for (int p = 0; p < PODS; p++)
        if (room || m->pods[p].sleep == SLEEPS_EXTENDER)
            m->pods[p].sleep = AWAKE;
}

void wake_pod(struct model *m, int p)
{
    if (m->pods[p].sleep == SLEEPS_EXTENDER)
        m->pods[p].sleep = AWAKE;
}

void sched_nominated(struct model *m, int p, int node)
{
    struct pod_truth *t = &m->pods[p];
    bool left = t->nominated >= 0 && t->nominated != node;
    t->nominated = node;
    t->inherited = false;
    t->named = -1; /* unless muster wrote it */
    if (t->dirty == CLEAN)
        t->dirty = RENOMINATED;
    if (left)
        wake_pods(m, true); /* the room that was kept for the pod is free */
}

/* Writes the PodScheduled condition, if it changes. */
static void sched_says(struct model *m, int p, enum said said)
{
    struct pod_truth *t = &m->pods[p];
    t->unschedulable = true;
    t->plain = said != SAID_GANG;
    if (t->said != said && t->dirty == CLEAN)
        t->dirty = RENOMINATED;
    t->said = said;
}

void sched_flush(struct model *m)
{
    for (int p = 0; p < PODS; p++)
        m->pods[p].sleep = AWAKE;
}

void sched_forget(struct model *m, int p)
{
    struct pod_truth *t = &m->pods[p];
    t->call = 0;
    t->picked = -1;
    sched_nominated(m, p, -1);
    t->sleep = AWAKE;
    t->retry_at = m->now + SECONDS(1);
    wake_pods(m, true); /* for kube-scheduler, the assumed pod leaves its node */
}

bool sched_ready(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->exists && t->node < 0 && !t->deleting && !t->call && t->picked < 0 &&
           t->sleep == AWAKE && !pod_gated(t) && !op_has(&t->spec, A_FOREIGN) &&
           op_get(&t->spec, A_BARRED, 0) != 2 && m->now >= t->retry_at;
}

/* ---- kube-scheduler's own filters ---- */

static int assumed_on(const struct pod_truth *t)
{
    return t->node >= 0 ? t->node : t->call ? t->call_node : t->picked;
}

/* The number of pods of the app that are bound to the node or assumed there. */
static int count_app(const struct model *m, int n, int app)
{
    int count = 0;
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        count += t->exists && !pod_finished(t) && !t->deleting && assumed_on(t) == n &&
                 op_get(&t->spec, A_APP, -1) == app;
    }
    return count;
}

static bool spread_allows(const struct model *m, int p, int n)
{
    const struct op *spec = &m->pods[p].spec;
    if (!op_has(spec, A_SPREAD) || !op_has(spec, A_APP))
        return true;
    int least = INT32_MAX, app = spec->value[A_APP];
    for (int i = 0; i < NODES; i++)
        if (m->nodes[i].exists && count_app(m, i, app) < least)
            least = count_app(m, i, app);
    return count_app(m, n, app) + 1 - least <= spec->value[A_SPREAD];
}

/* Whether wide anti-affinity keeps the two pods out of the same half of the nodes. */
static bool pods_shun(const struct pod_truth *a, const struct pod_truth *b)
{
    return (op_has(&a->spec, A_SHUN) && op_get(&b->spec, A_APP, -1) == a->spec.value[A_SHUN]) ||
           (op_has(&b->spec, A_SHUN) && op_get(&a->spec, A_APP, -1) == b->spec.value[A_SHUN]);
}

static bool half_allows(const struct model *m, int p, int n)
{
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        int on = assumed_on(t);
        if (i != p && t->exists && !pod_finished(t) && on >= 0 && on / 4 == n / 4 &&
            pods_shun(t, &m->pods[p]))
            return false;
    }
    return true;
}

/* Whether the pod fits beside the pods that kube-scheduler counts on the node: bound and assumed
 * pods, and nominated pods that do not have a lower priority. */
static bool sched_fits(const struct model *m, int p, int n)
{
    int64_t left[RESOURCES], need[RESOURCES];
    int prio = op_get(&m->pods[p].spec, A_PRIO, 0);
    if (!node_allows(m, p, n) || !spread_allows(m, p, n) || !half_allows(m, p, n))
        return false;
    node_has(m, n, left);
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        if (!t->exists || i == p || pod_finished(t))
            continue;
        bool nominated = assumed_on(t) < 0 && t->nominated == n && !pod_gated(t) &&
                         op_get(&t->spec, A_PRIO, 0) >= prio;
        if (assumed_on(t) != n && !nominated)
            continue;
        if (pods_apart(t, &m->pods[p]))
            return false;
        pod_needs(t, need);
        for (int r = 0; r < RESOURCES; r++)
            left[r] -= need[r];
    }
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < RESOURCES; r++)
        if (need[r] > left[r] && need[r] > 0)
            return false;
    return true;
}

/* ---- filter ---- */

/* Writes the chosen pod into the operation. */
static void chose(struct model *m, int p)
{
    if (m->calm)
        return;
    m->did.class = 'p';
    m->did.subject = p;
    op_unset(&m->did, A_SKIP);
}

static const char *const strangers[STRANGERS] = {
#define TEN(a) a "0", a "1", a "2", a "3", a "4", a "5", a "6", a "7", a "8", a "9"
    TEN("s"),  TEN("s1"), TEN("s2"), TEN("s3"), TEN("s4"),  TEN("s5"),
    TEN("s6"), TEN("s7"), TEN("s8"), TEN("s9"), TEN("s10"),
};

static void ask_filter(struct model *m, int p, const char *const *names, size_t n, int pick)
{
    struct gang_event ev = {.kind = GANG_EV_FILTER, .id = ++m->next_id, .pod = facts_pod(m, p)};
    m->pods[p].asked = true;
    m->pods[p].asked_at = m->now;
    m->pods[p].asked_turn = ++m->turn;
    m->pods[p].shut_out = false;
    m->pods[p].inherited = false;
    model_ask(m, ev, p, names, n, m->pods[p].serial << 8 | pick);
}

/* Tries the nominated node alone. Returns true if the attempt is over. If kube-scheduler's own
 * filters refuse the node, stores it in *refused, otherwise -1. */
static bool try_nominated(struct model *m, int p, int *refused)
{
    struct pod_truth *t = &m->pods[p];
    int n = t->nominated, serial = t->serial;
    *refused = n < 0 || sched_fits(m, p, n) ? -1 : n;
    if (n < 0 || *refused >= 0)
        return false;
    const char *name = node_name(n);
    ask_filter(m, p, &name, 1, 0);
    model_step(m);
    return !t->exists || t->serial != serial || t->picked >= 0 || m->now < t->retry_at ||
           t->node >= 0;
}

/* No node passes kube-scheduler's own filters, so it does not call muster. */
static void sched_refuses(struct model *m, int p, enum said said)
{
    if (m->pods[p].nominated >= 0)
        sched_nominated(m, p, -1);
    m->pods[p].sleep = SLEEPS_PLUGINS;
    m->pods[p].shut_out = true;
    sched_says(m, p, said);
}

/* ---- preemption ---- */

static bool is_victim(const struct model *m, int i, int p, int n)
{
    const struct pod_truth *t = &m->pods[i];
    return t->exists && t->node == n && !pod_finished(t) && !t->deleting &&
           op_get(&t->spec, A_PRIO, 0) < op_get(&m->pods[p].spec, A_PRIO, 0);
}

/* Whether the pod would fit on the node without these pods. */
static bool fits_without(const struct model *m, int p, int n, const bool out[PODS])
{
    int64_t left[RESOURCES], need[RESOURCES];
    bool fits = node_allows(m, p, n);
    node_has(m, n, left);
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        bool there = t->exists && !pod_finished(t) && i != p &&
                     (assumed_on(t) == n || (assumed_on(t) < 0 && t->nominated == n));
        if (!there || out[i])
            continue;
        fits &= !pods_apart(t, &m->pods[p]);
        pod_needs(t, need);
        for (int r = 0; r < RESOURCES; r++)
            left[r] -= need[r];
    }
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < RESOURCES; r++)
        fits &= need[r] <= left[r] || need[r] == 0;
    return fits;
}

/* Chooses the victims on the node like kube-scheduler: all pods of a lower priority, without those
 * that may stay, the highest priority first. False: there are none, or the pod does not fit. */
static bool choose_victims(const struct model *m, int p, int n, bool out[PODS])
{
    bool any = false, checked[PODS] = {false};
    for (int i = 0; i < PODS; i++)
        any |= out[i] = is_victim(m, i, p, n);
    if (!any || !fits_without(m, p, n, out))
        return false;
    for (;;) {
        int best = -1;
        for (int i = 0; i < PODS; i++)
            if (out[i] && !checked[i] &&
                (best < 0 ||
                 op_get(&m->pods[i].spec, A_PRIO, 0) > op_get(&m->pods[best].spec, A_PRIO, 0)))
                best = i;
        if (best < 0)
            return true;
        checked[best] = true;
        out[best] = false;
        if (!fits_without(m, p, n, out))
            out[best] = true;
    }
}

static void do_evict(struct model *m, int p, int n, const bool victims[PODS], bool late)
{
    oracle_kube_evicts(m, p, victims);
    sched_nominated(m, p, n);
    if (!late)
        objects_show(m, 'p', p);
    for (int i = 0; i < PODS; i++)
        if (victims[i]) {
            struct op gone = op_make(OP_NOPOD, 'p', i);
            bool known = m->pods[i].dirty != CHANGED;
            if (late)
                op_set(&gone, A_UNSEEN, 1);
            do_object(m, &gone);
            m->pods[i].taken = known;
        }
}

struct candidate_nodes {
    const char *names[NODES];
    bool victims[NODES][PODS];
    char *uids[NODES][PODS];
    struct gang_victims lists[NODES];
    size_t n;
};

static void find_candidates(const struct model *m, int p, struct candidate_nodes *c)
{
    for (int n = 0; n < NODES; n++) {
        bool *victims = c->victims[c->n];
        if (!m->nodes[n].exists || !choose_victims(m, p, n, victims))
            continue;
        struct gang_victims *list = &c->lists[c->n];
        for (int i = 0; i < PODS; i++)
            if (victims[i])
                c->uids[c->n][list->n++] = pod_uid(m, i);
        list->uids = (const char *const *)c->uids[c->n];
        c->names[c->n++] = node_name(n);
    }
}

/* No node has room: evicts pods of lower priority from a node that the preempt call returns. */
static void preempt(struct model *m, int p, const struct op *op)
{
    struct candidate_nodes c = {.n = 0};
    int serial = m->pods[p].serial;
    find_candidates(m, p, &c);
    if (!c.n)
        return;
    struct gang_event ev = {.kind = GANG_EV_PREEMPT, .id = ++m->next_id, .pod = facts_pod(m, p)};
    ev.victims = c.lists;
    m->kept = 0;
    model_ask(m, ev, p, c.names, c.n, 0);
    model_step(m);
    const struct pod_truth *t = &m->pods[p];
    for (size_t i = 0; i < c.n && t->exists && t->serial == serial && t->node < 0; i++) {
        int n = node_number(c.names[i]);
        if (c.lists[i].n && m->kept >> n & 1) {
            do_evict(m, p, n, c.victims[i], op_get(op, A_PICK, 0) & 1);
            break;
        }
    }
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = 0; k < c.lists[i].n; k++)
            free(c.uids[i][k]);
}

/* Whether kube-scheduler has assumed a pod whose filter result has expired in muster. */
static bool keeps_for_forgotten(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->exists && t->picked >= 0 && m->now - t->let_at >= oracle_let_time(t))
            return true;
    }
    return false;
}

static void filter_pod(struct model *m, int p, const struct op *op)
{
    struct pod_truth *t = &m->pods[p];
    const char *names[NAMES_MAX];
    size_t n_names = 0;
    int g = pod_group(t), hidden = op_get(op, A_HIDE, 0), refused;
    if (op_has(&t->spec, A_BARRED)) {
        sched_refuses(m, p, SAID_BARRED);
        return;
    }
    if (try_nominated(m, p, &refused))
        return;
    t->sleep = AWAKE;
    m->lies |= hidden != 0 || keeps_for_forgotten(m);
    for (int n = 0; n < NODES; n++) {
        if (sched_fits(m, p, n) && !(hidden >> n & 1))
            names[n_names++] = node_name(n);
        else if (g >= 0 && oracle_room(m, p, n))
            pod_doubt(m, p, n);
    }
    if (g >= 0 && m->n_queue) /* other events of this step can make the list stale */
        group_doubt(m, g);
    t->learnt = !t->shown;
    t->hidden = hidden && !(op_has(op, A_SAMPLE) && n_names);
    if (n_names == 0) {
        sched_refuses(m, p, SAID_FULL);
        if (op_has(op, A_PREEMPTS))
            preempt(m, p, op);
        return;
    }
    for (int i = 0; op_has(op, A_SAMPLE) && i < STRANGERS; i++)
        names[n_names++] = strangers[i];
    int nominated = t->nominated;
    ask_filter(m, p, names, n_names, op_get(op, A_PICK, 0));
    m->queue[m->n_queue - 1].tried = refused;
    if (g >= 0 && op->joined)
        group_doubt(m, g);
    if (nominated >= 0) /* the attempt on this node failed, so kube-scheduler clears it */
        sched_nominated(m, p, -1);
}

/* The next pod in order after the pod that was tried last. */
static int next_pod(const struct model *m, int skip)
{
    int first = -1;
    for (int i = 1; i <= PODS; i++) {
        int p = (m->cursor + i) % PODS;
        if (!sched_ready(m, p))
            continue;
        if (first < 0)
            first = p;
        if (skip-- <= 0)
            return p;
    }
    return first;
}

/* A filter call by a kube-scheduler whose cache lags behind muster's. It ignores the reply. */
static bool filter_stale(struct model *m, int p)
{
    if (!m->pods[p].exists || !m->pods[p].shown || m->pods[p].call || m->pods[p].picked >= 0 ||
        pod_gated(&m->pods[p])) /* kube-scheduler does not try gated pods */
        return false;
    const char *names[NODES];
    size_t n = 0;
    for (int i = 0; i < NODES; i++)
        if (m->nodes[i].exists)
            names[n++] = node_name(i);
    if (n == 0)
        return false;
    chose(m, p);
    m->lies = true;
    if (pod_group(&m->pods[p]) >= 0)
        group_doubt(m, pod_group(&m->pods[p]));
    ask_filter(m, p, names, n, 0);
    return true;
}

static bool do_filter(struct model *m, const struct op *op)
{
    int p = op->class ? op->subject : next_pod(m, op_get(op, A_SKIP, 0));
    if (p >= 0 && op_has(op, A_STALE))
        return filter_stale(m, p);
    for (size_t i = 0; i < m->n_queue; i++) /* only one attempt of a pod at a time */
        if (m->queue[i].ev.kind == GANG_EV_FILTER && m->queue[i].pod == p)
            model_step(m);
    if (p < 0 || !sched_ready(m, p))
        return false;
    m->cursor = p;
    chose(m, p);
    filter_pod(m, p, op);
    return true;
}

/* ---- bind ---- */

static int next_picked(const struct model *m, int skip)
{
    int best = -1;
    for (; skip >= 0; skip--) {
        int next = -1;
        for (int p = 0; p < PODS; p++)
            if (m->pods[p].exists && m->pods[p].picked >= 0 &&
                (best < 0 || m->pods[p].picked_at > m->pods[best].picked_at) &&
                (next < 0 || m->pods[p].picked_at < m->pods[next].picked_at))
                next = p;
        if (next < 0)
            break;
        best = next;
    }
    return best;
}

/* The open call of the pod. If the operation names no pod, the oldest open call. */
static struct call *call_open(struct model *m, const struct op *op)
{
    int skip = op_get(op, A_SKIP, 0);
    struct call *first = NULL;
    for (size_t i = 0; i < m->n_calls; i++) {
        struct call *call = &m->calls[i];
        if (op->class && call->pod != op->subject)
            continue;
        first = first ? first : call;
        if (op->class || skip-- <= 0)
            return call;
    }
    return first;
}

static void send_bind(struct model *m, int p, int n)
{
    struct pod_truth *t = &m->pods[p];
    t->picked = -1;
    t->call_node = n;
    t->call = ++m->next_id;
    m->calls[m->n_calls++] = (struct call){t->call, p, m->now, false};
    struct gang_event ev = {.kind = GANG_EV_BIND, .id = t->call};
    ev.bind.ns = xstrdup("default");
    ev.bind.name = xasprintf("p%d", p);
    ev.bind.uid = pod_uid(m, p);
    ev.bind.node = xstrdup(node_name(n));
    model_tell(m, ev, p);
}

/* kube-scheduler's client loses the connection and repeats the call. muster may not have seen the
 * connection close. */
static bool bind_again(struct model *m, const struct op *op)
{
    struct call *call = call_open(m, op);
    if (!call || m->pods[call->pod].call != call->id || m->n_calls == ARRAY_SIZE(m->calls))
        return false;
    chose(m, call->pod);
    call->closed = true;
    send_bind(m, call->pod, m->pods[call->pod].call_node);
    return true;
}

static bool do_bind(struct model *m, const struct op *op)
{
    if (op_has(op, A_AGAIN))
        return bind_again(m, op);
    int p = op->class ? op->subject : next_picked(m, op_get(op, A_SKIP, 0));
    struct pod_truth *t = p >= 0 ? &m->pods[p] : NULL;
    if (!t || !t->exists || pod_gated(t) || t->call || m->n_calls == ARRAY_SIZE(m->calls))
        return false;
    int n =
        op_get(op, A_ON, t->picked); /* the operation may name a node that filter did not return */
    if (n < 0 || (t->node >= 0 && t->picked < 0)) /* others may have bound the chosen pod since */
        return false;
    chose(m, p);
    bool moves = t->picked >= 0 && t->picked != n;
    send_bind(m, p, n);
    if (moves)
        wake_pods(m, true); /* the node that it picked has more room */
    return true;
}

static bool do_close(struct model *m, const struct op *op)
{
    struct call *call = call_open(m, op);
    if (!call)
        return false;
    chose(m, call->pod);
    if (!call->closed && m->pods[call->pod].call == call->id)
        sched_forget(m, call->pod);
    call->closed = true;
    if (!op_has(op, A_UNSEEN))
        model_tell(m, (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = call->id}, -1);
    return true;
}

/* ---- prioritize, preempt ---- */

static bool do_question(struct model *m, const struct op *op)
{
    const char *names[NODES];
    size_t n = 0;
    if (!m->pods[op->subject].exists || m->pods[op->subject].stands_in)
        return false;
    for (int i = 0; i < NODES; i++)
        if (m->nodes[i].exists)
            names[n++] = node_name(i);
    struct gang_event ev = {.kind = op->kind == OP_PREEMPT ? GANG_EV_PREEMPT : GANG_EV_PRIORITIZE,
                            .id = ++m->next_id,
                            .pod = facts_pod(m, op->subject)};
    model_ask(m, ev, op->subject, names, n, 0);
    return true;
}

void do_sched(struct model *m, const struct op *op)
{
    static bool (*const table[])(struct model *, const struct op *) = {
        [OP_FILTER] = do_filter,       [OP_BIND] = do_bind,        [OP_CLOSE] = do_close,
        [OP_PRIORITIZE] = do_question, [OP_PREEMPT] = do_question,
    };
    m->did_something = table[op->kind](m, op);
}

/* ---- results of muster's requests ---- */

static struct request *find_request(struct model *m, const struct op *op, bool read)
{
    int skip = op_get(op, A_SKIP, 0);
    struct request *first = NULL;
    for (size_t i = 0; i < m->n_requests; i++) {
        struct request *r = &m->requests[i];
        if (r->read != read || (op->class && r->pod != op->subject))
            continue;
        if (!first)
            first = r;
        if (op->class || skip-- <= 0)
            return r;
    }
    return first;
}

static struct request take_request(struct model *m, struct request *r)
{
    struct request was = *r;
    size_t i = (size_t)(r - m->requests);
    memmove(r, r + 1, (m->n_requests - i - 1) * sizeof *r);
    m->n_requests--;
    return was;
}

static void tell_result(struct model *m, const struct request *r, enum gang_event_kind kind,
                        enum gang_outcome outcome, int node)
{
    struct gang_event ev = {.kind = kind};
    ev.result.uid = xasprintf("u%d-%d", r->pod, r->serial);
    ev.result.node = node >= 0 ? xstrdup(node_name(node)) : NULL;
    ev.result.outcome = outcome;
    model_tell(m, ev, r->pod);
}

/* The API server drops a request after API_SERVER_LIMIT. muster waits for BINDING_OVER. */
#define API_SERVER_LIMIT SECONDS(60)
#define BINDING_OVER     SECONDS(90)

/* Whether a read that shows the pod unbound comes late enough to prove that its Binding failed. */
static bool binding_over(const struct model *m, const struct pod_truth *t, const struct request *r,
                         enum gang_outcome outcome)
{
    return r->read && outcome == OUTCOME_UNBOUND && t->charged == CHARGED_BINDING &&
           t->charged_serial == r->serial && m->now - t->sent_at >= BINDING_OVER;
}

/* The effect of a result on the ledger. Only a definite failure removes a charge. */
static void charge_by_result(struct model *m, struct pod_truth *t, const struct request *r,
                             enum gang_outcome outcome, int node)
{
    if (t->charged == NOT_CHARGED || t->charged_serial != r->serial)
        return;
    if (t->charged == CHARGED_ASSIGNED) { /* a read removes only pods that the watch never showed */
        if (r->read && outcome == OUTCOME_REFUSED && !t->shown)
            model_uncharge(m, t);
    } else if (outcome == OUTCOME_REFUSED || binding_over(m, t, r, outcome)) {
        model_uncharge(m, t);
    } else if (outcome == OUTCOME_OK) {
        if (node >= 0 && node != t->charged_node)
            model_uncharge(m, t);
        t->charged = CHARGED_ASSIGNED;
        t->charged_node = node >= 0 ? node : t->charged_node;
    }
}

static void refused(struct model *m, const struct request *r)
{
    struct pod_truth *t = &m->pods[r->pod];
    if (pod_group(t) >= 0)
        group_doubt(m, pod_group(t)); /* after two refusals, muster avoids the node for a while */
    if (t->serial == r->serial) {
        t->lost = -1;
        t->ghost = false;
        if (pod_group(t) >= 0)
            group_excuse(m, pod_group(t));
    }
}

static bool do_result(struct model *m, const struct op *op)
{
    struct request *found = find_request(m, op, false);
    if (!found)
        return false;
    struct request r = take_request(m, found);
    struct pod_truth *t = &m->pods[r.pod];
    chose(m, r.pod);
    bool alive = t->exists && t->serial == r.serial;
    bool conflict = alive && !r.done && (t->node >= 0 || t->deleting); /* 409 */
    bool unclear = op_has(op, A_UNCLEAR) || conflict;
    bool does = alive && t->node < 0 && !conflict && !op_has(op, A_REFUSED) &&
                (!unclear || op_has(op, A_DONE));
    enum gang_outcome outcome = unclear          ? OUTCOME_UNCLEAR
                                : does || r.done ? OUTCOME_OK
                                                 : OUTCOME_REFUSED;
    if (does)
        pod_bound_by_us(m, r.pod, r.node);
    else if (unclear && alive && t->node < 0)
        t->lost = r.node, t->lost_sent = r.sent;
    if (outcome == OUTCOME_REFUSED)
        refused(m, &r);
    charge_by_result(m, t, &r, outcome, r.node);
    tell_result(m, &r, GANG_EV_BIND_DONE, outcome, r.node);
    if (alive && t->node >= 0 && !op_has(op, A_UNSEEN))
        objects_show(m, 'p', r.pod);
    return true;
}

static bool do_read(struct model *m, const struct op *op)
{
    struct request *found = find_request(m, op, true);
    if (!found)
        return false;
    struct request r = take_request(m, found);
    struct pod_truth *t = &m->pods[r.pod];
    chose(m, r.pod);
    bool alive = t->exists && t->serial == r.serial;
    enum gang_outcome outcome = op_has(op, A_UNCLEAR) ? OUTCOME_UNCLEAR
                                : !alive              ? OUTCOME_REFUSED
                                : t->node >= 0        ? OUTCOME_OK
                                                      : OUTCOME_UNBOUND;
    if (outcome == OUTCOME_REFUSED || binding_over(m, t, &r, outcome))
        refused(m, &r);
    charge_by_result(m, t, &r, outcome, alive ? t->node : -1);
    tell_result(m, &r, GANG_EV_POD_READ, outcome, outcome == OUTCOME_OK ? t->node : -1);
    return true;
}

/* A Binding succeeds on the API server: one in flight, whose result comes later, or one with an
 * unclear result. */
static bool do_land(struct model *m, const struct op *op)
{
    int skip = op_get(op, A_SKIP, 0);
    struct request *found = NULL;
    for (size_t i = 0; i < m->n_requests; i++) {
        struct request *r = &m->requests[i];
        const struct pod_truth *t = &m->pods[r->pod];
        bool candidate =
            !r->read && t->exists && t->serial == r->serial && t->node < 0 && !t->deleting;
        if (candidate && (op->class ? r->pod == op->subject : !found || skip-- > 0))
            found = r;
    }
    int p = found ? found->pod : -1;
    for (int i = 0; i < PODS && p < 0 && !m->calm; i++)
        if (m->pods[i].exists && m->pods[i].lost >= 0 && m->pods[i].node < 0 &&
            !m->pods[i].deleting && m->now - m->pods[i].lost_sent <= API_SERVER_LIMIT &&
            (!op->class || i == op->subject))
            p = i;
    if (p < 0)
        return false;
    chose(m, p);
    pod_bound_by_us(m, p, found ? found->node : m->pods[p].lost);
    m->pods[p].lost = -1;
    if (found)
        found->done = true;
    if (!op_has(op, A_UNSEEN) && !found)
        objects_show(m, 'p', p);
    return true;
}

void do_request(struct model *m, const struct op *op)
{
    static bool (*const table[])(struct model *, const struct op *) = {
        [OP_RESULT] = do_result, [OP_READ] = do_read, [OP_LAND] = do_land, [OP_PATCH] = do_patch};
    m->did_something = table[op->kind](m, op);
}
