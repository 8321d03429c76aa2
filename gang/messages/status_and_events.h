/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_and_events.h - emits writes of PodGroup status, pod conditions and events, if something
 * has changed.
 *
 * The step calls emit_status() for each gang that it has touched, when everything is decided. Other
 * files emit events and reasons when they decide something. A digest of the last status of each
 * PodGroup, and the last reason of each pod, keep it from writing the same twice.
 */
#ifndef MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H
#define MUSTER_GANG_MESSAGES_STATUS_AND_EVENTS_H

#include "gang/cluster/lookup.h"

/* Emits a warning event on the pod. */
void warn_pod(struct gang_core *core, const struct pod *pod, enum gang_kube_event what,
              const char *message);
/* The PodGroup's status. Call gang_count() before. */
struct gang_status group_status(const struct group *group);
/* Emits the status of each of the gang's PodGroups that changed. If a write is not due yet, sets
 * TIMER_STATUS. */
void emit_status(struct gang_core *core, struct gang *gang);
/* Emits an event on each of the gang's PodGroups. */
void emit_event(struct gang_core *core, const struct gang *gang, enum gang_kube_event what,
                const char *message);
void emit_scheduled(struct gang_core *core, const struct gang *gang);
/* n: how many members muster evicts. */
void emit_evicted(struct gang_core *core, const struct gang *gang, int n);
/* Emits why the pod waits, as an event and in the pod's condition. */
void emit_pod_reason(struct gang_core *core, struct pod *pod, const char *text);
/* Notes the reason that the pod has. REASON_NONE: the next reason is emitted in any case. */
void pod_reason_emitted(struct pod *pod, enum gang_reason_code code);
/* The members need the gang's reason again, although its code is the same. */
void member_reasons_forget(struct gang *gang);
/* Emits the gang's reason on all members that do not have it yet. */
void emit_member_reasons(struct gang_core *core, struct gang *gang);
/* Whether the gang has a plan. If so, its members get no reason. */
bool gang_has_plan(const struct gang *gang);

#endif
