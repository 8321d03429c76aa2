/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/oracle.h"

#include <inttypes.h>
#include <stdio.h>

#include "test/prop/family.h"
#include "test/prop/queue_rules.h"

static const char *const resource_names[RESOURCES] = {
    [R_GPUS] = "nvidia.com/gpu", [R_CPU] = "cpu", [R_PODS] = "pods", [R_PORT] = "(host port)"};
static const int64_t resource_unit[RESOURCES] = {1, 1000, 1, 1};

/* ---- expected charges ---- */

void oracle_left(const struct model *m, int n, int64_t left[RESOURCES])
{
    node_has(m, n, left);
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->charged == NOT_CHARGED || t->charged_node != n || t->charged_serial != t->serial)
            continue;
        int64_t need[RESOURCES];
        pod_needs(t, need);
        for (int r = 0; r < RESOURCES; r++)
            left[r] -= need[r];
    }
}

bool oracle_room(const struct model *m, int p, int n)
{
    int64_t left[RESOURCES], need[RESOURCES];
    if (!m->nodes[n].exists)
        return false;
    oracle_left(m, n, left);
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < RESOURCES; r++)
        if (need[r] && need[r] > left[r])
            return false;
    return true;
}

/* ---- the ledger ---- */

struct amounts_seen {
    int64_t all[RESOURCES], used[RESOURCES], reserved[RESOURCES];
};

static void see_amount(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    struct amounts_seen *seen = arg;
    for (int r = 0; r < R_PORT; r++)
        if (strcmp(resource, resource_names[r]) == 0) {
            seen->all[r] = all / resource_unit[r];
            seen->used[r] = used / resource_unit[r];
            seen->reserved[r] = reserved / resource_unit[r];
        }
}

/* Whether the model knows all charges. A deleted pod and a new pod of the same name can both be
 * charged until the watch shows the new one, and the model stores only one charge. */
static bool charges_known(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].charged != NOT_CHARGED && m->pods[p].charged_serial != m->pods[p].serial)
            return false;
    return true;
}

static void check_ledger(struct model *m, struct amounts_seen seen[NODES])
{
    bool known = charges_known(m);
    for (int n = 0; n < NODES; n++) {
        int64_t left[RESOURCES], have[RESOURCES];
        memset(&seen[n], 0, sizeof seen[n]);
        if (!m->nodes[n].exists || !m->nodes[n].shown)
            continue;
        gang_core_each_amount(m->core, node_name(n), see_amount, &seen[n]);
        oracle_left(m, n, left);
        node_has(m, n, have);
        for (int r = 0; known && r < R_PORT; r++) {
            bool counts = seen[n].all[r] != 0 || r != R_GPUS; /* every node has cpu and pods */
            int64_t charged = counts ? have[r] - left[r] : 0;
            if (seen[n].used[r] != charged)
                model_fail(m, "ledger", "%s: the charge is %" PRId64 " %s, expected %" PRId64,
                           node_name(n), seen[n].used[r], resource_names[r], charged);
            if (!m->nodes[n].dirty && seen[n].all[r] != have[r])
                model_fail(m, "ledger", "%s: allocatable is %" PRId64 " %s, expected %" PRId64,
                           node_name(n), seen[n].all[r], resource_names[r], have[r]);
        }
    }
}

/* ---- I1 ---- */

bool oracle_committed(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->node >= 0 || t->phase == PHASE_SUCCEEDED ||
           (t->charged != NOT_CHARGED && t->charged_serial == t->serial);
}

bool oracle_groups_known(const struct model *m)
{
    for (int g = 0; g < GROUPS; g++)
        if (m->groups[g].dirty)
            return false;
    return true;
}

/* except_taken: ignores pods that kube-scheduler has just preempted. */
static bool pods_shown(const struct model *m, uint32_t family, bool except_taken)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int now = pod_group(t), shown = t->shown_group;
        bool its = (now >= 0 && family >> now & 1) || (shown >= 0 && family >> shown & 1);
        if (its && !(except_taken && t->taken) && (t->dirty == CHANGED || t->lost >= 0 || t->ghost))
            return false;
    }
    return true;
}

/* For the core, each PodGroup that has changed may belong to the family. */
bool oracle_all_shown(const struct model *m, uint32_t family)
{
    return pods_shown(m, family, /* except_taken= */ false) && oracle_groups_known(m);
}

bool oracle_shown_except_taken(const struct model *m, uint32_t family)
{
    return pods_shown(m, family, /* except_taken= */ true) && oracle_groups_known(m);
}

static bool excused(const struct model *m, uint32_t family)
{
    for (int g = 0; g < GROUPS; g++)
        if (family >> g & 1 && m->excused[g])
            return true;
    return false;
}

/* A gang has all needed members bound, or none, unless it is excused (group_excuse()). */
static void check_whole(struct model *m)
{
    uint32_t seen = 0;
    for (int g = 0; g < GROUPS; g++) {
        uint32_t family = seen >> g & 1 ? 0 : family_of(m, g);
        bool has[PODS], any = false;
        seen |= family;
        for (int p = 0; p < PODS && family; p++) {
            int h = pod_group(&m->pods[p]);
            has[p] =
                h >= 0 && family >> h & 1 && member_counts(&m->pods[p]) && oracle_committed(m, p);
            any |= has[p];
        }
        if (any && !excused(m, family) && family_valid(m, family) && !family_whole(m, family, has))
            model_fail(m, "I1", "gang g%d is bound in part", g);
        for (int h = 0; h < GROUPS && !any; h++)
            if (family >> h & 1 && oracle_all_shown(m, family))
                m->excused[h] = false;
    }
}

/* A Binding must not exceed maxMember, unless the group has changed. */
static void check_maximum(struct model *m, int p)
{
    int g = pod_group(&m->pods[p]), n = 0;
    int max = g >= 0 && m->groups[g].exists ? op_get(&m->groups[g].spec, A_MAX, 0) : 0;
    if (max <= 0 || m->excused[g] || m->groups[g].dirty)
        return;
    for (int i = 0; i < PODS; i++)
        n += pod_group(&m->pods[i]) == g && member_counts(&m->pods[i]) &&
             m->pods[i].chosen != m->pods[i].serial && /* it counts as evicted */
             m->pods[i].phase != PHASE_SUCCEEDED && oracle_committed(m, i);
    if (n > max)
        model_fail(m, "maximum",
                   "g%d: after the Binding of p%d, %d members are bound, but the "
                   "maximum is %d",
                   g, p, n, max);
}

/* A pod that exceeds a bound of muster is not planned. It may be bound only after its gang meets
 * its minimum without it. */
static void check_beyond(struct model *m, int p)
{
    int g = pod_group(&m->pods[p]);
    uint32_t family = g >= 0 ? family_of(m, g) : 0;
    bool has[PODS];
    if (!op_has(&m->pods[p].spec, A_BEYOND) || !family || excused(m, family) ||
        !oracle_all_shown(m, family) || !family_valid(m, family))
        return;
    for (int i = 0; i < PODS; i++) {
        int h = pod_group(&m->pods[i]);
        has[i] = i != p && h >= 0 && family >> h & 1 && member_counts(&m->pods[i]) &&
                 oracle_committed(m, i);
    }
    if (!family_whole(m, family, has))
        model_fail(m, "beyond", "p%d exceeds a bound, but is bound with its gang", p);
}

/* I2: a Binding must not exceed a resource of the node. A resource that the node does not list is
 * not muster's concern. */
void oracle_binding(struct model *m, int p, int n)
{
    int64_t left[RESOURCES], have[RESOURCES], need[RESOURCES];
    check_maximum(m, p);
    check_beyond(m, p);
    if (!m->nodes[n].exists || m->nodes[n].dirty)
        return;
    oracle_left(m, n, left);
    node_has(m, n, have);
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < R_PORT; r++)
        if (left[r] < 0 && have[r] && need[r])
            model_fail(m, "I2",
                       "%s: after the Binding of p%d, %" PRId64 " %s of %" PRId64 " are used",
                       node_name(n), p, have[r] - left[r], resource_names[r], have[r]);
}

/* Eleven minutes if kube-scheduler prepares volumes or claims for the pod, otherwise one minute. */
usec_t oracle_let_time(const struct pod_truth *t)
{
    return op_has(&t->spec, A_USES) || op_has(&t->spec, A_DEVICES) ? SECONDS(660) : SECONDS(60);
}

void oracle_let(struct model *m, int p, int n, const struct call *call)
{
    const struct pod_truth *t = &m->pods[p];
    int claim = op_get(&t->spec, A_USES, -1);
    if (!(t->let >> n & 1) || (call && call->since - t->let_at >= oracle_let_time(t)))
        model_fail(m, "let", "p%d is bound to %s, which is not in its filter result", p,
                   node_name(n));
    if (op_has(&t->spec, A_FOREIGN))
        model_fail(m, "let", "p%d of another scheduler is bound", p);
    /* The pod has rules that muster does not know. */
    bool hidden = op_get(&t->spec, A_FORBID, 0) >> n & 1 || op_has(&t->spec, A_BEYOND);
    if (!hidden && t->dirty != CHANGED && !m->nodes[n].dirty &&
        (claim < 0 || !m->claims[claim].dirty) && !node_allows(m, p, n))
        model_fail(m, "let", "p%d is bound to %s, which its rules exclude", p, node_name(n));
}

/* ---- the express lane ---- */

static bool has_wide_anti_affinity_conflict(const struct model *m, int p)
{
    const struct op *spec = &m->pods[p].spec;
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        if (i != p && t->exists && t->node >= 0 && !pod_finished(t) && t->dirty != CHANGED &&
            op_has(&t->spec, A_SHUN) && op_has(spec, A_APP) &&
            t->spec.value[A_SHUN] == spec->value[A_APP])
            return true;
    }
    return false;
}

void oracle_express(struct model *m, int p, int n)
{
    const struct pod_truth *t = &m->pods[p];
    const struct op *spec = &t->spec;
    if (!op_has(&m->config, A_EXPRESS))
        model_fail(m, "express", "p%d: a Binding without a bind call", p);
    if (op_has(spec, A_FORBID) || op_has(spec, A_USES) || op_has(spec, A_DEVICES) ||
        op_has(spec, A_SHUN) || op_has(spec, A_BEYOND) ||
        (op_has(spec, A_SPREAD) && op_has(spec, A_APP)) || has_wide_anti_affinity_conflict(m, p))
        model_fail(m, "express",
                   "express Binding of p%d, which has rules that muster does not know", p);
    if (!t->shown)
        model_fail(m, "express", "express Binding of p%d, which the watch has not shown", p);
    if (m->closed)
        model_fail(m, "express", "express Binding of p%d while the lane is closed", p);
    if (m->behind[GANG_WATCH_NODES] || m->behind[GANG_WATCH_PODS])
        model_fail(m, "express", "express Binding of p%d while a watch is behind", p);
    if (t->dirty != CHANGED && !m->nodes[n].dirty && !node_allows(m, p, n))
        model_fail(m, "express", "express Binding of p%d to %s, which its rules exclude", p,
                   node_name(n));
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *other = &m->pods[i];
        if (i != p && other->exists && other->node == n && other->dirty == CLEAN && other->shown &&
            !pod_finished(other) && op_has(&other->spec, A_BEYOND))
            model_fail(m, "express",
                       "express Binding of p%d to %s, where p%d runs, which has rules "
                       "that muster does not know",
                       p, node_name(n), i);
        if (i != p && other->exists && other->node < 0 && other->dirty == CLEAN && other->shown &&
            other->nominated == n && pod_group(other) < 0 && other->charged == NOT_CHARGED &&
            !pod_finished(other))
            model_fail(m, "express", "express Binding of p%d to %s, where p%d is nominated", p,
                       node_name(n), i);
    }
}

/* Predicate parity: while kube-scheduler offers all nodes that its rules allow, muster must find no
 * difference. */
static void check_model(struct model *m)
{
    const char *wrong = gang_core_parity_difference(m->core);
    if (wrong && !m->lies)
        model_fail(m, "model", "%s", wrong);
}

/* ---- the reference planner ---- */

/* Whether the nodes have room for the demand if each pod has the largest requests. A greedy planner
 * then cannot fail. */
static bool fits(const struct ask *ask, int64_t left[NODES][RESOURCES])
{
    int64_t sum = 0;
    for (int n = 0; n < NODES; n++) {
        int64_t room = ask->nodes >> n & 1 ? (ask->anti_affinity ? 1 : ask->pods) : 0;
        for (int r = 0; r < RESOURCES; r++)
            if (ask->need[r] > 0) {
                int64_t here = left[n][r] > 0 ? left[n][r] / ask->need[r] : 0;
                room = here < room ? here : room;
            }
        sum += room;
    }
    return sum >= ask->pods;
}

/* Whether a rule between pods keeps the pod off the node, because of a pod that is bound there or
 * charged there. */
static bool kept_away(const struct model *m, int p, int n)
{
    for (int i = 0; i < PODS; i++)
        if (i != p && m->pods[i].exists && !pod_finished(&m->pods[i]) &&
            pods_apart(&m->pods[i], &m->pods[p]) &&
            (m->pods[i].node == n ||
             (m->pods[i].charged != NOT_CHARGED && m->pods[i].charged_node == n)))
            return true;
    return false;
}

static uint32_t nodes_for(const struct model *m, int p)
{
    uint32_t nodes = 0;
    for (int n = 0; n < NODES; n++)
        if (node_allows(m, p, n) && !kept_away(m, p, n))
            nodes |= UINT32_C(1) << n;
    return nodes;
}

static void ask_for(struct ask *ask, const struct model *m, int p)
{
    struct ask one = {.nodes = nodes_for(m, p), .anti_affinity = op_has(&m->pods[p].spec, A_APART)};
    pod_needs(&m->pods[p], one.need);
    if (ask->pods++ == 0)
        *ask = (struct ask){
            .nodes = one.nodes, .anti_affinity = one.anti_affinity, .alike = true, .pods = 1};
    ask->alike = ask->alike && ask->nodes == one.nodes && ask->anti_affinity == one.anti_affinity;
    ask->nodes &= one.nodes;
    ask->anti_affinity |= one.anti_affinity;
    for (int r = 0; r < RESOURCES; r++) {
        ask->alike = ask->alike && (ask->pods == 1 || ask->need[r] == one.need[r]);
        ask->need[r] = one.need[r] > ask->need[r] ? one.need[r] : ask->need[r];
    }
}

/* Rules about pods of other groups. The reference planner does not cover them. */
static bool has_app_rules(const struct op *spec)
{
    return op_has(spec, A_APP) || op_has(spec, A_AWAY) || op_has(spec, A_SHUN);
}

/* Whether the reference planner covers all members of the family. */
static bool members_plain(const struct model *m, uint32_t family)
{
    int kind = -1;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t), shown = t->shown_group;
        bool its = (g >= 0 && family >> g & 1) || (shown >= 0 && family >> shown & 1);
        if (its && (t->dirty == CHANGED || t->ghost))
            return false; /* the core does not know the change yet */
        if (g < 0 || !(family >> g & 1) || !member_counts(t))
            continue;
        if (op_has(&t->spec, A_USES) || has_app_rules(&t->spec) ||
            (op_has(&t->spec, A_BEYOND) && !oracle_committed(m, p)))
            return false;
        if (!op_has(&t->spec, A_KIND))
            continue;
        if (kind >= 0 && t->spec.value[A_KIND] != kind)
            return false;
        kind = t->spec.value[A_KIND];
    }
    return true;
}

/* Whether the sum of minResources of all groups is free on nodes that are not cordoned. */
static bool resources_free(const struct model *m, uint32_t family, int64_t left[NODES][RESOURCES])
{
    for (int r = 0; r <= R_CPU; r++) {
        int64_t asked = 0, free = 0;
        for (int g = 0; g < GROUPS; g++)
            if (family >> g & 1 && m->groups[g].exists)
                asked += op_get(&m->groups[g].spec, r == R_GPUS ? A_GPUS : A_CPU, 0);
        for (int n = 0; n < NODES; n++)
            if (m->nodes[n].exists && !op_has(&m->nodes[n].spec, A_CORDON) && left[n][r] > 0)
                free += left[n][r];
        if (free < asked)
            return false;
    }
    return true;
}

static bool is_plain(const struct op *asks)
{
    static const enum attr trees[] = {A_SUBA, A_SUBB, A_SUBC, A_SPLIT};
    for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
        if (op_has(asks, trees[i]))
            return false;
    return true;
}

bool oracle_ask(const struct model *m, uint32_t family, struct ask *ask)
{
    bool has[PODS] = {false}, would[PODS] = {false};
    int bound = 0, free = 0, only = -1;
    if (!family_valid(m, family) || !members_plain(m, family) || oracle_members_unsure(m, family) ||
        !oracle_groups_known(m))
        return false;
    for (int g = 0; g < GROUPS; g++)
        only = family >> g & 1 ? g : only;
    *ask = (struct ask){.pods = 0};
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t);
        if (g < 0 || !(family >> g & 1) || !member_counts(t))
            continue;
        has[p] = oracle_committed(m, p);
        bool may = !op_has(&t->spec, A_GATED) && !op_has(&t->spec, A_FOREIGN) &&
                   !op_has(&t->spec, A_BARRED) && !t->rejected_early;
        would[p] = has[p] || may;
        bound += has[p];
        free += !has[p] && may;
        if (!has[p] && may)
            ask_for(ask, m, p);
    }
    if (family_whole(m, family, has) || !family_whole(m, family, would))
        return false;
    const struct op *asks = group_asks(m, only);
    ask->pods = free;
    if (family == UINT32_C(1) << only && is_plain(asks)) {
        int min = op_get(asks, A_MIN, 0);
        ask->pods = (min > 0 ? min : 1) - bound;
    }
    return ask->pods > 0 && free >= ask->pods;
}

/* ---- I5 ---- */

struct gangs_seen {
    /* The index is the group that leads the gang. */
    enum gang_state state[GROUPS];
    int planned[GROUPS];
    bool known[GROUPS];
    bool any_waits; /* some gang has no plan */
};

static bool lacks_plan(const struct gangs_seen *seen, int g)
{
    return (seen->state[g] == GANG_WAITING || seen->state[g] == GANG_RECOVERING) &&
           !seen->planned[g];
}

static void see_gang(void *arg, const struct gang_view *v)
{
    struct gangs_seen *seen = arg;
    int g = v->root->name[1] - '0';
    seen->known[g] = true;
    seen->state[g] = v->status.state;
    seen->planned[g] |= v->planned > 0; /* v is one PodGroup of the gang */
    seen->any_waits |= lacks_plan(seen, g);
}

static struct gangs_seen see_gangs(const struct model *m)
{
    struct gangs_seen seen = {.any_waits = false};
    gang_core_each_gang(m->core, see_gang, &seen);
    return seen;
}

bool oracle_nodes_known(const struct model *m)
{
    for (int n = 0; n < NODES; n++)
        if (m->nodes[n].dirty)
            return false;
    return charges_known(m);
}

/* The nodes that muster must not treat as infeasible for any waiting pod of the family. */
static uint32_t undoubted(const struct model *m, uint32_t family)
{
    uint32_t nodes = 0;
    for (int n = 0; n < NODES; n++) {
        bool doubted = false;
        for (int p = 0; p < PODS; p++) {
            int h = m->pods[p].exists && m->pods[p].node < 0 ? pod_group(&m->pods[p]) : -1;
            for (int g = 0; h >= 0 && family >> h & 1 && g < GROUPS; g++)
                doubted |= family >> g & 1 && pod_doubted(m, g, p, n);
        }
        nodes |= doubted ? 0 : UINT32_C(1) << n;
    }
    return nodes;
}

/* Whether a member may be pinned to a node, because kube-scheduler has prepared its claim there. */
static bool may_be_pinned(const struct model *m, uint32_t family)
{
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].exists && m->pods[p].node < 0 ? pod_group(&m->pods[p]) : -1;
        if (g >= 0 && family >> g & 1 && op_has(&m->pods[p].spec, A_DEVICES) && m->pods[p].asked)
            return true;
    }
    return false;
}

/* Whether a member may stay pinned for longer than a calm phase takes: pins end with the attempt.
 */
static bool may_stay_pinned(const struct model *m, uint32_t family)
{
    bool long_attempt = false;
    for (int g = 0; g < GROUPS; g++)
        long_attempt |= family >> g & 1 && m->groups[g].exists &&
                        op_get(&m->groups[g].spec, A_TIMEOUT, 0) * USEC_PER_MSEC >= SECONDS(600);
    return long_attempt && may_be_pinned(m, family);
}

struct back oracle_back(const struct model *m, int g)
{
    struct gang_ref ref = facts_ref(g);
    struct gang_explained why;
    struct back back = {.pauses = false};
    if (gang_core_explain(m->core, &ref, GANG_EXPLAIN_STATE, &why)) {
        back = (struct back){why.backoff_until > m->now, why.respects_earmark,
                             why.earmark_gang != NULL};
        gang_explained_done(&why);
    }
    free(ref.api_group);
    free(ref.ns);
    free(ref.name);
    return back;
}

/* A change of the order of queues may end an earmark for g, which muster notices within a second.
 */
static bool earmark_may_be_late(const struct model *m, int g)
{
    return queues_exist(m) && oracle_back(m, g).earmark_gang;
}

/* A gang whose members differ in the label that must be equal is never planned. */
static void check_kinds(struct model *m, const struct gangs_seen *seen)
{
    for (int g = 0; g < GROUPS && m->kinds; g++) {
        if (!seen->known[g] || seen->state[g] != GANG_PLANNED)
            continue;
        uint32_t family = family_of(m, g);
        int kind = -1;
        for (int p = 0; p < PODS && oracle_all_shown(m, family); p++) {
            const struct pod_truth *t = &m->pods[p];
            int h = pod_group(t);
            /* as if it had been evicted; or a new pod may have taken its place */
            bool leaves = t->paused == t->serial || t->stands_in;
            if (h < 0 || !(family >> h & 1) || !member_counts(t) || leaves ||
                !op_has(&t->spec, A_KIND))
                continue;
            if (kind >= 0 && kind != t->spec.value[A_KIND])
                model_fail(m, "kinds", "g%d is planned, but its members differ in kind", g);
            kind = t->spec.value[A_KIND];
        }
    }
}

/* The room for plans of the family: `left` minus room that may be nominated for pods ahead of it.
 */
static void without_nominated_room(const struct model *m, uint32_t family,
                                   int64_t left[NODES][RESOURCES], int64_t ret[NODES][RESOURCES])
{
    int least = family_least(m, family);
    for (int n = 0; n < NODES; n++) {
        nominated_room(m, n, least, /* sure= */ false, ret[n]);
        for (int r = 0; r < RESOURCES; r++)
            ret[n][r] = left[n][r] - ret[n][r];
    }
}

/* Whether a bound member is only marked, its eviction was refused, or its workload is to be
 * suspended. Until muster gives up, it does not count as a member. */
static bool eviction_waits(const struct model *m, uint32_t family)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t);
        if (t->exists && g >= 0 && family >> g & 1 &&
            (t->refused == t->serial || t->paused == t->serial || t->chosen == t->serial))
            return true;
    }
    return false;
}

/* The core may keep room for the nomination of a pod that was deleted and created again. */
static bool any_replaced(const struct model *m)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].replaced)
            return true;
    return false;
}

static void check_planned(struct model *m, const struct amounts_seen amounts[NODES])
{
    struct gangs_seen seen = see_gangs(m);
    check_kinds(m, &seen);
    if (!seen.any_waits || !oracle_nodes_known(m) || gang_core_plans_deferred(m->core) ||
        oracle_room_is_kept(m) || any_replaced(m))
        return;
    /* A plan changes the order of queues. With strict order, muster notices within a second which
     * gang comes first now. */
    if (op_has(&m->config, A_STRICT) && queues_exist(m))
        return;
    int64_t left[NODES][RESOURCES];
    for (int n = 0; n < NODES; n++) {
        oracle_left(m, n, left[n]);
        for (int r = 0; r < R_PORT; r++)
            left[n][r] -= amounts[n].reserved[r];
        left[n][R_PORT] = amounts[n].reserved[R_PODS] ? 0 : left[n][R_PORT];
    }
    for (int g = 0; g < GROUPS; g++) {
        struct ask ask;
        if (!seen.known[g] || !lacks_plan(&seen, g))
            continue;
        uint32_t family = family_of(m, g);
        if (!oracle_ask(m, family, &ask) || may_be_pinned(m, family) || eviction_waits(m, family))
            continue;
        ask.nodes &= undoubted(m, family);
        int64_t mine[NODES][RESOURCES];
        without_nominated_room(m, family, left, mine);
        if (fits(&ask, mine) &&
            (seen.state[g] == GANG_RECOVERING || resources_free(m, family, mine)) &&
            oracle_queue_allows(m, g, &ask, /* calm= */ false) && !oracle_back(m, g).pauses &&
            !oracle_back(m, g).respects_earmark && !earmark_may_be_late(m, g))
            model_fail(m, "I5", "gang g%d is %s, but %d members have room", g,
                       gang_state_name(seen.state[g]), ask.pods);
    }
}

/* ---- nodes that kube-scheduler did not offer ---- */

/* After a pod has left a node, kube-scheduler may not know this for half a second. If the step has
 * refused a bind call, kube-scheduler forgets that pod, and the node may take another one. */
#define BEHIND (USEC_PER_SEC / 2)

static bool just_left(const struct model *m, int n)
{
    return (m->left[n] && m->now < m->left[n] + BEHIND) || (m->forgotten >> n & 1);
}

/* Whether kube-scheduler still counts a member on the node after muster has released its slot
 * there. The member will leave the node. */
static bool will_leave(const struct model *m, int n)
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && m->pods[p].picked == n && pod_group(&m->pods[p]) >= 0 &&
            oracle_place(m, p).node != n)
            return true;
    return false;
}

void oracle_refused(struct model *m, int p, uint32_t offered, bool sample, int tried)
{
    const struct pod_truth *t = &m->pods[p];
    if (pod_group(t) < 0 || op_has(&t->spec, A_USES) || has_app_rules(&t->spec))
        return;
    int slot = oracle_place(m, p).node;
    if (slot >= 0 && !just_left(m, slot) && !will_leave(m, slot) &&
        (sample ? slot == tried : !(offered >> slot & 1)))
        model_fail(m, "evidence", "the slot of p%d is on %s, which kube-scheduler just refused", p,
                   node_name(slot));
    if (sample && slot < 0 && tried < 0)
        model_fail(m, "evidence", "p%d lost its slot because of a sample of the nodes", p);
    if (sample && !t->steered && tried < 0)
        model_fail(m, "evidence", "p%d is not steered to its slot, which the sample lacks", p);
}

/* ---- gates ---- */

/* muster cannot add a gate again, so it removes a gate only if the pod has a slot, may pass singly,
 * or must be visible to an autoscaler. */
void oracle_lifted(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    oracle_lifted_in_queue(m, p);
    if (m->gates != (m->gates | GATES_ON) || m->gates & GATES_SHOW || pod_group(t) < 0 ||
        op_has(&t->spec, A_FOREIGN) || t->dirty == CHANGED || t->shown_group != pod_group(t))
        return;
    struct place seen = oracle_place(m, p);
    if (seen.node < 0 && seen.state != GANG_SCHEDULED && seen.state != GANG_DONE)
        model_fail(m, "gate", "p%d loses its gate without a slot, and its gang is %s", p,
                   gang_state_name(seen.state));
    uint32_t family = family_of(m, pod_group(t));
    bool exists[PODS] = {false};
    for (int i = 0; i < PODS; i++) {
        int g = pod_group(&m->pods[i]);
        exists[i] = g >= 0 && family >> g & 1 && member_counts(&m->pods[i]);
    }
    if (seen.state == GANG_PLANNED && oracle_all_shown(m, family) && family_valid(m, family) &&
        !family_whole(m, family, exists))
        model_fail(m, "gate", "p%d loses its gate for a plan with expected members", p);
}

/* Pods that muster does not plan must not keep muster's gate. Returns NULL or a text. */
static char *kept_gate(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        bool planned_for = m->gates & GATES_ON && pod_group(t) >= 0 && !op_has(&t->spec, A_FOREIGN);
        if (member_counts(t) && t->node < 0 && !pod_finished(t) && op_has(&t->spec, A_CLOSED) &&
            !planned_for)
            return xasprintf("p%d keeps muster's gate, but muster does not plan it", p);
    }
    return NULL;
}

/* ---- members that are rejected early ---- */

struct rejected_early_seen {
    bool is[PODS];
    int place[PODS]; /* the node of the slot, plus 1; 0: no slot */
};

static void see_rejected_early(void *arg, const struct gang_member_view *v)
{
    struct rejected_early_seen *seen = arg;
    int p = atoi(v->facts->name + 1);
    seen->is[p] = strcmp(v->state, "RejectedEarly") == 0;
    seen->place[p] = v->slot ? atoi(v->slot + 1) + 1 : 0;
}

/* A member must not count as rejected early if muster got a filter call for it after it got its
 * slot, and kube-scheduler has not refused it alone since then. */
static void check_rejected_early(struct model *m)
{
    struct rejected_early_seen seen = {{false}, {false}};
    for (int g = 0; g < GROUPS; g++) {
        struct gang_ref ref = facts_ref(g);
        gang_core_each_member(m->core, &ref, see_rejected_early, &seen);
        free(ref.api_group);
        free(ref.ns);
        free(ref.name);
    }
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        if (seen.is[p] && !t->rejected_early && t->exists && t->dirty != CHANGED && t->asked &&
            t->asked_at > t->placed_at && m->now < t->asked_at + model_config(m).hold &&
            !t->shut_out && !op_has(&t->spec, A_BARRED))
            model_fail(m, "rejected early",
                       "p%d counts as rejected early, but muster just got a filter call for it", p);
        t->rejected_early = seen.is[p];
        if (seen.place[p] && seen.place[p] != t->place) {
            t->placed_at = m->now;
            t->steered_turn = ++m->turn;
        }
        t->place = seen.place[p];
    }
}

/* ---- after every step ---- */

static void check_limits(struct model *m)
{
    usec_t hold = model_config(m).hold;
    struct gang_stats stats;
    gang_core_stats(m->core, &stats);
    for (size_t i = 0; i < m->n_calls; i++)
        if (m->now - m->calls[i].since > hold)
            model_fail(m, "I3", "bind call #%" PRIu64 " of p%d is open beyond its limit",
                       m->calls[i].id, m->calls[i].pod);
    if (stats.held > m->max_holds)
        model_fail(m, "I3", "%zu bind calls are held, but maxHolds is %zu", stats.held,
                   m->max_holds);
}

/* The invariants that `muster serve` checks in each step. */
static void check_live(struct model *m)
{
    for (int what = 0; what < GANG_INVARIANT_MAX; what++) {
        const char *wrong = gang_core_violation(m->core, (enum gang_invariant)what);
        if (wrong)
            model_fail(m, "live", "%s: %s", gang_invariant_name((enum gang_invariant)what), wrong);
    }
}

static int64_t slots_on(const struct amounts_seen seen[NODES])
{
    int64_t slots = 0;
    for (int n = 0; n < NODES; n++)
        slots += seen[n].reserved[R_PODS];
    return slots;
}

void oracle_step(struct model *m)
{
    struct err err;
    struct amounts_seen seen[NODES];
    check_live(m);
    if (gang_core_check(m->core, &err) < 0)
        model_fail(m, "check", "%s", err.text);
    check_limits(m);
    if (!gang_core_synced(m->core))
        return;
    check_ledger(m, seen);
    check_rejected_early(m);
    oracle_queues(m, slots_on(seen));
    check_model(m);
    check_whole(m);
    check_planned(m, seen);
    oracle_suspensions(m);
    for (int n = 0; n < NODES; n++)
        oracle_nominated_room(m, n, seen[n].all, seen[n].used, seen[n].reserved);
    oracle_nominations(m);
}

/* ---- calm ---- */

static bool plannable(const struct pod_truth *t)
{
    return member_counts(t) && t->node < 0 && t->phase < PHASE_SUCCEEDED &&
           !op_has(&t->spec, A_GATED) && !op_has(&t->spec, A_FOREIGN) &&
           !op_has(&t->spec, A_BARRED);
}

/* A node with room for the pod, or -1. */
static int room_for(const struct model *m, int p, int64_t left[NODES][RESOURCES])
{
    int64_t need[RESOURCES];
    pod_needs(&m->pods[p], need);
    for (int n = 0; n < NODES; n++) {
        bool fit = node_allows(m, p, n) && !kept_away(m, p, n);
        for (int r = 0; r < RESOURCES; r++)
            fit = fit && (need[r] <= left[n][r] || need[r] == 0);
        if (fit)
            return n;
    }
    return -1;
}

/* Whether the pod needs no plan: an ordinary pod, or a later member of a gang that meets its
 * minimum and has no maximum. Returns false for pods that this check does not cover. */
static bool passes_singly(const struct model *m, int p, const struct gangs_seen *seen)
{
    int g = pod_group(&m->pods[p]);
    if (op_has(&m->pods[p].spec, A_BADLINK) && op_has(&m->pods[p].spec, A_LINK))
        return false; /* muster refuses the pod until its link is valid */
    if (has_app_rules(&m->pods[p].spec))
        return false;
    if (g < 0)
        return true;
    if (m->pods[p].stands_in && oracle_members_unsure(m, family_of(m, g)))
        return false; /* a real pod may have taken its place */
    if (op_has(&m->pods[p].spec, A_USES) || !m->groups[g].exists ||
        family_of(m, g) != UINT32_C(1) << g || op_has(&m->groups[g].spec, A_MAX) ||
        !is_plain(&m->groups[g].spec) || seen->state[g] != GANG_SCHEDULED)
        return false;
    bool has[PODS];
    for (int i = 0; i < PODS; i++)
        has[i] = oracle_committed(m, i);
    return family_whole(m, UINT32_C(1) << g, has);
}

/* Whether the pod keeps its slot until the attempt ends, because muster cannot see that the pod is
 * rejected early: kube-scheduler writes no condition, and has called filter for no pod since the
 * pod got the slot. */
static bool keeps_place_in_silence(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (!t->place || op_get(&t->spec, A_BARRED, 0) != 2)
        return false;
    for (int q = 0; q < PODS; q++)
        if (m->pods[q].exists && m->pods[q].asked_turn > t->steered_turn)
            return false;
    return true;
}

/* Whether several members of the group are rejected early, and its attempts are long: one after the
 * other gets a slot, until the attempt ends. */
static bool take_turns(const struct model *m, int g)
{
    int n = 0;
    for (int p = 0; p < PODS; p++)
        n += pod_group(&m->pods[p]) == g && member_counts(&m->pods[p]) &&
             op_has(&m->pods[p].spec, A_BARRED);
    return n > 1 && op_get(&m->groups[g].spec, A_TIMEOUT, 0) * USEC_PER_MSEC >= SECONDS(600);
}

/*
 * Whether some gang other than `but` can keep others out without end: rules that muster does not
 * know, or a low maxHolds, keep it from being Scheduled, but muster plans it again and again.
 */
static bool in_vain(const struct model *m, const struct gangs_seen *seen, int but)
{
    for (int p = 0; p < PODS; p++) {
        const struct op *spec = &m->pods[p].spec;
        if (m->pods[p].exists && keeps_place_in_silence(m, p))
            return true;
        int g = pod_group(&m->pods[p]);
        if (g >= 0 && m->pods[p].place && take_turns(m, g))
            return true;
        if (g < 0 || g == but || !plannable(&m->pods[p]))
            continue;
        bool placed = false;
        for (uint32_t family = family_of(m, g), h = 0; h < GROUPS; h++)
            placed |= family >> h & 1 && seen->known[h] && seen->state[h] == GANG_SCHEDULED;
        if (!placed && (op_has(spec, A_FORBID) || op_has(spec, A_USES) || has_app_rules(spec) ||
                        op_has(&m->config, A_HOLDS)))
            return true;
    }
    return false;
}

/* Each Binding must get a result, and no plan may be deferred. Returns NULL or a text. */
static char *unsettled(const struct model *m)
{
    if (gang_core_plans_deferred(m->core))
        return xstrdup("plans are still deferred");
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->exists && t->node < 0 && t->charged == CHARGED_BINDING &&
            t->charged_serial == t->serial)
            return xasprintf("p%d: its Binding to %s has no result", p, node_name(t->charged_node));
    }
    return NULL;
}

char *oracle_calm(struct model *m)
{
    struct gangs_seen seen = see_gangs(m);
    char *open = unsettled(m);
    open = open ? open : kept_gate(m);
    open = open ? open : oracle_still_suspended(m);
    if (open)
        return open;
    int64_t left[NODES][RESOURCES];
    bool earmark_gang = false;
    for (int n = 0; n < NODES; n++) {
        node_left(m, n, left[n]);
        without_room_of_terminating(m, n, left[n]);
    }
    for (int g = 0; g < GROUPS; g++) {
        struct ask ask;
        /* With a low maxHolds, gangs can keep each other from their quorums forever. */
        struct back back = oracle_back(m, g);
        earmark_gang |= back.earmark_gang;
        if (!seen.known[g] || seen.state[g] == GANG_SCHEDULED || op_has(&m->config, A_HOLDS))
            continue;
        uint32_t family = family_of(m, g);
        if (oracle_ask(m, family, &ask) && fits(&ask, left) && resources_free(m, family, left) &&
            !back.respects_earmark && !in_vain(m, &seen, g) && !may_stay_pinned(m, family) &&
            oracle_queue_allows(m, g, &ask, /* calm= */ true))
            return xasprintf("gang g%d is %s, but %d members have room", g,
                             gang_state_name(seen.state[g]), ask.pods);
    }
    for (int p = 0; p < PODS && !earmark_gang && !in_vain(m, &seen, -1); p++) {
        if (!plannable(&m->pods[p]) || !passes_singly(m, p, &seen))
            continue;
        int n = room_for(m, p, left);
        if (n >= 0 && oracle_queue_takes(m, p, /* calm= */ true))
            return xasprintf("p%d is not bound, but %s has room for it (the pod is %s)", p,
                             node_name(n), m->pods[p].sleep == AWAKE ? "awake" : "asleep");
    }
    return NULL;
}
