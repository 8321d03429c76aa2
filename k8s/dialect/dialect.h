/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - one PodGroup API as people already use it.
 *
 * A dialect is a constant table and a few functions; one file each (dialect_*.c), listed in
 * dialect.c. To add one: write the file, add it to the list. Nothing else in muster knows field
 * names, phases or annotations of any PodGroup API. All functions are pure.
 *
 * Most are custom resources: an object says what the group needs, pods name it. Some are not
 * ("declared": no versions): each pod says itself what its group needs.
 */
#ifndef MUSTER_K8S_DIALECT_DIALECT_H
#define MUSTER_K8S_DIALECT_DIALECT_H

#include <jansson.h>

#include "base/err.h"
#include "gang/effect.h"
#include "gang/facts.h"
#include "workload/workload.h"

/* A label or an annotation of a pod. */
struct dialect_key {
    enum { KEY_END, KEY_LABEL, KEY_ANNOTATION } kind;
    const char *name;
};

/* What a status is written into. */
struct dialect_view {
    const json_t *group; /* the object as last seen; NULL: never */
    const char *owners;  /* of its pods, see dialect_owners(); NULL: not known */
    usec_t wall;         /* for the times of conditions */
};

struct dialect {
    const char *name;            /* "volcano", for config and people */
    const char *api_group;       /* "scheduling.volcano.sh" */
    const char *const *versions; /* preferred first, NULL at the end; none: pods declare it */
    bool status_subresource;     /* write to …/status, else to the object */
    usec_t default_timeout; /* scheduleTimeoutSeconds where the object has none; 0: the config's */

    /* Where a pod names its PodGroup (in its own namespace), and its part there; the first that is
     * not empty counts, and the first of each is what muster itself writes. Closed by KEY_END;
     * roles may be NULL. */
    const struct dialect_key *links, *roles;
    /* Dialects of one family (NULL: none) know of each other: the first in dialects[] that links a
     * pod counts, and what the others say is no contradiction. */
    const char *family;
    const char *uniform; /* a label that all members must have alike; NULL: none */

    /*
     * Fills what the spec of an object, or a pod that declares its group, says; ref, uid, created
     * and the default timeout are already set. -1: what it says is wrong, see gang_group_facts.
     */
    int (*decode)(const json_t *object, struct gang_group_facts *facts, struct err *err);
    /* The status to write, as a JSON merge patch of the whole object ({"status": {…}}); NULL when
     * nothing would change. The caller owns it. NULL in a declared dialect. */
    json_t *(*status)(const struct gang_status *status, const struct dialect_view *view);
    /* The spec of a PodGroup for a workload. The caller owns it. NULL in a declared dialect. */
    json_t *(*make)(const struct workload_group *group);
};

/* All dialects, in the order in which links are looked for; NULL at the end. */
extern const struct dialect *const dialects[];

/* NULL when there is none. */
const struct dialect *dialect_by_group(const char *api_group);
/* The same, of those that have objects. */
const struct dialect *dialect_of_objects(const char *api_group);
bool dialect_has_objects(const struct dialect *dialect);

/*
 * The dialect that links the pod, and its PodGroup's name (borrowed from the pod); NULL when it is
 * linked to none. If it names two, or one that cannot be, it is linked to none either, and *ret_bad
 * (may be NULL; the caller frees it) says so: a sentence with keys, values and remedy.
 */
const struct dialect *dialect_of_pod(const json_t *pod, const char **ret_name, char **ret_bad);
/* Borrowed from the pod; NULL when it has none. */
const char *dialect_role(const struct dialect *dialect, const json_t *pod);
/* What owns the pod, as PodGroups say it: "namespace/name", several joined by a comma; NULL:
 * nothing does. The caller frees it. */
char *dialect_owners(const json_t *pod);

#endif
