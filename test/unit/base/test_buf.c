/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void json_strings_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\b\t\n\v\f\r", 6, "\"\\b\\t\\n\\u000b\\f\\r\""},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11,
         "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff", 1, "\"\xef\xbf\xbd\""},
        {"a\xc3", 2, "\"a\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf b = BUF_INIT;
        buf_json(&b, cases[i].text, cases[i].len);
        assert_string_equal(buf_str(&b), cases[i].json);
    }
}

/* Compares buf_printf() with snprintf(). */
#define AS_SNPRINTF(...)                                                                           \
    do {                                                                                           \
        char want[512];                                                                            \
        cleanup_buf struct buf b = BUF_INIT;                                                       \
        buf_puts(&b, "before ");                                                                   \
        snprintf(want, sizeof want, __VA_ARGS__);                                                  \
        buf_printf(&b, __VA_ARGS__);                                                               \
        assert_string_equal(buf_str(&b) + strlen("before "), want);                                \
        assert_int_equal(b.len, strlen(buf_str(&b)));                                              \
    } while (0)

static void buf_printf_formats_like_the_c_library(void **state)
{
    (void)state;
    const char *volatile none = NULL;
    char large[200];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    AS_SNPRINTF("%s", "");
    AS_SNPRINTF("no directive");
    AS_SNPRINTF("%s/%s has %d of %" PRId64, "ml", "train", 3, INT64_C(4096));
    AS_SNPRINTF("%d %d %d %d", 0, -1, INT_MIN, INT_MAX);
    AS_SNPRINTF("%" PRId64 " %" PRId64, INT64_MIN, INT64_MAX);
    AS_SNPRINTF("%s", none);
    AS_SNPRINTF("100 %% of %d, %s", 7, "seven");
    AS_SNPRINTF("%d, then %5d %-4s| %.2f %c %zu %s %d", 1, 2, "abc", 0.5, 'z', (size_t)9, "t", -3);
    AS_SNPRINTF("%s %.*s %" PRIu64, "a", 2, "bcd", UINT64_MAX);
    AS_SNPRINTF("%d %s %u %s", 1, large, 2U, large);
}

static void a_buf_is_empty_after_its_text_is_stolen(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 2000);
    cleanup_free char *s = buf_steal(&b);
    assert_int_equal(strlen(s), 2000);
    assert_null(b.data);
    cleanup_free char *empty = buf_steal(&b);
    assert_string_equal(empty, "");
    buf_puts(&b, "x");
    buf_clear(&b);
    assert_string_equal(buf_str(&b), "");
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(buf_printf_formats_like_the_c_library),
        cmocka_unit_test(a_buf_is_empty_after_its_text_is_stolen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
