/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - why a gang is where it is: what the nodes say to its members, who holds what they
 * lack, how far its minimums are met. Looks and changes nothing.
 */
#include "gang/core.h"

#define UNITS_MAX   64
#define SHAPES_MAX  16
#define HOLDERS_MAX 10
#define PODS_MAX    512
/* kube-scheduler's calls wait meanwhile, so the work has a bound, some 4 ms in all: nodes looked at
 * for all kinds of members together (one kind at least), and pods counted on them. */
#define LOOKS_MAX    5000
#define HOLDINGS_MAX 4000

/* ---- the tree of minimums ---- */

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

/* ---- what nodes say to members of one shape ---- */

/* How many pods of the shape fit beside what is there, by each need alone. */
static int64_t fit_by(const struct node *node, const struct need *need, const struct reach *reach)
{
    int64_t left = node_room(node, need->resource, reach);
    return left < 0 ? 0 : left / need->amount;
}

static int64_t fit_on(const struct node *node, const struct shape *shape, const struct reach *reach)
{
    int64_t fit = shape->alone ? 1 : INT32_MAX;
    for (size_t i = 0; i < shape->n_needs; i++) {
        int64_t n = fit_by(node, &shape->needs[i], reach);
        fit = n < fit ? n : fit;
    }
    return fit;
}

static bool could_hold(const struct node *node, const struct shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++)
        if (shape->needs[i].amount > amount_of(&node->allocatable, shape->needs[i].resource))
            return false;
    return true;
}

struct look {
    const struct gang_core *core;
    const struct gang *gang;
    struct shape *shape;
    struct rules rules;
    struct reach reach;
    int64_t *by_need; /* pods that fit by each need alone, over the nodes that pass */
    int64_t fit;
};

static void look_at_node(struct look *l, const struct node *node, struct gang_explained_shape *s)
{
    if (!node->facts)
        return;
    s->nodes++;
    const char *no = shape_refusal(l->shape, node);
    s->volumes += no == shape_volume_refusal;
    if (no)
        return;
    s->passing++;
    s->able += could_hold(node, l->shape);
    int misfit = node_misfit(node, l->shape, &l->reach);
    bool between = misfit == -1 && rules_refusal(&l->rules, node) != RULE_NONE;
    int64_t fit = misfit == -2 || between ? 0 : fit_on(node, l->shape, &l->reach);
    bool refused = evidence_refuses(l->core, l->gang, l->shape, node);
    s->ports += misfit == -2;
    s->roomy += misfit == -1;
    s->between += between;
    s->refused += misfit == -1 && refused;
    struct reach all = l->reach;
    all.heeds = false;
    s->kept += misfit >= 0 && l->reach.heeds && node_misfit(node, l->shape, &all) == -1;
    l->fit += refused ? 0 : fit;
    for (size_t k = 0; k < l->shape->n_needs; k++)
        l->by_need[k] += fit_by(node, &l->shape->needs[k], &l->reach);
}

/* The need that is met for the fewest; between equals the device, which is the scarce thing. */
static const struct need *scarcest(const struct look *l)
{
    const struct need *found = NULL;
    int64_t least = 0;
    for (size_t k = 0; k < l->shape->n_needs; k++) {
        const struct need *need = &l->shape->needs[k];
        bool device = (int)need->resource == l->shape->device;
        if (found && (l->by_need[k] > least || (l->by_need[k] == least && !device)))
            continue;
        found = need;
        least = l->by_need[k];
    }
    return found;
}

static void measure(const struct look *l, const struct need *need, struct gang_explained_shape *s)
{
    s->resource = l->core->resources[need->resource];
    s->each = need->amount;
    for (size_t i = 0; i < l->core->n_ids; i++) {
        const struct node *node = l->core->by_id[i];
        int64_t left = node && node->facts && !shape_refusal(l->shape, node)
                           ? node_room(node, need->resource, &l->reach)
                           : 0;
        s->free += left > 0 ? left : 0;
        s->largest = left > s->largest ? left : s->largest;
    }
}

static void look_at_nodes(struct look *l, struct gang_explained_shape *s)
{
    cleanup_free int64_t *by_need = xcalloc(l->shape->n_needs, sizeof *by_need);
    l->by_need = by_need;
    l->rules = rules_for(l->core, l->shape);
    l->fit = 0;
    for (size_t i = 0; i < l->core->n_ids; i++)
        if (l->core->by_id[i])
            look_at_node(l, l->core->by_id[i], s);
    s->fit = (int)(l->fit < INT32_MAX ? l->fit : INT32_MAX);
    const struct need *need = scarcest(l);
    /* What is short is what the pods that fit by it alone are too few of. */
    if (s->passing && need && l->by_need[need - l->shape->needs] < s->pods)
        measure(l, need, s);
}

static bool has_no_place(const struct pod *pod)
{
    return pod_counts(pod) && !pod->node && !pod->slot && !pod_is_finished(pod);
}

static int shape_index(const struct gang_core *core, struct gang_explained *x,
                       struct shape **shapes, const struct pod *pod)
{
    for (size_t i = 0; i < x->n_shapes; i++)
        if (shapes[i] == pod->shape)
            return (int)i;
    if (x->n_shapes == SHAPES_MAX || (x->n_shapes && x->n_shapes * core->n_ids >= LOOKS_MAX))
        return -1;
    shapes[x->n_shapes] = pod->shape;
    x->shapes[x->n_shapes].sample = pod->facts;
    x->shapes[x->n_shapes].beyond = pod_beyond_model(core, pod);
    return (int)x->n_shapes++;
}

static void explain_shapes(const struct gang_core *core, const struct group *group,
                           struct gang_explained *x, struct shape **shapes)
{
    const struct gang *gang = group->gang;
    struct look l = {.core = core, .gang = gang, .reach = gang_reach(core, gang)};
    x->pods = xcalloc(PODS_MAX, sizeof *x->pods);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!has_no_place(pod) || !unit_is_below(pod->unit, group->units[0]))
            continue;
        int i = shape_index(core, x, shapes, pod);
        if (x->n_pods < PODS_MAX)
            x->pods[x->n_pods++] = (struct gang_explained_pod){pod->facts, i, pod->pinned};
        if (i >= 0)
            x->shapes[i].pods++;
    }
    for (size_t i = 0; i < x->n_shapes; i++) {
        l.shape = shapes[i];
        look_at_nodes(&l, &x->shapes[i]);
    }
}

/* ---- who holds what is short ---- */

struct holders {
    struct gang_explained_holder *items;
    struct gang **gangs; /* of the items; NULL: an ordinary pod's */
    size_t n, cap, gangs_cap;
    size_t looked_at;
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
        int64_t amount = shape_need(pod->shape, resource);
        if (!amount)
            continue;
        struct gang_explained_holder *holder = holder_of(h, pod->gang, pod);
        holder->amount += amount;
        holder->pods++;
    }
    list_for_each (slot, &node->slots, struct slot, in_node) {
        int64_t amount = shape_need(slot->shape, resource);
        if (!amount)
            continue;
        struct gang_explained_holder *holder = holder_of(h, slot->gang, NULL);
        holder->amount += amount;
        holder->reserved += amount;
        holder->pods++;
    }
    h->looked_at += node->n_pods + node->n_slots;
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

/* The largest come first, in order; there may be thousands behind them. */
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
                            struct shape *shape, uint32_t resource)
{
    struct holders h = {0};
    for (size_t i = 0; i < core->n_ids && !x->partly; i++)
        if (core->by_id[i] && !shape_refusal(shape, core->by_id[i])) {
            x->partly = h.looked_at >= HOLDINGS_MAX;
            if (!x->partly)
                add_holders(&h, core->by_id[i], resource);
        }
    show_largest(&h, x);
    for (size_t i = 0; i < h.n; i++)
        if (h.gangs[i])
            h.gangs[i]->summed = 0;
    free(h.items);
    free(h.gangs);
    x->held = core->resources[resource];
}

/* Of the shape that is furthest from having room. */
static void find_holders(const struct gang_core *core, struct gang_explained *x,
                         struct shape *const *shapes)
{
    int worst = -1;
    for (size_t i = 0; i < x->n_shapes; i++) {
        int lack = x->shapes[i].pods - x->shapes[i].fit;
        if (x->shapes[i].resource &&
            (worst < 0 || lack > x->shapes[worst].pods - x->shapes[worst].fit))
            worst = (int)i;
    }
    if (worst >= 0)
        explain_holders(core, x, shapes[worst], resource_find(core, x->shapes[worst].resource));
}

/* ---- all of it ---- */

static usec_t due(const struct gang *gang, enum timer_kind kind)
{
    const struct heap_node *node = &gang->timers[kind].node;
    return node->pos ? node->at : 0;
}

static int count_waiting(const struct gang_core *core)
{
    int n = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core)
        n += gang_is_waiting(gang);
    return n;
}

bool gang_core_explain(const struct gang_core *core, const struct gang_ref *ref,
                       struct gang_explained *ret)
{
    const struct group *group = group_find(core, ref);
    if (!group)
        return false;
    const struct gang *gang = group->gang;
    struct shape *shapes[SHAPES_MAX];
    gang_count(core, gang);
    *ret = (struct gang_explained){
        .waiting = count_waiting(core),
        .keeper = core->keeper ? &core->keeper->head->ref : NULL,
        .keeps = core->keeper == gang,
        .heeds = gang_heeds(core, gang),
        .express = core->config.express,
        .express_doubt = express_doubt(core, gang),
        .express_closed = gang_model_doubt(core, gang),
        .attempt_until = due(gang, TIMER_ATTEMPT),
        .backoff_until = due(gang, TIMER_BACKOFF),
        .hold_until = due(gang, TIMER_HOLD),
        .evidence_until = due(gang, TIMER_EVIDENCE),
        .units = xcalloc(UNITS_MAX, sizeof *ret->units),
        .shapes = xcalloc(SHAPES_MAX, sizeof *ret->shapes),
    };
    for (int p = 0; p < PREDICATE_MAX; p++)
        ret->mismatches += core->stats.mismatches[p];
    explain_unit(ret, gang->root, 0);
    explain_shapes(core, group, ret, shapes);
    find_holders(core, ret, shapes);
    return true;
}

void gang_explained_done(struct gang_explained *x)
{
    free(x->units);
    free(x->shapes);
    free(x->pods);
    free(x->holders);
}
