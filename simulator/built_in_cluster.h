/* SPDX-License-Identifier: Apache-2.0 */
/*
 * built_in_cluster.h - a cluster in memory: API objects, nodes that run pods, a Job controller, and
 * a simulated kube-scheduler that calls the extender verbs in kube-scheduler's order.
 *
 * Life cycle
 *   1. builtin_cluster_open(), or builtin_cluster_new() with a scenario
 *   2. advance(): the first call sets the origin of the scenario's clock, creates its objects and
 *      posts SYNCED
 *   3. advance(), at the latest at the time that next() returns, and apply() for each effect,
 *      including the REPLY_* effects of calls with CLUSTER_CALL
 *   4. close()
 *
 * It has no thread, no clock and no randomness: the same scenario and the same calls give the same
 * events. Objects are stored as JSON. k8s/decode/decode.h and the dialects decode them into facts,
 * as with a real cluster. The simulated kube-scheduler does not preempt. It has only those rules
 * for volumes and between pods that are in scheduler_filters.c. Evictions obey disruption budgets
 * as disruption.h describes. One thread.
 */
#ifndef MUSTER_SIMULATOR_BUILT_IN_CLUSTER_H
#define MUSTER_SIMULATOR_BUILT_IN_CLUSTER_H

#include "k8s/interface/cluster.h"
#include "simulator/scenario.h"
#include "simulator/simulated_event.h"

/* Opens a scenario file. Creation times are the wall clock's. Returns 0 and the cluster, which the
 * caller owns, or a negative number. */
int builtin_cluster_open(const char *path, const struct cluster_sink *sink, struct cluster **ret,
                         struct err *err);
/* Takes ownership of the scenario. `wall` is the wall clock at the origin of the scenario's clock;
 * -1: read the wall clock then. Never NULL. */
struct cluster *builtin_cluster_new(struct scenario *scenario, const struct cluster_sink *sink,
                                    usec_t wall);

/* ---- observation, for the timeline of `muster simulate` and for tests ---- */

/* From now on, calls `fn` for each simulated event. */
void builtin_cluster_watch(struct cluster *c, builtin_watch_fn *fn, void *arg);
/* The time on the scenario's clock; 0 before the first advance(). */
usec_t builtin_cluster_clock(const struct cluster *c, usec_t now);
/* True if only new tries of pods that could not be placed are left. */
bool builtin_cluster_settled(const struct cluster *c);
/* The current object, borrowed; NULL if it does not exist. api_group NULL: any. */
const json_t *builtin_cluster_object(const struct cluster *c, enum manifest_kind kind,
                                     const char *api_group, const char *ns, const char *name);
typedef void builtin_object_fn(void *arg, const json_t *object);
void builtin_cluster_each(const struct cluster *c, enum manifest_kind kind, builtin_object_fn *fn,
                          void *arg);
/* The last Kubernetes events that muster sent, at most 1000, as an array of {time, kind, namespace,
 * name, type, reason, message}; borrowed. */
const json_t *builtin_cluster_events(const struct cluster *c);

#endif
