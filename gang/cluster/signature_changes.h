/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_changes.h - pods whose shape follows from more than their own facts: from their claims,
 * and from the labels that rules of their namespace ask for.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H
#define MUSTER_GANG_CLUSTER_SIGNATURE_CHANGES_H

#include "gang/cluster/objects.h"

void take_claim(struct gang_core *core, struct gang_claim_facts *facts);
void take_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* Members get the shapes that the labels of their namespace ask for; before plans are made. */
void labels_settle(struct gang_core *core);

#endif
