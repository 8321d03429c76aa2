/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of families of PodGroups. A user may write many PodGroups that belong together or name
 * others, and PodGroups with many subgroups or pods. Still, each change costs at most 50 ms of CPU
 * (four times that in the gate, for slow machines). The best of several changes counts. A build
 * without optimization checks only the results.
 */
#include <stdio.h>

#include "gang/bounds.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

enum { FEWER = IS_FAST_BUILD ? 1 : 16 };

#define BOUND_MS   50.0
#define GPU_GROUPS "test"

struct story {
    struct gang_core *core;
    usec_t now;
    const char *what;
    double worst; /* step up to now */
};

static struct story begin(const char *what)
{
    struct gang_config config = test_config();
    struct story s = {.core = gang_core_new(&config), .now = USEC_PER_SEC, .what = what};
    return s;
}

static void step(struct story *s, struct gang_event ev)
{
    size_t n;
    s->now += USEC_PER_MSEC;
    double t = cost_ms();
    gang_step(s->core, s->now, &ev, 1, &n);
    t = cost_ms() - t;
    gang_event_done(&ev);
    s->worst = t > s->worst ? t : s->worst;
}

static void end(struct story *s)
{
    struct err err;
    if (gang_core_check(s->core, &err) < 0)
        fail_msg("%s: %s", s->what, err.text);
    gang_core_free(s->core);
    print_message("%8.1f ms  %s\n", s->worst, s->what);
    if (s->worst > cost_limit(BOUND_MS))
        fail_msg("%s: one change costs %.1f ms of CPU", s->what, s->worst);
}

static struct gang_group_facts *a_group(const char *ns, const char *name)
{
    struct gang_group_facts *f = world_group_facts(name, 1);
    free(f->ref.ns);
    f->ref.ns = xstrdup(ns);
    return f;
}

static void set_group(struct story *s, struct gang_group_facts *f)
{
    step(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f});
}

static void group_gone(struct story *s, const char *ns, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_GROUP_GONE};
    ev.gone = (struct gang_ref){xstrdup("test"), xstrdup(ns), xstrdup(name)};
    step(s, ev);
}

static void set_pod(struct story *s, struct gang_pod_facts *f)
{
    step(s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
}

static struct gang_group_facts *child(int i, int subgroups)
{
    char name[32];
    snprintf(name, sizeof name, "c%05d", i);
    struct gang_group_facts *f = a_group("default", name);
    f->parent = xstrdup("parent");
    for (int k = 0; k < subgroups; k++) {
        char sub[32];
        snprintf(sub, sizeof sub, "s%d", k);
        world_subgroup(f, sub, NULL, 1);
    }
    f->min_member = 0;
    return f;
}

static void find_text(void *arg, const struct gang_view *view)
{
    char *text = arg;
    if (strcmp(view->status.ref->name, "parent") == 0)
        snprintf(text, 256, "%s", view->status.text);
}

static void assert_parent_says(struct story *s, const char *words)
{
    char text[256] = "";
    gang_core_each_gang(s->core, find_text, text);
    if (!strstr(text, words))
        fail_msg("%s: the status is \"%s\" and does not contain \"%s\"", s->what, text, words);
}

static void sync(struct story *s)
{
    step(s, (struct gang_event){.kind = GANG_EV_SYNCED});
}

/* Each PodGroup has as many subgroups as the bound allows. */
static void T05_a_family_beyond_the_bound_is_refused_before_it_is_built(void **state)
{
    (void)state;
    struct story s = begin("256 PodGroups of 1,024 subgroups each");
    double all = cost_ms();
    sync(&s);
    set_group(&s, a_group("default", "parent"));
    for (int i = 0; i < 255 / FEWER; i++)
        set_group(&s, child(i, BOUND_SUBGROUPS));
    assert_parent_says(&s, "subgroups; muster takes at most 1024");
    for (int i = 1; i < 255 / FEWER; i++) { /* with fewer children, the gang continues */
        char name[32];
        snprintf(name, sizeof name, "c%05d", i);
        group_gone(&s, "default", name);
    }
    assert_parent_says(&s, "members exist");
    all = cost_ms() - all;
    print_message("%8.1f ms  in total\n", all);
    if (all > 100 * cost_limit(BOUND_MS))
        fail_msg("all changes together took %.0f ms", all);
    end(&s);
}

static void T05_children_beyond_the_bound_cost_little(void **state)
{
    (void)state;
    struct story s = begin("5,000 children of one parent");
    sync(&s);
    set_group(&s, a_group("default", "parent"));
    for (int i = 0; i < 5000 / FEWER; i++)
        set_group(&s, child(i, 1));
    assert_parent_says(&s, "PodGroups; muster takes at most 256");
    struct gang_group_facts *f = a_group("default", "parent");
    f->min_member = 2;
    set_group(&s, f);
    group_gone(&s, "default", "parent");
    set_group(&s, a_group("default", "parent"));
    for (int i = 100; i < 5000 / FEWER; i++) {
        char name[32];
        snprintf(name, sizeof name, "c%05d", i);
        group_gone(&s, "default", name);
    }
    assert_parent_says(&s, "members exist");
    end(&s);
}

static struct gang_group_facts *bundled(const char *ns, int i, int n, const char *other_ns)
{
    char name[32];
    snprintf(name, sizeof name, "b%05d", i);
    struct gang_group_facts *f = a_group(ns, name);
    f->bundle = xcalloc((size_t)n, sizeof *f->bundle);
    for (int k = 0; k < n; k++) {
        cleanup_free char *other = xasprintf("b%05d", k);
        f->bundle[f->n_bundle++] =
            (struct gang_ref){xstrdup("test"), xstrdup(other_ns), xstrdup(other)};
    }
    return f;
}

/* A PodGroup does not become expensive because PodGroups of another namespace name it. */
static void T05_podgroups_of_other_namespaces_that_name_a_podgroup_cost_it_nothing(void **state)
{
    (void)state;
    struct story s = begin("20,000 PodGroups that name another's bundle");
    sync(&s);
    for (int i = 0; i < BOUND_BUNDLE; i++)
        set_group(&s, bundled("default", i, BOUND_BUNDLE, "default"));
    for (int i = 0; i < 20000 / FEWER; i++)
        set_group(&s, bundled("evil", i, BOUND_BUNDLE, "default"));
    s.worst = 0;
    struct gang_group_facts *f = bundled("default", 0, BOUND_BUNDLE, "default");
    f->min_member = 3;
    set_group(&s, f);
    group_gone(&s, "default", "b00000");
    set_group(&s, bundled("default", 0, BOUND_BUNDLE, "default"));
    end(&s);
}

/* A member that is a part of its own if the PodGroup is divided by the label "rack". */
static struct gang_pod_facts *member(int i)
{
    char name[32];
    snprintf(name, sizeof name, "p%d", i);
    struct gang_pod_facts *f = world_pod_facts(name, "parent", 0);
    gang_kvs_add(&f->labels, "rack", name);
    return f;
}

/* The members from .. to-1 come or go: each in its own step, or all in one step that is not timed.
 */
static void members(struct story *s, int from, int to, bool come, bool one_step)
{
    struct gang_event *events = xcalloc((size_t)(to - from), sizeof *events);
    size_t n = 0, n_effects;
    for (int i = from; i < to; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        struct gang_event *ev = &events[n++];
        ev->kind = come ? GANG_EV_POD_SET : GANG_EV_POD_GONE;
        if (come)
            ev->pod = member(i);
        else
            ev->gone = (struct gang_ref){NULL, xstrdup("default"), xstrdup(name)};
    }
    for (size_t i = 0; i < n && !one_step; i++)
        step(s, events[i]);
    if (one_step) {
        s->now += USEC_PER_MSEC;
        gang_step(s->core, s->now, events, n, &n_effects);
        for (size_t i = 0; i < n; i++)
            gang_event_done(&events[i]);
    }
    free(events);
}

/* Below the bound, each change visits all members; above the bound, it visits none. */
static void T05_a_gang_with_very_many_pods_costs_little(void **state)
{
    (void)state;
    struct story s = begin("50,000 pods of one PodGroup");
    sync(&s);
    set_group(&s, a_group("default", "parent"));
    members(&s, 0, BOUND_MEMBERS - 20, true, true);
    members(&s, BOUND_MEMBERS - 20, BOUND_MEMBERS, true, false);
    assert_parent_says(&s, "");
    members(&s, BOUND_MEMBERS, BOUND_MEMBERS + 20, true, false);
    assert_parent_says(&s, "20001 pods; muster takes at most 20000");
    members(&s, BOUND_MEMBERS + 20, 50000, true, true);
    members(&s, 50000, 50020, true, false);
    struct gang_group_facts *f = a_group("default", "parent");
    f->min_member = BOUND_MEMBERS;
    set_group(&s, f);
    members(&s, 0, 20, false, false);
    members(&s, BOUND_MEMBERS + 10, 50020, false, true);
    members(&s, 20, 40, false, false);
    assert_parent_says(&s, "20000 members needed");
    end(&s);
}

static struct gang_subgroup *policy(struct gang_group_facts *f, const char *name, const char *key)
{
    struct gang_subgroup *p = world_subgroup(f, name, NULL, 0);
    p->by_labels = true;
    p->part_size = 1;
    p->min_children = 0;
    p->split_by = xcalloc(1, sizeof *p->split_by);
    p->split_by[p->n_split_by++] = xstrdup(key);
    return p;
}

/* Each member is a part of its own. */
static void T05_parts_by_labels_cost_little(void **state)
{
    (void)state;
    struct story s = begin("20,000 members, each with a part of its own");
    sync(&s);
    struct gang_group_facts *f = a_group("default", "parent");
    policy(f, "p", "rack");
    set_group(&s, f);
    members(&s, 0, 20000 / FEWER - 40, true, true);
    members(&s, 20000 / FEWER - 40, 20000 / FEWER - 20, true, false);
    f = a_group("default", "parent");
    f->max_member = 30000;
    policy(f, "p", "rack");
    set_group(&s, f);
    f = a_group("default", "parent");
    for (int i = 0; i <= BOUND_POLICIES; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        policy(f, name, "rack");
    }
    set_group(&s, f);
    assert_parent_says(&s, "spec.subGroupPolicy: 17 policies; muster takes at most 16");
    end(&s);
}

/* Each pod declares its gang differently, and each is older than the pods before it. */
static void T05_gang_declarations_of_pods_cost_little(void **state)
{
    (void)state;
    struct story s = begin("2,000 pods that declare their gang");
    sync(&s);
    for (int i = 0; i < 2000 / FEWER; i++) {
        struct gang_pod_facts *pod = member(i);
        pod->created = 1000000 - i;
        pod->declared = a_group("default", "parent");
        pod->declared->min_member = i % 7;
        set_pod(&s, pod);
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T05_a_family_beyond_the_bound_is_refused_before_it_is_built),
        cmocka_unit_test(T05_children_beyond_the_bound_cost_little),
        cmocka_unit_test(T05_podgroups_of_other_namespaces_that_name_a_podgroup_cost_it_nothing),
        cmocka_unit_test(T05_a_gang_with_very_many_pods_costs_little),
        cmocka_unit_test(T05_parts_by_labels_cost_little),
        cmocka_unit_test(T05_gang_declarations_of_pods_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
