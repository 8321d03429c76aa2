/* SPDX-License-Identifier: Apache-2.0 */
/* Effects and their strings live until the next step, independent of the objects they describe. */
#ifndef MUSTER_GANG_CLUSTER_EFFECTS_H
#define MUSTER_GANG_CLUSTER_EFFECTS_H

#include "gang/cluster/lookup.h"

/* A step begins: frees the effects of the last one. */
void effects_begin(struct gang_core *core);
void effects_done(struct effects *fx);
void *fx_alloc(struct gang_core *core, size_t size);
const char *fx_str(struct gang_core *core, const char *s);
struct gang_effect *fx_add(struct gang_core *core, enum gang_effect_kind kind);
/* Adds a write to a pod; node NULL: none. */
struct gang_effect *fx_pod(struct gang_core *core, enum gang_effect_kind kind,
                           const struct pod *pod, const struct node *node);

#endif
