/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effects.h - creates effects (gang/effect.h).
 *
 * Effects own copies of their strings and live until the next step. So they stay valid if the
 * objects that they describe are freed.
 */
#ifndef MUSTER_GANG_CLUSTER_EFFECTS_H
#define MUSTER_GANG_CLUSTER_EFFECTS_H

#include "gang/cluster/lookup.h"

/* Frees the effects of the last step. */
void effects_begin(struct gang_core *core);
void effects_done(struct effects *fx);
/* Memory that lives as long as the step's effects; a copy of the string in it. */
void *fx_alloc(struct gang_core *core, size_t size);
const char *fx_str(struct gang_core *core, const char *s);
const struct gang_ref *fx_ref(struct gang_core *core, const struct gang_ref *ref);
struct gang_effect *fx_add(struct gang_core *core, enum gang_effect_kind kind);
/* Adds an effect on a pod; node NULL: it names no node. */
struct gang_effect *fx_pod(struct gang_core *core, enum gang_effect_kind kind,
                           const struct pod *pod, const struct node *node);

#endif
