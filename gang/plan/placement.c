/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/placement.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/step_work.h"
#include "gang/cluster/volume_claims.h"
#include "gang/plan/earmark_queue.h"
#include "gang/plan/member_order.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement_try.h"
#include "gang/plan/queue_check.h"
#include "gang/plan/shortage.h"
#include "gang/plan/shortage_cache.h"
#include "gang/plan/subgroup_choice.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/quorum.h"

/* How many choices of units are tried for one plan at most. */
#define CHOICES_MAX 256
/* After so many members were tried, no further choice of units is: about 30 ms. */
#define MEMBERS_TRIED_MAX 60000
/* To place a member takes as long as this many scanned nodes. */
#define WORK_PER_MEMBER 8

/* ---- one try ---- */

static struct placement_try placing_begin(struct gang_core *core, struct gang *gang)
{
    struct placement_try p = {.gang = gang};
    p.queue = (struct node_queue){.gang = gang, .reach = gang_reach(core, gang)};
    p.pods = xcalloc((size_t)gang->root->t.plannable + 1, sizeof *p.pods);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->slot && pod_plannable(core, pod))
            p.pods[p.n++] = pod;
    qsort(p.pods, p.n, sizeof *p.pods, by_placement);
    return p;
}

static void placing_end(struct placement_try *p)
{
    free(p->pods);
    node_queue_done(&p->queue);
}

static struct node *next_node(struct gang_core *core, struct placement_try *p,
                              struct signature *signature)
{
    if (signature->full == core->trials)
        return NULL;
    struct node *node = node_queue_top(core, &p->queue, signature);
    if (!node)
        signature->full = core->trials;
    return node;
}

static struct node *member_node(struct gang_core *core, struct placement_try *p,
                                const struct pod *pod)
{
    struct node *tied = pinned_node(core, pod);
    if (queue_stops(core, p, pod->signature))
        return NULL;
    if (!tied)
        return next_node(core, p, pod->signature);
    node_queue_forget(&p->queue); /* a slot on another node than the top one follows */
    return node_is_feasible(core, p->gang, pod->signature, tied, &p->queue.reach) ? tied : NULL;
}

static bool is_over(const struct gang_core *core, const struct placement_try *p)
{
    return core->work > p->most_work;
}

static void give(struct placement_try *p, struct unit *unit, struct signature *signature,
                 struct node *node, struct pod *pod)
{
    trial_reserve(p->trial, p->gang, unit, signature, node, pod);
    unit_add_slots(unit, 1);
}

static void take_back(struct placement_try *p, struct trial_mark to)
{
    for (size_t i = p->trial->n; i > to.n; i--)
        unit_add_slots(trial_slot(p->trial, i - 1)->unit, -1);
    trial_back(p->trial, to);
    node_queue_forget(&p->queue);
}

/* ---- needed members ---- */

/* Some member of the unit; NULL: none. */
static const struct pod *member_of(const struct gang *gang, const struct unit *unit)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->unit == unit && pod_counts(pod))
            return pod;
    return NULL;
}

/* How many members the unit itself lacks, without the units below. */
static int missing_here(const struct unit *unit)
{
    int missing = unit_lacks(unit, STAGE_EXISTS);
    list_for_each (child, &unit->children, struct unit, in_parent)
        missing -= child->chosen ? unit_lacks(child, STAGE_EXISTS) : 0;
    return missing;
}

/* Adds slots for expected members of the unit and of the units below. Returns their number. */
static int place_expected(struct gang_core *core, struct placement_try *p, struct unit *unit)
{
    int given = 0, missing = missing_here(unit);
    bool known = unit->like && !unit->like->limited;
    for (;
         given < missing && unit->want > 0 && known && !unit_at_maximum(unit) && !is_over(core, p);
         unit_got_one(unit), given++) {
        bool stopped = queue_stops(core, p, unit->like);
        struct node *node = stopped ? NULL : next_node(core, p, unit->like);
        step_work_spend(core, WORK_PER_MEMBER);
        if (!node) {
            p->culprit = p->culprit ? p->culprit : member_of(p->gang, unit);
            break;
        }
        give(p, unit, unit->like, node, NULL);
    }
    list_for_each (child, &unit->children, struct unit, in_parent)
        given += place_expected(core, p, child);
    return given;
}

/* The orders in which members are tried. Members that missed the last attempt come last, even
 * behind members of units that were not chosen. MISSED_FIRST, in which they come first, is tried
 * only if no other order works. */
enum way { HARDEST_FIRST, EASIEST_FIRST, MISSED_FIRST, WAYS };

/* Adds slots for members that the units want, and reduces *want. `missed`: for members that missed
 * the last attempt, or for the others. `of_any`: also for members of units that were not chosen. */
static void place_members(struct gang_core *core, struct placement_try *p, int *want, enum way way,
                          bool missed, bool of_any)
{
    for (size_t i = 0; *want > 0 && i < p->n && !is_over(core, p); i++) {
        struct pod *pod = p->pods[way == HARDEST_FIRST ? i : p->n - 1 - i];
        bool now = way == MISSED_FIRST || missed == (pod->missed && !pod->pinned);
        bool may = now && !pod->slot && !unit_at_maximum(pod->unit);
        struct unit *wants = may ? unit_that_wants(pod->unit, of_any) : NULL;
        struct node *node = wants ? member_node(core, p, pod) : NULL;
        if (wants)
            step_work_spend(core, WORK_PER_MEMBER);
        p->tried += wants != NULL;
        if (node) {
            give(p, pod->unit, pod->signature, node, pod);
            unit_got_one(wants);
            --*want;
        } else if (wants && !p->culprit) {
            p->culprit = pod;
        }
    }
}

/* Adds slots for all wanted members, and for expected ones. True: all needed members have a slot.
 */
static bool place_needed(struct gang_core *core, struct placement_try *p, int want, enum way way)
{
    core->trials++;
    p->culprit = NULL;
    p->queue_short.queue = NULL;
    node_queue_forget(&p->queue);
    place_members(core, p, &want, way, /* missed= */ false, /* of_any= */ false);
    place_members(core, p, &want, way, /* missed= */ false, /* of_any= */ true);
    place_members(core, p, &want, way, /* missed= */ true, /* of_any= */ false);
    place_members(core, p, &want, way, /* missed= */ true, /* of_any= */ true);
    if (want > 0 && p->gang->expecting)
        want -= place_expected(core, p, p->gang->root);
    return want == 0;
}

/* ---- extras ---- */

/* Adds slots for further units that were not chosen. A unit that does not fit as a whole gets none.
 */
static void place_whole_units(struct gang_core *core, struct placement_try *p, struct unit *unit)
{
    list_for_each (child, &unit->children, struct unit, in_parent) {
        int want = 0;
        bool able = !child->excluded && unit_lacks(child, STAGE_REACHABLE) <= 0;
        if (!child->chosen && able) {
            struct trial_mark before = trial_mark(p->trial);
            bool placed = choose_units(p->gang, child, &want) &&
                          (want == 0 || place_needed(core, p, want, HARDEST_FIRST)) &&
                          !unit_beyond_maximum(child);
            if (!placed) {
                take_back(p, before);
                forget_choice(child);
            }
        }
        if (child->chosen)
            place_whole_units(core, p, child);
    }
}

static void place_extras(struct gang_core *core, struct placement_try *p)
{
    gang_count(core, p->gang);
    p->extras = true;
    p->queue.reach.extra = true;
    place_whole_units(core, p, p->gang->root);
    core->trials++;
    node_queue_forget(&p->queue);
    for (size_t i = 0; i < p->n && !is_over(core, p); i++) {
        struct pod *pod = p->pods[i];
        if (pod->slot || !all_chosen(pod->unit) || unit_at_maximum(pod->unit))
            continue;
        struct node *node = member_node(core, p, pod);
        step_work_spend(core, WORK_PER_MEMBER);
        if (node)
            give(p, pod->unit, pod->signature, node, pod);
    }
}

/* ---- one gang ---- */

static bool any_missed(const struct placement_try *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->pods[i]->missed)
            return true;
    return false;
}

/* Tries the orders of members with the current choice of units. */
static bool place_some_way(struct gang_core *core, struct placement_try *p, int want,
                           struct shortage *ret)
{
    int ways = one_signature(p) ? 1 : any_missed(p) ? WAYS : MISSED_FIRST;
    for (int way = 0; way < ways; way++) {
        if (way > 0) {
            take_back(p, p->begin);
            choose_units_of_gang(core, p->gang, &want);
        }
        if (place_needed(core, p, want, (enum way)way))
            return true;
        if (is_over(core, p))
            return false;
        if (p->culprit)
            shortage_find(core, p, ret);
    }
    return false;
}

/* The work is used up. If no try was complete, reports one member without a slot as an example. */
static void stop(struct placement_try *p, struct shortage *ret)
{
    if (ret->room < 0) {
        size_t i = 0;
        while (i + 1 < p->n && (p->pods[i]->slot || !all_chosen(p->pods[i]->unit)))
            i++;
        int lacks = unit_lacks(p->gang->root, STAGE_PLANNED);
        *ret = (struct shortage){.room = gang_needed(p->gang) - lacks,
                                 .lacks = lacks,
                                 .resource = -1,
                                 .unknown = true,
                                 .culprit = p->culprit ? p->culprit
                                            : p->n     ? p->pods[i]
                                                       : NULL};
    }
    ret->stopped = true;
}

/* Places the needed members. Tries one choice of units after the other. */
static bool place_minimum(struct gang_core *core, struct placement_try *p, struct shortage *ret)
{
    int want = 0;
    *ret = (struct shortage){.room = -1};
    forget_excluded(p->gang->root);
    for (int i = 0; i < CHOICES_MAX; i++) {
        if (!choose_units_of_gang(core, p->gang, &want) || queue_lacks_room(core, p, want, ret))
            break;
        if (shortage_cache_has(core, p, want, ret))
            break;
        if (place_some_way(core, p, want, ret))
            return true;
        if (is_over(core, p)) {
            stop(p, ret);
            take_back(p, p->begin);
            return false;
        }
        take_back(p, p->begin);
        shortage_cache_put(core, p, ret, want);
        if (p->tried > MEMBERS_TRIED_MAX || !exclude_unit(p->culprit))
            break;
    }
    if (want > 0)
        shortage_cache_note(core, p, want);
    return false;
}

/* The trial may have earlier changes, those of a what-if query. */
static struct placement_try placing_in(struct trial *t, struct gang *gang)
{
    gang_count(t->core, gang);
    struct placement_try p = placing_begin(t->core, gang);
    p.trial = t;
    p.begin = trial_mark(t);
    p.most_work = t->core->work + PLAN_WORK_MAX;
    return p;
}

bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret)
{
    gang_has_known_shortage(gang, NULL, 0, 0);
    struct trial t = trial_begin(core);
    struct placement_try p = placing_in(&t, gang);
    bool done = place_minimum(core, &p, ret);
    if (done && for_good && !gang->expecting)
        place_extras(core, &p);
    placing_end(&p);
    if (for_good)
        trial_keep(&t);
    trial_end(&t);
    return done;
}

enum gang_answer place_in_trial(struct trial *t, struct gang *gang, enum trial_slots slots,
                                int64_t *work_left, struct shortage *ret)
{
    struct gang_core *core = t->core;
    struct placement_try p = placing_in(t, gang);
    int64_t before = core->work;
    p.what_if = true;
    p.most_work = before + *work_left;
    bool done = place_minimum(core, &p, ret);
    bool over = !done && is_over(core, &p);
    if (done && slots == SLOTS_WITH_EXTRAS)
        place_extras(core, &p);
    if (!done || slots == SLOTS_NONE)
        take_back(&p, p.begin);
    trial_count(t);
    placing_end(&p);
    *work_left -= core->work - before;
    return done ? GANG_YES : over ? GANG_NOT_ASKED : GANG_NO;
}

enum gang_answer fits_in_trial(struct trial *t, struct gang *gang, int64_t *work_left,
                               struct shortage *ret)
{
    if (*work_left <= 0)
        return GANG_NOT_ASKED;
    enum gang_answer answer = place_in_trial(t, gang, SLOTS_NONE, work_left, ret);
    if (answer != GANG_YES || !min_resources_short(t->core, gang).group)
        return answer;
    *ret = (struct shortage){.culprit = NULL};
    return GANG_NO;
}

/* One try with the units that are not excluded; *ret_culprit is the first member without a node.
 * It stops at `most_work` of core->work. */
static bool try_in_future(struct gang_core *core, struct gang *gang, int64_t most_work,
                          const struct pod **ret_culprit)
{
    int want;
    *ret_culprit = NULL;
    if (!choose_units_of_gang(core, gang, &want))
        return false;
    struct placement_try p = placing_begin(core, gang);
    struct earmark_queue q = {.core = core, .gang = gang};
    for (size_t i = 0; i < p.n && want > 0 && core->work <= most_work; i++) {
        struct unit *wants = unit_that_wants(p.pods[i]->unit, true);
        struct node *node = wants ? earmark_queue_top(&q, p.pods[i]->signature) : NULL;
        if (wants && !node && !*ret_culprit)
            *ret_culprit = p.pods[i];
        if (!node)
            continue;
        earmark_add(core, node, p.pods[i]->signature);
        unit_got_one(wants);
        want--;
    }
    earmark_queue_done(&q);
    placing_end(&p);
    return want == 0;
}

bool place_in_future(struct gang_core *core, struct gang *gang)
{
    const struct pod *culprit;
    size_t tried = 0;
    int64_t most_work = core->work + PLAN_WORK_MAX;
    forget_excluded(gang->root);
    for (int i = 0; i < CHOICES_MAX; i++) {
        earmark_clear(core);
        if (try_in_future(core, gang, most_work, &culprit))
            return true;
        tried += (size_t)gang->root->t.members;
        if (core->work > most_work || tried > MEMBERS_TRIED_MAX || !exclude_unit(culprit))
            break;
    }
    return false;
}
