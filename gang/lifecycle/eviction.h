/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction.h - evicts members of gangs through the Eviction API, or has their workload suspended.
 *
 * Three cases: reconcile() undoes a failed commit, and evicts the rest of a broken gang;
 * gang_preemption.c evicts victims. This file chooses the members and requests their evictions.
 * cluster/pod_eviction.h follows each pod until it is gone.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EVICTION_H
#define MUSTER_GANG_LIFECYCLE_EVICTION_H

#include "gang/cluster/core.h"

/* Undoes a failed commit (onFailedCommit: evict). Evicts the members that the gang's last commit
 * has bound, if they have a controller, which creates them again. */
void evict_failed_commit(struct gang_core *core, struct gang *gang);
/* Evicts all members that run, or has the gang's workload suspended if it asks for this. New
 * members wait until they can be placed together. Arguments: see eviction_request(). Returns the
 * number of these members. */
size_t evict_gang(struct gang_core *core, struct gang *gang, bool for_room, const char *why);
/* Counts evicted pods, and that they were a whole gang. */
void evicted_count(struct gang_core *core, enum gang_preemption_reason why, bool whole_gang,
                   size_t n_pods);

/*
 * kube-scheduler's own preemption breaks a gang if it takes members below the gang's minimum. The
 * verb preempt allows this only for a pod that is critical for the system, but kube-scheduler may
 * also preempt while muster is down. A gang is also broken if muster is restarted while it evicts
 * the members. In both cases, the members that still run cannot work, so muster evicts them.
 */
/* A member that kube-scheduler has preempted is Terminating or gone. */
void member_preempted(struct gang_core *core, struct gang *gang, const struct pod *pod);
/* An earlier run of muster has marked a member, which still runs. */
void member_was_marked(struct gang_core *core, struct gang *gang);
/* Evicts the other members if the gang is below its minimum. Evicts none if the gang is not
 * preemptible, if one of them may not be evicted, if their Job would fail, or if members have
 * succeeded, which do not run again. Uses the last gang_count(). True: it has evicted some. */
bool evict_broken(struct gang_core *core, struct gang *gang);

#endif
