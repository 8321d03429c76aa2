/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_suspensions.c - gangs whose workload can be suspended, and what muster and users do with
 * their workloads.
 */
#include "test/prop/random_ops.h"

/* GPUs of a large node. Two pods with more than half of them do not fit on it, and no other node
 * has as many. */
enum { LARGE = 10, LARGE_NODES = 3 };

void draw_patch(struct drawing *d)
{
    line(d, OP_PATCH, 0, 0);
}

void draw_workload(struct drawing *d)
{
    line(d, chance(d, 50) ? OP_SUSPEND : OP_RESUME, 'g', pick(d, d->group, GROUPS, true));
}

void draw_suspensions(struct drawing *d)
{
    for (uint32_t i = draw(d, 3); i > 0; i--)
        draw_patch(d);
    if (d->on[F_KILLS] && chance(d, 30))
        line(d, OP_KILL, 0, 0);
    if (chance(d, 20)) {
        struct op op = op_make(OP_WAIT, 0, 0);
        op_set(&op, A_TIME, 31000);
        add(d, &op);
    }
    if (chance(d, 20))
        draw_workload(d);
}

/* A gang whose members each need a large node. */
static void large_gang(struct drawing *d, int g, int min, int members, int priority)
{
    struct op op = op_make(OP_GROUP, 'g', g);
    op_set(&op, A_MIN, min);
    op_set(&op, A_PRIO, priority);
    if (chance(d, 80))
        op_set(&op, A_SUSPENDS, 1);
    name_queue(d, &op);
    d->group[g] = true;
    d->last = g;
    d->group_spec[g] = op;
    add(d, &op);
    d->member[g] = op_make(OP_POD, 'p', 0);
    op_set(&d->member[g], A_GPUS, LARGE / 2 + 1 + (int32_t)draw(d, LARGE / 2));
    for (int i = 0; i < members; i++)
        plain_member(d, g);
}

static void end_members(struct drawing *d, int g)
{
    for (int p = 0; p < PODS; p++)
        if (d->pod[p] && op_get(&d->pod_spec[p], A_LINK, -1) == g) {
            line(d, OP_NOPOD, 'p', p);
            d->pod[p] = false;
        }
}

void draw_suspended(struct drawing *d)
{
    int g = (int)draw(d, GROUPS), h = (g + 1 + (int)draw(d, GROUPS - 1)) % GROUPS;
    int nodes = 1 + (int)draw(d, LARGE_NODES), min = 1 + (int)draw(d, (uint32_t)nodes);
    for (int n = 0; n < NODES; n++) {
        if (n >= nodes && d->node[n])
            set_node(d, n);
        if (n >= nodes)
            continue;
        struct op op = op_make(OP_NODE, 'n', n);
        op_set(&op, A_GPUS, LARGE);
        d->node[n] = true;
        d->node_spec[n] = op;
        add(d, &op);
    }
    large_gang(d, g, min, nodes, 0);
    line(d, OP_CALM, 0, 0);
    if (chance(d, 50))
        for (int p = 0; p < PODS; p++)
            if (d->pod[p] && chance(d, 50))
                line(d, OP_RUN, 'p', p);
    large_gang(d, h, 1 + (int)draw(d, (uint32_t)nodes), nodes, 5);
    draw_suspensions(d);
    draw_some(d, 3);
    if (chance(d, 60))
        line(d, OP_CALM, 0, 0);
    end_members(d, h);
    draw_suspensions(d);
}
