/* SPDX-License-Identifier: Apache-2.0 */
/* Which PodGroups ask to be suspended, and the pods that stand for those of a suspended workload.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gang/gang.h"
#include "k8s/decode/decode.h"
#include "k8s/decode/suspended_pods.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"

#define KAI "scheduling.run.ai"

/* ---- PodGroups ---- */

#define GROUP_OF(how, api, kind)                                                                   \
    "{metadata: {name: g, namespace: ml, uid: gu, annotations: {muster.dev/preemption: " how       \
    "}, ownerReferences: [{apiVersion: " api ", kind: " kind                                       \
    ", name: train, uid: u}]}, spec: {minMember: 2}}"

static void a_podgroup_asks_to_be_suspended(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        bool suspends;
        const char *invalid;
    } cases[] = {
        {GROUP_OF("suspend", "batch/v1", "Job"), true, NULL},
        {GROUP_OF("suspend", "kubeflow.org/v2beta1", "MPIJob"), true, NULL},
        {GROUP_OF("suspend", "ray.io/v1", "RayCluster"), true, NULL},
        {GROUP_OF("evict", "batch/v1", "Job"), false, NULL},
        {GROUP_OF("suspend", "apps/v1", "StatefulSet"), false, NULL},
        {GROUP_OF("suspend", "ray.io/v1", "RayService"), false, NULL},
        {GROUP_OF("suspend", "example.com/v1", "Job"), false, NULL},
        {GROUP_OF("suspend", "batch/v9", "Job"), false, NULL},
        {GROUP_OF("stop", "batch/v1", "Job"), false,
         "annotation muster.dev/preemption is \"stop\", must be suspend or evict"},
        {"{metadata: {name: g, annotations: {muster.dev/preemption: suspend}}, spec: {}}", false,
         NULL},
        {"{metadata: {name: g, annotations: {muster.dev/preemption: suspend}, ownerReferences: "
         "[7, {kind: Job}]}, spec: {}}",
         false, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        cleanup_json json_t *object = yaml_object(cases[i].yaml);
        struct gang_group_facts *f = decode_group(dialect_by_group(KAI), object, &err);
        assert_non_null(f);
        assert_int_equal(f->suspends, cases[i].suspends);
        if (!str_eq(f->invalid, cases[i].invalid))
            fail_msg("%zu: %s", i, f->invalid ? f->invalid : "valid");
        gang_group_facts_free(f);
    }
}

/* ---- pods ---- */

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

struct result {
    struct suspended_pods pods;
    struct err err;
    int r;
};

static struct workload_rules rules_for(char **schedulers)
{
    schedulers[0] = text("kai-scheduler");
    return (struct workload_rules){
        .on = true, .schedulers = schedulers, .n_schedulers = 1, .home = text(KAI)};
}

static struct result stand_for(json_t *workload, const char *group,
                               const struct priority_classes *classes)
{
    char *schedulers[1];
    struct workload_rules rules = rules_for(schedulers);
    struct workload_suspendable of;
    struct result x;
    const struct gang_ref ref = {text(KAI), text("ml"), text(group)};
    const struct suspended_pods_options options = {&rules, classes, &ref};
    assert_true(workload_suspendable(json_string_value(json_object_get(workload, "apiVersion")),
                                     json_string_value(json_object_get(workload, "kind")), &of));
    x.r = suspended_pods(&of, workload, &options, &x.pods, &x.err);
    json_decref(workload);
    return x;
}

#define JOB_OF(spec, meta, pod)                                                                    \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: ml, uid: u, labels: "    \
    "{muster.dev/suspended: 'true'}}, spec: {suspend: true, " spec "template: {metadata: {" meta   \
    "}, spec: {schedulerName: kai-scheduler, " pod                                                 \
    "containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}, status: {succeeded: 1}}"

static void the_pods_of_a_job_stand_for_those_that_it_will_create(void **state)
{
    (void)state;
    struct priority_classes *classes = priority_classes_new();
    cleanup_json json_t *low =
        yaml_object("{metadata: {name: low}, value: 7, preemptionPolicy: Never}");
    priority_classes_set(classes, low);
    struct result x =
        stand_for(yaml_object(JOB_OF(
                      "parallelism: 3, ",
                      "deletionTimestamp: '2026-01-01T00:00:00Z', creationTimestamp: "
                      "'2099-01-01T00:00:00Z', resourceVersion: '7', labels: {app: a}",
                      "priorityClassName: low, schedulingGates: [{name: example.com/gate}], ")),
                  "pg-train-u", classes);
    if (x.r < 0)
        fail_msg("%s", x.err.text);
    assert_int_equal(x.pods.n, 3);
    const struct gang_pod_facts *f = x.pods.facts[2];
    assert_string_equal(f->name, "job.train:2");
    assert_string_equal(f->ns, "ml");
    assert_string_equal(f->uid, "u:2");
    assert_string_equal(f->group.api_group, KAI);
    assert_string_equal(f->group.ns, "ml");
    assert_string_equal(f->group.name, "pg-train-u");
    assert_true(f->suspended && f->gated && f->controlled && f->never_preempts);
    assert_false(f->deleting);
    assert_int_equal(f->n_gates, 0);
    assert_int_equal(f->created, 0);
    assert_int_equal(f->version, 0);
    assert_int_equal(f->priority, 7);
    assert_int_equal(f->requests.items[0].amount, 2000);
    suspended_pods_done(&x.pods);
    priority_classes_free(classes);
}

static void classes_are_those_of_admission(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        int priority;
        bool never;
    } cases[] = {
        {"{spec: {priorityClassName: a}}", 1, true},
        {"{spec: {priorityClassName: a, preemptionPolicy: PreemptLowerPriority}}", 1, false},
        {"{spec: {priorityClassName: unknown}}", 0, false},
        {"{spec: {}}", 2, false}};
    struct priority_classes *classes = priority_classes_new();
    static const char *const objects[] = {
        "{metadata: {name: a}, value: 1, preemptionPolicy: Never}",
        "{metadata: {name: c}, value: 3, globalDefault: true}",
        "{metadata: {name: b}, value: 2, globalDefault: true}"};
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        cleanup_json json_t *object = yaml_object(objects[i]);
        priority_classes_set(classes, object);
    }
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *pod = yaml_object(cases[i].pod);
        struct gang_pod_facts f = {.priority = 9};
        priority_classes_admit(classes, pod, &f);
        assert_int_equal(f.priority, cases[i].priority);
        assert_int_equal(f.never_preempts, cases[i].never);
    }
    priority_classes_gone(classes, "b");
    priority_classes_gone(classes, "c");
    cleanup_json json_t *pod = yaml_object("{spec: {}}");
    struct gang_pod_facts f = {.priority = 9};
    priority_classes_admit(classes, pod, &f);
    assert_int_equal(f.priority, 0);
    priority_classes_free(classes);
}

static void a_job_creates_only_what_is_left_of_it(void **state)
{
    (void)state;
    struct priority_classes *classes = priority_classes_new();
    struct result x = stand_for(yaml_object(JOB_OF("parallelism: 3, completions: 3, ", "", "")),
                                "pg-train-u", classes);
    assert_int_equal(x.r, 0);
    assert_int_equal(x.pods.n, 2);
    suspended_pods_done(&x.pods);
    priority_classes_free(classes);
}

/* A head and two workers, with the roles that muster gives the real pods. */
static void each_pod_has_its_role(void **state)
{
    (void)state;
    struct priority_classes *classes = priority_classes_new();
    struct result x = stand_for(
        yaml_object(
            "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray, namespace: ml, uid: "
            "u}, spec: {suspend: true, headGroupSpec: {template: {spec: {schedulerName: "
            "kai-scheduler, containers: [{name: c}]}}}, workerGroupSpecs: [{groupName: w, "
            "replicas: 2, minReplicas: 2, maxReplicas: 2, template: {spec: {schedulerName: "
            "kai-scheduler, containers: [{name: c}]}}}]}}"),
        "pg-ray-u", classes);
    if (x.r < 0)
        fail_msg("%s", x.err.text);
    assert_int_equal(x.pods.n, 3);
    assert_string_equal(x.pods.facts[0]->role, "headgroup");
    assert_string_equal(x.pods.facts[1]->role, "w");
    assert_string_equal(x.pods.facts[2]->role, "w");
    assert_string_equal(x.pods.facts[2]->name, "raycluster.ray:2");
    suspended_pods_done(&x.pods);
    priority_classes_free(classes);
}

static json_t *job_with_labels(int pods, int labels)
{
    json_t *job = yaml_object(JOB_OF("", "labels: {}", ""));
    json_t *spec = json_object_get(job, "spec");
    json_t *meta = json_object_get(json_object_get(spec, "template"), "metadata");
    json_object_set_new(spec, "parallelism", json_integer(pods));
    for (int i = 0; i < labels; i++) {
        cleanup_free char *key = xasprintf("k%d", i);
        json_object_set_new(json_object_get(meta, "labels"), key, json_string("v"));
    }
    return job;
}

/* A tenant writes the workload. */
static void what_cannot_be_planned_is_refused(void **state)
{
    (void)state;
    struct priority_classes *classes = priority_classes_new();
    struct {
        json_t *job;
        const char *why;
    } cases[] = {
        {job_with_labels(1000000, 1), "it creates more than 2048 pods"},
        {job_with_labels(2048, 1000), "its pods have too many fields for their number"},
        {job_with_labels(0, 1), "it creates no pods"},
        {yaml_object(JOB_OF("parallelism: -1, ", "", "")), "spec.parallelism is -1"},
        {yaml_object(JOB_OF("parallelism: 2, ", "", "nodeName: n, ")), "its pods name their node"},
        {yaml_object(JOB_OF("parallelism: 2, ", "annotations: {pod-group-name: other}", "")),
         "its pods belong to another PodGroup"},
        {yaml_object(JOB_OF(
             "parallelism: 2, ",
             "annotations: {pod-group-name: pg-train-u, scheduling.k8s.io/group-name: x}", "")),
         "its pods belong to another PodGroup"},
        {yaml_object(JOB_OF("parallelism: 2, ", "", "priority: x, ")), "priority"},
        {yaml_object("{apiVersion: batch/v1, kind: Job, metadata: {name: train}, spec: {}}"),
         "it has no name or UID"},
        {yaml_object("{apiVersion: batch/v1, kind: Job, metadata: {name: train, uid: u}, spec: 7}"),
         "spec"},
        {yaml_object(
             "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: train, uid: u}, spec: {}}"),
         "spec"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct result x = stand_for(cases[i].job, "pg-train-u", classes);
        if (x.r != -1 || !strstr(x.err.text, cases[i].why))
            fail_msg("%zu: %s", i, x.r < 0 ? x.err.text : "accepted");
        assert_int_equal(x.pods.n, 0);
    }
    /* the largest that is accepted */
    struct result x = stand_for(job_with_labels(GANG_DRY_PODS, 1), "pg-train-u", classes);
    assert_int_equal(x.r, 0);
    suspended_pods_done(&x.pods);
    x = stand_for(job_with_labels(1, 1), "another-group", classes);
    assert_string_equal(x.err.text, "its pods belong to another PodGroup");
    priority_classes_free(classes);
}

/* Another program has created the PodGroup, by rules that muster does not know. */
static void the_podgroup_may_be_of_another_program(void **state)
{
    (void)state;
    struct priority_classes *classes = priority_classes_new();
    struct workload_suspendable of;
    struct suspended_pods pods;
    struct err err;
    const struct gang_ref ref = {text(KAI), text("ml"), text("any")};
    const struct suspended_pods_options options = {NULL, classes, &ref};
    cleanup_json json_t *job = yaml_object(JOB_OF("parallelism: 2, ", "", ""));
    assert_true(workload_suspendable("batch/v1", "Job", &of));
    assert_int_equal(suspended_pods(&of, job, &options, &pods, &err), 0);
    assert_int_equal(pods.n, 2);
    assert_null(pods.facts[0]->role);
    suspended_pods_done(&pods);
    /* The template names the PodGroup itself, with a role. */
    cleanup_json json_t *linked = yaml_object(
        JOB_OF("parallelism: 1, ",
               "annotations: {pod-group-name: any}, labels: {kai.scheduler/subgroup-name: w}", ""));
    assert_int_equal(suspended_pods(&of, linked, &options, &pods, &err), 0);
    assert_string_equal(pods.facts[0]->role, "w");
    suspended_pods_done(&pods);
    priority_classes_free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_podgroup_asks_to_be_suspended),
        cmocka_unit_test(the_pods_of_a_job_stand_for_those_that_it_will_create),
        cmocka_unit_test(classes_are_those_of_admission),
        cmocka_unit_test(a_job_creates_only_what_is_left_of_it),
        cmocka_unit_test(each_pod_has_its_role),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
        cmocka_unit_test(the_podgroup_may_be_of_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
