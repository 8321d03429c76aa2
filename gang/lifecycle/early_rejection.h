/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_rejection.h - members that kube-scheduler refuses without calling filter.
 *
 * For example, kube-scheduler refuses a pod whose claim is missing, or whose podAffinity matches no
 * pod, before it calls an extender. A plan with such a member would keep its reservations until the
 * attempt ends. muster counts a planned member as rejected early if one of these is true:
 *
 *   - kube-scheduler has refused the pod twice without calling filter. muster sees a refusal by a
 *     changed message in the condition PodScheduled, or because muster's nomination was cleared.
 *     The first refusal may be older than the plan. So muster nominates the member again after it,
 *     and only a second refusal counts.
 *   - kube-scheduler has not called filter for UNASKED_HOLDS holds (for one hold after a first
 *     refusal), although kube-scheduler has passed over the member: filter was called for a pod
 *     behind it in the queue, or the queue is idle. This covers refusals that change no message,
 *     and PreEnqueue plugins. If kube-scheduler is down, it calls nothing, so all plans stay.
 *
 * A member that was rejected early is not plannable, like a member with the gate of another
 * controller. muster plans its gang without it, or the gang waits. The member is plannable again
 * when kube-scheduler calls filter for it, or after a pause, which doubles each time.
 *
 * kube-scheduler orders its queue by priority, then by the time when a pod was created or last
 * refused. muster learns these times of all pods from the same watch and calls, so values of
 * pod->queue.joined can be compared.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H
#define MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H

#include "gang/cluster/lookup.h"

/* kube-scheduler calls filter for the pod, which is unbound. */
void early_rejection_asked(struct gang_core *core, struct pod *pod);
/* The watch shows new facts of the pod; `old` are the facts before. */
void early_rejection_seen(struct gang_core *core, struct pod *pod,
                          const struct gang_pod_facts *old);
/* Makes a member that was rejected early plannable again. */
void early_rejection_end(struct gang_core *core, struct pod *pod);
/* The gang's attempt failed. Marks the members that kube-scheduler has not tried (pod->missed), so
 * that the next plan prefers other members. */
void early_rejection_missed(struct gang *gang);
/* The gang has slots. early_rejection_check() runs once in each config.hold from now on. */
void early_rejection_watch(struct gang_core *core, struct gang *gang);
void early_rejection_check(struct gang_core *core, struct gang *gang);

#endif
