/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_batch.h - complete gangs wait a moment for other gangs and commit together with them.
 *
 * Each Binding is an event that makes kube-scheduler retry every pod that filter has refused, ahead
 * of pods that were created later. Behind a deep backlog, the first commit of a burst would delay
 * all other gangs of it by these retries, about 2 ms each. Therefore, if commit_batch_threshold or
 * more pods are refused, the Bindings of a gang that is complete, or may use the express lane,
 * wait:
 *   - until LINGER after the last member came to bind;
 *   - at most WAIT_PER_POD for each refused pod (half of what the retries take), WAIT_MAX, and a
 *     quarter of config.hold;
 *   - not if the wait would leave less than a quarter of the gang's hold for the Bindings or run
 *     into the end of its attempt, and not if half of config.max_holds are in use.
 * Then all complete gangs commit in one step.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H

#include "gang/cluster/lookup.h"

/* The gang could commit, but waits to do so with others. Call it after gang_count(). */
bool commit_waits(struct gang_core *core, const struct gang *gang);
/* Ends the wait if half of the holds are in use. Call it after holding a call. */
void commit_for_room(struct gang_core *core);
void batch_timer_fired(struct gang_core *core);

#endif
