/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a gang pauses after a failure, and its position in the order afterwards.
 *
 * Owns the number of pauses and the time of the last failure. An attempt fails if it times out, if
 * every Binding of its commit is refused, or if kube-scheduler rejects a planned member early.
 * reconcile.c and early_rejection.c call it then, and again when the gang is placed.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BACKOFF_H
#define MUSTER_GANG_LIFECYCLE_BACKOFF_H

#include "gang/cluster/lookup.h"

/* Notes a failure, which moves the gang behind gangs of the same priority that have not failed, or
 * that failed earlier. With strict order, the gang keeps its position. */
void gang_failed(const struct gang_core *core, struct gang *gang);
/* The pause after one more failure: longer each time, with jitter. */
usec_t gang_pause(const struct gang_core *core, struct gang *gang);
/* Forgets earlier failures, because the gang is placed. */
void backoff_end(struct gang *gang);

#endif
