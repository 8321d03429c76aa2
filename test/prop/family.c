/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/family.h"

enum { ROLES = 4, RACKS = 8 };

bool member_counts(const struct pod_truth *t)
{
    return t->exists && !t->deleting && t->phase != PHASE_FAILED;
}

/* ---- specs ---- */

const struct op *group_asks(const struct model *m, int g)
{
    static struct op declared;
    if (m->groups[g].exists)
        return &m->groups[g].spec;
    int min = -1;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists || pod_group(t) != g)
            continue;
        if (!op_has(&t->spec, A_MIN) || (min >= 0 && min != t->spec.value[A_MIN]))
            return NULL;
        min = t->spec.value[A_MIN];
    }
    declared = op_make(OP_GROUP, 'g', g);
    op_set(&declared, A_MIN, min);
    return min >= 0 ? &declared : NULL;
}

int group_priority(const struct model *m, int g)
{
    const struct op *spec = &m->groups[g].spec;
    bool exists = m->groups[g].exists;
    int class = op_get(spec, A_BYCLASS, -1), highest = INT32_MIN;
    if (exists && op_has(spec, A_PRIO))
        return spec->value[A_PRIO];
    if (exists && class >= 0 && m->classes[class].exists)
        return op_get(&m->classes[class].spec, A_PRIO, 0);
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].exists && pod_group(&m->pods[p]) == g &&
            op_get(&m->pods[p].spec, A_PRIO, 0) > highest)
            highest = op_get(&m->pods[p].spec, A_PRIO, 0);
    return highest == INT32_MIN ? 0 : highest;
}

static int parent_of(const struct model *m, int g)
{
    return m->groups[g].exists ? op_get(&m->groups[g].spec, A_PARENT, -1) : -1;
}

static bool bundles(const struct model *m, int g, int h)
{
    return m->groups[g].exists && g != h && op_get(&m->groups[g].spec, A_BUNDLE, 0) >> h & 1;
}

static bool tied(const struct model *m, int g, int h)
{
    return parent_of(m, g) == h || parent_of(m, h) == g || (bundles(m, g, h) && bundles(m, h, g));
}

uint32_t family_of(const struct model *m, int g)
{
    uint32_t family = UINT32_C(1) << g;
    for (bool more = true; more;) {
        more = false;
        for (int a = 0; a < GROUPS; a++)
            for (int b = 0; b < GROUPS && family >> a & 1; b++)
                if (!(family >> b & 1) && tied(m, a, b)) {
                    family |= UINT32_C(1) << b;
                    more = true;
                }
    }
    return family;
}

/* ---- contradictions ---- */

static int subgroups_of(const struct op *spec)
{
    return op_has(spec, A_SUBA) + op_has(spec, A_SUBB) + op_has(spec, A_SUBC);
}

static bool spec_valid(const struct op *spec)
{
    int min = op_get(spec, A_MIN, 0), max = op_get(spec, A_MAX, 0);
    return !op_has(spec, A_UNREAD) && min >= 0 && max >= 0 &&
           (!max || (max >= min && !subgroups_of(spec) && !op_has(spec, A_SPLIT))) &&
           op_get(spec, A_SUBS, 0) <= subgroups_of(spec) && op_get(spec, A_SPLIT, 1) >= 0;
}

static bool ties_valid(const struct model *m, int g)
{
    for (int h = 0; h < GROUPS; h++)
        if (bundles(m, g, h) && !(m->groups[h].exists && bundles(m, h, g)))
            return false;
    int up = parent_of(m, g);
    for (int i = 0; up >= 0 && i <= GROUPS; i++) {
        if (!m->groups[up].exists || up == g || i == GROUPS)
            return false;
        up = parent_of(m, up);
    }
    return true;
}

/* A parent with children that also has subgroups or a maximum. The model does not judge such specs.
 */
static bool mixed_tree(const struct model *m, int g, const struct op *asks)
{
    bool children = false;
    for (int h = 0; h < GROUPS; h++)
        children |= parent_of(m, h) == g;
    return children && (subgroups_of(asks) || op_has(asks, A_SPLIT) || op_has(asks, A_MAX));
}

bool family_valid(const struct model *m, uint32_t family)
{
    for (int g = 0; g < GROUPS; g++) {
        const struct op *spec = family >> g & 1 ? group_asks(m, g) : NULL;
        if (family >> g & 1 &&
            (!spec || !spec_valid(spec) || !ties_valid(m, g) || mixed_tree(m, g, spec)))
            return false;
    }
    return true;
}

/* ---- minimums ---- */

/* The number of members of a group, of each subgroup, and of each rack. Racks count only members
 * outside the subgroups. */
struct heads {
    int all, role[ROLES], rack[RACKS];
    bool rack_is[RACKS];
};

static int role_of(const struct op *asks, const struct pod_truth *t)
{
    int role = op_get(&t->spec, A_ROLE, 0) % ROLES;
    return role && op_has(asks, (enum attr)(A_SUBA + role - 1)) ? role : 0;
}

static void count_heads(const struct model *m, int g, const struct op *asks, const bool has[PODS],
                        struct heads *heads)
{
    memset(heads, 0, sizeof *heads);
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists || pod_group(t) != g)
            continue;
        int role = role_of(asks, t), rack = op_get(&t->spec, A_RACK, RACKS - 1) % RACKS;
        heads->rack_is[rack] |= role == 0;
        if (!has[p] || !member_counts(t))
            continue;
        heads->all++;
        heads->role[role]++;
        heads->rack[rack] += role == 0;
    }
}

static bool racks_whole(const struct op *asks, const struct heads *heads)
{
    int there = 0, whole = 0;
    for (int i = 0; i < RACKS; i++) {
        there += heads->rack_is[i];
        whole += heads->rack_is[i] && heads->rack[i] >= asks->value[A_SPLIT];
    }
    return whole >= op_get(asks, A_PARTS, there);
}

static bool subgroups_whole(const struct op *asks, const struct heads *heads)
{
    bool nested = op_has(asks, A_NESTED) && op_has(asks, A_SUBA) && op_has(asks, A_SUBC);
    int parts = 0, whole = 0;
    bool c = heads->role[3] >= op_get(asks, A_SUBC, 0);
    if (op_has(asks, A_SUBA)) {
        int has = heads->role[1] + (nested ? heads->role[3] : 0);
        parts++;
        whole += has >= asks->value[A_SUBA] && (!nested || c);
    }
    if (op_has(asks, A_SUBB)) {
        parts++;
        whole += heads->role[2] >= asks->value[A_SUBB];
    }
    if (op_has(asks, A_SUBC) && !nested) {
        parts++;
        whole += c;
    }
    if (op_has(asks, A_SPLIT)) {
        parts++;
        whole += racks_whole(asks, heads);
    }
    return whole >= op_get(asks, A_SUBS, parts);
}

static bool group_whole(const struct model *m, uint32_t family, int g, const bool has[PODS],
                        bool top)
{
    const struct op *found = group_asks(m, g);
    if (!found)
        return false;
    struct op asks = *found;
    int children = 0, whole = 0, min = op_get(&asks, A_MIN, 0);
    for (int h = 0; h < GROUPS; h++)
        if (family >> h & 1 && parent_of(m, h) == g) {
            children++;
            whole += group_whole(m, family, h, has, false);
        }
    if (children) /* minMember of a parent counts children */
        return whole >= (min > 0 ? min : 1);
    struct heads heads;
    count_heads(m, g, &asks, has, &heads);
    if (min <= 0 && top) /* without a minimum, a gang needs one member */
        min = 1;
    return heads.all >= min && subgroups_whole(&asks, &heads);
}

bool family_whole(const struct model *m, uint32_t family, const bool has[PODS])
{
    int tops = 0;
    for (int g = 0; g < GROUPS; g++)
        tops += family >> g & 1 && parent_of(m, g) < 0;
    for (int g = 0; g < GROUPS; g++)
        if (family >> g & 1 && parent_of(m, g) < 0 && !group_whole(m, family, g, has, tops == 1))
            return false;
    return true;
}
