/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that are not preemptible fit only inside what their queue deserves: gangs of one, and gangs
 * whose PodGroup states nothing. */
#include "test/lib/world.h"
#include "test/lib/world_queues.h"

/* The queue q deserves 4 GPUs and may borrow. Pods of priority 100 are not preemptible there. */
static struct world *world_of_q(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 16);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, GPU)->deserved = 4;
    f->firm_priority = 100;
    world_queue_set(w, f);
    return w;
}

/* A pod that names q. */
static struct gang_pod_facts *pod_of_q(const char *name, const char *group, int gpus,
                                       enum gang_preemptible preemptible, int32_t priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("q")};
    f->preemptible = preemptible;
    f->priority = priority;
    return f;
}

static bool passes(struct world *w, const char *name, int gpus, enum gang_preemptible preemptible,
                   int32_t priority)
{
    world_pod_set(w, pod_of_q(name, NULL, gpus, preemptible, priority));
    return *world_filter(w, name) != '\0';
}

static int64_t firm_of(const struct world *w);

static void Q01_a_firm_pod_fits_only_inside_deserved(void **state)
{
    (void)state;
    static const struct {
        enum gang_preemptible is;
        int32_t priority;
        bool firm;
    } cases[] = {
        {PREEMPTIBLE_BY_PRIORITY, 0, false},  {PREEMPTIBLE_BY_PRIORITY, 99, false},
        {PREEMPTIBLE_BY_PRIORITY, 100, true}, {PREEMPTIBLE_YES, 100, false},
        {PREEMPTIBLE_YES, INT32_MAX, false},  {PREEMPTIBLE_NO, -5, true},
        {PREEMPTIBLE_NO, 1000, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_of_q();
        if (passes(w, "large", 5, cases[i].is, cases[i].priority) == cases[i].firm)
            fail_msg("case %zu", i);
        if (cases[i].firm)
            assert_string_equal(
                w->refusal,
                "pod default/large: 5 nvidia.com/gpu needed, but non-preemptible gangs and pods, "
                "such as this one, may use only the 4 nvidia.com/gpu that queue q deserves, and 0 "
                "of "
                "these are in use");
        assert_true(passes(w, "small", 4, cases[i].is, cases[i].priority));
        world_free(w);
    }
}

static void Q01_bound_pods_count_as_their_labels_say(void **state)
{
    (void)state;
    struct world *w = world_of_q();
    struct gang_pod_facts *f = pod_of_q("old", NULL, 3, PREEMPTIBLE_BY_PRIORITY, 0);
    f->node = xstrdup("n0");
    f->phase = PHASE_RUNNING;
    world_pod_set(w, f);
    assert_int_equal(firm_of(w), 0);
    assert_true(passes(w, "new", 2, PREEMPTIBLE_NO, 0));
    /* The label is added to the running pod. */
    f = pod_of_q("old", NULL, 3, PREEMPTIBLE_NO, 0);
    f->node = xstrdup("n0");
    f->phase = PHASE_RUNNING;
    world_pod_set(w, f);
    assert_int_equal(firm_of(w), 3);
    assert_false(passes(w, "new", 2, PREEMPTIBLE_NO, 0));
    assert_true(passes(w, "new", 2, PREEMPTIBLE_YES, 0));
    world_free(w);
}

/* The label counts if the PodGroup states nothing, such as one of a dialect without the field. */
static void Q01_members_say_whether_their_gang_is_preemptible(void **state)
{
    (void)state;
    static const struct {
        enum gang_preemptible group, members[2];
        bool firm;
    } cases[] = {
        {PREEMPTIBLE_BY_PRIORITY, {PREEMPTIBLE_BY_PRIORITY, PREEMPTIBLE_BY_PRIORITY}, false},
        {PREEMPTIBLE_BY_PRIORITY, {PREEMPTIBLE_NO, PREEMPTIBLE_NO}, true},
        {PREEMPTIBLE_BY_PRIORITY, {PREEMPTIBLE_BY_PRIORITY, PREEMPTIBLE_NO}, true},
        {PREEMPTIBLE_BY_PRIORITY, {PREEMPTIBLE_NO, PREEMPTIBLE_YES}, true},
        {PREEMPTIBLE_YES, {PREEMPTIBLE_NO, PREEMPTIBLE_NO}, false},
        {PREEMPTIBLE_NO, {PREEMPTIBLE_YES, PREEMPTIBLE_YES}, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_of_q();
        struct gang_group_facts *f = world_group_facts("g", 2);
        f->preemptible = cases[i].group;
        world_group_set(w, f);
        for (int k = 0; k < 2; k++)
            world_pod_set(w, pod_of_q(k ? "g-1" : "g-0", "g", 3, cases[i].members[k], 0));
        const char *want = cases[i].firm ? "QueueDeservedReached" : "";
        if (str_eq(world_state(w, "g"), "Planned") == cases[i].firm ||
            (cases[i].firm && !str_eq(world_reason_name(w, "g"), want)))
            fail_msg("case %zu: %s %s", i, world_state(w, "g"), world_reason_name(w, "g"));
        world_free(w);
    }
}

static void Q01_a_gang_of_high_priority_is_firm_in_any_dialect(void **state)
{
    (void)state;
    for (int32_t priority = 99; priority <= 100; priority++) {
        struct world *w = world_of_q();
        world_group(w, "g", 2);
        for (int k = 0; k < 2; k++)
            world_pod_set(w,
                          pod_of_q(k ? "g-1" : "g-0", "g", 3, PREEMPTIBLE_BY_PRIORITY, priority));
        assert_string_equal(world_state(w, "g"), priority < 100 ? "Planned" : "Waiting");
        world_free(w);
    }
}

/* As KAI's quota of -1. */
static void Q01_a_firm_pod_of_a_queue_that_deserves_all_fits(void **state)
{
    (void)state;
    struct world *w = world_of_q();
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, GPU)->deserved = GANG_UNLIMITED;
    world_queue_set(w, f);
    assert_true(passes(w, "p", 16, PREEMPTIBLE_NO, 0));
    world_free(w);
}

/* ---- what the status shows ---- */

static void pick(void *arg, const struct gang_queue_view *view)
{
    for (size_t i = 0; i < view->status.n_amounts; i++)
        if (str_eq(view->status.ref->name, "q") && str_eq(view->status.amounts[i].resource, GPU))
            *(int64_t *)arg = view->status.amounts[i].firm;
}

static int64_t firm_of(const struct world *w)
{
    int64_t firm = -1;
    gang_core_queues(w->core, 0, SIZE_MAX, pick, &firm);
    return firm;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q01_a_firm_pod_fits_only_inside_deserved),
        cmocka_unit_test(Q01_a_firm_pod_of_a_queue_that_deserves_all_fits),
        cmocka_unit_test(Q01_bound_pods_count_as_their_labels_say),
        cmocka_unit_test(Q01_members_say_whether_their_gang_is_preemptible),
        cmocka_unit_test(Q01_a_gang_of_high_priority_is_firm_in_any_dialect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
