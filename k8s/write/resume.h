/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - resumes workloads that muster has suspended, without a running muster.
 *
 * resume_workloads() lists, for each kind that can be suspended and that the API server serves, the
 * workloads with the label WORKLOAD_SUSPENDED, and resumes them. It blocks the calling thread and
 * keeps no state.
 */
#ifndef MUSTER_K8S_WRITE_RESUME_H
#define MUSTER_K8S_WRITE_RESUME_H

#include "base/err.h"

enum resume_outcome {
    RESUME_DONE, /* it runs (dry_run: it would) */
    RESUME_GONE, /* it does not exist any more, or was resumed by another writer */
    RESUME_KEPT, /* it is still suspended */
};

struct resume_options {
    const char *kubeconfig; /* NULL: use the service account of muster's own Pod */
    const char *version;    /* muster's version, for the user agent */
    const char *ns;         /* NULL: all namespaces */
    const char *kind;       /* "Job" or "jobs", in any case; NULL: all kinds */
    const char *name;       /* NULL: all names */
    bool dry_run;           /* write nothing */
    /* Called once for each workload. `why` is set for RESUME_KEPT only. */
    void (*workload)(void *arg, const char *kind, const char *ns, const char *name,
                     enum resume_outcome outcome, const char *why);
    void *arg;
};

/* -1: workloads of a kind could not be listed. Workloads of the other kinds are resumed, and the
 * calls of workload() are correct. */
int resume_workloads(const struct resume_options *options, struct err *err);
/* Whether objects of this kind can be suspended. */
bool resume_knows_kind(const char *kind);

#endif
