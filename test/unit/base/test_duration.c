/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void durations_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        usec_t usec;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"10", 10000000},
        {"0.5", 500000},
        {"90s", 90000000},
        {"1m30s", 90000000},
        {"500ms", 500000},
        {"1.5h", 5400000000},
        {"250us", 250},
        {"2d", 172800000000},
        {"1h1m1s1ms", 3661001000},
        {"0.000001", 1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        usec_t got = -1;
        struct err err = {0};
        if (duration_parse(cases[i].text, &got, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(got, cases[i].usec);
    }
}

static void invalid_durations_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",    "s",   "-1s", "1x",  "1m30",          "1.s",
                                        ".5s", "1 s", "1s ", "1e3", "999999999999h", "37000d",
                                        "10 0"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        usec_t got = 7;
        struct err err = {0};
        if (duration_parse(cases[i], &got, &err) == 0)
            fail_msg("\"%s\" was read as %ld", cases[i], (long)got);
        assert_int_equal(err.code, ERR_INVALID);
        assert_int_equal(got, 7);
    }
}

static void durations_of_go_need_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        usec_t want; /* -1: invalid */
    } cases[] = {{"90s", 90 * USEC_PER_SEC},
                 {"1h30m", 5400 * USEC_PER_SEC},
                 {"0", 0},
                 {"0s", 0},
                 {"30", -1},
                 {"1m30", -1},
                 {"1.", -1},
                 {"-5m", -1},
                 {"", -1}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        usec_t got = -1;
        int r = duration_parse_units(cases[i].text, &got);
        if (r != (cases[i].want < 0 ? -1 : 0) || (r == 0 && got != cases[i].want))
            fail_msg("%s", cases[i].text);
    }
}

static void a_formatted_duration_parses_to_the_same_value(void **state)
{
    (void)state;
    static const struct {
        usec_t usec;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {250, "250us"},
        {4000, "4ms"},
        {30000000, "30s"},
        {2500000, "2.5s"},
        {90000000, "1m30s"},
        {3600000000, "1h"},
        {3661001000, "1h1m1.001s"},
        {1001500, "1.0015s"},
        {3605000000, "1h5s"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf b = BUF_INIT;
        duration_format(&b, cases[i].usec);
        assert_string_equal(buf_str(&b), cases[i].text);
        usec_t back = -1;
        assert_int_equal(duration_parse(buf_str(&b), &back, NULL), 0);
        assert_int_equal(back, cases[i].usec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_parsed),
        cmocka_unit_test(invalid_durations_are_refused),
        cmocka_unit_test(durations_of_go_need_units),
        cmocka_unit_test(a_formatted_duration_parses_to_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
