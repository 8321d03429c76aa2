/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_preemptions.h - preemptions that muster has allowed and that the watch does not show yet.
 *
 * kube-scheduler evicts the victims and nominates the preemptor some milliseconds after its preempt
 * call. It may make the next call before the watch shows this. So until then, the preemptor counts
 * as nominated, and its victims count as evicted.
 *
 * A preemption is forgotten after 5 seconds, because kube-scheduler may give up without telling.
 * But while the preemptor is nominated, kube-scheduler has not given up.
 *
 * preempt.c adds preemptions. Only pods in the cluster cache are remembered, so that a caller
 * cannot fill the memory.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H
#define MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H

#include "gang/cluster/lookup.h"

/* kube-scheduler is about to preempt for the pod. victims: on the only node that muster allows;
 * NULL: muster allows others, too, and does not know which victims kube-scheduler chooses. */
void kube_preemption_add(struct gang_core *core, const struct pod *pod,
                         const struct gang_victims *victims);
/* kube-scheduler preempts for the pod once more, so it has given up the preemption before. */
void kube_preemption_end(struct gang_core *core, const struct pod *pod);
/* For an entry of core->kube_preemptions.by_preemptor: the pod that kube-scheduler will nominate;
 * NULL: none any more. */
const struct pod *kube_preemptor(const struct gang_core *core, const struct map_entry *entry);
/* For an entry of core->kube_preemptions.by_victim: the pod that kube-scheduler will evict; NULL:
 * none any more. */
struct pod *kube_victim(const struct gang_core *core, const struct map_entry *entry);
/* Whether kube-scheduler will evict the pod. */
bool kube_will_evict(const struct gang_core *core, const struct pod *pod);
void kube_preemptions_done(struct gang_core *core);

#endif
