/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/core_fixture.h"
#include "test/lib/test_config.h"

#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"

/* More steps that follow from each other than any cluster needs. */
#define MOST_ECHOES 64

#define NODE(name, more)                                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\",\"labels\":{\"kubernetes.io/hostname\":\"" name "\",\"zone\":\"z" name                     \
    "\"}},\"spec\":{" more "},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\","     \
    "\"pods\":\"10\",\"nvidia.com/gpu\":\"4\"}}}"
#define POD(name, link, gpus, more)                                                                \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"default\",\"uid\":\"u-" name                                               \
    "\",\"resourceVersion\":\"7\",\"annotations\":{" link                                          \
    "}},\"spec\":{\"schedulerName\":\"muster\",\"containers\":[{\"name\":\"c\",\"resources\":"     \
    "{\"requests\":{\"cpu\":\"1\",\"nvidia.com/gpu\":\"" gpus "\"}}}]" more "}}"
#define QUEUE(api, name, spec)                                                                     \
    "{\"apiVersion\":\"" api "\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"" name                \
    "\",\"uid\":\"u-q-" name "\"},\"spec\":{" spec "}}"
#define KAI_QUOTA(quota, limit)                                                                    \
    "\"resources\":{\"cpu\":{\"limit\":-1},\"memory\":{\"limit\":-1},\"gpu\":{\"quota\":" quota    \
    ",\"limit\":" limit "}}"
#define IN_G "\"pod-group-name\":\"g\""
#define IN_W "\"scheduling.k8s.io/group-name\":\"w\""

static const char *const objects[] = {
    NODE("n0", ""),
    NODE("n1", ""),
    NODE("n2", "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]"),
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"high\"},\"value\":1000}",
    "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"b\","
    "\"namespace\":\"default\"},\"spec\":{\"selector\":{}},\"status\":{\"disruptionsAllowed\":1}}",
    "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":"
    "\"g\",\"namespace\":\"default\",\"uid\":\"u-g\"},\"spec\":{\"minMember\":2}}",
    "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{"
    "\"name\":\"w\",\"namespace\":\"default\",\"uid\":\"u-w\"},\"spec\":{\"minMember\":2}}",
    QUEUE("scheduling.run.ai/v2", "top", KAI_QUOTA("8", "-1")),
    QUEUE("scheduling.run.ai/v2", "default", "\"parentQueue\":\"top\"," KAI_QUOTA("4", "6")),
    QUEUE("scheduling.volcano.sh/v1beta1", "batch",
          "\"weight\":2,\"guarantee\":{\"resource\":{\"cpu\":\"1\"}},\"capability\":{"
          "\"nvidia.com/gpu\":\"4\"}"),
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\","
    "\"annotations\":{"
    "\"scheduling.volcano.sh/queue-name\":\"batch\"}}}",
    POD("g-0", IN_G, "3", ",\"nodeName\":\"n0\""),
    POD("g-1", IN_G, "3", ",\"nodeName\":\"n1\""),
    POD("w-0", IN_W, "2", ""),
    POD("w-1", IN_W, "2", ""),
};

/* ---- steps ---- */

static void count_answer(struct core_fixture *b, uint64_t id)
{
    for (size_t i = 0; i < b->n_calls; i++)
        if (b->calls[i].id == id) {
            HOLDS(++b->calls[i].answers == 1, "a call is answered twice");
            return;
        }
    HOLDS(false, "an answer without a call");
}

static void put_result(struct core_fixture *b, enum gang_event_kind kind,
                       const struct gang_effect *e, enum gang_outcome outcome)
{
    GROW(b->due, b->cap_due, b->n_due + 1);
    struct gang_event *ev = &b->due[b->n_due++];
    *ev = (struct gang_event){.kind = kind};
    ev->result.uid = xstrdup(e->pod.uid);
    ev->result.node = xstrdup_null(e->pod.node);
    ev->result.outcome = outcome;
}

static void carry_out(struct core_fixture *b, const struct gang_effect *e)
{
    if (b->effect && b->effect(b->arg, e))
        return;
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        count_answer(b, e->filter.id);
        break;
    case GANG_REPLY_PRIORITIZE:
        count_answer(b, e->prioritize.id);
        break;
    case GANG_REPLY_PREEMPT:
        count_answer(b, e->preempt.id);
        break;
    case GANG_REPLY_BIND:
        count_answer(b, e->bind_reply.id);
        break;
    case GANG_BIND:
        put_result(b, GANG_EV_BIND_DONE, e, OUTCOME_OK);
        break;
    case GANG_READ_POD:
        put_result(b, GANG_EV_POD_READ, e, OUTCOME_UNBOUND);
        break;
    default: /* messages, nominations, gates: a cluster may lose these writes */
        break;
    }
}

static void step(struct core_fixture *b, struct gang_event *events, size_t n)
{
    struct err err;
    size_t n_effects;
    const struct gang_effect *effects = gang_step(b->core, b->now, events, n, &n_effects);
    for (size_t i = 0; i < n_effects; i++)
        carry_out(b, &effects[i]);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    HOLDS(gang_core_check(b->core, &err) == 0, "%s", err.text);
}

void core_fixture_step(struct core_fixture *b, struct gang_event *events, size_t n)
{
    step(b, events, n);
    for (int i = 0; b->n_due; i++) {
        HOLDS(i < MOST_ECHOES, "the core asks without end");
        struct gang_event *due = b->due;
        n = b->n_due;
        b->due = NULL;
        b->n_due = b->cap_due = 0;
        step(b, due, n);
        free(due);
    }
}

void core_fixture_wait(struct core_fixture *b, usec_t t, int ticks)
{
    usec_t end = b->now + t;
    for (usec_t next; ticks > 0 && (next = gang_core_next(b->core)) <= end; ticks--) {
        struct gang_event tick = {.kind = GANG_EV_TICK};
        b->now = next > b->now ? next : b->now;
        core_fixture_step(b, &tick, 1);
    }
    b->now = end;
}

uint64_t core_fixture_call(struct core_fixture *b)
{
    GROW(b->calls, b->cap_calls, b->n_calls + 1);
    struct core_fixture_call *call = &b->calls[b->n_calls++];
    *call = (struct core_fixture_call){.id = b->n_calls};
    return call->id;
}

bool core_fixture_answered(const struct core_fixture *b, uint64_t id)
{
    return b->calls[id - 1].answers == 1;
}

/* ---- objects ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool core_fixture_event(const json_t *object, struct gang_event *ev, struct err *err)
{
    const char *kind = text_of(object, "kind"), *version = text_of(object, "apiVersion");
    *ev = (struct gang_event){.kind = GANG_EV_TICK};
    err_set(err, ERR_UNSUPPORTED, "no kind of ours");
    if (str_eq(kind, "Node")) {
        ev->kind = GANG_EV_NODE_SET;
        ev->node = decode_node(object, err);
    } else if (str_eq(kind, "Pod")) {
        ev->kind = GANG_EV_POD_SET;
        ev->pod = decode_pod(object, err);
        ev->pod = ev->pod ? gang_pod_facts_pack(ev->pod) : NULL;
    } else if (str_eq(kind, "PriorityClass")) {
        ev->kind = GANG_EV_CLASS_SET;
        ev->class = decode_class(object, err);
    } else if (str_eq(kind, "PodDisruptionBudget")) {
        ev->kind = GANG_EV_BUDGET_SET;
        ev->budget = decode_budget(object, err);
    } else if (str_eq(kind, "Job")) {
        ev->kind = GANG_EV_JOB_SET;
        ev->job = decode_job(object, err);
    } else if (str_eq(kind, "PodGroup")) {
        cleanup_free char *group = xstrndup(version, strcspn(version, "/"));
        const struct dialect *dialect = dialect_of_objects(group);
        ev->kind = GANG_EV_GROUP_SET;
        ev->group = dialect ? decode_group(dialect, object, err) : NULL;
    } else if (str_eq(kind, "Queue") || str_eq(kind, "ElasticQuota")) {
        cleanup_free char *group = xstrndup(version, strcspn(version, "/"));
        const struct queue_dialect *dialect = queue_dialect_by_group(group);
        ev->kind = GANG_EV_QUEUE_SET;
        ev->queue = dialect ? decode_queue(dialect, object, err) : NULL;
    } else if (str_eq(kind, "Namespace")) {
        const struct queue_dialect *dialect = queue_dialect_by_group("scheduling.volcano.sh");
        ev->kind = GANG_EV_NAMESPACE_SET;
        ev->namespace = decode_namespace(dialect, object, err);
        if (ev->namespace && !ev->namespace->queue) /* the watch does not post it */
            gang_event_done(ev);
    }
    return ev->node != NULL;
}

struct gang_event core_fixture_gone(const struct gang_event *set)
{
    struct gang_event ev = {.kind = GANG_EV_TICK};
    const struct gang_ref *ref;
    switch (set->kind) {
    case GANG_EV_NODE_SET:
        ev.kind = GANG_EV_NODE_GONE;
        ev.gone = (struct gang_ref){NULL, NULL, xstrdup(set->node->name)};
        break;
    case GANG_EV_POD_SET:
        ev.kind = GANG_EV_POD_GONE;
        ev.gone = (struct gang_ref){NULL, xstrdup(set->pod->ns), xstrdup(set->pod->name)};
        break;
    case GANG_EV_CLASS_SET:
        ev.kind = GANG_EV_CLASS_GONE;
        ev.gone = (struct gang_ref){NULL, NULL, xstrdup(set->class->name)};
        break;
    case GANG_EV_BUDGET_SET:
        ev.kind = GANG_EV_BUDGET_GONE;
        ev.gone = (struct gang_ref){NULL, xstrdup(set->budget->ns), xstrdup(set->budget->name)};
        break;
    case GANG_EV_JOB_SET:
        ev.kind = GANG_EV_JOB_GONE;
        ev.gone = (struct gang_ref){NULL, xstrdup(set->job->ns), xstrdup(set->job->name)};
        break;
    case GANG_EV_QUEUE_SET:
        ref = &set->queue->ref;
        ev.kind = GANG_EV_QUEUE_GONE;
        ev.gone = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
        break;
    case GANG_EV_NAMESPACE_SET:
        ev.kind = GANG_EV_NAMESPACE_GONE;
        ev.gone = (struct gang_ref){NULL, NULL, xstrdup(set->namespace->name)};
        break;
    default:
        ref = &set->group->ref;
        ev.kind = GANG_EV_GROUP_GONE;
        ev.gone = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
        break;
    }
    return ev;
}

/* ---- life ---- */

struct core_fixture *core_fixture_new(void)
{
    static json_t *trees[ARRAY_SIZE(objects)]; /* parsed once */
    struct gang_config config = test_config();
    config.express_lane = true;
    config.gates = true;
    struct core_fixture *b = xcalloc(1, sizeof *b);
    b->now = fuzz_time;
    b->core = gang_core_new(&config);
    struct gang_event events[ARRAY_SIZE(objects) + 1];
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        struct err err;
        if (!trees[i])
            trees[i] = fuzz_json("an object of the bed", objects[i], strlen(objects[i]));
        HOLDS(core_fixture_event(trees[i], &events[i], &err), "%s", err.text);
    }
    events[ARRAY_SIZE(objects)] = (struct gang_event){.kind = GANG_EV_SYNCED};
    core_fixture_step(b, events, ARRAY_SIZE(events));
    return b;
}

void core_fixture_free(struct core_fixture *b)
{
    struct gang_event stop = {.kind = GANG_EV_STOP};
    core_fixture_step(b, &stop, 1);
    for (size_t i = 0; i < b->n_calls; i++)
        HOLDS(b->calls[i].answers == 1, "a call was never answered");
    gang_core_free(b->core);
    free(b->calls);
    free(b->due);
    free(b);
}
