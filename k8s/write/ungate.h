/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ungate.h - removes muster's scheduling gate from pods, without a running muster.
 *
 * ungate_pods() lists the pods page by page and patches each pod that has the gate. It repeats this
 * until no pod has the gate, but lists the pods at most five times: while the policy that sets the
 * gate still exists, new pods get the gate. It blocks the calling thread and keeps no state.
 */
#ifndef MUSTER_K8S_WRITE_UNGATE_H
#define MUSTER_K8S_WRITE_UNGATE_H

#include "base/err.h"

enum ungate_outcome {
    UNGATE_DONE, /* the gate was removed (dry_run: it would be) */
    UNGATE_GONE, /* the pod no longer exists */
    UNGATE_KEPT, /* the pod still has the gate */
};

struct ungate_options {
    const char *kubeconfig; /* NULL: use the service account of muster's own Pod */
    const char *version;    /* muster's version, for the user agent */
    const char *ns;         /* NULL: all namespaces */
    bool dry_run;           /* write nothing */
    /* Called once for each pod that had the gate. `why` is set for UNGATE_KEPT only. */
    void (*pod)(void *arg, const char *ns, const char *name, enum ungate_outcome outcome,
                const char *why);
    void *arg;
};

/* -1: the pods could not be listed. Earlier calls of pod() are still correct. */
int ungate_pods(const struct ungate_options *options, struct err *err);

/* The strategic merge patch that removes muster's gate from the pod with this UID and keeps all
 * other gates. The caller frees it. */
char *ungate_patch(const char *uid);

#endif
