/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_results.h - handles the results of Bindings.
 *
 * A Binding that was sent charges the node until it is finally refused. If its result is unclear,
 * muster reads the pod and sends the same Binding again if the pod is still unbound: a Binding
 * carries the UID and can succeed only once. It is not sent again if other pods have taken the
 * room, if the pod is being deleted (the API server would answer 409 every time), or after
 * RESEND_LIMIT. It then counts as refused if the pod is still unbound after BINDING_OVER.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H
#define MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H

#include "gang/cluster/lookup.h"

void binding_done(struct gang_core *core, const struct gang_event *ev);
/* A pod whose Binding had no clear result was read. */
void pod_read(struct gang_core *core, const struct gang_event *ev);
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);

#endif
