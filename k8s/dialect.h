/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - one PodGroup API as people already use it.
 *
 * A dialect is a constant table of a few functions; one file each (dialect_*.c), listed in
 * dialect.c. To add one: write the file, add it to the list. Nothing else in muster knows field
 * names, phases or annotations of any PodGroup API. All functions are pure.
 */
#ifndef MUSTER_K8S_DIALECT_H
#define MUSTER_K8S_DIALECT_H

#include <jansson.h>

#include "base/err.h"
#include "gang/effect.h"
#include "gang/facts.h"

struct dialect {
    const char *name;            /* "volcano", for config and people */
    const char *api_group;       /* "scheduling.volcano.sh" */
    const char *const *versions; /* preferred first, NULL at the end */
    bool status_subresource;     /* write to …/status, else to the object */
    usec_t default_timeout; /* scheduleTimeoutSeconds where the object has none; 0: the config's */

    /* The name of the PodGroup (in the pod's own namespace) that the pod is linked to, or NULL.
     * Borrowed from pod. */
    const char *(*link)(const json_t *pod);
    /* Fills what this dialect's spec says; ref, uid and created are already set. */
    int (*decode)(const json_t *group, struct gang_group_facts *facts, struct err *err);
    /*
     * The status to write, as a JSON merge patch of the whole object ({"status": {…}}), given the
     * object as last seen (may be NULL) and the wall clock for condition times; NULL when nothing
     * would change. The caller owns it.
     */
    json_t *(*status)(const struct gang_status *status, const json_t *group, usec_t wall);
};

/* All dialects, in the order in which links are looked for; NULL at the end. */
extern const struct dialect *const dialects[];

/* NULL when there is none. */
const struct dialect *dialect_by_group(const char *api_group);

#endif
