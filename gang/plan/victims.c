/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/victims.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/compare.h"
#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/job_limits.h"
#include "gang/cluster/kube_preemptions.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/resources.h"
#include "gang/plan/eviction_cost.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* Sorting one victim costs as much work as scanning this many nodes. */
#define WORK_PER_VICTIM 2

/* ---- who may be taken ---- */

static bool budget_forbids(struct gang_core *core, struct victims *victims, struct pod *pod)
{
    const struct gang_budget_facts *budget = budget_in_the_way(core, pod);
    if (budget && !victims->in_the_way)
        victims->in_the_way = budget;
    return budget != NULL;
}

bool pod_may_be_evicted(const struct gang_core *core, const struct pod *pod)
{
    const struct gang_pod_facts *f = pod->facts;
    return pod->charge == CHARGE_ASSIGNED && f->controlled && !f->of_node &&
           f->grace <= GRACE_LIMIT && !eviction_was_in_vain(core, pod);
}

static bool may_evict(struct gang_core *core, struct victims *victims, struct pod *pod)
{
    return pod_may_be_evicted(core, pod) && !budget_forbids(core, victims, pod);
}

/* Whether the limit on reclaim lets the gang take from the queue. */
static bool lends_more(struct victims *victims, struct take take)
{
    usec_t until = take_rests_until(&victims->taker, take);
    if (until && (!victims->resting || until < victims->rests_until)) {
        victims->resting = take.branch;
        victims->rests_until = until;
    }
    return !until;
}

/* ---- what is lost ---- */

static int64_t devices_of(const struct gang_core *core, const struct signature *signature)
{
    int64_t sum = 0;
    for (size_t i = 0; i < signature->n_needs; i++)
        if (resource_is(core, signature->needs[i].resource, RESOURCE_DEVICE) &&
            __builtin_add_overflow(sum, signature->needs[i].amount, &sum))
            return INT64_MAX;
    return sum;
}

/* When its members last saved the work of the gang; 0: never. */
static usec_t checkpoint_of(const struct gang *gang)
{
    usec_t last = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        last = pod->facts->saved_at > last ? pod->facts->saved_at : last;
    return last;
}

static int64_t seconds_since(const struct gang_core *core, usec_t since)
{
    return api_time(core) > since ? (api_time(core) - since) / USEC_PER_SEC : 0;
}

/* The work since the checkpoint is lost. */
static void add_loss(const struct gang_core *core, struct victim *v, const struct pod *pod,
                     usec_t checkpoint)
{
    usec_t start = pod_start(pod), since = checkpoint > start ? checkpoint : start;
    int64_t lost;
    if (__builtin_mul_overflow(seconds_since(core, since), devices_of(core, pod->signature), &lost))
        lost = INT64_MAX;
    v->lost = eviction_sum(v->lost, lost);
    /* Of pods that have just started, fewer are better. */
    v->ran = eviction_sum(v->ran, seconds_since(core, start) + 1);
}

/* ---- the list ---- */

static struct victim *add(struct victims *victims, struct gang *gang, struct pod *pod,
                          int32_t priority, struct take take)
{
    GROW(victims->items, victims->cap, victims->n + 1);
    struct victim *v = &victims->items[victims->n++];
    *v = (struct victim){.gang = gang,
                         .pod = pod,
                         .take = take,
                         .owner = victims->n_owners - 1,
                         .priority = priority};
    return v;
}

/* Whether the disruption budgets allow to evict all members at once. */
static bool budgets_allow(struct gang_core *core, struct victims *victims, struct gang *gang)
{
    struct pod *refused = NULL;
    if (!budgets_exist(core))
        return true;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod_runs(pod))
            continue;
        if (budget_forbids(core, victims, pod)) {
            refused = pod;
            break;
        }
        budget_take(core, pod, 1);
    }
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod == refused)
            break;
        if (pod_runs(pod))
            budget_take(core, pod, -1);
    }
    return !refused;
}

/* Whether the list includes gangs and pods with this mark. Without a decision, it includes all. */
static bool are_listed(const struct victims *victims, uint32_t decision)
{
    return !victims->decision || victims->decision == decision;
}

static void add_whole(struct gang_core *core, struct victims *victims, struct gang *gang,
                      int32_t priority, struct take take)
{
    usec_t since = USEC_NEVER;
    if (gang->root->t.succeeded || !are_listed(victims, gang->preempting.victim_of))
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod_runs(pod) && !may_evict(core, victims, pod))
            return;
        if (pod_runs(pod) && pod_start(pod) < since)
            since = pod_start(pod);
    }
    if (since == USEC_NEVER || !has_run(&victims->taker, gang->queue, since) ||
        !budgets_allow(core, victims, gang) || !lends_more(victims, take))
        return;
    struct victim *v = add(victims, gang, NULL, priority, take);
    struct map losses = {0};
    usec_t checkpoint = checkpoint_of(gang);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_runs(pod)) {
            add_loss(core, v, pod, checkpoint);
            v->ends_job |= !gang_suspends(gang) && job_loses(core, &losses, pod);
        }
    map_done(&losses);
}

/* Whether the gang keeps its minimums without the member. Uses the last gang_count(). */
static bool is_surplus(const struct gang *gang, const struct pod *pod)
{
    unit_add_bound(pod->unit, -1);
    bool enough = unit_lacks(gang->root, STAGE_BOUND) <= 0;
    unit_add_bound(pod->unit, 1);
    return enough;
}

static void add_surplus(struct gang_core *core, struct victims *victims, struct gang *gang,
                        int32_t priority, struct take take)
{
    if (gang->root->t.bound <= gang_needed(gang))
        return;
    usec_t checkpoint = checkpoint_of(gang);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (are_listed(victims, pod->victim_of) && pod_runs(pod) && may_evict(core, victims, pod) &&
            is_surplus(gang, pod) && lends_more(victims, take))
            add_loss(core, add(victims, gang, pod, priority, take), pod, checkpoint);
}

static bool uses_room(const struct gang *gang)
{
    if (gang->n_slots)
        return true;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->node)
            return true;
    return false;
}

static bool has_leaving(const struct gang_core *core, const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_is_leaving(core, pod))
            return true;
    return false;
}

static bool kube_will_evict_member(const struct gang_core *core, const struct gang *gang)
{
    if (kube_will_evict_some(core))
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (kube_will_evict(core, pod))
                return true;
    return false;
}

static void add_gang(struct gang_core *core, struct victims *victims, struct gang *victim,
                     const struct gang *gang)
{
    if (!are_listed(victims, victim->preempting.victim_of) &&
        !are_listed(victims, victim->preempting.loses_by))
        return;
    int32_t least =
        victim->priority < victim->own_priority ? victim->priority : victim->own_priority;
    if (uses_room(victim) && least < victims->lowest)
        victims->lowest = least;
    struct take take = may_hit(&victims->taker, victim);
    if (!take.may || gang_count(core, victim)->binding)
        return;
    bool shrinks = kube_will_evict_member(core, victim); /* its tallies still count the member */
    victims->leaving |= shrinks || victim->n_slots > 0 || has_leaving(core, victim);
    if (shrinks || !victim->root->t.bound)
        return;
    int32_t priority = same_namespace(victim, gang) ? victim->own_priority : victim->priority;
    victims->n_owners++;
    add_whole(core, victims, victim, priority, take);
    add_surplus(core, victims, victim, priority, take);
}

static void add_ordinary(struct gang_core *core, struct victims *victims, struct pod *pod,
                         const struct gang *gang)
{
    if (pod->gang || !are_listed(victims, pod->victim_of))
        return;
    if (pod->facts->priority < victims->lowest)
        victims->lowest = pod->facts->priority;
    struct queue *queue = core->queues.root ? queue_of_pod(core, pod) : NULL;
    struct take take = may_take(&victims->taker, queue, pod->facts->priority < gang->priority);
    if (!take.may || pod_is_firm(pod, queue))
        return;
    bool goes = kube_will_evict(core, pod); /* and its room is for another pod */
    victims->leaving |= goes || pod_is_leaving(core, pod);
    if (!goes && pod_runs(pod) && may_evict(core, victims, pod) &&
        has_run(&victims->taker, queue, pod_start(pod)) && lends_more(victims, take)) {
        victims->n_owners++;
        add_loss(core, add(victims, NULL, pod, pod->facts->priority, take), pod,
                 pod->facts->saved_at);
    }
}

static int by_name(const struct victim *a, const struct victim *b)
{
    if (a->pod && b->pod) {
        int order = strcmp(a->pod->facts->ns, b->pod->facts->ns);
        return order ? order : strcmp(a->pod->facts->name, b->pod->facts->name);
    }
    if (a->gang && b->gang && a->gang != b->gang)
        return strcmp(a->gang->head->key, b->gang->head->key);
    return (a->pod != NULL) - (b->pod != NULL); /* a gang comes before its members */
}

static int by_cost(const void *x, const void *y)
{
    const struct victim *a = x, *b = y;
    int order = compare(a->ends_job, b->ends_job);
    if (!order)
        order = compare(a->priority, b->priority);
    if (!order)
        order = compare(a->lost, b->lost);
    if (!order)
        order = compare(a->ran, b->ran);
    return order ? order : by_name(a, b);
}

/* Counts single pods from the cheapest on, so that the result does not depend on other orders. */
static void sort(const struct gang_core *core, struct victims *victims)
{
    struct map losses = {0};
    qsort(victims->items, victims->n, sizeof *victims->items, by_cost);
    for (size_t i = 0; i < victims->n; i++)
        if (victims->items[i].pod)
            victims->items[i].ends_job = job_loses(core, &losses, victims->items[i].pod);
    if (map_count(&losses))
        qsort(victims->items, victims->n, sizeof *victims->items, by_cost);
    map_done(&losses);
}

bool gang_may_preempt(const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->never_preempts)
            return false;
    return true;
}

static void spend(const struct gang_core *core, int pods, uint64_t *compared, int64_t *work_left)
{
    int each = kube_will_evict_some(core) ? 1 + LOOKS_PER_WORK : 1;
    int64_t looks = (int64_t)pods * each + (int64_t)(core->budgets.compared - *compared);
    *compared = core->budgets.compared;
    *work_left -= 1 + looks / LOOKS_PER_WORK;
}

static struct victims list(struct gang_core *core, const struct gang *gang, uint32_t decision,
                           size_t most, int64_t *work_left)
{
    struct victims victims = {
        .lowest = INT32_MAX, .taker = taker_of(core, gang), .decision = decision};
    uint64_t compared = core->budgets.compared;
    if (!gang_may_preempt(gang))
        return victims;
    taker_remembers(&victims.taker);
    list_for_each (victim, &core->gangs, struct gang, in_core) {
        if (*work_left <= 0 || victims.n == most)
            break;
        add_gang(core, &victims, victim, gang);
        spend(core, victim->root->t.members, &compared, work_left);
    }
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        if (*work_left <= 0 || victims.n == most)
            break;
        list_for_each (pod, &node->pods, struct pod, in_node)
            add_ordinary(core, &victims, pod, gang);
        spend(core, (int)node->n_pods, &compared, work_left);
    }
    *work_left -= (int64_t)victims.n * WORK_PER_VICTIM;
    if (victims.n && *work_left > 0)
        sort(core, &victims);
    victims.hit = xcalloc(victims.n_owners + 1, sizeof *victims.hit);
    return victims;
}

struct victims victims_for(struct gang_core *core, const struct gang *gang, int64_t *work_left)
{
    return list(core, gang, 0, SIZE_MAX, work_left);
}

struct victims victims_decided(struct gang_core *core, const struct gang *gang, int64_t *work_left)
{
    return list(core, gang, gang->preempting.decision, gang->preempting.n_victims, work_left);
}

void victims_done(struct victims *victims)
{
    free(victims->items);
    free(victims->hit);
}

/* ---- in a trial ---- */

bool plan_yields(const struct taker *taker, struct gang *other)
{
    const struct reach reach = {.displace = DISPLACE_ALL};
    if (!other->n_slots || !may_hit(taker, other).may || gang_count(taker->core, other)->bound)
        return false;
    list_for_each (slot, &other->slots, struct slot, in_gang)
        if (!slot_yields(slot, &reach))
            return false;
    return !other->root->t.binding;
}

static void without_plans(struct trial *t, const struct gang *gang)
{
    const struct taker taker = taker_of(t->core, gang);
    list_for_each (other, &t->core->gangs, struct gang, in_core)
        if (plan_yields(&taker, other))
            list_for_each_safe (slot, &other->slots, struct slot, in_gang)
                trial_without_slot(t, slot);
}

bool spend_on_ending(const struct gang_core *core, int64_t *work_left, int64_t each)
{
    list_for_each (pod, &core->ending, struct pod, in_ending) {
        (void)pod;
        *work_left -= each;
        if (*work_left <= 0)
            return false;
    }
    return true;
}

void trial_without_ending(struct trial *t)
{
    list_for_each (pod, &t->core->ending, struct pod, in_ending)
        if (pod_is_leaving(t->core, pod))
            trial_without_pod(t, pod);
}

void trial_without_leaving(struct trial *t, const struct gang *gang)
{
    without_plans(t, gang);
    trial_without_ending(t);
}

static bool remove_pod(struct trial *t, struct victims *victims, struct pod *pod)
{
    if (!victims->relaxed && budget_forbids(t->core, victims, pod))
        return false;
    trial_without_pod(t, pod);
    return true;
}

static bool remove_gang(struct trial *t, struct victims *victims, struct gang *gang)
{
    bool any = false;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod_runs(pod))
            continue;
        if (!remove_pod(t, victims, pod))
            return false;
        any = true;
    }
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        trial_without_slot(t, slot);
    return any;
}

static bool remove_one(struct trial *t, struct victims *victims, const struct victim *victim)
{
    if (!victim->pod)
        return remove_gang(t, victims, victim->gang);
    if (!victim->pod->node || !remove_pod(t, victims, victim->pod))
        return false;
    return !victim->gang || victims->relaxed || gang_lacks(t->core, victim->gang, STAGE_BOUND) <= 0;
}

static bool remove_borrowed(struct trial *t, struct victims *victims, const struct victim *v)
{
    struct borrowed before = borrowed_before(t, &victims->taker, v->take);
    if (!before.what.n || !remove_one(t, victims, v))
        return false;
    const struct queue *below;
    bool may = only_borrowed(t, &victims->taker, v->take, &before, &below);
    if (below && !victims->deserving)
        victims->deserving = below;
    return may;
}

bool victim_remove(struct trial *t, struct victims *victims, size_t i)
{
    const struct victim *v = &victims->items[i];
    return v->take.branch && !victims->relaxed ? remove_borrowed(t, victims, v)
                                               : remove_one(t, victims, v);
}
