/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods get a PodGroup: schedulers, namespaces, annotations, existing links. */
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"
#include "workload_fixture.h"

static const char *const rule_results[] = {
    [WORKLOAD_NO] = "no", [WORKLOAD_MAKE] = "make", [WORKLOAD_OWNER] = "owner"};

static const struct {
    const char *pod, *rule_result;
} pods[] = {
    /* schedulers */
    {"{spec: {schedulerName: kai-scheduler}}", "make"},
    {"{spec: {schedulerName: volcano}}", "make"},
    {"{spec: {schedulerName: default-scheduler}}", "no"},
    {"{spec: {}}", "no"},
    {"{}", "no"},
    {"{spec: {schedulerName: volcano}, metadata: {ownerReferences: [{apiVersion: v1, kind: A, "
     "name: a, uid: a}]}}",
     "make"},
    {"{metadata: {ownerReferences: [{kind: A}]}}", "no"},
    /* annotations */
    {"{metadata: {annotations: {muster.dev/create-podgroup: 'true'}}}", "make"},
    {"{metadata: {annotations: {scheduling.run.ai/gang-scheduling: 'true'}}}", "make"},
    {"{metadata: {annotations: {muster.dev/create-podgroup: 'perhaps'}}}",
     "make"}, /* refused later */
    {"{metadata: {annotations: {muster.dev/gang: quartet}}}", "make"},
    {"{metadata: {annotations: {muster.dev/gang: ''}}}", "no"},
    {"{spec: {schedulerName: volcano}, metadata: {annotations: {muster.dev/create-podgroup: "
     "'false'}}}",
     "no"},
    {"{spec: {schedulerName: volcano}, metadata: {annotations: {scheduling.run.ai/gang-scheduling: "
     "'false'}}}",
     "no"},
    {"{spec: {schedulerName: volcano}, metadata: {annotations: {kai.scheduler/skip-podgrouper: "
     "'true'}}}",
     "no"},
    {"{spec: {schedulerName: volcano}, metadata: {annotations: {kai.scheduler/skip-podgrouper: "
     "'false'}}}",
     "make"},
    {"{metadata: {annotations: {muster.dev/create-podgroup: 'false', muster.dev/gang: a}}}", "no"},
    /* pods that belong to no workload, or have ended */
    {"{spec: {schedulerName: volcano}, metadata: {annotations: {kubernetes.io/config.mirror: x}}}",
     "no"},
    {"{spec: {schedulerName: volcano}, metadata: {ownerReferences: [{apiVersion: apps/v1, kind: "
     "DaemonSet, name: a, uid: a, controller: true}]}}",
     "no"},
    {"{spec: {schedulerName: volcano}, metadata: {ownerReferences: [{apiVersion: v1, kind: Node, "
     "name: a, uid: a}]}}",
     "no"},
    {"{spec: {schedulerName: volcano}, status: {phase: Succeeded}}", "no"},
    {"{spec: {schedulerName: volcano}, status: {phase: Failed}}", "no"},
    {"{spec: {schedulerName: volcano}, status: {phase: Pending}}", "make"},
    {"{spec: {schedulerName: volcano, nodeName: a}, status: {phase: Running}}", "make"},
    {"{spec: {schedulerName: volcano}, metadata: {deletionTimestamp: '2026-11-20T21:39:11Z'}}",
     "no"},
    /* Ray's nodes, and the pod that cleans up Redis after a deleted cluster */
    {"{spec: {schedulerName: volcano}, metadata: {labels: {ray.io/node-type: head}}}", "make"},
    {"{spec: {schedulerName: volcano}, metadata: {labels: {ray.io/node-type: redis-cleanup}}}",
     "no"},
    {"{metadata: {labels: {ray.io/node-type: redis-cleanup}, annotations: "
     "{muster.dev/create-podgroup: 'true'}}}",
     "no"},
    /* the native gangs of kube-scheduler */
    {"{spec: {schedulerName: volcano, schedulingGroup: {podGroupName: a}}}", "no"},
    {"{spec: {schedulerName: volcano, workloadRef: {name: a}}}", "no"},
    /* invalid */
    {"{spec: {schedulerName: [1]}}", "no"},
    {"{spec: 7, metadata: 7}", "no"},
    {"{spec: {schedulerName: volcano}, metadata: {annotations: [1], labels: 7, ownerReferences: "
     "{}}}",
     "make"},
};

static void scheduler_annotations_and_owners_decide_whether_a_pod_gets_a_podgroup(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        cleanup_json json_t *pod = yaml_object(pods[i].pod);
        const char *got = rule_results[workload_wants_podgroup(&rules, pod)];
        if (strcmp(got, pods[i].rule_result) != 0)
            fail_msg("%s: got %s, want %s", pods[i].pod, got, pods[i].rule_result);
    }
}

static void when_switched_off_no_pod_gets_a_podgroup(void **state)
{
    struct workload_rules rules = fixture_rules();
    cleanup_json json_t *pod =
        yaml_object("{spec: {schedulerName: volcano}, metadata: {annotations: "
                    "{muster.dev/create-podgroup: 'true'}}}");
    (void)state;
    assert_int_equal(workload_wants_podgroup(&rules, pod), WORKLOAD_MAKE);
    rules.on = false;
    assert_int_equal(workload_wants_podgroup(&rules, pod), WORKLOAD_NO);
}

static void the_configured_namespaces_override_annotations(void **state)
{
    static char ml[] = "ml", kube[] = "kube-system", by_default[] = "default";
    char *named[] = {ml, by_default}, *except[] = {kube, ml};
    struct workload_rules rules = fixture_rules();
    cleanup_json json_t *in_ml =
        yaml_object("{metadata: {namespace: ml}, spec: {schedulerName: volcano}}");
    cleanup_json json_t *in_none = yaml_object("{spec: {schedulerName: volcano}}");
    cleanup_json json_t *in_kube = yaml_object(
        "{metadata: {namespace: kube-system, annotations: {muster.dev/create-podgroup: 'true'}}}");
    (void)state;
    rules.excluded_namespaces = except;
    rules.n_excluded_namespaces = 1;
    assert_int_equal(workload_wants_podgroup(&rules, in_ml), WORKLOAD_MAKE);
    assert_int_equal(workload_wants_podgroup(&rules, in_none), WORKLOAD_MAKE);
    assert_int_equal(workload_wants_podgroup(&rules, in_kube),
                     WORKLOAD_NO); /* despite its annotation */
    rules.namespaces = named;
    rules.n_namespaces = 1;
    assert_int_equal(workload_wants_podgroup(&rules, in_ml), WORKLOAD_MAKE);
    assert_int_equal(workload_wants_podgroup(&rules, in_none), WORKLOAD_NO);
    rules.n_namespaces = 2;
    assert_int_equal(workload_wants_podgroup(&rules, in_none),
                     WORKLOAD_MAKE); /* the pod is in "default" */
    rules.n_excluded_namespaces = 2;
    assert_int_equal(workload_wants_podgroup(&rules, in_ml),
                     WORKLOAD_NO); /* included and excluded */
}

static void the_default_scheduler_can_be_listed(void **state)
{
    static char usual[] = "default-scheduler";
    char *schedulers[] = {usual};
    struct workload_rules rules = fixture_rules();
    cleanup_json json_t *unsaid = yaml_object("{spec: {}}");
    cleanup_json json_t *said = yaml_object("{spec: {schedulerName: default-scheduler}}");
    (void)state;
    rules.schedulers = schedulers;
    rules.n_schedulers = 1;
    assert_int_equal(workload_wants_podgroup(&rules, unsaid), WORKLOAD_MAKE);
    assert_int_equal(workload_wants_podgroup(&rules, said), WORKLOAD_MAKE);
}

/* Pods of other schedulers: muster reads only owners whose pods start together. */
static const struct {
    const char *api_version, *kind, *label, *rule_result;
} owners[] = {
    {"ray.io/v1", "RayCluster", "x", "owner"},
    {"ray.io/v1alpha1", "RayCluster", "x", "owner"},
    {"kubeflow.org/v1", "PyTorchJob", "x", "owner"},
    {"kubeflow.org/v2beta1", "MPIJob", "x", "owner"},
    {"jobset.x-k8s.io/v1alpha2", "JobSet", "x", "owner"},
    {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "x", "owner"},
    {"example.com/v1", "TrainSet", "x", "owner"}, /* from the configuration */
    {"batch/v1", "Job", "jobset.sigs.k8s.io/jobset-name", "owner"},
    {"batch/v1", "Job", "training.kubeflow.org/job-name", "owner"}, /* the launcher of an MPIJob */
    {"apps/v1", "StatefulSet", "leaderworkerset.sigs.k8s.io/name", "owner"},
    {"batch/v1", "Job", "x", "no"},
    {"apps/v1", "StatefulSet", "x", "no"},
    {"apps/v1", "ReplicaSet", "x", "no"},
    {"example.com/v1", "Unknown", "x", "no"},
};

static void for_other_schedulers_only_owners_of_gangs_are_read(void **state)
{
    struct workload_custom custom = {(char[]){"example.com/v1"}, (char[]){"TrainSet"},
                                     (char[]){"spec.replicas"}, NULL};
    struct workload_rules rules = fixture_rules();
    (void)state;
    rules.customs = &custom;
    rules.n_customs = 1;
    for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
        cleanup_json json_t *pod =
            json_pack("{s:{s:{s:s},s:[{s:s,s:s,s:s,s:s,s:b}]}}", "metadata", "labels",
                      owners[i].label, "y", "ownerReferences", "apiVersion", owners[i].api_version,
                      "kind", owners[i].kind, "name", "o", "uid", "u", "controller", true);
        const char *got = rule_results[workload_wants_podgroup(&rules, pod)];
        if (strcmp(got, owners[i].rule_result) != 0)
            fail_msg("%s with %s: got %s, want %s", owners[i].kind, owners[i].label, got,
                     owners[i].rule_result);
    }
}

/* workload/ cannot include k8s/, so both have a list of these keys. This test compares them. */
static void W03_pods_with_a_link_of_any_dialect_get_no_podgroup(void **state)
{
    struct workload_rules rules = fixture_rules();
    size_t seen = 0;
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++)
        for (const struct dialect_key *k = (*d)->links; k->kind != KEY_END; k++, seen++) {
            const char *map = k->kind == KEY_LABEL ? "labels" : "annotations";
            const char *other = k->kind == KEY_LABEL ? "annotations" : "labels";
            cleanup_json json_t *linked =
                json_pack("{s:{s:s},s:{s:{s:s}}}", "spec", "schedulerName", "volcano", "metadata",
                          map, k->name, "g");
            cleanup_json json_t *not_so =
                json_pack("{s:{s:s},s:{s:{s:s}}}", "spec", "schedulerName", "volcano", "metadata",
                          other, k->name, "g");
            if (workload_wants_podgroup(&rules, linked) != WORKLOAD_NO)
                fail_msg("%s key %s does not count as a link", map, k->name);
            assert_int_equal(workload_wants_podgroup(&rules, not_so), WORKLOAD_MAKE);
        }
    assert_true(seen >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheduler_annotations_and_owners_decide_whether_a_pod_gets_a_podgroup),
        cmocka_unit_test(for_other_schedulers_only_owners_of_gangs_are_read),
        cmocka_unit_test(when_switched_off_no_pod_gets_a_podgroup),
        cmocka_unit_test(the_configured_namespaces_override_annotations),
        cmocka_unit_test(the_default_scheduler_can_be_listed),
        cmocka_unit_test(W03_pods_with_a_link_of_any_dialect_get_no_podgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
