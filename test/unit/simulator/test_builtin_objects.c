/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in cluster as a source of facts: PriorityClasses, invalid PodGroups, evictions. No pod
 * here waits for a scheduler.
 */
#include "builtin_events.h"
#include "k8s/decode/decode.h"

static void put(struct buf *b, const struct gang_event *ev)
{
    switch (ev->kind) {
    case GANG_EV_CLASS_SET:
        buf_printf(b, "class %s %d\n", ev->class->name, (int)ev->class->value);
        break;
    case GANG_EV_CLASS_GONE:
        assert_null(ev->gone.ns);
        buf_printf(b, "no class %s\n", ev->gone.name);
        break;
    case GANG_EV_POD_SET:
        buf_printf(b, "pod %s%s\n", ev->pod->name, ev->pod->deleting ? " deleting" : "");
        break;
    case GANG_EV_POD_GONE:
        buf_printf(b, "no pod %s\n", ev->gone.name);
        break;
    case GANG_EV_GROUP_SET:
        buf_printf(b, "group %s: %s\n", ev->group->ref.name,
                   ev->group->invalid ? ev->group->invalid : "fine");
        break;
    default:
        break;
    }
}

#define CLASS(name, value)                                                                         \
    "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " name               \
    "}, value: " value "}\n"

static void priority_classes_are_shown(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        "objects:\n- " CLASS(
            "train", "50") "timetable:\n"
                           "- {at: 1s, create: [" CLASS(
                               "high",
                               "1000") "]}\n"
                                       "- {at: 2s, delete: [{kind: PriorityClass, name: train}]}\n",
        put);
    assert_string_equal(events_until(x, 0), "class system-cluster-critical 2000000000\n"
                                            "class system-node-critical 2000001000\n"
                                            "class train 50\n");
    assert_string_equal(events_until(x, 1500 * USEC_PER_MSEC), "class high 1000\n");
    assert_string_equal(events_until(x, 2500 * USEC_PER_MSEC), "no class train\n");
    events_end(x);
}

static void a_priority_class_without_a_value_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "objects:\n- " CLASS("x", "high"),
        "objects:\n- " CLASS("x", "3000000000"),
    };
    static const char *const wants[] = {"value is missing", "value is 3000000000"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct err err = {0};
        assert_null(scenario_parse("t.yaml", ".", texts[i], strlen(texts[i]), &err));
        assert_non_null(strstr(err.text, wants[i]));
    }
}

static void an_invalid_podgroup_is_shown_with_its_error(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("objects:\n"
                     "- {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, "
                     "metadata: {name: g}, spec: {minMember: -1}}\n",
                     put);
    assert_non_null(
        strstr(events_until(x, 0), "group g: spec.minMember is -1, must be between 0 and"));
    events_end(x);
}

static void S13_the_owner_of_the_pods_is_written_to_the_podgroup(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("nodes: [{name: a, allocatable: {cpu: 8}}]\nobjects:\n"
                     "- {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, "
                     "metadata: {name: g}, spec: {minMember: 1}}\n"
                     "- {apiVersion: v1, kind: Pod, metadata: {name: p, labels: "
                     "{scheduling.x-k8s.io/pod-group: g}, ownerReferences: [{kind: Job, "
                     "name: train}]}, spec: {nodeName: a, containers: [{name: c}]}}\n",
                     put);
    events_until(x, 1 * USEC_PER_SEC);
    char group[] = "scheduling.x-k8s.io", ns[] = "default", name[] = "g";
    struct gang_ref ref = {group, ns, name};
    struct gang_effect e = {.kind = GANG_STATUS};
    e.status = (struct gang_status){.ref = &ref,
                                    .uid = "u",
                                    .state = GANG_SCHEDULED,
                                    .text = "",
                                    .help = "",
                                    .min_member = 1,
                                    .needed = 1};
    x->cluster->ops->apply(x->cluster, x->now, &e);
    const json_t *object = builtin_cluster_object(x->cluster, KIND_POD_GROUP, NULL, "default", "g");
    assert_string_equal(field_peek(object, "status", "occupiedBy", NULL), "default/train");
    assert_non_null(field_peek(object, "status", "scheduleStartTime", NULL));
    events_end(x);
}

static void a_gang_that_only_pods_declare_has_no_podgroup(void **state)
{
    (void)state;
    static const char text[] = "objects:\n"
                               "- {apiVersion: gang.scheduling.koordinator.sh/v1, kind: PodGroup, "
                               "metadata: {name: g}}\n";
    struct err err = {0};
    assert_null(scenario_parse("t.yaml", ".", text, strlen(text), &err));
    assert_non_null(strstr(err.text, "the built-in cluster does not support"));
}

static void evict(struct builtin_events *x, const char *name, const char *uid)
{
    struct gang_effect e = {.kind = GANG_EVICT};
    e.pod.ns = "default";
    e.pod.name = name;
    e.pod.uid = uid;
    x->cluster->ops->apply(x->cluster, x->now, &e);
}

static void C06_an_eviction_ends_only_the_pod_with_its_uid(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("nodes: [{name: a, allocatable: {cpu: 8}}]\nobjects:\n"
                     "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: "
                     "a, containers: [{name: c}]}}\n",
                     put);
    events_until(x, 1 * USEC_PER_SEC);
    const json_t *pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "p");
    cleanup_free char *uid = xstrdup(field_peek(pod, "metadata", "uid", NULL));
    evict(x, "p", "another");
    evict(x, "q", uid);
    assert_string_equal(events_until(x, 2 * USEC_PER_SEC), "");
    evict(x, "p", uid);
    assert_string_equal(events_until(x, 2500 * USEC_PER_MSEC), "pod p deleting\n");
    assert_string_equal(events_until(x, 4 * USEC_PER_SEC), "no pod p\n");
    events_end(x);
}

/* A mark changes no other condition. */
static void Q08_a_mark_is_shown_on_the_pod(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin("nodes: [{name: a, allocatable: {cpu: 8}}]\nobjects:\n"
                     "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: "
                     "a, containers: [{name: c}]}, status: {conditions: [{type: PodScheduled, "
                     "status: 'True'}]}}\n",
                     put);
    events_until(x, 1 * USEC_PER_SEC);
    const json_t *pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "p");
    size_t before = json_array_size(json_object_get(json_object_get(pod, "status"), "conditions"));
    for (int i = 0; i < 2; i++) {
        pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "p");
        struct gang_effect e = {.kind = GANG_MARK_VICTIM};
        e.pod.ns = "default";
        e.pod.name = "p";
        e.pod.uid = field_peek(pod, "metadata", "uid", NULL);
        e.pod.text = "to make room for gang ml/b";
        x->cluster->ops->apply(x->cluster, x->now, &e);
        events_until(x, (2 + i) * USEC_PER_SEC);
    }
    struct err err;
    pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "p");
    assert_int_equal(json_array_size(json_object_get(json_object_get(pod, "status"), "conditions")),
                     before + 1);
    struct gang_pod_facts *facts = decode_pod(pod, &err);
    assert_true(facts->marked);
    gang_pod_facts_free(facts);
    events_end(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_classes_are_shown),
        cmocka_unit_test(Q08_a_mark_is_shown_on_the_pod),
        cmocka_unit_test(a_priority_class_without_a_value_is_refused),
        cmocka_unit_test(an_invalid_podgroup_is_shown_with_its_error),
        cmocka_unit_test(S13_the_owner_of_the_pods_is_written_to_the_podgroup),
        cmocka_unit_test(a_gang_that_only_pods_declare_has_no_podgroup),
        cmocka_unit_test(C06_an_eviction_ends_only_the_pod_with_its_uid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
