/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspended_jobs.h - suspends and resumes the Jobs of the built-in cluster, and shows the core the
 * pods that stand for those of a suspended Job. k8s/write/write_suspend.c and
 * k8s/grouper/suspended_workloads.c do the same with a real cluster. Workloads of other kinds do
 * not exist here. One thread.
 */
#ifndef MUSTER_SIMULATOR_SUSPENDED_JOBS_H
#define MUSTER_SIMULATOR_SUSPENDED_JOBS_H

#include "k8s/decode/priority_classes.h"
#include "k8s/interface/cluster.h"
#include "simulator/api_server.h"

struct suspended_jobs;

/* All pointers are borrowed. */
struct suspended_jobs *suspended_jobs_new(struct store *store, const struct cluster_sink *sink);
struct suspended_jobs *suspended_jobs_free(struct suspended_jobs *s);

/* Carry out GANG_SUSPEND and GANG_RESUME. */
void suspended_jobs_suspend(struct suspended_jobs *s, const struct gang_effect *e);
void suspended_jobs_resume(struct suspended_jobs *s, const struct gang_effect *e);
/* Call them when the watch shows a Job, a PriorityClass, or the deletion of a PodGroup. */
void suspended_jobs_show(struct suspended_jobs *s, const json_t *job, bool gone);
void suspended_jobs_show_class(struct suspended_jobs *s, const json_t *class, bool gone);
void suspended_jobs_group_gone(struct suspended_jobs *s, const struct gang_ref *ref);

#endif
