/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "gang/gang.h"
#include "k8s/encoding/kube_field.h"
#include "workload/workload.h"

#define GROUP                                                                                      \
    "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: "   \
    "ml}, spec: {minMember: 2}}"
#define POD                                                                                        \
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
#define JOB                                                                                        \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {parallelism: 2, "       \
    "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}"

static struct scenario *parse(const char *text)
{
    struct err err = {0};
    struct scenario *s = scenario_parse("s.yaml", ".", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

static void expect_error(const char *text, const char *message)
{
    struct err err = {0};
    struct scenario *s = scenario_parse("s.yaml", ".", text, strlen(text), &err);
    if (s)
        fail_msg("no error for: %s", text);
    if (strncmp(err.text, message, strlen(message)) != 0)
        assert_string_equal(err.text, message);
}

static void short_nodes_become_complete_nodes(void **state)
{
    (void)state;
    struct scenario *s =
        parse("nodes:\n"
              "- {name: gpu, count: 2, allocatable: {cpu: 8, nvidia.com/gpu: 4}, labels: {z: a}}\n"
              "- {name: one, allocatable: {pods: 3}, unschedulable: true,\n"
              "   taints: [{key: k, effect: NoSchedule}]}\n");
    assert_int_equal(json_array_size(s->objects), 3);
    const json_t *node = json_array_get(s->objects, 1);
    assert_string_equal(manifest_name(node), "gpu-1");
    assert_int_equal(manifest_kind_of(node), KIND_NODE);
    assert_string_equal(field_peek(node, "metadata", "labels", "kubernetes.io/hostname", NULL),
                        "gpu-1");
    assert_string_equal(field_peek(node, "metadata", "labels", "z", NULL), "a");
    const json_t *room = json_object_get(json_object_get(node, "status"), "allocatable");
    assert_int_equal(json_integer_value(json_object_get(room, "pods")), 110);
    node = json_array_get(s->objects, 2);
    assert_string_equal(manifest_name(node), "one");
    room = json_object_get(json_object_get(node, "status"), "allocatable");
    assert_int_equal(json_integer_value(json_object_get(room, "pods")), 3);
    assert_true(json_is_true(json_object_get(json_object_get(node, "spec"), "unschedulable")));
    scenario_free(s);
}

static void manifests_are_used_unchanged(void **state)
{
    (void)state;
    struct scenario *s = parse("objects:\n- " GROUP "\n- " POD "\n- " JOB "\n");
    assert_int_equal(json_array_size(s->objects), 3);
    assert_int_equal(manifest_kind_of(json_array_get(s->objects, 0)), KIND_POD_GROUP);
    assert_string_equal(manifest_ns(json_array_get(s->objects, 0)), "ml");
    assert_string_equal(manifest_ns(json_array_get(s->objects, 1)), "default");
    scenario_free(s);
}

static void a_stream_of_manifests_is_a_scenario(void **state)
{
    (void)state;
    struct scenario *s = parse("apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: "
                               "{allocatable: {cpu: 1}}\n---\n" GROUP "\n---\n---\n" POD "\n");
    assert_int_equal(json_array_size(s->objects), 3);
    assert_int_equal(s->n_steps, 0);
    scenario_free(s);
}

static void manifests_are_read_from_files_relative_to_the_scenario(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = scenario_load("examples/kai/scenario.yaml", &err);
    if (!s)
        fail_msg("%s", err.text);
    assert_int_equal(json_array_size(s->objects), 3 + 1 + 2);
    assert_string_equal(manifest_name(json_array_get(s->objects, 5)), "pytorch-ddp");
    scenario_free(s);
    expect_error("objects: [nowhere.yaml]",
                 "s.yaml: objects[0]: ./nowhere.yaml: cannot be opened: No such file or directory");
}

static void the_timetable_is_parsed(void **state)
{
    (void)state;
    struct scenario *s = parse("timetable:\n"
                               "- {at: 10s, create: [{name: n, allocatable: {cpu: 1}}]}\n"
                               "- {at: 0.5, every: 1m30s, times: 3, cordon: [n], uncordon: [m]}\n"
                               "- at: 2\n"
                               "  every: 1\n"
                               "  delete: [{kind: PodGroup, apiGroup: scheduling.x-k8s.io, name: "
                               "g-$(n)-$(n)}]\n"
                               "  scale: [{kind: Job, namespace: ml, name: j, parallelism: 0}]\n");
    assert_int_equal(s->n_steps, 3);
    assert_int_equal(s->steps[0].at, 10 * USEC_PER_SEC);
    assert_int_equal(s->steps[0].every, 0);
    assert_int_equal(s->steps[0].times, 1);
    assert_int_equal(s->steps[1].at, 500 * USEC_PER_MSEC);
    assert_int_equal(s->steps[1].every, 90 * USEC_PER_SEC);
    assert_int_equal(s->steps[1].times, 3);
    assert_true(s->steps[2].times == INT64_MAX);

    json_t *todo = scenario_step_todo(&s->steps[2], 17);
    struct scenario_target t;
    assert_int_equal(scenario_target(json_array_get(json_object_get(todo, "delete"), 0), &t, NULL),
                     0);
    assert_int_equal(t.kind, KIND_POD_GROUP);
    assert_string_equal(t.api_group, "scheduling.x-k8s.io");
    assert_string_equal(t.ns, "default");
    assert_string_equal(t.name, "g-17-17");
    assert_int_equal(scenario_target(json_array_get(json_object_get(todo, "scale"), 0), &t, NULL),
                     0);
    assert_string_equal(t.ns, "ml");
    assert_int_equal(t.parallelism, 0);
    json_decref(todo);
    scenario_free(s);
}

static void config_overrides_only_the_settings_that_it_names(void **state)
{
    (void)state;
    struct scenario *s = parse("config: {holdSeconds: 7, backoffSeconds: 250ms, maxHolds: 3}");
    struct gang_config c = {
        .hold = 1, .schedule_timeout = 2, .backoff_initial = 3, .backoff_max = 4, .max_holds = 5};
    scenario_config(s, &c);
    assert_int_equal(c.hold, 7 * USEC_PER_SEC);
    assert_int_equal(c.schedule_timeout, 2);
    assert_int_equal(c.backoff_initial, 250 * USEC_PER_MSEC);
    assert_int_equal(c.backoff_max, 4);
    assert_int_equal(c.max_holds, 3);
    scenario_free(s);
    s = parse("config: {strictOrder: true, onFailedCommit: evict, starvationSeconds: 20}");
    c = (struct gang_config){.requeue_below_minimum = true};
    scenario_config(s, &c);
    assert_true(c.strict_order && c.evict_on_failed_commit && c.requeue_below_minimum);
    assert_int_equal(c.starvation, 20 * USEC_PER_SEC);
    scenario_free(s);
    s = parse("config: {strictOrder: false, onFailedCommit: complete, belowMinimum: leave}");
    scenario_config(s, &c);
    assert_false(c.strict_order || c.evict_on_failed_commit || c.requeue_below_minimum);
    scenario_free(s);
}

static void expectations_are_sorted_by_time(void **state)
{
    (void)state;
    struct scenario *s =
        parse("expect:\n"
              "- {at: 9s, pod: p, phase: Running, node: '', says: x y}\n"
              "- {at: 3s, gang: ml/g, state: Waiting, reason: NotEnoughResources, bound: 0}\n");
    assert_int_equal(s->n_expects, 2);
    const struct scenario_expect *e = &s->expects[0];
    assert_int_equal(e->of, EXPECT_GANG);
    assert_string_equal(e->ns, "ml");
    assert_string_equal(e->name, "g");
    assert_int_equal(e->state, GANG_WAITING);
    assert_int_equal(e->reason, REASON_NOT_ENOUGH_RESOURCES);
    assert_int_equal(e->bound, 0);
    assert_string_equal(e->where, "expect[1]");
    e = &s->expects[1];
    assert_int_equal(e->of, EXPECT_POD);
    assert_string_equal(e->ns, "default");
    assert_string_equal(e->phase, "Running");
    assert_string_equal(e->node, "");
    assert_string_equal(e->says, "x y");
    assert_int_equal(e->state, GANG_STATE_MAX);
    assert_int_equal(e->bound, -1);
    scenario_free(s);
}

static void errors_name_the_position_and_the_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "s.yaml: is empty: write nodes, objects and a timetable"},
        {"- a\n", "s.yaml: must be a mapping with nodes"},
        {"nodes: []\n---\nobjects: []\n", "s.yaml: a scenario must be one document"},
        {"nods: []\n", "s.yaml: unknown key \"nods\": valid keys are nodes, objects, timetable"},
        {"nodes: {a: b}\n", "s.yaml: nodes is an object, must be a list"},
        {"nodes:\n", "s.yaml: nodes has no value"},
        {"nodes: [{count: 2}]\n", "s.yaml: nodes[0]: name is missing: a node needs a name"},
        {"nodes: [{name: n}]\n", "s.yaml: nodes[0]: node n: allocatable is missing"},
        {"nodes: [{name: n, allocatable: {cpu: 1}, labels: x}]\n",
         "s.yaml: nodes[0]: node n: labels must be a mapping"},
        {"nodes: [{name: n, allocatable: {cpu: 1}, cout: 2}]\n",
         "s.yaml: nodes[0]: unknown key \"cout\""},
        {"nodes: [{name: n, allocatable: {cpu: 1}, count: x}]\n",
         "s.yaml: nodes[0]: count is a string, must be a whole number"},
        {"nodes: [{name: n, allocatable: {cpu: 1}, count: -1}]\n",
         "s.yaml: nodes[0]: count is -1, must be between 0 and 200000"},
        {"nodes: [{name: n, allocatable: {cpu: 1}, count: null}]\n",
         "s.yaml: nodes[0]: count has no value"},
        {"nodes: [{name: 3}]\n", "s.yaml: nodes[0]: name is a number, must be a string"},
        {"nodes: [{name: }]\n", "s.yaml: nodes[0]: name has no value"},
        {"nodes: [{name: n, allocatable: {cpu: one}}]\n", "s.yaml: nodes[0]: Node n: node n: "},
        {"nodes: [{name: n, allocatable: {cpu: 1}, taints: [{key: k, effect: No}]}]\n",
         "s.yaml: nodes[0]: Node n: node n: spec.taints[0]: "},
        {"objects: [3]\n", "s.yaml: objects[0]: not an object: write a manifest"},
        {"objects: [{kind: Pod}]\n", "s.yaml: objects[0]: apiVersion or kind is missing"},
        {"objects: [{apiVersion: v1, kind: Pod}]\n",
         "s.yaml: objects[0]: Pod: metadata.name is missing"},
        {"objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}]\n",
         "s.yaml: objects[0]: the built-in cluster does not support apps/v1 Deployment: write its "
         "pods, or a Job"},
        {"objects: [{apiVersion: foo.dev/v1, kind: PodGroup, metadata: {name: d}}]\n",
         "s.yaml: objects[0]: the built-in cluster does not support foo.dev/v1 PodGroup"},
        {"objects: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: "
         "c, resources: {limits: {cpu: much}}}]}}]\n",
         "s.yaml: objects[0]: Pod p: "},
        {"objects: [{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {}}]\n",
         "s.yaml: objects[0]: Job j: spec.template.spec is missing"},
        {"objects: [{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: "
         "-1}}]\n",
         "s.yaml: objects[0]: Job j: spec.parallelism must be a whole number from 0 to 2147483647"},
        {"objects: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}}]\n",
         "s.yaml: objects[0]: ResourceQuota q: spec.hard is missing"},
        {"objects: [{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
         "q}}]\n",
         "s.yaml: objects[0]: PriorityClass q: value is missing"},
        {"timetable: [3]\n",
         "s.yaml: timetable[0]: must be a mapping such as {at: 10s, create: […]}"},
        {"timetable: [{create: []}]\n", "s.yaml: timetable[0]: at is missing"},
        {"timetable: [{at: soon}]\n",
         "s.yaml: timetable[0]: at: \"soon\" is not a duration: write 90s"},
        {"timetable: [{at: [1]}]\n", "s.yaml: timetable[0]: at must be a duration such as 30s"},
        {"timetable: [{at: -1}]\n", "s.yaml: timetable[0]: at: \"-1\" is not a duration"},
        {"timetable: [{at: 1s, every: 0s}]\n", "s.yaml: timetable[0]: every must be at least 1ms"},
        {"timetable: [{at: 1s, times: 2}]\n", "s.yaml: timetable[0]: times is set without every"},
        {"timetable: [{at: 1s, crate: []}]\n", "s.yaml: timetable[0]: unknown key \"crate\""},
        {"timetable: [{at: 1s, create: [{kind: Pod}]}]\n",
         "s.yaml: timetable[0].create[0]: apiVersion or kind is missing"},
        {"timetable: [{at: 1s, delete: [x]}]\n",
         "s.yaml: timetable[0].delete[0]: must be a mapping such as {kind:"},
        {"timetable: [{at: 1s, delete: [{kind: Pot, name: a}]}]\n",
         "s.yaml: timetable[0].delete[0]: unknown kind \"Pot\""},
        {"timetable: [{at: 1s, delete: [{kind: Pod}]}]\n",
         "s.yaml: timetable[0].delete[0]: name is missing"},
        {"timetable: [{at: 1s, delete: [{kind: PodGroup, name: a, apiGroup: b}]}]\n",
         "s.yaml: timetable[0].delete[0]: apiGroup b has no PodGroup"},
        {"timetable: [{at: 1s, scale: [{kind: Pod, name: a, parallelism: 2}]}]\n",
         "s.yaml: timetable[0].scale[0]: only a Job can be scaled"},
        {"timetable: [{at: 1s, delete: [{kind: Queue, name: a, apiGroup: scheduling.x-k8s.io}]}]\n",
         "s.yaml: timetable[0].delete[0]: apiGroup scheduling.x-k8s.io has no Queue"},
        {"timetable: [{at: 1s, patch: [{kind: Queue, name: a}]}]\n",
         "s.yaml: timetable[0].patch[0]: nothing to patch: write metadata, spec or status"},
        {"timetable: [{at: 1s, patch: [{kind: Queue, name: a, spec: 3}]}]\n",
         "s.yaml: timetable[0].patch[0]: spec must be a mapping"},
        {"timetable: [{at: 1s, patch: [{kind: Queue, name: a, metadata: {name: b}}]}]\n",
         "s.yaml: timetable[0].patch[0].metadata: unknown key \"name\": valid keys are labels, "
         "annotations"},
        {"timetable: [{at: 1s, patch: [{kind: Pod, name: a, spec: {nodeName: b}}]}]\n",
         "s.yaml: timetable[0].patch[0]: of a Pod, only metadata can be patched"},
        {"timetable: [{at: 1s, cordon: [{a: b}]}]\n",
         "s.yaml: timetable[0]: cordon[0] must be the name of a node"},
        {"config: {holdSecond: 3}\n", "s.yaml: config: unknown key \"holdSecond\""},
        {"config: {maxHolds: 0}\n", "s.yaml: config: maxHolds is 0, must be between 1 and "},
        {"config: {strictOrder: yes please}\n",
         "s.yaml: config: strictOrder must be false or true"},
        {"config: {onFailedCommit: evict-all}\n",
         "s.yaml: config: onFailedCommit must be complete or evict"},
        {"config: {belowMinimum: true}\n", "s.yaml: config: belowMinimum must be leave or requeue"},
        {"config: {queueNamespaces: [training]}\n",
         "s.yaml: config: queueNamespaces[0] must be QUEUE:NAMESPACE, such as training:ml"},
        {"config: {queueHalfLifeSeconds: 1s}\n",
         "s.yaml: config: queueHalfLifeSeconds must be from 10s to 720h"},
        {"config: {queueTimeFactorPercent: 1001}\n",
         "s.yaml: config: queueTimeFactorPercent is 1001, must be between 0 and 1000"},
        {"config: 3\n", "s.yaml: config: must be a mapping such as {holdSeconds: 20}"},
        {"expect: [{gang: a}]\n", "s.yaml: expect[0]: at is missing"},
        {"expect: [{at: 1s}]\n",
         "s.yaml: expect[0]: must be a mapping such as {at: 10s, gang: ns/name"},
        {"expect: [{at: 1s, gang: a, pod: b}]\n",
         "s.yaml: expect[0]: must be a mapping such as {at: 10s, gang:"},
        {"expect: [{at: 1s, gang: a, state: Happy}]\n",
         "s.yaml: expect[0]: unknown state \"Happy\": write Assembling"},
        {"expect: [{at: 1s, gang: a, reason: None}]\n",
         "s.yaml: expect[0]: unknown reason \"None\""},
        {"expect: [{at: 1s, gang: a, phase: Running}]\n",
         "s.yaml: expect[0]: unknown key \"phase\""},
        {"expect: [{at: 1s, queue: a, state: Waiting}]\n",
         "s.yaml: expect[0]: unknown key \"state\""},
        {"expect: [{at: 1s, queue: a, used: 3}]\n",
         "s.yaml: expect[0]: used must be a mapping such as {nvidia.com/gpu: 6}"},
        {"expect: [{at: 1s, queue: a, used: {cpu: much}}]\n", "s.yaml: expect[0]: used: cpu: "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_error(cases[i].text, cases[i].message);
}

static void a_job_creates_its_pods(void **state)
{
    (void)state;
    struct scenario *s = parse("objects:\n- " JOB "\n");
    json_t *pod = workload_job_pod(json_array_get(s->objects, 0), 4);
    assert_string_equal(manifest_name(pod), "j-4");
    assert_string_equal(manifest_ns(pod), "default");
    assert_string_equal(field_peek(pod, "metadata", "labels", "a", NULL), "b");
    assert_string_equal(field_peek(pod, "metadata", "labels", "job-name", NULL), "j");
    const json_t *owner =
        json_array_get(json_object_get(json_object_get(pod, "metadata"), "ownerReferences"), 0);
    assert_string_equal(field_peek(owner, "uid", NULL), "u");
    json_decref(pod);
    scenario_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_nodes_become_complete_nodes),
        cmocka_unit_test(manifests_are_used_unchanged),
        cmocka_unit_test(a_stream_of_manifests_is_a_scenario),
        cmocka_unit_test(manifests_are_read_from_files_relative_to_the_scenario),
        cmocka_unit_test(the_timetable_is_parsed),
        cmocka_unit_test(config_overrides_only_the_settings_that_it_names),
        cmocka_unit_test(expectations_are_sorted_by_time),
        cmocka_unit_test(errors_name_the_position_and_the_remedy),
        cmocka_unit_test(a_job_creates_its_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
