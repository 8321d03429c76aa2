/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one event in a cluster with 10,000 queues, 5,000 full nodes and waiting gangs, for
 * several shapes of the tree. Whatever happens to one queue takes at most 50 ms of CPU, and so does
 * each step that takes a part of the list of all queues (four times that in the gate, for slow
 * machines). The best of several changes counts. A build without optimization has fewer objects,
 * and checks only the results.
 */
#include <stdio.h>

#include "gang/bounds.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"
#include "test/lib/world_queues.h"

enum {
    FEWER = IS_FAST_BUILD ? 1 : 50,
    NODES = 5000 / FEWER,
    QUEUES = 10000 / FEWER,
    FEW = 1000 / FEWER,
    CHAINS = QUEUES / BOUND_QUEUE_LEVELS,
    TRIES = 5,
    GPUS = 8,
    PART = 500 /* objects that one step takes of a list */
};

#define BOUND_MS 50.0
#define GIB      (INT64_C(1) << 30)

struct shape {
    const char *what;
    int n_levels, levels[4]; /* how many queues each level has, from the top down */
    int gangs;               /* that wait, each in another queue of the last level, if it can */
    /* Queues deserve cpu, memory and gpu, each with a weight, and pods request all three. */
    bool kai;
    bool crowded; /* all pods and gangs are in one queue */
};

static const struct shape shapes[] = {
    {"four levels", 4, {10, 90, 900, QUEUES - 1000}, FEW, false, false},
    {"four levels of KAI, a gang waits in each queue of the last",
     4,
     {10, 90, 900, QUEUES - 1000},
     QUEUES - 1000,
     true,
     false},
    {"one parent", 2, {1, QUEUES - 1}, FEW, false, false},
    {"one parent of KAI, a gang waits in each queue below it",
     2,
     {1, QUEUES - 1},
     QUEUES - 1,
     true,
     false},
    {"64 levels of KAI, one queue has all pods and gangs",
     BOUND_QUEUE_LEVELS,
     {CHAINS},
     FEW,
     true,
     true},
};

static int size_of(const struct shape *s, int level)
{
    return s->n_levels > 4 ? CHAINS : s->levels[level];
}

static char *queue_name(const struct shape *s, int level, int i)
{
    return xasprintf("queue-%d-%d", level, i % size_of(s, level));
}

static void deserves_part(struct gang_queue_facts *f, const char *resource, int64_t total, int of)
{
    gang_quota_add(f, resource)->deserved = 1 + total / of;
}

static struct gang_queue_facts *a_queue(const struct shape *s, int level, int i)
{
    cleanup_free char *name = queue_name(s, level, i);
    cleanup_free char *parent = level ? queue_name(s, level - 1, i) : NULL;
    struct gang_queue_facts *f = world_queue_facts(name, parent);
    deserves_part(f, s->kai ? GANG_ANY_GPU : GPU, (int64_t)NODES * GPUS, size_of(s, level));
    if (s->kai) {
        deserves_part(f, "cpu", NODES * INT64_C(64000), size_of(s, level));
        deserves_part(f, "memory", NODES * 256 * GIB, size_of(s, level));
    }
    return f;
}

/* The queue of a gang or pod. */
static char *its_queue(const struct shape *s, int i)
{
    return queue_name(s, s->n_levels - 1, s->crowded ? 1 : i);
}

static struct gang_event set(struct gang_queue_facts *f)
{
    return (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f};
}

static struct gang_event pod_set(const struct shape *s, struct gang_pod_facts *f)
{
    if (s->kai)
        gang_amounts_add(&f->requests, "memory", GIB);
    return (struct gang_event){.kind = GANG_EV_POD_SET, .pod = gang_pod_facts_pack(f)};
}

static struct gang_event a_pod(const struct shape *s, int i)
{
    cleanup_free char *name = xasprintf("single-%d", i);
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), its_queue(s, i)};
    f->node = xasprintf("n%d", i / GPUS);
    f->phase = PHASE_RUNNING;
    return pod_set(s, f);
}

static struct gang_event a_gang(const struct shape *s, int i)
{
    cleanup_free char *name = xasprintf("g%d", i);
    struct gang_group_facts *f = world_group_facts(name, 2);
    f->queue = its_queue(s, i);
    return (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
}

static struct gang_event a_member(const struct shape *s, int i)
{
    cleanup_free char *gang = xasprintf("g%d", i / 2);
    cleanup_free char *name = xasprintf("%s-%d", gang, i % 2);
    return pod_set(s, world_pod_facts(name, gang, GPUS));
}

/* ---- many at once ---- */

/* Steps that each take a part of a list. */
struct list_steps {
    struct world *w;
    const struct shape *shape;
    struct gang_event events[PART];
    size_t n;
    double worst; /* of all steps so far */
};

static void timed_step(struct list_steps *l)
{
    size_t n;
    l->w->now += 100 * USEC_PER_MSEC;
    double t = cost_ms();
    gang_step(l->w->core, l->w->now, l->events, l->n, &n);
    t = cost_ms() - t;
    l->worst = t > l->worst ? t : l->worst;
    for (size_t i = 0; i < l->n; i++)
        gang_event_done(&l->events[i]);
    l->n = 0;
}

static void put(struct list_steps *l, struct gang_event ev)
{
    l->events[l->n++] = ev;
    if (l->n == PART)
        timed_step(l);
}

static void put_queues(struct list_steps *l)
{
    for (int level = 0; level < l->shape->n_levels; level++)
        for (int i = 0; i < size_of(l->shape, level); i++)
            put(l, set(a_queue(l->shape, level, i)));
    timed_step(l);
}

static struct gang_event gone(const struct shape *s, int level, int i)
{
    struct gang_event ev = {.kind = GANG_EV_QUEUE_GONE};
    ev.gone = (struct gang_ref){xstrdup("test"), xstrdup(""), queue_name(s, level, i)};
    return ev;
}

static void take_queues(struct list_steps *l)
{
    for (int level = 0; level < l->shape->n_levels; level++)
        for (int i = 0; i < size_of(l->shape, level); i++)
            put(l, gone(l->shape, level, i));
    timed_step(l);
}

static void put_others(struct list_steps *l)
{
    for (int i = 0; i < NODES * GPUS; i++)
        put(l, a_pod(l->shape, i));
    for (int i = 0; i < l->shape->gangs; i++)
        put(l, a_gang(l->shape, i));
    for (int i = 0; i < 2 * l->shape->gangs; i++)
        put(l, a_member(l->shape, i));
    timed_step(l);
}

/* Until all gangs have been planned and all statuses are written. */
static void rest(struct list_steps *l)
{
    for (int i = 0; i < 20; i++)
        timed_step(l);
}

static struct list_steps begin(const struct shape *shape)
{
    struct list_steps l = {.w = world_new(), .shape = shape};
    l.w->unchecked = true;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(l.w, name, GPUS);
    }
    return l;
}

static void end(struct list_steps *l)
{
    struct err err;
    if (gang_core_check(l->w->core, &err) < 0)
        fail_msg("%s", err.text);
    world_free(l->w);
}

/* ---- what happens ---- */

static struct gang_event limit_of(const struct shape *s, int level, int times)
{
    struct gang_queue_facts *f = a_queue(s, level, 1);
    f->quotas[f->n_quotas - 1].cap = times % 2 ? 5 : 50;
    return set(f);
}

static struct gang_event limit_of_a_leaf(const struct shape *s, int times)
{
    return limit_of(s, s->n_levels - 1, times);
}

static struct gang_event limit_at_the_top(const struct shape *s, int times)
{
    return limit_of(s, 0, times);
}

static struct gang_event closed_at_the_top(const struct shape *s, int times)
{
    struct gang_queue_facts *f = a_queue(s, 0, 1);
    f->closed = times % 2;
    return set(f);
}

static struct gang_event gone_at(const struct shape *s, int level, int times)
{
    return times % 2 ? gone(s, level, 1) : set(a_queue(s, level, 1));
}

static struct gang_event gone_leaf(const struct shape *s, int times)
{
    return gone_at(s, s->n_levels - 1, times);
}

static struct gang_event gone_at_the_top(const struct shape *s, int times)
{
    return gone_at(s, 0, times);
}

static struct gang_event cycle(const struct shape *s, int times)
{
    struct gang_queue_facts *f = a_queue(s, 0, 1);
    f->parent = times % 2 ? queue_name(s, s->n_levels > 2 ? 2 : 1, 1) : NULL;
    return set(f);
}

/* Below the cluster, and back. */
static struct gang_event moved(const struct shape *s, int times)
{
    struct gang_queue_facts *f = a_queue(s, 1, 1);
    if (times % 2)
        free(STEAL(f->parent));
    return set(f);
}

static struct gang_event pod_of_another_queue(const struct shape *s, int times)
{
    struct gang_event ev = {.kind = GANG_EV_POD_GONE};
    if (times % 2 == 0)
        return a_pod(s, 1);
    ev.gone = (struct gang_ref){NULL, xstrdup("default"), xstrdup("single-1")};
    return ev;
}

static struct gang_event member_of_a_gang(const struct shape *s, int times)
{
    struct gang_event ev = {.kind = GANG_EV_POD_GONE};
    if (times % 2 == 0)
        return a_member(s, 1);
    ev.gone = (struct gang_ref){NULL, xstrdup("default"), xstrdup("g0-1")};
    return ev;
}

static const struct {
    const char *what;
    struct gang_event (*event)(const struct shape *s, int times);
    usec_t pause; /* before the event; shares are due after a second */
} happenings[] = {
    {"the limit of a queue changes", limit_of_a_leaf, USEC_PER_MSEC},
    {"a limit at the top changes", limit_at_the_top, USEC_PER_MSEC},
    {"the same when shares are due", limit_at_the_top, 2 * USEC_PER_SEC},
    {"a queue at the top closes or opens", closed_at_the_top, USEC_PER_MSEC},
    {"a queue goes or comes", gone_leaf, USEC_PER_MSEC},
    {"a queue at the top goes or comes", gone_at_the_top, USEC_PER_MSEC},
    {"a cycle begins or ends", cycle, USEC_PER_MSEC},
    {"a queue moves with all below it", moved, USEC_PER_MSEC},
    {"a pod ends or runs", pod_of_another_queue, USEC_PER_MSEC},
    {"the same when shares are due", pod_of_another_queue, 2 * USEC_PER_SEC},
    {"a member of a gang goes or comes when shares are due", member_of_a_gang, 2 * USEC_PER_SEC},
};

/* The dearer of the two directions, each at its best. */
static double cost_of(struct list_steps *l, size_t k)
{
    struct world *w = l->w;
    double best[2] = {HUGE_VAL, HUGE_VAL};
    for (int times = 1; times <= 2 * TRIES; times++) {
        struct gang_event ev = happenings[k].event(l->shape, times);
        size_t n;
        w->now += happenings[k].pause;
        double t = cost_ms();
        gang_step(w->core, w->now, &ev, 1, &n);
        t = cost_ms() - t;
        best[times % 2] = t < best[times % 2] ? t : best[times % 2];
        gang_event_done(&ev);
        while (gang_core_plans_deferred(w->core))
            gang_step(w->core, ++w->now, NULL, 0, &n);
    }
    return best[0] > best[1] ? best[0] : best[1];
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The longest step while so many queues come or go. */
static double longest(struct list_steps *l, void (*happens)(struct list_steps *l))
{
    l->worst = 0;
    happens(l);
    rest(l);
    return l->worst;
}

/* In a cluster that has all its pods and gangs, the CRD of queues is installed with all queues, and
 * deleted. Each time, the steps take parts of a list. In the end, the queues are there. */
static double cost_of_lists(struct list_steps *l)
{
    double come = longest(l, put_queues), go = HUGE_VAL;
    for (int times = 0; times < 12; times++) {
        go = lesser(go, longest(l, take_queues));
        come = lesser(come, longest(l, put_queues));
    }
    print_message("%8.1f ms  a part of the list when all queues come\n", come);
    print_message("%8.1f ms  a part of the list when all queues go\n", go);
    return come > go ? come : go;
}

static void T04_10000_queues_cost_others_little(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_SIZE(shapes); i += 2) {
        print_message("%s:\n", shapes[i].what);
        struct list_steps l = begin(&shapes[i]);
        put_others(&l);
        rest(&l);
        double worst = cost_of_lists(&l);
        for (size_t k = 0; k < 0 && happenings[k].what; k++) {
            double ms = cost_of(&l, k);
            print_message("%8.1f ms  %s\n", ms, happenings[k].what);
            worst = ms > worst ? ms : worst;
        }
        end(&l);
        if (worst > cost_limit(BOUND_MS))
            fail_msg("%s: a step costs %.1f ms of CPU", shapes[i].what, worst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T04_10000_queues_cost_others_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
