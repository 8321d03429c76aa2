/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler of the built-in cluster: scheduling cycles and rejected pods. */
#include "builtin_fixture.h"

/* ---- scheduling cycles ---- */

static void filter_is_not_called_when_no_node_passes_the_schedulers_own_filters(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        NODES "objects:\n" POD_XX("p", "2", "") "timetable:\n- {at: 5s, create: [{name: big, "
                                                "allocatable: {nvidia.com/gpu: 2}}]}\n");
    core_run(c, 4 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    assert_string_equal(message_of(c, "p"),
                        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
    core_run(c, 6 * USEC_PER_SEC);
    assert_true(saw(c, "5001 filter p 1 big"));
    assert_string_equal(node_of(c, "p"), "big");
    core_end(c);
}

static void the_message_counts_nodes_by_reason_as_in_kube_scheduler(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin("nodes:\n"
                   "- {name: cordoned, allocatable: {nvidia.com/gpu: 1}, unschedulable: "
                   "true}\n"
                   "- {name: tainted, allocatable: {nvidia.com/gpu: 1}, taints: [{key: k, "
                   "effect: NoSchedule}]}\n"
                   "- {name: full, allocatable: {nvidia.com/gpu: 1, pods: 0}}\n"
                   "objects:\n" POD("p"));
    core_run(c, USEC_PER_SEC);
    assert_string_equal(message_of(c, "p"),
                        "0/3 nodes are available: 1 Too many pods, 1 node(s): unschedulable "
                        "(cordoned), 1 node(s): untolerated taint.");
    core_end(c);
}

static void two_pods_with_the_same_host_port_need_two_nodes(void **state)
{
    (void)state;
#define PORT_POD(name)                                                                             \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: c, "     \
    "ports: [{containerPort: 80, hostPort: 80}]}]}}\n"
    struct scripted_core *c =
        core_begin("nodes:\n" NODE("a") "objects:\n" PORT_POD("p") PORT_POD("q"));
    core_run(c, USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    assert_string_equal(node_of(c, "q"), "");
    assert_non_null(strstr(message_of(c, "q"), "free ports"));
    core_end(c);
}

static void pods_are_tried_by_priority_then_age(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(
        NODES "objects:\n- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
              "{name: high}, value: 100}\n" POD("p") POD("q")
                  POD_X("r", "priorityClassName: high, ") POD_X("s", "priority: 200, "));
    c->filter_node = "";
    core_run(c, 7 * USEC_PER_MSEC);
    const char *s = strstr(buf_str(&c->trace), "0 filter s");
    const char *r = strstr(buf_str(&c->trace), "2 filter r");
    const char *p = strstr(buf_str(&c->trace), "4 filter p");
    const char *q = strstr(buf_str(&c->trace), "6 filter q");
    assert_true(s && r && p && q && s < r && r < p && p < q);
    core_end(c);
}

static void prioritize_is_called_unless_only_one_node_passes(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p") POD("q"));
    c->best_node = "b";
    core_run(c, USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "b");
    assert_string_equal(node_of(c, "q"), "a");
    assert_int_equal(c->prioritizes, 1);
    core_end(c);
}

static void assumed_pods_keep_their_room(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin("nodes:\n" NODE("a") "objects:\n" POD("p") POD("q"));
    c->bind = BIND_HOLDS;
    core_run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->binds, 1);
    assert_int_equal(c->filters, 1);
    assert_non_null(strstr(message_of(c, "q"), "Insufficient nvidia.com/gpu"));
    assert_false(builtin_cluster_settled(c->cluster));
    core_end(c);
}

static void with_more_than_100_nodes_a_sample_is_offered(void **state)
{
    (void)state;
    static const struct {
        const char *count, *line;
    } cases[] = {
        {"99", "filter p 99 "},   {"100", "filter p 100 "},  {"150", "filter p 100 "},
        {"400", "filter p 188 "}, {"1000", "filter p 420 "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text =
            xasprintf("nodes:\n- {name: n, count: %s, allocatable: {nvidia.com/gpu: 9}}\n"
                      "objects:\n%s%s",
                      cases[i].count, POD("p"), POD("q"));
        struct scripted_core *c = core_begin(text);
        core_run(c, USEC_PER_SEC);
        assert_true(saw(c, cases[i].line));
        /* The next sample starts where this one ended. */
        assert_int_equal(saw(c, "filter q 188 n-188"), i == 3);
        core_end(c);
    }
}

/* ---- rejected pods ---- */

static void a_rejected_pod_is_tried_twice_and_then_sleeps(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    c->filter_text = "gang ml/g: 8 members needed, room for 6";
    core_run(c, 60 * USEC_PER_SEC);
    assert_int_equal(c->filters, 2);
    assert_string_equal(message_of(c, "p"),
                        "0/2 nodes are available: 1 gang ml/g: 8 members needed, room for 6.");
    assert_true(builtin_cluster_settled(c->cluster));
    /* kube-scheduler flushes its queue five minutes after the last try. */
    core_run(c, 302 * USEC_PER_SEC);
    assert_int_equal(c->filters, 3);
    core_end(c);
}

static void any_event_wakes_a_pod_that_the_extender_rejected(void **state)
{
    (void)state;
    /* A pod appears on b. This makes no room, so the pod that is too large sleeps on. */
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p") POD_XX(
        "large", "2", "") "timetable:\n- at: 20s\n  create:\n  " POD_X("r", "nodeName: b, "));
    c->filter_node = "";
    core_run(c, 19 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE,
                            .pod = {"default", "large", uid_of(c, "large"), "b"}};
    core_apply(c, &e);
    core_run(c, 21 * USEC_PER_SEC);
    assert_true(saw(c, "20001 filter p 1 a"));
    /* Another try would have cleared the nomination. */
    assert_string_equal(field_peek(pod_of(c, "large"), "status", "nominatedNodeName", NULL), "b");
    core_end(c);
}

static void a_nomination_wakes_and_steers(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    core_run(c, 19 * USEC_PER_SEC);
    c->filter_node = "b";
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    core_apply(c, &e);
    core_run(c, 20 * USEC_PER_SEC);
    assert_true(saw(c, "filter p 1 b"));
    assert_string_equal(node_of(c, "p"), "b");
    core_end(c);
}

static void after_a_refused_nomination_the_other_nodes_are_tried_and_it_is_cleared(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    core_run(c, 19 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    core_apply(c, &e);
    core_run(c, 20 * USEC_PER_SEC);
    const char *alone = strstr(buf_str(&c->trace), "19003 filter p 1 b");
    assert_non_null(alone);
    assert_non_null(strstr(alone, "19003 filter p 2 a"));
    assert_null(field_peek(pod_of(c, "p"), "status", "nominatedNodeName", NULL));
    core_end(c);
}

static void a_patch_does_not_wake_a_pod_that_only_the_scheduler_rejected(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD_XX("p", "2", "") POD_X(
        "q", "nodeName: a, ") POD_X("r", "nodeName: b, "));
    core_run(c, 5 * USEC_PER_SEC);
    usec_t next = c->cluster->ops->next(c->cluster);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    core_apply(c, &e);
    core_run(c, 9 * USEC_PER_SEC);
    /* Another try would have cleared the nomination. */
    assert_string_equal(field_peek(pod_of(c, "p"), "status", "nominatedNodeName", NULL), "b");
    assert_true(next > ORIGIN + 9 * USEC_PER_SEC);
    core_end(c);
}

/* p is nominated to b, but the scheduler's own filters refuse b: p needs 2 GPUs. */
static void a_nominated_pod_keeps_its_room_from_pods_of_equal_but_not_higher_priority(void **state)
{
    (void)state;
    struct scripted_core *c =
        core_begin("nodes:\n- {name: b, allocatable: {nvidia.com/gpu: 2}}\n"
                   "objects:\n" POD_XX("p", "2", "")
                       POD_X("r", "nodeName: b, ") "timetable:\n- at: 3s\n  create:\n  " POD(
                           "q") "- at: 5s\n  create:\n  " POD_X("s", "priority: 5, "));
    core_run(c, 2 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    core_apply(c, &e);
    core_run(c, 4 * USEC_PER_SEC);
    assert_false(saw(c, "filter q"));
    assert_non_null(strstr(message_of(c, "q"), "Insufficient nvidia.com/gpu"));
    core_run(c, 6 * USEC_PER_SEC);
    assert_true(saw(c, "filter s 1 b"));
    core_end(c);
}

static void after_an_error_the_pod_waits_for_its_backoff(void **state)
{
    (void)state;
    struct scripted_core *c = core_begin(NODES "objects:\n" POD("p"));
    c->filter_error = "not synced";
    core_run(c, 999 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 1);
    assert_string_equal(message_of(c, "p"), "not synced");
    core_run(c, USEC_PER_SEC);
    assert_int_equal(c->filters, 2);
    core_run(c, 2999 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 2);
    core_run(c, 3 * USEC_PER_SEC);
    assert_int_equal(c->filters, 3);
    core_run(c, 60 * USEC_PER_SEC);
    /* At 7 s, 15 s, and then every 10 s. */
    assert_int_equal(c->filters, 3 + 2 + 4);
    core_end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_is_not_called_when_no_node_passes_the_schedulers_own_filters),
        cmocka_unit_test(the_message_counts_nodes_by_reason_as_in_kube_scheduler),
        cmocka_unit_test(two_pods_with_the_same_host_port_need_two_nodes),
        cmocka_unit_test(pods_are_tried_by_priority_then_age),
        cmocka_unit_test(prioritize_is_called_unless_only_one_node_passes),
        cmocka_unit_test(assumed_pods_keep_their_room),
        cmocka_unit_test(with_more_than_100_nodes_a_sample_is_offered),
        cmocka_unit_test(a_rejected_pod_is_tried_twice_and_then_sleeps),
        cmocka_unit_test(any_event_wakes_a_pod_that_the_extender_rejected),
        cmocka_unit_test(a_nomination_wakes_and_steers),
        cmocka_unit_test(after_a_refused_nomination_the_other_nodes_are_tried_and_it_is_cleared),
        cmocka_unit_test(a_patch_does_not_wake_a_pod_that_only_the_scheduler_rejected),
        cmocka_unit_test(a_nominated_pod_keeps_its_room_from_pods_of_equal_but_not_higher_priority),
        cmocka_unit_test(after_an_error_the_pod_waits_for_its_backoff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
