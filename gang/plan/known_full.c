/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/known_full.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/podgroup/kept_room.h"
#include "gang/podgroup/quorum.h"

static bool is_plain(const struct gang_core *core, const struct placing *p)
{
    if (p->what_if)
        return false;
    const struct gang *gang = p->gang;
    const struct shape *shape = p->n ? p->pods[0]->shape : NULL;
    return shape && one_shape(p) && !p->pods[0]->pinned && !shape->ports && !shape->apart &&
           !shape->spread && !shape->limited && core->n_apart == 0 && !gang->hoping &&
           gang->n_slots == 0 && gang->n_evidence == 0 && gang->root->n_children == 0;
}

bool is_known_full(const struct gang_core *core, const struct placing *p, int want,
                   struct shortage *ret)
{
    const struct shape *shape = p->n ? p->pods[0]->shape : NULL;
    if (!is_plain(core, p) || shape->fill.layout != core->marks.layout ||
        !reach_equal(core, &shape->fill.reach, &p->queue.reach) || want <= shape->fill.room)
        return false;
    *ret = shape->fill.shortage;
    ret->lacks = want - shape->fill.room;
    ret->room = gang_needed(p->gang) - ret->lacks;
    ret->culprit = p->pods[shape->fill.room];
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

void remember_full(struct gang_core *core, const struct placing *p, const struct shortage *s,
                   int want)
{
    struct shape *shape = p->n ? p->pods[0]->shape : NULL;
    if (!is_plain(core, p) || !s->culprit)
        return;
    if (!shape->fill.version || shape->fill.room != want - s->lacks ||
        !same_words(&shape->fill.shortage, s))
        shape->fill.version = ++core->fills;
    shape->fill.layout = core->marks.layout;
    shape->fill.reach = p->queue.reach;
    shape->fill.room = want - s->lacks;
    shape->fill.shortage = *s;
    shape->fill.shortage.culprit = NULL;
}

void note_full(const struct gang_core *core, const struct placing *p, int want)
{
    const struct shape *shape = p->n ? p->pods[0]->shape : NULL;
    if (!is_plain(core, p) || shape->fill.layout != core->marks.layout || shape->fill.shortage.kept)
        return;
    gang_is_full(p->gang, shape, shape->fill.version, want);
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
