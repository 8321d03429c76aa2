/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - the PodGroup APIs that muster reads and writes.
 *
 * A dialect is a constant table with a few functions, in a file of its own (dialect_*.c). To add a
 * dialect, write its file and add it to the list in dialect.c. No other code of k8s/, server/ or
 * gang/ knows the field names, phases or annotations of a PodGroup API.
 *
 * Most dialects have objects: a custom resource describes the PodGroup, and pods refer to it by
 * name. A dialect without versions is declared: it has no objects, and each pod describes its
 * PodGroup itself.
 *
 * All functions are pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_K8S_DIALECT_DIALECT_H
#define MUSTER_K8S_DIALECT_DIALECT_H

#include <jansson.h>

#include "base/err.h"
#include "gang/effect.h"
#include "gang/facts.h"
#include "workload/workload.h"

/* The key of a label or annotation of a pod. */
struct dialect_key {
    enum { KEY_END, KEY_LABEL, KEY_ANNOTATION } kind;
    const char *name;
};

/* What muster does with a field. A field that it does not use has none of them. */
enum dialect_use {
    DIALECT_READS = 1,   /* in each PodGroup */
    DIALECT_WRITES = 2,  /* in each PodGroup */
    DIALECT_CREATES = 4, /* in PodGroups that it creates */
};

/* A field of a PodGroup, for docs/reference/podgroup-fields.md. The path leads from the object:
 * "spec.minMember". In a list each item counts: "spec.subGroups[].name". Or "annotation KEY" or
 * "label KEY", of the PodGroup or of a pod that declares its group. */
struct dialect_field {
    const char *path;
    unsigned use; /* of enum dialect_use */
    const char *meaning;
};

/* The object for which a status is made. */
struct dialect_view {
    const json_t *group; /* its latest known version; NULL: unknown */
    const char *owners;  /* owners of its pods, see dialect_owners(); NULL: unknown */
    usec_t wall;         /* the current time, for conditions */
};

struct dialect {
    const char *name;            /* "volcano", for the configuration and messages */
    const char *api_group;       /* "scheduling.volcano.sh" */
    const char *const *versions; /* preferred first, NULL at the end; none: declared by pods */
    bool status_subresource;     /* the API has a status subresource */
    usec_t default_timeout;      /* if the object has no schedule timeout; 0: the setting counts */

    /* The keys with which a pod names its PodGroup (in its own namespace) and its role there. The
     * first key with a value counts. muster itself writes the first key of each list. The lists end
     * with KEY_END; roles may be NULL. */
    const struct dialect_key *links, *roles;
    /* If a pod has links of several dialects of one family, the first one in dialects[] counts.
     * Different links of other dialects contradict each other. NULL: no family. */
    const char *family;
    const char *uniform; /* a label whose value must be the same for all members; NULL: none */
    const struct dialect_field *fields; /* all that the API has; path NULL at the end */

    /*
     * Decodes an object, or a pod that declares its PodGroup. ref, uid, created and the default
     * timeout are already set. -1: the object is invalid, see gang_group_facts.
     */
    int (*decode)(const json_t *object, struct gang_group_facts *facts, struct err *err);
    /* Returns the status to write as a JSON merge patch of the object ({"status": {…}}), which the
     * caller owns. NULL: nothing has changed. The function itself is NULL in a declared dialect. */
    json_t *(*status)(const struct gang_status *status, const struct dialect_view *view);
    /* Returns the spec of a PodGroup for a workload. The caller owns it. NULL in a declared
     * dialect. */
    json_t *(*make)(const struct workload_group *group);
};

/* All dialects, in the order in which a pod's links are searched; NULL at the end. */
extern const struct dialect *const dialects[];

/* NULL if there is none. */
const struct dialect *dialect_by_group(const char *api_group);
/* As dialect_by_group(), but only dialects with objects. */
const struct dialect *dialect_of_objects(const char *api_group);
bool dialect_has_objects(const struct dialect *dialect);

/*
 * Returns the dialect of the pod's link. *ret_name gets the name of the PodGroup, borrowed from the
 * pod. NULL: the pod has no link, or an invalid one: it names two PodGroups, or a name that no
 * PodGroup can have. *ret_bad (ret_bad may be NULL) then gets a sentence with keys, values and the
 * remedy, which the caller frees.
 */
const struct dialect *dialect_of_pod(const json_t *pod, const char **ret_name, char **ret_bad);
/* Borrowed from the pod; NULL: it has no role. */
const char *dialect_role(const struct dialect *dialect, const json_t *pod);
/* The pod's owners in the form that PodGroups use: "namespace/name", joined by commas. The caller
 * frees it. NULL: it has no owners. */
char *dialect_owners(const json_t *pod);

#endif
