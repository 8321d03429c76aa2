/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ungate.h - takes muster's scheduling gate off pods, without a muster that runs.
 *
 * ungate_pods() lists the pods, page by page, and patches each that has the gate, and lists them
 * again until none is left that has it, five times at most: a pod may be created again under its
 * name while the policy that sets the gate is still there. It blocks the calling thread and keeps
 * nothing.
 */
#ifndef MUSTER_K8S_WRITE_UNGATE_H
#define MUSTER_K8S_WRITE_UNGATE_H

#include "base/err.h"

enum ungate_outcome {
    UNGATE_DONE, /* the gate is off (dry_run: it would be) */
    UNGATE_GONE, /* the pod is not there any more */
    UNGATE_KEPT, /* it keeps the gate */
};

struct ungate_options {
    const char *kubeconfig; /* NULL: the service account of the Pod we run in */
    const char *version;    /* of this program, for the user agent */
    const char *ns;         /* NULL: all namespaces */
    bool dry_run;           /* nothing is written */
    /* Called for each pod that had the gate, once; why: it keeps it, else NULL. */
    void (*pod)(void *arg, const char *ns, const char *name, enum ungate_outcome outcome,
                const char *why);
    void *arg;
};

/* -1: the pods could not be listed; what `pod` was called for is true all the same. */
int ungate_pods(const struct ungate_options *options, struct err *err);

/* The strategic merge patch of a pod that takes the gate off and leaves others' alone; allocated.
 */
char *ungate_patch(const char *uid);

#endif
