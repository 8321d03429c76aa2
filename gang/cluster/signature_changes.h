/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_changes.h - gives pods new signatures after their claims or the rule labels of their
 * namespace changed.
 *
 * A change of a claim takes effect at once for all pods that use it. The namespace then owes a
 * rest, which grows with the number of these pods. While it owes too much, further changes of its
 * claims wait.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H

#include "gang/cluster/lookup.h"

struct claims_rest;

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts);
void on_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* Applies changes of claims that wait, until the namespace owes too much again. May free the rest.
 */
void claims_settle(struct gang_core *core, struct claims_rest *rest);
void claim_rests_done(struct gang_core *core);
/* Gives members new signatures if the rule labels of their namespace changed. Call it before
 * planning. */
void rule_labels_settle(struct gang_core *core);

#endif
