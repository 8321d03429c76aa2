/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/world_queues.h"

#include <stdio.h>

struct gang_queue_facts *world_queue_facts(const char *name, const char *parent)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(name)};
    f->uid = xasprintf("uid-%s", name);
    f->parent = xstrdup_null(parent);
    f->created = 1;
    return f;
}

void world_queue_set(struct world *w, struct gang_queue_facts *facts)
{
    struct gang_event ev = {.kind = GANG_EV_QUEUE_SET, .queue = facts};
    world_step(w, &ev, 1);
}

void world_queue(struct world *w, const char *name, const char *parent, int64_t deserved,
                 int64_t cap)
{
    struct gang_queue_facts *f = world_queue_facts(name, parent);
    struct gang_quota *q = gang_quota_add(f, GPU);
    q->deserved = deserved;
    q->cap = cap;
    world_queue_set(w, f);
}

void world_queue_weight(struct world *w, const char *name, int weight)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    f->weight = 1000 * weight;
    world_queue_set(w, f);
}

void world_queue_gone(struct world *w, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_QUEUE_GONE};
    ev.gone = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(name)};
    world_step(w, &ev, 1);
}

void world_queued(struct world *w, const char *name, const char *queue, int min, int gpus)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    f->queue = xstrdup_null(queue);
    f->created = w->now;
    f->schedule_timeout = SECONDS(3000);
    world_group_set(w, f);
    world_members(w, name, 0, min, gpus);
}

void world_ends(struct world *w, const char *name, int members)
{
    for (int i = 0; i < members; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        world_pod_gone(w, pod);
    }
}

void world_starts(struct world *w, const char *name, int members, int gpus)
{
    world_forget(w);
    world_try_members(w, name, 0, members);
    for (size_t i = 0; i < w->n_bindings; i++) {
        char pod[256];
        const char *at = strchr(w->bindings[i], '@');
        snprintf(pod, sizeof pod, "%.*s", (int)(at - w->bindings[i]), w->bindings[i]);
        world_result(w, pod, at + 1, OUTCOME_OK);
        world_pod_seen(w, pod, name, gpus, at + 1, PHASE_RUNNING);
    }
    assert_string_equal(world_state(w, name), "Scheduled");
}

struct wanted {
    const char *name, *resource;
    struct gang_queue_amount amount;
    int64_t credit;
};

static void pick(void *arg, const struct gang_queue_view *view)
{
    struct wanted *x = arg;
    if (strcmp(view->status.ref->name, x->name) != 0)
        return;
    x->credit = view->credit;
    for (size_t i = 0; i < view->status.n_amounts; i++)
        if (strcmp(view->status.amounts[i].resource, x->resource) == 0)
            x->amount = view->status.amounts[i];
}

static struct wanted look_up(const struct world *w, const char *name, const char *resource)
{
    struct wanted x = {.name = name, .resource = resource};
    gang_core_queues(w->core, 0, SIZE_MAX, pick, &x);
    return x;
}

int64_t world_queue_used(const struct world *w, const char *name, const char *resource)
{
    return look_up(w, name, resource).amount.used;
}

int64_t world_queue_requested(const struct world *w, const char *name, const char *resource)
{
    return look_up(w, name, resource).amount.requested;
}

int64_t world_queue_share(const struct world *w, const char *name, const char *resource)
{
    return look_up(w, name, resource).amount.share;
}

int64_t world_queue_credit(const struct world *w, const char *name)
{
    return look_up(w, name, "").credit;
}
