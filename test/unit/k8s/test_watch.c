/* SPDX-License-Identifier: Apache-2.0 */
/* List and watch against an API server that fails in every known way. */
#include "watch_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

static void on_missing(void *arg)
{
    buf_puts(&((struct fixture *)arg)->heard, "missing ");
}

static void on_forbidden(void *arg)
{
    buf_puts(&((struct fixture *)arg)->heard, "forbidden ");
}

static void pages_are_read_as_one_list(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200,
                PAGE_OF("7", "a/b+c=", POD("a", "1", "u") "," POD("b", "2", "u")));
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("c", "3", "u")));
    start(x, (struct watch_options){.page = 2});
    run_until(x, fake_count(x->api, WATCH) == 1);
    assert_true(heard(x, "+a@1 +b@2 +c@3 synced "));
    assert_string_equal(fake_query(x->api, LIST, 0), "limit=2");
    assert_string_equal(fake_query(x->api, LIST, 1), "limit=2&continue=a/b+c=");
    assert_non_null(strstr(fake_query(x->api, WATCH, 0), "resourceVersion=7"));
    assert_non_null(strstr(fake_query(x->api, WATCH, 0), "allowWatchBookmarks=true"));
    assert_non_null(strstr(fake_query(x->api, WATCH, 0), "timeoutSeconds="));
}

static void an_expired_page_starts_the_list_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, PAGE_OF("7", "t", POD("a", "1", "u") "," POD("b", "2", "u")));
    fake_answer(x->api, LIST, 410, "{\"code\":410,\"message\":\"expired\"}");
    fake_answer(x->api, LIST, 200, LIST_OF("9", POD("b", "8", "u") "," POD("c", "3", "u")));
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 1);
    assert_string_equal(buf_str(&x->heard), "+a@1 +b@2 +b@8 +c@3 -a synced ");
    assert_string_equal(fake_query(x->api, LIST, 2), "limit=500");
}

static void events_are_reported_and_bookmarks_remembered(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    fake_stream(x->api, WATCH,
                EVENT("ADDED", POD("b", "8", "u")) EVENT("MODIFIED", POD("a", "9", "u"))
                    EVENT("DELETED", POD("b", "10", "u")) "\n" BOOKMARK("15"),
                FAKE_END);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 2);
    assert_string_equal(buf_str(&x->heard), "+a@1 synced +b@8 +a@9 -b ");
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=15"));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void after_410_the_list_is_read_again_and_differences_are_reported(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200,
                LIST_OF("7", POD("a", "1", "u") "," POD("b", "2", "u") "," POD("c", "3", "u1")));
    fake_answer(x->api, LIST, 200,
                LIST_OF("20", POD("a", "1", "u") "," POD("c", "19", "u2") "," POD("d", "18", "u")));
    fake_stream(x->api, WATCH, GONE_410, FAKE_OPEN);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 2);
    /* a did not change; c is another pod with the same name; b is gone. "synced" appears only once.
     */
    assert_string_equal(buf_str(&x->heard), "+a@1 +b@2 +c@3 synced -c +c@19 +d@18 -b ");
}

static void after_a_410_event_the_list_is_read_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    fake_answer(x->api, LIST, 200, LIST_OF("20", ""));
    fake_answer(x->api, WATCH, 410, "{\"code\":410,\"message\":\"too old\"}");
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 2);
    assert_string_equal(buf_str(&x->heard), "+a@1 synced -a ");
}

static void a_truncated_line_is_not_used(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_stream(x->api, WATCH,
                EVENT("ADDED", POD("a", "8", "u")) "{\"type\":\"ADDED\",\"object\":{\"metadata\":{",
                FAKE_CUT);
    fake_stream(x->api, WATCH, EVENT("ADDED", POD("b", "9", "u")), FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, "synced +a@8 +b@9 "));
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=8"));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void a_line_may_arrive_in_many_pieces(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 1);
    const char *line = EVENT("ADDED", POD("a", "8", "u"));
    for (const char *p = line; *p; p++) {
        char piece[2] = {*p, '\0'};
        fake_push(x->api, WATCH, piece, FAKE_OPEN);
        client_run(x->client, 2 * USEC_PER_MSEC, x->fd);
    }
    run_until(x, heard(x, "synced +a@8 "));
}

static void after_an_invalid_event_the_list_is_read_again(void **state)
{
    struct fixture *x = *state;
    static const char *const streams[] = {
        "not json\n",
        "{\"type\":\"ADDED\"}\n",
        "[]\n",
        EVENT("ADDED", "{\"metadata\":{\"name\":\"x\"}}"),
        EVENT("SOMETHING", POD("x", "8", "u")),
        EVENT("BOOKMARK", "{}"),
        EVENT("ERROR", "{\"code\":500,\"message\":\"etcd\"}"),
    };
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
        /* A valid event resets the pauses, so that the test is quick. */
        fake_stream(x->api, WATCH, BOOKMARK("7"), FAKE_OPEN);
    }
    start(x, (struct watch_options){0});
    for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
        run_until(x, fake_count(x->api, WATCH) == i + 1);
        run_for(x, 20 * USEC_PER_MSEC);
        fake_push(x->api, WATCH, streams[i], FAKE_OPEN);
        run_until(x, fake_count(x->api, LIST) == i + 2);
    }
    assert_string_equal(buf_str(&x->heard), "+a@1 synced ");
}

static void a_line_above_the_bound_is_not_stored(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    cleanup_buf struct buf line = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_puts(&line, "xxxxxxxxxxxxxxxxxxxxxxxxx");
    fake_stream(x->api, WATCH, buf_str(&line), FAKE_OPEN);
    fake_stream(x->api, WATCH, EVENT("ADDED", POD("a", "8", "u")), FAKE_OPEN);
    start(x, (struct watch_options){.max_line = 4096});
    run_until(x, heard(x, "synced +a@8 "));
    assert_int_equal(fake_count(x->api, LIST), 2);
}

static void a_page_above_the_bound_is_requested_with_fewer_objects(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf large = BUF_INIT;
    buf_puts(&large, "{\"metadata\":{\"resourceVersion\":\"7\"},\"junk\":\"");
    for (int i = 0; i < 1000; i++)
        buf_puts(&large, "xxxxxxxxxxxxxxxxxxxxxxxxx");
    buf_puts(&large, "\",\"items\":[]}");
    fake_answer(x->api, LIST, 200, buf_str(&large));
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    start(x, (struct watch_options){.max_page = 4096});
    run_until(x, heard(x, "+a@1 synced "));
    assert_string_equal(fake_query(x->api, LIST, 1), "limit=125");
}

static void an_unreadable_object_counts_as_deleted(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u") "," BAD("b", "2")));
    fake_stream(x->api, WATCH,
                EVENT("MODIFIED", BAD("a", "8")) EVENT("MODIFIED", BAD("a", "9"))
                    EVENT("DELETED", BAD("b", "10")) EVENT("MODIFIED", POD("a", "11", "u")),
                FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, "+a@1 synced -a +a@11 "));
}

static void a_silent_watch_is_restarted(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_stream(x->api, WATCH, BOOKMARK("12"), FAKE_OPEN);
    start(x, (struct watch_options){.max_silence = 100 * USEC_PER_MSEC});
    run_until(x, fake_count(x->api, WATCH) == 2);
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=12"));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void a_list_without_an_answer_is_sent_again(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, LIST, 200, LIST_OF("7", ""));
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    start(x, (struct watch_options){.page_timeout = 100 * USEC_PER_MSEC});
    run_until(x, heard(x, "+a@1 synced "));
    assert_int_equal(fake_count(x->api, LIST), 2);
    fake_release(x->api);
}

/* A server that needs longer than the first timeout gets more time with each try. */
static void a_slow_list_gets_more_time(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    start(x, (struct watch_options){.page_timeout = 300 * USEC_PER_MSEC});
    run_until(x, fake_count(x->api, LIST) == 3);
    usec_t begin = usec_now();
    run_until(x, fake_count(x->api, LIST) == 4);
    /* The third try lasts 1.2 s, and the pause after it at least 0.4 s. */
    assert_true(usec_now() - begin >= 1500 * USEC_PER_MSEC);
    fake_release(x->api);
    run_until(x, heard(x, "+a@1 synced "));
}

static void server_errors_are_retried_after_a_pause(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 503, "{\"message\":\"starting\"}");
    fake_answer(x->api, LIST, 200, "not json");
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    fake_answer(x->api, WATCH, 500, "oops");
    fake_stream(x->api, WATCH, EVENT("ADDED", POD("b", "8", "u")), FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, "+a@1 synced +b@8 "));
    assert_int_equal(fake_count(x->api, LIST), 3); /* a 500 for the watch needs no new list */
}

static void a_missing_right_is_reported_and_retried(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 403, "{\"message\":\"pods is forbidden\"}");
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    start(x, (struct watch_options){.forbidden = on_forbidden});
    run_until(x, heard(x, "forbidden synced "));
}

static void a_resource_that_is_not_served_is_reported_as_missing(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    fake_answer(x->api, LIST, 404, "404 page not found");
    fake_answer(x->api, WATCH, 404, "404 page not found");
    start(x, (struct watch_options){.missing = on_missing});
    run_until(x, heard(x, "+a@1 synced missing "));
    x->watch = watch_stop(x->watch, /* forget= */ true);
    assert_true(heard(x, "+a@1 synced missing -a "));
}

static void an_expired_token_is_renewed_at_once(void **state)
{
    struct fixture *x = *state;
    char path[] = "/tmp/muster-token-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "one", 3), 3);
    struct kubeconfig *kc = fake_kubeconfig(x->api);
    kc->token_file = xstrdup(path);
    kc->token = xstrdup("zero");
    kc->read_at = usec_now();
    struct err err;
    client_free(x->client);
    x->client = client_new(kc, "test", x->metrics, &err);
    fake_answer(x->api, LIST, 401, "{\"message\":\"Unauthorized\"}");
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    usec_t begin = usec_now();
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 1);
    assert_true(usec_now() - begin < 5 * USEC_PER_SEC);
    assert_string_equal(fake_authorization(x->api, LIST, 0), "Bearer zero");
    assert_string_equal(fake_authorization(x->api, LIST, 1), "Bearer one");
    assert_string_equal(fake_authorization(x->api, WATCH, 0), "Bearer one");
    close(fd);
    unlink(path);
}

static void on_behind(void *arg, bool behind)
{
    buf_puts(&((struct fixture *)arg)->heard, behind ? "behind " : "follows ");
}

static void a_watch_is_behind_until_its_next_request_is_answered(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", POD("a", "1", "u")));
    fake_stream(x->api, WATCH, BOOKMARK("8"), FAKE_OPEN);
    fake_answer(x->api, WATCH, 500, "oops");
    fake_stream(x->api, WATCH, EVENT("ADDED", POD("b", "9", "u")), FAKE_OPEN);
    start(x, (struct watch_options){.behind = on_behind});
    run_until(x, heard(x, "+a@1 synced behind follows "));
    fake_push(x->api, WATCH, "", FAKE_CUT);
    run_until(x, heard(x, "+a@1 synced behind follows behind "));
    assert_int_equal(fake_count(x->api, WATCH), 1);
    run_until(x, heard(x, "+a@1 synced behind follows behind +b@9 follows "));
    assert_int_equal(fake_count(x->api, WATCH), 3);
}

static void a_watch_is_behind_while_its_list_is_read_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_answer_late(x->api, LIST, 200, LIST_OF("9", POD("a", "8", "u")));
    fake_stream(x->api, WATCH, BOOKMARK("8"), FAKE_OPEN);
    fake_stream(x->api, WATCH, BOOKMARK("9"), FAKE_OPEN);
    start(x, (struct watch_options){.behind = on_behind});
    run_until(x, heard(x, "synced behind follows "));
    fake_push(x->api, WATCH, GONE_410, FAKE_OPEN);
    run_until(x, fake_count(x->api, LIST) == 2);
    run_for(x, 1200 * USEC_PER_MSEC); /* the list gets no answer */
    assert_true(heard(x, "synced behind follows behind "));
    fake_release(x->api);
    run_until(x, heard(x, "synced behind follows behind +a@8 follows "));
}

static void a_silent_watch_is_behind_until_it_reports_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_stream(x->api, WATCH, BOOKMARK("8"), FAKE_OPEN);
    start(x, (struct watch_options){.behind = on_behind, .max_pause = 1500 * USEC_PER_MSEC});
    run_until(x, heard(x, "synced behind follows behind "));
    fake_push(x->api, WATCH, BOOKMARK("9"), FAKE_OPEN);
    run_until(x, heard(x, "synced behind follows behind follows "));
    assert_int_equal(fake_count(x->api, WATCH), 1);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(pages_are_read_as_one_list),
        TEST(an_expired_page_starts_the_list_again),
        TEST(events_are_reported_and_bookmarks_remembered),
        TEST(after_410_the_list_is_read_again_and_differences_are_reported),
        TEST(after_a_410_event_the_list_is_read_again),
        TEST(a_truncated_line_is_not_used),
        TEST(a_line_may_arrive_in_many_pieces),
        TEST(after_an_invalid_event_the_list_is_read_again),
        TEST(a_line_above_the_bound_is_not_stored),
        TEST(a_page_above_the_bound_is_requested_with_fewer_objects),
        TEST(an_unreadable_object_counts_as_deleted),
        TEST(a_silent_watch_is_restarted),
        TEST(a_list_without_an_answer_is_sent_again),
        TEST(a_slow_list_gets_more_time),
        TEST(server_errors_are_retried_after_a_pause),
        TEST(a_missing_right_is_reported_and_retried),
        TEST(a_resource_that_is_not_served_is_reported_as_missing),
        TEST(an_expired_token_is_renewed_at_once),
        TEST(a_watch_is_behind_until_its_next_request_is_answered),
        TEST(a_watch_is_behind_while_its_list_is_read_again),
        TEST(a_silent_watch_is_behind_until_it_reports_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
