/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_batch.h - gangs that are complete wait a moment for those that follow, and commit with
 * them.
 *
 * Each Binding is an event that makes kube-scheduler try every member that filter has refused,
 * ahead of pods that were created later. Behind a deep backlog the first gang of a burst would so
 * be the last for as long as these tries take, some 2 ms each. Therefore, where config.together or
 * more wait so, the Bindings of a gang that is complete, or goes the express lane, wait
 *   - while members keep coming to bind: LINGER after the last one;
 *   - no longer than EACH for each that waits, half of what their tries would take, and
 *     never longer than WAIT_MOST or a part of config.hold;
 *   - not where less than a quarter of the gang's hold would be left for the Bindings, or its
 *     attempt would end, and not when half of the holds that may be are taken.
 * Then all that are complete commit in one step.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_BATCH_H

#include "gang/cluster/lookup.h"

/* A gang that could commit: it is to do so later, with others. After gang_count(). */
bool commit_waits(struct gang_core *core, const struct gang *gang);
/* After a call has been held. */
void commit_for_room(struct gang_core *core);
void batch_timer_fired(struct gang_core *core);

#endif
