/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal_text.h - sentences for refused calls, by reason code.
 */
#ifndef MUSTER_GANG_CLUSTER_REFUSAL_TEXT_H
#define MUSTER_GANG_CLUSTER_REFUSAL_TEXT_H

#include "gang/cluster/lookup.h"

/* Why the pod's own rules exclude the node. */
const char *reason_rule(struct gang_core *core, const struct gang_pod_facts *pod, const char *node,
                        enum gang_predicate rule, const char *words);
/* A sentence for one call, allocated in the effects. */
const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node);

#endif
