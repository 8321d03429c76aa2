/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line for each member of every struct that enters or leaves the core. Recordings have only the
 * members that are listed here. test_record compares the tables with the headers.
 */
#include "server/recording/record.h"

#define FIELD(s, m, k, ...)                                                                        \
    {                                                                                              \
        .name = #m, .kind = RECORD_##k, .offset = offsetof(struct s, m), ##__VA_ARGS__             \
    }
#define TEXT(s, m)           FIELD(s, m, TEXT)
#define MUST(s, m)           FIELD(s, m, TEXT, .required = true)
#define CONSTANT(s, m)       FIELD(s, m, CONSTANT)
#define BOOL(s, m)           FIELD(s, m, BOOL)
#define I32(s, m)            FIELD(s, m, I32)
#define I64(s, m)            FIELD(s, m, I64)
#define ENUM(s, m, w)        FIELD(s, m, ENUM, .words = w, .n_words = ARRAY_SIZE(w))
#define INSIDE(s, m, t)      FIELD(s, m, INSIDE, .of = t)
#define MUST_INSIDE(s, m, t) FIELD(s, m, INSIDE, .of = t, .required = true)
#define OWNED(s, m, t)       FIELD(s, m, OWNED, .of = t)
#define COUNT(s, c)          .count = offsetof(struct s, c), .count_name = #c
#define LIST(s, m, c, t)     FIELD(s, m, LIST, COUNT(s, c), .of = t)
#define TEXTS(s, m, c)       FIELD(s, m, TEXTS, COUNT(s, c))
/* Members of an unnamed struct type p in a union. */
#define PART(s, p, m, k, ...)                                                                      \
    {                                                                                              \
        .name = #m, .kind = RECORD_##k, .offset = offsetof(struct s, p.m), ##__VA_ARGS__           \
    }
#define PART_COUNT(s, p, c) .count = offsetof(struct s, p.c), .count_name = #c
#define TYPE(s, f)          .name = #s, .size = sizeof(struct s), .fields = f, .n_fields = ARRAY_SIZE(f)

/* ---- texts of enum values ---- */

static const char *const steerings[] = {
    [GANG_STEER_AUTO] = "auto", [GANG_STEER_ALWAYS] = "always", [GANG_STEER_NEVER] = "never"};
static const char *const taint_effects[] = {[TAINT_NO_SCHEDULE] = "NoSchedule",
                                            [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
                                            [TAINT_NO_EXECUTE] = "NoExecute"};
static const char *const match_ops[] = {
    [MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
    [MATCH_EXISTS] = "Exists", [MATCH_NOT_EXISTS] = "DoesNotExist",
    [MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
};
static const char *const phases[] = {[PHASE_PENDING] = "Pending",
                                     [PHASE_RUNNING] = "Running",
                                     [PHASE_SUCCEEDED] = "Succeeded",
                                     [PHASE_FAILED] = "Failed",
                                     [PHASE_UNKNOWN] = "Unknown"};
static const char *const matches[] = {[MATCH_ONCE] = "once",
                                      [MATCH_RUNNING] = "running",
                                      [MATCH_WAITING] = "waiting",
                                      [MATCH_DEFAULT] = "default"};
static const char *const preemptibles[] = {
    [PREEMPTIBLE_BY_PRIORITY] = "by priority", [PREEMPTIBLE_YES] = "yes", [PREEMPTIBLE_NO] = "no"};
static const char *const outcomes[] = {[OUTCOME_OK] = "ok",
                                       [OUTCOME_REFUSED] = "refused",
                                       [OUTCOME_UNCLEAR] = "unclear",
                                       [OUTCOME_UNBOUND] = "unbound"};
static const char *const watches[] = {[GANG_WATCH_NODES] = "nodes", [GANG_WATCH_PODS] = "pods"};
static const char *const states[] = {
#define X(id, name, help) name,
    GANG_STATES(X)
#undef X
};
static const char *const reasons[] = {
#define X(id, name, of, meaning) name,
    GANG_REASONS(X)
#undef X
};

/* ---- facts.h ---- */

static const struct record_field kv_fields[] = {MUST(gang_kv, key), MUST(gang_kv, value)};
static const struct record_type kv = {TYPE(gang_kv, kv_fields), .form = RECORD_ROW};
static const struct record_field kvs_fields[] = {LIST(gang_kvs, items, n, &kv)};
static const struct record_type kvs = {TYPE(gang_kvs, kvs_fields), .form = RECORD_BARE};

static const struct record_field amount_fields[] = {MUST(gang_amount, resource),
                                                    I64(gang_amount, amount)};
static const struct record_type amount = {TYPE(gang_amount, amount_fields), .form = RECORD_ROW};
static const struct record_field amounts_fields[] = {LIST(gang_amounts, items, n, &amount)};
static const struct record_type amounts = {TYPE(gang_amounts, amounts_fields), .form = RECORD_BARE};

static const struct record_field taint_fields[] = {
    MUST(gang_taint, key),
    MUST(gang_taint, value),
    ENUM(gang_taint, effect, taint_effects),
};
static const struct record_type taint = {TYPE(gang_taint, taint_fields)};

static const struct record_field toleration_fields[] = {
    TEXT(gang_toleration, key),
    TEXT(gang_toleration, value),
    BOOL(gang_toleration, exists),
    BOOL(gang_toleration, any_effect),
    ENUM(gang_toleration, effect, taint_effects),
};
static const struct record_type toleration = {TYPE(gang_toleration, toleration_fields)};

static const struct record_field requirement_fields[] = {
    BOOL(gang_requirement, on_name),
    MUST(gang_requirement, key),
    ENUM(gang_requirement, op, match_ops),
    TEXTS(gang_requirement, values, n_values),
};
static const struct record_type requirement = {TYPE(gang_requirement, requirement_fields)};
static const struct record_field term_fields[] = {LIST(gang_term, items, n, &requirement)};
static const struct record_type term = {TYPE(gang_term, term_fields), .form = RECORD_BARE};

static const struct record_field port_fields[] = {
    TEXT(gang_port, ip),
    MUST(gang_port, protocol),
    I32(gang_port, port),
};
static const struct record_type port = {TYPE(gang_port, port_fields)};

static const struct record_field ref_fields[] = {
    TEXT(gang_ref, api_group),
    TEXT(gang_ref, ns),
    TEXT(gang_ref, name),
};
static const struct record_type ref = {TYPE(gang_ref, ref_fields)}; /* of a deleted object */
static const struct record_field whole_ref_fields[] = {
    MUST(gang_ref, api_group),
    MUST(gang_ref, ns),
    MUST(gang_ref, name),
};
static const struct record_type whole_ref = {TYPE(gang_ref, whole_ref_fields)};

static const struct record_field selector_fields[] = {
    INSIDE(gang_selector, term, &term),
    TEXTS(gang_selector, namespaces, n_namespaces),
    BOOL(gang_selector, all_namespaces),
};
static const struct record_type selector = {TYPE(gang_selector, selector_fields)};

static const struct record_field spread_fields[] = {
    INSIDE(gang_spread, selector, &selector),
    I32(gang_spread, max_skew),
    I32(gang_spread, min_domains),
    BOOL(gang_spread, any_affinity),
    BOOL(gang_spread, taints_count),
    TEXTS(gang_spread, keys, n_keys),
};
static const struct record_type spread = {TYPE(gang_spread, spread_fields)};

static const struct record_field node_fields[] = {
    MUST(gang_node_facts, name),
    BOOL(gang_node_facts, unschedulable),
    INSIDE(gang_node_facts, labels, &kvs),
    LIST(gang_node_facts, taints, n_taints, &taint),
    INSIDE(gang_node_facts, allocatable, &amounts),
    TEXT(gang_node_facts, invalid),
};
const struct record_type record_node = {TYPE(gang_node_facts, node_fields)};

static const struct record_field pod_fields[] = {
    MUST(gang_pod_facts, ns),
    MUST(gang_pod_facts, name),
    MUST(gang_pod_facts, uid),
    I64(gang_pod_facts, version),
    TEXT(gang_pod_facts, node),
    TEXT(gang_pod_facts, nominated),
    TEXT(gang_pod_facts, scheduler),
    ENUM(gang_pod_facts, phase, phases),
    BOOL(gang_pod_facts, deleting),
    BOOL(gang_pod_facts, unschedulable),
    TEXT(gang_pod_facts, short_of),
    BOOL(gang_pod_facts, committed),
    I64(gang_pod_facts, bound_at),
    I64(gang_pod_facts, saved_at),
    BOOL(gang_pod_facts, preempted),
    BOOL(gang_pod_facts, marked),
    BOOL(gang_pod_facts, mark_ended),
    I64(gang_pod_facts, gone_by),
    I64(gang_pod_facts, said),
    BOOL(gang_pod_facts, said_alone),
    I32(gang_pod_facts, priority),
    I64(gang_pod_facts, created),
    BOOL(gang_pod_facts, gated),
    TEXTS(gang_pod_facts, gates, n_gates),
    INSIDE(gang_pod_facts, labels, &kvs),
    INSIDE(gang_pod_facts, group, &whole_ref),
    INSIDE(gang_pod_facts, queue, &whole_ref),
    ENUM(gang_pod_facts, preemptible, preemptibles),
    TEXT(gang_pod_facts, role),
    TEXT(gang_pod_facts, bad_link),
    TEXT(gang_pod_facts, awaits_group),
    OWNED(gang_pod_facts, declared, &record_group),
    INSIDE(gang_pod_facts, uniform, &kv),
    BOOL(gang_pod_facts, controlled),
    TEXT(gang_pod_facts, job),
    BOOL(gang_pod_facts, of_node),
    BOOL(gang_pod_facts, never_preempts),
    BOOL(gang_pod_facts, suspended),
    I64(gang_pod_facts, grace),
    TEXTS(gang_pod_facts, claims, n_claims),
    BOOL(gang_pod_facts, has_resource_claims),
    BOOL(gang_pod_facts, has_pvc),
    INSIDE(gang_pod_facts, requests, &amounts),
    LIST(gang_pod_facts, host_ports, n_host_ports, &port),
    INSIDE(gang_pod_facts, node_selector, &kvs),
    BOOL(gang_pod_facts, has_affinity),
    LIST(gang_pod_facts, affinity, n_affinity, &term),
    LIST(gang_pod_facts, tolerations, n_tolerations, &toleration),
    LIST(gang_pod_facts, anti_affinity, n_anti_affinity, &selector),
    LIST(gang_pod_facts, spreads, n_spreads, &spread),
    TEXT(gang_pod_facts, inexact),
    TEXT(gang_pod_facts, invalid),
    BOOL(gang_pod_facts, part),
    LIST(gang_pod_facts, wide_anti_affinity, n_wide_anti_affinity, &selector),
};
const struct record_type record_pod = {TYPE(gang_pod_facts, pod_fields)};

static const struct record_field subgroup_fields[] = {
    MUST(gang_subgroup, name),
    TEXT(gang_subgroup, parent),
    I64(gang_subgroup, min_member),
    I64(gang_subgroup, min_children),
    BOOL(gang_subgroup, by_labels),
    INSIDE(gang_subgroup, selector, &term),
    TEXTS(gang_subgroup, split_by, n_split_by),
    I64(gang_subgroup, part_size),
};
static const struct record_type subgroup = {TYPE(gang_subgroup, subgroup_fields)};

static const struct record_field group_fields[] = {
    MUST_INSIDE(gang_group_facts, ref, &whole_ref),
    MUST(gang_group_facts, uid),
    TEXT(gang_group_facts, invalid),
    CONSTANT(gang_group_facts, min_field),
    I64(gang_group_facts, min_member),
    I64(gang_group_facts, max_member),
    I64(gang_group_facts, min_children),
    LIST(gang_group_facts, subgroups, n_subgroups, &subgroup),
    TEXT(gang_group_facts, parent),
    LIST(gang_group_facts, bundle, n_bundle, &whole_ref),
    INSIDE(gang_group_facts, min_resources, &amounts),
    BOOL(gang_group_facts, has_priority),
    I32(gang_group_facts, priority),
    TEXT(gang_group_facts, priority_class),
    TEXT(gang_group_facts, queue),
    ENUM(gang_group_facts, preemptible, preemptibles),
    ENUM(gang_group_facts, match, matches),
    BOOL(gang_group_facts, suspends),
    I64(gang_group_facts, schedule_timeout),
    I64(gang_group_facts, preemption_delay),
    I64(gang_group_facts, created),
};
const struct record_type record_group = {TYPE(gang_group_facts, group_fields)};

static const struct record_field class_fields[] = {MUST(gang_priority_class_facts, name),
                                                   I32(gang_priority_class_facts, value)};
const struct record_type record_class = {TYPE(gang_priority_class_facts, class_fields)};

static const struct record_field claim_fields[] = {
    MUST(gang_claim_facts, ns),       MUST(gang_claim_facts, name),
    TEXT(gang_claim_facts, selected), BOOL(gang_claim_facts, bound),
    BOOL(gang_claim_facts, limited),  LIST(gang_claim_facts, terms, n_terms, &term),
};
const struct record_type record_claim = {TYPE(gang_claim_facts, claim_fields)};

static const struct record_field budget_fields[] = {
    MUST(gang_budget_facts, ns),
    MUST(gang_budget_facts, name),
    INSIDE(gang_budget_facts, selector, &term),
    BOOL(gang_budget_facts, selects_none),
    I64(gang_budget_facts, allowed),
};
const struct record_type record_budget = {TYPE(gang_budget_facts, budget_fields)};

static const struct record_field job_fields[] = {
    MUST(gang_job_facts, ns),
    MUST(gang_job_facts, name),
    I64(gang_job_facts, spare),
};
const struct record_type record_job = {TYPE(gang_job_facts, job_fields)};

/* ---- queue_facts.h ---- */

static const struct record_field quota_fields[] = {
    MUST(gang_quota, resource), I64(gang_quota, reserved), I64(gang_quota, deserved),
    I64(gang_quota, cap),       I64(gang_quota, weight),   BOOL(gang_quota, cap_unset),
    I64(gang_quota, implied),
};
static const struct record_type quota = {TYPE(gang_quota, quota_fields), .form = RECORD_ROW};

static const struct record_field queue_fields[] = {
    MUST_INSIDE(gang_queue_facts, ref, &whole_ref),
    TEXT(gang_queue_facts, of_namespace),
    TEXTS(gang_queue_facts, more_namespaces, n_more_namespaces),
    BOOL(gang_queue_facts, fallback),
    MUST(gang_queue_facts, uid),
    TEXT(gang_queue_facts, invalid),
    TEXT(gang_queue_facts, parent),
    CONSTANT(gang_queue_facts, parent_field),
    LIST(gang_queue_facts, quotas, n_quotas, &quota),
    I64(gang_queue_facts, weight),
    BOOL(gang_queue_facts, weighs_amounts),
    I32(gang_queue_facts, priority),
    I32(gang_queue_facts, firm_priority),
    BOOL(gang_queue_facts, closed),
    BOOL(gang_queue_facts, closing),
    BOOL(gang_queue_facts, fifo),
    BOOL(gang_queue_facts, reclaimable),
    I64(gang_queue_facts, preempt_min_runtime),
    I64(gang_queue_facts, reclaim_min_runtime),
    I64(gang_queue_facts, created),
};
const struct record_type record_queue = {TYPE(gang_queue_facts, queue_fields)};

static const struct record_field namespace_fields[] = {MUST(gang_namespace_facts, name),
                                                       TEXT(gang_namespace_facts, api_group),
                                                       TEXT(gang_namespace_facts, queue)};
const struct record_type record_namespace = {TYPE(gang_namespace_facts, namespace_fields)};

/* ---- event.h ---- */

static const struct record_field bind_fields[] = {
    PART(gang_event, bind, ns, TEXT, .required = true),
    PART(gang_event, bind, name, TEXT, .required = true),
    PART(gang_event, bind, uid, TEXT, .required = true),
    PART(gang_event, bind, node, TEXT, .required = true),
};
static const struct record_type bind = {TYPE(gang_event, bind_fields)};
static const struct record_field result_fields[] = {
    PART(gang_event, result, uid, TEXT, .required = true),
    PART(gang_event, result, node, TEXT),
    PART(gang_event, result, text, TEXT),
    PART(gang_event, result, outcome, ENUM, .words = outcomes, .n_words = ARRAY_SIZE(outcomes)),
};
static const struct record_type result = {TYPE(gang_event, result_fields)};
static const struct record_field synced_fields[] = {
    PART(gang_event, synced, api_time, I64),
};
static const struct record_type synced = {TYPE(gang_event, synced_fields)};
static const struct record_field watch_fields[] = {
    PART(gang_event, watch, of, ENUM, .words = watches, .n_words = ARRAY_SIZE(watches)),
    PART(gang_event, watch, behind, BOOL),
};
static const struct record_type watch = {TYPE(gang_event, watch_fields)};

static const struct record_field
    event_node = OWNED(gang_event, node, &record_node),
    event_pod = OWNED(gang_event, pod, &record_pod),
    event_group = OWNED(gang_event, group, &record_group),
    event_class = OWNED(gang_event, class, &record_class),
    event_claim = OWNED(gang_event, claim, &record_claim),
    event_budget = OWNED(gang_event, budget, &record_budget),
    event_job = OWNED(gang_event, job, &record_job),
    event_queue = OWNED(gang_event, queue, &record_queue),
    event_namespace = OWNED(gang_event, namespace, &record_namespace),
    event_gone = INSIDE(gang_event, gone, &ref),
    event_bind = {.name = "bind", .kind = RECORD_INSIDE, .of = &bind},
    event_result = {.name = "result", .kind = RECORD_INSIDE, .of = &result},
    event_synced = {.name = "synced", .kind = RECORD_INSIDE, .of = &synced},
    event_watch = {.name = "watch", .kind = RECORD_INSIDE, .of = &watch};

const struct record_field *record_event_field(enum gang_event_kind kind)
{
    static const struct record_field *const fields[GANG_EV_MAX] = {
        [GANG_EV_NODE_SET] = &event_node,
        [GANG_EV_NODE_GONE] = &event_gone,
        [GANG_EV_POD_SET] = &event_pod,
        [GANG_EV_POD_GONE] = &event_gone,
        [GANG_EV_GROUP_SET] = &event_group,
        [GANG_EV_GROUP_GONE] = &event_gone,
        [GANG_EV_CLASS_SET] = &event_class,
        [GANG_EV_CLASS_GONE] = &event_gone,
        [GANG_EV_CLAIM_SET] = &event_claim,
        [GANG_EV_CLAIM_GONE] = &event_gone,
        [GANG_EV_BUDGET_SET] = &event_budget,
        [GANG_EV_JOB_SET] = &event_job,
        [GANG_EV_BUDGET_GONE] = &event_gone,
        [GANG_EV_JOB_GONE] = &event_gone,
        [GANG_EV_QUEUE_SET] = &event_queue,
        [GANG_EV_QUEUE_GONE] = &event_gone,
        [GANG_EV_NAMESPACE_SET] = &event_namespace,
        [GANG_EV_NAMESPACE_GONE] = &event_gone,
        [GANG_EV_FILTER] = &event_pod,
        [GANG_EV_PRIORITIZE] = &event_pod,
        [GANG_EV_PREEMPT] = &event_pod,
        [GANG_EV_BIND] = &event_bind,
        [GANG_EV_BIND_DONE] = &event_result,
        [GANG_EV_POD_READ] = &event_result,
        [GANG_EV_SUSPEND_REFUSED] = &event_gone,
        [GANG_EV_SYNCED] = &event_synced,
        [GANG_EV_WATCH] = &event_watch,
    };
    return fields[kind];
}

/* ---- effect.h ---- */

static const struct record_field refusal_fields[] = {
    I32(gang_filter_refusal, index),
    MUST(gang_filter_refusal, text),
};
static const struct record_type refusal = {TYPE(gang_filter_refusal, refusal_fields),
                                           .form = RECORD_ROW};

static const struct record_field filter_fields[] = {
    PART(gang_effect, filter, id, I64),
    PART(gang_effect, filter, error, TEXT),
    PART(gang_effect, filter, pass_all, BOOL),
    PART(gang_effect, filter, passed, RUNS, PART_COUNT(gang_effect, filter, n_passed)),
    PART(gang_effect, filter, refused, LIST, PART_COUNT(gang_effect, filter, n_refused),
         .of = &refusal),
    PART(gang_effect, filter, n_full, I64),
};
static const struct record_field prioritize_fields[] = {
    PART(gang_effect, prioritize, id, I64),
    PART(gang_effect, prioritize, scores, DIGITS, PART_COUNT(gang_effect, prioritize, n)),
};
static const struct record_field preempt_fields[] = {
    PART(gang_effect, preempt, id, I64),
    PART(gang_effect, preempt, kept, RUNS, PART_COUNT(gang_effect, preempt, n_kept)),
};
static const struct record_field bind_reply_fields[] = {
    PART(gang_effect, bind_reply, id, I64),
    PART(gang_effect, bind_reply, error, TEXT),
};
static const struct record_field effect_pod_fields[] = {
    PART(gang_effect, pod, ns, TEXT),        PART(gang_effect, pod, name, TEXT),
    PART(gang_effect, pod, uid, TEXT),       PART(gang_effect, pod, node, TEXT),
    PART(gang_effect, pod, text, TEXT),      PART(gang_effect, pod, version, I64),
    PART(gang_effect, pod, of_commit, BOOL),
};
static const struct record_field status_fields[] = {
    OWNED(gang_status, ref, &whole_ref),
    TEXT(gang_status, uid),
    ENUM(gang_status, state, states),
    ENUM(gang_status, reason, reasons),
    TEXT(gang_status, text),
    TEXT(gang_status, help),
    BOOL(gang_status, timed_out),
    BOOL(gang_status, ever_scheduled),
    I64(gang_status, min_member),
    I32(gang_status, needed),
    I32(gang_status, members),
    I32(gang_status, bound),
    I32(gang_status, running),
    I32(gang_status, succeeded),
    I32(gang_status, failed),
};
static const struct record_type status_type = {TYPE(gang_status, status_fields)};
static const struct record_field effect_workload_fields[] = {
    PART(gang_effect, workload, ref, OWNED, .of = &whole_ref),
    PART(gang_effect, workload, uid, TEXT),
    PART(gang_effect, workload, text, TEXT),
};
static const struct record_field effect_status_fields[] = {
    INSIDE(gang_effect, status, &status_type),
};
static const struct record_field queue_amount_fields[] = {
    TEXT(gang_queue_amount, resource), I64(gang_queue_amount, reserved),
    I64(gang_queue_amount, deserved),  I64(gang_queue_amount, cap),
    I64(gang_queue_amount, share),     I64(gang_queue_amount, used),
    I64(gang_queue_amount, firm),      I64(gang_queue_amount, requested),
};
static const struct record_type queue_amount = {TYPE(gang_queue_amount, queue_amount_fields),
                                                .form = RECORD_ROW};
static const struct record_field queue_status_fields[] = {
    OWNED(gang_queue_status, ref, &whole_ref),
    TEXT(gang_queue_status, uid),
    ENUM(gang_queue_status, reason, reasons),
    TEXT(gang_queue_status, text),
    BOOL(gang_queue_status, closed),
    I32(gang_queue_status, waiting),
    I32(gang_queue_status, planned),
    I32(gang_queue_status, running),
    I32(gang_queue_status, done),
    LIST(gang_queue_status, amounts, n_amounts, &queue_amount),
    TEXTS(gang_queue_status, children, n_children),
};
static const struct record_type queue_status = {TYPE(gang_queue_status, queue_status_fields)};
static const struct record_field effect_queue_fields[] = {
    INSIDE(gang_effect, queue, &queue_status),
};
static const struct record_field event_fields[] = {
    PART(gang_effect, event, kind, TEXT),   PART(gang_effect, event, api_group, TEXT),
    PART(gang_effect, event, ns, TEXT),     PART(gang_effect, event, name, TEXT),
    PART(gang_effect, event, uid, TEXT),    PART(gang_effect, event, warning, BOOL),
    PART(gang_effect, event, reason, TEXT), PART(gang_effect, event, message, TEXT),
};

#define EFFECT(f)                                                                                  \
    {                                                                                              \
        TYPE(gang_effect, f)                                                                       \
    }
static const struct {
    const char *name;
    struct record_type type;
} effects[GANG_EFFECT_MAX] = {
    [GANG_REPLY_FILTER] = {"reply filter", EFFECT(filter_fields)},
    [GANG_REPLY_PRIORITIZE] = {"reply prioritize", EFFECT(prioritize_fields)},
    [GANG_REPLY_PREEMPT] = {"reply preempt", EFFECT(preempt_fields)},
    [GANG_REPLY_BIND] = {"reply bind", EFFECT(bind_reply_fields)},
    [GANG_BIND] = {"bind", EFFECT(effect_pod_fields)},
    [GANG_READ_POD] = {"read pod", EFFECT(effect_pod_fields)},
    [GANG_NOMINATE] = {"nominate", EFFECT(effect_pod_fields)},
    [GANG_MARK_VICTIM] = {"mark victim", EFFECT(effect_pod_fields)},
    [GANG_EVICT] = {"evict", EFFECT(effect_pod_fields)},
    [GANG_SUSPEND] = {"suspend", EFFECT(effect_workload_fields)},
    [GANG_RESUME] = {"resume", EFFECT(effect_workload_fields)},
    [GANG_STATUS] = {"status", EFFECT(effect_status_fields)},
    [GANG_QUEUE_STATUS] = {"queue status", EFFECT(effect_queue_fields)},
    [GANG_EVENT] = {"event", EFFECT(event_fields)},
    [GANG_UNGATE] = {"ungate", EFFECT(effect_pod_fields)},
    [GANG_PATCH_CONDITION] = {"tell", EFFECT(effect_pod_fields)},
};

const struct record_type *record_effect_type(enum gang_effect_kind kind)
{
    return &effects[kind].type;
}

const char *record_effect_name(enum gang_effect_kind kind)
{
    return effects[kind].name;
}

/* ---- gang.h ---- */

static const struct record_field config_fields[] = {
    I64(gang_config, hold),
    I64(gang_config, assemble),
    I64(gang_config, schedule_timeout),
    I64(gang_config, schedule_timeout_max),
    I64(gang_config, backoff_initial),
    I64(gang_config, backoff_max),
    I64(gang_config, reason_refresh),
    I64(gang_config, max_holds),
    I64(gang_config, plan_work),
    I64(gang_config, commit_batch_threshold),
    I64(gang_config, starvation),
    BOOL(gang_config, strict_order),
    BOOL(gang_config, trust_group_priority),
    BOOL(gang_config, preemption),
    BOOL(gang_config, evict_on_failed_commit),
    BOOL(gang_config, requeue_below_minimum),
    ENUM(gang_config, steering, steerings),
    BOOL(gang_config, gates),
    BOOL(gang_config, show_gated),
    BOOL(gang_config, express_lane),
    I32(gang_config, rules_off),
    BOOL(gang_config, whole_lists),
    TEXTS(gang_config, scheduler_names, n_scheduler_names),
    TEXTS(gang_config, queue_grants, n_queue_grants),
    I64(gang_config, queue_half_life),
    I64(gang_config, queue_time_factor),
    I64(gang_config, reclaim_limit),
    BOOL(gang_config, reclaim_runtime_of_queue),
};
const struct record_type record_config = {TYPE(gang_config, config_fields)};

const struct record_type *const record_types[] = {
    &kv,           &kvs,          &amount,           &amounts,
    &taint,        &toleration,   &requirement,      &term,
    &port,         &ref,          &whole_ref,        &selector,
    &spread,       &record_node,  &record_pod,       &subgroup,
    &record_group, &record_class, &record_claim,     &record_budget,
    &record_job,   &refusal,      &status_type,      &record_config,
    &quota,        &record_queue, &record_namespace, &queue_amount,
    &queue_status,
};
const size_t record_n_types = ARRAY_SIZE(record_types);
