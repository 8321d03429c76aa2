/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a gang pauses after a failure, and who comes first then.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BACKOFF_H
#define MUSTER_GANG_LIFECYCLE_BACKOFF_H

#include "gang/cluster/lookup.h"

/* From now on it goes behind its equals. */
void gang_failed(const struct gang_core *core, struct gang *gang);
/* How long the gang waits after one more failure: longer each time, with jitter. */
usec_t gang_pause(const struct gang_core *core, struct gang *gang);
/* It is placed: what failed before does not count any more. */
void backoff_end(struct gang *gang);

#endif
