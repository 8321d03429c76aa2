/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_changes.h - new signatures for pods after their claims, or the labels that rules of
 * their namespace read, have changed.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H

#include "gang/cluster/lookup.h"

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts);
void on_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* Before planning: gives members the signatures that their namespace's rule labels require. */
void rule_labels_settle(struct gang_core *core);

#endif
