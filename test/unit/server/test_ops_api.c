/* SPDX-License-Identifier: Apache-2.0 */
/* What the whole server shows about itself: health, metrics, and the API that the commands use. */
#include "test/unit/server/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/ops_client.h"
#include "server/views/api_json.h"
#include "test/lib/raw_client.h"

static void the_api_shows_gangs_and_nodes(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    json_t *gangs = fetch_json(s->ops_at, "GET", "/api/v1/gangs", NULL, 200);
    json_t *other = fetch_json(s->ops_at, "GET", "/api/v1/gangs?namespace=x", NULL, 200);
    json_t *one = fetch_json(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, 200);
    json_t *nodes = fetch_json(s->ops_at, "GET", "/api/v1/nodes", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(gangs, "gangs")), 1);
    assert_int_equal(json_array_size(json_object_get(other, "gangs")), 0);
    json_t *gang = json_array_get(json_object_get(gangs, "gangs"), 0);
    static const char *const texts[] = {"namespace", "name", "apiGroup", "state", "since"};
    static const char *const numbers[] = {"minMember", "needed",   "members",   "bound",
                                          "running",   "failed",   "succeeded", "held",
                                          "planned",   "priority", "attempts"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_true(json_is_string(json_object_get(gang, texts[i])));
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        assert_true(json_is_integer(json_object_get(gang, numbers[i])));
    assert_true(json_is_true(json_object_get(gang, "podGroupExists")));
    assert_true(json_is_string(json_object_get(json_object_get(gang, "reason"), "code")));
    assert_string_equal(json_string_value(json_object_get(gang, "state")), "Planned");
    assert_int_equal(json_array_size(json_object_get(one, "pods")), 2);
    json_t *node = json_array_get(json_object_get(nodes, "nodes"), 0);
    json_t *gpu = json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu");
    assert_int_equal(json_integer_value(json_object_get(gpu, "allocatable")), 10);
    assert_int_equal(json_integer_value(json_object_get(gpu, "reserved")), 2);
    assert_int_equal(json_integer_value(json_object_get(node, "slots")), 2);
    json_decref(gangs);
    json_decref(other);
    json_decref(one);
    json_decref(nodes);
    json_decref(fetch_json(s->ops_at, "GET", "/api/v1/gangs/ml/none", NULL, 404));
    json_decref(fetch_json(s->ops_at, "GET", "/api/v1/gangs/ml", NULL, 404));
    json_decref(fetch_json(s->ops_at, "GET", "/api/v1/gangs/a/b/c", NULL, 404));
}

static void post_queue(struct server *s)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup("scheduling.volcano.sh"), xstrdup(""), xstrdup("q")};
    f->uid = xstrdup("u-q");
    gang_quota_add(f, "nvidia.com/gpu")->cap = 8;
    post(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f});
}

/* Each sample has HELP and TYPE lines, and no sample contains the name of a gang. */
static void metrics_are_well_formed(void **state)
{
    struct server *s = *state;
    post_queue(s);
    post_world(s, 2);
    wait_ready(s);
    assert_true(passes_filter(s, "single", NULL));
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/metrics", NULL, &r);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(buf_str(&r.head), "text/plain; version=0.0.4"));
    static const char *const wanted[] = {
        "\nmuster_extender_requests_total{verb=\"filter\",outcome=\"ok\"} 1\n",
        "\nmuster_extender_request_duration_seconds_count{verb=\"filter\"} 1\n",
        "\nmuster_extender_request_duration_seconds_bucket{verb=\"filter\",le=\"+Inf\"} 1\n",
        "\nmuster_gangs{state=\"Planned\"} 1\n",
        "\nmuster_reserved_devices{resource=\"nvidia.com/gpu\"} 2\n",
        "\nmuster_held_binds 0\n",
        "\nmuster_nodes 1\n",
        "\nmuster_pods 3\n",
        "\nmuster_queues_left_out 0\n",
        "\nmuster_queue_limit{api_group=\"scheduling.volcano.sh\",queue_namespace=\"\","
        "queue=\"q\",resource=\"nvidia.com/gpu\"} 8\n",
        "\nmuster_build_info{version=\"" MUSTER_VERSION "\"} 1\n",
        "\nprocess_resident_memory_bytes ",
        "\nfake_metric 1\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        if (!strstr(buf_str(&r.body), wanted[i]))
            fail_msg("the metrics have no %s: %s", wanted[i], buf_str(&r.body));
    char family[128] = "";
    char *rest = NULL;
    for (char *line = strtok_r(r.body.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "# TYPE %127s", family) == 1 || line[0] == '#' ||
            str_eq(line, "fake_metric 1"))
            continue;
        if (strncmp(line, family, strlen(family)) != 0)
            fail_msg("the line %s is not of the family %s", line, family);
    }
}

static void health_endpoints_follow_the_state_of_the_server(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *path, *body;
        int status;
    } cases[] = {
        {"/livez", "ok", 200},
        {"/healthz", "ok", 200},
        {"/livez?verbose", "[+]core ok\nlivez check passed\n", 200},
        {"/readyz", "[+]core ok\n[-]synced failed\n[+]serving ok\nreadyz check failed\n", 503}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->ops_at, "GET", cases[i].path, NULL, &r);
        assert_int_equal(r.status, cases[i].status);
        assert_string_equal(buf_str(&r.body), cases[i].body);
    }
}

/* ---- replies of the API ---- */

static void errors_of_the_api_name_the_invalid_parameter(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *path;
        int status;
        const char *says;
    } cases[] = {
        {"/api/v1/gangs/ml/h", 404, "gang ml/h does not exist; gangs in its namespace: g"},
        {"/api/v1/gangs/lm/g", 404, "gang lm/g does not exist, and its namespace has no gangs"},
        {"/api/v1/gangs/ml", 404, "the path of a gang is /api/v1/gangs/NAMESPACE/NAME"},
        {"/api/v1/events?limit=0", 400, "limit must be a whole number of at least 1"},
        {"/api/v1/events?limit=1x", 400, "limit must be a whole number of at least 1"},
        {"/api/v1/events?limit=-1", 400, "limit must be a whole number of at least 1"},
        {"/api/v1/gangs?limit=0", 400, "limit must be a whole number of at least 1"},
        {"/api/v1/nodes?limit=x", 400, "limit must be a whole number of at least 1"},
        {"/api/v1/events?gang=g", 400, "gang must be NAMESPACE/NAME"},
        {"/api/v1/events?gang=ml/", 400, "gang must be NAMESPACE/NAME"},
    };
    post_world(s, 2);
    wait_for(s, "members", 2);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *j = fetch_json(s->ops_at, "GET", cases[i].path, NULL, cases[i].status);
        const char *error = json_string_value(json_object_get(j, "error"));
        if (!error || !strstr(error, cases[i].says))
            fail_msg("%s: %s", cases[i].path, error);
        json_decref(j);
    }
}

static size_t count_events(struct server *s, const char *query)
{
    cleanup_free char *path = xasprintf("/api/v1/events%s", query);
    json_t *j = fetch_json(s->ops_at, "GET", path, NULL, 200);
    size_t n = json_array_size(json_object_get(j, "events"));
    json_decref(j);
    return n;
}

static void events_can_be_limited_to_a_gang_and_a_number(void **state)
{
    struct server *s = *state;
    post_group(s, "other", 5);
    post_world(s, 2);
    wait_for(s, "planned", 2);
    size_t all = count_events(s, "");
    assert_true(all >= 2);
    assert_int_equal(count_events(s, "?limit=1"), 1);
    assert_int_equal(count_events(s, "?gang=ml/other"), 1);
    assert_int_equal(count_events(s, "?gang=ml/g") + 1, all);
    assert_int_equal(count_events(s, "?namespace=ml"), all);
    assert_int_equal(count_events(s, "?namespace=none"), 0);
    assert_int_equal(count_events(s, "?gang=ml/g&apiGroup=other.io"), 0);
}

static void the_view_of_one_gang_contains_its_explanation(void **state)
{
    struct server *s = *state;
    post_group(s, "g", 3);
    post_node(s, "n0", 2);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        post_pod(s, name, "g");
    }
    post(s, (struct gang_event){.kind = GANG_EV_SYNCED});
    wait_for(s, "position", 1);
    json_t *j = fetch_json(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, 200);
    json_t *signature = json_array_get(json_object_get(j, "signatures"), 0);
    json_t *missing = json_object_get(signature, "shortage");
    assert_int_equal(json_integer_value(json_object_get(signature, "pods")), 3);
    assert_int_equal(json_integer_value(json_object_get(signature, "fitNow")), 2);
    assert_string_equal(json_string_value(json_object_get(missing, "resource")), "nvidia.com/gpu");
    assert_int_equal(json_integer_value(json_object_get(missing, "free")), 2);
    assert_int_equal(json_array_size(json_object_get(j, "pods")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "unplaced")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "minimums")), 1);
    assert_true(json_array_size(json_object_get(j, "events")) > 0);
    assert_int_equal(json_integer_value(json_object_get(j, "queueLength")), 1);
    json_decref(j);
}

/* ---- queues ---- */

static struct gang_queue_facts *queue_of(const char *name)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup("scheduling.run.ai"), xstrdup(""), xstrdup(name)};
    return f;
}

static void Q01_the_api_shows_what_a_queue_states(void **state)
{
    struct server *s = *state;
    struct gang_queue_facts *stated = queue_of("a"), *plain = queue_of("b");
    stated->reclaimable = false;
    stated->preempt_min_runtime = 5400 * USEC_PER_SEC;
    stated->reclaim_min_runtime = 0;
    stated->priority = 7;
    post(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = plain});
    post(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = stated});
    post(s, (struct gang_event){.kind = GANG_EV_SYNCED});
    wait_ready(s);
    json_t *first = fetch_json(s->ops_at, "GET", "/api/v1/queues?limit=1", NULL, 200);
    json_t *meta = json_object_get(first, "metadata");
    assert_int_equal(json_array_size(json_object_get(first, "queues")), 1);
    assert_int_equal(json_integer_value(json_object_get(meta, "remainingItemCount")), 1);
    json_decref(first);
    struct err err;
    json_t *all = ops_client_list(s->ops_at, "/api/v1/queues?limit=1", "queues", &err);
    json_t *list = json_object_get(all, "queues");
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *q = json_array_get(list, i);
        bool is_plain = str_eq(reply_text(q, "name"), "b");
        assert_int_equal(json_is_true(json_object_get(q, "reclaimable")), is_plain);
        assert_string_equal(reply_text(q, "preemptMinRuntime"), is_plain ? "" : "1h30m");
        assert_string_equal(reply_text(q, "reclaimMinRuntime"), is_plain ? "" : "0s");
        assert_int_equal(reply_number(q, "priority"), is_plain ? 0 : 7);
    }
    json_decref(all);
}

/* ---- pages ---- */

static void T10_lists_come_in_pages_that_fit_together(void **state)
{
    struct server *s = *state;
    enum { NODES_SHOWN = API_JSON_PAGE + 20 };
    for (int i = 0; i < NODES_SHOWN; i++) {
        cleanup_free char *name = xasprintf("n%04d", i);
        post_node(s, name, 1);
    }
    post_world(s, 5);
    wait_ready(s);
    json_t *first = fetch_json(s->ops_at, "GET", "/api/v1/nodes", NULL, 200);
    json_t *meta = json_object_get(first, "metadata");
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), API_JSON_PAGE);
    assert_int_equal(json_integer_value(json_object_get(meta, "remainingItemCount")), 21);
    cleanup_free char *path = xasprintf("/api/v1/nodes?limit=100&continue=%s",
                                        json_string_value(json_object_get(meta, "continue")));
    json_t *last = fetch_json(s->ops_at, "GET", path, NULL, 200);
    assert_int_equal(json_array_size(json_object_get(last, "nodes")), 21);
    assert_int_equal(json_object_size(json_object_get(last, "metadata")), 0);
    json_decref(first);
    json_decref(last);
    struct err err;
    json_t *all = ops_client_list(s->ops_at, "/api/v1/nodes", "nodes", &err);
    assert_int_equal(json_array_size(json_object_get(all, "nodes")), NODES_SHOWN + 1);
    assert_null(json_object_get(all, "metadata"));
    json_decref(all);
    /* The members of one gang. Only the first page contains the explanation. */
    json_t *gang = ops_client_list(s->ops_at, "/api/v1/gangs/ml/g?limit=2", "pods", &err);
    assert_int_equal(json_array_size(json_object_get(gang, "pods")), 5);
    assert_non_null(json_object_get(gang, "events"));
    json_decref(gang);
    assert_null(ops_client_list(s->ops_at, "/api/v1/gangs/ml/none", "pods", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(errors_of_the_api_name_the_invalid_parameter),
        TEST(events_can_be_limited_to_a_gang_and_a_number),
        TEST(the_view_of_one_gang_contains_its_explanation),
        TEST(the_api_shows_gangs_and_nodes),
        TEST(metrics_are_well_formed),
        TEST(health_endpoints_follow_the_state_of_the_server),
        TEST(Q01_the_api_shows_what_a_queue_states),
        TEST(T10_lists_come_in_pages_that_fit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
