/* SPDX-License-Identifier: Apache-2.0 */
/* muster's own scheduling gate: which pods keep it, when it is lifted, and what is written to the
 * pods. */
#include "test/lib/world_queues.h"

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

/* The members group-<from> to group-<to - 1>, with the gate. */
static void gated_members(struct world *w, const char *group, int from, int to)
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        world_pod_set(w, gated(name, group));
    }
}

static void group_in_queue(struct world *w, const char *name, const char *queue, int min)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    f->queue = xstrdup(queue);
    world_group_set(w, f);
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

/* The watch shows the pod without the gate. */
static void show_without_gate(struct world *w, const char *name, const char *group)
{
    world_pod(w, name, group, 1);
}

static void P07_gates_are_lifted_with_the_plan_and_not_before(void **state)
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
    assert_int_equal(w->n_nominations, 0); /* the write that lifts the gate also nominates */
    show_without_gate(w, "g-0", "g");
    show_without_gate(w, "g-1", "g");
    assert_int_equal(n_gated(w), 0);
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_int_equal(w->n_ungated, 2);
    world_free(w);
}

static void a_gate_is_lifted_again_until_the_watch_shows_it_lifted(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 2);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 2);
    assert_int_equal(w->n_ungated, 2);
    show_without_gate(w, "g-0", "g");
    world_wait(w, SECONDS(9));
    assert_int_equal(w->n_ungated, 2);
    world_wait(w, SECONDS(2));
    assert_int_equal(w->n_ungated, 3);
    assert_string_equal(w->ungated[2], "g-1@n"); /* with the nomination, which may be lost too */
    world_wait(w, SECONDS(10));
    assert_int_equal(w->n_ungated, 3); /* the pauses get longer */
    show_without_gate(w, "g-1", "g");
    world_wait(w, SECONDS(1000));
    assert_int_equal(w->n_ungated, 3);
    world_free(w);
}

static void a_member_nominated_before_a_restart_is_ungated_without_a_nomination(void **state)
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

static void gates_stay_while_the_plan_expects_members(void **state)
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

static void the_gate_of_another_program_keeps_musters_gate(void **state)
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
    world_pod_set(w, gated("g-0", "g")); /* Kueue admits it */
    assert_int_equal(w->n_ungated, 2);
    world_free(w);
}

static void pods_that_muster_does_not_plan_are_ungated(void **state)
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
    assert_true(ungated(w, "misnamed@")); /* filter gives the reason */
    f = gated("foreign", "g");
    free(f->scheduler);
    f->scheduler = xstrdup("other");
    world_pod_set(w, f);
    assert_true(ungated(w, "foreign@"));
    f = gated("leaves", "g");
    world_pod_set(w, f);
    assert_false(ungated(w, "leaves@"));
    world_pod_set(w, gated("leaves", NULL)); /* its link is removed */
    assert_true(ungated(w, "leaves@"));
    world_free(w);
}

static void later_members_of_a_placed_gang_are_ungated(void **state)
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
    show_without_gate(w, "g-2", "g");
    assert_string_equal(world_filter_on(w, "g-2", "n", NULL), "n"); /* no room is reserved */
    world_free(w);
}

static void extras_without_a_slot_are_ungated_when_the_gang_is_placed(void **state)
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
            show_without_gate(w, name, "g");
    }
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_int_equal(w->n_ungated, 3);
    world_free(w);
}

static void with_gates_off_every_pod_is_ungated(void **state)
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

static void each_reason_is_written_once_to_a_gated_member(void **state)
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
    assert_true(told(w, "g-1: gang default/g: 2 members needed, room for 0 (no node matches the "
                        "node selector, affinity and tolerations of g-0)"));
    gated_members(w, "g", 2, 3); /* one more member, the same reason */
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_told, 5);
    world_wait(w, SECONDS(50)); /* before the attempt ends */
    assert_int_equal(w->n_told, 5);
    world_free(w);
}

/* A write names the pod's version, so that it does not overwrite later changes. */
static void a_condition_write_names_the_version_of_its_pod(void **state)
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

static void a_gated_pod_shows_why_its_podgroup_cannot_be_created(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    struct gang_pod_facts *f = gated("p", NULL);
    f->awaits_group = xstrdup("its PodGroup is being created");
    world_pod_set(w, f);
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_told, 0); /* creating it takes only a moment */
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
    world_pod_set(w, gated("p", NULL)); /* the pod needs no PodGroup */
    assert_true(ungated(w, "p@"));
    world_free(w);
}

/* kube-scheduler does not try the pod again when only the reason changes. */
static void a_refused_pod_shows_why_its_podgroup_cannot_be_created(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 1);
    static const char *const nodes[] = {"n"}, *const texts[] = {
                                                  "its PodGroup is being created",
                                                  "its PodGroup cannot be created: another reason"};
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
        f->awaits_group = xstrdup(texts[i]);
        f->unschedulable = i > 0;
        world_pod_set(w, f);
        if (i == 0) {
            f = world_pod_facts("p", NULL, 1);
            f->awaits_group = xstrdup(texts[i]);
            struct gang_event ev = world_filter_event(w, f, nodes, 1);
            world_step(w, &ev, 1);
        }
        world_wait(w, SECONDS(3));
        assert_int_equal(w->n_told, i);
    }
    assert_string_equal(w->told[0], "p: its PodGroup cannot be created: another reason");
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_told, 1);
    world_free(w);
}

static void an_autoscaler_sees_a_gang_without_room_after_some_seconds(void **state)
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
    assert_int_equal(w->n_ungated, 2); /* but not for a gang that lacks members */
    assert_true(ungated(w, "g-0@"));
    assert_true(ungated(w, "g-1@"));
    gated_members(w, "g", 2, 3); /* a later member, too */
    assert_true(ungated(w, "g-2@"));
    world_free(w);
}

/* Members of 1, 2 and 2 GPUs, of which two are needed: at least 3 GPUs. */
static void Q01_a_queue_hides_gangs_with_unlike_members_too(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 1);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 2);
    group_in_queue(w, "g", "q", 2);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", i ? 2 : 1);
        f->gated = true;
        world_pod_set(w, f);
    }
    world_wait(w, SECONDS(20));
    assert_int_equal(w->n_ungated, 0);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 3);
    world_wait(w, SECONDS(20));
    assert_true(ungated(w, "g-0@")); /* now it lacks only nodes */
    assert_true(ungated(w, "g-2@"));
    world_free(w);
}

/* Two gangs of 6 GPUs each, in a queue with a limit of 8: an autoscaler must not add nodes for
 * both. */
static void Q01_gangs_that_are_shown_fit_into_their_queue_together(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 1);
    world_queue(w, "team", NULL, GANG_NOT_STATED, 8);
    for (int g = 0; g < 2; g++) {
        cleanup_free char *leaf = xasprintf("q%d", g), *name = xasprintf("g%d", g);
        world_queue(w, leaf, "team", GANG_NOT_STATED, GANG_UNLIMITED);
        group_in_queue(w, name, leaf, 6);
        gated_members(w, name, 0, 6);
    }
    world_wait(w, SECONDS(15));
    assert_true(ungated(w, "g0-0@"));
    assert_false(ungated(w, "g1-0@"));
    world_queue(w, "team", NULL, GANG_NOT_STATED, 12);
    world_wait(w, SECONDS(15));
    assert_true(ungated(w, "g1-0@"));
    world_free(w);
}

/* A gang without gates that its queue stops, whatever others do, hides nobody. */
static void Q01_a_gang_that_its_queue_stops_hides_no_other(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 1);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 8);
    group_in_queue(w, "large", "q", 9);
    for (int i = 0; i < 9; i++) {
        cleanup_free char *name = xasprintf("large-%d", i);
        world_pod_set(w, world_pod_facts(name, "large", 1));
    }
    group_in_queue(w, "g", "q", 6);
    gated_members(w, "g", 0, 6);
    world_wait(w, SECONDS(15));
    assert_true(ungated(w, "g-0@"));
    world_free(w);
}

/* Later members need no slot. Their gates stay while the queue has no room for them, so an
 * autoscaler adds no nodes for them. */
static void Q01_a_queue_keeps_the_gates_of_extras(void **state)
{
    (void)state;
    struct world *w = gated_world(true);
    world_node(w, "n", 2);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 2);
    group_in_queue(w, "g", "q", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        world_pod_seen(w, name, "g", 1, "n", PHASE_RUNNING);
    }
    assert_string_equal(world_state(w, "g"), "Scheduled");
    gated_members(w, "g", 2, 5);
    world_wait(w, SECONDS(20));
    assert_int_equal(w->n_ungated, 0);
    assert_true(told(w, "g-2: pod default/g-2: 1 nvidia.com/gpu needed, but queue q uses 2 of its "
                        "limit of 2 nvidia.com/gpu"));
    world_queue(w, "q", NULL, GANG_NOT_STATED, 4);
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_ungated, 2); /* without a node, for an autoscaler */
    show_without_gate(w, "g-2", "g");
    show_without_gate(w, "g-3", "g");
    world_wait(w, SECONDS(20));
    assert_int_equal(w->n_ungated, 2); /* these two wait for the same room of the queue */
    world_node(w, "m", 2);
    world_pod_seen(w, "g-2", "g", 1, "m", PHASE_RUNNING);
    world_pod_seen(w, "g-3", "g", 1, "m", PHASE_RUNNING);
    world_wait(w, SECONDS(20));
    assert_int_equal(w->n_ungated, 2);
    world_pod_gone(w, "g-0");
    world_wait(w, SECONDS(1));
    assert_true(ungated(w, "g-4@"));
    world_free(w);
}

static void an_autoscaler_sees_only_the_head_of_a_backlog(void **state)
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
    assert_int_equal(lifted(w), 540); /* until the autoscaler sees 512 waiting pods */
    assert_true(ungated(w, "g00-0@"));
    assert_true(ungated(w, "g17-0@"));
    assert_false(ungated(w, "g18-0@"));
    world_free(w);
}

static void a_gated_pod_is_not_bound(void **state)
{
    (void)state;
    struct world *w = gated_world(false);
    world_node(w, "n", 1);
    world_group(w, "g", 2);
    gated_members(w, "g", 0, 1);
    uint64_t id = world_bind(w, "g-0", "n");
    assert_string_equal(world_answer(w, id),
                        "pod default/g-0 still has the scheduling gate muster.dev/plan");
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

/* The autoscaler sees 512 pods of one namespace, and never adds nodes for them. */
static void T16_each_namespace_has_its_own_limit_of_pods_shown_to_autoscalers(void **state)
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

/* The limit of nominations at once is for members that are steered. The removal of a gate is
 * another write. */
static void gated_members_do_not_delay_the_steering_of_others(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.gates = true;
    config.steering = GANG_STEER_ALWAYS;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 48);
    gated_members(w, "a", 0, 40);
    world_members(w, "b", 0, 8, 1);
    world_group(w, "a", 40);
    world_group(w, "b", 8);
    assert_int_equal(w->n_ungated, 40);
    assert_int_equal(w->n_nominations, 8);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P07_gates_are_lifted_with_the_plan_and_not_before),
        cmocka_unit_test(a_gate_is_lifted_again_until_the_watch_shows_it_lifted),
        cmocka_unit_test(a_member_nominated_before_a_restart_is_ungated_without_a_nomination),
        cmocka_unit_test(gates_stay_while_the_plan_expects_members),
        cmocka_unit_test(the_gate_of_another_program_keeps_musters_gate),
        cmocka_unit_test(pods_that_muster_does_not_plan_are_ungated),
        cmocka_unit_test(later_members_of_a_placed_gang_are_ungated),
        cmocka_unit_test(extras_without_a_slot_are_ungated_when_the_gang_is_placed),
        cmocka_unit_test(with_gates_off_every_pod_is_ungated),
        cmocka_unit_test(each_reason_is_written_once_to_a_gated_member),
        cmocka_unit_test(a_refused_pod_shows_why_its_podgroup_cannot_be_created),
        cmocka_unit_test(a_condition_write_names_the_version_of_its_pod),
        cmocka_unit_test(a_gated_pod_shows_why_its_podgroup_cannot_be_created),
        cmocka_unit_test(an_autoscaler_sees_a_gang_without_room_after_some_seconds),
        cmocka_unit_test(Q01_a_queue_hides_gangs_with_unlike_members_too),
        cmocka_unit_test(Q01_gangs_that_are_shown_fit_into_their_queue_together),
        cmocka_unit_test(Q01_a_gang_that_its_queue_stops_hides_no_other),
        cmocka_unit_test(Q01_a_queue_keeps_the_gates_of_extras),
        cmocka_unit_test(an_autoscaler_sees_only_the_head_of_a_backlog),
        cmocka_unit_test(a_gated_pod_is_not_bound),
        cmocka_unit_test(T16_each_namespace_has_its_own_limit_of_pods_shown_to_autoscalers),
        cmocka_unit_test(gated_members_do_not_delay_the_steering_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
