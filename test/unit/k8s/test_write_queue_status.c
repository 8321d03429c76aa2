/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a queue: where it is written, how often, and what else is said about it. */
#include "writer_fixture.h"

#include <stdio.h>

#include "base/log.h"
#include "k8s/decode/decode.h"

#define KAI     "scheduling.run.ai"
#define VOLCANO "scheduling.volcano.sh"
#define SIGS    "scheduling.sigs.k8s.io"
#define XK8S    "scheduling.x-k8s.io"

#define QUEUE         "/apis/scheduling.run.ai/v2/queues/q"
#define PATCH         "PATCH " QUEUE "/status"
#define VOLCANO_PATCH "PATCH /apis/scheduling.volcano.sh/v1beta1/queues/q/status"
#define DEFAULT_EVENT "POST /api/v1/namespaces/default/events"

#define OBJECT(version, more)                                                                      \
    "{\"metadata\":{\"name\":\"q\",\"uid\":\"qu\",\"resourceVersion\":\"" version "\"}" more "}"
#define LIMITS                                                                                     \
    ",\"spec\":{\"resources\":{\"cpu\":{\"limit\":-1},\"memory\":{\"limit\":-1},\"gpu\":{"         \
    "\"limit\":-1}}}"

static void show(struct fixture *x, const char *api_group, const char *text)
{
    struct err err;
    const char *other;
    cleanup_json json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    struct gang_queue_facts *f = decode_queue(queue_dialect_by_group(api_group), json, &err);
    assert_non_null(f);
    assert_true(queue_cache_set(x->queues, f, json, NULL, &other));
    gang_queue_facts_free(f);
}

static void serve(struct fixture *x, const char *api_group, const char *version, bool subresource)
{
    queue_cache_serve(x->queues, queue_dialect_by_group(api_group), version, subresource);
}

/* Of the queue, in GPUs. */
#define LIMIT 10

static void write_status_of(struct fixture *x, const char *api_group, const char *ns,
                            const char *name, int64_t gpus, const char *sentence)
{
    struct gang_ref ref = {letters(api_group), letters(ns), letters(name)};
    struct gang_queue_amount amount = {
        .resource = "nvidia.com/gpu", .deserved = GANG_NOT_STATED, .cap = LIMIT, .used = gpus};
    struct gang_effect e = {.kind = GANG_QUEUE_STATUS};
    e.queue = (struct gang_queue_status){.ref = &ref,
                                         .uid = "qu",
                                         .reason = sentence ? REASON_QUEUE_INVALID : REASON_NONE,
                                         .text = sentence ? sentence : "",
                                         .amounts = &amount,
                                         .n_amounts = 1};
    apply(x, &e);
}

static void write_status(struct fixture *x, const char *api_group, const char *ns, int64_t gpus,
                         const char *sentence)
{
    write_status_of(x, api_group, ns, "q", gpus, sentence);
}

static void kai_status(struct fixture *x, int64_t gpus)
{
    write_status(x, KAI, "", gpus, NULL);
}

static const char *allocated(struct fixture *x, const char *route, size_t n)
{
    cleanup_json json_t *body = body_of(x, route, n);
    static char text[32];
    const char *gpus = field_peek(body, "status", "allocated", "nvidia.com/gpu", NULL);
    snprintf(text, sizeof text, "%s", gpus ? gpus : "");
    return text;
}

static void Q01_a_status_goes_where_the_server_keeps_it(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *api_group, *version, *ns, *route;
        bool subresource;
    } cases[] = {
        {KAI, "v2", NULL, PATCH, true},
        {VOLCANO, "v1beta1", NULL, VOLCANO_PATCH, true},
        {SIGS, "v1alpha1", "b",
         "PATCH /apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/b/elasticquotas/q", false},
        {XK8S, "v1alpha1", "b",
         "PATCH /apis/scheduling.x-k8s.io/v1alpha1/namespaces/b/elasticquotas/q/status", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *ns =
            cases[i].ns ? xasprintf(",\"namespace\":\"%s\"", cases[i].ns) : xstrdup("");
        cleanup_free char *object = xasprintf(
            "{\"metadata\":{\"name\":\"q\",\"uid\":\"qu\",\"resourceVersion\":\"5\"%s}}", ns);
        serve(x, cases[i].api_group, cases[i].version, cases[i].subresource);
        show(x, cases[i].api_group, object);
        fake_answer(x->api, cases[i].route, 200, object);
        write_status(x, cases[i].api_group, str_eq(cases[i].api_group, XK8S) ? "b" : "", 3, NULL);
        run_until(x, !writer_busy(x->writer));
        if (fake_count(x->api, cases[i].route) != 1)
            fail_msg("nothing was sent to %s", cases[i].route);
        assert_string_equal(fake_query(x->api, cases[i].route, 0), "fieldManager=muster");
        cleanup_json json_t *body = body_of(x, cases[i].route, 0);
        assert_string_equal(field_peek(body, "metadata", "uid", NULL), "qu");
        assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), "5");
        const char *map = cases[i].ns ? "used" : "allocated";
        assert_string_equal(field_peek(body, "status", map, "nvidia.com/gpu", NULL), "3");
    }
}

static void Q01_an_unchanged_status_is_not_written(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer(x->api, PATCH, 200,
                OBJECT("6", LIMITS ",\"status\":{\"allocated\":{\"nvidia.com/gpu\":\"3\"},"
                                   "\"allocatedNonPreemptible\":{\"nvidia.com/gpu\":\"0\"},"
                                   "\"requested\":{\"nvidia.com/gpu\":\"0\"}}"));
    kai_status(x, 3);
    run_until(x, !writer_busy(x->writer));
    kai_status(x, 3); /* as the reply has shown */
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 1);
}

static void the_newest_status_replaces_the_one_that_waits(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer_late(x->api, PATCH, 200, OBJECT("6", LIMITS));
    kai_status(x, 1);
    run_until(x, fake_count(x->api, PATCH) == 1);
    for (int n = 2; n <= 9; n++)
        kai_status(x, n);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 2);
    assert_int_equal(fake_peak(x->api, PATCH), 1);
    assert_string_equal(allocated(x, PATCH, 0), "1");
    assert_string_equal(allocated(x, PATCH, 1), "9");
}

static void a_conflict_is_read_and_tried_again(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer(x->api, PATCH, 409, "{\"message\":\"the object has been modified\"}");
    fake_answer(x->api, PATCH, 200, OBJECT("10", LIMITS));
    fake_answer(x->api, "GET " QUEUE, 200,
                OBJECT("9", LIMITS ",\"status\":{\"requested\":{\"nvidia.com/gpu\":0}}"));
    kai_status(x, 3);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 2);
    cleanup_json json_t *body = body_of(x, PATCH, 1);
    assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), "9");
    assert_null(json_object_get(json_object_get(body, "status"), "requested"));
}

static void an_outage_ends_some_time(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer(x->api, PATCH, 503, "{}");
    fake_answer(x->api, PATCH, 200, OBJECT("6", LIMITS));
    kai_status(x, 3);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 2);
}

static void a_queue_that_is_gone_or_another_one_is_left_alone(void **state)
{
    struct fixture *x = *state;
    kai_status(x, 3); /* not served */
    serve(x, KAI, "v2", true);
    kai_status(x, 3); /* never seen */
    show(x, KAI, "{\"metadata\":{\"name\":\"q\",\"uid\":\"other\",\"resourceVersion\":\"5\"}}");
    kai_status(x, 3); /* another object with that name */
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 0);
    show(x, KAI, OBJECT("6", LIMITS));
    fake_answer(x->api, PATCH, 404, "{}");
    fake_answer(x->api, PATCH, 409, "{}");
    kai_status(x, 3);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 1);
    fake_answer(x->api, "GET " QUEUE, 404, "{}"); /* gone after the conflict */
    kai_status(x, 4);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 2);
}

static void a_missing_right_is_logged_once(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer(x->api, PATCH, 403, "{\"message\":\"queues/status is forbidden\"}");
    FILE *log;
    int saved = capture_log(&log);
    for (int n = 1; n <= 3; n++) {
        kai_status(x, n);
        run_until(x, !writer_busy(x->writer));
    }
    cleanup_free char *text = end_capture(log, saved);
    assert_int_equal(fake_count(x->api, PATCH), 3);
    const char *line = strstr(text, "Could not write the status of a queue");
    assert_non_null(line);
    assert_non_null(strstr(line, "queue=\"scheduling.run.ai//q\""));
    assert_null(strstr(line + 1, "Could not write"));
}

/* Volcano's status has no conditions, KAI's has. */
static void Q05_an_event_says_why_a_queue_is_invalid(void **state)
{
    struct fixture *x = *state;
    serve(x, VOLCANO, "v1beta1", true);
    serve(x, KAI, "v2", true);
    show(x, VOLCANO, OBJECT("5", ""));
    show(x, KAI, OBJECT("5", ""));
    fake_answer(x->api, VOLCANO_PATCH, 200, OBJECT("6", ""));
    fake_answer(x->api, PATCH, 200, OBJECT("6", ""));
    fake_answer(x->api, DEFAULT_EVENT, 201, "{}");
    static const char wrong[] = "spec.parent is \"team\", which does not exist";
    write_status(x, VOLCANO, "", 0, wrong);
    write_status(x, VOLCANO, "", 1, wrong);
    write_status(x, KAI, "", 0, wrong);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, DEFAULT_EVENT), 1);
    cleanup_json json_t *body = body_of(x, DEFAULT_EVENT, 0);
    const json_t *about = json_object_get(body, "involvedObject");
    assert_string_equal(field_peek(body, "reason", NULL), "InvalidQueue");
    assert_string_equal(field_peek(body, "type", NULL), "Warning");
    assert_string_equal(field_peek(body, "message", NULL), wrong);
    assert_string_equal(field_peek(about, "apiVersion", NULL), "scheduling.volcano.sh/v1beta1");
    assert_string_equal(field_peek(about, "kind", NULL), "Queue");
    assert_string_equal(field_peek(about, "name", NULL), "q");
    assert_string_equal(field_peek(about, "uid", NULL), "qu");
    assert_null(json_object_get(about, "namespace"));
    /* Valid again, then invalid again: that is news. */
    write_status(x, VOLCANO, "", 1, NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, DEFAULT_EVENT), 1);
    write_status(x, VOLCANO, "", 1, "it is in a circle");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, DEFAULT_EVENT), 2);
}

static void Q05_an_event_says_that_a_queue_exceeds_its_limit(void **state)
{
    struct fixture *x = *state;
    serve(x, VOLCANO, "v1beta1", true);
    show(x, VOLCANO, OBJECT("5", ""));
    fake_answer(x->api, VOLCANO_PATCH, 200, OBJECT("6", ""));
    fake_answer(x->api, DEFAULT_EVENT, 201, "{}");
    write_status(x, VOLCANO, "", LIMIT, NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, DEFAULT_EVENT), 0);
    write_status(x, VOLCANO, "", LIMIT + 2, NULL);
    run_until(x, !writer_busy(x->writer));
    write_status(x, VOLCANO, "", LIMIT + 1, NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, DEFAULT_EVENT), 1);
    cleanup_json json_t *body = body_of(x, DEFAULT_EVENT, 0);
    assert_string_equal(field_peek(body, "reason", NULL), "OverLimit");
    assert_string_equal(field_peek(body, "message", NULL),
                        "queue q: it uses more nvidia.com/gpu than its limit of 10; its pods stay, "
                        "and new ones wait");
}

static void Q05_a_kai_queue_without_its_parent_is_an_orphan(void **state)
{
    struct fixture *x = *state;
    serve(x, KAI, "v2", true);
    show(x, KAI, OBJECT("5", ",\"spec\":{\"parentQueue\":\"team\"}"));
    fake_answer(x->api, PATCH, 200, OBJECT("6", ",\"spec\":{\"parentQueue\":\"team\"}"));
    write_status(x, KAI, "", 0, "spec.parentQueue is \"team\", which does not exist");
    run_until(x, !writer_busy(x->writer));
    assert_non_null(strstr(fake_body(x->api, PATCH, 0), "\"Orphan\""));
    show(x, KAI, "{\"metadata\":{\"name\":\"team\",\"uid\":\"t\",\"resourceVersion\":\"8\"}}");
    write_status(x, KAI, "", 0, "it is in a circle");
    run_until(x, !writer_busy(x->writer));
    assert_null(strstr(fake_body(x->api, PATCH, 1), "\"Orphan\""));
}

/* A user edits many queues all the time, so that each write of their status is too late. */
static void T16_queues_that_are_edited_all_the_time_do_not_delay_others(void **state)
{
    struct fixture *x = *state;
    enum { EDITED = 16 };
    serve(x, KAI, "v2", true);
    for (int i = 0; i < EDITED; i++) {
        cleanup_free char *name = xasprintf("edited-%d", i);
        cleanup_free char *path = xasprintf("/apis/scheduling.run.ai/v2/queues/%s", name);
        cleanup_free char *get = xasprintf("GET %s", path);
        cleanup_free char *patch = xasprintf("PATCH %s/status", path);
        cleanup_free char *object = xasprintf("{\"metadata\":{\"name\":\"%s\",\"uid\":\"qu\","
                                              "\"resourceVersion\":\"5\"}}",
                                              name);
        fake_answer(x->api, get, 200, object);
        fake_answer(x->api, patch, 409, "{}");
        show(x, KAI, object);
        write_status_of(x, KAI, "", name, 1, NULL);
    }
    show(x, KAI, OBJECT("5", LIMITS));
    fake_answer(x->api, PATCH, 200, OBJECT("6", LIMITS));
    kai_status(x, 3);
    run_until(x, fake_count(x->api, PATCH) == 1);
    for (int i = 0; i < EDITED; i++) {
        cleanup_free char *patch =
            xasprintf("PATCH /apis/scheduling.run.ai/v2/queues/edited-%d/status", i);
        assert_true(fake_count(x->api, patch) <= 6);
        run_until(x, fake_count(x->api, patch) >= 1); /* it still tries */
    }
}

int main(void)
{
    log_setup(LOG_WARNING, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(Q01_a_status_goes_where_the_server_keeps_it),
        TEST(Q01_an_unchanged_status_is_not_written),
        TEST(the_newest_status_replaces_the_one_that_waits),
        TEST(a_conflict_is_read_and_tried_again),
        TEST(an_outage_ends_some_time),
        TEST(a_queue_that_is_gone_or_another_one_is_left_alone),
        TEST(a_missing_right_is_logged_once),
        TEST(T16_queues_that_are_edited_all_the_time_do_not_delay_others),
        TEST(Q05_an_event_says_why_a_queue_is_invalid),
        TEST(Q05_an_event_says_that_a_queue_exceeds_its_limit),
        TEST(Q05_a_kai_queue_without_its_parent_is_an_orphan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
