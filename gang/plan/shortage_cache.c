/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/shortage_cache.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/quorum.h"

/* Whether the gang is one of those that the cache serves. */
static bool may_share(const struct gang_core *core, const struct placement_try *p)
{
    if (p->what_if)
        return false;
    const struct gang *gang = p->gang;
    const struct signature *signature = p->n ? p->pods[0]->signature : NULL;
    return signature && one_signature(p) && !p->pods[0]->pinned &&
           !signature_has_pod_rules(signature) && !signature->limited &&
           core->n_anti_affinity == 0 && !gang->expecting && gang->n_slots == 0 &&
           gang->n_infeasible == 0 && gang->root->n_children == 0;
}

bool shortage_cache_has(const struct gang_core *core, const struct placement_try *p, int want,
                        struct shortage *ret)
{
    const struct signature *signature = p->n ? p->pods[0]->signature : NULL;
    if (!may_share(core, p) || signature->fill.layout != core->marks.layout ||
        !reach_equal(core, &signature->fill.reach, &p->queue.reach) || want <= signature->fill.room)
        return false;
    *ret = signature->fill.shortage;
    ret->lacks = want - signature->fill.room;
    ret->room = gang_needed(p->gang) - ret->lacks;
    ret->culprit = p->pods[signature->fill.room];
    if (__builtin_mul_overflow(ret->amount, ret->lacks, &ret->missing))
        ret->missing = INT64_MAX;
    return true;
}

/* Whether both give the same text, for gangs that want the same number of members. */
static bool same_text(const struct shortage *a, const struct shortage *b)
{
    return a->n_nodes == b->n_nodes && a->n_able == b->n_able && a->resource == b->resource &&
           a->amount == b->amount && a->refused == b->refused && a->earmarked == b->earmarked &&
           a->nominated_room == b->nominated_room && a->preemptor == b->preemptor &&
           a->volumes == b->volumes;
}

void shortage_cache_put(struct gang_core *core, const struct placement_try *p,
                        const struct shortage *s, int want)
{
    struct signature *signature = p->n ? p->pods[0]->signature : NULL;
    if (!may_share(core, p) || !s->culprit || s->queue.queue)
        return;
    if (!signature->fill.version || signature->fill.room != want - s->lacks ||
        !same_text(&signature->fill.shortage, s))
        signature->fill.version = ++core->fills;
    signature->fill.layout = core->marks.layout;
    signature->fill.reach = p->queue.reach;
    signature->fill.room = want - s->lacks;
    signature->fill.shortage = *s;
    signature->fill.shortage.culprit = NULL;
}

void shortage_cache_note(const struct gang_core *core, const struct placement_try *p, int want)
{
    const struct signature *signature = p->n ? p->pods[0]->signature : NULL;
    if (!may_share(core, p) || signature->fill.layout != core->marks.layout ||
        signature->fill.shortage.earmarked || signature->fill.shortage.preemptor)
        return;
    gang_has_known_shortage(p->gang, signature, signature->fill.version, want);
}

bool shortage_still_holds(const struct gang_core *core, const struct gang *gang)
{
    const struct signature *signature = gang->marks.full;
    struct reach reach = gang_reach(core, gang);
    return signature && signature->fill.layout == core->marks.layout &&
           signature->fill.version == gang->marks.full_version &&
           gang->marks.full_want > signature->fill.room &&
           reach_equal(core, &signature->fill.reach, &reach);
}
