/* SPDX-License-Identifier: Apache-2.0 */
/* muster's own scheduling gate: who keeps it, who loses it and when, and who is told why. */
#include "test/lib/world.h"

static struct world *gated_world(bool show)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.gates = true;
    config.show_gated = show;
    return world_new_with(config, true);
}

static struct gang_pod_facts *gated(const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->gated = true;
    return f;
}

/* Members group-<from> to group-<to - 1>. */
static void gated_members(struct world *w, const char *group, int from, int to)
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        world_pod_set(w, gated(name, group));
    }
}

static bool ungated(const struct world *w, const char *pod_at_node)
{
    for (size_t i = 0; i < w->n_ungated; i++)
        if (str_eq(w->ungated[i], pod_at_node))
            return true;
    return false;
}

static bool told(const struct world *w, const char *text)
{
    for (size_t i = 0; i < w->n_told; i++)
        if (str_eq(w->told[i], text))
            return true;
    return false;
}

static size_t n_gated(const struct world *w)
{
    struct gang_stats s;
    gang_core_stats(w->core, &s);
    return s.gated;
}

static uint64_t lifted(const struct world *w)
{
    struct gang_stats s;
    gang_core_stats(w->core, &s);
    return s.gates_lifted;
}

/* The watch shows that the gate is off. */
static void shown_open(struct world *w, const char *name, const char *group)
{
    world_pod(w, name, group, 1);
}

static void P07_a_gang_loses_its_gates_with_its_plan_and_not_before(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 1);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 2);
    world_wait(w, SECONDS(100));
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 1 (1 short of nvidia.com/gpu)");
    assert_int_equal(w->n_ungated, 0);
    world_node(w, "m", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_ungated, 2);
    assert_true(ungated(w, "g-0@m") || ungated(w, "g-0@n"));
    assert_true(ungated(w, "g-1@m") || ungated(w, "g-1@n"));
    assert_int_equal(w->n_nominations, 0); /* it comes with the gate */
    shown_open(w, "g-0", "g");
    shown_open(w, "g-1", "g");
    assert_int_equal(n_gated(w), 0);
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_int_equal(w->n_ungated, 2);
    world_free(w);
}

static void a_gate_is_asked_for_again_until_it_is_seen_open(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 2);
    assert_int_equal(w->n_ungated, 2);
    shown_open(w, "g-0", "g");
    world_wait(w, SECONDS(9));
    assert_int_equal(w->n_ungated, 2);
    world_wait(w, SECONDS(2));
    assert_int_equal(w->n_ungated, 3);
    assert_string_equal(w->ungated[2], "g-1@n"); /* with the nomination: who knows what got lost */
    world_wait(w, SECONDS(10));
    assert_int_equal(w->n_ungated, 3); /* the pauses grow */
    shown_open(w, "g-1", "g");
    world_wait(w, SECONDS(1000));
    assert_int_equal(w->n_ungated, 3);
    world_free(w);
}

static void a_member_that_was_nominated_by_an_earlier_muster_is_only_let_go(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.gates = true;
    struct world *w = world_new_with(config, /* synced= */ false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    struct gang_pod_facts *f = gated("g-0", "g");
    f->nominated = xstrdup("n");
    world_pod_set(w, f);
    world_pod_set(w, gated("g-1", "g"));
    assert_int_equal(w->n_ungated, 0);
    world_sync(w);
    assert_true(ungated(w, "g-0@"));
    assert_true(ungated(w, "g-1@n"));
    world_free(w);
}

static void members_are_not_let_go_for_a_plan_that_only_hopes(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.gates = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 3);
    world_group(w, "g", 3);
    world_group(w, "late", 2);
    gated_members(w, "g", 0, 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_ungated, 0);
    gated_members(w, "g", 2, 3);
    assert_int_equal(w->n_ungated, 3);
    world_forget(w);
    gated_members(w, "late", 0, 1);
    world_wait(w, SECONDS(4));
    assert_string_equal(world_reason(w, "late"), "gang default/late: 1 of 2 members exist");
    assert_int_equal(w->n_ungated, 0);
    world_free(w);
}

static void somebody_elses_gate_beside_ours_keeps_both(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    struct gang_pod_facts *f = gated("g-0", "g");
    f->gates = xcalloc(1, sizeof *f->gates);
    f->gates[f->n_gates++] = xstrdup("kueue.x-k8s.io/admission");
    world_pod_set(w, f);
    world_pod_set(w, gated("g-1", "g"));
    assert_int_equal(w->n_ungated, 0);
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 1 of 2 members are gated by kueue.x-k8s.io/admission");
    world_wait(w, SECONDS(3));
    assert_true(told(w, "g-0: gang default/g: 1 of 2 members are gated by "
                        "kueue.x-k8s.io/admission"));
    world_pod_set(w, gated("g-0", "g")); /* admitted */
    assert_int_equal(w->n_ungated, 2);
    world_free(w);
}

static void whom_muster_plans_nothing_for_is_let_go(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    static const char *const ours[] = {"default-scheduler"};
    config.gates = true;
    config.scheduler_names = ours;
    config.n_scheduler_names = 1;
    struct world *w = world_new_with(config, true);
    world_pod_set(w, gated("alone", NULL));
    assert_true(ungated(w, "alone@"));
    struct gang_pod_facts *f = gated("misnamed", NULL);
    f->bad_link = xstrdup("names two PodGroups");
    world_pod_set(w, f);
    assert_true(ungated(w, "misnamed@")); /* kube-scheduler asks, and is told why */
    f = gated("foreign", "g");
    free(f->scheduler);
    f->scheduler = xstrdup("other");
    world_pod_set(w, f);
    assert_true(ungated(w, "foreign@"));
    f = gated("leaves", "g");
    world_pod_set(w, f);
    assert_false(ungated(w, "leaves@"));
    world_pod_set(w, gated("leaves", NULL)); /* its link is taken off */
    assert_true(ungated(w, "leaves@"));
    world_free(w);
}

static void later_members_of_a_placed_gang_are_let_go(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        world_pod_seen(w, name, "g", 1, "n", PHASE_RUNNING);
    }
    assert_string_equal(world_state(w, "g"), "Scheduled");
    gated_members(w, "g", 2, 3);
    assert_true(ungated(w, "g-2@"));
    shown_open(w, "g-2", "g");
    assert_string_equal(world_filter_on(w, "g-2", "n", NULL), "n"); /* there is no reservation */
    world_free(w);
}

static void extras_without_a_place_are_let_go_when_the_gang_is_placed(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 3);
    assert_int_equal(w->n_ungated, 2);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("g-%d", i), *at = xasprintf("g-%d@n", i);
        if (ungated(w, at))
            shown_open(w, name, "g");
    }
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_int_equal(w->n_ungated, 3);
    world_free(w);
}

static void with_gates_off_everybody_is_let_go(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), /* synced= */ false);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 2);
    gated_members(w, "unknown", 0, 1);
    world_pod_set(w, gated("alone", NULL));
    struct gang_pod_facts *f = gated("awaits", NULL);
    f->awaits_group = xstrdup("its PodGroup is being created");
    world_pod_set(w, f);
    world_sync(w);
    static const char *const all[] = {"g-0@", "g-1@", "unknown-0@", "alone@", "awaits@"};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        assert_true(ungated(w, all[i]));
    assert_int_equal(w->n_ungated, ARRAY_SIZE(all));
    world_free(w);
}

static void gated_members_are_told_why_once_for_each_reason(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    gated_members(w, "g", 0, 1);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 1);
    assert_string_equal(w->told[0], "g-0: PodGroup default/g (test) does not exist");
    world_group(w, "g", 2);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 2);
    assert_string_equal(w->told[1], "g-0: gang default/g: 1 of 2 members exist");
    gated_members(w, "g", 1, 2);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 4);
    assert_true(told(w, "g-1: gang default/g: 2 members needed, room for 0 (no node passes node "
                        "selector, affinity and taints of g-0)"));
    gated_members(w, "g", 2, 3); /* one more, the reason is known */
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 5);
    world_wait(w, SECONDS(50)); /* within the attempt */
    assert_int_equal(w->n_told, 5);
    world_free(w);
}

/* Whoever writes them sees by it what has changed since. */
static void words_name_the_version_of_the_pod_that_they_are_about(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    struct gang_pod_facts *f = gated("g-0", "g");
    f->version = 4;
    world_pod_set(w, f);
    f = gated("g-0", "g");
    f->version = 6;
    world_pod_set(w, f);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 1);
    assert_int_equal(w->told_version, 6);
    world_free(w);
}

static void a_gated_pod_whose_podgroup_cannot_be_made_says_so(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    struct gang_pod_facts *f = gated("p", NULL);
    f->awaits_group = xstrdup("its PodGroup is being created");
    world_pod_set(w, f);
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_told, 0); /* that takes a moment only */
    f = gated("p", NULL);
    f->awaits_group = xstrdup("its PodGroup cannot be created: Job ml/ddp may not be read");
    world_pod_set(w, f);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 1);
    assert_string_equal(w->told[0],
                        "p: its PodGroup cannot be created: Job ml/ddp may not be read");
    f = gated("p", NULL);
    f->awaits_group = xstrdup("its PodGroup cannot be created: another reason");
    world_pod_set(w, f);
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_told, 2);
    assert_int_equal(w->n_ungated, 0);
    world_pod_set(w, gated("p", NULL)); /* it needs none */
    assert_true(ungated(w, "p@"));
    world_free(w);
}

static void an_autoscaler_sees_gangs_that_lack_room_after_a_while(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 1);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 2);
    world_group(w, "half", 2);
    gated_members(w, "half", 0, 1);
    world_wait(w, SECONDS(9));
    assert_int_equal(w->n_ungated, 0);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_ungated, 2); /* not those of a gang that lacks members */
    assert_true(ungated(w, "g-0@"));
    assert_true(ungated(w, "g-1@"));
    gated_members(w, "g", 2, 3); /* a later one too */
    assert_true(ungated(w, "g-2@"));
    world_free(w);
}

static void an_autoscaler_does_not_see_a_backlog_at_once(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 1);
    for (int g = 0; g < 30; g++) {
        cleanup_free char *group = xasprintf("g%02d", g);
        world_group(w, group, 30);
        gated_members(w, group, 0, 30);
    }
    world_wait(w, SECONDS(40));
    assert_int_equal(lifted(w), 540); /* until 512 wait in sight */
    assert_true(ungated(w, "g00-0@"));
    assert_true(ungated(w, "g17-0@"));
    assert_false(ungated(w, "g18-0@"));
    world_free(w);
}

static void nobody_binds_a_gated_pod(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 1);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 1);
    uint64_t id = world_bind(w, "g-0", "n");
    assert_string_equal(world_answer(w, id),
                        "pod default/g-0 has the scheduling gate muster.dev/plan");
    world_free(w);
}

static void gated_gang(struct world *w, const char *ns, const char *name, int members)
{
    struct gang_group_facts *g = world_group_facts(name, members);
    free(g->ref.ns);
    g->ref.ns = xstrdup(ns);
    world_group_set(w, g);
    for (int i = 0; i < members; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        struct gang_pod_facts *f = world_pod_facts(pod, name, 1);
        free(f->ns);
        free(f->group.ns);
        f->ns = xstrdup(ns);
        f->group.ns = xstrdup(ns);
        f->gated = true;
        world_pod_set(w, f);
    }
}

/* 512 pods of a namespace are in sight of the autoscaler, and never get nodes. */
static void T16_gates_are_shown_for_each_namespace(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.gates = config.show_gated = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 1);
    for (int i = 0; i < 70; i++) {
        cleanup_free char *name = xasprintf("e%d", i);
        gated_gang(w, "evil", name, 8);
    }
    world_wait(w, SECONDS(15));
    assert_int_equal(w->n_ungated, 512);
    gated_gang(w, "good", "g", 8);
    world_wait(w, SECONDS(15));
    size_t own = 0;
    for (size_t i = 0; i < w->n_ungated; i++)
        own += strncmp(w->ungated[i], "g-", 2) == 0;
    assert_true(own >= 8);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P07_a_gang_loses_its_gates_with_its_plan_and_not_before),
        cmocka_unit_test(a_gate_is_asked_for_again_until_it_is_seen_open),
        cmocka_unit_test(a_member_that_was_nominated_by_an_earlier_muster_is_only_let_go),
        cmocka_unit_test(members_are_not_let_go_for_a_plan_that_only_hopes),
        cmocka_unit_test(somebody_elses_gate_beside_ours_keeps_both),
        cmocka_unit_test(whom_muster_plans_nothing_for_is_let_go),
        cmocka_unit_test(later_members_of_a_placed_gang_are_let_go),
        cmocka_unit_test(extras_without_a_place_are_let_go_when_the_gang_is_placed),
        cmocka_unit_test(with_gates_off_everybody_is_let_go),
        cmocka_unit_test(gated_members_are_told_why_once_for_each_reason),
        cmocka_unit_test(words_name_the_version_of_the_pod_that_they_are_about),
        cmocka_unit_test(a_gated_pod_whose_podgroup_cannot_be_made_says_so),
        cmocka_unit_test(an_autoscaler_sees_gangs_that_lack_room_after_a_while),
        cmocka_unit_test(an_autoscaler_does_not_see_a_backlog_at_once),
        cmocka_unit_test(nobody_binds_a_gated_pod),
        cmocka_unit_test(T16_gates_are_shown_for_each_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
