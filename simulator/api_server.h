/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_server.h - the API server of the built-in cluster: creates, patches and deletes objects,
 * admits them (defaults, priority, quota), and feeds the watches.
 *
 * Callers carry out the consequences of a write (controllers.h, scheduler_cycle.h). Each write adds
 * a task without a function to the clock. The task holds the change: `json`, the kind in `id`, and
 * in `n` whether the object was deleted. built_in_cluster.c shows the change when the task is due.
 * A stored JSON tree never changes, because a watch may still have to show it. A patch stores a new
 * tree.
 *
 * Life cycle: a struct of zeros with `clock` set, the functions below, store_done(). The store owns
 * its objects. A pointer to an object is valid until store_remove(). One thread.
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
    char *owners; /* PodGroups: the owners of the first member that has owners */
    /* Jobs */
    int64_t next_index;
    int64_t batch; /* pods to create in the next batch */
    bool sync_due;
    bool over_quota;
};

/* The time of changes that are stored while `listing`. It is before every other task. */
#define STORE_LISTED ((usec_t)-1)

struct store {
    struct sim_clock *clock; /* borrowed */
    bool listing;            /* the first list is being read, so changes are shown at once */
    uint64_t revision, uids;
    struct map objects[KIND_MAX];
    struct map pods;         /* uid -> object */
    builtin_watch_fn *watch; /* gets the simulated events; may be NULL */
    void *watch_arg;
};

/* Source: scheduling.SystemPriorityClasses(). */
extern const struct store_class {
    const char *name;
    int32_t value;
} store_system_classes[2];

/* api_group NULL: any that has the kind. NULL if the object does not exist. */
struct object *store_find(const struct store *s, enum manifest_kind kind, const char *api_group,
                          const char *ns, const char *name);
struct object *store_pod(const struct store *s, const char *uid);
/* Takes ownership of the manifest. NULL with ERR_CONFLICT if the object exists, or ERR_FORBIDDEN if
 * a quota is exceeded. */
struct object *store_create(struct store *s, json_t *manifest, struct err *err);
/* Applies a merge patch (RFC 7396). Takes ownership of the patch. */
void store_patch(struct store *s, struct object *o, json_t *patch);
void store_remove(struct store *s, struct object *o);
/* Reports a simulated event to the watch function. node and text may be NULL. */
void store_report(struct store *s, enum simulated_event_kind kind, const struct object *o,
                  const char *node, const char *text);
void store_done(struct store *s);

#endif
