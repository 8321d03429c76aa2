/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup_rules.h - from the settings: the pods that muster creates PodGroups for.
 *
 * The rules borrow from the settings, which must live as long. They are const once created, and
 * any thread may read them.
 */
#ifndef MUSTER_CMD_PODGROUP_RULES_H
#define MUSTER_CMD_PODGROUP_RULES_H

#include "config/config.h"
#include "workload/workload.h"

struct workload_rules *podgroup_rules_new(const struct config *c);
/* NULL is fine. Returns NULL. */
struct workload_rules *podgroup_rules_free(struct workload_rules *rules);

#endif
