/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_topology.h - the nodes that each PersistentVolumeClaim may be used on, from the claim and
 * its volume.
 *
 *   1. claim_topology_new(sink)
 *   2. claim_topology_set() and claim_topology_set_volume() for each object that exists or changes,
 *      *_gone() for deleted ones, in any order: a volume may come before or after its claim.
 *   3. Whenever a claim is bound or its nodes change, CLAIM_SET is posted, and CLAIM_GONE when
 *      such a claim is deleted. Nothing is posted for a claim of which nothing is known.
 *   4. claim_topology_free()
 *
 * It keeps the claims that are bound or being prepared for a node, by name, and the required node
 * affinity of volumes. The rest is left to the nodes that kube-scheduler offers: which volumes an
 * unbound claim could be bound to (local volumes created beforehand), storage classes, capacity,
 * attach limits, zone labels of volumes without node affinity. Belongs to one thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_CLAIM_TOPOLOGY_H
#define MUSTER_K8S_LIST_WATCH_CLAIM_TOPOLOGY_H

#include <jansson.h>

#include "base/err.h"
#include "k8s/interface/cluster.h"

struct claim_topology;

/* The sink is copied. */
struct claim_topology *claim_topology_new(const struct cluster_sink *sink);
/* Posts nothing; returns NULL. */
struct claim_topology *claim_topology_free(struct claim_topology *c);

/* Objects are borrowed. -1: it cannot be read, and nothing is known of it any more. */
int claim_topology_set(struct claim_topology *c, const json_t *claim, struct err *err);
void claim_topology_gone(struct claim_topology *c, const char *ns, const char *name);
int claim_topology_set_volume(struct claim_topology *c, const json_t *volume, struct err *err);
void claim_topology_volume_gone(struct claim_topology *c, const char *name);

/* What was posted of it last, for the caller to free; NULL: nothing is known. */
struct gang_claim_facts *claim_topology_facts(const struct claim_topology *c, const char *ns,
                                              const char *name);

#endif
