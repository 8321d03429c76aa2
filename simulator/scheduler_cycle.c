/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: k8s.io/kubernetes v1.36 pkg/scheduler (schedule_one.go, extender.go), and the behaviour
 * of a real kube-scheduler (docs/explanation/kube-scheduler.md).
 */
#include "simulator/scheduler_cycle.h"

#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

enum {
    SAMPLE_FROM = 100,    /* the scan stops early from this many nodes (minFeasibleNodesToFind) */
    EXTENDER_WEIGHT = 10, /* the weight in the extender's registration */
    SCORE_SCALE = 10,     /* MaxNodeScore / MaxExtenderPriority */
};

static void post(struct sched *s, struct gang_event *ev)
{
    s->sink.post(s->sink.arg, ev);
}

static uint64_t new_call(struct sched *s)
{
    return CLUSTER_CALL | ++s->calls;
}

/* ---- watch events ---- */

void sched_show_node(struct sched *s, const json_t *json)
{
    cache_set_node(&s->cache, json);
    sched_queue_event(&s->queue, /* room= */ true);
}

void sched_remove_node(struct sched *s, const char *name)
{
    if (cache_remove_node(&s->cache, name))
        sched_queue_event(&s->queue, /* room= */ false);
}

void sched_claims_changed(struct sched *s)
{
    sched_queue_event(&s->queue, /* room= */ true);
}

static bool in_queue(const struct sched_pod *pod)
{
    return pod->place != SCHED_ASSUMED && pod->place != SCHED_ASSIGNED;
}

static void show_assigned(struct sched *s, struct sched_pod *pod)
{
    if (!str_eq(pod->node_name, pod->facts->node)) {
        cache_discharge(pod);
        cache_charge(&s->cache, pod, pod->facts->node);
    }
    sched_queue_put(&s->queue, pod, SCHED_ASSIGNED);
    pod->call = 0;
    sched_queue_event(&s->queue, /* room= */ false);
}

static void show_new(struct sched *s, struct sched_pod *pod)
{
    sched_queue_add(&s->queue, pod);
    cache_nominate(&s->cache, pod);
}

static void show_waiting(struct sched *s, struct sched_pod *pod)
{
    cache_nominate(&s->cache, pod);
    sched_queue_update(&s->queue, pod);
}

void sched_remove_pod(struct sched *s, const char *uid)
{
    struct sched_pod *pod = cache_pod(&s->cache, uid);
    if (!pod)
        return;
    bool had_node = pod->node_name != NULL;
    sched_queue_remove(&s->queue, pod);
    cache_remove_pod(&s->cache, uid);
    if (had_node)
        sched_queue_event(&s->queue, /* room= */ true);
}

void sched_show_pod(struct sched *s, json_t *json)
{
    const char *uid = field_peek(json, "metadata", "uid", NULL);
    const char *phase = field_peek(json, "status", "phase", NULL);
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed")) {
        sched_remove_pod(s, uid);
        return;
    }
    struct sched_pod *pod = cache_pod(&s->cache, uid);
    bool is_new = !pod;
    if (is_new)
        pod = cache_add_pod(&s->cache, uid);
    cache_set_pod(&s->cache, pod, json);
    if (pod->facts->node)
        show_assigned(s, pod);
    else if (is_new)
        show_new(s, pod);
    else if (in_queue(pod))
        show_waiting(s, pod);
}

/* ---- writes after a cycle or a bind call ---- */

static void refusals_clear(struct sched_refusals *r)
{
    map_for_each (e, &r->counts)
        free(e->value);
    map_done(&r->counts);
}

static void refusals_add(struct sched_refusals *r, const char *reason)
{
    size_t *n = map_get(&r->counts, reason);
    if (!n) {
        n = xcalloc(1, sizeof *n);
        map_set(&r->counts, reason, n);
    }
    ++*n;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "0/6 nodes are available: 1 gang ml/a: …, 5 Insufficient nvidia.com/gpu." Source: FitError. */
static char *fit_error(const struct sched *s)
{
    cleanup_buf struct buf b = BUF_INIT;
    size_t n = 0;
    char **parts = xcalloc(map_count(&s->refusals.counts) + 1, sizeof *parts);
    map_for_each (e, &s->refusals.counts)
        parts[n++] = xasprintf("%zu %s", *(size_t *)e->value, e->key);
    qsort(parts, n, sizeof *parts, compare_texts);
    buf_printf(&b, "0/%zu nodes are available", s->cache.n_order);
    for (size_t i = 0; i < n; i++) {
        buf_printf(&b, "%s%s", i ? ", " : ": ", parts[i]);
        free(parts[i]);
    }
    free(parts);
    buf_putc(&b, '.');
    return buf_steal(&b);
}

static void condition_write(void *owner, struct task *t)
{
    struct sched *s = owner;
    struct object *o = store_pod(s->store, t->uid);
    if (o && !field_peek(o->json, "spec", "nodeName", NULL))
        store_patch(s->store, o, STEAL(t->json));
}

/* Writes the PodScheduled condition if its message has changed. A failed try also clears the
 * nomination. */
static void write_condition(struct sched *s, struct sched_pod *pod, const char *reason,
                            const char *message)
{
    bool news = !str_eq(pod->message, message);
    struct object *o = store_pod(s->store, pod->facts->uid);
    if (!o || (!news && !pod->facts->nominated))
        return;
    struct task *t = sim_clock_at(s->clock, s->clock->now + COST_CONDITION, condition_write, s);
    t->uid = xstrdup(o->uid);
    t->json = json_pack("{s:{s:n, s:[{s:s, s:s, s:s, s:s}]}}", "status", "nominatedNodeName",
                        "conditions", "type", "PodScheduled", "status", "False", "reason", reason,
                        "message", message);
    if (news)
        store_report(s->store, SIMULATED_REJECTED, o, NULL, message);
    free(pod->message);
    pod->message = xstrdup(message);
}

static void failed_with_error(struct sched *s, struct sched_pod *pod, const char *message)
{
    sched_queue_failed(&s->queue, pod);
    write_condition(s, pod, "SchedulerError", message);
}

static void cycle_done(struct sched *s)
{
    s->state = SCHED_IDLE;
    s->pod = NULL;
    s->call = 0;
    s->n_offered = 0;
    refusals_clear(&s->refusals);
}

/* No node was found: the pod goes to the unschedulable pods. */
static void cycle_rejected(struct sched *s)
{
    struct sched_pod *pod = s->pod;
    cleanup_free char *message = fit_error(s);
    sched_queue_rejected(&s->queue, pod, s->extender_refused);
    write_condition(s, pod, "Unschedulable", message);
    cycle_done(s);
}

/* ---- binding cycles ---- */

static struct sched_pod *pod_by_call(struct sched *s, uint64_t call)
{
    map_for_each (e, &s->cache.pods) {
        struct sched_pod *pod = e->value;
        if (pod->call == call)
            return pod;
    }
    return NULL;
}

/* The pod is no longer assumed and goes to the error backoff. This can make room for others. */
static void bind_failed(struct sched *s, struct sched_pod *pod, const char *why)
{
    cleanup_free char *message = xasprintf("running Bind: %s", why);
    pod->call = 0;
    if (pod->place != SCHED_ASSUMED)
        return; /* it was bound nevertheless */
    struct object *o = store_pod(s->store, pod->facts->uid);
    if (o)
        store_report(s->store, SIMULATED_BIND_FAILED, o, pod->node_name, why);
    cache_discharge(pod);
    cache_nominate(&s->cache, pod);
    failed_with_error(s, pod, message);
    sched_queue_event(&s->queue, /* room= */ true);
}

/* The scheduler stops waiting for the reply and closes the connection. */
static void bind_timeout(struct sched *s, struct sched_pod *pod)
{
    struct gang_event ev = {.kind = GANG_EV_CALL_CLOSED, .id = pod->call};
    post(s, &ev);
    bind_failed(s, pod, "context deadline exceeded (Client.Timeout exceeded)");
}

static void bind_call(void *owner, struct task *t)
{
    struct sched *s = owner;
    struct sched_pod *pod = cache_pod(&s->cache, t->uid);
    if (!pod || pod->place != SCHED_ASSUMED || pod->call != t->id)
        return;
    struct gang_event ev = {.kind = GANG_EV_BIND, .id = pod->call};
    ev.bind.ns = xstrdup(pod->facts->ns);
    ev.bind.name = xstrdup(pod->facts->name);
    ev.bind.uid = xstrdup(pod->facts->uid);
    ev.bind.node = xstrdup(pod->node_name);
    post(s, &ev);
    sched_queue_put_until(&s->queue, pod, SCHED_ASSUMED, s->clock->now + COST_HTTP_TIMEOUT);
}

static void assume(struct sched *s, struct sched_node *node)
{
    struct sched_pod *pod = s->pod;
    cycle_done(s);
    cache_charge(&s->cache, pod, node->facts->name);
    sched_queue_put(&s->queue, pod, SCHED_ASSUMED);
    pod->call = new_call(s);
    struct task *t =
        sim_clock_at(s->clock, s->clock->now + COST_CYCLE + COST_TO_BIND, bind_call, s);
    t->uid = xstrdup(pod->facts->uid);
    t->id = pod->call;
}

/* ---- scheduling cycles ---- */

static void offer(struct sched *s, struct sched_node *node)
{
    if (s->n_offered == s->cap_offered) {
        s->cap_offered = s->cap_offered ? s->cap_offered * 2 : 64;
        s->offered = xreallocarray(s->offered, s->cap_offered, sizeof(struct sched_node *));
        s->names = xreallocarray(s->names, s->cap_offered, sizeof(const char *));
    }
    s->names[s->n_offered] = node->facts->name;
    s->offered[s->n_offered++] = node;
}

/* The number of feasible nodes after which a scan stops. Source: numFeasibleNodesToFind. */
static size_t enough(size_t nodes)
{
    if (nodes < SAMPLE_FROM)
        return nodes;
    size_t percent = nodes / 125 < 45 ? 50 - nodes / 125 : 5;
    size_t n = nodes * percent / 100;
    return n < SAMPLE_FROM ? SAMPLE_FROM : n;
}

static const char *refusal(const struct sched *s, const struct sched_pod *pod,
                           const struct sched_node *node, char buf[128])
{
    const char *why = cache_refusal(pod, node, buf);
    return why ? why : sched_rules_refusal(&s->rules, pod, node);
}

static void try_node(struct sched *s, struct sched_node *node)
{
    char buf[128];
    const char *why = refusal(s, s->pod, node, buf);
    if (why)
        refusals_add(&s->refusals, why);
    else
        offer(s, node);
}

static void scan(struct sched *s)
{
    struct sched_cache *c = &s->cache;
    size_t want = enough(c->n_order), seen = 0;
    for (; seen < c->n_order && s->n_offered < want; seen++)
        try_node(s, c->order[(c->next_start + seen) % c->n_order]);
    if (c->n_order)
        c->next_start = (c->next_start + seen) % c->n_order;
}

static void ask(struct sched *s, enum gang_event_kind kind, enum sched_state state)
{
    s->state = state;
    s->call = new_call(s);
    struct gang_event ev = {
        .kind = kind,
        .id = s->call,
        .pod = decode_pod(s->pod->json, NULL),
        .names = s->names,
        .n_names = s->n_offered,
    };
    post(s, &ev);
}

/* Calls the extender's filter with the nodes that passed the scan, unless there are none. */
static void ask_filter(struct sched *s)
{
    s->n_offered = 0;
    refusals_clear(&s->refusals);
    scan(s);
    if (s->n_offered)
        ask(s, GANG_EV_FILTER, SCHED_FILTER);
    else
        cycle_rejected(s);
}

static void cycle_begin(struct sched *s, struct sched_pod *pod)
{
    char buf[128];
    sched_queue_put(&s->queue, pod, SCHED_CYCLE);
    s->pod = pod;
    sched_rules_prepare(&s->rules, &s->cache, s->claims, pod);
    s->free_at = s->clock->now + COST_CYCLE;
    s->extender_refused = false;
    s->n_offered = 0;
    /* kube-scheduler first tries the nominated node alone. */
    struct sched_node *nominated = cache_node(&s->cache, pod->facts->nominated);
    if (nominated && !refusal(s, pod, nominated, buf)) {
        offer(s, nominated);
        ask(s, GANG_EV_FILTER, SCHED_NOMINATED);
    } else {
        ask_filter(s);
    }
}

/* Keeps the offered nodes that the reply allows, in the order of the reply. */
static void keep_passed(struct sched *s, const struct gang_filter_reply *r)
{
    for (size_t i = 0; i < r->n_refused; i++)
        refusals_add(&s->refusals, r->refused[i].text);
    s->extender_refused |= !r->pass_all && r->n_passed < s->n_offered;
    if (r->pass_all)
        return;
    struct sched_node **kept = xcalloc(r->n_passed + 1, sizeof(struct sched_node *));
    for (size_t i = 0; i < r->n_passed; i++)
        kept[i] = s->offered[r->passed[i]];
    s->n_offered = 0;
    for (size_t i = 0; i < r->n_passed; i++)
        offer(s, kept[i]);
    free(kept);
}

static void filter_replied(struct sched *s, const struct gang_filter_reply *r)
{
    if (r->error) {
        struct sched_pod *pod = s->pod;
        cycle_done(s);
        failed_with_error(s, pod, r->error);
        return;
    }
    bool nominated = s->state == SCHED_NOMINATED;
    keep_passed(s, r);
    if (s->n_offered == 1)
        assume(s, s->offered[0]); /* kube-scheduler does not score a single node */
    else if (s->n_offered)
        ask(s, GANG_EV_PRIORITIZE, SCHED_PRIORITIZE);
    else if (nominated)
        ask_filter(s);
    else
        cycle_rejected(s);
}

static void prioritize_replied(struct sched *s, const uint8_t *scores, size_t n)
{
    size_t best = 0;
    int best_score = -1;
    for (size_t i = 0; i < s->n_offered; i++) {
        int score = cache_score(s->pod, s->offered[i]) +
                    (i < n ? scores[i] * EXTENDER_WEIGHT * SCORE_SCALE : 0);
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    assume(s, s->offered[best]);
}

static void bind_replied(struct sched *s, uint64_t id, const char *error)
{
    struct sched_pod *pod = pod_by_call(s, id);
    if (!pod)
        return; /* timed out, or the pod was deleted */
    if (error[0]) {
        bind_failed(s, pod, error);
        return;
    }
    pod->call = 0;
    sched_queue_put(&s->queue, pod, SCHED_ASSUMED); /* clears the timeout */
}

void sched_reply(struct sched *s, const struct gang_effect *e)
{
    if (e->kind == GANG_REPLY_BIND) {
        bind_replied(s, e->bind_reply.id, e->bind_reply.error);
        return;
    }
    uint64_t id = e->kind == GANG_REPLY_FILTER ? e->filter.id : e->prioritize.id;
    if (s->state == SCHED_IDLE || id != s->call)
        return;
    if (e->kind == GANG_REPLY_FILTER)
        filter_replied(s, &e->filter);
    else if (e->kind == GANG_REPLY_PRIORITIZE)
        prioritize_replied(s, e->prioritize.scores, e->prioritize.n);
}

/* ---- time ---- */

static void wake_due(struct sched *s)
{
    for (struct sched_pod *pod; (pod = sched_queue_due(&s->queue)) != NULL;) {
        if (pod->place == SCHED_ASSUMED)
            bind_timeout(s, pod);
        else
            sched_queue_put(&s->queue, pod, SCHED_ACTIVE);
    }
}

void sched_advance(struct sched *s)
{
    wake_due(s);
    if (s->clock->now < s->free_at)
        return;
    struct sched_pod *pod = sched_queue_first(&s->queue);
    if (pod)
        cycle_begin(s, pod);
}

usec_t sched_next(const struct sched *s)
{
    return sched_queue_next(&s->queue, s->free_at);
}

bool sched_asks(const struct sched *s)
{
    return s->state != SCHED_IDLE;
}

bool sched_settled(const struct sched *s)
{
    map_for_each (e, &s->cache.pods) {
        const struct sched_pod *pod = e->value;
        if (pod->place == SCHED_ASSUMED || pod->place == SCHED_CYCLE ||
            pod->place == SCHED_ACTIVE || pod->place == SCHED_BACKOFF)
            return false;
    }
    return true;
}

void sched_init(struct sched *s, struct store *store, const struct claim_topology *claims,
                const struct cluster_sink *sink)
{
    s->clock = store->clock;
    s->store = store;
    s->claims = claims;
    s->sink = *sink;
    sched_queue_init(&s->queue, store->clock);
}

void sched_done(struct sched *s)
{
    refusals_clear(&s->refusals);
    sched_rules_forget(&s->rules);
    sched_queue_done(&s->queue);
    cache_done(&s->cache);
    free(s->offered);
    free(s->names);
}
