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

/* Between the two looks, and from the last change of the node to the first of them. */
#define LOOK_AGAIN USEC_PER_SEC
/* What ended our watches may have ended kube-scheduler's, whose pauses double too: it may be behind
 * for twice as long again, and no longer than the longest pause of client-go, with its jitter. */
#define ITS_TIMES   2
#define ITS_LONGEST (60 * USEC_PER_SEC)
/* Nodes that are looked at in a millisecond, and at once: a hundredth of the core's time. Half of
 * what may be at once is left to others. */
#define LOOKS_PER_MSEC 100
#define LOOKS_MAX      200000
/* So many requirements of selectors take as long as one. */
#define SHUNS_PER_LOOK 8
/* Where a rule is missing, many nodes differ for many signatures: a few of each are enough, and
 * those not seen for so long make place. */
#define SUSPECTS_OF_SHAPE 8
#define SUSPECT_LIMIT     (60 * USEC_PER_SEC)
/* In so many namespaces a difference is no oddity of one tenant's. */
#define CLOSING_NAMESPACES 3
/* Namespaces with differences that are told apart; with so many the lane is closed for all. */
#define DIFFERENCES_MAX 64

/* ---- what may be under way ---- */

/* The oldest are first, and go when their time is over. */
static bool any_filter_result(struct gang_core *core)
{
    list_for_each_safe (pod, &core->filter_results, struct pod, in_filter_results) {
        if (filter_result_is_open(core, pod))
            return true;
        filter_result_end(core, pod);
    }
    return false;
}

/* ---- what the rules say ---- */

struct spread_sums {
    int64_t least, hosts;
};

struct node_scan {
    struct gang_core *core;
    const struct pod *pod;
    uint64_t key, owner;      /* of suspects */
    struct spread_sums *sums; /* by spread of the pod */
    bool open;                /* a pod may be assumed somewhere, and is not at bind yet */
};

enum answer { OPEN, YES, NO };

/* Somebody is charged there whom the watch has not shown there: a Binding is under way. */
static bool is_unsure(const struct node *node)
{
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (!pod->facts->node)
            return true;
    return false;
}

static void sum_spreads(struct node_scan *l)
{
    const struct gang_pod_facts *who = l->pod->facts;
    l->sums = xcalloc(who->n_spreads, sizeof *l->sums);
    for (size_t i = 0; i < who->n_spreads; i++) {
        l->sums[i].least = INT64_MAX;
        for (size_t id = 0; id < l->core->n_ids; id++) {
            const struct node *node = l->core->by_id[id];
            int64_t n = node ? charged_spread_count(node, who, &who->spreads[i]) : -1;
            l->open |= n >= 0 && is_unsure(node); /* who is elsewhere matters too */
            l->sums[i].hosts += n >= 0;
            if (n >= 0 && n < l->sums[i].least)
                l->sums[i].least = n;
        }
    }
}

static bool spreads_allow(const struct node_scan *l, const struct node *node)
{
    const struct gang_pod_facts *who = l->pod->facts;
    for (size_t i = 0; i < who->n_spreads; i++) {
        int64_t here = charged_spread_count(node, who, &who->spreads[i]);
        if (here < 0 ||
            !gang_spread_allows(&who->spreads[i], who, here, l->sums[i].least, l->sums[i].hosts))
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

/* Somebody may be there whom nothing is charged for yet. */
static bool is_open(const struct node_scan *l, const struct node *node)
{
    if (l->open || node->n_slots || is_unsure(node))
        return true;
    list_for_each (pod, &node->nominated, struct pod, in_nominated)
        if (pod != l->pod)
            return true;
    return false;
}

static enum answer judge(const struct node_scan *l, const struct node *node,
                         enum gang_predicate *why)
{
    const struct gang_pod_facts *who = l->pod->facts;
    *why = gang_node_predicate(who, node->facts);
    if (*why)
        return NO;
    if (!fits_charged(node, l->pod->signature))
        *why = PREDICATE_RESOURCES;
    else if (ports_charged(node, l->pod->signature))
        *why = PREDICATE_PORTS;
    else if (charged_anti_affinity_conflict(node, who))
        *why = PREDICATE_APART;
    if (*why)
        return is_unsure(node) ? OPEN : NO;
    if (is_open(l, node) || (who->n_spreads && l->core->n_slots))
        return OPEN;
    *why = spreads_allow(l, node) ? PREDICATE_NONE : PREDICATE_SPREAD;
    return *why ? NO : YES;
}

/* ---- differences ---- */

/* When something that the rules look at has changed there last. */
static usec_t touched_at(const struct node_scan *l, const struct node *node)
{
    return l->pod->facts->n_spreads ? l->core->marks.touched_at : node->marks.touched_at;
}

static bool is_settled(const struct node_scan *l, const struct node *node)
{
    return l->core->now - touched_at(l, node) >= LOOK_AGAIN;
}

static bool same_suspect(const struct suspect *a, const struct suspect *b)
{
    return a->node == b->node && a->predicate == b->predicate && a->key == b->key &&
           a->as_of == b->as_of;
}

/* The newest suspect of the namespace that has most, if that is more than `own` with one more. */
static struct suspect *suspect_of_most(struct parity *m, int own)
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

/* NULL: there are enough. One that is waiting for its second look is put out only for a namespace
 * that has fewer of them. */
static struct suspect *suspect_of(struct gang_core *core, const struct suspect *like)
{
    struct suspect *place = NULL;
    int alike = 0, own = 0;
    for (size_t i = 0; i < SUSPECTS_MAX; i++) {
        struct suspect *s = &core->parity.suspects[i];
        if (s->used && same_suspect(s, like))
            return s;
        if (!s->used || core->now - s->seen >= SUSPECT_LIMIT) {
            place = s;
            continue;
        }
        alike += s->key == like->key;
        own += s->owner == like->owner;
    }
    if (alike >= SUSPECTS_OF_SHAPE)
        return NULL;
    if (!place)
        place = suspect_of_most(&core->parity, own);
    if (place)
        *place = *like;
    return place;
}

/* ---- what a difference closes ---- */

/* The differences that a namespace's pods have made. */
struct difference {
    char *text; /* the first */
    usec_t at;
    uint32_t seen; /* a bit for each predicate */
};

/* Whether the pod could be judged wrongly by that rule. */
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
        /* Without the lane nobody has said that kube-scheduler has no rules but those known here:
         * other extenders and plugins make differences, and whoever the pod is of can do nothing
         * about it. */
        if (core->config.express)
            warn_pod(core, pod, "ModelMismatch", text);
    }
    if (d && !(d->seen & 1u << why)) {
        d->seen |= 1u << why;
        m->seen_in[why]++;
    }
    bool of_all = why == PREDICATE_NONE || why == PREDICATE_RESOURCES || why == PREDICATE_TAINTS ||
                  why == PREDICATE_UNSCHEDULABLE;
    if (!m->closed_at && (!d || (of_all && m->seen_in[why] >= CLOSING_NAMESPACES)))
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

static void confirm(struct gang_core *core, const struct pod *pod, const struct node *node,
                    enum gang_predicate why, bool offered)
{
    core->stats.mismatches[why]++;
    cleanup_free char *text =
        offered ? xasprintf("kube-scheduler offers node %s to pod %s/%s, which muster takes to be "
                            "refused by %s",
                            node->name, pod->facts->ns, pod->facts->name, gang_predicate_name(why))
                : xasprintf("kube-scheduler does not offer node %s to pod %s/%s, for a reason that "
                            "muster has no rule for",
                            node->name, pod->facts->ns, pod->facts->name);
    difference_note(core, pod, why, text);
}

static void differ(struct node_scan *l, const struct node *node, enum gang_predicate why,
                   bool offered)
{
    struct gang_core *core = l->core;
    const struct suspect like = {
        .used = true,
        .node = node->id,
        .predicate = why,
        .key = l->key,
        .owner = l->owner,
        .as_of = touched_at(l, node),
        .since = core->now,
    };
    struct suspect *s = suspect_of(core, &like);
    if (!s)
        return;
    s->look = core->parity.looks;
    s->seen = core->now;
    if (s->counted || core->now - s->since < LOOK_AGAIN)
        return;
    s->counted = true;
    confirm(core, l->pod, node, why, offered);
}

/* What this list did not show again was a matter of time. */
static void acquit(struct node_scan *l)
{
    struct parity *m = &l->core->parity;
    for (size_t i = 0; i < SUSPECTS_MAX; i++)
        if (m->suspects[i].key == l->key && m->suspects[i].look != m->looks)
            m->suspects[i].used = false;
}

/* ---- the check ---- */

/* Nodes looked at so far are paid for by time. Who has looked last leaves half of it to others. */
static bool may_look(struct gang_core *core, uint64_t owner, int64_t cost)
{
    struct parity *m = &core->parity;
    int64_t earned = (core->now - m->credit_at) * LOOKS_PER_MSEC / USEC_PER_MSEC;
    if (earned > 0) {
        m->credit = earned > LOOKS_MAX - m->credit ? LOOKS_MAX : m->credit + earned;
        m->credit_at = core->now;
    }
    if (m->credit <= (owner == m->looker ? LOOKS_MAX / 2 : 0))
        return false;
    m->looker = owner;
    m->credit -= cost;
    return true;
}

/* Both pictures are of now. */
static bool may_compare(const struct gang_core *core)
{
    if (watch_lag_doubt(core))
        return false;
    usec_t its = ITS_TIMES * (core->follows_since - core->behind_since);
    usec_t wait = LOOK_AGAIN + (its < ITS_LONGEST ? its : ITS_LONGEST);
    return !core->follows_since || core->now - core->follows_since >= wait;
}

/* The pod as kube-scheduler has it is the pod as the watch has it. */
static bool same_pod(struct gang_core *core, const struct pod *pod, const struct gang_event *ev)
{
    if (!ev->pod) /* the watch has shown this very version, or it is learnt from this call */
        return true;
    struct signature *signature = signature_of(core, ev->pod);
    bool same = signature == pod->signature && !ev->pod->inexact;
    signature_unref(core, signature);
    return same;
}

static void compare(struct node_scan *l, const struct gang_event *ev)
{
    struct gang_core *core = l->core;
    bool same = false, asked = false;
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        enum gang_predicate why;
        if (!node || !node->facts || !is_settled(l, node))
            continue;
        bool offered = node->offered == core->offers;
        enum answer answer = judge(l, node, &why);
        if (answer == OPEN || (answer == YES) == offered)
            continue;
        if (!asked)
            same = same_pod(core, l->pod, ev);
        asked = true;
        if (same)
            differ(l, node, why, offered);
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
    if (!may_look(core, owner, cost))
        return;
    bool covered = predicates_cover(core, pod, &wide_anti_affinity);
    core->parity.credit -= wide_anti_affinity / SHUNS_PER_LOOK;
    if (!covered)
        return;
    core->stats.model_looks++;
    core->parity.looks++;
    look_up_names(core, ev);
    struct node_scan l = {.core = core,
                          .pod = pod,
                          .key = hash_text(owner, pod->signature->key),
                          .owner = owner,
                          .open = any_filter_result(core)};
    if (pod->facts->n_spreads)
        sum_spreads(&l);
    compare(&l, ev);
    acquit(&l);
    free(l.sums);
}

const char *gang_core_parity_difference(const struct gang_core *core)
{
    return core->parity.first;
}
