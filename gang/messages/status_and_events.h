/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_and_events.h - what people see of a gang: the PodGroup's status and events, on change
 * only.
 */
#ifndef MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H
#define MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H

#include "gang/cluster/lookup.h"

/* A warning that is about the pod. */
void warn_pod(struct gang_core *core, const struct pod *pod, const char *reason,
              const char *message);
/* After gang_count(). */
struct gang_status group_status(const struct group *group);
void emit_status(struct gang_core *core, struct gang *gang);
/* An event on each of its PodGroups. */
void emit_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message);
void emit_scheduled(struct gang_core *core, const struct gang *gang);
void emit_evicted(struct gang_core *core, const struct gang *gang, int n);
/* Why it waits, as an event of the pod and in its condition. */
void emit_pod_reason(struct gang_core *core, struct pod *pod, const char *text);
/* The pod has this reason from us; REASON_NONE: it is to hear the next. */
void pod_reason_emitted(struct pod *pod, enum gang_reason_code code);
/* Tells all members that have not heard the gang's reason yet. */
void emit_member_reasons(struct gang_core *core, struct gang *gang);
/* There is nothing to tell them: the gang has places. */
bool gang_has_plan(const struct gang *gang);

#endif
