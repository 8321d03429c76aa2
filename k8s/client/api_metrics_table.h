/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_metrics_table.h - the metrics of the API client, for api_metrics.c and for
 * docs/reference/metrics.md.
 *
 * A row is: id, section of the page, name, type, labels, the HELP text, and a note that
 * follows the HELP text on the page (server/views/metrics_table.h has the other metrics).
 */
#ifndef MUSTER_K8S_CLIENT_API_METRICS_TABLE_H
#define MUSTER_K8S_CLIENT_API_METRICS_TABLE_H

/* In the order of /metrics. */
#define API_METRICS(X)                                                                             \
    X(REQUESTS, API, "muster_api_requests_total", "counter", "verb, resource, code",               \
      "Requests to the API server that have ended; code 0: no reply.", "")                         \
    X(DURATION, API, "muster_api_request_duration_seconds", "histogram", "verb",                   \
      "Duration of requests to the API server.",                                                   \
      "For `verb=\"watch\"` this is the lifetime of the watch, usually some minutes.")             \
    X(WATCH_EVENTS, API, "muster_watch_events_total", "counter", "resource",                       \
      "Events received from watches of the API server.", "")                                       \
    X(WATCH_RESTARTS, API, "muster_watch_restarts_total", "counter", "resource",                   \
      "Watches that muster started again.", "A watch normally ends after 5 to 10 minutes.")        \
    X(WATCH_LISTS, API, "muster_watch_lists_total", "counter", "resource",                         \
      "Lists read completely from the API server.",                                                \
      "More than one for a resource: muster had to read the list again.")                          \
    X(WATCH_ERRORS, API, "muster_watch_errors_total", "counter", "resource",                       \
      "Objects and events from the API server that could not be read.",                            \
      "An object counts once for each version. A watch that ends with an error in its data "       \
      "counts too.")                                                                               \
    X(PODGROUPS_CREATED, API, "muster_podgroups_created_total", "counter", "dialect",              \
      "PodGroups created for workloads that had none.", "")                                        \
    X(PODGROUP_FAILURES, API, "muster_podgroup_failures_total", "counter", "step",                 \
      "Failed steps in the creation of PodGroups.",                                                \
      "The steps are `owner`, `rule`, `podgroup`, `link` and `update`.")                           \
    X(DROPPED, API, "muster_api_dropped_total", "counter", "queue",                                \
      "Writes dropped because their queue was full.",                                              \
      "Requests with a namespace or name that is not valid count too.")                            \
    X(UNREADABLE, API, "muster_unreadable_objects", "gauge", "resource",                           \
      "Objects that muster cannot read, or only in part.", "")                                     \
    X(QUEUE_LENGTH, API, "muster_api_queue_length", "gauge", "queue",                              \
      "Writes that wait or are in flight.",                                                        \
      "The queues are `bindings`, `reads` (of pods), `nominations`, `gates`, `victim_marks` (of "  \
      "pods that are evicted with their gang), `evictions`, "                                      \
      "`suspensions` (of workloads, and their end), `statuses`, `queue_statuses`, `events` (of "   \
      "PodGroups and queues), `conditions`, "                                                      \
      "`notices` (events of pods), and `podgroups` (all calls for PodGroups that muster "          \
      "creates).")

#endif
