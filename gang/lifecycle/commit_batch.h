/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_batch.h - lets complete gangs wait a moment, to commit together with other gangs.
 *
 * Each Binding makes kube-scheduler retry every pod that filter has refused, ahead of pods that
 * were created later. A retry takes about 2 ms. If many pods are refused, and several gangs come to
 * bind at the same time, the retries after the first commit would delay all other gangs. So a
 * complete gang waits if at least commit_batch_threshold pods are refused. The same holds for a
 * gang that may use the express lane. It waits
 *   - until no member has come to bind for LINGER;
 *   - at most WAIT_PER_POD for each refused pod (half of what the retries take), WAIT_MAX, and a
 *     quarter of config.hold;
 *   - not if less than a quarter of its hold would be left for the Bindings, if its attempt would
 *     time out, or if half of config.max_holds are in use.
 * Then all complete gangs commit in one step.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H

#include "gang/cluster/lookup.h"

/* Whether the gang, which could commit, waits for other gangs. */
bool commit_waits(struct gang_core *core, const struct gang *gang);
/* Ends the wait of all gangs if half of config.max_holds are in use. Call it after a call is held.
 */
void commit_for_room(struct gang_core *core);
void batch_timer_fired(struct gang_core *core);

#endif
