/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup_cache.h - the latest known version of each PodGroup object, and the API version in
 * which each dialect is served.
 *
 * muster writes a status as the difference to the existing object (dialect.h), so it must know the
 * object. Objects come from the watch, and from the replies to muster's own writes. For a moment,
 * such a reply is newer than the watch.
 *
 * Two cases would make muster write the same field again and again: the CRD's schema lacks the
 * field, so the API server drops it, or another writer keeps changing it. podgroups_trim() removes
 * such fields from a status before it is written.
 *
 * Only the API thread calls these functions.
 */
#ifndef MUSTER_K8S_LIST_WATCH_PODGROUP_CACHE_H
#define MUSTER_K8S_LIST_WATCH_PODGROUP_CACHE_H

#include "k8s/dialect/dialect.h"

struct podgroups;

struct podgroups_served {
    const struct dialect *dialect;
    char version[32]; /* "": not served */
    bool status_subresource;
};

#define PODGROUPS_FIELD 32

struct podgroups *podgroups_new(void);
/* Accepts NULL; returns NULL. */
struct podgroups *podgroups_free(struct podgroups *g);

/* version NULL: not served. */
void podgroups_serve(struct podgroups *g, const struct dialect *dialect, const char *version,
                     bool status_subresource);
/* NULL if the API group belongs to no dialect, or is not served. */
const struct podgroups_served *podgroups_served(const struct podgroups *g, const char *api_group);

/* Stores an object from the watch. The caller keeps the object; its managedFields are removed. */
void podgroups_set(struct podgroups *g, const struct gang_ref *ref, json_t *object);
/* The same, for an object from the reply to muster's own write or read. */
void podgroups_written(struct podgroups *g, const struct gang_ref *ref, json_t *object, usec_t now);
void podgroups_gone(struct podgroups *g, const struct gang_ref *ref);
/* The latest known version; borrowed until the next call. NULL: there is no such PodGroup. */
const json_t *podgroups_seen(struct podgroups *g, const struct gang_ref *ref, usec_t now);

/* Number i of the PodGroups whose workload, which can be suspended, has this UID. NULL: there are
 * no more. Borrowed until the PodGroup is gone. */
const struct gang_ref *podgroups_of_workload(const struct podgroups *g, const char *uid, size_t i);
/* The UID of that workload, borrowed until the PodGroup changes; NULL: it has none. */
const char *podgroups_workload(const struct podgroups *g, const struct gang_ref *ref);

/* A pod of the PodGroup has these owners, see dialect_owners(). The first call counts, until the
 * PodGroup is gone. */
void podgroups_linked(struct podgroups *g, const struct gang_ref *ref, const char *owners);
/* NULL: unknown. Borrowed until the PodGroup is gone. */
const char *podgroups_owners(const struct podgroups *g, const struct gang_ref *ref);

/*
 * Removes fields that muster should not write now. True: another writer has changed a field back
 * so often that muster stops writing the field for a while; its name is copied to `field`.
 */
bool podgroups_trim(struct podgroups *g, const struct gang_ref *ref, json_t *status, usec_t now,
                    char field[PODGROUPS_FIELD]);
/* muster wrote this status, and the API server returned `object`. */
void podgroups_wrote(struct podgroups *g, const struct gang_ref *ref, const json_t *status,
                     const json_t *object, usec_t now);

#endif
