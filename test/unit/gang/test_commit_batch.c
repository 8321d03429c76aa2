/* SPDX-License-Identifier: Apache-2.0 */
/* When many refused pods wait, complete gangs commit together, because each Binding wakes all of
 * them. */
#include "test/lib/world.h"

#define MSEC(n) ((usec_t)(n)*USEC_PER_MSEC)

static struct world *world_together(size_t together)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = together;
    return world_new_with(config, true);
}

/* The gang "w", which has no room: kube-scheduler called filter for each member, and filter
 * refused. */
static void refused_gang(struct world *w, int members, int gpus)
{
    world_group(w, "w", members);
    world_members(w, "w", 0, members, gpus);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("w-%d", i);
        assert_string_equal(world_filter(w, name), "");
    }
}

/* Room for four members of one GPU each, and three waiting members of two GPUs each. */
static struct world *crowd(struct world *w)
{
    world_node(w, "n", 4);
    refused_gang(w, 3, 2);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_group(w, "b", 2);
    world_members(w, "b", 0, 2, 1);
    return w;
}

static struct world *crowded_world(size_t together)
{
    return crowd(world_together(together));
}

static void P07_complete_gangs_commit_together_when_many_refused_pods_wait(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_try_members(w, "a", 0, 2);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(2));
    assert_int_equal(w->n_bindings, 0);
    world_try_members(w, "b", 0, 2);
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(1)); /* 3 refused pods: 3 ms after the first gang was complete */
    assert_int_equal(w->n_bindings, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "a"), "Scheduled");
    assert_string_equal(world_state(w, "b"), "Scheduled");
    world_free(w);
}

static void with_fewer_refused_pods_a_gang_commits_at_once(void **state)
{
    (void)state;
    static const size_t none[] = {0, 4};
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        struct world *w = crowded_world(none[i]);
        world_try_members(w, "a", 0, 2);
        assert_string_equal(world_state(w, "a"), "Committing");
        assert_int_equal(w->n_bindings, 2);
        world_free(w);
    }
}

static void deleted_refused_pods_do_not_count(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_pod_gone(w, "w-0");
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void no_gang_waits_past_the_end_of_its_attempt(void **state)
{
    (void)state;
    struct world *w = world_together(1);
    world_node(w, "n", 2);
    refused_gang(w, 9, 1);
    world_group_timeout(w, "a", 2, MSEC(20));
    world_members(w, "a", 0, 2, 1);
    world_wait(w, MSEC(12)); /* 8 ms are left; the wait would be 9 ms */
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void the_wait_ends_when_no_member_comes_to_bind(void **state)
{
    (void)state;
    struct world *w = world_together(200);
    world_node(w, "n", 2);
    refused_gang(w, 400, 1);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_try_members(w, "a", 0, 2);
    world_wait(w, MSEC(149));
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(1)); /* long before the limit of 400 ms */
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_gang_that_became_incomplete_does_not_commit_with_the_others(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_try_members(w, "b", 0, 2);
    uint64_t id = world_try(w, "a-0");
    world_try(w, "a-1");
    world_close(w, id);
    world_wait(w, MSEC(3));
    assert_true(world_binding(w, "b-0@n") && world_binding(w, "b-1@n"));
    assert_int_equal(w->n_bindings, 2);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void new_members_at_bind_delay_the_commit(void **state)
{
    (void)state;
    struct world *w = world_together(200);
    world_node(w, "n", 6);
    refused_gang(w, 400, 1);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("%c", 'a' + i);
        world_group(w, name, 2);
        world_members(w, name, 0, 2, 1);
    }
    world_try_members(w, "a", 0, 2);
    world_wait(w, MSEC(100));
    world_try_members(w, "b", 0, 2);
    world_wait(w, MSEC(100)); /* the wait ends 150 ms after the last member came */
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(50));
    assert_int_equal(w->n_bindings, 4);
    world_try_members(w, "c", 0, 2); /* no gang waits any more: a new wait begins */
    assert_int_equal(w->n_bindings, 4);
    world_free(w);
}

static void a_gang_whose_hold_is_nearly_over_does_not_wait(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_try_members(w, "a", 0, 1);
    world_wait(w, SECONDS(15)); /* the last quarter of a hold is for the Bindings */
    world_try_members(w, "a", 1, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void no_gang_waits_longer_than_a_quarter_of_a_hold(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = 3;
    config.hold = MSEC(8);
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 2);
    refused_gang(w, 20, 1);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(2));
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

/* Waiting gangs use holds. They commit when half of the holds are taken. */
static void the_wait_ends_when_half_of_the_holds_are_taken(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = 3;
    config.max_holds = 6;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 5);
    refused_gang(w, 20, 1);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_group(w, "b", 3);
    world_members(w, "b", 0, 3, 1);
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 0);
    world_try_members(w, "b", 0, 1);
    world_wait(w, 0);
    assert_int_equal(w->n_bindings, 2);
    world_try_members(w, "b", 1, 3); /* and no gang starts to wait */
    assert_int_equal(w->n_bindings, 5);
    world_free(w);
}

/* A Binding wakes only pods that filter refused. A pod that was unschedulable before muster started
 * may have another reason, so it counts only after filter has refused it. */
static void pods_refused_before_a_restart_count_once_filter_refuses_them_again(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = 1;
    struct world *w = world_new_with(config, false);
    world_node(w, "n", 4);
    struct gang_pod_facts *f = world_pod_facts("large", NULL, 9);
    f->unschedulable = true;
    world_pod_set(w, f);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_group(w, "b", 2);
    world_members(w, "b", 0, 2, 1);
    world_sync(w);
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    assert_string_equal(world_filter(w, "large"), "");
    world_try_members(w, "b", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static struct world *express_crowd(size_t together)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = together;
    config.express_lane = true;
    return crowd(world_new_with(config, true));
}

/* An express gang has one member at bind. Its call waits for the other gangs. */
static void P07_express_gangs_commit_together_too(void **state)
{
    (void)state;
    struct world *w = express_crowd(3);
    uint64_t a = world_try(w, "a-0");
    assert_string_equal(world_state(w, "a"), "Planned");
    world_wait(w, MSEC(2));
    uint64_t b = world_try(w, "b-0");
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(1));
    assert_int_equal(w->n_bindings, 4);
    world_all_bound(w);
    assert_string_equal(world_answer(w, a), "");
    assert_string_equal(world_answer(w, b), "");
    assert_string_equal(world_state(w, "b"), "Scheduled");
    world_free(w);
    w = express_crowd(4); /* fewer than 4 pods are refused */
    world_try(w, "a-0");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

/* One hold is half of all holds, so the gang does not wait. */
static void an_express_gang_does_not_wait_when_holds_are_few(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.commit_batch_threshold = 3;
    config.express_lane = true;
    config.max_holds = 2;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 4);
    refused_gang(w, 3, 2);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_try(w, "a-0");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

/* A member becomes inexact during the wait: now each member must come to bind within the hold. */
static void an_express_gang_with_an_inexact_member_does_not_commit_with_the_others(void **state)
{
    (void)state;
    struct world *w = express_crowd(3);
    uint64_t a = world_try(w, "a-0");
    struct gang_pod_facts *f = world_pod_facts("a-1", "a", 1);
    f->inexact = xstrdup("something that is not modelled");
    world_pod_set(w, f);
    world_wait(w, MSEC(200));
    assert_int_equal(w->n_bindings, 0);
    assert_null(world_answer(w, a));
    world_wait(w, test_config().hold);
    assert_int_equal(w->n_bindings, 0);
    assert_non_null(world_answer(w, a));
    assert_string_not_equal(world_answer(w, a), "");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P07_complete_gangs_commit_together_when_many_refused_pods_wait),
        cmocka_unit_test(with_fewer_refused_pods_a_gang_commits_at_once),
        cmocka_unit_test(deleted_refused_pods_do_not_count),
        cmocka_unit_test(no_gang_waits_past_the_end_of_its_attempt),
        cmocka_unit_test(the_wait_ends_when_no_member_comes_to_bind),
        cmocka_unit_test(a_gang_that_became_incomplete_does_not_commit_with_the_others),
        cmocka_unit_test(new_members_at_bind_delay_the_commit),
        cmocka_unit_test(a_gang_whose_hold_is_nearly_over_does_not_wait),
        cmocka_unit_test(no_gang_waits_longer_than_a_quarter_of_a_hold),
        cmocka_unit_test(the_wait_ends_when_half_of_the_holds_are_taken),
        cmocka_unit_test(pods_refused_before_a_restart_count_once_filter_refuses_them_again),
        cmocka_unit_test(P07_express_gangs_commit_together_too),
        cmocka_unit_test(an_express_gang_does_not_wait_when_holds_are_few),
        cmocka_unit_test(an_express_gang_with_an_inexact_member_does_not_commit_with_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
