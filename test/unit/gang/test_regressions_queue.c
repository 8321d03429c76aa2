/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: what a tenant who means harm could do to others, and other bugs. */
#include "gang/bounds.h"
#include "gang/cluster/lookup.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

static void fifo_queue(struct world *w, const char *name)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    f->fifo = true;
    world_queue_set(w, f);
}

/* A gang with one pod, in the queue q and in a namespace that it is not for. */
static void evil_gang(struct world *w, int min, int gpus)
{
    struct gang_group_facts *f = world_group_facts("g", min);
    free(f->ref.ns);
    f->ref.ns = xstrdup("evil");
    f->queue = xstrdup("q");
    world_group_set(w, f);
    struct gang_pod_facts *p = world_pod_facts("p", "g", gpus);
    free(p->ns);
    p->ns = xstrdup("evil");
    free(p->group.ns);
    p->group.ns = xstrdup("evil");
    world_pod_set(w, p);
}

static struct world *world_with_grants(void)
{
    static const char *const grants[] = {"q:default"};
    struct gang_config config = test_config();
    config.assemble = 0;
    config.queue_grants = grants;
    config.n_queue_grants = 1;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 8);
    return w;
}

/* Each user can name each queue. */
static void Q05_a_gang_that_may_not_use_a_fifo_queue_blocks_nobody_there(void **state)
{
    (void)state;
    struct world *w = world_with_grants();
    fifo_queue(w, "q");
    evil_gang(w, 1, 1);
    world_queued(w, "a", "q", 2, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void pick(void *arg, const struct gang_queue_view *view)
{
    if (strcmp(view->status.ref->name, "q") == 0)
        *(int64_t *)arg = view->credit;
}

static int64_t credit_of_q(const struct world *w)
{
    int64_t credit = 0;
    gang_core_queues(w->core, 0, SIZE_MAX, pick, &credit);
    return credit;
}

/* Queue r has the cluster, and another gang waits there. */
static struct world *world_in_use(void)
{
    struct world *w = world_with_grants();
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "r", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "r0", "r", 1, 8);
    world_starts(w, "r0", 1, 8);
    world_queued(w, "r1", "r", 1, 8);
    return w;
}

/* Otherwise other gangs of its queue would go before those of other queues later. */
static void Q02_a_gang_that_cannot_start_earns_no_credit(void **state)
{
    (void)state;
    struct world *w = world_in_use();
    evil_gang(w, 1, 8);
    world_queued(w, "incomplete", "q", 2, 8);
    world_pod_gone(w, "incomplete-1");
    world_wait(w, SECONDS(60));
    assert_int_equal(credit_of_q(w), 0);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 7);
    world_queued(w, "large", "q", 1, 8);
    world_wait(w, SECONDS(60));
    assert_int_equal(credit_of_q(w), 0); /* the limit is smaller than the gang */
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_wait(w, SECONDS(60));
    assert_true(credit_of_q(w) > 0);
    world_ends(w, "large", 1);
    world_wait(w, SECONDS(6000));
    world_queued(w, "a", "q", 1, 8);
    world_wait(w, SECONDS(60));
    assert_true(credit_of_q(w) > 0);
    world_free(w);
}

/* A gang that has got its plan does not block the next one in the same planning pass. */
static void T04_a_fifo_queue_of_many_gangs_takes_few_planning_passes(void **state)
{
    (void)state;
    struct world *w = world_new();
    fifo_queue(w, "q");
    for (int i = 0; i < 40; i++) {
        cleanup_free char *name = xasprintf("g%02d", i);
        world_queued(w, name, "q", 1, 1);
    }
    uint64_t before = w->core->queue_passes;
    world_node(w, "n0", 40);
    assert_string_equal(world_state(w, "g39"), "Planned");
    assert_in_range(w->core->queue_passes - before, 1, 4);
    world_free(w);
}

static struct gang_pod_facts *pod_in_q(const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("q")};
    return f;
}

/* Each filter call for one of them looked at the queues of all. */
static void T04_pods_that_a_queue_stops_cost_others_little(void **state)
{
    (void)state;
    enum { PODS = 4000, LAST = 10 };
    const char *const nodes[] = {"n0"};
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "top", NULL, GANG_NOT_STATED, 0);
    cleanup_free char *parent = xstrdup("top");
    for (int i = 2; i < BOUND_QUEUE_LEVELS; i++) {
        char *name = xasprintf("level-%d", i);
        world_queue(w, name, parent, GANG_NOT_STATED, 1000);
        free(parent);
        parent = name;
    }
    world_queue(w, "q", parent, GANG_NOT_STATED, 1000);
    double best = 1e9;
    for (int i = 0; i < PODS; i++) {
        cleanup_free char *name = xasprintf("p%d", i);
        struct gang_event events[] = {{.kind = GANG_EV_POD_SET, .pod = pod_in_q(name)},
                                      world_filter_event(w, pod_in_q(name), nodes, 1)};
        size_t n;
        double begin = cost_ms();
        gang_step(w->core, ++w->now, events, 2, &n);
        double took = cost_ms() - begin;
        best = i >= PODS - LAST && took < best ? took : best;
        gang_event_done(&events[1]);
    }
    assert_true(best < cost_limit(0.4));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q05_a_gang_that_may_not_use_a_fifo_queue_blocks_nobody_there),
        cmocka_unit_test(Q02_a_gang_that_cannot_start_earns_no_credit),
        cmocka_unit_test(T04_a_fifo_queue_of_many_gangs_takes_few_planning_passes),
        cmocka_unit_test(T04_pods_that_a_queue_stops_cost_others_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
