/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/victims.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/job_limits.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/resources.h"
#include "gang/plan/queue_check.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* Looking at PODS_PER_WORK pods, or at as many disruption budgets, costs as much work as scanning
 * one node. Sorting one victim costs as much as scanning WORK_PER_VICTIM nodes. */
#define PODS_PER_WORK   8
#define WORK_PER_VICTIM 2

/* ---- who may be taken ---- */

bool pod_runs(const struct pod *pod)
{
    return pod->node && pod_counts(pod) && !pod_is_finished(pod);
}

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

static bool same_namespace(const struct gang *a, const struct gang *b)
{
    return strcmp(a->head->ref.ns, b->head->ref.ns) == 0;
}

/* Inside a namespace, the priorities of the PodGroups are compared, as in the order of gangs. */
static bool is_lower(const struct gang *gang, const struct gang *than)
{
    return same_namespace(gang, than) ? gang->own_priority < than->own_priority
                                      : gang->priority < than->priority;
}

struct taker taker_of(struct gang_core *core, const struct gang *gang)
{
    struct taker taker = {.core = core, .gang = gang};
    gang_count(core, gang);
    if (core->queues.root && gang->queue && gang->queue != core->queues.none)
        taker.entitled = gang_entitled(core, gang, &taker.what);
    return taker;
}

static const struct queue *own_queue(const struct taker *taker)
{
    return taker->gang->queue ? taker->gang->queue : taker->core->queues.none;
}

/* The branch of another queue that lends what the gang may take back; NULL: none. */
static struct queue *lending_branch(const struct taker *taker, struct queue *theirs)
{
    struct queue *branch = queue_that_lends(own_queue(taker), theirs, taker->entitled);
    return branch && queue_lent(taker->core, branch, &taker->what).n ? branch : NULL;
}

/* What is the same for all gangs and pods of a queue. It depends on all queues above it. */
static const struct queue_as_victim *as_victim(const struct taker *taker, struct queue *theirs)
{
    struct queue_as_victim *v = &theirs->as_victim;
    if (v->list == taker->list)
        return v;
    bool own = theirs == own_queue(taker);
    v->list = taker->list;
    v->branch = own ? NULL : lending_branch(taker, theirs);
    v->min_runtime =
        queue_min_runtime(v->branch ? v->branch : theirs, /* reclaim= */ v->branch != NULL);
    return v;
}

/* Whether the gang may take room from a gang or pod of the queue. While a list is made, nothing
 * changes that the answer depends on. */
static struct take may_take(const struct taker *taker, struct queue *theirs, bool lower)
{
    theirs = theirs ? theirs : taker->core->queues.none;
    if (theirs == own_queue(taker))
        return (struct take){.may = lower};
    struct queue *branch =
        taker->list ? as_victim(taker, theirs)->branch : lending_branch(taker, theirs);
    if (!branch)
        return (struct take){.may = false};
    return (struct take){.may = true, .queue = theirs, .branch = branch};
}

bool gang_has_won(const struct gang_core *core, const struct gang *gang)
{
    return gang->preempting.won == core->outside + 1;
}

/* From members of `victim`. */
static struct take may_hit(const struct taker *taker, const struct gang *victim)
{
    if (victim == taker->gang || victim->over)
        return (struct take){.may = false};
    struct take take = may_take(taker, victim->queue, is_lower(victim, taker->gang));
    if (take.branch && gang_has_won(taker->core, victim))
        take.may = false;
    take.may = take.may && !gang_is_firm(victim); /* last, because this looks at all members */
    return take;
}

/* Whether the limit on reclaim lets the gang take from the queue. */
static bool lends_more(struct victims *victims, struct take take)
{
    const struct taker *taker = &victims->taker;
    usec_t until = take.branch ? queue_rests_until(taker->core, take.branch, &taker->what) : 0;
    if (until && (!victims->resting || until < victims->rests_until)) {
        victims->resting = take.branch;
        victims->rests_until = until;
    }
    return !until;
}

static bool has_run(const struct taker *taker, struct queue *queue, usec_t since)
{
    usec_t least = queue ? as_victim(taker, queue)->min_runtime : 0;
    return !least || api_time(taker->core) - since >= least;
}

/* ---- what is lost ---- */

static usec_t start_of(const struct pod *pod)
{
    return pod->facts->bound_at ? pod->facts->bound_at : pod->facts->created;
}

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

static int64_t sum_of(int64_t a, int64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

/* The work since the checkpoint is lost. */
static void add_loss(const struct gang_core *core, struct victim *v, const struct pod *pod,
                     usec_t checkpoint)
{
    usec_t start = start_of(pod), since = checkpoint > start ? checkpoint : start;
    int64_t lost;
    if (__builtin_mul_overflow(seconds_since(core, since), devices_of(core, pod->signature), &lost))
        lost = INT64_MAX;
    v->lost = sum_of(v->lost, lost);
    /* Of pods that have just started, fewer are better. */
    v->ran = sum_of(v->ran, seconds_since(core, start) + 1);
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
        if (pod_runs(pod) && start_of(pod) < since)
            since = start_of(pod);
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
    victims->leaving |= victim->n_slots > 0 || has_leaving(core, victim);
    if (!victim->root->t.bound)
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
    victims->leaving |= pod_is_leaving(core, pod);
    if (pod_runs(pod) && may_evict(core, victims, pod) &&
        has_run(&victims->taker, queue, start_of(pod)) && lends_more(victims, take)) {
        victims->n_owners++;
        add_loss(core, add(victims, NULL, pod, pod->facts->priority, take), pod,
                 pod->facts->saved_at);
    }
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
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
    int64_t looks = pods + (int64_t)(core->budgets.compared - *compared);
    *compared = core->budgets.compared;
    *work_left -= 1 + looks / PODS_PER_WORK;
}

static struct victims list(struct gang_core *core, const struct gang *gang, uint32_t decision,
                           size_t most, int64_t *work_left)
{
    struct victims victims = {
        .lowest = INT32_MAX, .taker = taker_of(core, gang), .decision = decision};
    uint64_t compared = core->budgets.compared;
    if (!gang_may_preempt(gang))
        return victims;
    victims.taker.list = ++core->victim_lists;
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

/* Whether the queues keep the devices that they deserve without what was removed since the mark. */
static bool keep_devices(const struct trial *t, struct trial_mark since, const struct take *from)
{
    const struct signature *last = NULL;
    for (size_t i = since.n; i < t->n; i++) {
        const struct signature *left = trial_left_signature(t, i);
        if (left && left != last && !queues_keep_devices(t->core, from->queue, from->branch, left))
            return false;
        last = left;
    }
    return true;
}

static bool remove_lent(struct trial *t, struct victims *victims, const struct victim *v)
{
    const struct reclaimed *what = &victims->taker.what;
    const struct take *from = &v->take;
    struct reclaimed lent = queue_lent(t->core, from->branch, what);
    __int128 used = queue_uses(t->core, from->branch, &lent);
    struct trial_mark before = trial_mark(t);
    return lent.n && remove_one(t, victims, v) && queue_uses(t->core, from->branch, &lent) < used &&
           queues_keep_deserved(t->core, from->queue, from->branch, what) &&
           (what->devices || keep_devices(t, before, from));
}

bool victim_remove(struct trial *t, struct victims *victims, size_t i)
{
    const struct victim *v = &victims->items[i];
    return v->take.branch && !victims->relaxed ? remove_lent(t, victims, v)
                                               : remove_one(t, victims, v);
}

/* ---- the cost of a set ---- */

struct eviction_cost eviction_cost(const struct victims *victims, const bool *chosen, size_t n)
{
    struct eviction_cost cost = {.last = INT32_MIN, .priority = INT32_MIN};
    for (size_t i = 0; i < n; i++) {
        const struct victim *v = &victims->items[i];
        if (!chosen[i])
            continue;
        if (v->ends_job > cost.ends_job ||
            (v->ends_job == cost.ends_job && v->priority > cost.last))
            cost.last = v->priority;
        cost.ends_job |= v->ends_job;
        cost.priority = v->priority > cost.priority ? v->priority : cost.priority;
        cost.gangs += !victims->hit[v->owner];
        victims->hit[v->owner] = true;
        cost.lost = sum_of(cost.lost, v->lost);
        cost.ran = sum_of(cost.ran, v->ran);
    }
    for (size_t i = 0; i < n; i++)
        victims->hit[victims->items[i].owner] = false;
    return cost;
}

int eviction_cost_compare(const struct eviction_cost *a, const struct eviction_cost *b)
{
    int order = compare(a->ends_job, b->ends_job);
    if (!order)
        order = compare(a->last, b->last);
    if (!order)
        order = compare(a->gangs, b->gangs);
    if (!order)
        order = compare(a->lost, b->lost);
    return order ? order : compare(a->ran, b->ran);
}
