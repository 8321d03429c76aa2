/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver: kube-scheduler's queue and its cycles, as far as an extender can see them. Sources:
 * k8s.io/kubernetes v1.36 pkg/scheduler (schedule_one.go, extender.go, backend/queue), and what was
 * seen of a real one.
 */
#include <stdio.h>

#include "gang/predicates.h"
#include "k8s/builtin_internal.h"
#include "k8s/decode.h"
#include "k8s/field.h"

enum {
    SAMPLE_FROM = 100,    /* nodes from which on a scan stops early (minFeasibleNodesToFind) */
    EXTENDER_WEIGHT = 10, /* as registered */
    SCORE_SCALE = 10,     /* MaxNodeScore / MaxExtenderPriority */
};

/* ---- the queue ---- */

static struct list *list_of(struct sched *s, enum sched_place place)
{
    switch (place) {
    case SCHED_ACTIVE:
        return &s->active;
    case SCHED_BACKOFF:
        return &s->backoff;
    case SCHED_UNSCHEDULABLE:
        return &s->unschedulable;
    default:
        return &s->resting;
    }
}

static void put(struct sched *s, struct sched_pod *pod, enum sched_place place)
{
    list_remove(&pod->link);
    heap_remove(&s->wake, &pod->wake);
    pod->place = place;
    list_push(list_of(s, place), &pod->link);
}

/* One second, doubled with each failure in a row, at most ten. */
static usec_t backoff(int failures)
{
    return usec_backoff(COST_BACKOFF_MIN, COST_BACKOFF_MAX, failures - 1);
}

/* A waiting pod is to be tried again: at once, or when nothing else is to be tried. */
static void wake(struct builtin *b, struct sched_pod *pod)
{
    bool resting = pod->stamp + backoff(pod->rejections) > b->clock.now;
    put(&b->sched, pod, resting ? SCHED_BACKOFF : SCHED_ACTIVE);
}

/* Any event wakes a pod that the extender rejected; one that only the scheduler's
 * own filters rejected is woken by what may have made room. */
void sched_event(struct builtin *b, bool room)
{
    struct sched *s = &b->sched;
    list_for_each_safe (pod, &s->unschedulable, struct sched_pod, link) {
        if (room || pod->by_extender)
            wake(b, pod);
    }
}

static bool comes_before(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->facts->priority != b->facts->priority)
        return a->facts->priority > b->facts->priority;
    return a->stamp != b->stamp ? a->stamp < b->stamp : a->seq < b->seq;
}

static struct sched_pod *pop_active(struct sched *s)
{
    struct sched_pod *best = NULL;
    list_for_each (pod, &s->active, struct sched_pod, link) {
        if (!best || comes_before(pod, best))
            best = pod;
    }
    return best;
}

static struct sched_pod *pop_backoff(struct sched *s)
{
    struct sched_pod *best = NULL;
    usec_t best_end = 0;
    list_for_each (pod, &s->backoff, struct sched_pod, link) {
        usec_t end = pod->stamp + backoff(pod->rejections);
        if (!best || end < best_end || (end == best_end && comes_before(pod, best))) {
            best = pod;
            best_end = end;
        }
    }
    return best;
}

static bool has_gates(const struct gang_pod_facts *facts)
{
    return facts->gated || facts->n_gates;
}

static void enqueue(struct builtin *b, struct sched_pod *pod)
{
    pod->stamp = b->clock.now;
    pod->seq = ++b->sched.seq;
    put(&b->sched, pod, has_gates(pod->facts) ? SCHED_GATED : SCHED_ACTIVE);
    cache_nominate(&b->sched, pod);
}

/* ---- what the watch shows ---- */

static void pod_free(struct sched_pod *pod)
{
    json_decref(pod->json);
    gang_pod_facts_free(pod->facts);
    free(pod->message);
    free(pod->node_name);
    free(pod);
}

static struct sched_pod *pod_new(struct sched *s, const char *uid)
{
    struct sched_pod *pod = xcalloc(1, sizeof *pod);
    list_init(&pod->link);
    list_init(&pod->on_node);
    list_init(&pod->nominated);
    map_set(&s->pods, uid, pod);
    return pod;
}

static bool in_queue(const struct sched_pod *pod)
{
    return pod->place != SCHED_ASSUMED && pod->place != SCHED_ASSIGNED;
}

static void take_facts(struct sched_pod *pod, json_t *json)
{
    json_decref(pod->json);
    pod->json = json_incref(json);
    gang_pod_facts_free(pod->facts);
    pod->facts = decode_pod(json, NULL); /* decoded before, for the core: it cannot fail */
}

/* Bound, by whomever. */
static void show_assigned(struct builtin *b, struct sched_pod *pod)
{
    if (!str_eq(pod->node_name, pod->facts->node)) {
        cache_discharge(pod);
        cache_charge(&b->sched, pod, pod->facts->node);
    }
    put(&b->sched, pod, SCHED_ASSIGNED);
    pod->call = 0;
    sched_event(b, /* room= */ false);
}

/* A pod of the queue changed: it alone is woken. */
static void show_waiting(struct builtin *b, struct sched_pod *pod)
{
    cache_nominate(&b->sched, pod);
    if (pod->place == SCHED_GATED && !has_gates(pod->facts))
        enqueue(b, pod);
    else if (pod->place == SCHED_UNSCHEDULABLE && pod->by_extender)
        wake(b, pod);
}

static void drop(struct sched *s, struct sched_pod *pod)
{
    cache_discharge(pod);
    list_remove(&pod->nominated);
    list_remove(&pod->link);
    heap_remove(&s->wake, &pod->wake);
    pod_free(pod);
}

void sched_remove_pod(struct builtin *b, const char *uid)
{
    struct sched_pod *pod = map_remove(&b->sched.pods, uid);
    if (!pod)
        return;
    bool had_node = pod->node_name != NULL;
    drop(&b->sched, pod);
    if (had_node)
        sched_event(b, /* room= */ true);
}

void sched_show_pod(struct builtin *b, json_t *json)
{
    struct sched *s = &b->sched;
    const char *uid = field_peek(json, "metadata", "uid", NULL);
    const char *phase = field_peek(json, "status", "phase", NULL);
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed")) {
        sched_remove_pod(b, uid);
        return;
    }
    struct sched_pod *pod = map_get(&s->pods, uid);
    bool is_new = !pod;
    if (is_new)
        pod = pod_new(s, uid);
    char *charged = xstrdup_null(pod->node_name);
    if (charged)
        cache_discharge(pod);
    take_facts(pod, json);
    if (charged)
        cache_charge(s, pod, charged);
    free(charged);
    if (pod->facts->node)
        show_assigned(b, pod);
    else if (is_new)
        enqueue(b, pod);
    else if (in_queue(pod))
        show_waiting(b, pod);
}

/* ---- the end of a cycle or of a bind: what the scheduler writes ---- */

static void refusals_clear(struct sched_refusals *r)
{
    map_for_each (e, &r->counts)
        free(e->value);
    map_done(&r->counts);
}

static void refusals_add(struct sched_refusals *r, const char *words)
{
    size_t *n = map_get(&r->counts, words);
    if (!n) {
        n = xcalloc(1, sizeof *n);
        map_set(&r->counts, words, n);
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
    buf_printf(&b, "0/%zu nodes are available", s->n_order);
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
    struct builtin *b = owner;
    struct object *o = store_pod(&b->store, t->uid);
    if (o && !field_peek(o->json, "spec", "nodeName", NULL))
        store_patch(&b->store, o, STEAL(t->json));
}

/* The PodScheduled condition, written when it says something new; a failed try also
 * clears the nomination. */
static void write_condition(struct builtin *b, struct sched_pod *pod, const char *reason,
                            const char *message)
{
    bool news = !str_eq(pod->message, message);
    struct object *o = store_pod(&b->store, pod->facts->uid);
    if (!o || (!news && !pod->facts->nominated))
        return;
    struct task *t = sim_clock_at(&b->clock, b->clock.now + COST_CONDITION, condition_write, b);
    t->uid = xstrdup(o->uid);
    t->json = json_pack("{s:{s:n, s:[{s:s, s:s, s:s, s:s}]}}", "status", "nominatedNodeName",
                        "conditions", "type", "PodScheduled", "status", "False", "reason", reason,
                        "message", message);
    if (news)
        store_tell(&b->store, BUILTIN_REJECTED, o, NULL, message);
    free(pod->message);
    pod->message = xstrdup(message);
}

/* Muster's words, where those of the last try are old. */
void sched_tell(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_pod(&b->store, t->uid);
    if (!o || field_peek(o->json, "spec", "nodeName", NULL))
        return;
    bool gated =
        json_array_size(json_object_get(json_object_get(o->json, "spec"), "schedulingGates")) > 0;
    json_t *patch = json_pack("{s:{s:[{s:s, s:s, s:s, s:s}]}}", "status", "conditions", "type",
                              "PodScheduled", "status", "False", "reason",
                              gated ? "SchedulingGated" : "Unschedulable", "message", t->to);
    store_patch(&b->store, o, patch);
}

static void retry_at(struct sched *s, struct sched_pod *pod, enum sched_place place, usec_t at)
{
    put(s, pod, place);
    heap_set(&s->wake, &pod->wake, at);
}

static void failed_with_error(struct builtin *b, struct sched_pod *pod, const char *message)
{
    pod->stamp = b->clock.now;
    pod->errors++;
    retry_at(&b->sched, pod, SCHED_ERROR_BACKOFF, b->clock.now + backoff(pod->errors));
    write_condition(b, pod, "SchedulerError", message);
}

static void cycle_done(struct sched *s)
{
    s->state = SCHED_IDLE;
    s->pod = NULL;
    s->call = 0;
    s->n_offered = 0;
    refusals_clear(&s->refusals);
}

/* No node: to the unschedulable pods. */
static void cycle_rejected(struct builtin *b)
{
    struct sched *s = &b->sched;
    struct sched_pod *pod = s->pod;
    cleanup_free char *message = fit_error(s);
    pod->stamp = b->clock.now;
    pod->errors = 0;
    pod->rejections++;
    pod->by_extender = s->extender_refused;
    retry_at(s, pod, SCHED_UNSCHEDULABLE, b->clock.now + COST_FLUSH);
    write_condition(b, pod, "Unschedulable", message);
    cycle_done(s);
}

/* ---- binding cycles ---- */

static struct sched_pod *pod_by_call(struct sched *s, uint64_t call)
{
    map_for_each (e, &s->pods) {
        struct sched_pod *pod = e->value;
        if (pod->call == call)
            return pod;
    }
    return NULL;
}

/* Forgotten, to the error backoff, and others are woken. */
static void bind_failed(struct builtin *b, struct sched_pod *pod, const char *why)
{
    cleanup_free char *message = xasprintf("running Bind: %s", why);
    pod->call = 0;
    if (pod->place != SCHED_ASSUMED)
        return; /* bound after all */
    struct object *o = store_pod(&b->store, pod->facts->uid);
    if (o)
        store_tell(&b->store, BUILTIN_BIND_FAILED, o, pod->node_name, why);
    cache_discharge(pod);
    cache_nominate(&b->sched, pod);
    failed_with_error(b, pod, message);
    sched_event(b, /* room= */ true);
}

/* The scheduler gives up waiting and closes the connection. */
static void bind_timeout(struct builtin *b, struct sched_pod *pod)
{
    struct gang_event ev = {.kind = GANG_EV_CALL_CLOSED, .id = pod->call};
    builtin_post(b, &ev);
    bind_failed(b, pod, "context deadline exceeded (Client.Timeout exceeded)");
}

static void bind_call(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct sched_pod *pod = map_get(&b->sched.pods, t->uid);
    if (!pod || pod->place != SCHED_ASSUMED || pod->call != t->id)
        return;
    struct gang_event ev = {.kind = GANG_EV_BIND, .id = pod->call};
    ev.bind.ns = xstrdup(pod->facts->ns);
    ev.bind.name = xstrdup(pod->facts->name);
    ev.bind.uid = xstrdup(pod->facts->uid);
    ev.bind.node = xstrdup(pod->node_name);
    builtin_post(b, &ev);
    heap_set(&b->sched.wake, &pod->wake, b->clock.now + COST_HTTP_TIMEOUT);
}

static void assume(struct builtin *b, struct sched_node *node)
{
    struct sched *s = &b->sched;
    struct sched_pod *pod = s->pod;
    cycle_done(s);
    cache_charge(s, pod, node->facts->name);
    put(s, pod, SCHED_ASSUMED);
    pod->call = builtin_new_call(b);
    struct task *t =
        sim_clock_at(&b->clock, b->clock.now + COST_CYCLE + COST_TO_BIND, bind_call, b);
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

/* How many feasible nodes are enough. */
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
    return why ? why : sched_rules_refusal(s, pod, node);
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
    size_t want = enough(s->n_order), seen = 0;
    for (; seen < s->n_order && s->n_offered < want; seen++)
        try_node(s, s->order[(s->next_start + seen) % s->n_order]);
    if (s->n_order)
        s->next_start = (s->next_start + seen) % s->n_order;
}

static void ask(struct builtin *b, enum gang_event_kind kind, enum sched_state state)
{
    struct sched *s = &b->sched;
    s->state = state;
    s->call = builtin_new_call(b);
    struct gang_event ev = {
        .kind = kind,
        .id = s->call,
        .pod = decode_pod(s->pod->json, NULL),
        .names = s->names,
        .n_names = s->n_offered,
    };
    builtin_post(b, &ev);
}

/* The extender is asked about the nodes that passed, and not at all when none did. */
static void ask_filter(struct builtin *b)
{
    struct sched *s = &b->sched;
    s->n_offered = 0;
    refusals_clear(&s->refusals);
    scan(s);
    if (s->n_offered)
        ask(b, GANG_EV_FILTER, SCHED_FILTER);
    else
        cycle_rejected(b);
}

static void cycle_begin(struct builtin *b, struct sched_pod *pod)
{
    struct sched *s = &b->sched;
    char buf[128];
    put(s, pod, SCHED_CYCLE);
    s->pod = pod;
    sched_rules_prepare(s, b->claims, pod);
    s->free_at = b->clock.now + COST_CYCLE;
    s->extender_refused = false;
    s->n_offered = 0;
    /* The nominated node first, alone. */
    struct sched_node *nominated = cache_node(s, pod->facts->nominated);
    if (nominated && !refusal(s, pod, nominated, buf)) {
        offer(s, nominated);
        ask(b, GANG_EV_FILTER, SCHED_NOMINATED);
    } else {
        ask_filter(b);
    }
}

/* Keeps the offered nodes that the reply lets pass, in its order. */
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

static void filter_replied(struct builtin *b, const struct gang_filter_reply *r)
{
    struct sched *s = &b->sched;
    if (r->error) {
        struct sched_pod *pod = s->pod;
        cycle_done(s);
        failed_with_error(b, pod, r->error);
        return;
    }
    bool nominated = s->state == SCHED_NOMINATED;
    keep_passed(s, r);
    if (s->n_offered == 1)
        assume(b, s->offered[0]); /* no choice left: the scheduler does not score */
    else if (s->n_offered)
        ask(b, GANG_EV_PRIORITIZE, SCHED_PRIORITIZE);
    else if (nominated)
        ask_filter(b);
    else
        cycle_rejected(b);
}

static void prioritize_replied(struct builtin *b, const uint8_t *scores, size_t n)
{
    struct sched *s = &b->sched;
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
    assume(b, s->offered[best]);
}

static void bind_replied(struct builtin *b, uint64_t id, const char *error)
{
    struct sched_pod *pod = pod_by_call(&b->sched, id);
    if (!pod)
        return; /* given up, or deleted */
    if (error[0]) {
        bind_failed(b, pod, error);
        return;
    }
    pod->call = 0;
    heap_remove(&b->sched.wake, &pod->wake);
}

void sched_reply(struct builtin *b, const struct gang_effect *e)
{
    struct sched *s = &b->sched;
    if (e->kind == GANG_REPLY_BIND) {
        bind_replied(b, e->bind_reply.id, e->bind_reply.error);
        return;
    }
    uint64_t id = e->kind == GANG_REPLY_FILTER ? e->filter.id : e->prioritize.id;
    if (s->state == SCHED_IDLE || id != s->call)
        return;
    if (e->kind == GANG_REPLY_FILTER)
        filter_replied(b, &e->filter);
    else if (e->kind == GANG_REPLY_PRIORITIZE)
        prioritize_replied(b, e->prioritize.scores, e->prioritize.n);
}

/* ---- time ---- */

static void wake_due(struct builtin *b)
{
    struct sched *s = &b->sched;
    for (struct heap_node *n; (n = heap_top(&s->wake)) != NULL && n->at <= b->clock.now;) {
        struct sched_pod *pod = CONTAINER_OF(n, struct sched_pod, wake);
        if (pod->place == SCHED_ASSUMED)
            bind_timeout(b, pod);
        else
            put(s, pod, SCHED_ACTIVE);
    }
}

void sched_advance(struct builtin *b)
{
    struct sched *s = &b->sched;
    wake_due(b);
    if (b->clock.now < s->free_at)
        return;
    struct sched_pod *pod = pop_active(s);
    if (!pod)
        pod = pop_backoff(s);
    if (pod)
        cycle_begin(b, pod);
}

usec_t sched_next(const struct builtin *b)
{
    const struct sched *s = &b->sched;
    const struct heap_node *n = heap_top(&s->wake);
    usec_t at = n ? n->at : USEC_NEVER;
    bool work = !list_empty(&s->active) || !list_empty(&s->backoff);
    if (work && s->free_at < at)
        at = s->free_at;
    return at;
}

bool sched_asks(const struct sched *s)
{
    return s->state != SCHED_IDLE;
}

bool sched_settled(const struct sched *s)
{
    map_for_each (e, &s->pods) {
        const struct sched_pod *pod = e->value;
        if (pod->place == SCHED_ASSUMED || pod->place == SCHED_CYCLE ||
            pod->place == SCHED_ACTIVE || pod->place == SCHED_BACKOFF)
            return false;
    }
    return true;
}

void sched_init(struct sched *s)
{
    list_init(&s->active);
    list_init(&s->backoff);
    list_init(&s->unschedulable);
    list_init(&s->resting);
}

void sched_done(struct sched *s)
{
    refusals_clear(&s->refusals);
    sched_rules_forget(s);
    map_for_each (e, &s->pods)
        pod_free(e->value);
    map_done(&s->pods);
    heap_done(&s->wake);
    free(s->offered);
    free(s->names);
    cache_done(s);
}
