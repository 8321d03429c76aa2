/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/pod_taker.h"

#include "gang/cluster/queue_usage.h"

/* About 20 ms. kube-scheduler compares some hundred nodes at most. */
#define WORK_PER_CALL 100000

struct pod_taker pod_taker_of(struct gang_core *core, const struct gang_pod_facts *facts,
                              const struct pod *pod)
{
    bool missing = false;
    struct pod_taker t = {.taker = {.core = core}, .work_left = WORK_PER_CALL};
    struct queue *queue = core->queues.root ? queue_of_single(core, facts, &missing) : NULL;
    t.is_free = !queue || queue == core->queues.none;
    if (t.is_free)
        return t;
    t.taker.queue = queue;
    taker_begins_list(&t.taker);
    if (pod) {
        struct need_list needs = {pod->signature->needs, pod->signature->n_needs, 1};
        t.taker.what = reclaimed_for(core, needs);
        t.taker.entitled = queue_entitled(core, queue, needs);
    }
    return t;
}

/* Whether the pod is on a node and uses room there. kube-scheduler may know less than muster. */
static bool uses_room(const struct pod *pod)
{
    return pod && pod->node && pod_counts(pod) && !pod_is_finished(pod);
}

static struct take take_from(struct pod_taker *t, const struct pod *pod)
{
    struct gang_core *core = t->taker.core;
    struct queue *queue = queue_of_pod(core, pod);
    struct take take = may_take(&t->taker, queue, /* lower= */ true);
    if (take.branch && pod->gang && gang_has_won(core, pod->gang))
        take.may = false;
    take.may = take.may && !pod_is_firm(pod, queue) && has_run(&t->taker, queue, pod_start(pod)) &&
               !take_rests_until(&t->taker, take);
    return take;
}

static bool keeps_deserved(struct pod_taker *t, struct trial *trial, struct pod *pod,
                           struct take take)
{
    if (!take.branch) {
        trial_without_pod(trial, pod);
        return true;
    }
    t->work_left -= take.queue->level;
    struct borrowed before = borrowed_before(trial, &t->taker, take);
    if (!before.what.n)
        return false;
    trial_without_pod(trial, pod);
    return only_borrowed(trial, &t->taker, take, &before);
}

/* Whether the queues of all victims keep what they deserve without them. */
static bool all_keep_deserved(struct pod_taker *t, const struct gang_victims *victims,
                              const struct take *takes)
{
    struct trial trial = trial_begin(t->taker.core);
    bool keep = true;
    for (size_t i = 0; i < victims->n && keep; i++) {
        struct pod *pod = pod_by_uid(t->taker.core, victims->uids[i]);
        if (uses_room(pod))
            keep = keeps_deserved(t, &trial, pod, takes[i]);
    }
    trial_end(&trial);
    return keep;
}

bool pod_may_take(struct pod_taker *t, const struct gang_victims *victims)
{
    if (t->is_free)
        return true;
    bool borrowed = false;
    cleanup_free struct take *takes = xcalloc(victims->n + 1, sizeof *takes);
    t->work_left -= (int64_t)victims->n;
    if (t->work_left < 0)
        return false;
    for (size_t i = 0; i < victims->n; i++) {
        const struct pod *pod = pod_by_uid(t->taker.core, victims->uids[i]);
        if (!uses_room(pod))
            continue;
        takes[i] = take_from(t, pod);
        if (!takes[i].may)
            return false;
        borrowed |= takes[i].branch != NULL;
    }
    return !borrowed || all_keep_deserved(t, victims, takes);
}
