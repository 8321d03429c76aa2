/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_queues.c - queues of all APIs, and gangs and pods that name them. Amounts are small, so
 * that limits are reached often. Most queues form a tree that gangs can use; some have cycles,
 * missing parents, or numbers that contradict each other.
 */
#include "test/prop/random_ops.h"

/* Queues that PodGroups can name: those in their API group. */
enum { GROUP_QUEUES = 7 };

/* A queue in the same API group that exists and has no parent, or -1. */
static int draw_top(struct drawing *d, int q)
{
    bool tops[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        tops[i] = d->queue[i] && i != q && (i < GROUP_QUEUES) == (q < GROUP_QUEUES) &&
                  (!op_has(&d->queue_spec[i], A_UNDER) || chance(d, 20));
    return pick(d, tops, QUEUES, true);
}

void draw_queue(struct drawing *d)
{
    int q = (int)draw(d, QUEUES);
    if (d->queue[q] && chance(d, 20)) {
        line(d, OP_NOQUEUE, 'q', q);
        d->queue[q] = false;
        return;
    }
    struct op op = op_make(OP_QUEUE, 'q', q);
    draw_traits(d, &op);
    int top = chance(d, 60) ? draw_top(d, q) : -1;
    if (top >= 0)
        op_set(&op, A_UNDER, top);
    else if (chance(d, 10))
        op_set(&op, A_UNDER, (int32_t)draw(d, QUEUES));
    d->queue[q] = true;
    d->queue_spec[q] = op;
    add(d, &op);
}

void draw_namespace(struct drawing *d)
{
    struct op op = op_make(chance(d, 70) ? OP_NAMESPACE : OP_NONAMESPACE, 's', 0);
    if (op.kind == OP_NAMESPACE)
        op_set(&op, A_NAMES, draw_name(d, GROUP_QUEUES));
    add(d, &op);
}

int draw_name(struct drawing *d, int below)
{
    bool leaves[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        leaves[i] = d->queue[i] && i < below;
    for (int i = 0; i < QUEUES; i++)
        if (d->queue[i] && op_has(&d->queue_spec[i], A_UNDER))
            leaves[d->queue_spec[i].value[A_UNDER]] = false;
    int q = chance(d, 85) ? pick(d, leaves, QUEUES, true) : -1;
    return q >= 0 ? q : (int)draw(d, (uint32_t)below);
}

void name_queue(struct drawing *d, struct op *op)
{
    bool group = op->kind == OP_GROUP;
    if (d->on[F_QUEUES] && chance(d, group ? 75 : 40))
        op_set(op, A_NAMES, draw_name(d, group ? GROUP_QUEUES : QUEUES));
}

/* Moves a gang or a pod to another queue. */
void draw_move(struct drawing *d)
{
    int g = pick(d, d->group, GROUPS, true), p = pick(d, d->pod, PODS, true);
    if (g >= 0 && d->group_spec[g].class && chance(d, 60)) {
        struct op op = d->group_spec[g];
        op_unset(&op, A_NAMES);
        name_queue(d, &op);
        d->group_spec[g] = op;
        add(d, &op);
    } else if (p >= 0) {
        struct op op = op_make(OP_MOVE, 'p', p);
        name_queue(d, &op);
        add(d, &op);
    }
}

void draw_queues(struct drawing *d)
{
    for (uint32_t i = 2 + draw(d, 4); i > 0; i--)
        draw_queue(d);
    if (chance(d, 25))
        draw_namespace(d);
}
