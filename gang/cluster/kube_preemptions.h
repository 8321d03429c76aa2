/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_preemptions.h - preemptions that muster has allowed and that the watch does not show yet.
 *
 * kube-scheduler evicts the victims and nominates the preemptor some milliseconds after its preempt
 * call. It may make the next call before the watch shows this. So until then, the preemptor counts
 * as nominated, and its victims count as evicted.
 *
 * muster forgets both after 5 seconds, because kube-scheduler may give up and does not tell. muster
 * remembers victims for longer while their preemptor is nominated: then kube-scheduler has not
 * given up. It forgets nothing while the watch of pods is behind. preempt.c adds preemptions.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H
#define MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H

#include "gang/cluster/lookup.h"

/* kube-scheduler is about to preempt for the pod with this UID. The cluster cache may lack the pod.
 * victims: NULL: muster does not know which ones kube-scheduler chooses. */
void kube_preemption_add(struct gang_core *core, const char *uid,
                         const struct gang_victims *victims);
/* For an entry of core->kube_preemptions.by_preemptor: the pod that kube-scheduler will nominate;
 * NULL: none any more. */
const struct pod *kube_preemptor(const struct gang_core *core, const struct map_entry *entry);
/* For an entry of core->kube_preemptions.by_victim: the pod that kube-scheduler will evict; NULL:
 * none any more. */
struct pod *kube_victim(const struct gang_core *core, const struct map_entry *entry);
/* Whether kube-scheduler will evict the pod. This is a lookup if kube_will_evict_some(). */
bool kube_will_evict(const struct gang_core *core, const struct pod *pod);
/* Whether kube-scheduler may be about to evict some pods. */
bool kube_will_evict_some(const struct gang_core *core);
void kube_preemptions_done(struct gang_core *core);

#endif
