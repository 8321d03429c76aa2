/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_rules.h - the rules of queues: which queue a gang is in, who may use it, what each queue
 * uses, and what fits into its limits.
 *
 * An independent implementation: it uses only the objects of the model, and shares no code with
 * gang/. It adds everything up anew for each question. Stateless.
 */
#ifndef MUSTER_TEST_PROP_QUEUE_RULES_H
#define MUSTER_TEST_PROP_QUEUE_RULES_H

#include "test/prop/model.h"

/* Other results than a queue: in none; it names one that does not exist; the model cannot tell. */
enum { IN_NONE = -1, IN_MISSING = -2, IN_UNSURE = -3 };
/* What queues count: GPUs, whole CPUs. */
enum { COUNTED = R_CPU + 1 };

bool queues_exist(const struct model *m);
/* Whether the watch has shown all changes of queues and of the namespace. */
bool queues_known(const struct model *m);

/* The queue above it in the tree; IN_NONE: the cluster. */
int queue_above(const struct model *m, int q);
/* Whether it or a queue above it has an error in its own fields. */
bool queue_has_fault(const struct model *m, int q);
/* Why no gang can begin in the queue; REASON_NONE: gangs can. */
enum gang_reason_code queue_closes(const struct model *m, int q);
bool queue_is_fifo(const struct model *m, int q);
int queue_of_family(const struct model *m, uint32_t family);
/* Of a member, the queue of its gang. */
int queue_of_member(const struct model *m, int p);
/* Whether the gang, or that of the pod, is limited to what its queue deserves: 1, 0, or IN_UNSURE.
 */
int family_firm(const struct model *m, uint32_t family);
int pod_firm(const struct model *m, int p);

/* What each queue and those below it use; the last row is the cluster. */
struct queue_use {
    int64_t used[QUEUES + 1][COUNTED];
    int64_t firm[QUEUES + 1][COUNTED]; /* by gangs that are not preemptible */
};
/* `on` has the node on which each pod counts, or -1. Returns false if the model cannot tell. */
bool queue_sum(const struct model *m, const int on[PODS], struct queue_use *ret);
/* Whether the needs fit into the queue and all above it. A need of 0 is not checked. `placed`: they
 * are part of `use` already. Returns the reason why not, or REASON_NONE. */
enum gang_reason_code queue_room(const struct model *m, const struct queue_use *use, int q,
                                 bool firm, const int64_t need[RESOURCES], bool placed);

#endif
