/* SPDX-License-Identifier: Apache-2.0 */
/* PodDisruptionBudgets in the built-in cluster: their status, and the evictions that they forbid.
 */
#include "builtin_events.h"

static void put(struct buf *b, const struct gang_event *ev)
{
    switch (ev->kind) {
    case GANG_EV_BUDGET_SET:
        buf_printf(b, "budget %s/%s %d\n", ev->budget->ns, ev->budget->name,
                   (int)ev->budget->allowed);
        break;
    case GANG_EV_BUDGET_GONE:
        buf_printf(b, "no budget %s/%s\n", ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_POD_SET:
        if (ev->pod->deleting)
            buf_printf(b, "pod %s deleting\n", ev->pod->name);
        break;
    case GANG_EV_SYNCED:
        buf_puts(b, "synced\n");
        break;
    default:
        break;
    }
}

#define BUDGET(name, spec)                                                                         \
    "- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name                  \
    "}, spec: {selector: {matchLabels: {app: a}}, " spec "}}\n"
#define POD(name, meta, spec)                                                                      \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name ", " meta "}, spec: {" spec             \
    "containers: [{name: c}]}}\n"
#define OWNED(kind)                                                                                \
    "labels: {app: a}, ownerReferences: "                                                          \
    "[{apiVersion: x/v1, kind: " kind ", name: x, uid: x, controller: true}]"
#define RUNS(name)      POD(name, OWNED("ReplicaSet"), "nodeName: a, ")
#define OF_JOB(name)    POD(name, OWNED("Job"), "nodeName: a, ")
#define RUNS_BARE(name) POD(name, "labels: {app: a}", "nodeName: a, ")
#define CLUSTER         "nodes: [{name: a, allocatable: {cpu: 8}}]\nobjects:\n"

static void evict(struct builtin_events *x, const char *name)
{
    const json_t *pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", name);
    struct gang_effect e = {.kind = GANG_EVICT};
    e.pod.ns = "default";
    e.pod.name = name;
    e.pod.uid = field_peek(pod, "metadata", "uid", NULL);
    assert_non_null(e.pod.uid);
    x->cluster->ops->apply(x->cluster, x->now, &e);
}

/* What the disruption controller allows for five running pods. */
static void the_status_follows_from_the_spec(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int allowed;
    } cases[] = {
        {"minAvailable: 0", 5},       {"minAvailable: 3", 2},      {"minAvailable: 9", 0},
        {"minAvailable: '50%'", 2},   {"minAvailable: '100%'", 0}, {"maxUnavailable: 0", 0},
        {"maxUnavailable: 2", 2},     {"maxUnavailable: 9", 5},    {"maxUnavailable: '1%'", 1},
        {"maxUnavailable: '50%'", 3}, {"maxUnavailable: null", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text =
            xasprintf(CLUSTER BUDGET("b", "%s") RUNS("p0") RUNS("p1") RUNS("p2") RUNS("p3")
                          RUNS("p4") POD("other", "labels: {app: b}", "nodeName: a, ")
                              POD("waits", "labels: {app: b}", "schedulingGates: [{name: x}], "),
                      cases[i].spec);
        cleanup_free char *want = xasprintf("budget default/b %d\nsynced\n", cases[i].allowed);
        struct builtin_events *x = events_begin(text, put);
        const char *got = events_until(x, 0);
        if (!strstr(got, want))
            fail_msg("%s: %s, expected %s", cases[i].spec, got, want);
        events_end(x);
    }
}

/* Only an integer in minAvailable needs no scale of a controller. */
static void a_budget_needs_the_scale_of_controllers(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *pods;
        int allowed;
    } cases[] = {
        {"minAvailable: 1", RUNS_BARE("p0") RUNS_BARE("p1"), 1},
        {"minAvailable: 0%", RUNS_BARE("p0") RUNS_BARE("p1"), 0},
        {"maxUnavailable: 2", RUNS_BARE("p0") RUNS_BARE("p1"), 0},
        {"minAvailable: 1", OF_JOB("p0") OF_JOB("p1"), 1},
        {"minAvailable: 0%", OF_JOB("p0") OF_JOB("p1"), 0},
        {"maxUnavailable: 2", OF_JOB("p0") OF_JOB("p1"), 0},
        {"maxUnavailable: 2", OF_JOB("p0") RUNS("p1"), 0},
        {"maxUnavailable: 1", RUNS_BARE("p0") RUNS("p1"), 2},
        {"minAvailable: null", RUNS_BARE("p0") RUNS("p1"), 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text =
            xasprintf(CLUSTER BUDGET("b", "%s") "%s", cases[i].spec, cases[i].pods);
        cleanup_free char *want = xasprintf("budget default/b %d\nsynced\n", cases[i].allowed);
        struct builtin_events *x = events_begin(text, put);
        const char *got = events_until(x, 0);
        if (!strstr(got, want))
            fail_msg("case %zu: %s, expected %s", i, got, want);
        events_end(x);
    }
}

static void the_status_follows_the_pods_and_the_spec(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        CLUSTER BUDGET("b", "maxUnavailable: 1") RUNS("p0") RUNS(
            "p1") "timetable:\n"
                  "- {at: 1s, delete: [{kind: Pod, name: p0, namespace: default}]}\n"
                  "- {at: 4s, patch: [{kind: PodDisruptionBudget, name: b, namespace: default, "
                  "spec: {maxUnavailable: 0}}]}\n"
                  "- {at: 5s, delete: [{kind: PodDisruptionBudget, name: b, namespace: "
                  "default}]}\n",
        put);
    events_until(x, 500 * USEC_PER_MSEC);
    assert_string_equal(events_until(x, 1500 * USEC_PER_MSEC),
                        "pod p0 deleting\nbudget default/b 0\n");
    assert_string_equal(events_until(x, 3 * USEC_PER_SEC), "budget default/b 1\n");
    assert_string_equal(events_until(x, 4500 * USEC_PER_MSEC),
                        "budget default/b 1\nbudget default/b 0\n");
    assert_string_equal(events_until(x, 6 * USEC_PER_SEC), "no budget default/b\n");
    assert_true(builtin_cluster_settled(x->cluster));
    events_end(x);
}

static void an_eviction_waits_until_the_budget_allows_it(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        CLUSTER BUDGET("b", "maxUnavailable: 1") RUNS("p0") RUNS("p1") RUNS("p2"), put);
    events_until(x, 1 * USEC_PER_SEC);
    evict(x, "p0");
    evict(x, "p1");
    assert_string_equal(events_until(x, 1500 * USEC_PER_MSEC),
                        "budget default/b 0\npod p0 deleting\nbudget default/b 0\n");
    /* p0 ends after a second, and the third try follows two seconds after the second one. */
    assert_string_equal(events_until(x, 3 * USEC_PER_SEC), "budget default/b 1\n");
    assert_string_equal(events_until(x, 4500 * USEC_PER_MSEC),
                        "budget default/b 0\npod p1 deleting\nbudget default/b 0\n");
    events_end(x);
}

static void an_eviction_that_stays_forbidden_ends_after_five_minutes(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        CLUSTER BUDGET("b", "maxUnavailable: 1") BUDGET("c", "minAvailable: 0") RUNS("p0"), put);
    events_until(x, 1 * USEC_PER_SEC);
    evict(x, "p0"); /* the API server evicts no pod with two budgets */
    assert_string_equal(events_until(x, 300 * USEC_PER_SEC), "");
    assert_false(builtin_cluster_settled(x->cluster));
    assert_string_equal(events_until(x, 302 * USEC_PER_SEC), "");
    assert_true(builtin_cluster_settled(x->cluster));
    events_end(x);
}

static void pods_that_do_not_run_need_no_budget(void **state)
{
    (void)state;
    struct builtin_events *x =
        events_begin(CLUSTER BUDGET("b", "maxUnavailable: 0")
                         POD("p0", "labels: {app: a}", "schedulingGates: [{name: x}], "),
                     put);
    events_until(x, 1 * USEC_PER_SEC);
    evict(x, "p0");
    events_until(x, 2 * USEC_PER_SEC);
    assert_null(builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "p0"));
    events_end(x);
}

static void an_invalid_budget_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *error;
    } cases[] = {
        {"minAvailable: 1, maxUnavailable: 1", "write minAvailable or maxUnavailable, not both"},
        {"minAvailable: -1", "spec.minAvailable is -1"},
        {"minAvailable: 101%", "spec.minAvailable must be a whole number, or a percentage"},
        {"maxUnavailable: '5'", "spec.maxUnavailable must be a whole number, or a percentage"},
        {"maxUnavailable: [1]", "spec.maxUnavailable must be a whole number, or a percentage"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {0};
        cleanup_free char *text = xasprintf("objects:\n" BUDGET("b", "%s"), cases[i].spec);
        assert_null(scenario_parse("t.yaml", ".", text, strlen(text), &err));
        if (!strstr(err.text, cases[i].error))
            fail_msg("the error \"%s\" does not contain \"%s\"", err.text, cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_follows_from_the_spec),
        cmocka_unit_test(a_budget_needs_the_scale_of_controllers),
        cmocka_unit_test(the_status_follows_the_pods_and_the_spec),
        cmocka_unit_test(an_eviction_waits_until_the_budget_allows_it),
        cmocka_unit_test(an_eviction_that_stays_forbidden_ends_after_five_minutes),
        cmocka_unit_test(pods_that_do_not_run_need_no_budget),
        cmocka_unit_test(an_invalid_budget_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
