/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspended_workloads.h - shows the core the pods of workloads that muster has suspended.
 *
 * It watches the workloads that have the label WORKLOAD_SUSPENDED, of all kinds: an earlier run of
 * muster may have suspended one whose PodGroup is gone now. A missing right is logged only for the
 * kinds of workloads that ask to be suspended. For each workload it posts pods that stand for those
 * that the workload will create (suspended_pods.h). When the workload is resumed, these pods stay
 * for a minute, because the new pods replace them one by one. If the PodGroup is deleted, they are
 * removed at once.
 *
 * A suspended workload that the core cannot plan is resumed at once: it has no PodGroup or several,
 * is invalid, or creates too many pods. So none is forgotten. All state comes from the API server.
 *
 * Tenants write these objects. So the module reads one workload at a time, namespaces take turns,
 * and the pods of a namespace are bounded. API thread only.
 */
#ifndef MUSTER_K8S_GROUPER_SUSPENDED_WORKLOADS_H
#define MUSTER_K8S_GROUPER_SUSPENDED_WORKLOADS_H

#include "k8s/client/client.h"
#include "k8s/decode/priority_classes.h"
#include "k8s/list_watch/podgroup_cache.h"
#include "k8s/write/write.h"

/* Pods of suspended workloads in a namespace. */
#define SUSPENDED_PODS_EACH 8192

struct suspended_workloads;

struct suspended_workloads_options {
    struct client *client; /* all pointers are borrowed */
    struct api_metrics *metrics;
    struct podgroups *groups;
    struct writer *writer;
    const struct priority_classes *classes;
    const struct workload_rules *rules; /* NULL: muster creates no PodGroups */
    const struct cluster_sink *sink;
    void (*settled)(void *arg); /* suspended_workloads_settled() may have become true */
    void *arg;
    usec_t keep; /* how long pods stay after the workload was resumed; 0: one minute */
};

struct suspended_workloads *
suspended_workloads_new(const struct suspended_workloads_options *options);
/* Call it before writer_free(). Accepts NULL; returns NULL. */
struct suspended_workloads *suspended_workloads_free(struct suspended_workloads *s);

/* Call it after podgroups_set() and podgroups_gone(). They send nothing. */
void suspended_workloads_group(struct suspended_workloads *s, const struct gang_group_facts *facts,
                               const json_t *object);
void suspended_workloads_group_gone(struct suspended_workloads *s, const struct gang_ref *ref);
/* All PodGroups and PriorityClasses are listed. Before, the module posts nothing. knows_groups:
 * muster may read all PodGroups, so a workload without a PodGroup can be resumed. Until then, the
 * module watches only the kinds of workloads that ask to be suspended. */
void suspended_workloads_begin(struct suspended_workloads *s, bool knows_groups);
/* Whether it has begun, and has shown all suspended workloads of the PodGroups seen so far. Does
 * not wait for other kinds, because then an error of an unused API would keep muster from starting.
 */
bool suspended_workloads_settled(const struct suspended_workloads *s);

#endif
