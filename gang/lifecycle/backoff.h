/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a gang pauses after a failed attempt, and its place in the order afterwards.
 */
#ifndef MUSTER_GANG_LIFECYCLE_BACKOFF_H
#define MUSTER_GANG_LIFECYCLE_BACKOFF_H

#include "gang/cluster/lookup.h"

/* The gang moves behind gangs of equal priority that have not failed, or failed earlier. With
 * strict order it keeps its place. */
void gang_failed(const struct gang_core *core, struct gang *gang);
/* The pause after one more failure: longer each time, with jitter. */
usec_t gang_pause(const struct gang_core *core, struct gang *gang);
/* The gang is placed: earlier failures no longer count. */
void backoff_end(struct gang *gang);

#endif
