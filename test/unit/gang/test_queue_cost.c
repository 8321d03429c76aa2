/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one event in a cluster with 10,000 queues in four levels, 5,000 full nodes, and gangs
 * that wait in 1,000 of the queues. Whatever happens to one queue takes at most 50 ms of CPU (four
 * times that in the gate, for slow machines). The best of several changes counts. A build without
 * optimization has fewer objects, and checks only the results.
 */
#include <stdio.h>

#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"
#include "test/lib/world_queues.h"

enum {
    FEWER = IS_FAST_BUILD ? 1 : 50,
    NODES = 5000 / FEWER,
    LEAVES = 9000 / FEWER,
    GANGS = 1000 / FEWER,
    TRIES = 5,
    GPUS = 8
};

#define BOUND_MS 50.0

/* From the top down: 10, 90, 900 and LEAVES queues. */
static const int levels[] = {10, 90, 900, LEAVES};

static char *queue_name(int level, int i)
{
    return xasprintf("queue-%d-%d", level, i % levels[level]);
}

static struct gang_queue_facts *a_queue(int level, int i)
{
    cleanup_free char *name = queue_name(level, i);
    cleanup_free char *parent = level ? queue_name(level - 1, i) : NULL;
    struct gang_queue_facts *f = world_queue_facts(name, parent);
    gang_quota_add(f, GPU)->deserved = 1 + (int64_t)NODES * GPUS / levels[level];
    return f;
}

static struct gang_pod_facts *a_pod(int i)
{
    cleanup_free char *name = xasprintf("single-%d", i);
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), queue_name(3, i)};
    f->node = xasprintf("n%d", i / GPUS);
    f->phase = PHASE_RUNNING;
    return f;
}

static struct world *a_cluster(void)
{
    struct world *w = world_new();
    w->unchecked = true;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(w, name, GPUS);
    }
    for (int level = 0; level < (int)ARRAY_SIZE(levels); level++)
        for (int i = 0; i < levels[level]; i++)
            world_queue_set(w, a_queue(level, i));
    for (int i = 0; i < NODES * GPUS; i++)
        world_pod_set(w, a_pod(i));
    for (int i = 0; i < GANGS; i++) {
        cleanup_free char *name = xasprintf("g%d", i), *queue = queue_name(3, i);
        world_queued(w, name, queue, 2, GPUS);
    }
    return w;
}

/* ---- what happens ---- */

static struct gang_event set(struct gang_queue_facts *f)
{
    return (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f};
}

static struct gang_event limit_of(int level, int times)
{
    struct gang_queue_facts *f = a_queue(level, 1);
    f->quotas[0].cap = times % 2 ? 5 : 50;
    return set(f);
}

static struct gang_event limit_of_a_leaf(int times)
{
    return limit_of(3, times);
}

static struct gang_event limit_at_the_top(int times)
{
    return limit_of(0, times);
}

static struct gang_event closed_at_the_top(int times)
{
    struct gang_queue_facts *f = a_queue(0, 1);
    f->closed = times % 2;
    return set(f);
}

static struct gang_event gone_at(int level, int times)
{
    struct gang_event ev = {.kind = GANG_EV_QUEUE_GONE};
    ev.gone = (struct gang_ref){xstrdup("test"), xstrdup(""), queue_name(level, 1)};
    if (times % 2)
        return ev;
    gang_event_done(&ev);
    return set(a_queue(level, 1));
}

static struct gang_event gone_leaf(int times)
{
    return gone_at(3, times);
}

static struct gang_event gone_at_the_top(int times)
{
    return gone_at(0, times);
}

static struct gang_event cycle(int times)
{
    struct gang_queue_facts *f = a_queue(0, 1);
    f->parent = times % 2 ? queue_name(2, 1) : NULL;
    return set(f);
}

static struct gang_event moved(int times)
{
    struct gang_queue_facts *f = a_queue(1, 1);
    free(f->parent);
    f->parent = queue_name(0, times % 2);
    return set(f);
}

static struct gang_event pod_of_another_queue(int times)
{
    struct gang_event ev = {.kind = GANG_EV_POD_GONE};
    if (times % 2 == 0)
        return (struct gang_event){.kind = GANG_EV_POD_SET, .pod = gang_pod_facts_pack(a_pod(1))};
    ev.gone = (struct gang_ref){NULL, xstrdup("default"), xstrdup("single-1")};
    return ev;
}

static const struct {
    const char *what;
    struct gang_event (*event)(int times);
    usec_t pause; /* before the event; shares are due after a second */
} happenings[] = {
    {"the limit of a queue changes", limit_of_a_leaf, USEC_PER_MSEC},
    {"a limit at the top changes", limit_at_the_top, USEC_PER_MSEC},
    {"the same when shares are due", limit_at_the_top, 2 * USEC_PER_SEC},
    {"a queue at the top closes or opens", closed_at_the_top, USEC_PER_MSEC},
    {"a queue goes or comes", gone_leaf, USEC_PER_MSEC},
    {"a queue at the top goes or comes", gone_at_the_top, USEC_PER_MSEC},
    {"a cycle begins or ends", cycle, USEC_PER_MSEC},
    {"a queue with 1,000 queues below it moves", moved, USEC_PER_MSEC},
    {"a pod ends or runs", pod_of_another_queue, USEC_PER_MSEC},
    {"the same when shares are due", pod_of_another_queue, 2 * USEC_PER_SEC},
};

/* The dearer of the two directions, each at its best. */
static double cost_of(struct world *w, size_t k)
{
    double best[2] = {HUGE_VAL, HUGE_VAL};
    for (int times = 1; times <= 2 * TRIES; times++) {
        struct gang_event ev = happenings[k].event(times);
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

static void T04_one_of_10000_queues_costs_others_little(void **state)
{
    (void)state;
    struct err err;
    struct world *w = a_cluster();
    double worst = 0;
    for (size_t k = 0; k < ARRAY_SIZE(happenings); k++) {
        double ms = cost_of(w, k);
        print_message("%8.1f ms  %s\n", ms, happenings[k].what);
        worst = ms > worst ? ms : worst;
    }
    if (gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
    world_free(w);
    if (worst > cost_limit(BOUND_MS))
        fail_msg("an event costs %.1f ms of CPU", worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T04_one_of_10000_queues_costs_others_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
