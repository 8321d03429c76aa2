/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_changes.h - gives pods new signatures after their claims or the rule labels of their
 * namespace changed.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H

#include "gang/cluster/lookup.h"

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts);
void on_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* Gives members new signatures if the rule labels of their namespace changed. Call it before
 * planning. */
void rule_labels_settle(struct gang_core *core);

#endif
