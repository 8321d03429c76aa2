/* SPDX-License-Identifier: Apache-2.0 */
/* Which queue gets the next free GPU: each case is one rule of docs/queues.md. */
#include <stdio.h>

#include "test/lib/world.h"
#include "test/lib/world_queues.h"

#define GPUS 16
#define CPU  64000 /* millicores */
#define NONE GANG_NOT_STATED

/* A queue that uses this much, and has a waiting gang if it has no children. */
struct row {
    const char *name, *parent;
    int weight, priority, created;
    int64_t deserved, deserved_cpu; /* GPUs, millicores */
    int gpus, cpu;
};

/* The gang of the first row gets the GPU. */
struct rule {
    const char *text;
    struct row rows[5]; /* the last one has no name */
};

static const struct rule rules[] = {
    {"a queue below its deserved amount comes before a higher priority",
     {{"a", NULL, 1, 0, 1, 4, NONE, 3, 0}, {"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}}},
    {"a queue that uses what it deserves is not below it",
     {{"a", NULL, 1, 0, 1, NONE, NONE, 1, 0}, {"b", NULL, 1, 0, 1, 4, NONE, 4, 0}}},
    {"a queue below its deserved amount of each resource is below it",
     {{"a", NULL, 1, 0, 1, 4, 2000, 3, 1000}, {"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}}},
    {"a queue that uses what it deserves of one resource is not below it",
     {{"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}, {"a", NULL, 1, 0, 1, 4, 2000, 3, 2000}}},
    {"a resource that a queue neither deserves nor uses does not count",
     {{"a", NULL, 1, 0, 1, 4, 0, 3, 0}, {"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}}},
    {"a queue that uses a resource without deserving any is not below it",
     {{"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}, {"a", NULL, 1, 0, 1, 4, 0, 3, 1000}}},
    {"a resource that a queue does not state does not count",
     {{"a", NULL, 1, 0, 1, 4, NONE, 3, 1000}, {"b", NULL, 1, 5, 1, NONE, NONE, 0, 0}}},
    {"a higher priority comes before a smaller share",
     {{"a", NULL, 1, 1, 1, NONE, NONE, 6, 0}, {"b", NULL, 1, 0, 1, NONE, NONE, 0, 0}}},
    {"the smaller share comes first",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 3, 0}, {"a", NULL, 1, 0, 1, NONE, NONE, 4, 0}}},
    {"a share is divided by the weight",
     {{"b", NULL, 3, 0, 1, NONE, NONE, 5, 0}, {"a", NULL, 1, 0, 1, NONE, NONE, 2, 0}}},
    {"the resource of which a queue uses most counts: 32 of 64 CPUs are more than 5 of 16 GPUs",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 5, 0}, {"a", NULL, 1, 0, 1, NONE, NONE, 1, 31000}}},
    {"the resource of which a queue uses most counts: 8 of 64 CPUs are less than 3 of 16 GPUs",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 0, 8000}, {"a", NULL, 1, 0, 1, NONE, NONE, 3, 0}}},
    {"shares are not rounded: 1 of 16 GPUs is less than 5 of 64 CPUs",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 1, 0}, {"a", NULL, 1, 0, 1, NONE, NONE, 0, 5000}}},
    {"of equal shares, the older queue comes first",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 2, 0}, {"a", NULL, 1, 0, 2, NONE, NONE, 2, 0}}},
    {"of queues of one age, names decide",
     {{"a", NULL, 1, 0, 1, NONE, NONE, 2, 0}, {"b", NULL, 1, 0, 1, NONE, NONE, 2, 0}}},
    {"parents are compared before their children: the share of p is smaller",
     {{"x", "p", 1, 0, 1, NONE, NONE, 4, 0},
      {"p", NULL, 1, 0, 1, NONE, NONE, 0, 0},
      {"q", NULL, 1, 0, 1, NONE, NONE, 0, 0},
      {"y", "q", 1, 0, 1, NONE, NONE, 5, 0}}},
    {"a child's priority does not count outside its parent",
     {{"x", "p", 1, 0, 1, NONE, NONE, 1, 0},
      {"p", NULL, 1, 0, 1, NONE, NONE, 0, 0},
      {"q", NULL, 1, 0, 1, NONE, NONE, 0, 0},
      {"y", "q", 1, 9, 1, NONE, NONE, 2, 0}}},
    {"a parent's use is that of all queues below it",
     {{"b", NULL, 1, 0, 1, NONE, NONE, 3, 0},
      {"p", NULL, 1, 0, 1, NONE, NONE, 0, 0},
      {"x", "p", 1, 0, 1, NONE, NONE, 2, 0},
      {"y", "p", 1, 0, 1, NONE, NONE, 2, 0}}},
};

static bool is_parent(const struct rule *rule, const struct row *row)
{
    for (const struct row *r = rule->rows; r->name; r++)
        if (r->parent && strcmp(r->parent, row->name) == 0)
            return true;
    return false;
}

static void add_queue(struct world *w, const struct row *row)
{
    struct gang_queue_facts *f = world_queue_facts(row->name, row->parent);
    f->weight = 1000 * row->weight;
    f->priority = row->priority;
    f->created = row->created;
    gang_quota_add(f, GPU)->deserved = row->deserved;
    if (row->deserved_cpu != NONE)
        gang_quota_add(f, "cpu")->deserved = row->deserved_cpu;
    world_queue_set(w, f);
}

/* A running pod of the queue; NULL: of none. */
static void add_use(struct world *w, const char *queue, int gpus, int cpu)
{
    cleanup_free char *name = xasprintf("use-%s", queue ? queue : "");
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->uid = xstrdup(name);
    f->scheduler = xstrdup("default-scheduler");
    f->node = xstrdup("n0");
    f->phase = PHASE_RUNNING;
    if (queue)
        f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(queue)};
    gang_amounts_add(&f->requests, GPU, gpus);
    gang_amounts_add(&f->requests, "cpu", cpu);
    world_pod_set(w, f);
}

/* Fills the node, adds the waiting gangs, and then frees one GPU. Nobody takes room back. */
static struct world *play(const struct rule *rule)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.preemption = false;
    struct world *w = world_new_with(config, true);
    int rest = GPUS;
    world_node_small(w, "n0", GPUS, CPU);
    for (const struct row *row = rule->rows; row->name; row++) {
        add_queue(w, row);
        if (row->gpus || row->cpu)
            add_use(w, row->name, row->gpus, row->cpu);
        rest -= row->gpus;
    }
    add_use(w, NULL, rest, 0);
    for (const struct row *row = rule->rows; row->name; row++)
        if (!is_parent(rule, row))
            world_queued(w, row->name, row->name, 1, 1);
    world_wait(w, SECONDS(2));
    add_use(w, NULL, rest - 1, 0);
    world_wait(w, SECONDS(2));
    return w;
}

static void Q02_each_rule_decides_which_queue_comes_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct world *w = play(&rules[i]);
        for (const struct row *row = rules[i].rows; row->name; row++) {
            const char *want = row == rules[i].rows ? "Planned" : "Waiting";
            if (!is_parent(&rules[i], row) && strcmp(world_state(w, row->name), want) != 0)
                fail_msg("%s: the gang of %s is %s", rules[i].text, row->name,
                         world_state(w, row->name));
        }
        world_free(w);
    }
}

static void Q01_nothing_passes_a_fifo_head_that_a_limit_stops(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 8);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    f->fifo = true;
    gang_quota_add(f, GPU)->cap = 3;
    world_queue_set(w, f);
    world_queued(w, "big", "q", 4, 1);
    world_queued(w, "small", "q", 1, 1);
    assert_string_equal(world_reason_name(w, "big"), "QueueLimitReached");
    assert_string_equal(world_state(w, "small"), "Waiting");
    world_ends(w, "big", 4);
    assert_string_equal(world_state(w, "small"), "Planned");
    world_free(w);
}

/* ---- which queue a gang is in ---- */

/* The PodGroup's field counts before the pods, and the pods before the namespace. */
static void Q05_the_podgroup_names_the_queue_before_pods_and_namespace(void **state)
{
    (void)state;
    static const struct {
        const char *group, *pod, *ns, *want;
    } cases[] = {
        {"a", "b", "c", "a"},  {NULL, "b", "c", "b"}, {NULL, NULL, "c", "c"},
        {"a", NULL, "c", "a"}, {"a", "b", NULL, "a"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_new();
        world_node(w, "n0", 4);
        for (const char *name = "abc"; *name; name++)
            world_queue(w, (char[]){*name, '\0'}, NULL, 4, 4);
        if (cases[i].ns) {
            struct gang_namespace_facts *f = gang_namespace_facts_new();
            *f = (struct gang_namespace_facts){xstrdup("default"), xstrdup("test"),
                                               xstrdup(cases[i].ns)};
            struct gang_event ev = {.kind = GANG_EV_NAMESPACE_SET, .namespace = f};
            world_step(w, &ev, 1);
        }
        struct gang_group_facts *group = world_group_facts("g", 1);
        group->queue = xstrdup_null(cases[i].group);
        world_group_set(w, group);
        struct gang_pod_facts *pod = world_pod_facts("g-0", "g", 1);
        if (cases[i].pod)
            pod->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(cases[i].pod)};
        world_pod_set(w, pod);
        if (world_queue_used(w, cases[i].want, GPU) != 1)
            fail_msg("case %zu: the gang is not in queue %s", i, cases[i].want);
        world_free(w);
    }
}

/* The namespace's own quota, else one that names the namespace, else the default queue. */
static void Q05_a_gang_that_names_no_queue_is_in_the_most_specific_one(void **state)
{
    (void)state;
    static const char *const names[] = {"fallback", "also-2", "also-1", "own-2", "own-1"};
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_queued(w, "g", NULL, 1, 1);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct gang_queue_facts *f = world_queue_facts(names[i], NULL);
        f->fallback = i == 0;
        f->of_namespace = i > 2 ? xstrdup("default") : NULL;
        if (i == 1 || i == 2) {
            f->more_namespaces = xcalloc(2, sizeof *f->more_namespaces);
            f->more_namespaces[f->n_more_namespaces++] = xstrdup("elsewhere");
            f->more_namespaces[f->n_more_namespaces++] = xstrdup("default");
        }
        world_queue_set(w, f);
        assert_int_equal(world_queue_used(w, names[i], GPU), 1);
    }
    for (size_t i = ARRAY_SIZE(names); i-- > 1;) {
        world_queue_gone(w, names[i]);
        assert_int_equal(world_queue_used(w, names[i - 1], GPU), 1);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_each_rule_decides_which_queue_comes_first),
        cmocka_unit_test(Q01_nothing_passes_a_fifo_head_that_a_limit_stops),
        cmocka_unit_test(Q05_a_gang_that_names_no_queue_is_in_the_most_specific_one),
        cmocka_unit_test(Q05_the_podgroup_names_the_queue_before_pods_and_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
