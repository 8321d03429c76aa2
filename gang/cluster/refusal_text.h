/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal_text.h - the sentences with which muster refuses calls, by reason code.
 *
 * They are allocated with the step's effects. docs/pending.md quotes all of them.
 */
#ifndef MUSTER_GANG_CLUSTER_REFUSAL_TEXT_H
#define MUSTER_GANG_CLUSTER_REFUSAL_TEXT_H

#include "gang/cluster/lookup.h"

/* Why the pod's own rule excludes the node; `text` is from signature_refusal(). PREDICATE_NONE: the
 * rule about volumes. */
const char *reason_rule(struct gang_core *core, const struct gang_pod_facts *pod, const char *node,
                        enum gang_predicate rule, const char *text);
/* The sentence for the code. gang, pod and node may be NULL if the sentence does not name them. For
 * a code that has no sentence of its own, it is the reason why the gang waits. */
const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node);
/* Why the gang has the earmark, as in "kept for gang ml/big, which has waited longer". */
const char *earmark_cause(const struct gang_core *core, const struct gang *gang);

#endif
