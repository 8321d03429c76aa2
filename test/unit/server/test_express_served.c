/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane and predicate parity as users see them: verbs, metrics, the API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/lib/raw_client.h"
#include "test/unit/server/server_fixture.h"

#define EXPRESS_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_express, teardown)

/* Waits until /metrics contains the line. */
static void wait_metric(struct server *s, const char *line)
{
    cleanup_free char *whole = xasprintf("\n%s\n", line);
    for (int i = 0; i < 300; i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->ops_at, "GET", "/metrics", NULL, &r);
        assert_int_equal(r.status, 200);
        if (strstr(buf_str(&r.body), whole))
            return;
        usleep(10000);
    }
    fail_msg("timed out: /metrics has no line %s", line);
}

/* ---- the lane ---- */

static void P03_one_bind_call_writes_all_bindings(void **state)
{
    struct server *s = *state;
    post_world(s, 3);
    wait_for(s, "planned", 3);
    wait_metric(s, "muster_express_lane 1");
    assert_true(passes_filter(s, "p0", "g"));
    cleanup_free char *error = bind_error(send_bind(s, "p0"));
    assert_string_equal(error, "");
    wait_for(s, "bound", 3);
    assert_int_equal(atomic_load(&s->fake.bindings), 3);
    wait_metric(s, "muster_express_bindings_total 2");

    /* kube-scheduler has not seen the Bindings yet and brings the other members. */
    assert_true(passes_filter(s, "p1", "g"));
    cleanup_free char *again = bind_error(send_bind(s, "p1"));
    assert_string_equal(again, "");
    assert_int_equal(atomic_load(&s->fake.bindings), 3);
}

/* ---- predicate parity ---- */

/* Two nodes, and a gang "g" of nine without room for all. Only its member p0 exists. */
static void post_waiting(struct server *s)
{
    post_node(s, "n0", 2);
    post_node(s, "n1", 2);
    post_group(s, "g", 9);
    post_pod(s, "p0", "g");
    post(s, (struct gang_event){.kind = GANG_EV_SYNCED});
    wait_ready(s);
    wait_for(s, "members", 1);
}

/* Waits until the compared objects have been unchanged for a second. */
static void wait_until_unchanged_for_a_second(void)
{
    usleep(1100000);
}

/* A filter call for p0 with a complete list that lacks node n0. */
static void offer_without_n0(struct server *s)
{
    cleanup_free char *pod = pod_json("p0", "g");
    cleanup_free char *body = xasprintf("{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[\"n1\"]}", pod);
    json_decref(fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200));
}

static json_t *express_of(struct server *s, const char *path)
{
    json_t *gang = fetch_json(s->ops_at, "GET", path, NULL, 200);
    json_t *express = json_incref(json_object_get(gang, "expressLane"));
    assert_non_null(express);
    json_decref(gang);
    return express;
}

static void differ_twice(struct server *s)
{
    post_waiting(s);
    wait_until_unchanged_for_a_second();
    offer_without_n0(s);
    wait_until_unchanged_for_a_second();
    offer_without_n0(s);
}

static void one_list_that_differs_is_not_a_difference(void **state)
{
    struct server *s = *state;
    post_waiting(s);
    wait_until_unchanged_for_a_second();
    offer_without_n0(s);
    offer_without_n0(s); /* within a second */
    wait_metric(s, "muster_predicate_checks_total 2");
    wait_metric(s, "muster_predicate_mismatch_total{predicate=\"Unmodelled\"} 0");
    wait_metric(s, "muster_express_lane 1");
    json_t *express = express_of(s, "/api/v1/gangs/ml/g");
    assert_true(json_is_true(json_object_get(express, "open")));
    assert_int_equal(json_integer_value(json_object_get(express, "mismatches")), 0);
    assert_null(json_object_get(express, "firstMismatch"));
    json_decref(express);
}

static void P03_complete_lists_that_differ_twice_are_counted_and_reported(void **state)
{
    struct server *s = *state;
    static const char first[] =
        "kube-scheduler does not offer node n0 for pod ml/p0, but no rule of muster excludes the "
        "node";
    differ_twice(s);
    wait_metric(s, "muster_predicate_mismatch_total{predicate=\"Unmodelled\"} 1");
    wait_metric(s, "muster_predicate_mismatch_total{predicate=\"NodeResourcesFit\"} 0");
    wait_metric(s, "muster_express_closed_namespaces 1");
    json_t *express = express_of(s, "/api/v1/gangs/ml/g");
    assert_true(json_is_false(json_object_get(express, "open")));
    assert_int_equal(json_integer_value(json_object_get(express, "mismatches")), 1);
    assert_string_equal(json_string_value(json_object_get(express, "firstMismatch")), first);
    json_decref(express);
}

static void P03_after_a_difference_every_member_must_come_to_bind(void **state)
{
    struct server *s = *state;
    differ_twice(s);
    wait_metric(s, "muster_express_closed_namespaces 1");
    post_group(s, "h", 2);
    post_pod(s, "h0", "h");
    post_pod(s, "h1", "h");
    assert_true(passes_filter(s, "h0", "h"));
    int first = send_bind(s, "h0");
    wait_metric(s, "muster_held_binds 1");
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    json_t *express = express_of(s, "/api/v1/gangs/ml/h");
    assert_non_null(strstr(json_string_value(json_object_get(express, "reason")), "node n0"));
    json_decref(express);
    assert_true(passes_filter(s, "h1", "h"));
    cleanup_free char *second = bind_error(send_bind(s, "h1"));
    cleanup_free char *error = bind_error(first);
    assert_string_equal(error, "");
    assert_string_equal(second, "");
    wait_metric(s, "muster_express_bindings_total 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPRESS_TEST(P03_one_bind_call_writes_all_bindings),
        EXPRESS_TEST(one_list_that_differs_is_not_a_difference),
        EXPRESS_TEST(P03_complete_lists_that_differ_twice_are_counted_and_reported),
        EXPRESS_TEST(P03_after_a_difference_every_member_must_come_to_bind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
