/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - finds objects of the core (core.h) and answers simple questions about them.
 *
 * For gang/ only. One thread.
 */
#ifndef MUSTER_GANG_CLUSTER_LOOKUP_H
#define MUSTER_GANG_CLUSTER_LOOKUP_H

#include "gang/cluster/core.h"

/* A list with at least this many nodes may be a sample: kube-scheduler stops at 100 feasible nodes
 * (minFeasibleNodesToFind), so a shorter list means that it checked every node. */
#define SAMPLE_SIZE 100
/* Number of deleted UIDs remembered, so that a late filter call does not bring a pod back. */
#define GONE_MAX ((size_t)16384)
/* A pod known from filter that the watch does not show within this time is dropped. */
#define UNSEEN_LIMIT (60 * USEC_PER_SEC)
/* Most such pods at once, and most bytes for each: any caller of the verbs can name more. */
#define UNSEEN_MAX  ((size_t)2048)
#define UNSEEN_SIZE ((size_t)16 << 10)
/* Bound on all filter results: 32 MiB, or 53,000 pods with 5,000 nodes each. */
#define FILTER_RESULT_WORDS_MAX ((size_t)4 << 20)
/* How long a new reason waits for filter calls before an event reports it to members. */
#define NOTICE_DELAY (2 * USEC_PER_SEC)

/* ---- lookup; NULL: not found ---- */
struct node *node_by_name(const struct gang_core *core, const char *name);
struct pod *pod_by_uid(const struct gang_core *core, const char *uid);
struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name);
bool pod_was_deleted(const struct gang_core *core, const char *uid);
/* The key of core->names; allocated. */
char *full_name(const char *ns, const char *name);

/* ---- predicates on objects ---- */
bool pod_is_finished(const struct pod *pod);
/* Whether the member counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Whether the pod is unbound, counts, and kube-scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
/* Whether the pod has muster's gate and is an unbound pod that counts. */
bool gate_is_closed(const struct pod *pod);
/* Why a pod that should be a member is not one: its link is invalid, or its PodGroup is being
 * created. REASON_NONE: it is a member, or an ordinary pod. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* What one pod of the signature needs of the resource. */
int64_t signature_need(const struct signature *signature, uint32_t resource);
/* The facts of any pod of the signature; NULL: no pod is left. */
const struct gang_pod_facts *signature_sample(const struct signature *signature);
/* Whether `reach` includes the slot's room: its member is not at bind, and its gang may be
 * displaced. */
bool slot_yields(const struct slot *slot, const struct reach *reach);
/* Whether the gang's members schedule one by one, without a plan. */
static inline bool passes_singly(const struct gang *gang)
{
    return gang->state == GANG_SCHEDULED || gang->state == GANG_DONE;
}

#endif
