/* SPDX-License-Identifier: Apache-2.0 */
/* From an object to its owner. */
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"
#include "workload_fixture.h"

static const struct {
    const char *object, *owner; /* NULL: none */
} steps[] = {
    {"{}", NULL},
    {"{metadata: {ownerReferences: []}}", NULL},
    {"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}]}}", "v1 A a u"},
    /* the controller comes before the first owner */
    {"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}, {apiVersion: v2, "
     "kind: B, name: b, uid: w, controller: true}]}}",
     "v2 B b w"},
    {"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u, controller: false}, "
     "{apiVersion: v2, kind: B, name: b, uid: w}]}}",
     "v1 A a u"},
    /* invalid references */
    {"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: a}]}}", NULL},
    {"{metadata: {ownerReferences: [{apiVersion: v1, kind: A, name: '', uid: u}]}}", NULL},
    {"{metadata: {ownerReferences: [{apiVersion: 1, kind: A, name: a, uid: u}]}}", NULL},
    {"{metadata: {ownerReferences: [7]}}", NULL},
    {"{metadata: {ownerReferences: {apiVersion: v1, kind: A, name: a, uid: u}}}", NULL},
    {"{metadata: [1]}", NULL},
    {"[]", NULL},
    /* kinds that workload_group() leaves out are still read, because their annotations count */
    {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {ownerReferences: "
     "[{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, name: t, uid: u}]}}",
     "trainer.kubeflow.org/v1alpha1 TrainJob t u"},
};

static void the_next_owner_is_the_controller_or_the_first(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        struct workload_ref ref = {NULL, NULL, NULL, NULL};
        cleanup_json json_t *object = yaml_object(steps[i].object);
        bool found = workload_owner(&rules, object, &ref);
        cleanup_free char *got =
            found ? xasprintf("%s %s %s %s", ref.api_version, ref.kind, ref.name, ref.uid) : NULL;
        if (!str_eq(got, steps[i].owner))
            fail_msg("%s: got %s, want %s", steps[i].object, got ? got : "none",
                     steps[i].owner ? steps[i].owner : "none");
        workload_ref_done(&ref);
    }
}

static void a_configured_kind_has_no_further_owner(void **state)
{
    struct workload_custom custom = {(char[]){"example.com/v1"}, (char[]){"TrainSet"},
                                     (char[]){"spec.replicas"}, NULL};
    struct workload_rules rules = fixture_rules();
    struct workload_ref ref;
    cleanup_json json_t *set = yaml_object(
        "{apiVersion: example.com/v1, kind: TrainSet, metadata: {ownerReferences: [{apiVersion: "
        "v1, kind: A, name: a, uid: u}]}}");
    (void)state;
    assert_true(workload_owner(&rules, set, &ref));
    workload_ref_done(&ref);
    assert_null(ref.name);
    rules.customs = &custom;
    rules.n_customs = 1;
    assert_false(workload_owner(&rules, set, &ref));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_owner_is_the_controller_or_the_first),
        cmocka_unit_test(a_configured_kind_has_no_further_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
