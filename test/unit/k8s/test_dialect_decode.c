/* SPDX-License-Identifier: Apache-2.0 */
/* What muster reads from PodGroups of each dialect: links of pods, fields, and invalid values. For
 * Koordinator, see test_dialect_koordinator.c. */
#include "podgroup_text.h"

#include <stdio.h>

#include "base/buf.h"
#include "k8s/encoding/yaml_to_json.h"
#include "test/lib/yaml_object.h"

struct group_case {
    const char *api_group, *spec, *want;
};

static void check_cases(const struct group_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gang_group_facts *f = read_group(cases[i].api_group, "{}", cases[i].spec);
        assert_words(f, cases[i].spec, cases[i].want);
        gang_group_facts_free(f);
    }
}

/* ---- links ---- */

static void pods_are_linked_by_the_keys_of_each_dialect(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *api_group, *name, *role;
    } cases[] = {
        {"annotations: {scheduling.run.ai/pod-group: g}", KAI, "g", NULL},
        {"annotations: {pod-group-name: g}", KAI, "g", NULL},
        {"annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: worker}", KAI,
         "g", "worker"},
        {"annotations: {pod-group-name: g, scheduling.run.ai/pod-group: g}", KAI, "g", NULL},
        {"annotations: {scheduling.k8s.io/group-name: g}", VOLCANO, "g", NULL},
        {"annotations: {scheduling.volcano.sh/group-name: g}", VOLCANO, "g", NULL},
        {"annotations: {scheduling.k8s.io/group-name: g, volcano.sh/task-spec: a}, "
         "labels: {volcano.sh/task-spec: b}",
         VOLCANO, "g", "a"},
        {"annotations: {scheduling.k8s.io/group-name: g}, labels: {volcano.sh/task-spec: b}",
         VOLCANO, "g", "b"},
        {"labels: {pod-group.scheduling.sigs.k8s.io: g, volcano.sh/task-spec: b}", SIGS, "g", NULL},
        {"labels: {scheduling.x-k8s.io/pod-group: g}", XK8S, "g", NULL},
        {"labels: {pod-group.scheduling.sigs.k8s.io/name: g}", LIGHT, "g", NULL},
        {"annotations: {gang.scheduling.koordinator.sh/name: g}", KOORD, "g", NULL},
        /* The order that Koordinator uses. */
        {"labels: {pod-group.scheduling.sigs.k8s.io: a, pod-group.scheduling.sigs.k8s.io/name: b}, "
         "annotations: {gang.scheduling.koordinator.sh/name: c}",
         SIGS, "a", NULL},
        {"labels: {pod-group.scheduling.sigs.k8s.io/name: b}, "
         "annotations: {gang.scheduling.koordinator.sh/name: c}",
         LIGHT, "b", NULL},
        /* The same name in two APIs. */
        {"annotations: {scheduling.k8s.io/group-name: g}, labels: {scheduling.x-k8s.io/pod-group: "
         "g}",
         VOLCANO, "g", NULL},
        {"annotations: {scheduling.x-k8s.io/pod-group: g}", NULL, NULL, NULL},
        {"labels: {scheduling.k8s.io/group-name: g}", NULL, NULL, NULL},
        {"labels: {pod-group.scheduling.sigs.k8s.io: ''}", NULL, NULL, NULL},
        {"labels: {kai.scheduler/subgroup-name: worker}", NULL, NULL, NULL},
        {"annotations: {gang.scheduling.koordinator.sh/min-available: '3'}", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = read_pod(cases[i].metadata);
        if (f->bad_link || !str_eq(f->group.api_group, cases[i].api_group) ||
            !str_eq(f->group.name, cases[i].name) || !str_eq(f->role, cases[i].role) ||
            (f->group.name && !str_eq(f->group.ns, "ml")))
            fail_msg("%s: %s %s %s %s", cases[i].metadata, f->group.api_group, f->group.name,
                     f->role, f->bad_link);
        gang_pod_facts_free(f);
    }
}

static void an_invalid_link_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *want;
    } cases[] = {
        {"annotations: {pod-group-name: b, scheduling.run.ai/pod-group: a}",
         "annotation pod-group-name is \"b\" and annotation scheduling.run.ai/pod-group is \"a\": "
         "a pod can be in one PodGroup only; remove one of the two"},
        {"annotations: {scheduling.k8s.io/group-name: a}, labels: {scheduling.x-k8s.io/pod-group: "
         "b}",
         "annotation scheduling.k8s.io/group-name is \"a\" and label scheduling.x-k8s.io/pod-group "
         "is \"b\": a pod can be in one PodGroup only; remove one of the two"},
        {"labels: {scheduling.x-k8s.io/pod-group: a, pod-group.scheduling.sigs.k8s.io/name: a}, "
         "annotations: {gang.scheduling.koordinator.sh/name: c}",
         "label scheduling.x-k8s.io/pod-group is \"a\" and annotation "
         "gang.scheduling.koordinator.sh/name is \"c\": a pod can be in one PodGroup only; remove "
         "one of the two"},
        {"annotations: {scheduling.run.ai/pod-group: other/g}",
         "annotation scheduling.run.ai/pod-group is \"other/g\": a PodGroup must be in the "
         "namespace "
         "of its pods; write only its name"},
        {"labels: {pod-group.scheduling.sigs.k8s.io: Group_A}",
         "label pod-group.scheduling.sigs.k8s.io is \"Group_A\": this is not a valid PodGroup "
         "name; "
         "use only lower case letters, digits, - and ."},
        {"annotations: {gang.scheduling.koordinator.sh/name: 'a b'}",
         "annotation gang.scheduling.koordinator.sh/name is \"a b\": this is not a valid PodGroup "
         "name; use only letters, digits, -, _ and ."},
        {"annotations: {pod-group-name: '..'}",
         "annotation pod-group-name is \"..\": this is not a valid PodGroup name; use only lower "
         "case letters, digits, - and ."},
        {"annotations: {pod-group-name: \"a\\nb\"}",
         "annotation pod-group-name is \"a?b\": this is not a valid PodGroup name; use only lower "
         "case letters, digits, - and ."},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = read_pod(cases[i].metadata);
        assert_null(f->group.api_group);
        assert_null(f->group.name);
        assert_null(f->role);
        assert_null(f->declared);
        assert_null(f->uniform.key);
        assert_non_null(f->bad_link);
        assert_string_equal(f->bad_link, cases[i].want);
        gang_pod_facts_free(f);
    }
}

/* An annotation may have any text of any length. The message about it is short and valid UTF-8. */
static void the_error_about_a_huge_link_is_short(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT;
    buf_puts(&text, "annotations: {pod-group-name: \"");
    for (int i = 0; i < 350000; i++)
        buf_puts(&text, "\xe2\x82\xac"); /* the euro sign */
    buf_puts(&text, "\"}");
    struct gang_pod_facts *f = read_pod(buf_str(&text));
    assert_non_null(f->bad_link);
    assert_true(strlen(f->bad_link) < 300);
    assert_non_null(strstr(f->bad_link, "\xe2\x82\xac...\": this is not a valid PodGroup name"));
    gang_pod_facts_free(f);
}

static void S12_the_compute_class_is_decoded_for_dialects_that_know_it(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *key, *value;
    } cases[] = {
        {"labels: {pod-group.scheduling.sigs.k8s.io: g, alibabacloud.com/compute-class: gpu-hpn}",
         "alibabacloud.com/compute-class", "gpu-hpn"},
        /* A missing class is a value, too: members that all lack it have the same class. */
        {"labels: {pod-group.scheduling.sigs.k8s.io: g}", "alibabacloud.com/compute-class", ""},
        {"labels: {scheduling.x-k8s.io/pod-group: g, alibabacloud.com/compute-class: gpu}", NULL,
         NULL},
        {"labels: {alibabacloud.com/compute-class: gpu}", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = read_pod(cases[i].metadata);
        if (!str_eq(f->uniform.key, cases[i].key) || !str_eq(f->uniform.value, cases[i].value))
            fail_msg("%s: %s %s", cases[i].metadata, f->uniform.key, f->uniform.value);
        gang_pod_facts_free(f);
    }
}

/* ---- fields ---- */

static void podgroups_of_each_dialect_are_decoded(void **state)
{
    (void)state;
    static const struct group_case cases[] = {
        {KAI, "{minMember: 4, priority: 50, scheduleTimeoutSeconds: 300}",
         "min 4 priority 50 timeout 300000ms"},
        {KAI, "{minMember: 4, priorityClassName: train}", "min 4 class train"},
        {KAI, "{minMember: 4, priority: 0}", "min 4 priority 0"},
        {KAI, "{minMember: null, priority: null, maxMember: null}", "min 1"},
        {KAI, "{minMember: 0}", "min 1"},
        {KAI, "{}", "min 1"},
        {KAI, "null", "min 1"},
        {KAI, "{minMember: 2, maxMember: 8}", "min 2 max 8"},
        {KAI, "{minMember: 8, maxMember: 2}", "min 8 max 2"}, /* the core checks this */
        {KAI, "{minMember: 2, parentPodGroup: ml-pipeline}", "min 2 parent ml-pipeline"},
        {KAI, "{minMember: 2, parentPodGroup: ''}", "min 2"},
        {VOLCANO, "{minMember: 8, scheduleTimeoutSeconds: 5}", "min 8"},
        {VOLCANO, "{}", "min 1"},
        {VOLCANO, "{minMember: 8, priorityClassName: high, queue: q}", "min 8 class high"},
        {VOLCANO,
         "{minMember: 8, minResources: {cpu: '16', memory: 1Gi, nvidia.com/gpu: 1, "
         "requests.cpu: '8', limits.cpu: '32', count/pods: '8'}}",
         "min 8 cpu=16000 memory=1073741824 nvidia.com/gpu=1"},
        {SIGS, "{minMember: 3, scheduleTimeoutSeconds: 10}", "min 3 timeout 10000ms"},
        {SIGS, "{minMember: 3, scheduleTimeoutSeconds: 0, minResources: {cpu: 500m}}",
         "min 3 cpu=500"},
        {XK8S, "{minMember: 3, scheduleTimeoutSeconds: -1}", "min 3"},
        {XK8S, "{minMember: 2147483647, minResources: {cpu: 3}}", "min 2147483647 cpu=3000"},
        {XK8S, "{}", "min 0"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

static void C11_subgroups_of_kai_are_decoded(void **state)
{
    (void)state;
    static const struct group_case cases[] = {
        /* As KAI's pod grouper creates it for a RayCluster. */
        {KAI,
         "{minMember: 5, subGroups: [{name: headgroup, minMember: 1}, {name: gpu-workers, "
         "minMember: 4}]}",
         "min 5 [headgroup min 1] [gpu-workers min 4]"},
        /* And for a JobSet. */
        {KAI,
         "{minSubGroup: 1, subGroups: [{name: w, minSubGroup: 2}, {name: w-replica-0, parent: w, "
         "minMember: 4}, {name: w-replica-1, parent: w, minMember: 4}]}",
         "min 0 children 1 [w children 2] [w-replica-0 in w min 4] [w-replica-1 in w min 4]"},
        {KAI,
         "{subGroups: [{name: a, minMember: 0}, {name: b}, {name: c, parent: b, minMember: 2}]}",
         "min 0 [a] [b] [c in b min 2]"},
        {KAI, "{minMember: 1, subGroups: []}", "min 1"},
        /* The core checks the tree itself. */
        {KAI, "{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 2}]}",
         "min 0 [a min 1] [a min 2]"},
        {KAI, "{subGroups: [{name: a, parent: zzz, minMember: 1}]}", "min 0 [a in zzz min 1]"},
        {KAI,
         "{subGroups: [{name: a, parent: b, minMember: 1}, {name: b, parent: a, minMember: 1}]}",
         "min 0 [a in b min 1] [b in a min 1]"},
        {KAI, "{subGroups: [{name: a, parent: a, minMember: 1}]}", "min 0 [a in a min 1]"},
        {KAI, "{minSubGroup: 3, subGroups: [{name: a, minMember: 1}]}",
         "min 0 children 3 [a min 1]"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

static void C11_contradictory_subgroups_of_kai_are_refused(void **state)
{
    (void)state;
    static const struct group_case cases[] = {
        {KAI, "{minMember: 2, minSubGroup: 1, subGroups: [{name: a, minMember: 1}]}",
         "spec.minMember and spec.minSubGroup exclude each other; remove one"},
        {KAI, "{minSubGroup: 1}",
         "spec.minSubGroup is set, but spec.subGroups is empty; list the subgroups or write "
         "spec.minMember"},
        {KAI, "{subGroups: [{name: a, minMember: 1}, {name: b}]}",
         "spec.subGroups[1].minMember is missing: subgroup \"b\" has no subgroups of its own and "
         "needs it"},
        {KAI, "{subGroups: [{name: a, minSubGroup: 1}]}",
         "spec.subGroups[0].minSubGroup is set, but subgroup \"a\" has no subgroups of its own; "
         "write minMember"},
        {KAI, "{subGroups: [{name: a, minMember: 1}, {name: b, parent: a, minMember: 1}]}",
         "spec.subGroups[0].minMember is set, but subgroup \"a\" has subgroups of its own; write "
         "minSubGroup"},
        {KAI, "{subGroups: [{name: a, minMember: 1, minSubGroup: 1}]}",
         "spec.subGroups[0].minMember and minSubGroup exclude each other; remove one from subgroup "
         "\"a\""},
        {KAI, "{subGroups: [{minMember: 1}]}", "spec.subGroups[0].name is missing"},
        {KAI, "{subGroups: [{name: 'A B', minMember: 1}]}",
         "spec.subGroups[0].name is \"A B\", must be at most 63 lower case letters, digits and -"},
        {KAI, "{subGroups: [worker]}",
         "spec.subGroups[0].name is missing: write a subgroup as an object"},
        {KAI, "{subGroups: {name: a}}", "spec.subGroups is an object, must be a list"},
        {KAI, "{subGroups: [{name: a, minMember: -1}]}",
         "spec.subGroups[0].minMember is -1, must be between 0 and 2147483647"},
        {KAI, "{minSubGroup: 2147483648, subGroups: [{name: a, minMember: 1}]}",
         "spec.minSubGroup is 2147483648, must be between 0 and 2147483647"},
        {KAI, "{subGroups: [{name: a, parent: 7, minMember: 1}]}",
         "spec.subGroups[0].parent is a number, must be a string"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

static void C11_tasks_and_policies_of_volcano_are_decoded(void **state)
{
    (void)state;
    static const struct group_case cases[] = {
        {VOLCANO, "{minMember: 5, minTaskMember: {master: 1, worker: 4}}",
         "min 5 [master min 1] [worker min 4]"},
        {VOLCANO, "{minTaskMember: {worker: 4}}", "min 0 [worker min 4]"},
        {VOLCANO, "{minMember: 1, minTaskMember: {}}", "min 1"},
        {VOLCANO,
         "{minMember: 8, subGroupPolicy: [{name: task, subGroupSize: 4, minSubGroups: 2, "
         "labelSelector: {matchLabels: {volcano.sh/task-spec: worker}, matchExpressions: [{key: a, "
         "operator: NotIn, values: [x, y]}, {key: b, operator: Exists}]}, "
         "matchLabelKeys: [volcano.sh/partition-id, rack]}]}",
         "min 8 [task by-labels volcano.sh/task-spec-in-worker a-notin-x-y b-exists "
         "split-volcano.sh/partition-id split-rack size 4 children 2]"},
        {VOLCANO, "{minMember: 8, subGroupPolicy: [{name: t}]}",
         "min 8 [t by-labels size 1 children 0]"},
        {VOLCANO, "{minMember: 3, minTaskMember: {a: 1}, subGroupPolicy: [{name: t}]}",
         "min 3 [a min 1] [t by-labels size 1 children 0]"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

static void C11_contradictory_tasks_and_policies_of_volcano_are_refused(void **state)
{
    (void)state;
    static const struct group_case cases[] = {
        {VOLCANO, "{minMember: 4, minTaskMember: {master: 1, worker: 4}}",
         "spec.minTaskMember adds up to 5, spec.minMember is 4; raise spec.minMember or lower the "
         "minimums of the tasks"},
        {VOLCANO, "{minMember: 0, minTaskMember: {worker: 1}}",
         "spec.minTaskMember adds up to 1, spec.minMember is 0; raise spec.minMember or lower the "
         "minimums of the tasks"},
        {VOLCANO, "{minMember: 4, minTaskMember: {worker: -4}}",
         "spec.minTaskMember.worker is -4, must be between 0 and 2147483647"},
        {VOLCANO, "{minMember: 4, minTaskMember: {worker: '4'}}",
         "spec.minTaskMember.worker is a string, must be a whole number"},
        {VOLCANO, "{minMember: 4, minTaskMember: {worker.v1: -4}}",
         "spec.minTaskMember.worker.v1 is -4, must be between 0 and 2147483647"},
        {VOLCANO, "{minMember: 4, minTaskMember: [worker]}",
         "spec.minTaskMember is a list, must be an object"},
        {VOLCANO, "{minMember: 4, subGroupPolicy: [{name: t, subGroupSize: 0}]}",
         "spec.subGroupPolicy[0].subGroupSize is 0, must be between 1 and 2147483647"},
        {VOLCANO, "{minMember: 4, subGroupPolicy: [{subGroupSize: 2}]}",
         "spec.subGroupPolicy[0].name is missing"},
        {VOLCANO, "{minMember: 4, subGroupPolicy: [t]}",
         "spec.subGroupPolicy[0].name is missing: write a policy as an object"},
        {VOLCANO, "{minMember: 4, subGroupPolicy: [{name: t, matchLabelKeys: [1]}]}",
         "spec.subGroupPolicy[0].matchLabelKeys[0] must be a label key"},
        {VOLCANO,
         "{minMember: 4, subGroupPolicy: [{name: t, labelSelector: {matchExpressions: [{key: a, "
         "operator: Gt, values: ['1']}]}}]}",
         "spec.subGroupPolicy[0].labelSelector.matchExpressions[0]: operator must be In, NotIn, "
         "Exists or DoesNotExist"},
        {VOLCANO,
         "{minMember: 4, subGroupPolicy: [{name: t, labelSelector: {matchLabels: {a: 1}}}]}",
         "spec.subGroupPolicy[0].labelSelector.matchLabels: the value of a must be a string"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

/* As Volcano's controller creates it for a Job with minAvailable 3 and a task of 6 replicas. */
static void C11_the_podgroup_of_a_volcano_job_is_elastic(void **state)
{
    (void)state;
    cleanup_json json_t *json = yaml_object(
        "{metadata: {name: g, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: "
        "Job, name: j, controller: true}]}, spec: {minMember: 3, minTaskMember: {worker: 6}}}");
    struct err err;
    struct gang_group_facts *f = decode_group(dialect_by_group(VOLCANO), json, &err);
    assert_words(f, "a vcjob", "min 3");
    gang_group_facts_free(f);
    /* If the tasks fit the minimum, they count. */
    json_object_set_new(json_object_get(json, "spec"), "minMember", json_integer(6));
    f = decode_group(dialect_by_group(VOLCANO), json, &err);
    assert_words(f, "a vcjob", "min 6 [worker min 6]");
    gang_group_facts_free(f);
}

/* An invalid PodGroup is kept, because its status must show the reason. */
static void an_invalid_podgroup_is_kept_with_its_error(void **state)
{
    (void)state;
    static const struct group_case every[] = {
        {NULL, "{minMember: '4'}", "spec.minMember is a string, must be a whole number"},
        {NULL, "{minMember: 4.5}", "spec.minMember is a number, must be a whole number"},
        {NULL, "{minMember: -3}", "spec.minMember is -3, must be between 0 and 2147483647"},
        {NULL, "{minMember: 2147483648}",
         "spec.minMember is 2147483648, must be between 0 and 2147483647"},
        {NULL, "[]", "spec is a list, must be an object"},
    };
    for (const struct dialect *const *d = dialects; *d; d++)
        for (size_t i = 0; dialect_has_objects(*d) && i < ARRAY_SIZE(every); i++) {
            const struct group_case one = {(*d)->api_group, every[i].spec, every[i].want};
            check_cases(&one, 1);
        }
    static const struct group_case cases[] = {
        {KAI, "{minMember: 1, maxMember: -1}",
         "spec.maxMember is -1, must be between 0 and 2147483647"},
        {KAI, "{minMember: 1, priority: high}",
         "spec.priority is a string, must be a whole number"},
        {KAI, "{minMember: 1, priority: 2147483648}",
         "spec.priority is 2147483648, must be between -2147483648 and 2147483647"},
        {KAI, "{minMember: 1, priorityClassName: 5}",
         "spec.priorityClassName is a number, must be a string"},
        {KAI, "{minMember: 1, parentPodGroup: other/p}",
         "spec.parentPodGroup is \"other/p\"; write only the name, because the parent must be in "
         "the same namespace"},
        {KAI, "{minMember: 1, preemptionDelay: '30'}",
         "spec.preemptionDelay is \"30\", must be a duration with a unit, such as 5m"},
        {KAI, "{minMember: 1, scheduleTimeoutSeconds: 5m}",
         "spec.scheduleTimeoutSeconds is a string, must be a whole number"},
        {XK8S, "{minMember: 1, scheduleTimeoutSeconds: 2147483648}",
         "spec.scheduleTimeoutSeconds is 2147483648, must be between -2147483648 and 2147483647"},
        {XK8S, "{minMember: 1, minResources: {cpu: lots}}",
         "spec.minResources: cpu: \"lots\" is not a quantity (such as 2, 500m or 16Gi)"},
        {SIGS, "{minMember: 1, minResources: {cpu: '-1'}}",
         "spec.minResources: cpu is -1, must not be negative"},
        {VOLCANO, "{minMember: 1, minResources: [cpu]}",
         "spec.minResources is a list, must be an object"},
        {VOLCANO, "{minMember: 1, priorityClassName: {}}",
         "spec.priorityClassName is an object, must be a string"},
    };
    check_cases(cases, ARRAY_SIZE(cases));
}

static void an_invalid_child_still_names_its_parent(void **state)
{
    (void)state;
    struct gang_group_facts *f = read_group(KAI, "{}", "{minMember: -1, parentPodGroup: p}");
    assert_non_null(f->invalid);
    assert_string_equal(f->parent, "p");
    gang_group_facts_free(f);
}

static void sizes_beyond_the_bounds_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *api_group, *list, *entry, *want;
        bool map;
    } cases[] = {
        {KAI, "subGroups", "{name: s%d, minMember: 1}",
         "spec.subGroups has 5000 entries, must be at most 4096", false},
        {VOLCANO, "subGroupPolicy", "{name: s%d}",
         "spec.subGroupPolicy has 5000 entries, must be at most 4096", false},
        {VOLCANO, "minTaskMember", "t%d: 1",
         "spec.minTaskMember has 5000 entries, must be at most 4096", true},
        {SIGS, "minResources", "r%d: 1", "spec.minResources has 5000 entries, must be at most 4096",
         true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf spec = BUF_INIT;
        buf_printf(&spec, "{minMember: 1, %s: %c", cases[i].list, cases[i].map ? '{' : '[');
        for (int n = 0; n < 5000; n++) {
            char entry[64];
            cleanup_free char *number = xasprintf("%d", n);
            const char *at = strchr(cases[i].entry, '%');
            snprintf(entry, sizeof entry, "%.*s%s%s", (int)(at - cases[i].entry), cases[i].entry,
                     number, at + 2);
            buf_printf(&spec, "%s%s", n ? ", " : "", entry);
        }
        buf_printf(&spec, "%c}", cases[i].map ? '}' : ']');
        struct gang_group_facts *f = read_group(cases[i].api_group, "{}", buf_str(&spec));
        assert_words(f, cases[i].list, cases[i].want);
        assert_int_equal(f->n_subgroups, 0);
        gang_group_facts_free(f);
    }
}

static void a_megabyte_of_annotations_does_no_harm(void **state)
{
    (void)state;
    cleanup_buf struct buf annotations = BUF_INIT;
    buf_puts(&annotations, "{note: '");
    for (int i = 0; i < (1 << 20); i++)
        buf_putc(&annotations, 'x');
    buf_puts(&annotations, "'}");
    struct gang_group_facts *f = read_group(SIGS, buf_str(&annotations), "{minMember: 3}");
    assert_words(f, "annotations", "min 3");
    gang_group_facts_free(f);
}

/* ---- the source documents ---- */

/* The manifests of the documents that muster follows, as a reader would copy them. */
static const char *const documents =
    "apiVersion: scheduling.run.ai/v2\n"
    "kind: PodGroup\n"
    "metadata:\n  name: training-job-pg\n  namespace: ml-training\n"
    "spec:\n  minMember: 4  # Minimum pods required to start\n  queue: training\n"
    "  priority: 50\n  scheduleTimeoutSeconds: 300  # Wait 5 minutes before timing out\n"
    "---\n"
    "apiVersion: scheduling.run.ai/v2\n"
    "kind: PodGroup\n"
    "metadata:\n  name: elastic-training\n  namespace: ml-training\n"
    "spec:\n  minMember: 2      # Start with minimum 2 workers\n"
    "  maxMember: 8      # Scale up to 8 workers\n  queue: training\n  priority: 75\n"
    "---\n"
    "apiVersion: scheduling.run.ai/v2\n"
    "kind: PodGroup\n"
    "metadata:\n  name: data-preprocessors\n  namespace: ml-training\n"
    "spec:\n  minMember: 2\n  parentPodGroup: ml-pipeline\n  queue: training\n"
    "---\n"
    "apiVersion: scheduling.volcano.sh/v1beta1\n"
    "kind: PodGroup\n"
    "metadata:\n  name: training-job-pg\n"
    "spec:\n  minMember: 8\n  minResources:\n    cpu: \"16\"\n    memory: 64Gi\n"
    "    nvidia.com/gpu: 1\n"
    "---\n"
    "apiVersion: scheduling.sigs.k8s.io/v1alpha1\n"
    "kind: PodGroup\n"
    "metadata:\n  name: demo-job-podgroup\n  namespace: default\n"
    "spec:\n  scheduleTimeoutSeconds: 10\n  minMember: 3 # Set the minimum number of running "
    "pods.\n";

static void podgroups_of_the_source_documents_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *ns, *name;
        int64_t min_member, timeout;
    } want[] = {
        {"ml-training", "training-job-pg", 4, 300},  {"ml-training", "elastic-training", 2, 0},
        {"ml-training", "data-preprocessors", 2, 0}, {"default", "training-job-pg", 8, 0},
        {"default", "demo-job-podgroup", 3, 10},
    };
    struct err err;
    cleanup_json json_t *all = yaml_parse("documents", documents, strlen(documents), &err);
    if (!all)
        fail_msg("%s", err.text);
    assert_int_equal(json_array_size(all), ARRAY_SIZE(want));
    for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
        const json_t *json = json_array_get(all, i);
        const char *version = field_peek(json, "apiVersion", NULL);
        cleanup_free char *group = xstrndup(version, strcspn(version, "/"));
        const struct dialect *d = dialect_by_group(group);
        assert_non_null(d);
        bool served = false;
        for (const char *const *v = d->versions; *v; v++)
            served |= str_eq(*v, version + strlen(group) + 1);
        assert_true(served);
        struct gang_group_facts *f = decode_group(d, json, &err);
        if (!f)
            fail_msg("%s", err.text);
        assert_null(f->invalid);
        assert_string_equal(f->ref.ns, want[i].ns);
        assert_string_equal(f->ref.name, want[i].name);
        assert_int_equal(f->min_member, want[i].min_member);
        assert_int_equal(f->schedule_timeout, want[i].timeout * USEC_PER_SEC);
        gang_group_facts_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_linked_by_the_keys_of_each_dialect),
        cmocka_unit_test(an_invalid_link_is_an_error),
        cmocka_unit_test(the_error_about_a_huge_link_is_short),
        cmocka_unit_test(S12_the_compute_class_is_decoded_for_dialects_that_know_it),
        cmocka_unit_test(podgroups_of_each_dialect_are_decoded),
        cmocka_unit_test(C11_subgroups_of_kai_are_decoded),
        cmocka_unit_test(C11_contradictory_subgroups_of_kai_are_refused),
        cmocka_unit_test(C11_tasks_and_policies_of_volcano_are_decoded),
        cmocka_unit_test(C11_contradictory_tasks_and_policies_of_volcano_are_refused),
        cmocka_unit_test(C11_the_podgroup_of_a_volcano_job_is_elastic),
        cmocka_unit_test(an_invalid_podgroup_is_kept_with_its_error),
        cmocka_unit_test(an_invalid_child_still_names_its_parent),
        cmocka_unit_test(sizes_beyond_the_bounds_are_refused),
        cmocka_unit_test(a_megabyte_of_annotations_does_no_harm),
        cmocka_unit_test(podgroups_of_the_source_documents_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
