/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_pages.c - lists of gangs, members and nodes for the API, in pages of bounded work.
 *
 * Clients of the API share the core with kube-scheduler's calls. So lists come in pages. A page has
 * the items with the smallest keys after the last key of the previous page, found in one pass over
 * all keys. It ends early if enough members were counted or enough resources were shown. Counts and
 * ranks are computed once, and are valid for all pages until the next step.
 */
#include "gang/cluster/lookup.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"
#include "gang/step/gang_view.h"

/* How many members are counted for one page, about. */
#define PAGE_WORK 20000

/* ---- the smallest keys ---- */

struct item {
    const char *key;
    void *value;
};

/* The smallest items so far, at most `limit`, as a heap with the largest on top. */
struct picks {
    const char *after;
    struct item *items;
    size_t n, limit;
    size_t all; /* how many items have a key after `after` */
};

static struct picks picks_for(const struct gang_page *page)
{
    return (struct picks){.after = page->after,
                          .items = xcalloc(page->limit + 1, sizeof(struct item)),
                          .limit = page->limit};
}

static void sink(struct picks *p, size_t at, struct item item)
{
    for (size_t child; (child = 2 * at + 1) < p->n; at = child) {
        if (child + 1 < p->n && strcmp(p->items[child + 1].key, p->items[child].key) > 0)
            child++;
        if (strcmp(p->items[child].key, item.key) <= 0)
            break;
        p->items[at] = p->items[child];
    }
    p->items[at] = item;
}

static void rise(struct picks *p, size_t at, struct item item)
{
    for (; at > 0 && strcmp(p->items[(at - 1) / 2].key, item.key) < 0; at = (at - 1) / 2)
        p->items[at] = p->items[(at - 1) / 2];
    p->items[at] = item;
}

static void pick_item(struct picks *p, const char *key, void *value)
{
    if (p->after && strcmp(key, p->after) <= 0)
        return;
    p->all++;
    const struct item item = {key, value};
    if (p->n < p->limit)
        rise(p, p->n++, item);
    else if (p->n && strcmp(key, p->items[0].key) < 0)
        sink(p, 0, item);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->key, ((const struct item *)b)->key);
}

static void put_in_order(struct picks *p)
{
    qsort(p->items, p->n, sizeof *p->items, by_key);
}

/* Sets the page's results after `shown` items, and frees the picks. */
static void end_page(struct picks *p, size_t shown, struct gang_page *page)
{
    page->left = p->all - shown;
    page->last = shown && page->left ? p->items[shown - 1].key : NULL;
    free(p->items);
}

/* ---- gangs ---- */

static void rank_once(struct gang_core *core)
{
    if (core->ranked != core->steps)
        gang_view_rank(core);
    core->ranked = core->steps;
}

/* Counts the gang's members, once in a step. Returns how many were counted. */
static size_t count_once(struct gang_core *core, struct gang *gang)
{
    if (gang->counted == core->steps)
        return 0;
    gang->counted = core->steps;
    return (size_t)gang_count(core, gang)->members;
}

void gang_core_page_gangs(struct gang_core *core, const char *ns, struct gang_page *page,
                          gang_view_fn *fn, void *arg)
{
    struct picks p = picks_for(page);
    map_for_each (e, &core->groups) {
        struct group *group = e->value;
        if (!ns || strcmp(group->ref.ns, ns) == 0)
            pick_item(&p, group->key, group);
    }
    put_in_order(&p);
    rank_once(core);
    size_t shown = 0;
    for (size_t work = 0; shown < p.n && work < PAGE_WORK; shown++) {
        struct group *group = p.items[shown].value;
        work += count_once(core, group->gang);
        view_group(group, fn, arg);
    }
    end_page(&p, shown, page);
}

/* The PodGroup; NULL: there is none. Without an API group, the first by key. */
static struct group *find_group(const struct gang_core *core, const char *ns, const char *name,
                                const char *api_group)
{
    if (api_group) {
        const struct gang_ref ref = {(char *)(uintptr_t)api_group, (char *)(uintptr_t)ns,
                                     (char *)(uintptr_t)name};
        return group_find(core, &ref);
    }
    struct group *found = NULL;
    map_for_each (e, &core->groups) {
        struct group *group = e->value;
        if (strcmp(group->ref.name, name) == 0 && strcmp(group->ref.ns, ns) == 0 &&
            (!found || strcmp(group->key, found->key) < 0))
            found = group;
    }
    return found;
}

bool gang_core_one_gang(struct gang_core *core, const char *ns, const char *name,
                        const char *api_group, gang_view_fn *fn, void *arg)
{
    struct group *group = find_group(core, ns, name, api_group);
    if (!group)
        return false;
    rank_once(core);
    count_once(core, group->gang);
    view_group(group, fn, arg);
    return true;
}

size_t gang_core_names(const struct gang_core *core, const char *ns, gang_ref_fn *fn, void *arg)
{
    size_t n = 0;
    map_for_each (e, &core->groups) {
        const struct group *group = e->value;
        if (strcmp(group->ref.ns, ns) != 0)
            continue;
        n++;
        fn(arg, &group->ref);
    }
    return n;
}

const struct gang_ref *gang_core_gang_of(const struct gang_core *core, const char *uid)
{
    const struct pod *pod = pod_by_uid(core, uid);
    return pod && pod->group ? &pod->group->ref : NULL;
}

/* ---- members, nodes ---- */

void gang_core_page_members(const struct gang_core *core, const struct gang_ref *ref,
                            struct gang_page *page, gang_member_fn *fn, void *arg)
{
    const struct group *group = group_find(core, ref);
    struct picks p = picks_for(page);
    if (group)
        list_for_each (pod, &group->gang->members, struct pod, in_gang)
            if (unit_is_below(pod->unit, group->units[0]))
                pick_item(&p, pod->facts->name, pod);
    put_in_order(&p);
    for (size_t i = 0; i < p.n; i++)
        view_member(p.items[i].value, fn, arg);
    end_page(&p, p.n, page);
}

void gang_core_page_nodes(const struct gang_core *core, struct gang_page *page, gang_node_fn *fn,
                          void *arg)
{
    struct picks p = picks_for(page);
    map_for_each (e, &core->nodes) {
        struct node *node = e->value;
        if (node->facts)
            pick_item(&p, node->name, node);
    }
    put_in_order(&p);
    size_t shown = 0;
    for (size_t work = 0; shown < p.n && work < GANG_PAGE_AMOUNTS; shown++) {
        const struct node *node = p.items[shown].value;
        work += node->allocatable.n + RES_FIRST_OTHER;
        view_node(node, fn, arg);
    }
    end_page(&p, shown, page);
}
