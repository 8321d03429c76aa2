/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.c - the step: takes facts, fires timers, plans, answers calls and reports changes.
 *
 * Also creates and frees the core.
 */
#include "gang/cluster/api_clock.h"
#include "gang/cluster/cache_budget.h"
#include "gang/cluster/class_labels.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/hold_quota.h"
#include "gang/cluster/job_limits.h"
#include "gang/cluster/kube_preemptions.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/nodes.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signature_changes.h"
#include "gang/cluster/step_work.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/cluster/watch_lag.h"
#include "gang/lifecycle/binding_results.h"
#include "gang/lifecycle/commit.h"
#include "gang/lifecycle/commit_batch.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/lifecycle/plan_pass.h"
#include "gang/lifecycle/pod_update.h"
#include "gang/lifecycle/predicate_parity.h"
#include "gang/lifecycle/reconcile.h"
#include "gang/lifecycle/steering.h"
#include "gang/lifecycle/suspension.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/queue_status.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/move_reservations.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/plan_gang.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/podgroups.h"
#include "gang/queue/fair_share.h"
#include "gang/queue/queues.h"
#include "gang/step/gang_invariants.h"
#include "gang/verb/verbs.h"

static char **copy_texts(const char *const *texts, size_t n)
{
    char **copy = xcalloc(n, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(texts[i]);
    return copy;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

struct gang_core *gang_core_new(const struct gang_config *config)
{
    struct gang_core *core = xcalloc(1, sizeof *core);
    core->config = *config;
    core->scheduler_names = copy_texts(config->scheduler_names, config->n_scheduler_names);
    list_init(&core->gangs);
    list_init(&core->open);
    list_init(&core->touched);
    list_init(&core->touched_later);
    list_init(&core->order_changed);
    list_init(&core->unsettled);
    list_init(&core->ending);
    blocked_init(core);
    costly_gangs_init(core);
    list_init(&core->wake.woken);
    list_init(&core->steering.unasked);
    list_init(&core->marks.reclassify);
    list_init(&core->marks.by_pods_changed);
    core->caches = cache_budget_new();
    list_init(&core->empty_classes);
    list_init(&core->earmarked);
    list_init(&core->marks.recheck_slots);
    list_init(&core->wake.sent);
    list_init(&core->filter_results);
    list_init(&core->marks.wide_anti_affinity);
    list_init(&core->ungrouped_changed);
    list_init(&core->rule_labels.stale);
    core->labels.gen = 1;
    core->due.wake.kind = TIMER_WAKE;
    core->due.steer.kind = TIMER_STEER;
    core->due.plan.kind = TIMER_PLAN;
    core->due.show.kind = TIMER_SHOW;
    core->due.batch.kind = TIMER_BATCH;
    core->due.labels.kind = TIMER_LABELS;
    core->due.shares.kind = TIMER_SHARES;
    core->due.queues.kind = TIMER_QUEUES;
    core->any_gpu = RES_UNKNOWN;
    core->lowest_priority = INT32_MAX;
    list_init(&core->queues.edited);
    list_init(&core->queues.unused);
    list_init(&core->queues_changed);
    list_init(&core->queues_to_emit);
    list_init(&core->queues_later);
    core->queue_grants = copy_texts(config->queue_grants, config->n_queue_grants);
    if (config->n_queue_grants)
        qsort(core->queue_grants, config->n_queue_grants, sizeof(char *), by_text);
    resource_ref(core, "pods"); /* never released: RES_PODS, RES_CPU, RES_MEMORY */
    resource_ref(core, "cpu");
    resource_ref(core, "memory");
    return core;
}

struct gang_core *gang_core_free(struct gang_core *core)
{
    if (!core)
        return NULL;
    map_for_each (e, &core->pods)
        pod_remove(core, e->value);
    groups_drop(core);
    queues_done(core);
    map_for_each (e, &core->nodes)
        node_drop(core, e->value);
    gone_done(core);
    kube_preemptions_done(core);
    queue_counting_done(core);
    amounts_done(core, &core->capacity);
    map_done(&core->pods);
    map_done(&core->names);
    map_done(&core->pods_by_queue);
    map_done(&core->nodes);
    map_done(&core->signatures);
    map_done(&core->rule_results);
    free(core->caches);
    map_done(&core->offered);
    classes_done(core);
    order_done(core);
    class_labels_done(core);
    claims_done(core);
    claim_rests_done(core);
    budgets_done(core);
    jobs_done(core);
    rule_labels_done(core);
    map_done(&core->hosts);
    map_done(&core->calls);
    blocked_done(core);
    costly_gangs_done(core);
    hold_quota_done(core);
    resources_done(core);
    free_texts(core->scheduler_names, core->config.n_scheduler_names);
    free_texts(core->queue_grants, core->config.n_queue_grants);
    free(core->by_id);
    parity_done(core);
    gang_invariants_done(core);
    heap_done(&core->timers);
    effects_done(&core->fx);
    free(core);
    return NULL;
}

/* The pod that the fact ends, if it is on a node; NULL: none. */
static const struct pod *ended_pod(const struct gang_core *core, const struct gang_event *ev)
{
    const struct pod *pod = NULL;
    if (ev->kind == GANG_EV_POD_GONE)
        pod = pod_by_name(core, ev->gone.ns, ev->gone.name);
    else if (ev->kind == GANG_EV_POD_SET &&
             (ev->pod->phase == PHASE_SUCCEEDED || ev->pod->phase == PHASE_FAILED))
        pod = pod_by_uid(core, ev->pod->uid);
    return pod && pod->node ? pod : NULL;
}

/* Whether the fact may help a gang, and muster did not cause it. Evicted pods, the pods that
 * replace them, and waiting pods are no such facts. */
static bool comes_from_outside(const struct gang_core *core, const struct gang_event *ev)
{
    static const bool always[GANG_EV_MAX] = {
        [GANG_EV_NODE_SET] = true,      [GANG_EV_NODE_GONE] = true,
        [GANG_EV_GROUP_SET] = true,     [GANG_EV_GROUP_GONE] = true,
        [GANG_EV_CLASS_SET] = true,     [GANG_EV_CLASS_GONE] = true,
        [GANG_EV_CLAIM_SET] = true,     [GANG_EV_CLAIM_GONE] = true,
        [GANG_EV_BUDGET_SET] = true,    [GANG_EV_BUDGET_GONE] = true,
        [GANG_EV_QUEUE_SET] = true,     [GANG_EV_QUEUE_GONE] = true,
        [GANG_EV_NAMESPACE_SET] = true, [GANG_EV_NAMESPACE_GONE] = true,
    };
    const struct pod *pod = ended_pod(core, ev);
    return always[ev->kind] || (pod && !pod->eviction.requested);
}

static void take_fact(struct gang_core *core, struct gang_event *ev)
{
    core->outside += comes_from_outside(core, ev);
    switch (ev->kind) {
    case GANG_EV_NODE_SET:
        on_node_set(core, STEAL(ev->node));
        break;
    case GANG_EV_NODE_GONE:
        on_node_gone(core, ev->gone.name);
        break;
    case GANG_EV_POD_SET:
        on_pod_set(core, STEAL(ev->pod));
        break;
    case GANG_EV_POD_GONE: {
        struct pod *pod = pod_by_name(core, ev->gone.ns, ev->gone.name);
        if (pod)
            on_pod_gone(core, pod);
        break;
    }
    case GANG_EV_GROUP_SET:
        on_podgroup_set(core, STEAL(ev->group));
        break;
    case GANG_EV_GROUP_GONE:
        on_podgroup_gone(core, &ev->gone);
        break;
    case GANG_EV_CLASS_SET:
        on_priority_class_set(core, STEAL(ev->class));
        break;
    case GANG_EV_CLASS_GONE:
        on_priority_class_gone(core, ev->gone.name);
        break;
    case GANG_EV_CLAIM_SET:
        on_claim_set(core, STEAL(ev->claim));
        break;
    case GANG_EV_CLAIM_GONE:
        on_claim_gone(core, &ev->gone);
        break;
    case GANG_EV_BUDGET_SET:
        on_budget_set(core, STEAL(ev->budget));
        break;
    case GANG_EV_BUDGET_GONE:
        on_budget_gone(core, ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_JOB_SET:
        on_job_set(core, STEAL(ev->job));
        break;
    case GANG_EV_JOB_GONE:
        on_job_gone(core, ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_QUEUE_SET:
        on_queue_set(core, STEAL(ev->queue));
        break;
    case GANG_EV_QUEUE_GONE:
        on_queue_gone(core, &ev->gone);
        break;
    case GANG_EV_NAMESPACE_SET:
        on_namespace_set(core, STEAL(ev->namespace));
        break;
    case GANG_EV_NAMESPACE_GONE:
        on_namespace_gone(core, ev->gone.name);
        break;
    case GANG_EV_SYNCED:
        core->synced = true;
        core->synced_at = core->now;
        api_time_seen(core, ev->synced.api_time);
        filter_results_synced(core);
        map_for_each (e, &core->pods)
            nomination_update(core, e->value); /* a node may have been listed after its pods */
        list_for_each (gang, &core->gangs, struct gang, in_core) {
            triggered(core, gang, TRIGGER_RESTART);
            gang_touch(core, gang);
        }
        break;
    case GANG_EV_WATCH:
        take_watch(core, ev->watch.of, ev->watch.behind);
        break;
    case GANG_EV_CALL_CLOSED:
        call_closed(core, ev->id);
        break;
    case GANG_EV_BIND_DONE:
        binding_done(core, ev);
        break;
    case GANG_EV_POD_READ:
        pod_read(core, ev);
        break;
    case GANG_EV_SUSPEND_REFUSED:
        suspend_refused(core, &ev->gone);
        break;
    case GANG_EV_STOP:
        stop_all(core);
        break;
    default: /* calls are answered later; TICK only changes the time */
        break;
    }
}

/* Changes that have waited count as facts when they take effect. */
static void take_claims(struct gang_core *core, struct claims_rest *rest)
{
    core->outside++;
    claims_settle(core, rest);
}

static void fire_timers(struct gang_core *core)
{
    struct heap_node *top;
    while ((top = heap_top(&core->timers)) != NULL && top->at <= core->now) {
        struct timer *t = CONTAINER_OF(top, struct timer, node);
        enum timer_kind kind = t->kind;
        void *owner = t->owner;
        if (is_pod_timer(kind))
            pod_timer_stop(core, owner, kind);
        else
            timer_stop(core, t);
        if (kind < GANG_TIMERS)
            gang_timer(core, owner, kind);
        else if (kind == TIMER_WAKE)
            wake_timer_fired(core);
        else if (kind == TIMER_STEER || kind == TIMER_PLAN || kind == TIMER_LABELS ||
                 kind == TIMER_SHARES || kind == TIMER_QUEUES)
            continue; /* each step does their work */
        else if (kind == TIMER_CLAIMS)
            take_claims(core, owner);
        else if (kind == TIMER_COSTLY)
            costly_gangs_timer_fired(core);
        else if (kind == TIMER_SHOW)
            gates_show(core);
        else if (kind == TIMER_BATCH)
            batch_timer_fired(core);
        else if (kind == TIMER_GATE)
            gate_timer_fired(core, owner);
        else if (kind == TIMER_WAKE_WRITE)
            wake_write_timer_fired(core, owner);
        else if (kind == TIMER_REJECTED_EARLY)
            early_rejection_end(core, owner);
        else
            pod_timer_fired(core, owner, kind);
    }
}

/*
 * Reconciles and plans until nothing changes. The loop terminates: a failed plan leaves nothing to
 * retry, and after a successful plan, one reconcile finds that the plan is complete.
 */
static void decide(struct gang_core *core)
{
    if (!core->synced || core->stopping)
        return;
    while (reconcile_touched(core))
        plan_pass(core);
    plan_pass(core);
    reconcile_touched(core);
}

/* Whether the connection of the bind call was closed in the same batch of events. */
static bool closed_already(const struct gang_event *events, size_t n, uint64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == GANG_EV_CALL_CLOSED && events[i].id == id)
            return true;
    return false;
}

/* If the call adds a new pod, the pod may complete its gang, so the gang is planned first. */
static void step_filter(struct gang_core *core, struct gang_event *ev)
{
    struct pod *pod = filter_learn(core, ev);
    if (!pod)
        return;
    if (pod->gang && pod->gang->marks.stale)
        decide(core);
    answer_filter(core, pod, ev);
}

static void answer_calls(struct gang_core *core, struct gang_event *events, size_t n)
{
    bool any_closed = false;
    for (size_t i = 0; i < n; i++)
        any_closed |= events[i].kind == GANG_EV_CALL_CLOSED;
    for (size_t i = 0; i < n; i++)
        switch (events[i].kind) {
        case GANG_EV_FILTER:
            step_filter(core, &events[i]);
            break;
        case GANG_EV_PRIORITIZE:
            answer_prioritize(core, &events[i]);
            break;
        case GANG_EV_PREEMPT:
            answer_preempt(core, &events[i]);
            break;
        case GANG_EV_BIND:
            if (any_closed && closed_already(events, n, events[i].id))
                refuse_bind(core, events[i].id, REASON_CALL_CLOSED);
            else
                answer_bind(core, &events[i]);
            break;
        default:
            break;
        }
}

static void report_touched(struct gang_core *core)
{
    struct gang *gang;
    while ((gang = touched_take(core)) != NULL) {
        if (gang_sweep(core, gang))
            continue;
        queue_show_gang(core, gang);
        if (!core->synced)
            continue;
        bool left = plan_is_deferred(core, gang); /* a later step decides about its status */
        if (left)
            touched_later(core, gang);
        else
            emit_status(core, gang);
        gang_invariants_live(core, gang, /* counted= */ !left && !gang->over);
        gates_of(core, gang);
    }
    touched_return(core);
}

const struct gang_effect *gang_step(struct gang_core *core, usec_t now, struct gang_event *events,
                                    size_t n_events, size_t *ret_n)
{
    effects_begin(core);
    core->now = now;
    core->steps++;
    step_work_begin(core);
    shares_pass_time(core);
    for (size_t i = 0; i < n_events; i++)
        take_fact(core, &events[i]);
    fire_timers(core);
    queues_settle(core);
    rule_labels_sweep(core);
    rule_labels_settle(core);
    displaced_slots_settle(core);
    decide(core);
    answer_calls(core, events, n_events);
    rule_labels_settle(core);
    displaced_slots_settle(core);
    decide(core);
    if (core->synced && !core->stopping) {
        wake_blocked(core);
        steer_unasked(core);
        gates_of_ungrouped(core);
    }
    report_touched(core);
    queues_sweep(core);
    if (core->synced)
        emit_queue_statuses(core);
    if (!plans_wait(core))
        order_settle(core);
    nodes_sweep(core);
    class_labels_sweep(core);
    classes_sweep(core);
    *ret_n = core->fx.n;
    return core->fx.items;
}

usec_t gang_core_next(const struct gang_core *core)
{
    const struct heap_node *top = heap_top(&core->timers);
    return top ? top->at : USEC_NEVER;
}

bool gang_core_synced(const struct gang_core *core)
{
    return core->synced;
}

bool gang_core_plans_deferred(const struct gang_core *core)
{
    return core->plans_deferred;
}
