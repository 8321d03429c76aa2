/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/signature_changes.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"

/* How long a namespace rests, in microseconds for each member, and for each KEY_BYTES of its rules.
 * A new signature takes 1 to 3 µs, so new signatures of one namespace use about 1 % of the core's
 * time. */
#define REST_PER_MEMBER 200
#define KEY_BYTES       1024
/* A namespace may owe this much rest before changes of its claims wait. So a claim that 20,000 pods
 * share can be prepared and bound without a delay: each of the two changes costs 8 s of rest. */
#define OWED_MAX (20 * USEC_PER_SEC)

static usec_t rest_for(const struct pod *pod)
{
    return (usec_t)(1 + pod->signature->base / KEY_BYTES) * REST_PER_MEMBER;
}

/* ---- claims ---- */

/* The rest that a namespace owes for changes of its claims. In core->claim_rests from the first
 * change until some time after the rest. */
struct claims_rest {
    char *ns;
    usec_t until;
    struct list waiting; /* claims with a change that has not taken effect */
    struct timer timer;
};

static struct claims_rest *rest_get(struct gang_core *core, const char *ns)
{
    struct claims_rest *rest = map_get(&core->claim_rests, ns);
    if (!rest) {
        rest = xcalloc(1, sizeof *rest);
        rest->ns = xstrdup(ns);
        list_init(&rest->waiting);
        rest->timer.kind = TIMER_CLAIMS;
        rest->timer.owner = rest;
        map_set(&core->claim_rests, ns, rest);
    }
    return rest;
}

static void rest_free(struct gang_core *core, struct claims_rest *rest)
{
    timer_stop(core, &rest->timer);
    free(rest->ns);
    free(rest);
}

/* Returns the rest that this costs. With one claim, a new signature and its plan take about 3 µs,
 * and the rest is 400 µs. Each further claim of the pod takes about 1 µs. */
static usec_t claim_take_next(struct gang_core *core, struct claim *claim)
{
    usec_t rest = REST_PER_MEMBER;
    claim_set_facts(claim, STEAL(claim->next));
    list_for_each (use, &claim->uses, struct claim_use, in_claim) {
        pod_signature_update(core, use->pod);
        if (claims_bound(use->pod))
            claims_unpin(use->pod);
        rest += rest_for(use->pod) + (usec_t)use->pod->n_uses * REST_PER_MEMBER;
    }
    claim_sweep(core, claim);
    return rest;
}

/* While a change waits, the core knows only the facts before it, as if the watch were late. So
 * signatures always agree with the facts. */
void claims_settle(struct gang_core *core, struct claims_rest *rest)
{
    while (!list_empty(&rest->waiting) && rest->until <= core->now + OWED_MAX) {
        struct list *first = list_pop(&rest->waiting);
        usec_t more = claim_take_next(core, CONTAINER_OF(first, struct claim, in_waiting));
        if (core->synced) /* each object is listed only once */
            rest->until = (rest->until > core->now ? rest->until : core->now) + more;
    }
    if (!list_empty(&rest->waiting)) {
        timer_set(core, &rest->timer, rest->until - OWED_MAX);
    } else if (rest->until > core->now) {
        timer_set(core, &rest->timer, rest->until + OWED_MAX); /* seldom, as each fires a step */
    } else {
        map_remove(&core->claim_rests, rest->ns);
        rest_free(core, rest);
    }
}

/* Takes ownership of the facts. */
static void claim_set(struct gang_core *core, const char *ns, const char *name,
                      struct gang_claim_facts *facts)
{
    struct claim *claim = claim_get(core, ns, name);
    struct claims_rest *rest = rest_get(core, ns);
    gang_claim_facts_free(claim->next);
    claim->next = facts;
    if (list_empty(&claim->in_waiting))
        list_push(&rest->waiting, &claim->in_waiting);
    claims_settle(core, rest);
}

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts)
{
    claim_set(core, facts->ns, facts->name, facts);
}

void on_claim_gone(struct gang_core *core, const struct gang_ref *ref)
{
    claim_set(core, ref->ns, ref->name, NULL);
}

void claim_rests_done(struct gang_core *core)
{
    map_for_each (e, &core->claim_rests)
        rest_free(core, e->value);
    map_done(&core->claim_rests);
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
    labels->rests_until = core->now;
    core->rule_labels_settled++;
    list_for_each (pod, &labels->members, struct pod, in_namespace) {
        pod_signature_update(core, pod);
        labels->rests_until += rest_for(pod);
    }
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
