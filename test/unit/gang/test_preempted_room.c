/* SPDX-License-Identifier: Apache-2.0 */
/* The room of evicted pods is for the gang for which they were evicted, so nothing is evicted in
 * vain. */
#include "test/lib/world_jobs.h"

#define QUIET SECONDS(100)

static struct jobs *nodes(int n, int gpus)
{
    return jobs_new(world_of_nodes(n, gpus));
}

/* The queue has 2 GPUs left, and the gang waits for 4 more. The replacement of the evicted pod
 * needs only 2. It took them, was evicted again, and so on for ever. */
static void Q08_a_replacement_does_not_take_what_is_left_in_the_queue(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 8);
    world_queue(jobs->w, "q", NULL, GANG_NOT_STATED, 10);
    job_add(jobs, (struct job){.name = "low", .queue = "q", .min = 1, .gpus = 2, .on = "0"});
    job_add(
        jobs,
        (struct job){.name = "equal", .queue = "q", .min = 1, .gpus = 2, .priority = 1, .on = "1"});
    struct job *urgent = job_add(
        jobs, (struct job){.name = "urgent", .queue = "q", .min = 2, .gpus = 4, .priority = 1});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(urgent), 2);
    jobs_free(jobs);
}

/* Nor does the plan of a gang of a lower priority, even if kube-scheduler does not try its pods.
 * With a limit of 5 GPUs, muster also evicts a pod, whose replacement must not take what it has
 * left. */
static void Q08_a_plan_does_not_use_up_the_queue(void **state)
{
    (void)state;
    for (int cap = 5; cap <= 6; cap++) {
        struct jobs *jobs = nodes(2, 8);
        world_queue(jobs->w, "q", NULL, GANG_NOT_STATED, cap);
        job_add(jobs,
                (struct job){
                    .name = "high", .queue = "q", .min = 1, .gpus = 2, .priority = 3, .on = "0"});
        job_add(jobs, (struct job){.name = "low", .queue = "q", .min = 1, .gpus = 1, .on = "0"});
        job_add(jobs, (struct job){.name = "asleep",
                                   .queue = "q",
                                   .min = 1,
                                   .gpus = 2,
                                   .priority = 1,
                                   .asleep = true});
        struct job *urgent = job_add(
            jobs, (struct job){.name = "urgent", .queue = "q", .min = 3, .gpus = 1, .priority = 3});
        jobs_settle(jobs, QUIET);
        assert_int_equal(jobs->n_evictions, cap == 5);
        assert_int_equal(job_runs(urgent), 3);
        jobs_free(jobs);
    }
}

/* Neither does an ordinary pod of the queue. */
static void Q08_a_pod_does_not_take_what_is_left_in_the_queue(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 8);
    world_queue(jobs->w, "q", NULL, GANG_NOT_STATED, 10);
    job_add(jobs, (struct job){.name = "low", .queue = "q", .min = 1, .gpus = 4, .on = "0"});
    job_add(jobs, (struct job){.name = "urgent", .queue = "q", .min = 2, .gpus = 4, .priority = 1});
    world_decide(jobs->w);
    assert_int_equal(jobs->w->n_evictions, 1);
    struct gang_pod_facts *f = world_pod_facts("single", NULL, 2);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("q")};
    world_pod_set(jobs->w, f);
    assert_string_equal(world_filter_on(jobs->w, "single", "n0 n1", NULL), "");
    jobs_free(jobs);
}

/* A gang in no queue has a higher priority, but could not evict the victim. */
static void Q08_a_gang_in_no_queue_does_not_get_the_room(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(1, 4);
    world_queue(jobs->w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    job_add(jobs, (struct job){.name = "low", .queue = "q", .min = 1, .gpus = 4, .on = "0"});
    job_add(jobs, (struct job){.name = "outside", .min = 1, .gpus = 4, .priority = 3});
    assert_int_equal(jobs->n_evictions, 0);
    struct job *urgent = job_add(
        jobs, (struct job){.name = "urgent", .queue = "q", .min = 1, .gpus = 4, .priority = 2});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(urgent), 1);
    jobs_free(jobs);
}

/* Nothing is evicted for members that a running gang does not need. They do not get the room
 * either, whatever priority they have: neither before nor after the other gang has its plan. */
static void Q08_members_beyond_the_minimum_do_not_get_the_room(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct jobs *jobs = nodes(3, 4);
        jobs->slow = slow;
        job_add(jobs, (struct job){.name = "low", .min = 2, .gpus = 4, .priority = 1, .on = "01"});
        struct job *elastic = job_add(
            jobs, (struct job){.name = "elastic", .min = 1, .size = 3, .gpus = 4, .priority = 3});
        jobs_settle(jobs, QUIET);
        assert_int_equal(job_runs(elastic), 1);
        struct job *urgent =
            job_add(jobs, (struct job){.name = "urgent", .min = 2, .gpus = 1, .priority = 2});
        assert_true(jobs_settle(jobs, QUIET));
        assert_int_equal(jobs->n_evictions, 2);
        assert_int_equal(job_runs(urgent), 2);
        jobs_free(jobs);
    }
}

/* A gang of a higher priority has waited too long, so muster keeps room for it, too (an earmark).
 * This moves to other nodes when pods have ended, and took the room of the victims. */
static void Q08_an_earmark_does_not_take_the_room(void **state)
{
    (void)state;
    const struct job arrive[] = {
        {.name = "outside", .min = 2, .gpus = 4, .priority = 1},
        {.name = "large", .queue = "q", .min = 4, .gpus = 4, .priority = 3},
        {.name = "small", .queue = "q", .min = 1, .gpus = 1, .priority = 3},
        {.name = "low", .queue = "q", .min = 4, .gpus = 1},
    };
    struct jobs *jobs = jobs_new(world_new());
    world_node(jobs->w, "n3", 8);
    world_node(jobs->w, "n4", 8);
    jobs->slow = true;
    world_queue(jobs->w, "top", NULL, 24, GANG_UNLIMITED);
    world_queue(jobs->w, "q", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    for (size_t i = 0; i < ARRAY_SIZE(arrive); i++) {
        job_add(jobs, arrive[i]);
        jobs_settle(jobs, SECONDS(70));
    }
    world_node(jobs->w, "n1", 8);
    jobs_settle(jobs, SECONDS(70));
    jobs_settle(jobs, SECONDS(70));
    struct job *urgent = job_add(
        jobs, (struct job){.name = "urgent", .queue = "q", .min = 1, .gpus = 1, .priority = 2});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 4);
    assert_int_equal(job_runs(urgent), 1);
    jobs_free(jobs);
}

/* Nor does a plan in a queue that uses lent quota, when the queue that lent it takes it back. */
static void Q08_a_plan_with_lent_quota_does_not_keep_its_room(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 4);
    world_queue(jobs->w, "lent", NULL, 0, GANG_UNLIMITED);
    world_queue(jobs->w, "owner", NULL, 8, GANG_UNLIMITED);
    job_add(jobs, (struct job){.name = "a", .queue = "lent", .min = 1, .gpus = 3, .on = "0"});
    job_add(jobs, (struct job){.name = "b", .queue = "lent", .min = 1, .gpus = 4, .on = "1"});
    job_add(jobs,
            (struct job){.name = "asleep", .queue = "lent", .min = 1, .gpus = 1, .asleep = true});
    struct job *owner =
        job_add(jobs, (struct job){.name = "owner", .queue = "owner", .min = 2, .gpus = 4});
    jobs_settle(jobs, QUIET);
    assert_int_equal(jobs->n_evictions, 2);
    assert_int_equal(job_runs(owner), 2);
    jobs_free(jobs);
}

/* A gang of a higher priority in the same queue may take the room. The victim's replacement has an
 * even higher priority, but must not take the room from that plan. */
static void Q08_the_victim_does_not_get_the_room_from_another_gang(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 4);
    jobs->slow = true;
    world_queue(jobs->w, "lent", NULL, 0, GANG_UNLIMITED);
    world_queue(jobs->w, "owner", NULL, 4, GANG_UNLIMITED);
    job_add(jobs, (struct job){.name = "elastic",
                               .queue = "lent",
                               .min = 1,
                               .size = 2,
                               .gpus = 4,
                               .priority = 3,
                               .on = "01"});
    job_add(jobs, (struct job){.name = "low", .queue = "owner", .min = 2, .gpus = 2});
    world_decide(jobs->w);
    assert_int_equal(jobs->w->n_evictions, 1);
    struct job *high = job_add(
        jobs, (struct job){.name = "high", .queue = "owner", .min = 3, .gpus = 1, .priority = 1});
    jobs_settle(jobs, QUIET);
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(high), 3);
    jobs_free(jobs);
}

static void runs(struct world *w, const char *name, const char *node, bool ends)
{
    struct gang_pod_facts *f = world_pod_facts(name, "low", 1);
    f->controlled = true;
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->deleting = ends;
    world_pod_set(w, f);
}

/* muster keeps only what the members request, so the replacement of the evicted pod takes the rest
 * of minResources. It was evicted again every minute. */
static void a_gang_whose_members_need_less_than_it_asks_for_evicts_rarely(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "low", 1);
    runs(w, "low-0", "n0", false);
    struct gang_group_facts *g = world_group_facts("urgent", 1);
    gang_amounts_add(&g->min_resources, GPU, 8);
    world_group_set(w, g);
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 1);
    f->priority = 10;
    world_pod_set(w, f);
    world_decide(w);
    assert_int_equal(w->n_evictions, 1);
    runs(w, "low-0", "n0", true);
    runs(w, "low-1", "n1", false);
    world_pod_gone(w, "low-0");
    assert_string_equal(world_reason_name(w, "urgent"), "MinResourcesNotFree");
    world_wait(w, SECONDS(500));
    assert_int_equal(w->n_evictions, 1);
    world_wait(w, SECONDS(200));
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* A rule of the waiting gang's member against pods with the label app=x. */
enum between { PORT, ANTI_AFFINITY, SPREAD, RULES };

static void add_rule(struct gang_pod_facts *f, enum between rule)
{
    if (rule == ANTI_AFFINITY) {
        f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
        f->n_anti_affinity = 1;
        world_term_in(&f->anti_affinity[0].term, "app", "x");
    } else if (rule == SPREAD) {
        gang_kvs_add(&f->labels, "app", "x");
        f->spreads = xcalloc(1, sizeof *f->spreads);
        f->n_spreads = 1;
        f->spreads[0].max_skew = 1;
        world_term_in(&f->spreads[0].selector.term, "app", "x");
    }
}

static struct gang_pod_facts *low(const char *name, const char *node, enum between rule)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    gang_kvs_add(&f->labels, "app", "x");
    f->controlled = true;
    if (rule == PORT) {
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    }
    if (node) {
        f->node = xstrdup(node);
        f->phase = PHASE_RUNNING;
    }
    return f;
}

static void urgent(struct world *w, enum between rule)
{
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 1);
    f->priority = 10;
    add_rule(f, rule);
    if (rule == PORT) {
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    }
    world_group(w, "urgent", 1);
    world_pod_set(w, f);
}

static void assert_kept_out(struct world *w, const char *pod, enum between rule)
{
    assert_string_equal(world_filter_facts(w, low(pod, NULL, rule), "n0"), "");
    assert_non_null(strstr(w->refusal, "default/urgent"));
}

/* The pod low-0 is being evicted from n0, which has 4 GPUs, for the gang "urgent". */
static struct world *world_evicting(enum between rule)
{
    struct world *w = world_of_nodes(1, 4);
    world_node(w, "n1", 0); /* counts for the spread */
    world_pod_set(w, low("low-0", "n0", rule));
    urgent(w, rule);
    world_decide(w);
    assert_int_equal(w->n_evictions, 1);
    return w;
}

/* The node has room for both pods, but a rule forbids them to share it. Without protection, the
 * replacement of the victim returns and is evicted again. */
static void Q08_a_replacement_stays_away_from_a_member_that_it_would_keep_out(void **state)
{
    (void)state;
    for (enum between rule = PORT; rule < RULES; rule++) {
        struct world *w = world_evicting(rule);
        struct gang_pod_facts *f = low("low-0", "n0", rule);
        f->deleting = true;
        world_pod_set(w, f);
        world_pod_set(w, low("low-1", NULL, rule));
        assert_kept_out(w, "low-1", rule);
        world_pod_gone(w, "low-0");
        assert_string_equal(world_state(w, "urgent"), "Planned");
        assert_kept_out(w, "low-1", rule);
        world_bind(w, "urgent-0", world_filter(w, "urgent-0"));
        world_wait(w, SECONDS(5));
        assert_int_equal(w->n_evictions, 1);
        world_free(w);
    }
}

/* Pods were evicted for the gang "urgent". They are gone, and it is planned on n0, where 3 GPUs are
 * free. Its member has a topology spread over pods with the label app=x. */
static struct world *world_planned(void)
{
    struct world *w = world_evicting(SPREAD);
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    return w;
}

static struct gang_pod_facts *solo(const char *name, const char *app, int priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    gang_kvs_add(&f->labels, "app", app);
    f->priority = priority;
    return f;
}

/* The spread keeps out the gang "later". */
static void add_later(struct world *w)
{
    struct gang_pod_facts *f = world_pod_facts("later-0", "later", 1);
    gang_kvs_add(&f->labels, "app", "x");
    world_pod_set(w, f);
    world_group(w, "later", 1);
    assert_string_equal(world_reason_name(w, "later"), "RoomPreempted");
}

static void Q08_a_pod_with_a_higher_priority_may_join_the_member(void **state)
{
    (void)state;
    struct world *w = world_planned();
    world_pod_set(w, solo("high", "x", 100));
    assert_string_equal(world_filter_on(w, "high", "n0", NULL), "n0");
    world_bind(w, "high", "n0");
    assert_true(world_binding(w, "high@n0"));
    world_free(w);
}

static void Q08_a_gang_that_the_member_keeps_out_learns_whose_room_it_is(void **state)
{
    (void)state;
    struct world *w = world_planned();
    add_later(w);
    assert_non_null(strstr(world_reason(w, "later"), "default/urgent"));
    world_free(w);
}

static void Q08_the_end_of_the_protection_wakes_others(void **state)
{
    (void)state;
    struct world *w = world_planned();
    world_pod_set(w, low("low-1", NULL, SPREAD));
    assert_kept_out(w, "low-1", SPREAD);
    add_later(w);
    world_bind(w, "urgent-0", world_filter(w, "urgent-0"));
    world_all_bound(w);
    assert_string_equal(world_state(w, "urgent"), "Scheduled");
    world_wait(w, SECONDS(1));
    assert_string_equal(world_state(w, "later"), "Planned");
    assert_true(world_nominated(w, "low-1@n0"));
    world_free(w);
}

/* Two pods with equal requests are blocked. When room becomes free, the rule keeps out only the
 * first. */
static void a_rule_for_one_blocked_pod_does_not_keep_equal_pods_asleep(void **state)
{
    (void)state;
    struct world *w = world_planned();
    world_members(w, "wide", 0, 1, 3);
    world_group(w, "wide", 1);
    assert_string_equal(world_state(w, "wide"), "Planned");
    static const char *const names[] = {"x", "y"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        world_pod_set(w, solo(names[i], names[i], 0));
        assert_string_equal(world_filter_facts(w, solo(names[i], names[i], 0), "n0"), "");
    }
    world_group_gone(w, "wide");
    world_pod_gone(w, "wide-0");
    world_wait(w, SECONDS(1));
    assert_true(world_nominated(w, "y@n0"));
    assert_false(world_nominated(w, "x@n0"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q08_a_replacement_does_not_take_what_is_left_in_the_queue),
        cmocka_unit_test(Q08_a_plan_does_not_use_up_the_queue),
        cmocka_unit_test(Q08_a_plan_with_lent_quota_does_not_keep_its_room),
        cmocka_unit_test(Q08_the_victim_does_not_get_the_room_from_another_gang),
        cmocka_unit_test(Q08_a_pod_does_not_take_what_is_left_in_the_queue),
        cmocka_unit_test(Q08_a_gang_in_no_queue_does_not_get_the_room),
        cmocka_unit_test(Q08_members_beyond_the_minimum_do_not_get_the_room),
        cmocka_unit_test(Q08_an_earmark_does_not_take_the_room),
        cmocka_unit_test(Q08_a_replacement_stays_away_from_a_member_that_it_would_keep_out),
        cmocka_unit_test(Q08_a_pod_with_a_higher_priority_may_join_the_member),
        cmocka_unit_test(Q08_a_gang_that_the_member_keeps_out_learns_whose_room_it_is),
        cmocka_unit_test(Q08_the_end_of_the_protection_wakes_others),
        cmocka_unit_test(a_rule_for_one_blocked_pod_does_not_keep_equal_pods_asleep),
        cmocka_unit_test(a_gang_whose_members_need_less_than_it_asks_for_evicts_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
