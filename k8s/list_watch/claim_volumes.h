/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_volumes.h - where PersistentVolumeClaims may be used: each claim joined with its volume.
 *
 *   1. claims_new(sink)
 *   2. claims_set() and claims_set_volume() for what exists and what changes, *_gone() for what was
 *      deleted, in any order: a volume may come before or after the claim that is bound to it.
 *   3. Whenever a claim is bound or the nodes that it may be used on change, CLAIM_SET is posted,
 * and CLAIM_GONE when such a claim was deleted. One that nothing is known of is not posted.
 *   4. claims_free()
 *
 * Kept are the claims that are bound or being prepared for a node, by name, and of volumes the
 * required node affinity. What is not known here is left to what the scheduler offers: which
 * volumes an unbound claim could be bound to (local volumes made beforehand), storage classes,
 * capacity, attach limits, zone labels of volumes without node affinity. Belongs to one thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_CLAIM_VOLUMES_H
#define MUSTER_K8S_LIST_WATCH_CLAIM_VOLUMES_H

#include <jansson.h>

#include "base/err.h"
#include "k8s/interface/cluster.h"

struct claims;

/* The sink is copied. */
struct claims *claims_new(const struct cluster_sink *sink);
/* Posts nothing; returns NULL. */
struct claims *claims_free(struct claims *c);

/* Objects are borrowed. -1: it cannot be read, and nothing is known of it any more. */
int claims_set(struct claims *c, const json_t *claim, struct err *err);
void claims_gone(struct claims *c, const char *ns, const char *name);
int claims_set_volume(struct claims *c, const json_t *volume, struct err *err);
void claims_volume_gone(struct claims *c, const char *name);

/* What was posted of it last, for the caller to free; NULL: nothing is known. */
struct gang_claim_facts *claims_facts(const struct claims *c, const char *ns, const char *name);

#endif
