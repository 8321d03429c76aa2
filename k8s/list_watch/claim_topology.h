/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_topology.h - the nodes on which each PersistentVolumeClaim can be used. They follow from
 * the claim and its volume.
 *
 *   1. claim_topology_new(sink)
 *   2. claim_topology_set() and claim_topology_set_volume() for each object that exists or changes,
 *      *_gone() for each deleted object. The order does not matter: a volume may come before or
 *      after its claim.
 *   3. It posts CLAIM_SET whenever a claim is bound or its nodes change, and CLAIM_GONE when such
 *      a claim is deleted. It posts nothing for a claim that is neither bound nor being prepared.
 *   4. claim_topology_free()
 *
 * It keeps the claims that are bound or being prepared for a node, and the required node affinity
 * of volumes. The nodes that kube-scheduler offers reflect everything else: the volumes to which
 * an unbound claim could be bound (local volumes that exist already), storage classes, capacity,
 * attach limits, and zone labels of volumes without node affinity. Belongs to one thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_CLAIM_TOPOLOGY_H
#define MUSTER_K8S_LIST_WATCH_CLAIM_TOPOLOGY_H

#include <jansson.h>

#include "base/err.h"
#include "k8s/interface/cluster.h"

struct claim_topology;

/* The sink is copied. */
struct claim_topology *claim_topology_new(const struct cluster_sink *sink);
/* Posts nothing. Accepts NULL; returns NULL. */
struct claim_topology *claim_topology_free(struct claim_topology *c);

/* Objects are borrowed. -1: the object cannot be read, and what was known about it is dropped. */
int claim_topology_set(struct claim_topology *c, const json_t *claim, struct err *err);
void claim_topology_gone(struct claim_topology *c, const char *ns, const char *name);
int claim_topology_set_volume(struct claim_topology *c, const json_t *volume, struct err *err);
void claim_topology_volume_gone(struct claim_topology *c, const char *name);

/* The facts that were posted last for the claim; the caller frees them. NULL: there are none. */
struct gang_claim_facts *claim_topology_facts(const struct claim_topology *c, const char *ns,
                                              const char *name);

#endif
