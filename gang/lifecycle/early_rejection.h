/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_rejection.h - members that kube-scheduler refuses without asking muster.
 *
 * kube-scheduler refuses a pod whose claim is missing, or whose podAffinity matches nothing, before
 * it asks an extender. The plan of such a member's gang would reserve its room until the attempt
 * ends. A planned member is overlooked when one of these is true:
 *
 *   - kube-scheduler has written twice that it refuses the pod (it changed the words in condition
 *     PodScheduled, or cleared muster's nomination), and did not ask muster either time. The first
 *     refusal may be older than the plan, so the member is nominated once more; the second one
 *     comes of that nomination.
 *   - kube-scheduler did not ask for UNASKED_HOLDS holds (one hold after a first refusal, as
 * above), though the member's turn has passed: it asked about a pod that stands behind the member
 * in its queue, or its queue is idle. An unchanged refusal is not written, and PreEnqueue plugins
 *     write nothing. A kube-scheduler that is down asks about nobody, so all plans stay.
 *
 * An overlooked member cannot be reached, as one with a scheduling gate: its gang is planned
 * without it, or waits. That ends when kube-scheduler asks about the member, or after a pause,
 * which doubles with each time.
 *
 * kube-scheduler's queue is ordered by priority, then by when a pod was created or last refused.
 * Muster knows both from the same watch and calls for all pods, so pod->queue.joined compares.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H
#define MUSTER_GANG_LIFECYCLE_EARLY_REJECTION_H

#include "gang/cluster/lookup.h"

/* Filter is asked about the pod, which is not bound. */
void early_rejection_asked(struct gang_core *core, struct pod *pod);
/* The watch shows a member: `old` is what it showed before. */
void early_rejection_seen(struct gang_core *core, struct pod *pod,
                          const struct gang_pod_facts *old);
/* The member may be planned for again. */
void early_rejection_end(struct gang_core *core, struct pod *pod);
/* The gang's attempt ends in vain: its next plan prefers others to members that did not come. */
void early_rejection_missed(struct gang *gang);
/* The gang has places: early_rejection_check() is called each hold. */
void early_rejection_watch(struct gang_core *core, struct gang *gang);
void early_rejection_check(struct gang_core *core, struct gang *gang);

#endif
