/* SPDX-License-Identifier: Apache-2.0 */
/* kube-scheduler's rules for counting and matching, as tables. */
#include <stdio.h>

#include "gang/node_predicates.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

static void C10_taints_and_cordons_need_a_toleration(void **state)
{
    (void)state;
    static const struct {
        enum gang_taint_effect effect;
        const char *key, *value; /* of the toleration; key NULL: none */
        bool exists, any_effect;
        bool passes;
    } cases[] = {
        {TAINT_NO_SCHEDULE, NULL, NULL, false, false, false},
        {TAINT_PREFER_NO_SCHEDULE, NULL, NULL, false, false, true},
        {TAINT_NO_EXECUTE, NULL, NULL, false, false, false},
        {TAINT_NO_SCHEDULE, "k", "v", false, true, true},
        {TAINT_NO_SCHEDULE, "k", "other", false, true, false},
        {TAINT_NO_SCHEDULE, "k", NULL, true, true, true},
        {TAINT_NO_SCHEDULE, "", NULL, true, true, true}, /* every key */
        {TAINT_NO_SCHEDULE, "k", "v", false, false, true},
        {TAINT_NO_EXECUTE, "k", "v", false, false, false}, /* tolerates NoSchedule only */
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_node_facts *node = world_gpu_node("n", 1);
        node->taints = xcalloc(1, sizeof *node->taints);
        node->taints[0] = (struct gang_taint){xstrdup("k"), xstrdup("v"), cases[i].effect};
        node->n_taints = 1;
        struct gang_pod_facts *pod = gang_pod_facts_new();
        if (cases[i].key) {
            pod->tolerations = xcalloc(1, sizeof *pod->tolerations);
            pod->tolerations[0] = (struct gang_toleration){
                .key = cases[i].key[0] ? xstrdup(cases[i].key) : NULL,
                .value = xstrdup_null(cases[i].value),
                .exists = cases[i].exists,
                .any_effect = cases[i].any_effect,
                .effect = TAINT_NO_SCHEDULE,
            };
            pod->n_tolerations = 1;
        }
        const char *no = gang_node_refusal(pod, node);
        if (!no != cases[i].passes)
            fail_msg("case %zu: the refusal is \"%s\"", i, no ? no : "none");
        gang_pod_facts_free(pod);
        gang_node_facts_free(node);
    }
    struct gang_node_facts *node = world_gpu_node("n", 1);
    node->unschedulable = true;
    struct gang_pod_facts *pod = gang_pod_facts_new();
    assert_non_null(gang_node_refusal(pod, node));
    pod->tolerations = xcalloc(1, sizeof *pod->tolerations);
    pod->tolerations[0] = (struct gang_toleration){
        .key = xstrdup("node.kubernetes.io/unschedulable"), .exists = true, .any_effect = true};
    pod->n_tolerations = 1;
    assert_null(gang_node_refusal(pod, node));
    gang_pod_facts_free(pod);
    gang_node_facts_free(node);
}

static void C10_node_affinity_has_the_operators_of_kubernetes(void **state)
{
    (void)state;
    static const struct {
        enum gang_match_op op;
        const char *key, *value;
        bool on_name, passes;
    } cases[] = {
        {MATCH_IN, "zone", "a", false, true},
        {MATCH_IN, "zone", "b", false, false},
        {MATCH_IN, "none", "a", false, false},
        {MATCH_NOT_IN, "zone", "a", false, false},
        {MATCH_NOT_IN, "none", "a", false, true},
        {MATCH_EXISTS, "zone", NULL, false, true},
        {MATCH_EXISTS, "none", NULL, false, false},
        {MATCH_NOT_EXISTS, "none", NULL, false, true},
        {MATCH_GT, "gen", "3", false, true},
        {MATCH_GT, "gen", "4", false, false},
        {MATCH_LT, "gen", "5", false, true},
        {MATCH_LT, "zone", "5", false, false},
        {MATCH_GT, "none", "3", false, false},
        {MATCH_IN, "metadata.name", "n", true, true},
        {MATCH_IN, "metadata.name", "m", true, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_node_facts *node = world_gpu_node("n", 1);
        gang_kvs_add(&node->labels, "zone", "a");
        gang_kvs_add(&node->labels, "gen", "4");
        struct gang_pod_facts *pod = gang_pod_facts_new();
        pod->has_affinity = true;
        pod->affinity = xcalloc(1, sizeof *pod->affinity);
        pod->n_affinity = 1;
        pod->affinity[0].items = xcalloc(1, sizeof *pod->affinity[0].items);
        pod->affinity[0].n = 1;
        struct gang_requirement *r = &pod->affinity[0].items[0];
        r->key = xstrdup(cases[i].key);
        r->op = cases[i].op;
        r->on_name = cases[i].on_name;
        if (cases[i].value) {
            r->values = xcalloc(1, sizeof *r->values);
            r->values[0] = xstrdup(cases[i].value);
            r->n_values = 1;
        }
        if (!gang_node_refusal(pod, node) != cases[i].passes)
            fail_msg("case %zu: wrong result", i);
        gang_pod_facts_free(pod);
        gang_node_facts_free(node);
    }
}

static void an_affinity_without_terms_matches_nothing(void **state)
{
    (void)state;
    struct gang_node_facts *node = world_gpu_node("n", 1);
    struct gang_pod_facts *pod = gang_pod_facts_new();
    assert_null(gang_node_refusal(pod, node));
    pod->has_affinity = true;
    assert_non_null(gang_node_refusal(pod, node));
    gang_pod_facts_free(pod);
    gang_node_facts_free(node);
}

static void C10_host_ports_and_pods_per_node_limit_a_gang(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 29500};
        f->n_host_ports = 1;
        world_pod_set(w, f);
    }
    assert_string_equal(world_reason(w, "g"), "gang default/g: 2 members needed, room for 1 (host "
                                              "ports of g-1 are taken)");
    world_node(w, "b", 4);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", "pods"), 1);
    world_free(w);

    w = world_new();
    struct gang_node_facts *node = world_gpu_node("a", 4);
    node->allocatable.items[0].amount = 1; /* pods */
    world_node_facts(w, node);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 1 (1 short of pods)");
    world_free(w);
}

static void host_ports_collide_by_protocol_port_and_address(void **state)
{
    (void)state;
    char tcp[] = "TCP", udp[] = "UDP", one[] = "10.0.0.1", two[] = "10.0.0.2", any[] = "0.0.0.0";
    struct gang_port a = {NULL, tcp, 80}, b = {any, tcp, 80}, c = {one, tcp, 80};
    struct gang_port d = {two, tcp, 80}, e = {NULL, udp, 80}, f = {NULL, tcp, 81};
    assert_true(gang_ports_conflict(&a, &b));
    assert_true(gang_ports_conflict(&a, &c));
    assert_false(gang_ports_conflict(&c, &d));
    assert_false(gang_ports_conflict(&a, &e));
    assert_false(gang_ports_conflict(&a, &f));
}

static uint32_t drawn(uint32_t below)
{
    static uint64_t seed = 1;
    seed = seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(seed >> 33) % below;
}

/* A pod with up to eight ports of few numbers, protocols and addresses. */
static struct gang_pod_facts *with_ports(void)
{
    static const char *const protocols[] = {"TCP", "UDP"};
    static const char *const addresses[] = {NULL, "0.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"};
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 0);
    f->n_host_ports = drawn(9);
    f->host_ports = xcalloc(f->n_host_ports + 1, sizeof *f->host_ports);
    for (size_t i = 0; i < f->n_host_ports; i++)
        f->host_ports[i] = (struct gang_port){xstrdup_null(addresses[drawn(ARRAY_SIZE(addresses))]),
                                              xstrdup(protocols[drawn(ARRAY_SIZE(protocols))]),
                                              80 + (int32_t)drawn(3)};
    gang_ports_sort(f->host_ports, f->n_host_ports);
    return f;
}

static void pods_conflict_if_two_of_their_ports_do(void **state)
{
    (void)state;
    size_t conflicts = 0;
    for (int run = 0; run < 5000; run++) {
        struct gang_pod_facts *a = with_ports(), *b = with_ports();
        bool any = false;
        for (size_t i = 0; i < a->n_host_ports; i++)
            for (size_t k = 0; k < b->n_host_ports; k++)
                any |= gang_ports_conflict(&a->host_ports[i], &b->host_ports[k]);
        assert_int_equal(gang_pods_conflict(a, b), any);
        conflicts += any;
        gang_pod_facts_free(a);
        gang_pod_facts_free(b);
    }
    assert_in_range(conflicts, 500, 4500);
}

/* A tenant can list one port with thousands of addresses. */
static struct gang_pod_facts *with_addresses(int n, int net)
{
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 0);
    f->host_ports = xcalloc((size_t)n, sizeof *f->host_ports);
    for (int i = 0; i < n; i++)
        f->host_ports[f->n_host_ports++] =
            (struct gang_port){xasprintf("10.%d.%d.%d", net, i / 256, i % 256), xstrdup("TCP"), 80};
    gang_ports_sort(f->host_ports, f->n_host_ports);
    return f;
}

static double conflict_cost(int n)
{
    struct gang_pod_facts *a = with_addresses(256, 0), *b = with_addresses(n, 1);
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        double began = cost_ms();
        assert_false(gang_pods_conflict(a, b));
        double took = cost_ms() - began;
        best = took < best ? took : best;
    }
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
    return best;
}

static void T04_many_addresses_of_one_port_cost_little(void **state)
{
    (void)state;
    double few = conflict_cost(256), many = conflict_cost(4096);
    print_message("%.3f and %.3f ms\n", few, many);
    assert_true(many < few * 4);
}

static void devices_are_extended_resources(void **state)
{
    (void)state;
    assert_true(gang_is_device("nvidia.com/gpu"));
    assert_true(gang_is_device("gpu.intel.com/i915"));
    assert_true(gang_is_device("notkubernetes.io/x"));
    assert_false(gang_is_device("cpu"));
    assert_false(gang_is_device("hugepages-2Mi"));
    assert_false(gang_is_device("kubernetes.io/batch-cpu"));
    assert_false(gang_is_device("attachable.kubernetes.io/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C10_taints_and_cordons_need_a_toleration),
        cmocka_unit_test(C10_node_affinity_has_the_operators_of_kubernetes),
        cmocka_unit_test(an_affinity_without_terms_matches_nothing),
        cmocka_unit_test(C10_host_ports_and_pods_per_node_limit_a_gang),
        cmocka_unit_test(host_ports_collide_by_protocol_port_and_address),
        cmocka_unit_test(pods_conflict_if_two_of_their_ports_do),
        cmocka_unit_test(T04_many_addresses_of_one_port_cost_little),
        cmocka_unit_test(devices_are_extended_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
