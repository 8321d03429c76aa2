/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/preemption.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/make_room.h"
#include "gang/plan/placement.h"
#include "gang/plan/queue_check.h"
#include "gang/podgroup/quorum.h"

/* Placing a member costs as much work as scanning this many nodes. */
#define WORK_PER_MEMBER 8
/* A check trims one victim after the other if this takes at most as long as this many scans. */
#define TRIM_WORK_MAX 50000
/* With more pods, only the victims that are needed are removed in a trial. */
#define EXACT_PODS 4096
/* With at most this many candidates, the search tries all sets. */
#define ALL_SETS_MAX 12

/* ---- the lowest priority ---- */

/* The index after the last victim with the priority and the ends_job of victim i. */
static size_t end_of_priority(const struct victim_search *s, size_t i)
{
    size_t end = i + 1;
    while (end < s->all.n && s->all.items[end].priority == s->all.items[i].priority &&
           s->all.items[end].ends_job == s->all.items[i].ends_job)
        end++;
    return end;
}

/* Sets s->n to the smallest number of victims that is enough, with all victims of a priority or
 * none of them. */
static enum gang_answer find_lowest(struct victim_search *s)
{
    enum gang_answer answer = search_first_are_enough(s, s->all.n);
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
        answer = search_first_are_enough(s, end);
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
static enum gang_answer find_priority(struct victim_search *s)
{
    s->all.relaxed = true;
    enum gang_answer answer = find_lowest(s);
    s->all.relaxed = false;
    return answer;
}

/* ---- a first set, and better ones ---- */

static void note(struct victim_search *s, bool *set)
{
    memcpy(set, s->chosen, s->all.n * sizeof *set);
}

/* Finds a set that is enough. *set is valid only with GANG_YES. */
static enum gang_answer find_set(struct victim_search *s, bool *set)
{
    search_reset(s);
    struct room_search room = room_search_begin(s);
    enum gang_answer answer = search_fits(s);
    while (answer == GANG_NO) {
        bool quota = s->shortage.queue.queue;
        bool more = quota ? make_quota(s) : s->shortage.culprit && make_room(&room);
        if (more)
            answer = search_fits(s);
        else if (!s->one_pass || s->n == s->all.n)
            answer = search_first_are_enough(s, s->n);
        if (!more)
            break;
    }
    room_search_done(&room);
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
static bool put_pod_back(struct victim_search *s, struct pod *pod)
{
    if (pod->node || !pod->facts->node || !pod_counts(pod) || pod_is_finished(pod))
        return true;
    struct node *node = node_by_name(s->core, pod->facts->node);
    search_spend(s, WORK_PER_POD);
    if (!node || !has_free(node, pod->signature) || signature_has_pod_rules(pod->signature) ||
        node->n_anti_affinity)
        return false;
    trial_with_pod(&s->trial, pod, node);
    return true;
}

/* Puts the pods of victim i back. False, and none is put back: there is no room for all of them
 * next to the gang, or with `quota` in its queue. */
static bool put_back(struct victim_search *s, size_t i, bool quota)
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
        search_spend(s, (int64_t)s->gang->n_slots * levels / LOOKS_PER_WORK);
        fit = !plan_exceeds_queue(s->core, s->gang);
    }
    if (!fit)
        trial_back(&s->trial, before);
    return fit;
}

/* Chooses the set, and gives the gang these slots in the trial. False: the set is not enough. */
static bool place_without(struct victim_search *s, const bool *set, enum trial_slots slots)
{
    return search_choose_set(s, set) &&
           place_in_trial(&s->trial, s->gang, slots, s->work_left, &s->shortage) == GANG_YES;
}

/* Puts back the most costly victims next to the gang, as far as they fit. True: there are some. */
static bool put_back_all(struct victim_search *s, bool *set, bool quota)
{
    bool any = false;
    for (size_t i = s->n; i-- > 0 && *s->work_left > 0;)
        if (set[i] && put_back(s, i, quota)) {
            set[i] = false;
            any = true;
        }
    return any;
}

static bool trim_spare(struct victim_search *s, bool *set)
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
    return any ? search_set_is_enough(s, set) == GANG_YES : *s->work_left > 0;
}

/* Tries to do without each victim, the most costly first. */
static bool trim_each(struct victim_search *s, bool *set)
{
    for (size_t i = s->n; i-- > 0;) {
        if (!set[i])
            continue;
        set[i] = false;
        enum gang_answer answer = search_set_is_enough(s, set);
        set[i] = answer != GANG_YES;
        if (answer == GANG_NOT_ASKED)
            return false;
    }
    return true;
}

/* Puts back what is not needed of a set that is enough. False: the rest is not, or the work was
 * used up. */
static bool trim(struct victim_search *s, bool *set)
{
    return s->one_pass ? trim_spare(s, set) : trim_each(s, set);
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

static void unpack(const struct victim_search *s, uint32_t bits, bool *set)
{
    for (size_t i = 0; i < s->n; i++)
        set[i] = bits >> i & 1;
}

/* Sets `set` to the cheapest one that is enough and costs less than `most`. GANG_NO: there is none.
 * GANG_NOT_ASKED: there are too many candidates, or too little work is left, to try all of them. */
static enum gang_answer try_all_sets(struct victim_search *s, struct eviction_cost most, bool *set)
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
        enum gang_answer answer = search_set_is_enough(s, chosen);
        if (answer == GANG_YES)
            memcpy(set, chosen, s->n * sizeof *set);
        if (answer != GANG_NO)
            return answer;
    }
    return GANG_NO;
}

/* Finds a set among the first s->n victims, and if there is none, among those up to the next
 * priority, and so on. *set is valid only with GANG_YES. */
static enum gang_answer find_set_by_priority(struct victim_search *s, bool *set)
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

static enum preemption_result without_evictions(struct victim_search *s)
{
    if (!spend_on_ending(s->core, s->work_left, WORK_PER_POD))
        return PREEMPTION_UNKNOWN;
    trial_without_leaving(&s->trial, s->gang);
    s->base = trial_mark(&s->trial);
    enum gang_answer answer = search_fits(s);
    return answer == GANG_YES  ? PREEMPTION_LEAVING
           : answer == GANG_NO ? PREEMPTION_NONE
                               : PREEMPTION_UNKNOWN;
}

static void take_result(struct victim_search *s, const bool *set, struct preemption *ret)
{
    ret->result = PREEMPTION_FOUND;
    ret->cost = eviction_cost(&s->all, set, s->n);
    ret->victims = xcalloc(s->n + 1, sizeof *ret->victims);
    for (size_t i = 0; i < s->n; i++)
        if (set[i])
            ret->victims[ret->n++] = s->all.items[i];
}

static void search(struct victim_search *s, struct preemption *ret)
{
    cleanup_free bool *set = xcalloc(s->all.n + 1, sizeof *set);
    s->n = s->one_pass ? end_of_priority(s, 0) : s->n;
    enum gang_answer answer = s->one_pass ? GANG_YES : find_priority(s);
    if (answer == GANG_YES)
        answer = find_set_by_priority(s, set);
    if (answer != GANG_YES) {
        ret->result = answer == GANG_NO ? PREEMPTION_NONE : PREEMPTION_UNKNOWN;
        return;
    }
    if (!trim(s, set)) { /* more than needed would be evicted */
        ret->result = PREEMPTION_UNKNOWN;
        return;
    }
    try_all_sets(s, eviction_cost(&s->all, set, s->n), set);
    take_result(s, set, ret);
}

/* The candidates are the victims that a search has decided on. With newer facts, less may be
 * enough. */
static void check(struct victim_search *s, struct preemption *ret)
{
    cleanup_free bool *set = xcalloc(s->all.n + 1, sizeof *set);
    cleanup_free bool *less = xcalloc(s->all.n + 1, sizeof *less);
    memset(set, true, s->all.n * sizeof *set);
    ret->result = PREEMPTION_UNKNOWN;
    if (search_set_is_enough(s, set) != GANG_YES)
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
static bool takes_one_pass(const struct victim_search *s, bool checks)
{
    int64_t pods = 0;
    for (size_t i = 0; i < s->all.n; i++)
        pods += s->all.items[i].pod ? 1 : s->all.items[i].gang->root->t.bound;
    int64_t each = pods * WORK_PER_POD + (int64_t)gang_needed(s->gang) * WORK_PER_MEMBER;
    return pods > EXACT_PODS || (checks && (int64_t)s->all.n * each > TRIM_WORK_MAX);
}

static void find_wholes(struct victim_search *s)
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
    struct victim_search s = {.core = core, .gang = gang, .work_left = work_left};
    s.all = checks ? victims_decided(core, gang, work_left) : victims_for(core, gang, work_left);
    s.chosen = xcalloc(s.all.n + 1, sizeof *s.chosen);
    s.hits = xcalloc(s.all.n_owners + 1, sizeof *s.hits);
    find_wholes(&s);
    s.n = s.all.n;
    s.one_pass = takes_one_pass(&s, checks);
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
    ret.deserving = s.all.deserving;
    victims_done(&s.all);
    free(s.chosen);
    free(s.hits);
    free(s.whole);
    return ret;
}

bool evictions_may_help(enum gang_reason_code code)
{
    static const bool no[REASON_MAX] = {
        [REASON_NO_MATCHING_NODE] = true,
        [REASON_VOLUME_NODE] = true,
        [REASON_REFUSED_BY_SCHEDULER] = true,
        [REASON_PLAN_TOO_LARGE] = true,
        [REASON_BEHIND] = true,
        [REASON_QUEUE_BEHIND] = true,
        [REASON_QUEUE_MISSING] = true,
        [REASON_QUEUE_INVALID] = true,
        [REASON_QUEUE_CLOSED] = true,
        [REASON_QUEUE_FORBIDDEN] = true,
    };
    return !no[code];
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
