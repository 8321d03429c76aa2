/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempt_choice.h - the one node on which kube-scheduler may preempt.
 *
 * kube-scheduler chooses among the nodes that muster allows, and muster learns of the choice only
 * when the watch shows the evictions. If a victim counts in a gang or in a queue, this is too late
 * for the next preempt call. So muster chooses the node itself, as kube-scheduler would. See
 * docs/decisions/152-answer-preempt-calls-with-one-node.md.
 */
#ifndef MUSTER_GANG_VERB_PREEMPT_CHOICE_H
#define MUSTER_GANG_VERB_PREEMPT_CHOICE_H

#include "gang/cluster/lookup.h"

/* Whether one of the victims on these candidates is a member of a gang, or is in a queue. */
bool victims_in_gangs_or_queues(const struct gang_core *core, const struct gang_event *ev,
                                const uint32_t *kept, size_t n);
/* Which of these candidates (n > 0) kube-scheduler would choose
 * (pkg/scheduler/framework/preemption, pickOneNodeForPreemption). */
uint32_t choose_candidate(const struct gang_core *core, const struct gang_event *ev,
                          const uint32_t *kept, size_t n);

#endif
