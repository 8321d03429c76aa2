/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_evictions.c - checks about gangs that have lost members to an eviction.
 */
#include "test/prop/family.h"
#include "test/prop/model.h"
#include "test/prop/oracle.h"
#include "test/prop/queue_rules.h"

struct remains {
    bool disrupted; /* kube-scheduler, or a core that was killed, has begun to evict it */
    bool known;     /* the core knows its members and minimums */
    bool whole;     /* its minimums are met */
};

static bool has_old_mark(const struct pod_truth *t)
{
    return t->inherited_mark && t->marked == t->serial;
}

static struct remains remains_of(const struct model *m, uint32_t family)
{
    struct remains r = {.known = oracle_all_shown(m, family) && family_valid(m, family)};
    bool has[PODS];
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        bool its = pod_group(t) >= 0 && family >> pod_group(t) & 1;
        has[i] = its && member_counts(t) && oracle_committed(m, i);
        r.disrupted |= its && ((t->disrupted && t->disrupted == t->serial) || has_old_mark(t));
    }
    r.whole = family_whole(m, family, has);
    return r;
}

bool oracle_broken(const struct model *m, int p)
{
    int g = pod_group(&m->pods[p]);
    struct remains r = remains_of(m, g >= 0 ? family_of(m, g) : 0);
    return r.disrupted && (!r.known || !r.whole);
}

/* Whether muster may evict the rest of the gang. It does not if members have succeeded. */
static bool may_end(struct model *m, uint32_t family)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        bool its = t->exists && pod_group(t) >= 0 && family >> pod_group(t) & 1;
        if (its && (t->phase == PHASE_SUCCEEDED || t->stands_in || op_has(&t->spec, A_BARE)))
            return false;
    }
    return op_has(&m->config, A_EVICTS) && family_firm(m, family) == false;
}

void oracle_half_evicted(struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        const struct pod_truth *t = &m->pods[p];
        bool runs = t->exists && t->node >= 0 && !t->deleting && !pod_finished(t);
        if (!runs || pod_group(t) < 0 || !has_old_mark(t) || pod_evicted(t))
            continue;
        uint32_t family = family_of(m, pod_group(t));
        struct remains r = remains_of(m, family);
        if (r.known && !r.whole && may_end(m, family) && marks_shown(m, p))
            model_fail(m, "evict", "p%d was marked, its gang is broken, and p%d runs on", p, p);
    }
}

/* In a calm phase, nothing changes from outside. A gang evicts again only if a gang or pod with a
 * higher priority took the room, or if an eviction failed. */
#define PREEMPTIONS_MAX 6

void oracle_made_room(struct model *m, const char *group)
{
    int g = atoi(group + 1);
    if (++m->preemptions[g] > PREEMPTIONS_MAX)
        model_fail(m, "evict", "gang g%d evicts pods again and again", g);
}

/* ---- kube-scheduler's preemption ---- */

/* Whether the core knows the family, except for victims that kube-scheduler has just preempted. */
static bool is_known(const struct model *m, uint32_t family)
{
    return oracle_shown_except_taken(m, family) && family_valid(m, family);
}

/* Whether the family has its minimums without the victims and without pods that muster evicts.
 * *ret_left: some of its pods run on; *ret_hit: some are victims. */
static bool whole_without(const struct model *m, uint32_t family, const bool victims[PODS],
                          bool *ret_left, bool *ret_hit)
{
    bool has[PODS];
    *ret_left = *ret_hit = false;
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        bool its = t->exists && pod_group(t) >= 0 && family >> pod_group(t) & 1;
        bool runs = its && member_counts(t) && oracle_committed(m, i) && !pod_evicted(t);
        has[i] = runs && !(victims && victims[i]);
        *ret_left |= has[i] && !pod_finished(t);
        *ret_hit |= runs && !has[i];
    }
    return family_whole(m, family, has);
}

void oracle_kube_evicts(struct model *m, int p, const bool victims[PODS])
{
    uint32_t seen = 0;
    bool left, hit;
    for (int g = 0; g < GROUPS; g++) {
        uint32_t family = seen >> g & 1 ? 0 : family_of(m, g);
        seen |= family;
        if (!family || !is_known(m, family) || !whole_without(m, family, NULL, &left, &hit))
            continue;
        if (!whole_without(m, family, victims, &left, &hit) && hit && left)
            model_fail(m, "preempt", "muster lets p%d preempt members that gang g%d needs", p, g);
    }
}

void oracle_evicted_alone(struct model *m, int p)
{
    bool left, hit, victims[PODS] = {false};
    int g = pod_group(&m->pods[p]);
    uint32_t family = g >= 0 ? family_of(m, g) : 0;
    victims[p] = true;
    if (family && is_known(m, family) && !whole_without(m, family, victims, &left, &hit) && left)
        model_fail(m, "evict", "eviction of p%d, which is not marked, breaks its gang", p);
}
