/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/placement.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/inter_pod.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/pod_signature.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/resources.h"
#include "gang/plan/candidates.h"
#include "gang/plan/node_score.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/kept_room.h"
#include "gang/podgroup/quorum.h"

/* Choices of units that are tried for one plan. */
#define CHOICES_MAX 256

struct node *pinned_node(const struct gang_core *core, const struct pod *pod)
{
    struct node *node = pod->pinned ? node_by_name(core, pod->pinned) : NULL;
    return node && node->facts ? node : NULL;
}

/* ---- a trial ---- */

struct trial {
    struct gang *gang;
    struct pod **pods; /* members without a slot */
    size_t n;
    struct slot **slots; /* given in this trial */
    size_t n_slots, cap;
    const struct pod *culprit; /* the first without a place */
    struct queue queue;        /* for the shape whose members are placed now */
    uint64_t layout;           /* core->marks.layout when it began */
};

/* The one that needs more goes first. */
static int by_need(const struct shape *x, const struct shape *y, int of_x, int of_y)
{
    int64_t a = of_x < 0 ? 0 : shape_need(x, (uint32_t)of_x);
    int64_t b = of_y < 0 ? 0 : shape_need(y, (uint32_t)of_y);
    return a > b ? -1 : a < b;
}

/* Order of members: those tied to a node; those that did not miss the last attempt; then by shape,
 * the ones that volumes limit and the one with the largest needs first; then as they were created.
 */
static int by_size(const void *a, const void *b)
{
    const struct pod *p = *(struct pod *const *)a, *q = *(struct pod *const *)b;
    const struct shape *x = p->shape, *y = q->shape;
    if (!p->pinned != !q->pinned)
        return p->pinned ? -1 : 1;
    if (p->missed != q->missed)
        return q->missed ? -1 : 1;
    if (x != y) {
        if (x->limited != y->limited)
            return x->limited ? -1 : 1;
        if ((x->device >= 0) != (y->device >= 0))
            return x->device >= 0 ? -1 : 1;
        int larger = by_need(x, y, x->device, y->device);
        larger = larger ? larger : by_need(x, y, RES_CPU, RES_CPU);
        larger = larger ? larger : by_need(x, y, RES_MEMORY, RES_MEMORY);
        if (larger)
            return larger;
        int order = strcmp(x->key, y->key);
        if (order)
            return order;
    }
    if (p->facts->created != q->facts->created)
        return p->facts->created < q->facts->created ? -1 : 1;
    return strcmp(p->facts->name, q->facts->name);
}

static struct trial trial_begin(struct gang_core *core, struct gang *gang)
{
    struct trial t = {.gang = gang, .layout = core->marks.layout};
    t.queue = (struct queue){.gang = gang, .reach = gang_reach(core, gang)};
    t.pods = xcalloc((size_t)gang->root->t.plannable + 1, sizeof *t.pods);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->slot && pod_plannable(core, pod))
            t.pods[t.n++] = pod;
    qsort(t.pods, t.n, sizeof *t.pods, by_size);
    return t;
}

static void trial_end(struct trial *t)
{
    free(t->pods);
    free(t->slots);
    queue_done(&t->queue);
}

static bool one_shape(const struct trial *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (t->pods[i]->shape != t->pods[0]->shape)
            return false;
    return true;
}

static struct node *next_node(struct gang_core *core, struct trial *t, struct shape *shape)
{
    if (shape->full == core->trials)
        return NULL;
    struct node *node = queue_top(core, &t->queue, shape);
    if (!node)
        shape->full = core->trials;
    return node;
}

static struct node *member_node(struct gang_core *core, struct trial *t, const struct pod *pod)
{
    struct node *tied = pinned_node(core, pod);
    if (!tied)
        return next_node(core, t, pod->shape);
    queue_forget(&t->queue); /* the rank of that node changes */
    return node_does(core, t->gang, pod->shape, tied, &t->queue.reach) ? tied : NULL;
}

static void give(struct gang_core *core, struct trial *t, struct unit *unit, struct shape *shape,
                 struct node *node, struct pod *pod)
{
    struct slot *slot = slot_add(core, t->gang, unit, shape, node);
    if (pod)
        slot_fill(core, slot, pod);
    GROW(t->slots, t->cap, t->n_slots + 1);
    t->slots[t->n_slots++] = slot;
    unit_add_slots(unit, 1);
}

static void take_back(struct gang_core *core, struct trial *t, size_t down_to)
{
    while (t->n_slots > down_to) {
        struct slot *slot = t->slots[--t->n_slots];
        unit_add_slots(slot->unit, -1);
        slot_free(core, slot);
    }
    queue_forget(&t->queue);
    if (down_to == 0)
        layout_back(core, t->layout);
}

/* ---- choosing units ---- */

static void forget_choice(struct unit *unit)
{
    unit->want = 0;
    unit->chosen = false;
    list_for_each (child, &unit->children, struct unit, in_parent)
        forget_choice(child);
}

static void forget_excluded(struct unit *unit)
{
    unit->excluded = false;
    list_for_each (child, &unit->children, struct unit, in_parent)
        forget_excluded(child);
}

struct option {
    struct unit *unit;
    int lacks; /* slots, to have its minimum */
    bool able; /* its members exist and may be placed, or are hoped for */
};

/* By name, so that a restart decides alike. */
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
    if (x->lacks != y->lacks)
        return x->lacks < y->lacks ? -1 : 1;
    return by_name(x->unit, y->unit);
}

static size_t options_of(const struct gang *gang, const struct unit *unit, struct option *ret)
{
    size_t n = 0;
    list_for_each (child, &unit->children, struct unit, in_parent) {
        struct option o = {.unit = child, .lacks = unit_lacks(child, STAGE_PLANNED)};
        o.able = gang->hoping || unit_lacks(child, STAGE_REACHABLE) <= 0;
        if (!child->excluded)
            ret[n++] = o;
    }
    qsort(ret, n, sizeof *ret, by_lack);
    return n;
}

/*
 * Decides which units below it get their minimum and how many members each must still get; the sum
 * is in *ret. False: there are not enough units or members.
 */
static bool choose(const struct gang *gang, struct unit *unit, int *ret)
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
        /* Beyond those that are needed, more are chosen only to make up the number of members. */
        if (i >= needed && (gang->hoping || at_hand >= still || !options[i].able ||
                            options[i].lacks > here - below))
            break;
        int lacks;
        if (!options[i].able || !choose(gang, options[i].unit, &lacks))
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

static bool choose_all(const struct gang_core *core, const struct gang *gang, int *ret)
{
    gang_count(core, gang);
    forget_choice(gang->root);
    return choose(gang, gang->root, ret);
}

static bool all_chosen(const struct unit *unit)
{
    for (; unit; unit = unit->parent)
        if (!unit->chosen)
            return false;
    return true;
}

/* The unit on the way up that wants one more member from here; NULL: none. Members of units that
 * were not chosen come last: theirs may stay without their minimum. */
static struct unit *wanting(struct unit *unit, bool of_any)
{
    if (!of_any && !all_chosen(unit))
        return NULL;
    while (unit && unit->want <= 0)
        unit = unit->parent;
    return unit;
}

/* Takes the culprit's unit out of the choice, if there is a choice. */
static bool exclude(const struct pod *culprit)
{
    for (struct unit *u = culprit ? culprit->unit : NULL; u && u->parent; u = u->parent)
        if (unit_children_needed(u->parent) < u->parent->n_children) {
            u->excluded = true;
            return true;
        }
    return false;
}

/* ---- the needed set ---- */

static const struct pod *member_of(const struct gang *gang, const struct unit *unit)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->unit == unit && pod_counts(pod))
            return pod;
    return NULL;
}

/* Members that are missing in the unit itself, not below it. */
static int missing_here(const struct unit *unit)
{
    int missing = unit_lacks(unit, STAGE_EXISTS);
    list_for_each (child, &unit->children, struct unit, in_parent)
        missing -= child->chosen ? unit_lacks(child, STAGE_EXISTS) : 0;
    return missing;
}

static int place_expected(struct gang_core *core, struct trial *t, struct unit *unit)
{
    int given = 0, missing = missing_here(unit);
    bool known = unit->like && !unit->like->limited;
    for (; given < missing && unit->want > 0 && known && !unit_at_maximum(unit);
         unit->want--, given++) {
        struct node *node = next_node(core, t, unit->like);
        if (!node) {
            t->culprit = t->culprit ? t->culprit : member_of(t->gang, unit);
            break;
        }
        give(core, t, unit, unit->like, node, NULL);
    }
    list_for_each (child, &unit->children, struct unit, in_parent)
        given += place_expected(core, t, child);
    return given;
}

/* The orders in which members of different shapes are tried: who missed the last attempt comes
 * last, also behind members of units that were not chosen; but a plan with them is better than
 * none. */
enum way { HARDEST_FIRST, EASIEST_FIRST, MISSED_FIRST, WAYS };

/* Gives slots to wanted members. */
static void place_members(struct gang_core *core, struct trial *t, int *want, enum way way,
                          bool missed, bool of_any)
{
    for (size_t i = 0; *want > 0 && i < t->n; i++) {
        struct pod *pod = t->pods[way == HARDEST_FIRST ? i : t->n - 1 - i];
        bool in_turn = way == MISSED_FIRST || missed == (pod->missed && !pod->pinned);
        bool may = in_turn && !pod->slot && !unit_at_maximum(pod->unit);
        struct unit *wants = may ? wanting(pod->unit, of_any) : NULL;
        struct node *node = wants ? member_node(core, t, pod) : NULL;
        if (node) {
            give(core, t, pod->unit, pod->shape, node, pod);
            wants->want--;
            --*want;
        } else if (wants && !t->culprit) {
            t->culprit = pod;
        }
    }
}

/* To all members that are wanted, then to expected ones; true: it worked. */
static bool place_needed(struct gang_core *core, struct trial *t, int want, enum way way)
{
    core->trials++;
    t->culprit = NULL;
    queue_forget(&t->queue);
    place_members(core, t, &want, way, /* missed= */ false, /* of_any= */ false);
    place_members(core, t, &want, way, /* missed= */ false, /* of_any= */ true);
    place_members(core, t, &want, way, /* missed= */ true, /* of_any= */ false);
    place_members(core, t, &want, way, /* missed= */ true, /* of_any= */ true);
    if (want > 0 && t->gang->hoping)
        want -= place_expected(core, t, t->gang->root);
    return want == 0;
}

/* ---- extras ---- */

/* Units that were not chosen get slots as a whole or not at all. Slots that are given are counted
 * as they are given. */
static void place_whole_units(struct gang_core *core, struct trial *t, struct unit *unit)
{
    list_for_each (child, &unit->children, struct unit, in_parent) {
        int want = 0;
        bool able = !child->excluded && unit_lacks(child, STAGE_REACHABLE) <= 0;
        if (!child->chosen && able) {
            size_t before = t->n_slots;
            bool placed = choose(t->gang, child, &want) &&
                          (want == 0 || place_needed(core, t, want, HARDEST_FIRST)) &&
                          !unit_beyond_maximum(child);
            if (!placed) {
                take_back(core, t, before);
                forget_choice(child);
            }
        }
        if (child->chosen)
            place_whole_units(core, t, child);
    }
}

static void place_extras(struct gang_core *core, struct trial *t)
{
    gang_count(core, t->gang);
    place_whole_units(core, t, t->gang->root);
    core->trials++;
    queue_forget(&t->queue);
    for (size_t i = 0; i < t->n; i++) {
        struct pod *pod = t->pods[i];
        if (pod->slot || !all_chosen(pod->unit) || unit_at_maximum(pod->unit))
            continue;
        struct node *node = member_node(core, t, pod);
        if (node)
            give(core, t, pod->unit, pod->shape, node, pod);
    }
}

/* ---- why not ---- */

/* Adds what the pods on so many nodes like this one, and on all, have against the culprit there. */
static void shortage_between(struct rules *rules, const struct node *node, int n,
                             struct shortage *s)
{
    enum rule rule = rules_refusal(rules, node);
    s->spread += rule == RULE_SPREAD ? n : 0;
    s->apart += rule == RULE_APART ? n : 0;
    const struct gang_pod_facts *who = s->culprit->facts;
    const struct gang_pod_facts *foe = rule == RULE_APART ? node_foe(node, who) : NULL;
    s->strangers |= foe && (!foe->group.name || !str_eq(foe->group.name, who->group.name) ||
                            strcmp(foe->ns, who->ns) != 0);
}

/* Adds what one node says about the culprit, for as many nodes as it stands for. */
static void shortage_at(const struct trial *t, struct rules *rules, const struct look *look,
                        int *lacking, struct shortage *s)
{
    struct shape *shape = rules->shape;
    const struct node *node = look->node;
    int n = (int)look->n;
    const char *no = shape_refusal(shape, node);
    s->volumes += no == shape_volume_refusal ? n : 0;
    if (no)
        return;
    bool able = true;
    for (size_t k = 0; k < shape->n_needs; k++) {
        uint32_t r = shape->needs[k].resource;
        lacking[k] += shape->needs[k].amount > node_room(node, r, &t->queue.reach) ? n : 0;
        able &= shape->needs[k].amount <= amount_of(&node->allocatable, r);
    }
    s->n_nodes += n;
    s->n_able += able ? n : 0;
    int misfit = node_misfit(node, shape, &t->queue.reach);
    s->ports += misfit == -2 ? n : 0;
    s->refused |= misfit == -1 && evidence_refuses(rules->core, t->gang, shape, node);
    if (misfit == -1)
        shortage_between(rules, node, n, s);
    if (misfit >= 0) {
        struct reach all = t->queue.reach;
        all.yields = false;
        s->promised |= node_misfit(node, shape, &all) == -1;
        all.yields = true, all.heeds = false;
        s->kept |= node_misfit(node, shape, &all) == -1;
    }
}

/* What the members without a place need of it, all together; those that do not exist yet as the
 * culprit does. */
static int64_t still_needed(const struct trial *t, const struct shortage *s)
{
    int n = 0;
    int64_t sum = 0, rest;
    for (size_t i = 0; i < t->n && n < s->lacks; i++) {
        const struct pod *pod = t->pods[i];
        if (pod->slot || !all_chosen(pod->unit))
            continue;
        n++;
        if (__builtin_add_overflow(sum, shape_need(pod->shape, (uint32_t)s->resource), &sum))
            return INT64_MAX;
    }
    bool beyond = __builtin_mul_overflow(s->amount, s->lacks - n, &rest) ||
                  __builtin_add_overflow(sum, rest, &sum);
    return beyond ? INT64_MAX : sum;
}

/* Why the culprit has no place: what most of the nodes that pass its rules lack. */
static void find_shortage(struct gang_core *core, const struct trial *t, struct shortage *s)
{
    struct shape *shape = t->culprit->shape;
    int lacks = unit_lacks(t->gang->root, STAGE_PLANNED);
    int room = gang_needed(t->gang) - lacks;
    if (room <= s->room)
        return; /* another try came nearer */
    *s = (struct shortage){.room = room, .lacks = lacks, .resource = -1, .culprit = t->culprit};
    cleanup_free int *lacking = xcalloc(shape->n_needs, sizeof *lacking); /* nodes, by need */
    const struct node *tied = pinned_node(core, t->culprit);
    s->tied = tied != NULL;
    struct rules rules = rules_for(core, shape);
    struct look look = look_begin(core, t->gang, shape, NULL);
    look.singly |= tied != NULL;
    while (look_next(&look))
        if (!tied || tied == look.node)
            shortage_at(t, &rules, &look, lacking, s);
    int most = s->ports;
    if (s->ports)
        s->resource = -2;
    for (size_t k = 0; k < shape->n_needs; k++) {
        const struct need *need = &shape->needs[k];
        bool device = (int)need->resource == shape->device;
        if (lacking[k] < most || most + lacking[k] == 0 || (lacking[k] == most && !device))
            continue; /* between equals the device is named: it is the scarce thing */
        most = lacking[k];
        s->resource = (int)need->resource;
        s->amount = need->amount;
    }
    if (s->resource >= 0)
        s->missing = still_needed(t, s);
    if (s->apart + s->spread < most)
        s->apart = s->spread = 0; /* on more nodes there is no room at all */
}

/* ---- gangs that are alike ---- */

/*
 * A gang of one shape, of which nothing is placed, and that no rule between pods concerns: what one
 * found out goes for all of them, as long as nothing changes on the nodes. So a waiting list costs
 * one look at the nodes for each shape, not for each gang.
 */
static bool is_plain(const struct gang_core *core, const struct trial *t)
{
    const struct gang *gang = t->gang;
    const struct shape *shape = t->n ? t->pods[0]->shape : NULL;
    return shape && one_shape(t) && !t->pods[0]->pinned && !shape->ports && !shape->apart &&
           !shape->spread && !shape->limited && core->n_apart == 0 && !gang->hoping &&
           gang->n_slots == 0 && gang->n_evidence == 0 && gang->root->n_children == 0;
}

/* It is known that there is no room for so many; fills *ret. */
static bool is_known_full(const struct gang_core *core, const struct trial *t, int want,
                          struct shortage *ret)
{
    const struct shape *shape = t->n ? t->pods[0]->shape : NULL;
    if (!is_plain(core, t) || shape->fill.layout != core->marks.layout ||
        !reach_equal(core, &shape->fill.reach, &t->queue.reach) || want <= shape->fill.room)
        return false;
    *ret = shape->fill.shortage;
    ret->lacks = want - shape->fill.room;
    ret->room = gang_needed(t->gang) - ret->lacks;
    ret->culprit = t->pods[shape->fill.room];
    if (__builtin_mul_overflow(ret->amount, ret->lacks, &ret->missing))
        ret->missing = INT64_MAX;
    return true;
}

/* What a person reads of it does not differ, for gangs that want as many. */
static bool same_words(const struct shortage *a, const struct shortage *b)
{
    return a->n_nodes == b->n_nodes && a->n_able == b->n_able && a->resource == b->resource &&
           a->amount == b->amount && a->refused == b->refused && a->kept == b->kept &&
           a->promised == b->promised && a->volumes == b->volumes;
}

/* After all was taken back. */
static void remember_full(struct gang_core *core, const struct trial *t, const struct shortage *s,
                          int want)
{
    struct shape *shape = t->n ? t->pods[0]->shape : NULL;
    if (!is_plain(core, t) || !s->culprit)
        return;
    if (!shape->fill.version || shape->fill.room != want - s->lacks ||
        !same_words(&shape->fill.shortage, s))
        shape->fill.version = ++core->fills;
    shape->fill.layout = core->marks.layout;
    shape->fill.reach = t->queue.reach;
    shape->fill.room = want - s->lacks;
    shape->fill.shortage = *s;
    shape->fill.shortage.culprit = NULL;
}

/* The gang failed, and the shape's fill says all about why. */
static void note_full(const struct gang_core *core, const struct trial *t, int want)
{
    const struct shape *shape = t->n ? t->pods[0]->shape : NULL;
    if (!is_plain(core, t) || shape->fill.layout != core->marks.layout || shape->fill.shortage.kept)
        return;
    gang_is_full(t->gang, shape, shape->fill.version, want);
}

bool is_full_still(const struct gang_core *core, const struct gang *gang)
{
    const struct shape *shape = gang->marks.full;
    struct reach reach = gang_reach(core, gang);
    return shape && shape->fill.layout == core->marks.layout &&
           shape->fill.version == gang->marks.full_version &&
           gang->marks.full_want > shape->fill.room &&
           reach_equal(core, &shape->fill.reach, &reach);
}

/* ---- one gang ---- */

static bool any_missed(const struct trial *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->pods[i]->missed)
            return true;
    return false;
}

/* With the units as they are chosen. */
static bool place_some_way(struct gang_core *core, struct trial *t, int want, struct shortage *ret)
{
    int ways = one_shape(t) ? 1 : any_missed(t) ? WAYS : MISSED_FIRST;
    for (int way = 0; way < ways; way++) {
        if (way > 0) {
            take_back(core, t, 0);
            choose_all(core, t->gang, &want);
        }
        if (place_needed(core, t, want, (enum way)way))
            return true;
        if (t->culprit)
            find_shortage(core, t, ret);
    }
    return false;
}

bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret)
{
    int want = 0;
    bool done = false;
    *ret = (struct shortage){.room = -1};
    gang_is_full(gang, NULL, 0, 0);
    forget_excluded(gang->root);
    gang_count(core, gang);
    struct trial t = trial_begin(core, gang);
    for (int i = 0; i < CHOICES_MAX && !done; i++) {
        if (!choose_all(core, gang, &want) || is_known_full(core, &t, want, ret))
            break;
        done = place_some_way(core, &t, want, ret);
        if (done)
            break;
        take_back(core, &t, 0);
        remember_full(core, &t, ret, want);
        if (!exclude(t.culprit))
            break;
    }
    if (!done && want > 0)
        note_full(core, &t, want);
    if (!for_good)
        take_back(core, &t, 0);
    else if (done && !gang->hoping)
        place_extras(core, &t);
    trial_end(&t);
    return done;
}

/* One try, with the units as they are chosen now; *ret_culprit is the first without a place. */
static bool try_some_day(struct gang_core *core, struct gang *gang,
                         void (*take)(struct gang_core *, struct node *, struct shape *),
                         const struct pod **ret_culprit)
{
    int want;
    *ret_culprit = NULL;
    if (!choose_all(core, gang, &want))
        return false;
    struct trial t = trial_begin(core, gang);
    for (size_t i = 0; i < t.n && want > 0; i++) {
        struct unit *wants = wanting(t.pods[i]->unit, true);
        struct node *node = wants ? some_day_node(core, gang, t.pods[i]->shape) : NULL;
        if (wants && !node && !*ret_culprit)
            *ret_culprit = t.pods[i];
        if (!node)
            continue;
        take(core, node, t.pods[i]->shape);
        wants->want--;
        want--;
    }
    trial_end(&t);
    return want == 0;
}

/* Places for as many of the needed members as the nodes could ever hold, those with the most room
 * now first. Nothing is reserved. */
bool place_some_day(struct gang_core *core, struct gang *gang, void (*forget)(struct gang_core *),
                    void (*take)(struct gang_core *, struct node *, struct shape *))
{
    const struct pod *culprit;
    forget_excluded(gang->root);
    for (int i = 0; i < CHOICES_MAX; i++) {
        forget(core);
        if (try_some_day(core, gang, take, &culprit))
            return true;
        if (!exclude(culprit))
            break;
    }
    return false;
}
