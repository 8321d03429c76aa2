/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through the whole server. Other tests cover how the core decides; these check that calls
 * reach the core, are held, and get their answers.
 */
#include "test/unit/server/server_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/loop/core_config.h"
#include "server/recording/record.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/raw_client.h"
#include "test/lib/test_config.h"

/* Complete nodes, as kube-scheduler sends them with nodeCacheCapable: false. */
#define WHOLE(name)                                                                                \
    "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"images\":[{\"names\":[\"x\"]}]}}"

static json_t *filter_whole(struct server *s, const char *pod, const char *group)
{
    cleanup_free char *json = pod_json(pod, group);
    cleanup_free char *body = xasprintf("{\"Pod\":%s,\"Nodes\":{\"metadata\":{},\"items\":[" WHOLE(
                                            "other") "," WHOLE("n0") "]},\"NodeNames\":null}",
                                        json);
    return fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200);
}

static void assert_items(json_t *reply, const char *expected)
{
    json_t *want = json_loads(expected, 0, NULL);
    assert_non_null(want);
    cleanup_free char *w = json_dumps(want, JSON_COMPACT);
    cleanup_free char *g =
        json_dumps(json_object_get(json_object_get(reply, "Nodes"), "items"), JSON_COMPACT);
    json_decref(want);
    json_decref(reply);
    assert_string_equal(g ? g : "(none)", w);
}

/* ---- tests ---- */

/* The core of a server has the same bounds as the core in tests, including those without a setting.
 */
static void tests_have_the_default_settings(void **state)
{
    (void)state;
    cleanup_buf struct buf ours = BUF_INIT, cores = BUF_INIT;
    struct config *settings = config_defaults();
    struct gang_config config = core_config(settings), defaults = test_config();
    record_put_head(&config, 0, 0, &ours);
    record_put_head(&defaults, 0, 0, &cores);
    assert_string_equal(buf_str(&ours), buf_str(&cores));
    config_free(settings);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The median time of muster's work on such calls, and of json_loadb() on the same bytes, in turns.
 */
static int64_t median_work(struct server *s, const char *body, int64_t *jansson)
{
    enum { TIMES = 101 };
    int64_t parse[TIMES];
    samples_clear(&s->metrics.work[EXTENDER_FILTER]);
    for (int i = 0; i < TIMES; i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->verbs, "POST", "/scheduler/filter", body, &r);
        assert_non_null(strstr(buf_str(&r.body), "[\"n0\"]"));
        int64_t begin = nsec_now();
        json_t *tree = json_loads(body, 0, NULL);
        parse[i] = nsec_now() - begin;
        assert_non_null(tree);
        json_decref(tree);
    }
    qsort(parse, TIMES, sizeof *parse, by_value);
    *jansson = parse[TIMES / 2];
    return samples_quantile(&s->metrics.work[EXTENDER_FILTER], 0.5);
}

/* The gate checks the answers; the long run also checks the time. */
static void P05_filter_costs_less_than_parsing_its_names(void **state)
{
    struct server *s = *state;
    cleanup_buf struct buf names = BUF_INIT;
    cleanup_free char *pod = pod_json("p0", "g"), *one = filter_body("p0", "g");
    int64_t jansson, unused;
    post_world(s, 2);
    wait_ready(s);
    buf_printf(&names, "{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[", pod);
    for (int i = 0; i < 4999; i++)
        buf_printf(&names, "\"node-%05d\",", i);
    buf_puts(&names, "\"n0\"]}");
    int64_t many = median_work(s, buf_str(&names), &jansson);
    int64_t few = median_work(s, one, &unused);
    if (cost_is_strict() && (many * 2 > jansson * 3 || few * 10 > jansson))
        fail_msg("5,000 names %" PRId64 " ns, one name %" PRId64 " ns, jansson %" PRId64 " ns",
                 many, few, jansson);
}

static void P05_complete_nodes_that_pass_are_echoed(void **state)
{
    struct server *s = *state;
    post_node(s, "other", 0);
    post_group(s, "none", 1000); /* has no room */
    post_pod(s, "lonely", "none");
    post_world(s, 2);
    wait_ready(s);
    assert_items(filter_whole(s, "p0", "g"), "[" WHOLE("n0") "]");
    assert_items(filter_whole(s, "p1", "g"), "[" WHOLE("n0") "]");
    assert_items(filter_whole(s, "lonely", "none"), "[]");
    assert_items(filter_whole(s, "single", NULL), "[" WHOLE("other") "," WHOLE("n0") "]");
    /* A pod that the watch has not shown. */
    assert_items(filter_whole(s, "stranger", NULL), "[" WHOLE("other") "," WHOLE("n0") "]");
}

static void filter_passes_no_node_before_the_core_is_synced(void **state)
{
    struct server *s = *state;
    assert_int_equal(ready_status(s), 503);
    cleanup_free char *body = filter_body("single", NULL);
    json_t *j = fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200);
    assert_true(strlen(json_string_value(json_object_get(j, "Error"))) > 0);
    json_decref(j);
    int fd = send_bind(s, "single");
    cleanup_free char *error = bind_error(fd);
    assert_true(strlen(error) > 0);
    close(fd);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    post_world(s, 2);
    wait_ready(s);
    assert_true(passes_filter(s, "single", NULL));
}

static void a_gang_is_held_and_bound_together(void **state)
{
    struct server *s = *state;
    int fds[3];
    post_world(s, 3);
    wait_ready(s);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        assert_true(passes_filter(s, name, "g"));
        assert_int_equal(atomic_load(&s->fake.bindings), 0);
        fds[i] = send_bind(s, name);
        if (i < 2)
            wait_for(s, "held", i + 1);
    }
    for (int i = 0; i < 3; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_string_equal(error, "");
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), 3);
    assert_int_equal(gang_number(s, "bound"), 3);
}

static void C03_a_hold_is_answered_at_its_limit_and_the_gang_completes_later(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    usec_t from = usec_now();
    int held = send_bind(s, "p0");
    cleanup_free char *why = bind_error(held);
    usec_t took = usec_now() - from;
    assert_true(took >= 900 * USEC_PER_MSEC && took < 5 * USEC_PER_SEC);
    assert_true(strlen(why) > 0);
    assert_int_equal(gang_number(s, "planned"), 2);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    int first = send_bind(s, "p0"), second = send_bind(s, "p1");
    cleanup_free char *a = bind_error(first), *b = bind_error(second);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    assert_int_equal(atomic_load(&s->fake.bindings), 2);
    close(held);
    close(first);
    close(second);
}

static void a_closed_connection_ends_its_hold(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    int leaves = send_bind(s, "p0");
    wait_for(s, "held", 1);
    close(leaves);
    wait_for(s, "held", 0);
    /* The closed call does not count for the quorum: the second call is held and not bound. */
    int second = send_bind(s, "p1");
    wait_for(s, "held", 1);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    int again = send_bind(s, "p0");
    cleanup_free char *a = bind_error(again), *b = bind_error(second);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    assert_int_equal(atomic_load(&s->fake.bindings), 2);
    close(again);
    close(second);
}

static void a_call_closed_before_its_turn_never_counts(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    pause_core_thread(s);
    int gone = send_bind(s, "p0");
    int stays = send_bind(s, "p1");
    usleep(300000); /* both calls have arrived by now */
    close(gone);
    usleep(100000);
    atomic_store(&s->fake.paused, false);
    wait_for(s, "held", 1);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    assert_false(client_readable(stays, 0));
    int again = send_bind(s, "p0");
    cleanup_free char *a = bind_error(again), *b = bind_error(stays);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    close(again);
    close(stays);
}

static void P05_a_very_short_time_is_never_measured_as_a_long_one(void **state)
{
    struct server *s = *state;
    struct samples *samples = &s->metrics.work[EXTENDER_BIND];
    samples_add(samples, 500);
    samples_add(samples, -500);
    assert_int_equal(samples_quantile(samples, 1.0), 500);
    assert_int_equal(atomic_load(&samples->sum), 500);
}

/* A call that arrives in the same step as the result of its Binding has not waited for it. */
static void P05_only_binds_that_waited_for_their_binding_count_in_its_metric(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    pause_core_thread(s);
    post(s, (struct gang_event){.kind = GANG_EV_BIND_DONE,
                                .result = {.uid = xstrdup("u-other"), .node = xstrdup("n0")}});
    int refused = send_bind(s, "nobody");
    usleep(300000); /* it has arrived by now */
    atomic_store(&s->fake.paused, false);
    cleanup_free char *why = bind_error(refused);
    assert_true(strlen(why) > 0);
    assert_int_equal(atomic_load(&s->metrics.bind_reply.count), 0);
    int waits = send_bind(s, "single");
    cleanup_free char *error = bind_error(waits);
    assert_string_equal(error, "");
    assert_int_equal(atomic_load(&s->metrics.bind_reply.count), 1);
    close(refused);
    close(waits);
}

static void a_hung_core_thread_fails_livez(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    pause_core_thread(s);
    int status = 200;
    for (int i = 0; i < 1000 && status == 200; i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->ops_at, "GET", "/livez", NULL, &r);
        status = r.status;
        usleep(10000);
    }
    assert_int_equal(status, 503);
    atomic_store(&s->fake.paused, false);
    wait_ready(s);
}

static void filter_still_answers_while_1000_binds_are_held(void **state)
{
    struct server *s = *state;
    enum { N = 1001 };
    cleanup_free int *fds = xcalloc(N, sizeof *fds);
    post_world(s, N);
    wait_ready(s);
    for (int i = 0; i < N - 1; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        fds[i] = send_bind(s, name);
    }
    wait_for(s, "held", N - 1);
    usec_t slowest = 0;
    for (int i = 0; i < 20; i++) {
        usec_t from = usec_now();
        assert_true(passes_filter(s, i % 2 ? "single" : "p1000", i % 2 ? NULL : "g"));
        usec_t took = usec_now() - from;
        slowest = took > slowest ? took : slowest;
    }
    assert_true(slowest < 5 * USEC_PER_SEC); /* kube-scheduler's default timeout */
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    fds[N - 1] = send_bind(s, "p1000");
    for (int i = 0; i < N; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_string_equal(error, "");
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), N);
}

static void shutdown_answers_every_held_call(void **state)
{
    struct server *s = *state;
    enum { N = 20 };
    int fds[N];
    post_world(s, N + 1);
    wait_ready(s);
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        fds[i] = send_bind(s, name);
    }
    wait_for(s, "held", N);
    stop(s);
    for (int i = 0; i < N; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_non_null(strstr(error, "stopping"));
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
}

/* Sends calls on one connection until it is refused or closed. Each reply must be complete. */
struct hammer {
    pthread_t thread;
    int fd;
    char *body;
    atomic_int answers;
};

static void *hammer(void *arg)
{
    struct hammer *h = arg;
    for (bool on = true; on;) {
        cleanup_reply struct client_reply r = {0};
        client_request(h->fd, "POST", "/scheduler/filter", h->body);
        on = client_read(h->fd, &r) && !strstr(buf_str(&r.body), "stopping");
        atomic_fetch_add(&h->answers, on);
    }
    return NULL;
}

static void shutdown_under_load_completes_every_reply(void **state)
{
    struct server *s = *state;
    struct hammer hammers[4] = {0};
    post_world(s, 2);
    wait_ready(s);
    int held = send_bind(s, "p0");
    wait_for(s, "held", 1);
    for (size_t i = 0; i < ARRAY_SIZE(hammers); i++) {
        hammers[i].fd = client_connect(s->verbs);
        hammers[i].body = filter_body("single", NULL);
        pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(hammers); i++) {
        for (int n = 0; n < 10000 && atomic_load(&hammers[i].answers) == 0; n++)
            usleep(1000);
        assert_true(atomic_load(&hammers[i].answers) > 0);
    }
    loop_stop(s->loop);
    cleanup_free char *error = bind_error(held);
    assert_non_null(strstr(error, "stopping"));
    for (size_t i = 0; i < ARRAY_SIZE(hammers); i++) {
        pthread_join(hammers[i].thread, NULL);
        free(hammers[i].body);
        close(hammers[i].fd);
    }
    close(held);
}

static void invalid_input_is_answered_in_kube_schedulers_form(void **state)
{
    struct server *s = *state;
    cleanup_buf struct buf deep = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_puts(&deep, "{\"Pod\":");
    const char *const bodies[] = {"",
                                  "{",
                                  "[]",
                                  "{\"Pod\":1,\"NodeNames\":[\"a\"]}",
                                  buf_str(&deep),
                                  "{\"Pod\":{},\"NodeNames\":[\"a\"]}"};
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        json_t *f = fetch_json(s->verbs, "POST", "/scheduler/filter", bodies[i], 200);
        json_t *p = fetch_json(s->verbs, "POST", "/scheduler/prioritize", bodies[i], 200);
        json_t *e = fetch_json(s->verbs, "POST", "/scheduler/preempt", bodies[i], 500);
        json_t *b = fetch_json(s->verbs, "POST", "/scheduler/bind", bodies[i], 200);
        assert_true(json_string_length(json_object_get(f, "Error")) > 0);
        assert_true(json_is_array(p) && json_array_size(p) == 0);
        assert_true(json_string_length(json_object_get(b, "Error")) > 0);
        json_decref(f);
        json_decref(p);
        json_decref(e);
        json_decref(b);
    }
    json_t *f = fetch_json(s->verbs, "POST", "/scheduler/filter", buf_str(&deep), 200);
    assert_non_null(
        strstr(json_string_value(json_object_get(f, "Error")), "nested deeper than 64 levels"));
    json_decref(f);
    json_decref(fetch_json(s->ops_at, "GET", "/configz", NULL, 200));
}

static void verbs_refuse_other_paths_and_methods(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *method, *path;
        int status;
    } cases[] = {{"GET", "/scheduler/filter", 405}, {"PUT", "/scheduler/bind", 405},
                 {"POST", "/scheduler/none", 404},  {"POST", "/filter", 404},
                 {"POST", "/scheduler", 404},       {"GET", "/metrics", 404}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->verbs, cases[i].method, cases[i].path, "{}", &r);
        assert_int_equal(r.status, cases[i].status);
        if (r.status == 405)
            assert_non_null(strstr(buf_str(&r.head), "Allow: POST\r\n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tests_have_the_default_settings),
        TEST(filter_passes_no_node_before_the_core_is_synced),
        TEST(a_gang_is_held_and_bound_together),
        cmocka_unit_test_setup_teardown(
            C03_a_hold_is_answered_at_its_limit_and_the_gang_completes_later, setup_short_hold,
            teardown),
        TEST(P05_filter_costs_less_than_parsing_its_names),
        TEST(P05_complete_nodes_that_pass_are_echoed),
        TEST(a_closed_connection_ends_its_hold),
        TEST(a_call_closed_before_its_turn_never_counts),
        TEST(filter_still_answers_while_1000_binds_are_held),
        TEST(shutdown_answers_every_held_call),
        TEST(shutdown_under_load_completes_every_reply),
        TEST(invalid_input_is_answered_in_kube_schedulers_form),
        TEST(verbs_refuse_other_paths_and_methods),
        TEST(P05_a_very_short_time_is_never_measured_as_a_long_one),
        TEST(P05_only_binds_that_waited_for_their_binding_count_in_its_metric),
        TEST(a_hung_core_thread_fails_livez),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
