/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/shortage.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/volume_claims.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/placement.h"
#include "gang/plan/subgroup_choice.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"

/* Counts n equal nodes if topology spread or anti-affinity rules them out for the culprit. */
static void shortage_between(struct rules *rules, const struct node *node, int n,
                             struct shortage *s)
{
    enum rule rule = rules_refusal(rules, node);
    s->spread += rule == RULE_SPREAD ? n : 0;
    s->anti_affinity += rule == RULE_ANTI_AFFINITY ? n : 0;
    const struct gang_pod_facts *who = s->culprit->facts;
    const struct gang_pod_facts *conflict =
        rule == RULE_ANTI_AFFINITY ? anti_affinity_conflict(node, who) : NULL;
    s->strangers |=
        conflict && (!conflict->group.name || !str_eq(conflict->group.name, who->group.name) ||
                     strcmp(conflict->ns, who->ns) != 0);
}

/* Counts what the scanned node lacks for the culprit, once for each node that it represents. */
static void shortage_at(const struct placement_try *p, struct rules *rules,
                        const struct node_scan *scan, int *lacking, struct shortage *s)
{
    struct signature *signature = rules->signature;
    const struct node *node = scan->node;
    int n = (int)scan->n;
    const char *refusal = signature_refusal(signature, node);
    s->volumes += refusal == signature_volume_refusal ? n : 0;
    if (refusal)
        return;
    bool able = true;
    for (size_t k = 0; k < signature->n_needs; k++) {
        uint32_t r = signature->needs[k].resource;
        lacking[k] += signature->needs[k].amount > node_room(node, r, &p->queue.reach) ? n : 0;
        able &= signature->needs[k].amount <= amount_of(&node->allocatable, r);
    }
    s->n_nodes += n;
    s->n_able += able ? n : 0;
    int misfit = node_misfit(node, signature, &p->queue.reach);
    struct reach all = p->queue.reach;
    all.respects_preempted = false;
    bool kept = misfit != -1 && node_misfit(node, signature, &all) == -1;
    if (kept)
        s->preemptor = keeper_first(s->preemptor, preempted_room_owner(node, &p->queue.reach));
    s->ports += misfit == -2 && !kept ? n : 0;
    s->refused |= misfit == -1 && node_is_infeasible(rules->core, p->gang, signature, node);
    if (misfit == -1)
        shortage_between(rules, node, n, s);
    if (misfit >= 0) {
        all.respects_preempted = p->queue.reach.respects_preempted, all.respects_nominated = false;
        s->nominated_room |= node_misfit(node, signature, &all) == -1;
        all.respects_nominated = true, all.respects_earmark = false;
        s->earmarked |= node_misfit(node, signature, &all) == -1;
    }
}

/* Whether the pod is a member of a chosen unit and has no slot. */
static bool is_without_slot(const struct pod *pod)
{
    return !pod->slot && all_chosen(pod->unit);
}

static int count_alike(const struct placement_try *p, const struct shortage *s)
{
    int n = 0, alike = 0;
    for (size_t i = 0; i < p->n; i++)
        if (is_without_slot(p->pods[i])) {
            n++;
            alike += p->pods[i]->signature == s->culprit->signature;
        }
    alike += n < s->lacks ? s->lacks - n : 0;
    return alike < 1 ? 1 : alike < s->lacks ? alike : s->lacks;
}

/* How much of s->resource the members without a slot need. A member that does not exist yet counts
 * as much as the culprit. */
static int64_t still_needed(const struct placement_try *p, const struct shortage *s)
{
    int n = 0;
    int64_t sum = 0, rest;
    for (size_t i = 0; i < p->n && n < s->lacks; i++) {
        const struct pod *pod = p->pods[i];
        if (!is_without_slot(pod))
            continue;
        n++;
        if (__builtin_add_overflow(sum, signature_need(pod->signature, (uint32_t)s->resource),
                                   &sum))
            return INT64_MAX;
    }
    bool beyond = __builtin_mul_overflow(s->amount, s->lacks - n, &rest) ||
                  __builtin_add_overflow(sum, rest, &sum);
    return beyond ? INT64_MAX : sum;
}

void shortage_find(struct gang_core *core, const struct placement_try *p, struct shortage *s)
{
    struct signature *signature = p->culprit->signature;
    int lacks = unit_lacks(p->gang->root, STAGE_PLANNED);
    int room = gang_needed(p->gang) - lacks;
    if (room <= s->room)
        return; /* *s is of a try that placed at least as many members */
    if (p->queue_short.queue) {
        *s = (struct shortage){.room = room,
                               .lacks = lacks,
                               .resource = -1,
                               .culprit = p->culprit,
                               .queue = p->queue_all.queue ? p->queue_all : p->queue_short};
        return;
    }
    *s = (struct shortage){.room = room, .lacks = lacks, .resource = -1, .culprit = p->culprit};
    s->alike = count_alike(p, s);
    cleanup_free int *lacking = xcalloc(signature->n_needs, sizeof *lacking); /* nodes, by need */
    const struct node *tied = pinned_node(core, p->culprit);
    s->tied = tied != NULL;
    struct rules rules = rules_for(core, signature);
    struct node_scan scan = node_scan_begin(core, p->gang, signature, NULL);
    scan.singly |= tied != NULL;
    while (node_scan_next(&scan))
        if (!tied || tied == scan.node)
            shortage_at(p, &rules, &scan, lacking, s);
    int most = s->ports;
    if (s->ports)
        s->resource = -2;
    for (size_t k = 0; k < signature->n_needs; k++) {
        const struct need *need = &signature->needs[k];
        bool device = (int)need->resource == signature->device;
        if (lacking[k] < most || most + lacking[k] == 0 || (lacking[k] == most && !device))
            continue; /* of resources that equally many nodes lack, report the device */
        most = lacking[k];
        s->resource = (int)need->resource;
        s->amount = need->amount;
    }
    if (s->resource >= 0)
        s->missing = still_needed(p, s);
    if (s->anti_affinity + s->spread < most)
        s->anti_affinity = s->spread = 0; /* more nodes lack room, so report that */
}

enum gang_reason_code shortage_code(const struct shortage *s)
{
    if (s->queue.queue)
        return s->queue.code;
    if (s->unknown)
        return REASON_PLAN_TOO_LARGE;
    if (s->tied)
        return REASON_VOLUME_NODE;
    if (s->n_nodes == 0)
        return s->volumes ? REASON_VOLUME_NODE : REASON_NO_MATCHING_NODE;
    if (s->earmarked)
        return REASON_EARMARKED;
    if (s->preemptor)
        return REASON_PREEMPTED_ROOM;
    if (s->anti_affinity || s->spread)
        return s->anti_affinity >= s->spread ? REASON_KEPT_APART : REASON_SPREAD;
    return s->refused ? REASON_REFUSED_BY_SCHEDULER : REASON_NOT_ENOUGH_RESOURCES;
}
