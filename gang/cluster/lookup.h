/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - finds objects of the core (core.h) and tests simple conditions on them.
 */
#ifndef MUSTER_GANG_CLUSTER_LOOKUP_H
#define MUSTER_GANG_CLUSTER_LOOKUP_H

#include "gang/cluster/core.h"

/* A list with at least this many nodes may be a sample. kube-scheduler never stops below 100
 * feasible nodes (minFeasibleNodesToFind), so a shorter list is complete. */
#define SAMPLE_SIZE 100
/* How many UIDs of deleted pods are stored. A late filter call does not add such a pod again. */
#define GONE_MAX ((size_t)16384)
/* A pod that only filter calls have shown is dropped if the watch does not show it in this time. */
#define UNSEEN_LIMIT (60 * USEC_PER_SEC)
/* How many such pods are stored at most, and how many bytes each may need. They are bounded because
 * any caller of the verbs can invent pods. */
#define UNSEEN_MAX  ((size_t)2048)
#define UNSEEN_SIZE ((size_t)16 << 10)
/* The bound of all filter results: 32 MiB, or 53,000 pods with 5,000 nodes each. */
#define FILTER_RESULT_WORDS_MAX ((size_t)4 << 20)
/* How long muster waits for filter calls before it writes a new reason on members itself. */
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
/* Whether the pod counts as a member: it is neither Terminating nor Failed, and not being evicted
 * by muster. */
bool pod_counts(const struct pod *pod);
/* Whether the pod uses room and is not ending. */
bool pod_runs(const struct pod *pod);
/* Whether the pod's schedulerName is one that muster serves. */
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Whether a plan may give the pod a slot: it counts, is unbound, has no gate of another controller,
 * and was not rejected early. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
/* Whether muster's own gate keeps the pod back: it counts and is unbound. */
bool gate_is_closed(const struct pod *pod);
/* The same, and muster has not requested to remove the gate. */
bool gate_stays_closed(const struct pod *pod);
/* Why a pod is not yet linked to a PodGroup: its link is invalid, or its PodGroup is being created.
 * REASON_NONE: it is a member or an ordinary pod. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* How much of the resource one pod of the signature needs. */
int64_t signature_need(const struct signature *signature, uint32_t resource);
/* Whether it depends on other pods where a pod of the signature may run. */
static inline bool signature_has_pod_rules(const struct signature *signature)
{
    return signature->ports || signature->anti_affinity || signature->spread;
}
/* The pods of the signature that count, or its other pods if none does. */
const struct list *signature_pods(const struct signature *signature);
/* A pod of the signature, one that counts if there is any: topology spread does not count
 * Terminating pods. NULL: no pod is left. */
const struct pod *signature_pod(const struct signature *signature);
/* The facts of this pod. */
const struct gang_pod_facts *signature_sample(const struct signature *signature);
/* Whether muster suspends the gang's workload instead of evicting its pods. */
bool gang_suspends(const struct gang *gang);
/* Whether the gang's members are scheduled one by one, without a plan. */
static inline bool passes_singly(const struct gang *gang)
{
    return gang->state == GANG_SCHEDULED || gang->state == GANG_DONE;
}

#endif
