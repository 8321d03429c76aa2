/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan.c - the cost of planning, compared with one plain pass of the predicates over the same
 * nodes.
 *
 *   bench_plan [NODES]            default 5,000
 *   bench_plan growth [NODES]     only the curves
 *   bench_plan queues [NODES]     only the passes with queues
 *   bench_plan evictions [NODES]  only decisions to evict
 *   bench_plan one KEY 0|1 [NODES]    only the pass KEY, once, without (0) or with queues, or the
 *                                     decision KEY (1) or the plan that it is compared with (0),
 * for `valgrind --toggle-collect=measured`, see check-instructions
 *
 * The plain pass is the obvious implementation, without classes or caches: for each node, it
 * evaluates kube-scheduler's rules about selector, affinity and taints, and compares the sum of the
 * containers' requests with the free room. Each time is the shortest of several, because other work
 * on the machine only adds to it. Only the ratios are meaningful. The passes with 1,000 queues are
 * compared with those of the same gangs on the same nodes without queues. A decision to evict is
 * compared with a plan of the same gang in a cluster that has room for it. After the tables comes a
 * line for each figure, in the format of all benchmark programs:
 *
 *   figure ID KEY RATIO TARGET "TEXT"        the ratio should be at most the target
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
#include "test/lib/cpu_cost.h"
#include "test/lib/test_config.h"
#include "workload/request_sums.h"

#define CLASSES   20 /* classes of nodes, by labels, CPUs and memory */
#define GPUS      8  /* GPUs of a node */
#define GPU       "nvidia.com/gpu"
#define TIMES     9
#define TURNS     9 /* clusters with and without queues that are compared */
#define DECISIONS 3 /* how often each decision to evict is timed; the shortest time counts */
#define ENDED     7 /* number of nodes that become free; eight would fit a gang */
#define WAITING   1250
#define MISSED    " no victims found, although a set exists"
#define LINE      "------------------------------------------------------------"

struct bench {
    struct gang_core *core;
    usec_t now;
    int nodes, classes;
    size_t effects; /* number of effects of the last step */
};

/* How often each pass is timed; the shortest time counts. */
static int times_of_each = TIMES;

static void step(struct bench *b, struct gang_event *events, size_t n)
{
    b->now += USEC_PER_MSEC;
    gang_step(b->core, b->now, events, n, &b->effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

/* A step that is measured. Event NULL: none. */
__attribute__((noinline)) static void measured(struct bench *b, struct gang_event *event)
{
    step(b, event, event != NULL);
}

/* The step that is measured, and those that make the plans that it defers. */
static void with_deferred(struct bench *b, struct gang_event *event)
{
    measured(b, event);
    while (gang_core_plans_deferred(b->core))
        measured(b, NULL);
}

/* ---- facts ---- */

static struct gang_node_facts *node_facts(int i, int classes, int gpus)
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
    gang_amounts_add(&f->allocatable, GPU, gpus);
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

/* ---- queues ---- */

/* The queues of the four levels, 1,000 together. Those of the last level take the gangs. */
static const int levels[] = {4, 16, 80, 900};
#define LEAVES 900

static char *queue_name(int level, int i)
{
    return xasprintf("queue-%d-%d", level, i % levels[level]);
}

/* Each deserves the same as its siblings, and borrows. */
static struct gang_event queue_event(int level, int i, int gpus)
{
    struct gang_event ev = {.kind = GANG_EV_QUEUE_SET, .queue = gang_queue_facts_new()};
    cleanup_free char *name = queue_name(level, i);
    struct gang_ref ref = ref_of(name);
    free(ref.ns);
    ref.ns = xstrdup("");
    ev.queue->ref = ref;
    ev.queue->created = i * USEC_PER_SEC;
    ev.queue->parent = level ? queue_name(level - 1, i) : NULL;
    struct gang_quota *quota = gang_quota_add(ev.queue, GPU);
    quota->deserved = gpus / 2 / levels[level];
    quota->cap = gpus;
    return ev;
}

/* ---- a cluster ---- */

/* Without expected members, so that the step with the last member makes the whole plan. */
static struct bench bench_begin(int nodes, int classes, int gpus)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.schedule_timeout = 24 * 3600 * USEC_PER_SEC;
    config.starvation = 0;
    struct bench b = {.core = gang_core_new(&config), .nodes = nodes, .classes = classes};
    for (int i = 0; i < nodes; i++) {
        struct gang_event ev = {.kind = GANG_EV_NODE_SET, .node = node_facts(i, classes, gpus)};
        step(&b, &ev, 1);
    }
    return b;
}

static void sync_all(struct bench *b)
{
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    step(b, &synced, 1);
}

static struct bench bench_new(int nodes, int classes)
{
    struct bench b = bench_begin(nodes, classes, GPUS);
    sync_all(&b);
    return b;
}

static void add_queues(struct bench *b)
{
    for (int level = 0; level < (int)(sizeof levels / sizeof *levels); level++)
        for (int i = 0; i < levels[level]; i++) {
            struct gang_event ev = queue_event(level, i, b->nodes * GPUS);
            step(b, &ev, 1);
        }
}

/* A gang that needs `members`, with its first `there` members. Queue NULL: none. */
static void add_queued(struct bench *b, const char *name, usec_t created, char *queue, int members,
                       int there, int gpus)
{
    struct gang_event ev = group_event(name, members);
    ev.group->created = created;
    ev.group->queue = queue;
    step(b, &ev, 1);
    for (int i = 0; i < there; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        ev = pod_event(pod, name, gpus, NULL);
        step(b, &ev, 1);
    }
}

static void add_gang(struct bench *b, const char *name, int members, int there, int gpus)
{
    add_queued(b, name, 0, NULL, members, there, gpus);
}

/* Lists of objects are sorted by name, so muster does not learn of gangs in the order of their
 * creation. Without queue objects, the names of queues have no effect. */
static void add_waiting(struct bench *b, int gangs, int gpus)
{
    for (int i = 0; i < gangs; i++) {
        cleanup_free char *name = xasprintf("g-%05d", i);
        usec_t created = (int64_t)i * 7919 % gangs * USEC_PER_SEC;
        add_queued(b, name, created, queue_name(3, i), 8, 8, gpus);
    }
}

/* Adds a pod that fills a node. */
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

/* Time of other programs does not count. */
static usec_t cpu_now(void)
{
    return (usec_t)(cost_ms() * USEC_PER_MSEC);
}

static double shortest(const usec_t *times, int n)
{
    usec_t best = times[0];
    for (int i = 1; i < n; i++)
        best = times[i] < best ? times[i] : best;
    return (double)best / USEC_PER_MSEC;
}

/* The sum of the requests, as for a pod with one container. */
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

/* One member against every node, with the free room of an empty cluster. */
static double plain_pass(int nodes)
{
    usec_t times[TIMES];
    struct gang_node_facts **all = xcalloc((size_t)nodes, sizeof *all);
    struct gang_pod_facts *pod = pod_facts("p", NULL, 1, NULL);
    volatile int fits = 0;
    for (int i = 0; i < nodes; i++)
        all[i] = node_facts(i, CLASSES, GPUS);
    for (int t = 0; t < TIMES; t++) {
        usec_t begin = cpu_now();
        for (int i = 0; i < nodes; i++) {
            struct gang_amounts need = requests_summed(pod);
            bool ok = !gang_node_refusal(pod, all[i]);
            for (size_t k = 0; k < need.n; k++)
                ok = ok && need.items[k].amount <=
                               gang_amounts_get(&all[i]->allocatable, need.items[k].resource);
            gang_amounts_done(&need);
            fits += ok;
        }
        times[t] = cpu_now() - begin;
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
 * The time of the step in which the last member comes, which plans the whole gang. A
 * gang of another size is planned before, so that the node classes exist.
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
        usec_t begin = cpu_now();
        step(&b, &last, 1);
        times[t] = cpu_now() - begin;
        if (planned(&b) != before + 1)
            abort();
        gang_core_free(b.core);
    }
    return shortest(times, TIMES);
}

/* Pods 0, 7, 14, … end, each in its own step after a pause, and are then added again. */
static void some_end(struct bench *b, usec_t *best, usec_t pause)
{
    for (int i = 0; i < ENDED; i++) {
        b->now += pause;
        struct gang_event ev = {.kind = GANG_EV_POD_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xasprintf("old-%d", 7 * i)};
        usec_t begin = cpu_now();
        with_deferred(b, &ev);
        usec_t took = cpu_now() - begin;
        best[i] = !best[i] || took < best[i] ? took : best[i];
    }
    for (int i = 0; i < ENDED; i++)
        add_old(b, 7 * i);
}

/* A pod ends while this many gangs of 8 wait, and none of them fits: the mean for several pods,
 * each the shortest of several times. */
static double waiting_list(int nodes, int gangs, bool queues, usec_t pause)
{
    usec_t best[ENDED] = {0}, all = 0;
    struct bench b = bench_new(nodes, CLASSES);
    if (queues)
        add_queues(&b);
    fill(&b);
    add_waiting(&b, gangs, GPUS);
    for (int t = 0; t < times_of_each; t++)
        some_end(&b, best, pause);
    for (int i = 0; i < ENDED; i++)
        all += best[i];
    gang_core_free(b.core);
    return (double)all / ENDED / USEC_PER_MSEC;
}

/* The gangs and nodes exist when muster starts, and there is room for all gangs. */
static double plan_all(int nodes, int gangs, bool queues)
{
    usec_t times[TIMES] = {0};
    for (int t = 0; t < times_of_each; t++) {
        struct gang_event synced = {.kind = GANG_EV_SYNCED};
        struct bench b = bench_begin(nodes, CLASSES, GPUS);
        if (queues)
            add_queues(&b);
        add_waiting(&b, gangs, 1);
        usec_t begin = cpu_now();
        with_deferred(&b, &synced);
        times[t] = cpu_now() - begin;
        if (planned(&b) != gangs)
            abort();
        gang_core_free(b.core);
    }
    return shortest(times, times_of_each);
}

static void row(const char *what, double ms, double pass)
{
    printf("| %-58s | %8.2f | %6.1f |\n", what, ms, ms / pass);
}

static void figure(const char *id, const char *key, double ms, double base_ms, double target,
                   const char *base)
{
    printf("figure %s %s %.4f %g \"%.3f ms, %s %.3f ms\"\n", id, key, ms / base_ms, target, ms,
           base, base_ms);
}

static void point(const char *series, int x, double ms)
{
    printf("point P06 %s %d %.4f\n", series, x, ms);
}

/* How the cost grows with the numbers of nodes, classes, members and gangs. */
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
        point("waiting-gangs-one-look", of_gangs[i], waiting_list(nodes, of_gangs[i], false, 0));
}

/* ---- with and without queues ---- */

static double waiting(int nodes, bool queues)
{
    return waiting_list(nodes, WAITING, queues, 0);
}

static double waiting_later(int nodes, bool queues)
{
    return waiting_list(nodes, WAITING, queues, 2 * USEC_PER_SEC);
}

static double first_plans(int nodes, bool queues)
{
    return plan_all(nodes, WAITING, queues);
}

static const struct {
    const char *key, *what;
    double (*pass)(int nodes, bool queues);
} passes[] = {
    {"waiting-list", "1,250 waiting gangs of 8, checked when a pod ends", waiting},
    {"shares-due", "the same two seconds later, when shares are due", waiting_later},
    {"first-plans", "plans of 1,250 gangs of 8", first_plans},
};

static int by_ratio(const void *a, const void *b)
{
    const double *x = a, *y = b;
    double p = x[1] / x[0], q = y[1] / y[0];
    return (p > q) - (p < q);
}

/* Each turn builds the same cluster without and with queues, in alternating order: where objects
 * come to lie in memory changes the times more than queues do. The turn with the median ratio
 * counts. */
static void with_queues(int nodes)
{
    double of[ARRAY_SIZE(passes)][TURNS][2];
    for (size_t p = 0; p < ARRAY_SIZE(passes); p++) {
        for (int t = 0; t < TURNS; t++)
            for (int k = 0; k < 2; k++) {
                bool queues = (k + t) % 2;
                of[p][t][queues] = passes[p].pass(nodes, queues);
            }
        qsort(of[p], TURNS, sizeof of[p][0], by_ratio);
    }
    printf("\n1,000 queues in four levels, %d of them with gangs\n\n", LEAVES);
    printf("| %-58s | %8s | %8s | %5s |\n", "ms", "without", "with", "ratio");
    printf("|%.60s|%.9s:|%.9s:|%.6s:|\n", LINE, LINE, LINE, LINE);
    for (size_t p = 0; p < ARRAY_SIZE(passes); p++) {
        const double *ms = of[p][TURNS / 2];
        printf("| %-58s | %8.2f | %8.2f | %5.2f |\n", passes[p].what, ms[0], ms[1], ms[1] / ms[0]);
    }
    printf("\n");
    for (size_t p = 0; p < ARRAY_SIZE(passes); p++) {
        const double *ms = of[p][TURNS / 2];
        figure("Q09a", passes[p].key, ms[1], ms[0], 1.2, "without queues");
    }
}

/* ---- decisions to evict ---- */

/* Which nodes have a pod that must not be evicted. */
enum guards { NO_GUARDS, FEW_UNGUARDED, ALL_GUARDED };

/* A gang that needs room. With guards, no set of victims is enough. */
static const struct shape {
    const char *key, *what;
    int gpus[4]; /* of its members in turn */
    enum guards guards;
} shapes[] = {
    {"one-gpu", "members with 1 GPU each", {1, 1, 1, 1}, NO_GUARDS},
    {"eight-gpus", "members with 8 GPUs each", {8, 8, 8, 8}, NO_GUARDS},
    {"mixed", "members with 1, 2, 4 and 8 GPUs", {1, 2, 4, 8}, NO_GUARDS},
    {"node-short", "8 GPUs each, and one node too few can be freed", {8, 8, 8, 8}, FEW_UNGUARDED},
    {"nothing", "8 GPUs each, and no node can be freed", {8, 8, 8, 8}, ALL_GUARDED},
};

struct decision {
    usec_t all, longest; /* CPU time of all steps, and of the longest one */
    bool missed;         /* nothing is evicted, but a set of victims exists */
};

/* With 5,000 nodes, 1,000 members need room. */
static int members_on(int nodes)
{
    return nodes / 5;
}

static bool has_guard(const struct shape *shape, int node)
{
    return shape->guards == ALL_GUARDED ||
           (shape->guards == FEW_UNGUARDED && (node % 5 != 0 || node == 0));
}

/* A pod of a gang, or with `group` NULL a pod that nothing would create again. */
static void add_busy(struct bench *b, const char *pod, const char *group, int node, int gang)
{
    cleanup_free char *on = xasprintf("node-%05d", node);
    struct gang_event ev = pod_event(pod, group, 1, on);
    ev.pod->controlled = group != NULL;
    ev.pod->priority = gang % 3;
    ev.pod->created = ev.pod->bound_at = (gang * 7919 % b->nodes + 1) * USEC_PER_SEC;
    step(b, &ev, 1);
}

/* Fills 8 GPUs of each node with gangs of three priorities, on 5,000 nodes 2,000. */
static void add_running(struct bench *b, const struct shape *shape)
{
    int gangs = b->nodes * 2 / 5, pods = b->nodes * GPUS, group = -1;
    for (int i = 0; i < b->nodes; i++)
        pods -= has_guard(shape, i);
    for (int node = 0, at = 0; node < b->nodes; node++)
        for (int k = 0; k < GPUS; k++) {
            int gang = (int)((int64_t)at * gangs / pods);
            bool guard = k == 0 && has_guard(shape, node);
            cleanup_free char *name = xasprintf("run-%05d", gang),
                              *pod = xasprintf("%s-%d-%d", guard ? "guard" : name, node, k);
            if (!guard && gang != group) {
                int after = (int)(((int64_t)(gang + 1) * pods + gangs - 1) / gangs);
                struct gang_event ev = group_event(name, after - at);
                step(b, &ev, 1);
                group = gang;
            }
            add_busy(b, pod, guard ? NULL : name, node, gang);
            at += !guard;
        }
}

static struct gang_event urgent_event(const struct shape *shape, int i)
{
    cleanup_free char *name = xasprintf("urgent-%d", i);
    struct gang_event ev = pod_event(name, "urgent", shape->gpus[i % 4], NULL);
    ev.pod->priority = 10;
    return ev;
}

/* A gang of lower priority that evicts nobody. Planning it finds the classes of nodes. */
static void add_before(struct bench *b)
{
    struct gang_event ev = group_event("before", 1);
    step(b, &ev, 1);
    ev = pod_event("before-0", "before", 2, NULL);
    ev.pod->never_preempts = true;
    step(b, &ev, 1);
}

/* A cluster with so many GPUs on each node, in which only the last member is missing. */
static struct bench before_last(int nodes, const struct shape *shape, int gpus,
                                struct gang_event *ret_last)
{
    struct bench b = bench_begin(nodes, CLASSES, gpus);
    add_running(&b, shape);
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    synced.synced.api_time = 2 * nodes * USEC_PER_SEC;
    step(&b, &synced, 1);
    add_before(&b);
    struct gang_event ev = group_event("urgent", members_on(nodes));
    step(&b, &ev, 1);
    for (int i = 1; i < members_on(nodes); i++) {
        ev = urgent_event(shape, i);
        step(&b, &ev, 1);
    }
    *ret_last = urgent_event(shape, 0);
    return b;
}

/* The plan of the gang if each node has room for 8 GPUs more. */
static usec_t plan_urgent(int nodes, const struct shape *shape)
{
    struct gang_event last;
    struct bench b = before_last(nodes, shape, 2 * GPUS, &last);
    int before = planned(&b);
    usec_t begin = cpu_now();
    with_deferred(&b, &last);
    usec_t took = cpu_now() - begin;
    if (planned(&b) != before + 1)
        abort();
    gang_core_free(b.core);
    return took;
}

/* The steps until muster evicts pods, or until the first search has found no victims. For so many
 * members, it has the largest limit of work. */
static struct decision decide(int nodes, const struct shape *shape)
{
    struct decision d = {0};
    struct gang_event last, *event = &last;
    struct gang_stats stats;
    struct bench b = before_last(nodes, shape, GPUS, &last);
    do {
        usec_t begin = cpu_now();
        measured(&b, event);
        usec_t took = cpu_now() - begin;
        event = NULL;
        d.all += took;
        d.longest = took > d.longest ? took : d.longest;
        gang_core_stats(b.core, &stats);
        b.now += USEC_PER_MSEC;
    } while (!stats.preemptions && gang_core_next(b.core) <= b.now);
    if (stats.preemptions && shape->guards != NO_GUARDS)
        abort();
    d.missed = !stats.preemptions && shape->guards == NO_GUARDS;
    gang_core_free(b.core);
    return d;
}

/* The turn with the shortest time counts. */
static void decisions(int nodes)
{
    double pass = plain_pass(nodes);
    printf("%d nodes with %d gangs; a gang of %d of a higher priority has no room. One plain pass: "
           "%.2f ms\n\n",
           nodes, nodes * 2 / 5, members_on(nodes), pass);
    printf("| %-50s | %8s | %8s | %5s | %6s | %8s |\n", "ms", "plan", "decision", "ratio", "passes",
           "longest");
    printf("|%.52s|%.9s:|%.9s:|%.6s:|%.7s:|%.9s:|\n", LINE, LINE, LINE, LINE, LINE, LINE);
    struct buf figures = BUF_INIT;
    double most = 0;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        usec_t plans[DECISIONS];
        struct decision best = {.all = USEC_NEVER};
        for (int t = 0; t < DECISIONS; t++) {
            plans[t] = plan_urgent(nodes, &shapes[i]);
            struct decision d = decide(nodes, &shapes[i]);
            best = d.all < best.all ? d : best;
        }
        double plan = shortest(plans, DECISIONS), ms = shortest(&best.all, 1),
               longest = shortest(&best.longest, 1);
        printf("| %-50s | %8.2f | %8.2f | %5.1f | %6.1f | %8.2f |%s\n", shapes[i].what, plan, ms,
               ms / plan, ms / pass, longest, best.missed ? MISSED : "");
        buf_printf(&figures,
                   "figure Q09 %s %.4f 30 \"%.3f ms, longest step %.3f ms, plan %.3f ms%s\"\n",
                   shapes[i].key, ms / plan, ms, longest, plan, best.missed ? "," MISSED : "");
        most = ms > most ? ms : most;
    }
    buf_printf(&figures, "figure Q09 passes %.4f 30 \"%.3f ms, plain pass %.3f ms\"\n", most / pass,
               most, pass);
    printf("\n%s", buf_str(&figures));
    buf_done(&figures);
}

static int usage(int least)
{
    fprintf(stderr,
            "usage: bench_plan [growth | queues | evictions | one KEY 0|1] [NODES]     at least %d "
            "nodes\n",
            least);
    return 2;
}

/* One pass, once. */
static int one(int argc, char **argv)
{
    int nodes = argc > 4 ? atoi(argv[4]) : 5000;
    times_of_each = 1;
    for (size_t p = 0; argc > 3 && nodes >= WAITING && p < ARRAY_SIZE(passes); p++)
        if (!strcmp(passes[p].key, argv[2])) {
            printf("%.3f ms\n", passes[p].pass(nodes, atoi(argv[3])));
            return 0;
        }
    for (size_t i = 0; argc > 3 && nodes >= 200 && i < ARRAY_SIZE(shapes); i++)
        if (!strcmp(shapes[i].key, argv[2])) {
            usec_t took =
                atoi(argv[3]) ? decide(nodes, &shapes[i]).all : plan_urgent(nodes, &shapes[i]);
            printf("%.3f ms\n", shortest(&took, 1));
            return 0;
        }
    return usage(WAITING);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "one"))
        return one(argc, argv);
    bool grow = argc > 1 && !strcmp(argv[1], "growth");
    bool queues = argc > 1 && !strcmp(argv[1], "queues");
    bool evictions = argc > 1 && !strcmp(argv[1], "evictions"), part = grow || queues || evictions;
    int nodes = argc > 1 + part ? atoi(argv[1 + part]) : 5000;
    int least = queues ? WAITING : 200;
    if (nodes < least)
        return usage(least);
    if (queues) {
        with_queues(nodes);
        return 0;
    }
    if (grow) {
        growth(nodes);
        return 0;
    }
    if (evictions) {
        decisions(nodes);
        return 0;
    }
    double pass = plain_pass(nodes), plan = plan_large(nodes, CLASSES, 1000);
    double more = plan_large(10 * nodes, CLASSES, 1000),
           list = waiting_list(nodes, WAITING, false, 0);
    printf("%d nodes of %d classes, %d GPUs each\n\n", nodes, CLASSES, GPUS);
    printf("| %-58s | %8s | %6s |\n", "", "ms", "passes");
    printf("|%.60s|%.9s:|%.7s:|\n", LINE, LINE, LINE);
    row("one plain pass: one member against every node", pass, pass);
    row("plan of 1,000 members", plan, pass);
    row("the same on ten times the nodes", more, pass);
    row("1,250 waiting gangs of 8, checked when a pod ends", list, pass);
    printf("\n");
    figure("P06", "plan-1000", plan, pass, 5, "one pass");
    figure("P06", "ten-times-nodes", more, plan, 3, "a tenth of the nodes");
    figure("P06", "waiting-list", list, pass, 5, "one pass");
    return 0;
}
