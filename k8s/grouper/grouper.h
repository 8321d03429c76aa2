/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper.h - creates PodGroups for pods that have none.
 *
 * For each pod that workload_wants_podgroup() selects, the grouper does the following:
 *   1. It reads the owners of the pod up to the top one (owner_cache.h).
 *   2. It gets the PodGroup from workload_group(), and creates it if it does not exist.
 *   3. It links the pod to the PodGroup with a label or an annotation, as a user would.
 *
 * Until the link is written, awaits_group in the pod's facts keeps the pod from being scheduled on
 * its own. All state is in API objects, so a restarted muster continues where it stopped.
 *
 * The top owner owns the PodGroups created here (created_podgroup.h). Garbage collection deletes
 * them with the owner, and they follow its size. If a user deletes a PodGroup, the grouper creates
 * it again only for a new pod. It does not change pods that were bound without a link.
 *
 * Objects from the watches go through grouper_overlay(), decoding, grouper_pod() and the functions
 * below them. These functions send nothing. All functions belong to the API thread. All except
 * grouper_new() accept NULL, which stands for a muster that creates no PodGroups.
 */
#ifndef MUSTER_K8S_GROUPER_GROUPER_H
#define MUSTER_K8S_GROUPER_GROUPER_H

#include "k8s/client/client.h"
#include "k8s/list_watch/podgroup_cache.h"
#include "k8s/write/write.h"

struct grouper;

struct grouper_options {
    const struct workload_rules *rules; /* all pointers are borrowed */
    struct client *client;
    struct podgroups *groups;
    struct writer *writer;
    struct api_metrics *metrics;
    /* Passes a pod on as if it came from the watch. Borrows the object. */
    void (*show)(void *arg, json_t *pod);
    void *arg;
    /* 0: the defaults (2 s, 15 s, 30 s). */
    usec_t retry;    /* first pause after a failed request */
    usec_t look;     /* how often blocked work is tried again */
    usec_t patience; /* muster sends an event after a pod has waited this long in vain */
};

struct grouper *grouper_new(const struct grouper_options *options);
/* Call it before writer_free(). Returns NULL. */
struct grouper *grouper_free(struct grouper *g);

/* Call it before a pod is decoded. Adds the pod's link if muster has written it and the watch has
 * not shown it yet. */
void grouper_overlay(struct grouper *g, json_t *pod);
/* Call it after the pod was decoded. Sets awaits_group in the facts of a pod without a PodGroup. */
void grouper_pod(struct grouper *g, const json_t *pod, struct gang_pod_facts *facts);
void grouper_pod_gone(struct grouper *g, const char *ns, const char *name);
/* Call it after podgroups_set(). */
void grouper_group(struct grouper *g, const struct gang_ref *ref, const json_t *object);
/* Call it after podgroups_gone(). */
void grouper_group_gone(struct grouper *g, const struct gang_ref *ref);
/* ready: all PodGroups of this dialect are known, because they are listed or not served. */
void grouper_ready(struct grouper *g, const struct dialect *dialect, bool ready);

#endif
