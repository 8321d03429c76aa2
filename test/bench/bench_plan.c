/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan.c - what planning costs, beside one plain pass of the predicates over the same nodes.
 *
 *   bench_plan [NODES]            default 5,000
 *   bench_plan growth [NODES]     only the curves
 *
 * The plain pass is what anybody would write first: for each node the rules of kube-scheduler about
 * selector, affinity and taints, then the sum of the containers' requests against what is free; no
 * classes, no caches.
 * Each time is the shortest of several, since whatever else the machine does only adds to it; only
 * ratios mean something. After the table for people comes a line for each figure, in the format
 * that all programs here have:
 *
 *   figure ID KEY RATIO TARGET "TEXT"        the ratio should not be above the target
 *
 * or a line for each point of the curves that show how the cost grows:
 *
 *   point ID SERIES X MS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/usec.h"
#include "gang/gang.h"
#include "gang/node_predicates.h"
#include "test/lib/test_config.h"
#include "workload/request_sums.h"

#define CLASSES 20 /* of nodes: labels, CPUs, memory */
#define GPUS    8  /* of a node */
#define GPU     "nvidia.com/gpu"
#define TIMES   9
#define ENDED   7 /* nodes that get free: the eighth would make room for a gang */

struct bench {
    struct gang_core *core;
    usec_t now;
    int nodes, classes;
    size_t effects; /* of the last step */
};

static void step(struct bench *b, struct gang_event *events, size_t n)
{
    b->now += USEC_PER_MSEC;
    gang_step(b->core, b->now, events, n, &b->effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

/* ---- facts ---- */

static struct gang_node_facts *node_facts(int i, int classes)
{
    struct gang_node_facts *f = gang_node_facts_new();
    int class = i % classes;
    cleanup_free char *pool = xasprintf("pool-%d", class), *zone = xasprintf("zone-%d", class % 3);
    f->name = xasprintf("node-%05d", i);
    gang_kvs_add(&f->labels, "kubernetes.io/hostname", f->name);
    gang_kvs_add(&f->labels, "kubernetes.io/os", "linux");
    gang_kvs_add(&f->labels, "kubernetes.io/arch", "amd64");
    gang_kvs_add(&f->labels, "topology.kubernetes.io/zone", zone);
    gang_kvs_add(&f->labels, "node.kubernetes.io/instance-type", pool);
    gang_kvs_add(&f->labels, "nvidia.com/gpu.present", "true");
    gang_amounts_add(&f->allocatable, "pods", 110);
    gang_amounts_add(&f->allocatable, "cpu", 1000 * (64 + class));
    gang_amounts_add(&f->allocatable, "memory", (INT64_C(256) + class) << 30);
    gang_amounts_add(&f->allocatable, GPU, GPUS);
    f->taints = xcalloc(1, sizeof *f->taints);
    f->n_taints = 1;
    f->taints[0].key = xstrdup(GPU);
    f->taints[0].value = xstrdup("present");
    f->taints[0].effect = TAINT_NO_SCHEDULE;
    return f;
}

static struct gang_ref ref_of(const char *group)
{
    return (struct gang_ref){xstrdup("bench"), xstrdup("default"), xstrdup(group)};
}

/* group and node NULL: none. */
static struct gang_pod_facts *pod_facts(const char *name, const char *group, int gpus,
                                        const char *node)
{
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->uid = xasprintf("uid-%s", name);
    f->node = xstrdup_null(node);
    f->phase = node ? PHASE_RUNNING : PHASE_PENDING;
    if (group)
        f->group = ref_of(group);
    gang_amounts_add(&f->requests, "cpu", 4000);
    gang_amounts_add(&f->requests, "memory", INT64_C(16) << 30);
    gang_amounts_add(&f->requests, GPU, gpus);
    gang_kvs_add(&f->node_selector, "kubernetes.io/os", "linux");
    f->tolerations = xcalloc(1, sizeof *f->tolerations);
    f->n_tolerations = 1;
    f->tolerations[0].key = xstrdup(GPU);
    f->tolerations[0].exists = true;
    f->tolerations[0].any_effect = true;
    return f;
}

static struct gang_event pod_event(const char *name, const char *group, int gpus, const char *node)
{
    return (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod_facts(name, group, gpus, node)};
}

static struct gang_event group_event(const char *name, int min)
{
    struct gang_event ev = {.kind = GANG_EV_GROUP_SET, .group = gang_group_facts_new()};
    ev.group->ref = ref_of(name);
    ev.group->uid = xasprintf("uid-of-%s", name);
    ev.group->min_member = min;
    return ev;
}

/* ---- a cluster ---- */

/* Nobody is hoped for: what is measured is planned in one step, when the last member is there. */
static struct bench bench_new(int nodes, int classes)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.schedule_timeout = 24 * 3600 * USEC_PER_SEC;
    config.starvation = 0;
    struct bench b = {.core = gang_core_new(&config), .nodes = nodes, .classes = classes};
    for (int i = 0; i < nodes; i++) {
        struct gang_event ev = {.kind = GANG_EV_NODE_SET, .node = node_facts(i, classes)};
        step(&b, &ev, 1);
    }
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    step(&b, &synced, 1);
    return b;
}

/* A gang that needs so many, and its first `there` members. */
static void add_gang(struct bench *b, const char *name, int members, int there, int gpus)
{
    struct gang_event ev = group_event(name, members);
    step(b, &ev, 1);
    for (int i = 0; i < there; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        ev = pod_event(pod, name, gpus, NULL);
        step(b, &ev, 1);
    }
}

/* A pod that fills a node. */
static void add_old(struct bench *b, int i)
{
    cleanup_free char *pod = xasprintf("old-%d", i), *node = xasprintf("node-%05d", i);
    struct gang_event ev = pod_event(pod, NULL, GPUS, node);
    step(b, &ev, 1);
}

static void fill(struct bench *b)
{
    for (int i = 0; i < b->nodes; i++)
        add_old(b, i);
}

/* ---- times ---- */

static double shortest(const usec_t *times, int n)
{
    usec_t best = times[0];
    for (int i = 1; i < n; i++)
        best = times[i] < best ? times[i] : best;
    return (double)best / USEC_PER_MSEC;
}

/* As from a pod of one container. */
static struct gang_amounts requests_summed(const struct gang_pod_facts *pod)
{
    struct request_sums sum = {0};
    struct gang_amounts ret = {0};
    for (size_t i = 0; i < pod->requests.n; i++)
        request_sums_ask(&sum, pod->requests.items[i].resource, pod->requests.items[i].amount);
    request_sums_container(&sum, CONTAINER_REGULAR);
    for (size_t i = 0; i < sum.n; i++)
        gang_amounts_add(&ret, sum.items[i].resource, request_sums_charged(&sum.items[i]));
    request_sums_done(&sum);
    return ret;
}

/* One member against every node; the free amounts are those of an empty cluster. */
static double plain_pass(int nodes)
{
    usec_t times[TIMES];
    struct gang_node_facts **all = xcalloc((size_t)nodes, sizeof *all);
    struct gang_pod_facts *pod = pod_facts("p", NULL, 1, NULL);
    volatile int fits = 0;
    for (int i = 0; i < nodes; i++)
        all[i] = node_facts(i, CLASSES);
    for (int t = 0; t < TIMES; t++) {
        usec_t begin = usec_now();
        for (int i = 0; i < nodes; i++) {
            struct gang_amounts need = requests_summed(pod);
            bool ok = !gang_node_refusal(pod, all[i]);
            for (size_t k = 0; k < need.n; k++)
                ok = ok && need.items[k].amount <=
                               gang_amounts_get(&all[i]->allocatable, need.items[k].resource);
            gang_amounts_done(&need);
            fits += ok;
        }
        times[t] = usec_now() - begin;
    }
    for (int i = 0; i < nodes; i++)
        gang_node_facts_free(all[i]);
    free(all);
    gang_pod_facts_free(pod);
    return shortest(times, TIMES);
}

static int planned(struct bench *b)
{
    struct gang_stats stats;
    gang_core_stats(b->core, &stats);
    return (int)stats.plans_made;
}

/*
 * The step in which the last of so many members comes: with it the gang is planned, all of it. A
 * gang of another size was planned before, so that the nodes are known.
 */
static double plan_large(int nodes, int classes, int members)
{
    usec_t times[TIMES];
    for (int t = 0; t < TIMES; t++) {
        struct bench b = bench_new(nodes, classes);
        add_gang(&b, "before", 1, 1, 2);
        add_gang(&b, "g", members, members - 1, 1);
        struct gang_event last = pod_event("last", "g", 1, NULL);
        int before = planned(&b);
        usec_t begin = usec_now();
        step(&b, &last, 1);
        times[t] = usec_now() - begin;
        if (planned(&b) != before + 1)
            abort();
        gang_core_free(b.core);
    }
    return shortest(times, TIMES);
}

/* Pods 0, 7, 14, … end, each in a step of its own, and then they are there again. */
static void some_end(struct bench *b, usec_t *best)
{
    for (int i = 0; i < ENDED; i++) {
        struct gang_event ev = {.kind = GANG_EV_POD_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xasprintf("old-%d", 7 * i)};
        usec_t begin = usec_now();
        step(b, &ev, 1);
        usec_t took = usec_now() - begin;
        best[i] = !best[i] || took < best[i] ? took : best[i];
    }
    for (int i = 0; i < ENDED; i++)
        add_old(b, 7 * i);
}

/* A pod ends while so many gangs of 8 wait, and none of them fits all the same: the mean of several
 * such ends, each the shortest of several. */
static double waiting_list(int nodes, int gangs)
{
    usec_t best[ENDED] = {0}, all = 0;
    struct bench b = bench_new(nodes, CLASSES);
    fill(&b);
    for (int i = 0; i < gangs; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        add_gang(&b, name, 8, 8, GPUS);
    }
    for (int t = 0; t < TIMES; t++)
        some_end(&b, best);
    for (int i = 0; i < ENDED; i++)
        all += best[i];
    gang_core_free(b.core);
    return (double)all / ENDED / USEC_PER_MSEC;
}

static void row(const char *what, double ms, double pass)
{
    printf("| %-58s | %8.2f | %6.1f |\n", what, ms, ms / pass);
}

static void figure(const char *key, double ms, double base_ms, double target, const char *base)
{
    printf("figure P06 %s %.4f %g \"%.3f ms, %s %.3f ms\"\n", key, ms / base_ms, target, ms, base,
           base_ms);
}

static void point(const char *series, int x, double ms)
{
    printf("point P06 %s %d %.4f\n", series, x, ms);
}

/* How the cost grows with each of the things that there may be more of. */
static void growth(int nodes)
{
    static const int of_nodes[] = {500, 1000, 5000, 10000, 20000, 50000};
    static const int of_classes[] = {1, 20, 100, 500, 1000, 2500};
    static const int of_members[] = {10, 100, 500, 1000, 2000, 5000};
    static const int of_gangs[] = {100, 500, 1250, 2500, 5000, 10000};
    printf("\n");
    for (size_t i = 0; i < 6; i++) {
        point("nodes-one-plain-pass", of_nodes[i], plain_pass(of_nodes[i]));
        point("nodes-plan-of-100", of_nodes[i], plan_large(of_nodes[i], CLASSES, 100));
    }
    for (size_t i = 0; i < 6; i++)
        point("classes-plan-of-100", of_classes[i], plan_large(nodes, of_classes[i], 100));
    for (size_t i = 0; i < 6 && of_members[i] < nodes * GPUS / 2; i++)
        point("members-one-plan", of_members[i], plan_large(nodes, CLASSES, of_members[i]));
    for (size_t i = 0; i < 6; i++)
        point("waiting-gangs-one-look", of_gangs[i], waiting_list(nodes, of_gangs[i]));
}

int main(int argc, char **argv)
{
    bool grow = argc > 1 && !strcmp(argv[1], "growth");
    int nodes = argc > 1 + grow ? atoi(argv[1 + grow]) : 5000;
    if (nodes < 200) {
        fprintf(stderr, "usage: bench_plan [growth] [NODES]     at least 200\n");
        return 2;
    }
    if (grow) {
        growth(nodes);
        return 0;
    }
    double pass = plain_pass(nodes), plan = plan_large(nodes, CLASSES, 1000);
    double more = plan_large(10 * nodes, CLASSES, 1000), list = waiting_list(nodes, 1250);
    printf("%d nodes of %d classes, %d GPUs each\n\n", nodes, CLASSES, GPUS);
    printf("| %-58s | %8s | %6s |\n", "", "ms", "passes");
    printf("|%.60s|%.9s:|%.7s:|\n", "------------------------------------------------------------",
           "---------", "-------");
    row("one plain pass: one member against every node", pass, pass);
    row("plan of 1,000 members", plan, pass);
    row("the same on ten times the nodes", more, pass);
    row("1,250 waiting gangs of 8, looked at again when a pod ends", list, pass);
    printf("\n");
    figure("plan-1000", plan, pass, 5, "one pass");
    figure("ten-times-nodes", more, plan, 3, "a tenth of the nodes");
    figure("waiting-list", list, pass, 5, "one pass");
    return 0;
}
