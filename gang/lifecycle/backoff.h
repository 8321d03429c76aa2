/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a gang pauses after a failure, and its position in the order afterwards.
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
