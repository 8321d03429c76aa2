/* SPDX-License-Identifier: Apache-2.0 */
/* T10: a client that reads page by page sees everything once, in order, and each page costs little.
 */
#include <stdio.h>

#include "gang/bounds.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

struct seen {
    struct buf names;
    size_t n;
};

static void see(struct seen *s, const char *name)
{
    buf_printf(&s->names, "%s%s", s->n++ ? " " : "", name);
}

static void see_gang(void *arg, const struct gang_view *v)
{
    see(arg, v->status.ref->name);
}

static void see_member(void *arg, const struct gang_member_view *v)
{
    see(arg, v->facts->name);
}

static void see_node(void *arg, const struct gang_node_view *v)
{
    see(arg, v->facts->name);
}

enum what { GANGS, MEMBERS, PAGE_NODES, WHATS };

static void take_page(struct world *w, enum what what, struct gang_page *page, struct seen *seen)
{
    struct gang_ref ref = {(char *)(uintptr_t) "test", (char *)(uintptr_t) "default",
                           (char *)(uintptr_t) "g"};
    if (what == GANGS)
        gang_core_page_gangs(w->core, NULL, page, see_gang, seen);
    else if (what == MEMBERS)
        gang_core_page_members(w->core, &ref, page, see_member, seen);
    else
        gang_core_page_nodes(w->core, page, see_node, seen);
}

/* Reads page after page, as a client does; how many pages there are. */
static size_t take_all(struct world *w, enum what what, size_t limit, struct seen *seen)
{
    cleanup_free char *after = NULL;
    size_t pages = 0;
    for (bool more = true; more; pages++) {
        struct gang_page page = {.after = after, .limit = limit};
        size_t before = seen->n;
        take_page(w, what, &page, seen);
        assert_true(seen->n - before <= limit);
        assert_int_equal(page.last != NULL, page.left > 0);
        more = page.last != NULL;
        free(after);
        after = xstrdup_null(page.last);
    }
    return pages;
}

static void T10_pages_show_everything_once_and_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *all;
        size_t n;
    } expected[WHATS] = {{"a f g", 3}, {"g-0 g-1 g-2 g-3 g-4", 5}, {"n0 n1 n2 n3", 4}};
    struct world *w = world_new();
    static const char *const nodes[] = {"n2", "n0", "n3", "n1"}, *const groups[] = {"g", "a", "f"};
    for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
        world_node(w, nodes[i], 1);
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
        world_group(w, groups[i], 5);
    for (int i = 5; i-- > 0;)
        world_members(w, "g", i, i + 1, 1);
    for (int what = 0; what < WHATS; what++)
        for (size_t limit = 1; limit < 7; limit++) {
            struct seen seen = {0};
            size_t pages = take_all(w, (enum what)what, limit, &seen);
            assert_string_equal(buf_str(&seen.names), expected[what].all);
            assert_int_equal(pages, (expected[what].n + limit - 1) / limit);
            buf_done(&seen.names);
        }
    world_free(w);
}

static void T10_a_list_continues_when_objects_disappear_between_pages(void **state)
{
    (void)state;
    struct world *w = world_new();
    for (int i = 0; i < 6; i++) {
        char name[] = {'n', (char)('0' + i), '\0'};
        world_node(w, name, 1);
    }
    struct seen seen = {0};
    struct gang_page page = {.limit = 2};
    take_page(w, PAGE_NODES, &page, &seen);
    assert_string_equal(page.last, "n1");
    cleanup_free char *after = xstrdup(page.last);
    world_node_gone(w, "n1"); /* the last node of the page */
    world_node_gone(w, "n3");
    page = (struct gang_page){.after = after, .limit = 9};
    take_page(w, PAGE_NODES, &page, &seen);
    assert_string_equal(buf_str(&seen.names), "n0 n1 n2 n4 n5");
    buf_done(&seen.names);
    world_free(w);
}

/* ---- resources that no node offers ---- */

enum { CROWDED = 150, BOUND_PODS = 110, INVENTED = 60, OFFERED = 100 };

/* A bound pod whose owner requests resources that no node offers. */
static void add_pod_with_invented_resources(struct world *w, int node, int pod)
{
    char name[24], on[16];
    snprintf(name, sizeof name, "p-%d-%d", node, pod);
    snprintf(on, sizeof on, "n%03d", node);
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    for (int i = 1; i < INVENTED; i++) {
        cleanup_free char *resource = xasprintf("example.com/%s-%d", name, i);
        gang_amounts_add(&f->requests, resource, 1);
    }
    f->node = xstrdup(on);
    f->phase = PHASE_RUNNING;
    struct gang_event ev = {.kind = GANG_EV_POD_SET, .pod = f};
    size_t n;
    gang_step(w->core, w->now, &ev, 1, &n);
    gang_event_done(&ev);
}

struct amounts_seen {
    struct world *w;
    size_t nodes, amounts, invented;
    int64_t gpus, gpus_used;
};

static void see_amount(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    struct amounts_seen *s = arg;
    (void)reserved;
    s->amounts++;
    s->invented += strncmp(resource, "example.com/", 12) == 0;
    if (strcmp(resource, "nvidia.com/gpu") == 0) {
        s->gpus += all;
        s->gpus_used += used;
    }
}

static void see_node_amounts(void *arg, const struct gang_node_view *v)
{
    struct amounts_seen *s = arg;
    s->nodes++;
    gang_core_each_amount(s->w->core, v->facts->name, see_amount, s);
}

static struct world *crowded_world(void)
{
    struct world *w = world_new_with(test_config(), false);
    for (int i = 0; i < CROWDED; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", i);
        struct gang_node_facts *f = world_gpu_node(name, 8);
        for (int k = 0; k < OFFERED; k++) {
            cleanup_free char *resource = xasprintf("vendor.com/device-%d", k);
            gang_amounts_add(&f->allocatable, resource, 1);
        }
        world_node_facts(w, f);
    }
    for (int i = 0; i < CROWDED; i++)
        for (int pod = 0; pod < (i ? 2 : BOUND_PODS); pod++)
            add_pod_with_invented_resources(w, i, pod);
    return w;
}

static void T10_a_node_shows_only_resources_that_it_offers(void **state)
{
    (void)state;
    struct world *w = crowded_world();
    struct amounts_seen s = {.w = w};
    gang_core_each_amount(w->core, "n000", see_amount, &s);
    assert_int_equal(s.gpus, 8);
    assert_int_equal(s.gpus_used, BOUND_PODS);
    assert_int_equal(s.invented, 0);
    world_free(w);
}

static void T10_the_resources_on_a_page_of_nodes_are_bounded(void **state)
{
    (void)state;
    struct world *w = crowded_world();
    cleanup_free char *after = NULL;
    size_t nodes = 0, pages = 0;
    for (bool more = true; more; pages++) {
        struct amounts_seen s = {.w = w};
        struct gang_page page = {.after = after, .limit = 500};
        gang_core_page_nodes(w->core, &page, see_node_amounts, &s);
        assert_in_range(s.nodes, 1, CROWDED);
        assert_in_range(s.amounts, 1, GANG_PAGE_AMOUNTS + OFFERED + 8);
        nodes += s.nodes;
        more = page.last != NULL;
        free(after);
        after = xstrdup_null(page.last);
    }
    assert_int_equal(nodes, CROWDED);
    assert_in_range(pages, 2, 3);
    world_free(w);
}

static void T10_sums_of_devices_include_only_nodes_that_offer_them(void **state)
{
    (void)state;
    struct world *w = crowded_world();
    struct amounts_seen s = {.w = w};
    world_node(w, "none", 0);
    add_pod_with_invented_resources(w, 999, 0); /* on a node that does not exist */
    gang_core_each_device(w->core, see_amount, &s);
    assert_int_equal(s.amounts, 1 + OFFERED);
    assert_int_equal(s.gpus, 8 * CROWDED);
    assert_int_equal(s.gpus_used, BOUND_PODS + 2 * (CROWDED - 1));
    world_free(w);
}

/* ---- the cost of a page ---- */

enum { NODES = IS_FAST_BUILD ? 5000 : 500 };
enum { PODS = NODES * 8, WAITING = NODES / 4, GANG_OF = 8, LARGE = PODS / 10, ROUNDS = 5 };
#define TURN_MS 5.0 /* how long the API may use the core in a turn */

static struct gang_event a_pod(int i, const char *group, const char *node)
{
    cleanup_free char *name = xasprintf("%s-%06d", group, i);
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->node = xstrdup_null(node);
    f->phase = node ? PHASE_RUNNING : PHASE_PENDING;
    return (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
}

/* Without the checks of world_step(), which visit everything after each step. */
static void step(struct world *w, struct gang_event *events, int n)
{
    size_t n_effects;
    gang_step(w->core, w->now, events, (size_t)n, &n_effects);
    for (int i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

static void add_gang(struct world *w, const char *group, int members, bool bound)
{
    cleanup_free struct gang_event *events = xcalloc((size_t)members + 1, sizeof *events);
    static int at;
    for (int i = 0; i < members; i++) {
        cleanup_free char *node = xasprintf("node-%05d", bound ? at++ % NODES : 0);
        events[i] = a_pod(i, group, bound ? node : NULL);
    }
    events[members] =
        (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = world_group_facts(group, members)};
    step(w, events, members + 1);
}

/* A cluster full of running gangs. Other gangs wait, and one of them is large. */
static struct world *large_world(void)
{
    struct world *w = world_new_with(test_config(), false);
    cleanup_free struct gang_event *nodes = xcalloc(NODES, sizeof *nodes);
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("node-%05d", i);
        nodes[i] = (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node(name, 8)};
    }
    step(w, nodes, NODES);
    for (int i = 0; i < PODS / GANG_OF; i++) {
        cleanup_free char *name = xasprintf("run-%05d", i);
        add_gang(w, name, GANG_OF, true);
    }
    for (int i = 0; i < WAITING; i++) {
        cleanup_free char *name = xasprintf("wait-%05d", i);
        add_gang(w, name, GANG_OF, false);
    }
    add_gang(w, "large", LARGE, false);
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    step(w, &synced, 1);
    return w;
}

/* A new step: cached counts and ranks become invalid. */
static void tick(struct world *w)
{
    struct gang_event ev = {.kind = GANG_EV_TICK};
    w->now++;
    step(w, &ev, 1);
}

static void page_of_gangs(struct world *w, const char *after)
{
    struct seen seen = {0};
    struct gang_page page = {.after = after, .limit = 500};
    gang_core_page_gangs(w->core, NULL, &page, see_gang, &seen);
    buf_done(&seen.names);
}

static void first_gangs(struct world *w)
{
    page_of_gangs(w, NULL);
}

static void waiting_gangs(struct world *w)
{
    page_of_gangs(w, "test/default/wait-");
}

static void page_of_nodes(struct world *w)
{
    struct seen seen = {0};
    struct gang_page page = {.after = "node-00100", .limit = 500};
    gang_core_page_nodes(w->core, &page, see_node, &seen);
    assert_true(seen.n > 0);
    buf_done(&seen.names);
}

static struct gang_ref large = {(char *)(uintptr_t) "test", (char *)(uintptr_t) "default",
                                (char *)(uintptr_t) "large"};

static void page_of_members(struct world *w)
{
    struct seen seen = {0};
    struct gang_page page = {.after = "large-000100", .limit = 500};
    gang_core_page_members(w->core, &large, &page, see_member, &seen);
    assert_true(seen.n > 0);
    buf_done(&seen.names);
}

static void why(struct world *w)
{
    struct gang_explained x;
    assert_true(gang_core_explain(w->core, &large, GANG_EXPLAIN_STATE, &x));
    assert_int_equal(x.n_signatures, 1);
    assert_int_equal(x.n_pods, LARGE < 512 ? LARGE : 512);
    assert_int_equal(x.n_holders, 10);
    assert_int_equal(x.partly, PODS > 4000);
    gang_explained_done(&x);
}

static void search_room(struct world *w, enum gang_explain part)
{
    struct gang_explained x;
    assert_true(gang_core_explain(w->core, &large, part, &x));
    assert_true(part == GANG_EXPLAIN_EVICTION ? x.eviction.searched : x.consolidation.searched);
    gang_explained_done(&x);
}

static void evictions(struct world *w)
{
    search_room(w, GANG_EXPLAIN_EVICTION);
}

static void moves(struct world *w)
{
    search_room(w, GANG_EXPLAIN_MOVES);
}

static void one_by_name(struct world *w)
{
    struct seen seen = {0};
    assert_true(gang_core_one_gang(w->core, "default", "large", NULL, see_gang, &seen));
    buf_done(&seen.names);
}

static void numbers(struct world *w)
{
    struct gang_stats s;
    gang_core_stats(w->core, &s);
}

static void devices(struct world *w)
{
    struct amounts_seen s = {.w = w};
    gang_core_each_device(w->core, see_amount, &s);
    assert_int_equal(s.gpus, 8 * NODES);
}

static void T10_a_view_of_a_large_cluster_costs_little(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        void (*look)(struct world *w);
    } looks[] = {
        {"gangs", first_gangs},   {"waiting gangs", waiting_gangs},
        {"nodes", page_of_nodes}, {"members", page_of_members},
        {"explain", why},         {"evictions", evictions},
        {"moves", moves},         {"one gang", one_by_name},
        {"numbers", numbers},     {"devices", devices},
    };
    struct world *w = large_world();
    for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            tick(w);
            double begin = cost_ms();
            looks[i].look(w);
            double ms = cost_ms() - begin;
            best = ms < best ? ms : best;
        }
        print_message("%-14s %6.2f ms\n", looks[i].what, best);
        if (best > cost_limit(TURN_MS))
            fail_msg("%s takes %.1f ms", looks[i].what, best);
    }
    world_free(w);
}

/* ---- explaining expensive members ---- */

static void request_all(struct gang_amounts *amounts, int64_t each)
{
    for (size_t i = amounts->n; i < BOUND_RESOURCES; i++) {
        cleanup_free char *name = xasprintf("example.com/device-%02zu", i);
        gang_amounts_add(amounts, name, each);
    }
}

static void many_needs(struct gang_pod_facts *f)
{
    request_all(&f->requests, 5);
}

/* As many requirements as muster reads. All nodes match. */
static void long_affinity(struct gang_pod_facts *f)
{
    size_t n = BOUND_NODE_RULES - 1;
    f->has_affinity = true;
    f->n_affinity = 1;
    f->affinity = xcalloc(1, sizeof *f->affinity);
    f->affinity->items = xcalloc(n, sizeof *f->affinity->items);
    for (f->affinity->n = 0; f->affinity->n < n; f->affinity->n++)
        f->affinity->items[f->affinity->n] = (struct gang_requirement){
            .key = xasprintf("example.com/label-%03zu", f->affinity->n), .op = MATCH_NOT_EXISTS};
}

static void add_ports(struct gang_pod_facts *f, int32_t first)
{
    f->host_ports = xcalloc(BOUND_HOST_PORTS, sizeof *f->host_ports);
    for (; f->n_host_ports < BOUND_HOST_PORTS; f->n_host_ports++)
        f->host_ports[f->n_host_ports] =
            (struct gang_port){NULL, xstrdup("TCP"), first + 2 * (int32_t)f->n_host_ports};
}

static void many_ports(struct gang_pod_facts *f)
{
    add_ports(f, 1000);
}

/* As many rules as muster reads. None of them matches. */
static void many_anti_affinities(struct gang_pod_facts *f)
{
    f->anti_affinity = xcalloc(BOUND_APART, sizeof *f->anti_affinity);
    for (; f->n_anti_affinity < BOUND_APART; f->n_anti_affinity++) {
        struct gang_term *term = &f->anti_affinity[f->n_anti_affinity].term;
        term->items = xcalloc(1, sizeof *term->items);
        term->n = 1;
        term->items[0] = (struct gang_requirement){
            .key = xasprintf("label-%zu", f->n_anti_affinity), .op = MATCH_EXISTS};
    }
}

static void many_spreads(struct gang_pod_facts *f)
{
    long_affinity(f);
    f->spreads = xcalloc(BOUND_SPREADS, sizeof *f->spreads);
    for (; f->n_spreads < BOUND_SPREADS; f->n_spreads++) {
        struct gang_spread *s = &f->spreads[f->n_spreads];
        s->max_skew = 1;
        s->selector.term.items = xcalloc(1, sizeof *s->selector.term.items);
        s->selector.term.n = 1;
        s->selector.term.items[0] = (struct gang_requirement){
            .key = xasprintf("label-%zu", f->n_spreads), .op = MATCH_EXISTS};
    }
}

static void everything(struct gang_pod_facts *f)
{
    many_needs(f);
    many_ports(f);
    many_anti_affinities(f);
    many_spreads(f);
}

static void ordinary(struct gang_pod_facts *f)
{
    f->requests.items[1].amount = 5;
}

/* Puts a large pod on each node. */
static void take_half(struct world *w)
{
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *node = xasprintf("node-%05d", i);
        struct gang_event ev = a_pod(i, "running", node);
        request_all(&ev.pod->requests, 4);
        add_ports(ev.pod, 1001);
        step(w, &ev, 1);
    }
}

/* Changes each node, so that no cached result stays valid. */
static void change_nodes(struct world *w, int round)
{
    cleanup_free struct gang_event *nodes = xcalloc(NODES, sizeof *nodes);
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("node-%05d", i), *value = xasprintf("%d", round);
        struct gang_node_facts *f = world_gpu_node(name, 8);
        request_all(&f->allocatable, 8);
        gang_kvs_add(&f->labels, "round", value);
        nodes[i] = (struct gang_event){.kind = GANG_EV_NODE_SET, .node = f};
    }
    step(w, nodes, NODES);
}

/* Too few members for a plan, so that no scan for them has run before. */
static void add_gang_with(struct world *w, const char *group,
                          void (*dress)(struct gang_pod_facts *f))
{
    struct gang_event events[] = {
        a_pod(0, group, NULL),
        a_pod(1, group, NULL),
        {.kind = GANG_EV_GROUP_SET, .group = world_group_facts(group, 3)},
    };
    dress(events[0].pod);
    dress(events[1].pod);
    step(w, events, ARRAY_SIZE(events));
}

static double explain_ms(struct world *w, const char *group, struct gang_explained *ret)
{
    struct gang_ref ref = {large.api_group, large.ns, (char *)(uintptr_t)group};
    double begin = cost_ms();
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_STATE, ret));
    return cost_ms() - begin;
}

static void T10_explaining_expensive_members_costs_little(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        void (*dress)(struct gang_pod_facts *f);
        bool none; /* with many nodes, the scan visits none */
    } rows[] = {
        {"ordinary", ordinary, false},
        {"needs", many_needs, false},
        {"affinity", long_affinity, false},
        {"ports", many_ports, false},
        {"anti-affinity", many_anti_affinities, false},
        {"spread", many_spreads, true},
        {"everything", everything, true},
    };
    double best[ARRAY_SIZE(rows)];
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, true);
    change_nodes(w, 0);
    take_half(w);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        add_gang_with(w, rows[i].what, rows[i].dress);
    for (int round = 1; round <= ROUNDS; round++) {
        change_nodes(w, round);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            struct gang_explained x;
            double ms = explain_ms(w, rows[i].what, &x);
            best[i] = round == 1 || ms < best[i] ? ms : best[i];
            const struct gang_explained_signature *s = &x.signatures[0];
            assert_int_equal(x.n_signatures, 1);
            assert_int_equal(s->nodes, s->passing);
            assert_int_equal(s->partly, s->nodes < NODES);
            assert_true(s->nodes > 0 || rows[i].none);
            assert_true(!s->partly || rows[i].dress != ordinary);
            gang_explained_done(&x);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        print_message("%-14s %6.2f ms\n", rows[i].what, best[i]);
        if (best[i] > cost_limit(TURN_MS))
            fail_msg("explaining members with %s takes %.1f ms", rows[i].what, best[i]);
    }
    world_free(w);
}

/* ---- the position in the order ---- */

enum { IN_ORDER = NODES * 2 };

static void replace(char **field, const char *ns)
{
    free(*field);
    *field = xstrdup(ns);
}

/* A gang of one pod, which has no room. Neither names nor namespaces are sorted. */
static void add_waiting(struct world *w, int i, int namespaces)
{
    int mixed = (int)(i * INT64_C(7919) % IN_ORDER);
    cleanup_free char *group = xasprintf("g-%05d", mixed);
    cleanup_free char *ns = xasprintf("ns-%05d", mixed % namespaces);
    struct gang_event events[] = {
        a_pod(i, group, NULL),
        {.kind = GANG_EV_GROUP_SET, .group = world_group_facts(group, 1)},
    };
    replace(&events[0].pod->ns, ns);
    replace(&events[0].pod->group.ns, ns);
    replace(&events[1].group->ref.ns, ns);
    step(w, events, ARRAY_SIZE(events));
}

/* The time for a view of one gang: almost only its position costs time. */
static double order_ms(struct world *w)
{
    struct seen seen = {0};
    tick(w);
    double begin = cost_ms();
    assert_true(gang_core_one_gang(w->core, "ns-00000", "g-00000", "test", see_gang, &seen));
    double ms = cost_ms() - begin;
    buf_done(&seen.names);
    return ms;
}

static void T10_the_order_of_many_gangs_costs_little(void **state)
{
    (void)state;
    static const int namespaces[] = {1, 100, IN_ORDER};
    for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
        struct gang_config config = test_config();
        config.assemble = 0;
        struct world *w = world_new_with(config, true);
        for (int k = 0; k < IN_ORDER; k++)
            add_waiting(w, k, namespaces[i]);
        double first = order_ms(w), best = first;
        for (int round = 0; round < 4 * ROUNDS; round++) {
            double ms = order_ms(w);
            best = ms < best ? ms : best;
        }
        print_message("%5d namespaces %6.2f ms, first %6.2f ms\n", namespaces[i], best, first);
        if (IS_FAST_BUILD && (best > cost_limit(TURN_MS) || best > first * 2 / 3))
            fail_msg("%d namespaces: the position takes %.1f ms, the first time %.1f ms",
                     namespaces[i], best, first);
        world_free(w);
    }
}

/* ---- positions while gangs change ---- */

enum { MOVING = 60 };

struct places {
    int32_t priority[MOVING + 1]; /* by position */
    int n;
};

static void see_position(void *arg, const struct gang_view *v)
{
    struct places *p = arg;
    if (!v->position)
        return;
    assert_true(v->position <= MOVING && p->priority[v->position] < 0);
    p->priority[v->position] = v->own_priority;
    p->n++;
}

static void set_priority(struct world *w, int i, int priority)
{
    cleanup_free char *name = xasprintf("g-%05d", i);
    struct gang_group_facts *g = world_group_facts(name, 1);
    g->has_priority = true;
    g->priority = priority;
    world_group_set(w, g);
}

static void check_positions(struct world *w, int waiting)
{
    struct places p = {.n = 0};
    struct gang_page page = {.limit = 500};
    memset(p.priority, -1, sizeof p.priority);
    gang_core_page_gangs(w->core, NULL, &page, see_position, &p);
    assert_int_equal(p.n, waiting);
    for (int place = 1; place <= waiting; place++)
        assert_true(p.priority[place] >= 0 &&
                    (place == 1 || p.priority[place] <= p.priority[place - 1]));
}

static void T10_positions_follow_when_gangs_come_go_and_change_priority(void **state)
{
    (void)state;
    struct world *w = world_new();
    unsigned draw = 1;
    bool here[MOVING] = {false};
    int waiting = 0;
    for (int round = 0; round < 200; round++) {
        for (unsigned moves = draw % 5; moves > 0; moves--) {
            draw = draw * 1103515245 + 12345;
            int i = (int)(draw / 65536 % MOVING);
            cleanup_free char *group = xasprintf("g-%05d", i), *pod = xasprintf("p-%d", i);
            if (here[i] && draw / 65536 % 4 == 0) {
                world_pod_gone(w, pod);
                world_group_gone(w, group);
                waiting -= here[i];
                here[i] = false;
                continue;
            }
            set_priority(w, i, (int)(draw / 65536 % 7));
            if (!here[i])
                world_pod(w, pod, group, 1);
            waiting += !here[i];
            here[i] = true;
        }
        draw = draw * 1103515245 + 12345;
        check_positions(w, waiting);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T10_pages_show_everything_once_and_in_order),
        cmocka_unit_test(T10_a_list_continues_when_objects_disappear_between_pages),
        cmocka_unit_test(T10_a_node_shows_only_resources_that_it_offers),
        cmocka_unit_test(T10_the_resources_on_a_page_of_nodes_are_bounded),
        cmocka_unit_test(T10_sums_of_devices_include_only_nodes_that_offer_them),
        cmocka_unit_test(T10_a_view_of_a_large_cluster_costs_little),
        cmocka_unit_test(T10_explaining_expensive_members_costs_little),
        cmocka_unit_test(T10_the_order_of_many_gangs_costs_little),
        cmocka_unit_test(T10_positions_follow_when_gangs_come_go_and_change_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
