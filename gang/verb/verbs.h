/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - answers the calls that kube-scheduler makes to its extender.
 *
 * filter, prioritize and preempt are answered in the step that takes the call. A bind call may be
 * held. Only step.c calls these functions.
 */
#ifndef MUSTER_GANG_VERB_VERBS_H
#define MUSTER_GANG_VERB_VERBS_H

#include "gang/cluster/lookup.h"

/* Takes the facts of a filter call and returns its pod. step.c then reconciles the pod's gang and
 * calls answer_filter(). NULL: the call is already answered. */
struct pod *filter_learn(struct gang_core *core, struct gang_event *ev);
void answer_filter(struct gang_core *core, struct pod *pod, const struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);
void answer_bind(struct gang_core *core, const struct gang_event *ev);
/* Refuses a bind call without looking at it. */
void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why);

#endif
