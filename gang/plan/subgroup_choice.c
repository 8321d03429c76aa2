/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/subgroup_choice.h"

#include "gang/podgroup/quorum.h"

void forget_choice(struct unit *unit)
{
    unit->want = 0;
    unit->chosen = false;
    list_for_each (child, &unit->children, struct unit, in_parent)
        forget_choice(child);
}

void forget_excluded(struct unit *unit)
{
    unit->excluded = false;
    list_for_each (child, &unit->children, struct unit, in_parent)
        forget_excluded(child);
}

struct option {
    struct unit *unit;
    int lacks;   /* how many slots its minimum lacks */
    bool able;   /* enough of its members are plannable or expected */
    bool likely; /* able even without the members that have missed an attempt */
};

/* By name, so that muster chooses the same after a restart. */
static int by_name(const struct unit *a, const struct unit *b)
{
    int order = a->group == b->group ? 0 : strcmp(a->group->key, b->group->key);
    if (!order && a->spec && b->spec)
        order = strcmp(a->spec->name, b->spec->name);
    if (!order && a->part && b->part)
        order = strcmp(a->part, b->part);
    return order;
}

static int by_lack(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    if (x->able != y->able)
        return x->able ? -1 : 1;
    if (x->likely != y->likely)
        return x->likely ? -1 : 1;
    if (x->lacks != y->lacks)
        return x->lacks < y->lacks ? -1 : 1;
    return by_name(x->unit, y->unit);
}

/* The units directly below that are not excluded, the best choices first. Returns their number. */
static size_t options_of(const struct gang *gang, const struct unit *unit, struct option *ret)
{
    size_t n = 0;
    list_for_each (child, &unit->children, struct unit, in_parent) {
        struct option o = {.unit = child, .lacks = unit_lacks(child, STAGE_PLANNED)};
        o.able = gang->expecting || unit_lacks(child, STAGE_REACHABLE) <= 0;
        o.likely = gang->expecting || unit_lacks(child, STAGE_LIKELY) <= 0;
        if (!child->excluded)
            ret[n++] = o;
    }
    qsort(ret, n, sizeof *ret, by_lack);
    return n;
}

bool choose_units(const struct gang *gang, struct unit *unit, int *ret)
{
    cleanup_free struct option *options = xcalloc((size_t)unit->n_children + 1, sizeof *options);
    size_t n = options_of(gang, unit, options), i = 0;
    size_t needed = (size_t)unit_children_needed(unit);
    int below = 0, at_hand = unit->t.plannable;
    unit->chosen = true;
    for (size_t k = 0; k < n; k++)
        at_hand -= options[k].unit->t.plannable;
    int still = unit->min_pods - unit->t.bound - unit->t.binding;
    int here = still - unit->t.slots;
    for (; i < n; i++) {
        /* Choose more units than needed only if the unit's minimum of members requires it. */
        if (i >= needed && (gang->expecting || at_hand >= still || !options[i].likely ||
                            options[i].lacks > here - below))
            break;
        int lacks;
        if (!options[i].able || !choose_units(gang, options[i].unit, &lacks))
            return false;
        below += lacks;
        at_hand += options[i].unit->t.plannable;
    }
    if (i < needed)
        return false;
    unit->want = here > below ? here - below : 0;
    *ret = below + unit->want;
    return true;
}

bool choose_units_of_gang(const struct gang_core *core, const struct gang *gang, int *ret)
{
    gang_count(core, gang);
    forget_choice(gang->root);
    return choose_units(gang, gang->root, ret);
}

void unit_got_one(struct unit *unit)
{
    unit->want--;
}

bool all_chosen(const struct unit *unit)
{
    for (; unit; unit = unit->parent)
        if (!unit->chosen)
            return false;
    return true;
}

struct unit *unit_that_wants(struct unit *unit, bool of_any)
{
    if (!of_any && !all_chosen(unit))
        return NULL;
    while (unit && unit->want <= 0)
        unit = unit->parent;
    return unit;
}

bool exclude_unit(const struct pod *culprit)
{
    for (struct unit *u = culprit ? culprit->unit : NULL; u && u->parent; u = u->parent)
        if (unit_children_needed(u->parent) < u->parent->n_children) {
            u->excluded = true;
            return true;
        }
    return false;
}
