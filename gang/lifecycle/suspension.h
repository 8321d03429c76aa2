/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspension.h - suspends the workload of a gang instead of evicting its pods, and resumes it.
 *
 * Some controllers do not survive that their pods are evicted. So a PodGroup can ask muster to
 * suspend its workload (gang_suspends()). The controller of the workload then deletes the pods, and
 * creates new ones only when the workload is resumed.
 *
 * Meanwhile, the caller shows pods that stand for the new ones (facts->suspended). They have
 * muster's gate, so the gang keeps its place in the order and gets a plan like other gated gangs.
 * Instead of removing the gates, muster then resumes the workload. Each new pod replaces one of
 * these pods and takes its slot. All state is in the facts, so it survives a restart.
 */
#ifndef MUSTER_GANG_LIFECYCLE_SUSPENSION_H
#define MUSTER_GANG_LIFECYCLE_SUSPENSION_H

#include "gang/cluster/lookup.h"

/* Requests the suspension. why: for users, such as "to make room for gang ml/b". */
void suspend_request(struct gang_core *core, const struct gang *gang, const char *why);
/* The workload of the PodGroup runs on, so its pods are evicted after all. */
void suspend_refused(struct gang_core *core, const struct gang_ref *ref);
/* Requests that the workload of this pod is resumed, once for all its pods in a step. */
void resume_request(struct gang_core *core, const struct pod *pod);
/* Call it when facts of a member have been taken. If it is new, it replaces a suspended pod. A
 * suspended pod is replaced by a new member that came first. */
void suspended_replace(struct gang_core *core, struct pod *pod);
/* The pod leaves. A suspended pod that it has replaced counts again. */
void suspended_replace_undo(struct gang_core *core, struct pod *pod);

#endif
