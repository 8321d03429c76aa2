/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_clock.h - the API server's clock. Objects have its times, and it may differ from the clock of
 * the node of muster.
 *
 * It starts with the Date of the API server's replies (SYNCED). If it falls behind, the creation of
 * a new pod corrects it. Other times in pods do not count: a kubelet may have written them, and the
 * clock of one node must not change rules for other pods.
 */
#ifndef MUSTER_GANG_CLUSTER_API_CLOCK_H
#define MUSTER_GANG_CLUSTER_API_CLOCK_H

#include "gang/cluster/core.h"

usec_t api_time(const struct gang_core *core);
/* The API server's clock has reached `time`. */
void api_time_seen(struct gang_core *core, usec_t time);

#endif
