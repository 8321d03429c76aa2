/* SPDX-License-Identifier: Apache-2.0 */
/*
 * built_in_cluster.h - a cluster in memory: API objects, nodes that run pods, a Job controller, and
 * a driver that asks the extender verbs in the order in which a kube-scheduler asks them.
 *
 * Life cycle
 *   1. builtin_cluster_open(), or builtin_cluster_new() with a scenario already read
 *   2. advance(): the first call sets the origin of the scenario's clock, creates its objects and
 *      posts SYNCED
 *   3. advance() by next() at the latest; apply() for every effect it is responsible for, REPLY_*
 *      of calls with CLUSTER_CALL included
 *   4. close()
 *
 * No thread, no clock, no randomness: the same scenario and the same calls give the same events.
 * Objects are kept as JSON, as an API server keeps them, and become facts through
 * k8s/decode/decode.h and the dialects, as with a real cluster. What it leaves out: volumes,
 * inter-pod rules, topology spread, preemption, disruption budgets. One thread.
 */
#ifndef MUSTER_SIMULATOR_BUILT_IN_CLUSTER_H
#define MUSTER_SIMULATOR_BUILT_IN_CLUSTER_H

#include "k8s/interface/cluster.h"
#include "simulator/scenario.h"
#include "simulator/simulated_event.h"

/* Opens a scenario file for live use: creation times are the wall clock's. */
int builtin_cluster_open(const char *path, const struct cluster_sink *sink, struct cluster **ret,
                         struct err *err);
/* Takes the scenario over. `wall` is the wall clock at the origin of its clock. Never NULL. */
struct cluster *builtin_cluster_new(struct scenario *scenario, const struct cluster_sink *sink,
                                    usec_t wall);

/* ---- looking on, for the timeline of `muster simulate` and for tests ---- */

/* From now on `fn` gets each event. */
void builtin_cluster_watch(struct cluster *c, builtin_watch_fn *fn, void *arg);
/* The time on the scenario's clock; 0 before the first advance(). */
usec_t builtin_cluster_clock(const struct cluster *c, usec_t now);
/* Nothing is to come but new attempts of pods that could not be placed. */
bool builtin_cluster_settled(const struct cluster *c);
/* An object as it is now, borrowed; NULL when there is none. api_group NULL: any. */
const json_t *builtin_cluster_object(const struct cluster *c, enum manifest_kind kind,
                                     const char *api_group, const char *ns, const char *name);
typedef void builtin_object_fn(void *arg, const json_t *object);
void builtin_cluster_each(const struct cluster *c, enum manifest_kind kind, builtin_object_fn *fn,
                          void *arg);
/* The last events that were sent, at most 1000, as objects {time, kind, namespace, name, type,
 * reason, message}; borrowed. */
const json_t *builtin_cluster_events(const struct cluster *c);

#endif
