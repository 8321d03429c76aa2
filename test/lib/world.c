/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/world.h"

#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "test/lib/cpu_cost.h"

struct world *world_new_with(struct gang_config config, bool synced)
{
    struct world *w = xcalloc(1, sizeof *w);
    w->core = gang_core_new(&config);
    w->now = SECONDS(1000);
    if (synced)
        world_sync(w);
    return w;
}

struct world *world_new(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    return world_new_with(config, true);
}

struct world *world_of_nodes(int n, int gpus)
{
    struct world *w = world_new();
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(w, name, gpus);
    }
    return w;
}

struct world *world_express(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.express_lane = true;
    return world_new_with(config, true);
}

struct world *world_checked(void)
{
    struct world *w = world_express();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 9);
    world_pod(w, "g-0", "g", 1);
    world_wait(w, SECONDS(2));
    return w;
}

bool world_lane_is_open(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.express && !stats.express_closed;
}

static void strings_clear(char **items, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        free(items[i]);
    *n = 0;
}

void world_forget(struct world *w)
{
    strings_clear(w->bindings, &w->n_bindings);
    strings_clear(w->reads, &w->n_reads);
    strings_clear(w->nominations, &w->n_nominations);
    strings_clear(w->events, &w->n_events);
    strings_clear(w->marked, &w->n_marked);
    strings_clear(w->evictions, &w->n_evictions);
    strings_clear(w->ungated, &w->n_ungated);
    strings_clear(w->workloads, &w->n_workloads);
    strings_clear(w->told, &w->n_told);
}

void world_free(struct world *w)
{
    world_forget(w);
    for (size_t i = 0; i < w->n_calls; i++) {
        free(w->calls[i].pod);
        free(w->calls[i].error);
    }
    free(w->calls);
    free(w->bindings);
    free(w->reads);
    free(w->nominations);
    free(w->events);
    free(w->marked);
    free(w->evictions);
    free(w->ungated);
    free(w->workloads);
    free(w->told);
    free(w->last_status);
    free(w->passed);
    free(w->refusal);
    free(w->kept);
    map_done(&w->nodes);
    map_for_each (e, &w->links)
        free(e->value);
    map_done(&w->links);
    gang_core_free(w->core);
    free(w);
}

#define PUSH(w, list, text)                                                                        \
    do {                                                                                           \
        GROW((w)->list, (w)->cap_##list, (w)->n_##list + 1);                                       \
        (w)->list[(w)->n_##list++] = (text);                                                       \
    } while (0)

static void keep(char **place, char *text)
{
    free(*place);
    *place = text;
}

static void see_filter(struct world *w, const struct gang_effect *e, const struct gang_event *ev)
{
    struct buf b = BUF_INIT;
    const struct gang_filter_reply *r = &e->filter;
    assert_true(!r->error || r->error[0]);
    for (size_t i = 0; i < (r->pass_all ? ev->n_names : r->n_passed); i++) {
        uint32_t at = r->pass_all ? (uint32_t)i : r->passed[i];
        assert_true(at < ev->n_names);
        buf_printf(&b, "%s%s", i ? " " : "", ev->names[at]);
    }
    for (size_t i = 0; i < r->n_refused; i++)
        assert_true(r->refused[i].index < ev->n_names && r->refused[i].text[0]);
    keep(&w->passed, buf_steal(&b));
    w->n_refused = r->n_refused;
    w->n_full = r->n_full;
    keep(&w->refusal, xstrdup(r->error ? r->error : r->n_refused ? r->refused[0].text : ""));
}

static void see_reply(struct world *w, const struct gang_effect *e)
{
    for (size_t i = 0; i < w->n_calls; i++)
        if (w->calls[i].id == e->bind_reply.id) {
            assert_false(w->calls[i].answered); /* I3: exactly once */
            w->calls[i].answered = true;
            w->calls[i].error = xstrdup(e->bind_reply.error);
            return;
        }
    fail_msg("reply to an unknown bind call: %llu", (unsigned long long)e->bind_reply.id);
}

static void see(struct world *w, const struct gang_effect *e, const struct gang_event *ev)
{
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        see_filter(w, e, ev);
        break;
    case GANG_REPLY_PRIORITIZE:
        assert_true(e->prioritize.n <= sizeof w->scores);
        memcpy(w->scores, e->prioritize.scores, e->prioritize.n);
        break;
    case GANG_REPLY_PREEMPT: {
        struct buf b = BUF_INIT;
        for (size_t i = 0; i < e->preempt.n_kept; i++)
            buf_printf(&b, "%s%s", i ? " " : "", ev->names[e->preempt.kept[i]]);
        keep(&w->kept, buf_steal(&b));
        break;
    }
    case GANG_REPLY_BIND:
        see_reply(w, e);
        break;
    case GANG_BIND:
        PUSH(w, bindings, xasprintf("%s@%s", e->pod.name, e->pod.node));
        break;
    case GANG_READ_POD:
        PUSH(w, reads, xstrdup(e->pod.name));
        break;
    case GANG_NOMINATE:
        PUSH(w, nominations, xasprintf("%s@%s", e->pod.name, e->pod.node ? e->pod.node : ""));
        break;
    case GANG_UNGATE:
        PUSH(w, ungated, xasprintf("%s@%s", e->pod.name, e->pod.node ? e->pod.node : ""));
        break;
    case GANG_STATUS:
        keep(&w->last_status,
             xasprintf("%s: %s", gang_state_name(e->status.state), e->status.text));
        w->n_statuses++;
        break;
    case GANG_EVENT:
        PUSH(w, events,
             xasprintf("%s/%s %s: %s", e->event.kind, e->event.name, e->event.reason,
                       e->event.message));
        break;
    case GANG_MARK_VICTIM:
        PUSH(w, marked, xstrdup(e->pod.name));
        break;
    case GANG_EVICT:
        PUSH(w, evictions, xstrdup(e->pod.name));
        break;
    case GANG_PATCH_CONDITION:
        PUSH(w, told, xasprintf("%s: %s", e->pod.name, e->pod.text));
        w->told_version = e->pod.version;
        break;
    case GANG_SUSPEND:
    case GANG_RESUME:
        PUSH(w, workloads,
             xasprintf("%s %s", e->kind == GANG_SUSPEND ? "suspend" : "resume",
                       e->workload.ref->name));
        break;
    case GANG_QUEUE_STATUS:
    case GANG_EFFECT_MAX:
        break;
    }
}

static const struct gang_event *event_of(const struct gang_effect *e,
                                         const struct gang_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((e->kind == GANG_REPLY_FILTER && events[i].id == e->filter.id) ||
            (e->kind == GANG_REPLY_PREEMPT && events[i].id == e->preempt.id))
            return &events[i];
    return NULL;
}

/* The watch shows the marks of these victims, a few in each step. */
static void show_marks(struct world *w, char **names, size_t n)
{
    enum { AT_ONCE = 16 };
    struct gang_event events[AT_ONCE];
    for (size_t i = 0, k = 0; i < n; i++) {
        const struct pod *pod = pod_by_name(w->core, "default", names[i]);
        if (pod) {
            events[k] = (struct gang_event){.kind = GANG_EV_POD_SET,
                                            .pod = gang_pod_facts_copy(pod->facts)};
            events[k++].pod->marked = true;
        }
        if (k == AT_ONCE || (i + 1 == n && k > 0)) {
            world_step(w, events, k);
            k = 0;
        }
    }
}

void world_step(struct world *w, struct gang_event *events, size_t n)
{
    size_t n_effects, first_mark = w->n_marked;
    double begin = cost_ms();
    const struct gang_effect *effects = gang_step(w->core, w->now, events, n, &n_effects);
    double took = cost_ms() - begin;
    w->longest_ms = took > w->longest_ms ? took : w->longest_ms;
    for (size_t i = 0; i < n_effects; i++)
        see(w, &effects[i], event_of(&effects[i], events, n));
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    struct err err;
    if (!w->unchecked && gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
    if (!w->marks_are_late && w->n_marked > first_mark)
        show_marks(w, w->marked + first_mark, w->n_marked - first_mark);
}

static void step_one(struct world *w, struct gang_event ev)
{
    world_step(w, &ev, 1);
}

void world_sync(struct world *w)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_SYNCED});
}

void world_watch(struct world *w, enum gang_watch of, bool behind)
{
    struct gang_event ev = {.kind = GANG_EV_WATCH};
    ev.watch.of = of;
    ev.watch.behind = behind;
    step_one(w, ev);
}

void world_stop(struct world *w)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_STOP});
}

/* ---- facts ---- */

struct gang_node_facts *world_gpu_node(const char *name, int gpus)
{
    struct gang_node_facts *f = gang_node_facts_new();
    f->name = xstrdup(name);
    gang_amounts_add(&f->allocatable, "pods", 110);
    gang_amounts_add(&f->allocatable, "cpu", 64000);
    gang_amounts_add(&f->allocatable, "memory", INT64_C(256) << 30);
    if (gpus)
        gang_amounts_add(&f->allocatable, "nvidia.com/gpu", gpus);
    gang_kvs_add(&f->labels, "kubernetes.io/hostname", name);
    return f;
}

void world_term_in(struct gang_term *term, const char *key, const char *value)
{
    term->items = xreallocarray(term->items, term->n + 1, sizeof *term->items);
    struct gang_requirement *r = &term->items[term->n++];
    *r = (struct gang_requirement){.key = xstrdup(key), .op = MATCH_IN, .n_values = 1};
    r->values = xcalloc(1, sizeof *r->values);
    r->values[0] = xstrdup(value);
}

void world_node_facts(struct world *w, struct gang_node_facts *facts)
{
    map_set(&w->nodes, facts->name, w);
    step_one(w, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = facts});
}

void world_node(struct world *w, const char *name, int gpus)
{
    world_node_facts(w, world_gpu_node(name, gpus));
}

void world_node_gone(struct world *w, const char *name)
{
    map_remove(&w->nodes, name);
    step_one(w,
             (struct gang_event){.kind = GANG_EV_NODE_GONE, .gone = {NULL, NULL, xstrdup(name)}});
}

struct gang_pod_facts *world_pod_facts(const char *name, const char *group, int gpus)
{
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->uid = xasprintf("uid-%s", name);
    f->scheduler = xstrdup("default-scheduler");
    if (group)
        f->group = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(group)};
    gang_amounts_add(&f->requests, "cpu", 1000);
    if (gpus)
        gang_amounts_add(&f->requests, "nvidia.com/gpu", gpus);
    return f;
}

static void note_link(struct world *w, const struct gang_pod_facts *facts)
{
    const char *group = facts->group.name;
    free(group ? map_set(&w->links, facts->name, xstrdup(group))
               : map_remove(&w->links, facts->name));
}

void world_pod_set(struct world *w, struct gang_pod_facts *facts)
{
    note_link(w, facts);
    step_one(w, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = facts});
}

void world_pod(struct world *w, const char *name, const char *group, int gpus)
{
    world_pod_set(w, world_pod_facts(name, group, gpus));
}

void world_pod_seen(struct world *w, const char *name, const char *group, int gpus,
                    const char *node, enum gang_phase phase)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->node = xstrdup_null(node);
    f->phase = phase;
    world_pod_set(w, f);
}

void world_pod_shaped(struct world *w, const char *name, const char *group, int gpus, int cpu,
                      int priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->requests.items[0].amount = cpu;
    f->priority = priority;
    world_pod_set(w, f);
}

void world_node_small(struct world *w, const char *name, int gpus, int cpu)
{
    struct gang_node_facts *f = world_gpu_node(name, gpus);
    f->allocatable.items[1].amount = cpu;
    world_node_facts(w, f);
}

void world_members(struct world *w, const char *group, int from, int to, int gpus)
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        world_pod(w, name, group, gpus);
    }
}

void world_pod_gone(struct world *w, const char *name)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_POD_GONE,
                                    .gone = {NULL, xstrdup("default"), xstrdup(name)}});
}

struct gang_group_facts *world_group_facts(const char *name, int min)
{
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(name)};
    f->uid = xasprintf("uid-%s", name);
    f->min_member = min;
    return f;
}

void world_group_set(struct world *w, struct gang_group_facts *facts)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = facts});
}

struct gang_subgroup *world_subgroup(struct gang_group_facts *f, const char *name,
                                     const char *parent, int min)
{
    f->subgroups = xreallocarray(f->subgroups, f->n_subgroups + 1, sizeof *f->subgroups);
    struct gang_subgroup *s = &f->subgroups[f->n_subgroups++];
    *s = (struct gang_subgroup){.name = xstrdup(name),
                                .parent = xstrdup_null(parent),
                                .min_member = min,
                                .min_children = -1};
    return s;
}

void world_suspend_refused(struct world *w, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_SUSPEND_REFUSED};
    ev.gone = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(name)};
    world_step(w, &ev, 1);
}

void world_budget(struct world *w, const char *name, const char *label, int allowed)
{
    struct gang_budget_facts *f = gang_budget_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->allowed = allowed;
    f->selector.items = xcalloc(1, sizeof *f->selector.items);
    f->selector.items[0] = (struct gang_requirement){.key = xstrdup(label), .op = MATCH_EXISTS};
    f->selector.n = 1;
    world_step(w, &(struct gang_event){.kind = GANG_EV_BUDGET_SET, .budget = f}, 1);
}

void world_budget_gone(struct world *w, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_BUDGET_GONE};
    ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xstrdup(name)};
    world_step(w, &ev, 1);
}

void world_job(struct world *w, const char *name, int64_t spare)
{
    struct gang_job_facts *f = gang_job_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->spare = spare;
    step_one(w, (struct gang_event){.kind = GANG_EV_JOB_SET, .job = f});
}

void world_class(struct world *w, const char *name, int value)
{
    struct gang_priority_class_facts *f = gang_priority_class_facts_new();
    f->name = xstrdup(name);
    f->value = value;
    step_one(w, (struct gang_event){.kind = GANG_EV_CLASS_SET, .class = f});
}

void world_role(struct world *w, const char *name, const char *group, const char *role, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->role = xstrdup(role);
    world_pod_set(w, f);
}

void world_try_members(struct world *w, const char *group, int from, int to)
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        world_try(w, name);
    }
}

void world_group_timeout(struct world *w, const char *name, int min, usec_t timeout)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    f->schedule_timeout = timeout;
    world_group_set(w, f);
}

void world_group(struct world *w, const char *name, int min)
{
    world_group_timeout(w, name, min, 0);
}

void world_group_gone(struct world *w, const char *name)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_GROUP_GONE,
                                    .gone = {xstrdup("test"), xstrdup("default"), xstrdup(name)}});
}

/* ---- verbs ---- */

struct gang_event world_filter_event(struct world *w, struct gang_pod_facts *facts,
                                     const char *const *names, size_t n)
{
    return (struct gang_event){
        .kind = GANG_EV_FILTER, .id = ++w->next_id, .pod = facts, .names = names, .n_names = n};
}

const char *world_filter_facts(struct world *w, struct gang_pod_facts *facts, const char *names)
{
    cleanup_free char *text = xstrdup(names);
    const char *list[4096];
    size_t n = 0;
    for (char *save, *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save))
        list[n++] = p;
    step_one(w, world_filter_event(w, facts, list, n));
    return w->passed;
}

const char *world_filter_on(struct world *w, const char *pod, const char *names,
                            const char *nominated)
{
    /* For a pod that the watch has shown, the core ignores the spec in the request. */
    struct gang_pod_facts *f = world_pod_facts(pod, map_get(&w->links, pod), 0);
    f->nominated = xstrdup_null(nominated);
    return world_filter_facts(w, f, names);
}

const char *world_filter(struct world *w, const char *pod)
{
    cleanup_buf struct buf b = BUF_INIT;
    map_for_each (e, &w->nodes)
        buf_printf(&b, "%s ", e->key);
    return world_filter_on(w, pod, buf_str(&b), NULL);
}

struct gang_event world_bind_event(struct world *w, const char *pod, const char *node)
{
    uint64_t id = ++w->next_id;
    GROW(w->calls, w->cap_calls, w->n_calls + 1);
    w->calls[w->n_calls++] = (struct world_call){id, xstrdup(pod), false, NULL};
    return (struct gang_event){
        .kind = GANG_EV_BIND,
        .id = id,
        .bind = {xstrdup("default"), xstrdup(pod), xasprintf("uid-%s", pod), xstrdup(node)}};
}

uint64_t world_bind(struct world *w, const char *pod, const char *node)
{
    struct gang_event ev = world_bind_event(w, pod, node);
    uint64_t id = ev.id;
    step_one(w, ev);
    return id;
}

uint64_t world_try(struct world *w, const char *pod)
{
    const char *node = world_filter(w, pod);
    return node[0] ? world_bind(w, pod, node) : 0;
}

const char *world_answer(const struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->n_calls; i++)
        if (w->calls[i].id == id)
            return w->calls[i].answered ? w->calls[i].error : NULL;
    fail_msg("unknown bind call: %llu", (unsigned long long)id);
    return NULL;
}

void world_close(struct world *w, uint64_t id)
{
    step_one(w, (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = id});
}

static void outcome(struct world *w, enum gang_event_kind kind, const char *pod, const char *node,
                    enum gang_outcome how)
{
    struct gang_event ev = {.kind = kind};
    ev.result.uid = xasprintf("uid-%s", pod);
    ev.result.node = xstrdup_null(node);
    ev.result.outcome = how;
    step_one(w, ev);
}

void world_result(struct world *w, const char *pod, const char *node, enum gang_outcome how)
{
    outcome(w, GANG_EV_BIND_DONE, pod, node, how);
}

void world_read(struct world *w, const char *pod, const char *node, enum gang_outcome how)
{
    outcome(w, GANG_EV_POD_READ, pod, node, how);
}

void world_all_bound(struct world *w)
{
    for (size_t i = 0; i < w->n_bindings; i++) {
        cleanup_free char *pod = xstrdup(w->bindings[i]);
        char *at = strchr(pod, '@');
        *at = '\0';
        world_result(w, pod, at + 1, OUTCOME_OK);
    }
}

void world_wait(struct world *w, usec_t t)
{
    usec_t end = w->now + t;
    while (gang_core_next(w->core) <= end) {
        usec_t next = gang_core_next(w->core);
        w->now = next > w->now ? next : w->now;
        step_one(w, (struct gang_event){.kind = GANG_EV_TICK});
    }
    w->now = end;
    step_one(w, (struct gang_event){.kind = GANG_EV_TICK});
}

void world_decide(struct world *w)
{
    world_wait(w, USEC_PER_MSEC);
}

/* ---- queries ---- */

struct look {
    const char *name;
    const char *state, *text;
};

static void look_gang(void *arg, const struct gang_view *v)
{
    struct look *l = arg;
    if (strcmp(v->status.ref->name, l->name) == 0) {
        l->state = gang_state_name(v->status.state);
        l->text = v->status.text;
    }
}

const char *world_state(const struct world *w, const char *group)
{
    struct look l = {group, "(none)", ""};
    gang_core_each_gang(w->core, look_gang, &l);
    return l.state;
}

const char *world_reason(const struct world *w, const char *group)
{
    struct look l = {group, "(none)", ""};
    gang_core_each_gang(w->core, look_gang, &l);
    return l.text;
}

static void look_reason(void *arg, const struct gang_view *view)
{
    struct look *l = arg;
    if (strcmp(view->status.ref->name, l->name) == 0)
        l->text = gang_reason_name(view->status.reason);
}

const char *world_reason_name(const struct world *w, const char *group)
{
    struct look l = {group, "(none)", ""};
    gang_core_each_gang(w->core, look_reason, &l);
    return l.text;
}

static void look_help(void *arg, const struct gang_view *view)
{
    struct look *l = arg;
    if (strcmp(view->status.ref->name, l->name) == 0)
        l->text = view->status.help;
}

const char *world_help(const struct world *w, const char *group)
{
    struct look l = {group, "(none)", ""};
    gang_core_each_gang(w->core, look_help, &l);
    return l.text;
}

bool world_evicted(const struct world *w, const char *pod)
{
    for (size_t i = 0; i < w->n_evictions; i++)
        if (strcmp(w->evictions[i], pod) == 0)
            return true;
    return false;
}

struct look_amount {
    const char *resource;
    int64_t used, reserved;
};

static void look_amount(void *arg, const char *resource, int64_t all, int64_t used,
                        int64_t reserved)
{
    (void)all;
    struct look_amount *l = arg;
    if (strcmp(resource, l->resource) == 0) {
        l->used = used;
        l->reserved = reserved;
    }
}

int64_t world_used(const struct world *w, const char *node, const char *resource)
{
    struct look_amount l = {resource, 0, 0};
    gang_core_each_amount(w->core, node, look_amount, &l);
    return l.used;
}

int64_t world_reserved(const struct world *w, const char *node, const char *resource)
{
    struct look_amount l = {resource, 0, 0};
    gang_core_each_amount(w->core, node, look_amount, &l);
    return l.reserved;
}

static bool among(char *const *items, size_t n, const char *item)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(items[i], item) == 0)
            return true;
    return false;
}

bool world_binding(const struct world *w, const char *pod_at_node)
{
    return among(w->bindings, w->n_bindings, pod_at_node);
}

bool world_nominated(const struct world *w, const char *pod_at_node)
{
    return among(w->nominations, w->n_nominations, pod_at_node);
}

bool world_event(const struct world *w, const char *text)
{
    for (size_t i = 0; i < w->n_events; i++)
        if (strstr(w->events[i], text))
            return true;
    return false;
}
