/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_eviction.h - pods that muster is evicting.
 *
 * A pod stays charged to its node until the watch shows that it is gone or finished. But it no
 * longer counts as a member of its gang (pod_counts()).
 */
#ifndef MUSTER_GANG_CLUSTER_POD_EVICTION_H
#define MUSTER_GANG_CLUSTER_POD_EVICTION_H

#include "gang/cluster/lookup.h"

/* The longest grace period of pods that are evicted for others, and for whose end muster waits. */
#define GRACE_LIMIT (3600 * USEC_PER_SEC)
/* A Terminating pod that has not ended this long after its grace period may never end. */
#define END_LIMIT (30 * USEC_PER_SEC)

/* Updates core->ending. Call it when the pod's facts or its eviction change. */
void ending_update(struct gang_core *core, struct pod *pod);
/* Requests the eviction. for_room: to make room for another gang. why: for users, such as "to make
 * room for gang ml/b". */
void eviction_request(struct gang_core *core, struct pod *pod, bool for_room, const char *why);
/* Marks a member that is evicted with its gang; pod->gang is not NULL. The evictions are requested
 * when the watch shows all marks, or after a few seconds without them. If muster restarts before
 * all evictions are carried out, the marks show which gangs it was evicting. Arguments: see
 * eviction_request(). */
void eviction_with_gang(struct gang_core *core, struct pod *pod, bool for_room, const char *why);
/* Requests the evictions of marked members if the watch has shown all marks. Call it when the gang
 * has changed. */
void evict_marked(struct gang_core *core, struct gang *gang);
/* The watch shows that the pod's mark has ended: kube-controller-manager ends it after two minutes.
 * Repeats the mark if the API server still refuses the eviction. */
void eviction_mark_ends(struct gang_core *core, const struct pod *pod);
/* Members of `from` have joined `gang`, which goes on with their evictions. */
void evicting_inherit(struct gang *gang, const struct gang *from);
/* Its workload is being suspended, so the pod counts as evicted. If it is not Terminating in time,
 * it is evicted. */
void eviction_by_suspension(struct gang_core *core, struct pod *pod, bool for_room);
/* The workload runs on, so the pod is evicted with its gang. */
void eviction_not_suspended(struct gang_core *core, struct pod *pod);
/* The pod does not use its room any more. */
void eviction_leaves(struct gang_core *core, struct pod *pod);
/* The pod was uncharged, and is charged to the same node again. was: before. */
void eviction_stays(struct gang_core *core, struct pod *pod, const struct pod_eviction *was);
/* The pod was not evicted in time. It counts as before, or is evicted if it was to be suspended. */
void eviction_timed_out(struct gang_core *core, struct pod *pod);
/* The pod has finished before it was evicted. If it has succeeded, it counts as a member again.
 * Call it after uncharge(). */
void eviction_ended(struct gang_core *core, struct pod *pod);
/* Whether muster has tried in vain to evict the pod a short while ago. */
bool eviction_was_in_vain(const struct gang_core *core, const struct pod *pod);
/* Whether the pod uses a node and will leave it soon: it is Terminating, or is being evicted. */
bool pod_is_leaving(const struct gang_core *core, const struct pod *pod);

#endif
