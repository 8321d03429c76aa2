/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/queue_rules.h"

#include "test/prop/family.h"

/* Arithmetic that no number of an object can overflow. */
typedef __int128 sum_t;

bool queues_exist(const struct model *m)
{
    for (int q = 0; q < QUEUES; q++)
        if (m->queues[q].exists)
            return true;
    return false;
}

bool queues_known(const struct model *m)
{
    bool dirty = m->namespaces[0].dirty;
    for (int q = 0; q < QUEUES; q++)
        dirty |= m->queues[q].dirty;
    return !dirty;
}

/* ---- names ---- */

/* The number of the queue with these names, whether it exists or not; IN_MISSING: it has none. */
static int queue_named(const char *api_group, const char *ns, const char *name)
{
    for (int q = 0; q < QUEUES; q++)
        if (strcmp(queue_ids[q].api_group, api_group) == 0 && strcmp(queue_ids[q].ns, ns) == 0 &&
            strcmp(queue_ids[q].name, name) == 0)
            return q;
    return IN_MISSING;
}

static bool is_default(const char *name)
{
    return strcmp(name, "default") == 0 || strcmp(name, "default-queue") == 0;
}

/* Names of an API group count while it has a queue. */
static bool names_count(const struct model *m, const char *api_group)
{
    for (int q = 0; q < QUEUES; q++)
        if (m->queues[q].exists && strcmp(queue_ids[q].api_group, api_group) == 0)
            return true;
    return false;
}

/* The API group of PodGroups and the queues that they name. */
static const char *group_api(void)
{
    return queue_ids[0].api_group;
}

/* ---- the tree ---- */

/* Whether the queue names a parent, and which: IN_MISSING if it does not exist. */
static bool parent_named(const struct model *m, int q, int *ret)
{
    if (!m->queues[q].exists || !op_has(&m->queues[q].spec, A_UNDER))
        return false;
    const struct queue_id *own = &queue_ids[q];
    int up = queue_named(own->api_group, own->ns, queue_ids[m->queues[q].spec.value[A_UNDER]].name);
    *ret = up >= 0 && m->queues[up].exists ? up : IN_MISSING;
    return true;
}

/* Whether the queue has no place: its parent is missing, or it is its own ancestor. */
static bool is_loose(const struct model *m, int q)
{
    int up = q;
    for (int i = 0; i <= QUEUES; i++) {
        if (!parent_named(m, up, &up))
            return false;
        if (up < 0)
            return i == 0; /* a queue above it has no parent: that one is loose */
        if (up == q)
            return true;
    }
    return false; /* a cycle above it */
}

int queue_above(const struct model *m, int q)
{
    int up;
    return parent_named(m, q, &up) && !is_loose(m, q) ? up : IN_NONE;
}

static int64_t amount(int32_t stated)
{
    return stated == GIANT ? INT64_MAX - 1 : stated;
}

/* -1: the queue does not state it. */
static int64_t stated(const struct model *m, int q, enum attr what)
{
    const struct op *spec = &m->queues[q].spec;
    int32_t v = op_has(spec, A_UNREAD) ? -1 : op_get(spec, what, -1);
    return v < 0 ? -1 : amount(v);
}

static bool same_kind(const struct model *m, int q, int other)
{
    return op_has(&m->queues[q].spec, A_ANYGPU) == op_has(&m->queues[other].spec, A_ANYGPU);
}

static bool has_own_fault(const struct model *m, int q)
{
    int up = queue_above(m, q);
    if (is_loose(m, q) || op_has(&m->queues[q].spec, A_UNREAD))
        return true;
    return up >= 0 && same_kind(m, q, up) && stated(m, up, A_DESERVED) >= 0 &&
           stated(m, q, A_DESERVED) > stated(m, up, A_DESERVED);
}

bool queue_has_fault(const struct model *m, int q)
{
    for (int up = q; up >= 0; up = queue_above(m, up))
        if (has_own_fault(m, up))
            return true;
    return false;
}

enum gang_reason_code queue_closes(const struct model *m, int q)
{
    if (q == IN_NONE)
        return REASON_NONE;
    if (q < 0 || !m->queues[q].exists)
        return REASON_QUEUE_MISSING;
    if (queue_has_fault(m, q))
        return REASON_QUEUE_INVALID;
    for (int i = 0; i < QUEUES; i++)
        if (m->queues[i].exists && queue_above(m, i) == q)
            return REASON_QUEUE_INVALID;
    for (int up = q; up >= 0; up = queue_above(m, up))
        if (op_has(&m->queues[up].spec, A_CLOSED))
            return REASON_QUEUE_CLOSED;
    for (int i = 0; i < QUEUES; i++)
        if (m->forbids >> i & 1 && strcmp(queue_ids[i].name, queue_ids[q].name) == 0)
            return REASON_QUEUE_FORBIDDEN;
    return REASON_NONE;
}

bool queue_is_fifo(const struct model *m, int q)
{
    const struct op *spec = &m->queues[q < 0 ? 0 : q].spec;
    return q >= 0 && m->queues[q].exists && op_has(spec, A_FIFO) && !op_has(spec, A_UNREAD);
}

/* ---- who is where ---- */

/* Compares the names of queues that pods of one gang name: the first one counts. */
static bool name_before(int q, int other)
{
    int order = strcmp(queue_ids[q].api_group, queue_ids[other].api_group);
    return order ? order < 0 : strcmp(queue_ids[q].name, queue_ids[other].name) < 0;
}

/* The queue number in A_NAMES of the gang's PodGroups; IN_NONE: they name none. */
static int named_by_groups(const struct model *m, uint32_t family)
{
    int found = IN_NONE;
    for (int g = 0; g < GROUPS; g++) {
        const struct op *spec = &m->groups[g].spec;
        if (!(family >> g & 1) || !m->groups[g].exists || op_has(spec, A_UNREAD) ||
            !op_has(spec, A_NAMES) || !names_count(m, group_api()))
            continue;
        if (found >= 0 && strcmp(queue_ids[found].name, queue_ids[spec->value[A_NAMES]].name) != 0)
            return IN_UNSURE; /* the head of the gang decides */
        found = spec->value[A_NAMES];
    }
    return found;
}

static int named_by_pods(const struct model *m, uint32_t family)
{
    int found = IN_NONE;
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].exists ? pod_group(&m->pods[p]) : -1;
        const struct op *spec = &m->pods[p].spec;
        if (g >= 0 && family >> g & 1 && op_has(spec, A_NAMES) &&
            names_count(m, queue_ids[spec->value[A_NAMES]].api_group) &&
            (found < 0 || name_before(spec->value[A_NAMES], found)))
            found = spec->value[A_NAMES];
    }
    return found;
}

static int of_namespace(const struct model *m)
{
    int more = IN_NONE;
    for (int q = 0; q < QUEUES; q++) { /* the first in the order of API groups counts */
        if (queue_ids[q].of_namespace && m->queues[q].exists)
            return q;
        if (queue_ids[q].more && m->queues[q].exists && more == IN_NONE)
            more = q;
    }
    return more;
}

static int fallback(const struct model *m)
{
    for (int q = 0; q < QUEUES; q++)
        if (queue_ids[q].fallback && m->queues[q].exists)
            return q;
    return IN_NONE;
}

int queue_of_family(const struct model *m, uint32_t family)
{
    int by = named_by_groups(m, family);
    const char *api = group_api(), *name = by >= 0 ? queue_ids[by].name : NULL;
    if (!queues_exist(m))
        return IN_NONE;
    if (by == IN_UNSURE)
        return IN_UNSURE;
    if (!name && (by = named_by_pods(m, family)) >= 0) {
        api = queue_ids[by].api_group;
        name = queue_ids[by].name;
    }
    if ((!name || is_default(name)) && m->namespaces[0].exists && names_count(m, group_api())) {
        api = group_api();
        name = queue_ids[op_get(&m->namespaces[0].spec, A_NAMES, 0)].name;
    }
    int q = name ? queue_named(api, "", name) : IN_NONE;
    if (q >= 0 && m->queues[q].exists)
        return q;
    if (name && !is_default(name))
        return IN_MISSING;
    q = of_namespace(m);
    return q >= 0 ? q : fallback(m);
}

static int queue_of_single(const struct model *m, int p)
{
    int by = op_get(&m->pods[p].spec, A_NAMES, IN_NONE);
    if (!queues_exist(m))
        return IN_NONE;
    if (by >= 0 && names_count(m, queue_ids[by].api_group)) {
        int q = queue_named(queue_ids[by].api_group, "", queue_ids[by].name);
        if (q >= 0 && m->queues[q].exists)
            return q;
        if (!is_default(queue_ids[by].name))
            return IN_MISSING;
    }
    return of_namespace(m);
}

int queue_of_member(const struct model *m, int p)
{
    int g = pod_group(&m->pods[p]);
    return g >= 0 ? queue_of_family(m, family_of(m, g)) : queue_of_single(m, p);
}

/* The priority from which on gangs and pods that state nothing are not preemptible; 0: none are. */
static int firm_priority(const struct model *m, int q)
{
    return q >= 0 && m->queues[q].exists ? queue_ids[q].firm_priority : 0;
}

int family_firm(const struct model *m, uint32_t family)
{
    bool any = false;
    int alone = -1, from = firm_priority(m, queue_of_family(m, family));
    for (int g = 0; g < GROUPS; g++) {
        any |= family >> g & 1 && m->groups[g].exists && op_has(&m->groups[g].spec, A_FIRM) &&
               !op_has(&m->groups[g].spec, A_UNREAD);
        alone = family == UINT32_C(1) << g ? g : alone;
    }
    if (!any && !from)
        return 0;
    if (alone < 0)
        return IN_UNSURE; /* the head of the gang decides */
    if (!any && (!m->groups[alone].exists || op_has(&m->groups[alone].spec, A_UNREAD)))
        return IN_UNSURE; /* its members decide */
    return any || group_priority(m, alone) >= from;
}

int pod_firm(const struct model *m, int p)
{
    int g = pod_group(&m->pods[p]);
    if (g >= 0)
        return family_firm(m, family_of(m, g));
    int from = firm_priority(m, queue_of_member(m, p));
    return from && op_get(&m->pods[p].spec, A_PRIO, 0) >= from;
}

/* ---- what is used ---- */

static void add_to(struct queue_use *use, int row, bool firm, const int64_t amounts[COUNTED])
{
    for (int r = 0; r < COUNTED; r++) {
        use->used[row][r] += amounts[r];
        use->firm[row][r] += firm ? amounts[r] : 0;
    }
}

bool queue_sum(const struct model *m, const int on[PODS], struct queue_use *ret)
{
    memset(ret, 0, sizeof *ret);
    for (int p = 0; p < PODS; p++) {
        int64_t need[RESOURCES], have[RESOURCES] = {0}, amounts[COUNTED];
        if (on[p] < 0)
            continue;
        int q = queue_of_member(m, p), firm = pod_firm(m, p);
        if (q == IN_UNSURE || firm == IN_UNSURE)
            return false;
        pod_needs(&m->pods[p], need);
        if (m->nodes[on[p]].exists)
            node_has(m, on[p], have);
        for (int r = 0; r < COUNTED; r++) /* a pod counts at most what its node has */
            amounts[r] = need[r] < have[r] ? need[r] : have[r];
        for (int up = q; up >= 0; up = queue_above(m, up))
            add_to(ret, up, firm, amounts);
        add_to(ret, QUEUES, firm, amounts);
    }
    return true;
}

/* ---- limits ---- */

static bool is_above(int64_t limit, int64_t used, int64_t need)
{
    return limit >= 0 && (sum_t)used + need > limit;
}

/* GPUs: those that the queue states. CPUs: a limit only. */
static int64_t limit_of(const struct model *m, int q, int r)
{
    return q >= 0 ? stated(m, q, r == R_CPU ? A_CPU : A_LIMIT) : -1;
}

/* What the children of `up` other than `but` have reserved of this kind, and do not use. */
static sum_t kept(const struct model *m, const struct queue_use *use, int up, int but, bool any_gpu)
{
    sum_t sum = 0;
    for (int q = 0; q < QUEUES; q++) {
        int64_t reserved = m->queues[q].exists ? stated(m, q, A_RESERVED) : -1;
        if (q != but && m->queues[q].exists && queue_above(m, q) == up &&
            op_has(&m->queues[q].spec, A_ANYGPU) == any_gpu && reserved > use->used[q][R_GPUS])
            sum += reserved - use->used[q][R_GPUS];
    }
    return sum;
}

/* Whether the need takes from what is reserved for siblings of q. */
static bool is_reserved(const struct model *m, const struct queue_use *use, int q, int64_t need,
                        bool any_gpu)
{
    int up = q >= 0 ? queue_above(m, q) : IN_NONE;
    sum_t most = 0, keeps = kept(m, use, up, q, any_gpu);
    for (int n = 0; n < NODES; n++)
        most += m->nodes[n].exists ? op_get(&m->nodes[n].spec, A_GPUS, 0) : 0;
    if (up >= 0 && op_has(&m->queues[up].spec, A_ANYGPU) == any_gpu &&
        stated(m, up, A_LIMIT) >= 0 && stated(m, up, A_LIMIT) < most)
        most = stated(m, up, A_LIMIT);
    return keeps > 0 && use->used[up < 0 ? QUEUES : up][R_GPUS] + need > most - keeps;
}

static enum gang_reason_code level_room(const struct model *m, const struct queue_use *use, int q,
                                        bool firm, const int64_t need[RESOURCES], bool placed)
{
    for (int r = 0; r < COUNTED; r++) {
        int64_t more = placed ? 0 : need[r];
        if (need[r] <= 0)
            continue;
        if (q >= 0 && is_above(limit_of(m, q, r), use->used[q][r], more))
            return REASON_QUEUE_LIMIT;
        if (r == R_GPUS && firm && q >= 0 &&
            is_above(stated(m, q, A_DESERVED), use->firm[q][r], more))
            return REASON_QUEUE_DESERVED;
        if (r == R_GPUS && (is_reserved(m, use, q, more, /* any_gpu= */ false) ||
                            is_reserved(m, use, q, more, /* any_gpu= */ true)))
            return REASON_QUEUE_RESERVED;
    }
    return REASON_NONE;
}

enum gang_reason_code queue_room(const struct model *m, const struct queue_use *use, int q,
                                 bool firm, const int64_t need[RESOURCES], bool placed)
{
    if (!queues_exist(m))
        return REASON_NONE;
    for (int up = q < 0 ? IN_NONE : q;; up = queue_above(m, up)) {
        enum gang_reason_code code = level_room(m, use, up, firm, need, placed);
        if (code || up < 0 || queue_above(m, up) < 0)
            return code;
    }
}
