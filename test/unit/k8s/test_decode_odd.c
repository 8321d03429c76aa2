/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces every field of a PodGroup, a pod, a budget and a Job by every odd value. The result is
 * usable, or refused with a readable message. No object is lost, and nothing crashes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"

static const char *const odd_values[] = {
    "null",
    "true",
    "''",
    "x",
    "'a/b'",
    "\"\\xe2\\x82 \\u0001\"",
    "-1",
    "0",
    "2147483648",
    "9223372036854775807",
    "1.5",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "{a: null}",
    "{'': {}}",
    "[{name: x}, {name: x}]",
    "'99999999999999999999'",
    "'[\"a/b\"'",
};

/* ---- what must hold ---- */

static void assert_readable(const char *text)
{
    const char *end = text + strlen(text);
    assert_true(text < end);
    for (const char *p = text; p < end;) {
        size_t n = utf8_len(p, end);
        assert_true(n > 0);
        assert_true((unsigned char)*p >= ' ');
        p += n;
    }
}

static void assert_count(int64_t n)
{
    assert_true(n >= 0 && n <= INT32_MAX);
}

static void check_group(const struct gang_group_facts *f)
{
    assert_non_null(f->ref.api_group);
    assert_non_null(f->ref.ns);
    assert_non_null(f->ref.name);
    assert_non_null(f->uid);
    assert_count(f->min_member);
    if (f->invalid) {
        assert_readable(f->invalid);
        assert_int_equal(f->n_subgroups + f->n_bundle + f->min_resources.n, 0);
        return;
    }
    assert_count(f->max_member);
    assert_true(f->min_children >= -1 && f->min_children <= INT32_MAX);
    assert_true(f->schedule_timeout >= 0);
    assert_true(!f->parent || (*f->parent && !strchr(f->parent, '/')));
    for (size_t i = 0; i < f->n_subgroups; i++) {
        const struct gang_subgroup *s = &f->subgroups[i];
        assert_true(s->name != NULL);
        assert_count(s->min_member);
        assert_true(s->min_children >= -1 && s->min_children <= INT32_MAX);
        assert_true(!s->by_labels || s->part_size >= 1);
        assert_true(!s->parent || *s->parent);
    }
    for (size_t i = 0; i < f->n_bundle; i++)
        assert_true(*f->bundle[i].ns && *f->bundle[i].name);
    for (size_t i = 0; i < f->min_resources.n; i++)
        assert_true(f->min_resources.items[i].amount >= 0);
}

static void check_pod(const struct gang_pod_facts *f)
{
    if (f->bad_link) {
        assert_readable(f->bad_link);
        assert_null(f->group.name);
    }
    assert_true(!f->group.name || (*f->group.name && f->group.api_group && f->group.ns));
    assert_true(!f->declared || str_eq(f->declared->ref.name, f->group.name));
    assert_true(!f->uniform.key || f->uniform.value);
    if (f->declared)
        check_group(f->declared);
}

/* ---- every position in a tree ---- */

struct walk {
    json_t *whole;
    void (*check)(const json_t *whole, const void *arg);
    const void *arg;
    size_t n; /* number of documents tried */
};

static void walk_over(struct walk *w, json_t *at);

static void try_here(struct walk *w, json_t *parent, const char *key, size_t index)
{
    bool map = json_is_object(parent);
    json_t *was = json_incref(map ? json_object_get(parent, key) : json_array_get(parent, index));
    for (size_t i = 0; i < ARRAY_SIZE(odd_values); i++) {
        json_t *odd = yaml_object(odd_values[i]);
        if (map)
            json_object_set_new(parent, key, odd);
        else
            json_array_set_new(parent, index, odd);
        w->check(w->whole, w->arg);
        w->n++;
    }
    if (map)
        json_object_set(parent, key, was);
    else
        json_array_set(parent, index, was);
    walk_over(w, was);
    json_decref(was);
}

static void walk_over(struct walk *w, json_t *at)
{
    if (json_is_object(at)) {
        cleanup_json json_t *keys = json_array(); /* because the loop changes the object */
        const char *key;
        json_t *value;
        json_object_foreach(at, key, value)
        {
            (void)value;
            json_array_append_new(keys, json_string(key));
        }
        for (size_t i = 0; i < json_array_size(keys); i++)
            try_here(w, at, json_string_value(json_array_get(keys, i)), 0);
    }
    for (size_t i = 0; i < json_array_size(at); i++)
        try_here(w, at, NULL, i);
}

/* ---- PodGroups ---- */

#define G "gang.scheduling.koordinator.sh/"
#define ANNOTATIONS                                                                                \
    "annotations: {" G "total-number: '9', " G "mode: Strict, " G "match-policy: only-waiting, " G \
    "waiting-time: 10m, " G "groups: '[\"ml/a\"]', " G "name: g, " G "min-available: '3'}"

/* One object with all fields of all dialects. */
static const char group_text[] =
    "{metadata: {name: g, namespace: ml, uid: u, " ANNOTATIONS "}, spec: {minMember: 8, "
    "maxMember: 9, priority: 5, priorityClassName: high, parentPodGroup: p, "
    "scheduleTimeoutSeconds: 30, subGroups: [{name: a, minMember: 1}, {name: b, minSubGroup: 1}, "
    "{name: c, parent: b, minMember: 2}], minResources: {cpu: '4', memory: 1Gi, limits.cpu: '1'}, "
    "minTaskMember: {a: 1, b: 2}, subGroupPolicy: [{name: t, subGroupSize: 2, minSubGroups: 1, "
    "labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: "
    "[v]}]}, matchLabelKeys: [rack]}]}}";

static void try_group(const json_t *whole, const void *dialect)
{
    struct err err = {.text = ""};
    struct gang_group_facts *f = decode_group(dialect, whole, &err);
    if (!f) /* only if the metadata is unreadable */
        assert_non_null(strstr(err.text, "PodGroup"));
    else
        check_group(f);
    gang_group_facts_free(f);
}

static void every_field_of_a_podgroup_may_be_odd(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++) {
        if (!dialect_has_objects(*d))
            continue;
        cleanup_json json_t *whole = yaml_object(group_text);
        struct err err;
        struct gang_group_facts *f = decode_group(*d, whole, &err);
        assert_non_null(f);
        if (f->invalid)
            fail_msg("%s", f->invalid);
        gang_group_facts_free(f);
        struct walk w = {.whole = whole, .check = try_group, .arg = *d};
        walk_over(&w, whole);
        assert_true(w.n > 500);
    }
}

/* A PodGroup is lost only if it has no name. */
static void a_podgroup_with_an_odd_spec_is_kept(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++)
        for (size_t i = 0; dialect_has_objects(*d) && i < ARRAY_SIZE(odd_values); i++) {
            cleanup_json json_t *whole = yaml_object("{metadata: {name: g, uid: u}}");
            json_object_set_new(whole, "spec", yaml_object(odd_values[i]));
            struct err err;
            struct gang_group_facts *f = decode_group(*d, whole, &err);
            assert_non_null(f);
            gang_group_facts_free(f);
        }
}

/* ---- pods ---- */

static const char *const pod_texts[] = {
    "{metadata: {name: p, namespace: ml, uid: u, " ANNOTATIONS ", labels: "
    "{pod-group.scheduling.sigs.k8s.io/name: g, pod-group.scheduling.sigs.k8s.io/min-available: "
    "'3'}, ownerReferences: [{kind: Job, name: j, controller: true}]}, spec: {volumes: [{name: v, "
    "persistentVolumeClaim: {claimName: c}}, {name: w, ephemeral: {}}], resourceClaims: [{name: "
    "r}]}}",
    "{metadata: {name: p, namespace: ml, uid: u, annotations: {scheduling.run.ai/pod-group: g, "
    "pod-group-name: g}, labels: {kai.scheduler/subgroup-name: a}}}",
    "{metadata: {name: p, namespace: ml, uid: u, annotations: {scheduling.k8s.io/group-name: g, "
    "volcano.sh/task-spec: a}, labels: {pod-group.scheduling.sigs.k8s.io: g, "
    "alibabacloud.com/compute-class: c}}}",
};

static void try_pod(const json_t *whole, const void *arg)
{
    (void)arg;
    struct err err = {.text = ""};
    struct gang_pod_facts *f = decode_pod(whole, &err);
    if (!f)
        assert_non_null(strstr(err.text, "pod"));
    else
        check_pod(f);
    free(dialect_owners(whole));
    gang_pod_facts_free(f);
}

static void every_field_of_a_pod_may_be_odd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pod_texts); i++) {
        cleanup_json json_t *whole = yaml_object(pod_texts[i]);
        struct err err;
        struct gang_pod_facts *f = decode_pod(whole, &err);
        assert_non_null(f);
        assert_string_equal(f->group.name, "g");
        gang_pod_facts_free(f);
        struct walk w = {.whole = whole, .check = try_pod};
        walk_over(&w, whole);
        assert_true(w.n > 100);
    }
}

/* ---- PodDisruptionBudgets ---- */

static const char budget_text[] =
    "{metadata: {name: b, namespace: ml, generation: 2}, spec: {minAvailable: 1, selector: "
    "{matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: [v]}]}}, status: "
    "{observedGeneration: 2, disruptionsAllowed: 3}}";

static void try_budget(const json_t *whole, const void *arg)
{
    (void)arg;
    struct err err = {.text = ""};
    struct gang_budget_facts *f = decode_budget(whole, &err);
    if (err.code != ERR_NONE) {
        assert_non_null(strstr(err.text, "PodDisruptionBudget"));
        assert_readable(err.text);
        assert_int_equal(f ? f->allowed : 0, 0);
    } else {
        assert_non_null(f);
        assert_count(f->allowed);
    }
    gang_budget_facts_free(f);
}

static void every_field_of_a_budget_may_be_odd(void **state)
{
    (void)state;
    cleanup_json json_t *whole = yaml_object(budget_text);
    struct walk w = {.whole = whole, .check = try_budget};
    walk_over(&w, whole);
    assert_true(w.n > 200);
}

/* ---- Jobs ---- */

static const char job_text[] =
    "{metadata: {name: j, namespace: ml, ownerReferences: [{kind: JobSet, controller: false}]}, "
    "spec: {backoffLimit: 6, backoffLimitPerIndex: 1, podFailurePolicy: {rules: [{action: Ignore, "
    "onPodConditions: [{type: DisruptionTarget, status: 'True'}]}]}}, status: {failed: 2}}";

static void try_job(const json_t *whole, const void *arg)
{
    (void)arg;
    struct err err = {.text = ""};
    struct gang_job_facts *f = decode_job(whole, &err);
    if (f)
        assert_count(f->spare);
    else
        assert_readable(err.text);
    gang_job_facts_free(f);
}

static void every_field_of_a_job_may_be_odd(void **state)
{
    (void)state;
    cleanup_json json_t *whole = yaml_object(job_text);
    struct walk w = {.whole = whole, .check = try_job};
    walk_over(&w, whole);
    assert_true(w.n > 200);
}

/* ---- statuses ---- */

/* Other writers may also have left odd values in a status. */
static const char seen_text[] =
    "{apiVersion: scheduling.run.ai/v2alpha2, metadata: {name: g, namespace: ml, uid: u, labels: "
    "{kai.scheduler/node-pool: a}}, status: {phase: Pending, running: 1, occupiedBy: ml/x, "
    "scheduleStartTime: '2026-01-01T00:00:00Z', conditions: [{type: PodGroupScheduled, status: "
    "'False', reason: r, message: m, transitionID: '3', lastTransitionTime: '2026'}, {type: "
    "Unschedulable, status: 'True'}], schedulingConditions: [{type: UnschedulableOnNodePool, "
    "status: 'True', transitionID: '1', reasons: []}]}}";

static void try_status(const json_t *whole, const void *arg)
{
    const struct dialect *d = arg;
    static const enum gang_state states[] = {GANG_WAITING, GANG_SCHEDULED};
    char group[] = "g", ns[] = "ml", name[] = "g";
    struct gang_ref ref = {group, ns, name};
    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        struct gang_status s = {.ref = &ref,
                                .uid = "u",
                                .state = states[i],
                                .reason = REASON_NOT_ENOUGH_RESOURCES,
                                .text = "t",
                                .help = "h",
                                .needed = 2,
                                .running = 2};
        struct dialect_view view = {.group = whole, .owners = "ml/o"};
        cleanup_json json_t *patch = d->status(&s, &view);
        cleanup_free char *text = patch ? json_dumps(patch, 0) : NULL;
        assert_true(!patch || text);
    }
}

static void an_odd_status_is_overwritten(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++) {
        cleanup_json json_t *whole = yaml_object(seen_text);
        struct walk w = {.whole = whole, .check = try_status, .arg = *d};
        if (dialect_has_objects(*d))
            walk_over(&w, whole);
        assert_true(w.n > 300 || !dialect_has_objects(*d));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_a_podgroup_may_be_odd),
        cmocka_unit_test(a_podgroup_with_an_odd_spec_is_kept),
        cmocka_unit_test(every_field_of_a_pod_may_be_odd),
        cmocka_unit_test(every_field_of_a_budget_may_be_odd),
        cmocka_unit_test(every_field_of_a_job_may_be_odd),
        cmocka_unit_test(an_odd_status_is_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
