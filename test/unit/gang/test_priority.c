/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes before whom: priorities that tenants write, and those that admission gives; pods of a
 * higher priority and the room that gangs hold. */
#include <string.h>

#include "gang/core.h"
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
    int32_t own; /* of the PodGroup; 0: none */
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

static void T07_a_number_in_a_pod_group_is_worth_what_its_pods_have(void **state)
{
    (void)state;
    for (int trusted = 0; trusted < 2; trusted++) {
        struct gang_config config = gang_config_default();
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

static void T07_the_class_of_a_pod_group_is_worth_no_more(void **state)
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

/* One pod of a high priority among many of none does not lift the gang. */
static void T07_the_lowest_member_counts(void **state)
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
    gang(w, loud); /* both of 1000 */
    gang(w, (struct ask){"b", "old", .created = 1, .size = 2, .gpus = 1});
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "loud"), "Planned");
    world_free(w);
}

/* A PodGroup may ask for less than its pods have. */
static void T07_a_lower_number_counts_everywhere(void **state)
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

static void T07_inside_a_namespace_the_pod_group_orders(void **state)
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

/* Places that old gangs of a namespace have in the order are not its new ones' to take. */
static void T07_a_namespace_does_not_hand_on_its_places(void **state)
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

/* ---- the order is one ---- */

static uint64_t dice(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

static struct world *many_gangs(uint64_t *seed, size_t n)
{
    static const char *const spaces[] = {"a", "b", "c"};
    struct gang_config config = gang_config_default();
    config.trust_group_priority = dice(seed, 8) == 0;
    config.starvation = SECONDS(50);
    struct world *w = with(config);
    world_node(w, "n", 1);
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("g%zu", i);
        gang(w, (struct ask){spaces[dice(seed, 3)], name, .own = (int32_t)dice(seed, 4) - 1,
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

/* Any three. */
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
            if (a->line && a->line == b->line && a->own_priority > b->own_priority)
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

/* Between two passes too, when gangs have changed that are not lined up anew. */
static void T07_it_is_while_gangs_change(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T07_a_number_in_a_pod_group_is_worth_what_its_pods_have),
        cmocka_unit_test(T07_the_class_of_a_pod_group_is_worth_no_more),
        cmocka_unit_test(T07_the_lowest_member_counts),
        cmocka_unit_test(T07_a_lower_number_counts_everywhere),
        cmocka_unit_test(T07_inside_a_namespace_the_pod_group_orders),
        cmocka_unit_test(T07_a_namespace_does_not_hand_on_its_places),
        cmocka_unit_test(T07_the_order_is_strict_and_total),
        cmocka_unit_test(T07_it_is_while_gangs_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
