/* SPDX-License-Identifier: Apache-2.0 */
/* muster repeats a Binding without a clear answer for a limited time, and then gives it up. */
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* No Binding gets a clear answer, and each read shows the pod unbound. */
static void answer_nothing_clear(struct world *w, const char *pod, const char *node, usec_t t)
{
    size_t sent = w->n_bindings, read = w->n_reads;
    for (usec_t end = w->now + t; w->now < end;) {
        world_wait(w, SECONDS(1));
        for (; sent < w->n_bindings; sent++)
            world_result(w, pod, node, OUTCOME_UNCLEAR);
        for (; read < w->n_reads; read++)
            world_read(w, pod, NULL, OUTCOME_UNBOUND);
    }
}

static struct world *one_unanswered(void)
{
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_pod(w, "p", NULL, 1);
    world_try(w, "p");
    world_result(w, "p", "a", OUTCOME_UNCLEAR);
    world_read(w, "p", NULL, OUTCOME_UNBOUND);
    assert_int_equal(world_used(w, "a", GPU), 1);
    return w;
}

static void terminate(struct world *w, const char *pod, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(pod, NULL, 1);
    f->deleting = true;
    f->node = xstrdup_null(node);
    world_pod_set(w, f);
}

/* A finalizer keeps the pod, so it does not go away. The API server answers 409 to each Binding of
 * a Terminating pod. */
static void T12_the_binding_of_a_deleted_pod_is_given_up(void **state)
{
    (void)state;
    struct world *w = one_unanswered();
    terminate(w, "p", NULL);
    size_t sent = w->n_bindings;
    answer_nothing_clear(w, "p", "a", SECONDS(60));
    assert_int_equal(world_used(w, "a", GPU), 1); /* the Binding may still arrive */
    answer_nothing_clear(w, "p", "a", SECONDS(40));
    assert_int_equal(world_used(w, "a", GPU), 0);
    assert_int_equal(w->n_bindings, sent); /* the API server would refuse another Binding */
    assert_true(gang_core_next(w->core) == USEC_NEVER);
    world_free(w);
}

/* An admission webhook always answers 5xx. */
static void T12_a_binding_that_is_never_answered_is_given_up(void **state)
{
    (void)state;
    struct world *w = one_unanswered();
    answer_nothing_clear(w, "p", "a", SECONDS(290));
    assert_int_equal(world_used(w, "a", GPU), 1);
    answer_nothing_clear(w, "p", "a", SECONDS(120));
    assert_int_equal(world_used(w, "a", GPU), 0);
    assert_true(gang_core_next(w->core) == USEC_NEVER);
    world_free(w);
}

/* muster cannot read the pod, so the pod may be bound. */
static void T12_a_pod_that_cannot_be_read_keeps_its_charge(void **state)
{
    (void)state;
    struct world *w = one_unanswered();
    size_t read = w->n_reads;
    for (int i = 0; i < 900; i++) {
        world_wait(w, SECONDS(1));
        for (; read < w->n_reads; read++)
            world_read(w, "p", NULL, OUTCOME_UNCLEAR);
    }
    assert_int_equal(world_used(w, "a", GPU), 1);
    assert_true(w->n_reads < 250); /* one every 5 s */
    world_read(w, "p", "a", OUTCOME_OK);
    assert_int_equal(world_used(w, "a", GPU), 1);
    world_free(w);
}

static void T12_a_bound_pod_is_charged_until_it_ends(void **state)
{
    (void)state;
    struct world *w = one_unanswered();
    terminate(w, "p", "a");
    world_wait(w, SECONDS(3600));
    assert_int_equal(world_used(w, "a", GPU), 1);
    world_pod_seen(w, "p", NULL, 1, "a", PHASE_FAILED);
    assert_int_equal(world_used(w, "a", GPU), 0);
    world_free(w);
}

/* The gang continues: its member is planned on another node. */
static void T12_a_commit_outlives_a_binding_that_is_never_answered(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_try_members(w, "g", 0, 2);
    assert_string_equal(world_state(w, "g"), "Committing");
    world_result(w, "g-1", "b", OUTCOME_OK);
    world_result(w, "g-0", "a", OUTCOME_UNCLEAR);
    world_read(w, "g-0", NULL, OUTCOME_UNBOUND);
    answer_nothing_clear(w, "g-0", "a", SECONDS(410));
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_int_equal(world_used(w, "a", GPU), 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T12_the_binding_of_a_deleted_pod_is_given_up),
        cmocka_unit_test(T12_a_binding_that_is_never_answered_is_given_up),
        cmocka_unit_test(T12_a_pod_that_cannot_be_read_keeps_its_charge),
        cmocka_unit_test(T12_a_bound_pod_is_charged_until_it_ends),
        cmocka_unit_test(T12_a_commit_outlives_a_binding_that_is_never_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
