/* SPDX-License-Identifier: Apache-2.0 */
/*
 * T01: after the repair, jansson reads any JSON that an API server may send, and finds in it all
 * that it would have found before. jansson itself is the reference.
 */
#include "base/json_repair.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_scan.h"
#include "json_docs.h"

static const struct {
    const char *is, *becomes;
} pieces[] = {
    /* Integers beyond 64 bits keep their value and their length. */
    {"[9223372036854775807]", "[9223372036854775807]"},
    {"[9223372036854775808]", "[92233720368547758e2]"},
    {"[-9223372036854775808]", "[-9223372036854775808]"},
    {"[-9223372036854775809]", "[-92233720368547758e2]"},
    {"[18446744073709552000,1]", "[18446744073709552e3 ,1]"},
    {"{\"x\":123456789012345678901234567890}", "{\"x\":12345678901234567e13          }"},
    /* Reals beyond a double become the largest power of ten. */
    {"[1e309]", "[1e308]"},
    {"[-1E+400 ]", "[-1e308  ]"},
    {"[1e308,1e-400,0.0e999]", "[1e308,1e-400,0.0e999]"},
    {"[1797693134862315900000000000e999999999]", "[1e308                                 ]"},
    /* Strings. */
    {"\"a\\u0000b\"", "\"a\\ufffdb\""},
    {"\"a\\\\u0000b\\\\\\u0000\"", "\"a\\\\u0000b\\\\\\ufffd\""},
    {"\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\""},
    {"\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\""},
    {"\"\\ud83dx\\ude00\"", "\"\\ufffdx\\ufffd\""},
    {"\"\xc3\xa9\xc3(\xed\xa0\x80\"", "\"\xc3\xa9?(???\""},
    {"\"a\nb\"", "\"a?b\""},
    /* A number inside a string stays as it is. */
    {"{\"18446744073709552000\":\"1e999 [[[\"}", "{\"18446744073709552000\":\"1e999 [[[\"}"},
    /* Truncated anywhere. */
    {"\"a\\u00", "\"a\\u00"},
    {"\"a\\", "\"a\\"},
    {"]]}}[1", "]]}}[1"},
    {"", ""},
};

static char *repaired(const char *text, size_t len)
{
    char *copy = xmalloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    json_repair(copy, len);
    assert_int_equal(copy[len], '\0');
    return copy;
}

static void T01_values_that_jansson_refuses_are_replaced_in_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        cleanup_free char *text = repaired(pieces[i].is, strlen(pieces[i].is));
        assert_string_equal(text, pieces[i].becomes);
    }
}

/* A number of any length, wherever a number is allowed. */
static void T01_numbers_of_any_length_are_read(void **state)
{
    (void)state;
    for (size_t n = 1; n < 1000; n++) {
        cleanup_buf struct buf b = BUF_INIT;
        buf_puts(&b, "{\"a\":[");
        for (size_t i = 0; i < n; i++)
            buf_putc(&b, '7');
        buf_puts(&b, "],\"b\":-");
        for (size_t i = 0; i < n; i++)
            buf_putc(&b, '1');
        buf_puts(&b, ".5e");
        for (size_t i = 0; i < n; i++)
            buf_putc(&b, '3');
        buf_puts(&b, "}");
        json_repair(b.data, b.len);
        json_t *json = json_loadb(b.data, b.len, 0, NULL);
        assert_non_null(json);
        assert_true(json_is_number(json_array_get(json_object_get(json, "a"), 0)));
        assert_true(json_is_real(json_object_get(json, "b")));
        json_decref(json);
    }
}

static void put_many(struct buf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_puts(b, text);
}

/* Go reads up to 10,000 levels. Values outside the deep part stay. */
static void T01_values_nested_too_deep_become_0(void **state)
{
    (void)state;
    for (size_t depth = 1; depth < 10000; depth += depth < 70 ? 1 : 2471) {
        cleanup_buf struct buf b = BUF_INIT;
        buf_puts(&b, "{\"before\":1,\"x\":");
        put_many(&b, "[{\"]\":", depth);
        buf_puts(&b, "\"end\"");
        put_many(&b, "}]", depth);
        buf_puts(&b, ",\"after\":[2]}");
        json_repair(b.data, b.len);
        json_t *json = json_loadb(b.data, b.len, 0, NULL);
        assert_non_null(json);
        assert_int_equal(json_integer_value(json_object_get(json, "before")), 1);
        assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "after"), 0)), 2);
        assert_int_equal(strstr(b.data, "end") != NULL, 2 * depth + 1 <= JSON_SCAN_DEPTH);
        struct json_scan s = json_scan_new(b.data, b.len);
        assert_true(json_scan_skip(&s, NULL));
        json_decref(json);
    }
}

static const char *const odd[] = {"18446744073709552000",
                                  "-9223372036854775809",
                                  "1e400",
                                  "-1E309",
                                  "1e-400",
                                  "\"\\u0000\"",
                                  "\"\\ud800\"",
                                  "\"\\ude00\\ud83d\"",
                                  "\"\xff\xc3\"",
                                  "\"\n\"",
                                  "{\"\\u0000\":1e999}",
                                  "{\"\\ud83d\":99999999999999999999}",
                                  "\"\\\\\\u0000\\\\\\\\\"",
                                  NULL};

static void T01_every_document_of_an_api_server_is_readable(void **state)
{
    (void)state;
    int refused = 0;
    docs_seed(1);
    for (int i = 0; i < 40000; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        docs_put(&b, 5, odd);
        json_t *before = json_loadb(b.data, b.len, JSON_DECODE_ANY, NULL);
        cleanup_free char *text = repaired(b.data, b.len);
        json_t *json = json_loadb(text, b.len, JSON_DECODE_ANY, NULL);
        struct json_scan s = json_scan_new(text, b.len);
        if (!json || !json_scan_skip(&s, NULL) || !json_scan_end(&s))
            fail_msg("jansson refuses the repaired %s, made from %s", text, buf_str(&b));
        if (before)
            assert_string_equal(text, buf_str(&b)); /* valid JSON does not change */
        refused += !before;
        json_decref(before);
        json_decref(json);
    }
    assert_true(refused > 5000);
}

static void documents_that_jansson_accepts_do_not_change(void **state)
{
    (void)state;
    docs_seed(2);
    int taken = 0;
    for (int i = 0; i < 40000; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        docs_put(&b, 5, i % 2 ? odd : NULL);
        for (unsigned n = docs_pick(4); n > 0; n--)
            docs_mutate(&b);
        json_t *before = json_loadb(buf_str(&b), b.len, JSON_DECODE_ANY, NULL);
        cleanup_free char *text = repaired(buf_str(&b), b.len);
        if (before)
            assert_string_equal(text, buf_str(&b));
        taken += before != NULL;
        json_decref(before);
    }
    assert_true(taken > 5000);
}

/* Any user may put a NUL into an annotation. kube-apiserver writes it as \\u0000. */
static void T01_a_nul_in_an_object_is_replaced(void **state)
{
    (void)state;
    char text[] = "{\"k\\u0000\":\"a\\u0000b\",\"c\":\"\\\\u0000\",\"d\":\"\\\\\\u0000\"}";
    assert_null(json_loads(text, 0, NULL));
    json_repair_nul(text, strlen(text));
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "k\xef\xbf\xbd")), "a\xef\xbf\xbd"
                                                                                     "b");
    /* An escaped backslash before "u0000" is not a NUL. */
    assert_string_equal(json_string_value(json_object_get(object, "c")), "\\u0000");
    assert_string_equal(json_string_value(json_object_get(object, "d")), "\\\xef\xbf\xbd");
    json_decref(object);
    char cut[] = "{\"a\":\"\\";
    json_repair_nul(cut, strlen(cut)); /* does not read past the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T01_values_that_jansson_refuses_are_replaced_in_place),
        cmocka_unit_test(T01_numbers_of_any_length_are_read),
        cmocka_unit_test(T01_values_nested_too_deep_become_0),
        cmocka_unit_test(T01_every_document_of_an_api_server_is_readable),
        cmocka_unit_test(T01_a_nul_in_an_object_is_replaced),
        cmocka_unit_test(documents_that_jansson_accepts_do_not_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
