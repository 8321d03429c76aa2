/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/queue_check.h"

#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/plan/member_order.h"
#include "gang/plan/subgroup_choice.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/fair_share.h"
#include "gang/queue/queue_limits.h"
#include "gang/queue/queues.h"

/* Without limits, or for a gang that is bound in part: limits lowered since must not leave it so.
 */
static bool is_free(const struct gang_core *core, const struct gang *gang)
{
    return !core->queues.root || gang_began_commit(gang);
}

/* What some members need: n pods of the signature, and `others`. Most members are
 * alike, so most gangs need no sum. */
struct needs_of_pods {
    const struct signature *signature;
    int n;
    struct amounts others;
};

static void add_pods(struct gang_core *core, struct needs_of_pods *x,
                     const struct signature *signature, int n)
{
    if (x->n && x->signature != signature) {
        amounts_add(core, &x->others, x->signature, x->n);
        x->n = 0;
    }
    x->signature = signature;
    x->n += n;
}

/* As a list of needs that count `times` times. */
static struct need_list listed(struct gang_core *core, struct needs_of_pods *x)
{
    if (x->n && !x->others.n)
        return (struct need_list){x->signature->needs, x->signature->n_needs, x->n};
    if (x->n)
        amounts_add(core, &x->others, x->signature, x->n);
    x->n = 0;
    return (struct need_list){x->others.items, x->others.n, 1};
}

/* What the wanted members need; those that do not exist yet count as the first one that does. */
static struct needs_of_pods needs_of(struct gang_core *core, const struct placement_try *p,
                                     int want)
{
    struct needs_of_pods x = {.n = 0};
    for (size_t i = 0; i < p->n && want > 0; i++) {
        struct pod *pod = p->pods[i];
        struct unit *wants = pod->slot ? NULL : unit_that_wants(pod->unit, /* of_any= */ false);
        if (!wants)
            continue;
        add_pods(core, &x, pod->signature, 1);
        unit_got_one(wants);
        want--;
    }
    if (want > 0 && p->n && p->gang->expecting)
        add_pods(core, &x, p->pods[0]->signature, want);
    return x;
}

/* The same if the gang has no subgroups and all its members are alike, so that nothing has to be
 * counted. */
static bool needs_of_alike(const struct placement_try *p, int want, struct needs_of_pods *ret)
{
    if (!p->n || p->gang->root->n_children || !one_signature(p))
        return false;
    bool all = want <= (int)p->n || p->gang->expecting;
    *ret = (struct needs_of_pods){.signature = p->pods[0]->signature, .n = all ? want : (int)p->n};
    return true;
}

static const struct pod *any_member(const struct placement_try *p)
{
    return p->n ? p->pods[0] : CONTAINER_OF(p->gang->members.next, struct pod, in_gang);
}

/* Whether the wanted members need the same, whichever they are. */
static bool no_choice(const struct placement_try *p, int want)
{
    return want >= (int)p->n || one_signature(p);
}

/* A gang for which muster keeps room has its part of what is promised. */
static bool lacks(const struct gang_core *core, const struct placement_try *p,
                  struct need_list needs, struct queue_short *ret)
{
    const struct gang *gang = p->gang;
    const struct queue *queue = queue_of_gang(core, gang);
    return gang->room_since && !p->extras ? queue_is_short(core, queue, gang->firm, needs, ret)
                                          : queue_is_promised(core, queue, gang->firm, needs, ret);
}

bool queue_lacks_room(struct gang_core *core, struct placement_try *p, int want,
                      struct shortage *ret)
{
    struct gang *gang = p->gang;
    struct queue_short found;
    struct needs_of_pods needs;
    p->queue_all.queue = NULL;
    p->queue_fits = false;
    if (is_free(core, gang) || want <= 0)
        return false;
    bool alike = needs_of_alike(p, want, &needs);
    if (!alike) {
        int again = want;
        needs = needs_of(core, p, want);
        choose_units_of_gang(core, gang, &again);
    }
    bool is_short = lacks(core, p, listed(core, &needs), &found);
    amounts_done(core, &needs.others);
    p->queue_fits = alike && !is_short;
    if (is_short)
        p->queue_all = found;
    if (!is_short || !no_choice(p, want))
        return false;
    *ret = (struct shortage){.room = gang_needed(gang) - want,
                             .lacks = want,
                             .resource = -1,
                             .culprit = any_member(p),
                             .queue = found,
                             .queue_alone = true};
    return true;
}

bool queue_stops(struct gang_core *core, struct placement_try *p, const struct signature *signature)
{
    bool limited =
        p->extras ? core->queues.root != NULL : !p->queue_fits && !is_free(core, p->gang);
    if (!limited)
        return false;
    trial_count(p->trial);
    return lacks(core, p, (struct need_list){signature->needs, signature->n_needs, 1},
                 &p->queue_short);
}

bool plan_exceeds_queue(const struct gang_core *core, const struct gang *gang)
{
    struct queue_short found;
    if (is_free(core, gang))
        return false;
    const struct signature *last = NULL; /* most slots are alike */
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        for (size_t i = 0; slot->signature != last && i < slot->signature->n_needs; i++) {
            const struct need none = {slot->signature->needs[i].resource, 0};
            if (queue_is_short(core, queue_of_gang(core, gang), gang->firm,
                               (struct need_list){&none, 1, 1}, &found))
                return true;
        }
        last = slot->signature;
    }
    return false;
}

bool room_exceeds_queue(struct gang_core *core, const struct gang *gang, struct queue_short *ret)
{
    struct needs_of_pods needs = {.n = 0};
    if (is_free(core, gang))
        return false;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang)
        if (slot->awaits)
            add_pods(core, &needs, slot->signature, 1);
    bool exceeds = needs.n && queue_is_short(core, queue_of_gang(core, gang), gang->firm,
                                             listed(core, &needs), ret);
    amounts_done(core, &needs.others);
    return exceeds;
}

/* The signature of all members; NULL: they differ. */
static const struct signature *signature_of_all(const struct gang *gang)
{
    const struct signature *all = NULL;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (all && pod->signature != all)
            return NULL;
        all = pod->signature;
    }
    return all;
}

/* The members that the next plan would place first, or those that need least. */
static struct needs_of_pods needs_of_some(struct gang_core *core, const struct gang *gang, int want,
                                          bool least)
{
    struct needs_of_pods x = {.n = 0};
    int plannable = gang->root->t.plannable;
    const struct signature *all = gang->n_slots ? NULL : signature_of_all(gang);
    if (all) {
        add_pods(core, &x, all, want < plannable ? want : plannable);
        return x;
    }
    cleanup_free struct pod **pods = xcalloc((size_t)plannable + 1, sizeof *pods);
    size_t n = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->slot && pod_plannable(core, pod))
            pods[n++] = pod;
    qsort(pods, n, sizeof *pods, by_placement);
    for (size_t i = 0; i < n && (int)i < want; i++)
        add_pods(core, &x, pods[least ? n - 1 - i : i]->signature, 1);
    return x;
}

bool queue_owes_room(struct gang_core *core, const struct gang *gang)
{
    if (!core->queues.root || gang->queue == core->queues.none)
        return false;
    int want = unit_lacks(gang->root, STAGE_PLANNED); /* the failed plan has counted the members */
    struct needs_of_pods needs = needs_of_some(core, gang, want > 0 ? want : 0, /* least= */ false);
    bool owed = queue_is_owed(core, gang->queue, listed(core, &needs));
    amounts_done(core, &needs.others);
    return owed;
}

const struct queue *gang_entitled(struct gang_core *core, const struct gang *gang,
                                  struct reclaimed *ret_what)
{
    int want = unit_lacks(gang->root, STAGE_PLANNED);
    struct needs_of_pods needs = needs_of_some(core, gang, want > 0 ? want : 0, /* least= */ false);
    struct need_list list = listed(core, &needs);
    *ret_what = reclaimed_for(core, list);
    const struct queue *top = queue_entitled(core, gang->queue, list);
    amounts_done(core, &needs.others);
    return top;
}

/* The needed members that need least. */
static struct needs_of_pods least_needs(struct gang_core *core, const struct gang *gang)
{
    int want = unit_lacks(gang->root, STAGE_PLANNED);
    return needs_of_some(core, gang, want > 0 ? want : 0, /* least= */ true);
}

void queue_pretend_planned(struct gang_core *core, const struct gang *gang, int sign)
{
    if (!core->queues.root)
        return;
    struct needs_of_pods needs = least_needs(core, gang);
    queue_pretend(core, queue_of_gang(core, gang), gang->firm, listed(core, &needs), sign);
    amounts_done(core, &needs.others);
}

bool queue_keeps_waiting(struct gang_core *core, const struct gang *gang)
{
    struct queue_short found;
    if (queue_refuses_gang(core, gang))
        return true;
    if (is_free(core, gang))
        return false;
    struct needs_of_pods needs = least_needs(core, gang);
    bool is_short =
        queue_is_short(core, queue_of_gang(core, gang), gang->firm, listed(core, &needs), &found);
    amounts_done(core, &needs.others);
    return is_short;
}

bool queue_still_stops(const struct gang_core *core, const struct gang *gang)
{
    return gang->marks.queue_full && gang->queue && core->queues.root && !gang->n_slots &&
           !queue_freed_since(gang->queue, gang->tried);
}
