/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_limits.h - how many pods a Job may lose before it fails (spec.backoffLimit).
 *
 * A Job that fails is not started again, so its work is lost. muster evicts the pods of such a Job
 * only if nothing else makes room (gang/plan/victims.h).
 */
#ifndef MUSTER_GANG_CLUSTER_JOB_LIMITS_H
#define MUSTER_GANG_CLUSTER_JOB_LIMITS_H

#include "gang/cluster/lookup.h"

/* Takes the facts. */
void on_job_set(struct gang_core *core, struct gang_job_facts *facts);
void on_job_gone(struct gang_core *core, const char *ns, const char *name);
void jobs_done(struct gang_core *core);

/* Counts the pod in *losses, a map of pods that are evicted together: full name of a Job -> how
 * many of its pods. True: its Job fails if all of them are evicted. */
bool job_loses(const struct gang_core *core, struct map *losses, const struct pod *pod);

#endif
