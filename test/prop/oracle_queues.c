/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_queues.c - checks about queues: what each queue uses, and that nothing new exceeds a limit
 * or begins in a queue that takes no gangs.
 */
#include <inttypes.h>

#include "test/prop/family.h"
#include "test/prop/oracle.h"
#include "test/prop/queue_rules.h"

/* ---- what the core can know ---- */

/* Whether the watch has shown everything that decides which pods count where. */
static bool all_known(const struct model *m)
{
    bool known = queues_known(m) && oracle_nodes_known(m) && oracle_groups_known(m) &&
                 !oracle_room_is_kept(m);
    for (int k = 0; k < CLASSES; k++)
        known &= !m->classes[k].dirty;
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        known &= t->preempted != t->serial || !t->exists; /* its queue counts it no more */
        known &= t->dirty != CHANGED && !t->ghost && !t->learnt && (t->exists || !t->place);
    }
    return known;
}

/* The node on which each pod counts in the core: charged there, or by its slot. */
static void counted_now(const struct model *m, int on[PODS])
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        on[p] = t->charged != NOT_CHARGED ? t->charged_node : t->exists ? t->place - 1 : -1;
    }
}

/* The same without slots: plans go on, or end. */
static void counted_for_good(const struct model *m, int on[PODS])
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        on[p] = !t->exists || pod_finished(t) ? -1 : t->node;
        for (size_t i = 0; i < m->n_requests && t->exists && t->node < 0; i++)
            if (!m->requests[i].read && m->requests[i].pod == p &&
                m->requests[i].serial == t->serial)
                on[p] = m->requests[i].node;
    }
}

/* ---- what gangs and queues show ---- */

struct queues_seen {
    const struct model *m;
    bool known[QUEUES], faulty[QUEUES];
    int64_t used[QUEUES][COUNTED], firm[QUEUES][COUNTED], any_gpu[QUEUES];
    int running[QUEUES], done[QUEUES];
    /* gangs, by the group that leads them */
    bool gang[GROUPS];
    enum gang_state state[GROUPS];
    enum gang_reason_code reason[GROUPS];
    int in[GROUPS]; /* a queue, IN_NONE or IN_MISSING */
    bool planned[GROUPS];
};

static int number_of(const struct gang_ref *ref)
{
    for (int q = 0; ref && q < QUEUES; q++)
        if (strcmp(queue_ids[q].api_group, ref->api_group) == 0 &&
            strcmp(queue_ids[q].ns, ref->ns) == 0 && strcmp(queue_ids[q].name, ref->name) == 0)
            return q;
    return ref ? IN_MISSING : IN_NONE;
}

static void see_queue(void *arg, const struct gang_queue_view *v)
{
    struct queues_seen *s = arg;
    int q = number_of(v->status.ref);
    if (q < 0 || !v->facts)
        return;
    s->known[q] = true;
    s->faulty[q] = v->status.reason == REASON_QUEUE_INVALID;
    s->running[q] = v->status.running;
    s->done[q] = v->status.done;
    for (size_t i = 0; i < v->status.n_amounts; i++) {
        const struct gang_queue_amount *a = &v->status.amounts[i];
        int r = strcmp(a->resource, "nvidia.com/gpu") == 0 ? R_GPUS
                : strcmp(a->resource, "cpu") == 0          ? R_CPU
                                                           : -1;
        if (r >= 0) {
            s->used[q][r] = a->used / (r == R_CPU ? 1000 : 1);
            s->firm[q][r] = a->firm / (r == R_CPU ? 1000 : 1);
        }
        if (strcmp(a->resource, GANG_ANY_GPU) == 0)
            s->any_gpu[q] = a->used;
    }
}

static void see_gang(void *arg, const struct gang_view *v)
{
    struct queues_seen *s = arg;
    int g = v->root->name[1] - '0';
    s->gang[g] = true;
    s->planned[g] |= v->planned > 0;
    s->state[g] = v->status.state;
    s->reason[g] = v->status.reason;
    s->in[g] = number_of(v->queue);
}

static void look(struct model *m, const struct gang_core *core, struct queues_seen *s)
{
    *s = (struct queues_seen){.m = m};
    gang_core_queues(core, 0, SIZE_MAX, see_queue, s);
    gang_core_each_gang(core, see_gang, s);
}

/* ---- the ledger of queues ---- */

static bool is_below(const struct model *m, int q, int top)
{
    for (int up = q; up >= 0; up = queue_above(m, up))
        if (up == top)
            return true;
    return false;
}

static void check_counts(struct model *m, const struct queues_seen *s, int q)
{
    int running = 0, done = 0;
    for (int g = 0; g < GROUPS; g++)
        if (s->gang[g] && is_below(m, s->in[g], q)) {
            running += s->state[g] == GANG_SCHEDULED;
            done += s->state[g] == GANG_DONE;
        }
    if (running != s->running[q] || done != s->done[q])
        model_fail(m, "queue", "q%d shows %d running gangs and %d done, expected %d and %d", q,
                   s->running[q], s->done[q], running, done);
}

static void check_sums(struct model *m, const struct queues_seen *s, const struct queue_use *use)
{
    static const char *const names[COUNTED] = {"GPUs", "CPUs"};
    for (int q = 0; q < QUEUES; q++) {
        if (s->known[q] != m->queues[q].exists)
            model_fail(m, "queue", "q%d %s, but the core %s it", q,
                       m->queues[q].exists ? "exists" : "does not exist",
                       s->known[q] ? "shows" : "does not show");
        if (!s->known[q])
            continue;
        if (s->faulty[q] != queue_has_fault(m, q))
            model_fail(m, "queue", "q%d is %s, expected the opposite", q,
                       s->faulty[q] ? "invalid" : "valid");
        for (int r = 0; r < COUNTED; r++)
            if (s->used[q][r] != use->used[q][r] || s->firm[q][r] != use->firm[q][r])
                model_fail(m, "queue",
                           "q%d uses %" PRId64 " %s, %" PRId64 " of them by gangs that are not "
                           "preemptible; expected %" PRId64 " and %" PRId64,
                           q, s->used[q][r], names[r], s->firm[q][r], use->used[q][r],
                           use->firm[q][r]);
        if (op_has(&m->queues[q].spec, A_ANYGPU) && !op_has(&m->queues[q].spec, A_UNREAD) &&
            s->any_gpu[q] != use->used[q][R_GPUS] &&
            (op_has(&m->queues[q].spec, A_LIMIT) || op_has(&m->queues[q].spec, A_DESERVED) ||
             op_has(&m->queues[q].spec, A_RESERVED)))
            model_fail(m, "queue", "q%d uses %" PRId64 " of all kinds of GPUs, expected %" PRId64,
                       q, s->any_gpu[q], use->used[q][R_GPUS]);
        check_counts(m, s, q);
    }
}

/* Each gang is in the queue that its objects name, and says why it cannot begin there. */
static void check_gangs(struct model *m, const struct queues_seen *s)
{
    for (int g = 0; g < GROUPS; g++) {
        struct ask ask;
        uint32_t family = s->gang[g] ? family_of(m, g) : 0;
        int q = family ? queue_of_family(m, family) : IN_UNSURE;
        int in = s->in[g] >= 0 && !m->queues[s->in[g]].exists ? IN_MISSING : s->in[g];
        if (q == IN_UNSURE)
            continue;
        if (in != q)
            model_fail(m, "queue", "gang g%d is in queue %d, expected %d (-1: none, -2: missing)",
                       g, in, q);
        enum gang_reason_code code = queue_closes(m, q);
        if (code && s->state[g] == GANG_WAITING && !s->planned[g] && s->reason[g] != code &&
            !gang_core_plans_deferred(m->core) && !op_has(&m->config, A_STRICT) &&
            oracle_ask(m, family, &ask) && !queue_is_fifo(m, q))
            model_fail(m, "queue", "gang g%d cannot begin in q%d, but its reason is %s, not %s", g,
                       q, gang_reason_name(s->reason[g]), gang_reason_name(code));
    }
}

/* ---- new work ---- */

/* Whether the pod's gang is bound in part, so that limits must not keep it so. */
static bool goes_on(const struct model *m, const struct queues_seen *s, int p)
{
    uint32_t family = family_of(m, pod_group(&m->pods[p]));
    for (int g = 0; g < GROUPS; g++)
        if (family >> g & 1 && s->gang[g] &&
            (s->state[g] == GANG_RECOVERING || s->state[g] == GANG_COMMITTING))
            return true;
    return false;
}

/* Whether some member of the pod's gang had a slot before this step. */
static bool had_slots(const struct model *m, int p)
{
    uint32_t family = family_of(m, pod_group(&m->pods[p]));
    for (int i = 0; i < PODS; i++) {
        int g = pod_group(&m->pods[i]);
        if (g >= 0 && family >> g & 1 && m->pods[i].had_slot)
            return true;
    }
    return false;
}

/* Whether a plan has lost a slot in this step. If a pod of higher priority took its room, the part
 * that its queue has reserved was in use when the pod was let through. */
static bool any_slot_lost(const struct model *m, const int on[PODS])
{
    for (int p = 0; p < PODS; p++)
        if (m->pods[p].had_slot && on[p] < 0)
            return true;
    return false;
}

/* Whether the member may have taken over the slot of its stand-in. Such a slot is not a new place.
 */
static bool may_take_over(const struct model *m, const int on[PODS], int p)
{
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        if (t->stands_in && t->had_slot && on[i] < 0 && pod_group(t) == pod_group(&m->pods[p]))
            return true;
    }
    return false;
}

static void check_new(struct model *m, const struct queues_seen *s, const struct queue_use *use,
                      const int on[PODS], int p)
{
    int64_t need[RESOURCES];
    int g = pod_group(&m->pods[p]), q = queue_of_member(m, p);
    int firm = pod_firm(m, p);
    if (q == IN_UNSURE || firm == IN_UNSURE || (g < 0 && q == IN_NONE) ||
        (g >= 0 && (goes_on(m, s, p) || may_take_over(m, on, p))))
        return;
    enum gang_reason_code closes = queue_closes(m, q);
    if (closes && !(g >= 0 && had_slots(m, p)))
        model_fail(m, "queue", "p%d gets a place, but its queue q%d takes nothing new: %s", p, q,
                   gang_reason_name(closes));
    pod_needs(&m->pods[p], need);
    enum gang_reason_code over = queue_room(m, use, q, firm, need, /* placed= */ true);
    if (over && !(over == REASON_QUEUE_RESERVED && any_slot_lost(m, on)))
        model_fail(m, "queue", "p%d gets a place that exceeds a limit of q%d or above: %s", p, q,
                   gang_reason_name(over));
}

/* Whether muster gave the pod a place in this step. */
static bool is_new(const struct pod_truth *t, int on)
{
    return on >= 0 && t->exists && t->counted != t->serial && t->charged != CHARGED_ASSIGNED;
}

/* An edit of a queue ends the plans that exceed its limits now, unless their gang is bound in part.
 */
static void check_plans(struct model *m, const struct queues_seen *s, const struct queue_use *use)
{
    for (int p = 0; p < PODS; p++) {
        int64_t need[RESOURCES];
        int g = m->pods[p].place ? pod_group(&m->pods[p]) : -1;
        uint32_t family = g >= 0 ? family_of(m, g) : 0;
        bool planned = false;
        for (int h = 0; h < GROUPS; h++)
            planned |= family >> h & 1 && s->gang[h] && s->state[h] == GANG_PLANNED;
        int q = planned ? queue_of_family(m, family) : IN_UNSURE;
        if (q == IN_UNSURE || family_firm(m, family) == IN_UNSURE)
            continue;
        pod_needs(&m->pods[p], need);
        if (queue_room(m, use, q, family_firm(m, family), need, /* placed= */ true))
            model_fail(m, "queue", "p%d keeps its slot, but a limit of q%d or above is exceeded", p,
                       q);
    }
}

/* Whether a pod that no limit holds got a place in this step, perhaps after the limited ones. */
static bool any_unlimited(const struct model *m, const struct queues_seen *s, const int on[PODS])
{
    for (int p = 0; p < PODS; p++) {
        int g = pod_group(&m->pods[p]);
        if (is_new(&m->pods[p], on[p]) &&
            (g >= 0 ? goes_on(m, s, p) : queue_of_member(m, p) == IN_NONE))
            return true;
    }
    return false;
}

/* A later member without a slot has lost its gate, so its queue has room for it. */
static void check_lifted_later(struct model *m, const struct queue_use *use)
{
    int64_t need[RESOURCES];
    for (int p = 0; p < PODS; p++) {
        int g = m->pods[p].lifted_later ? pod_group(&m->pods[p]) : -1;
        int q = g >= 0 ? queue_of_family(m, family_of(m, g)) : IN_UNSURE;
        if (q == IN_UNSURE)
            continue;
        pod_needs(&m->pods[p], need);
        if (queue_room(m, use, q, pod_firm(m, p), need, /* placed= */ false))
            model_fail(m, "gate", "p%d loses its gate, but q%d has no room for it", p, q);
    }
}

static void remember(struct model *m, const int on[PODS])
{
    for (int p = 0; p < PODS; p++) {
        m->pods[p].lifted_later = false;
        m->pods[p].counted = on[p] >= 0 ? m->pods[p].serial : 0;
        m->pods[p].had_slot = m->pods[p].place > 0;
    }
}

static uint64_t plans_made(const struct model *m)
{
    struct gang_stats stats;
    gang_core_stats(m->core, &stats);
    return stats.plans_made;
}

void oracle_queues(struct model *m, int64_t slots)
{
    struct queues_seen seen;
    struct queue_use use;
    int on[PODS];
    counted_now(m, on);
    for (int p = 0; p < PODS; p++)
        slots -= m->pods[p].place > 0;
    bool had_expected = m->expected_slots; /* a new pod may take one, which is counted already */
    m->expected_slots = slots > 0;
    m->plans_made = plans_made(m);
    if (queues_exist(m) && all_known(m)) {
        look(m, m->core, &seen);
        check_gangs(m, &seen);
        if (!m->expected_slots && queue_sum(m, on, &use)) {
            check_sums(m, &seen, &use);
            bool unlimited = any_unlimited(m, &seen, on);
            for (int p = 0; p < PODS && !had_expected && !unlimited; p++)
                if (is_new(&m->pods[p], on[p]))
                    check_new(m, &seen, &use, on, p);
            check_lifted_later(m, &use);
            if (m->queues_edited && !unlimited && m->groups_were_known)
                check_plans(m, &seen, &use);
        }
    }
    m->queues_edited = false;
    m->groups_were_known = oracle_groups_known(m);
    remember(m, on);
}

/* ---- whether a queue has room ---- */

/* False if the model cannot tell. A step makes plans before it answers calls, so an answer may
 * depend on slots that the model has not read yet. */
static bool use_now(const struct model *m, bool calm, struct queue_use *ret)
{
    int on[PODS];
    if (calm)
        counted_for_good(m, on);
    else
        counted_now(m, on);
    bool slots_known = !m->expected_slots && m->plans_made == plans_made(m);
    return (calm || slots_known) && all_known(m) && queue_sum(m, on, ret);
}

/* Whether another gang of the queue waits, which may go first. */
static bool may_be_behind(struct model *m, int q, int g)
{
    struct queues_seen seen;
    look(m, m->core, &seen);
    for (int h = 0; h < GROUPS; h++)
        if (h != g && seen.gang[h] && seen.in[h] == q && seen.state[h] != GANG_SCHEDULED &&
            seen.state[h] != GANG_DONE)
            return true;
    return false;
}

bool oracle_queue_allows(struct model *m, int g, const struct ask *ask, bool calm)
{
    uint32_t family = family_of(m, g);
    struct queue_use use;
    int64_t need[RESOURCES];
    int q = queue_of_family(m, family), firm = family_firm(m, family);
    if (!queues_known(m))
        return false;
    if (!queues_exist(m))
        return true;
    if (q == IN_UNSURE || firm == IN_UNSURE || queue_closes(m, q) || !use_now(m, calm, &use) ||
        (queue_is_fifo(m, q) && may_be_behind(m, q, g)))
        return false;
    for (int r = 0; r < RESOURCES; r++)
        need[r] = ask->pods * ask->need[r];
    return !queue_room(m, &use, q, firm, need, /* placed= */ false);
}

bool oracle_queue_takes(struct model *m, int p, bool calm)
{
    struct queue_use use;
    int64_t need[RESOURCES];
    int g = pod_group(&m->pods[p]), q = queue_of_member(m, p);
    int firm = pod_firm(m, p);
    if (!queues_known(m))
        return false;
    if (!queues_exist(m) || (g < 0 && q == IN_NONE))
        return true;
    pod_needs(&m->pods[p], need);
    return q != IN_UNSURE && firm != IN_UNSURE && !queue_closes(m, q) && use_now(m, calm, &use) &&
           !queue_room(m, &use, q, firm, need, /* placed= */ false);
}

/* ---- gates ---- */

void oracle_lifted_in_queue(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    int g = pod_group(t);
    if (g < 0 || !(m->gates & GATES_ON) || !queues_exist(m) || !all_known(m) ||
        op_has(&t->spec, A_FOREIGN))
        return;
    struct place place = oracle_place(m, p);
    int q = queue_of_family(m, family_of(m, g));
    if (place.node < 0 && (place.state == GANG_WAITING || place.state == GANG_BACKED_OFF) &&
        q != IN_UNSURE && queue_closes(m, q) && !gang_core_plans_deferred(m->core))
        model_fail(m, "gate", "p%d loses its gate, but its gang cannot begin in q%d: %s", p, q,
                   gang_reason_name(queue_closes(m, q)));
    m->pods[p].lifted_later =
        place.node < 0 && place.state == GANG_SCHEDULED && !t->stands_in && !t->lift_asked;
}

/* ---- preemption ---- */

/* Preemption would evict pods for one that its queue stops even then. */
void oracle_preempts(struct model *m, int p)
{
    struct queue_use use;
    int64_t need[RESOURCES];
    const struct pod_truth *t = &m->pods[p];
    if (!t->exists || t->node >= 0 || pod_group(t) >= 0 || !queues_exist(m) ||
        !use_now(m, /* calm= */ false, &use))
        return;
    int q = queue_of_member(m, p);
    pod_needs(t, need);
    if (q != IN_NONE && (queue_closes(m, q) || queue_room(m, &use, q, false, need, false)))
        model_fail(m, "preempt", "p%d may preempt others, but its queue %d stops it", p, q);
}

/* A victim has a controller and is preemptible. Without queues, some gang has a higher priority. */
void oracle_preempted(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    int g = pod_group(t), highest = INT32_MIN, own = op_get(&t->spec, A_PRIO, 0);
    uint32_t family = g >= 0 ? family_of(m, g) : 0;
    if (!oracle_groups_known(m))
        return;
    for (int k = 0; k < CLASSES; k++)
        if (m->classes[k].dirty)
            return;
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].dirty == CHANGED)
            return; /* the core does not know the change yet */
    if (t->node < 0)
        model_fail(m, "evict", "eviction of p%d, which is on no node", p);
    if (oracle_broken(m, p))
        return;
    if (g >= 0 && family_firm(m, family) == true)
        model_fail(m, "evict", "eviction of p%d, whose gang is not preemptible", p);
    for (int h = 0; h < GROUPS; h++) {
        int32_t priority = group_priority(m, h);
        if (family >> h & 1)
            own = priority < own ? priority : own;
        else
            highest = priority > highest ? priority : highest;
    }
    if (highest <= own && !queues_exist(m)) /* with queues, it may be taken back */
        model_fail(m, "evict", "eviction of p%d, but no gang has a higher priority", p);
}

bool oracle_room_is_kept(const struct model *m)
{
    struct gang_stats stats;
    gang_core_stats(m->core, &stats);
    return stats.preempted_room > 0;
}

/* ---- statuses ---- */

static struct queue_shown what_is_shown(const struct gang_queue_status *s)
{
    struct queue_shown shown = {true,      s->waiting, s->planned, s->running, s->done,
                                s->reason, 0,          0,          0};
    for (size_t i = 0; i < s->n_amounts; i++) {
        const struct gang_queue_amount *a = &s->amounts[i];
        if (strcmp(a->resource, "nvidia.com/gpu") != 0)
            continue;
        shown.used = a->used;
        shown.firm = a->firm;
        shown.requested = a->requested;
    }
    return shown;
}

void oracle_queue_status(struct model *m, const struct gang_queue_status *s)
{
    int q = number_of(s->ref);
    if (q < 0 || (!m->queues[q].exists && !m->queues[q].dirty))
        model_fail(m, "status", "status of queue %s, which does not exist", s->ref->name);
    m->queues_shown[q] = what_is_shown(s);
}

struct stale {
    struct model *m;
    char *text;
};

static void see_stale(void *arg, const struct gang_queue_view *v)
{
    struct stale *s = arg;
    int q = number_of(v->status.ref);
    if (q < 0 || !v->facts || s->text)
        return;
    const struct queue_shown *last = &s->m->queues_shown[q], now = what_is_shown(&v->status);
    if (!last->emitted)
        s->text = xasprintf("q%d has no status", q);
    else if (last->waiting != now.waiting || last->planned != now.planned ||
             last->running != now.running || last->done != now.done)
        s->text = xasprintf("the status of q%d shows %d, %d, %d and %d gangs waiting, planned, "
                            "running and done, instead of %d, %d, %d and %d",
                            q, last->waiting, last->planned, last->running, last->done, now.waiting,
                            now.planned, now.running, now.done);
    else if (last->used != now.used || last->firm != now.firm || last->requested != now.requested ||
             last->reason != now.reason)
        s->text =
            xasprintf("the status of q%d shows %" PRId64 " GPUs used, %" PRId64 " firm, %" PRId64
                      " requested and %s, instead of %" PRId64 ", %" PRId64 ", %" PRId64 " and %s",
                      q, last->used, last->firm, last->requested, gang_reason_name(last->reason),
                      now.used, now.firm, now.requested, gang_reason_name(now.reason));
}

char *oracle_stale_status(struct model *m)
{
    struct stale s = {m, NULL};
    gang_core_queues(m->core, 0, SIZE_MAX, see_stale, &s);
    return s.text;
}

/* ---- restarts ---- */

void oracle_queues_alike(struct model *m, const struct gang_core *a, const struct gang_core *b)
{
    struct queues_seen x, y;
    if (!queues_exist(m))
        return;
    look(m, a, &x);
    look(m, b, &y);
    for (int q = 0; q < QUEUES; q++)
        for (int r = 0; r < COUNTED; r++)
            if (x.used[q][r] != y.used[q][r] || x.firm[q][r] != y.firm[q][r])
                model_fail(m, "I6",
                           "the use of q%d depends on the order of the lists: %" PRId64
                           " or %" PRId64,
                           q, x.used[q][r], y.used[q][r]);
    for (int g = 0; g < GROUPS; g++)
        if (x.in[g] != y.in[g])
            model_fail(m, "I6", "the queue of g%d depends on the order of the lists: %d or %d", g,
                       x.in[g], y.in[g]);
}
