/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_common.h - what queue APIs have in common, for the files queue_*.c only. Pure, any thread.
 */
#ifndef MUSTER_K8S_DIALECT_QUEUE_COMMON_H
#define MUSTER_K8S_DIALECT_QUEUE_COMMON_H

#include <stddef.h>

#include "gang/bounds.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/dialect/queue_dialect.h"

extern const struct queue_dialect queue_kai, queue_volcano, queue_koordinator, queue_xk8s;

/* A member of the quotas, of type int64_t. */
#define QUOTA(member) offsetof(struct gang_quota, member)
/*
 * Reads the map of resource names to quantities at `path` in the spec into that member of the
 * facts' quotas. Set the facts' weight before: new quotas take it.
 */
int queue_quantities(const json_t *spec, const char *path, size_t member,
                     struct gang_queue_facts *facts, struct err *err);
/* -1: n is more than the bound. */
int queue_check_bound(enum gang_bound bound, size_t n, struct err *err);
/* The name of the parent; NULL, empty and the dialect's root name: none. */
void queue_parent(const struct queue_dialect *dialect, const char *name,
                  struct gang_queue_facts *facts);

/* A member of the amounts, of type int64_t. */
#define AMOUNT(member) offsetof(struct gang_queue_amount, member)
int64_t queue_amount(const struct gang_queue_amount *a, size_t member);
/* The first resource whose use exceeds that member; NULL: none. */
const struct gang_queue_amount *queue_over(const struct gang_queue_status *status, size_t member);
/* Drafts a map of resource names to quantities. GANG_ANY_GPU is written as nvidia.com/gpu if the
 * status lists no resource that counts in it. */
void queue_draft_amounts(struct status_draft *d, const char *key,
                         const struct gang_queue_status *status, size_t member);
/* An amount as a quantity: cpu "1500m", memory "2Gi", devices "8". Allocated. */
char *queue_quantity(const char *resource, int64_t amount);

#endif
