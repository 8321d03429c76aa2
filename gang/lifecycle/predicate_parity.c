/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/predicate_parity.h"

#include "base/hash.h"
#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/offered_nodes.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/watch_lag.h"
#include "gang/inter_pod_rules.h"
#include "gang/lifecycle/predicate_coverage.h"
#include "gang/messages/status_and_events.h"

/* The time between the two comparisons that confirm a difference, and between the last change of
 * the node and the first of them. */
#define CONFIRM_AFTER USEC_PER_SEC
/* An outage may end the watches of kube-scheduler too, whose retry pauses also double. After muster
 * has caught up, kube-scheduler may lag for KUBE_LAG_FACTOR times as long again. The limit is the
 * longest pause of client-go, including jitter. */
#define KUBE_LAG_FACTOR 2
#define KUBE_LAG_MAX    (60 * USEC_PER_SEC)
/* How many nodes may be compared per millisecond, which is 1 % of the core's time, and at once. One
 * namespace may use half of NODES_MAX. */
#define NODES_PER_MSEC 100
#define NODES_MAX      200000
/* Comparing this many requirements and values of selectors takes as long as one node. */
#define RULES_PER_NODE 8
/* If muster lacks a rule, many nodes differ for many signatures. So a few suspects of each
 * signature are enough, and a suspect that was not seen for SUSPECT_LIMIT may be replaced. */
#define SUSPECTS_PER_SIGNATURE 8
#define SUSPECT_LIMIT          (60 * USEC_PER_SEC)
/* If a rule differs in this many namespaces, the pods of one tenant are not the cause. */
#define CLOSING_NAMESPACES 3
/* For how many namespaces differences are stored. If there are more, the lane is closed for all. */
#define DIFFERENCES_MAX 64

/* ---- pods that may be assumed ---- */

/* Whether any pod has an open filter result. Removes results that are no longer open. */
static bool any_filter_result(struct gang_core *core)
{
    list_for_each_safe (pod, &core->filter_results, struct pod, in_filter_results) {
        if (filter_result_is_open(core, pod))
            return true;
        filter_result_end(core, pod);
    }
    return false;
}

/* ---- muster's predicates ---- */

/* For a topology spread: the smallest count on a host, and the number of hosts. */
struct spread_sums {
    int64_t least, hosts;
};

struct comparison {
    struct gang_core *core;
    const struct pod *pod;
    uint64_t key, owner;      /* see struct suspect */
    struct spread_sums *sums; /* by spread of the pod */
    bool open;                /* some pod may be assumed on any node, without a bind call yet */
};

/* Whether the predicates allow the node. OPEN: unknown, because kube-scheduler may count pods that
 * muster does not know. */
enum answer { OPEN, YES, NO };

/* Whether a pod with an open Binding is charged to the node: the watch does not show it there yet.
 */
static bool has_open_binding(const struct node *node)
{
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (!pod->facts->node)
            return true;
    return false;
}

static void sum_spreads(struct comparison *c)
{
    const struct gang_pod_facts *facts = c->pod->facts;
    c->sums = xcalloc(facts->n_spreads, sizeof *c->sums);
    for (size_t i = 0; i < facts->n_spreads; i++) {
        c->sums[i].least = INT64_MAX;
        for (size_t id = 0; id < c->core->n_ids; id++) {
            const struct node *node = c->core->by_id[id];
            int64_t n = node ? charged_spread_count(node, facts, &facts->spreads[i]) : -1;
            c->open |= n >= 0 && has_open_binding(node); /* pods on other nodes count too */
            c->sums[i].hosts += n >= 0;
            if (n >= 0 && n < c->sums[i].least)
                c->sums[i].least = n;
        }
    }
}

static bool spreads_allow(const struct comparison *c, const struct node *node)
{
    const struct gang_pod_facts *facts = c->pod->facts;
    for (size_t i = 0; i < facts->n_spreads; i++) {
        int64_t here = charged_spread_count(node, facts, &facts->spreads[i]);
        if (here < 0 || !gang_spread_allows(&facts->spreads[i], facts, here, c->sums[i].least,
                                            c->sums[i].hosts))
            return false;
    }
    return true;
}

static bool fits_charged(const struct node *node, const struct signature *signature)
{
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        if (signature->needs[i].amount >
            amount_of(&node->allocatable, r) - amount_of(&node->used, r))
            return false;
    }
    return true;
}

/* Whether kube-scheduler may count a pod on the node that is not charged there. */
static bool may_have_unseen_pod(const struct comparison *c, const struct node *node)
{
    if (c->open || node->n_slots || has_open_binding(node))
        return true;
    list_for_each (pod, &node->nominated, struct pod, in_nominated)
        if (pod != c->pod)
            return true;
    return false;
}

static enum answer apply_rules(const struct comparison *c, const struct node *node,
                               enum gang_predicate *why)
{
    const struct gang_pod_facts *facts = c->pod->facts;
    *why = gang_node_predicate(facts, node->facts);
    if (*why)
        return NO;
    if (!fits_charged(node, c->pod->signature))
        *why = PREDICATE_RESOURCES;
    else if (ports_charged(node, c->pod->signature))
        *why = PREDICATE_PORTS;
    else if (charged_anti_affinity_conflict(node, facts))
        *why = PREDICATE_APART;
    if (*why)
        return has_open_binding(node) ? OPEN : NO;
    if (may_have_unseen_pod(c, node) || (facts->n_spreads && c->core->n_slots))
        return OPEN;
    *why = spreads_allow(c, node) ? PREDICATE_NONE : PREDICATE_SPREAD;
    return *why ? NO : YES;
}

/* ---- differences ---- */

/* When anything that the rules read last changed on the node; with a spread, on any node. */
static usec_t touched_at(const struct comparison *c, const struct node *node)
{
    return c->pod->facts->n_spreads ? c->core->marks.touched_at : node->marks.touched_at;
}

static bool is_settled(const struct comparison *c, const struct node *node)
{
    return c->core->now - touched_at(c, node) >= CONFIRM_AFTER;
}

static bool same_suspect(const struct suspect *a, const struct suspect *b)
{
    return a->node == b->node && a->predicate == b->predicate && a->key == b->key &&
           a->as_of == b->as_of;
}

/* The newest suspect of the namespace with the most suspects; NULL: no namespace has more than
 * `own` + 1. */
static struct suspect *suspect_to_replace(struct parity *m, int own)
{
    struct suspect *found = NULL;
    int most = own + 1;
    for (size_t i = 0; i < SUSPECTS_MAX; i++) {
        int n = 0;
        for (size_t k = 0; k < SUSPECTS_MAX; k++)
            n += m->suspects[k].owner == m->suspects[i].owner;
        bool newer = found && n == most && m->suspects[i].since >= found->since;
        if (n <= most && !newer)
            continue;
        found = &m->suspects[i];
        most = n;
    }
    return found;
}

/* Returns the entry of the suspect, new or existing; NULL: no entry is free for it. A suspect is
 * replaced only in favour of a namespace with fewer suspects. */
static struct suspect *suspect_of(struct gang_core *core, const struct suspect *like)
{
    struct suspect *entry = NULL;
    int alike = 0, own = 0;
    for (size_t i = 0; i < SUSPECTS_MAX; i++) {
        struct suspect *s = &core->parity.suspects[i];
        if (s->used && same_suspect(s, like))
            return s;
        if (!s->used || core->now - s->seen >= SUSPECT_LIMIT) {
            entry = s;
            continue;
        }
        alike += s->key == like->key;
        own += s->owner == like->owner;
    }
    if (alike >= SUSPECTS_PER_SIGNATURE)
        return NULL;
    if (!entry)
        entry = suspect_to_replace(&core->parity, own);
    if (entry)
        *entry = *like;
    return entry;
}

/* ---- closing the express lane ---- */

/* The confirmed differences of a namespace. */
struct difference {
    char *text; /* the first */
    usec_t at;
    uint32_t seen; /* a bit for each predicate */
};

/* Whether the rule applies to the pod. */
static bool concerns(const struct gang_core *core, enum gang_predicate p, const struct pod *pod)
{
    const struct gang_pod_facts *f = pod->facts;
    switch (p) {
    case PREDICATE_AFFINITY:
        return f->node_selector.n > 0 || f->has_affinity;
    case PREDICATE_PORTS:
        return f->n_host_ports > 0;
    case PREDICATE_APART:
        return f->n_anti_affinity > 0 || core->n_anti_affinity > 0;
    case PREDICATE_SPREAD:
        return f->n_spreads > 0;
    default:
        return true;
    }
}

const char *parity_doubt(const struct gang_core *core, const struct pod *pod)
{
    const struct parity *m = &core->parity;
    const struct difference *own = m->first ? map_get(&m->differences, pod->facts->ns) : NULL;
    if (own || m->closed_at)
        return own ? own->text : m->first;
    for (int p = 0; m->first && p < PREDICATE_MAX; p++)
        if (m->seen_in[p] >= CLOSING_NAMESPACES && concerns(core, p, pod))
            return m->first;
    return NULL;
}

usec_t parity_doubt_since(const struct gang_core *core, const struct pod *pod)
{
    const struct parity *m = &core->parity;
    const struct difference *own = m->first ? map_get(&m->differences, pod->facts->ns) : NULL;
    return own ? own->at : m->closed_at;
}

static void difference_note(struct gang_core *core, const struct pod *pod, enum gang_predicate why,
                            const char *text)
{
    struct parity *m = &core->parity;
    struct difference *d = map_get(&m->differences, pod->facts->ns);
    if (!m->first)
        m->first = xstrdup(text);
    if (!d && map_count(&m->differences) < DIFFERENCES_MAX) {
        d = xcalloc(1, sizeof *d);
        *d = (struct difference){.text = xstrdup(text), .at = core->now};
        map_set(&m->differences, pod->facts->ns, d);
        /* Without the express lane, other extenders and plugins are allowed. They cause differences
         * that the owner of the pod cannot change. */
        if (core->config.express_lane)
            warn_pod(core, pod, KUBE_EVENT_MISMATCH, text);
    }
    if (d && !(d->seen & 1u << why)) {
        d->seen |= 1u << why;
        m->seen_in[why]++;
    }
    bool concerns_all = why == PREDICATE_NONE || why == PREDICATE_RESOURCES ||
                        why == PREDICATE_TAINTS || why == PREDICATE_UNSCHEDULABLE;
    if (!m->closed_at && (!d || (concerns_all && m->seen_in[why] >= CLOSING_NAMESPACES)))
        m->closed_at = core->now;
}

void parity_done(struct gang_core *core)
{
    map_for_each (e, &core->parity.differences) {
        struct difference *d = e->value;
        free(d->text);
        free(d);
    }
    map_done(&core->parity.differences);
    free(core->parity.first);
}

static void count_difference(struct gang_core *core, const struct pod *pod, const struct node *node,
                             enum gang_predicate why, bool offered)
{
    core->stats.mismatches[why]++;
    cleanup_free char *text =
        offered ? xasprintf("kube-scheduler offers node %s for pod %s/%s, but muster's rule for %s "
                            "excludes the node",
                            node->name, pod->facts->ns, pod->facts->name, gang_predicate_name(why))
                : xasprintf("kube-scheduler does not offer node %s for pod %s/%s, but no rule of "
                            "muster excludes the node",
                            node->name, pod->facts->ns, pod->facts->name);
    difference_note(core, pod, why, text);
}

static void note_suspect(struct comparison *c, const struct node *node, enum gang_predicate why,
                         bool offered)
{
    struct gang_core *core = c->core;
    const struct suspect like = {
        .used = true,
        .node = node->id,
        .predicate = why,
        .key = c->key,
        .owner = c->owner,
        .as_of = touched_at(c, node),
        .since = core->now,
    };
    struct suspect *s = suspect_of(core, &like);
    if (!s)
        return;
    s->comparison = core->parity.comparisons;
    s->seen = core->now;
    if (s->counted || core->now - s->since < CONFIRM_AFTER)
        return;
    s->counted = true;
    count_difference(core, c->pod, node, why, offered);
}

/* Drops the suspects of this signature that the comparison has not found again. Their cause was
 * that muster and kube-scheduler saw changes at different times. */
static void drop_unconfirmed(struct comparison *c)
{
    struct parity *m = &c->core->parity;
    for (size_t i = 0; i < SUSPECTS_MAX; i++)
        if (m->suspects[i].key == c->key && m->suspects[i].comparison != m->comparisons)
            m->suspects[i].used = false;
}

/* ---- the check ---- */

/* Takes `cost` from the credit, which grows with time. False: there is not enough. The namespace of
 * the last comparison must leave half of the credit to others. */
static bool spend_credit(struct gang_core *core, uint64_t owner, int64_t cost)
{
    struct parity *m = &core->parity;
    int64_t earned = (core->now - m->credit_at) * NODES_PER_MSEC / USEC_PER_MSEC;
    if (earned > 0) {
        m->credit = earned > NODES_MAX - m->credit ? NODES_MAX : m->credit + earned;
        m->credit_at = core->now;
    }
    if (m->credit <= (owner == m->last_ns ? NODES_MAX / 2 : 0))
        return false;
    m->last_ns = owner;
    m->credit -= cost;
    return true;
}

/* False: muster's cluster cache lags, or kube-scheduler's may lag. */
static bool may_compare(const struct gang_core *core)
{
    if (watch_lag_doubt(core))
        return false;
    usec_t kube_lag = KUBE_LAG_FACTOR * (core->follows_since - core->behind_since);
    usec_t wait = CONFIRM_AFTER + (kube_lag < KUBE_LAG_MAX ? kube_lag : KUBE_LAG_MAX);
    return !core->follows_since || core->now - core->follows_since >= wait;
}

/* Whether the pod has the same rules in the call as in muster's cluster cache. */
static bool same_pod(struct gang_core *core, const struct pod *pod, const struct gang_event *ev)
{
    if (!ev->pod) /* this call has added the pod */
        return true;
    struct signature *signature = signature_of(core, ev->pod);
    bool same = signature == pod->signature && !ev->pod->inexact;
    signature_unref(core, signature);
    return same;
}

static void compare(struct comparison *c, const struct gang_event *ev)
{
    struct gang_core *core = c->core;
    bool same = false, asked = false;
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        enum gang_predicate why;
        if (!node || !node->facts || !is_settled(c, node))
            continue;
        bool offered = node->offered == core->offers;
        enum answer answer = apply_rules(c, node, &why);
        if (answer == OPEN || (answer == YES) == offered)
            continue;
        if (!asked)
            same = same_pod(core, c->pod, ev);
        asked = true;
        if (same)
            note_suspect(c, node, why, offered);
    }
}

void parity_check(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                  const char *nominated)
{
    bool own_call = ev->n_names == 1 && str_eq(ev->names[0], nominated);
    if (ev->n_names == 0 || own_call || is_sample(core, ev) || pod->call || !may_compare(core))
        return;
    int64_t cost = (int64_t)core->n_ids * (pod->facts->n_spreads ? 8 : 1);
    uint64_t owner = hash_text(HASH_START, pod->facts->ns);
    int64_t wide_anti_affinity;
    if (!spend_credit(core, owner, cost))
        return;
    bool covered = predicates_cover(core, pod, &wide_anti_affinity);
    core->parity.credit -= wide_anti_affinity / RULES_PER_NODE;
    if (!covered)
        return;
    core->stats.predicate_checks++;
    core->parity.comparisons++;
    look_up_names(core, ev);
    struct comparison c = {.core = core,
                           .pod = pod,
                           .key = hash_text(owner, pod->signature->key),
                           .owner = owner,
                           .open = any_filter_result(core)};
    if (pod->facts->n_spreads)
        sum_spreads(&c);
    compare(&c, ev);
    drop_unconfirmed(&c);
    free(c.sums);
}

const char *gang_core_parity_difference(const struct gang_core *core)
{
    return core->parity.first;
}
