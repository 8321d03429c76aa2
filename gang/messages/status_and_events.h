/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_and_events.h - writes PodGroup status, pod conditions and events, on change only.
 */
#ifndef MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H
#define MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H

#include "gang/cluster/lookup.h"

/* A warning event on the pod. */
void warn_pod(struct gang_core *core, const struct pod *pod, const char *reason,
              const char *message);
/* The group's status; after gang_count(). */
struct gang_status group_status(const struct group *group);
/* Writes the status of the gang's PodGroups where it changed, or sets a timer for it. */
void emit_status(struct gang_core *core, struct gang *gang);
/* An event on each of the gang's PodGroups. */
void emit_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message);
void emit_scheduled(struct gang_core *core, const struct gang *gang);
void emit_evicted(struct gang_core *core, const struct gang *gang, int n);
/* Writes why the pod waits, as an event and in its condition. */
void emit_pod_reason(struct gang_core *core, struct pod *pod, const char *text);
/* Notes the reason that muster gave the pod; REASON_NONE: the next one is written. */
void pod_reason_emitted(struct pod *pod, enum gang_reason_code code);
/* Writes the gang's reason on all members that do not have it yet. */
void emit_member_reasons(struct gang_core *core, struct gang *gang);
/* The gang has a plan, so its members get no reason. */
bool gang_has_plan(const struct gang *gang);

#endif
