/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the scanner with jansson: both accept the same documents and read the same strings, in
 * valid, invalid and truncated documents.
 */
#include "base/json_scan.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_docs.h"

static bool accepts(const char *text, size_t len)
{
    struct json_scan s = json_scan_new(text, len);
    json_scan_skip(&s, NULL);
    return json_scan_end(&s);
}

/* jansson's result; *known is false where the two differ by design. */
static bool oracle(const char *text, size_t len, bool *known)
{
    json_error_t e;
    json_t *j = json_loadb(text, len, JSON_DECODE_ANY, &e);
    *known = j || (json_error_code(&e) != json_error_numeric_overflow);
    json_decref(j);
    return j != NULL;
}

static void compare(const char *text, size_t len)
{
    bool known, good = oracle(text, len, &known);
    if (known && accepts(text, len) != good)
        fail_msg("jansson %s this, and the scanner does not: %.*s", good ? "accepts" : "refuses",
                 (int)len, text);
}

static const char *const documents[] = {
    "0",
    "-0",
    "-1.5e+3",
    "1E-2",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "+1",
    "0x1",
    "1.2.3",
    "--1",
    "true",
    "false",
    "null",
    "True",
    "nul",
    "nulll",
    "truefalse",
    "",
    " ",
    " 1 ",
    "1 2",
    "\"\"",
    "\"a",
    "\"\\\"",
    "\"\\\\\"",
    "\"\\/\\b\\f\\n\\r\\t\"",
    "\"\\x\"",
    "\"\\u0041\"",
    "\"\\u00e9\\u20AC\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\u0041\"",
    "\"\\ud83dx\"",
    "\"\t\"",
    "\"\x7f\"",
    "\"\xc3\xa9\"",
    "\"\xc3\"",
    "\"\xa9\"",
    "\"\xc0\x80\"",
    "\"\xe0\x80\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xef\xbf\xbf\"",
    "\"\xf0\x9f\x98\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xf5\x80\x80\x80\"",
    "\"\xf0\x80\x80\x80\"",
    "[]",
    "[ ]",
    "[1]",
    "[1,]",
    "[,1]",
    "[,]",
    "[1 2]",
    "[1",
    "[",
    "]",
    "[1]]",
    "{}",
    "{ }",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1",
    "{\"a\"",
    "{",
    "}",
    "{\"a\":1}}",
    "{\"a\":{\"b\":[1,{\"c\":null}]}}",
    "[}",
    "{]",
    "[1}",
    "{\"a\":1]",
    "[[],[[]],{}]",
    " [ 1 , \"x\" , { \"k\" : true } ] \n",
    "\xef\xbb\xbf{}",
    "[1]\f",
    "[\v1]",
    "{\"a\":1,\"a\":2}",
    "{\"\":0}",
    "{1:2}",
    "[\"a\":1]",
    "{\"a\",1}",
};

static void scanner_agrees_with_jansson_on_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(documents); i++)
        for (size_t n = 0; n <= strlen(documents[i]); n++)
            compare(documents[i], n);
}

static void scanner_agrees_with_jansson_on_bytes_that_are_not_text(void **state)
{
    (void)state;
    for (int a = 0; a < 256; a++) {
        char string[] = {'"', (char)a, '"'}, bare[] = {'[', (char)a, ']'};
        compare(string, sizeof string);
        compare(bare, sizeof bare);
        for (int b = 0; b < 256; b++) {
            char two[] = {'"', (char)a, (char)b, '"'};
            compare(two, sizeof two);
        }
    }
}

/* ---- generated documents ---- */

static void scanner_agrees_with_jansson_on_generated_documents(void **state)
{
    (void)state;
    docs_seed(20261120);
    int good = 0, bad = 0;
    for (int i = 0; i < 40000; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        docs_put(&b, 5, NULL);
        bool known;
        for (unsigned n = docs_pick(4); n > 0; n--)
            docs_mutate(&b);
        compare(buf_str(&b), b.len);
        if (oracle(buf_str(&b), b.len, &known))
            good++;
        else
            bad++;
    }
    assert_true(good > 5000 && bad > 5000); /* the generator makes valid and invalid documents */
}

/* Walks a value with the pull functions and compares the results with jansson's tree. */
static void walk(struct json_scan *s, const json_t *j)
{
    cleanup_buf struct buf text = BUF_INIT;
    size_t n = 0;
    if (json_is_object(j)) {
        assert_true(json_scan_object(s));
        for (; json_scan_key(s, &text); n++) {
            json_t *member = json_object_getn(j, buf_str(&text), text.len);
            assert_non_null(member);
            walk(s, member);
        }
        assert_int_equal(n, json_object_size(j));
    } else if (json_is_array(j)) {
        assert_true(json_scan_array(s));
        for (; json_scan_item(s); n++)
            walk(s, json_array_get(j, n));
        assert_int_equal(n, json_array_size(j));
    } else if (json_is_string(j)) {
        assert_true(json_scan_string(s, &text));
        assert_int_equal(text.len, json_string_length(j));
        assert_memory_equal(buf_str(&text), json_string_value(j), text.len);
    } else if (json_is_integer(j)) {
        int64_t value;
        assert_true(json_scan_int(s, &value));
        assert_int_equal(value, json_integer_value(j));
    } else if (json_is_null(j)) {
        assert_true(json_scan_null(s));
    } else {
        assert_true(json_scan_skip(s, NULL));
    }
    assert_null(s->error);
}

static void scanner_reads_the_same_values_as_jansson(void **state)
{
    (void)state;
    docs_seed(7);
    int walked = 0;
    for (int i = 0; i < 5000; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        docs_put(&b, 5, NULL);
        json_t *j = json_loadb(buf_str(&b), b.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
        if (!j)
            continue; /* a duplicate key */
        struct json_scan s = json_scan_new(buf_str(&b), b.len);
        walk(&s, j);
        assert_true(json_scan_end(&s));
        json_decref(j);
        walked++;
    }
    assert_true(walked > 3000);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (int depth = 60; depth < 70; depth++) {
        cleanup_buf struct buf b = BUF_INIT;
        for (int i = 0; i < depth; i++)
            buf_puts(&b, i % 2 ? "[" : "{\"a\":");
        buf_puts(&b, "1");
        for (int i = depth - 1; i >= 0; i--)
            buf_puts(&b, i % 2 ? "]" : "}");
        assert_int_equal(accepts(buf_str(&b), b.len), depth <= JSON_SCAN_DEPTH);
    }
    cleanup_buf struct buf deep = BUF_INIT;
    for (int i = 0; i < 1000000; i++)
        buf_putc(&deep, '[');
    struct json_scan s = json_scan_new(buf_str(&deep), deep.len);
    assert_false(json_scan_skip(&s, NULL));
    assert_string_equal(s.error, "nested deeper than 64 levels");
    assert_int_equal(s.at, 64);
}

static void spans_are_exact(void **state)
{
    (void)state;
    const char *text = "[ {\"a\":[1,2]} , \"x\\\"y\" ,-1.5e3,null ]";
    static const char *const items[] = {"{\"a\":[1,2]}", "\"x\\\"y\"", "-1.5e3", "null"};
    struct json_scan s = json_scan_new(text, strlen(text));
    assert_true(json_scan_array(&s));
    for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
        struct json_span span;
        assert_true(json_scan_item(&s));
        assert_true(json_scan_skip(&s, &span));
        assert_int_equal(span.len, strlen(items[i]));
        assert_memory_equal(text + span.at, items[i], span.len);
    }
    assert_false(json_scan_item(&s));
    assert_true(json_scan_end(&s));
}

static void the_first_error_is_kept(void **state)
{
    (void)state;
    const char *text = "{\"a\": x}";
    struct json_scan s = json_scan_new(text, strlen(text));
    cleanup_buf struct buf key = BUF_INIT;
    int64_t n;
    assert_true(json_scan_object(&s));
    assert_true(json_scan_key(&s, &key));
    assert_false(json_scan_string(&s, &key));
    assert_int_equal(s.at, 6);
    const char *first = s.error;
    assert_false(json_scan_key(&s, &key));
    assert_false(json_scan_item(&s));
    assert_false(json_scan_int(&s, &n));
    assert_false(json_scan_skip(&s, NULL));
    assert_false(json_scan_end(&s));
    assert_int_equal(json_scan_peek(&s), 0);
    assert_ptr_equal(s.error, first);
    assert_int_equal(s.at, 6);
}

static void only_whole_numbers_of_64_bits_are_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } cases[] = {
        {"0", true, 0},      {"-7", true, -7},
        {"1.0", false, 0},   {"1e2", false, 0},
        {"\"1\"", false, 0}, {"9223372036854775807", true, INT64_MAX},
        {"null", false, 0},  {"9223372036854775808", false, 0},
        {"-", false, 0},     {"-9223372036854775808", true, INT64_MIN},
        {"00", false, 0},    {"10000000000000000000000000000000", false, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct json_scan s = json_scan_new(cases[i].text, strlen(cases[i].text));
        int64_t value = 0;
        bool good = json_scan_int(&s, &value) && json_scan_end(&s);
        assert_int_equal(good, cases[i].good);
        if (good)
            assert_int_equal(value, cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanner_agrees_with_jansson_on_examples),
        cmocka_unit_test(scanner_agrees_with_jansson_on_bytes_that_are_not_text),
        cmocka_unit_test(scanner_agrees_with_jansson_on_generated_documents),
        cmocka_unit_test(scanner_reads_the_same_values_as_jansson),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(spans_are_exact),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(only_whole_numbers_of_64_bits_are_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
