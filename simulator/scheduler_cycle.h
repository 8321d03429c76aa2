/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_cycle.h - the driver: kube-scheduler's scheduling and binding cycles, as far as an
 * extender can see them.
 *
 * sched_init(), sched_show_pod() and its like for what the watches show, sched_advance() by
 * sched_next() at the latest, sched_reply() for the answers to the calls that it posts,
 * sched_done(). One scheduling cycle runs at a time; while it waits for an answer (sched_asks())
 * nothing else may be called, because the call borrows names of nodes. What it writes goes to the
 * store as a task. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_CYCLE_H
#define MUSTER_SIMULATOR_SCHEDULER_CYCLE_H

#include "k8s/interface/cluster.h"
#include "simulator/api_server.h"
#include "simulator/scheduler_filters.h"
#include "simulator/scheduler_queue.h"

/* Refusals by their words, as the scheduler counts them in its message. */
struct sched_refusals {
    struct map counts; /* words -> size_t * */
};

enum sched_state { SCHED_IDLE, SCHED_NOMINATED, SCHED_FILTER, SCHED_PRIORITIZE };

struct sched {
    struct sim_clock *clock; /* borrowed, as the next two */
    struct store *store;
    const struct claim_topology *claims;
    struct cluster_sink sink;
    struct sched_cache cache;
    struct sched_queue queue;
    struct sched_rules rules;
    uint64_t calls; /* posted until now */

    /* the cycle that runs */
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
/* `claims` were given what a watch showed of a claim or of a volume. */
void sched_claims_changed(struct sched *s);
void sched_advance(struct sched *s);
usec_t sched_next(const struct sched *s);
/* The answer to one of its calls. */
void sched_reply(struct sched *s, const struct gang_effect *effect);
/* A filter or prioritize call is not answered yet: nothing may change meanwhile. */
bool sched_asks(const struct sched *s);
/* Nothing is to come but new attempts of pods that could not be placed. */
bool sched_settled(const struct sched *s);
void sched_done(struct sched *s);

#endif
