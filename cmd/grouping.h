/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouping.h - from the settings, whose pods get PodGroups made for them.
 *
 * The rules borrow from the settings, which must live as long; afterwards they are const, and may
 * be read by every thread.
 */
#ifndef MUSTER_CMD_GROUPING_H
#define MUSTER_CMD_GROUPING_H

#include "config/config.h"
#include "workload/workload.h"

struct workload_rules *grouping_new(const struct config *c);
/* NULL is fine. Returns NULL. */
struct workload_rules *grouping_free(struct workload_rules *rules);

#endif
