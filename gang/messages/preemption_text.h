/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preemption_text.h - the texts and events about gangs and pods that are evicted for a gang.
 *
 * gang_preemption.c and eviction.c emit the events in the step in which they decide, before they
 * evict. plan_pass.c sets the reason. A text names at most a few victims, because there can be
 * many.
 */
#ifndef MUSTER_GANG_MESSAGES_PREEMPTION_TEXT_H
#define MUSTER_GANG_MESSAGES_PREEMPTION_TEXT_H

#include "gang/plan/preemption.h"

/* Why the gang waits while evicted pods leave its room; the caller frees it. */
char *reason_evicting(const struct gang *gang);
/* Sends events for the victims, and one for the gang. Call it before the pods are evicted. */
void emit_preemption(struct gang_core *core, const struct gang *gang,
                     const struct preemption *preemption);
/* Sends events for a gang and its members that are evicted, or whose workload is suspended. why: as
 * for eviction_request(). */
void emit_broken(struct gang_core *core, const struct gang *gang, const char *why);

#endif
