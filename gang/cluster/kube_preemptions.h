/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_preemptions.h - preemptions that muster has allowed and that the watch does not show yet.
 *
 * kube-scheduler evicts the victims and nominates the preemptor some milliseconds after its preempt
 * call. It may make the next call before the watch shows this. So until the watch shows them, the
 * preemptors count as nominated, and the victims as evicted.
 *
 * preempt.c adds preemptions. An entry that is over does not count any more. It is removed when the
 * next preemption is added.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H
#define MUSTER_GANG_CLUSTER_KUBE_PREEMPTIONS_H

#include "gang/cluster/lookup.h"

/* kube-scheduler is about to preempt for the pod with this UID. victims: on the only node that
 * muster allows; NULL: muster allows others, too, and does not know which victims kube-scheduler
 * chooses. */
void kube_preemption_add(struct gang_core *core, const char *uid,
                         const struct gang_victims *victims);
/* For an entry of core->kube_preemptions.preemptors: the pod, which will be nominated; NULL: it is
 * nominated, bound or gone, or kube-scheduler has given up. */
const struct pod *kube_preemptor(const struct gang_core *core, const struct map_entry *entry);
/* For an entry of core->kube_preemptions.victims: the pod, which will be evicted; NULL: it is being
 * evicted, finished or gone, or kube-scheduler has given up. */
struct pod *kube_victim(const struct gang_core *core, const struct map_entry *entry);
/* Whether the pod is such a victim; whether any pod may be. */
bool kube_preempts(const struct gang_core *core, const struct pod *pod);
bool kube_preempts_some(const struct gang_core *core);
void kube_preemptions_done(struct gang_core *core);

#endif
