/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a core and a simulated cluster around it, for tests in simulated time.
 *
 * Each helper that changes something sends one event to the core, runs a step, checks the
 * invariants, and records the effects: replies to bind calls, Bindings, nominations, Kubernetes
 * events. A test then reads like a sequence of events in a cluster:
 *
 *     struct world *w = world_new();
 *     world_node(w, "n0", 4);                       a node with 4 GPUs
 *     world_group(w, "g", 2);                       PodGroup default/g, minMember 2
 *     world_pod(w, "p0", "g", 1);                   a pod of it that requests 1 GPU
 *     assert_string_equal(world_filter(w, "p0"), "n0");
 *
 * All pods are in namespace "default". The UID of a pod is "uid-" and its name. The API group of
 * PodGroups is "test". Strings that a helper returns belong to the world or to the core, and are
 * valid until the next event.
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
    char *error; /* "" after success */
};

struct world {
    struct gang_core *core;
    usec_t now;
    double longest_ms; /* the CPU time of the longest step so far */
    bool unchecked;    /* skips the check of the invariants, in most steps of a long run */
    uint64_t next_id;
    struct world_call *calls;
    size_t n_calls, cap_calls;
    /* The effects since world_forget(), in order. */
    char **bindings; /* "pod@node" */
    size_t n_bindings, cap_bindings;
    char **reads; /* names of the pods that the core asks to read */
    size_t n_reads, cap_reads;
    char **nominations; /* "pod@node", or "pod@" if the nomination is cleared */
    size_t n_nominations, cap_nominations;
    char **ungated; /* "pod@node" or "pod@", for pods whose gate is removed */
    size_t n_ungated, cap_ungated;
    char **workloads; /* "suspend g" or "resume g", for the workload that owns PodGroup g */
    size_t n_workloads, cap_workloads;
    char **marked; /* names of victims; the next step shows them as marked */
    size_t n_marked, cap_marked;
    char **evictions; /* names of pods */
    size_t n_evictions, cap_evictions;
    char **told; /* patches of the PodScheduled condition: "pod: text" */
    size_t n_told, cap_told;
    bool marks_are_late;  /* the watch does not show the marks of victims */
    int64_t told_version; /* the pod's version in the last of these patches */
    char **events;        /* "Kind/name Reason: message" */
    size_t n_events, cap_events;

    char *last_status; /* "state: text" of the last STATUS effect */
    size_t n_statuses;

    /* The last filter reply. */
    char *passed;     /* names of the nodes that passed, separated by spaces */
    char *refusal;    /* the first reason, or the error */
    size_t n_refused; /* nodes with a reason */
    size_t n_full;    /* how many of these kube-scheduler counts as nodes without room */

    struct map nodes; /* the keys are the names that world_filter() offers */
    struct map links; /* pod name -> PodGroup name, owned */
    uint8_t scores[64];
    char *kept; /* the nodes of the last preempt reply, separated by spaces */
};

/* A synced core with the default settings, except that it plans no expected members (assemble is
 * 0). The caller frees each world with world_free(). */
struct world *world_new(void);
/* Like world_new(), with n nodes (n0, n1, …) of `gpus` GPUs each. */
struct world *world_of_nodes(int n, int gpus);
struct world *world_new_with(struct gang_config config, bool synced);
/* Like world_new(), with the express lane. */
struct world *world_express(void);
/* Like world_express(), with the nodes a and b, and with the pod g-0 of a gang that never has
 * enough members. The nodes have not changed for 2 seconds, so muster checks predicate parity. */
struct world *world_checked(void);
bool world_lane_is_open(const struct world *w);
void world_free(struct world *w);
void world_step(struct world *w, struct gang_event *events, size_t n);
void world_sync(struct world *w);
void world_watch(struct world *w, enum gang_watch of, bool behind);

void world_node(struct world *w, const char *name, int gpus);
/* Takes ownership of the facts. */
void world_node_facts(struct world *w, struct gang_node_facts *facts);
void world_node_gone(struct world *w, const char *name);
/* `group` may be NULL. */
void world_pod(struct world *w, const char *name, const char *group, int gpus);
struct gang_pod_facts *world_pod_facts(const char *name, const char *group, int gpus);
struct gang_node_facts *world_gpu_node(const char *name, int gpus);
/* Adds the requirement "key In (value)" to the term; both are copied. */
void world_term_in(struct gang_term *term, const char *key, const char *value);
/* Takes ownership of the facts. */
void world_pod_set(struct world *w, struct gang_pod_facts *facts);
/* Sends the pod as the watch shows it, with its node (may be NULL) and phase. */
void world_pod_seen(struct world *w, const char *name, const char *group, int gpus,
                    const char *node, enum gang_phase phase);
/* Like world_pod(), with `cpu` in millicores and a priority. */
void world_pod_shaped(struct world *w, const char *name, const char *group, int gpus, int cpu,
                      int priority);
/* Like world_node(), with `cpu` in millicores. */
void world_node_small(struct world *w, const char *name, int gpus, int cpu);
/* Adds the pods group-<from> to group-<to - 1>. */
void world_members(struct world *w, const char *group, int from, int to, int gpus);
void world_pod_gone(struct world *w, const char *name);
void world_group(struct world *w, const char *name, int min);
/* The caller adds to the facts and passes them to world_group_set(). */
struct gang_group_facts *world_group_facts(const char *name, int min);
/* Takes ownership of the facts. */
void world_group_set(struct world *w, struct gang_group_facts *facts);
/* Adds a subgroup to the facts. `parent` may be NULL. */
struct gang_subgroup *world_subgroup(struct gang_group_facts *f, const char *name,
                                     const char *parent, int min);
void world_class(struct world *w, const char *name, int value);
/* A disruption budget of the pods that have the label, which allows so many evictions. */
void world_budget(struct world *w, const char *name, const char *label, int allowed);
void world_budget_gone(struct world *w, const char *name);
/* A Job that fails if it loses more pods than that. */
void world_job(struct world *w, const char *name, int64_t spare);
/* Like world_pod(), in the subgroup `role`. */
void world_role(struct world *w, const char *name, const char *group, const char *role, int gpus);
/* Calls world_try() for the pods group-<from> to group-<to - 1>. */
void world_try_members(struct world *w, const char *group, int from, int to);
void world_group_timeout(struct world *w, const char *name, int min, usec_t timeout);
void world_group_gone(struct world *w, const char *name);
/* The workload that owns the PodGroup was not suspended. */
void world_suspend_refused(struct world *w, const char *name);

/* Offers all nodes. Returns the names of the nodes that passed, separated by spaces. */
const char *world_filter(struct world *w, const char *pod);
/* Offers the nodes `names` (separated by spaces). The pod in the request is nominated to
 * `nominated` (may be NULL). */
const char *world_filter_on(struct world *w, const char *pod, const char *names,
                            const char *nominated);
/* Sends a filter request with these facts, for a pod that the watch has not shown. Takes ownership
 * of the facts. */
const char *world_filter_facts(struct world *w, struct gang_pod_facts *facts, const char *names);
/* Returns the id of the call. */
uint64_t world_bind(struct world *w, const char *pod, const char *node);
/* Sends a filter call, and a bind call for the node that passed. Returns the id of the bind call,
 * or 0 if no node passed. */
uint64_t world_try(struct world *w, const char *pod);
/* Build events for a step with several events. The id of the bind call is in its event. The filter
 * event takes ownership of the facts and borrows the names. */
struct gang_event world_bind_event(struct world *w, const char *pod, const char *node);
struct gang_event world_filter_event(struct world *w, struct gang_pod_facts *facts,
                                     const char *const *names, size_t n);
/* The reply to a bind call: NULL while the call is open, "" after success, or the error. */
const char *world_answer(const struct world *w, uint64_t id);
void world_close(struct world *w, uint64_t id);
void world_result(struct world *w, const char *pod, const char *node, enum gang_outcome outcome);
void world_read(struct world *w, const char *pod, const char *node, enum gang_outcome outcome);
/* Reports success for all Bindings since world_forget(). */
void world_all_bound(struct world *w);
/* Advances the time by `t` and sends a tick at each time that the core asks for. */
void world_wait(struct world *w, usec_t t);
/* Waits until muster has checked what it decided to evict, and requests the evictions. */
void world_decide(struct world *w);
void world_stop(struct world *w);

const char *world_state(const struct world *w, const char *group);
const char *world_reason(const struct world *w, const char *group);
/* The reason code, such as "NotEnoughMembers". */
const char *world_reason_name(const struct world *w, const char *group);
/* The remedy in the PodGroup's status. */
const char *world_help(const struct world *w, const char *group);
bool world_evicted(const struct world *w, const char *pod);
int64_t world_used(const struct world *w, const char *node, const char *resource);
int64_t world_reserved(const struct world *w, const char *node, const char *resource);
/* Since world_forget(): whether the core sent this Binding, wrote this nomination, or emitted an
 * event that contains this text. */
bool world_binding(const struct world *w, const char *pod_at_node);
bool world_nominated(const struct world *w, const char *pod_at_node);
bool world_event(const struct world *w, const char *text);
void world_forget(struct world *w);

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

#endif
