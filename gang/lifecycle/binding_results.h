/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_results.h - what comes of a Binding that was sent.
 *
 * A Binding once sent is a charge until it is refused for good. An unclear result is settled by
 * reading the pod, and sending the same Binding again if the pod is still unbound: a Binding
 * carries the UID and can succeed only once. It is not sent again where others took the room
 * meanwhile, to a pod that is being deleted (the API server answers 409 for ever), or later than
 * RESEND_LIMIT: then it is over when the pod still reads as unbound after BINDING_OVER.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H
#define MUSTER_GANG_LIFECYCLE_BINDING_RESULTS_H

#include "gang/cluster/lookup.h"

void binding_done(struct gang_core *core, const struct gang_event *ev);
/* A pod of which the Binding had no clear result was read. */
void pod_read(struct gang_core *core, const struct gang_event *ev);
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);

#endif
