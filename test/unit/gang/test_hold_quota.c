/* SPDX-License-Identifier: Apache-2.0 */
/* The number of held bind calls is limited, and all namespaces share it. */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "test/lib/world.h"

static struct world *cluster(size_t max_holds)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.max_holds = max_holds;
    struct world *w = world_new_with(config, true);
    for (int i = 0; i < 20; i++) {
        char name[24];
        snprintf(name, sizeof name, "n%02d", i);
        world_node(w, name, 64);
    }
    return w;
}

static void gang_of(struct world *w, const char *ns, const char *name, int members)
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
        world_pod_set(w, f);
    }
}

static const struct pod *pod_named(const struct world *w, const char *name)
{
    cleanup_free char *uid = xasprintf("uid-%s", name);
    const struct pod *pod = pod_by_uid(w->core, uid);
    assert_non_null(pod);
    return pod;
}

/* kube-scheduler brings the pod to bind; true: its call is held, or it is bound. */
static bool comes_to_bind(struct world *w, const char *name)
{
    const struct pod *pod = pod_named(w, name);
    if (!pod->slot)
        return pod->node != NULL;
    const struct gang_ref *group = &pod->facts->group;
    struct gang_pod_facts *f = world_pod_facts(name, group->name, 0);
    free(f->ns);
    free(f->group.ns);
    f->ns = xstrdup(pod->facts->ns);
    f->group.ns = xstrdup(group->ns);
    if (!world_filter_facts(w, f, pod->slot->node->name)[0])
        return false;
    struct gang_event ev = world_bind_event(w, name, pod->slot->node->name);
    free(ev.bind.ns);
    ev.bind.ns = xstrdup(pod->facts->ns);
    world_step(w, &ev, 1);
    return pod->held || pod->node;
}

/* How many of the members from .. to-1 are held or bound. */
static int come_to_bind(struct world *w, const char *gang, int from, int to)
{
    int n = 0;
    for (int i = from; i < to; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", gang, i);
        n += comes_to_bind(w, pod);
    }
    return n;
}

static bool is_bound(const struct world *w, const char *gang, int members)
{
    for (int i = 0; i < members; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", gang, i);
        if (!pod_named(w, pod)->node)
            return false;
    }
    return true;
}

/* Gangs of one namespace that never complete use its whole quota. */
static void T16_a_namespace_that_wants_all_holds_leaves_some_to_others(void **state)
{
    (void)state;
    struct world *w = cluster(80);
    char name[24];
    int held = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "evil-%d", i);
        gang_of(w, "evil", name, 8);
        held += come_to_bind(w, name, 0, 7);
    }
    assert_in_range(held, 60, 70);
    gang_of(w, "good", "g", 8);
    assert_int_equal(come_to_bind(w, "g", 0, 8), 8);
    assert_true(is_bound(w, "g", 8));
    world_free(w);
}

/* If each held half of what it needs, neither could continue. */
static void T16_two_gangs_without_enough_holds_for_both_run_one_after_the_other(void **state)
{
    (void)state;
    struct world *w = cluster(10);
    gang_of(w, "one", "a", 8);
    gang_of(w, "two", "b", 8);
    for (int i = 0; i < 8; i++) {
        cleanup_free char *a = xasprintf("a-%d", i), *b = xasprintf("b-%d", i);
        comes_to_bind(w, a);
        comes_to_bind(w, b);
    }
    assert_true(is_bound(w, "a", 8));
    world_all_bound(w);
    for (int i = 0; i < 8; i++) {
        cleanup_free char *name = xasprintf("a-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "a", 1);
        free(f->ns);
        free(f->group.ns);
        f->ns = xstrdup("one");
        f->group.ns = xstrdup("one");
        f->node = xstrdup(pod_named(w, name)->node->name);
        f->phase = PHASE_RUNNING;
        world_pod_set(w, f);
    }
    assert_int_equal(come_to_bind(w, "b", 0, 8), 8);
    assert_true(is_bound(w, "b", 8));
    world_free(w);
}

/* Freed holds go first to namespaces that have fewer and were refused. */
static void T16_freed_holds_do_not_go_to_the_namespace_with_the_most(void **state)
{
    (void)state;
    struct world *w = cluster(16);
    gang_of(w, "evil", "e1", 8);
    gang_of(w, "evil", "e2", 8);
    assert_int_equal(come_to_bind(w, "e1", 0, 7) + come_to_bind(w, "e2", 0, 7), 14);
    gang_of(w, "good", "g", 8);
    assert_int_equal(come_to_bind(w, "g", 0, 1), 0);
    gang_of(w, "evil", "e3", 8);
    world_close(w, pod_named(w, "e1-0")->call);
    for (int i = 1; i < 7; i++) {
        cleanup_free char *pod = xasprintf("e1-%d", i);
        world_close(w, pod_named(w, pod)->call);
    }
    assert_int_equal(come_to_bind(w, "e3", 0, 7), 0);
    assert_int_equal(come_to_bind(w, "e1", 0, 7), 0);
    assert_int_equal(come_to_bind(w, "g", 0, 8), 8);
    assert_true(is_bound(w, "g", 8));
    world_free(w);
}

/* A refused member that does not come again reserves no hold. */
static void T16_a_member_refused_long_ago_reserves_no_hold(void **state)
{
    (void)state;
    struct world *w = cluster(16);
    gang_of(w, "evil", "e1", 8);
    gang_of(w, "evil", "e2", 8);
    come_to_bind(w, "e1", 0, 7);
    come_to_bind(w, "e2", 0, 7);
    gang_of(w, "good", "g", 8);
    assert_int_equal(come_to_bind(w, "g", 0, 1), 0);
    world_wait(w, SECONDS(21)); /* the time limit of the holds */
    assert_int_equal(come_to_bind(w, "e1", 0, 7), 7);
    assert_int_equal(come_to_bind(w, "e2", 0, 7), 7);
    world_free(w);
}

/* The gang's quorum needs all holds, and one member is at bind: other gangs still get holds. */
static void T16_the_first_member_of_a_huge_gang_reserves_only_its_namespaces_share(void **state)
{
    (void)state;
    struct world *w = cluster(80);
    gang_of(w, "evil", "e", 81);
    assert_int_equal(come_to_bind(w, "e", 0, 1), 1);
    gang_of(w, "good", "g", 8);
    assert_int_equal(come_to_bind(w, "g", 0, 8), 8);
    assert_true(is_bound(w, "g", 8));
    world_all_bound(w);
    assert_int_equal(come_to_bind(w, "e", 1, 70), 69);
    gang_of(w, "good", "h", 8);
    assert_int_equal(come_to_bind(w, "h", 0, 8), 8);
    assert_true(is_bound(w, "h", 8));
    world_free(w);
}

/* Its last members take the remaining holds when no other gang wants them. */
static void T16_a_gang_that_needs_all_holds_is_bound(void **state)
{
    (void)state;
    struct world *w = cluster(80);
    gang_of(w, "big", "b", 81);
    assert_int_equal(come_to_bind(w, "b", 0, 72), 72);
    gang_of(w, "good", "g", 12);
    assert_int_equal(come_to_bind(w, "g", 0, 1), 0);
    assert_int_equal(come_to_bind(w, "b", 72, 81), 0); /* g was refused first */
    world_wait(w, SECONDS(25));
    assert_int_equal(come_to_bind(w, "b", 0, 81), 81);
    assert_true(is_bound(w, "b", 81));
    world_free(w);
}

/* Neither namespace has a hold, and the freed ones are enough for one of the gangs. */
static void T16_a_gang_that_needs_few_holds_passes_one_that_needs_many(void **state)
{
    (void)state;
    struct world *w = cluster(80);
    gang_of(w, "first", "f", 71);
    assert_int_equal(come_to_bind(w, "f", 0, 1), 1);
    gang_of(w, "evil", "e", 71);
    gang_of(w, "good", "g", 31);
    assert_int_equal(come_to_bind(w, "e", 0, 1) + come_to_bind(w, "g", 0, 1), 0);
    world_close(w, pod_named(w, "f-0")->call);
    assert_int_equal(come_to_bind(w, "e", 0, 1), 0);
    assert_int_equal(come_to_bind(w, "g", 0, 31), 31);
    assert_true(is_bound(w, "g", 31));
    world_all_bound(w);
    assert_int_equal(come_to_bind(w, "e", 0, 71), 71);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_a_namespace_that_wants_all_holds_leaves_some_to_others),
        cmocka_unit_test(T16_two_gangs_without_enough_holds_for_both_run_one_after_the_other),
        cmocka_unit_test(T16_freed_holds_do_not_go_to_the_namespace_with_the_most),
        cmocka_unit_test(T16_a_member_refused_long_ago_reserves_no_hold),
        cmocka_unit_test(T16_the_first_member_of_a_huge_gang_reserves_only_its_namespaces_share),
        cmocka_unit_test(T16_a_gang_that_needs_all_holds_is_bound),
        cmocka_unit_test(T16_a_gang_that_needs_few_holds_passes_one_that_needs_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
