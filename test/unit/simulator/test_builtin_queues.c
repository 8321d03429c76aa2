/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of the built-in cluster: what the core sees of them, and the statuses that it writes.
 */
#include "builtin_events.h"

#define AT(s) ((s)*USEC_PER_SEC)

static void put(struct buf *b, const struct gang_event *ev)
{
    const struct gang_queue_facts *q = ev->queue;
    switch (ev->kind) {
    case GANG_EV_QUEUE_SET:
        buf_printf(b, "%s/%s", q->ref.api_group, q->ref.name);
        if (q->parent)
            buf_printf(b, " in %s", q->parent);
        if (q->of_namespace)
            buf_printf(b, " of %s", q->of_namespace);
        buf_printf(b, " weight %d%s%s%s\n", (int)q->weight / 1000, q->closed ? " closed" : "",
                   q->invalid ? ": " : "", q->invalid ? q->invalid : "");
        break;
    case GANG_EV_QUEUE_GONE:
        buf_printf(b, "no %s/%s\n", ev->gone.api_group, ev->gone.name);
        break;
    case GANG_EV_NAMESPACE_SET:
        buf_printf(b, "namespace %s uses %s\n", ev->namespace->name, ev->namespace->queue);
        break;
    case GANG_EV_NAMESPACE_GONE:
        buf_printf(b, "namespace %s uses none\n", ev->gone.name);
        break;
    default:
        break;
    }
}

#define KAI     "apiVersion: scheduling.run.ai/v2, kind: Queue"
#define VOLCANO "apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue"
#define X_K8S   "apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota"
#define SIGS    "apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: ElasticQuota"

static void Q01_the_core_sees_queues_of_every_dialect(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("objects:\n"
                     "- {" KAI ", metadata: {name: q}, spec: {parentQueue: top, resources: {gpu: "
                     "{overQuotaWeight: 2}}}}\n"
                     "- {" VOLCANO ", metadata: {name: root}}\n"
                     "- {" VOLCANO ", metadata: {name: q}, spec: {weight: 3, parent: root}}\n"
                     "- {" X_K8S ", metadata: {name: q, namespace: ml}}\n"
                     "- {" SIGS ", metadata: {name: ml, namespace: ml}}\n",
                     put);
    assert_string_equal(events_until(x, 0), "scheduling.run.ai/q in top weight 2\n"
                                            "scheduling.volcano.sh/q weight 3\n"
                                            "scheduling.x-k8s.io/q of ml weight 1\n"
                                            "scheduling.sigs.k8s.io/ml of ml weight 1\n");
    events_end(x);
}

static void the_timetable_changes_queues_and_namespaces(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        "objects:\n"
        "- {" VOLCANO ", metadata: {name: q}}\n"
        "- {" KAI ", metadata: {name: q}}\n"
        "- {apiVersion: v1, kind: Namespace, metadata: {name: ml}}\n"
        "timetable:\n"
        "- {at: 1s, patch: [{kind: Queue, apiGroup: scheduling.volcano.sh, name: q, spec: {weight: "
        "5}}]}\n"
        "- {at: 2s, patch: [{kind: Queue, apiGroup: scheduling.volcano.sh, name: q, status: "
        "{state: Closing}}]}\n"
        "- {at: 3s, patch: [{kind: Queue, apiGroup: scheduling.volcano.sh, name: q, spec: {weight: "
        "0}}]}\n"
        "- {at: 4s, patch: [{kind: Namespace, name: ml, metadata: {annotations: "
        "{scheduling.volcano.sh/queue-name: q}}}]}\n"
        "- {at: 5s, patch: [{kind: Namespace, name: ml, metadata: {annotations: "
        "{scheduling.volcano.sh/queue-name: null}}}]}\n"
        "- {at: 6s, delete: [{kind: Queue, apiGroup: scheduling.volcano.sh, name: q}]}\n",
        put);
    events_until(x, AT(1) - 1);
    assert_string_equal(events_until(x, AT(2) - 1), "scheduling.volcano.sh/q weight 5\n");
    assert_string_equal(events_until(x, AT(3) - 1), "scheduling.volcano.sh/q weight 5 closed\n");
    assert_string_equal(events_until(x, AT(4) - 1),
                        "scheduling.volcano.sh/q weight 1 closed: spec.weight "
                        "is 0, must be between 1 and 65535\n");
    assert_string_equal(events_until(x, AT(5) - 1), "namespace ml uses q\n");
    assert_string_equal(events_until(x, AT(6) - 1), "namespace ml uses none\n");
    assert_string_equal(events_until(x, AT(7)), "no scheduling.volcano.sh/q\n");
    assert_non_null(builtin_cluster_object(x->cluster, KIND_QUEUE, "scheduling.run.ai", "", "q"));
    events_end(x);
}

static void the_older_one_of_two_quotas_with_one_name_is_the_queue(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("objects:\n"
                     "- {" SIGS ", metadata: {name: q, namespace: a}}\n"
                     "- {" SIGS ", metadata: {name: q, namespace: b, labels: "
                     "{quota.scheduling.koordinator.sh/parent: p}}}\n"
                     "timetable:\n"
                     "- {at: 1s, delete: [{kind: ElasticQuota, namespace: a, name: q}]}\n",
                     put);
    assert_string_equal(events_until(x, AT(1) - 1), "scheduling.sigs.k8s.io/q weight 1\n");
    assert_string_equal(events_until(x, AT(2)), "scheduling.sigs.k8s.io/q in p weight 1\n");
    events_end(x);
}

/* ---- statuses ---- */

/* The core writes that the queue uses 2 GPUs, for this object. */
static void write_status(struct builtin_events *x, const char *api_group, const char *uid,
                         const char *invalid)
{
    const struct gang_ref ref = {(char *)(uintptr_t)api_group, (char *)(uintptr_t) "",
                                 (char *)(uintptr_t) "q"};
    const struct gang_queue_amount amount = {
        .resource = "nvidia.com/gpu", .deserved = GANG_NOT_STATED, .used = 2, .requested = 3};
    struct gang_effect e = {.kind = GANG_QUEUE_STATUS};
    e.queue = (struct gang_queue_status){
        .ref = &ref,
        .uid = uid,
        .reason = invalid ? REASON_QUEUE_INVALID : REASON_NONE,
        .text = invalid ? invalid : "",
        .amounts = &amount,
        .n_amounts = 1,
    };
    x->cluster->ops->apply(x->cluster, x->now, &e);
}

/* The status of queue q, as text; the caller frees it. */
static char *status_of(struct builtin_events *x, enum manifest_kind kind, const char *ns)
{
    const json_t *object = builtin_cluster_object(x->cluster, kind, NULL, ns, "q");
    return json_dumps(json_object_get(object, "status"), JSON_COMPACT | JSON_ENCODE_ANY);
}

#define UID(n) "00000000-0000-4000-8000-00000000000" n

static void Q01_statuses_are_written_in_the_form_of_the_dialect(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin("objects:\n"
                                            "- {" VOLCANO ", metadata: {name: q}}\n"
                                            "- {" SIGS ", metadata: {name: q, namespace: ml}}\n",
                                            put);
    events_until(x, 0);
    write_status(x, "scheduling.volcano.sh", UID("1"), NULL);
    write_status(x, "scheduling.sigs.k8s.io", UID("2"), NULL);
    cleanup_free char *queue = status_of(x, KIND_QUEUE, "");
    assert_string_equal(queue, "{\"state\":\"Open\",\"allocated\":{\"nvidia.com/gpu\":\"2\"}}");
    cleanup_free char *quota = status_of(x, KIND_ELASTIC_QUOTA, "ml");
    assert_string_equal(quota, "{\"used\":{\"nvidia.com/gpu\":\"2\"}}");
    events_end(x);
}

/* Another object has the queue's name by now. */
static void a_status_of_an_older_object_is_dropped(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin("objects: [{" VOLCANO ", metadata: {name: q}}]\n", put);
    events_until(x, 0);
    write_status(x, "scheduling.volcano.sh", UID("7"), NULL);
    cleanup_free char *none = status_of(x, KIND_QUEUE, "");
    assert_null(none);
    events_end(x);
}

static void Q05_an_event_says_once_why_a_queue_is_invalid(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin("objects: [{" VOLCANO ", metadata: {name: q}}]\n", put);
    events_until(x, 0);
    for (int i = 0; i < 2; i++)
        write_status(x, "scheduling.volcano.sh", UID("1"), "queue q: wrong");
    const json_t *events = builtin_cluster_events(x->cluster);
    assert_int_equal(json_array_size(events), 1);
    const json_t *event = json_array_get(events, 0);
    assert_string_equal(field_peek(event, "kind", NULL), "Queue");
    assert_string_equal(field_peek(event, "reason", NULL), "InvalidQueue");
    assert_string_equal(field_peek(event, "message", NULL), "queue q: wrong");
    events_end(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q01_the_core_sees_queues_of_every_dialect),
        cmocka_unit_test(the_timetable_changes_queues_and_namespaces),
        cmocka_unit_test(the_older_one_of_two_quotas_with_one_name_is_the_queue),
        cmocka_unit_test(Q01_statuses_are_written_in_the_form_of_the_dialect),
        cmocka_unit_test(a_status_of_an_older_object_is_dropped),
        cmocka_unit_test(Q05_an_event_says_once_why_a_queue_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
