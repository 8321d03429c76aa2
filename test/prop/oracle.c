/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/oracle.h"

#include <inttypes.h>
#include <stdio.h>

#include "test/prop/family.h"

static const char *const resource_names[RESOURCES] = {
    [R_GPUS] = "nvidia.com/gpu", [R_CPU] = "cpu", [R_PODS] = "pods", [R_PORT] = "(host port)"};
static const int64_t resource_unit[RESOURCES] = {1, 1000, 1, 1};

/* ---- what the core must have charged ---- */

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

/* Two objects of one name may be charged until the watch shows the second: its charge is not
 * known then. */
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
            bool counts = seen[n].all[r] != 0 || r != R_GPUS; /* cpu and pods always do */
            int64_t charged = counts ? have[r] - left[r] : 0;
            if (seen[n].used[r] != charged)
                model_fail(m, "ledger", "%s: %" PRId64 " %s are charged, it should be %" PRId64,
                           node_name(n), seen[n].used[r], resource_names[r], charged);
            if (!m->nodes[n].dirty && seen[n].all[r] != have[r])
                model_fail(m, "ledger", "%s: it has %" PRId64 " %s, it should be %" PRId64,
                           node_name(n), seen[n].all[r], resource_names[r], have[r]);
        }
    }
}

/* ---- I1, by the truth ---- */

static bool committed(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->node >= 0 || t->phase == PHASE_SUCCEEDED ||
           (t->charged != NOT_CHARGED && t->charged_serial == t->serial);
}

/* What the core counts for the gang is what there is, and will be. */
static bool all_shown(const struct model *m, uint32_t family)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int now = pod_group(t), shown = t->shown_group;
        bool its = (now >= 0 && family >> now & 1) || (shown >= 0 && family >> shown & 1);
        if (its && (t->dirty == CHANGED || t->lost >= 0 || t->ghost))
            return false;
    }
    for (int g = 0; g < GROUPS; g++)
        if (m->groups[g].dirty) /* it may be of the family to the core */
            return false;
    return true;
}

static bool excused(const struct model *m, uint32_t family)
{
    for (int g = 0; g < GROUPS; g++)
        if (family >> g & 1 && m->excused[g])
            return true;
    return false;
}

/* A gang is whole or not there at all, unless somebody is to blame for it. */
static void check_whole(struct model *m)
{
    uint32_t seen = 0;
    for (int g = 0; g < GROUPS; g++) {
        uint32_t family = seen >> g & 1 ? 0 : family_of(m, g);
        bool has[PODS], any = false;
        seen |= family;
        for (int p = 0; p < PODS && family; p++) {
            int h = pod_group(&m->pods[p]);
            has[p] = h >= 0 && family >> h & 1 && member_counts(&m->pods[p]) && committed(m, p);
            any |= has[p];
        }
        if (any && !excused(m, family) && family_valid(m, family) && !family_whole(m, family, has))
            model_fail(m, "I1", "gang g%d is part bound", g);
        for (int h = 0; h < GROUPS && !any; h++)
            if (family >> h & 1 && all_shown(m, family))
                m->excused[h] = false;
    }
}

/* maxMember: members at once, of a group that nobody changed meanwhile. */
static void check_maximum(struct model *m, int p)
{
    int g = pod_group(&m->pods[p]), n = 0;
    int max = g >= 0 && m->groups[g].exists ? op_get(&m->groups[g].spec, A_MAX, 0) : 0;
    if (max <= 0 || m->excused[g] || m->groups[g].dirty)
        return;
    for (int i = 0; i < PODS; i++)
        n += pod_group(&m->pods[i]) == g && member_counts(&m->pods[i]) &&
             m->pods[i].phase != PHASE_SUCCEEDED && committed(m, i);
    if (n > max)
        model_fail(m, "maximum", "g%d: the Binding of p%d makes %d members of at most %d", g, p, n,
                   max);
}

/* Whose pod is beyond a bound gets no place for it: it passes when the gang is whole without it. */
static void check_beyond(struct model *m, int p)
{
    int g = pod_group(&m->pods[p]);
    uint32_t family = g >= 0 ? family_of(m, g) : 0;
    bool has[PODS];
    if (!op_has(&m->pods[p].spec, A_BEYOND) || !family || excused(m, family) ||
        !all_shown(m, family) || !family_valid(m, family))
        return;
    for (int i = 0; i < PODS; i++) {
        int h = pod_group(&m->pods[i]);
        has[i] =
            i != p && h >= 0 && family >> h & 1 && member_counts(&m->pods[i]) && committed(m, i);
    }
    if (!family_whole(m, family, has))
        model_fail(m, "beyond", "p%d is bound with its gang, and it is beyond a bound", p);
}

/* I2: muster never adds an excess. A resource that the node does not have is somebody else's. */
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
            model_fail(m, "I2", "%s: the Binding of p%d makes %" PRId64 " %s of %" PRId64,
                       node_name(n), p, have[r] - left[r], resource_names[r], have[r]);
}

/* Eleven minutes where volumes are prepared, and one else. */
usec_t oracle_let_time(const struct pod_truth *t)
{
    return op_has(&t->spec, A_USES) || op_has(&t->spec, A_DEVICES) ? SECONDS(660) : SECONDS(60);
}

void oracle_let(struct model *m, int p, int n, const struct call *call)
{
    const struct pod_truth *t = &m->pods[p];
    int claim = op_get(&t->spec, A_USES, -1);
    if (!(t->let >> n & 1) || (call && call->since - t->let_at >= oracle_let_time(t)))
        model_fail(m, "let", "p%d is bound to %s, to where filter did not let it through", p,
                   node_name(n));
    if (op_has(&t->spec, A_FOREIGN))
        model_fail(m, "let", "p%d of another scheduler is bound", p);
    /* Rules that muster does not know. */
    bool hidden = op_get(&t->spec, A_FORBID, 0) >> n & 1 || op_has(&t->spec, A_BEYOND);
    if (!hidden && t->dirty != CHANGED && !m->nodes[n].dirty &&
        (claim < 0 || !m->claims[claim].dirty) && !node_allows(m, p, n))
        model_fail(m, "let", "p%d is bound to %s, which is not for it", p, node_name(n));
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

void oracle_unasked(struct model *m, int p, int n)
{
    const struct pod_truth *t = &m->pods[p];
    const struct op *spec = &t->spec;
    if (!op_has(&m->config, A_EXPRESS))
        model_fail(m, "express", "p%d: a Binding that nobody asked for", p);
    if (op_has(spec, A_FORBID) || op_has(spec, A_USES) || op_has(spec, A_DEVICES) ||
        op_has(spec, A_SHUN) || op_has(spec, A_BEYOND) ||
        (op_has(spec, A_SPREAD) && op_has(spec, A_APP)) || has_wide_anti_affinity_conflict(m, p))
        model_fail(m, "express", "p%d is bound unasked, and where it may go is not known", p);
    if (!t->shown)
        model_fail(m, "express", "p%d is bound unasked, and no watch has shown it", p);
    if (m->closed)
        model_fail(m, "express", "p%d is bound unasked, and the lane is closed", p);
    if (m->behind[GANG_WATCH_NODES] || m->behind[GANG_WATCH_PODS])
        model_fail(m, "express", "p%d is bound unasked, and a watch is behind", p);
    if (t->dirty != CHANGED && !m->nodes[n].dirty && !node_allows(m, p, n))
        model_fail(m, "express", "p%d is bound unasked to %s, which refuses it", p, node_name(n));
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *other = &m->pods[i];
        if (i != p && other->exists && other->node == n && other->dirty == CLEAN && other->shown &&
            !pod_finished(other) && op_has(&other->spec, A_BEYOND))
            model_fail(m, "express",
                       "p%d is bound unasked to %s, where p%d runs, whose rules are "
                       "not all known",
                       p, node_name(n), i);
        if (i != p && other->exists && other->node < 0 && other->dirty == CLEAN && other->shown &&
            other->nominated == n && pod_group(other) < 0 && other->charged == NOT_CHARGED &&
            !pod_finished(other))
            model_fail(m, "express", "p%d is bound unasked to %s, where p%d is nominated", p,
                       node_name(n), i);
    }
}

/* A scheduler that says what it means has the rules that muster has. */
static void check_model(struct model *m)
{
    const char *wrong = gang_core_parity_difference(m->core);
    if (wrong && !m->lies)
        model_fail(m, "model", "%s", wrong);
}

/* ---- the reference planner ---- */

/* A plain greedy planner cannot fail where each node takes this many of the largest of them. */
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

/* A pod there keeps this one away; those not bound yet are asked for together. */
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

/* Rules about pods of other groups: where there is a place is too involved to say. */
static bool has_app_rules(const struct op *spec)
{
    return op_has(spec, A_APP) || op_has(spec, A_AWAY) || op_has(spec, A_SHUN);
}

/* Neither a claim, such a rule nor a difference between members keeps them from being planned. */
static bool members_plain(const struct model *m, uint32_t family)
{
    int kind = -1;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t), shown = t->shown_group;
        bool its = (g >= 0 && family >> g & 1) || (shown >= 0 && family >> shown & 1);
        if (its && (t->dirty == CHANGED || t->ghost))
            return false; /* the core does not know it yet */
        if (g < 0 || !(family >> g & 1) || !member_counts(t))
            continue;
        if (op_has(&t->spec, A_USES) || has_app_rules(&t->spec) ||
            (op_has(&t->spec, A_BEYOND) && !committed(m, p)))
            return false;
        if (!op_has(&t->spec, A_KIND))
            continue;
        if (kind >= 0 && t->spec.value[A_KIND] != kind)
            return false;
        kind = t->spec.value[A_KIND];
    }
    return true;
}

/* What minResources ask for is free on nodes that take pods, of all groups together. */
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
    if (!family_valid(m, family) || !members_plain(m, family))
        return false;
    for (int g = 0; g < GROUPS; g++) {
        if (m->groups[g].dirty) /* it may be of the family to the core */
            return false;
        only = family >> g & 1 ? g : only;
    }
    *ask = (struct ask){.pods = 0};
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = pod_group(t);
        if (g < 0 || !(family >> g & 1) || !member_counts(t))
            continue;
        has[p] = committed(m, p);
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
    enum gang_state state[GROUPS]; /* by the group that leads the gang */
    int planned[GROUPS];
    bool known[GROUPS];
    bool any_waits; /* without a plan */
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
    seen->planned[g] |= v->planned > 0; /* of any PodGroup of the gang */
    seen->any_waits |= lacks_plan(seen, g);
}

static struct gangs_seen see_gangs(const struct model *m)
{
    struct gangs_seen seen = {.any_waits = false};
    gang_core_each_gang(m->core, see_gang, &seen);
    return seen;
}

static bool nodes_known(const struct model *m)
{
    for (int n = 0; n < NODES; n++)
        if (m->nodes[n].dirty)
            return false;
    return charges_known(m);
}

/* Nodes that the scheduler has refused to none of the family's waiting pods lately. */
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

/* One of its members may be tied to a node for this attempt: its claim was prepared there. */
static bool may_be_pinned(const struct model *m, uint32_t family)
{
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].exists && m->pods[p].node < 0 ? pod_group(&m->pods[p]) : -1;
        if (g >= 0 && family >> g & 1 && op_has(&m->pods[p].spec, A_DEVICES) && m->pods[p].asked)
            return true;
    }
    return false;
}

struct back oracle_back(const struct model *m, int g)
{
    struct gang_ref ref = facts_ref(g);
    struct gang_explained why;
    struct back back = {.pauses = false};
    if (gang_core_explain(m->core, &ref, &why)) {
        back = (struct back){why.backoff_until > m->now, why.respects_earmark,
                             why.earmark_gang != NULL};
        gang_explained_done(&why);
    }
    free(ref.api_group);
    free(ref.ns);
    free(ref.name);
    return back;
}

/* Members that must share a label and do not are not planned, whatever room there is. */
static void check_kinds(struct model *m, const struct gangs_seen *seen)
{
    for (int g = 0; g < GROUPS && m->kinds; g++) {
        if (!seen->known[g] || seen->state[g] != GANG_PLANNED)
            continue;
        uint32_t family = family_of(m, g);
        int kind = -1;
        for (int p = 0; p < PODS && all_shown(m, family); p++) {
            const struct pod_truth *t = &m->pods[p];
            int h = pod_group(t);
            if (h < 0 || !(family >> h & 1) || !member_counts(t) || !op_has(&t->spec, A_KIND))
                continue;
            if (kind >= 0 && kind != t->spec.value[A_KIND])
                model_fail(m, "kinds", "g%d is planned, and its members differ in kind", g);
            kind = t->spec.value[A_KIND];
        }
    }
}

/* What is left for plans of the family. */
static void less_promised(const struct model *m, uint32_t family, int64_t left[NODES][RESOURCES],
                          int64_t ret[NODES][RESOURCES])
{
    int least = family_least(m, family);
    for (int n = 0; n < NODES; n++) {
        promised(m, n, least, /* sure= */ false, ret[n]);
        for (int r = 0; r < RESOURCES; r++)
            ret[n][r] = left[n][r] - ret[n][r];
    }
}

static void check_planned(struct model *m, const struct amounts_seen amounts[NODES])
{
    struct gangs_seen seen = see_gangs(m);
    check_kinds(m, &seen);
    if (!seen.any_waits || !nodes_known(m) || gang_core_plans_deferred(m->core))
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
        if (!oracle_ask(m, family, &ask) || may_be_pinned(m, family))
            continue;
        ask.nodes &= undoubted(m, family);
        int64_t mine[NODES][RESOURCES];
        less_promised(m, family, left, mine);
        if (fits(&ask, mine) &&
            (seen.state[g] == GANG_RECOVERING || resources_free(m, family, mine)) &&
            !oracle_back(m, g).pauses && !oracle_back(m, g).respects_earmark)
            model_fail(m, "I5", "gang g%d is %s, and %d members have room", g,
                       gang_state_name(seen.state[g]), ask.pods);
    }
}

/* ---- what the scheduler refuses ---- */

/* Of what a pod has left since, the scheduler may not have heard. */
#define BEHIND (USEC_PER_SEC / 2)

static bool just_left(const struct model *m, int n)
{
    return m->left[n] && m->now < m->left[n] + BEHIND;
}

void oracle_refused(struct model *m, int p, uint32_t offered, bool sample, int tried)
{
    const struct pod_truth *t = &m->pods[p];
    if (pod_group(t) < 0 || op_has(&t->spec, A_USES) || has_app_rules(&t->spec))
        return;
    int slot = oracle_place(m, p).node;
    if (slot >= 0 && !just_left(m, slot) && (sample ? slot == tried : !(offered >> slot & 1)))
        model_fail(m, "evidence", "p%d has its place on %s, which the scheduler just refused", p,
                   node_name(slot));
    if (sample && slot < 0 && tried < 0)
        model_fail(m, "evidence", "p%d lost its place for a sample of the nodes", p);
    if (sample && !t->steered && tried < 0)
        model_fail(m, "evidence", "p%d is not sent to its place, which the sample lacks", p);
}

/* ---- gates ---- */

/* It is for good: only for who has a place, passes singly, or is shown to an autoscaler. */
void oracle_lifted(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (m->gates != (m->gates | GATES_ON) || m->gates & GATES_SHOW || pod_group(t) < 0 ||
        op_has(&t->spec, A_FOREIGN) || t->dirty == CHANGED || t->shown_group != pod_group(t))
        return;
    struct place seen = oracle_place(m, p);
    if (seen.node < 0 && seen.state != GANG_SCHEDULED && seen.state != GANG_DONE)
        model_fail(m, "gate", "p%d loses its gate without a place, its gang is %s", p,
                   gang_state_name(seen.state));
    uint32_t family = family_of(m, pod_group(t));
    bool exists[PODS] = {false};
    for (int i = 0; i < PODS; i++) {
        int g = pod_group(&m->pods[i]);
        exists[i] = g >= 0 && family >> g & 1 && member_counts(&m->pods[i]);
    }
    if (seen.state == GANG_PLANNED && all_shown(m, family) && family_valid(m, family) &&
        !family_whole(m, family, exists))
        model_fail(m, "gate", "p%d loses its gate for a plan that hopes", p);
}

/* Of those that nothing is planned for, nobody keeps it. */
static char *kept_gate(const struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        bool planned_for = m->gates & GATES_ON && pod_group(t) >= 0 && !op_has(&t->spec, A_FOREIGN);
        if (member_counts(t) && t->node < 0 && !pod_finished(t) && op_has(&t->spec, A_CLOSED) &&
            !planned_for)
            return xasprintf("p%d keeps muster's gate for nothing", p);
    }
    return NULL;
}

/* ---- members that the scheduler refuses unasked ---- */

struct rejected_early_seen {
    bool is[PODS];
    int place[PODS]; /* node of its slot, and 1; 0: none */
};

static void see_rejected_early(void *arg, const struct gang_member_view *v)
{
    struct rejected_early_seen *seen = arg;
    int p = atoi(v->facts->name + 1);
    seen->is[p] = strcmp(v->state, "RejectedEarly") == 0;
    seen->place[p] = v->slot ? atoi(v->slot + 1) + 1 : 0;
}

/* A member that the scheduler just asked about in its place does not count as rejected early. */
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
            !op_has(&t->spec, A_BARRED))
            model_fail(m, "rejected early",
                       "p%d counts as rejected early, muster was asked about it just now", p);
        t->rejected_early = seen.is[p];
        if (seen.place[p] && seen.place[p] != t->place)
            t->placed_at = m->now;
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
            model_fail(m, "I3", "the bind call #%" PRIu64 " of p%d is held beyond its limit",
                       m->calls[i].id, m->calls[i].pod);
    if (stats.held > m->max_holds)
        model_fail(m, "I3", "%zu bind calls are held, and %zu may be", stats.held, m->max_holds);
}

/* What `serve` looks at in each step must see nothing either. */
static void check_live(struct model *m)
{
    for (int what = 0; what < GANG_INVARIANT_MAX; what++) {
        const char *wrong = gang_core_violation(m->core, (enum gang_invariant)what);
        if (wrong)
            model_fail(m, "live", "%s: %s", gang_invariant_name((enum gang_invariant)what), wrong);
    }
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
    check_model(m);
    check_whole(m);
    check_planned(m, seen);
    for (int n = 0; n < NODES; n++)
        oracle_promises(m, n, seen[n].all, seen[n].used, seen[n].reserved);
    oracle_nominations(m);
}

/* ---- in calm ---- */

static bool plannable(const struct pod_truth *t)
{
    return member_counts(t) && t->node < 0 && t->phase < PHASE_SUCCEEDED &&
           !op_has(&t->spec, A_GATED) && !op_has(&t->spec, A_FOREIGN) &&
           !op_has(&t->spec, A_BARRED);
}

/* A node with room for the pod; -1: none. */
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

/* An ordinary pod, or one of a gang that is whole and may have more. */
static bool passes_singly(const struct model *m, int p, const struct gangs_seen *seen)
{
    int g = pod_group(&m->pods[p]);
    if (op_has(&m->pods[p].spec, A_BADLINK) && op_has(&m->pods[p].spec, A_LINK))
        return false; /* muster says no to it until its link is right */
    if (has_app_rules(&m->pods[p].spec))
        return false;
    if (g < 0)
        return true;
    if (op_has(&m->pods[p].spec, A_USES) || !m->groups[g].exists ||
        family_of(m, g) != UINT32_C(1) << g || op_has(&m->groups[g].spec, A_MAX) ||
        !is_plain(&m->groups[g].spec) || seen->state[g] != GANG_SCHEDULED)
        return false;
    bool has[PODS];
    for (int i = 0; i < PODS; i++)
        has[i] = committed(m, i);
    return family_whole(m, UINT32_C(1) << g, has);
}

/* The scheduler writes nothing about the pod and has asked about nobody since it has its place, so
 * for muster it may be dead: the place is kept until the attempt ends. */
static bool keeps_place_in_silence(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    if (!t->place || op_get(&t->spec, A_BARRED, 0) != 2)
        return false;
    usec_t since = t->named_at > t->placed_at ? t->named_at : t->placed_at;
    for (int q = 0; q < PODS; q++)
        if (m->pods[q].exists && m->pods[q].asked_at >= since)
            return false;
    return true;
}

/*
 * A gang that waits for what muster cannot see, or for holds: it is planned again and again, and
 * what it keeps meanwhile is refused to others in vain. Two of them can take turns for ever.
 */
static bool in_vain(const struct model *m, const struct gangs_seen *seen, int but)
{
    for (int p = 0; p < PODS; p++) {
        const struct op *spec = &m->pods[p].spec;
        if (m->pods[p].exists && keeps_place_in_silence(m, p))
            return true;
        int g = pod_group(&m->pods[p]);
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

/* Bindings end: done, refused, or given up. */
static char *unsettled(const struct model *m)
{
    if (gang_core_plans_deferred(m->core))
        return xstrdup("gangs are left to plan");
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (t->exists && t->node < 0 && t->charged == CHARGED_BINDING &&
            t->charged_serial == t->serial)
            return xasprintf("p%d: its Binding to %s is still open", p, node_name(t->charged_node));
    }
    return NULL;
}

char *oracle_calm(struct model *m)
{
    struct gangs_seen seen = see_gangs(m);
    char *open = unsettled(m);
    open = open ? open : kept_gate(m);
    if (open)
        return open;
    int64_t left[NODES][RESOURCES];
    bool earmark_gang = false;
    for (int n = 0; n < NODES; n++) {
        node_left(m, n, left[n]);
        less_kept_for_deleted(m, n, left[n]);
    }
    for (int g = 0; g < GROUPS; g++) {
        struct ask ask;
        /* With few holds gangs may keep each other from their quorum for ever. */
        struct back back = oracle_back(m, g);
        earmark_gang |= back.earmark_gang;
        if (!seen.known[g] || seen.state[g] == GANG_SCHEDULED || op_has(&m->config, A_HOLDS))
            continue;
        uint32_t family = family_of(m, g);
        if (oracle_ask(m, family, &ask) && fits(&ask, left) && resources_free(m, family, left) &&
            !back.respects_earmark && !in_vain(m, &seen, g))
            return xasprintf("gang g%d is %s, and %d members have room", g,
                             gang_state_name(seen.state[g]), ask.pods);
    }
    for (int p = 0; p < PODS && !earmark_gang && !in_vain(m, &seen, -1); p++) {
        if (!plannable(&m->pods[p]) || !passes_singly(m, p, &seen))
            continue;
        int n = room_for(m, p, left);
        if (n >= 0)
            return xasprintf("p%d is not bound though %s has room (%s)", p, node_name(n),
                             m->pods[p].sleep == AWAKE ? "awake" : "asleep");
    }
    return NULL;
}
