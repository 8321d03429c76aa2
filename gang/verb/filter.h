/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - answers to filter, prioritize and preempt.
 *
 * By the time a call is answered, planning is done: filter looks up what was decided. The one
 * thing it still learns is what kube-scheduler offers, see member_on_offer().
 */
#ifndef MUSTER_GANG_VERB_FILTER_H
#define MUSTER_GANG_VERB_FILTER_H

#include "gang/cluster/objects.h"

void answer_filter(struct gang_core *core, struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);

#endif
