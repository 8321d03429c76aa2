/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that muster does not read completely: what it reports, and what it charges. */
#include <stdio.h>

#include "gang/bounds.h"
#include "test/lib/world.h"

static struct gang_pod_facts *invalid_pod(const char *name, const char *group, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->invalid = xasprintf("pod default/%s: spec.tolerations: 300 tolerations; muster takes at "
                           "most 256",
                           name);
    f->inexact = xstrdup("a field that muster cannot read completely");
    return f;
}

static const char *refusal_of(struct world *w, const char *pod)
{
    assert_string_equal(world_filter(w, pod), "");
    return w->refusal;
}

static void T04_a_gang_with_a_pod_beyond_a_bound_is_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_group(w, "g", 2);
    world_pod(w, "p0", "g", 1);
    world_pod_set(w, invalid_pod("p1", "g", 1));
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_non_null(strstr(world_reason(w, "g"), "pod default/p1: spec.tolerations"));
    assert_non_null(strstr(refusal_of(w, "p0"), "pod default/p1: spec.tolerations: 300"));
    assert_non_null(strstr(refusal_of(w, "p1"), "muster takes at most 256"));
    assert_true(world_event(w, "InvalidMember: pod default/p1: spec.tolerations: 300 tolerations; "
                               "muster takes at most 256"));
    assert_int_equal(world_reserved(w, "n0", "nvidia.com/gpu"), 0);
    world_pod_gone(w, "p1"); /* the corrected pod has a new UID */
    world_pod(w, "p2", "g", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* For a later member of a Scheduled gang, only kube-scheduler's rules count. */
static void T04_a_later_member_beyond_a_bound_is_scheduled_alone(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_group(w, "g", 1);
    world_pod_seen(w, "p0", "g", 1, "n0", PHASE_RUNNING);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_pod_set(w, invalid_pod("p1", "g", 1));
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_string_equal(world_filter(w, "p1"), "n0");
    world_free(w);
}

static struct gang_pod_facts *greedy_pod(const char *name, int resources)
{
    struct gang_pod_facts *f = invalid_pod(name, NULL, 8);
    for (int i = 0; i < resources; i++) {
        cleanup_free char *resource = xasprintf("example.com/r%d", i);
        gang_amounts_add(&f->requests, resource, 2);
    }
    return f;
}

/* Of thousands of requested resources, those that the node offers count, even if it offers them
 * later. */
static void T06_a_pod_of_thousands_of_resources_is_charged(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 8);
    struct gang_pod_facts *pod = greedy_pod("big", 5000);
    pod->node = xstrdup("n0");
    world_pod_set(w, pod);
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 8);
    assert_int_equal(world_used(w, "n0", "example.com/r7"), 0);
    struct gang_node_facts *node = world_gpu_node("n1", 8);
    gang_amounts_add(&node->allocatable, "example.com/r7", 10);
    world_node_facts(w, node);
    assert_int_equal(world_used(w, "n0", "example.com/r7"), 0);
    struct gang_node_facts *more = world_gpu_node("n0", 8);
    gang_amounts_add(&more->allocatable, "example.com/r7", 10);
    world_node_facts(w, more);
    assert_int_equal(world_used(w, "n0", "example.com/r7"), 2);
    world_node_gone(w, "n1");
    world_group(w, "g", 1);
    world_pod(w, "p0", "g", 1);
    assert_string_equal(world_filter(w, "p0"), ""); /* no GPU is free */
    world_pod_gone(w, "big");
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 0);
    assert_string_equal(world_filter(w, "p0"), "n0");
    world_free(w);
}

/* muster keeps the charge from the last time it could read the pod. */
static void T06_a_pod_that_becomes_unreadable_keeps_its_charge(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 8);
    world_pod_seen(w, "p0", NULL, 8, "n0", PHASE_RUNNING);
    struct gang_pod_facts *part = invalid_pod("p0", NULL, 0);
    part->part = true;
    world_pod_set(w, part);
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 8);
    world_pod_gone(w, "p0");
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 0);
    world_free(w);
}

static size_t pods_read_in_part(const struct world *w)
{
    struct gang_stats s;
    gang_core_stats(w->core, &s);
    return s.invalid;
}

static void T06_pods_that_are_read_only_in_part_are_counted(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 8);
    world_pod_set(w, invalid_pod("p0", NULL, 1));
    world_pod_set(w, invalid_pod("p1", NULL, 1));
    assert_int_equal(pods_read_in_part(w), 2);
    world_pod(w, "p0", NULL, 1); /* muster can read it now */
    assert_int_equal(pods_read_in_part(w), 1);
    world_pod_gone(w, "p1");
    assert_int_equal(pods_read_in_part(w), 0);
    world_free(w);
}

/* Rules that muster has not read may concern a member on this node: each member must come to bind.
 */
static void T06_a_node_with_such_a_pod_closes_the_express_lane(void **state)
{
    (void)state;
    for (int invalid = 0; invalid < 2; invalid++) {
        struct world *w = world_express();
        world_node(w, "n0", 4);
        struct gang_pod_facts *pod =
            invalid ? invalid_pod("other", NULL, 1) : world_pod_facts("other", NULL, 1);
        pod->node = xstrdup("n0");
        world_pod_set(w, pod);
        world_group(w, "g", 2);
        world_members(w, "g", 0, 2, 1);
        world_try(w, "g-0");
        assert_int_equal(w->n_bindings, invalid ? 0 : 2);
        world_free(w);
    }
}

/* docs/limits.md has a row for each bound. */
static void T04_the_limits_are_documented(void **state)
{
    (void)state;
    static char text[1 << 16];
    FILE *file = fopen("docs/limits.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < GANG_BOUND_MAX; i++) {
        const struct gang_bound_row *b = &gang_bounds[i];
        size_t thousands = b->most / 1000;
        cleanup_free char *most = thousands ? xasprintf("%zu,%03zu", thousands, b->most % 1000)
                                            : xasprintf("%zu", b->most);
        cleanup_free char *row = xasprintf("| %s | %s %s |\n", b->field, most, b->counted);
        if (!strstr(text, row))
            fail_msg("docs/limits.md has no row: %s", row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T04_a_gang_with_a_pod_beyond_a_bound_is_refused),
        cmocka_unit_test(T04_the_limits_are_documented),
        cmocka_unit_test(T04_a_later_member_beyond_a_bound_is_scheduled_alone),
        cmocka_unit_test(T06_a_pod_of_thousands_of_resources_is_charged),
        cmocka_unit_test(T06_a_pod_that_becomes_unreadable_keeps_its_charge),
        cmocka_unit_test(T06_pods_that_are_read_only_in_part_are_counted),
        cmocka_unit_test(T06_a_node_with_such_a_pod_closes_the_express_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
