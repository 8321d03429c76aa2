/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - what planning costs, beside one plain pass of the predicates over the same nodes.
 *
 *   bench_plan [NODES]        default 5,000
 *
 * The plain pass is what anybody would write first: for each node the rules of kube-scheduler about
 * selector, affinity and taints, then each request against what is free; no classes, no caches.
 * Times are medians; only their ratios mean something.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/usec.h"
#include "gang/gang.h"
#include "gang/predicates.h"

#define CLASSES 20 /* of nodes: labels, CPUs, memory */
#define GPUS    8  /* of a node */
#define GPU     "nvidia.com/gpu"
#define TIMES   9

struct bench {
    struct gang_core *core;
    usec_t now;
    int nodes;
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

static struct gang_node_facts *node_facts(int i)
{
    struct gang_node_facts *f = gang_node_facts_new();
    int class = i % CLASSES;
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
    f->containers = xcalloc(1, sizeof *f->containers);
    f->n_containers = 1;
    gang_amounts_add(&f->containers[0].requests, "cpu", 4000);
    gang_amounts_add(&f->containers[0].requests, "memory", INT64_C(16) << 30);
    gang_amounts_add(&f->containers[0].requests, GPU, gpus);
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

static struct bench bench_new(int nodes)
{
    struct gang_config config = gang_config_default();
    config.schedule_timeout = 24 * 3600 * USEC_PER_SEC;
    config.starvation = 0;
    struct bench b = {.core = gang_core_new(&config), .nodes = nodes};
    for (int i = 0; i < nodes; i++) {
        struct gang_event ev = {.kind = GANG_EV_NODE_SET, .node = node_facts(i)};
        step(&b, &ev, 1);
    }
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    step(&b, &synced, 1);
    return b;
}

static void add_gang(struct bench *b, const char *name, int members, int gpus)
{
    struct gang_event ev = group_event(name, members);
    step(b, &ev, 1);
    for (int i = 0; i < members; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        ev = pod_event(pod, name, gpus, NULL);
        step(b, &ev, 1);
    }
}

/* Pods that fill each node. */
static void fill(struct bench *b)
{
    for (int i = 0; i < b->nodes; i++) {
        cleanup_free char *pod = xasprintf("old-%d", i), *node = xasprintf("node-%05d", i);
        struct gang_event ev = pod_event(pod, NULL, GPUS, node);
        step(b, &ev, 1);
    }
}

/* ---- times ---- */

static int by_time(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return x < y ? -1 : x > y;
}

static double median(usec_t *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_time);
    return (double)times[n / 2] / 1000.0;
}

/* One member against every node; the free amounts are those of an empty cluster. */
static double plain_pass(int nodes)
{
    usec_t times[TIMES];
    struct gang_node_facts **all = xcalloc((size_t)nodes, sizeof *all);
    struct gang_pod_facts *pod = pod_facts("p", NULL, 1, NULL);
    volatile int fits = 0;
    for (int i = 0; i < nodes; i++)
        all[i] = node_facts(i);
    for (int t = 0; t < TIMES; t++) {
        usec_t begin = usec_now();
        for (int i = 0; i < nodes; i++) {
            struct gang_amounts need = {NULL, 0};
            bool ok = !gang_node_refusal(pod, all[i]);
            gang_pod_requests(pod, &need);
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
    return median(times, TIMES);
}

/* The step in which the last of so many members comes: with it the gang is planned. */
static double plan_large(int nodes, int members)
{
    usec_t times[TIMES];
    for (int t = 0; t < TIMES; t++) {
        struct bench b = bench_new(nodes);
        add_gang(&b, "g", members - 1, 1);
        struct gang_event both[] = {group_event("g", members), pod_event("last", "g", 1, NULL)};
        usec_t begin = usec_now();
        step(&b, both, 2);
        times[t] = usec_now() - begin;
        gang_core_free(b.core);
    }
    return median(times, TIMES);
}

/* A pod ends while so many gangs of 8 wait, and none of them fits all the same. */
static double waiting_list(int nodes, int gangs)
{
    usec_t times[TIMES];
    struct bench b = bench_new(nodes);
    fill(&b);
    for (int i = 0; i < gangs; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        add_gang(&b, name, 8, GPUS);
    }
    for (int t = 0; t < TIMES; t++) {
        struct gang_event ev = {.kind = GANG_EV_POD_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xasprintf("old-%d", t * 7)};
        if (t == 7)
            break; /* the eighth makes room for a gang */
        usec_t begin = usec_now();
        step(&b, &ev, 1);
        times[t] = usec_now() - begin;
    }
    gang_core_free(b.core);
    return median(times, 7);
}

static void row(const char *what, double ms, double pass)
{
    printf("| %-58s | %8.2f | %6.1f |\n", what, ms, ms / pass);
}

int main(int argc, char **argv)
{
    int nodes = argc > 1 ? atoi(argv[1]) : 5000;
    if (nodes < 100) {
        fprintf(stderr, "usage: bench_plan [NODES]     at least 100\n");
        return 2;
    }
    double pass = plain_pass(nodes);
    printf("%d nodes of %d classes, %d GPUs each\n\n", nodes, CLASSES, GPUS);
    printf("| %-58s | %8s | %6s |\n", "", "ms", "passes");
    printf("|%.60s|%.9s:|%.7s:|\n", "------------------------------------------------------------",
           "---------", "-------");
    row("one plain pass: one member against every node", pass, pass);
    row("plan of 1,000 members", plan_large(nodes, 1000), pass);
    row("the same on ten times the nodes", plan_large(10 * nodes, 1000), pass);
    row("1,250 waiting gangs of 8, looked at again when a pod ends", waiting_list(nodes, 1250),
        pass);
    return 0;
}
