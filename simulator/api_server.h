/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_server.h - what an API server does with objects: create, patch, delete, admission (defaults,
 * priority, quota), and what its watches show.
 *
 * What follows from a write is left to the callers (controllers.h, scheduler_cycle.h). For the
 * watches each write leaves a task without a function in the clock: the change (json; id: the kind;
 * n: whether the object is gone), which built_in_cluster.c shows when its time has come. JSON of an
 * object is never changed in place once it is stored: a patch stores a new tree, so that what a
 * watch is about to show stays what it was.
 *
 * Life cycle: zeros but for the clock, then the functions below, store_done(). The store owns its
 * objects; a pointer to one holds until store_remove(). One thread.
 */
#ifndef MUSTER_SIMULATOR_API_SERVER_H
#define MUSTER_SIMULATOR_API_SERVER_H

#include "base/err.h"
#include "base/map.h"
#include "simulator/sim_clock.h"
#include "simulator/simulated_event.h"

struct object {
    enum manifest_kind kind;
    char *key; /* in store.objects[kind] */
    json_t *json;
    char *uid;
    char *owners; /* PodGroups: of the first pod that has some */
    /* Jobs */
    int64_t next_index;
    int64_t batch; /* pods to create in the next batch */
    bool sync_due;
    bool over_quota;
};

/* The time of what is stored while `listing`: before all that is due. */
#define STORE_LISTED ((usec_t)-1)

struct store {
    struct sim_clock *clock; /* borrowed */
    bool listing;            /* the first list is read: changes are shown at once */
    uint64_t revision, uids;
    struct map objects[KIND_MAX];
    struct map pods;         /* uid -> object */
    builtin_watch_fn *watch; /* looks on; may be NULL */
    void *watch_arg;
};

/* Source: scheduling.SystemPriorityClasses(). */
extern const struct store_class {
    const char *name;
    int32_t value;
} store_system_classes[2];

/* api_group: of a PodGroup; NULL: any. */
struct object *store_find(const struct store *s, enum manifest_kind kind, const char *api_group,
                          const char *ns, const char *name);
struct object *store_pod(const struct store *s, const char *uid);
/* Takes the manifest. NULL with ERR_CONFLICT (exists) or ERR_FORBIDDEN (quota). */
struct object *store_create(struct store *s, json_t *manifest, struct err *err);
/* Stores a merge patch (RFC 7396) of the object; takes the patch. */
void store_patch(struct store *s, struct object *o, json_t *patch);
void store_remove(struct store *s, struct object *o);
/* Reports an event to the watch function. */
void store_report(struct store *s, enum simulated_event_kind kind, const struct object *o,
                  const char *node, const char *text);
void store_done(struct store *s);

#endif
