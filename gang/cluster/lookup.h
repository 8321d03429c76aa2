/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - what the core consists of (core.h), how it is found, and what it says of itself.
 *
 * For gang/ only. One thread.
 */
#ifndef MUSTER_GANG_CLUSTER_LOOKUP_H
#define MUSTER_GANG_CLUSTER_LOOKUP_H

#include "gang/cluster/core.h"

/* From so many names up a list of nodes is a sample: kube-scheduler stops looking at 100 feasible
 * nodes (minFeasibleNodesToFind), so fewer names mean that it looked at every node. */
#define SAMPLE_SIZE 100
/* Deleted UIDs remembered, so that a late filter call does not bring a pod back. */
#define GONE_MAX ((size_t)16384)
/* A pod learnt from filter that the watch has not shown for so long never existed for us. */
#define UNSEEN_LIMIT (60 * USEC_PER_SEC)
/* Such pods at once, and bytes of what each says: whoever reaches the verbs can name more. */
#define UNSEEN_MAX  ((size_t)2048)
#define UNSEEN_SIZE ((size_t)16 << 10)
/* What is remembered of filter's answers: 32 MiB, or 53,000 pods on their way on 5,000 nodes. */
#define FILTER_RESULT_WORDS_MAX ((size_t)4 << 20)
/* How long a new reason waits for the scheduler to ask, before members are told by event. */
#define NOTICE_DELAY (2 * USEC_PER_SEC)

/* ---- finding them; NULL: there is none ---- */
struct node *node_by_name(const struct gang_core *core, const char *name);
struct pod *pod_by_uid(const struct gang_core *core, const char *uid);
struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name);
bool pod_was_deleted(const struct gang_core *core, const char *uid);
/* The key of core->names; allocated. */
char *full_name(const char *ns, const char *name);

/* ---- what they say of themselves ---- */
bool pod_is_finished(const struct pod *pod);
/* A member that counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Unbound, wanted, and the scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
/* It has muster's gate, which could be lifted. */
bool gate_is_closed(const struct pod *pod);
/* Why a pod that should be a member is none: its link is wrong, or its PodGroup is being made.
 * REASON_NONE: it is linked, or for itself. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* What one pod of the signature needs of it. */
int64_t signature_need(const struct signature *signature, uint32_t resource);
/* The facts of some pod of the signature; NULL when there is none left. */
const struct gang_pod_facts *signature_sample(const struct signature *signature);
/* The slot's room is within reach: its member is not at bind, and its gang is to be displaced. */
bool slot_yields(const struct slot *slot, const struct reach *reach);
/* The gang's members need no plan any more: each is judged for itself. */
static inline bool passes_singly(const struct gang *gang)
{
    return gang->state == GANG_SCHEDULED || gang->state == GANG_DONE;
}

#endif
