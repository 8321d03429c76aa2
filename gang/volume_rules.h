/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_rules.h - kube-scheduler's rule between volumes and nodes, as a pure function.
 *
 * The function reads facts only and keeps no state, so any thread may call it.
 */
#ifndef MUSTER_GANG_VOLUME_RULES_H
#define MUSTER_GANG_VOLUME_RULES_H

#include "gang/facts.h"

/* Whether a pod on the node can use the claim, according to the facts. Source in k8s.io/kubernetes
 * v1.36: volumebinding FindPodVolumes, checkBoundClaims. */
bool gang_claim_allows(const struct gang_claim_facts *claim, const struct gang_node_facts *node);

#endif
