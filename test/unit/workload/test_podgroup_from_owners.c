/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for all kinds: the API of the PodGroup, invalid chains, kinds that the configuration adds,
 * and long names. */
#include <stdio.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"
#include "workload/kinds.h"
#include "workload_fixture.h"

#define POD_OF(kind) /* a pod of kai-scheduler and its reference to an owner */                    \
    "{metadata: {name: p, uid: pu, namespace: ml, ownerReferences: [{apiVersion: example.com/v1, " \
    "kind: " kind ", name: o, uid: ou, controller: true}]}, spec: {schedulerName: kai-scheduler}}"

/* The PodGroup for a pod and its owner (NULL: none). */
static char *ask(const struct workload_rules *rules, const char *pod, const char *owner)
{
    cleanup_json json_t *below = yaml_object(pod);
    cleanup_json json_t *above = owner ? yaml_object(owner) : NULL;
    const json_t *chain[] = {below, above};
    return fixture_ask(rules, chain, above ? 2 : 1);
}

static void expect(const struct workload_rules *rules, const char *pod, const char *owner,
                   const char *gives)
{
    cleanup_free char *got = ask(rules, pod, owner);
    if (strcmp(got, gives) != 0)
        fail_msg("%s %s\n  got  %s\n  want %s", pod, owner ? owner : "", got, gives);
}

/* ---- the API of the PodGroup ---- */

static const struct {
    const char *pod, *owner, *home, *api;
} apis[] = {
    {"{schedulerName: kai-scheduler}", "{}", NULL, "scheduling.run.ai"},
    {"{schedulerName: volcano}", "{}", "scheduling.run.ai", "scheduling.volcano.sh"},
    {"{schedulerName: kai-scheduler}", "{}", "scheduling.volcano.sh", "scheduling.run.ai"},
    /* the scheduler's name comes before keys */
    {"{schedulerName: volcano}", "{annotations: {scheduling.run.ai/x: y}}", NULL,
     "scheduling.volcano.sh"},
    /* keys of the owner */
    {"{}", "{annotations: {scheduling.run.ai/x: y}}", "scheduling.x-k8s.io", "scheduling.run.ai"},
    {"{}", "{labels: {kai.scheduler/queue: q}}", "scheduling.x-k8s.io", "scheduling.run.ai"},
    {"{}", "{labels: {runai/queue: q}}", "scheduling.x-k8s.io", "scheduling.run.ai"},
    {"{}", "{annotations: {scheduling.volcano.sh/group-min-member: '2'}}", NULL,
     "scheduling.volcano.sh"},
    {"{}", "{annotations: {volcano.sh/preemptable: 'true'}}", NULL, "scheduling.volcano.sh"},
    /* neither the scheduler nor a key decides */
    {"{}", "{}", "scheduling.x-k8s.io", "scheduling.x-k8s.io"},
    {"{}", "{}", "scheduling.sigs.k8s.io", "scheduling.sigs.k8s.io"},
    {"{}", "{}", NULL, "scheduling.run.ai"},
};

static void the_api_follows_the_scheduler_name_then_keys_then_the_setting(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
        struct workload_rules rules = fixture_rules();
        cleanup_free char *home = xstrdup_null(apis[i].home);
        cleanup_json json_t *pod = yaml_object(POD_OF("Odd"));
        cleanup_json json_t *owner =
            yaml_object("{apiVersion: example.com/v1, kind: Odd, metadata: {name: o, uid: ou}}");
        cleanup_json json_t *spec = yaml_object(apis[i].pod);
        cleanup_json json_t *marks = yaml_object(apis[i].owner);
        rules.home = home;
        json_object_set(pod, "spec", spec);
        json_object_set_new(json_object_get(pod, "metadata"), "annotations",
                            json_pack("{s:s}", "muster.dev/create-podgroup", "true"));
        json_object_update(json_object_get(owner, "metadata"), marks);
        const json_t *chain[] = {pod, owner};
        cleanup_free char *got = fixture_ask(&rules, chain, 2);
        got[strcspn(got, " ")] = '\0';
        if (strcmp(got, apis[i].api) != 0)
            fail_msg("case %zu: got %s, want %s", i, got, apis[i].api);
    }
}

static void keys_of_the_pod_come_before_keys_of_the_owner(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: pu, annotations: {muster.dev/create-podgroup: 'true', "
           "volcano.sh/task-spec: a}, ownerReferences: [{apiVersion: example.com/v1, kind: Odd, "
           "name: o, uid: ou}]}}",
           "{apiVersion: example.com/v1, kind: Odd, metadata: {name: o, uid: ou, labels: "
           "{kai.scheduler/queue: q}}}",
           "scheduling.volcano.sh podgroup-pu min 1 annotations volcano.sh/task-spec=a of v1/Pod/p "
           "pu");
}

/* ---- invalid chains ---- */

static void several_owners_need_a_controller(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: pu, namespace: ml, ownerReferences: [{apiVersion: v1, kind: "
           "A, name: a, uid: u}, {apiVersion: v1, kind: B, name: b, uid: w}]}, spec: "
           "{schedulerName: volcano}}",
           NULL,
           "error: Pod ml/p: metadata.ownerReferences has 2 owners and none is the controller; "
           "set controller: true on one of them");
    expect(&rules, POD_OF("Odd"),
           "{apiVersion: example.com/v1, kind: Odd, metadata: {name: o, uid: ou, namespace: ml, "
           "ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}, {apiVersion: v1, kind: "
           "B, name: b, uid: w}]}}",
           "error: Odd ml/o: metadata.ownerReferences has 2 owners and none is the controller; "
           "set controller: true on one of them");
}

static void objects_without_a_name_or_uid_are_refused(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules, "{metadata: {name: p}, spec: {schedulerName: volcano}}", NULL,
           "error: Pod default/p: metadata.uid is missing; only objects of the API can have "
           "PodGroups");
    expect(&rules, "{metadata: {uid: u}, spec: {schedulerName: volcano}}", NULL,
           "error: Pod default/: metadata.name is missing; only objects of the API can have "
           "PodGroups");
    expect(&rules, "[]", NULL,
           "error: Pod default/: metadata.name is missing; only objects of the API can have "
           "PodGroups");
}

static void chains_of_owners_are_bounded(void **state)
{
    struct workload_rules rules = fixture_rules();
    cleanup_json json_t *pod =
        yaml_object("{metadata: {name: p, uid: u}, spec: {schedulerName: kai-scheduler}}");
    const json_t *chain[WORKLOAD_MAX_CHAIN + 1];
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(chain); i++)
        chain[i] = pod;
    cleanup_free char *none = fixture_ask(&rules, chain, 0);
    cleanup_free char *many = fixture_ask(&rules, chain, ARRAY_SIZE(chain));
    cleanup_free char *most = fixture_ask(&rules, chain, WORKLOAD_MAX_CHAIN);
    assert_string_equal(none,
                        "error: the pod and its owners are 0 objects, must be between 1 and 16");
    assert_string_equal(many,
                        "error: the pod and its owners are 17 objects, must be between 1 and 16");
    assert_string_equal(most, "scheduling.run.ai pg-p-u min 1 of v1/Pod/p u");
}

/* An invalid annotation of the pod is refused before anything else is read. */
static void an_invalid_annotation_of_the_pod_is_refused(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(
        &rules, "{metadata: {name: p, uid: u, annotations: {muster.dev/create-podgroup: 'no'}}}",
        NULL,
        "error: Pod default/p: annotation muster.dev/create-podgroup is \"no\", must be \"true\" "
        "or \"false\"");
    expect(&rules, "{metadata: {name: p, uid: u}}", NULL, "no PodGroup");
}

/* ---- muster's own minimum ---- */

static void musters_own_minimum_overrides_volcanos(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
           "name: j, uid: ju, controller: true}]}, spec: {schedulerName: volcano, containers: "
           "[{resources: {requests: {cpu: 1500m}}}]}}",
           "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: ju, annotations: "
           "{muster.dev/min-member: '3', scheduling.volcano.sh/group-min-member: '2'}}, "
           "spec: {parallelism: 4}}",
           "scheduling.volcano.sh podgroup-ju min 3 resources cpu=4500m of batch/v1/Job/j ju");
}

static void volcano_copies_how_to_preempt(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
           "name: j, uid: ju, controller: true}]}, spec: {schedulerName: volcano}}",
           "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: ju, annotations: "
           "{muster.dev/preemption: suspend, note: a}}, spec: {parallelism: 4}}",
           "scheduling.volcano.sh podgroup-ju min 1 annotations muster.dev/preemption=suspend of "
           "batch/v1/Job/j ju");
}

static void other_ways_to_preempt_are_refused(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
           "name: j, uid: ju, controller: true}]}, spec: {schedulerName: kai-scheduler}}",
           "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: ju, annotations: "
           "{muster.dev/preemption: stop}}, spec: {parallelism: 4}}",
           "error: Job default/j: annotation muster.dev/preemption is \"stop\", must be suspend or "
           "evict");
}

static void unreadable_requests_are_refused(void **state)
{
    struct workload_rules rules = fixture_rules();
    (void)state;
    expect(&rules,
           "{metadata: {name: p, uid: u, namespace: ml}, spec: {schedulerName: volcano, "
           "containers: [{resources: {requests: {cpu: lots}}}]}}",
           NULL,
           "error: Pod ml/p: spec.containers[0].resources.requests.cpu: \"lots\" is not a "
           "quantity (such as 2, 500m or 16Gi)");
}

/* ---- kinds of the configuration ---- */

static const struct {
    const char *replicas, *minimum, *spec, *gives;
} customs[] = {
    {"spec.replicas", NULL, "{replicas: 4}",
     "scheduling.run.ai pg-o-ou min 4 of example.com/v1/Odd/o ou"},
    {"spec.replicas", NULL, "{replicas: 0}",
     "scheduling.run.ai pg-o-ou min 0 of example.com/v1/Odd/o ou"},
    {"spec.replicas", "spec.least", "{replicas: 4, least: 3}",
     "scheduling.run.ai pg-o-ou min 3 of example.com/v1/Odd/o ou"},
    {"spec.replicas", "spec.least", "{replicas: 4}",
     "scheduling.run.ai pg-o-ou min 4 of example.com/v1/Odd/o ou"},
    {"spec.replicas", "spec.least", "{replicas: 4, least: null}",
     "scheduling.run.ai pg-o-ou min 4 of example.com/v1/Odd/o ou"},
    {"spec.replicas", "spec.least", "{replicas: 4, least: 5}",
     "error: Odd ml/o: spec.least is 5, but spec.replicas is 4; lower the first or raise the "
     "second"},
    {"spec.groups[*].replicas", NULL, "{groups: [{replicas: 2}, {replicas: 3}]}",
     "scheduling.run.ai pg-o-ou min 5 of example.com/v1/Odd/o ou"},
    {"spec.groups[*].replicas", "spec.groups[*].least",
     "{groups: [{replicas: 2, least: 1}, {replicas: 3, least: 3}]}",
     "scheduling.run.ai pg-o-ou min 4 of example.com/v1/Odd/o ou"},
    {"spec.groups[*].replicas", "spec.groups[*].least",
     "{groups: [{replicas: 2, least: 1}, {replicas: 3}]}",
     "error: Odd ml/o: spec.groups[1].least is missing; write it, or correct the path in the "
     "configuration"},
    {"spec.groups[*].replicas", NULL, "{groups: []}",
     "scheduling.run.ai pg-o-ou min 0 of example.com/v1/Odd/o ou"},
    {"spec.tasks.*.n", NULL, "{tasks: {a: {n: 2}, b: {n: 1}}}",
     "scheduling.run.ai pg-o-ou min 3 of example.com/v1/Odd/o ou"},
    {"spec.tasks.*.n", NULL, "{tasks: {\"a\\u0007b\": {n: -1}}}",
     "error: Odd ml/o: spec.tasks.\"a?b\".n is -1, but the sum must be between 0 and 1000000"},
    {"spec.tasks.*.n", NULL, "{tasks: {'': {n: -1}}}",
     "error: Odd ml/o: spec.tasks.\"\".n is -1, but the sum must be between 0 and 1000000"},
    {"spec.replicas", NULL, "{}",
     "error: Odd ml/o: spec.replicas is missing; write it, or correct the path in the "
     "configuration"},
    {"spec.groups[*].replicas", NULL, "{}",
     "error: Odd ml/o: spec.groups is missing; write it, or correct the path in the "
     "configuration"},
    {"spec.replicas", NULL, "{replicas: 1.5}",
     "error: Odd ml/o: spec.replicas is not a whole number; correct it, or the path in the "
     "configuration"},
    {"spec.replicas", NULL, "{replicas: '4'}",
     "error: Odd ml/o: spec.replicas is not a whole number; correct it, or the path in the "
     "configuration"},
    {"spec.replicas", NULL, "{replicas: -4}",
     "error: Odd ml/o: spec.replicas is -4, but the sum must be between 0 and 1000000"},
    {"spec.groups[*].n", NULL, "{groups: [{n: 600000}, {n: 600000}]}",
     "error: Odd ml/o: spec.groups[1].n is 600000, but the sum must be between 0 and 1000000"},
    {"spec.groups[*].n", NULL, "{groups: [{n: 9223372036854775807}, {n: 1}]}",
     "error: Odd ml/o: spec.groups[0].n is 9223372036854775807, but the sum must be between 0 and "
     "1000000"},
    {"spec.groups[*].n", NULL, "{groups: {n: 1}}",
     "error: Odd ml/o: spec.groups is an object, must be a list"},
    {"spec.groups[*].n", NULL, "{groups: [7]}",
     "error: Odd ml/o: spec.groups[0] is a number, must be an object"},
    {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", NULL, "{}",
     "error: Odd ml/o: a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a is nested too deeply, must be at most 16 "
     "levels"},
    {"spec.replicas", NULL, "[4]", "error: Odd ml/o: spec is a list, must be an object"},
};

static void W01_configured_kinds_give_the_sum_of_their_replicas(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(customs); i++) {
        cleanup_free char *replicas = xstrdup(customs[i].replicas);
        cleanup_free char *minimum = xstrdup_null(customs[i].minimum);
        struct workload_custom custom = {(char[]){"example.com/v1"}, (char[]){"Odd"}, replicas,
                                         minimum};
        struct workload_rules rules = fixture_rules();
        rules.customs = &custom;
        rules.n_customs = 1;
        cleanup_free char *owner =
            xasprintf("{apiVersion: example.com/v1, kind: Odd, metadata: {name: o, uid: ou, "
                      "namespace: ml}, spec: %s}",
                      customs[i].spec);
        expect(&rules, POD_OF("Odd"), owner, customs[i].gives);
    }
}

/* The same number with Volcano, under Volcano's name. The configuration may also replace a kind of
 * the table. */
static void W01_configured_kinds_work_with_volcano_and_override_the_table(void **state)
{
    struct workload_custom custom = {(char[]){"batch/v1"}, (char[]){"Job"},
                                     (char[]){"spec.parallelism"}, NULL};
    struct workload_rules rules = fixture_rules();
    (void)state;
    rules.customs = &custom;
    rules.n_customs = 1;
    static const char owner[] = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: ju}, "
                                "spec: {parallelism: 6, suspend: true}}";
    static const char pod[] =
        "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: "
        "j, uid: ju, controller: true}]}, spec: {schedulerName: %s}}";
    cleanup_free char *kai = xasprintf(pod, "kai-scheduler");
    cleanup_free char *volcano = xasprintf(pod, "volcano");
    expect(&rules, kai, owner, "scheduling.run.ai pg-j-ju min 6 of batch/v1/Job/j ju");
    expect(&rules, volcano, owner, "scheduling.volcano.sh podgroup-ju min 6 of batch/v1/Job/j ju");
}

/* ---- bounds ---- */

static char *rays(size_t n, const char *what)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r, uid: ru}, spec: ");
    buf_printf(&b, "{%s: [", what);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s{groupName: g%zu, replicas: 1}", i ? ", " : "", i);
    buf_puts(&b, "]}}");
    return buf_steal(&b);
}

static void lists_are_bounded(void **state)
{
    static const char pod[] =
        "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, "
        "name: r, uid: ru}]}, spec: {schedulerName: kai-scheduler}}";
    struct workload_rules rules = fixture_rules();
    cleanup_free char *most = rays(999, "workerGroupSpecs"), *more = rays(1000, "workerGroupSpecs");
    cleanup_free char *many = rays(5000, "workerGroupSpecs");
    (void)state;
    cleanup_free char *got = ask(&rules, pod, most);
    assert_memory_equal(got, "scheduling.run.ai pg-r-ru min 1000 [headgroup 1] [g0 1]", 55);
    expect(&rules, pod, more,
           "error: RayCluster default/r: spec.workerGroupSpecs has 1000 groups, must be fewer than "
           "1000");
    expect(&rules, pod, many,
           "error: RayCluster default/r: spec.workerGroupSpecs has 5000 entries, must be at most "
           "4096");
}

static void W01_lists_of_configured_kinds_are_bounded(void **state)
{
    struct workload_custom custom = {(char[]){"ray.io/v1"}, (char[]){"RayCluster"},
                                     (char[]){"spec.groups[*].replicas"}, NULL};
    struct workload_rules rules = fixture_rules();
    cleanup_free char *owner = rays(5000, "groups");
    (void)state;
    rules.customs = &custom;
    rules.n_customs = 1;
    expect(&rules,
           "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: ray.io/v1, kind: "
           "RayCluster, name: r, uid: ru}]}, spec: {schedulerName: kai-scheduler}}",
           owner,
           "error: RayCluster default/r: spec.groups has 5000 entries, must be at most 4096");
}

/* ---- names ---- */

static void long_names_are_cut_and_stay_different(void **state)
{
    struct workload_rules rules = fixture_rules();
    char name[254], uids[2][2] = {"a", "b"};
    char *got[2];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < 2; i++) {
        cleanup_free char *owner =
            xasprintf("{apiVersion: example.com/v1, kind: Odd, metadata: {name: %s, uid: %s}}",
                      name, uids[i]);
        cleanup_free char *text = ask(&rules, POD_OF("Odd"), owner);
        char *from = strchr(text, ' ') + 1;
        got[i] = xstrndup(from, strcspn(from, " "));
        assert_true(is_object_name(got[i]));
        assert_int_equal(strlen(got[i]), 253);
        assert_memory_equal(got[i], "pg-nnnn", 7);
        cleanup_free char *again = ask(&rules, POD_OF("Odd"), owner);
        assert_string_equal(again, text);
    }
    assert_string_not_equal(got[0], got[1]);
    free(got[0]);
    free(got[1]);
}

/* In these APIs the name is the value of a label on each pod. */
static void names_that_are_label_values_have_at_most_63_characters(void **state)
{
    (void)state;
    static char *homes[] = {(char *)(uintptr_t) "scheduling.x-k8s.io",
                            (char *)(uintptr_t) "scheduling.sigs.k8s.io"};
    static const char owner[] =
        "{apiVersion: example.com/v1, kind: Odd, metadata: {name: a-name-that-is-not.short, uid: "
        "01234567-89ab-cdef-0123-456789abcdef}}";
    struct workload_rules rules = fixture_rules();
    static char *ours[] = {(char *)(uintptr_t) "other"};
    rules.schedulers = ours;
    rules.n_schedulers = 1;
    for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
        rules.home = homes[i];
        cleanup_free char *text = ask(
            &rules,
            "{metadata: {name: p, uid: pu, ownerReferences: [{apiVersion: example.com/v1, kind: "
            "Odd, name: a-name-that-is-not.short, uid: 01234567-89ab-cdef-0123-456789abcdef}]},"
            " spec: {schedulerName: other}}",
            owner);
        char *from = strchr(text, ' ') + 1;
        cleanup_free char *name = xstrndup(from, strcspn(from, " "));
        assert_int_equal(strlen(name), 63);
        assert_true(is_object_name(name));
    }
    /* A cut after a dot. */
    cleanup_free char *cut = name_object(
        "0123456789012345678901234567890123456789abcde.more-than-there-is-room-for", 63);
    assert_true(is_object_name(cut));
}

static void names_of_objects_and_parts_are_valid(void **state)
{
    static const struct {
        const char *text, *object, *part;
    } names[] = {
        {"a", "a", "a"},
        {"a-b.c0", "a-b.c0", "a-b-c0-c0fc78b1b6150724"},
        {"GPU_Workers", "gpu-workers-a92daa97b3f9f229", "gpu-workers-a92daa97b3f9f229"},
        {"-a", "a-07d05b07b498591b", "a-07d05b07b498591b"},
        {"a-", "a--089bf707b5451593", "a--089bf707b5451593"},
        {"", "xcbf29ce484222325", "xcbf29ce484222325"},
        {"_", "xaf64124c8602484e", "xaf64124c8602484e"},
        {"a..b", "a--b-6b848b827aa2316e", "a--b-6b848b827aa2316e"},
        {"\xc3\xa9t\xc3\xa9", "t---009a8f0e88b51857", "t---009a8f0e88b51857"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_free char *object = name_object(names[i].text, NAME_OBJECT_MAX),
                          *part = name_part(names[i].text);
        assert_true(is_object_name(object));
        assert_true(is_object_name(part));
        assert_true(strlen(part) <= 63);
        if (strcmp(object, names[i].object) != 0 || strcmp(part, names[i].part) != 0)
            fail_msg("\"%s\": got %s and %s, want %s and %s", names[i].text, object, part,
                     names[i].object, names[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_api_follows_the_scheduler_name_then_keys_then_the_setting),
        cmocka_unit_test(keys_of_the_pod_come_before_keys_of_the_owner),
        cmocka_unit_test(several_owners_need_a_controller),
        cmocka_unit_test(objects_without_a_name_or_uid_are_refused),
        cmocka_unit_test(chains_of_owners_are_bounded),
        cmocka_unit_test(an_invalid_annotation_of_the_pod_is_refused),
        cmocka_unit_test(musters_own_minimum_overrides_volcanos),
        cmocka_unit_test(volcano_copies_how_to_preempt),
        cmocka_unit_test(other_ways_to_preempt_are_refused),
        cmocka_unit_test(unreadable_requests_are_refused),
        cmocka_unit_test(W01_configured_kinds_give_the_sum_of_their_replicas),
        cmocka_unit_test(W01_configured_kinds_work_with_volcano_and_override_the_table),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(W01_lists_of_configured_kinds_are_bounded),
        cmocka_unit_test(long_names_are_cut_and_stay_different),
        cmocka_unit_test(names_that_are_label_values_have_at_most_63_characters),
        cmocka_unit_test(names_of_objects_and_parts_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
