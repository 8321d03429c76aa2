/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_gangs.h - the gangs that would come of manifests if a user submitted them.
 *
 *   1. manifest_parse.c splits YAML or JSON into objects.
 *   2. manifest_gangs.c lets workloads create their pods (workload/), makes the PodGroups that
 *      muster would create for them (created_podgroup.h), and decodes all of them (decode.h).
 *   3. The caller passes the events to gang_core_dry_run().
 *
 * Each object is wrong by itself: a fault names it, and the others are read. What one text may cost
 * is bounded: MANIFEST_VALUES, MANIFEST_OBJECTS, MANIFEST_BYTES, MANIFEST_WORK and GANG_DRY_PODS.
 *
 * Stateless; any thread.
 */
#ifndef MUSTER_K8S_MANIFEST_MANIFEST_GANGS_H
#define MUSTER_K8S_MANIFEST_MANIFEST_GANGS_H

#include <jansson.h>

#include "gang/gang.h"
#include "workload/workload.h"

#define MANIFEST_VALUES  50000             /* JSON values in the text */
#define MANIFEST_OBJECTS 512               /* in the text, with those in Lists */
#define MANIFEST_BYTES   ((size_t)8 << 20) /* memory of the facts */
#define MANIFEST_WORK    2000000           /* values of an object, for each pod that it creates */
#define MANIFEST_NOTED   64                /* faults and ignored objects that are kept */

/* Where a gang comes from, if its PodGroup is not in the text. */
struct manifest_source {
    struct gang_ref ref;
    char *kind, *name; /* of the workload or pod */
    bool single;       /* muster would create no PodGroup, so each pod is a gang of one. Here they
                          are one gang with the minimum 1, which is the same */
};
struct manifest_gangs {
    struct gang_event *events; /* GROUP_SETs and POD_SETs; facts that the caller takes are NULL */
    char **classes;            /* by event: the PriorityClass of a pod that has no priority; NULL */
    size_t n, cap, cap_classes;
    struct manifest_source *sources;
    size_t n_sources, cap_sources;
    char **faults; /* "Job ml/train: spec.parallelism is a string, must be a whole number" */
    size_t n_faults;
    char **ignored; /* objects that do not belong to a gang: "Service train" */
    size_t n_ignored;
};

struct manifest_options {
    const char *ns;                     /* of objects that name none; NULL: "default" */
    const struct workload_rules *rules; /* NULL: muster creates no PodGroups */
    usec_t wall;                        /* when the objects would be created */
};

/* NULL: the text is neither YAML nor JSON, or exceeds a bound. Free it with manifest_gangs_free(),
 * which accepts NULL and returns NULL. */
struct manifest_gangs *manifest_gangs_read(const char *text, size_t len,
                                           const struct manifest_options *options, struct err *err);
struct manifest_gangs *manifest_gangs_free(struct manifest_gangs *m);
/* Adds a fault that was found later. */
void manifest_fault(struct manifest_gangs *m, const char *kind, const char *ns, const char *name,
                    const char *text);
/* NULL: its PodGroup is in the text. */
const struct manifest_source *manifest_source_of(const struct manifest_gangs *m,
                                                 const struct gang_ref *ref);

/* The objects of a text, as an array that the caller owns. NULL: an error. (manifest_parse.c) */
json_t *manifest_parse(const char *text, size_t len, struct err *err);

#endif
