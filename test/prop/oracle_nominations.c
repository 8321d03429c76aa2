/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_nominations.c - checks about priorities: nominated room, and pods that slots of lower
 * gangs must not keep out.
 */
#include "test/prop/family.h"
#include "test/prop/oracle.h"
#include "test/prop/queue_rules.h"

static int priority(const struct pod_truth *t)
{
    return op_get(&t->spec, A_PRIO, 0);
}

bool oracle_single(const struct model *m, int p)
{
    if (pod_group(&m->pods[p]) < 0)
        return !op_has(&m->pods[p].spec, A_BADLINK) || !op_has(&m->pods[p].spec, A_LINK);
    struct place place = oracle_place(m, p);
    return place.node < 0 && (place.state == GANG_SCHEDULED || place.state == GANG_DONE);
}

/* Whether the pod has nominated room on the node. With `sure`, only if muster must know about it;
 * otherwise also if muster may know about it. */
static bool has_nominated_room(const struct model *m, int p, int n, bool sure)
{
    const struct pod_truth *t = &m->pods[p];
    bool there = t->shown_nominated == n;
    there = sure ? there && t->nominated == n && t->dirty == CLEAN : there || t->nominated == n;
    bool ours = t->ours == n && (sure || t->rewritten != n);
    if (sure && m->namings && t->ours >= 0 && t->ours != n)
        return false; /* muster has written another nomination, which may have been lost */
    bool known = t->shown || (!sure && t->learnt);
    bool exists = t->exists || (!sure && t->dirty == CHANGED); /* gone, and the core may not know */
    return exists && known && there && !ours && t->node < 0 && t->charged == NOT_CHARGED &&
           !t->deleting && !pod_finished(t) && !pod_gated(t) && !op_has(&t->spec, A_FOREIGN) &&
           oracle_single(m, p);
}

int family_least(const struct model *m, uint32_t family)
{
    int least = INT32_MAX;
    for (int g = 0; g < GROUPS; g++) {
        const struct op *spec = &m->groups[g].spec;
        int class = op_get(spec, A_BYCLASS, -1);
        if (!(family >> g & 1))
            continue;
        if (op_has(spec, A_PRIO) && spec->value[A_PRIO] < least)
            least = spec->value[A_PRIO];
        if (class >= 0 && op_get(&m->classes[class].spec, A_PRIO, 0) < least)
            least = op_get(&m->classes[class].spec, A_PRIO, 0);
    }
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].exists ? pod_group(&m->pods[p]) : -1;
        if (g >= 0 && family >> g & 1 && priority(&m->pods[p]) < least)
            least = priority(&m->pods[p]);
    }
    return least;
}

void nominated_room(const struct model *m, int n, int least, bool sure, int64_t ret[RESOURCES])
{
    for (int r = 0; r < RESOURCES; r++)
        ret[r] = 0;
    for (int p = 0; p < PODS; p++) {
        int64_t need[RESOURCES];
        if (!has_nominated_room(m, p, n, sure) || priority(&m->pods[p]) < least)
            continue;
        pod_needs(&m->pods[p], need);
        for (int r = 0; r < RESOURCES; r++)
            ret[r] += need[r];
    }
}

void without_room_of_terminating(const struct model *m, int n, int64_t left[RESOURCES])
{
    int64_t need[RESOURCES];
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        if (!t->exists || !t->deleting || t->node >= 0 || t->nominated != n || pod_finished(t))
            continue;
        pod_needs(t, need);
        for (int r = 0; r < RESOURCES; r++)
            left[r] -= need[r];
    }
}

/* ---- plans ---- */

/* An upper bound of the priority with which the family counts between namespaces. A new member
 * replaces a pod that stands for one of a suspended workload, so such pods count only if there are
 * no others. */
static int lowest_member(const struct model *m, uint32_t family)
{
    int lowest[] = {INT32_MAX, INT32_MAX};
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        int g = t->exists && member_counts(t) && !pod_evicted(t) ? pod_group(t) : -1;
        if (t->dirty == CHANGED)
            return INT32_MAX; /* muster may know other priorities */
        if (g >= 0 && family >> g & 1 && priority(t) < lowest[t->stands_in])
            lowest[t->stands_in] = priority(t);
    }
    return lowest[false] < INT32_MAX ? lowest[false] : lowest[true];
}

/* The highest priority that the gangs with slots on the node can have. `places` is the number of
 * slots. A slot without a known member is for an expected member, which can belong to any gang. */
static int highest_on(const struct model *m, int n, int64_t places)
{
    int of_places = INT32_MIN, of_all = INT32_MIN;
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].exists ? pod_group(&m->pods[p]) : -1;
        if (m->pods[p].dirty == CHANGED)
            return INT32_MAX;
        if (g < 0)
            continue;
        int lowest = lowest_member(m, family_of(m, g));
        of_all = lowest > of_all ? lowest : of_all;
        if (m->pods[p].node >= 0 || oracle_place(m, p).node != n)
            continue;
        of_places = lowest > of_places ? lowest : of_places;
        places--;
    }
    return places > 0 ? of_all : of_places;
}

static bool preempts_now(const struct model *m)
{
    for (size_t i = 0; i < m->n_queue; i++)
        if (m->queue[i].ev.kind == GANG_EV_PREEMPT)
            return true;
    return false;
}

void oracle_nominated_room(struct model *m, int n, const int64_t all[RESOURCES],
                           const int64_t used[RESOURCES], const int64_t reserved[RESOURCES])
{
    int64_t sum[RESOURCES];
    bool grew = false, charged = false, over = false;
    for (int r = 0; r < R_PORT; r++) {
        grew |= reserved[r] > m->reserved[n][r];
        charged |= used[r] > m->used[n][r];
    }
    if (grew && !charged && !m->nodes[n].dirty && !preempts_now(m)) {
        nominated_room(m, n, highest_on(m, n, reserved[R_PODS]), /* sure= */ true, sum);
        for (int r = 0; r < R_PORT; r++)
            over |= reserved[r] > m->reserved[n][r] && sum[r] > 0 &&
                    all[r] - used[r] - reserved[r] < sum[r];
    }
    if (over)
        model_fail(m, "T02", "a plan uses room on n%d that is nominated for pods ahead of the gang",
                   n);
    for (int r = 0; r < R_PORT; r++) {
        m->reserved[n][r] = reserved[r];
        m->used[n][r] = used[r];
    }
}

/* ---- pods ---- */

struct seen {
    const struct model *m;
    int64_t *left;
    const char *node;
    int priority; /* of the pod */
    int earmark_gang;
    const char *name;
    bool counted[PODS]; /* the members of a child are also listed for its parent */
};

static void see_amount(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    struct seen *s = arg;
    int64_t left = all - used - reserved;
    if (strcmp(resource, "nvidia.com/gpu") == 0)
        s->left[R_GPUS] = left;
    else if (strcmp(resource, "cpu") == 0)
        s->left[R_CPU] = left / 1000;
    else if (strcmp(resource, "pods") == 0)
        s->left[R_PODS] = left;
}

static void see_member(void *arg, const struct gang_member_view *v)
{
    struct seen *s = arg;
    int64_t need[RESOURCES];
    if (!v->slot || strcmp(v->slot, s->node) != 0 || strcmp(v->state, "Held") == 0)
        return;
    int p = atoi(v->facts->name + 1);
    if (s->m->pods[p].dirty == CHANGED)
        return; /* the slot may have the old requests */
    pod_needs(&s->m->pods[p], need);
    for (int r = 0; r < RESOURCES && !s->counted[p]; r++)
        s->left[r] += need[r];
    s->counted[p] = true;
}

static int priority_of(const struct model *m, const struct gang_view *v)
{
    int lowest = lowest_member(m, family_of(m, v->root->name[1] - '0'));
    return v->priority < lowest ? v->priority : lowest;
}

/* Whether muster may have evicted pods for the gang, and its priority is not lower than the pod's.
 */
static bool may_have_evicted(const struct seen *s, const struct gang_view *v)
{
    uint32_t family = family_of(s->m, v->root->name[1] - '0');
    for (int g = 0; g < GROUPS && op_has(&s->m->config, A_EVICTS); g++)
        if (family >> g & 1 && group_priority(s->m, g) >= s->priority)
            return true;
    return false;
}

static void see_gang(void *arg, const struct gang_view *v)
{
    struct seen *s = arg;
    if (priority_of(s->m, v) < s->priority && !may_have_evicted(s, v))
        gang_core_each_member(s->m->core, v->status.ref, see_member, s);
}

static void see_keeper(void *arg, const struct gang_view *v)
{
    struct seen *s = arg;
    if (strcmp(v->status.ref->name, s->name) == 0)
        s->earmark_gang = priority_of(s->m, v);
}

/* The priority of the gang with the earmark, or INT32_MIN. */
static int keeper_priority(const struct model *m)
{
    struct seen s = {.m = m, .earmark_gang = INT32_MIN};
    for (int g = 0; g < GROUPS && !s.name; g++) {
        struct gang_ref ref = facts_ref(g);
        struct gang_explained why;
        if (gang_core_explain(m->core, &ref, GANG_EXPLAIN_STATE, &why)) {
            s.name = why.earmark_gang ? why.earmark_gang->name : NULL;
            if (s.name)
                gang_core_each_gang(m->core, see_keeper, &s);
            gang_explained_done(&why);
        }
        free(ref.api_group);
        free(ref.ns);
        free(ref.name);
    }
    return s.earmark_gang;
}

/* Whether muster may keep room for a gang that has at least the pod's priority, or that has taken
 * back room for its queue. */
static bool may_keep_room_from(const struct model *m, const struct pod_truth *t)
{
    if (op_has(&m->config, A_EVICTS) && queues_exist(m))
        return true;
    for (int g = 0; g < GROUPS && oracle_room_is_kept(m); g++)
        if (group_priority(m, g) >= priority(t))
            return true;
    return false;
}

void oracle_kept_out(struct model *m, int p, const char *const *names, size_t n_names)
{
    const struct pod_truth *t = &m->pods[p];
    static const enum attr rules[] = {A_APP, A_AWAY, A_PORT, A_APART, A_SHUN, A_USES, A_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (op_has(&t->spec, rules[i]))
            return;
    if (t->dirty == CHANGED || !t->shown || t->node >= 0 || t->charged != NOT_CHARGED ||
        t->deleting || pod_group(t) >= 0 || !oracle_single(m, p) ||
        keeper_priority(m) >= priority(t) || may_keep_room_from(m, t) ||
        !oracle_queue_takes(m, p, /* calm= */ false))
        return;
    for (size_t i = 0; i < n_names; i++) {
        int n = node_number(names[i]);
        int64_t left[RESOURCES] = {0}, need[RESOURCES];
        if (n < 0 || !m->nodes[n].exists || m->nodes[n].dirty)
            continue;
        struct seen s = {.m = m, .left = left, .node = names[i], .priority = priority(t)};
        gang_core_each_amount(m->core, names[i], see_amount, &s);
        gang_core_each_gang(m->core, see_gang, &s);
        pod_needs(t, need);
        bool fits = true;
        for (int r = 0; r < R_PORT; r++)
            fits &= need[r] <= left[r];
        if (fits)
            model_fail(m, "T07",
                       "p%d is refused on n%d, although only slots of lower gangs keep it out", p,
                       n);
    }
}
