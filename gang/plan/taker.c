/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/taker.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/queue_check.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

bool same_namespace(const struct gang *a, const struct gang *b)
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
    struct taker taker = {.core = core, .gang = gang, .queue = queue_of_gang(core, gang)};
    gang_count(core, gang);
    if (core->queues.root && gang->queue && gang->queue != core->queues.none)
        taker.entitled = gang_entitled(core, gang, &taker.what);
    return taker;
}

void taker_remembers(struct taker *taker)
{
    taker->round = ++taker->core->taker_rounds;
}

/* The branch of another queue that has borrowed what the taker may take back; NULL: none. */
static struct queue *lending_branch(const struct taker *taker, struct queue *theirs)
{
    struct queue *branch = queue_that_lends(taker->queue, theirs, taker->entitled);
    return branch && queue_lent(taker->core, branch, &taker->what).n ? branch : NULL;
}

/* What is the same for all gangs and pods of a queue. It depends on all queues above it. */
static const struct queue_as_victim *as_victim(const struct taker *taker, struct queue *theirs)
{
    struct queue_as_victim *v = &theirs->as_victim;
    if (v->round == taker->round)
        return v;
    bool own = theirs == taker->queue;
    v->round = taker->round;
    v->branch = own ? NULL : lending_branch(taker, theirs);
    bool above = v->branch && !taker->core->config.reclaim_runtime_of_queue;
    v->min_runtime =
        queue_min_runtime(above ? v->branch : theirs, /* reclaim= */ v->branch != NULL);
    return v;
}

struct take may_take(const struct taker *taker, struct queue *theirs, bool lower)
{
    theirs = theirs ? theirs : taker->core->queues.none;
    if (theirs == taker->queue)
        return (struct take){.may = lower};
    struct queue *branch =
        taker->round ? as_victim(taker, theirs)->branch : lending_branch(taker, theirs);
    if (!branch)
        return (struct take){.may = false};
    return (struct take){.may = true, .queue = theirs, .branch = branch};
}

bool gang_has_won(const struct gang_core *core, const struct gang *gang)
{
    return gang->preempting.won == core->outside + 1;
}

struct take may_hit(const struct taker *taker, const struct gang *victim)
{
    if (victim == taker->gang || victim->over)
        return (struct take){.may = false};
    struct take take = may_take(taker, victim->queue, is_lower(victim, taker->gang));
    if (take.branch && gang_has_won(taker->core, victim))
        take.may = false;
    take.may = take.may && !gang_is_firm(victim); /* last, because this looks at all members */
    return take;
}

bool has_run(const struct taker *taker, struct queue *queue, usec_t since)
{
    usec_t least = queue ? as_victim(taker, queue)->min_runtime : 0;
    return !least || api_time(taker->core) - since >= least;
}

usec_t take_rests_until(const struct taker *taker, struct take take)
{
    return take.branch ? queue_rests_until(taker->core, take.branch, &taker->what) : 0;
}

/* ---- what is removed in a trial ---- */

struct borrowed borrowed_before(const struct trial *t, const struct taker *taker, struct take from)
{
    struct borrowed b = {.what = queue_lent(t->core, from.branch, &taker->what),
                         .mark = trial_mark(t)};
    b.used = queue_uses(t->core, from.branch, &b.what);
    return b;
}

/* A queue that has less devices than it deserves without what was removed since the mark. */
static const struct queue *below_devices(const struct trial *t, struct trial_mark since,
                                         struct take from)
{
    const struct signature *last = NULL;
    const struct queue *below = NULL;
    for (size_t i = since.n; i < t->n && !below; i++) {
        const struct signature *left = trial_left_signature(t, i);
        if (left && left != last)
            below = queue_below_devices(t->core, from.queue, from.branch, left);
        last = left;
    }
    return below;
}

bool only_borrowed(const struct trial *t, const struct taker *taker, struct take from,
                   const struct borrowed *before, const struct queue **ret_below)
{
    const struct queue *below =
        queue_below_deserved(t->core, from.queue, from.branch, &taker->what);
    if (!below && !taker->what.devices)
        below = below_devices(t, before->mark, from);
    *ret_below = below;
    return !below && queue_uses(t->core, from.branch, &before->what) < before->used;
}
