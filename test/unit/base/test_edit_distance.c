/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/edit_distance.h"

static void edit_distance_is_levenshtein_distance(void **state)
{
    (void)state;
    assert_int_equal(edit_distance("", ""), 0);
    assert_int_equal(edit_distance("abc", ""), 3);
    assert_int_equal(edit_distance("", "abc"), 3);
    assert_int_equal(edit_distance("kitten", "sitting"), 3);
    assert_int_equal(edit_distance("holdSeconds", "HOLDSecond"), 1);
    assert_int_equal(edit_distance("a-0", "a-1"), 1);
    assert_int_equal(edit_distance("-", "M"), 1);
}

static void very_long_words_are_not_compared(void **state)
{
    (void)state;
    char a[300];
    memset(a, 'a', sizeof a);
    a[255] = '\0';
    assert_int_equal(edit_distance(a, a), 0);
    a[255] = 'a';
    a[256] = '\0';
    assert_true(edit_distance(a, "b") == SIZE_MAX);
    assert_true(edit_distance("b", a) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_distance_is_levenshtein_distance),
        cmocka_unit_test(very_long_words_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
