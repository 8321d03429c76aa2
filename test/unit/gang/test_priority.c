/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities: those that users write into PodGroups, and those that admission gives to pods. And
 * pods of a higher priority that need the room of gangs. */
#include <string.h>

#include "gang/bounds.h"
#include "gang/cluster/lookup.h"
#include "gang/podgroup/gang_order.h"
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

static struct world *with(struct gang_config config)
{
    config.assemble = 0;
    return world_new_with(config, true);
}

/* ---- gangs of several namespaces ---- */

struct ask {
    const char *ns, *name;
    int32_t own; /* the priority of the PodGroup; 0: none */
    int32_t pods;
    usec_t created;
    int size, gpus;
};

static void set_group(struct world *w, const struct ask *ask)
{
    struct gang_group_facts *f = world_group_facts(ask->name, ask->size);
    free(f->ref.ns);
    f->ref.ns = xstrdup(ask->ns);
    f->has_priority = ask->own != 0;
    f->priority = ask->own;
    f->created = ask->created;
    f->schedule_timeout = SECONDS(100000);
    world_group_set(w, f);
}

static struct gang_pod_facts *member(const struct ask *ask, int i)
{
    cleanup_free char *name = xasprintf("%s-%d", ask->name, i);
    struct gang_pod_facts *f = world_pod_facts(name, ask->name, ask->gpus);
    free(f->ns);
    free(f->group.ns);
    f->ns = xstrdup(ask->ns);
    f->group.ns = xstrdup(ask->ns);
    f->priority = ask->pods;
    return f;
}

static void gang(struct world *w, struct ask ask)
{
    set_group(w, &ask);
    for (int i = 0; i < ask.size; i++)
        world_pod_set(w, member(&ask, i));
}

static void T07_the_priority_of_its_pods_caps_a_podgroups_priority(void **state)
{
    (void)state;
    for (int trusted = 0; trusted < 2; trusted++) {
        struct gang_config config = test_config();
        config.trust_group_priority = trusted;
        struct world *w = with(config);
        gang(w, (struct ask){"a", "loud", .own = INT32_MAX, .created = 2, .size = 2, .gpus = 1});
        gang(w, (struct ask){"b", "old", .created = 1, .size = 2, .gpus = 1});
        world_node(w, "n", 2);
        assert_string_equal(world_state(w, "old"), trusted ? "Waiting" : "Planned");
        assert_string_equal(world_state(w, "loud"), trusted ? "Planned" : "Waiting");
        world_free(w);
    }
}

static void T07_the_priority_of_its_pods_caps_a_podgroups_priority_class(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_class(w, "system-node-critical", 2000001000);
    struct ask loud = {"a", "loud", .created = 2, .size = 2, .gpus = 1};
    gang(w, loud);
    struct gang_group_facts *f = world_group_facts("loud", 2);
    free(f->ref.ns);
    f->ref.ns = xstrdup("a");
    f->created = 2;
    f->priority_class = xstrdup("system-node-critical");
    world_group_set(w, f);
    gang(w, (struct ask){"b", "old", .created = 1, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "old"), "Planned");
    assert_string_equal(world_state(w, "loud"), "Waiting");
    world_free(w);
}

/* A single pod of a high priority does not raise the priority of its gang. */
static void T07_the_lowest_priority_of_the_members_is_the_cap(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct ask loud = {"a", "loud", .own = 1000, .created = 2, .size = 2, .gpus = 1};
    gang(w, loud);
    loud.pods = 1000;
    world_pod_set(w, member(&loud, 0));
    gang(w, (struct ask){"b", "old", .created = 1, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "old"), "Planned");
    world_free(w);

    w = world_new();
    gang(w, loud); /* both pods have 1000 */
    gang(w, (struct ask){"b", "old", .created = 1, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "loud"), "Planned");
    world_free(w);
}

/* A PodGroup may have a lower priority than its pods. */
static void T07_a_lower_priority_of_a_podgroup_counts_everywhere(void **state)
{
    (void)state;
    struct world *w = world_new();
    gang(w,
         (struct ask){"a", "modest", .own = -5, .pods = 1000, .created = 1, .size = 2, .gpus = 1});
    gang(w, (struct ask){"b", "young", .created = 2, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "young"), "Planned");
    world_free(w);
}

static void T07_inside_a_namespace_the_priority_of_podgroups_decides(void **state)
{
    (void)state;
    struct world *w = world_new();
    gang(w, (struct ask){"a", "train", .own = 50, .created = 1, .size = 2, .gpus = 1});
    gang(w, (struct ask){"a", "serve", .own = 100, .created = 2, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "serve"), "Planned");
    assert_string_equal(world_state(w, "train"), "Waiting");
    world_free(w);
}

/* A new gang does not inherit the position of an old gang of its namespace. */
static void T07_a_new_gang_does_not_inherit_the_place_of_an_old_one(void **state)
{
    (void)state;
    struct world *w = world_new();
    gang(w, (struct ask){"a", "banked", .own = 1, .created = 1, .size = 2, .gpus = 9});
    gang(w, (struct ask){"b", "fair", .created = 2, .size = 2, .gpus = 1});
    gang(w, (struct ask){"a", "new", .own = 2, .created = 3, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "fair"), "Planned");
    assert_string_equal(world_state(w, "new"), "Waiting");
    world_free(w);
}

/* ---- properties of the order ---- */

static uint64_t dice(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

static struct world *many_gangs(uint64_t *seed, size_t n)
{
    static const char *const rule_labels[] = {"a", "b", "c"};
    struct gang_config config = test_config();
    config.trust_group_priority = dice(seed, 8) == 0;
    config.starvation = SECONDS(50);
    struct world *w = with(config);
    world_node(w, "n", 1);
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("g%zu", i);
        gang(w, (struct ask){rule_labels[dice(seed, 3)], name, .own = (int32_t)dice(seed, 4) - 1,
                             .pods = (int32_t)dice(seed, 2), .created = (usec_t)dice(seed, 5),
                             .size = 1, .gpus = 2});
        if (dice(seed, 3) == 0)
            world_wait(w, SECONDS(1 + dice(seed, 30)));
    }
    return w;
}

static bool is_before(const struct gang *g, const struct gang *h)
{
    return by_order(&g, &h) < 0;
}

/* Checks all triples of gangs. */
static void check_triples(const struct world *w)
{
    list_for_each (a, &w->core->gangs, struct gang, in_core)
        list_for_each (b, &w->core->gangs, struct gang, in_core) {
            assert_int_equal(is_before(a, b) + is_before(b, a), a != b);
            list_for_each (c, &w->core->gangs, struct gang, in_core)
                if (is_before(a, b) && is_before(b, c))
                    assert_true(is_before(a, c));
        }
}

static void check_namespaces(const struct world *w)
{
    list_for_each (a, &w->core->gangs, struct gang, in_core)
        list_for_each (b, &w->core->gangs, struct gang, in_core)
            if (a->order.queue && a->order.queue == b->order.queue &&
                a->own_priority > b->own_priority)
                assert_true(is_before(a, b));
}

static void T07_the_order_is_strict_and_total(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t s = seed;
        struct world *w = many_gangs(&s, 12);
        check_triples(w);
        check_namespaces(w);
        world_free(w);
    }
}

/* Gangs change between two planning passes, and the order is not computed again. */
static void T07_the_order_stays_strict_and_total_while_gangs_change(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t s = seed;
        struct world *w = many_gangs(&s, 10);
        list_for_each (g, &w->core->gangs, struct gang, in_core)
            if (dice(&s, 2))
                g->own_priority = g->priority = (int32_t)dice(&s, 3);
        check_triples(w);
        world_free(w);
    }
}

/* ---- pods of a higher priority, and the slots of gangs ---- */

static void single(struct world *w, const char *name, int gpus, int priority)
{
    world_pod_shaped(w, name, NULL, gpus, 1000, priority);
}

/* A gang of two pods with priority 0 has reserved both GPUs of a node. */
static struct world *planned(int own)
{
    struct world *w = world_new();
    world_node(w, "n", 2);
    gang(w, (struct ask){"default", "g", .own = own, .size = 2, .gpus = 1});
    assert_string_equal(world_state(w, "g"), "Planned");
    return w;
}

static void T07_filter_does_not_refuse_a_pod_because_of_slots_of_a_lower_priority(void **state)
{
    (void)state;
    struct world *w = planned(INT32_MAX);
    single(w, "same", 1, 0);
    assert_string_equal(world_filter(w, "same"), "");
    assert_string_equal(w->refusal, "reserved for gang default/g");
    single(w, "above", 1, 1);
    assert_string_equal(world_filter(w, "above"), "n");
    assert_int_equal(world_reserved(w, "n", GPU), 2); /* slots move only when the pod is at bind */
    world_bind(w, "above", "n");
    assert_true(world_binding(w, "above@n"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_int_equal(world_reserved(w, "n", GPU), 0);
    world_free(w);
}

static void T07_slots_move_to_another_node_for_a_pod_of_a_higher_priority(void **state)
{
    (void)state;
    struct world *w = planned(0);
    world_node(w, "other", 2);
    single(w, "above", 2, 1);
    assert_string_equal(world_filter(w, "above"),
                        "other"); /* as long as there is unreserved room */
    assert_string_equal(world_filter_on(w, "above", "n", NULL), "n");
    world_bind(w, "above", "n");
    assert_true(world_binding(w, "above@n"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "other", GPU), 2);
    world_free(w);
}

/* Only slots that are in the way move, and those of a higher priority last. */
static void T07_only_slots_that_are_in_the_way_move(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node_small(w, "n", 2, 4000);
    gang(w, (struct ask){"default", "gpus", .size = 2, .gpus = 1});
    gang(w, (struct ask){"default", "cpus", .size = 1});
    struct gang_pod_facts *f = world_pod_facts("above", NULL, 1);
    f->requests.items[0].amount = 100;
    f->priority = 1;
    world_pod_set(w, f);
    assert_string_equal(world_filter(w, "above"), "n");
    world_bind(w, "above", "n");
    assert_string_equal(world_state(w, "gpus"), "Waiting");
    assert_string_equal(world_state(w, "cpus"), "Planned");
    world_free(w);
}

static void T07_a_member_at_bind_keeps_its_slot(void **state)
{
    (void)state;
    struct world *w = planned(0);
    uint64_t held = world_try(w, "g-0");
    assert_null(world_answer(w, held));
    single(w, "above", 2, 1);
    assert_string_equal(world_filter(w, "above"), "");
    single(w, "small", 1, 1);
    assert_string_equal(world_filter(w, "small"), "n"); /* the room of the other slot */
    world_wait(w, SECONDS(21));                         /* longer than a hold */
    assert_string_not_equal(world_answer(w, held), "");
    assert_string_equal(world_filter(w, "above"), "n");
    world_free(w);
}

static void T07_the_earmark_does_not_block_a_higher_priority(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_pod_seen(w, "old", NULL, 2, "n", PHASE_RUNNING);
    struct ask big = {"default", "big", .own = INT32_MAX, .size = 1, .gpus = 4};
    gang(w, big);
    world_wait(w, SECONDS(301));
    single(w, "same", 2, 0);
    assert_string_equal(world_filter(w, "same"), "");
    single(w, "system", 2, 2000001000);
    assert_string_equal(world_filter(w, "system"), "n");
    world_free(w);
}

/* A later member of a Scheduled gang has its own priority. */
static void T07_later_members_of_a_higher_priority_displace_slots_too(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 3);
    struct ask first = {"default", "first", .pods = 5, .size = 1, .gpus = 1};
    gang(w, first);
    world_try(w, "first-0");
    world_all_bound(w);
    gang(w, (struct ask){"default", "g", .size = 2, .gpus = 1});
    world_pod_set(w, member(&first, 1));
    assert_string_equal(world_filter(w, "first-1"), "n");
    world_bind(w, "first-1", "n");
    assert_true(world_binding(w, "first-1@n"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

static void T07_a_preemption_may_use_a_node_whose_slots_can_move(void **state)
{
    (void)state;
    struct world *w = planned(0);
    const char *const names[] = {"n"};
    for (int priority = 0; priority < 2; priority++) {
        struct gang_pod_facts *f = world_pod_facts("p", NULL, 2);
        f->priority = priority;
        struct gang_event ev = {.kind = GANG_EV_PREEMPT,
                                .id = 70 + (uint64_t)priority,
                                .pod = f,
                                .names = names,
                                .n_names = 1};
        world_step(w, &ev, 1);
        assert_string_equal(w->kept, priority ? "n" : "");
    }
    world_free(w);
}

/* ---- nominated room ---- */

static struct gang_pod_facts *nominated(const char *name, int gpus, int priority, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, gpus);
    f->priority = priority;
    f->nominated = xstrdup_null(node);
    return f;
}

/* A node full of victims. A gang waits for the room, and a pod is nominated there. */
static struct world *victims(int gang_priority, int pod_priority)
{
    struct world *w = world_new();
    world_node(w, "n", 2);
    world_pod_seen(w, "v0", NULL, 1, "n", PHASE_RUNNING);
    world_pod_seen(w, "v1", NULL, 1, "n", PHASE_RUNNING);
    gang(w, (struct ask){"default", "g", .pods = gang_priority, .size = 1, .gpus = 1});
    world_pod_set(w, nominated("p", 2, pod_priority, NULL));
    world_pod_set(w, nominated("p", 2, pod_priority, "n"));
    return w;
}

static void T02_no_gang_is_planned_into_room_that_a_preemption_freed(void **state)
{
    (void)state;
    for (int priority = 0; priority <= 1000;
         priority += 1000) { /* equal to the gang's, and above */
        struct world *w = victims(0, priority);
        world_pod_gone(w, "v0");
        world_pod_gone(w, "v1");
        assert_string_equal(world_state(w, "g"), "Waiting");
        assert_string_equal(world_reason(w, "g"),
                            "gang default/g: 1 member needed, room for 0 (1 short of "
                            "nvidia.com/gpu; kube-scheduler keeps some room for pods that it has "
                            "nominated)");
        assert_string_equal(world_filter_on(w, "p", "n", "n"), "n");
        world_bind(w, "p", "n");
        assert_true(world_binding(w, "p@n"));
        world_free(w);
    }
}

static void T02_a_gang_of_a_higher_priority_may_use_nominated_room(void **state)
{
    (void)state;
    struct world *w = victims(7, 5);
    world_pod_gone(w, "v0");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Victims are charged as long as they exist. Room beyond the nominated room is free. */
static void T02_nominated_room_counts_in_addition_to_the_victims(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 3);
    world_pod_seen(w, "v", NULL, 2, "n", PHASE_RUNNING);
    world_pod_set(w, nominated("p", 2, 5, "n"));
    gang(w, (struct ask){"default", "g", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "g"), "Waiting"); /* 1 is free, 2 are nominated room */
    world_pod_gone(w, "v");
    assert_string_equal(world_state(w, "g"), "Planned"); /* 3 are free */
    world_free(w);
}

static void T02_nominated_room_ends_with_the_nomination(void **state)
{
    (void)state;
    enum { CLEARED, GONE, DELETED, BOUND_ELSEWHERE, MOVED, ENDS };
    for (int end = 0; end < ENDS; end++) {
        struct world *w = victims(0, 5);
        world_node(w, "other", 0);
        world_pod_gone(w, "v0");
        assert_string_equal(world_state(w, "g"), "Waiting");
        struct gang_pod_facts *f = nominated("p", 2, 5, end == DELETED ? "n" : NULL);
        f->deleting = end == DELETED;
        if (end == BOUND_ELSEWHERE)
            f->node = xstrdup("other");
        if (end == MOVED)
            f->nominated = xstrdup("other");
        if (end == GONE) {
            gang_pod_facts_free(f);
            world_pod_gone(w, "p");
        } else {
            world_pod_set(w, f);
        }
        assert_string_equal(world_state(w, "g"), "Planned");
        world_free(w);
    }
}

/* muster saw the end of the victims before the nomination. A gang has a plan there, which must
 * move. */
static void T02_filter_passes_the_nominated_node_despite_slots_of_a_lower_priority(void **state)
{
    (void)state;
    struct world *w = planned(0);
    world_node(w, "other", 1);
    world_pod_set(w, nominated("p", 1, 5, "n"));
    assert_string_equal(world_filter_on(w, "p", "n", "n"), "n");
    assert_string_equal(world_filter_on(w, "p", "n other", "n"), "n other");
    world_bind(w, "p", "n");
    assert_true(world_binding(w, "p@n"));
    world_free(w);
}

static void T02_a_nomination_by_muster_is_not_nominated_room(void **state)
{
    (void)state;
    struct world *w = planned(0);
    single(w, "woken", 2, 0);
    assert_string_equal(world_filter(w, "woken"), "");
    world_forget(w);
    world_group_gone(w, "g"); /* the room becomes free, and the pod is woken */
    assert_true(world_nominated(w, "woken@n"));
    world_pod_set(w, nominated("woken", 2, 0, "n")); /* as the watch shows it */
    gang(w, (struct ask){"default", "h", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "h"), "Planned");
    world_free(w);
}

/* After a preempt call, the same nomination is kube-scheduler's own. */
static void T02_a_preemption_makes_musters_nomination_nominated_room(void **state)
{
    (void)state;
    struct world *w = planned(0);
    single(w, "woken", 2, 0);
    world_filter(w, "woken");
    world_group_gone(w, "g");
    world_pod_set(w, nominated("woken", 2, 0, "n"));
    const char *const names[] = {"n"};
    struct gang_event ev = {.kind = GANG_EV_PREEMPT, .id = 70, .names = names, .n_names = 1};
    ev.pod = nominated("woken", 2, 0, "n");
    world_step(w, &ev, 1);
    gang(w, (struct ask){"default", "h", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "h"), "Waiting");
    world_free(w);
}

/* muster wakes the pod on the node where kube-scheduler has nominated it. The nominated room stays.
 */
static void T02_waking_a_pod_does_not_end_its_nominated_room(void **state)
{
    (void)state;
    struct world *w = planned(5);
    world_node(w, "full", 2);
    world_pod_seen(w, "v", NULL, 2, "full", PHASE_RUNNING);
    gang(w, (struct ask){"default", "same", .pods = 5, .size = 1, .gpus = 0});
    world_pod_set(w, nominated("p", 2, 0, NULL));
    assert_string_equal(world_filter_on(w, "p", "n", NULL),
                        ""); /* gangs of the same priority keep their slots */
    world_pod_set(w, nominated("p", 2, 0, "full"));
    world_forget(w);
    world_pod_gone(w, "v");
    assert_true(world_nominated(w, "p@full"));
    world_wait(w, SECONDS(20));
    assert_false(world_nominated(w, "p@"));
    gang(w, (struct ask){"default", "h", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "h"), "Waiting");
    world_free(w);
}

/* Its gang waits. The nomination blocks no other pod, and muster clears it. */
static void T02_a_member_of_a_waiting_gang_gets_no_nominated_room(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 1);
    world_group(w, "pair", 2);
    struct gang_pod_facts *f = world_pod_facts("pair-0", "pair", 1);
    f->nominated = xstrdup("n");
    world_forget(w);
    world_pod_set(w, f);
    assert_true(world_nominated(w, "pair-0@"));
    gang(w, (struct ask){"default", "g", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void T02_a_gated_pod_gets_no_nominated_room(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 1);
    struct gang_pod_facts *f = nominated("p", 1, 5, "n");
    f->n_gates = 1;
    f->gates = xcalloc(1, sizeof *f->gates);
    f->gates[0] = xstrdup("example.com/quota");
    world_pod_set(w, f);
    gang(w, (struct ask){"default", "g", .size = 1, .gpus = 1});
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T07_the_priority_of_its_pods_caps_a_podgroups_priority),
        cmocka_unit_test(T07_the_priority_of_its_pods_caps_a_podgroups_priority_class),
        cmocka_unit_test(T07_the_lowest_priority_of_the_members_is_the_cap),
        cmocka_unit_test(T07_a_lower_priority_of_a_podgroup_counts_everywhere),
        cmocka_unit_test(T07_inside_a_namespace_the_priority_of_podgroups_decides),
        cmocka_unit_test(T07_a_new_gang_does_not_inherit_the_place_of_an_old_one),
        cmocka_unit_test(T07_the_order_is_strict_and_total),
        cmocka_unit_test(T07_the_order_stays_strict_and_total_while_gangs_change),
        cmocka_unit_test(T07_filter_does_not_refuse_a_pod_because_of_slots_of_a_lower_priority),
        cmocka_unit_test(T07_slots_move_to_another_node_for_a_pod_of_a_higher_priority),
        cmocka_unit_test(T07_only_slots_that_are_in_the_way_move),
        cmocka_unit_test(T07_a_member_at_bind_keeps_its_slot),
        cmocka_unit_test(T07_the_earmark_does_not_block_a_higher_priority),
        cmocka_unit_test(T07_later_members_of_a_higher_priority_displace_slots_too),
        cmocka_unit_test(T07_a_preemption_may_use_a_node_whose_slots_can_move),
        cmocka_unit_test(T02_no_gang_is_planned_into_room_that_a_preemption_freed),
        cmocka_unit_test(T02_a_gang_of_a_higher_priority_may_use_nominated_room),
        cmocka_unit_test(T02_nominated_room_counts_in_addition_to_the_victims),
        cmocka_unit_test(T02_nominated_room_ends_with_the_nomination),
        cmocka_unit_test(T02_filter_passes_the_nominated_node_despite_slots_of_a_lower_priority),
        cmocka_unit_test(T02_a_nomination_by_muster_is_not_nominated_room),
        cmocka_unit_test(T02_a_preemption_makes_musters_nomination_nominated_room),
        cmocka_unit_test(T02_waking_a_pod_does_not_end_its_nominated_room),
        cmocka_unit_test(T02_a_member_of_a_waiting_gang_gets_no_nominated_room),
        cmocka_unit_test(T02_a_gated_pod_gets_no_nominated_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
