/* SPDX-License-Identifier: Apache-2.0 */
/* Whether gangs would fit that do not exist yet: the answers, that nothing is left of the gangs,
 * and what a question may cost. test/prop compares the answers with what then happens. */
#include <stdio.h>

#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

struct answer {
    char gang[64];
    enum gang_answer fits;
    char reason[64], text[1024];
    int needed, members, placed, smaller;
    char nodes[256];  /* "n0=2 n1=1" */
    char queues[256]; /* other queues, separated by spaces */
    char limit[256];  /* "queue resource used/limit needed" */
    char ahead[256];  /* the first gangs ahead of it, separated by spaces */
    char victims[64]; /* what may be evicted for it */
    char after[256];  /* "running,a planned,b": the end of one of these is enough */
    int position, more_nodes;
};

struct answers {
    struct answer items[GANG_DRY_GANGS];
    size_t n;
    struct err err; /* code ERR_NONE: none */
};

/* Appends to an array of characters. */
#define PUT(text, ...) snprintf((text) + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)

static void keep(void *arg, const struct gang_dry_run *r)
{
    struct answers *all = arg;
    struct answer *a = &all->items[all->n++];
    *a = (struct answer){.fits = r->fits,
                         .needed = r->needed,
                         .members = r->members,
                         .placed = r->placed,
                         .smaller = r->smaller,
                         .position = r->why ? r->why->queue_position : 0,
                         .more_nodes = r->why ? r->why->more_nodes : 0};
    PUT(a->gang, "%s", r->ref->name);
    PUT(a->reason, "%s", gang_reason_name(r->reason));
    PUT(a->text, "%s", r->text);
    for (size_t i = 0; i < r->n_nodes && i < 8; i++)
        PUT(a->nodes, "%s%s=%d", i ? " " : "", r->nodes[i].name, r->nodes[i].members);
    for (size_t i = 0; i < r->n_queues; i++)
        PUT(a->queues, "%s%s", i ? " " : "", r->queues[i]->name);
    if (r->limit.queue)
        PUT(a->limit, "%s %s %d/%d %d", r->limit.queue->name, r->limit.resource, (int)r->limit.used,
            (int)r->limit.limit, (int)r->limit.needed);
    for (size_t i = 0; i < r->n_after; i++)
        PUT(a->after, "%s%s,%s", i ? " " : "", r->after[i].planned ? "planned" : "running",
            r->after[i].gang ? r->after[i].gang->name : r->after[i].pod->name);
    for (size_t i = 0; r->eviction && i < r->eviction->n_victims; i++)
        PUT(a->victims, "%s%s", i ? " " : "", r->eviction->victims[i].gang->name);
    for (size_t i = 0; r->why && i < r->why->n_ahead; i++)
        PUT(a->ahead, "%s%s", i ? " " : "", r->why->ahead[i]->name);
}

/* ---- questions ---- */

struct question {
    struct gang_event events[GANG_DRY_PODS + GANG_DRY_GANGS + 2];
    size_t n;
};

static struct gang_group_facts *ask_group(struct question *q, const char *name, int min)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    q->events[q->n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
    return f;
}

static struct gang_pod_facts *ask_pod(struct question *q, const char *group, int i, int gpus)
{
    cleanup_free char *name = xasprintf("%s-%d", group, i);
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    q->events[q->n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    return f;
}

/* A gang of one-GPU members, as many as its minimum. */
static struct gang_group_facts *ask_gang(struct question *q, const char *name, const char *queue,
                                         int min)
{
    struct gang_group_facts *f = ask_group(q, name, min);
    f->queue = xstrdup_null(queue);
    for (int i = 0; i < min; i++)
        ask_pod(q, name, i, 1);
    return f;
}

/* Frees the question. */
static struct answers *ask(struct world *w, struct question *q)
{
    struct answers *all = xcalloc(1, sizeof *all);
    struct err err;
    if (gang_core_dry_run(w->core, q->events, q->n, keep, all, &all->err) == 0)
        all->err.code = ERR_NONE;
    for (size_t i = 0; i < q->n; i++)
        gang_event_done(&q->events[i]);
    free(q);
    if (gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
    return all;
}

static struct question *question(void)
{
    return xcalloc(1, sizeof(struct question));
}

/* The answer about one gang of one-GPU members. */
static struct answer dry(struct world *w, const char *name, const char *queue, int min)
{
    struct question *q = question();
    ask_gang(q, name, queue, min);
    cleanup_free struct answers *all = ask(w, q);
    if (all->err.code)
        fail_msg("%s", all->err.text);
    assert_int_equal(all->n, 1);
    return all->items[0];
}

/* The question is refused with this text. */
static void refuses(struct world *w, struct question *q, const char *text)
{
    cleanup_free struct answers *all = ask(w, q);
    assert_int_not_equal(all->err.code, ERR_NONE);
    assert_int_equal(all->n, 0);
    if (!strstr(all->err.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, all->err.text);
}

/* ---- answers ---- */

static void nothing_is_left_of_a_gang_that_fits(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    struct gang_stats before, after;
    gang_core_stats(w->core, &before);
    struct answer a = dry(w, "new", NULL, 6);
    assert_int_equal(a.fits, GANG_YES);
    assert_string_equal(a.nodes, "n0=4 n1=2");
    assert_int_equal(a.placed, 6);
    gang_core_stats(w->core, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(world_reserved(w, "n0", GPU), 0);
    world_queued(w, "new", NULL, 6, 1); /* the name is free */
    assert_string_equal(world_state(w, "new"), "Planned");
    world_free(w);
}

static void extras_get_the_room_that_is_left(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 5);
    struct question *q = question();
    ask_group(q, "new", 2);
    for (int i = 0; i < 8; i++)
        ask_pod(q, "new", i, 1);
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->items[0].fits, GANG_YES);
    assert_int_equal(all->items[0].needed, 2);
    assert_int_equal(all->items[0].members, 8);
    assert_int_equal(all->items[0].placed, 5);
    world_free(w);
}

static void the_shortage_and_a_smaller_minimum_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    struct answer a = dry(w, "new", NULL, 12);
    assert_int_equal(a.fits, GANG_NO);
    assert_string_equal(a.reason, "NotEnoughResources");
    assert_string_equal(
        a.text, "gang default/new: 12 members needed, room for 8 (4 short of nvidia.com/gpu)");
    assert_int_equal(a.smaller, 8);
    world_free(w);
}

static void a_limit_above_the_queue_and_other_queues_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "research", NULL, GANG_NOT_STATED, 6);
    world_queue(w, "vision", "research", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "language", "research", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "large", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "huge", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "old", "language", 4, 1);
    world_starts(w, "old", 4, 1);
    struct answer a = dry(w, "new", "vision", 4);
    assert_int_equal(a.fits, GANG_NO);
    assert_string_equal(a.reason, "QueueLimitReached");
    assert_string_equal(a.limit, "research nvidia.com/gpu 4/6 4");
    assert_non_null(strstr(a.text, "queue research (above queue vision) uses 4 of its limit of 6"));
    assert_int_equal(a.smaller, 2);
    assert_string_equal(a.queues, "huge large");
    assert_int_equal(world_queue_used(w, "vision", GPU), 0);
    a = dry(w, "new", "nowhere", 4);
    assert_string_equal(a.reason, "QueueNotFound");
    assert_int_equal(a.smaller, 0);
    assert_string_equal(a.queues, "huge large");
    a = dry(w, "new", "vision", 2);
    assert_int_equal(a.fits, GANG_YES);
    assert_string_equal(a.limit, "");
    world_free(w);
}

/* Only queues that the namespace may use are proposed. */
static void forbidden_queues_are_not_proposed(void **state)
{
    (void)state;
    static const char *const grants[] = {"huge:other"};
    struct gang_config config = test_config();
    config.assemble = 0;
    config.queue_grants = grants;
    config.n_queue_grants = 1;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 8);
    world_queue(w, "small", NULL, GANG_NOT_STATED, 2);
    world_queue(w, "large", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "huge", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(dry(w, "new", "small", 4).queues, "large");
    assert_string_equal(dry(w, "new", "huge", 4).reason, "QueueNotAllowed");
    world_free(w);
}

static void the_gangs_ahead_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queue(w, "training", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "runs", "training", 3, 1);
    world_starts(w, "runs", 3, 1);
    world_queued(w, "a", "training", 4, 1);
    world_queued(w, "b", "training", 4, 1);
    struct question *q = question();
    ask_gang(q, "new", "training", 4)->created = w->now + 1;
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->items[0].position, 3);
    assert_string_equal(all->items[0].ahead, "a b");
    assert_int_equal(all->items[0].smaller, 1);
    world_free(w);
}

/* Without queues, all waiting gangs are ahead of it. */
static void the_gangs_ahead_are_named_without_queues(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queued(w, "a", NULL, 5, 1);
    struct question *q = question();
    ask_gang(q, "new", NULL, 5)->created = w->now + 1;
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->items[0].position, 2);
    assert_string_equal(all->items[0].ahead, "a");
    world_free(w);
}

static void the_gangs_whose_end_is_enough_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queued(w, "runs", NULL, 4, 1);
    world_starts(w, "runs", 4, 1);
    world_queued(w, "planned", NULL, 3, 1);
    struct answer a = dry(w, "new", NULL, 4);
    assert_string_equal(a.text, "gang default/new: 4 members needed, room for 1 (3 short of "
                                "nvidia.com/gpu)");
    assert_string_equal(a.after, "running,runs planned,planned");
    world_free(w);
}

/* A gang of a higher priority would evict the other. The question evicts nobody. */
static void the_gangs_that_may_be_evicted_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_group(w, "low", 4);
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("low-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "low", 1);
        f->node = xstrdup("n0");
        f->phase = PHASE_RUNNING;
        f->controlled = true;
        world_pod_set(w, f);
    }
    for (int priority = 0; priority <= 10; priority += 10) {
        struct question *q = question();
        ask_group(q, "new", 1);
        ask_pod(q, "new", 0, 1)->priority = priority;
        cleanup_free struct answers *all = ask(w, q);
        assert_int_equal(all->items[0].fits, GANG_NO);
        assert_string_equal(all->items[0].victims, priority ? "low" : "");
    }
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* The room of `first` is not free for `second`. So the end of `runs` alone is not enough, and
 * neither is one more node. */
static void what_would_help_is_not_said_beside_a_gang_that_fits(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_queued(w, "runs", NULL, 4, 1);
    world_starts(w, "runs", 4, 1);
    struct answer alone = dry(w, "second", NULL, 8);
    assert_string_equal(alone.after, "running,runs");
    assert_int_equal(alone.more_nodes, 1);
    struct question *q = question();
    ask_gang(q, "first", NULL, 4)->created = 1;
    ask_gang(q, "second", NULL, 8)->created = 2;
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->n, 2);
    assert_int_equal(all->items[0].fits, GANG_YES);
    assert_int_equal(all->items[1].fits, GANG_NO);
    assert_string_equal(all->items[1].after, "");
    assert_int_equal(all->items[1].more_nodes, 0);
    world_free(w);
}

static void the_gangs_of_a_queue_whose_end_is_enough_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "all", NULL, GANG_NOT_STATED, 8);
    world_queue(w, "a", "all", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "b", "all", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "other", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    const char *const gangs[][2] = {{"small", "a"}, {"large", "b"}, {"stranger", "other"}};
    const int sizes[] = {1, 4, 4};
    for (int i = 0; i < 3; i++) {
        world_queued(w, gangs[i][0], gangs[i][1], sizes[i], 1);
        world_starts(w, gangs[i][0], sizes[i], 1);
    }
    world_queued(w, "next", "b", 3, 1);
    struct answer a = dry(w, "new", "a", 3);
    assert_string_equal(a.limit, "all nvidia.com/gpu 8/8 3");
    assert_string_equal(a.after, "planned,next running,large");
    world_free(w);
}

static void a_gang_waits_behind_others_in_a_fifo_queue(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct gang_queue_facts *f = world_queue_facts("line", NULL);
    f->fifo = true;
    world_queue_set(w, f);
    world_queue(w, "other", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "large", "line", 5, 1);
    for (int i = 0; i < 2; i++) { /* nothing of the first question is left */
        struct question *q = question();
        ask_gang(q, "new", "line", 1)->created = w->now + 1;
        cleanup_free struct answers *all = ask(w, q);
        assert_int_equal(all->items[0].fits, GANG_NO);
        assert_string_equal(all->items[0].reason, "BehindInQueue");
        assert_string_equal(all->items[0].ahead, "large");
        assert_string_equal(all->items[0].queues, "other");
    }
    world_free(w);
}

/* Two gangs of one question share the room, in the order of planning. */
static void gangs_take_the_room_of_those_behind_them(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 6);
    struct question *q = question();
    ask_gang(q, "b", NULL, 4)->created = 1;
    ask_gang(q, "a", NULL, 4)->created = 2;
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->n, 2);
    assert_string_equal(all->items[0].gang, "b");
    assert_int_equal(all->items[0].fits, GANG_YES);
    assert_string_equal(all->items[1].gang, "a");
    assert_int_equal(all->items[1].fits, GANG_NO);
    assert_int_equal(all->items[1].smaller, 2);
    assert_non_null(strstr(all->items[1].text, "room for 2"));
    world_free(w);
}

static void with_strict_order_nothing_passes_a_gang_that_waits(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.strict_order = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 4);
    struct question *q = question();
    ask_gang(q, "large", NULL, 5)->created = 1;
    ask_gang(q, "small", NULL, 1)->created = 2;
    struct answers *all = ask(w, q);
    assert_string_equal(all->items[0].reason, "NotEnoughResources");
    assert_string_equal(all->items[1].reason, "BehindAnotherGang");
    free(all);
    world_queued(w, "waits", NULL, 5, 1);
    q = question();
    ask_gang(q, "small", NULL, 1)->created = w->now + 1;
    all = ask(w, q);
    assert_string_equal(all->items[0].reason, "BehindAnotherGang");
    free(all);
    world_free(w);
}

/* The children of a parent are one gang. */
static void a_family_is_one_gang(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    ask_group(q, "whole", 2);
    const char *const parts[] = {"one", "two"};
    for (int i = 0; i < 2; i++) {
        ask_group(q, parts[i], 2)->parent = xstrdup("whole");
        ask_pod(q, parts[i], 0, 1);
        ask_pod(q, parts[i], 1, 1);
    }
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->n, 1);
    assert_string_equal(all->items[0].gang, "whole");
    assert_int_equal(all->items[0].fits, GANG_YES);
    assert_int_equal(all->items[0].placed, 4);
    world_free(w);
}

static void a_missing_parent_is_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    ask_group(q, "one", 1)->parent = xstrdup("whole");
    ask_pod(q, "one", 0, 1);
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->n, 1);
    assert_string_equal(all->items[0].reason, "InvalidPodGroup");
    assert_non_null(strstr(all->items[0].text, "default/whole does not exist"));
    world_free(w);
}

/* Pods can declare their PodGroup. */
static void a_declared_podgroup_is_tried_too(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    for (int i = 0; i < 6; i++)
        ask_pod(q, "new", i, 1)->declared = world_group_facts("new", 6);
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->items[0].fits, GANG_NO);
    assert_int_equal(all->items[0].smaller, 4);
    world_free(w);
}

static void min_resources_must_be_free(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    gang_amounts_add(&ask_gang(q, "new", NULL, 2)->min_resources, GPU, 6);
    cleanup_free struct answers *all = ask(w, q);
    assert_int_equal(all->items[0].fits, GANG_NO);
    assert_string_equal(all->items[0].reason, "MinResourcesNotFree");
    world_free(w);
}

static void errors_in_objects_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    ask_gang(q, "new", NULL, 2)->invalid = xstrdup("spec.minMember is \"x\"");
    struct answers *all = ask(w, q);
    assert_string_equal(all->items[0].reason, "InvalidPodGroup");
    assert_non_null(strstr(all->items[0].text, "spec.minMember is \"x\""));
    free(all);
    q = question();
    ask_group(q, "few", 3);
    ask_pod(q, "few", 0, 1);
    ask_pod(q, "few", 1, 1);
    all = ask(w, q);
    assert_string_equal(all->items[0].reason, "NotEnoughMembers");
    assert_string_equal(all->items[0].text, "gang default/few: 2 of 3 members exist");
    assert_int_equal(all->items[0].smaller, 2);
    free(all);
    world_free(w);
}

/* ---- what is not tried ---- */

static void what_exists_is_not_tried(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queued(w, "old", NULL, 2, 1);
    world_pod(w, "late-1", NULL, 1);
    world_pod(w, "waits-0", "waits", 1);
    struct question *q = question();
    ask_gang(q, "old", NULL, 2);
    refuses(w, q, "PodGroup default/old exists");
    q = question();
    ask_gang(q, "late", NULL, 3);
    refuses(w, q, "pod default/late-1 exists");
    q = question();
    ask_gang(q, "waits", NULL, 1);
    refuses(w, q, "PodGroup default/waits is named by objects of the cluster");
    q = question();
    ask_gang(q, "child", NULL, 1)->parent = xstrdup("old");
    refuses(w, q, "PodGroup default/child names a PodGroup default/old exists");
    q = question();
    ask_pod(q, "old", 7, 1);
    refuses(w, q, "pod default/old-7: PodGroup default/old exists");
    assert_string_equal(world_state(w, "old"), "Planned");
    world_free(w);
}

static void what_is_there_twice_is_not_tried(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    ask_gang(q, "new", NULL, 2);
    ask_pod(q, "new", 1, 1);
    refuses(w, q, "pod default/new-1 is there twice");
    q = question();
    ask_gang(q, "new", NULL, 2);
    ask_group(q, "new", 3);
    refuses(w, q, "PodGroup default/new is there twice");
    q = question();
    ask_group(q, "new", 1);
    ask_pod(q, "new", 0, 1)->node = xstrdup("n0");
    refuses(w, q, "pod default/new-0: spec.nodeName is set; remove it");
    world_free(w);
}

static void too_many_objects_are_not_tried(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct question *q = question();
    ask_gang(q, "new", NULL, GANG_DRY_PODS + 1);
    refuses(w, q, "more than 2048 pods");
    q = question();
    for (int i = 0; i <= GANG_DRY_GANGS; i++) {
        cleanup_free char *name = xasprintf("g%d", i);
        ask_gang(q, name, NULL, 1);
    }
    refuses(w, q, "more than 64 gangs");
    world_free(w);
}

/* ---- what a question costs ---- */

#define BOUND_MS 50
enum { MANY = 10000 };

/* The best of three, in milliseconds. `make` fills the question. */
static double cost(struct world *w, void (*make)(struct question *), struct answer *ret)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        struct question *q = question();
        make(q);
        struct answers *all = xcalloc(1, sizeof *all);
        double begin = cost_ms();
        assert_int_equal(gang_core_dry_run(w->core, q->events, q->n, keep, all, &all->err), 0);
        double took = cost_ms() - begin;
        best = took < best ? took : best;
        *ret = all->items[0];
        for (size_t k = 0; k < q->n; k++)
            gang_event_done(&q->events[k]);
        free(q);
        free(all);
    }
    return best;
}

static void one_shape(struct question *q)
{
    ask_gang(q, "new", NULL, GANG_DRY_PODS);
}

static void one_shape_in_a_queue(struct question *q)
{
    ask_gang(q, "new", "q0", GANG_DRY_PODS);
}

static void a_pod_in_a_queue(struct question *q)
{
    ask_gang(q, "new", "q0", 1);
}

/* Each member differs, and has rules that class labels do not cover. */
static void many_shapes(struct question *q)
{
    ask_group(q, "new", GANG_DRY_PODS);
    for (int i = 0; i < GANG_DRY_PODS; i++) {
        struct gang_pod_facts *f = ask_pod(q, "new", i, 1);
        cleanup_free char *zone = xasprintf("z%d", i);
        gang_kvs_add(&f->node_selector, "kubernetes.io/hostname", zone);
    }
}

static void kept_apart(struct question *q)
{
    ask_group(q, "new", GANG_DRY_PODS);
    for (int i = 0; i < GANG_DRY_PODS; i++) {
        struct gang_pod_facts *f = ask_pod(q, "new", i, 1);
        gang_kvs_add(&f->labels, "app", "x");
        f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
        f->n_anti_affinity = 1;
        world_term_in(&f->anti_affinity[0].term, "app", "x");
    }
}

static void spread(struct question *q)
{
    ask_group(q, "new", GANG_DRY_PODS);
    for (int i = 0; i < GANG_DRY_PODS; i++) {
        struct gang_pod_facts *f = ask_pod(q, "new", i, 1);
        gang_kvs_add(&f->labels, "app", "x");
        f->spreads = xcalloc(1, sizeof *f->spreads);
        f->n_spreads = 1;
        f->spreads[0].max_skew = 1;
        world_term_in(&f->spreads[0].selector.term, "app", "x");
    }
}

/* Parts of which any may be chosen, none of which fits. */
static void many_choices(struct question *q)
{
    struct gang_group_facts *f = ask_group(q, "new", 1);
    f->min_children = 500;
    for (int i = 0; i < 1000; i++) {
        cleanup_free char *role = xasprintf("r%d", i);
        world_subgroup(f, role, NULL, 2);
        for (int k = 0; k < 2; k++)
            ask_pod(q, "new", 2 * i + k, 9 + k)->role = xstrdup(role);
    }
}

static void many_gangs(struct question *q)
{
    for (int i = 0; i < GANG_DRY_GANGS; i++) {
        cleanup_free char *name = xasprintf("g%d", i);
        ask_group(q, name, 30);
        for (int k = 0; k < 30; k++)
            ask_pod(q, name, k, i % 2 ? 9 : 8);
    }
}

static void a_question_costs_at_most_50_ms(void **state)
{
    static const struct {
        const char *name;
        void (*make)(struct question *);
    } hostile[] = {
        {"one shape", one_shape},
        {"one shape in a queue", one_shape_in_a_queue},
        {"a pod in a queue", a_pod_in_a_queue},
        {"many shapes", many_shapes},
        {"kept apart", kept_apart},
        {"spread", spread},
        {"many choices", many_choices},
        {"many gangs", many_gangs},
    };
    (void)state;
    struct world *w = world_new();
    struct gang_event *events = xcalloc(2 * MANY, sizeof *events);
    for (int i = 0; i < MANY; i++) {
        char name[32], pod[32];
        snprintf(name, sizeof name, "n%05d", i);
        snprintf(pod, sizeof pod, "single-%05d", i);
        struct gang_node_facts *node = world_gpu_node(name, 8);
        events[2 * i] = (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node};
        struct gang_pod_facts *f = world_pod_facts(pod, NULL, 1);
        f->node = xstrdup(name);
        f->phase = PHASE_RUNNING;
        events[2 * i + 1] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    world_step(w, events, 2 * MANY);
    for (int i = 0; i < MANY; i++) {
        struct gang_queue_facts *f = world_queue_facts("q0", NULL);
        free(f->ref.name);
        f->ref.name = xasprintf("q%d", i);
        gang_quota_add(f, GPU)->cap = 0;
        events[i] = (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f};
    }
    world_step(w, events, MANY);
    free(events);
    for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
        struct answer a;
        double took = cost(w, hostile[i].make, &a);
        print_message("%-22s %5.1f ms: fits %d, %s\n", hostile[i].name, took, (int)a.fits, a.text);
        if (took > cost_limit(BOUND_MS))
            fail_msg("%s: %.1f ms", hostile[i].name, took);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_a_gang_that_fits),
        cmocka_unit_test(extras_get_the_room_that_is_left),
        cmocka_unit_test(the_shortage_and_a_smaller_minimum_are_named),
        cmocka_unit_test(a_limit_above_the_queue_and_other_queues_are_named),
        cmocka_unit_test(forbidden_queues_are_not_proposed),
        cmocka_unit_test(the_gangs_ahead_are_named),
        cmocka_unit_test(the_gangs_ahead_are_named_without_queues),
        cmocka_unit_test(the_gangs_whose_end_is_enough_are_named),
        cmocka_unit_test(the_gangs_that_may_be_evicted_are_named),
        cmocka_unit_test(what_would_help_is_not_said_beside_a_gang_that_fits),
        cmocka_unit_test(the_gangs_of_a_queue_whose_end_is_enough_are_named),
        cmocka_unit_test(a_gang_waits_behind_others_in_a_fifo_queue),
        cmocka_unit_test(gangs_take_the_room_of_those_behind_them),
        cmocka_unit_test(with_strict_order_nothing_passes_a_gang_that_waits),
        cmocka_unit_test(a_family_is_one_gang),
        cmocka_unit_test(a_missing_parent_is_named),
        cmocka_unit_test(a_declared_podgroup_is_tried_too),
        cmocka_unit_test(min_resources_must_be_free),
        cmocka_unit_test(errors_in_objects_are_named),
        cmocka_unit_test(what_exists_is_not_tried),
        cmocka_unit_test(what_is_there_twice_is_not_tried),
        cmocka_unit_test(too_many_objects_are_not_tried),
        cmocka_unit_test(a_question_costs_at_most_50_ms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
