/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/shortage.h"

#include "gang/cluster/inter_pod.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/pod_signature.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/volume_claims.h"
#include "gang/plan/candidates.h"
#include "gang/plan/placement.h"
#include "gang/plan/unit_choice.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"

/* Adds what the pods on so many nodes like this one, and on all, have against the culprit there. */
static void shortage_between(struct rules *rules, const struct node *node, int n,
                             struct shortage *s)
{
    enum rule rule = rules_refusal(rules, node);
    s->spread += rule == RULE_SPREAD ? n : 0;
    s->apart += rule == RULE_APART ? n : 0;
    const struct gang_pod_facts *who = s->culprit->facts;
    const struct gang_pod_facts *foe = rule == RULE_APART ? node_foe(node, who) : NULL;
    s->strangers |= foe && (!foe->group.name || !str_eq(foe->group.name, who->group.name) ||
                            strcmp(foe->ns, who->ns) != 0);
}

/* Adds what one node says about the culprit, for as many nodes as it stands for. */
static void shortage_at(const struct placing *p, struct rules *rules, const struct look *look,
                        int *lacking, struct shortage *s)
{
    struct shape *shape = rules->shape;
    const struct node *node = look->node;
    int n = (int)look->n;
    const char *no = shape_refusal(shape, node);
    s->volumes += no == shape_volume_refusal ? n : 0;
    if (no)
        return;
    bool able = true;
    for (size_t k = 0; k < shape->n_needs; k++) {
        uint32_t r = shape->needs[k].resource;
        lacking[k] += shape->needs[k].amount > node_room(node, r, &p->queue.reach) ? n : 0;
        able &= shape->needs[k].amount <= amount_of(&node->allocatable, r);
    }
    s->n_nodes += n;
    s->n_able += able ? n : 0;
    int misfit = node_misfit(node, shape, &p->queue.reach);
    s->ports += misfit == -2 ? n : 0;
    s->refused |= misfit == -1 && evidence_refuses(rules->core, p->gang, shape, node);
    if (misfit == -1)
        shortage_between(rules, node, n, s);
    if (misfit >= 0) {
        struct reach all = p->queue.reach;
        all.yields = false;
        s->promised |= node_misfit(node, shape, &all) == -1;
        all.yields = true, all.heeds = false;
        s->kept |= node_misfit(node, shape, &all) == -1;
    }
}

/* What the members without a place need of it, all together; those that do not exist yet as the
 * culprit does. */
static int64_t still_needed(const struct placing *p, const struct shortage *s)
{
    int n = 0;
    int64_t sum = 0, rest;
    for (size_t i = 0; i < p->n && n < s->lacks; i++) {
        const struct pod *pod = p->pods[i];
        if (pod->slot || !all_chosen(pod->unit))
            continue;
        n++;
        if (__builtin_add_overflow(sum, shape_need(pod->shape, (uint32_t)s->resource), &sum))
            return INT64_MAX;
    }
    bool beyond = __builtin_mul_overflow(s->amount, s->lacks - n, &rest) ||
                  __builtin_add_overflow(sum, rest, &sum);
    return beyond ? INT64_MAX : sum;
}

void find_shortage(struct gang_core *core, const struct placing *p, struct shortage *s)
{
    struct shape *shape = p->culprit->shape;
    int lacks = unit_lacks(p->gang->root, STAGE_PLANNED);
    int room = gang_needed(p->gang) - lacks;
    if (room <= s->room)
        return; /* another try came nearer */
    *s = (struct shortage){.room = room, .lacks = lacks, .resource = -1, .culprit = p->culprit};
    cleanup_free int *lacking = xcalloc(shape->n_needs, sizeof *lacking); /* nodes, by need */
    const struct node *tied = pinned_node(core, p->culprit);
    s->tied = tied != NULL;
    struct rules rules = rules_for(core, shape);
    struct look look = look_begin(core, p->gang, shape, NULL);
    look.singly |= tied != NULL;
    while (look_next(&look))
        if (!tied || tied == look.node)
            shortage_at(p, &rules, &look, lacking, s);
    int most = s->ports;
    if (s->ports)
        s->resource = -2;
    for (size_t k = 0; k < shape->n_needs; k++) {
        const struct need *need = &shape->needs[k];
        bool device = (int)need->resource == shape->device;
        if (lacking[k] < most || most + lacking[k] == 0 || (lacking[k] == most && !device))
            continue; /* between equals the device is named: it is the scarce thing */
        most = lacking[k];
        s->resource = (int)need->resource;
        s->amount = need->amount;
    }
    if (s->resource >= 0)
        s->missing = still_needed(p, s);
    if (s->apart + s->spread < most)
        s->apart = s->spread = 0; /* on more nodes there is no room at all */
}

enum gang_reason_code shortage_code(const struct shortage *s)
{
    if (s->tied)
        return REASON_VOLUME_NODE;
    if (s->n_nodes == 0)
        return s->volumes ? REASON_VOLUME_NODE : REASON_NO_MATCHING_NODE;
    if (s->kept)
        return REASON_BEHIND;
    if (s->apart || s->spread)
        return s->apart >= s->spread ? REASON_KEPT_APART : REASON_SPREAD;
    return s->refused ? REASON_REFUSED_BY_SCHEDULER : REASON_NOT_ENOUGH_RESOURCES;
}
