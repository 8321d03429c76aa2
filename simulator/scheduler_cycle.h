/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_cycle.h - the simulated kube-scheduler: scheduling and binding cycles, as far as an
 * extender can observe them.
 *
 * Life cycle: sched_init(), the sched_show_*() and sched_remove_*() functions for what the watches
 * show, sched_advance() at the latest at the time of sched_next(), sched_reply() for each reply to
 * its calls, and sched_done(). One scheduling cycle runs at a time. While it waits for a reply
 * (sched_asks()), only sched_reply() may be called, because the call borrows names of nodes. Writes
 * to the store are tasks of the clock. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_CYCLE_H
#define MUSTER_SIMULATOR_SCHEDULER_CYCLE_H

#include "k8s/interface/cluster.h"
#include "simulator/api_server.h"
#include "simulator/scheduler_filters.h"
#include "simulator/scheduler_queue.h"

/* The number of nodes for each reason, for the scheduler's message. */
struct sched_refusals {
    struct map counts; /* reason -> size_t * */
};

enum sched_state { SCHED_IDLE, SCHED_NOMINATED, SCHED_FILTER, SCHED_PRIORITIZE };

struct sched {
    struct sim_clock *clock; /* borrowed, like the next two members */
    struct store *store;
    const struct claim_topology *claims;
    struct cluster_sink sink;
    struct sched_cache cache;
    struct sched_queue queue;
    struct sched_rules rules;
    uint64_t calls; /* number of calls posted so far */

    /* the current scheduling cycle */
    enum sched_state state;
    usec_t free_at;
    struct sched_pod *pod;
    uint64_t call;
    struct sched_node **offered;
    const char **names;
    size_t n_offered, cap_offered;
    struct sched_refusals refusals;
    bool extender_refused;
};

void sched_init(struct sched *s, struct store *store, const struct claim_topology *claims,
                const struct cluster_sink *sink);
void sched_show_node(struct sched *s, const json_t *json);
void sched_remove_node(struct sched *s, const char *name);
void sched_show_pod(struct sched *s, json_t *json);
void sched_remove_pod(struct sched *s, const char *uid);
/* Call it after a claim or a volume in `claims` has changed. */
void sched_claims_changed(struct sched *s);
void sched_advance(struct sched *s);
usec_t sched_next(const struct sched *s);
/* Takes the reply to one of its calls. */
void sched_reply(struct sched *s, const struct gang_effect *effect);
/* True while a filter or prioritize call is not answered. Nothing may change during this time. */
bool sched_asks(const struct sched *s);
/* True if only new tries of pods that could not be placed are left. */
bool sched_settled(const struct sched *s);
void sched_done(struct sched *s);

#endif
