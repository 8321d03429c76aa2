/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/oracle.h"

#include <inttypes.h>
#include <stdio.h>

/* For so long muster may believe a refusal of the scheduler (60 s, and what is under way). */
#define DOUBT_LIMIT SECONDS(130)

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
        if (need[r] > left[r])
            return false;
    return true;
}

/* I2: muster never adds an excess. A resource that the node does not have is somebody else's. */
void oracle_binding(struct model *m, int p, int n)
{
    int64_t left[RESOURCES], have[RESOURCES], need[RESOURCES];
    if (m->outside[n] || !m->nodes[n].exists || m->nodes[n].dirty)
        return;
    oracle_left(m, n, left);
    node_has(m, n, have);
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < R_PORT; r++)
        if (left[r] < 0 && have[r] && need[r])
            model_fail(m, "I2", "%s: the Binding of p%d makes %" PRId64 " %s of %" PRId64,
                       node_name(n), p, have[r] - left[r], resource_names[r], have[r]);
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
        for (int r = 0; known && r < R_PORT; r++)
            if (seen[n].used[r] != have[r] - left[r])
                model_fail(m, "ledger", "%s: %" PRId64 " %s are charged, it should be %" PRId64,
                           node_name(n), seen[n].used[r], resource_names[r], have[r] - left[r]);
    }
}

/* ---- I1, by the truth ---- */

static bool counts(const struct pod_truth *t)
{
    return t->exists && !t->deleting && t->phase != PHASE_FAILED;
}

static bool committed(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    return t->node >= 0 || t->phase == PHASE_SUCCEEDED ||
           (t->charged != NOT_CHARGED && t->charged_serial == t->serial);
}

static int role_of(const struct pod_truth *t)
{
    return op_get(&t->spec, A_ROLE, 0);
}

struct tree { /* who of a group is committed, by subgroup */
    int all, of[4], racks[64];
};

static void count_committed(const struct model *m, int g, struct tree *tree)
{
    memset(tree, 0, sizeof *tree);
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (pod_group(t) != g || !counts(t) || !committed(m, p))
            continue;
        tree->all++;
        tree->of[role_of(t) & 3]++;
        if (op_has(&t->spec, A_RACK))
            tree->racks[t->spec.value[A_RACK] & 63]++;
    }
}

static bool subgroups_whole(const struct op *spec, const struct tree *tree)
{
    int parts = 0, whole = 0, of[4];
    memcpy(of, tree->of, sizeof of);
    bool nested = op_has(spec, A_NESTED) && op_has(spec, A_SUBA) && op_has(spec, A_SUBC);
    if (nested)
        of[1] += of[3]; /* c counts for a too */
    bool c_whole = !op_has(spec, A_SUBC) || of[3] >= spec->value[A_SUBC];
    for (int i = 0; i < 3; i++) {
        enum attr a = (enum attr)(A_SUBA + i);
        if (!op_has(spec, a) || (nested && i == 2))
            continue;
        parts++;
        whole += of[i + 1] >= spec->value[a] && (i > 0 || !nested || c_whole);
    }
    return whole >= op_get(spec, A_SUBS, parts);
}

static bool group_whole(const struct model *m, int g)
{
    const struct op *spec = &m->groups[g].spec;
    int children = 0, whole = 0;
    for (int h = 0; h < GROUPS; h++)
        if (m->groups[h].exists && op_get(&m->groups[h].spec, A_PARENT, -1) == g) {
            children++;
            whole += group_whole(m, h);
        }
    if (children)
        return whole >= op_get(spec, A_MIN, children);
    struct tree tree;
    count_committed(m, g, &tree);
    int min = op_get(spec, A_MIN, 0);
    return tree.all >= (min > 0 ? min : 1) && subgroups_whole(spec, &tree);
}

static bool any_committed(const struct model *m, int g)
{
    struct tree tree;
    count_committed(m, g, &tree);
    return tree.all > 0;
}

static int parent_of(const struct model *m, int g)
{
    int h = op_get(&m->groups[g].spec, A_PARENT, -1);
    return h >= 0 && m->groups[h].exists ? h : -1;
}

/* What the core counts for the gang is what there is, and will be. */
static bool all_shown(const struct model *m, int g)
{
    for (int p = 0; p < PODS; p++)
        if ((m->pods[p].dirty == CHANGED || m->pods[p].lost >= 0) &&
            (pod_group(&m->pods[p]) == g || m->pods[p].shown_group == g))
            return false;
    return !m->groups[g].dirty;
}

static void check_whole(struct model *m)
{
    for (int g = 0; g < GROUPS; g++) {
        if (!m->groups[g].exists)
            continue;
        if (!any_committed(m, g)) {
            bool linked = parent_of(m, g) >= 0 || op_has(&m->groups[g].spec, A_BUNDLE);
            m->excused[g] &= linked || !all_shown(m, g);
            continue;
        }
        if (m->excused[g] || op_has(&m->groups[g].spec, A_SPLIT))
            continue;
        if (!group_whole(m, g))
            model_fail(m, "I1", "gang g%d is part bound", g);
        int up = parent_of(m, g);
        if (up >= 0 && !m->excused[up] && !group_whole(m, up))
            model_fail(m, "I1", "gang g%d is bound and its parent g%d is not whole", g, up);
        for (int h = 0; h < GROUPS; h++)
            if (op_get(&m->groups[g].spec, A_BUNDLE, 0) >> h & 1 && m->groups[h].exists &&
                !m->excused[h] && !group_whole(m, h))
                model_fail(m, "I1", "gang g%d is bound, g%d of its bundle is not", g, h);
    }
}

/* ---- the reference planner ---- */

/* So many pods, each no larger than this, each able to run on any of these nodes. */
struct ask {
    int pods;
    int64_t need[RESOURCES];
    uint32_t nodes;
};

/* A plain greedy planner cannot fail where each node takes this many of the largest of them. */
static bool fits(const struct ask *ask, int64_t left[NODES][RESOURCES])
{
    int64_t sum = 0;
    for (int n = 0; n < NODES; n++) {
        int64_t room = ask->nodes >> n & 1 ? ask->pods : 0;
        for (int r = 0; r < RESOURCES; r++)
            if (ask->need[r] > 0) {
                int64_t here = left[n][r] > 0 ? left[n][r] / ask->need[r] : 0;
                room = here < room ? here : room;
            }
        sum += room;
    }
    return sum >= ask->pods;
}

static void ask_for(struct ask *ask, const struct model *m, int p)
{
    int64_t need[RESOURCES];
    pod_needs(&m->pods[p], need);
    for (int r = 0; r < RESOURCES; r++)
        ask->need[r] = need[r] > ask->need[r] ? need[r] : ask->need[r];
    for (int n = 0; n < NODES; n++)
        if (!node_allows(m, p, n))
            ask->nodes &= ~(UINT32_C(1) << n);
}

static bool simple_group(const struct model *m, int g)
{
    static const enum attr others[] = {A_MAX,  A_GPUS, A_CPU,  A_PARENT, A_BUNDLE,
                                       A_SUBA, A_SUBB, A_SUBC, A_SPLIT};
    const struct op *spec = &m->groups[g].spec;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (op_has(spec, others[i]))
            return false;
    for (int h = 0; h < GROUPS; h++)
        if (m->groups[h].exists && (op_get(&m->groups[h].spec, A_PARENT, -1) == g ||
                                    op_get(&m->groups[h].spec, A_BUNDLE, 0) >> g & 1))
            return false;
    return m->groups[g].exists && op_get(spec, A_MIN, 0) >= 0;
}

/* What the gang lacks to its minimum; false: nothing, too few members, or too involved to say. */
static bool ask_of_gang(const struct model *m, int g, struct ask *ask)
{
    if (!simple_group(m, g) || m->groups[g].dirty)
        return false;
    int bound = 0, free = 0, kind = -1;
    *ask = (struct ask){.nodes = ~UINT32_C(0)};
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (pod_group(t) != g)
            continue;
        if (t->dirty == CHANGED)
            return false; /* the core does not know it yet */
        if (!counts(t))
            continue;
        if (op_has(&t->spec, A_USES) || (kind >= 0 && op_get(&t->spec, A_KIND, 0) != kind))
            return false;
        kind = op_get(&t->spec, A_KIND, 0);
        if (committed(m, p)) {
            bound++;
        } else if (!op_has(&t->spec, A_GATED) && !op_has(&t->spec, A_FOREIGN)) {
            free++;
            ask_for(ask, m, p);
        }
    }
    int min = op_get(&m->groups[g].spec, A_MIN, 0);
    ask->pods = (min > 0 ? min : 1) - bound;
    return ask->pods > 0 && free >= ask->pods;
}

/* ---- I5 ---- */

struct gangs_seen {
    enum gang_state state[GROUPS];
    int planned[GROUPS];
    bool any_waits, starving;
};

static void see_gang(void *arg, const struct gang_view *v)
{
    struct gangs_seen *seen = arg;
    int g = v->status.ref->name[1] - '0';
    seen->state[g] = v->status.state;
    seen->planned[g] = v->planned;
    if ((v->status.state == GANG_WAITING || v->status.state == GANG_RECOVERING) && !v->planned)
        seen->any_waits = true;
}

static bool nodes_known(const struct model *m)
{
    for (int n = 0; n < NODES; n++)
        if (m->nodes[n].dirty)
            return false;
    return charges_known(m);
}

static void check_planned(struct model *m, const struct amounts_seen amounts[NODES])
{
    struct gangs_seen seen = {.any_waits = false};
    gang_core_each_gang(m->core, see_gang, &seen);
    if (!seen.any_waits || !nodes_known(m) || op_has(&m->config, A_STRICT) ||
        op_has(&m->config, A_STARVE))
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
        bool waits =
            (seen.state[g] == GANG_WAITING || seen.state[g] == GANG_RECOVERING) && !seen.planned[g];
        if (waits && m->now - m->doubted[g] > DOUBT_LIMIT && ask_of_gang(m, g, &ask) &&
            fits(&ask, left))
            model_fail(m, "I5", "gang g%d is %s, and %d members have room", g,
                       gang_state_name(seen.state[g]), ask.pods);
    }
}

/* ---- after every step ---- */

static void check_limits(struct model *m)
{
    usec_t hold = model_config(m).hold;
    for (size_t i = 0; i < m->n_calls; i++)
        if (m->now - m->calls[i].since > hold)
            model_fail(m, "I3", "the bind call #%" PRIu64 " of p%d is held beyond its limit",
                       m->calls[i].id, m->calls[i].pod);
}

void oracle_step(struct model *m)
{
    struct err err;
    struct amounts_seen seen[NODES];
    if (gang_core_check(m->core, &err) < 0)
        model_fail(m, "check", "%s", err.text);
    check_limits(m);
    if (!gang_core_synced(m->core))
        return;
    check_ledger(m, seen);
    check_whole(m);
    check_planned(m, seen);
}

/* ---- in calm ---- */

static bool plannable(const struct pod_truth *t)
{
    return counts(t) && t->node < 0 && t->phase < PHASE_SUCCEEDED && !op_has(&t->spec, A_GATED) &&
           !op_has(&t->spec, A_FOREIGN);
}

/* A pod that may pass singly, and a node with room for it. */
static int room_for(const struct model *m, int p, int64_t left[NODES][RESOURCES])
{
    int64_t need[RESOURCES];
    pod_needs(&m->pods[p], need);
    for (int n = 0; n < NODES; n++) {
        bool fit = node_allows(m, p, n);
        for (int r = 0; r < RESOURCES; r++)
            fit = fit && need[r] <= left[n][r];
        if (fit)
            return n;
    }
    return -1;
}

static bool passes_singly(const struct model *m, int p, const struct gangs_seen *seen)
{
    int g = pod_group(&m->pods[p]);
    if (g < 0)
        return true;
    return m->groups[g].exists && simple_group(m, g) && seen->state[g] == GANG_PLACED &&
           group_whole(m, g);
}

char *oracle_calm(struct model *m)
{
    struct gangs_seen seen = {.any_waits = false};
    int64_t left[NODES][RESOURCES];
    gang_core_each_gang(m->core, see_gang, &seen);
    for (int n = 0; n < NODES; n++)
        node_left(m, n, left[n]);
    for (int g = 0; g < GROUPS; g++) {
        struct ask ask;
        /* With few holds gangs may keep each other from their quorum for ever. */
        if (op_has(&m->config, A_HOLDS))
            break;
        if (seen.state[g] != GANG_PLACED && ask_of_gang(m, g, &ask) && fits(&ask, left))
            return xasprintf("gang g%d is %s, and %d members have room", g,
                             gang_state_name(seen.state[g]), ask.pods);
    }
    for (int p = 0; p < PODS; p++) {
        if (!plannable(&m->pods[p]) || !passes_singly(m, p, &seen))
            continue;
        int n = room_for(m, p, left);
        if (n >= 0)
            return xasprintf("p%d is not bound though %s has room (%s)", p, node_name(n),
                             m->pods[p].sleep == AWAKE ? "awake" : "asleep");
    }
    return NULL;
}
