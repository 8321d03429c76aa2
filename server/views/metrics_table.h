/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_table.h - every metric of muster, for metrics_text.c and for docs/reference/metrics.md.
 *
 * A row is: id, section of the page, name, type, labels, the HELP text, and a note that
 * follows the HELP text on the page. The rows of the API client are in
 * k8s/client/api_metrics_table.h, because k8s/ does not know server/. No label grows with the
 * cluster: none has the name of a gang, pod or node, and the number of queues is limited.
 */
#ifndef MUSTER_SERVER_VIEWS_METRICS_TABLE_H
#define MUSTER_SERVER_VIEWS_METRICS_TABLE_H

#include "k8s/client/api_metrics_table.h"

/* The sections of the page, in their order. */
#define METRIC_SECTIONS(X)                                                                         \
    X(STATE, "State of muster")                                                                    \
    X(GANGS, "Gangs")                                                                              \
    X(BINDS, "Holds and Bindings")                                                                 \
    X(CALLS, "Calls of kube-scheduler")                                                            \
    X(GATES, "Gates and express lane")                                                             \
    X(DEVICES, "Devices")                                                                          \
    X(QUEUES, "Queues")                                                                            \
    X(API, "API server")                                                                           \
    X(PROCESS, "Process and ports")

/* In the order of /metrics. */
#define SERVER_METRICS(X)                                                                          \
    X(REQUESTS, CALLS, "muster_extender_requests_total", "counter", "verb, outcome",               \
      "Calls of kube-scheduler, by verb and outcome.",                                             \
      "`ok`: a node passed, or a Binding was written. `refused`: no node passed, or no Binding "   \
      "was written. `error`: filter answered with an error, for example because muster is not "    \
      "synced, or muster is stopping. `broken`: muster cannot read the request. `too_large`: the " \
      "body exceeds `maxBodyMiB`. `wrong_method`: not a POST. `overload`: the memory for "         \
      "requests is full.")                                                                         \
    X(REQUEST_BYTES, CALLS, "muster_extender_request_bytes_total", "counter", "verb",              \
      "Bytes of the request bodies of kube-scheduler's calls.", "")                                \
    X(DURATION, CALLS, "muster_extender_request_duration_seconds", "histogram", "verb",            \
      "Time from the headers of a call to its reply, without the time that a bind call was held.", \
      "")                                                                                          \
    X(WORK, CALLS, "muster_extender_work_seconds", "summary", "verb",                              \
      "Time that muster spent on a call, without the transfer of the body and without the time "   \
      "that a bind call was held. Quantiles of the last 2,048 calls.",                             \
      "")                                                                                          \
    X(BIND_REPLY, BINDS, "muster_bind_reply_seconds", "summary", "",                               \
      "Time between the API server's answer to a Binding and muster's reply to the bind call "     \
      "that "                                                                                      \
      "waited for this answer. Quantiles of the last 2,048 replies.",                              \
      "")                                                                                          \
    X(QUERY_TURN, STATE, "muster_query_turn_seconds", "summary", "",                               \
      "CPU time that the core spent on a request for the API or for metrics. Quantiles of the "    \
      "last 2,048 requests.",                                                                      \
      "")                                                                                          \
    X(BIND_HELD, BINDS, "muster_bind_held_seconds", "histogram", "",                               \
      "Time that bind calls waited for their gang and for the result of the Binding.",             \
      "Ordinary pods wait only for the result.")                                                   \
    X(STEP, STATE, "muster_step_duration_seconds", "histogram", "",                                \
      "Duration of a step of the core.", "")                                                       \
    X(GANGS_BY_STATE, GANGS, "muster_gangs", "gauge", "state", "Gangs by state.",                  \
      "See [states](states.md).")                                                                  \
    X(HELD, BINDS, "muster_held_binds", "gauge", "", "Bind calls that muster holds now.", "")      \
    X(HOLDS, BINDS, "muster_holds_total", "counter", "", "Bind calls that muster has held.", "")   \
    X(SLOTS_DISPLACED, GANGS, "muster_slots_displaced_total", "counter", "",                       \
      "Slots of plans that muster has moved to other nodes.", "")                                  \
    X(COMMITS, GANGS, "muster_commits_total", "counter", "", "Commits that muster has begun.", "") \
    X(HOLD_TIMEOUTS, BINDS, "muster_hold_timeouts_total", "counter", "",                           \
      "Holds that reached holdSeconds. All held calls of a gang count as one.", "")                \
    X(REJECTED_EARLY, GANGS, "muster_members_rejected_early_total", "counter", "",                 \
      "Planned members that kube-scheduler refused without calling muster's filter.", "")          \
    X(ATTEMPTS_TIMED_OUT, GANGS, "muster_attempts_timed_out_total", "counter", "",                 \
      "Attempts that ended at their schedule timeout.", "")                                        \
    X(PREEMPTIONS, GANGS, "muster_preemptions_total", "counter", "",                               \
      "Gangs for which muster has evicted pods, each time.", "")                                   \
    X(PREEMPTED_GANGS, GANGS, "muster_preempted_gangs_total", "counter", "reason",                 \
      "Gangs that muster has evicted as a whole.",                                                 \
      "`priority`: for a gang of a higher priority. `reclaim`: for a queue that deserves the "     \
      "room. `broken`: because kube-scheduler has preempted some of their members, or because "    \
      "muster was restarted while it evicted them.")                                               \
    X(PREEMPTED_PODS, GANGS, "muster_preempted_pods_total", "counter", "reason",                   \
      "Pods that muster has evicted, for the same reasons.", "")                                   \
    X(PREEMPTION_WAIT, GANGS, "muster_preemption_wait_seconds", "summary", "",                     \
      "Time from the first eviction for a gang until the gang is Scheduled.",                      \
      "Only the sum and the count.")                                                               \
    X(PREEMPTED_SECONDS, GANGS, "muster_preempted_device_seconds_total", "counter", "",            \
      "Device-seconds of work that evicted gangs and pods have lost.",                             \
      "For each pod, its devices times the seconds since it was bound, or since its last "         \
      "[checkpoint](../preemption.md#checkpoints).")                                               \
    X(PREEMPTIONS_SPOILED, GANGS, "muster_preemptions_spoiled_total", "counter", "",               \
      "Preemptions after which the gang did not fit, because the cluster had changed meanwhile.",  \
      "")                                                                                          \
    X(PREEMPTED_ROOM, GANGS, "muster_preempted_room_slots", "gauge", "",                           \
      "Members for which muster keeps room until the pods that use it have ended.", "")            \
    X(VICTIM_SEARCHES, GANGS, "muster_victim_searches_total", "counter", "",                       \
      "Searches for gangs and pods to evict.", "")                                                 \
    X(VICTIM_SEARCHES_STOPPED, GANGS, "muster_victim_searches_stopped_total", "counter", "",       \
      "Searches for gangs and pods to evict that muster has stopped, because they take too long.", \
      "")                                                                                          \
    X(WAKES, GANGS, "muster_wakes_total", "counter", "",                                           \
      "Nominations that muster has requested to wake or to steer a pod.",                          \
      "A nomination that is written together with the removal of a gate does not count.")          \
    X(GATED, GATES, "muster_gated_pods", "gauge", "", "Pods that have muster's scheduling gate.",  \
      "")                                                                                          \
    X(INVALID, STATE, "muster_invalid_pods", "gauge", "",                                          \
      "Pods that exceed a limit or that muster cannot read completely. The log names them.",       \
      "See [limits](../limits.md).")                                                               \
    X(GATES_LIFTED, GATES, "muster_gates_lifted_total", "counter", "",                             \
      "Pods whose gate muster has asked the API server to remove.", "")                            \
    X(EXPRESS, GATES, "muster_express_lane", "gauge", "",                                          \
      "1 if the express lane is open, 0 if it is off or closed for all namespaces.", "")           \
    X(EXPRESS_CLOSED, GATES, "muster_express_closed_namespaces", "gauge", "",                      \
      "Namespaces for which predicate mismatches have closed the express lane.", "")               \
    X(EXPRESS_BINDINGS, GATES, "muster_express_bindings_total", "counter", "",                     \
      "Bindings sent for members for which kube-scheduler had not called bind.", "")               \
    X(PREDICATE_CHECKS, GATES, "muster_predicate_checks_total", "counter", "",                     \
      "Complete lists of offered nodes that muster has compared with its own predicates.", "")     \
    X(NODES, STATE, "muster_nodes", "gauge", "", "Nodes that muster knows.", "")                   \
    X(PODS, STATE, "muster_pods", "gauge", "", "Pods that muster knows.", "")                      \
    X(PODGROUPS, STATE, "muster_podgroups", "gauge", "", "PodGroups that muster knows.", "")       \
    X(SYNCED, STATE, "muster_synced", "gauge", "",                                                 \
      "1 if muster has read every list once, otherwise 0.",                                        \
      "While it is 0, muster answers each call with an error.")                                    \
    X(PLANS, GANGS, "muster_plans_total", "counter", "result", "Plans by result.",                 \
      "`made`: plans that muster made. `failed`: searches that found no plan. `dropped`: plans "   \
      "that muster made and gave up later.")                                                       \
    X(PREDICATE_MISMATCH, GATES, "muster_predicate_mismatch_total", "counter", "predicate",        \
      "Confirmed differences between kube-scheduler's filters and muster's predicates.",           \
      "The label is the plugin. `Unmodelled`: no rule of muster explains the difference.")         \
    X(INVARIANTS, STATE, "muster_invariant_violations_total", "counter", "check",                  \
      "Gangs that a step left inconsistent with their state, because of an error in muster. The "  \
      "log has the first violation of each check.",                                                \
      "See [the checks](../explanation/server.md#what-muster-checks-of-itself).")                  \
    X(TURNED_AWAY, BINDS, "muster_binds_turned_away_total", "counter", "why",                      \
      "Bind calls that kube-scheduler should not have made.",                                      \
      "`not-passed`: filter did not return this node for the pod. `node-rule`: a rule of the pod " \
      "excludes the node.")                                                                        \
    X(BINDINGS, BINDS, "muster_bindings_total", "counter", "outcome",                              \
      "Results of Bindings of members and ordinary pods, by outcome.",                             \
      "`unclear`: timeout, lost connection, or status 409, 429 or 5xx. After `unclear`, muster "   \
      "reads the pod, and the Binding counts again as `ok` or `refused`.")                         \
    X(TRIGGERS, GANGS, "muster_gang_triggers_total", "counter", "state, trigger",                  \
      "Triggers that gangs received, by the state of the gang.",                                   \
      "Each pair is a cell of [the table of states](states.md).")                                  \
    X(ALLOCATABLE, DEVICES, "muster_allocatable_devices", "gauge", "resource",                     \
      "Allocatable devices of all nodes, by resource.", "")                                        \
    X(USED, DEVICES, "muster_used_devices", "gauge", "resource",                                   \
      "Devices of pods that are assigned or whose Binding was sent, on nodes that offer the "      \
      "resource.",                                                                                 \
      "")                                                                                          \
    X(RESERVED, DEVICES, "muster_reserved_devices", "gauge", "resource",                           \
      "Devices that plans reserve.", "")                                                           \
    X(QUEUES, QUEUES, "muster_queues", "gauge", "state", "Queues by state.",                       \
      "`Open`. `Closed`: takes no new gangs. `Invalid`: no gang can use it, because of its own "   \
      "fields or a queue above it. `Missing`: gangs name it, and it does not exist. `muster get "  \
      "queues -o wide` names the error.")                                                          \
    X(QUEUES_LEFT_OUT, QUEUES, "muster_queues_left_out", "gauge", "",                              \
      "Queues without series of their own, because of maxMetricsQueues or the size of the page.",  \
      "")                                                                                          \
    X(QUEUE_RESOURCES_LEFT_OUT, QUEUES, "muster_queue_resources_left_out", "gauge", "",            \
      "Resources without series, because their queue has more than 8. Only queues with series "    \
      "count.",                                                                                    \
      "")                                                                                          \
    X(QUEUE_INFO, QUEUES, "muster_queue_info", "gauge",                                            \
      "api_group, queue_namespace, queue, parent, state",                                          \
      "Always 1. The labels show the queue above and the state of the queue.",                     \
      "`parent` is empty for a queue directly below the cluster.")                                 \
    X(QUEUE_WAITING, QUEUES, "muster_queue_waiting_gangs", "gauge",                                \
      "api_group, queue_namespace, queue",                                                         \
      "Gangs that have no plan and are not Scheduled, in the queue and all queues below it.", "")  \
    X(QUEUE_PLANNED, QUEUES, "muster_queue_planned_gangs", "gauge",                                \
      "api_group, queue_namespace, queue",                                                         \
      "Gangs that have a plan and are not Scheduled yet, in the queue and all queues below it.",   \
      "")                                                                                          \
    X(QUEUE_RUNNING, QUEUES, "muster_queue_running_gangs", "gauge",                                \
      "api_group, queue_namespace, queue",                                                         \
      "Scheduled gangs, in the queue and all queues below it.", "")                                \
    X(QUEUE_OLDEST_WAIT, QUEUES, "muster_queue_oldest_wait_seconds", "gauge",                      \
      "api_group, queue_namespace, queue",                                                         \
      "Longest time that a gang without a plan has waited so far, in the queue and all queues "    \
      "below it. 0 if none waits.",                                                                \
      "The time begins with the first attempt of the gang. It begins again when muster restarts.") \
    X(QUEUE_USED, QUEUES, "muster_queue_used", "gauge",                                            \
      "api_group, queue_namespace, queue, resource",                                               \
      "What pods and planned gangs use, in the queue and all queues below it.", "")                \
    X(QUEUE_REQUESTED, QUEUES, "muster_queue_requested", "gauge",                                  \
      "api_group, queue_namespace, queue, resource",                                               \
      "What the queue uses plus what its waiting gangs need.", "")                                 \
    X(QUEUE_DESERVED, QUEUES, "muster_queue_deserved", "gauge",                                    \
      "api_group, queue_namespace, queue, resource",                                               \
      "What the queue deserves. No series if the queue does not state it, or if it is unlimited.", \
      "")                                                                                          \
    X(QUEUE_LIMIT, QUEUES, "muster_queue_limit", "gauge",                                          \
      "api_group, queue_namespace, queue, resource",                                               \
      "The most that the queue may use. No series without a limit.", "")                           \
    X(QUEUE_FAIR_SHARE, QUEUES, "muster_queue_fair_share", "gauge",                                \
      "api_group, queue_namespace, queue, resource",                                               \
      "Fair share of the queue now: what it deserves plus its part of what is left, but at most "  \
      "what it requests.",                                                                         \
      "")                                                                                          \
    X(QUEUE_BORROWED, QUEUES, "muster_queue_borrowed", "gauge",                                    \
      "api_group, queue_namespace, queue, resource",                                               \
      "What the queue uses above what it deserves. No series if the queue does not state what it " \
      "deserves, or if it is unlimited.",                                                          \
      "")                                                                                          \
    X(CONNECTIONS, PROCESS, "muster_http_connections", "gauge", "listener",                        \
      "Open connections, by listener.", "")                                                        \
    X(CONNECTIONS_CUT, PROCESS, "muster_http_connections_cut_total", "counter", "listener",        \
      "Connections that muster closed because they were slow or idle, or to make room for new "    \
      "connections.",                                                                              \
      "")                                                                                          \
    X(MEMORY, PROCESS, "process_resident_memory_bytes", "gauge", "", "Resident memory, in bytes.", \
      "")                                                                                          \
    X(OPEN_FILES, PROCESS, "process_open_fds", "gauge", "", "Open file descriptors.", "")          \
    X(CPU, PROCESS, "process_cpu_seconds_total", "counter", "",                                    \
      "User and system CPU time, in seconds.", "")                                                 \
    X(BUILD_INFO, STATE, "muster_build_info", "gauge", "version",                                  \
      "Always 1. The label is muster's version.", "")

#endif
