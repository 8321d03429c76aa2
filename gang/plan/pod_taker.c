/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/pod_taker.h"

#include "gang/cluster/kube_preemptions.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/victims.h"

/* About 20 ms: what one preempt call may spend here. A removed pod costs WORK_PER_POD, and 1 for
 * each queue above it. */
#define WORK_MAX     100000
#define WORK_PER_POD 8

/* ---- what the pod's queue may take ---- */

/* The queue below the root in which the queue is. */
static const struct queue *top_of(const struct queue *queue)
{
    while (queue->level > 1)
        queue = queue->parent;
    return queue;
}

/* What the pod requests, and in `needs` also what others in the same part of the tree are about to
 * use, of the same resources. */
struct claimed {
    const struct pod *pod;
    struct need *needs;
    size_t n;
};

/* The pod has preempted others, but its queue does not count it yet. */
static void add_preemptor(struct pod_taker *t, struct claimed *claimed, const struct pod *pod)
{
    const struct gang_core *core = t->taker.core;
    const struct queue *queue = queue_of_pod(core, pod);
    t->work_left--;
    if (pod == claimed->pod || queue == core->queues.none ||
        top_of(queue) != top_of(t->taker.queue))
        return;
    for (size_t i = 0; i < claimed->n; i++) {
        struct need *need = &claimed->needs[i];
        int64_t more = signature_need(pod->signature, need->resource);
        if (__builtin_add_overflow(need->amount, more, &need->amount))
            need->amount = INT64_MAX / 2;
    }
}

static void add_preemptors(struct pod_taker *t, struct claimed *claimed)
{
    const struct gang_core *core = t->taker.core;
    map_for_each (e, &core->kube_preemptions.by_preemptor) {
        const struct pod *pod = kube_preemptor(core, e);
        t->work_left--;
        if (pod)
            add_preemptor(t, claimed, pod);
    }
    if (!core->n_nominated_room)
        return;
    t->work_left -= (int64_t)map_count(&core->nodes) / LOOKS_PER_WORK;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        list_for_each (pod, &node->nominated_room, struct pod, in_nominated_room)
            add_preemptor(t, claimed, pod);
    }
}

static void find_entitled(struct pod_taker *t, const struct pod *pod)
{
    const struct signature *s = pod->signature;
    cleanup_free struct need *needs = xcalloc(s->n_needs + 1, sizeof *needs);
    for (size_t i = 0; i < s->n_needs; i++)
        needs[i] = s->needs[i];
    struct claimed claimed = {pod, needs, s->n_needs};
    t->taker.what = reclaimed_for(t->taker.core, (struct need_list){s->needs, s->n_needs, 1});
    add_preemptors(t, &claimed);
    t->taker.entitled =
        queue_entitled(t->taker.core, t->taker.queue, (struct need_list){needs, s->n_needs, 1});
}

/* ---- one call ---- */

/* Removes what kube-scheduler will evict because of earlier calls. */
static void without_earlier_victims(struct pod_taker *t)
{
    struct gang_core *core = t->taker.core;
    map_for_each (e, &core->kube_preemptions.by_victim) {
        struct pod *pod = kube_victim(core, e);
        t->work_left -= pod ? WORK_PER_POD : 1;
        if (t->work_left <= 0)
            return;
        if (pod)
            trial_without_pod(&t->trial, pod);
    }
}

struct pod_taker pod_taker_begin(struct gang_core *core, const struct gang_pod_facts *facts,
                                 const struct pod *pod)
{
    bool missing = false;
    struct pod_taker t = {.taker = {.core = core}, .work_left = WORK_MAX};
    struct queue *queue = core->queues.root ? queue_of_single(core, facts, &missing) : NULL;
    t.is_free = !missing && (!queue || queue == core->queues.none);
    if (t.is_free)
        return t;
    t.trial = trial_begin(core);
    t.taker.queue = queue;
    /* Queues still count pods that are ending or will end, so a queue could lend the same room
     * twice. */
    if (spend_on_ending(core, &t.work_left, WORK_PER_POD)) {
        trial_without_ending(&t.trial);
        without_earlier_victims(&t);
    }
    if (missing)
        t.work_left = 0; /* no gang could start in it either */
    else if (pod)
        find_entitled(&t, pod);
    t.base = trial_mark(&t.trial);
    taker_remembers(&t.taker);
    return t;
}

void pod_taker_end(struct pod_taker *t)
{
    if (!t->is_free)
        trial_end(&t->trial);
}

/* ---- the victims of one node ---- */

static struct take take_from(struct pod_taker *t, const struct pod *pod, struct queue *queue)
{
    struct gang_core *core = t->taker.core;
    if (queue == core->queues.none)
        return (struct take){.may = true};
    struct take take = may_take(&t->taker, queue, /* lower= */ true);
    if (take.branch && pod->gang && gang_has_won(core, pod->gang))
        take.may = false;
    take.may = take.may && !pod_is_firm(pod, queue) && has_run(&t->taker, queue, pod_start(pod)) &&
               !take_rests_until(&t->taker, take);
    return take;
}

static bool take_one(struct pod_taker *t, struct pod *pod, struct take take)
{
    const struct queue *below;
    uint64_t compared = t->taker.core->budgets.compared;
    if (!take.branch) {
        trial_without_pod(&t->trial, pod);
        return true;
    }
    struct borrowed before = borrowed_before(&t->trial, &t->taker, take);
    if (!before.what.n)
        return false;
    trial_without_pod(&t->trial, pod);
    t->work_left -= WORK_PER_POD + take.queue->level;
    t->work_left -= (int64_t)(t->taker.core->budgets.compared - compared) / LOOKS_PER_WORK;
    return only_borrowed(&t->trial, &t->taker, take, &before, &below);
}

bool pod_may_take(struct pod_taker *t, const struct gang_victims *victims)
{
    struct gang_core *core = t->taker.core;
    if (t->is_free)
        return true;
    struct one {
        struct pod *pod; /* NULL: it uses no room, or muster does not know it */
        struct take take;
    };
    cleanup_free struct one *all = xcalloc(victims->n + 1, sizeof *all);
    t->work_left -= (int64_t)victims->n;
    bool may = t->work_left >= 0;
    for (size_t i = 0; i < victims->n && may; i++) { /* before any of them is removed */
        struct pod *pod = pod_by_uid(core, victims->uids[i]);
        if (!pod || !pod_runs(pod))
            continue;
        all[i] = (struct one){pod, take_from(t, pod, queue_of_pod(core, pod))};
        may = all[i].take.may;
    }
    for (size_t i = 0; i < victims->n && may; i++)
        if (all[i].pod && pod_runs(all[i].pod)) /* else it is listed twice */
            may = take_one(t, all[i].pod, all[i].take);
    trial_back(&t->trial, t->base);
    return may && t->work_left >= 0;
}
