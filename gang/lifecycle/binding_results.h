/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_results.h - handles the results of Bindings.
 *
 * When a Binding is sent, its pod is charged to the node, until the Binding is refused for good. If
 * the result is unclear, muster reads the pod. If the pod is still unbound, muster sends the same
 * Binding again. This is safe, because a Binding carries the pod's UID and can succeed only once.
 * muster does not send the Binding again if
 *   - other pods have taken the room;
 *   - the pod is being deleted: the API server would answer 409 every time;
 *   - RESEND_LIMIT has passed.
 * The Binding then counts as refused if the pod is still unbound BINDING_OVER after it was sent.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H
#define MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H

#include "gang/cluster/lookup.h"

/* Handles BIND_DONE. */
void binding_done(struct gang_core *core, const struct gang_event *ev);
/* Handles POD_READ. */
void pod_read(struct gang_core *core, const struct gang_event *ev);
/* Handles TIMER_CALL, TIMER_RETRY and TIMER_UNSEEN. */
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);

#endif
