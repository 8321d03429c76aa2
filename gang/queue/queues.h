/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.h - queue objects, the tree that they form, and the gangs in them.
 *
 * Facts about queues are stored as they come; queues_settle() then builds the tree once per step.
 * A queue with a fault (its parent is missing, it is its own ancestor, …) takes no gangs, and
 * neither do the queues below it; all others go on.
 */
#ifndef MUSTER_GANG_QUEUE_QUEUES_H
#define MUSTER_GANG_QUEUE_QUEUES_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* Take the facts. */
void on_queue_set(struct gang_core *core, struct gang_queue_facts *facts);
void on_queue_gone(struct gang_core *core, const struct gang_ref *ref);
void on_namespace_set(struct gang_core *core, struct gang_namespace_facts *facts);
void on_namespace_gone(struct gang_core *core, const char *name);

/* Rebuilds the tree if a queue object came, changed or went, and touches the gangs concerned. */
void queues_settle(struct gang_core *core);
/* Puts the gang into the queue that its facts name. own_priority: its PodGroup's. */
void queue_assign(struct gang_core *core, struct gang *gang, int32_t own_priority);
/* Why gangs of the namespace cannot use the queue; REASON_NONE: they can. */
enum gang_reason_code queue_refusal(const struct gang_core *core, const struct queue *queue,
                                    const char *ns);
/* The same for the gang and its queue. */
enum gang_reason_code queue_refuses_gang(const struct gang_core *core, const struct gang *gang);
/* Whether the gang is not preemptible: by its own facts, or by its priority in its queue. */
bool gang_is_firm(const struct gang *gang);
/* The gang is about to be freed. */
void queue_leave(struct gang_core *core, struct gang *gang);
void queues_sweep(struct gang_core *core);
void queues_done(struct gang_core *core);
/* Adds the references to resource numbers that queues hold. */
void queues_count_users(const struct gang_core *core, size_t *users);
/* The tree and its sums are right. */
int queues_check(const struct gang_core *core, struct err *err);

#endif
