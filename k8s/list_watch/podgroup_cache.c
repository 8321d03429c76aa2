/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/podgroup_cache.h"

#include <stdio.h>

#include "base/list.h"
#include "base/map.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/seen_object.h"

/* muster then tries the field again: a new version of the CRD may have it. */
#define DROPPED_AGE (300 * USEC_PER_SEC)

/* After MAX_CONTESTS changes by another writer, each within CONTEST_AGE of the one before, muster
 * does not write the field for CONTEST_AGE. */
#define MAX_CONTESTS 5
#define CONTEST_AGE  (600 * USEC_PER_SEC)

#define MAX_DROPPED 8

struct group {
    struct seen_object seen;
    struct gang_ref ref;
    char *workload;          /* UID of the workload that owns it and can be suspended; NULL: none */
    struct list in_workload; /* in the list of this UID in podgroups.workloads */
    char *owners;
    json_t *ours;        /* the status fields that muster wrote last, without times */
    json_t *left;        /* fields that muster leaves to another writer for now; NULL: none */
    int contests;        /* recent changes of muster's fields by another writer */
    usec_t contested_at; /* time of the last such change */
};

/* A field that the API server does not store. */
struct dropped {
    char field[PODGROUPS_FIELD];
    usec_t at;
};

struct podgroups {
    struct podgroups_served *served; /* in the order of dialects[] */
    struct dropped (*dropped)[MAX_DROPPED];
    size_t n_served;
    struct map groups;    /* gang_ref_key() -> struct group */
    struct map workloads; /* UID -> struct list of struct group */
    json_t *shown;        /* the last return value of podgroups_seen() */
};

struct podgroups *podgroups_new(void)
{
    struct podgroups *g = xcalloc(1, sizeof *g);
    while (dialects[g->n_served])
        g->n_served++;
    g->served = xcalloc(g->n_served, sizeof *g->served);
    g->dropped = xcalloc(g->n_served, sizeof *g->dropped);
    for (size_t i = 0; i < g->n_served; i++)
        g->served[i].dialect = dialects[i];
    return g;
}

/* ---- the workloads that own them ---- */

/* The UID, which the caller frees. */
static char *read_workload(const json_t *object)
{
    struct workload_ref owner;
    if (!workload_suspendable_owner(object, &owner))
        return NULL;
    char *uid = STEAL(owner.uid);
    workload_ref_done(&owner);
    return uid;
}

static void workload_leave(struct podgroups *g, struct group *one)
{
    struct list *list = one->workload ? map_get(&g->workloads, one->workload) : NULL;
    list_remove(&one->in_workload);
    if (list && list_empty(list))
        free(map_remove(&g->workloads, one->workload));
    free(STEAL(one->workload));
}

/* Takes ownership of the UID. */
static void workload_join(struct podgroups *g, struct group *one, char *uid)
{
    if (str_eq(uid, one->workload)) {
        free(uid);
        return;
    }
    workload_leave(g, one);
    one->workload = uid;
    struct list *list = uid ? map_get(&g->workloads, uid) : NULL;
    if (uid && !list) {
        list = xmalloc(sizeof *list);
        list_init(list);
        map_set(&g->workloads, uid, list);
    }
    if (uid)
        list_push(list, &one->in_workload);
}

const struct gang_ref *podgroups_of_workload(const struct podgroups *g, const char *uid, size_t i)
{
    const struct list *list = map_get(&g->workloads, uid);
    if (list)
        list_for_each (one, list, struct group, in_workload)
            if (i-- == 0)
                return &one->ref;
    return NULL;
}

/* ---- life ---- */

static void group_free(struct podgroups *g, struct group *one)
{
    workload_leave(g, one);
    gang_ref_done(&one->ref);
    seen_object_done(&one->seen);
    json_decref(one->ours);
    json_decref(one->left);
    free(one->owners);
    free(one);
}

struct podgroups *podgroups_free(struct podgroups *g)
{
    if (!g)
        return NULL;
    map_for_each (e, &g->groups)
        group_free(g, e->value);
    map_done(&g->groups);
    map_done(&g->workloads);
    json_decref(g->shown);
    free(g->served);
    free(g->dropped);
    free(g);
    return NULL;
}

void podgroups_serve(struct podgroups *g, const struct dialect *dialect, const char *version,
                     bool status_subresource)
{
    for (size_t i = 0; i < g->n_served; i++)
        if (g->served[i].dialect == dialect) {
            snprintf(g->served[i].version, sizeof g->served[i].version, "%s",
                     version ? version : "");
            g->served[i].status_subresource = status_subresource;
            memset(g->dropped[i], 0, sizeof g->dropped[i]);
        }
}

const struct podgroups_served *podgroups_served(const struct podgroups *g, const char *api_group)
{
    for (size_t i = 0; i < g->n_served; i++)
        if (str_eq(g->served[i].dialect->api_group, api_group) && *g->served[i].version)
            return &g->served[i];
    return NULL;
}

void podgroups_set(struct podgroups *g, const struct gang_ref *ref, json_t *object)
{
    cleanup_free char *key = gang_ref_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one) {
        one = xcalloc(1, sizeof *one);
        one->ref = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
        list_init(&one->in_workload);
        map_set(&g->groups, key, one);
    }
    workload_join(g, one, read_workload(object));
    seen_object_set(&one->seen, object);
}

static struct group *find(const struct podgroups *g, const struct gang_ref *ref)
{
    return gang_ref_get(&g->groups, ref);
}

void podgroups_written(struct podgroups *g, const struct gang_ref *ref, json_t *object, usec_t now)
{
    struct group *one = find(g, ref);
    if (one)
        seen_object_written(&one->seen, object, now);
}

void podgroups_gone(struct podgroups *g, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    struct group *one = map_remove(&g->groups, key);
    if (one)
        group_free(g, one);
}

const json_t *podgroups_seen(struct podgroups *g, const struct gang_ref *ref, usec_t now)
{
    struct group *one = find(g, ref);
    if (!one)
        return NULL;
    json_decref(g->shown);
    g->shown = seen_object_load(&one->seen, now);
    return g->shown;
}

const char *podgroups_workload(const struct podgroups *g, const struct gang_ref *ref)
{
    const struct group *one = find(g, ref);
    return one ? one->workload : NULL;
}

void podgroups_linked(struct podgroups *g, const struct gang_ref *ref, const char *owners)
{
    struct group *one = find(g, ref);
    if (one && !one->owners)
        one->owners = xstrdup_null(owners);
}

const char *podgroups_owners(const struct podgroups *g, const struct gang_ref *ref)
{
    const struct group *one = find(g, ref);
    return one ? one->owners : NULL;
}

/* ---- fields that muster does not write ---- */

/* The fields of this dialect that the API server drops. */
static struct dropped *dropped_of(struct podgroups *g, const struct gang_ref *ref)
{
    for (size_t i = 0; i < g->n_served; i++)
        if (str_eq(g->served[i].dialect->api_group, ref->api_group))
            return g->dropped[i];
    return NULL;
}

static struct dropped *find_dropped(struct dropped *list, const char *field, usec_t now)
{
    for (size_t i = 0; i < MAX_DROPPED; i++)
        if (strcmp(list[i].field, field) == 0 && now - list[i].at < DROPPED_AGE)
            return &list[i];
    return NULL;
}

static void note_dropped(struct dropped *list, const char *field, usec_t now)
{
    struct dropped *d = &list[0];
    for (size_t i = 1; i < MAX_DROPPED && strcmp(d->field, field) != 0; i++)
        if (list[i].at < d->at || strcmp(list[i].field, field) == 0)
            d = &list[i];
    snprintf(d->field, sizeof d->field, "%s", field);
    d->at = now;
}

/* A copy of a list of conditions, without the fields that differ in each write. */
static json_t *without_times(const json_t *value)
{
    json_t *copy = json_deep_copy(value);
    for (size_t i = 0; i < json_array_size(copy); i++) {
        json_object_del(json_array_get(copy, i), "lastTransitionTime");
        json_object_del(json_array_get(copy, i), "transitionID");
    }
    return copy;
}

static bool same_as_ours(const struct group *one, const char *field, const json_t *value)
{
    const json_t *ours = json_object_get(one->ours, field);
    cleanup_json json_t *plain = ours ? without_times(value) : NULL;
    return ours && json_equal(ours, plain);
}

/* Counts a contest if muster would write a field with the value that it wrote last: another writer
 * has then changed the field. True: there were too many. */
static bool note_contest(struct group *one, const json_t *status, usec_t now,
                         char field[PODGROUPS_FIELD])
{
    const char *key;
    json_t *value;
    json_t *contested = json_object();
    json_object_foreach((json_t *)(uintptr_t)status, key, value)
    {
        if (!same_as_ours(one, key, value))
            continue;
        snprintf(field, PODGROUPS_FIELD, "%s", key);
        json_object_set_new(contested, key, json_true());
    }
    bool any = json_object_size(contested) > 0;
    if (any) {
        one->contests = now - one->contested_at > CONTEST_AGE ? 1 : one->contests + 1;
        one->contested_at = now;
    }
    if (!any || one->contests < MAX_CONTESTS) {
        json_decref(contested);
        return false;
    }
    json_decref(one->left);
    one->left = contested;
    one->contests = 0;
    return true;
}

static void leave_to_others(struct group *one, json_t *status, usec_t now)
{
    const char *key;
    json_t *value;
    if (now - one->contested_at > CONTEST_AGE)
        json_decref(STEAL(one->left));
    json_object_foreach(one->left, key, value)
    {
        (void)value;
        json_object_del(status, key);
    }
}

bool podgroups_trim(struct podgroups *g, const struct gang_ref *ref, json_t *status, usec_t now,
                    char field[PODGROUPS_FIELD])
{
    struct group *one = find(g, ref);
    struct dropped *dropped = dropped_of(g, ref);
    if (!one || !dropped)
        return false;
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(status, next, key, value)
    {
        (void)value;
        if (find_dropped(dropped, key, now))
            json_object_del(status, key);
    }
    leave_to_others(one, status, now);
    if (!note_contest(one, status, now, field))
        return false;
    leave_to_others(one, status, now);
    return true;
}

void podgroups_wrote(struct podgroups *g, const struct gang_ref *ref, const json_t *status,
                     const json_t *object, usec_t now)
{
    struct group *one = find(g, ref);
    struct dropped *dropped = dropped_of(g, ref);
    const json_t *kept = json_object_get(object, "status");
    const char *key;
    json_t *value;
    if (!one || !dropped)
        return;
    if (!one->ours)
        one->ours = json_object();
    json_object_foreach((json_t *)(uintptr_t)status, key, value)
    {
        if (json_is_null(value) || json_object_get(kept, key))
            json_object_set_new(one->ours, key, without_times(value));
        else
            note_dropped(dropped, key, now);
    }
}
