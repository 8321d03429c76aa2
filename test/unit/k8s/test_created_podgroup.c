/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups that muster makes, as objects: what is written in each dialect, and what is left to
 * those who edit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/config.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"
#include "k8s/grouper/created_podgroup.h"

static char *letters(const char *s)
{
    return (char *)(uintptr_t)s;
}

static json_t *parse(const char *yaml)
{
    struct err err;
    cleanup_json json_t *documents = yaml_parse("test", yaml, strlen(yaml), &err);
    if (!documents)
        fail_msg("%s in %s", err.text, yaml);
    return json_incref(json_array_get(documents, 0));
}

static void assert_json(const json_t *json, const char *yaml)
{
    cleanup_json json_t *want = yaml ? parse(yaml) : NULL;
    if (want == json || (want && json && json_equal(json, want)))
        return;
    cleanup_free char *is = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    fail_msg("is %s, not %s", is ? is : "nothing", yaml ? yaml : "nothing");
}

/* A RayCluster's: a head and four workers. */
static struct workload_role roles[] = {
    {(char *)(uintptr_t) "headgroup", NULL, 1, -1},
    {(char *)(uintptr_t) "w", NULL, 4, -1},
};

/* Everything is borrowed but the three objects; see drop(). */
static struct workload_group group_of(int64_t min_member)
{
    return (struct workload_group){
        .name = letters("pg-ray-u"),
        .min_member = min_member,
        .min_children = -1,
        .roles = roles,
        .n_roles = 2,
        .queue = letters("training"),
        .priority_class = letters("high"),
        .min_resources = parse("{cpu: '8', nvidia.com/gpu: '4'}"),
        .labels = parse("{team: a}"),
        .annotations = parse("{note: b}"),
        .owner = {letters("ray.io/v1"), letters("RayCluster"), letters("ray"), letters("u")},
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
        {&dialect_kai, "{minMember: 5, queue: training, priorityClassName: high, subGroups: "
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

/* Whoever has objects can be asked for, by the name that the settings know it by. */
static void every_dialect_with_objects_can_be_made(void **state)
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

/* Of a JobSet: each of its jobs is a part of parts, and one of them is enough. */
static void kai_has_parts_of_parts(void **state)
{
    (void)state;
    struct workload_role tree[] = {
        {letters("driver"), NULL, 0, -1},
        {letters("driver-replica-0"), letters("driver"), 1, -1},
        {letters("workers"), NULL, 0, 1},
        {letters("workers-replica-0"), letters("workers"), 2, -1},
        {letters("workers-replica-1"), letters("workers"), 2, -1},
    };
    struct workload_group g = group_of(5);
    g.roles = tree;
    g.n_roles = ARRAY_SIZE(tree);
    g.min_children = 2;
    cleanup_json json_t *kai = dialect_kai.make(&g);
    assert_json(kai, "{minSubGroup: 2, queue: training, priorityClassName: high, subGroups: ["
                     "{name: driver}, {name: driver-replica-0, parent: driver, minMember: 1}, "
                     "{name: workers, minSubGroup: 1}, "
                     "{name: workers-replica-0, parent: workers, minMember: 2}, "
                     "{name: workers-replica-1, parent: workers, minMember: 2}]}");
    /* Tasks are no tree: the number is all that can be said there. */
    cleanup_json json_t *volcano = dialect_volcano.make(&g);
    assert_null(json_object_get(volcano, "minTaskMember"));
    assert_int_equal(json_integer_value(json_object_get(volcano, "minMember")), 5);
    drop(&g);
}

/* What is made is read as it was meant. */
static void what_is_made_is_understood(void **state)
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
        gang_group_facts_free(f);
    }
    drop(&g);
}

static void an_object_has_owner_and_marks(void **state)
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
    assert_int_equal(json_object_size(g.annotations), 1); /* the workload's own stay as they are */
    drop(&g);
}

/* ---- following ---- */

static json_t *as_served(const struct dialect *d, struct workload_group *g)
{
    json_t *object = created_podgroup_object(d, d->versions[0], "ml", g);
    json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string("7"));
    return object;
}

static void what_is_right_is_not_written(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    for (const struct dialect *const *d = dialects; *d; d++) {
        if (!(*d)->make)
            continue;
        cleanup_json json_t *object = as_served(*d, &g);
        assert_null(created_podgroup_patch(object, *d, &g));
    }
    drop(&g);
}

static void W01_only_what_has_changed_is_written(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = as_served(&dialect_volcano, &g);
    /* One kind of workers has gone, another has come; queue and priority are not followed. */
    struct workload_role other[] = {{letters("headgroup"), NULL, 1, -1},
                                    {letters("v"), NULL, 6, -1}};
    g.roles = other;
    g.min_member = 7;
    g.queue = letters("other");
    g.priority_class = NULL;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(patch, "spec"),
                "{minMember: 7, minTaskMember: {headgroup: 1, v: 6, w: null}}");
    assert_string_equal(field_peek(patch, "metadata", "resourceVersion", NULL), "7");
    json_object_update_recursive(object, patch);
    json_object_del(json_object_get(json_object_get(object, "spec"), "minTaskMember"), "w");
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    /* A field that is not needed any more is taken out. */
    g.n_roles = 0;
    cleanup_json json_t *less = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(less, "spec"), "{minTaskMember: null}");
    drop(&g);
}

/* It is the minimum times what one member asks for, and members differ. */
static void minimum_resources_are_written_with_the_minimum(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = as_served(&dialect_volcano, &g);
    json_decref(g.min_resources);
    g.min_resources = parse("{cpu: '40'}"); /* another member was asked about */
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    g.min_member = 6;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_volcano, &g);
    assert_json(json_object_get(patch, "spec"),
                "{minMember: 6, minResources: {cpu: '40', nvidia.com/gpu: null}}");
    /* Where the minimum was edited, what belongs to it stays too. */
    json_object_set_new(json_object_get(object, "spec"), "minMember", json_integer(2));
    assert_null(created_podgroup_patch(object, &dialect_volcano, &g));
    drop(&g);
}

static void W01_what_somebody_edited_is_his(void **state)
{
    (void)state;
    struct workload_group g = group_of(5);
    cleanup_json json_t *object = as_served(&dialect_kai, &g);
    json_object_set_new(json_object_get(object, "spec"), "minMember", json_integer(2));
    struct workload_role more[] = {{letters("headgroup"), NULL, 1, -1},
                                   {letters("w"), NULL, 8, -1}};
    g.roles = more;
    g.min_member = 9;
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(json_object_get(patch, "spec"),
                "{subGroups: [{name: headgroup, minMember: 1}, {name: w, minMember: 8}]}");
    json_object_update_recursive(object, patch);
    assert_null(created_podgroup_patch(object, &dialect_kai, &g)); /* and so it stays */
    drop(&g);
}

static void others_podgroups_are_never_written(void **state)
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
        cleanup_json json_t *object = parse(objects[i]);
        assert_false(created_podgroup_is_ours(object));
        assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    }
    drop(&g);
}

static void pods_own_what_they_share(void **state)
{
    (void)state;
    struct workload_group g = group_of(2);
    g.n_roles = 0;
    g.shared = true;
    g.owner = (struct workload_ref){letters("v1"), letters("Pod"), letters("a"), letters("ua")};
    cleanup_json json_t *object = as_served(&dialect_kai, &g);
    assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    g.owner.name = letters("b");
    g.owner.uid = letters("ub");
    cleanup_json json_t *patch = created_podgroup_patch(object, &dialect_kai, &g);
    assert_json(patch, "{metadata: {resourceVersion: '7', ownerReferences: [{apiVersion: v1, kind: "
                       "Pod, name: a, uid: ua, controller: false, blockOwnerDeletion: false}, "
                       "{apiVersion: v1, kind: Pod, name: b, uid: ub, controller: false, "
                       "blockOwnerDeletion: false}]}}");
    /* There is an end to it. */
    json_t *owners = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    while (json_array_size(owners) < CREATED_PODGROUP_MAX_OWNERS)
        json_array_append(owners, json_array_get(owners, 0));
    assert_null(created_podgroup_patch(object, &dialect_kai, &g));
    drop(&g);
}

static void links_are_the_dialects_own(void **state)
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
        cmocka_unit_test(every_dialect_with_objects_can_be_made),
        cmocka_unit_test(kai_has_parts_of_parts),
        cmocka_unit_test(what_is_made_is_understood),
        cmocka_unit_test(an_object_has_owner_and_marks),
        cmocka_unit_test(what_is_right_is_not_written),
        cmocka_unit_test(W01_only_what_has_changed_is_written),
        cmocka_unit_test(minimum_resources_are_written_with_the_minimum),
        cmocka_unit_test(W01_what_somebody_edited_is_his),
        cmocka_unit_test(others_podgroups_are_never_written),
        cmocka_unit_test(pods_own_what_they_share),
        cmocka_unit_test(links_are_the_dialects_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
