/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/signature_changes.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"

/* How long a namespace rests, in microseconds for each member. A new signature takes about 1 µs, so
 * new signatures of one namespace use at most 0.5 % of the core's time. */
#define REST_PER_MEMBER 200

/* ---- claims ---- */

/* Owns the facts from now on. */
static void claim_set(struct gang_core *core, struct claim *claim, struct gang_claim_facts *facts)
{
    claim_set_facts(claim, facts);
    list_for_each (use, &claim->uses, struct claim_use, in_claim) {
        pod_signature_update(core, use->pod);
        if (claims_bound(use->pod))
            claims_unpin(use->pod);
    }
    claim_sweep(core, claim);
}

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts)
{
    claim_set(core, claim_get(core, facts->ns, facts->name), facts);
}

void on_claim_gone(struct gang_core *core, const struct gang_ref *ref)
{
    claim_set(core, claim_get(core, ref->ns, ref->name), NULL);
}

/* ---- labels ---- */

/* The slots of expected members follow: if no pod has a slot's signature any more, the slot gets
 * the new signature of an existing member. */
static void update_expected_slots(struct gang_core *core, struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        if (slot->pod || signature_pod(slot->signature))
            continue;
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (pod->unit == slot->unit && !pod->signature->limited &&
                signature_needs_equal(pod->signature, slot->signature)) {
                slot_signature_update(core, slot, pod->signature);
                break;
            }
    }
}

static void labels_settle(struct gang_core *core, struct namespace_rule_labels *labels)
{
    list_remove(&labels->in_stale);
    labels->rests_until = core->now + (usec_t)labels->n_members * REST_PER_MEMBER;
    core->rule_labels_settled++;
    list_for_each (pod, &labels->members, struct pod, in_namespace)
        pod_signature_update(core, pod);
    list_for_each (pod, &labels->members, struct pod, in_namespace) {
        if (pod->gang->rule_labels_settled == core->rule_labels_settled)
            continue;
        pod->gang->rule_labels_settled = core->rule_labels_settled;
        update_expected_slots(core, pod->gang);
    }
}

void rule_labels_settle(struct gang_core *core)
{
    usec_t next = USEC_NEVER;
    if (!core->synced || list_empty(&core->rule_labels.stale) ||
        (core->due.labels.node.pos && core->due.labels.node.at > core->now))
        return;
    list_for_each_safe (labels, &core->rule_labels.stale, struct namespace_rule_labels, in_stale)
        if (labels->rests_until <= core->now)
            labels_settle(core, labels);
        else if (labels->rests_until < next)
            next = labels->rests_until;
    timer_stop(core, &core->due.labels);
    if (next != USEC_NEVER)
        timer_set(core, &core->due.labels, next);
}
