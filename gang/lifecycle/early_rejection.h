/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_rejection.h - members that kube-scheduler refuses without asking muster.
 *
 * kube-scheduler refuses a pod whose claim is missing, or whose podAffinity matches nothing, before
 * it calls an extender. The plan of such a member's gang would hold its reservations until the
 * attempt ends. A planned member is rejected early when one of these is true:
 *
 *   - kube-scheduler has recorded two refusals of the pod (a changed message in condition
 *     PodScheduled, or muster's nomination cleared) without calling filter either time. The first
 *     refusal may be older than the plan, so muster nominates the member again; the second refusal
 *     follows that nomination.
 *   - kube-scheduler has not called filter for UNASKED_HOLDS holds (one hold after a first refusal)
 *     though the member's turn has passed: filter was called for a pod behind it in the queue, or
 *     the queue is idle. This covers unchanged refusals, which are not recorded, and PreEnqueue
 *     plugins. A kube-scheduler that is down makes no calls, so all plans stay.
 *
 * A member that is rejected early is not plannable, like one with a scheduling gate: its gang is
 * planned without it, or waits. This ends when kube-scheduler calls filter for the member, or after
 * a pause, which doubles each time.
 *
 * kube-scheduler's queue is ordered by priority, then by the time a pod was created or last
 * refused. Muster gets both for all pods from the same watch and calls, so pod->queue.joined is
 * comparable.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H
#define MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H

#include "gang/cluster/lookup.h"

/* kube-scheduler calls filter for the pod, which is not bound. */
void early_rejection_asked(struct gang_core *core, struct pod *pod);
/* The watch shows a member; `old` are its facts before. */
void early_rejection_seen(struct gang_core *core, struct pod *pod,
                          const struct gang_pod_facts *old);
/* The member is plannable again. */
void early_rejection_end(struct gang_core *core, struct pod *pod);
/* The gang's attempt failed: its next plan prefers other members to those kube-scheduler did not
 * try. */
void early_rejection_missed(struct gang *gang);
/* The gang has slots: early_rejection_check() runs once per config.hold from now on. */
void early_rejection_watch(struct gang_core *core, struct gang *gang);
void early_rejection_check(struct gang_core *core, struct gang *gang);

#endif
