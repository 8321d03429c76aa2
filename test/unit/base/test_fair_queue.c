/* SPDX-License-Identifier: Apache-2.0 */
/* A queue that serves its owners in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fair_queue.h"

struct job {
    struct fair_queue_item item;
    char name;
};

static struct job *job_of(struct fair_queue_item *item)
{
    return CONTAINER_OF(item, struct job, item);
}

/* Each letter of `owners` is the owner of one job. Jobs are named by their index. */
static void push_all(struct fair_queue *f, struct job *jobs, const char *owners)
{
    for (size_t i = 0; owners[i]; i++) {
        const char owner[2] = {owners[i], '\0'};
        jobs[i].name = (char)('0' + i);
        fair_queue_push(f, owner, &jobs[i].item);
    }
}

static char *served(struct fair_queue *f)
{
    struct buf order = BUF_INIT;
    for (struct fair_queue_item *item; (item = fair_queue_first(f)) != NULL;) {
        buf_putc(&order, job_of(item)->name);
        fair_queue_serve(f, item);
    }
    return buf_steal(&order);
}

static void T16_owners_are_served_in_turn(void **state)
{
    (void)state;
    struct fair_queue f;
    struct job jobs[8];
    fair_queue_init(&f, 1);
    push_all(&f, jobs, "aaaaabbc");
    assert_int_equal(f.n, 8);
    cleanup_free char *order = served(&f);
    assert_string_equal(order, "05716234");
    assert_null(fair_queue_first(&f));
    assert_null(fair_queue_oldest(&f));
    fair_queue_done(&f);
}

static void T16_a_turn_may_have_several_items(void **state)
{
    (void)state;
    struct fair_queue f;
    struct job jobs[8];
    fair_queue_init(&f, 3);
    push_all(&f, jobs, "aaaaabbc");
    cleanup_free char *order = served(&f);
    assert_string_equal(order, "01256734");
    fair_queue_done(&f);
}

static void T16_removing_or_replacing_an_item_uses_up_no_turn(void **state)
{
    (void)state;
    struct fair_queue f;
    struct job jobs[6], other = {.name = 'x'};
    fair_queue_init(&f, 1);
    push_all(&f, jobs, "aaabbc");
    fair_queue_remove(&f, &jobs[0].item);
    fair_queue_replace(&f, &jobs[1].item, &other.item);
    fair_queue_remove(&f, &jobs[5].item);
    assert_ptr_equal(fair_queue_oldest(&f), &other.item);
    assert_ptr_equal(fair_queue_next(&f, &other.item), &jobs[2].item);
    assert_ptr_equal(fair_queue_next_owner(&f, &other.item), &jobs[3].item);
    assert_int_equal(fair_queue_length(&f, "a"), 2);
    assert_int_equal(fair_queue_length(&f, "c"), 0);
    cleanup_free char *order = served(&f);
    assert_string_equal(order, "x324");
    fair_queue_done(&f);
}

static void T16_the_owner_with_the_most_items_makes_room(void **state)
{
    (void)state;
    struct fair_queue f;
    struct job jobs[7];
    fair_queue_init(&f, 1);
    assert_null(fair_queue_longest_first(&f, "a"));
    push_all(&f, jobs, "baabbca");
    assert_ptr_equal(fair_queue_longest_first(&f, "a"), &jobs[1].item);
    assert_ptr_equal(fair_queue_longest_last(&f, "b"), &jobs[4].item);
    fair_queue_remove(&f, &jobs[2].item);
    assert_ptr_equal(fair_queue_longest_first(&f, "a"), &jobs[0].item);
    assert_ptr_equal(fair_queue_longest_last(&f, "nobody"), &jobs[4].item);
    while (f.n)
        fair_queue_remove(&f, fair_queue_first(&f));
    fair_queue_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_owners_are_served_in_turn),
        cmocka_unit_test(T16_a_turn_may_have_several_items),
        cmocka_unit_test(T16_removing_or_replacing_an_item_uses_up_no_turn),
        cmocka_unit_test(T16_the_owner_with_the_most_items_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
