/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_quiet_runs.c - short runs with few events, each with a calm phase at its end. If muster
 * forgets to wake a pod, no other event wakes it, and the run fails.
 */
#include "test/prop/random_ops.h"

int plain_member(struct drawing *d, int g)
{
    int p = pick(d, d->pod, PODS, false);
    if (p < 0)
        return -1;
    struct op op = d->member[g];
    op.subject = p;
    op_set(&op, A_LINK, g);
    ops_add(d->ops, &op);
    d->pod[p] = true;
    d->pod_spec[p] = op;
    return p;
}

/* A filter call that does not offer some of the nodes. */
static void draw_refused(struct drawing *d)
{
    struct op op = op_make(OP_FILTER, 0, 0);
    op_set(&op, A_HIDE, (int32_t)(draw(d, 256) & draw(d, 256)));
    add(d, &op);
}

static void draw_pause(struct drawing *d)
{
    struct op op = op_make(OP_WAIT, 0, 0);
    op_set(&op, A_TIME, (int32_t)(1000 * draw(d, 100)));
    add(d, &op);
}

static void story_gang(struct drawing *d)
{
    draw_gang(d);
    draw_some(d, 20);
}

/* kube-scheduler makes few calls, and the attempt times out. */
static void story_timeout(struct drawing *d)
{
    draw_gang(d);
    draw_some(d, 3);
    draw_pause(d);
    int g = pick_group(d);
    if (chance(d, 60)) {
        draw_elsewhere(d);
        draw_elsewhere(d);
    } else if (g >= 0 && chance(d, 20)) {
        line(d, OP_NOGROUP, 'g', g);
        d->group[g] = false;
    } else if (g >= 0 && chance(d, 20)) {
        draw_kin(d, g);
    }
}

/* A plan that fails keeps ordinary pods out. */
static void story_kept_out(struct drawing *d)
{
    draw_gang(d);
    for (int i = 0; i < 4; i++)
        draw_member(d, -1);
    for (int i = 0; i < 8; i++)
        line(d, OP_FILTER, 0, 0);
    int g = pick_group(d);
    for (int i = 0; i < 3; i++)
        draw_refused(d);
    if (g >= 0 && chance(d, 60)) {
        line(d, OP_NOGROUP, 'g', g);
        d->group[g] = false;
    } else {
        draw_pause(d);
    }
}

/* Members are refused until their PodGroup is created. */
static void story_word(struct drawing *d)
{
    int g = (int)draw(d, GROUPS);
    draw_members(d, g);
    line(d, OP_CALM, 0, 0);
    if (d->on[F_KILLS] && chance(d, 30))
        line(d, OP_KILL, 0, 0);
    draw_group(d, g);
}

/* A gang without a member on its way: it waits for room, has a plan, is in a backoff, or is Done.
 * Returns its group, or -1. */
static int draw_still(struct drawing *d)
{
    enum { WAITS, PLANNED, BACKED_OFF, DONE };
    static const int states[] = {WAITS, PLANNED, BACKED_OFF, BACKED_OFF, DONE, DONE};
    int g = (int)draw(d, GROUPS), state = states[draw(d, ARRAY_SIZE(states))];
    struct op op = op_make(OP_GROUP, 'g', g);
    op_set(&op, A_MIN, 1);
    op_set(&op, A_TIMEOUT, state == BACKED_OFF ? 1000 : 60000);
    d->group[g] = true;
    d->last = g;
    d->group_spec[g] = op;
    ops_add(d->ops, &op);
    d->member[g] = op_make(OP_POD, 'p', 0);
    op_set(&d->member[g], A_GPUS, state == WAITS || state == BACKED_OFF ? 9 : 0);
    int p = plain_member(d, g);
    if (p < 0)
        return -1;
    if (state == BACKED_OFF) {
        op = op_make(OP_WAIT, 0, 0);
        op_set(&op, A_TIME, 1500);
        ops_add(d->ops, &op);
    } else if (state == DONE) {
        line(d, OP_CALM, 0, 0);
        op = op_make(OP_SUCCEED, 'p', p);
        ops_add(d->ops, &op);
    }
    return g;
}

/* A pod is linked to another group while its Binding is in flight, in the step with the result. */
static void story_relink(struct drawing *d)
{
    int g = draw_still(d), p = pick(d, d->pod, PODS, false);
    struct op op = op_make(OP_POD, 'p', p);
    if (p < 0)
        return;
    d->pod[p] = true;
    d->pod_spec[p] = op;
    ops_add(d->ops, &op);
    line(d, OP_FILTER, 'p', p);
    line(d, OP_BIND, 'p', p);
    op = op_make(OP_RELINK, 'p', p);
    if (g >= 0)
        op_set(&op, A_LINK, g);
    op.joined = true;
    ops_add(d->ops, &op);
    op = op_make(OP_RESULT, 'p', p);
    if (chance(d, 70))
        op_set(&op, chance(d, 50) ? A_REFUSED : A_UNCLEAR, 1);
    ops_add(d->ops, &op);
    for (int i = 0; i < 2; i++)
        line(d, OP_READ, 0, 0);
}

/* Two gangs with equal demands, which may compete for room. */
static void story_order(struct drawing *d)
{
    int first = (int)draw(d, GROUPS), members = 1 + (int)draw(d, 3);
    struct op like = op_make(OP_POD, 'p', 0);
    op_set(&like, A_GPUS, 1 + (int32_t)draw(d, 3));
    for (int i = 0; i < 2; i++) {
        int g = (first + i) % GROUPS;
        struct op op = op_make(OP_GROUP, 'g', g);
        op_set(&op, A_MIN, members);
        op_set(&op, A_PRIO, (int32_t)draw(d, 3));
        d->group[g] = true;
        d->group_spec[g] = op;
        add(d, &op);
        d->member[g] = like;
        for (int k = 0; k < members; k++)
            draw_member(d, g);
    }
    line(d, OP_REBUILD, 0, 0);
}

/* A result or a read, which often fails or is unclear. */
static void draw_fault(struct drawing *d)
{
    struct op op = op_make(chance(d, 80) ? OP_RESULT : OP_READ, 0, 0);
    if (chance(d, 35))
        op_set(&op, A_UNCLEAR, 1);
    else if (op.kind == OP_RESULT && chance(d, 45))
        op_set(&op, A_REFUSED, 1);
    add(d, &op);
}

/* A member is deleted. The gang waits for it as an expected member until the attempt times out. */
static void story_expected(struct drawing *d)
{
    int g = (int)draw(d, GROUPS);
    struct op op = op_make(OP_GROUP, 'g', g);
    op_set(&op, A_MIN, 2 + (int32_t)draw(d, 3));
    op_set(&op, A_TIMEOUT, chance(d, 50) ? 3000 : 500 * (1 + (int32_t)draw(d, 4)));
    d->group[g] = true;
    d->last = g;
    d->group_spec[g] = op;
    ops_add(d->ops, &op);
    d->member[g] = op_make(OP_POD, 'p', 0);
    op_set(&d->member[g], A_GPUS, (int32_t)draw(d, 3));
    int p = -1;
    for (int i = op_get(&op, A_MIN, 0); i > 0; i--)
        p = plain_member(d, g);
    if (p >= 0) {
        op = op_make(OP_NOPOD, 'p', p);
        ops_add(d->ops, &op);
        d->pod[p] = false;
    }
    static const int32_t waits[] = {500, 1000, 3000};
    for (size_t i = draw(d, 2); i < ARRAY_SIZE(waits); i++) {
        op = op_make(OP_WAIT, 0, 0);
        op_set(&op, A_TIME, waits[i]);
        ops_add(d->ops, &op);
    }
}

/*
 * A gang that commits, or that others bound in part, and a second gang whose plan reserves room on
 * the other nodes. kube-scheduler, which does not know the plan, does not offer a slot's node.
 */
static void story_refused(struct drawing *d)
{
    int g = (int)draw(d, GROUPS);
    bool commits = chance(d, 60);
    struct op op = op_make(OP_GROUP, 'g', g);
    op_set(&op, A_MIN, commits ? 1 : 3);
    d->group[g] = true;
    d->last = g;
    d->group_spec[g] = op;
    ops_add(d->ops, &op);
    d->member[g] = op_make(OP_POD, 'p', 0);
    op_set(&d->member[g], A_GPUS, 1);
    int pods[3];
    for (int i = 0; i < 3; i++)
        if ((pods[i] = plain_member(d, g)) < 0)
            return;
    if (!commits) {
        op = op_make(OP_ASSIGN, 'p', pods[0]);
        op_set(&op, A_ON, (int32_t)draw(d, NODES));
        ops_add(d->ops, &op);
    }
    draw_gang(d);
    if (commits) {
        line(d, OP_FILTER, 'p', pods[0]);
        line(d, OP_BIND, 'p', pods[0]);
    }
    for (int i = 1; i < 3; i++) {
        op = op_make(OP_FILTER, 'p', pods[i]);
        op_set(&op, A_HIDE, 1 << draw(d, 4));
        ops_add(d->ops, &op);
    }
}

/* A PodGroup is deleted, changed or created again while the Bindings of its commit are in flight.
 */
static void story_results(struct drawing *d)
{
    draw_gang(d);
    for (int i = 0; i < 8; i++)
        line(d, OP_FILTER, 0, 0);
    for (int i = 0; i < 8; i++)
        line(d, OP_BIND, 0, 0);
    int g = pick_group(d);
    for (int i = 0; i < 3; i++)
        draw_refused(d);
    if (g >= 0 && chance(d, 60)) {
        line(d, OP_NOGROUP, 'g', g);
        for (uint32_t i = chance(d, 50) ? draw(d, 5) : 0; i > 0; i--)
            draw_fault(d);
        draw_group(d, g);
    } else if (g >= 0 && chance(d, 50)) {
        draw_kin(d, g);
    } else if (g >= 0) {
        draw_group(d, g);
    }
    for (uint32_t i = draw(d, 8); i > 0; i--)
        draw_fault(d);
    draw_some(d, 6);
}

/* Bindings have unclear results, and other clients bind pods to the same nodes. */
static void story_unclear(struct drawing *d)
{
    draw_gang(d);
    for (int i = 0; i < 6; i++)
        line(d, OP_FILTER, 0, 0);
    for (int i = 0; i < 6; i++)
        line(d, OP_BIND, 0, 0);
    for (int i = 0; i < 3; i++) {
        struct op op = op_make(OP_RESULT, 0, 0);
        op_set(&op, A_UNCLEAR, 1);
        add(d, &op);
    }
    draw_pod(d);
    for (int i = 0; i < 3; i++) {
        struct op op = op_make(OP_ASSIGN, 'p', pick(d, d->pod, PODS, true));
        op_set(&op, A_ON, (int32_t)draw(d, NODES));
        add(d, &op);
    }
    for (int i = 0; i < 3; i++)
        line(d, OP_READ, 0, 0);
    draw_pause(d);
    for (int i = 0; i < 3; i++)
        draw_fault(d);
}

/* Others bind a gang in part, and kube-scheduler calls filter and bind for the rest. Calls are
 * closed or reach their limit, and nodes are not offered. */
static void story_recovering(struct drawing *d)
{
    draw_gang(d);
    draw_elsewhere(d);
    draw_elsewhere(d);
    for (int i = 0; i < 4; i++) {
        if (chance(d, 40))
            draw_refused(d);
        else
            line(d, OP_FILTER, 0, 0);
    }
    for (int i = 0; i < 3; i++)
        line(d, OP_BIND, 0, 0);
    if (chance(d, 50))
        line(d, OP_CLOSE, 0, 0);
    else
        draw_pause(d);
    for (int i = 0; i < 4; i++)
        line(d, chance(d, 50) ? OP_FILTER : OP_BIND, 0, 0);
    for (int i = 0; i < 3; i++)
        draw_fault(d);
}

static void story_done(struct drawing *d)
{
    draw_gang(d);
    line(d, OP_CALM, 0, 0);
    draw_done(d);
    draw_some(d, 4);
}

/* Members end or are deleted, and new ones are created. */
static void story_ends(struct drawing *d)
{
    for (uint32_t i = draw(d, 8); i > 0; i--)
        draw_end(d);
    for (uint32_t i = draw(d, 4); i > 0; i--)
        draw_pod(d);
}

void draw_quiet(struct drawing *d)
{
    static void (*const stories[])(struct drawing *) = {
        story_expected,   story_expected,   story_refused, story_refused,  story_gang,
        story_gang,       story_timeout,    story_timeout, story_kept_out, story_word,
        story_order,      story_relink,     story_relink,  story_ends,     story_ends,
        story_results,    story_results,    story_results, story_done,     story_done,
        story_recovering, story_recovering, story_unclear};
    int nodes = 1 + (int)draw(d, 3), rounds = 6 + (int)draw(d, 8);
    for (int i = 0; i < nodes; i++)
        set_node(d, i);
    for (int r = 0; r < rounds; r++) {
        if (d->on[F_SUSPENDS] && chance(d, 40))
            draw_suspended(d);
        else
            stories[draw(d, ARRAY_SIZE(stories))](d);
        line(d, OP_CALM, 0, 0);
    }
}
