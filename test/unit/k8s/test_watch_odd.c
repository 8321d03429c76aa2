/* SPDX-License-Identifier: Apache-2.0 */
/* T01: an odd or unreadable object affects only itself. */
#include "watch_fixture.h"

#include <stdio.h>

#include "base/log.h"

/* A PodGroup with an odd value in a field that muster does not read. */
#define ODD(name, version, value)                                                                  \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"resourceVersion\":\"" version     \
    "\",\"uid\":\"u\"},\"status\":{\"x\":" value "}}"

/* Values that kube-apiserver may send and jansson refuses. */
static const char *const odd[] = {
    "18446744073709552000", "-9223372036854775809",      "1e400",
    "\"\\u0000\"",          "{\"\\ud800\":\"\\ude00\"}", "\"\xff\"",
};

static char *odd_object(size_t i, const char *name, int version)
{
    cleanup_free char *number = xasprintf("%d", version);
    cleanup_buf struct buf deep = BUF_INIT;
    const char *value = i < ARRAY_SIZE(odd) ? odd[i] : NULL;
    for (int n = 0; !value && n < 6000; n++)
        buf_putc(&deep, n < 3000 ? '[' : ']');
    return xasprintf(ODD("%s", "%s", "%s"), name, number, value ? value : buf_str(&deep));
}

/* One object of each kind, between two valid ones. */
static char *odd_items(int version, struct buf *heard)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b, POD("first", "1", "u"));
    buf_puts(heard, "+first@1 ");
    for (size_t i = 0; i <= ARRAY_SIZE(odd); i++) {
        cleanup_free char *name = xasprintf("odd-%zu", i);
        cleanup_free char *object = odd_object(i, name, version);
        buf_printf(&b, ",%s", object);
        buf_printf(heard, "+%s@%d ", name, version);
    }
    buf_puts(&b, "," POD("last", "1", "u"));
    buf_puts(heard, "+last@1 ");
    return buf_steal(&b);
}

static void T01_a_list_with_odd_values_is_read(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf all = BUF_INIT, later = BUF_INIT;
    cleanup_free char *items = odd_items(2, &all);
    cleanup_free char *first = xasprintf(PAGE_OF("7", "t", "%s"), items);
    cleanup_free char *second = xasprintf(LIST_OF("7", "%s," POD("end", "4", "u")), items);
    fake_answer(x->api, LIST, 200, first);
    fake_answer(x->api, LIST, 200, second);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 1);
    buf_puts(&all, "+end@4 synced ");
    assert_string_equal(buf_str(&x->heard), buf_str(&all));
    assert_int_equal(fake_count(x->api, LIST), 2);
}

static void T01_a_watch_with_odd_values_continues(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf all = BUF_INIT, lines = BUF_INIT;
    int version = 10;
    buf_puts(&all, "synced ");
    for (size_t i = 0; i <= ARRAY_SIZE(odd); i++) {
        static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
        for (size_t t = 0; t < ARRAY_SIZE(types); t++, version++) {
            cleanup_free char *object = odd_object(i, "a", version);
            buf_printf(&lines, EVENT("%s", "%s"), types[t], object);
            if (t < 2)
                buf_printf(&all, "+a@%d ", version);
        }
        buf_puts(&all, "-a ");
    }
    buf_puts(&lines, EVENT("ADDED", POD("b", "99", "u")));
    buf_puts(&all, "+b@99 ");
    fake_answer(x->api, LIST, 200, LIST_OF("7", ""));
    fake_stream(x->api, WATCH, buf_str(&lines), FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, buf_str(&all)));
    assert_int_equal(fake_count(x->api, LIST), 1);
    assert_int_equal(fake_count(x->api, WATCH), 1);
}

static void T01_list_items_that_are_not_objects_are_skipped(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    int saved = capture_log(&file);
    fake_answer(x->api, LIST, 200,
                PAGE_OF("7", "t",
                        "1,null,\"x\",[]," POD("a", "1", "u") ",{},{\"metadata\":[]},"
                                                              "{\"metadata\":{\"name\":7}}"));
    fake_answer(x->api, LIST, 200,
                LIST_OF("7", "{\"metadata\":{\"name\":\"no-version\"}}," POD("b", "2", "u")));
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 1);
    cleanup_free char *log = end_capture(file, saved);
    assert_string_equal(buf_str(&x->heard), "+a@1 +b@2 synced ");
    assert_non_null(strstr(log, "(no name)"));
}

/* ---- unreadable objects ---- */

static size_t count_of(const char *text, const char *piece)
{
    size_t n = 0;
    for (; (text = strstr(text, piece)) != NULL; text += strlen(piece))
        n++;
    return n;
}

static void assert_unreadable(struct fixture *x, int n)
{
    cleanup_buf struct buf out = BUF_INIT;
    cleanup_free char *line = xasprintf("muster_unreadable_objects{resource=\"pods\"} %d\n", n);
    api_metrics_print(x->metrics, &out);
    if (!strstr(buf_str(&out), line))
        fail_msg("no %s in %s", line, buf_str(&out));
}

static void T01_an_object_may_alternate_between_readable_and_unreadable(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    int saved = capture_log(&file);
    fake_answer(x->api, LIST, 200, LIST_OF("7", BAD("a", "1") "," POD("b", "2", "u")));
    fake_stream(x->api, WATCH,
                EVENT("MODIFIED", BAD("a", "8")) EVENT("MODIFIED", POD("a", "9", "u"))
                    EVENT("MODIFIED", BAD("a", "10")) EVENT("MODIFIED", BAD("b", "11"))
                        EVENT("ADDED", POD("c", "12", "u")),
                FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, "+b@2 synced +a@9 -a -b +c@12 "));
    assert_unreadable(x, 2);
    fake_push(x->api, WATCH,
              EVENT("DELETED", BAD("a", "13")) EVENT("DELETED", BAD("b", "14"))
                  EVENT("ADDED", BAD("b", "15")) EVENT("DELETED", POD("c", "16", "u")),
              FAKE_OPEN);
    run_until(x, heard(x, "+b@2 synced +a@9 -a -b +c@12 -c "));
    assert_unreadable(x, 1);
    cleanup_free char *log = end_capture(file, saved);
    /* a was unreadable twice, then valid, then unreadable again. b is another object in the end. */
    assert_int_equal(count_of(log, "object=\"ns/a\""), 2);
    assert_int_equal(count_of(log, "object=\"ns/b\""), 2);
    assert_int_equal(count_of(log, "error=\"bad object\""), 4);
    x->watch = watch_stop(x->watch, /* forget= */ false);
    assert_unreadable(x, 0);
}

/* After a second list, they are not logged again, and one that is gone is not counted. */
static void T01_unreadable_objects_are_not_logged_again_by_a_second_list(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    int saved = capture_log(&file);
    fake_answer(x->api, LIST, 200, LIST_OF("7", BAD("a", "1") "," BAD("b", "2")));
    fake_answer(x->api, LIST, 200, LIST_OF("20", BAD("a", "19") "," POD("c", "18", "u")));
    fake_stream(x->api, WATCH, GONE_410, FAKE_OPEN);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, fake_count(x->api, WATCH) == 2);
    cleanup_free char *log = end_capture(file, saved);
    assert_int_equal(count_of(log, "error=\"bad object\""), 2);
    assert_unreadable(x, 1);
}

static void T01_at_most_ten_unreadable_objects_are_logged_per_period(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    int saved = capture_log(&file);
    cleanup_buf struct buf items = BUF_INIT;
    for (int i = 0; i < 2000; i++)
        buf_printf(&items, BAD("p%d", "1") ",", i);
    cleanup_free char *list = xasprintf(LIST_OF("7", "%s" POD("good", "1", "u")), buf_str(&items));
    fake_answer(x->api, LIST, 200, list);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    start(x, (struct watch_options){.naming = 300 * USEC_PER_MSEC});
    run_until(x, heard(x, "+good@1 synced "));
    run_for(x, 400 * USEC_PER_MSEC);
    fake_push(x->api, WATCH, EVENT("ADDED", BAD("late", "8")), FAKE_OPEN);
    run_for(x, 400 * USEC_PER_MSEC);
    assert_unreadable(x, 2001);
    cleanup_free char *log = end_capture(file, saved);
    assert_int_equal(count_of(log, "error=\"bad object\""), 11);
    assert_int_equal(count_of(log, "object=\"ns/late\""), 1);
    assert_int_equal(count_of(log, "more=\"1990\" now=\"2000\""), 1);
    assert_int_equal(count_of(log, "More objects"), 1);
}

/* Half a million values in one megabyte of text. Parsed, they would take a hundred megabytes. */
static char *rich_object(const char *name, const char *version)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_printf(&b, "{\"spec\":{\"metadata\":{\"name\":\"no\"},\"x\":[{}");
    for (int i = 0; i < 500000; i++)
        buf_puts(&b, ",{}");
    buf_printf(&b,
               "]},\"metadata\":{\"labels\":{\"name\":\"no\"},\"namespace\":\"ns\",\"name\":\"%s\","
               "\"resourceVersion\":\"%s\",\"uid\":\"u\"}}",
               name, version);
    return buf_steal(&b);
}

static void an_object_of_too_many_values(struct fixture *x, const char *expected)
{
    cleanup_free char *listed = rich_object("rich", "1"), *shown = rich_object("b", "8");
    cleanup_free char *deleted = rich_object("rich", "9");
    cleanup_free char *list = xasprintf(LIST_OF("7", "%s," POD("b", "2", "u")), listed);
    cleanup_free char *lines = xasprintf(EVENT("MODIFIED", "%s") EVENT("DELETED", "%s")
                                             EVENT("MODIFIED", POD("b", "10", "u")),
                                         shown, deleted);
    FILE *file;
    int saved = capture_log(&file);
    fake_answer(x->api, LIST, 200, list);
    fake_stream(x->api, WATCH, lines, FAKE_OPEN);
    start(x, (struct watch_options){0});
    run_until(x, heard(x, expected));
    cleanup_free char *log = end_capture(file, saved);
    assert_int_equal(count_of(log, "must be at most 20000; remove fields that are not needed"), 2);
    assert_int_equal(count_of(log, "object=\"ns/rich\""), 1);
    assert_int_equal(fake_count(x->api, LIST), 1);
    assert_unreadable(x, 0);
}

static void T01_an_object_with_too_many_values_is_reported_by_name(void **state)
{
    an_object_of_too_many_values(*state, "+b@2 synced -b +b@10 ");
}

static void T01_the_readable_part_of_an_object_can_be_used(void **state)
{
    struct fixture *x = *state;
    x->takes_parts = true;
    an_object_of_too_many_values(x, "?rich@1 +b@2 synced ?b@8 -rich +b@10 ");
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(T01_a_list_with_odd_values_is_read),
        TEST(T01_a_watch_with_odd_values_continues),
        TEST(T01_list_items_that_are_not_objects_are_skipped),
        TEST(T01_an_object_may_alternate_between_readable_and_unreadable),
        TEST(T01_unreadable_objects_are_not_logged_again_by_a_second_list),
        TEST(T01_an_object_with_too_many_values_is_reported_by_name),
        TEST(T01_the_readable_part_of_an_object_can_be_used),
        TEST(T01_at_most_ten_unreadable_objects_are_logged_per_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
