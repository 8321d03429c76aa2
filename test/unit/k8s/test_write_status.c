/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a PodGroup: where it is written, how often, and when other writers keep theirs. */
#include "writer_fixture.h"

#include <stdio.h>

#include "base/log.h"
#include "k8s/dialect/dialect.h"

/* ---- statuses ---- */

static void status_of(struct fixture *x, const char *group, enum gang_state state, int running)
{
    struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters(group)};
    struct gang_effect e = {.kind = GANG_STATUS};
    e.status = (struct gang_status){.ref = &ref,
                                    .uid = "gu",
                                    .state = state,
                                    .text = "why",
                                    .help = "",
                                    .min_member = 8,
                                    .needed = 8,
                                    .members = 8,
                                    .running = running};
    apply(x, &e);
}

static void status_effect(struct fixture *x, enum gang_state state, int running)
{
    status_of(x, "g", state, running);
}

static void show_group(struct fixture *x, const char *text)
{
    struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters("g")};
    cleanup_json json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    podgroups_set(x->groups, &ref, json);
}

static void serve(struct fixture *x, bool subresource)
{
    podgroups_serve(x->groups, dialect_by_group("scheduling.volcano.sh"), "v1beta1", subresource);
}

static void a_status_is_written_to_the_subresource_if_there_is_one(void **state)
{
    struct fixture *x = *state;
    show_group(x, GROUP_OF("5", ""));
    serve(x, true);
    fake_answer(x->api, "PATCH " GROUP "/status", 200, GROUP_OF("6", ""));
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP "/status"), 1);
    assert_string_equal(fake_query(x->api, "PATCH " GROUP "/status", 0), "fieldManager=muster");
    cleanup_json json_t *body = body_of(x, "PATCH " GROUP "/status", 0);
    assert_string_equal(field_peek(body, "metadata", "uid", NULL), "gu");
    assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), "5");
    assert_string_equal(field_peek(body, "status", "phase", NULL), "Pending");
    serve(x, false);
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("7", ""));
    status_effect(x, GANG_SCHEDULED, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 1);
}

static void an_unchanged_status_is_not_written(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ",\"status\":{\"phase\":\"Inqueue\"}"));
    status_effect(x, GANG_PLANNED, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 0);
}

static void muster_remembers_its_write_until_the_watch_shows_it(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("6", ",\"status\":{\"phase\":\"Inqueue\"}"));
    status_effect(x, GANG_PLANNED, 0);
    run_until(x, !writer_busy(x->writer));
    status_effect(x, GANG_PLANNED, 0); /* no change */
    run_until(x, !writer_busy(x->writer));
    show_group(x, GROUP_OF("5", "")); /* an old version arrives late */
    status_effect(x, GANG_PLANNED, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 1);
}

/* T01: muster reads the reply despite an odd value of another writer. */
static void T01_a_reply_with_an_odd_number_is_read(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("6", ",\"status\":{\"x\":1e999}"));
    fake_answer(x->api, "PATCH " GROUP, 409, "{\"message\":\"no\",\"x\":99999999999999999999}");
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("10", ""));
    fake_answer(x->api, "GET " GROUP, 200,
                GROUP_OF("9", ",\"status\":{\"x\":99999999999999999999}"));
    status_effect(x, GANG_PLANNED, 0);
    run_until(x, !writer_busy(x->writer));
    status_effect(x, GANG_SCHEDULED, 4);
    run_until(x, !writer_busy(x->writer));
    static const char *const versions[] = {"5", "6", "9"};
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        cleanup_json json_t *body = body_of(x, "PATCH " GROUP, i);
        assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), versions[i]);
    }
}

static void after_a_conflict_the_status_is_read_and_written_again(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 409, "{\"message\":\"the object has been modified\"}");
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("10", ""));
    fake_answer(x->api, "GET " GROUP, 200,
                GROUP_OF("9", ",\"status\":{\"conditions\":[{\"type\":\"Other\"}]}"));
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 2);
    cleanup_json json_t *body = body_of(x, "PATCH " GROUP, 1);
    assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), "9");
    const json_t *list = json_object_get(json_object_get(body, "status"), "conditions");
    assert_int_equal(json_array_size(list), 2); /* the condition of the other writer is kept */
}

static void a_field_that_the_server_drops_is_not_written_again(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    /* A schema without conditions and counters. */
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("6", ",\"status\":{\"phase\":\"Pending\"}"));
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    status_effect(x, GANG_BACKED_OFF, 3); /* the schema keeps neither the message nor the figures */
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP),
                     2); /* muster did not know yet that "running" is lost */
    cleanup_json json_t *second = body_of(x, "PATCH " GROUP, 1);
    const json_t *status = json_object_get(second, "status");
    assert_null(json_object_get(status, "conditions"));
    assert_int_equal(json_integer_value(json_object_get(status, "running")), 3);
    /* A new schema: muster tries again. */
    serve(x, false);
    status_effect(x, GANG_WAITING, 3);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 3);
}

/* muster has removed the count, so the server has not dropped it. */
static void a_removed_count_is_written_again(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ",\"status\":{\"running\":3}"));
    fake_answer(x->api, "PATCH " GROUP, 200,
                GROUP_OF("6", ",\"status\":{\"phase\":\"Pending\",\"conditions\":[]}"));
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    status_effect(x, GANG_SCHEDULED, 2);
    run_until(x, !writer_busy(x->writer));
    cleanup_json json_t *first = body_of(x, "PATCH " GROUP, 0);
    cleanup_json json_t *second = body_of(x, "PATCH " GROUP, 1);
    assert_true(json_is_null(json_object_get(json_object_get(first, "status"), "running")));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(second, "status"), "running")), 2);
}

/* The server accepts the write, and then another writer sets the phase back. */
static void muster_stops_when_another_writer_keeps_changing_the_phase(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    fake_answer(x->api, "PATCH " GROUP, 200,
                GROUP_OF("6", ",\"status\":{\"phase\":\"Inqueue\",\"running\":1}"));
    fake_answer(
        x->api, "GET " GROUP, 200,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"gu\",\"resourceVersion\":"
        "\"99\","
        "\"managedFields\":[{\"manager\":\"muster\",\"fieldsV1\":{\"f:status\":{\"f:phase\":{}}}},"
        "{\"manager\":\"old\",\"time\":\"2026-01-01T00:00:00Z\",\"fieldsV1\":{\"f:status\":{\"f:"
        "phase\":{"
        "}}}},"
        "{\"manager\":\"vc-scheduler\",\"time\":\"2026-01-02T00:00:00Z\",\"fieldsV1\":{\"f:"
        "status\":{"
        "\"f:phase\":{}}}},"
        "{\"manager\":\"other\",\"time\":\"2026-01-03T00:00:00Z\",\"fieldsV1\":{\"f:spec\":{}}}]},"
        "\"status\":{\"phase\":\"Odd\",\"running\":1}}");
    FILE *log;
    int saved = capture_log(&log);
    for (int i = 0; i < 20; i++) {
        cleanup_free char *text =
            xasprintf("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"gu\","
                      "\"resourceVersion\":\"v%d\"},\"status\":{\"phase\":\"Odd\",\"running\":1}}",
                      i);
        show_group(x, GROUP_OF("6", "")); /* muster's write */
        show_group(x, text);
        status_effect(x, GANG_PLANNED, 1);
        run_until(x, !writer_busy(x->writer));
    }
    cleanup_free char *text = end_capture(log, saved);
    /* The first write, and five that found the phase set back. The last of them was not sent. */
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 5);
    assert_int_equal(fake_count(x->api, "GET " GROUP), 1);
    const char *line = strstr(text, "Another writer keeps changing the status of a PodGroup");
    assert_non_null(line);
    assert_non_null(strstr(line, "podgroup=\"scheduling.volcano.sh/ns/g\" field=\"phase\" "
                                 "writer=\"vc-scheduler\""));
    assert_null(strstr(line + 1, "Another writer"));
    /* Other fields are still written. */
    status_effect(x, GANG_PLANNED, 2);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 6);
    assert_null(strstr(fake_body(x->api, "PATCH " GROUP, 5), "phase"));
    assert_non_null(strstr(fake_body(x->api, "PATCH " GROUP, 5), "\"running\":2"));
}

static void a_phase_that_occurs_again_is_not_a_dispute_with_another_writer(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    for (int i = 0; i < 30; i++) {
        bool waits = i % 2;
        cleanup_free char *text =
            xasprintf("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"gu\","
                      "\"resourceVersion\":\"v%d\"},\"status\":{\"phase\":\"%s\"}}",
                      i, waits ? "Inqueue" : "Pending");
        show_group(x, text);
        fake_answer(x->api, "PATCH " GROUP, 200, text);
        status_effect(x, waits ? GANG_WAITING : GANG_PLANNED, 0);
        run_until(x, !writer_busy(x->writer));
    }
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 30);
}

static void owners_are_remembered_as_long_as_the_podgroup_exists(void **state)
{
    struct fixture *x = *state;
    struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters("g")};
    podgroups_linked(x->groups, &ref, "ns/a");
    assert_null(podgroups_owners(x->groups, &ref)); /* unknown so far */
    show_group(x, GROUP_OF("5", ""));
    podgroups_linked(x->groups, &ref, NULL); /* a pod without an owner */
    podgroups_linked(x->groups, &ref, "ns/a");
    podgroups_linked(x->groups, &ref, "ns/b");
    assert_string_equal(podgroups_owners(x->groups, &ref), "ns/a");
    podgroups_gone(x->groups, &ref);
    assert_null(podgroups_owners(x->groups, &ref));
}

static void no_status_is_written_to_a_deleted_or_recreated_podgroup(void **state)
{
    struct fixture *x = *state;
    status_effect(x, GANG_WAITING, 0); /* the API is not served */
    serve(x, false);
    status_effect(x, GANG_WAITING, 0); /* no such PodGroup */
    show_group(x, "{\"metadata\":{\"uid\":\"other\",\"resourceVersion\":\"5\"}}");
    status_effect(x, GANG_WAITING, 0); /* another object with this name */
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 0);
    show_group(x, GROUP_OF("6", ""));
    fake_answer(x->api, "PATCH " GROUP, 404, "{}");
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 1);
}

static void S05_newer_figures_replace_waiting_ones_but_no_phase_is_skipped(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer_late(x->api, "PATCH " GROUP, 200,
                     GROUP_OF("6", ",\"status\":{\"phase\":\"Pending\",\"running\":0,"
                                   "\"conditions\":[]}"));
    status_effect(x, GANG_WAITING, 0); /* Pending, being written */
    run_until(x, fake_count(x->api, "PATCH " GROUP) == 1);
    status_effect(x, GANG_PLANNED, 0);   /* Inqueue */
    status_effect(x, GANG_SCHEDULED, 1); /* Running, 1 … 8 */
    for (int i = 2; i <= 8; i++)
        status_effect(x, GANG_SCHEDULED, i);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 3);
    assert_int_equal(fake_peak(x->api, "PATCH " GROUP), 1);
    cleanup_json json_t *second = body_of(x, "PATCH " GROUP, 1);
    cleanup_json json_t *third = body_of(x, "PATCH " GROUP, 2);
    assert_string_equal(field_peek(second, "status", "phase", NULL), "Inqueue");
    assert_string_equal(field_peek(third, "status", "phase", NULL), "Running");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(third, "status"), "running")), 8);
}

/* While a Binding is under way, statuses wait for it. If many PodGroups wait, muster writes only
 * the newest status of each. */
static void under_load_only_the_newest_status_is_written(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("6", ""));
    fake_answer_late(x->api, BINDING, 201, "{}");
    pod_effect(x, GANG_BIND, "p", "u", "n");
    run_until(x, fake_count(x->api, BINDING) == 1);
    for (int i = 0; i < 16; i++) {
        char name[8];
        snprintf(name, sizeof name, "g%d", i);
        status_of(x, name, GANG_WAITING, 0);
    }
    status_effect(x, GANG_PLANNED, 0);
    status_effect(x, GANG_SCHEDULED, 8);
    client_run(x->client, 50 * USEC_PER_MSEC, x->fd);
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 0);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 1);
    cleanup_json json_t *body = body_of(x, "PATCH " GROUP, 0);
    assert_string_equal(field_peek(body, "status", "phase", NULL), "Running");
}

static void a_status_waits_for_bindings_for_at_most_a_second(void **state)
{
    struct fixture *x = *state;
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 200, GROUP_OF("6", ""));
    fake_answer_late(x->api, BINDING, 201, "{}");
    pod_effect(x, GANG_BIND, "p", "u", "n");
    usec_t begin = usec_now();
    status_effect(x, GANG_PLANNED, 0);
    run_until(x, fake_count(x->api, "PATCH " GROUP) == 1);
    assert_true(usec_now() - begin >= USEC_PER_SEC);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
}

/* Newer figures take the place of the older ones in the queue, with their waiting time. */
static void a_replaced_status_keeps_its_place_in_the_queue(void **state)
{
    struct fixture *x = *state;
    static const char other[] =
        "PATCH /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/h";
    struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters("h")};
    cleanup_json json_t *json =
        json_loads("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"h\",\"uid\":\"gu\","
                   "\"resourceVersion\":\"5\"}}",
                   0, NULL);
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    podgroups_set(x->groups, &ref, json);
    /* Fields that a server does not keep are not written again. */
    static const char kept[] =
        GROUP_OF("6", ",\"status\":{\"phase\":\"Running\",\"running\":2,\"conditions\":[]}");
    fake_answer(x->api, "PATCH " GROUP, 200, kept);
    fake_answer(x->api, other, 200, kept);
    fake_answer_late(x->api, BINDING, 201, "{}");
    pod_effect(x, GANG_BIND, "p", "u", "n");
    usec_t begin = usec_now();
    status_effect(x, GANG_SCHEDULED, 1);
    status_of(x, "h", GANG_SCHEDULED, 1);
    while (usec_now() - begin <
           800 * USEC_PER_MSEC) /* less than the second that statuses may wait */
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
    status_effect(x, GANG_SCHEDULED, 2);
    run_until(x, fake_count(x->api, "PATCH " GROUP) == 1);
    assert_true(usec_now() - begin < 1500 * USEC_PER_MSEC);
    run_until(x, fake_count(x->api, other) == 1);
    assert_true(fake_order(x->api, "PATCH " GROUP, 0) < fake_order(x->api, other, 0));
    cleanup_json json_t *body = body_of(x, "PATCH " GROUP, 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(body, "status"), "running")), 2);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
}

/* The write has succeeded, although its reply cannot be read. */
static void a_status_is_not_written_again_after_a_reply_that_is_too_large(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *large = xasprintf("{\"spec\":\"%*s\"}", 4 << 20, "");
    serve(x, false);
    show_group(x, GROUP_OF("5", ""));
    fake_answer(x->api, "PATCH " GROUP, 200, large);
    fake_answer(x->api, "PATCH " GROUP, 409, "{\"message\":\"the object has been modified\"}");
    fake_answer(x->api, "GET " GROUP, 200, large);
    status_effect(x, GANG_WAITING, 0);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 1);
    status_effect(x, GANG_WAITING, 0); /* a conflict, and then an object that cannot be read */
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " GROUP), 2);
    assert_int_equal(fake_count(x->api, "GET " GROUP), 1);
}

/* If many wait, one status is written at a time. A write that keeps failing does not count as that
 * one. */
static void a_status_that_keeps_failing_does_not_delay_others(void **state)
{
    struct fixture *x = *state;
    enum { FIRST = 8, CROWD = 40 }; /* this many are written at once at first */
    static const char path[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g%d";
    serve(x, false);
    for (int i = 0; i < CROWD; i++) {
        cleanup_free char *name = xasprintf("g%d", i), *at = xasprintf(path, i);
        cleanup_free char *route = xasprintf("PATCH %s", at);
        struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters(name)};
        cleanup_json json_t *json =
            json_pack("{s:{s:s, s:s, s:s, s:s}}", "metadata", "namespace", "ns", "name", name,
                      "uid", "gu", "resourceVersion", "5");
        podgroups_set(x->groups, &ref, json);
        if (i == 0) /* after all others of the first batch */
            fake_answer_late(x->api, route, 503, "{}");
        else
            fake_answer(x->api, route, 200, GROUP_OF("6", ",\"status\":{\"phase\":\"Inqueue\"}"));
        status_of(x, name, GANG_PLANNED, 0);
    }
    for (int i = 1; i < CROWD; i++) {
        if (i == FIRST) { /* the others are answered: only this one is under way */
            usec_t limit = usec_now() + 100 * USEC_PER_MSEC;
            while (usec_now() < limit)
                client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
            fake_release(x->api);
        }
        cleanup_free char *at = xasprintf(path, i), *route = xasprintf("PATCH %s", at);
        run_until(x, fake_count(x->api, route) == 1);
    }
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(a_status_is_written_to_the_subresource_if_there_is_one),
        TEST(an_unchanged_status_is_not_written),
        TEST(under_load_only_the_newest_status_is_written),
        TEST(a_status_waits_for_bindings_for_at_most_a_second),
        TEST(a_replaced_status_keeps_its_place_in_the_queue),
        TEST(a_status_that_keeps_failing_does_not_delay_others),
        TEST(a_status_is_not_written_again_after_a_reply_that_is_too_large),
        TEST(muster_remembers_its_write_until_the_watch_shows_it),
        TEST(T01_a_reply_with_an_odd_number_is_read),
        TEST(after_a_conflict_the_status_is_read_and_written_again),
        TEST(a_field_that_the_server_drops_is_not_written_again),
        TEST(a_removed_count_is_written_again),
        TEST(muster_stops_when_another_writer_keeps_changing_the_phase),
        TEST(a_phase_that_occurs_again_is_not_a_dispute_with_another_writer),
        TEST(owners_are_remembered_as_long_as_the_podgroup_exists),
        TEST(no_status_is_written_to_a_deleted_or_recreated_podgroup),
        TEST(S05_newer_figures_replace_waiting_ones_but_no_phase_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
