/* SPDX-License-Identifier: Apache-2.0 */
/* What is retried or kept for a pod ends: Bindings without an answer, pins to a node. */
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- Bindings ---- */

/* Each Binding gets no clear answer, and each read shows the pod unbound. */
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

/* A finalizer holds the pod, so its end is not the end of the retries: the API server answers 409
 * to each Binding of a pod that is being deleted. */
static void T12_the_binding_of_a_deleted_pod_is_given_up(void **state)
{
    (void)state;
    struct world *w = one_unanswered();
    terminate(w, "p", NULL);
    size_t sent = w->n_bindings;
    answer_nothing_clear(w, "p", "a", SECONDS(60));
    assert_int_equal(world_used(w, "a", GPU), 1); /* it may still arrive */
    answer_nothing_clear(w, "p", "a", SECONDS(40));
    assert_int_equal(world_used(w, "a", GPU), 0);
    assert_int_equal(w->n_bindings, sent); /* it could only be refused */
    assert_true(gang_core_next(w->core) == USEC_NEVER);
    world_free(w);
}

/* An admission webhook answers 5xx for ever. */
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

/* Of a pod that cannot be read nothing is known: it may be bound. */
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
    assert_true(w->n_reads < 250); /* each 5 s */
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

/* The gang is not held up: its member goes elsewhere. */
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

/* ---- pins ---- */

/* g-0 has a ResourceClaim, was at bind on b, and o has taken b since; a is free. */
static struct world *pinned_to_a_full_node(int bound)
{
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 1);
    world_group_timeout(w, "g", 2 + bound, SECONDS(60));
    if (bound)
        world_pod_seen(w, "g-2", "g", 0, "a", PHASE_RUNNING);
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->has_pvc = f->has_resource_claims = true;
    world_pod_set(w, f);
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    world_bind(w, "g-0", "b");
    world_pod_seen(w, "o", NULL, 1, "b", PHASE_RUNNING);
    assert_non_null(strstr(world_reason(w, "g"), "the volumes of g-0 are on node b"));
    return w;
}

static void T09_a_pin_ends_with_the_attempt(void **state)
{
    (void)state;
    struct world *w = pinned_to_a_full_node(0);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_wait(w, SECONDS(50));
    assert_int_equal(world_reserved(w, "a", GPU), 0); /* the attempt goes on */
    world_wait(w, SECONDS(20));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter(w, "g-0"), "a");
    world_free(w);
}

/* Part of it is bound: it does not back off, and its attempts end all the same. */
static void T09_a_pin_of_a_recovering_gang_ends_too(void **state)
{
    (void)state;
    struct world *w = pinned_to_a_full_node(1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    world_wait(w, SECONDS(70));
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    assert_string_equal(world_filter(w, "g-0"), "a");
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
        cmocka_unit_test(T09_a_pin_ends_with_the_attempt),
        cmocka_unit_test(T09_a_pin_of_a_recovering_gang_ends_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
