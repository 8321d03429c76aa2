/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup_cache.h - the PodGroup objects as last seen, and where each dialect is served.
 *
 * A status is written as the difference to what is there (dialect.h), so what is there must be
 * known: watches set it, and so do the replies to our own writes, which are newer than what the
 * watch has shown for a moment.
 *
 * Two things would make us write the same for ever: a server whose schema does not have a field
 * drops it, and another writer may keep setting it to something else. podgroups_trim() takes such
 * fields out of what is about to be written. API thread only.
 */
#ifndef MUSTER_K8S_LIST_WATCH_PODGROUP_CACHE_H
#define MUSTER_K8S_LIST_WATCH_PODGROUP_CACHE_H

#include "k8s/dialect/dialect.h"

struct podgroups;

struct podgroups_served {
    const struct dialect *dialect;
    char version[32]; /* "" while it is not served */
    bool status_subresource;
};

#define PODGROUPS_FIELD 32

struct podgroups *podgroups_new(void);
struct podgroups *podgroups_free(struct podgroups *g);

/* version NULL: not served. */
void podgroups_serve(struct podgroups *g, const struct dialect *dialect, const char *version,
                     bool status_subresource);
/* NULL when the API group is of no dialect or not served. */
const struct podgroups_served *podgroups_served(const struct podgroups *g, const char *api_group);

/* From the watch. Takes managedFields out of the object, which stays the caller's. */
void podgroups_set(struct podgroups *g, const struct gang_ref *ref, json_t *object);
/* From the reply to a write or a read of our own; the same. */
void podgroups_written(struct podgroups *g, const struct gang_ref *ref, json_t *object, usec_t now);
void podgroups_gone(struct podgroups *g, const struct gang_ref *ref);
/* The newest form known; borrowed until the next call; NULL when there is no such group. */
const json_t *podgroups_seen(struct podgroups *g, const struct gang_ref *ref, usec_t now);

/* A pod of the group has these owners (dialect_owners()); remembered once, while the group is
 * known. */
void podgroups_linked(struct podgroups *g, const struct gang_ref *ref, const char *owners);
/* NULL: not known; borrowed until the group is gone. */
const char *podgroups_owners(const struct podgroups *g, const struct gang_ref *ref);

/*
 * Takes out of a status what is of no use to write. True: another writer has set the field that is
 * copied to `field` back so often that it is left to him for a while, from now on.
 */
bool podgroups_trim(struct podgroups *g, const struct gang_ref *ref, json_t *status, usec_t now,
                    char field[PODGROUPS_FIELD]);
/* The status was written, and `object` is what came of it. */
void podgroups_wrote(struct podgroups *g, const struct gang_ref *ref, const json_t *status,
                     const json_t *object, usec_t now);

/* "api group/namespace/name"; the caller frees it. */
char *podgroups_key(const struct gang_ref *ref);

#endif
