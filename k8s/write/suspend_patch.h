/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspend_patch.h - which workloads muster suspends, and the patches that suspend and resume them.
 *
 * A workload that muster has suspended has the label WORKLOAD_SUSPENDED. So muster never resumes a
 * workload that another writer has suspended, and needs no state of its own. Pure: any thread.
 */
#ifndef MUSTER_K8S_WRITE_SUSPEND_PATCH_H
#define MUSTER_K8S_WRITE_SUSPEND_PATCH_H

#include <jansson.h>

#include "base/err.h"
#include "base/usec.h"
#include "workload/workload.h"

/* The query parameter that selects workloads with this label. */
#define SUSPENDED_SELECTOR "labelSelector=muster.dev%2Fsuspended%3Dtrue"

/* Whether muster has suspended the workload, or had before another writer resumed it. */
bool suspended_by_muster(const json_t *workload);
/* Whether its field is true. */
bool is_suspended(const struct workload_suspendable *of, const json_t *workload);
/* Kueue decides when such a workload runs, so muster neither suspends nor resumes it. */
bool is_of_kueue(const json_t *workload);
/* 0: muster may suspend the workload, which runs. -1: it may not; the error says why. */
int check_suspendable(const struct workload_suspendable *of, const json_t *workload,
                      struct err *err);

/* Merge patches, as texts that the caller frees. They apply only to this version of the workload.
 * `why` is for users, and `wall` is the time. */
char *suspend_patch(const struct workload_suspendable *of, const json_t *workload, const char *why,
                    usec_t wall);
char *resume_patch(const struct workload_suspendable *of, const json_t *workload);

#endif
