/* SPDX-License-Identifier: Apache-2.0 */
/* muster evicts gangs and pods of a lower priority, and keeps their room for a gang. */
#include <stdio.h>

#include "test/lib/world_jobs.h"

/* A running pod with a controller. `gang` NULL: an ordinary pod. */
static struct gang_pod_facts *running(const char *name, const char *gang, int gpus,
                                      const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    return f;
}

static void runs(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    struct gang_pod_facts *f = running(name, gang, gpus, node);
    f->created = f->bound_at = w->now;
    world_pod_set(w, f);
}

/* A pod on a node whose clock is an hour ahead. It concerns no other pod. */
static void runs_ahead(struct world *w)
{
    struct gang_pod_facts *f = running("ahead", NULL, 0, "n0");
    f->priority = 1000;
    f->created = w->now;
    f->bound_at = w->now + SECONDS(3600);
    world_pod_set(w, f);
}

static void ends(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    struct gang_pod_facts *f = running(name, gang, gpus, node);
    f->deleting = true;
    world_pod_set(w, f);
}

/* A gang whose members need so many GPUs each. */
static void arrives(struct world *w, const char *gang, int members, int gpus, int priority)
{
    world_group(w, gang, members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("%s-%d", gang, i);
        struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
        f->priority = priority;
        f->controlled = true;
        world_pod_set(w, f);
    }
    world_decide(w);
}

static void small_pod(struct world *w, const char *name, int priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->priority = priority;
    world_pod_set(w, f);
}

/* Two nodes with the gang `low`, and a gang of a higher priority. */
static struct world *full_cluster(void)
{
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "low", 2);
    runs(w, "low-0", "low", 4, "n0");
    runs(w, "low-1", "low", 4, "n1");
    assert_string_equal(world_state(w, "low"), "Scheduled");
    arrives(w, "urgent", 2, 4, 10);
    return w;
}

static void evicted_gangs_make_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    assert_true(world_evicted(w, "low-0") && world_evicted(w, "low-1"));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    assert_true(world_event(w, "PodGroup/low Preempted: evicted to make room for gang "
                               "default/urgent, which has a higher priority (10, this one has 0)"));
    assert_true(world_event(w, "Pod/low-0 Preempted: "));
    assert_true(world_event(w,
                            "PodGroup/urgent Preempting: to make room for this gang, muster evicts "
                            "gang default/low (highest priority: 0, gangs and pods hit: 1, lost "));
    ends(w, "low-0", "low", 4, "n0");
    ends(w, "low-1", "low", 4, "n1");
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Waiting");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* The PodGroup says how many members its gang loses, in one event. */
static void members_beyond_the_minimum_make_room(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(4, 4);
    const char *const names[] = {"elastic-0", "elastic-1", "elastic-2", "single"};
    const char *const nodes[] = {"n0", "n1", "n2", "n3"};
    world_group(w, "elastic", 1);
    for (int i = 0; i < 4; i++)
        runs(w, names[i], i < 3 ? "elastic" : NULL, 4, nodes[i]);
    arrives(w, "urgent", 2, 4, 10);
    assert_int_equal(w->n_evictions, 2);
    assert_false(world_evicted(w, "single"));
    assert_string_equal(world_state(w, "elastic"), "Scheduled");
    assert_true(world_event(w, "PodGroup/elastic Preempted: 2 members that the gang does not need "
                               "are evicted to make room for gang default/urgent, which has a "
                               "higher priority (10, this one has 0)"));
    assert_true(world_event(w, "PodGroup/urgent Preempting: to make room for this gang, muster "
                               "evicts pod default/elastic-0, pod default/elastic-1 (highest "));
    world_free(w);
}

/* Neither ordinary pods nor small gangs nor the replacements of the victims get the room that
 * becomes free first. */
static void Q06_nobody_else_gets_the_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    small_pod(w, "single", 10);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "");
    assert_non_null(strstr(w->refusal, "kept for gang default/urgent, which starts when other "
                                       "pods have ended"));
    arrives(w, "small", 1, 1, 10);
    assert_string_equal(world_state(w, "small"), "Waiting");
    assert_string_equal(world_reason_name(w, "small"), "RoomPreempted");
    arrives(w, "low", 2, 4, 0);
    assert_string_equal(world_filter_on(w, "low-0", "n0", NULL), "");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* A pod of a higher priority may use the room. The gang then waits for other room, and nothing is
 * kept for it in vain. */
static void a_higher_priority_may_use_the_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    small_pod(w, "system", 20);
    assert_string_equal(world_filter_on(w, "system", "n0", NULL), "n0");
    struct gang_pod_facts *f = running("system", NULL, 1, "n0");
    f->priority = 20;
    world_pod_set(w, f);
    world_wait(w, SECONDS(6));
    assert_string_equal(world_reason_name(w, "urgent"), "NotEnoughResources");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "n0");
    world_free(w);
}

/* The members of a gang that was evicted as a whole are not scheduled one by one. */
static void replacements_of_an_evicted_gang_wait_for_each_other(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    world_group(w, "low", 2);
    runs(w, "low-0", "low", 4, "n0");
    runs(w, "low-1", "low", 4, "n1");
    runs(w, "other", NULL, 4, "n2");
    arrives(w, "urgent", 2, 4, 10);
    assert_true(world_evicted(w, "low-0") || world_evicted(w, "other"));
    world_pod(w, "low-2", "low", 4);
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_filter_on(w, "low-2", "n0 n1 n2", NULL), "");
    assert_string_equal(world_state(w, "low"), "Assembling");
    world_free(w);
}

static void nothing_is_evicted_if_preemption_is_off(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.preemption = false;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 4);
    runs(w, "low", NULL, 4, "n0");
    arrives(w, "urgent", 1, 4, 10);
    world_wait(w, SECONDS(100));
    assert_false(world_evicted(w, "low"));
    world_free(w);
}

/* Nothing of the same priority is evicted, however long the gang waits. */
static void equals_are_not_evicted(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    runs(w, "equal", NULL, 4, "n0");
    arrives(w, "waits", 1, 4, 0);
    world_wait(w, SECONDS(100));
    assert_false(world_evicted(w, "equal"));
    /* A pod of a lower priority may come later. */
    world_pod_gone(w, "equal");
    world_pod_gone(w, "waits-0");
    struct gang_pod_facts *f = running("low", NULL, 4, "n0");
    f->priority = -1;
    world_pod_set(w, f);
    arrives(w, "waits", 1, 4, 0);
    world_wait(w, SECONDS(15));
    assert_true(world_evicted(w, "low"));
    world_free(w);
}

/* muster checks every few seconds whether the room is still enough. As long as it is, other gangs
 * are not planned again. */
static void checks_of_kept_room_do_not_concern_others(void **state)
{
    (void)state;
    struct gang_stats before, after;
    struct world *w = full_cluster();
    for (int i = 0; i < 20; i++) {
        cleanup_free char *name = xasprintf("waits%d", i);
        arrives(w, name, 3, 4, 0);
    }
    world_wait(w, SECONDS(6));
    gang_core_stats(w->core, &before);
    world_wait(w, SECONDS(20)); /* no attempt times out, and no gang starves */
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    gang_core_stats(w->core, &after);
    assert_in_range(after.plans_failed - before.plans_failed, 0, 5);
    world_free(w);
}

/* Between two outside changes, a gang evicts others for one placement only, although priorities
 * allow more. A new node, for example, is such a change. */
static void Q08_a_gang_evicts_once_between_outside_changes(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "high", 1);
    world_group(w, "low", 1);
    world_group(w, "lower", 1);
    runs(w, "low-0", "low", 4, "n0");
    runs(w, "lower-0", "lower", 4, "n1");
    arrives(w, "mid", 1, 4, 5);
    assert_int_equal(w->n_evictions, 1);
    bool low = world_evicted(w, "low-0");
    world_pod_gone(w, low ? "low-0" : "lower-0");
    runs(w, "mid-0", "mid", 4, low ? "n0" : "n1");
    struct gang_pod_facts *f = world_pod_facts("high-0", "high", 4);
    f->priority = 10;
    gang_kvs_add(&f->node_selector, "kubernetes.io/hostname", low ? "n0" : "n1");
    world_pod_set(w, f);
    world_wait(w, SECONDS(2)); /* searches have pauses */
    assert_true(world_evicted(w, "mid-0"));
    world_pod_gone(w, "mid-0");
    f = running("high-0", "high", 4, low ? "n0" : "n1");
    f->priority = 10;
    world_pod_set(w, f);
    f = world_pod_facts("mid-1", "mid", 4);
    f->priority = 5;
    world_pod_set(w, f);
    world_wait(w, SECONDS(600));
    assert_int_equal(w->n_evictions, 2);
    world_node(w, "n2", 1); /* too small for it */
    world_wait(w, SECONDS(61));
    assert_int_equal(w->n_evictions, 3);
    world_free(w);
}

/* The wait counts from the first eviction until the gang is Scheduled. */
static void the_wait_after_an_eviction_is_counted(void **state)
{
    (void)state;
    struct gang_stats s;
    struct world *w = full_cluster();
    world_wait(w, SECONDS(30));
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preemptions_done, 0);
    runs(w, "urgent-0", "urgent", 4, "n0");
    runs(w, "urgent-1", "urgent", 4, "n1");
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preemptions_done, 1);
    assert_int_equal(s.preemption_waits, SECONDS(30));
    assert_int_equal(s.preempted_gangs[GANG_PREEMPTION_PRIORITY], 1);
    assert_int_equal(s.preempted_pods[GANG_PREEMPTION_PRIORITY], 2);
    assert_int_equal(s.preempted_pods[GANG_PREEMPTION_RECLAIM], 0);
    world_free(w);
}

/* A pod that a PodDisruptionBudget protects is not evicted in time. muster does not wait for ever,
 * and does not try the pod again soon. */
static void an_eviction_in_vain_ends(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "guarded", NULL, 4, "n0");
    struct gang_pod_facts *f = running("other", NULL, 4, "n1");
    f->priority = 5;
    world_pod_set(w, f);
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "guarded"));
    world_wait(w, SECONDS(299));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    assert_false(world_evicted(w, "other"));
    world_wait(w, SECONDS(70));
    assert_true(world_evicted(w, "other"));
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* The members of a gang that was not evicted in time count again, so the gang still runs. */
static void a_gang_that_was_not_evicted_runs_on(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    assert_string_equal(world_state(w, "low"), "Assembling");
    world_wait(w, SECONDS(301));
    assert_string_equal(world_state(w, "low"), "Scheduled");
    world_free(w);
}

/* A pod with this label. */
static void labelled(struct world *w, const char *name, const char *gang, const char *node,
                     const char *label)
{
    struct gang_pod_facts *f = running(name, gang, 4, node);
    gang_kvs_add(&f->labels, label, "");
    world_pod_set(w, f);
}

/* A budget that allows one eviction protects a gang of two, and a pod with two budgets cannot be
 * evicted at all. */
static void disruption_budgets_are_obeyed(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    world_group(w, "low", 2);
    labelled(w, "low-0", "low", "n0", "a");
    labelled(w, "low-1", "low", "n1", "a");
    labelled(w, "single", NULL, "n2", "b");
    world_budget(w, "a", "a", 1);
    world_budget(w, "b", "b", 5);
    world_budget(w, "b-too", "b", 5);
    arrives(w, "urgent", 1, 4, 10);
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_evictions, 0);
    world_budget_gone(w, "b-too");
    world_wait(w, SECONDS(61));
    assert_int_equal(w->n_evictions, 1);
    assert_true(world_evicted(w, "single"));
    world_free(w);
}

/* The budget allows one of two pods: both at once are too many. */
static void a_budget_holds_for_the_whole_set(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    labelled(w, "a-0", NULL, "n0", "a");
    labelled(w, "a-1", NULL, "n1", "a");
    struct gang_pod_facts *f = running("other", NULL, 4, "n2");
    f->priority = 5;
    world_pod_set(w, f);
    world_budget(w, "a", "a", 1);
    arrives(w, "urgent", 2, 4, 10);
    assert_int_equal(w->n_evictions, 2);
    assert_true(world_evicted(w, "other"));
    /* The eviction of the first pod is not over, so the budget allows no other one. */
    arrives(w, "more", 1, 4, 3);
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* Pods that are not running yet need no budget. */
static void pods_that_do_not_run_need_no_budget(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct gang_pod_facts *f = running("starts", NULL, 4, "n0");
    gang_kvs_add(&f->labels, "a", "");
    f->phase = PHASE_PENDING;
    world_pod_set(w, f);
    world_budget(w, "a", "a", 0);
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "starts"));
    world_free(w);
}

/* The room of a pod that is Terminating for too long is not waited for. */
static void a_pod_that_never_ends_is_not_waited_for(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "stuck", NULL, 4, "n0");
    struct gang_pod_facts *f = running("other", NULL, 4, "n1");
    f->priority = 5;
    world_pod_set(w, f);
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "stuck"));
    f = running("stuck", NULL, 4, "n0");
    f->deleting = true;
    f->gone_by = w->now + SECONDS(30);
    world_pod_set(w, f);
    runs_ahead(w);
    world_wait(w, SECONDS(50));
    assert_false(world_evicted(w, "other"));
    world_wait(w, SECONDS(80));
    assert_true(world_evicted(w, "other"));
    world_free(w);
}

/* After a restart, the room of Terminating pods is kept again. */
static void room_is_kept_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    ends(w, "low-0", NULL, 4, "n0");
    ends(w, "low-1", NULL, 4, "n1");
    arrives(w, "urgent", 2, 4, 10);
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    world_pod_gone(w, "low-0");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* A plan of a lower priority gives way before anything is evicted. */
static void plans_of_a_lower_priority_give_way(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "low", NULL, 4, "n0");
    arrives(w, "planned", 1, 4, 0);
    assert_string_equal(world_state(w, "planned"), "Planned");
    arrives(w, "urgent", 1, 4, 10);
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_state(w, "planned"), "Waiting");
    assert_false(world_evicted(w, "low"));
    world_free(w);
}

/* A node goes after the evictions: new facts, so the gang has to look for other room. */
static void Q06_room_that_is_lost_is_counted(void **state)
{
    (void)state;
    struct gang_stats s;
    struct world *w = full_cluster();
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preemptions_spoiled, 0);
    world_pod_gone(w, "low-0");
    world_node_gone(w, "n0");
    world_wait(w, SECONDS(10));
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preemptions_spoiled, 1);
    world_free(w);
}

/* The gang loses its claim to the room when it cannot be planned any more. */
static void room_of_a_gang_that_is_gone_is_free(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "urgent-0");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "n0");
    world_free(w);
}

/* What the evicted pods leave in their queue is for the gang. */
static void the_queue_counts_the_preempted_room(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_queue(w, "a", NULL, GANG_NOT_STATED, 4);
    struct gang_group_facts *g = world_group_facts("low", 1);
    g->queue = xstrdup("a");
    world_group_set(w, g);
    runs(w, "low-0", "low", 4, "n0");
    const char *names[] = {"urgent", "small"};
    for (int i = 0; i < 2; i++) {
        g = world_group_facts(names[i], 1);
        g->queue = xstrdup("a");
        world_group_set(w, g);
    }
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    world_decide(w);
    assert_true(world_evicted(w, "low-0"));
    world_pod(w, "small-0", "small", 1);
    assert_string_equal(world_reason_name(w, "small"), "QueueLimitReached");
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_reason_name(w, "small"), "QueueLimitReached");
    world_free(w);
}

/* Nobody should wait for pods that take their time, and nobody can protect a gang's room from
 * others for longer than that. */
static void pods_with_a_long_grace_period_stay(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    struct gang_pod_facts *f = running("slow", NULL, 4, "n0");
    f->grace = SECONDS(7200);
    world_pod_set(w, f);
    runs(w, "quick", NULL, 4, "n1");
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "quick"));
    world_pod_gone(w, "quick");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    f = running("slow", NULL, 4, "n0");
    f->deleting = true;
    f->gone_by = w->now + SECONDS(100000);
    world_pod_set(w, f);
    arrives(w, "later", 1, 4, 10);
    assert_string_equal(world_reason_name(w, "later"), "NotEnoughResources");
    world_free(w);
}

/* kube-scheduler tries none of the pods for which others were evicted, so the gang fails when its
 * time is over. It may evict others again 10 minutes later, and then after 20 minutes. */
static void a_gang_that_does_not_start_evicts_more_and_more_rarely(void **state)
{
    (void)state;
    struct jobs *jobs = jobs_new(world_of_nodes(1, 4));
    struct job *low = job_add(jobs, (struct job){.name = "low", .min = 1, .gpus = 4, .on = "0"});
    struct job *urgent = job_add(
        jobs, (struct job){.name = "urgent", .min = 1, .gpus = 4, .priority = 10, .asleep = true});
    jobs_pass(jobs, SECONDS(500));
    assert_int_equal(job_evicted(jobs, low), 1);
    assert_int_equal(job_runs(low), 1);
    jobs_pass(jobs, SECONDS(1200));
    assert_int_equal(job_evicted(jobs, low), 2);
    assert_int_equal(job_runs(low), 1);
    urgent->asleep = false;
    jobs_pass(jobs, SECONDS(1200));
    assert_int_equal(job_evicted(jobs, low), 3);
    assert_int_equal(job_runs(urgent), 1);
    jobs_free(jobs);
}

/* Inside a namespace, the priority of PodGroups decides who is evicted, and so it decides who must
 * leave the room free. */
static void replacements_of_victims_do_not_take_the_room_by_the_priority_of_their_pods(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *gang = xasprintf("low%d", i), *pod = xasprintf("low%d-0", i),
                          *node = xasprintf("n%d", i);
        struct gang_group_facts *g = world_group_facts(gang, 1);
        g->has_priority = true;
        g->priority = 5;
        world_group_set(w, g);
        struct gang_pod_facts *f = running(pod, gang, 4, node);
        f->priority = 5;
        world_pod_set(w, f);
    }
    struct gang_group_facts *g = world_group_facts("urgent", 2);
    g->has_priority = true;
    g->priority = 10;
    world_group_set(w, g);
    world_members(w, "urgent", 0, 2, 4); /* the priority of its pods is 0 */
    world_decide(w);
    assert_true(world_evicted(w, "low0-0") && world_evicted(w, "low1-0"));
    world_pod_gone(w, "low0-0");
    struct gang_pod_facts *f = world_pod_facts("low0-1", "low0", 4);
    f->priority = 5;
    world_pod_set(w, f);
    assert_string_equal(world_state(w, "low0"), "Waiting");
    world_pod_gone(w, "low1-0");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* KAI's preemptionDelay: an autoscaler has this time to add nodes. */
static void a_gang_with_a_delay_evicts_later(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    runs(w, "low", NULL, 4, "n0");
    struct gang_group_facts *g = world_group_facts("urgent", 1);
    g->created = w->now;
    g->preemption_delay = SECONDS(60);
    world_group_set(w, g);
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    runs_ahead(w);
    world_wait(w, SECONDS(55));
    assert_false(world_evicted(w, "low"));
    world_wait(w, SECONDS(10));
    assert_true(world_evicted(w, "low"));
    world_free(w);
}

/* A gang must not start beside the gang that it evicts if their queue has a limit for both. */
static void Q01_evicted_pods_count_in_their_queue(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    world_queue(w, "a", NULL, GANG_NOT_STATED, 4);
    const char *names[] = {"low", "urgent", "small"};
    for (int i = 0; i < 3; i++) {
        struct gang_group_facts *g = world_group_facts(names[i], 1);
        g->queue = xstrdup("a");
        world_group_set(w, g);
    }
    runs(w, "low-0", "low", 4, "n0");
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    world_decide(w);
    assert_true(world_evicted(w, "low-0"));
    world_wait(w, SECONDS(60));
    assert_int_equal(world_queue_used(w, "a", GPU), 4);
    assert_string_equal(world_state(w, "urgent"), "Waiting");
    world_pod(w, "small-0", "small", 1);
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_state(w, "small"), "Waiting");
    assert_int_equal(world_queue_used(w, "a", GPU), 4);
    world_free(w);
}

/* ---- reclaim ---- */

static struct gang_queue_facts *deserving(const char *name, int64_t deserved)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    struct gang_quota *quota = gang_quota_add(f, GPU);
    quota->deserved = deserved;
    quota->cap = GANG_UNLIMITED;
    return f;
}

static void group_in(struct world *w, const char *name, const char *queue, int min)
{
    struct gang_group_facts *g = world_group_facts(name, min);
    g->queue = xstrdup(queue);
    world_group_set(w, g);
}

/* A running gang in the queue, with one member on each of `n` nodes from n<first> on. */
static void runs_in(struct world *w, const char *name, const char *queue, int first, int n)
{
    group_in(w, name, queue, n);
    for (int i = first; i < first + n; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i), *node = xasprintf("n%d", i);
        runs(w, pod, name, 4, node);
    }
}

static void arrives_in(struct world *w, const char *name, const char *queue, int members)
{
    group_in(w, name, queue, members);
    world_members(w, name, 0, members, 4);
    world_decide(w);
}

/* Queues a and b deserve 8 of 16 GPUs each. b uses 12. */
static struct world *lent(void)
{
    struct world *w = world_of_nodes(4, 4);
    world_queue(w, "a", NULL, 8, GANG_UNLIMITED);
    world_queue(w, "b", NULL, 8, GANG_UNLIMITED);
    runs_in(w, "own", "a", 0, 1);
    runs_in(w, "keeps", "b", 1, 2);
    runs_in(w, "borrows", "b", 3, 1);
    return w;
}

/* Lent quota comes back within one decision and the grace of the victims. */
static void Q10_lent_room_comes_back(void **state)
{
    (void)state;
    struct world *w = lent();
    arrives_in(w, "returns", "a", 1);
    assert_true(world_evicted(w, "borrows-3"));
    assert_false(world_evicted(w, "keeps-1") || world_evicted(w, "keeps-2"));
    assert_true(world_event(w, "PodGroup/borrows Preempted: evicted to make room for gang "
                               "default/returns: queue a deserves the room, and queue b uses more "
                               "than it deserves"));
    struct gang_stats s;
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preempted_gangs[GANG_PREEMPTION_RECLAIM], 1);
    assert_int_equal(s.preempted_pods[GANG_PREEMPTION_PRIORITY], 0);
    world_pod_gone(w, "borrows-3");
    assert_string_equal(world_state(w, "returns"), "Planned");
    world_free(w);
}

/* A lower quota alone evicts nobody. Then another queue may reclaim what exceeds it. */
static void Q08_a_lowered_quota_evicts_nobody_by_itself(void **state)
{
    (void)state;
    struct world *w = lent();
    world_pod_gone(w, "borrows-3");
    world_queue(w, "b", NULL, 4, GANG_UNLIMITED); /* it uses 8 */
    world_queue(w, "a", NULL, 12, GANG_UNLIMITED);
    world_wait(w, SECONDS(200));
    assert_int_equal(w->n_evictions, 0);
    arrives_in(w, "returns", "a", 2);
    world_wait(w, SECONDS(2));
    assert_int_equal(w->n_evictions, 0); /* "keeps" is one gang, and b deserves half of it */
    world_free(w);
}

/* A queue takes back no more than it deserves, and leaves the other what that one deserves. */
static void Q08_no_queue_falls_below_what_it_deserves(void **state)
{
    (void)state;
    struct world *w = lent();
    arrives_in(w, "large", "a", 2); /* a would use 12 of 8 */
    world_wait(w, SECONDS(200));
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
    w = world_of_nodes(4, 4);
    world_queue(w, "a", NULL, 8, GANG_UNLIMITED);
    world_queue(w, "b", NULL, 8, GANG_UNLIMITED);
    runs_in(w, "own", "a", 0, 1);
    runs_in(w, "whole", "b", 1, 3); /* without it, b would use 0 of 8 */
    arrives_in(w, "returns", "a", 1);
    world_wait(w, SECONDS(200));
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* The queue that has lost room does not take it back: the other uses only what it deserves. */
static void Q08_nobody_takes_in_turn(void **state)
{
    (void)state;
    struct world *w = lent();
    arrives_in(w, "returns", "a", 1);
    world_pod_gone(w, "borrows-3");
    world_try_members(w, "returns", 0, 1);
    world_all_bound(w);
    runs(w, "returns-0", "returns", 4, "n3");
    assert_string_equal(world_state(w, "returns"), "Scheduled");
    size_t evicted = w->n_evictions;
    world_pod(w, "borrows-4", "borrows", 4);
    world_wait(w, SECONDS(300));
    assert_int_equal(w->n_evictions, evicted);
    world_free(w);
}

/* While the victim leaves, not even a higher priority of the other queue gets the room. */
static void a_queue_does_not_take_its_room_again(void **state)
{
    (void)state;
    struct world *w = lent();
    group_in(w, "ahead", "b", 1);
    arrives_in(w, "returns", "a", 2);
    assert_int_equal(w->n_evictions, 0); /* 12 of 8 */
    world_pod_gone(w, "returns-1");
    group_in(w, "returns", "a", 1);
    world_wait(w, SECONDS(100));
    assert_true(world_evicted(w, "borrows-3"));
    struct gang_pod_facts *f = world_pod_facts("ahead-0", "ahead", 4);
    f->priority = 100;
    world_pod_set(w, f);
    world_pod_gone(w, "borrows-3");
    assert_string_equal(world_state(w, "returns"), "Planned");
    world_free(w);
}

static void protected_queues_lend_for_good(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world *w = lent();
        struct gang_queue_facts *q = deserving("b", 8);
        q->reclaimable = i != 0;
        q->reclaim_min_runtime = i == 1 ? SECONDS(3600) : i == 2 ? SECONDS(60) : GANG_NOT_STATED;
        world_queue_set(w, q);
        arrives_in(w, "returns", "a", 1);
        assert_false(world_evicted(w, "borrows-3"));
        world_wait(w, SECONDS(200));
        assert_true(world_evicted(w, "borrows-3") == (i == 2));
        world_free(w);
    }
}

/* The victim runs in a/own, and b takes back. The queue just below the root, a, protects nothing,
 * but the queue of the victim does. */
static void Q10_the_own_queue_of_a_victim_may_protect_it(void **state)
{
    (void)state;
    for (int of_queue = 0; of_queue < 2; of_queue++) {
        struct gang_config config = test_config();
        config.assemble = 0;
        config.reclaim_runtime_of_queue = of_queue;
        struct world *w = world_new_with(config, true);
        world_node(w, "n0", 4);
        struct gang_queue_facts *q = deserving("a", 0);
        q->reclaim_min_runtime = 0;
        world_queue_set(w, q);
        q = world_queue_facts("own", "a");
        q->reclaim_min_runtime = SECONDS(3600);
        world_queue_set(w, q);
        world_queue_set(w, deserving("b", 4));
        runs_in(w, "borrows", "own", 0, 1);
        arrives_in(w, "returns", "b", 1);
        world_wait(w, SECONDS(200));
        assert_true(world_evicted(w, "borrows-0") == !of_queue);
        world_free(w);
    }
}

/* Preemption in one queue waits for preemptMinRuntime. */
static void a_gang_runs_for_its_minimum(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct gang_queue_facts *q = deserving("a", GANG_NOT_STATED);
    q->preempt_min_runtime = SECONDS(60);
    world_queue_set(w, q);
    runs_in(w, "low", "a", 0, 1);
    group_in(w, "urgent", "a", 1);
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    runs_ahead(w);
    world_wait(w, SECONDS(50));
    assert_false(world_evicted(w, "low-0"));
    world_wait(w, SECONDS(70));
    assert_true(world_evicted(w, "low-0"));
    world_free(w);
}

/* After a restart in a quiet cluster, muster sees no new pod for hours. */
#define QUIET SECONDS(5 * 3600)

/* The pod low-0 was created at `created` and started after QUIET, which is now. */
static struct world *restarted_after_quiet(usec_t created, usec_t gone_by)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, false);
    world_node(w, "n0", 4);
    world_node(w, "n1", 4);
    struct gang_queue_facts *q = deserving("a", GANG_NOT_STATED);
    q->preempt_min_runtime = SECONDS(60);
    world_queue_set(w, q);
    group_in(w, "low", "a", 1);
    group_in(w, "leaves", "a", 1);
    static const char *const names[] = {"low", "leaves"};
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("%s-0", names[i]);
        struct gang_pod_facts *f = running(name, names[i], 4, i ? "n1" : "n0");
        f->created = created;
        f->bound_at = created + QUIET - SECONDS(30);
        f->deleting = i && gone_by;
        f->gone_by = i ? gone_by : 0;
        world_pod_set(w, f);
    }
    struct gang_event synced = {.kind = GANG_EV_SYNCED, .synced.api_time = created + QUIET};
    world_step(w, &synced, 1);
    group_in(w, "urgent", "a", 1);
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    return w;
}

static void after_a_restart_the_minimum_ends_in_time(void **state)
{
    (void)state;
    struct world *w = restarted_after_quiet(SECONDS(100000), 0);
    world_wait(w, SECONDS(20));
    assert_false(world_evicted(w, "low-0"));
    world_wait(w, SECONDS(70));
    assert_true(world_evicted(w, "low-0"));
    world_free(w);
}

static void after_a_restart_a_terminating_pod_is_waited_for(void **state)
{
    (void)state;
    struct world *w = restarted_after_quiet(SECONDS(100000), SECONDS(100000) + QUIET + SECONDS(30));
    world_wait(w, SECONDS(20));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evicted_gangs_make_room),
        cmocka_unit_test(members_beyond_the_minimum_make_room),
        cmocka_unit_test(Q06_nobody_else_gets_the_room),
        cmocka_unit_test(a_higher_priority_may_use_the_room),
        cmocka_unit_test(replacements_of_an_evicted_gang_wait_for_each_other),
        cmocka_unit_test(nothing_is_evicted_if_preemption_is_off),
        cmocka_unit_test(equals_are_not_evicted),
        cmocka_unit_test(an_eviction_in_vain_ends),
        cmocka_unit_test(a_gang_that_was_not_evicted_runs_on),
        cmocka_unit_test(checks_of_kept_room_do_not_concern_others),
        cmocka_unit_test(the_wait_after_an_eviction_is_counted),
        cmocka_unit_test(disruption_budgets_are_obeyed),
        cmocka_unit_test(a_budget_holds_for_the_whole_set),
        cmocka_unit_test(pods_that_do_not_run_need_no_budget),
        cmocka_unit_test(a_pod_that_never_ends_is_not_waited_for),
        cmocka_unit_test(room_is_kept_after_a_restart),
        cmocka_unit_test(plans_of_a_lower_priority_give_way),
        cmocka_unit_test(room_of_a_gang_that_is_gone_is_free),
        cmocka_unit_test(the_queue_counts_the_preempted_room),
        cmocka_unit_test(pods_with_a_long_grace_period_stay),
        cmocka_unit_test(a_gang_that_does_not_start_evicts_more_and_more_rarely),
        cmocka_unit_test(
            replacements_of_victims_do_not_take_the_room_by_the_priority_of_their_pods),
        cmocka_unit_test(a_gang_with_a_delay_evicts_later),
        cmocka_unit_test(Q01_evicted_pods_count_in_their_queue),
        cmocka_unit_test(Q08_a_gang_evicts_once_between_outside_changes),
        cmocka_unit_test(Q10_lent_room_comes_back),
        cmocka_unit_test(Q08_no_queue_falls_below_what_it_deserves),
        cmocka_unit_test(Q08_nobody_takes_in_turn),
        cmocka_unit_test(a_queue_does_not_take_its_room_again),
        cmocka_unit_test(protected_queues_lend_for_good),
        cmocka_unit_test(Q10_the_own_queue_of_a_victim_may_protect_it),
        cmocka_unit_test(Q08_a_lowered_quota_evicts_nobody_by_itself),
        cmocka_unit_test(Q06_room_that_is_lost_is_counted),
        cmocka_unit_test(a_gang_runs_for_its_minimum),
        cmocka_unit_test(after_a_restart_the_minimum_ends_in_time),
        cmocka_unit_test(after_a_restart_a_terminating_pod_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
