/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_api_objects.c - changes API objects, and sends the events of the watch.
 */
#include "test/prop/family.h"
#include "test/prop/oracle.h"

/* ---- amounts ---- */

bool pod_finished(const struct pod_truth *t)
{
    return t->phase == PHASE_SUCCEEDED || t->phase == PHASE_FAILED;
}

bool pod_evicted(const struct pod_truth *t)
{
    return t->preempted == t->serial && t->phase != PHASE_SUCCEEDED;
}

void pod_needs(const struct pod_truth *t, int64_t need[RESOURCES])
{
    need[R_GPUS] = op_get(&t->spec, A_GPUS, 0);
    need[R_CPU] = op_get(&t->spec, A_CPU, 1);
    need[R_PODS] = 1;
    need[R_PORT] = op_has(&t->spec, A_PORT);
}

void node_has(const struct model *m, int n, int64_t have[RESOURCES])
{
    const struct op *spec = &m->nodes[n].spec;
    have[R_GPUS] = op_get(spec, A_GPUS, 0);
    have[R_CPU] = op_get(spec, A_CPU, 64);
    have[R_PODS] = op_get(spec, A_ROOM, 110);
    have[R_PORT] = 1;
}

static bool on_its_way(const struct model *m, int p, int n)
{
    for (size_t i = 0; i < m->n_requests; i++) {
        const struct request *r = &m->requests[i];
        if (!r->read && r->pod == p && r->serial == m->pods[p].serial && (n < 0 || r->node == n))
            return true;
    }
    return false;
}

void node_left(const struct model *m, int n, int64_t left[RESOURCES])
{
    node_has(m, n, left);
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists || pod_finished(t))
            continue;
        if (t->node != n && (t->node >= 0 || !on_its_way(m, p, n)))
            continue;
        int64_t need[RESOURCES];
        pod_needs(t, need);
        for (int r = 0; r < RESOURCES; r++)
            left[r] -= need[r];
    }
}

bool node_allows(const struct model *m, int p, int n)
{
    const struct op *pod = &m->pods[p].spec, *node = &m->nodes[n].spec;
    if (!m->nodes[n].exists || op_get(pod, A_FORBID, 0) >> n & 1)
        return false;
    if ((op_has(node, A_CORDON) || op_has(node, A_TAINT)) && !op_has(pod, A_TOLERANT))
        return false;
    int c = op_get(pod, A_USES, -1);
    if (c < 0 || !m->claims[c].exists)
        return true;
    const struct op *claim = &m->claims[c].spec;
    return op_has(claim, A_LIMITED) ? claim->value[A_LIMITED] >> n & 1
                                    : op_get(claim, A_ON, n) == n;
}

static bool stays_away(const struct op *a, const struct op *b)
{
    return op_has(a, A_AWAY) && op_get(b, A_APP, -1) == a->value[A_AWAY];
}

bool pods_apart(const struct pod_truth *a, const struct pod_truth *b)
{
    if (stays_away(&a->spec, &b->spec) || stays_away(&b->spec, &a->spec))
        return true;
    return pod_group(a) >= 0 && pod_group(a) == pod_group(b) &&
           (op_has(&a->spec, A_APART) || op_has(&b->spec, A_APART));
}

/* ---- gangs that may be bound in part ---- */

/* Allows the gang of this group to be bound in part, because of something that muster cannot avoid.
 */
void group_excuse(struct model *m, int g)
{
    uint32_t family = family_of(m, g);
    for (int i = 0; i < GROUPS; i++)
        m->excused[i] |= family >> i & 1;
}

/* ---- nodes that kube-scheduler refuses ---- */

/* How long muster may treat a refused node as infeasible: 60 s after a call, which may be late. */
#define DOUBT_LIMIT SECONDS(130)

static int needs_of(const struct pod_truth *t)
{
    int64_t need[RESOURCES];
    pod_needs(t, need);
    return (int)((need[R_GPUS] * 8 + need[R_CPU]) % NEEDS);
}

void pod_doubt(struct model *m, int p, int n)
{
    m->doubted[pod_group(&m->pods[p])][needs_of(&m->pods[p])][n] = m->now;
}

void group_doubt(struct model *m, int g)
{
    for (int i = 0; i < NEEDS * NODES; i++)
        m->doubted[g][i / NODES][i % NODES] = m->now;
}

bool pod_doubted(const struct model *m, int g, int p, int n)
{
    return m->now - m->doubted[g][needs_of(&m->pods[p])][n] <= DOUBT_LIMIT;
}

bool group_doubted(const struct model *m, int g)
{
    for (int i = 0; i < NEEDS * NODES; i++)
        if (m->now - m->doubted[g][i / NODES][i % NODES] <= DOUBT_LIMIT)
            return true;
    return false;
}

/* ---- the watch ---- */

static void show_node(struct model *m, int n)
{
    struct object_truth *t = &m->nodes[n];
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = facts_node(m, n)}, n);
    else if (t->shown)
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_NODE_GONE,
                                       .gone = {NULL, NULL, xstrdup(node_name(n))}},
                   n);
}

static void show_group(struct model *m, int g)
{
    struct object_truth *t = &m->groups[g];
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = facts_group(m, g)},
                   g);
    else if (t->shown)
        model_tell(m, (struct gang_event){.kind = GANG_EV_GROUP_GONE, .gone = facts_ref(g)}, g);
    workload_sees_group(m, g);
}

static void show_class(struct model *m, int k)
{
    struct object_truth *t = &m->classes[k];
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_CLASS_SET, .class = facts_class(m, k)},
                   k);
    else if (t->shown)
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_CLASS_GONE,
                                       .gone = {NULL, NULL, xasprintf("k%d", k)}},
                   k);
}

static void show_claim(struct model *m, int c)
{
    struct object_truth *t = &m->claims[c];
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = facts_claim(m, c)},
                   c);
    else if (t->shown)
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_CLAIM_GONE,
                                       .gone = {NULL, xstrdup("default"), xasprintf("c%d", c)}},
                   c);
}

struct known_queue {
    const struct gang_queue_facts *facts; /* to be shown */
    bool known;                           /* the core has the same facts already */
};

static void see_known(void *arg, const struct gang_queue_view *v)
{
    struct known_queue *k = arg;
    k->known |= v->facts && gang_ref_equal(&v->facts->ref, &k->facts->ref) &&
                gang_queue_facts_equal(v->facts, k->facts);
}

static bool is_known_queue(const struct model *m, int q)
{
    struct gang_queue_facts *facts = facts_queue(m, q);
    struct known_queue k = {facts, false};
    gang_core_queues(m->core, 0, SIZE_MAX, see_known, &k);
    gang_queue_facts_free(facts);
    return k.known;
}

static void show_queue(struct model *m, int q)
{
    struct object_truth *t = &m->queues[q];
    m->queues_edited |= !t->exists || !is_known_queue(m, q);
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = facts_queue(m, q)},
                   q);
    else if (t->shown)
        model_tell(m, (struct gang_event){.kind = GANG_EV_QUEUE_GONE, .gone = facts_queue_ref(q)},
                   q);
}

static void show_namespace(struct model *m, int i)
{
    struct object_truth *t = &m->namespaces[i];
    if (t->exists)
        model_tell(
            m, (struct gang_event){.kind = GANG_EV_NAMESPACE_SET, .namespace = facts_namespace(m)},
            i);
    else if (t->shown)
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_NAMESPACE_GONE,
                                       .gone = {NULL, NULL, xstrdup("default")}},
                   i);
}

static void show_budget(struct model *m, int b)
{
    struct object_truth *t = &m->budgets[b];
    if (t->exists)
        model_tell(m, (struct gang_event){.kind = GANG_EV_BUDGET_SET, .budget = facts_budget(m, b)},
                   b);
    else if (t->shown)
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_BUDGET_GONE,
                                       .gone = {NULL, xstrdup("default"), xasprintf("b%d", b)}},
                   b);
}

/* Updates the expected charge of a pod that the watch shows. */
static void charge_as_shown(struct model *m, struct pod_truth *t)
{
    if (t->charged_serial != t->serial || pod_finished(t) ||
        (t->node >= 0 && t->charged_node != t->node))
        model_uncharge(m, t);
    t->charged_serial = t->serial;
    if (t->node >= 0 && !pod_finished(t)) {
        t->charged = CHARGED_ASSIGNED;
        t->charged_node = t->node;
    }
    t->shown = true;
    t->learnt = t->ghost = t->replaced = false;
    t->shown_group = pod_group(t);
}

static void show_fields(struct pod_truth *t)
{
    t->shown_mark = t->marked;
    t->shown_running = t->phase == PHASE_RUNNING ? t->serial : 0;
    t->shown_end = t->deleting || pod_finished(t) ? t->serial : 0;
}

static void show_pod(struct model *m, int p)
{
    struct pod_truth *t = &m->pods[p];
    t->dirty = CLEAN;
    if (t->exists) {
        charge_as_shown(m, t);
        t->shown_nominated = t->nominated;
        if (t->joins)
            t->steered_turn = ++m->turn;
        t->joins = false;
        show_fields(t);
        model_tell(m, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = facts_pod(m, p)}, p);
    } else if (t->shown) {
        model_uncharge(m, t);
        t->shown = false;
        model_tell(m,
                   (struct gang_event){.kind = GANG_EV_POD_GONE,
                                       .gone = {NULL, xstrdup("default"), xasprintf("p%d", p)}},
                   p);
    }
}

/* The objects other than pods. */
static const struct watch {
    char class; /* the letter of the subject */
    int count;
    size_t offset; /* of the array in struct model */
    void (*show)(struct model *, int);
} watches[] = {
    {'n', NODES, offsetof(struct model, nodes), show_node},
    {'g', GROUPS, offsetof(struct model, groups), show_group},
    {'k', CLASSES, offsetof(struct model, classes), show_class},
    {'c', CLAIMS, offsetof(struct model, claims), show_claim},
    {'q', QUEUES, offsetof(struct model, queues), show_queue},
    {'s', NAMESPACES, offsetof(struct model, namespaces), show_namespace},
    {'b', BUDGETS, offsetof(struct model, budgets), show_budget},
};

static struct object_truth *object(struct model *m, const struct watch *w, int i)
{
    return (struct object_truth *)(void *)((char *)m + w->offset) + i;
}

void objects_show(struct model *m, char class, int i)
{
    if (class == 'p') {
        show_pod(m, i);
        return;
    }
    for (size_t k = 0; k < ARRAY_SIZE(watches); k++)
        if (watches[k].class == class) {
            struct object_truth *t = object(m, &watches[k], i);
            t->dirty = false;
            watches[k].show(m, i);
            t->shown = t->exists;
        }
}

/* Finds an object with a change that the watch has not shown, after skipping `skip` of them.
 * Returns false if there is none. */
static bool next_dirty(struct model *m, char *class, int *i, int skip)
{
    for (size_t k = 0; k < ARRAY_SIZE(watches); k++)
        for (int x = 0; x < watches[k].count; x++)
            if (object(m, &watches[k], x)->dirty && skip-- <= 0) {
                *class = watches[k].class;
                *i = x;
                return true;
            }
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].dirty && skip-- <= 0) {
            *class = 'p';
            *i = p;
            return true;
        }
    return false;
}

void objects_show_all(struct model *m)
{
    char class;
    int i;
    while (next_dirty(m, &class, &i, 0))
        objects_show(m, class, i);
}

static void notice(struct model *m, enum gang_watch of, bool behind)
{
    if (m->behind[of] == behind)
        return;
    m->behind[of] = behind;
    struct gang_event ev = {.kind = GANG_EV_WATCH};
    ev.watch.of = of;
    ev.watch.behind = behind;
    model_tell(m, ev, -1);
}

void objects_notice(struct model *m)
{
    bool nodes = false, pods = false;
    for (int n = 0; n < NODES; n++)
        nodes |= m->nodes[n].dirty;
    for (int p = 0; p < PODS; p++)
        pods |= m->pods[p].dirty == CHANGED && !m->pods[p].stands_in;
    notice(m, GANG_WATCH_NODES, nodes);
    notice(m, GANG_WATCH_PODS, pods);
}

static void changed(struct model *m, char class, int i, const struct op *op)
{
    if (class == 'p')
        m->pods[i].dirty = CHANGED;
    for (size_t k = 0; k < ARRAY_SIZE(watches); k++)
        if (watches[k].class == class)
            object(m, &watches[k], i)->dirty = true;
    if (!op_has(op, A_UNSEEN))
        objects_show(m, class, i);
}

/* ---- operations on nodes, groups, classes and claims ---- */

static void nothing(struct model *m)
{
    m->did_something = false;
}

static void set_object(struct model *m, const struct op *op)
{
    for (size_t k = 0; k < ARRAY_SIZE(watches); k++) {
        if (watches[k].class != op->class)
            continue;
        struct object_truth *t = object(m, &watches[k], op->subject);
        if (!t->exists) {
            t->serial++;
            t->created = m->now / USEC_PER_SEC * USEC_PER_SEC;
        }
        t->exists = true;
        t->spec = *op;
    }
}

static void do_node(struct model *m, const struct op *op)
{
    set_object(m, op);
    wake_pods(m, true);
    changed(m, 'n', op->subject, op);
}

static void do_group(struct model *m, const struct op *op)
{
    struct op unread = op_make(OP_GROUP, 'g', op->subject); /* without all other attributes */
    op_set(&unread, A_UNREAD, 1);
    group_excuse(m, op->subject);
    set_object(m, op_has(op, A_UNREAD) ? &unread : op);
    group_excuse(m, op->subject); /* the gang may now have other groups and minimums */
    changed(m, 'g', op->subject, op);
}

static void do_plain(struct model *m, const struct op *op)
{
    set_object(m, op);
    if (op->class == 'c')
        wake_pods(m, true);
    for (int g = 0; g < GROUPS; g++)
        group_doubt(m, g); /* the change may make nodes infeasible */
    changed(m, op->class, op->subject, op);
}

/* A queue or a namespace. */
static void do_queue(struct model *m, const struct op *op)
{
    set_object(m, op);
    changed(m, op->class, op->subject, op);
}

static void do_budget(struct model *m, const struct op *op)
{
    set_object(m, op);
    evictions_retry(m);
    changed(m, op->class, op->subject, op);
}

static void do_gone(struct model *m, const struct op *op)
{
    for (size_t k = 0; k < ARRAY_SIZE(watches); k++) {
        if (watches[k].class != op->class)
            continue;
        struct object_truth *t = object(m, &watches[k], op->subject);
        if (!t->exists) {
            nothing(m);
            return;
        }
        if (op->class == 'g')
            group_excuse(m, op->subject);
        if (op->class == 'q')
            m->queues_shown[op->subject].emitted = false;
        t->exists = false;
        if (op->class == 'c')
            wake_pods(m, true); /* in the model, a claim that does not exist allows all nodes */
        if (op->class == 'b')
            evictions_retry(m);
        changed(m, op->class, op->subject, op);
    }
}

/* ---- operations on pods ---- */

void pod_made(struct model *m, int p, const struct op *spec)
{
    struct pod_truth *t = &m->pods[p];
    struct pod_truth was = *t;
    *t = (struct pod_truth){.exists = true,
                            .serial = was.serial + 1,
                            .created = m->now / USEC_PER_SEC * USEC_PER_SEC,
                            .spec = *spec,
                            .dirty = CHANGED,
                            .node = -1,
                            .lost = -1,
                            .nominated = -1,
                            .named = -1,
                            .shown_nominated = -1,
                            .ours = -1,
                            .rewritten = -1,
                            .sent_to = -1,
                            .picked = -1,
                            .charged = was.charged,
                            .charged_serial = was.charged_serial,
                            .charged_node = was.charged_node,
                            .shown = was.shown,
                            .shown_group = was.shown_group,
                            .ghost = was.ghost,
                            .replaced = was.shown};
    m->kinds |= op_has(spec, A_KIND);
    int g = pod_group(t); /* the pod may add a part, or declare another minimum */
    if (g >= 0 && (!m->groups[g].exists || op_has(&m->groups[g].spec, A_SPLIT)))
        group_excuse(m, g);
}

static void do_pod(struct model *m, const struct op *op)
{
    if (m->pods[op->subject].exists) {
        nothing(m);
        return;
    }
    pod_made(m, op->subject, op);
    changed(m, 'p', op->subject, op);
}

/* Call this before an operation after which the pod may no longer count as a member. If the core
 * may have relied on the pod, its gang may now be bound in part. */
static void member_lost(struct model *m, const struct op *op)
{
    const struct pod_truth *t = &m->pods[op->subject];
    if (pod_group(t) >= 0 &&
        (t->node >= 0 || t->call || on_its_way(m, op->subject, -1) || op_has(op, A_UNSEEN) ||
         t->learnt || /* no watch event will show that it is gone */
         t->charged != NOT_CHARGED || !m->groups[pod_group(t)].exists))
        group_excuse(m, pod_group(t));
}

static void do_nopod(struct model *m, const struct op *op)
{
    struct pod_truth *t = &m->pods[op->subject];
    member_lost(m, op);
    bool assumed = t->node >= 0 || t->picked >= 0 || t->call || t->nominated >= 0;
    t->exists = false;
    t->ghost = t->ghost || t->learnt; /* or an earlier pod of this name is one */
    if (t->learnt)
        t->shown_group = pod_group(t);
    t->picked = -1;
    if (t->call) {
        struct call *call = call_of(m, t->call);
        if (call)
            call->closed = true;
        t->call = 0;
    }
    if (assumed)
        wake_pods(m, true);
    changed(m, 'p', op->subject, op);
}

static void do_terminate(struct model *m, const struct op *op)
{
    member_lost(m, op);
    if (op_has(op, A_DISRUPTED))
        m->pods[op->subject].disrupted = m->pods[op->subject].serial;
    m->pods[op->subject].deleting = true;
    m->pods[op->subject].gone_by = m->now + POD_GRACE;
    changed(m, 'p', op->subject, op);
}

static void do_phase(struct model *m, const struct op *op)
{
    static const enum gang_phase phases[] = {
        [OP_RUN] = PHASE_RUNNING, [OP_SUCCEED] = PHASE_SUCCEEDED, [OP_FAIL] = PHASE_FAILED};
    struct pod_truth *t = &m->pods[op->subject];
    if (t->node < 0 || pod_finished(t)) {
        nothing(m);
        return;
    }
    if (op->kind == OP_FAIL)
        member_lost(m, op);
    t->phase = phases[op->kind];
    if (pod_finished(t))
        wake_pods(m, true);
    changed(m, 'p', op->subject, op);
}

static void do_ungate(struct model *m, const struct op *op)
{
    op_unset(&m->pods[op->subject].spec, A_GATED);
    op_unset(&m->pods[op->subject].spec, A_CLOSED);
    m->pods[op->subject].sleep = AWAKE;
    changed(m, 'p', op->subject, op);
}

static void do_unbar(struct model *m, const struct op *op)
{
    op_unset(&m->pods[op->subject].spec, A_BARRED);
    m->pods[op->subject].sleep = AWAKE;
}

static void do_relink(struct model *m, const struct op *op)
{
    struct pod_truth *t = &m->pods[op->subject];
    if (pod_group(t) >= 0)
        group_excuse(m, pod_group(t));
    if (op_has(op, A_LINK))
        op_set(&t->spec, A_LINK, op->value[A_LINK]);
    else
        op_unset(&t->spec, A_LINK);
    op_unset(&t->spec, A_BADLINK);
    if (pod_group(t) >= 0)
        group_excuse(m, pod_group(t));
    t->sleep = AWAKE; /* an update of labels wakes the pod, and pods with rules about labels */
    if (t->node >= 0)
        wake_pods(m, true);
    changed(m, 'p', op->subject, op);
}

static void do_move(struct model *m, const struct op *op)
{
    struct pod_truth *t = &m->pods[op->subject];
    if (op_has(op, A_NAMES))
        op_set(&t->spec, A_NAMES, op->value[A_NAMES]);
    else
        op_unset(&t->spec, A_NAMES);
    t->sleep = AWAKE; /* an update of labels wakes the pod */
    changed(m, 'p', op->subject, op);
}

static void do_resize(struct model *m, const struct op *op)
{
    struct pod_truth *t = &m->pods[op->subject];
    for (int a = A_GPUS; a <= A_CPU; a++)
        if (op_has(op, (enum attr)a))
            op_set(&t->spec, (enum attr)a, op->value[a]);
    wake_pods(m, true);
    m->pods[op->subject].dirty = CHANGED;
    objects_show(m, 'p', op->subject); /* the ledger check expects the new requests immediately */
}

void pod_bound(struct model *m, int p, int n)
{
    m->pods[p].node = n;
    m->pods[p].bound_at = m->now;
    m->pods[p].dirty = CHANGED;
    wake_pods(m, false);
}

void pod_bound_by_us(struct model *m, int p, int n)
{
    pod_bound(m, p, n);
    m->pods[p].committed = m->pods[p].of_commit;
}

static void do_assign(struct model *m, const struct op *op)
{
    struct pod_truth *t = &m->pods[op->subject];
    int n = op_get(op, A_ON, 0);
    if (t->node >= 0 || !m->nodes[n].exists) {
        nothing(m);
        return;
    }
    if (pod_group(t) >= 0)
        group_excuse(m, pod_group(t));
    /* If the pod was nominated to another node, the room that was kept there is free. */
    bool left = t->nominated >= 0 && t->nominated != n;
    pod_bound(m, op->subject, n);
    if (left)
        wake_pods(m, true);
    changed(m, 'p', op->subject, op);
}

static void do_show(struct model *m, const struct op *op)
{
    char class = op->class;
    int i = op->subject;
    if (!class && !next_dirty(m, &class, &i, op_get(op, A_SKIP, 0)) &&
        !next_dirty(m, &class, &i, 0)) {
        nothing(m);
        return;
    }
    op_unset(&m->did, A_SKIP);
    m->did.class = class;
    m->did.subject = i;
    objects_show(m, class, i);
}

static void do_config(struct model *m, const struct op *op)
{
    m->config = *op;
    m->n_grants = 0;
    for (int q = 0; q < QUEUES; q++)
        if (op_get(op, A_FORBIDS, 0) >> q & 1)
            m->grants[m->n_grants++] = queue_ids[q].grant;
    if (m->line > 1) /* applies after the next kill */
        return;
    model_start_core(m);
    model_tell(m, (struct gang_event){.kind = GANG_EV_SYNCED}, -1);
}

void do_object(struct model *m, const struct op *op)
{
    static void (*const table[OP_FILTER])(struct model *, const struct op *) = {
        [OP_CONFIG] = do_config,    [OP_NODE] = do_node,           [OP_NONODE] = do_gone,
        [OP_GROUP] = do_group,      [OP_NOGROUP] = do_gone,        [OP_POD] = do_pod,
        [OP_NOPOD] = do_nopod,      [OP_TERMINATE] = do_terminate, [OP_RUN] = do_phase,
        [OP_SUCCEED] = do_phase,    [OP_FAIL] = do_phase,          [OP_UNGATE] = do_ungate,
        [OP_UNBAR] = do_unbar,      [OP_RELINK] = do_relink,       [OP_RESIZE] = do_resize,
        [OP_ASSIGN] = do_assign,    [OP_CLASS] = do_plain,         [OP_NOCLASS] = do_gone,
        [OP_CLAIM] = do_plain,      [OP_NOCLAIM] = do_gone,        [OP_SHOW] = do_show,
        [OP_QUEUE] = do_queue,      [OP_NOQUEUE] = do_gone,        [OP_NAMESPACE] = do_queue,
        [OP_NONAMESPACE] = do_gone, [OP_MOVE] = do_move,           [OP_BUDGET] = do_budget,
        [OP_NOBUDGET] = do_gone,    [OP_SUSPEND] = do_suspend,     [OP_RESUME] = do_resume,
    };
    bool needs_pod = op->kind > OP_POD && op->kind <= OP_ASSIGN;
    const struct pod_truth *t = &m->pods[needs_pod ? op->subject : 0];
    if (needs_pod && (!t->exists || t->stands_in))
        nothing(m);
    else
        table[op->kind](m, op);
}
