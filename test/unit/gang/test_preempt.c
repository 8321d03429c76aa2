/* SPDX-License-Identifier: Apache-2.0 */
/* Which preemptions of kube-scheduler muster allows: those that break no gang, and those that the
 * rules of queues allow. */
#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/queue/reclaim.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

#include <stdio.h>

#define CRITICAL 2000000000

struct candidate {
    const char *node, *victims; /* names of pods, separated by spaces; NULL or "": none */
    int violations;
};

/* A preempt call for this pod and these candidates. Returns the nodes that muster keeps. */
static const char *call(struct world *w, struct gang_pod_facts *pod, const struct candidate *nodes,
                        size_t n)
{
    static uint64_t id = 900;
    const char *names[8];
    char texts[8][200], *uids[8][16];
    struct gang_victims victims[8];
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        snprintf(texts[i], sizeof texts[i], "%s", nodes[i].victims ? nodes[i].victims : "");
        for (char *s = strtok(texts[i], " "); s; s = strtok(NULL, " ")) {
            struct gang_pod_facts *f = world_pod_facts(s, NULL, 0);
            uids[i][k++] = xstrdup(f->uid);
            gang_pod_facts_free(f);
        }
        names[i] = nodes[i].node;
        victims[i] = (struct gang_victims){(const char *const *)uids[i], k, nodes[i].violations};
    }
    struct gang_event ev = {.kind = GANG_EV_PREEMPT,
                            .id = id++,
                            .pod = pod,
                            .names = names,
                            .n_names = n,
                            .victims = victims};
    world_step(w, &ev, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < victims[i].n; k++)
            free(uids[i][k]);
    return w->kept;
}

/* Which of the nodes a and b muster would keep. Each is the only candidate of a call, so that
 * muster need not choose. Afterwards, kube-scheduler has given up. */
static const char *preempt_for(struct world *w, struct gang_pod_facts *pods[2], const char *on_a,
                               const char *on_b)
{
    static char kept[8];
    const struct candidate nodes[] = {{"a", on_a, 0}, {"b", on_b, 0}};
    kept[0] = 0;
    for (int i = 0; i < 2; i++) {
        const char *its = call(w, pods[i], &nodes[i], 1);
        snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%s%s", *kept && *its ? " " : "",
                 its);
        world_wait(w, 6 * USEC_PER_SEC);
    }
    return kept;
}

static const char *preempt(struct world *w, int priority, const char *on_a, const char *on_b)
{
    struct gang_pod_facts *pods[2];
    for (int i = 0; i < 2; i++) {
        pods[i] = world_pod_facts("preemptor", NULL, 1);
        pods[i]->priority = priority;
    }
    return preempt_for(w, pods, on_a, on_b);
}

/* Nodes a and b of 8 GPUs. Members g-0, g-1 run on a, and g-2 on b. */
static struct world *running(int min)
{
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_node(w, "b", 8);
    world_group(w, "g", min);
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-2", "g", 1, "b", PHASE_RUNNING);
    world_pod_seen(w, "single", NULL, 1, "b", PHASE_RUNNING);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    return w;
}

static void a_preemption_does_not_break_a_gang(void **state)
{
    (void)state;
    struct world *w = running(3);
    assert_string_equal(preempt(w, 1000, "g-0", "g-2"), "");
    assert_string_equal(preempt(w, 1000, "g-0 g-1", "single"), "b");
    assert_string_equal(preempt(w, 1000, "g-0", "single g-2"), "");
    world_free(w);
}

/* kube-scheduler would give up the preemption on all nodes. */
static void a_node_without_victims_is_dropped(void **state)
{
    (void)state;
    struct world *w = running(3);
    assert_string_equal(preempt(w, 1000, "", "single"), "b");
    assert_string_equal(preempt(w, CRITICAL, "", ""), "");
    assert_string_equal(preempt(w, CRITICAL, "g-0", ""), "a");
    world_free(w);
}

static void a_preemption_may_take_members_beyond_the_minimum(void **state)
{
    (void)state;
    struct world *w = running(2);
    assert_string_equal(preempt(w, 1000, "g-0", "g-2"), "a b");
    assert_string_equal(preempt(w, 1000, "g-0 g-1", "g-2"), "b");
    world_free(w);
}

static void a_preemption_may_take_a_whole_gang(void **state)
{
    (void)state;
    struct world *w = running(3);
    world_pod_gone(w, "g-2");
    world_pod_seen(w, "g-2", "g", 1, "a", PHASE_RUNNING);
    assert_string_equal(preempt(w, 1000, "g-0 g-1", "single"), "b");
    assert_string_equal(preempt(w, 1000, "g-2 g-0 g-1", "single"), "a b");
    world_free(w);
}

/* A gang that has lost a member runs on by default. Another preemption must not shrink it. */
static void a_preemption_does_not_shrink_a_gang_below_its_minimum(void **state)
{
    (void)state;
    struct world *w = running(3);
    world_pod_gone(w, "g-2");
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_string_equal(preempt(w, 1000, "g-0", "single"), "b");
    world_free(w);
}

static void members_that_finished_or_end_do_not_count_as_running(void **state)
{
    (void)state;
    struct world *w = running(3);
    world_pod_seen(w, "g-2", "g", 1, "b", PHASE_SUCCEEDED);
    assert_string_equal(preempt(w, 1000, "g-0", "single"), "b");
    assert_string_equal(preempt(w, 1000, "g-0 g-1", "single"), "a b");
    struct gang_pod_facts *f = world_pod_facts("g-1", "g", 1);
    f->node = xstrdup("a");
    f->deleting = true;
    world_pod_set(w, f);
    assert_string_equal(preempt(w, 1000, "g-0", "single"), "a b");
    world_free(w);
}

static void each_unit_keeps_its_minimum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_node(w, "b", 8);
    struct gang_group_facts *f = world_group_facts("g", 0);
    world_subgroup(f, "workers", NULL, 1);
    world_subgroup(f, "leader", NULL, 1);
    world_group_set(w, f);
    world_role(w, "l", "g", "leader", 1);
    world_role(w, "w0", "g", "workers", 1);
    world_role(w, "w1", "g", "workers", 1);
    const char *const pods[] = {"l", "w0", "w1"};
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
        world_try(w, pods[i]);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_string_equal(preempt(w, 1000, "w0", "l"), "a");
    assert_string_equal(preempt(w, 1000, "w0 w1", "l w0"), "");
    world_free(w);
}

/* One gang must not shield another: each victim's gang is checked. */
static void each_gang_of_the_victims_is_checked(void **state)
{
    (void)state;
    struct world *w = running(2);
    world_group(w, "h", 2);
    world_pod_seen(w, "h-0", "h", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "h-1", "h", 1, "b", PHASE_RUNNING);
    assert_string_equal(preempt(w, 1000, "g-0 h-0 g-1", "g-2"), "b");
    assert_string_equal(preempt(w, 1000, "g-0 h-0", "g-2 unknown"), "b");
    world_free(w);
}

static void system_critical_pods_are_not_blocked_by_gangs(void **state)
{
    (void)state;
    struct world *w = running(3);
    assert_string_equal(preempt(w, CRITICAL - 1, "g-0", "g-2"), "");
    assert_string_equal(preempt(w, CRITICAL, "g-0", "g-2"), "a b");
    static const struct candidate nodes[] = {{"a", "g-0", 0}, {"b", "single", 1}};
    struct gang_pod_facts *critical = world_pod_facts("critical", NULL, 1);
    critical->priority = CRITICAL;
    assert_string_equal(call(w, critical, nodes, 2), "b");
    world_free(w);
}

/* kube-scheduler fails the whole preemption if the answer for a node has a victim of another node.
 * Its list contains such victims for native PodGroups, which muster treats as ordinary pods. */
static void a_node_with_victims_of_other_nodes_is_dropped(void **state)
{
    (void)state;
    struct world *w = running(3);
    world_pod_seen(w, "n-0", NULL, 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "n-1", NULL, 1, "b", PHASE_RUNNING);
    assert_string_equal(preempt(w, 1000, "n-0 n-1", "single"), "b");
    assert_string_equal(preempt(w, 1000, "n-0 n-1", "single n-1 n-0"), "");
    assert_string_equal(preempt(w, 1000, "n-0", "n-1"), "a b");
    assert_string_equal(preempt(w, 1000, "n-0 unknown", "n-1"), "a b");
    assert_string_equal(preempt(w, CRITICAL, "n-0 n-1", "n-0 n-1"), "");
    assert_string_equal(preempt(w, CRITICAL, "g-0 n-1", "g-2"), "b");
    world_free(w);
}

/* ---- queues ---- */

static struct gang_pod_facts *pod_of(const char *name, const char *queue, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    if (queue)
        f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(queue)};
    if (node) {
        f->node = xstrdup(node);
        f->phase = PHASE_RUNNING;
    }
    return f;
}

/* kube-scheduler preempts for a pod that muster has seen. */
static struct gang_pod_facts *preemptor(struct world *w, const char *name, const char *queue,
                                        int priority)
{
    struct gang_pod_facts *seen = pod_of(name, queue, NULL), *asks = pod_of(name, queue, NULL);
    seen->priority = asks->priority = priority;
    world_pod_set(w, seen);
    return asks;
}

static const char *preempt_in(struct world *w, const char *queue, int priority, const char *on_a,
                              const char *on_b)
{
    struct gang_pod_facts *pods[] = {preemptor(w, "preemptor", queue, priority),
                                     preemptor(w, "preemptor", queue, priority)};
    return preempt_for(w, pods, on_a, on_b);
}

/* Queues mine and other deserve 2 GPUs each. Of other, 3 pods run on a and 1 on b; of mine, 1 runs
 * on b; and one in no queue. */
static struct world *in_queues(void)
{
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_node(w, "b", 8);
    world_queue(w, "mine", NULL, 2, 100);
    world_queue(w, "other", NULL, 2, 100);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("other-%d", i);
        world_pod_set(w, pod_of(name, "other", "a"));
    }
    world_pod_set(w, pod_of("other-3", "other", "b"));
    world_pod_set(w, pod_of("mine-0", "mine", "b"));
    world_pod_set(w, pod_of("free", NULL, "b"));
    return w;
}

static void a_pod_takes_only_what_another_queue_has_borrowed(void **state)
{
    (void)state;
    struct world *w = in_queues();
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "other-3"), "a b");
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 other-1", "mine-0"), "a b");
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 other-1 other-2", "free"), "b");
    assert_string_equal(preempt_in(w, "other", 1000, "other-0", "mine-0"), "a");
    world_pod_set(w, pod_of("mine-1", "mine", "b")); /* now mine uses all that it deserves */
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "mine-0"), "b");
    world_free(w);
}

static void a_pod_in_no_queue_is_not_bound_by_queues(void **state)
{
    (void)state;
    struct world *w = in_queues();
    assert_string_equal(preempt_in(w, NULL, 1000, "other-0 other-1 other-2", "mine-0"), "a b");
    assert_string_equal(preempt_in(w, "mine", CRITICAL, "other-0 other-1 other-2", NULL), "a");
    world_free(w);
}

static void a_pod_takes_nothing_that_is_not_preemptible(void **state)
{
    (void)state;
    struct world *w = in_queues();
    struct gang_pod_facts *firm = pod_of("firm", "mine", "b"), *lent = pod_of("lent", "other", "a");
    firm->preemptible = lent->preemptible = PREEMPTIBLE_NO;
    world_pod_set(w, firm);
    world_pod_set(w, lent);
    assert_string_equal(preempt_in(w, "mine", 1000, "lent", "firm"), "");
    assert_string_equal(preempt_in(w, "other", 1000, "other-0", "other-3"), "a b");
    assert_string_equal(preempt_in(w, "other", 1000, "lent", "other-3"), "b");
    world_free(w);
}

static void a_pod_waits_until_others_have_run_for_the_minimum_time(void **state)
{
    (void)state;
    struct world *w = in_queues();
    struct gang_queue_facts *f = world_queue_facts("other", NULL);
    struct gang_quota *q = gang_quota_add(f, GPU);
    q->deserved = 2;
    q->cap = 100;
    f->reclaim_min_runtime = 3600 * USEC_PER_SEC;
    f->preempt_min_runtime = 7200 * USEC_PER_SEC;
    world_queue_set(w, f);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "mine-0"), "b");
    world_wait(w, 3600 * USEC_PER_SEC);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "mine-0"), "a b");
    assert_string_equal(preempt_in(w, "other", 1000, "other-0", "other-3"), "");
    world_wait(w, 3600 * USEC_PER_SEC);
    assert_string_equal(preempt_in(w, "other", 1000, "other-0", "other-3"), "a b");
    world_free(w);
}

static void ends(struct world *w, const char *name, const char *queue, const char *node)
{
    struct gang_pod_facts *f = pod_of(name, queue, node);
    f->deleting = true;
    world_pod_set(w, f);
}

/* Victims that are ending still use the room that was borrowed, and pods for which others end use
 * nothing yet. Both count. */
static void pods_do_not_take_the_same_room_twice(void **state)
{
    (void)state;
    struct world *w = in_queues();
    world_pod_gone(w, "mine-0"); /* mine deserves 2 and uses nothing */
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "other-3"), "a b");
    ends(w, "other-0", "other", "a");
    struct gang_pod_facts *first = pod_of("first", "mine", NULL);
    first->nominated = xstrdup("a");
    first->priority = 1000;
    world_pod_set(w, first);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-1", "other-3"), "a b");
    ends(w, "other-1", "other", "a"); /* other has 2 left, which it deserves */
    assert_string_equal(preempt_in(w, "mine", 1000, "other-2", "other-3"), "");
    world_queue(w, "other", NULL, 0, 100);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-2", "other-3"), "a b");
    struct gang_pod_facts *second = pod_of("second", "mine", NULL);
    second->nominated = xstrdup("a");
    second->priority = 1000;
    world_pod_set(w, second);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-2", "other-3"), ""); /* mine has its 2 */
    world_free(w);
}

/* The parent of the other queue borrows, and a queue between keeps what it deserves. */
static void each_queue_above_the_victim_keeps_what_it_deserves(void **state)
{
    (void)state;
    struct world *w = in_queues();
    world_queue(w, "team", NULL, 1, 100);
    world_queue(w, "part", "team", 3, 100);
    world_queue(w, "other", "part", 0, 100);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0", "other-3"), "a b");
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 other-1", "other-3"), "b");
    world_free(w);
}

/* Members that their gangs do not need. */
static void members_count_in_the_queue_of_their_gang(void **state)
{
    (void)state;
    struct world *w = in_queues();
    struct gang_group_facts *g = world_group_facts("g", 1);
    g->queue = xstrdup("other");
    world_group_set(w, g);
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "b", PHASE_RUNNING);
    assert_string_equal(preempt_in(w, "mine", 1000, "g-0", "g-1"), "a b");
    world_queue(w, "other", NULL, 6, 100);
    assert_string_equal(preempt_in(w, "mine", 1000, "g-0", "g-1"), "");
    world_free(w);
}

/* Reclaim has just taken pods from the other queue. What kube-scheduler preempts waits, too. */
static void a_queue_that_rests_after_reclaim_is_left_alone(void **state)
{
    (void)state;
    struct world *w = in_queues();
    char api_group[] = "test", ns[] = "", name[] = "other";
    const struct gang_ref ref = {api_group, ns, name};
    struct pod *lost = pod_by_name(w->core, "default", "other-0");
    w->core->config.reclaim_limit = 10;
    queue_loses(w->core, queue_find(w->core, &ref), lost->signature);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-1", "mine-0"), "b");
    world_wait(w, 7200 * USEC_PER_SEC);
    assert_string_equal(preempt_in(w, "mine", 1000, "other-1", "mine-0"), "a b");
    world_free(w);
}

/* A pod without devices leaves each queue the devices that it deserves, as a gang does. */
static void a_pod_without_devices_takes_no_deserved_devices(void **state)
{
    (void)state;
    struct world *w = in_queues();
    const char *const names[] = {"mine", "other"};
    for (int i = 0; i < 2; i++) {
        struct gang_queue_facts *f = world_queue_facts(names[i], NULL);
        gang_quota_add(f, GPU)->deserved = 3;
        gang_quota_add(f, "cpu")->deserved = i ? 0 : 1000000;
        world_queue_set(w, f);
    }
    struct gang_pod_facts *pods[3];
    for (int i = 0; i < 3; i++) {
        pods[i] = world_pod_facts("preemptor", NULL, 0); /* cpu only */
        pods[i]->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("mine")};
        pods[i]->priority = 1000;
    }
    world_pod_set(w, pods[2]);
    assert_string_equal(preempt_for(w, pods, "other-0 other-1", "other-3"), "b");
    world_free(w);
}

/* Many victims, each covered by many budgets. The call ends in time and keeps some nodes. */
static void T04_a_preempt_call_is_bounded(void **state)
{
    (void)state;
    enum { CANDIDATES = IS_FAST_BUILD ? 500 : 20, EACH = 110, BUDGETS = 500 };
    struct world *w = world_new();
    w->unchecked = true;
    world_queue(w, "mine", NULL, 1000, GANG_UNLIMITED);
    world_queue(w, "team", NULL, 0, GANG_UNLIMITED);
    world_queue(w, "other", "team", 0, GANG_UNLIMITED);
    const char *names[CANDIDATES];
    struct gang_victims *victims = xcalloc(CANDIDATES, sizeof *victims);
    for (int n = 0; n < CANDIDATES; n++) {
        char *name = xasprintf("n%d", n);
        const char **uids = xcalloc(EACH, sizeof *uids);
        names[n] = name;
        world_node(w, name, EACH);
        for (int i = 0; i < EACH; i++) {
            cleanup_free char *pod = xasprintf("v-%d-%d", n, i);
            struct gang_pod_facts *f = pod_of(pod, "other", name);
            uids[i] = xstrdup(f->uid);
            world_pod_set(w, f);
        }
        victims[n] = (struct gang_victims){uids, EACH, 0};
    }
    for (int i = 0; i < BUDGETS; i++) {
        cleanup_free char *name = xasprintf("budget-%d", i);
        world_budget(w, name, "nobody", 0);
    }
    world_pod_set(w, pod_of("preemptor", "mine", NULL));
    struct gang_event ev = {.kind = GANG_EV_PREEMPT,
                            .id = 1,
                            .pod = pod_of("preemptor", "mine", NULL),
                            .names = names,
                            .n_names = CANDIDATES,
                            .victims = victims};
    ev.pod->priority = 1000;
    size_t n;
    double ms = cost_ms();
    const struct gang_effect *effects = gang_step(w->core, ++w->now, &ev, 1, &n);
    ms = cost_ms() - ms;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept += effects[i].kind == GANG_REPLY_PREEMPT ? effects[i].preempt.n_kept : 0;
    print_message("%zu of %d nodes kept in %.1f ms\n", kept, CANDIDATES, ms);
    assert_in_range(kept, 1, CANDIDATES);
    assert_true(ms < cost_limit(100));
    gang_event_done(&ev);
    for (int i = 0; i < CANDIDATES; i++) {
        for (int k = 0; k < EACH; k++)
            free((void *)(uintptr_t)victims[i].uids[k]);
        free((void *)(uintptr_t)victims[i].uids);
        free((void *)(uintptr_t)names[i]);
    }
    free(victims);
    world_free(w);
}

/* The node goes with the others, because kube-scheduler evicts all victims of a node or none. */
static void each_victim_of_a_node_must_obey_the_queues(void **state)
{
    (void)state;
    struct world *w = in_queues();
    world_pod_set(w, pod_of("free-a", NULL, "a"));
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 unknown", "mine-0 other-3"), "a b");
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 free-a", "mine-0 free"), "a b");
    assert_string_equal(preempt_in(w, "mine", 1000, "other-0 other-1 other-2 free-a", "free"), "b");
    assert_string_equal(preempt_in(w, "nowhere", 1000, "free-a", "free"), "");
    world_free(w);
}

/* ---- what the watch does not show yet ---- */

static const char *call_of(struct world *w, const char *name, const char *queue, const char *on_a,
                           const char *on_b)
{
    const struct candidate nodes[] = {{"a", on_a, 0}, {"b", on_b, 0}};
    return call(w, preemptor(w, name, queue, 1000), nodes, 2);
}

static void nominated(struct world *w, const char *name, const char *queue, const char *node)
{
    struct gang_pod_facts *f = pod_of(name, queue, NULL);
    f->nominated = xstrdup(node);
    f->priority = 1000;
    world_pod_set(w, f);
}

/* kube-scheduler preempts for the next pod before the watch shows what it did for the one before.
 * The pod counts until its nomination is seen, or for 5 seconds. */
static void a_preemptor_counts_before_its_nomination_is_seen(void **state)
{
    (void)state;
    struct world *w = in_queues();
    world_queue(w, "other", NULL, 0, 100); /* mine deserves 2 and uses 1 */
    assert_string_equal(call_of(w, "first", "mine", "other-0", ""), "a");
    assert_string_equal(call_of(w, "first", "mine", "other-0", ""), "a");
    assert_string_equal(call_of(w, "second", "mine", "other-1", "free"), "b");
    world_pod_gone(w, "first");
    assert_string_equal(call_of(w, "third", "mine", "other-1", "free"), "b"); /* second counts */
    world_wait(w, 6 * USEC_PER_SEC);
    assert_string_equal(call_of(w, "third", "mine", "other-1", ""), "a");
    nominated(w, "third", "mine", "a");
    assert_string_equal(call_of(w, "fourth", "mine", "other-2", "mine-0"), "b");
    world_queue(w, "mine", NULL, 3, 100); /* third and fourth count once, and mine-0 goes */
    assert_string_equal(call_of(w, "fifth", "mine", "other-2", ""), "a");
    world_free(w);
}

/* The victims count as gone, so the queue that lent room keeps what it deserves. */
static void victims_of_a_queue_count_before_their_end_is_seen(void **state)
{
    (void)state;
    struct world *w = in_queues(); /* other uses 4 and deserves 2 */
    world_queue(w, "mine", NULL, 3, 100);
    world_queue(w, "third", NULL, 2, 100);
    assert_string_equal(call_of(w, "first", "mine", "other-0 other-1", ""), "a");
    assert_string_equal(call_of(w, "second", "third", "other-2", "other-3"), "");
    assert_string_equal(call_of(w, "second", "third", "other-0", ""), "a"); /* it goes anyway */
    world_wait(w, 6 * USEC_PER_SEC);
    assert_string_equal(call_of(w, "second", "third", "other-2", ""), "a");
    world_free(w);
}

static void members_count_before_their_end_is_seen(void **state)
{
    (void)state;
    struct world *w = running(2); /* of 3 */
    world_pod_seen(w, "g-4", "g", 1, "b", PHASE_RUNNING);
    assert_string_equal(call_of(w, "zeroth", NULL, "", "g-4"), "b");
    assert_string_equal(call_of(w, "first", NULL, "g-0", ""), "a");
    assert_string_equal(call_of(w, "second", NULL, "g-1", "g-2"), "");
    assert_string_equal(call_of(w, "second", NULL, "g-0", "g-2"), "a");
    assert_string_equal(call_of(w, "third", NULL, "g-1", "single"), "b");
    world_pod_gone(w, "g-0");
    assert_string_equal(call_of(w, "third", NULL, "g-1", "g-2"), "");
    world_pod_seen(w, "g-3", "g", 1, "a", PHASE_RUNNING);
    assert_string_equal(call_of(w, "third", NULL, "g-1", ""), "a");
    world_wait(w, 6 * USEC_PER_SEC); /* kube-scheduler has not evicted it */
    assert_string_equal(call_of(w, "fourth", NULL, "", "g-2"), "b");
    world_free(w);
}

/* The watch is late, so muster does not know the preemptors either. Nothing is forgotten until the
 * watch has caught up. A second call of the same pod does not bring the first victim back. */
static void members_count_while_the_watch_is_behind(void **state)
{
    (void)state;
    struct world *w = running(2); /* of 3 */
    world_watch(w, GANG_WATCH_PODS, true);
    static const struct candidate a = {"a", "g-0", 0}, b = {"b", "g-2", 0};
    assert_string_equal(call(w, world_pod_facts("first", NULL, 1), &a, 1), "a");
    assert_string_equal(call(w, world_pod_facts("first", NULL, 1), &b, 1), "");
    assert_string_equal(call(w, world_pod_facts("second", NULL, 1), &a, 1), "a");
    world_wait(w, 6 * USEC_PER_SEC);
    assert_string_equal(call(w, world_pod_facts("third", NULL, 1), &b, 1), "");
    world_watch(w, GANG_WATCH_PODS, false);
    assert_string_equal(call(w, world_pod_facts("third", NULL, 1), &b, 1), "b");
    world_free(w);
}

/* While the preemptor is nominated, kube-scheduler may still be evicting. */
static void victims_count_while_the_preemptor_is_nominated(void **state)
{
    (void)state;
    struct world *w = running(2); /* of 3 */
    assert_string_equal(call_of(w, "first", NULL, "g-0", ""), "a");
    nominated(w, "first", NULL, "a");
    world_wait(w, 6 * USEC_PER_SEC);
    assert_string_equal(call_of(w, "second", NULL, "g-1", "g-2"), "");
    world_pod_set(w, pod_of("first", NULL, NULL)); /* it has given up */
    assert_string_equal(call_of(w, "second", NULL, "", "g-2"), "b");
    world_free(w);
}

/* All members may go, also in two calls. */
static void the_rest_of_a_gang_that_goes_may_go(void **state)
{
    (void)state;
    struct world *w = running(3);
    assert_string_equal(call_of(w, "first", NULL, "g-0 g-1", "g-2"), "");
    world_pod_gone(w, "g-2");
    world_pod_seen(w, "g-2", "g", 1, "a", PHASE_RUNNING);
    assert_string_equal(call_of(w, "first", NULL, "g-0 g-1 g-2", ""), "a");
    assert_string_equal(call_of(w, "second", NULL, "g-0", ""), "a");
    world_free(w);
}

/* ---- the choice of one node ---- */

static struct gang_pod_facts *victim(const char *name, const char *node, int priority, usec_t start)
{
    struct gang_pod_facts *f = pod_of(name, NULL, node);
    f->priority = priority;
    f->bound_at = start;
    return f;
}

/* As kube-scheduler would choose. */
static void muster_chooses_the_node_if_a_victim_is_a_member(void **state)
{
    (void)state;
    struct world *w = running(1);
    for (int i = 0; i < 4; i++) {
        char node[2] = {(char)('c' + i), 0};
        world_node(w, node, 8);
    }
    world_pod_set(w, victim("c-0", "c", 5, 100));
    world_pod_set(w, victim("c-1", "c", 3, 900));
    world_pod_set(w, victim("d-0", "d", 5, 300));
    world_pod_set(w, victim("d-1", "d", 3, 100));
    world_pod_set(w, victim("e-0", "e", 5, 200));
    world_pod_set(w, victim("e-1", "e", 2, 100));
    world_pod_set(w, victim("f-0", "f", 4, 100));
    static const struct {
        struct candidate nodes[4];
        size_t n;
        const char *want;
    } cases[] = {
        {{{"c", "c-0", 0}, {"d", "d-0", 0}}, 2, "c d"}, /* no victim is a member or in a queue */
        {{{"c", "c-0", 0}, {"a", "g-0", 0}}, 2, "a"},   /* a lower priority */
        {{{"c", "c-0", 0}, {"a", "g-0", 1}}, 2, "c"},   /* fewer violations */
        {{{"c", "c-0 c-1", 1}, {"d", "d-0 d-1", 1}, {"e", "e-0 e-1", 1}, {"a", "g-0", 2}}, 4, "e"},
        {{{"c", "c-0 c-1", 1}, {"d", "d-0", 1}, {"e", "e-0 e-1", 1}, {"a", "g-0", 2}}, 4, "d"},
        {{{"c", "c-0 c-1", 1}, {"d", "d-0 d-1", 1}, {"a", "g-0", 2}}, 3, "d"}, /* started later */
        {{{"d", "d-0", 0}, {"f", "f-0 unknown", 0}, {"b", "g-2", 1}}, 3, "d"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *kept =
            call(w, preemptor(w, "preemptor", NULL, 1000), cases[i].nodes, cases[i].n);
        if (!str_eq(kept, cases[i].want))
            fail_msg("case %zu: muster keeps %s, want %s", i, kept, cases[i].want);
        world_wait(w, 6 * USEC_PER_SEC);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preemption_does_not_break_a_gang),
        cmocka_unit_test(a_node_without_victims_is_dropped),
        cmocka_unit_test(a_preemption_may_take_members_beyond_the_minimum),
        cmocka_unit_test(a_preemption_may_take_a_whole_gang),
        cmocka_unit_test(a_preemption_does_not_shrink_a_gang_below_its_minimum),
        cmocka_unit_test(members_that_finished_or_end_do_not_count_as_running),
        cmocka_unit_test(each_unit_keeps_its_minimum),
        cmocka_unit_test(each_gang_of_the_victims_is_checked),
        cmocka_unit_test(system_critical_pods_are_not_blocked_by_gangs),
        cmocka_unit_test(a_node_with_victims_of_other_nodes_is_dropped),
        cmocka_unit_test(a_pod_takes_only_what_another_queue_has_borrowed),
        cmocka_unit_test(a_pod_in_no_queue_is_not_bound_by_queues),
        cmocka_unit_test(a_pod_takes_nothing_that_is_not_preemptible),
        cmocka_unit_test(a_pod_waits_until_others_have_run_for_the_minimum_time),
        cmocka_unit_test(each_victim_of_a_node_must_obey_the_queues),
        cmocka_unit_test(pods_do_not_take_the_same_room_twice),
        cmocka_unit_test(each_queue_above_the_victim_keeps_what_it_deserves),
        cmocka_unit_test(members_count_in_the_queue_of_their_gang),
        cmocka_unit_test(a_queue_that_rests_after_reclaim_is_left_alone),
        cmocka_unit_test(a_pod_without_devices_takes_no_deserved_devices),
        cmocka_unit_test(a_preemptor_counts_before_its_nomination_is_seen),
        cmocka_unit_test(victims_of_a_queue_count_before_their_end_is_seen),
        cmocka_unit_test(members_count_before_their_end_is_seen),
        cmocka_unit_test(members_count_while_the_watch_is_behind),
        cmocka_unit_test(victims_count_while_the_preemptor_is_nominated),
        cmocka_unit_test(the_rest_of_a_gang_that_goes_may_go),
        cmocka_unit_test(muster_chooses_the_node_if_a_victim_is_a_member),
        cmocka_unit_test(T04_a_preempt_call_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
