/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_queues.h - queues in the world of tests (world.h). They have the API group "test", as
 * PodGroups do there, and limit nvidia.com/gpu unless a test fills the facts itself.
 */
#ifndef MUSTER_TEST_WORLD_QUEUES_H
#define MUSTER_TEST_WORLD_QUEUES_H

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* Facts to be filled further, then given to world_queue_set(). parent may be NULL. */
struct gang_queue_facts *world_queue_facts(const char *name, const char *parent);
void world_queue_set(struct world *w, struct gang_queue_facts *facts);
/* A queue with this deserved amount and cap of GPUs. */
void world_queue(struct world *w, const char *name, const char *parent, int64_t deserved,
                 int64_t cap);
void world_queue_weight(struct world *w, const char *name, int weight);
void world_queue_gone(struct world *w, const char *name);
/* A gang of `min` members with `gpus` GPUs each, in the queue (NULL: none). The members are
 * name-0, name-1, … */
void world_queued(struct world *w, const char *name, const char *queue, int min, int gpus);
/* The pods of the gang end. */
void world_ends(struct world *w, const char *name, int members);
/* Brings all members to bind and lets their Bindings succeed; the gang runs. */
void world_starts(struct world *w, const char *name, int members, int gpus);
/* What the queue and those below it use. */
int64_t world_queue_used(const struct world *w, const char *name, const char *resource);
/* The same, and what their waiting gangs need, as of the last computation of the shares. */
int64_t world_queue_requested(const struct world *w, const char *name, const char *resource);
/* The queue's fair share in thousandths, from the same computation. */
int64_t world_queue_share(const struct world *w, const char *name, const char *resource);
/* See struct gang_queue_view. */
int64_t world_queue_credit(const struct world *w, const char *name);

#endif
