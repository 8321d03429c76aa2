/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_queue.h"

#include "base/must.h"
#include "gang/cluster/lookup.h"

void pod_reject(struct gang_core *core, struct pod *pod, bool rejected)
{
    core->n_refused -= pod->queue.rejected && pod->queue.refused;
    pod->queue.rejected = rejected;
    core->n_refused += pod->queue.rejected && pod->queue.refused;
}

void pod_refuse(struct gang_core *core, struct pod *pod)
{
    pod_reject(core, pod, false);
    pod->queue.refused = true;
    pod_reject(core, pod, true);
}

/* ---- blocked pods ---- */

struct blocked_pod {
    struct fair_queue_item item;
    struct fair_queue *in; /* one of core->blocked */
    struct pod *pod;
};

void blocked_init(struct gang_core *core)
{
    fair_queue_init(&core->blocked[0], /* turn= */ 1);
    fair_queue_init(&core->blocked[1], /* turn= */ 1);
}

void blocked_done(struct gang_core *core)
{
    fair_queue_done(&core->blocked[0]);
    fair_queue_done(&core->blocked[1]);
}

static struct fair_queue *unchecked(struct gang_core *core)
{
    return &core->blocked[core->blocked_at];
}

static struct fair_queue *checked(struct gang_core *core)
{
    return &core->blocked[!core->blocked_at];
}

static void block_in(struct pod *pod, struct fair_queue *in)
{
    pod->queue.blocked->in = in;
    fair_queue_push(in, pod->facts->ns, &pod->queue.blocked->item);
}

void unblock_pod(struct pod *pod)
{
    struct blocked_pod *b = STEAL(pod->queue.blocked);
    if (b)
        fair_queue_remove(b->in, &b->item);
    free(b);
}

void block_pod(struct gang_core *core, struct pod *pod)
{
    if (pod->queue.blocked && pod->queue.blocked->in == unchecked(core))
        return;
    unblock_pod(pod);
    pod->queue.blocked = xcalloc(1, sizeof *pod->queue.blocked);
    pod->queue.blocked->pod = pod;
    block_in(pod, unchecked(core));
}

void blocked_recheck(struct gang_core *core, struct gang *gang)
{
    if (!core->marks.dry)
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (pod->queue.blocked)
                block_pod(core, pod);
}

struct pod *blocked_next(struct gang_core *core)
{
    struct fair_queue_item *item = fair_queue_first(unchecked(core));
    if (!item)
        return NULL;
    struct pod *pod = CONTAINER_OF(item, struct blocked_pod, item)->pod;
    fair_queue_serve(unchecked(core), item);
    block_in(pod, checked(core));
    return pod;
}

bool blocked_all_checked(const struct gang_core *core)
{
    return core->blocked[core->blocked_at].n == 0;
}

void blocked_check_all(struct gang_core *core)
{
    MUST(blocked_all_checked(core));
    core->blocked_at = !core->blocked_at;
}

/* ---- filter calls ---- */

void queue_joined(const struct gang_core *core, struct pod *pod)
{
    pod->queue.joined = core->now;
}

void queue_asked(const struct gang_core *core, struct pod *pod)
{
    queue_joined(core, pod);
    pod->queue.asked = pod->queue.was_asked = true;
    pod->queue.early_rejections = 0;
}

bool queue_wrote(struct pod *pod)
{
    bool asked = pod->queue.asked;
    pod->queue.asked = false;
    return asked;
}

int queue_rejected_early(struct pod *pod)
{
    return pod->queue.early_rejections++;
}

void queue_early_rejections_over(struct pod *pod)
{
    pod->queue.early_rejections = 0;
}
