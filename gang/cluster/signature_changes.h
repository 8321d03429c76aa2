/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_changes.h - pods whose signature follows from more than their own facts: from their
 * claims, and from the labels that rules of their namespace ask for.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H

#include "gang/cluster/lookup.h"

void on_claim_set(struct gang_core *core, struct gang_claim_facts *facts);
void on_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* Members get the signatures that the labels of their namespace ask for; before plans are made. */
void rule_labels_settle(struct gang_core *core);

#endif
