/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper.h - creates PodGroups for pods that have none.
 *
 * For each pod that workload_wants_podgroup() selects, the grouper reads the owners up to the top
 * one (owner_cache.h), asks workload_group() for the PodGroup, creates it if none of that name
 * exists, and links the pod to it by a label or an annotation, as a user would. Until then the
 * pod's facts say that it waits (awaits_group), so that it is never scheduled on its own. Only
 * what is written to the API counts: a pod is a member once its link is written, and after a
 * restart muster finds everything as it was.
 *
 * PodGroups created here (created_podgroup.h) are owned by the top owner: garbage collection
 * deletes them with it, and they follow its size. A PodGroup that a user deletes is created again
 * only when a new pod needs it. Pods that were bound without a link are left alone.
 *
 * What the watches show goes through grouper_overlay(), decoding, grouper_pod() and so on; nothing
 * is sent inside these. API thread. All functions but grouper_new() accept NULL: no PodGroups are
 * created.
 */
#ifndef MUSTER_K8S_GROUPER_GROUPER_H
#define MUSTER_K8S_GROUPER_GROUPER_H

#include "k8s/client/client.h"
#include "k8s/list_watch/podgroup_cache.h"
#include "k8s/write/write.h"

struct grouper;

struct grouper_options {
    const struct workload_rules *rules; /* all borrowed */
    struct client *client;
    struct podgroups *groups;
    struct writer *writer;
    struct api_metrics *metrics;
    /* Shows a pod as if the watch had shown it; borrows the object. */
    void (*show)(void *arg, json_t *pod);
    void *arg;
    /* 0: the defaults (2 s, 15 s, 30 s). */
    usec_t retry;    /* first pause after a failed call */
    usec_t look;     /* what cannot be done is looked at again so often */
    usec_t patience; /* then an event says so */
};

struct grouper *grouper_new(const struct grouper_options *options);
/* Before writer_free(). */
struct grouper *grouper_free(struct grouper *g);

/* Before a pod is decoded: adds the link that was written and that the watch has not shown yet. */
void grouper_overlay(struct grouper *g, json_t *pod);
/* After it was decoded: says in its facts what it waits for. */
void grouper_pod(struct grouper *g, const json_t *pod, struct gang_pod_facts *facts);
void grouper_pod_gone(struct grouper *g, const char *ns, const char *name);
/* After podgroups_set(), after podgroups_gone(). */
void grouper_group(struct grouper *g, const struct gang_ref *ref, const json_t *object);
void grouper_group_gone(struct grouper *g, const struct gang_ref *ref);
/* Whether what there is of this dialect is known: it is listed, or not served. */
void grouper_ready(struct grouper *g, const struct dialect *dialect, bool ready);

#endif
