/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/podgroup_cache.h"

#include <stdio.h>

#include "base/map.h"
#include "k8s/encoding/kube_field.h"

/* By then the watch has shown our own write, or something newer. */
#define WRITTEN_MAX_AGE (5 * USEC_PER_SEC)

/* A CRD may be replaced by one that has the field. */
#define DROPPED_AGE (300 * USEC_PER_SEC)

/* A writer who has set a field back so often in that time gets his way for as long. */
#define MAX_CONTESTS 5
#define CONTEST_AGE  (600 * USEC_PER_SEC)

#define MAX_DIALECTS 16
#define MAX_DROPPED  8

/* An object as text: the tree of one that is made for it takes eighty times that. */
struct stored {
    char *text; /* NULL: there is none */
    char *version;
};

struct group {
    struct stored seen;    /* from the watch */
    struct stored written; /* from a reply, until the watch has caught up */
    usec_t written_at;
    char *owners;
    json_t *ours; /* fields of the status as we wrote them last, without times */
    json_t *left; /* fields that are another writer's for now; NULL: none */
    int contests;
    usec_t contested_at; /* the last time */
};

/* A field that the server does not keep. */
struct dropped {
    char field[PODGROUPS_FIELD];
    usec_t at;
};

struct podgroups {
    struct podgroups_served served[MAX_DIALECTS]; /* as in dialects[] */
    struct dropped dropped[MAX_DIALECTS][MAX_DROPPED];
    size_t n_served;
    struct map groups; /* key -> struct group */
    json_t *shown;     /* what podgroups_seen() gave last */
};

struct podgroups *podgroups_new(void)
{
    struct podgroups *g = xcalloc(1, sizeof *g);
    while (dialects[g->n_served] && g->n_served < MAX_DIALECTS) {
        g->served[g->n_served].dialect = dialects[g->n_served];
        g->n_served++;
    }
    return g;
}

static void stored_done(struct stored *s)
{
    free(STEAL(s->text));
    free(STEAL(s->version));
}

/* Without what is long and of no use to a dialect. */
static void store(struct stored *s, json_t *object)
{
    stored_done(s);
    json_object_del(json_object_get(object, "metadata"), "managedFields");
    s->text = json_dumps(object, JSON_COMPACT);
    s->version = xstrdup_null(field_peek(object, "metadata", "resourceVersion", NULL));
}

static void group_free(struct group *one)
{
    stored_done(&one->seen);
    stored_done(&one->written);
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
        group_free(e->value);
    map_done(&g->groups);
    json_decref(g->shown);
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

char *podgroups_key(const struct gang_ref *ref)
{
    return xasprintf("%s/%s/%s", ref->api_group, ref->ns, ref->name);
}

void podgroups_set(struct podgroups *g, const struct gang_ref *ref, json_t *object)
{
    cleanup_free char *key = podgroups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one) {
        one = xcalloc(1, sizeof *one);
        map_set(&g->groups, key, one);
    }
    store(&one->seen, object);
    if (str_eq(one->written.version, one->seen.version))
        stored_done(&one->written);
}

void podgroups_written(struct podgroups *g, const struct gang_ref *ref, json_t *object, usec_t now)
{
    cleanup_free char *key = podgroups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one)
        return;
    store(&one->written, object);
    one->written_at = now;
    if (str_eq(one->written.version, one->seen.version))
        stored_done(&one->written); /* the watch was faster */
}

void podgroups_gone(struct podgroups *g, const struct gang_ref *ref)
{
    cleanup_free char *key = podgroups_key(ref);
    struct group *one = map_remove(&g->groups, key);
    if (one)
        group_free(one);
}

const json_t *podgroups_seen(struct podgroups *g, const struct gang_ref *ref, usec_t now)
{
    cleanup_free char *key = podgroups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one)
        return NULL;
    if (one->written.text && now - one->written_at > WRITTEN_MAX_AGE)
        stored_done(&one->written);
    json_decref(g->shown);
    g->shown = json_loads(one->written.text ? one->written.text : one->seen.text, 0, NULL);
    return g->shown;
}

static struct group *find(const struct podgroups *g, const struct gang_ref *ref)
{
    cleanup_free char *key = podgroups_key(ref);
    return map_get(&g->groups, key);
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

/* ---- what is of no use to write ---- */

/* The fields that the server drops in this API. */
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

/* A copy without what is new each time it is written. */
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

/* Whether a field that is to be written is as we wrote it before: then somebody has set it back. */
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
        if (json_object_get(kept, key))
            json_object_set_new(one->ours, key, without_times(value));
        else
            note_dropped(dropped, key, now);
    }
}
