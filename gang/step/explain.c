/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - explains why a gang waits (gang_core_explain()): how far its minimums are met, what
 * rules out nodes for its members, what uses the resource that they lack, and what would make room.
 */
#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/lifecycle/express_lane.h"
#include "gang/lifecycle/predicate_coverage.h"
#include "gang/plan/preemption.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"
#include "gang/step/consolidation.h"
#include "gang/step/gang_view.h"
#include "gang/step/what_if.h"

#define UNITS_MAX      64
#define SIGNATURES_MAX 16
#define HOLDERS_MAX    10
#define PODS_MAX       512
/* kube-scheduler's calls wait meanwhile, so the work is limited to about 4 ms. SCAN_WORK_MAX limits
 * the visits of nodes for all signatures together, weighted by their cost. HOLDINGS_MAX limits the
 * pods that are counted on these nodes. */
#define SCAN_WORK_MAX 5000
#define HOLDINGS_MAX  4000
/* The limit of the search for victims, in scanned nodes. It takes about 3 ms. */
#define EVICTION_WORK_MAX 12000
/* The same for the search for moves. It takes about 2 ms. */
#define CONSOLIDATION_WORK_MAX 5000

/* ---- the tree of units ---- */

static void explain_unit(struct gang_explained *x, const struct unit *unit, int depth)
{
    if (x->n_units == UNITS_MAX)
        return;
    x->units[x->n_units++] = (struct gang_explained_unit){
        .depth = depth,
        .group = unit->group ? &unit->group->ref : NULL,
        .subgroup = unit->spec ? unit->spec->name : NULL,
        .part = unit->part,
        .needs = unit_needs(unit),
        .members = unit->t.members,
        .bound = unit->t.bound + unit->t.binding,
        .held = unit->t.held,
        .planned = unit->t.slots,
        .children = unit->n_children,
        .children_needed = unit_children_needed(unit),
    };
    list_for_each (child, &unit->children, struct unit, in_parent)
        explain_unit(x, child, depth + 1);
}

/* ---- the cost of visiting a node ---- */

/* This many needs, bytes of rules, or pods that a topology spread counts, cost as much as the other
 * work of a visit. */
#define NEEDS_PER_VISIT      16
#define RULE_BYTES_PER_VISIT 512
#define PODS_PER_VISIT       16

static int64_t rules_cost(const struct signature *signature)
{
    return (int64_t)(signature->base / RULE_BYTES_PER_VISIT);
}

/* The cost of a visit for the signature, without the pods on the node. The whole key counts,
 * because the rules about volumes are at its end. */
static int64_t signature_cost(const struct signature *signature)
{
    size_t rules = strlen(signature->key) / RULE_BYTES_PER_VISIT;
    return (int64_t)(1 + signature->n_needs / NEEDS_PER_VISIT + rules);
}

/* The cost of rules between pods, which are compared with each pod on the node in both directions.
 */
static int64_t pods_cost(const struct signature *signature, const struct node *node)
{
    int64_t cost = 0;
    if (signature_has_pod_rules(signature))
        cost = rules_cost(signature) * (int64_t)(node->n_pods + node->n_slots);
    if (node->n_anti_affinity)
        list_for_each (pod, &node->pods, struct pod, in_node)
            cost += pod->signature->anti_affinity ? rules_cost(pod->signature) : 0;
    return cost;
}

/* The cost of counting each topology spread on all nodes before the first visit, unless the counts
 * are cached. */
static int64_t spreads_cost(const struct gang_core *core, const struct signature *signature)
{
    const struct gang_pod_facts *who =
        signature->pod_counts.memory ? NULL : signature_sample(signature);
    size_t looks = core->n_ids + map_count(&core->pods) / PODS_PER_VISIT;
    return who ? rules_cost(signature) * (int64_t)(who->n_spreads * looks) : 0;
}

/* ---- the nodes for members of one signature ---- */

/* Members of one signature. */
struct kind {
    struct signature *signature;
    int64_t cost; /* of a visit, without the pods on the node */
    size_t end;   /* the nodes with an id below were visited */
};

/* Sums over all passing nodes, for one need alone. */
struct sum {
    int64_t fit; /* how many pods fit */
    int64_t free, largest;
};

struct survey {
    const struct gang_core *core;
    const struct gang *gang;
    struct signature *signature;
    struct rules rules;
    struct reach reach;
    struct sum *sums; /* by need */
    int64_t fit;      /* how many pods the feasible nodes hold */
    int64_t left;     /* what is left of SCAN_WORK_MAX */
};

/* How many more pods of the signature fit on the node. Adds to the sums. */
static int64_t fit_on(struct survey *v, const struct node *node)
{
    int64_t fit = v->signature->alone ? 1 : INT32_MAX;
    for (size_t k = 0; k < v->signature->n_needs; k++) {
        const struct need *need = &v->signature->needs[k];
        struct sum *sum = &v->sums[k];
        int64_t room = node_room(node, need->resource, &v->reach), left = room < 0 ? 0 : room;
        int64_t n = left / need->amount;
        fit = n < fit ? n : fit;
        sum->fit += n;
        sum->free += left;
        sum->largest = left > sum->largest ? left : sum->largest;
    }
    return fit;
}

/* How many pods of the signature the node would hold if it were empty. */
static int64_t holds_empty(const struct node *node, const struct signature *signature)
{
    int64_t fit = signature->alone ? 1 : INT32_MAX;
    for (size_t i = 0; i < signature->n_needs; i++) {
        int64_t n = amount_of(&node->allocatable, signature->needs[i].resource) /
                    signature->needs[i].amount;
        fit = n < fit ? n : fit;
    }
    return fit;
}

static void survey_node(struct survey *v, const struct node *node,
                        struct gang_explained_signature *s)
{
    s->nodes++;
    const char *refusal = signature_refusal(v->signature, node);
    s->volumes += refusal == signature_volume_refusal;
    if (refusal)
        return;
    s->passing++;
    s->able += holds_empty(node, v->signature) > 0;
    int misfit = node_misfit(node, v->signature, &v->reach);
    bool between = misfit == -1 && rules_refusal(&v->rules, node) != RULE_NONE;
    bool refused = node_is_infeasible(v->core, v->gang, v->signature, node);
    int64_t fit = fit_on(v, node);
    struct reach all = v->reach;
    all.respects_preempted = false;
    s->ports += misfit == -2 && node_misfit(node, v->signature, &all) == -2;
    s->roomy += misfit == -1;
    s->between += between;
    s->refused += misfit == -1 && refused;
    all.respects_preempted = v->reach.respects_preempted, all.respects_earmark = false;
    s->earmarked +=
        misfit >= 0 && v->reach.respects_earmark && node_misfit(node, v->signature, &all) == -1;
    v->fit += refused || misfit == -2 || between ? 0 : fit;
}

/* The need for which the fewest pods fit; between equal ones, the device; NULL: none. */
static const struct need *scarcest(const struct survey *v)
{
    const struct need *found = NULL;
    int64_t least = 0;
    for (size_t k = 0; k < v->signature->n_needs; k++) {
        const struct need *need = &v->signature->needs[k];
        bool device = (int)need->resource == v->signature->device;
        int64_t fit = v->sums[k].fit;
        if (found && (fit > least || (fit == least && !device)))
            continue;
        found = need;
        least = fit;
    }
    return found;
}

/* Sets the short resource: one for which too few pods fit, even if it were the only need. */
static void set_short_resource(const struct survey *v, struct gang_explained_signature *s)
{
    const struct need *need = scarcest(v);
    const struct sum *sum = need ? &v->sums[need - v->signature->needs] : NULL;
    if (!s->passing || !sum || sum->fit >= s->pods)
        return;
    s->resource = v->core->resources.names[need->resource];
    s->each = need->amount;
    s->free = sum->free;
    s->largest = sum->largest;
}

static void survey_nodes(struct survey *v, struct kind *kind, struct gang_explained_signature *s)
{
    v->signature = kind->signature;
    cleanup_free struct sum *sums = xcalloc(v->signature->n_needs, sizeof *sums);
    v->sums = sums;
    v->rules = rules_for(v->core, v->signature);
    v->fit = 0;
    v->left -= spreads_cost(v->core, v->signature);
    for (; kind->end < v->core->n_ids; kind->end++) {
        const struct node *node = v->core->by_id[kind->end];
        if (!node || !node->facts)
            continue;
        v->left -= kind->cost + pods_cost(v->signature, node);
        if ((s->partly = v->left < 0))
            break;
        survey_node(v, node, s);
    }
    s->fit = (int)(v->fit < INT32_MAX ? v->fit : INT32_MAX);
    set_short_resource(v, s);
}

/* Whether the member is unbound and has no slot. */
static bool has_no_place(const struct pod *pod)
{
    return pod_counts(pod) && !pod->node && !pod->slot && !pod_is_finished(pod);
}

/* The index of the pod's signature in the list, to which it may be added; -1: the list is full. */
static int signature_index(const struct gang_core *core, struct gang_explained *x,
                           struct kind *kinds, const struct pod *pod)
{
    int64_t looks = 0;
    for (size_t i = 0; i < x->n_signatures; i++) {
        if (kinds[i].signature == pod->signature)
            return (int)i;
        looks += kinds[i].cost * (int64_t)core->n_ids;
    }
    if (x->n_signatures == SIGNATURES_MAX || looks >= SCAN_WORK_MAX)
        return -1;
    kinds[x->n_signatures] = (struct kind){pod->signature, signature_cost(pod->signature), 0};
    x->signatures[x->n_signatures].sample = pod->facts;
    x->signatures[x->n_signatures].beyond = pod_beyond_predicates(core, pod);
    return (int)x->n_signatures++;
}

static void explain_signatures(const struct gang_core *core, const struct group *group,
                               struct gang_explained *x, struct kind *kinds)
{
    const struct gang *gang = group->gang;
    struct survey v = {
        .core = core, .gang = gang, .reach = gang_reach(core, gang), .left = SCAN_WORK_MAX};
    x->pods = xcalloc(PODS_MAX, sizeof *x->pods);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!has_no_place(pod) || !unit_is_below(pod->unit, group->units[0]))
            continue;
        int i = signature_index(core, x, kinds, pod);
        if (x->n_pods < PODS_MAX)
            x->pods[x->n_pods++] = (struct gang_explained_pod){pod->facts, i, pod->pinned};
        if (i >= 0)
            x->signatures[i].pods++;
    }
    for (size_t i = 0; i < x->n_signatures; i++)
        survey_nodes(&v, &kinds[i], &x->signatures[i]);
}

/* ---- what uses the short resource ---- */

struct holders {
    struct gang_explained_holder *items;
    struct gang **gangs; /* the gang of each item; NULL: an ordinary pod */
    size_t n, cap, gangs_cap;
    size_t visited; /* how many pods and slots were counted */
};

static struct gang_explained_holder *holder_of(struct holders *h, struct gang *gang,
                                               const struct pod *pod)
{
    if (gang && gang->summed)
        return &h->items[gang->summed - 1];
    GROW(h->items, h->cap, h->n + 1);
    GROW(h->gangs, h->gangs_cap, h->n + 1);
    h->items[h->n] = (struct gang_explained_holder){.gang = gang ? &gang->head->ref : NULL,
                                                    .pod = gang ? NULL : pod->facts};
    h->gangs[h->n++] = gang;
    if (gang)
        gang->summed = h->n;
    return &h->items[h->n - 1];
}

static void add_holders(struct holders *h, const struct node *node, uint32_t resource)
{
    list_for_each (pod, &node->pods, struct pod, in_node) {
        int64_t amount = signature_need(pod->signature, resource);
        if (!amount)
            continue;
        struct gang_explained_holder *holder = holder_of(h, pod->gang, pod);
        holder->amount += amount;
        holder->pods++;
    }
    list_for_each (slot, &node->slots, struct slot, in_node) {
        int64_t amount = signature_need(slot->signature, resource);
        if (!amount)
            continue;
        struct gang_explained_holder *holder = holder_of(h, slot->gang, NULL);
        holder->amount += amount;
        holder->reserved += amount;
        holder->pods++;
    }
    h->visited += node->n_pods + node->n_slots;
}

static int by_amount(const struct gang_explained_holder *x, const struct gang_explained_holder *y)
{
    if (x->amount != y->amount)
        return x->amount > y->amount ? -1 : 1;
    if (!x->gang != !y->gang)
        return x->gang ? -1 : 1;
    const char *xs[] = {x->gang ? x->gang->ns : x->pod->ns, x->gang ? x->gang->name : x->pod->name};
    const char *ys[] = {y->gang ? y->gang->ns : y->pod->ns, y->gang ? y->gang->name : y->pod->name};
    int order = strcmp(xs[0], ys[0]);
    return order ? order : strcmp(xs[1], ys[1]);
}

/* Lists the largest holders, sorted. Adds up the others, which may be thousands. */
static void show_largest(const struct holders *h, struct gang_explained *x)
{
    x->holders = xcalloc(HOLDERS_MAX, sizeof *x->holders);
    for (size_t i = 0; i < h->n; i++) {
        const struct gang_explained_holder *item = &h->items[i];
        size_t at = x->n_holders;
        x->others_amount += item->amount;
        if (at < HOLDERS_MAX)
            x->n_holders++;
        else if (by_amount(&x->holders[--at], item) <= 0)
            continue;
        for (; at > 0 && by_amount(&x->holders[at - 1], item) > 0; at--)
            x->holders[at] = x->holders[at - 1];
        x->holders[at] = *item;
    }
    x->n_others = h->n - x->n_holders;
    for (size_t i = 0; i < x->n_holders; i++)
        x->others_amount -= x->holders[i].amount;
}

static void explain_holders(const struct gang_core *core, struct gang_explained *x,
                            const struct kind *kind, uint32_t resource)
{
    struct holders h = {0};
    for (size_t i = 0; i < kind->end && !x->partly; i++)
        if (core->by_id[i] && !signature_refusal(kind->signature, core->by_id[i])) {
            x->partly = h.visited >= HOLDINGS_MAX;
            if (!x->partly)
                add_holders(&h, core->by_id[i], resource);
        }
    x->partly |= kind->end < core->n_ids;
    show_largest(&h, x);
    for (size_t i = 0; i < h.n; i++)
        if (h.gangs[i])
            h.gangs[i]->summed = 0;
    free(h.items);
    free(h.gangs);
    x->held = core->resources.names[resource];
}

/* The signature that lacks room for the most pods; -1: no resource is short. */
static int worst_signature(const struct gang_explained *x)
{
    int worst = -1;
    for (size_t i = 0; i < x->n_signatures; i++) {
        int lack = x->signatures[i].pods - x->signatures[i].fit;
        if (x->signatures[i].resource &&
            (worst < 0 || lack > x->signatures[worst].pods - x->signatures[worst].fit))
            worst = (int)i;
    }
    return worst;
}

/* ---- what would make room ---- */

/* Whether the node is a better model than `best` for the node to add. */
static bool is_better_kind(const struct node *node, int64_t holds, const struct node *best,
                           int64_t best_holds)
{
    return holds > best_holds ||
           (best && holds == best_holds && strcmp(node->name, best->name) < 0);
}

/* The passing node that would hold the most of these pods if it were empty. Of equal nodes, the
 * first by name. NULL: none. */
static const struct node *best_kind(const struct gang_core *core, const struct kind *kind,
                                    int64_t *ret_holds)
{
    const struct node *best = NULL;
    *ret_holds = 0;
    for (size_t i = 0; i < kind->end; i++) {
        const struct node *node = core->by_id[i];
        bool passes = node && node->facts && !signature_refusal(kind->signature, node);
        int64_t holds = passes ? holds_empty(node, kind->signature) : 0;
        if (holds && is_better_kind(node, holds, best, *ret_holds)) {
            *ret_holds = holds;
            best = node;
        }
    }
    return best;
}

/* Finds out what would help: how many more nodes, or the end of which holders. */
static void explain_help(struct gang_core *core, struct gang *gang, struct gang_explained *x,
                         int worst, const struct kind *kinds)
{
    struct what_if w;
    int64_t holds;
    if (!what_if_begin(&w, core, gang))
        return;
    const struct node *like = best_kind(core, &kinds[worst], &holds);
    int64_t lack = x->signatures[worst].pods - x->signatures[worst].fit;
    int64_t least = like ? (lack + holds - 1) / holds : 0;
    if (like)
        x->more_nodes = what_if_nodes(&w, like, least > 0 ? (int)least : 1);
    x->like = x->more_nodes ? like->name : NULL;
    for (size_t i = 0; i < x->n_holders; i++) {
        struct gang_explained_holder *h = &x->holders[i];
        h->enough = what_if_gone(&w, h->gang ? gang_find(core, h->gang) : NULL,
                                 h->gang ? NULL : pod_by_uid(core, h->pod->uid));
    }
}

/* Finds out whether evictions would make room. The search for moves follows only if muster neither
 * evicts these victims nor has enough room without evictions. */
static void explain_victims(struct gang_core *core, struct gang *gang, struct gang_explained *x)
{
    static const enum gang_answer answers[] = {
        [PREEMPTION_FOUND] = GANG_YES,
        [PREEMPTION_LEAVING] = GANG_YES,
        [PREEMPTION_NONE] = GANG_NO,
        [PREEMPTION_UNKNOWN] = GANG_NOT_ASKED,
    };
    int64_t work = EVICTION_WORK_MAX;
    struct preemption p = preemption_search(core, gang, &work);
    struct gang_explained_eviction *e = &x->eviction;
    *e = (struct gang_explained_eviction){
        .room = answers[p.result],
        .searched = true,
        .victims = xcalloc(p.n + 1, sizeof *e->victims),
        .priority = p.cost.priority,
        .gangs = p.cost.gangs,
        .lost_seconds = p.cost.lost,
        .run_seconds = p.cost.ran,
        .ends_job = p.cost.ends_job,
        .budget = answers[p.result] == GANG_YES ? NULL : p.in_the_way,
    };
    if (e->room == GANG_NOT_ASKED && gang->preempting.none) /* muster has searched for longer */
        e->room = GANG_NO;
    if (p.resting && e->room != GANG_YES) {
        e->resting = &p.resting->ref;
        e->rests_until = p.rests_until;
    }
    if (p.deserving && e->room == GANG_NO)
        e->deserving = &p.deserving->ref;
    for (size_t i = 0; i < p.n; i++)
        e->victims[e->n_victims++] = (struct gang_explained_victim){
            .gang = p.victims[i].gang ? &p.victims[i].gang->head->ref : NULL,
            .pod = p.victims[i].pod ? p.victims[i].pod->facts : NULL};
    preemption_done(core, &p);
    bool evicts = e->room == GANG_YES && (core->config.preemption || !e->n_victims);
    x->next = evicts ? GANG_EXPLAIN_END : GANG_EXPLAIN_MOVES;
}

/* Finds out whether moves of running pods would help. */
static void explain_moves(struct gang_core *core, struct gang *gang, struct gang_explained *x)
{
    int64_t work = CONSOLIDATION_WORK_MAX;
    struct consolidation c = consolidation_search(core, gang, &work);
    x->consolidation = (struct gang_explained_consolidation){
        .room = c.room,
        .searched = true,
        .moves = xcalloc(c.n + 1, sizeof *x->consolidation.moves),
        .n_moves = c.n,
        .budget = c.in_the_way,
    };
    for (size_t i = 0; i < c.n; i++)
        x->consolidation.moves[i] = (struct gang_explained_move){
            .gang = c.moves[i].gang ? &c.moves[i].gang->head->ref : NULL,
            .pod = c.moves[i].pod ? c.moves[i].pod->facts : NULL,
            .from = c.moves[i].from->name,
            .to = c.moves[i].to->name,
            .pods = c.moves[i].pods,
            .restarts = c.moves[i].restarts,
        };
    consolidation_done(&c);
}

/* ---- the explanation ---- */

static usec_t due(const struct gang *gang, enum timer_kind kind)
{
    const struct heap_node *node = &gang->timers[kind].node;
    return node->pos ? node->at : 0;
}

/* Counts the other gang if it is ahead, and keeps the first ones. */
static void look_ahead(const struct gang *gang, const struct gang *other,
                       const struct gang *first[], struct gang_explained *ret)
{
    const struct gang *one = other;
    if (other == gang || by_order(&one, &gang) > 0)
        return;
    ret->queue_position++;
    size_t at = ret->n_ahead;
    while (at > 0 && by_order(&one, &first[at - 1]) < 0)
        at--;
    if (at == ARRAY_SIZE(ret->ahead))
        return;
    ret->n_ahead += ret->n_ahead < ARRAY_SIZE(ret->ahead);
    memmove(&first[at + 1], &first[at], (ret->n_ahead - 1 - at) * sizeof first[0]);
    first[at] = other;
}

/* Counts the gangs that wait. Finds the position of this one among those of its queue, or among all
 * if it is in none, and the first ones there. One pass, because fetching the gangs takes longest.
 */
static void explain_queue(const struct gang_core *core, const struct gang *gang,
                          struct gang_explained *ret)
{
    bool queued = gang->queue && gang->queue != core->queues.none, waits = gang_is_waiting(gang);
    const struct gang *first[ARRAY_SIZE(ret->ahead)];
    ret->queue = queued ? &gang->queue->ref : NULL;
    ret->queue_position = waits;
    list_for_each (other, &core->gangs, struct gang, in_core) {
        if (!gang_is_waiting(other))
            continue;
        ret->waiting++;
        if (waits && (!queued || other->queue == gang->queue))
            look_ahead(gang, other, first, ret);
    }
    for (size_t i = 0; i < ret->n_ahead; i++)
        ret->ahead[i] = &first[i]->head->ref;
}

static void explain_state(struct gang_core *core, const struct group *group,
                          struct gang_explained *x)
{
    struct gang *gang = group->gang;
    struct kind kinds[SIGNATURES_MAX];
    gang_count(core, gang);
    *x = (struct gang_explained){
        .earmark_gang = core->earmark_gang ? &core->earmark_gang->head->ref : NULL,
        .has_earmark = core->earmark_gang == gang,
        .respects_earmark = gang_respects_earmark(core, gang),
        .express = core->config.express_lane,
        .express_doubt = express_doubt(core, gang),
        .express_closed = gang_parity_doubt(core, gang),
        .attempt_until = due(gang, TIMER_ATTEMPT),
        .backoff_until = due(gang, TIMER_BACKOFF),
        .hold_until = due(gang, TIMER_HOLD),
        .infeasible_until = due(gang, TIMER_INFEASIBLE),
        .units = xcalloc(UNITS_MAX, sizeof *x->units),
        .signatures = xcalloc(SIGNATURES_MAX, sizeof *x->signatures),
        .next = GANG_EXPLAIN_EVICTION,
    };
    for (int p = 0; p < PREDICATE_MAX; p++)
        x->mismatches += core->stats.mismatches[p];
    explain_queue(core, gang, x);
    explain_unit(x, gang->root, 0);
    explain_signatures(core, group, x, kinds);
    int worst = worst_signature(x);
    if (worst >= 0) {
        explain_holders(core, x, &kinds[worst], resource_find(core, x->signatures[worst].resource));
        explain_help(core, gang, x, worst, kinds);
    }
}

bool gang_core_explain(struct gang_core *core, const struct gang_ref *ref, enum gang_explain part,
                       struct gang_explained *ret)
{
    const struct group *group = group_find(core, ref);
    struct what_if w;
    if (!group)
        return false;
    *ret = (struct gang_explained){.next = GANG_EXPLAIN_END};
    bool waits = what_if_begin(&w, core, group->gang);
    if (part == GANG_EXPLAIN_STATE)
        explain_state(core, group, ret);
    if (!waits || !evictions_may_help(group->gang->reason.code))
        ret->next = GANG_EXPLAIN_END;
    else if (part == GANG_EXPLAIN_EVICTION)
        explain_victims(core, group->gang, ret);
    else if (part == GANG_EXPLAIN_MOVES)
        explain_moves(core, group->gang, ret);
    return true;
}

void gang_explained_done(struct gang_explained *x)
{
    free(x->units);
    free(x->signatures);
    free(x->pods);
    free(x->holders);
    free(x->eviction.victims);
    free(x->consolidation.moves);
}
