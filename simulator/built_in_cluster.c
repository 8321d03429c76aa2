/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The top of the built-in cluster: the cluster operations, the core's effects and watch events. The
 * files below it, lowest first. Each file calls only files that are listed before it:
 *
 *   sim_clock           simulated time, and tasks that are due at a time
 *   api_server          stores objects
 *   controllers         kubelet, Job controller and garbage collectors
 *   disruption          the disruption controller, and its budgets for evictions
 *   scenario_timetable  the scenario's changes of objects
 *   queue_objects       queues, and namespaces that name one
 *   suspended_jobs      Jobs that muster suspends
 *   scheduler_cache     kube-scheduler's cache of nodes, and its filters for one node
 *   scheduler_filters   its filters that read other pods and volumes
 *   scheduler_queue     its queue
 *   scheduler_cycle     its scheduling and binding cycles
 */
#include "simulator/built_in_cluster.h"

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "simulator/controllers.h"
#include "simulator/disruption.h"
#include "simulator/queue_objects.h"
#include "simulator/scenario_timetable.h"
#include "simulator/scheduler_cycle.h"
#include "simulator/suspended_jobs.h"

enum { MAX_EVENTS = 1000 };

/* If a budget forbids an eviction, muster's writer tries again after pauses that double up to the
 * longest. Here it makes this number of pauses, which last the 300 s that the core waits. */
#define EVICT_PAUSE_MIN (1 * USEC_PER_SEC)
#define EVICT_PAUSE_MAX (15 * USEC_PER_SEC)
enum { EVICT_PAUSES = 23 };

struct builtin {
    struct cluster base;
    struct cluster_sink sink;
    struct scenario *scenario;
    bool started;
    struct sim_clock clock;
    struct store store;
    struct disruption disruption;
    struct scenario_timetable timetable;
    struct claim_topology *claims;
    struct queue_objects *queues;
    struct suspended_jobs *suspended;
    struct sched sched;
    json_t *events; /* the last MAX_EVENTS Kubernetes events */
};

/* ---- events to the core ---- */

static void post(struct builtin *b, struct gang_event *ev)
{
    b->sink.post(b->sink.arg, ev);
}

static void post_gone(struct builtin *b, enum gang_event_kind kind, const json_t *json)
{
    struct gang_event ev = {.kind = kind};
    cleanup_free char *group = manifest_group(json);
    ev.gone.name = xstrdup(manifest_name(json));
    if (kind != GANG_EV_NODE_GONE && kind != GANG_EV_CLASS_GONE)
        ev.gone.ns = xstrdup(manifest_ns(json));
    if (kind == GANG_EV_GROUP_GONE)
        ev.gone.api_group = xstrdup(group);
    post(b, &ev);
}

/* The core does not see an object that cannot be decoded. Objects are checked when the scenario is
 * read, so this can happen only after a patch. */
static void skipped(const struct err *err)
{
    log_warning("Built-in cluster skipped an object that cannot be decoded", "error", err->text,
                NULL);
}

static void show_node(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_NODE_SET};
    if (gone) {
        post_gone(b, GANG_EV_NODE_GONE, json);
        sched_remove_node(&b->sched, manifest_name(json));
        return;
    }
    ev.node = decode_node(json, &err);
    if (!ev.node) {
        skipped(&err);
        return;
    }
    post(b, &ev);
    sched_show_node(&b->sched, json);
}

static void note_owners(struct builtin *b, const struct gang_pod_facts *pod, const json_t *json)
{
    const struct gang_ref *ref = &pod->group;
    struct object *o =
        ref->name ? store_find(&b->store, KIND_POD_GROUP, ref->api_group, ref->ns, ref->name)
                  : NULL;
    if (o && !o->owners)
        o->owners = dialect_owners(json);
}

static void show_pod(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_POD_SET};
    disruption_changed(&b->disruption);
    if (gone) {
        post_gone(b, GANG_EV_POD_GONE, json);
        sched_remove_pod(&b->sched, field_peek(json, "metadata", "uid", NULL));
        return;
    }
    ev.pod = decode_pod(json, &err);
    if (!ev.pod) {
        skipped(&err);
        return;
    }
    note_owners(b, ev.pod, json);
    post(b, &ev);
    sched_show_pod(&b->sched, json);
}

static void show_group(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_GROUP_SET};
    if (gone) {
        post_gone(b, GANG_EV_GROUP_GONE, json);
        cleanup_free char *api_group = manifest_group(json);
        suspended_jobs_group_gone(
            b->suspended, &(struct gang_ref){api_group, (char *)(uintptr_t)manifest_ns(json),
                                             (char *)(uintptr_t)manifest_name(json)});
        return;
    }
    cleanup_free char *group = manifest_group(json);
    ev.group = decode_group(dialect_by_group(group), json, &err);
    if (ev.group)
        post(b, &ev);
    else
        skipped(&err);
}

static void show_claim(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    if (gone)
        claim_topology_gone(b->claims, manifest_ns(json), manifest_name(json));
    else if (claim_topology_set(b->claims, json, &err) < 0)
        skipped(&err);
    sched_claims_changed(&b->sched);
}

static void show_volume(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    if (gone)
        claim_topology_volume_gone(b->claims, manifest_name(json));
    else if (claim_topology_set_volume(b->claims, json, &err) < 0)
        skipped(&err);
    sched_claims_changed(&b->sched);
}

static void show_job(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_JOB_SET};
    suspended_jobs_show(b->suspended, json, gone);
    if (gone) {
        post_gone(b, GANG_EV_JOB_GONE, json);
        return;
    }
    ev.job = decode_job(json, &err);
    if (ev.job)
        post(b, &ev);
    else
        skipped(&err);
}

static void show_class(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_CLASS_SET};
    suspended_jobs_show_class(b->suspended, json, gone);
    if (gone) {
        post_gone(b, GANG_EV_CLASS_GONE, json);
        return;
    }
    ev.class = decode_class(json, &err);
    if (ev.class)
        post(b, &ev);
    else
        skipped(&err);
}

static void show_budget(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_BUDGET_SET};
    disruption_changed(&b->disruption);
    if (gone) {
        post_gone(b, GANG_EV_BUDGET_GONE, json);
        return;
    }
    ev.budget = decode_budget(json, &err);
    if (ev.budget)
        post(b, &ev);
    else
        skipped(&err);
}

static void show_queue(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    if (queue_objects_show(b->queues, json, gone, &err) < 0)
        skipped(&err);
}

static void show_namespace(struct builtin *b, json_t *json, bool gone)
{
    struct err err;
    if (queue_objects_show_namespace(b->queues, json, gone, &err) < 0)
        skipped(&err);
}

static void show(struct builtin *b, enum manifest_kind kind, json_t *json, bool gone)
{
    static void (*const shows[KIND_MAX])(struct builtin *, json_t *, bool) = {
        [KIND_NODE] = show_node,
        [KIND_POD] = show_pod,
        [KIND_POD_GROUP] = show_group,
        [KIND_PRIORITY_CLASS] = show_class,
        [KIND_CLAIM] = show_claim,
        [KIND_VOLUME] = show_volume,
        [KIND_QUEUE] = show_queue,
        [KIND_ELASTIC_QUOTA] = show_queue,
        [KIND_NAMESPACE] = show_namespace,
        [KIND_BUDGET] = show_budget,
        [KIND_JOB] = show_job,
    };
    if (shows[kind])
        shows[kind](b, json, gone);
}

/* ---- effects ---- */

static void post_result(struct builtin *b, enum gang_event_kind kind, const struct task *t,
                        enum gang_outcome outcome, const char *node, const char *text)
{
    struct gang_event ev = {.kind = kind};
    ev.result.uid = xstrdup(t->uid);
    ev.result.node = xstrdup_null(node);
    ev.result.text = xstrdup_null(text);
    ev.result.outcome = outcome;
    post(b, &ev);
}

/* The pods/binding subresource. Source: pkg/registry/core/pod/storage assignPod. */
static void bind_write(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_find(&b->store, KIND_POD, NULL, t->ns, t->name);
    cleanup_free char *text = NULL;
    enum gang_outcome outcome = OUTCOME_UNCLEAR;
    const char *node = o ? field_peek(o->json, "spec", "nodeName", NULL) : NULL;
    if (!o) {
        outcome = OUTCOME_REFUSED;
        text = xasprintf("pods \"%s\" not found", t->name);
    } else if (strcmp(o->uid, t->uid) != 0) {
        outcome = OUTCOME_REFUSED;
        text = xasprintf("the UID in the precondition (%s) does not match the UID in record (%s)",
                         t->uid, o->uid);
    } else if (field_peek(o->json, "metadata", "deletionTimestamp", NULL)) {
        text = xasprintf("pod %s is being deleted, cannot be assigned to a host", t->name);
    } else if (node) {
        text = xasprintf("pod %s is already assigned to node \"%s\"", t->name, node);
    } else {
        outcome = OUTCOME_OK;
        char stamp[32];
        json_t *patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s}]}}", "spec", "nodeName", t->to,
                                  "status", "conditions", "type", "PodScheduled", "status", "True",
                                  "lastTransitionTime", sim_clock_timestamp(&b->clock, stamp));
        store_patch(&b->store, o, patch);
        run_bound(&b->store, o);
    }
    post_result(b, GANG_EV_BIND_DONE, t, outcome, t->to, text);
}

static void pod_read(void *owner, struct task *t)
{
    struct builtin *b = owner;
    const struct object *o = store_find(&b->store, KIND_POD, NULL, t->ns, t->name);
    if (!o || strcmp(o->uid, t->uid) != 0) {
        post_result(b, GANG_EV_POD_READ, t, OUTCOME_REFUSED, NULL, "no such pod");
        return;
    }
    const char *node = field_peek(o->json, "spec", "nodeName", NULL);
    post_result(b, GANG_EV_POD_READ, t, node ? OUTCOME_OK : OUTCOME_UNBOUND, node, NULL);
}

static void nominate_write(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_find(&b->store, KIND_POD, NULL, t->ns, t->name);
    if (!o || strcmp(o->uid, t->uid) != 0 ||
        str_eq(field_peek(o->json, "status", "nominatedNodeName", NULL), t->to))
        return;
    json_t *patch = json_pack("{s:{s:o}}", "status", "nominatedNodeName",
                              t->to ? json_string(t->to) : json_null());
    store_patch(&b->store, o, patch);
}

/* Writes the nomination before the gates, as muster does. */
static void ungate_write(void *owner, struct task *t)
{
    struct builtin *b = owner;
    if (t->to)
        nominate_write(b, t);
    struct object *o = store_find(&b->store, KIND_POD, NULL, t->ns, t->name);
    if (!o || strcmp(o->uid, t->uid) != 0)
        return;
    json_t *left = json_array();
    size_t i;
    json_t *gate;
    json_array_foreach(json_object_get(json_object_get(o->json, "spec"), "schedulingGates"), i,
                       gate) if (!str_eq(field_peek(gate, "name", NULL), GANG_GATE))
        json_array_append(left, gate);
    json_t *patch = json_pack("{s:{s:o}}", "spec", "schedulingGates", left);
    store_patch(&b->store, o, patch);
}

static sim_task_fn evict_write;

static void evict_later(struct builtin *b, struct task *t)
{
    usec_t pause = t->n < 4 ? EVICT_PAUSE_MIN << t->n : EVICT_PAUSE_MAX;
    struct task *next = sim_clock_at(&b->clock, b->clock.now + pause, evict_write, b);
    next->ns = STEAL(t->ns);
    next->name = STEAL(t->name);
    next->uid = STEAL(t->uid);
    next->n = t->n + 1;
}

static void evict_write(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_find(&b->store, KIND_POD, NULL, t->ns, t->name);
    if (!o || strcmp(o->uid, t->uid) != 0)
        return;
    if (disruption_take(&b->store, o))
        run_delete(&b->store, o);
    else if (t->n < EVICT_PAUSES)
        evict_later(b, t);
}

static void mark_write(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_pod(&b->store, t->uid);
    if (!o)
        return;
    json_t *conditions = json_pack("[{s:s, s:s, s:s, s:s}]", "type", "DisruptionTarget", "status",
                                   "True", "reason", GANG_VICTIM_MARK, "message", t->to);
    size_t i;
    json_t *c;
    const json_t *before = json_object_get(json_object_get(o->json, "status"), "conditions");
    json_array_foreach(before, i, c)
    {
        if (!str_eq(field_peek(c, "type", NULL), "DisruptionTarget"))
            json_array_append(conditions, c);
    }
    store_patch(&b->store, o, json_pack("{s:{s:o}}", "status", "conditions", conditions));
}

/* Writes muster's text into the PodScheduled condition. */
static void patch_condition_write(void *owner, struct task *t)
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

static void pod_effect(struct builtin *b, const struct gang_effect *e, usec_t cost,
                       sim_task_fn *run)
{
    struct task *t = sim_clock_at(&b->clock, b->clock.now + cost, run, b);
    t->ns = xstrdup(e->pod.ns);
    t->name = xstrdup(e->pod.name);
    t->uid = xstrdup(e->pod.uid);
    t->to = xstrdup_null(e->pod.node ? e->pod.node : e->pod.text);
}

/* Stores the status at once, so that the next status is computed from it. The watch shows it
 * COST_WATCH later. */
static void write_status(struct builtin *b, const struct gang_status *status)
{
    char stamp[32];
    usec_t wall;
    const struct dialect *d = dialect_of_objects(status->ref->api_group);
    struct object *o = store_find(&b->store, KIND_POD_GROUP, status->ref->api_group,
                                  status->ref->ns, status->ref->name);
    if (!d || !o || time_parse(sim_clock_timestamp(&b->clock, stamp), &wall, NULL) < 0)
        return;
    json_t *patch = d->status(status, &(struct dialect_view){o->json, o->owners, wall});
    if (patch)
        store_patch(&b->store, o, patch);
}

static struct object *object_of_event(struct builtin *b, const struct gang_effect *e)
{
    if (strcmp(e->event.kind, "Pod") == 0)
        return store_find(&b->store, KIND_POD, NULL, e->event.ns, e->event.name);
    return store_find(&b->store, KIND_POD_GROUP, e->event.api_group, e->event.ns, e->event.name);
}

static void keep_event(struct builtin *b, const struct gang_effect *e)
{
    char stamp[32];
    json_t *event = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "time",
                              sim_clock_timestamp(&b->clock, stamp), "kind", e->event.kind,
                              "namespace", e->event.ns, "name", e->event.name, "type",
                              e->event.warning ? "Warning" : "Normal", "reason", e->event.reason,
                              "message", e->event.message);
    if (event)
        json_array_append_new(b->events, event);
    if (json_array_size(b->events) > MAX_EVENTS)
        json_array_remove(b->events, 0);
}

/* Does nothing if the object is gone (NULL). */
static void report_event(struct builtin *b, const struct gang_effect *e, const struct object *o)
{
    if (!o)
        return;
    cleanup_free char *text = xasprintf("%s: %s", e->event.reason, e->event.message);
    store_report(&b->store, SIMULATED_EVENT, o, NULL, text);
}

static void write_queue_status(struct builtin *b, const struct gang_queue_status *status)
{
    bool has_conditions;
    struct gang_effect e = {.kind = GANG_EVENT};
    const struct object *o = queue_objects_write(b->queues, status, &has_conditions);
    if (!o)
        return;
    e.event.kind = manifest_kind_name(o->kind);
    e.event.ns = manifest_ns(o->json);
    e.event.name = manifest_name(o->json);
    e.event.warning = true;
    e.event.reason = gang_reason_name(status->reason);
    e.event.message = status->text;
    if (!has_conditions)
        keep_event(b, &e);
    report_event(b, &e, o);
}

/* ---- operations ---- */

static struct builtin *of(const struct cluster *c)
{
    return CONTAINER_OF((struct cluster *)(uintptr_t)c, struct builtin, base);
}

static void builtin_apply(struct cluster *c, usec_t now, const struct gang_effect *e)
{
    struct builtin *b = of(c);
    b->clock.now = now;
    switch (e->kind) {
    case GANG_BIND:
        pod_effect(b, e, COST_WRITE, bind_write);
        break;
    case GANG_READ_POD:
        pod_effect(b, e, COST_READ, pod_read);
        break;
    case GANG_NOMINATE:
        pod_effect(b, e, COST_WRITE, nominate_write);
        break;
    case GANG_UNGATE:
        pod_effect(b, e, e->pod.node ? 2 * COST_WRITE : COST_WRITE, ungate_write);
        break;
    case GANG_MARK_VICTIM:
        pod_effect(b, e, COST_WRITE, mark_write);
        break;
    case GANG_EVICT:
        pod_effect(b, e, COST_WRITE, evict_write);
        break;
    case GANG_PATCH_CONDITION:
        pod_effect(b, e, COST_WRITE, patch_condition_write);
        break;
    case GANG_STATUS:
        write_status(b, &e->status);
        break;
    case GANG_EVENT:
        keep_event(b, e);
        report_event(b, e, object_of_event(b, e));
        break;
    case GANG_REPLY_FILTER:
    case GANG_REPLY_PRIORITIZE:
    case GANG_REPLY_PREEMPT:
    case GANG_REPLY_BIND:
        sched_reply(&b->sched, e);
        break;
    case GANG_QUEUE_STATUS:
        write_queue_status(b, &e->queue);
        break;
    case GANG_SUSPEND:
        suspended_jobs_suspend(b->suspended, e);
        break;
    case GANG_RESUME:
        suspended_jobs_resume(b->suspended, e);
        break;
    case GANG_EFFECT_MAX:
        break;
    }
}

/* The classes that every API server has. */
static void show_system_classes(struct builtin *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(store_system_classes); i++) {
        struct gang_event ev = {.kind = GANG_EV_CLASS_SET,
                                .class = gang_priority_class_facts_new()};
        ev.class->name = xstrdup(store_system_classes[i].name);
        ev.class->value = store_system_classes[i].value;
        post(b, &ev);
    }
}

/* Runs the tasks that are due. A task without a function shows a change of an object. */
static void run_due(struct builtin *b, usec_t until)
{
    for (struct task *t; (t = sim_clock_due(&b->clock, until)) != NULL; sim_task_free(t)) {
        if (t->run)
            t->run(t->owner, t);
        else
            show(b, (enum manifest_kind)t->id, t->json, t->n != 0);
    }
}

/* Creates the scenario's first objects and shows them before anything else happens, like a list. */
static void list_objects(struct builtin *b)
{
    b->store.listing = true;
    for (size_t i = 0; i < json_array_size(b->scenario->objects); i++) {
        run_create(&b->store, json_deep_copy(json_array_get(b->scenario->objects, i)));
        run_due(b, STORE_LISTED);
    }
    disruption_sync(&b->disruption);
    run_due(b, STORE_LISTED);
    b->store.listing = false;
}

static void start(struct builtin *b)
{
    b->started = true;
    b->clock.origin = b->clock.now;
    if (b->clock.wall < 0)
        b->clock.wall = usec_wall();
    show_system_classes(b);
    list_objects(b);
    struct gang_event synced = {.kind = GANG_EV_SYNCED, .synced.api_time = b->clock.wall};
    post(b, &synced);
    scenario_timetable_start(&b->timetable);
}

static void builtin_advance(struct cluster *c, usec_t now)
{
    struct builtin *b = of(c);
    b->clock.now = now;
    if (sched_asks(&b->sched))
        return; /* the reply must come first, because the call borrows names of nodes */
    if (!b->started)
        start(b);
    run_due(b, now);
    sched_advance(&b->sched);
}

static usec_t builtin_next(const struct cluster *c)
{
    const struct builtin *b = of(c);
    if (!b->started)
        return 0;
    if (sched_asks(&b->sched))
        return USEC_NEVER;
    usec_t sched = sched_next(&b->sched), task = sim_clock_next(&b->clock);
    return task < sched ? task : sched;
}

static void builtin_close(struct cluster *c, usec_t deadline)
{
    (void)deadline; /* every write is complete at once */
    struct builtin *b = of(c);
    sim_clock_done(&b->clock);
    sched_done(&b->sched);
    claim_topology_free(b->claims);
    queue_objects_free(b->queues);
    suspended_jobs_free(b->suspended);
    store_done(&b->store);
    json_decref(b->events);
    scenario_free(b->scenario);
    free(b);
}

static const struct cluster_ops builtin_ops = {
    .apply = builtin_apply,
    .advance = builtin_advance,
    .next = builtin_next,
    .close = builtin_close,
};

struct cluster *builtin_cluster_new(struct scenario *scenario, const struct cluster_sink *sink,
                                    usec_t wall)
{
    struct builtin *b = xcalloc(1, sizeof *b);
    b->base.ops = &builtin_ops;
    b->sink = *sink;
    b->scenario = scenario;
    b->clock.wall = wall;
    b->store.clock = &b->clock;
    b->disruption.store = &b->store;
    b->timetable = (struct scenario_timetable){&b->store, scenario};
    b->claims = claim_topology_new(sink);
    b->queues = queue_objects_new(&b->store, &b->sink);
    b->suspended = suspended_jobs_new(&b->store, &b->sink);
    b->events = json_array();
    sched_init(&b->sched, &b->store, b->claims, sink);
    return &b->base;
}

int builtin_cluster_open(const char *path, const struct cluster_sink *sink, struct cluster **ret,
                         struct err *err)
{
    struct scenario *s = scenario_load(path, err);
    if (!s)
        return -1;
    *ret = builtin_cluster_new(s, sink, /* wall= */ -1);
    return 0;
}

/* ---- observation ---- */

void builtin_cluster_watch(struct cluster *c, builtin_watch_fn *fn, void *arg)
{
    struct builtin *b = of(c);
    b->store.watch = fn;
    b->store.watch_arg = arg;
}

usec_t builtin_cluster_clock(const struct cluster *c, usec_t now)
{
    const struct builtin *b = of(c);
    return b->started ? now - b->clock.origin : 0;
}

bool builtin_cluster_settled(const struct cluster *c)
{
    const struct builtin *b = of(c);
    return b->started && sim_clock_next(&b->clock) == USEC_NEVER && sched_settled(&b->sched);
}

const json_t *builtin_cluster_object(const struct cluster *c, enum manifest_kind kind,
                                     const char *api_group, const char *ns, const char *name)
{
    const struct object *o = store_find(&of(c)->store, kind, api_group, ns, name);
    return o ? o->json : NULL;
}

void builtin_cluster_each(const struct cluster *c, enum manifest_kind kind, builtin_object_fn *fn,
                          void *arg)
{
    map_for_each (e, &of(c)->store.objects[kind]) {
        const struct object *o = e->value;
        fn(arg, o->json);
    }
}

const json_t *builtin_cluster_events(const struct cluster *c)
{
    return of(c)->events;
}
