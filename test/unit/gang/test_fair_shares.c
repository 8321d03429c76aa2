/* SPDX-License-Identifier: Apache-2.0 */
/* Fair shares in numbers: each case is one rule of KAI or of Volcano. */
#include <stdio.h>

#include "test/lib/world.h"
#include "test/lib/world_queues.h"

#define QUEUES_MOST 5 /* the last one has no name */
#define ALL         GANG_UNLIMITED

/* `want` is what the gangs of the queue need together: so many GPUs, and the same number of CPUs.
 * `share` is in thousandths of a GPU. */
struct row {
    const char *name, *parent;
    int weight, priority;
    int64_t deserved, cap, reserved;
    int want;
    int64_t share;
};

struct rule {
    const char *text;
    int gpus;
    struct row rows[QUEUES_MOST];
};

static const struct rule rules[] = {
    {"the surplus goes by weight",
     8,
     {{"a", NULL, 3, 0, 0, ALL, 0, 20, 6000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 2000}}},
    {"shares are not rounded to whole devices",
     7,
     {{"a", NULL, 1, 0, 0, ALL, 0, 20, 2333},
      {"b", NULL, 1, 0, 0, ALL, 0, 20, 2333},
      {"c", NULL, 1, 0, 0, ALL, 0, 20, 2334}}},
    {"what a queue does not want goes to the others by weight, again and again",
     16,
     {{"a", NULL, 1, 0, 0, ALL, 0, 1, 1000},
      {"b", NULL, 1, 0, 0, ALL, 0, 4, 4000},
      {"c", NULL, 2, 0, 0, ALL, 0, 50, 11000}}},
    {"each queue gets what it deserves before the surplus is divided",
     8,
     {{"a", NULL, 1, 0, 6, ALL, 0, 20, 7000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 1000}}},
    {"a queue that wants less than it deserves gets what it wants",
     8,
     {{"a", NULL, 1, 0, 6, ALL, 0, 2, 2000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 6000}}},
    {"a queue that deserves all gets all that it wants",
     8,
     {{"a", NULL, 1, 0, ALL, ALL, 0, 6, 6000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 2000}}},
    {"if queues deserve more than there is, each gets its part",
     8,
     {{"a", NULL, 1, 0, 6, ALL, 0, 20, 4800}, {"b", NULL, 1, 0, 4, ALL, 0, 20, 3200}}},
    {"if queues deserve more than there is, one that wants less than its part gets what it wants",
     8,
     {{"a", NULL, 1, 0, 8, ALL, 0, 20, 6000}, {"b", NULL, 1, 0, 8, ALL, 0, 2, 2000}}},
    {"if queues deserve more than there is, priority and weight do not count",
     8,
     {{"a", NULL, 1, 0, 6, ALL, 0, 20, 4800},
      {"b", NULL, 0, 9, 4, ALL, 0, 20, 3200},
      {"c", NULL, 9, 9, 0, ALL, 0, 20, 0}}},
    {"to deserve more than there is means to deserve all",
     8,
     {{"a", NULL, 1, 0, 1000, ALL, 0, 20, 6400}, {"b", NULL, 1, 0, 2, ALL, 0, 20, 1600}}},
    {"a limit bounds the share, and the others get the rest",
     8,
     {{"a", NULL, 1, 0, 0, 1, 0, 20, 1000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 7000}}},
    {"a limit of nothing is a share of nothing",
     8,
     {{"a", NULL, 1, 0, 0, 0, 0, 20, 0}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 8000}}},
    {"a limit bounds the share even if the queue deserves more",
     8,
     {{"a", NULL, 1, 0, 6, 4, 0, 20, 4000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 4000}}},
    {"a share contains what other queues reserve and do not want",
     8,
     {{"a", NULL, 1, 0, 4, ALL, 4, 1, 1000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 7000}}},
    {"the surplus goes to the highest priority first",
     8,
     {{"a", NULL, 1, 1, 0, ALL, 0, 5, 5000}, {"b", NULL, 9, 0, 0, ALL, 0, 20, 3000}}},
    {"the priority does not change what queues deserve",
     8,
     {{"a", NULL, 1, 1, 0, ALL, 0, 20, 4000}, {"b", NULL, 1, 0, 4, ALL, 0, 20, 4000}}},
    {"a weight of 0 gets surplus only after all others",
     8,
     {{"a", NULL, 0, 0, 1, ALL, 0, 20, 3000}, {"b", NULL, 1, 0, 0, ALL, 0, 5, 5000}}},
    {"a weight of 0 gets no surplus while others want it",
     8,
     {{"a", NULL, 0, 0, 1, ALL, 0, 20, 1000}, {"b", NULL, 1, 0, 0, ALL, 0, 20, 7000}}},
    {"each level divides the share of its parent",
     12,
     {{"a", NULL, 1, 0, 0, ALL, 0, 20, 6000},
      {"p", NULL, 1, 0, 0, ALL, 0, 0, 6000},
      {"x", "p", 2, 0, 0, ALL, 0, 20, 4000},
      {"y", "p", 1, 0, 0, ALL, 0, 20, 2000}}},
    {"a parent wants no more than its limit, however much its children deserve",
     8,
     {{"a", NULL, 1, 0, 0, ALL, 0, 20, 5000},
      {"p", NULL, 1, 0, 3, 3, 0, 0, 3000},
      {"x", "p", 1, 0, 3, ALL, 0, 20, 3000},
      {"y", "p", 1, 0, 0, ALL, 0, 20, 0}}},
};

/* The same for two resources. */
struct two_rows {
    struct row gpu;
    int cpu_weight;
    int64_t cpu_deserved, cpu_share; /* thousandths of a CPU */
};

static const struct rule_of_two {
    const char *text;
    int gpus, cpus;
    struct two_rows rows[3];
} rules_of_two[] = {
    {"each resource is divided on its own, by its own weight",
     8,
     12,
     {{{"a", NULL, 3, 0, 0, ALL, 0, 20, 6000}, 1, 0, 3000},
      {{"b", NULL, 1, 0, 0, ALL, 0, 20, 2000}, 3, 0, 9000}}},
    {"what a queue deserves of one resource does not change the others",
     8,
     12,
     {{{"a", NULL, 1, 0, 6, ALL, 0, 20, 7000}, 1, 0, 4000},
      {{"b", NULL, 1, 0, 0, ALL, 0, 20, 1000}, 1, 4, 8000}}},
    {"a limit for one resource does not limit the others",
     8,
     12,
     {{{"a", NULL, 1, 0, 0, 1, 0, 20, 1000}, 1, 0, 6000},
      {{"b", NULL, 1, 0, 0, ALL, 0, 20, 7000}, 1, 0, 6000}}},
};

static struct gang_queue_facts *a_queue(const struct row *row)
{
    struct gang_queue_facts *f = world_queue_facts(row->name, row->parent);
    f->weight = 1000 * row->weight;
    f->priority = row->priority;
    struct gang_quota *q = gang_quota_add(f, GPU);
    q->deserved = row->deserved;
    q->cap = row->cap;
    q->reserved = row->reserved;
    return f;
}

static void add_gangs(struct world *w, const struct row *row)
{
    for (int i = 0; i < row->want; i++) {
        cleanup_free char *name = xasprintf("%s-%d", row->name, i);
        world_queued(w, name, row->name, 1, 1);
    }
}

static void expect_share(const struct world *w, const char *rule, const char *queue,
                         const char *resource, int64_t want)
{
    int64_t share = world_queue_share(w, queue, resource);
    if (share != want)
        fail_msg("%s: queue %s has %lld thousandths of %s, not %lld", rule, queue, (long long)share,
                 resource, (long long)want);
}

static void Q02_each_rule_gives_the_share_that_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct world *w = world_new();
        world_node(w, "n0", rules[i].gpus);
        for (const struct row *row = rules[i].rows; row->name; row++)
            world_queue_set(w, a_queue(row));
        for (const struct row *row = rules[i].rows; row->name; row++)
            add_gangs(w, row);
        world_wait(w, SECONDS(2));
        for (const struct row *row = rules[i].rows; row->name; row++)
            expect_share(w, rules[i].text, row->name, GPU, row->share);
        world_free(w);
    }
}

static void Q02_each_resource_has_a_share_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules_of_two); i++) {
        const struct rule_of_two *rule = &rules_of_two[i];
        struct world *w = world_new();
        world_node_small(w, "n0", rule->gpus, 1000 * rule->cpus);
        for (const struct two_rows *row = rule->rows; row->gpu.name; row++) {
            struct gang_queue_facts *f = a_queue(&row->gpu);
            struct gang_quota *cpu = gang_quota_add(f, "cpu");
            cpu->deserved = 1000 * row->cpu_deserved;
            cpu->weight = 1000 * row->cpu_weight;
            world_queue_set(w, f);
        }
        for (const struct two_rows *row = rule->rows; row->gpu.name; row++)
            add_gangs(w, &row->gpu);
        world_wait(w, SECONDS(2));
        for (const struct two_rows *row = rule->rows; row->gpu.name; row++) {
            expect_share(w, rule->text, row->gpu.name, GPU, row->gpu.share);
            expect_share(w, rule->text, row->gpu.name, "cpu", 1000 * row->cpu_share);
        }
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_each_rule_gives_the_share_that_it_says),
        cmocka_unit_test(Q02_each_resource_has_a_share_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
