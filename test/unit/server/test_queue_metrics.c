/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of queues: their values, and their bound whatever tenants name their queues. */
#include <stdio.h>

#include "server/views/metrics_queues.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

enum { MANY = IS_FAST_BUILD ? 10000 : 500 };
enum { SHOWN = 200, RESOURCES = 64, GANGS = MANY / 2, ROUNDS = 20 };
#define MOST_BYTES (1200 << 10)

/* The page, which the caller frees. */
static char *page_of(const struct world *w, size_t most)
{
    struct buf out = BUF_INIT;
    metrics_queues(w->core, most, w->now, &out);
    return buf_steal(&out);
}

static void assert_has(const char *page, const char *line)
{
    cleanup_free char *whole = xasprintf("\n%s\n", line);
    if (!strstr(page, whole))
        fail_msg("the metrics have no line %s in: %s", line, page);
}

static void assert_none(const char *page, const char *text)
{
    if (strstr(page, text))
        fail_msg("the metrics have %s: %s", text, page);
}

static size_t lines_of(const char *page)
{
    size_t n = 0;
    for (const char *at = page; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    return n;
}

static struct gang_event set(struct gang_queue_facts *facts)
{
    return (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = facts};
}

static struct gang_queue_facts *facts_of(const char *api_group, const char *ns, const char *name)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup(api_group), xstrdup(ns), xstrdup(name)};
    f->uid = xasprintf("%s/%s/%s", api_group, ns, name);
    return f;
}

/* ---- values ---- */

static void without_queue_objects_there_is_no_metric(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queued(w, "a", "missing", 2, 1);
    cleanup_free char *none = page_of(w, SHOWN);
    assert_true(!none || !*none);
    world_queue(w, "q", NULL, 1, 1);
    cleanup_free char *some = page_of(w, SHOWN);
    assert_has(some, "muster_queues{state=\"Open\"} 1");
    assert_has(some, "muster_queues{state=\"Missing\"} 1");
    assert_none(some, "queue=\"missing\"");
    world_queue_gone(w, "q");
    cleanup_free char *again = page_of(w, SHOWN);
    assert_true(!again || !*again);
    world_free(w);
}

/* As in the statuses and in `muster get queues`. */
static void states_are_those_that_gangs_meet(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("closed", NULL);
    f->closed = true;
    world_queue_set(w, f);
    world_queue(w, "below", "closed", 1, 1);
    world_queue(w, "orphan", "nowhere", 1, 1);
    cleanup_free char *page = page_of(w, SHOWN);
    assert_has(page, "muster_queues{state=\"Open\"} 0");
    assert_has(page, "muster_queues{state=\"Closed\"} 2");
    assert_has(page, "muster_queues{state=\"Invalid\"} 1");
    /* No gang names the parent that does not exist. */
    assert_has(page, "muster_queues{state=\"Missing\"} 0");
    world_free(w);
}

#define OF(name) "{api_group=\"test\",queue_namespace=\"\",queue=\"" name "\""

/* Parents include their children. */
static void amounts_and_gangs_are_those_of_the_queue_and_all_below(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "top", NULL, 4, 6);
    world_queue(w, "left", "top", 2, GANG_UNLIMITED);
    world_queue(w, "right", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "left", 3, 1);
    world_starts(w, "a", 3, 1);
    world_queued(w, "b", "right", 2, 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_queued(w, "c", "right", 4, 1);
    assert_string_equal(world_state(w, "c"), "Waiting");
    world_wait(w, SECONDS(90));
    cleanup_free char *page = page_of(w, SHOWN);
    static const char *const lines[] = {
        "muster_queues{state=\"Open\"} 3",
        "muster_queues_left_out 0",
        "muster_queue_resources_left_out 0",
        "muster_queue_info" OF("top") ",parent=\"\",state=\"Open\"} 1",
        "muster_queue_info" OF("left") ",parent=\"top\",state=\"Open\"} 1",
        "muster_queue_waiting_gangs" OF("top") "} 1",
        "muster_queue_planned_gangs" OF("top") "} 1",
        "muster_queue_running_gangs" OF("top") "} 1",
        "muster_queue_running_gangs" OF("left") "} 1",
        "muster_queue_running_gangs" OF("right") "} 0",
        "muster_queue_oldest_wait_seconds" OF("top") "} 90",
        "muster_queue_oldest_wait_seconds" OF("right") "} 90",
        "muster_queue_oldest_wait_seconds" OF("left") "} 0",
        "muster_queue_used" OF("top") ",resource=\"" GPU "\"} 5",
        "muster_queue_used" OF("left") ",resource=\"" GPU "\"} 3",
        "muster_queue_requested" OF("top") ",resource=\"" GPU "\"} 9",
        "muster_queue_deserved" OF("top") ",resource=\"" GPU "\"} 4",
        "muster_queue_limit" OF("top") ",resource=\"" GPU "\"} 6",
        "muster_queue_fair_share" OF("left") ",resource=\"" GPU "\"} 3",
        "muster_queue_borrowed" OF("top") ",resource=\"" GPU "\"} 1",
        "muster_queue_borrowed" OF("left") ",resource=\"" GPU "\"} 1",
    };
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        assert_has(page, lines[i]);
    assert_none(page, "muster_queue_limit" OF("left"));
    assert_none(page, "muster_queue_deserved" OF("right"));
    assert_none(page, "muster_queue_borrowed" OF("right"));
    world_free(w);
}

static void cpu_is_in_cores_and_shares_have_thousandths(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node_small(w, "n0", 1, 1000);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, "cpu")->cap = 2050;
    gang_quota_add(f, GPU)->deserved = GANG_UNLIMITED;
    world_queue_set(w, f);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("third-%d", i);
        world_queue_weight(w, name, 1);
        cleanup_free char *gang = xasprintf("g%d", i);
        world_queued(w, gang, name, 1, 1);
    }
    world_wait(w, SECONDS(2));
    cleanup_free char *page = page_of(w, SHOWN);
    assert_has(page, "muster_queue_limit" OF("q") ",resource=\"cpu\"} 2.05");
    assert_has(page, "muster_queue_used" OF("q") ",resource=\"cpu\"} 0");
    assert_has(page, "muster_queue_fair_share" OF("third-1") ",resource=\"" GPU "\"} 0.333");
    assert_none(page, "muster_queue_deserved" OF("q") ",resource=\"" GPU "\"");
    world_free(w);
}

static void the_state_of_a_queue_is_a_label(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_queue_facts *closed = world_queue_facts("closed", NULL);
    closed->closed = true;
    world_queue_set(w, closed);
    world_queue_set(w, world_queue_facts("orphan", "nobody"));
    cleanup_free char *page = page_of(w, SHOWN);
    assert_has(page, "muster_queue_info" OF("closed") ",parent=\"\",state=\"Closed\"} 1");
    assert_has(page, "muster_queue_info" OF("orphan") ",parent=\"\",state=\"Invalid\"} 1");
    assert_has(page, "muster_queues{state=\"Closed\"} 1");
    assert_has(page, "muster_queues{state=\"Invalid\"} 1");
    world_free(w);
}

/* ---- names ---- */

/* One label would not tell them apart. Escapes keep different names different. */
static void every_queue_has_labels_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *ref[3], *labels;
    } cases[] = {
        {{"a", "", "q"}, "api_group=\"a\",queue_namespace=\"\",queue=\"q\""},
        {{"b", "", "q"}, "api_group=\"b\",queue_namespace=\"\",queue=\"q\""},
        {{"b", "ml", "q"}, "api_group=\"b\",queue_namespace=\"ml\",queue=\"q\""},
        {{"c", "", "x\"\\\ny"}, "api_group=\"c\",queue_namespace=\"\",queue=\"x\\\"\\\\\\ny\""},
        {{"c", "", "x\"\\ y"}, "api_group=\"c\",queue_namespace=\"\",queue=\"x\\\"\\\\ y\""},
        {{"c", "", "x\"\\ny"}, "api_group=\"c\",queue_namespace=\"\",queue=\"x\\\"\\\\ny\""},
        {{"c", "", "gr\u00fcn"}, "api_group=\"c\",queue_namespace=\"\",queue=\"gr\u00fcn\""},
    };
    struct world *w = world_new();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *const *ref = cases[i].ref;
        world_queue_set(w, facts_of(ref[0], ref[1], ref[2]));
    }
    cleanup_free char *page = page_of(w, SHOWN);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *series = xasprintf("muster_queue_running_gangs{%s} 0", cases[i].labels);
        assert_has(page, series);
    }
    world_free(w);
}

/* ---- which queues ---- */

/* The names of queues that have series, in their order. */
static char *shown(const struct world *w, size_t most)
{
    static const char series[] = "\nmuster_queue_running_gangs{";
    cleanup_free char *page = page_of(w, most);
    struct buf names = BUF_INIT;
    for (const char *at = page; (at = strstr(at, series)) != NULL;) {
        at = strstr(at, ",queue=\"") + strlen(",queue=\"");
        buf_printf(&names, "%s%.*s", names.len ? " " : "", (int)strcspn(at, "\""), at);
    }
    return buf_steal(&names);
}

static void topmost_queues_come_first_and_then_names_whatever_came_first(void **state)
{
    (void)state;
    static const char *const queues[][2] = {{"z", NULL}, {"b", "z"}, {"a", "b"}, {"c", "z"},
                                            {"m", NULL}, {"d", "m"}, {"x", "a"}};
    static const char order[] = "m z b c d a x";
    for (size_t first = 0; first < ARRAY_SIZE(queues); first++) {
        struct world *w = world_new();
        for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
            size_t at = (first + i) % ARRAY_SIZE(queues);
            world_queue(w, queues[at][0], queues[at][1], GANG_NOT_STATED, GANG_UNLIMITED);
        }
        for (size_t most = 0; most <= ARRAY_SIZE(queues); most++) {
            cleanup_free char *names = shown(w, most), *page = page_of(w, most);
            size_t len = most ? 2 * most - 1 : 0;
            assert_int_equal(names ? strlen(names) : 0, len);
            assert_true(len == 0 || strncmp(names, order, len) == 0);
            cleanup_free char *left =
                xasprintf("muster_queues_left_out %zu", ARRAY_SIZE(queues) - most);
            assert_has(page, left);
        }
        world_free(w);
    }
}

static void with_a_bound_of_0_only_totals_are_left(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_queue(w, "q", NULL, 1, 1);
    cleanup_free char *page = page_of(w, 0);
    assert_has(page, "muster_queues{state=\"Open\"} 1");
    assert_has(page, "muster_queues_left_out 1");
    assert_none(page, "muster_queue_info");
    assert_none(page, "muster_queue_used");
    world_free(w);
}

/* A name that a gang only requests does not displace what the queue states or uses. */
static void a_queue_shows_eight_resources_the_important_ones_first(void **state)
{
    (void)state;
    static const char *const kept[] = {"cpu",        "memory",     "gpu",      "x/a-stated",
                                       "x/b-stated", "x/c-stated", "x/z-used", "x/0-wanted"};
    static const char *const stated[] = {"x/c-stated", "x/b-stated", "x/a-stated",
                                         "gpu",        "memory",     "cpu"};
    struct world *w = world_new();
    struct gang_node_facts *n = world_gpu_node("n0", 8);
    static const char *const offered[] = {"x/z-used", "x/0-wanted", "x/1-wanted"};
    for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
        gang_amounts_add(&n->allocatable, offered[i], 4);
    world_node_facts(w, n);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    for (size_t i = 0; i < ARRAY_SIZE(stated); i++)
        gang_quota_add(f, stated[i])->cap = 1000;
    world_queue_set(w, f);
    static const struct {
        const char *gang, *resource;
        int members;
    } gangs[] = {{"a", "x/z-used", 1}, {"b", "x/0-wanted", 5}, {"c", "x/1-wanted", 5}};
    for (size_t i = 0; i < ARRAY_SIZE(gangs); i++) {
        world_queued(w, gangs[i].gang, "q", gangs[i].members, 0);
        for (int k = 0; k < gangs[i].members; k++) {
            cleanup_free char *pod = xasprintf("%s-%d", gangs[i].gang, k);
            struct gang_pod_facts *p = world_pod_facts(pod, gangs[i].gang, 0);
            gang_amounts_add(&p->requests, gangs[i].resource, 1);
            world_pod_set(w, p);
        }
    }
    world_wait(w, SECONDS(2));
    cleanup_free char *page = page_of(w, SHOWN);
    const char *at = page;
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        cleanup_free char *series =
            xasprintf("\nmuster_queue_used" OF("q") ",resource=\"%s\"}", kept[i]);
        if (!(at = strstr(at, series)))
            fail_msg("%s is missing, or not at its place: %s", kept[i], page);
    }
    assert_none(page, "x/1-wanted");
    assert_has(page, "muster_queue_resources_left_out 1");
    world_free(w);
}

/* ---- how much ---- */

/* How long the names are, and what a page costs at most. With the longest names, the queues alone
 * take 300 MB of memory, and most of the time is waiting for it. */
struct names {
    const char *what;
    int queue, group, resource; /* digits */
    double cost;                /* milliseconds */
};

static char *queue_name(const struct names *names, int i)
{
    return xasprintf("queue-%0*d", names->queue, i);
}

/* As many resources as a queue may state. */
static struct gang_queue_facts *large_facts(const struct names *names, int i)
{
    cleanup_free char *name = queue_name(names, i);
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    for (int r = 0; r < RESOURCES; r++) {
        cleanup_free char *resource = xasprintf("%0*d/%0*d", names->group, r, names->resource, r);
        struct gang_quota *quota = gang_quota_add(f, resource);
        quota->deserved = INT64_C(123456789012);
        quota->cap = INT64_C(1234567890123);
    }
    return f;
}

static struct world *large_world(const struct names *names)
{
    struct world *w = world_new();
    struct gang_event *events = xcalloc(MANY + 2 * GANGS, sizeof *events);
    size_t n = 0;
    for (int i = 0; i < MANY; i++)
        events[n++] = set(large_facts(names, i));
    for (int i = 0; i < GANGS; i++) {
        cleanup_free char *gang = xasprintf("g%d", i), *pod = xasprintf("p%d", i);
        struct gang_group_facts *group = world_group_facts(gang, 1);
        group->queue = queue_name(names, i % MANY);
        events[n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = group};
        events[n++] =
            (struct gang_event){.kind = GANG_EV_POD_SET, .pod = world_pod_facts(pod, gang, 1)};
    }
    w->unchecked = true;
    world_step(w, events, n);
    free(events);
    return w;
}

/* The lowest CPU time of some pages, in milliseconds. */
static double cost_of(const struct world *w, size_t most)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = cost_ms();
        free(page_of(w, most));
        double cost = cost_ms() - begin;
        best = cost < best ? cost : best;
    }
    return best;
}

static void assert_bounded(const struct world *w, const struct names *names, size_t most)
{
    double cost = cost_of(w, most);
    cleanup_free char *page = page_of(w, most);
    print_message("%s: %d queues, at most %zu: %zu lines, %.2f MB, %.2f ms of CPU\n", names->what,
                  MANY, most, lines_of(page), (double)strlen(page) / 1e6, cost);
    assert_true(strlen(page) < MOST_BYTES);
    assert_true(lines_of(page) > 1000);
    if (cost > cost_limit(names->cost))
        fail_msg("the metrics of queues take %.1f ms of CPU", cost);
}

static void many_queues_give_a_page_of_bounded_size_at_a_bounded_cost(void **state)
{
    (void)state;
    static const struct names cases[] = {{"usual names", 14, 10, 3, 5},
                                         {"longest names", 247, 253, 63, 10}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = large_world(&cases[i]);
        assert_bounded(w, &cases[i], SHOWN);
        assert_bounded(w, &cases[i], 1000);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_queue_objects_there_is_no_metric),
        cmocka_unit_test(states_are_those_that_gangs_meet),
        cmocka_unit_test(amounts_and_gangs_are_those_of_the_queue_and_all_below),
        cmocka_unit_test(cpu_is_in_cores_and_shares_have_thousandths),
        cmocka_unit_test(the_state_of_a_queue_is_a_label),
        cmocka_unit_test(every_queue_has_labels_of_its_own),
        cmocka_unit_test(topmost_queues_come_first_and_then_names_whatever_came_first),
        cmocka_unit_test(with_a_bound_of_0_only_totals_are_left),
        cmocka_unit_test(a_queue_shows_eight_resources_the_important_ones_first),
        cmocka_unit_test(many_queues_give_a_page_of_bounded_size_at_a_bounded_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
