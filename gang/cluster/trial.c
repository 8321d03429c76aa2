/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/trial.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/nodes.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reservations.h"

struct trial_change {
    enum { RESERVED, POD_OFF, POD_ON, SLOT_OFF, NODE_ON } what;
    struct slot *slot;
    struct slot_position position; /* SLOT_OFF: where the slot was */
    struct pod *pod;
    struct charge_position was; /* POD_OFF: where the pod was; POD_ON: the node before */
    struct node *node;          /* NODE_ON */
    size_t n_ids;               /* NODE_ON: core->n_ids before */
};

struct trial trial_begin(struct gang_core *core)
{
    marks_pause(core);
    return (struct trial){.core = core, .begin = {0, core->marks.layout}};
}

static struct trial_change *add(struct trial *t)
{
    GROW(t->changes, t->cap, t->n + 1);
    return &t->changes[t->n++];
}

struct slot *trial_reserve(struct trial *t, struct gang *gang, struct unit *unit,
                           struct signature *signature, struct node *node, struct pod *pod)
{
    struct slot *slot = slot_add_uncounted(t->core, gang, unit, signature, node);
    if (pod)
        slot_take(t->core, slot, pod);
    *add(t) = (struct trial_change){.what = RESERVED, .slot = slot};
    return slot;
}

struct slot *trial_slot(const struct trial *t, size_t i)
{
    return t->changes[i].what == RESERVED ? t->changes[i].slot : NULL;
}

struct node *trial_left_node(const struct trial *t, size_t i)
{
    const struct trial_change *c = &t->changes[i];
    return c->what == POD_OFF ? c->was.node : c->what == SLOT_OFF ? c->slot->node : NULL;
}

const struct signature *trial_left_signature(const struct trial *t, size_t i)
{
    const struct trial_change *c = &t->changes[i];
    return c->what == POD_OFF ? c->pod->signature : c->what == SLOT_OFF ? c->slot->signature : NULL;
}

void trial_count(struct trial *t)
{
    struct queue_batch batch = {.n = 0};
    for (; t->n_counted < t->n; t->n_counted++)
        if (t->changes[t->n_counted].what == RESERVED)
            queue_batch_add(t->core, &batch, t->changes[t->n_counted].slot);
    queue_batch_end(t->core, &batch);
}

void trial_without_pod(struct trial *t, struct pod *pod)
{
    struct trial_change *c = add(t);
    *c = (struct trial_change){.what = POD_OFF, .pod = pod};
    c->was = charge_lift(t->core, pod);
    budget_take(t->core, pod, 1);
}

void trial_with_pod(struct trial *t, struct pod *pod, struct node *node)
{
    struct charge_position position = charge_position_on(node);
    *add(t) = (struct trial_change){.what = POD_ON, .pod = pod, .was = position};
    position.changed = t->core->marks.clock + 1;
    charge_lower(t->core, pod, &position);
    budget_take(t->core, pod, -1);
}

void trial_without_slot(struct trial *t, struct slot *slot)
{
    struct trial_change *c = add(t);
    *c = (struct trial_change){.what = SLOT_OFF, .slot = slot};
    c->position = slot_lift(t->core, slot);
}

struct node *trial_with_node(struct trial *t, const struct node *like)
{
    size_t n_ids = t->core->n_ids;
    struct node *node = node_trial_add(t->core, like);
    *add(t) = (struct trial_change){.what = NODE_ON, .node = node, .n_ids = n_ids};
    return node;
}

static void revert(struct gang_core *core, const struct trial_change *c)
{
    switch (c->what) {
    case RESERVED:
        slot_free(core, c->slot);
        break;
    case POD_OFF:
        budget_take(core, c->pod, -1);
        charge_lower(core, c->pod, &c->was);
        break;
    case POD_ON:
        budget_take(core, c->pod, 1);
        charge_lift(core, c->pod);
        node_changed_at(c->was.node, c->was.changed);
        break;
    case SLOT_OFF:
        slot_lower(core, c->slot, &c->position);
        break;
    case NODE_ON:
        node_trial_remove(core, c->node, c->n_ids);
        break;
    }
}

void trial_back(struct trial *t, struct trial_mark mark)
{
    while (t->n > mark.n)
        revert(t->core, &t->changes[--t->n]);
    if (t->n_counted > t->n)
        t->n_counted = t->n;
    layout_restore(t->core, mark.layout);
}

void trial_keep(struct trial *t)
{
    trial_count(t);
    marks_resume(t->core);
    struct queue *touched = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct slot *slot = t->changes[i].slot;
        node_touch(t->core, slot->node);
        if (slot->counted_in != touched) {
            touched = slot->counted_in;
            queue_touch(t->core, touched);
            queue_want_changed(t->core, touched);
        }
        if (slot->pod)
            queue_early_rejections_over(slot->pod);
    }
    t->n = t->n_counted = 0;
}

void trial_end(struct trial *t)
{
    if (t->n)
        trial_back(t, t->begin);
    marks_resume(t->core);
    free(t->changes);
}
