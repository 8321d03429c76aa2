/* SPDX-License-Identifier: Apache-2.0 */
/* The Jobs, quotas, nodes and timetables of the built-in cluster. */
#include "builtin_fixture.h"

/* ---- Jobs, quotas, nodes ---- */

#define JOB(more)                                                                                  \
    "- {apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "                        \
    "{muster.dev/create-every: 100ms}}, spec: {" more                                              \
    "template: {metadata: {annotations: {muster.dev/duration: 5s}}, spec: {containers: [{name: "   \
    "c}]}}}}\n"
#define ROOM "nodes:\n- {name: a, allocatable: {cpu: 8}}\n"

static void a_job_creates_its_pods_one_by_one_and_ends(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        ROOM "objects:\n" JOB("parallelism: 3, completions: 5, ttlSecondsAfterFinished: 7, "));
    core_run(c, 100 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 1);
    core_run(c, 250 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 3);
    core_run(c, 5 * USEC_PER_SEC);
    assert_int_equal(count_pods(c), 3);
    core_run(c, 6500 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 5);
    core_run(c, 15 * USEC_PER_SEC);
    const json_t *job = builtin_cluster_object(c->cluster, KIND_JOB, NULL, "default", "j");
    assert_non_null(field_peek(job, "status", "completionTime", NULL));
    assert_string_equal(phase_of(c, "j-4"), "Succeeded");
    core_run(c, 20 * USEC_PER_SEC);
    assert_null(builtin_cluster_object(c->cluster, KIND_JOB, NULL, "default", "j"));
    assert_int_equal(count_pods(c), 0);
    assert_true(builtin_cluster_settled(c->cluster));
    core_end(c);
}

static void a_quota_stops_a_job_until_the_quota_is_deleted(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        ROOM "objects:\n- {apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: "
             "{pods: '2'}}}\n" JOB(
                 "parallelism: 4, ") "timetable:\n"
                                     "- {at: 2s, delete: [{kind: ResourceQuota, name: q}]}\n");
    core_run(c, 1900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 2);
    core_run(c, 3 * USEC_PER_SEC);
    assert_int_equal(count_pods(c), 4);
    core_end(c);
}

static void a_job_can_be_scaled_and_replaces_deleted_pods(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        "nodes:\n- {name: a, allocatable: {cpu: 8}}\n- {name: b, allocatable: {cpu: 8}}\n"
        "objects:\n" JOB(
            "parallelism: 2, ") "timetable:\n"
                                "- {at: 1s, scale: [{kind: Job, name: j, parallelism: 3}]}\n"
                                "- {at: 2s, delete: [{kind: Pod, name: j-0}]}\n"
                                "- {at: 3s, scale: [{kind: Job, name: j, parallelism: 1}]}\n");
    c->filter_node = "a";
    core_run(c, 1900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 3);
    core_run(c, 2900 * USEC_PER_MSEC);
    assert_true(saw(c, "pod j-3 a"));
    core_run(c, 4900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 1);
    core_end(c);
}

static void pods_of_a_deleted_node_end_and_are_replaced(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin("nodes:\n- {name: a, allocatable: {cpu: 8}}\n- {name: b, allocatable: "
                   "{cpu: 8}}\nobjects:\n" JOB(
                       "parallelism: 1, ") "timetable:\n"
                                           "- {at: 2s, delete: [{kind: Node, name: a}]}\n");
    c->best_node = "a";
    core_run(c, 4 * USEC_PER_SEC);
    assert_true(saw(c, "gone a"));
    assert_true(saw(c, "gone j-0"));
    assert_string_equal(node_of(c, "j-1"), "b");
    core_end(c);
}

/* ---- timetables ---- */

static void an_impossible_step_does_not_stop_a_timetable(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin(NODES "objects:\n" POD("p") "timetable:\n- at: 1s\n  create:\n  " POD(
            "p") "  delete: [{kind: Pod, name: q}]\n  cordon: [z]\n"
                 "- {at: 2s, scale: [{kind: Job, name: z, parallelism: 1}], cordon: [a]}\n");
    core_run(c, 3 * USEC_PER_SEC);
    const json_t *node = builtin_cluster_object(c->cluster, KIND_NODE, NULL, "", "a");
    assert_true(json_is_true(json_object_get(json_object_get(node, "spec"), "unschedulable")));
    assert_int_equal(count_pods(c), 1);
    core_end(c);
}

static void the_same_scenario_gives_the_same_events(void **state)
{
    (void)state;
    char *traces[2];
    for (int i = 0; i < 2; i++) {
        struct scripted_core *c =
            core_begin(NODES "objects:\n" POD("p") POD("q") POD("r")
                           JOB("parallelism: 3, ") "timetable:\n- {at: 1s, every: 2s, "
                                                   "times: 5, cordon: [a], uncordon: "
                                                   "[b]}\n");
        core_run(c, 120 * USEC_PER_SEC);
        traces[i] = buf_steal(&c->trace);
        core_end(c);
    }
    assert_string_equal(traces[0], traces[1]);
    assert_true(strlen(traces[0]) > 500);
    free(traces[0]);
    free(traces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_creates_its_pods_one_by_one_and_ends),
        cmocka_unit_test(a_quota_stops_a_job_until_the_quota_is_deleted),
        cmocka_unit_test(a_job_can_be_scaled_and_replaces_deleted_pods),
        cmocka_unit_test(pods_of_a_deleted_node_end_and_are_replaced),
        cmocka_unit_test(an_impossible_step_does_not_stop_a_timetable),
        cmocka_unit_test(the_same_scenario_gives_the_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
