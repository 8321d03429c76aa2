/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - answers to what kube-scheduler asks its extender.
 *
 * filter, prioritize and preempt are answered in the step; bind when the core decides. Called by
 * step.c alone.
 */
#ifndef MUSTER_GANG_VERB_VERBS_H
#define MUSTER_GANG_VERB_VERBS_H

#include "gang/cluster/lookup.h"

/* What a filter call tells; the step then brings its gang up to date. NULL: the call is answered.
 */
struct pod *filter_learn(struct gang_core *core, struct gang_event *ev);
void answer_filter(struct gang_core *core, struct pod *pod, const struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);
void answer_bind(struct gang_core *core, const struct gang_event *ev);
/* A call that is dead before it is heard. */
void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why);

#endif
