/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in cluster as an API server and kubelet: the life of a pod, Bindings, gates, status,
 * events. */
#include "builtin_fixture.h"

#include <stdio.h>

/* ---- the life of an ordinary pod ---- */

static void a_pod_is_filtered_bound_runs_and_ends(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    core_run(c, 0);
    assert_string_equal(buf_str(&c->trace), "0 CLASS_SET\n0 CLASS_SET\n0 NODE_SET\n0 NODE_SET\n"
                                            "0 pod p - 0\n0 SYNCED\n0 filter p 2 a\n");
    assert_int_equal(c->prioritizes, 1);
    core_run(c, 2999);
    assert_int_equal(c->binds, 0);
    core_run(c, 3 * USEC_PER_MSEC);
    assert_true(saw(c, "3 bind p a"));
    core_run(c, 6 * USEC_PER_MSEC);
    assert_true(saw(c, "5 bind_done 0 \n"));
    assert_true(saw(c, "6 pod p a 0"));
    assert_false(builtin_cluster_settled(c->cluster));
    core_run(c, 600 * USEC_PER_MSEC);
    assert_true(saw(c, "506 pod p a 1"));
    assert_string_equal(phase_of(c, "p"), "Running");
    assert_string_equal(field_peek(pod_of(c, "p"), "status", "startTime", NULL),
                        "2026-01-01T00:00:00Z");
    core_run(c, 11 * USEC_PER_SEC);
    assert_true(saw(c, "10506 pod p a 2"));
    assert_string_equal(phase_of(c, "p"), "Succeeded");
    assert_true(builtin_cluster_settled(c->cluster));
    assert_true(c->cluster->ops->next(c->cluster) == USEC_NEVER);
    core_end(c);
}

static void a_pod_with_a_node_runs_from_the_start(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD_X("p", "nodeName: b, ") POD("q"));
    core_run(c, 100 * USEC_PER_MSEC);
    assert_string_equal(phase_of(c, "p"), "Running");
    assert_true(saw(c, "filter q 1 a"));
    core_end(c);
}

/* ---- bindings ---- */

static void a_pod_whose_bind_call_is_refused_is_tried_again(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_REFUSES;
    core_run(c, USEC_PER_SEC);
    assert_int_equal(c->binds, 1);
    assert_string_equal(message_of(c, "p"), "running Bind: not now");
    core_run(c, 1003 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 2);
    c->bind = BIND_WRITES;
    core_run(c, 10 * USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    core_end(c);
}

static void a_bind_call_times_out(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_HOLDS;
    core_run(c, 30 * USEC_PER_SEC);
    assert_int_equal(c->closed, 0);
    uint64_t first = c->held;
    core_run(c, 31 * USEC_PER_SEC);
    assert_int_equal(c->closed, 1);
    assert_non_null(strstr(message_of(c, "p"), "deadline exceeded"));
    core_run(c, 32 * USEC_PER_SEC);
    assert_int_equal(c->binds, 2);
    /* A late reply to the closed call has no effect. */
    core_reply_bind(c, first, "late");
    core_run(c, 33 * USEC_PER_SEC);
    assert_int_equal(c->binds, 2);
    core_write_binding(c, "default", "p", uid_of(c, "p"), "a");
    core_run(c, 34 * USEC_PER_SEC);
    core_reply_bind(c, c->held, "");
    core_run(c, 70 * USEC_PER_SEC);
    assert_int_equal(c->closed, 1);
    assert_string_equal(phase_of(c, "p"), "Succeeded");
    core_end(c);
}

static void bindings_and_reads_have_the_results_of_an_api_server(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_HOLDS;
    core_run(c, USEC_PER_SEC);
    buf_clear(&c->trace);
    cleanup_free char *uid = xstrdup(uid_of(c, "p"));
    struct gang_effect read = {.kind = GANG_READ_POD, .pod = {"default", "p", uid, NULL}};
    struct gang_effect other = {.kind = GANG_READ_POD, .pod = {"default", "p", "other", NULL}};
    core_apply(c, &read);
    core_apply(c, &other);
    core_write_binding(c, "default", "nobody", uid, "a");
    core_write_binding(c, "default", "p", "other", "a");
    core_write_binding(c, "default", "p", uid, "a");
    core_write_binding(c, "default", "p", uid, "a");
    core_run(c, 2 * USEC_PER_SEC);
    core_apply(c, &read);
    core_run(c, 3 * USEC_PER_SEC);
    assert_int_equal(times(c, "pod_read 3 -"), 1);     /* not bound */
    assert_int_equal(times(c, "pod_read 1 -"), 1);     /* another pod */
    assert_int_equal(times(c, "bind_done 1 text"), 2); /* an unknown pod, another UID */
    assert_int_equal(times(c, "bind_done 0 "), 1);
    assert_int_equal(times(c, "bind_done 2 text"), 1); /* already bound */
    assert_int_equal(times(c, "pod_read 0 a"), 1);
    core_end(c);
}

static void a_terminating_pod_is_not_bound(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD_X(
        "p", "nodeName: a, ") "timetable:\n- {at: 1s, delete: [{kind: Pod, name: p}]}\n");
    core_run(c, 1500 * USEC_PER_MSEC);
    assert_true(saw(c, "1001 pod p a 1 deleting"));
    core_write_binding(c, "default", "p", uid_of(c, "p"), "b");
    core_run(c, 1600 * USEC_PER_MSEC);
    assert_true(saw(c, "bind_done 2 text"));
    core_run(c, 3 * USEC_PER_SEC);
    assert_true(saw(c, "2001 gone p"));
    assert_int_equal(count_pods(c), 0);
    core_end(c);
}

/* ---- gates ---- */

static void filter_is_not_called_for_gated_pods(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        NODES "objects:\n" POD_X("p", "schedulingGates: [{name: kueue.x-k8s.io/admission}], "));
    core_run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    assert_true(builtin_cluster_settled(c->cluster));
    core_end(c);
}

static void P07_lifting_musters_gate_keeps_other_gates(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin(NODES "objects:\n" POD_X("p", "schedulingGates: [{name: muster.dev/plan}], ")
                       POD_X("q", "schedulingGates: [{name: muster.dev/plan}, {name: "
                                  "kueue.x-k8s.io/admission}], "));
    core_run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    core_apply(c, &(struct gang_effect){.kind = GANG_UNGATE,
                                        .pod = {"default", "p", uid_of(c, "p"), "a"}});
    core_apply(c,
               &(struct gang_effect){.kind = GANG_UNGATE, .pod = {"default", "q", uid_of(c, "q")}});
    core_run(c, 12 * USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    assert_string_equal(node_of(c, "q"), "");
    core_end(c);
}

/* ---- status and events ---- */

static void a_status_is_written_in_the_dialect_of_the_podgroup(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin("objects:\n- {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, "
                   "metadata: {name: g}, spec: {minMember: 2}}\n");
    core_run(c, USEC_PER_SEC);
    char group[] = "scheduling.x-k8s.io", ns[] = "default", name[] = "g";
    struct gang_ref ref = {group, ns, name};
    struct gang_effect e = {.kind = GANG_STATUS,
                            .status = {.ref = &ref,
                                       .uid = "u",
                                       .state = GANG_SCHEDULED,
                                       .text = "",
                                       .help = "",
                                       .ever_scheduled = true,
                                       .min_member = 2,
                                       .needed = 2,
                                       .members = 2,
                                       .bound = 2,
                                       .running = 2}};
    core_apply(c, &e);
    core_run(c, 2 * USEC_PER_SEC);
    const json_t *object = builtin_cluster_object(c->cluster, KIND_POD_GROUP, NULL, "default", "g");
    assert_string_equal(field_peek(object, "status", "phase", NULL), "Running");
    assert_int_equal(times(c, "group g"), 2);
    /* An unchanged status is not written. */
    core_apply(c, &e);
    core_run(c, 3 * USEC_PER_SEC);
    assert_int_equal(times(c, "group g"), 2);
    core_end(c);
}

static void the_last_1000_events_are_kept(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    core_run(c, 0);
    for (int i = 0; i < 1005; i++) {
        char text[32];
        snprintf(text, sizeof text, "message %d", i);
        struct gang_effect e = {.kind = GANG_EVENT,
                                .event = {.kind = "Pod",
                                          .ns = "default",
                                          .name = "p",
                                          .uid = "u",
                                          .reason = "Unschedulable",
                                          .message = text}};
        core_apply(c, &e);
    }
    const json_t *events = builtin_cluster_events(c->cluster);
    assert_int_equal(json_array_size(events), 1000);
    assert_string_equal(field_peek(json_array_get(events, 0), "message", NULL), "message 5");
    core_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_filtered_bound_runs_and_ends),
        cmocka_unit_test(a_pod_with_a_node_runs_from_the_start),
        cmocka_unit_test(a_pod_whose_bind_call_is_refused_is_tried_again),
        cmocka_unit_test(a_bind_call_times_out),
        cmocka_unit_test(bindings_and_reads_have_the_results_of_an_api_server),
        cmocka_unit_test(a_terminating_pod_is_not_bound),
        cmocka_unit_test(filter_is_not_called_for_gated_pods),
        cmocka_unit_test(P07_lifting_musters_gate_keeps_other_gates),
        cmocka_unit_test(a_status_is_written_in_the_dialect_of_the_podgroup),
        cmocka_unit_test(the_last_1000_events_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
