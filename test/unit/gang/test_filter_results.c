/* SPDX-License-Identifier: Apache-2.0 */
/* T13: a bind call is carried out only if filter returned this node for this pod, and if the node
 * passes the pod's own rules. */
#include "gang/cluster/lookup.h"
#include "gang/cluster/nodes.h"
#include "test/lib/world.h"

static void assert_bind_refused(const struct world *w, uint64_t id, const char *words)
{
    const char *answer = world_answer(w, id);
    assert_non_null(answer);
    if (!strstr(answer, words))
        fail_msg("the answer \"%s\" does not contain \"%s\"", answer, words);
    assert_int_equal(w->n_bindings, 0);
}

static struct gang_stats stats_of(const struct world *w)
{
    struct gang_stats s;
    gang_core_stats(w->core, &s);
    return s;
}

static void taint(struct world *w, const char *name, const char *key)
{
    struct gang_node_facts *f = world_gpu_node(name, 4);
    f->n_taints = 1;
    f->taints = xcalloc(1, sizeof *f->taints);
    f->taints[0] = (struct gang_taint){xstrdup(key), xstrdup(""), TAINT_NO_SCHEDULE};
    world_node_facts(w, f);
}

static struct world *two_nodes(void)
{
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_node(w, "n1", 4);
    return w;
}

static void T13_a_pod_without_a_filter_call_is_not_bound(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    assert_bind_refused(w, world_bind(w, "p", "n0"),
                        "filter did not return node n0 for pod default/p recently; call filter "
                        "before each bind");
    assert_int_equal(stats_of(w).binds_not_passed, 1);
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 0);
    world_free(w);
}

static void T13_a_pod_is_bound_only_to_a_node_of_its_filter_result(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    assert_string_equal(world_filter_on(w, "p", "n0", NULL), "n0");
    assert_bind_refused(w, world_bind(w, "p", "n1"), "node n1");
    world_bind(w, "p", "n0"); /* the wrong call does not affect the right one */
    assert_true(world_binding(w, "p@n0"));
    world_free(w);
}

static void T13_the_last_filter_result_counts(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    world_filter_on(w, "p", "n0", NULL);
    world_filter_on(w, "p", "n1", NULL);
    assert_bind_refused(w, world_bind(w, "p", "n0"), "node n0");
    world_free(w);
}

static void T13_a_filter_result_is_not_valid_for_another_pod(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    world_pod(w, "q", NULL, 1);
    world_filter(w, "p");
    assert_bind_refused(w, world_bind(w, "q", "n0"), "pod default/q");
    world_free(w);
}

static void T13_a_pod_that_filter_refused_is_not_bound(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_node(w, "n1", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 4); /* both nodes are reserved */
    world_pod(w, "p", NULL, 1);
    assert_string_equal(world_filter(w, "p"), "");
    assert_bind_refused(w, world_bind(w, "p", "n0"), "filter did not return node n0");
    world_free(w);
}

static void T13_a_member_is_at_bind_only_after_it_passed_filter(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 4);
    const char *at[] = {"n0", "n1"};
    for (int i = 0; i < 4; i++)
        world_bind(w, i / 2 ? "g-1" : "g-0", at[i % 2]);
    assert_int_equal(w->n_bindings, 0);
    assert_int_equal(stats_of(w).held, 0);
    world_try_members(w, "g", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void T13_a_refused_bind_call_does_not_end_a_held_one(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 4);
    uint64_t held = world_try(w, "g-0");
    assert_int_not_equal(held, 0);
    assert_null(world_answer(w, held));
    world_bind(w, "g-0", "n0");
    world_bind(w, "g-0", "n1"); /* one of the two nodes is the wrong one */
    assert_int_equal(stats_of(w).held, 1);
    assert_int_equal(stats_of(w).binds_not_passed, 1);
    world_free(w);
}

static void T13_a_filter_result_lasts_one_minute_or_eleven_with_volumes(void **state)
{
    (void)state;
    static const struct {
        bool volumes;
        usec_t in_time, late;
    } rows[] = {{false, SECONDS(59), SECONDS(60)}, {true, SECONDS(659), SECONDS(660)}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (int late = 0; late < 2; late++) {
            struct world *w = two_nodes();
            struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
            f->has_pvc = rows[i].volumes;
            world_pod_set(w, f);
            world_filter(w, "p");
            world_wait(w, late ? rows[i].late : rows[i].in_time);
            uint64_t id = world_bind(w, "p", "n0");
            if (late)
                assert_bind_refused(w, id, "recently");
            else
                assert_true(world_binding(w, "p@n0"));
            world_free(w);
        }
}

static void T13_a_lost_bind_call_may_be_repeated(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 4);
    uint64_t held = world_try(w, "g-0");
    const char *at =
        world_reserved(w, "n0", "nvidia.com/gpu") && strcmp(w->passed, "n0") == 0 ? "n0" : "n1";
    world_close(w, held);
    uint64_t again = world_bind(w, "g-0", at);
    assert_null(world_answer(w, again));
    world_free(w);
}

static void T13_a_new_node_with_the_number_of_a_passed_node_has_not_passed(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    world_filter(w, "p");
    world_node_gone(w, "n1");
    world_node(w, "n2", 4); /* n2 gets the number that n1 had */
    assert_bind_refused(w, world_bind(w, "p", "n2"), "node n2");
    world_free(w);
}

static void T13_bind_checks_taints(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_pod(w, "p", NULL, 1);
    world_filter(w, "p");
    taint(w, "n0", "example.com/broken");
    assert_bind_refused(w, world_bind(w, "p", "n0"),
                        "node n0 does not suit pod default/p: untolerated taint (TaintToleration)");
    assert_int_equal(stats_of(w).binds_unfit, 1);
    world_bind(w, "p", "n1"); /* n1 is still in the filter result */
    assert_true(world_binding(w, "p@n1"));
    world_free(w);
}

static void T13_bind_checks_selectors_and_cordons(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
    gang_kvs_add(&f->node_selector, "zone", "a");
    world_pod_set(w, f);
    world_pod(w, "q", NULL, 1);
    struct gang_node_facts *cordoned = world_gpu_node("n1", 4);
    cordoned->unschedulable = true;
    world_node_facts(w, cordoned);
    world_filter(w, "p");
    world_filter(w, "q");
    assert_bind_refused(w, world_bind(w, "p", "n0"), "(NodeAffinity)");
    assert_bind_refused(w, world_bind(w, "q", "n1"), "(NodeUnschedulable)");
    world_free(w);
}

static void T13_bind_checks_the_nodes_of_volumes(void **state)
{
    (void)state;
    for (int reached = 0; reached < 2; reached++) {
        struct world *w = two_nodes();
        struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
        f->claims = xcalloc(1, sizeof *f->claims);
        f->claims[f->n_claims++] = xstrdup("c");
        f->has_pvc = true;
        world_pod_set(w, f);
        world_filter(w, "p");
        struct gang_claim_facts *claim = gang_claim_facts_new();
        claim->ns = xstrdup("default");
        claim->name = xstrdup("c");
        claim->bound = true;
        claim->limited = !reached; /* without a term: no node reaches it */
        world_step(w, &(struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = claim}, 1);
        uint64_t id = world_bind(w, "p", "n0");
        if (reached)
            assert_true(world_binding(w, "p@n0"));
        else
            assert_bind_refused(w, id, "volume");
        world_free(w);
    }
}

static void T13_bind_skips_rules_that_kube_scheduler_has_disabled(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.rules_off = 1 << PREDICATE_TAINTS;
    struct world *w = world_new_with(config, true);
    taint(w, "n0", "example.com/broken");
    world_pod(w, "p", NULL, 1);
    world_filter(w, "p");
    world_bind(w, "p", "n0");
    assert_true(world_binding(w, "p@n0"));
    world_free(w);
}

static void T13_a_pod_of_another_scheduler_is_not_bound(void **state)
{
    (void)state;
    const char *names[] = {"default-scheduler"};
    struct gang_config config = test_config();
    config.scheduler_names = names;
    config.n_scheduler_names = 1;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 4);
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
    free(f->scheduler);
    f->scheduler = xstrdup("theirs");
    world_pod_set(w, f);
    world_filter(w, "p");
    assert_bind_refused(w, world_bind(w, "p", "n0"), "spec.schedulerName theirs");
    world_free(w);
}

static void T13_a_pod_older_than_muster_may_have_passed_filter_before(void **state)
{
    (void)state;
    static const struct {
        bool volumes, late;
        usec_t after;
    } rows[] = {{false, false, SECONDS(59)},
                {false, true, SECONDS(60)},
                {true, false, SECONDS(659)},
                {true, true, SECONDS(660)}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct world *w = world_new_with(test_config(), false);
        world_node(w, "n0", 4);
        struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
        f->has_pvc = rows[i].volumes;
        world_pod_set(w, f);
        world_wait(w, SECONDS(100)); /* a long list */
        world_sync(w);
        world_wait(w, rows[i].after);
        uint64_t id = world_bind(w, "p", "n0");
        if (rows[i].late)
            assert_bind_refused(w, id, "filter did not return node");
        else
            assert_true(world_binding(w, "p@n0"));
        world_free(w);
    }
}

static void T13_bind_checks_the_rules_of_pods_older_than_muster(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), false);
    taint(w, "n0", "example.com/broken");
    world_pod(w, "p", NULL, 1);
    world_sync(w);
    assert_bind_refused(w, world_bind(w, "p", "n0"), "(TaintToleration)");
    world_free(w);
}

static void T13_the_memory_of_filter_results_is_bounded(void **state)
{
    (void)state;
    enum { NODES = 4096 };
    struct world *w = world_new();
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("m%d", i);
        node_get(w->core, name);
    }
    world_node(w, "n0", 4);
    size_t words = w->core->n_ids / 64 + 1, pods = 2000;
    w->core->filter_result_words =
        FILTER_RESULT_WORDS_MAX - words * 1000; /* as if other pods used the rest */
    for (size_t i = 0; i < pods; i++) {
        cleanup_free char *name = xasprintf("p%zu", i);
        world_pod(w, name, NULL, 0);
        world_filter_on(w, name, "n0", NULL);
        assert_true(w->core->filter_result_words <= FILTER_RESULT_WORDS_MAX);
    }
    assert_bind_refused(w, world_bind(w, "p0", "n0"),
                        "recently"); /* muster dropped the oldest result */
    cleanup_free char *last = xasprintf("p%zu", pods - 1);
    world_bind(w, last, "n0");
    assert_int_equal(w->n_bindings, 1);
    w->core->filter_result_words -= FILTER_RESULT_WORDS_MAX - words * 1000;
    world_free(w);
}

/* ---- pods that the watch has not shown ---- */

static struct gang_pod_facts *invented(int i)
{
    cleanup_free char *name = xasprintf("invented-%d", i);
    return world_pod_facts(name, NULL, 1);
}

static void T13_muster_keeps_few_pods_that_the_watch_has_not_shown(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    for (size_t i = 0; i < UNSEEN_MAX; i++)
        assert_string_not_equal(world_filter_facts(w, invented((int)i), "n0"), "");
    assert_string_equal(world_filter_facts(w, invented((int)UNSEEN_MAX), "n0"), "");
    assert_string_equal(w->refusal, "the pod is not known to muster yet");
    world_pod(w, "invented-0", NULL, 1); /* one of them is real */
    assert_string_not_equal(world_filter_facts(w, invented((int)UNSEEN_MAX), "n0"), "");
    world_wait(w, SECONDS(61));
    assert_int_equal(stats_of(w).pods, 1);
    world_free(w);
}

static void T13_pods_that_kube_scheduler_would_not_filter_are_not_kept(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    struct gang_pod_facts *on_node = invented(1), *ended = invented(2), *large = invented(3);
    on_node->node = xstrdup("n0");
    ended->phase = PHASE_SUCCEEDED;
    for (int i = 0; i < 1000; i++) {
        cleanup_free char *key = xasprintf("a-label-of-some-length-%d", i);
        gang_kvs_add(&large->labels, key, "value");
    }
    struct gang_pod_facts *const pods[] = {on_node, ended, large};
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        assert_string_equal(world_filter_facts(w, pods[i], "n0"), "");
        assert_string_equal(w->refusal, "the pod is not known to muster yet");
    }
    assert_int_equal(stats_of(w).pods, 0);
    assert_int_equal(world_used(w, "n0", "nvidia.com/gpu"), 0);
    world_free(w);
}

/* Otherwise a caller of the verbs could start a part of a gang with invented members. */
static void T13_a_member_that_the_watch_has_not_shown_does_not_complete_a_quorum(void **state)
{
    (void)state;
    struct world *w = two_nodes();
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    assert_string_equal(world_filter_facts(w, world_pod_facts("g-1", "g", 1), "n0"), "n0");
    uint64_t call = world_bind(w, "g-1", "n0");
    world_try(w, "g-0");
    assert_null(world_answer(w, call));
    assert_int_equal(w->n_bindings, 0);
    world_pod(w, "g-1", "g", 1);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T13_a_pod_without_a_filter_call_is_not_bound),
        cmocka_unit_test(T13_a_pod_is_bound_only_to_a_node_of_its_filter_result),
        cmocka_unit_test(T13_the_last_filter_result_counts),
        cmocka_unit_test(T13_a_filter_result_is_not_valid_for_another_pod),
        cmocka_unit_test(T13_a_pod_that_filter_refused_is_not_bound),
        cmocka_unit_test(T13_a_member_is_at_bind_only_after_it_passed_filter),
        cmocka_unit_test(T13_a_refused_bind_call_does_not_end_a_held_one),
        cmocka_unit_test(T13_a_filter_result_lasts_one_minute_or_eleven_with_volumes),
        cmocka_unit_test(T13_a_lost_bind_call_may_be_repeated),
        cmocka_unit_test(T13_a_new_node_with_the_number_of_a_passed_node_has_not_passed),
        cmocka_unit_test(T13_bind_checks_taints),
        cmocka_unit_test(T13_bind_checks_selectors_and_cordons),
        cmocka_unit_test(T13_bind_checks_the_nodes_of_volumes),
        cmocka_unit_test(T13_bind_skips_rules_that_kube_scheduler_has_disabled),
        cmocka_unit_test(T13_a_pod_of_another_scheduler_is_not_bound),
        cmocka_unit_test(T13_a_pod_older_than_muster_may_have_passed_filter_before),
        cmocka_unit_test(T13_bind_checks_the_rules_of_pods_older_than_muster),
        cmocka_unit_test(T13_the_memory_of_filter_results_is_bounded),
        cmocka_unit_test(T13_muster_keeps_few_pods_that_the_watch_has_not_shown),
        cmocka_unit_test(T13_pods_that_kube_scheduler_would_not_filter_are_not_kept),
        cmocka_unit_test(T13_a_member_that_the_watch_has_not_shown_does_not_complete_a_quorum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
