/* SPDX-License-Identifier: Apache-2.0 */
/* List and watch in protobuf: pages, and events with a length in front. */
#include "watch_fixture.h"

#include <stdio.h>

#include "base/log.h"

/* ---- messages, with the field numbers of generated.proto ---- */

static void put_varint(struct buf *b, size_t n)
{
    for (; n > 127; n >>= 7)
        buf_putc(b, (char)(n | 128));
    buf_putc(b, (char)n);
}

static void put_bytes(struct buf *b, int field, const void *data, size_t len)
{
    put_varint(b, (size_t)field << 3 | 2);
    put_varint(b, len);
    buf_append(b, data, len);
}

static void put_text(struct buf *b, int field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

/* Fields that are in no generated.proto: a number, a text, eight bytes, four bytes. */
static void put_unknown(struct buf *b)
{
    put_varint(b, 200 << 3 | 0);
    put_varint(b, 12345);
    put_text(b, 201, "from a later version");
    put_varint(b, 202 << 3 | 1);
    buf_append(b, "12345678", 8);
    put_varint(b, 203 << 3 | 5);
    buf_append(b, "1234", 4);
}

/* The envelope of every object. */
static void put_object(struct buf *b, const char *kind, const struct buf *raw, bool odd)
{
    cleanup_buf struct buf type = BUF_INIT;
    put_text(&type, 1, "v1");
    put_text(&type, 2, kind);
    buf_append(b, "k8s", 4);
    put_bytes(b, 1, type.data, type.len);
    if (odd)
        put_unknown(b);
    put_bytes(b, 2, raw->data, raw->len);
}

static void put_pod(struct buf *b, const char *name, const char *version, bool odd)
{
    cleanup_buf struct buf meta = BUF_INIT;
    if (odd)
        put_unknown(&meta);
    put_text(&meta, 1, name);
    put_text(&meta, 3, "ns");
    put_text(&meta, 5, "u");
    put_text(&meta, 6, version);
    if (odd)
        put_unknown(b);
    put_bytes(b, 1, meta.data, meta.len);
    if (odd)
        put_unknown(b);
}

/* A spec whose containers are a number, and one that ends inside a string. */
static const char *const damages[] = {"\x12\x02\x10\x01", "\x12\x03\x0a\x7f!"};

/* A pod with readable metadata. The damage is before or after the metadata. */
static void put_bad_pod(struct buf *b, const char *name, const char *version, size_t damage)
{
    if (damage % 2)
        buf_puts(b, damages[damage / 2]);
    put_pod(b, name, version, false);
    if (damage % 2 == 0)
        buf_puts(b, damages[damage / 2]);
}

/* An event with its length in front. */
static void put_frame(struct buf *b, const char *type, const char *kind, const struct buf *raw,
                      bool odd)
{
    cleanup_buf struct buf object = BUF_INIT, extension = BUF_INIT, event = BUF_INIT;
    put_object(&object, kind, raw, odd);
    put_bytes(&extension, 1, object.data, object.len);
    put_text(&event, 1, type);
    if (odd)
        put_unknown(&event);
    put_bytes(&event, 2, extension.data, extension.len);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_putc(b, (char)(event.len >> shift));
    buf_append(b, event.data, event.len);
}

static void put_event(struct buf *b, const char *type, const char *name, const char *version,
                      bool odd)
{
    cleanup_buf struct buf pod = BUF_INIT;
    put_pod(&pod, name, version, odd);
    put_frame(b, type, "Pod", &pod, odd);
}

static void put_bad_event(struct buf *b, const char *type, const char *name, const char *version,
                          size_t damage)
{
    cleanup_buf struct buf pod = BUF_INIT;
    put_bad_pod(&pod, name, version, damage);
    put_frame(b, type, "Pod", &pod, false);
}

static void put_error(struct buf *b, size_t code, const char *message)
{
    cleanup_buf struct buf status = BUF_INIT;
    put_text(&status, 2, "Failure");
    put_text(&status, 3, message);
    put_varint(&status, 6 << 3);
    put_varint(&status, code);
    put_frame(b, "ERROR", "Status", &status, false);
}

/* A page with one pod. Token "": the last page. */
static void answer_page(struct fixture *x, const char *version, const char *token, const char *name,
                        size_t padding)
{
    cleanup_buf struct buf meta = BUF_INIT, pod = BUF_INIT, list = BUF_INIT, body = BUF_INIT;
    put_text(&meta, 2, version);
    if (*token)
        put_text(&meta, 3, token);
    put_bytes(&list, 1, meta.data, meta.len);
    put_pod(&pod, name, "1", false);
    put_bytes(&list, 2, pod.data, pod.len);
    put_object(&body, "PodList", &list, false);
    for (; padding > 0; padding--) /* makes the page larger */
        buf_append(&body, "\x0a\x00", 2);
    fake_answer_bytes(x->api, LIST, body.data, body.len);
}

static void push(struct fixture *x, const struct buf *b, enum fake_then then)
{
    fake_push_bytes(x->api, WATCH, b->data, b->len, then);
}

/* Waits until the list is read and the n-th watch is open. */
static void begin(struct fixture *x, struct watch_options o)
{
    o.proto = &kube_protobuf_pod;
    start(x, o);
    run_until(x, fake_count(x->api, WATCH) == 1);
    assert_string_equal(buf_str(&x->heard), "+a@1 synced ");
    buf_clear(&x->heard);
}

/* ---- tests ---- */

static void frames_are_reported_and_bookmarks_remembered(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf b = BUF_INIT;
    answer_page(x, "7", "", "a", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    put_event(&b, "ADDED", "b", "8", false);
    put_event(&b, "MODIFIED", "a", "9", false);
    put_event(&b, "DELETED", "b", "10", false);
    put_event(&b, "BOOKMARK", "", "15", false);
    push(x, &b, FAKE_END);
    run_until(x, fake_count(x->api, WATCH) == 2);
    assert_string_equal(buf_str(&x->heard), "+b@8 +a@9 -b ");
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=15"));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void a_frame_may_be_split_at_every_byte(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf all = BUF_INIT;
    answer_page(x, "7", "", "a", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    size_t len = 2;
    for (size_t at = 1; at < len; at++) {
        cleanup_buf struct buf b = BUF_INIT;
        char version[16];
        snprintf(version, sizeof version, "%zu", 1000 + at);
        put_event(&b, "MODIFIED", "a", version, false);
        len = b.len;
        buf_printf(&all, "+a@%s ", version);
        fake_push_bytes(x->api, WATCH, b.data, at, FAKE_OPEN);
        run_for(x, 2 * USEC_PER_MSEC);
        fake_push_bytes(x->api, WATCH, b.data + at, b.len - at, FAKE_OPEN);
        run_until(x, heard(x, buf_str(&all)));
    }
    assert_true(len > 50);
    assert_int_equal(fake_count(x->api, LIST), 1);
    assert_int_equal(fake_count(x->api, WATCH), 1);
}

static void unknown_fields_of_later_versions_are_skipped(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf b = BUF_INIT;
    answer_page(x, "7", "", "a", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    put_event(&b, "ADDED", "b", "8", true);
    put_event(&b, "DELETED", "b", "9", true);
    push(x, &b, FAKE_OPEN);
    run_until(x, heard(x, "+b@8 -b "));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void an_error_frame_is_read_as_a_status(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf b = BUF_INIT;
    answer_page(x, "7", "", "a", 0);
    answer_page(x, "20", "", "c", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    put_error(&b, 410, "too old resource version");
    push(x, &b, FAKE_OPEN);
    run_until(x, fake_count(x->api, WATCH) == 2);
    /* The watch reports the difference to the new list and continues from its version. */
    assert_string_equal(buf_str(&x->heard), "+c@1 -a ");
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=20"));
}

static void after_an_invalid_frame_the_list_is_read_again(void **state)
{
    struct fixture *x = *state;
    enum { KINDS = 4 };
    answer_page(x, "7", "", "a", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){.max_line = 4096});
    for (int i = 0; i < KINDS; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        put_event(&b, "BOOKMARK", "", "7",
                  false); /* resets the pauses, so that the test is quick */
        if (i == 0)
            put_event(&b, "SOMETHING", "b", "8", false);
        else if (i == 1)
            buf_append(&b, "\0\0\0\3\x0a\x7f!", 7); /* a string that is longer than its frame */
        else if (i == 2)
            buf_append(&b, "\0\0\x20\0", 4); /* longer than the bound for an event */
        else
            put_error(&b, 500, "etcd");
        push(x, &b, FAKE_OPEN);
        run_until(x, fake_count(x->api, WATCH) == (size_t)i + 2);
        assert_int_equal(fake_count(x->api, LIST), i + 2);
    }
    assert_string_equal(buf_str(&x->heard), "");
}

static void a_server_without_protobuf_works(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, LIST, 200,
                "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"namespace\":"
                "\"ns\",\"name\":\"a\",\"resourceVersion\":\"1\",\"uid\":\"u\"}}]}");
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    fake_push(x->api, WATCH,
              "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\","
              "\"resourceVersion\":\"8\",\"uid\":\"u\"}}}\n",
              FAKE_OPEN);
    run_until(x, heard(x, "-a "));
}

/* The first page shows that the server sends protobuf, so pages get larger. If 2,000 objects do not
 * fit into a page but 500 do, pages stay at 500. Otherwise each list would start again forever. */
static void after_a_page_above_the_bound_pages_stay_small(void **state)
{
    struct fixture *x = *state;
    answer_page(x, "7", "t1", "a", 0);
    answer_page(x, "7", "", "b", 4000); /* above the bound */
    answer_page(x, "7", "t2", "a", 0);
    answer_page(x, "7", "", "c", 0);
    start(x, (struct watch_options){.proto = &kube_protobuf_pod, .max_page = 4096});
    run_until(x, fake_count(x->api, WATCH) == 1);
    assert_string_equal(buf_str(&x->heard), "+a@1 +c@1 synced ");
    assert_string_equal(fake_query(x->api, LIST, 0), "limit=500");
    assert_string_equal(fake_query(x->api, LIST, 1), "limit=2000&continue=t1");
    assert_string_equal(fake_query(x->api, LIST, 2), "limit=500");
    assert_string_equal(fake_query(x->api, LIST, 3), "limit=500&continue=t2");
}

/* ---- T01: a damaged message affects only its own object ---- */

static void T01_damaged_items_of_a_list_are_skipped(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf meta = BUF_INIT, list = BUF_INIT, body = BUF_INIT;
    put_text(&meta, 2, "7");
    put_bytes(&list, 1, meta.data, meta.len);
    for (size_t i = 0; i < 2 * ARRAY_SIZE(damages); i++) {
        cleanup_buf struct buf pod = BUF_INIT, good = BUF_INIT;
        char name[16];
        snprintf(name, sizeof name, "bad-%zu", i);
        put_bad_pod(&pod, name, "1", i);
        put_bytes(&list, 2, pod.data, pod.len);
        snprintf(name, sizeof name, "good-%zu", i);
        put_pod(&good, name, "1", false);
        put_bytes(&list, 2, good.data, good.len);
    }
    put_bytes(&list, 2, "\x0a\x05", 2); /* without a name */
    put_object(&body, "PodList", &list, false);
    fake_answer_bytes(x->api, LIST, body.data, body.len);
    FILE *file;
    int saved = capture_log(&file);
    start(x, (struct watch_options){.proto = &kube_protobuf_pod});
    run_until(x, fake_count(x->api, WATCH) == 1);
    cleanup_free char *log = end_capture(file, saved);
    assert_string_equal(buf_str(&x->heard), "+good-0@1 +good-1@1 +good-2@1 +good-3@1 synced ");
    for (size_t i = 0; i < 2 * ARRAY_SIZE(damages); i++) {
        char name[32];
        snprintf(name, sizeof name, "object=\"ns/bad-%zu\"", i);
        assert_non_null(strstr(log, name));
    }
    assert_non_null(strstr(log, "(no name)"));
}

static void T01_damaged_objects_do_not_end_a_watch(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf b = BUF_INIT, all = BUF_INIT;
    answer_page(x, "7", "", "a", 0);
    fake_stream(x->api, WATCH, "", FAKE_OPEN);
    begin(x, (struct watch_options){0});
    int version = 10;
    for (size_t i = 0; i < 2 * ARRAY_SIZE(damages); i++) {
        char text[4][16];
        for (size_t n = 0; n < ARRAY_SIZE(text); n++)
            snprintf(text[n], sizeof text[n], "%d", version++);
        put_bad_event(&b, "MODIFIED", "a", text[0], i);
        put_bad_event(&b, "ADDED", "new", text[1], i);
        put_bad_event(&b, "DELETED", "new", text[2], i);
        put_event(&b, "MODIFIED", "a", text[3], false);
        buf_printf(&all, "-a +a@%s ", text[3]);
    }
    put_event(&b, "BOOKMARK", "", "99", false);
    push(x, &b, FAKE_END);
    run_until(x, fake_count(x->api, WATCH) == 2);
    assert_string_equal(buf_str(&x->heard), buf_str(&all));
    assert_non_null(strstr(fake_query(x->api, WATCH, 1), "resourceVersion=99"));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(frames_are_reported_and_bookmarks_remembered),
        TEST(a_frame_may_be_split_at_every_byte),
        TEST(unknown_fields_of_later_versions_are_skipped),
        TEST(an_error_frame_is_read_as_a_status),
        TEST(after_an_invalid_frame_the_list_is_read_again),
        TEST(a_server_without_protobuf_works),
        TEST(after_a_page_above_the_bound_pages_stay_small),
        TEST(T01_damaged_items_of_a_list_are_skipped),
        TEST(T01_damaged_objects_do_not_end_a_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
