/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/preemption.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement.h"
#include "gang/plan/queue_check.h"
#include "gang/podgroup/quorum.h"

/* Removing a pod costs as much work as scanning this many nodes. */
#define WORK_PER_POD 4
/* And placing a member. */
#define WORK_PER_MEMBER 8
/* A check trims one victim after the other if this takes at most as long as this many scans. */
#define TRIM_WORK_MAX 50000
/* With more pods, only the victims that are needed are removed in a trial. */
#define EXACT_PODS 4096
/* So many nodes are compared at first, and as many more whenever none of them helps. */
#define SPOTS_AT_ONCE 256
/* Looking at so many pods costs as much. */
#define PODS_PER_WORK 8
/* With at most this many candidates, the search tries all sets. */
#define ALL_SETS_MAX 12

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
    uint64_t seen;   /* search->stamp when its room was last computed */
    bool stale;      /* the pick must be found again */
    size_t take;     /* the pick is the first `take` usages; 0: no pick */
    int64_t gains;   /* how many more members fit without the pick, on all nodes */
    int gangs;       /* how many more gangs and ordinary pods it hits */
    int64_t lost;    /* device-seconds */
};

struct search {
    struct gang_core *core;
    struct gang *gang;
    struct trial trial;
    struct trial_mark base; /* after trial_without_leaving() */
    struct victims all;
    size_t n;      /* the first n victims are considered */
    bool large;    /* there are too many pods to remove all of them again and again */
    bool *chosen;  /* removed in the trial */
    int *hits;     /* how many victims of an owner are chosen */
    size_t top;    /* the victims from here on are not chosen */
    size_t *whole; /* by owner: the victim that is the whole gang; SIZE_MAX: none */
    int64_t *work_left;
    struct shortage shortage; /* of the last try that failed */
    struct usage *usages;
    size_t n_usages;
    struct spot *spots, **by_id; /* by_id: by node id; NULL: no victims there */
    struct spot **order;         /* spots with the cheapest victims first */
    size_t n_spots, n_tried;     /* n_tried: the first ones in the order; the others wait */
    uint64_t stamp;
    struct signature *kind; /* of the members that need room now */
};

/* ---- sets ---- */

static void spend(struct search *s, int64_t work)
{
    *s->work_left -= work;
}

static void reset(struct search *s)
{
    trial_back(&s->trial, s->base);
    for (size_t i = 0; i < s->top; i++) {
        s->chosen[i] = false;
        s->hits[s->all.items[i].owner] = 0;
    }
    s->top = 0;
}

static bool choose(struct search *s, size_t i)
{
    struct trial_mark before = trial_mark(&s->trial);
    s->chosen[i] = victim_remove(&s->trial, &s->all, i);
    spend(s, (int64_t)(s->trial.n - before.n) * WORK_PER_POD);
    if (!s->chosen[i])
        trial_back(&s->trial, before);
    s->hits[s->all.items[i].owner] += s->chosen[i];
    s->top = s->chosen[i] && i >= s->top ? i + 1 : s->top;
    return s->chosen[i];
}

static enum gang_answer fits(struct search *s)
{
    return fits_in_trial(&s->trial, s->gang, s->work_left, &s->shortage);
}

/* Whether the set has the whole gang of the member that victim i is. */
static bool is_covered(const struct search *s, const bool *set, size_t i)
{
    size_t whole = s->whole[s->all.items[i].owner];
    return whole < s->n && whole != i && set[whole];
}

/* The trial may also have the gang's slots then. */
static bool is_chosen(const struct search *s, const bool *set)
{
    return memcmp(s->chosen, set, (s->top > s->n ? s->top : s->n) * sizeof *set) == 0;
}

/* Chooses the set and nothing else. False: this would leave a gang below its minimum. */
static bool choose_set(struct search *s, const bool *set)
{
    if (is_chosen(s, set))
        return true;
    reset(s);
    for (size_t i = 0; i < s->n; i++)
        if (set[i] && !is_covered(s, set, i) && !choose(s, i))
            return false;
    return true;
}

/* Whether the gang fits without the set, which becomes the chosen one. GANG_NO also if the set is
 * not allowed. */
static enum gang_answer set_is_enough(struct search *s, const bool *set)
{
    return choose_set(s, set) ? fits(s) : GANG_NO;
}

/* Whether the gang fits without the first n victims. Whole gangs and ordinary pods go first, then
 * single members of the gangs that are left. */
static enum gang_answer first_are_enough(struct search *s, size_t n)
{
    reset(s);
    for (size_t i = 0; i<n && * s->work_left> 0; i++)
        if (!s->all.items[i].gang || !s->all.items[i].pod)
            choose(s, i);
    for (size_t i = 0; i<n && * s->work_left> 0; i++)
        if (!s->chosen[i])
            choose(s, i);
    return fits(s);
}

/* ---- the lowest priority ---- */

/* The index after the last victim with the priority and the ends_job of victim i. */
static size_t end_of_priority(const struct search *s, size_t i)
{
    size_t end = i + 1;
    while (end < s->all.n && s->all.items[end].priority == s->all.items[i].priority &&
           s->all.items[end].ends_job == s->all.items[i].ends_job)
        end++;
    return end;
}

/* Sets s->n to the smallest number of victims that is enough, with all victims of a priority or
 * none of them. */
static enum gang_answer find_lowest(struct search *s)
{
    enum gang_answer answer = first_are_enough(s, s->all.n);
    size_t low = 0, high = s->all.n; /* `high` is enough */
    if (answer != GANG_YES)
        return answer;
    while (low < high) {
        size_t end = end_of_priority(s, low + (high - low) / 2);
        if (end >= high) { /* the middle is in the last priority of the range */
            end = end_of_priority(s, low);
            if (end >= high)
                break;
        }
        answer = first_are_enough(s, end);
        if (answer == GANG_NOT_ASKED)
            return answer;
        if (answer == GANG_YES)
            high = end;
        else
            low = end;
    }
    s->n = high;
    return GANG_YES;
}

/* If the first victims that fit the rules are removed, these can forbid other victims that would be
 * enough. So the rules are ignored here, and s->n may be too small. */
static enum gang_answer find_priority(struct search *s)
{
    s->all.relaxed = true;
    enum gang_answer answer = find_lowest(s);
    s->all.relaxed = false;
    return answer;
}

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

static void add_usage(struct search *s, size_t *cap, struct node *node, size_t victim)
{
    GROW(s->usages, *cap, s->n_usages + 1);
    s->usages[s->n_usages++] = (struct usage){node, victim, 1};
}

/* Those of a node stay in their order. */
static void sort_by_node(struct search *s)
{
    struct usage *sorted = xcalloc(s->n_usages + 1, sizeof *sorted);
    cleanup_free size_t *at = xcalloc(s->core->n_ids + 1, sizeof *at); /* by node id */
    for (size_t i = 0; i < s->n_usages; i++)
        at[s->usages[i].node->id + 1]++;
    for (size_t id = 0; id < s->core->n_ids; id++)
        at[id + 1] += at[id];
    for (size_t i = 0; i < s->n_usages; i++)
        sorted[at[s->usages[i].node->id]++] = s->usages[i];
    free(s->usages);
    s->usages = sorted;
}

/* Lists what each considered victim uses, sorted by node. */
static void list_usages(struct search *s)
{
    size_t cap = 0, before = 0;
    for (size_t i = 0; i<s->n && * s->work_left> 0; i++, before = s->n_usages) {
        const struct victim *v = &s->all.items[i];
        if (v->pod) {
            add_usage(s, &cap, v->pod->node, i);
        } else {
            list_for_each (pod, &v->gang->members, struct pod, in_gang)
                if (pod_runs(pod))
                    add_usage(s, &cap, pod->node, i);
            list_for_each (slot, &v->gang->slots, struct slot, in_gang)
                add_usage(s, &cap, slot->node, i);
        }
        spend(s, 1 + (int64_t)(s->n_usages - before) / PODS_PER_WORK);
    }
    sort_by_node(s);
}

/* Merges what a victim uses on a node. */
static void merge_usages(struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_usages; i++) {
        struct usage *last = n ? &s->usages[n - 1] : NULL;
        if (last && last->node == s->usages[i].node && last->victim == s->usages[i].victim)
            last->pods++;
        else
            s->usages[n++] = s->usages[i];
    }
    s->n_usages = n;
}

static int by_cheapest(const void *a, const void *b)
{
    const struct spot *x = *(struct spot *const *)a, *y = *(struct spot *const *)b;
    if (x->cheapest != y->cheapest)
        return x->cheapest < y->cheapest ? -1 : 1;
    return x->node->id < y->node->id ? -1 : 1;
}

static void spots_done(struct search *s)
{
    free(STEAL(s->usages));
    free(STEAL(s->spots));
    free(STEAL(s->order));
    free(STEAL(s->by_id));
    s->n_usages = s->n_spots = s->n_tried = 0;
}

static void find_spots(struct search *s)
{
    spots_done(s);
    reset(s);
    list_usages(s);
    merge_usages(s);
    s->spots = xcalloc(s->n_usages + 1, sizeof *s->spots);
    s->by_id = xcalloc(s->core->n_ids + 1, sizeof(struct spot *));
    for (size_t i = 0; i < s->n_usages; i++) {
        struct node *node = s->usages[i].node;
        struct spot *spot = s->by_id[node->id];
        if (!spot) {
            spot = s->by_id[node->id] = &s->spots[s->n_spots++];
            *spot = (struct spot){.node = node, .usages = &s->usages[i], .cheapest = SIZE_MAX};
        }
        spot->n++;
        if (s->usages[i].victim < spot->cheapest)
            spot->cheapest = s->usages[i].victim;
    }
    s->order = xcalloc(s->n_spots + 1, sizeof(struct spot *));
    for (size_t i = 0; i < s->n_spots; i++)
        s->order[i] = &s->spots[i];
    if (s->n_spots > 1)
        qsort(s->order, s->n_spots, sizeof(struct spot *), by_cheapest);
}

/* ---- room for members like the culprit of the last shortage ---- */

static int64_t room_on(struct search *s, const struct node *node)
{
    spend(s, 1);
    return node_holds(s->core, s->gang, s->kind, node);
}

/* How many more members fit because of the changes since the mark. With `keep`, the changed spots
 * get their new room, and must find their picks again. */
static int64_t room_gained(struct search *s, struct trial_mark since, bool keep)
{
    int64_t gained = 0;
    s->stamp++;
    for (size_t i = since.n; i < s->trial.n; i++) {
        struct spot *spot = s->by_id[trial_left_node(&s->trial, i)->id];
        if (spot->seen == s->stamp)
            continue;
        spot->seen = s->stamp;
        int64_t room = room_on(s, spot->node);
        gained += room - spot->room;
        if (keep)
            spot->room = room;
        spot->stale |= keep;
    }
    return gained;
}

/* Whether the gang of the victim is already hit: by a chosen victim, or by the first n usages of
 * the pick. */
static bool is_hit(const struct search *s, const struct victim *v, const struct usage *pick,
                   size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (s->all.items[pick[k].victim].owner == v->owner)
            return true;
    return s->hits[v->owner] > 0;
}

/* Finds the shortest prefix of spot->usages that makes room for a member. Sets take, gains, gangs
 * and lost; take is 0 if there is none. */
static void find_pick(struct search *s, struct spot *spot)
{
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
        spend(s, (int64_t)(s->trial.n - mark.n) * WORK_PER_POD);
        spot->gangs += !is_hit(s, v, spot->usages, k);
        spot->lost = v->lost < INT64_MAX - spot->lost ? spot->lost + v->lost : INT64_MAX;
        spot->gains = room_on(s, spot->node) > spot->room ? room_gained(s, before, false) : 0;
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
static void evaluate(struct search *s, struct spot *spot, int64_t lacks)
{
    spot->stale = false;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_amount);
    find_pick(s, spot);
    if (is_cheapest_first(spot))
        return;
    struct spot large = *spot;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_victim);
    find_pick(s, spot);
    if (!is_better(&large, spot, lacks))
        return;
    qsort(spot->usages, spot->n, sizeof *spot->usages, by_amount);
    large.seen = spot->seen;
    *spot = large;
}

static struct spot *best_tried(struct search *s, int64_t lacks)
{
    struct spot *best = NULL;
    for (size_t i = 0; i<s->n_tried && * s->work_left> 0; i++) {
        struct spot *spot = s->order[i];
        if (spot->stale)
            evaluate(s, spot, lacks);
        if (spot->take && (!best || is_better(spot, best, lacks)))
            best = spot;
    }
    return best;
}

/* In a large cluster, most nodes need not be looked at. */
static struct spot *best_spot(struct search *s, int64_t lacks)
{
    for (;;) {
        struct spot *best = best_tried(s, lacks);
        if (best || s->n_tried == s->n_spots)
            return best;
        size_t left = s->n_spots - s->n_tried;
        s->n_tried += left < SPOTS_AT_ONCE ? left : SPOTS_AT_ONCE;
    }
}

static void begin_kind(struct search *s, struct signature *kind)
{
    s->kind = kind;
    for (size_t i = 0; i < s->n_spots; i++) {
        s->spots[i].room = room_on(s, s->spots[i].node);
        s->spots[i].stale = true;
    }
}

/* Chooses victims until the missing members like the culprit have room, or no victim helps. False:
 * none helped. */
static bool make_room(struct search *s)
{
    int64_t lacks = s->shortage.alike;
    begin_kind(s, s->shortage.culprit->signature);
    while (lacks > 0) {
        struct spot *spot = best_spot(s, lacks);
        if (!spot)
            return lacks < s->shortage.alike;
        struct trial_mark before = trial_mark(&s->trial);
        for (size_t k = 0; k < spot->take; k++)
            if (!s->chosen[spot->usages[k].victim])
                choose(s, spot->usages[k].victim);
        lacks -= room_gained(s, before, true);
        spot->stale = true; /* some of its victims are chosen now */
    }
    return true;
}

/* ---- room in the queue ---- */

/* By how much the queue's usage of the resource falls without victim i. */
static int64_t frees_in_queue(struct search *s, size_t i, const struct queue_short *limit)
{
    struct trial_mark before = trial_mark(&s->trial);
    int64_t used = amount_of(&limit->queue->used, limit->resource);
    bool can = victim_remove(&s->trial, &s->all, i);
    int64_t freed = can ? used - amount_of(&limit->queue->used, limit->resource) : 0;
    spend(s, (int64_t)(s->trial.n - before.n) * WORK_PER_POD);
    trial_back(&s->trial, before);
    return freed;
}

/* Chooses the victim that frees the most of the resource that the queue lacks. False: none frees
 * any. */
static bool make_quota(struct search *s)
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
    return best < s->n && choose(s, best);
}

/* ---- a first set, and better ones ---- */

static void note(struct search *s, bool *set)
{
    memcpy(set, s->chosen, s->all.n * sizeof *set);
}

/* Finds a set that is enough. *set is valid only with GANG_YES. */
static enum gang_answer find_set(struct search *s, bool *set)
{
    find_spots(s);
    reset(s);
    enum gang_answer answer = fits(s);
    while (answer == GANG_NO) {
        bool quota = s->shortage.queue.queue;
        bool more = quota ? make_quota(s) : s->shortage.culprit && make_room(s);
        if (more)
            answer = fits(s);
        else if (!s->large || s->n == s->all.n)
            answer = first_are_enough(s, s->n);
        if (!more)
            break;
    }
    note(s, set);
    return answer;
}

static bool has_free(const struct node *node, const struct signature *signature)
{
    for (size_t i = 0; i < signature->n_needs; i++)
        if (signature->needs[i].amount > node_free(node, signature->needs[i].resource))
            return false;
    return true;
}

/* Puts the pod back on its node if it was removed. False: the node may have no room for it. */
static bool put_pod_back(struct search *s, struct pod *pod)
{
    if (pod->node || !pod->facts->node || !pod_counts(pod) || pod_is_finished(pod))
        return true;
    struct node *node = node_by_name(s->core, pod->facts->node);
    spend(s, WORK_PER_POD);
    if (!node || !has_free(node, pod->signature) || signature_has_pod_rules(pod->signature) ||
        node->n_anti_affinity)
        return false;
    trial_with_pod(&s->trial, pod, node);
    return true;
}

/* Puts the pods of victim i back. False, and none is put back: there is no room for all of them
 * next to the gang, or with `quota` in its queue. */
static bool put_back(struct search *s, size_t i, bool quota)
{
    const struct victim *v = &s->all.items[i];
    struct trial_mark before = trial_mark(&s->trial);
    bool fit = true;
    if (v->pod)
        fit = put_pod_back(s, v->pod);
    else
        list_for_each (pod, &v->gang->members, struct pod, in_gang)
            if (!(fit = put_pod_back(s, pod)))
                break;
    if (fit && quota) {
        int levels = queue_of_gang(s->core, s->gang)->level + 1;
        spend(s, (int64_t)s->gang->n_slots * levels / PODS_PER_WORK);
        fit = !plan_exceeds_queue(s->core, s->gang);
    }
    if (!fit)
        trial_back(&s->trial, before);
    return fit;
}

/* Chooses the set, and gives the gang these slots in the trial. False: the set is not enough. */
static bool place_without(struct search *s, const bool *set, enum trial_slots slots)
{
    return choose_set(s, set) &&
           place_in_trial(&s->trial, s->gang, slots, s->work_left, &s->shortage) == GANG_YES;
}

/* Puts back the most costly victims next to the gang, as far as they fit. True: there are some. */
static bool put_back_all(struct search *s, bool *set, bool quota)
{
    bool any = false;
    for (size_t i = s->n; i-- > 0 && *s->work_left > 0;)
        if (set[i] && put_back(s, i, quota)) {
            set[i] = false;
            any = true;
        }
    return any;
}

static bool trim_spare(struct search *s, bool *set)
{
    if (!place_without(s, set, SLOTS_NEEDED))
        return false;
    struct trial_mark placed = trial_mark(&s->trial);
    bool any = put_back_all(s, set, /* quota= */ false);
    if (any && plan_exceeds_queue(s->core, s->gang)) { /* the queue needs some of them to go */
        trial_back(&s->trial, placed);
        memcpy(set, s->chosen, s->n * sizeof *set);
        any = put_back_all(s, set, /* quota= */ true);
    }
    return any ? set_is_enough(s, set) == GANG_YES : *s->work_left > 0;
}

/* Tries to do without each victim, the most costly first. */
static bool trim_each(struct search *s, bool *set)
{
    for (size_t i = s->n; i-- > 0;) {
        if (!set[i])
            continue;
        set[i] = false;
        enum gang_answer answer = set_is_enough(s, set);
        set[i] = answer != GANG_YES;
        if (answer == GANG_NOT_ASKED)
            return false;
    }
    return true;
}

/* Puts back what is not needed of a set that is enough. False: the rest is not, or the work was
 * used up. */
static bool trim(struct search *s, bool *set)
{
    return s->large ? trim_spare(s, set) : trim_each(s, set);
}

struct subset {
    struct eviction_cost cost;
    uint32_t bits;
};

static int by_cost(const void *a, const void *b)
{
    const struct subset *x = a, *y = b;
    int order = eviction_cost_compare(&x->cost, &y->cost);
    return order ? order : (x->bits > y->bits) - (x->bits < y->bits);
}

static void unpack(const struct search *s, uint32_t bits, bool *set)
{
    for (size_t i = 0; i < s->n; i++)
        set[i] = bits >> i & 1;
}

/* Sets `set` to the cheapest one that is enough and costs less than `most`. GANG_NO: there is none.
 * GANG_NOT_ASKED: there are too many candidates, or too little work is left, to try all of them. */
static enum gang_answer try_all_sets(struct search *s, struct eviction_cost most, bool *set)
{
    if (s->n > ALL_SETS_MAX)
        return GANG_NOT_ASKED;
    size_t n = 0;
    cleanup_free struct subset *subsets = xcalloc((size_t)1 << s->n, sizeof *subsets);
    cleanup_free bool *chosen = xcalloc(s->all.n + 1, sizeof *chosen);
    for (uint32_t bits = 1; bits < UINT32_C(1) << s->n; bits++) {
        unpack(s, bits, chosen);
        struct eviction_cost cost = eviction_cost(&s->all, chosen, s->n);
        if (eviction_cost_compare(&cost, &most) < 0)
            subsets[n++] = (struct subset){cost, bits};
    }
    if (n > 1)
        qsort(subsets, n, sizeof *subsets, by_cost);
    for (size_t i = 0; i < n; i++) {
        unpack(s, subsets[i].bits, chosen);
        enum gang_answer answer = set_is_enough(s, chosen);
        if (answer == GANG_YES)
            memcpy(set, chosen, s->n * sizeof *set);
        if (answer != GANG_NO)
            return answer;
    }
    return GANG_NO;
}

/* Finds a set among the first s->n victims, and if there is none, among those up to the next
 * priority, and so on. *set is valid only with GANG_YES. */
static enum gang_answer find_set_by_priority(struct search *s, bool *set)
{
    static const struct eviction_cost any = {true, INT32_MAX, INT32_MAX, INT64_MAX, INT64_MAX, 0};
    for (;;) {
        enum gang_answer answer = find_set(s, set);
        if (answer == GANG_NO && try_all_sets(s, any, set) == GANG_YES)
            answer = GANG_YES;
        if (answer != GANG_NO || s->n == s->all.n)
            return answer;
        s->n = end_of_priority(s, s->n);
    }
}

/* ---- the search ---- */

static enum preemption_result without_evictions(struct search *s)
{
    trial_without_leaving(&s->trial, s->gang);
    s->base = trial_mark(&s->trial);
    enum gang_answer answer = fits(s);
    return answer == GANG_YES  ? PREEMPTION_LEAVING
           : answer == GANG_NO ? PREEMPTION_NONE
                               : PREEMPTION_UNKNOWN;
}

static void take_result(struct search *s, const bool *set, struct preemption *ret)
{
    ret->result = PREEMPTION_FOUND;
    ret->cost = eviction_cost(&s->all, set, s->n);
    ret->victims = xcalloc(s->n + 1, sizeof *ret->victims);
    for (size_t i = 0; i < s->n; i++)
        if (set[i])
            ret->victims[ret->n++] = s->all.items[i];
}

static void search(struct search *s, struct preemption *ret)
{
    cleanup_free bool *set = xcalloc(s->all.n + 1, sizeof *set);
    s->n = s->large ? end_of_priority(s, 0) : s->n;
    enum gang_answer answer = s->large ? GANG_YES : find_priority(s);
    if (answer == GANG_YES)
        answer = find_set_by_priority(s, set);
    if (answer != GANG_YES) {
        ret->result = answer == GANG_NO ? PREEMPTION_NONE : PREEMPTION_UNKNOWN;
        return;
    }
    ret->trimmed = trim(s, set);
    if (ret->trimmed)
        try_all_sets(s, eviction_cost(&s->all, set, s->n), set);
    take_result(s, set, ret);
}

/* The candidates are the victims that a search has decided on. With newer facts, less may be
 * enough. */
static void check(struct search *s, struct preemption *ret)
{
    cleanup_free bool *set = xcalloc(s->all.n + 1, sizeof *set);
    cleanup_free bool *less = xcalloc(s->all.n + 1, sizeof *less);
    memset(set, true, s->all.n * sizeof *set);
    ret->result = PREEMPTION_UNKNOWN;
    if (set_is_enough(s, set) != GANG_YES)
        return;
    int64_t kept = *s->work_left / 2;
    *s->work_left -= kept;
    memcpy(less, set, s->all.n * sizeof *set);
    if (trim(s, less))
        memcpy(set, less, s->all.n * sizeof *set);
    *s->work_left += kept;
    if (!place_without(s, set, SLOTS_WITH_EXTRAS))
        return;
    ret->places = places_of_trial(&s->trial, s->base.n);
    take_result(s, set, ret);
}

/* Whether to trim in one pass. A check also does so if trimming one victim after the other would
 * take long. */
static bool is_large(const struct search *s, bool checks)
{
    int64_t pods = 0;
    for (size_t i = 0; i < s->all.n; i++)
        pods += s->all.items[i].pod ? 1 : s->all.items[i].gang->root->t.bound;
    int64_t each = pods * WORK_PER_POD + (int64_t)gang_needed(s->gang) * WORK_PER_MEMBER;
    return pods > EXACT_PODS || (checks && (int64_t)s->all.n * each > TRIM_WORK_MAX);
}

static void find_wholes(struct search *s)
{
    s->whole = xcalloc(s->all.n_owners + 1, sizeof *s->whole);
    for (size_t i = 0; i < s->all.n_owners; i++)
        s->whole[i] = SIZE_MAX;
    for (size_t i = 0; i < s->all.n; i++)
        if (!s->all.items[i].pod)
            s->whole[s->all.items[i].owner] = i;
}

/* Calls search() or check() if evictions are necessary and there are candidates. */
static struct preemption preemption(struct gang_core *core, struct gang *gang, int64_t *work_left,
                                    bool checks)
{
    struct preemption ret = {.n = 0};
    struct search s = {.core = core, .gang = gang, .work_left = work_left};
    s.all = checks ? victims_decided(core, gang, work_left) : victims_for(core, gang, work_left);
    s.chosen = xcalloc(s.all.n + 1, sizeof *s.chosen);
    s.hits = xcalloc(s.all.n_owners + 1, sizeof *s.hits);
    find_wholes(&s);
    s.n = s.all.n;
    s.large = is_large(&s, checks);
    ret.complete = *work_left > 0;
    ret.lowest = s.all.lowest;
    ret.may_hit_some = s.all.n || s.all.leaving;
    s.trial = trial_begin(core);
    ret.result = without_evictions(&s);
    if (ret.result == PREEMPTION_NONE && s.all.n)
        checks ? check(&s, &ret) : search(&s, &ret);
    trial_end(&s.trial);
    ret.in_the_way = s.all.in_the_way;
    ret.resting = s.all.resting;
    ret.rests_until = s.all.rests_until;
    victims_done(&s.all);
    free(s.chosen);
    free(s.hits);
    free(s.whole);
    spots_done(&s);
    return ret;
}

struct preemption preemption_search(struct gang_core *core, struct gang *gang, int64_t *work_left)
{
    return preemption(core, gang, work_left, /* checks= */ false);
}

struct preemption preemption_check(struct gang_core *core, struct gang *gang, int64_t *work_left)
{
    return preemption(core, gang, work_left, /* checks= */ true);
}

void preemption_done(struct gang_core *core, struct preemption *preemption)
{
    places_done(core, &preemption->places);
    free(STEAL(preemption->victims));
}
