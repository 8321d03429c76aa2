/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a core and the world around it, for tests in simulated time.
 *
 * Every helper makes one event, steps the core, checks the invariants, and keeps what came out:
 * open bind calls and their answers, Bindings asked for, nominations, events. A test reads like the
 * story of a cluster:
 *
 *     struct world *w = world_new();
 *     world_node(w, "n0", 4);                       a node with 4 GPUs
 *     world_group(w, "g", 2);                       PodGroup default/g, minMember 2
 *     world_pod(w, "p0", "g", 1);                   a 1-GPU pod linked to it
 *     assert_string_equal(world_filter(w, "p0"), "n0");
 *
 * Pods live in namespace "default", their UID is "uid-" + name, groups are of api group "test".
 */
#ifndef MUSTER_TEST_WORLD_H
#define MUSTER_TEST_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/map.h"
#include "gang/gang.h"
#include "test/lib/test_config.h"

struct world_call {
    uint64_t id;
    char *pod;
    bool answered;
    char *error; /* "" success */
};

struct world {
    struct gang_core *core;
    usec_t now;
    uint64_t next_id;
    struct world_call *calls;
    size_t n_calls, cap_calls;
    char **bindings; /* "pod@node", in order, until world_forget() */
    size_t n_bindings, cap_bindings;
    char **reads; /* uids asked to be read */
    size_t n_reads, cap_reads;
    char **nominations; /* "pod@node" or "pod@" */
    size_t n_nominations, cap_nominations;
    char **ungated; /* "pod@node" or "pod@", the same of gates to be lifted */
    size_t n_ungated, cap_ungated;
    char **evictions; /* names of pods */
    size_t n_evictions, cap_evictions;
    char **told; /* "pod: text" */
    size_t n_told, cap_told;
    int64_t told_version; /* of the pod, in the last of these */
    char **events;        /* "Reason: message" */
    size_t n_events, cap_events;
    char *last_status; /* "state: text" of the last STATUS effect */
    size_t n_statuses;
    char *passed;     /* of the last filter: names that passed, joined by a space */
    char *refusal;    /* of the last filter: first reason, or the error */
    size_t n_refused; /* nodes with a reason */
    bool as_full;     /* they count as nodes without room */
    struct map nodes; /* name -> (void *)1: what world_filter offers by default */
    struct map links; /* pod -> name of its PodGroup, as last shown; owned */
    uint8_t scores[64];
    char *kept;
};

/* Synced, with the default settings but no hope for members that do not exist (assemble 0). */
struct world *world_new(void);
/* With nodes n0, n1, …, of so many GPUs each. */
struct world *world_of_nodes(int n, int gpus);
struct world *world_new_with(struct gang_config config, bool synced);
/* As world_new(), with the express lane. */
struct world *world_express(void);
/* With two nodes, a and b, unchanged for a while, and pod g-0 of a gang that waits for members:
 * predicate parity is checked, and nothing is ever placed. */
struct world *world_checked(void);
bool world_lane_is_open(const struct world *w);
void world_free(struct world *w);
void world_step(struct world *w, struct gang_event *events, size_t n);
void world_sync(struct world *w);
void world_watch(struct world *w, enum gang_watch of, bool behind);

void world_node(struct world *w, const char *name, int gpus);
/* Takes the facts. */
void world_node_facts(struct world *w, struct gang_node_facts *facts);
void world_node_gone(struct world *w, const char *name);
/* group may be NULL. */
void world_pod(struct world *w, const char *name, const char *group, int gpus);
struct gang_pod_facts *world_pod_facts(const char *name, const char *group, int gpus);
struct gang_node_facts *world_gpu_node(const char *name, int gpus);
void world_pod_set(struct world *w, struct gang_pod_facts *facts);
/* The pod as the watch shows it: bound, in a phase. node may be NULL. */
void world_pod_seen(struct world *w, const char *name, const char *group, int gpus,
                    const char *node, enum gang_phase phase);
/* As world_pod, with this much CPU (in thousandths) and priority. */
void world_pod_shaped(struct world *w, const char *name, const char *group, int gpus, int cpu,
                      int priority);
/* As world_node, with this much CPU (in thousandths). */
void world_node_small(struct world *w, const char *name, int gpus, int cpu);
/* The pods group-<from> to group-<to - 1>. */
void world_members(struct world *w, const char *group, int from, int to, int gpus);
void world_pod_gone(struct world *w, const char *name);
void world_group(struct world *w, const char *name, int min);
/* Facts to be filled further, then given to world_group_set(). */
struct gang_group_facts *world_group_facts(const char *name, int min);
void world_group_set(struct world *w, struct gang_group_facts *facts);
/* A subgroup of it; parent may be NULL. */
struct gang_subgroup *world_subgroup(struct gang_group_facts *f, const char *name,
                                     const char *parent, int min);
void world_class(struct world *w, const char *name, int value);
/* As world_pod, in a subgroup. */
void world_role(struct world *w, const char *name, const char *group, const char *role, int gpus);
/* The members group-<from> to group-<to - 1>, as kube-scheduler brings each to bind, once. */
void world_try_members(struct world *w, const char *group, int from, int to);
void world_group_timeout(struct world *w, const char *name, int min, usec_t timeout);
void world_group_gone(struct world *w, const char *name);

/* Offers all nodes; the single node that passed, "" for none, or the names joined. */
const char *world_filter(struct world *w, const char *pod);
/* Offers these names (separated by spaces), with this nomination in the request (may be NULL). */
const char *world_filter_on(struct world *w, const char *pod, const char *names,
                            const char *nominated);
/* Facts given in the request, for pods the watch has not shown. Takes facts. */
const char *world_filter_facts(struct world *w, struct gang_pod_facts *facts, const char *names);
/* The call's id. */
uint64_t world_bind(struct world *w, const char *pod, const char *node);
/* Filter and bind, as the scheduler does; the call's id, 0 when filter gave no node. */
uint64_t world_try(struct world *w, const char *pod);
/* The events alone, for steps of several: a bind call (its id is in the event), and a filter call,
 * which takes the facts and borrows the names. */
struct gang_event world_bind_event(struct world *w, const char *pod, const char *node);
struct gang_event world_filter_event(struct world *w, struct gang_pod_facts *facts,
                                     const char *const *names, size_t n);
/* NULL while open, "" after success, else the error. */
const char *world_answer(const struct world *w, uint64_t id);
void world_close(struct world *w, uint64_t id);
void world_result(struct world *w, const char *pod, const char *node, enum gang_outcome outcome);
void world_read(struct world *w, const char *pod, const char *node, enum gang_outcome outcome);
/* All Bindings asked for so far succeed. */
void world_all_bound(struct world *w);
/* Lets time pass, ticking whenever the core wants. */
void world_wait(struct world *w, usec_t t);
void world_stop(struct world *w);

const char *world_state(const struct world *w, const char *group);
const char *world_reason(const struct world *w, const char *group);
/* Its stable name, "NotEnoughMembers". */
const char *world_reason_name(const struct world *w, const char *group);
/* What would help, as the PodGroup's status says. */
const char *world_help(const struct world *w, const char *group);
bool world_evicted(const struct world *w, const char *pod);
int64_t world_used(const struct world *w, const char *node, const char *resource);
int64_t world_reserved(const struct world *w, const char *node, const char *resource);
/* A Binding was asked for, since world_forget(). */
bool world_binding(const struct world *w, const char *pod_at_node);
bool world_nominated(const struct world *w, const char *pod_at_node);
bool world_event(const struct world *w, const char *text);
void world_forget(struct world *w);

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

#endif
