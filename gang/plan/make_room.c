/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/make_room.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/node_score.h"

/* So many nodes are compared at first, and as many more whenever none of them helps. */
#define SPOTS_AT_ONCE 256

/* What a victim uses on a node. */
struct usage {
    struct node *node;
    size_t victim; /* its index */
    int pods;
};

/* A node with victims, and its pick: those to evict if room is made on this node. */
struct spot {
    struct node *node;
    struct usage *usages;
    size_t n;
    size_t cheapest; /* the index of its cheapest victim */
    int64_t room;    /* how many members fit now */
    uint64_t seen;   /* room_search->stamp when its room was last computed */
    bool stale;      /* the pick must be found again */
    size_t take;     /* the pick is the first `take` usages; 0: no pick */
    int64_t gains;   /* how many more members fit without the pick, on all nodes */
    int gangs;       /* how many more gangs and ordinary pods it hits */
    int64_t lost;    /* device-seconds */
};

/* ---- nodes with victims ---- */

static int by_victim(const void *a, const void *b)
{
    const struct usage *x = a, *y = b;
    return x->victim < y->victim ? -1 : x->victim > y->victim;
}

static int by_amount(const void *a, const void *b)
{
    const struct usage *x = a, *y = b;
    if (x->pods != y->pods)
        return x->pods > y->pods ? -1 : 1;
    return by_victim(a, b);
}

static void add_usage(struct room_search *r, size_t *cap, struct node *node, size_t victim)
{
    GROW(r->usages, *cap, r->n_usages + 1);
    r->usages[r->n_usages++] = (struct usage){node, victim, 1};
}

/* Those of a node stay in their order. */
static void sort_by_node(struct room_search *r)
{
    size_t n_ids = r->s->core->n_ids;
    struct usage *sorted = xcalloc(r->n_usages + 1, sizeof *sorted);
    cleanup_free size_t *at = xcalloc(n_ids + 1, sizeof *at); /* by node id */
    for (size_t i = 0; i < r->n_usages; i++)
        at[r->usages[i].node->id + 1]++;
    for (size_t id = 0; id < n_ids; id++)
        at[id + 1] += at[id];
    for (size_t i = 0; i < r->n_usages; i++)
        sorted[at[r->usages[i].node->id]++] = r->usages[i];
    free(r->usages);
    r->usages = sorted;
}

/* Lists what each considered victim uses, sorted by node. */
static void list_usages(struct room_search *r)
{
    struct victim_search *s = r->s;
    size_t cap = 0, before = 0;
    for (size_t i = 0; i<s->n && * s->work_left> 0; i++, before = r->n_usages) {
        const struct victim *v = &s->all.items[i];
        if (v->pod) {
            add_usage(r, &cap, v->pod->node, i);
        } else {
            list_for_each (pod, &v->gang->members, struct pod, in_gang)
                if (pod_runs(pod))
                    add_usage(r, &cap, pod->node, i);
            list_for_each (slot, &v->gang->slots, struct slot, in_gang)
                add_usage(r, &cap, slot->node, i);
        }
        search_spend(s, 1 + (int64_t)(r->n_usages - before) / LOOKS_PER_WORK);
    }
    sort_by_node(r);
}

/* Merges what a victim uses on a node. */
static void merge_usages(struct room_search *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_usages; i++) {
        struct usage *last = n ? &r->usages[n - 1] : NULL;
        if (last && last->node == r->usages[i].node && last->victim == r->usages[i].victim)
            last->pods++;
        else
            r->usages[n++] = r->usages[i];
    }
    r->n_usages = n;
}

static int by_cheapest(const void *a, const void *b)
{
    const struct spot *x = *(struct spot *const *)a, *y = *(struct spot *const *)b;
    if (x->cheapest != y->cheapest)
        return x->cheapest < y->cheapest ? -1 : 1;
    return x->node->id < y->node->id ? -1 : 1;
}

/* Finds the nodes with victims. */
static void find_spots(struct room_search *r)
{
    const struct gang_core *core = r->s->core;
    r->items = xcalloc(r->n_usages + 1, sizeof *r->items);
    r->by_id = xcalloc(core->n_ids + 1, sizeof(struct spot *));
    for (size_t i = 0; i < r->n_usages; i++) {
        struct node *node = r->usages[i].node;
        struct spot *spot = r->by_id[node->id];
        if (!spot) {
            spot = r->by_id[node->id] = &r->items[r->n++];
            *spot = (struct spot){.node = node, .usages = &r->usages[i], .cheapest = SIZE_MAX};
        }
        spot->n++;
        if (r->usages[i].victim < spot->cheapest)
            spot->cheapest = r->usages[i].victim;
    }
    r->order = xcalloc(r->n + 1, sizeof(struct spot *));
    for (size_t i = 0; i < r->n; i++)
        r->order[i] = &r->items[i];
    if (r->n > 1)
        qsort(r->order, r->n, sizeof(struct spot *), by_cheapest);
}

struct room_search room_search_begin(struct victim_search *s)
{
    struct room_search ret = {.s = s};
    list_usages(&ret);
    merge_usages(&ret);
    find_spots(&ret);
    return ret;
}

void room_search_done(struct room_search *r)
{
    free(STEAL(r->usages));
    free(STEAL(r->items));
    free(STEAL(r->order));
    free(STEAL(r->by_id));
}

/* ---- room for members like the culprit of the last shortage ---- */

static int64_t room_on(struct room_search *r, const struct node *node)
{
    search_spend(r->s, 1);
    return node_holds(r->s->core, r->s->gang, r->kind, node);
}

/* How many more members fit because of the changes since the mark. With `keep`, the changed spots
 * get their new room, and must find their picks again. */
static int64_t room_gained(struct room_search *r, struct trial_mark since, bool keep)
{
    struct victim_search *s = r->s;
    int64_t gained = 0;
    r->stamp++;
    for (size_t i = since.n; i < s->trial.n; i++) {
        struct spot *spot = r->by_id[trial_left_node(&s->trial, i)->id];
        if (spot->seen == r->stamp)
            continue;
        spot->seen = r->stamp;
        int64_t room = room_on(r, spot->node);
        gained += room - spot->room;
        if (keep)
            spot->room = room;
        spot->stale |= keep;
    }
    return gained;
}

/* Whether the gang of the victim is already hit: by a chosen victim, or by the first n usages of
 * the pick. */
static bool is_hit(const struct victim_search *s, const struct victim *v, const struct usage *pick,
                   size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (s->all.items[pick[k].victim].owner == v->owner)
            return true;
    return s->hits[v->owner] > 0;
}

/* Finds the shortest prefix of spot->usages that makes room for a member. Sets take, gains, gangs
 * and lost; take is 0 if there is none. */
static void find_pick(struct room_search *r, struct spot *spot)
{
    struct victim_search *s = r->s;
    struct trial_mark before = trial_mark(&s->trial);
    spot->take = 0;
    spot->gangs = 0;
    spot->gains = spot->lost = 0;
    for (size_t k = 0; k < spot->n && spot->gains <= 0; k++) {
        const struct victim *v = &s->all.items[spot->usages[k].victim];
        struct trial_mark mark = trial_mark(&s->trial);
        if (s->chosen[spot->usages[k].victim] ||
            !victim_remove(&s->trial, &s->all, spot->usages[k].victim)) {
            trial_back(&s->trial, mark);
            continue;
        }
        search_spend(s, (int64_t)(s->trial.n - mark.n) * WORK_PER_POD);
        spot->gangs += !is_hit(s, v, spot->usages, k);
        spot->lost = v->lost < INT64_MAX - spot->lost ? spot->lost + v->lost : INT64_MAX;
        spot->gains = room_on(r, spot->node) > spot->room ? room_gained(r, before, false) : 0;
        spot->take = k + 1;
    }
    if (spot->gains <= 0)
        spot->take = 0;
    trial_back(&s->trial, before);
}

/* Whether pick a makes room for more of the `lacks` missing members than b, for each gang hit.
 * Between equal picks the smaller loss decides, then the name of the node. */
static bool is_better(const struct spot *a, const struct spot *b, int64_t lacks)
{
    if (!a->take || !b->take)
        return a->take > 0;
    __int128 x = (__int128)(a->gains < lacks ? a->gains : lacks) * b->gangs;
    __int128 y = (__int128)(b->gains < lacks ? b->gains : lacks) * a->gangs;
    if (x != y)
        return x > y;
    return a->lost != b->lost ? a->lost < b->lost : strcmp(a->node->name, b->node->name) < 0;
}

static bool is_cheapest_first(const struct spot *spot)
{
    for (size_t k = 1; k < spot->n; k++)
        if (spot->usages[k - 1].victim > spot->usages[k].victim)
            return false;
    return true;
}

/* Tries two orders, most pods on the node first and cheapest first, and keeps the better pick. */
static void evaluate(struct room_search *r, struct spot *spot, int64_t lacks)
{
    spot->stale = false;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_amount);
    find_pick(r, spot);
    if (is_cheapest_first(spot))
        return;
    struct spot large = *spot;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_victim);
    find_pick(r, spot);
    if (!is_better(&large, spot, lacks))
        return;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_amount);
    large.seen = spot->seen;
    *spot = large;
}

static struct spot *best_tried(struct room_search *r, int64_t lacks)
{
    struct spot *best = NULL;
    for (size_t i = 0; i<r->n_tried && * r->s->work_left> 0; i++) {
        struct spot *spot = r->order[i];
        if (spot->stale)
            evaluate(r, spot, lacks);
        if (spot->take && (!best || is_better(spot, best, lacks)))
            best = spot;
    }
    return best;
}

/* In a large cluster, most nodes need not be looked at. */
static struct spot *best_spot(struct room_search *r, int64_t lacks)
{
    for (;;) {
        struct spot *best = best_tried(r, lacks);
        if (best || r->n_tried == r->n)
            return best;
        size_t left = r->n - r->n_tried;
        r->n_tried += left < SPOTS_AT_ONCE ? left : SPOTS_AT_ONCE;
    }
}

static void begin_kind(struct room_search *r, struct signature *kind)
{
    r->kind = kind;
    for (size_t i = 0; i < r->n; i++) {
        r->items[i].room = room_on(r, r->items[i].node);
        r->items[i].stale = true;
    }
}

bool make_room(struct room_search *r)
{
    struct victim_search *s = r->s;
    int64_t lacks = s->shortage.alike;
    begin_kind(r, s->shortage.culprit->signature);
    while (lacks > 0) {
        struct spot *spot = best_spot(r, lacks);
        if (!spot)
            return lacks < s->shortage.alike;
        struct trial_mark before = trial_mark(&s->trial);
        for (size_t k = 0; k < spot->take; k++)
            if (!s->chosen[spot->usages[k].victim])
                search_choose(s, spot->usages[k].victim);
        lacks -= room_gained(r, before, true);
        spot->stale = true; /* some of its victims are chosen now */
    }
    return true;
}

/* ---- room in the queue ---- */

/* By how much the queue's usage of the resource falls without victim i. */
static int64_t frees_in_queue(struct victim_search *s, size_t i, const struct queue_short *limit)
{
    struct trial_mark before = trial_mark(&s->trial);
    int64_t used = amount_of(&limit->queue->used, limit->resource);
    bool can = victim_remove(&s->trial, &s->all, i);
    int64_t freed = can ? used - amount_of(&limit->queue->used, limit->resource) : 0;
    search_spend(s, (int64_t)(s->trial.n - before.n) * WORK_PER_POD);
    trial_back(&s->trial, before);
    return freed;
}

bool make_quota(struct victim_search *s)
{
    const struct queue_short limit = s->shortage.queue;
    size_t best = s->n;
    int64_t most = 0, missing = limit.need - (limit.limit - limit.used);
    for (size_t i = 0; i < s->n; i++) {
        int64_t freed = s->chosen[i] ? 0 : frees_in_queue(s, i, &limit);
        freed = freed < missing ? freed : missing;
        if (freed > most) {
            most = freed;
            best = i;
        }
    }
    return best < s->n && search_choose(s, best);
}
