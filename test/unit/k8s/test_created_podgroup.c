/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups that muster creates, as objects: what each dialect writes, and what is left to people
 * who edit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/config.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/grouper/created_podgroup.h"
#include "test/lib/yaml_object.h"

static char *copy_text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void assert_json(const json_t *json, const char *yaml)
{
    cleanup_json json_t *want = yaml ? yaml_object(yaml) : NULL;
    if (want == json || (want && json && json_equal(json, want)))
        return;
    cleanup_free char *is = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    fail_msg("got %s, want %s", is ? is : "nothing", yaml ? yaml : "nothing");
}

/* The group of a RayCluster: a head and four workers. */
static struct workload_role roles[] = {
    {(char *)(uintptr_t) "headgroup", NULL, 1, -1},
    {(char *)(uintptr_t) "w", NULL, 4, -1},
};

/* Borrows everything but three objects; see drop(). */
static struct workload_group group_of(int64_t min_member)
{
    return (struct workload_group){
        .name = copy_text("pg-ray-u"),
        .min_member = min_member,
        .min_children = -1,
        .roles = roles,
        .n_roles = 2,
        .queue = copy_text("training"),
        .priority_class = copy_text("high"),
        .preemptibility = "non-preemptible",
        .preemption_delay = 90 * USEC_PER_SEC,
        .min_resources = yaml_object("{cpu: '8', nvidia.com/gpu: '4'}"),
        .labels = yaml_object("{team: a}"),
        .annotations = yaml_object("{note: b}"),
        .owner = {copy_text("ray.io/v1"), copy_text("RayCluster"), copy_text("ray"),
                  copy_text("u")},
    };
}

static void drop(struct workload_group *g)
{
    json_decref(g->min_resources);
    json_decref(g->labels);
    json_decref(g->annotations);
}

static void each_dialect_writes_its_own_fields(void **state)
{
    (void)state;
    static const struct {
        const struct dialect *dialect;
        const char *spec;
    } cases[] = {
        {&dialect_kai, "{minMember: 5, queue: training, priorityClassName: high, preemptibility: "
                       "non-preemptible, preemptionDelay: 1m30s, subGroups: "
                       "[{name: headgroup, minMember: 1}, {name: w, minMember: 4}]}"},
        {&dialect_volcano, "{minMember: 5, queue: training, priorityClassName: high, "
                           "minResources: {cpu: '8', nvidia.com/gpu: '4'}, minTaskMember: "
                           "{headgroup: 1, w: 4}}"},
        {&dialect_xk8s, "{minMember: 5, minResources: {cpu: '8', nvidia.com/gpu: '4'}}"},
        {&dialect_sigs, "{minMember: 5, minResources: {cpu: '8', nvidia.com/gpu: '4'}}"},
    };
    struct workload_group g = group_of(5);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *spec = cases[i].dialect->make(&g);
        assert_json(spec, cases[i].spec);
    }
    drop(&g);
}

/* Each dialect with objects has the name that the settings use. */
static void every_dialect_with_objects_can_be_created(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++) {
        size_t i = 0;
        while (config_dialects[i] && strcmp(config_dialects[i], (*d)->name) != 0)
            i++;
        if (dialect_has_objects(*d) != (config_dialects[i] != NULL) ||
            dialect_has_objects(*d) != ((*d)->make != NULL))
            fail_msg("%s", (*d)->name);
    }
}

/* For a JobSet: each of its jobs is a subgroup with subgroups, and one of these is enough. */
static void kai_gets_nested_subgroups(void **state)
{
    (void)state;
    struct workload_role tree[] = {
        {copy_text("driver"), NULL, 0, -1},
        {copy_text("driver-replica-0"), copy_text("driver"), 1, -1},
        {copy_text("workers"), NULL, 0, 1},
        {copy_text("workers-replica-0"), copy_text("workers"), 2, -1},
        {copy_text("workers-replica-1"), copy_text("workers"), 2, -1},
    };
    struct workload_group g = group_of(5);
    g.roles = tree;
    g.n_roles = ARRAY_SIZE(tree);
    g.min_children = 2;
    cleanup_json json_t *kai = dialect_kai.make(&g);
    assert_json(kai, "{minSubGroup: 2, queue: training, priorityClassName: high, preemptibility: "
                     "non-preemptible, preemptionDelay: 1m30s, subGroups: ["
                     "{name: driver}, {name: driver-replica-0, parent: driver, minMember: 1}, "
                     "{name: workers, minSubGroup: 1}, "
                     "{name: workers-replica-0, parent: workers, minMember: 2}, "
                     "{name: workers-replica-1, parent: workers, minMember: 2}]}");
    /* Volcano's tasks are not a tree: it can only state the number. */
    cleanup_json json_t *volcano = dialect_volcano.make(&g);
    assert_null(json_object_get(volcano, "minTaskMember"));
    assert_int_equal(json_integer_value(json_object_get(volcano, "minMember")), 5);
    drop(&g);
}

/* A created PodGroup is read back with the same meaning. */
static void a_created_podgroup_is_read_back_with_the_same_meaning(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    for (const struct dialect *const *d = dialects; *d; d++) {
        if (!(*d)->make)
            continue;
        cleanup_json json_t *object = created_podgroup_object(*d, (*d)->versions[0], "ml", &g);
        struct err err;
        struct gang_group_facts *f = gang_group_facts_new();
        if ((*d)->decode(object, f, &err) < 0)
            fail_msg("%s: %s", (*d)->name, err.text);
        assert_int_equal(f->min_member, 5);
        assert_int_equal(f->preemption_delay, *d == &dialect_kai ? 90 * USEC_PER_SEC : 0);
        gang_group_facts_free(f);
    }
    drop(&g);
}

static void a_created_podgroup_has_its_owner_and_musters_annotations(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = created_podgroup_object(&dialect_xk8s, "v1alpha1", "ml", &g);
    assert_json(object,
                "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: "
                "pg-ray-u, namespace: ml, labels: {team: a}, annotations: {note: b, "
                "muster.dev/created-spec: '{\"minMember\":5,\"minResources\":{\"cpu\":\"8\","
                "\"nvidia.com/gpu\":\"4\"}}'}, ownerReferences: [{apiVersion: ray.io/v1, kind: "
                "RayCluster, name: ray, uid: u, controller: false, blockOwnerDeletion: false}]}, "
                "spec: {minMember: 5, minResources: {cpu: '8', nvidia.com/gpu: '4'}}}");
    assert_true(created_podgroup_is_ours(object));
    assert_int_equal(json_object_size(g.annotations),
                     1); /* annotations of the workload are not changed */
    drop(&g);
}

/* ---- following ---- */

static json_t *served_by_the_api(const struct dialect *d, struct workload_group *g)
{
    json_t *object = created_podgroup_object(d, d->versions[0], "ml", g);
    json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string("7"));
    return object;
}

static void an_unchanged_podgroup_is_not_written(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    for (const struct dialect *const *d = dialects; *d; d++) {
        if (!(*d)->make)
            continue;
        cleanup_json json_t *object = served_by_the_api(*d, &g);
        assert_null(created_podgroup_patch(object, *d, &g));
    }
    drop(&g);
}

static void W01_only_changed_fields_are_written(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = served_by_the_api(&dialect_volcano, &g);
    /* One kind of workers is gone, another has come. Queue and priority are not updated. */
    struct workload_role other[] = {{copy_text("headgroup"), NULL, 1, -1},
                                    {copy_text("v"), NULL, 6, -1}};
    g.roles = other;
    g.min_member = 7;
    g.queue = copy_text("other");
    g.priority_class = NULL;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(patch, "spec"),
                "{minMember: 7, minTaskMember: {headgroup: 1, v: 6, w: null}}");
    assert_string_equal(field_peek(patch, "metadata", "resourceVersion", NULL), "7");
    json_object_update_recursive(object, patch);
    json_object_del(json_object_get(json_object_get(object, "spec"), "minTaskMember"), "w");
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    /* A field that is no longer needed is removed. */
    g.n_roles = 0;
    cleanup_json json_t *less = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(less, "spec"), "{minTaskMember: null}");
    drop(&g);
}

/* minResources are the minimum times the requests of one member, and members may differ. */
static void min_resources_are_written_only_with_the_minimum(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = served_by_the_api(&dialect_volcano, &g);
    json_decref(g.min_resources);
    g.min_resources = yaml_object("{cpu: '40'}"); /* computed from another member */
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    g.min_member = 6;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(patch, "spec"),
                "{minMember: 6, minResources: {cpu: '40', nvidia.com/gpu: null}}");
    /* If a user edited the minimum, minResources stay, too. */
    json_object_set_new(json_object_get(object, "spec"), "minMember", json_integer(2));
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    drop(&g);
}

static void W01_a_field_that_a_user_edited_is_not_overwritten(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = served_by_the_api(&dialect_kai, &g);
    json_object_set_new(json_object_get(object, "spec"), "minMember", json_integer(2));
    struct workload_role more[] = {{copy_text("headgroup"), NULL, 1, -1},
                                   {copy_text("w"), NULL, 8, -1}};
    g.roles = more;
    g.min_member = 9;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(json_object_get(patch, "spec"),
                "{subGroups: [{name: headgroup, minMember: 1}, {name: w, minMember: 8}]}");
    json_object_update_recursive(object, patch);
    assert_null(created_podgroup_patch(object, &dialect_kai, &g)); /* and the edited value stays */
    drop(&g);
}

static void how_to_preempt_follows_the_workload(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = served_by_the_api(&dialect_kai, &g);
    json_object_set_new(g.annotations, "muster.dev/preemption", json_string("suspend"));
    json_object_set_new(g.annotations, "note", json_string("new"));
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(patch, "{metadata: {resourceVersion: '7', annotations: {muster.dev/preemption: "
                       "suspend}}}");
    json_object_update_recursive(object, patch);
    assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    json_object_del(g.annotations, "muster.dev/preemption");
    cleanup_json json_t *less = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(less, "{metadata: {resourceVersion: '7', annotations: {muster.dev/preemption: "
                      "null}}}");
    drop(&g);
}

static void podgroups_of_other_programs_are_never_written(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "{metadata: {name: pg-ray-u}, spec: {minMember: 1}}",
        "{metadata: {name: pg-ray-u, annotations: {muster.dev/created-spec: 'no JSON'}}, spec: "
        "{minMember: "
        "1}}",
        "{metadata: {name: pg-ray-u, annotations: {muster.dev/created-spec: '[1]'}}, spec: "
        "{minMember: 1}}",
    };
    struct workload_group g = group_of(5);
    g.shared = true;
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        cleanup_json json_t *object = yaml_object(objects[i]);
        assert_false(created_podgroup_is_ours(object));
        assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    }
    drop(&g);
}

static void the_pods_own_the_podgroup_that_they_share(void **state)
{
    (void)state;
    struct workload_group g = group_of(2);
    g.n_roles = 0;
    g.shared = true;
    g.owner =
        (struct workload_ref){copy_text("v1"), copy_text("Pod"), copy_text("a"), copy_text("ua")};
    cleanup_json json_t *object = served_by_the_api(&dialect_kai, &g);
    assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    g.owner.name = copy_text("b");
    g.owner.uid = copy_text("ub");
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(patch, "{metadata: {resourceVersion: '7', ownerReferences: [{apiVersion: v1, kind: "
                       "Pod, name: a, uid: ua, controller: false, blockOwnerDeletion: false}, "
                       "{apiVersion: v1, kind: Pod, name: b, uid: ub, controller: false, "
                       "blockOwnerDeletion: false}]}}");
    /* The number of owners is bounded. */
    json_t *owners = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    while (json_array_size(owners) < CREATED_PODGROUP_MAX_OWNERS)
        json_array_append(owners, json_array_get(owners, 0));
    assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    drop(&g);
}

static void each_dialect_writes_its_own_links(void **state)
{
    (void)state;
    static const struct {
        const struct dialect *dialect;
        const char *patch;
    } cases[] = {
        {&dialect_kai, "{metadata: {uid: u, annotations: {pod-group-name: g}, labels: "
                       "{kai.scheduler/subgroup-name: w}}}"},
        {&dialect_volcano, "{metadata: {uid: u, annotations: {scheduling.k8s.io/group-name: g, "
                           "volcano.sh/task-spec: w}}}"},
        {&dialect_xk8s, "{metadata: {uid: u, labels: {scheduling.x-k8s.io/pod-group: g}}}"},
        {&dialect_sigs, "{metadata: {uid: u, labels: {pod-group.scheduling.sigs.k8s.io: g}}}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *patch = created_podgroup_link(cases[i].dialect, "u", "g", "w");
        assert_json(patch, cases[i].patch);
        const char *name = NULL;
        assert_ptr_equal(dialect_of_pod(patch, &name, NULL), cases[i].dialect);
        assert_string_equal(name, "g");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_writes_its_own_fields),
        cmocka_unit_test(every_dialect_with_objects_can_be_created),
        cmocka_unit_test(kai_gets_nested_subgroups),
        cmocka_unit_test(a_created_podgroup_is_read_back_with_the_same_meaning),
        cmocka_unit_test(a_created_podgroup_has_its_owner_and_musters_annotations),
        cmocka_unit_test(an_unchanged_podgroup_is_not_written),
        cmocka_unit_test(W01_only_changed_fields_are_written),
        cmocka_unit_test(min_resources_are_written_only_with_the_minimum),
        cmocka_unit_test(W01_a_field_that_a_user_edited_is_not_overwritten),
        cmocka_unit_test(how_to_preempt_follows_the_workload),
        cmocka_unit_test(podgroups_of_other_programs_are_never_written),
        cmocka_unit_test(the_pods_own_the_podgroup_that_they_share),
        cmocka_unit_test(each_dialect_writes_its_own_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
