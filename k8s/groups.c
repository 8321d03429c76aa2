/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/groups.h"

#include <stdio.h>

#include "base/map.h"
#include "k8s/field.h"

/* By then the watch has shown our own write, or something newer. */
#define WRITTEN_MAX_AGE (5 * USEC_PER_SEC)

#define MAX_DIALECTS 16

struct group {
    json_t *seen;    /* from the watch */
    json_t *written; /* from a reply, until the watch has caught up */
    usec_t written_at;
};

struct groups {
    struct groups_served served[MAX_DIALECTS]; /* as in dialects[] */
    size_t n_served;
    struct map groups; /* key -> struct group */
};

struct groups *groups_new(void)
{
    struct groups *g = xcalloc(1, sizeof *g);
    while (dialects[g->n_served] && g->n_served < MAX_DIALECTS) {
        g->served[g->n_served].dialect = dialects[g->n_served];
        g->n_served++;
    }
    return g;
}

static void group_free(struct group *one)
{
    json_decref(one->seen);
    json_decref(one->written);
    free(one);
}

struct groups *groups_free(struct groups *g)
{
    if (!g)
        return NULL;
    map_for_each (e, &g->groups)
        group_free(e->value);
    map_done(&g->groups);
    free(g);
    return NULL;
}

void groups_serve(struct groups *g, const struct dialect *dialect, const char *version,
                  bool status_subresource)
{
    for (size_t i = 0; i < g->n_served; i++)
        if (g->served[i].dialect == dialect) {
            snprintf(g->served[i].version, sizeof g->served[i].version, "%s",
                     version ? version : "");
            g->served[i].status_subresource = status_subresource;
        }
}

const struct groups_served *groups_served(const struct groups *g, const char *api_group)
{
    for (size_t i = 0; i < g->n_served; i++)
        if (str_eq(g->served[i].dialect->api_group, api_group) && *g->served[i].version)
            return &g->served[i];
    return NULL;
}

char *groups_key(const struct gang_ref *ref)
{
    return xasprintf("%s/%s/%s", ref->api_group, ref->ns, ref->name);
}

static const char *version_of(const json_t *object)
{
    return field_peek(object, "metadata", "resourceVersion", NULL);
}

void groups_set(struct groups *g, const struct gang_ref *ref, json_t *object)
{
    cleanup_free char *key = groups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one) {
        one = xcalloc(1, sizeof *one);
        map_set(&g->groups, key, one);
    }
    /* Long, and of no use to a dialect. */
    json_object_del(json_object_get(object, "metadata"), "managedFields");
    json_decref(one->seen);
    one->seen = json_incref(object);
    if (one->written && str_eq(version_of(one->written), version_of(object)))
        json_decref(STEAL(one->written));
}

void groups_written(struct groups *g, const struct gang_ref *ref, json_t *object, usec_t now)
{
    cleanup_free char *key = groups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one)
        return;
    json_decref(STEAL(one->written));
    if (str_eq(version_of(one->seen), version_of(object)))
        return; /* the watch was faster */
    json_object_del(json_object_get(object, "metadata"), "managedFields");
    one->written = json_incref(object);
    one->written_at = now;
}

void groups_gone(struct groups *g, const struct gang_ref *ref)
{
    cleanup_free char *key = groups_key(ref);
    struct group *one = map_remove(&g->groups, key);
    if (one)
        group_free(one);
}

const json_t *groups_seen(struct groups *g, const struct gang_ref *ref, usec_t now)
{
    cleanup_free char *key = groups_key(ref);
    struct group *one = map_get(&g->groups, key);
    if (!one)
        return NULL;
    if (one->written && now - one->written_at > WRITTEN_MAX_AGE)
        json_decref(STEAL(one->written));
    return one->written ? one->written : one->seen;
}
