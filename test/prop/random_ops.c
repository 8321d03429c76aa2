/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_ops.c - draws the operations of a seed before the run.
 *
 * A seed turns each feature on or off (FEATURES). Most seeds are therefore simple, and each pair of
 * features meets in some seeds. Attributes and kinds of operations are tables, too; to add a
 * feature, add a line to each table. The functions know which objects exist, but not what the core
 * decides: for example, "filter" without a subject means the next pod in kube-scheduler's order.
 */
#include "test/prop/random_ops.h"

/* The number of operations in a run, without those of the calm phase. */
enum { OPS_MIN = 250, OPS_MORE = 250 };

/* ---- random numbers ---- */

uint32_t draw(struct drawing *d, uint32_t below)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return (uint32_t)((d->random >> 16) % below);
}

bool chance(struct drawing *d, uint32_t percent)
{
    return draw(d, 100) < percent;
}

int pick(struct drawing *d, const bool *there, int n, bool want)
{
    int from = (int)draw(d, (uint32_t)n);
    for (int i = 0; i < n; i++)
        if (there[(from + i) % n] == want)
            return (from + i) % n;
    return -1;
}

int pick_group(struct drawing *d)
{
    return d->group[d->last] && chance(d, 70) ? d->last : pick(d, d->group, GROUPS, true);
}

/* ---- attributes ---- */

enum { DAY = 86400 };
enum scope { EACH, GANG }; /* GANG: all members that are created together have the same value */

static const struct trait {
    enum op_kind kind;
    enum attr attr;
    enum feature feature;
    int percent, from, to;
    enum scope scope;
} traits[] = {
    {OP_NODE, A_GPUS, F_ALWAYS, 90, 1, 4, EACH},
    {OP_NODE, A_CPU, F_CPU, 50, 2, 8, EACH},
    {OP_NODE, A_ROOM, F_ROOM, 50, 1, 5, EACH},
    {OP_NODE, A_CORDON, F_TAINTS, 12, 1, 1, EACH},
    {OP_NODE, A_TAINT, F_TAINTS, 12, 1, 1, EACH},
    {OP_GROUP, A_MIN, F_ALWAYS, 97, 0, 6, EACH},
    {OP_GROUP, A_TIMEOUT, F_ALWAYS, 30, 1, 6, EACH},
    {OP_GROUP, A_TIMEOUT, F_ALWAYS, 40, 5, 70, EACH},
    {OP_GROUP, A_PRIO, F_PRIORITY, 30, 0, 3, EACH},
    {OP_POD, A_GPUS, F_ALWAYS, 85, 1, 3, GANG},
    {OP_POD, A_GPUS, F_MIXED, 40, 0, 3, EACH},
    {OP_POD, A_CPU, F_CPU, 60, 1, 4, GANG},
    {OP_POD, A_CPU, F_MIXED, 15, 1, 4, EACH},
    {OP_POD, A_PRIO, F_PRIORITY, 60, 0, 3, GANG},
    {OP_POD, A_PRIO, F_PRIORITY, 10, 0, 3, EACH},
    {OP_POD, A_PORT, F_PORTS, 25, 1, 1, GANG},
    {OP_POD, A_PORT, F_PORTS, 5, 1, 1, EACH},
    {OP_POD, A_TOLERANT, F_TAINTS, 30, 1, 1, GANG},
    {OP_POD, A_TOLERANT, F_TAINTS, 5, 1, 1, EACH},
    {OP_POD, A_APP, F_APPS, 80, 0, 2, GANG},
    {OP_POD, A_APP, F_APPS, 8, 0, 2, EACH},
    {OP_POD, A_AWAY, F_APPS, 35, 0, 2, GANG},
    {OP_POD, A_AWAY, F_APPS, 4, 0, 2, EACH},
    {OP_POD, A_SPREAD, F_APPS, 30, 1, 2, GANG},
    {OP_POD, A_FORBID, F_FORBID, 50, 1, 255, GANG},
    {OP_POD, A_GATED, F_GATES, 10, 1, 1, EACH},
    {OP_POD, A_CLOSED, F_CLOSED, 70, 1, 1, GANG},
    {OP_POD, A_CLOSED, F_CLOSED, 15, 1, 1, EACH},
    {OP_POD, A_FOREIGN, F_FOREIGN, 5, 1, 1, EACH},
    {OP_POD, A_BARE, F_ALWAYS, 20, 1, 1, EACH},
    {OP_POD, A_BEYOND, F_BEYOND, 12, 1, 1, EACH},
    {OP_POD, A_PICKY, F_PICKY, 30, 1, 1, EACH},
    {OP_POD, A_BARRED, F_BARS, 15, 1, 2, EACH},
    {OP_GROUP, A_TIMEOUT, F_BARS, 60, DAY, DAY, EACH},
    {OP_POD, A_KEPT, F_FAULTS, 10, 1, 1, EACH},
    {OP_POD, A_HOOKED, F_BUDGETS, 10, 1, 1, EACH},
    {OP_TERMINATE, A_DISRUPTED, F_DISRUPTS, 50, 1, 1, EACH},
    {OP_FILTER, A_HIDE, F_HIDES, 40, 1, 255, EACH},
    {OP_FILTER, A_SAMPLE, F_SAMPLES, 30, 1, 1, EACH},
    {OP_FILTER, A_PREEMPTS, F_PREEMPTS, 60, 1, 1, EACH},
    {OP_FILTER, A_PICK, F_ALWAYS, 30, 1, 7, EACH},
    {OP_FILTER, A_SKIP, F_ALWAYS, 60, 1, 20, EACH},
    {OP_BIND, A_SKIP, F_ALWAYS, 40, 1, 5, EACH},
    {OP_BIND, A_ON, F_STRANGE, 3, 0, NODES - 1, EACH},
    {OP_CLOSE, A_SKIP, F_ALWAYS, 50, 1, 5, EACH},
    {OP_CLOSE, A_UNSEEN, F_LAG, 30, 1, 1, EACH},
    {OP_RESULT, A_SKIP, F_ALWAYS, 40, 1, 5, EACH},
    {OP_RESULT, A_REFUSED, F_FAULTS, 12, 1, 1, EACH},
    {OP_RESULT, A_UNCLEAR, F_FAULTS, 15, 1, 1, EACH},
    {OP_RESULT, A_DONE, F_FAULTS, 50, 1, 1, EACH},
    {OP_RESULT, A_UNSEEN, F_LAG, 40, 1, 1, EACH},
    {OP_READ, A_UNCLEAR, F_FAULTS, 20, 1, 1, EACH},
    {OP_LAND, A_UNSEEN, F_LAG, 40, 1, 1, EACH},
    {OP_SHOW, A_SKIP, F_ALWAYS, 60, 1, 9, EACH},
    {OP_KILL, A_MASK, F_ALWAYS, 60, 1, 255, EACH},
    {OP_RESTART, A_UNSEEN, F_LAG, 50, 1, 1, EACH},
    {OP_POD, A_APART, F_APART, 40, 1, 1, GANG},
    {OP_POD, A_BADLINK, F_STRANGE, 2, 1, 1, EACH},
    {OP_BIND, A_AGAIN, F_FAULTS, 10, 1, 1, EACH},
    {OP_GROUP, A_MAX, F_MAXIMUM, 50, 1, 9, EACH},
    {OP_GROUP, A_GPUS, F_RESOURCES, 40, 1, 12, EACH},
    {OP_GROUP, A_CPU, F_RESOURCES, 10, 1, 40, EACH},
    {OP_GROUP, A_SUBA, F_SUBGROUPS, 60, 0, 3, EACH},
    {OP_GROUP, A_SUBB, F_SUBGROUPS, 60, 0, 3, EACH},
    {OP_GROUP, A_SUBC, F_SUBGROUPS, 40, 0, 2, EACH},
    {OP_GROUP, A_NESTED, F_SUBGROUPS, 40, 1, 1, EACH},
    {OP_GROUP, A_SUBS, F_SUBGROUPS, 25, 0, 2, EACH},
    {OP_GROUP, A_SPLIT, F_SPLITS, 60, 1, 3, EACH},
    {OP_GROUP, A_PARTS, F_SPLITS, 40, 0, 3, EACH},
    {OP_GROUP, A_RUNNING, F_MATCHES, 25, 1, 1, EACH},
    {OP_GROUP, A_WAITING, F_MATCHES, 25, 1, 1, EACH},
    {OP_GROUP, A_ONCE, F_MATCHES, 25, 1, 1, EACH},
    {OP_GROUP, A_BYCLASS, F_CLASSES, 50, 0, CLASSES - 1, EACH},
    {OP_GROUP, A_UNREAD, F_UNREAD, 12, 1, 1, EACH},
    {OP_GROUP, A_PARENT, F_FAMILIES, 4, 0, GROUPS - 1, EACH},
    {OP_GROUP, A_BUNDLE, F_FAMILIES, 4, 1, 255, EACH},
    {OP_POD, A_ROLE, F_SUBGROUPS, 80, 1, 3, EACH},
    {OP_POD, A_RACK, F_SPLITS, 80, 0, 3, EACH},
    {OP_POD, A_KIND, F_KINDS, 60, 1, 2, GANG},
    {OP_POD, A_KIND, F_KINDS, 5, 1, 2, EACH},
    {OP_POD, A_MIN, F_DECLARED, 60, 0, 5, GANG},
    {OP_POD, A_USES, F_CLAIMS, 25, 0, CLAIMS - 1, EACH},
    {OP_POD, A_DEVICES, F_CLAIMS, 30, 1, 1, EACH},
    {OP_CLASS, A_PRIO, F_ALWAYS, 100, 0, 4, EACH},
    {OP_CLAIM, A_LIMITED, F_ALWAYS, 50, 1, 255, EACH},
    {OP_CLAIM, A_ON, F_ALWAYS, 50, 0, NODES - 1, EACH},
    {OP_BUDGET, A_APP, F_APPS, 60, 0, 2, EACH},
    {OP_BUDGET, A_ALLOWED, F_ALWAYS, 80, 1, 6, EACH},
    {OP_CONFIG, A_STRICT, F_STRICT, 100, 1, 1, EACH},
    {OP_CONFIG, A_SLOW, F_SLOW, 100, 1, 1, EACH},
    {OP_CONFIG, A_STARVE, F_STARVING, 100, 5, 60, EACH},
    {OP_CONFIG, A_EVICT, F_EVICTS, 100, 1, 1, EACH},
    {OP_CONFIG, A_EVICTS, F_PREEMPTION, 100, 1, 1, EACH},
    {OP_CONFIG, A_REQUEUE, F_REQUEUES, 100, 1, 1, EACH},
    {OP_CONFIG, A_STEER, F_STEERS, 100, 1, 2, EACH},
    {OP_CONFIG, A_HOPE, F_HOPE, 100, 3, 3, EACH},
    {OP_CONFIG, A_HOLDS, F_FEW_HOLDS, 100, 1, 6, EACH},
    {OP_CONFIG, A_GATES, F_CLOSED, 90, 0, GATES_MAX, EACH},
    {OP_CONFIG, A_GATES, F_CLOSED, 50, GATES_ON, GATES_ON, EACH},
    {OP_CONFIG, A_EXPRESS, F_EXPRESS, 100, 1, 1, EACH},
    {OP_CONFIG, A_TOGETHER, F_TOGETHER, 100, 1, 4, EACH},
    {OP_CONFIG, A_LOST, F_FAULTS, 40, 1, 4, EACH},
    {OP_POD, A_SHUN, F_SHUNS, 10, 0, 2, EACH},
    {OP_QUEUE, A_DESERVED, F_QUEUES, 50, 0, 8, EACH},
    {OP_QUEUE, A_DESERVED, F_QUEUES, 3, GIANT, GIANT, EACH},
    {OP_QUEUE, A_LIMIT, F_QUEUES, 50, 0, 10, EACH},
    {OP_QUEUE, A_LIMIT, F_QUEUES, 3, GIANT, GIANT, EACH},
    {OP_QUEUE, A_RESERVED, F_QUEUES, 15, 1, 4, EACH},
    {OP_QUEUE, A_RESERVED, F_QUEUES, 2, GIANT, GIANT, EACH},
    {OP_QUEUE, A_ANYGPU, F_QUEUES, 25, 1, 1, EACH},
    {OP_QUEUE, A_CPU, F_QUEUES, 12, 0, 12, EACH},
    {OP_QUEUE, A_WEIGHT, F_QUEUES, 40, 0, 3, EACH},
    {OP_QUEUE, A_PRIO, F_QUEUES, 25, 0, 2, EACH},
    {OP_QUEUE, A_CLOSED, F_QUEUES, 6, 1, 1, EACH},
    {OP_QUEUE, A_FIFO, F_QUEUES, 12, 1, 1, EACH},
    {OP_QUEUE, A_UNREAD, F_QUEUES, 4, 1, 1, EACH},
    {OP_GROUP, A_FIRM, F_QUEUES, 20, 1, 1, EACH},
    {OP_CONFIG, A_FORBIDS, F_QUEUES, 10, 1, 15, EACH},
    {OP_GROUP, A_SUSPENDS, F_SUSPENDS, 70, 1, 1, EACH},
    {OP_PATCH, A_SKIP, F_SUSPENDS, 30, 1, 3, EACH},
    {OP_PATCH, A_REFUSED, F_SUSPENDS, 15, 1, 1, EACH},
    {OP_PATCH, A_IDLE, F_SUSPENDS, 20, 1, 1, EACH},
    {OP_PATCH, A_UNSEEN, F_LAG, 30, 1, 1, EACH},
    {OP_CONFIG, A_HALFLIFE, F_QUEUES, 50, 10, 120, EACH},
    {OP_CONFIG, A_FACTOR, F_QUEUES, 30, 1, 300, EACH},
};

static void draw_scoped(struct drawing *d, struct op *op, enum scope scope)
{
    for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
        const struct trait *t = &traits[i];
        if (t->kind != op->kind || t->scope != scope || !d->on[t->feature] ||
            !chance(d, (uint32_t)t->percent))
            continue;
        int32_t v = t->from + (int32_t)draw(d, (uint32_t)(t->to - t->from + 1));
        op_set(op, t->attr, attr_type(t->attr) == T_TIME ? v * 1000 : v);
    }
}

void draw_traits(struct drawing *d, struct op *op)
{
    draw_scoped(d, op, GANG);
    draw_scoped(d, op, EACH);
}

/* ---- lines ---- */

void add(struct drawing *d, struct op *op)
{
    static const char shown[] = {
        [OP_NODE] = 20,     [OP_NONODE] = 20,    [OP_GROUP] = 20,       [OP_NOGROUP] = 20,
        [OP_POD] = 30,      [OP_NOPOD] = 30,     [OP_TERMINATE] = 30,   [OP_RUN] = 30,
        [OP_SUCCEED] = 30,  [OP_FAIL] = 30,      [OP_UNGATE] = 20,      [OP_RELINK] = 20,
        [OP_UNBAR] = 30,    [OP_ASSIGN] = 40,    [OP_CLASS] = 20,       [OP_NOCLASS] = 20,
        [OP_CLAIM] = 20,    [OP_NOCLAIM] = 20,   [OP_MOVE] = 20,        [OP_QUEUE] = 20,
        [OP_NOQUEUE] = 20,  [OP_NAMESPACE] = 20, [OP_NONAMESPACE] = 20, [OP_BUDGET] = 20,
        [OP_NOBUDGET] = 20, [OP_SUSPEND] = 20,   [OP_RESUME] = 20,
    };
    if (op->kind < (int)sizeof shown && d->on[F_LAG] && shown[op->kind] &&
        chance(d, (uint32_t)shown[op->kind]))
        op_set(op, A_UNSEEN, 1);
    op->joined = d->on[F_BATCH] && op->kind != OP_CALM && chance(d, 40);
    ops_add(d->ops, op);
}

void line(struct drawing *d, enum op_kind kind, char class, int subject)
{
    if (class && subject < 0)
        return;
    struct op op = op_make(kind, class, subject);
    draw_traits(d, &op);
    add(d, &op);
}

void set_node(struct drawing *d, int n)
{
    struct op op = op_make(OP_NODE, 'n', n);
    draw_scoped(d, &op, EACH);
    d->node[n] = true;
    d->node_spec[n] = op;
    add(d, &op);
}

static void draw_node(struct drawing *d)
{
    int n = (int)draw(d, NODES);
    if (d->node[n] && chance(d, 25)) {
        line(d, OP_NONODE, 'n', n);
        d->node[n] = false;
        return;
    }
    set_node(d, n);
}

/* Cordons or uncordons a node, with no other change. */
static void draw_cordon(struct drawing *d)
{
    int n = pick(d, d->node, NODES, true);
    if (n < 0)
        return;
    struct op *op = &d->node_spec[n];
    if (op_has(op, A_CORDON))
        op_unset(op, A_CORDON);
    else
        op_set(op, A_CORDON, 1);
    struct op same = *op;
    add(d, &same);
}

void draw_group(struct drawing *d, int g)
{
    d->last = g;
    struct op op = op_make(OP_GROUP, 'g', g);
    draw_traits(d, &op);
    name_queue(d, &op);
    d->group[g] = true;
    d->group_spec[g] = op;
    add(d, &op);
}

void draw_member(struct drawing *d, int g)
{
    int p = pick(d, d->pod, PODS, false);
    if (p < 0)
        return;
    struct op op = g >= 0 ? d->member[g] : op_make(OP_POD, 'p', p);
    op.subject = p;
    if (g < 0) {
        draw_scoped(d, &op, GANG);
        name_queue(d, &op);
    } else {
        op_set(&op, A_LINK, g);
    }
    draw_scoped(d, &op, EACH);
    d->pod[p] = true;
    d->pod_spec[p] = op;
    add(d, &op);
}

void draw_members(struct drawing *d, int g)
{
    d->last = g;
    int members = op_get(&d->group_spec[g], A_MIN, 1) + (int)draw(d, 4) - 1;
    d->member[g] = op_make(OP_POD, 'p', 0);
    draw_scoped(d, &d->member[g], GANG);
    name_queue(d, &d->member[g]);
    for (int i = 0; i < members; i++)
        draw_member(d, g);
}

/* A group and its members. Controllers can create the PodGroup first, last, or not at all. */
void draw_gang(struct drawing *d)
{
    int g = (int)draw(d, GROUPS);
    bool late = chance(d, 15), never = d->on[F_DECLARED] && chance(d, 50);
    if (!late && !never)
        draw_group(d, g);
    draw_members(d, g);
    if (late && !never)
        draw_group(d, g);
}

/* A parent with children, or the groups of a bundle. */
static void draw_family(struct drawing *d)
{
    int first = (int)draw(d, GROUPS), n = 2 + (int)draw(d, 2);
    bool bundle = chance(d, 50);
    int32_t all = 0;
    for (int i = 0; i < n; i++)
        all |= INT32_C(1) << (first + i) % GROUPS;
    for (int i = 0; i < n; i++) {
        int g = (first + i) % GROUPS;
        struct op op = op_make(OP_GROUP, 'g', g);
        draw_scoped(d, &op, EACH);
        op_set(&op, A_MIN, (int32_t)draw(d, i || bundle ? 4 : (uint32_t)n));
        if (bundle)
            op_set(&op, A_BUNDLE, all);
        else if (i)
            op_set(&op, A_PARENT, first);
        d->group[g] = true;
        d->group_spec[g] = op;
        add(d, &op);
        if (i || bundle)
            draw_members(d, g);
    }
}

static void draw_class(struct drawing *d)
{
    int k = (int)draw(d, CLASSES);
    if (d->class[k] && chance(d, 30)) {
        line(d, OP_NOCLASS, 'k', k);
        d->class[k] = false;
    } else {
        line(d, OP_CLASS, 'k', k);
        d->class[k] = true;
    }
}
static void draw_claim(struct drawing *d)
{
    int c = (int)draw(d, CLAIMS);
    if (d->claim[c] && chance(d, 30)) {
        line(d, OP_NOCLAIM, 'c', c);
        d->claim[c] = false;
    } else {
        line(d, OP_CLAIM, 'c', c);
        d->claim[c] = true;
    }
}

static void draw_budget(struct drawing *d)
{
    int b = (int)draw(d, BUDGETS);
    bool gone = d->budget[b] && chance(d, 40);
    line(d, gone ? OP_NOBUDGET : OP_BUDGET, 'b', b);
    d->budget[b] = !gone;
}

/* All that fits runs, and then a gang needs room that it has to take from others. */
static void draw_urgent(struct drawing *d)
{
    line(d, OP_CALM, 0, 0);
    for (int p = 0; p < PODS; p++)
        if (d->pod[p] && chance(d, 80))
            line(d, OP_RUN, 'p', p);
    if (d->on[F_BUDGETS])
        draw_budget(d);
    int g = (int)draw(d, GROUPS);
    draw_group(d, g);
    draw_members(d, g);
    struct op op = d->group_spec[g];
    op_set(&op, A_PRIO, 4);
    add(d, &op);
    if (chance(d, 15)) { /* refused evictions stay refused until muster gives up */
        op = op_make(OP_WAIT, 0, 0);
        op_set(&op, A_TIME, (int32_t)(EVICTIONS_END / USEC_PER_MSEC));
        add(d, &op);
    }
    if (d->on[F_SUSPENDS])
        draw_suspensions(d);
}

void draw_pod(struct drawing *d)
{
    int g = chance(d, 50) ? pick(d, d->group, GROUPS, true) : -1;
    if (g >= 0 && !d->member[g].class)
        g = -1;
    draw_member(d, g);
}

void draw_end(struct drawing *d)
{
    static const enum op_kind ends[] = {OP_NOPOD, OP_NOPOD,   OP_TERMINATE, OP_RUN,
                                        OP_RUN,   OP_SUCCEED, OP_FAIL};
    enum op_kind kind = ends[draw(d, ARRAY_SIZE(ends))];
    int p = pick(d, d->pod, PODS, true);
    line(d, kind, 'p', p);
    if (p >= 0 && kind == OP_NOPOD)
        d->pod[p] = false;
}

/* Rare operations: of other clients on pods, or of users on PodGroups. */
static void draw_strange(struct drawing *d)
{
    int p = pick(d, d->pod, PODS, true), g = pick(d, d->group, GROUPS, true);
    struct op op;
    if (p < 0)
        return;
    switch (draw(d, 7)) {
    case 0:
        op = op_make(OP_ASSIGN, 'p', p);
        op_set(&op, A_ON, (int32_t)draw(d, NODES));
        add(d, &op);
        break;
    case 1:
        op = op_make(OP_RESIZE, 'p', p);
        op_set(&op, chance(d, 50) ? A_GPUS : A_CPU, 1 + (int32_t)draw(d, 3));
        add(d, &op);
        break;
    case 2:
        op = op_make(OP_RELINK, 'p', p);
        if (g >= 0 && chance(d, 70))
            op_set(&op, A_LINK, g);
        add(d, &op);
        break;
    case 3:
        line(d, OP_NOGROUP, 'g', g);
        if (g >= 0)
            d->group[g] = false;
        break;
    case 4:
        if (g >= 0)
            draw_group(d, g);
        break;
    default:
        line(d, chance(d, 50) ? OP_PRIORITIZE : OP_PREEMPT, 'p', p);
    }
}

/* A random member of the group, or -1. */
static int member_of(struct drawing *d, int g)
{
    int from = (int)draw(d, PODS);
    for (int i = 0; i < PODS; i++) {
        int p = (from + i) % PODS;
        if (d->pod[p] && op_get(&d->pod_spec[p], A_LINK, -1) == g)
            return p;
    }
    return -1;
}

void draw_elsewhere(struct drawing *d)
{
    int g = pick_group(d), p = g >= 0 ? member_of(d, g) : -1;
    if (p < 0)
        return;
    struct op op = op_make(OP_ASSIGN, 'p', p);
    op_set(&op, A_ON, (int32_t)draw(d, NODES));
    if (chance(d, 70))
        op_set(&op, A_UNSEEN, 1);
    ops_add(d->ops, &op);
    if (chance(d, 70))
        line(d, OP_SUCCEED, 'p', p);
}

/* A member that is Terminating when the core first sees it. It does not count, but causes events.
 */
static void draw_latecomer(struct drawing *d, int g)
{
    size_t at = d->ops->n;
    draw_member(d, g);
    if (d->ops->n == at)
        return;
    int p = d->ops->items[at].subject;
    d->ops->items[at].joined = true;
    line(d, OP_TERMINATE, 'p', p);
    if (chance(d, 50)) {
        struct op op = op_make(OP_ASSIGN, 'p', p);
        op_set(&op, A_ON, (int32_t)draw(d, NODES));
        add(d, &op);
        line(d, OP_SUCCEED, 'p', p);
    } else {
        struct op op = op_make(OP_FILTER, 'p', p);
        op_set(&op, A_STALE, 1);
        add(d, &op);
    }
}

void draw_kin(struct drawing *d, int g)
{
    struct op op = d->group_spec[g];
    int other = pick(d, d->group, GROUPS, true);
    if (other < 0 || !op.class)
        return;
    if (op_has(&op, A_PARENT))
        op_unset(&op, A_PARENT);
    else
        op_set(&op, A_PARENT, other);
    d->group[g] = true;
    d->group_spec[g] = op;
    add(d, &op);
}

void draw_done(struct drawing *d)
{
    int g = pick_group(d), p;
    for (p = 0; p < PODS && g >= 0; p++)
        if (d->pod[p] && op_get(&d->pod_spec[p], A_LINK, -1) == g)
            line(d, OP_SUCCEED, 'p', p);
    for (uint32_t i = draw(d, 6); g >= 0 && i > 0; i--) {
        p = member_of(d, g);
        switch (draw(d, 12)) {
        case 0:
            draw_member(d, g);
            break;
        case 6:
        case 7:
        case 8:
        case 10:
        case 11:
            draw_latecomer(d, g);
            break;
        case 9:
            draw_kin(d, g);
            break;
        case 1:
            draw_group(d, g);
            break;
        case 2:
            line(d, OP_NOGROUP, 'g', g);
            d->group[g] = false;
            break;
        case 3:
            line(d, OP_FILTER, 'p', p);
            break;
        case 4:
            line(d, OP_NOPOD, 'p', p);
            if (p >= 0)
                d->pod[p] = false;
            break;
        default:
            line(d, OP_TERMINATE, 'p', p);
        }
    }
}

static void draw_stale(struct drawing *d)
{
    struct op op = op_make(OP_FILTER, 'p', pick(d, d->pod, PODS, true));
    op_set(&op, A_STALE, 1);
    if (op.subject >= 0)
        add(d, &op);
}

static void draw_ungate(struct drawing *d)
{
    for (int p = 0; p < PODS; p++)
        if (d->pod[p] && op_has(&d->pod_spec[p], A_GATED)) {
            op_unset(&d->pod_spec[p], A_GATED);
            line(d, OP_UNGATE, 'p', p);
            return;
        }
}

static void draw_unbar(struct drawing *d)
{
    for (int p = 0; p < PODS; p++)
        if (d->pod[p] && op_has(&d->pod_spec[p], A_BARRED)) {
            op_unset(&d->pod_spec[p], A_BARRED);
            line(d, OP_UNBAR, 'p', p);
            return;
        }
}

static void draw_wait(struct drawing *d)
{
    struct op op = op_make(OP_WAIT, 0, 0);
    op_set(&op, A_TIME, (int32_t)(chance(d, 70) ? draw(d, 2000) : 1000 * draw(d, 30)));
    add(d, &op);
}

/* Ordinary pods that preempt others, one right after the other. */
static void draw_burst(struct drawing *d)
{
    int pods[4], n = 2 + (int)draw(d, 3);
    line(d, OP_CALM, 0, 0);
    for (int i = 0; i < n; i++) {
        int p = pods[i] = pick(d, d->pod, PODS, false);
        if (p < 0)
            return;
        struct op op = op_make(OP_POD, 'p', p);
        op_set(&op, A_GPUS, 1 + (int32_t)draw(d, 2));
        op_set(&op, A_PRIO, 5);
        d->pod[p] = true;
        add(d, &op);
    }
    for (int i = 0; i < n; i++) {
        struct op op = op_make(OP_FILTER, 'p', pods[i]);
        if (chance(d, 70))
            op_set(&op, A_PICK, 1); /* the watch shows late what kube-scheduler does */
        add(d, &op);
    }
}

static void draw_filter(struct drawing *d)
{
    line(d, OP_FILTER, 0, 0);
}
static void draw_bind(struct drawing *d)
{
    line(d, OP_BIND, 0, 0);
}
static void draw_result(struct drawing *d)
{
    line(d, OP_RESULT, 0, 0);
}
static void draw_read(struct drawing *d)
{
    line(d, OP_READ, 0, 0);
}
static void draw_show(struct drawing *d)
{
    line(d, OP_SHOW, 0, 0);
}
static void draw_close(struct drawing *d)
{
    line(d, OP_CLOSE, 0, 0);
}
static void draw_land(struct drawing *d)
{
    line(d, OP_LAND, 0, 0);
}
static void draw_kill(struct drawing *d)
{
    line(d, chance(d, 70) ? OP_KILL : OP_RESTART, 0, 0);
}
/* Restarts muster with other settings. */
static void draw_settings(struct drawing *d)
{
    line(d, OP_CONFIG, 0, 0);
    line(d, OP_KILL, 0, 0);
}
static void draw_rebuild(struct drawing *d)
{
    line(d, OP_REBUILD, 0, 0);
}
static void draw_calm(struct drawing *d)
{
    line(d, OP_CALM, 0, 0);
}

static const struct kind {
    uint32_t weight;
    enum feature feature;
    void (*draw)(struct drawing *);
} kinds[] = {
    {300, F_ALWAYS, draw_filter},     {220, F_ALWAYS, draw_bind},   {150, F_ALWAYS, draw_result},
    {30, F_FAULTS, draw_read},        {20, F_ALWAYS, draw_land},    {60, F_LAG, draw_show},
    {50, F_ALWAYS, draw_wait},        {22, F_ALWAYS, draw_gang},    {30, F_ALWAYS, draw_pod},
    {25, F_ALWAYS, draw_node},        {70, F_ALWAYS, draw_end},     {12, F_STRANGE, draw_strange},
    {15, F_FAULTS, draw_close},       {8, F_KILLS, draw_kill},      {8, F_REBUILDS, draw_rebuild},
    {30, F_ENDS, draw_elsewhere},     {20, F_ENDS, draw_done},      {10, F_STRANGE, draw_stale},
    {10, F_GATES, draw_ungate},       {8, F_TAINTS, draw_cordon},   {12, F_FAMILIES, draw_family},
    {8, F_CLASSES, draw_class},       {12, F_CLAIMS, draw_claim},   {1, F_ALWAYS, draw_calm},
    {4, F_CLOSED, draw_settings},     {8, F_BARS, draw_unbar},      {25, F_QUEUES, draw_queue},
    {4, F_QUEUES, draw_namespace},    {12, F_QUEUES, draw_move},    {15, F_BUDGETS, draw_budget},
    {25, F_BUDGETS, draw_urgent},     {60, F_SUSPENDS, draw_patch}, {8, F_SUSPENDS, draw_workload},
    {15, F_SUSPENDS, draw_suspended}, {10, F_PRIORITY, draw_burst},
};

static void draw_one(struct drawing *d)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        sum += d->on[kinds[i].feature] ? kinds[i].weight : 0;
    uint32_t at = draw(d, sum);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        uint32_t weight = d->on[kinds[i].feature] ? kinds[i].weight : 0;
        if (at < weight) {
            kinds[i].draw(d);
            return;
        }
        at -= weight;
    }
}

void draw_some(struct drawing *d, uint32_t most)
{
    for (uint32_t i = draw(d, most + 1); i > 0; i--)
        draw_one(d);
}

/* A run with many events, and a calm phase at the end. */
static void draw_storm(struct drawing *d)
{
    int nodes = 2 + (int)draw(d, NODES - 2), gangs = 1 + (int)draw(d, 4);
    for (int i = 0; i < nodes; i++)
        set_node(d, i);
    for (int i = 0; i < gangs; i++)
        draw_gang(d);
    size_t n = d->ops->n + OPS_MIN + draw(d, OPS_MORE);
    while (d->ops->n < n)
        draw_one(d);
    line(d, OP_CALM, 0, 0);
}

void draw_seed(uint64_t seed, struct ops *ret)
{
    static const uint32_t percent[] = {
#define X(id, percent) percent,
        FEATURES(X)
#undef X
    };
    struct drawing d = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .ops = ret};
    for (int i = 0; i < 8; i++)
        draw(&d, 2);
    for (int i = 0; i < F_BEYOND; i++)
        d.on[i] = chance(&d, percent[i]);
    /* Newer features depend on the seed only, so that the draws of older seeds stay the same. */
    for (int i = F_BEYOND; i < F_COUNT; i++)
        d.on[i] = (seed + 50) * (uint64_t)(i - F_BEYOND + 1) % 100 < percent[i];
    ret->n = 0;
    if (d.on[F_BUDGETS] || d.on[F_SUSPENDS]) /* they need victims */
        d.on[F_PREEMPTION] = d.on[F_PRIORITY] = true;
    line(&d, OP_CONFIG, 0, 0);
    if (d.on[F_QUEUES])
        draw_queues(&d);
    if (d.on[F_QUIET])
        draw_quiet(&d);
    else
        draw_storm(&d);
}
