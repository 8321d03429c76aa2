/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup_rules.h - makes the rules for the creation of PodGroups from the settings.
 *
 * The rules borrow from the settings, which must live longer. They do not change, so any thread may
 * read them.
 */
#ifndef MUSTER_CMD_PODGROUP_RULES_H
#define MUSTER_CMD_PODGROUP_RULES_H

#include "config/config.h"
#include "workload/workload.h"

/* Never NULL. */
struct workload_rules *podgroup_rules_new(const struct config *c);
/* rules may be NULL. Returns NULL. */
struct workload_rules *podgroup_rules_free(struct workload_rules *rules);

#endif
