/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption_budgets.h - PodDisruptionBudgets, which limit evictions.
 *
 * The eviction API refuses to evict a pod if its budget allows no more disruptions, or if several
 * budgets cover the pod. Pods that are not running yet, or are Terminating, need no budget. A user
 * who may create budgets can protect all pods of the namespace. So muster reads no more than
 * BOUND_BUDGETS of them: with more, no pod of the namespace that needs a budget may be evicted.
 *
 * Which budget covers a pod is found out when it is first asked for. A pod keeps the answer until
 * its labels or the budgets of its namespace change.
 */
#ifndef MUSTER_GANG_CLUSTER_DISRUPTION_BUDGETS_H
#define MUSTER_GANG_CLUSTER_DISRUPTION_BUDGETS_H

#include "gang/cluster/lookup.h"

/* Takes the facts. */
void on_budget_set(struct gang_core *core, struct gang_budget_facts *facts);
void on_budget_gone(struct gang_core *core, const char *ns, const char *name);
void budgets_done(struct gang_core *core);

static inline bool budgets_exist(const struct gang_core *core)
{
    return map_count(&core->budgets.namespaces) > 0;
}
/* The labels of the pod changed. */
void pod_budget_forget(struct pod *pod);
/* Counts the pod as evicted (1) or not any more (-1), within a trial. */
void budget_take(struct gang_core *core, struct pod *pod, int n);
/* The budget that forbids to evict the pod after those that count as evicted; its name is NULL if
 * several budgets cover the pod. NULL: the pod may be evicted. Valid until the next step. Adds to
 * core->budgets.compared how many budgets it has compared with the pod. */
const struct gang_budget_facts *budget_in_the_way(struct gang_core *core, struct pod *pod);

#endif
