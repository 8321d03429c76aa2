/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_restart.c - I6: makes new cores from the current objects, as after a restart of muster.
 * The order of the objects in the lists must not change their decisions. These must be consistent
 * with the running core:
 *
 *   - A gang that is Scheduled, Done or Recovering is in one of these states in both cores. The new
 *     core may forget that a gang was Scheduled and is now below its minimum.
 *   - No single-PodGroup gang waits while one of lower priority has a plan with room for it.
 *   - If the running core has no plan, no backoff, no infeasible node and no earmark, the new core
 *     plans no gang that waits in the running core.
 *
 * The cores may plan different gangs, because the running core made its plan before other gangs
 * came. The objects do not contain waiting times, backoffs and infeasible nodes.
 */
#include "test/prop/oracle.h"

#include <stdio.h>

#include "test/prop/family.h"
#include "test/prop/queue_rules.h"

struct picture {
    enum gang_state state[GROUPS];
    int planned[GROUPS], bound[GROUPS], members[GROUPS];
    bool known[GROUPS], once[GROUPS];
    int slot[PODS], node[PODS];
};

static void see_gang(void *arg, const struct gang_view *v)
{
    struct picture *picture = arg;
    int g = v->status.ref->name[1] - '0';
    picture->known[g] = true;
    picture->state[g] = v->status.state;
    picture->planned[g] = v->planned;
    picture->bound[g] = v->status.bound;
    picture->members[g] = v->status.members;
    picture->once[g] = v->status.ever_scheduled;
}

static void see_member(void *arg, const struct gang_member_view *v)
{
    struct picture *picture = arg;
    int p = atoi(v->facts->name + 1);
    picture->slot[p] = node_number(v->slot);
    picture->node[p] = node_number(v->node);
}

static void look(const struct gang_core *core, struct picture *picture)
{
    memset(picture, 0, sizeof *picture);
    memset(picture->slot, -1, sizeof picture->slot);
    memset(picture->node, -1, sizeof picture->node);
    gang_core_each_gang(core, see_gang, picture);
    for (int g = 0; g < GROUPS; g++) {
        struct gang_ref ref = facts_ref(g);
        gang_core_each_member(core, &ref, see_member, picture);
        free(ref.api_group);
        free(ref.ns);
        free(ref.name);
    }
}

/* ---- a second core ---- */

struct lists {
    struct gang_event
        events[NODES + GROUPS + CLASSES + CLAIMS + QUEUES + NAMESPACES + BUDGETS + PODS];
    size_t n;
};

static void list_all(const struct model *m, struct lists *l)
{
    l->n = 0;
    for (int i = 0; i < NODES; i++)
        if (m->nodes[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_NODE_SET, .node = facts_node(m, i)};
    for (int i = 0; i < GROUPS; i++)
        if (m->groups[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = facts_group(m, i)};
    for (int i = 0; i < CLASSES; i++)
        if (m->classes[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_CLASS_SET, .class = facts_class(m, i)};
    for (int i = 0; i < CLAIMS; i++)
        if (m->claims[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = facts_claim(m, i)};
    for (int i = 0; i < QUEUES; i++)
        if (m->queues[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = facts_queue(m, i)};
    for (int i = 0; i < BUDGETS; i++)
        if (m->budgets[i].exists)
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_BUDGET_SET, .budget = facts_budget(m, i)};
    if (m->namespaces[0].exists)
        l->events[l->n++] =
            (struct gang_event){.kind = GANG_EV_NAMESPACE_SET, .namespace = facts_namespace(m)};
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].exists && !stand_in_lingers(m, i))
            l->events[l->n++] =
                (struct gang_event){.kind = GANG_EV_POD_SET, .pod = facts_pod(m, i)};
}

static void step(struct gang_core *core, usec_t now, struct gang_event *events, size_t n)
{
    size_t n_effects;
    gang_step(core, now, events, n, &n_effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

/* A new core, which may evict pods if its configuration has preemption. If `turn` is not 0, it gets
 * the objects in reverse order. The caller frees it. */
static struct gang_core *rebuilt(struct model *m, int turn, bool preemption)
{
    struct gang_config config = model_config(m);
    config.preemption &= preemption;
    struct gang_core *core = gang_core_new(&config);
    struct lists l;
    list_all(m, &l);
    for (size_t i = 0; turn && i < l.n / 2; i++) {
        struct gang_event other = l.events[i];
        l.events[i] = l.events[l.n - 1 - i];
        l.events[l.n - 1 - i] = other;
    }
    step(core, m->now, l.events, l.n);
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    step(core, m->now, &synced, 1);
    struct err err;
    if (gang_core_check(core, &err) < 0)
        model_fail(m, "I6", "after a restart: %s", err.text);
    return core;
}

/* ---- comparing ---- */

static void same_decisions(struct model *m, const struct picture *a, const struct picture *b)
{
    for (int g = 0; g < GROUPS; g++)
        if (a->state[g] != b->state[g] || a->planned[g] != b->planned[g])
            model_fail(m, "I6",
                       "g%d depends on the order of the lists: %s with %d slots, or %s with %d", g,
                       gang_state_name(a->state[g]), a->planned[g], gang_state_name(b->state[g]),
                       b->planned[g]);
    for (int p = 0; p < PODS; p++)
        if (a->slot[p] != b->slot[p] || a->node[p] != b->node[p])
            model_fail(m, "I6", "the slot of p%d depends on the order of the lists: n%d or n%d", p,
                       a->slot[p], b->slot[p]);
}

/* Whether a Binding is in flight, or the running core counts a deleted pod that no watch event will
 * remove. */
static bool in_flight(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].charged == CHARGED_BINDING || m->pods[p].ghost)
            return true;
    return false;
}

static bool is_final(enum gang_state state)
{
    return state == GANG_SCHEDULED || state == GANG_DONE || state == GANG_RECOVERING;
}

/* Whether members may be pinned to a node. Objects do not show that kube-scheduler has prepared
 * volumes that are not bound yet, so a new core may plan such members elsewhere. */
static bool has_claims(const struct model *m, int g)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && pod_group(&m->pods[p]) == g &&
            (op_has(&m->pods[p].spec, A_USES) || op_has(&m->pods[p].spec, A_DEVICES)))
            return true;
    return false;
}

/* Whether some member counts as rejected early, which a new core does not know. */
static bool any_rejected_early(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && m->pods[p].rejected_early)
            return true;
    return false;
}

/* Whether muster has marked a pod and not evicted it, or requested an eviction that the API server
 * refuses, or a suspension that nobody has carried out. A new core does not know it. */
static bool any_eviction_waits(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->exists && (t->refused == t->serial || t->chosen == t->serial ||
                          (t->paused == t->serial && !t->deleting)))
            return true;
    }
    return false;
}

/* `new` is from a core that keeps no room for gangs, so more gangs may have plans there. */
static void legal(struct model *m, const struct picture *old, const struct picture *new)
{
    if (any_eviction_waits(m))
        return;
    bool quiet = !any_rejected_early(m) && !gang_core_plans_deferred(m->core) &&
                 !oracle_room_is_kept(m) && stand_ins_next(m) == USEC_NEVER &&
                 !oracle_stand_ins_differ(m);
    for (int g = 0; g < GROUPS; g++)
        quiet = quiet && old->planned[g] == 0 && old->state[g] != GANG_BACKED_OFF &&
                old->state[g] != GANG_COMMITTING && !group_doubted(m, g) &&
                !oracle_back(m, g).earmark_gang;
    for (int g = 0; g < GROUPS; g++) {
        if (!old->known[g])
            continue;
        if (is_final(old->state[g]) && !is_final(new->state[g]) && !old->once[g])
            model_fail(m, "I6", "g%d is %s, but %s after a restart", g,
                       gang_state_name(old->state[g]), gang_state_name(new->state[g]));
        if (!is_final(old->state[g]) && is_final(new->state[g]) && old->state[g] != GANG_COMMITTING)
            model_fail(m, "I6", "g%d is %s, but %s after a restart", g,
                       gang_state_name(old->state[g]), gang_state_name(new->state[g]));
        if (quiet && old->state[g] == GANG_WAITING && new->planned[g] > 0 && !has_claims(m, g) &&
            !queue_is_fifo(m, queue_of_family(m, family_of(m, g))))
            model_fail(m, "I6", "g%d waits, but has a plan after a restart", g);
    }
}

/* ---- order ---- */

/* Whether all room that is enough for b is also enough for a. */
static bool asks_no_more(const struct ask *a, const struct ask *b)
{
    for (int r = 0; r < RESOURCES; r++)
        if (a->need[r] > b->need[r])
            return false;
    return b->alike && a->pods <= b->pods && (b->nodes & ~a->nodes) == 0 &&
           a->anti_affinity <= b->anti_affinity;
}

/* Whether priority alone does not decide: muster completes a partial commit first, and oracle_ask()
 * leaves out members that are rejected early, while a plan may contain them. */
static bool is_odd(const struct model *m, int g)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && pod_group(&m->pods[p]) == g &&
            (m->pods[p].committed || op_has(&m->pods[p].spec, A_BARRED)))
            return true;
    return false;
}

/* Whether the gang is a single PodGroup with a simple demand, so that gangs can be compared. */
static bool comparable(const struct model *m, int g, struct ask *ask)
{
    const struct op *spec = &m->groups[g].spec;
    static const enum attr others[] = {A_GPUS, A_CPU, A_SUBA, A_SUBB, A_SUBC, A_SPLIT};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (op_has(spec, others[i]))
            return false;
    return m->groups[g].exists && !is_odd(m, g) && family_of(m, g) == UINT32_C(1) << g &&
           oracle_ask(m, UINT32_C(1) << g, ask);
}

/* Whether both gangs are in the same queue, and its limits hold them alike. */
static bool same_queue(const struct model *m, int g, int h)
{
    uint32_t x = UINT32_C(1) << g, y = UINT32_C(1) << h;
    return queue_of_family(m, x) == queue_of_family(m, y) && family_firm(m, x) == family_firm(m, y);
}

/* A gang of higher priority in the same queue must not wait while a gang of lower priority has room
 * that would be enough for it. */
static void in_order(struct model *m, const struct picture *new)
{
    struct ask asks[GROUPS];
    bool plain[GROUPS];
    for (int g = 0; g < GROUPS; g++)
        plain[g] = new->known[g] && comparable(m, g, &asks[g]);
    for (int g = 0; g < GROUPS; g++)
        for (int h = 0; h < GROUPS; h++)
            if (plain[g] && plain[h] && same_queue(m, g, h) &&
                new->state[g] == GANG_WAITING &&new->planned[h] &&
                group_priority(m, g) > group_priority(m, h) && asks_no_more(&asks[g], &asks[h]))
                model_fail(m, "order", "g%d waits, but g%d of lower priority has room for it", g,
                           h);
}

/* Calls gang_core_explain() for each group. The next checks show that it changes nothing. */
static void ask_why(struct model *m)
{
    for (int g = 0; g < GROUPS; g++) {
        struct gang_ref ref = facts_ref(g);
        struct gang_explained why;
        bool known = gang_core_explain(m->core, &ref, GANG_EXPLAIN_STATE, &why);
        if (known) {
            for (size_t i = 0; i < why.n_pods; i++)
                if (why.pods[i].signature >= (int)why.n_signatures)
                    model_fail(m, "explain", "g%d: a member has an unknown signature", g);
            for (enum gang_explain next = why.next; next != GANG_EXPLAIN_END; next = why.next) {
                gang_explained_done(&why);
                gang_core_explain(m->core, &ref, next, &why);
            }
            gang_explained_done(&why);
        } else if (m->groups[g].exists) {
            model_fail(m, "explain", "g%d exists, but explain does not know it", g);
        }
        free(ref.api_group);
        free(ref.ns);
        free(ref.name);
    }
}

void oracle_rebuild(struct model *m)
{
    ask_why(m);
    struct picture old, forward, backward;
    struct gang_core *a = rebuilt(m, 0, /* preemption= */ true), *b = rebuilt(m, 1, true);
    m->totals->rebuilds++;
    look(a, &forward);
    look(b, &backward);
    if (!oracle_stand_ins_differ(m)) {
        same_decisions(m, &forward, &backward);
        oracle_queues_alike(m, a, b);
    }
    if (op_has(&m->config, A_EVICTS)) { /* when muster searches for victims depends on the past */
        gang_core_free(a);
        a = rebuilt(m, 0, /* preemption= */ false);
        look(a, &forward);
    }
    in_order(m, &forward);
    if (!in_flight(m)) {
        look(m->core, &old);
        legal(m, &old, &forward);
    }
    gang_core_free(a);
    gang_core_free(b);
}
