/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/queue_objects.h"

#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/queue_feed.h"

struct queue_objects {
    struct store *store;
    struct queue_cache *cache;
    struct queue_feed *feed;
};

struct queue_objects *queue_objects_new(struct store *store, const struct cluster_sink *sink)
{
    struct queue_objects *q = xcalloc(1, sizeof *q);
    q->store = store;
    q->cache = queue_cache_new();
    q->feed = queue_feed_new(q->cache, sink);
    return q;
}

struct queue_objects *queue_objects_free(struct queue_objects *q)
{
    if (!q)
        return NULL;
    queue_feed_free(q->feed);
    queue_cache_free(q->cache);
    free(q);
    return NULL;
}

/* ---- to the core ---- */

int queue_objects_show(struct queue_objects *q, json_t *json, bool gone, struct err *err)
{
    cleanup_free char *group = manifest_group(json);
    const struct queue_dialect *d = queue_dialect_by_group(group);
    if (gone) {
        queue_feed_gone(q->feed, d, manifest_ns(json), manifest_name(json));
        return 0;
    }
    json_t *copy = json_deep_copy(json); /* the cache removes managedFields */
    int r = queue_feed_set(q->feed, d, copy, err);
    json_decref(copy);
    return r == 0 ? 0 : -1;
}

int queue_objects_show_namespace(struct queue_objects *q, json_t *json, bool gone, struct err *err)
{
    if (gone) {
        queue_feed_namespace_gone(q->feed, manifest_name(json));
        return 0;
    }
    int r = 0;
    for (const struct queue_dialect *const *d = queue_dialects; *d; d++)
        if ((*d)->namespace_annotation && queue_feed_set_namespace(q->feed, *d, json, err) < 0)
            r = -1;
    return r;
}

/* ---- statuses ---- */

/* The stored object of a queue; NULL: it is gone, or another object has its name. */
static struct object *object_of(const struct queue_objects *q,
                                const struct gang_queue_status *status)
{
    cleanup_json json_t *seen = queue_cache_load(q->cache, status->ref, q->store->clock->now);
    if (!seen)
        return NULL;
    enum manifest_kind kind = manifest_kind_of(seen);
    const char *ns = manifest_kind_namespaced(kind) ? manifest_ns(seen) : "";
    struct object *o = store_find(q->store, kind, status->ref->api_group, ns, manifest_name(seen));
    return o && str_eq(o->uid, status->uid) ? o : NULL;
}

const struct object *queue_objects_write(struct queue_objects *q,
                                         const struct gang_queue_status *status,
                                         bool *ret_has_conditions)
{
    char stamp[32];
    const struct queue_dialect *d = queue_dialect_by_group(status->ref->api_group);
    struct object *o = object_of(q, status);
    struct queue_view view = {.orphan = queue_cache_is_orphan(q->cache, status->ref)};
    if (!o || time_parse(sim_clock_timestamp(q->store->clock, stamp), &view.wall, NULL) < 0)
        return NULL;
    view.object = o->json;
    json_t *patch = d->status(status, &view);
    if (patch)
        store_patch(q->store, o, patch);
    const char *sentence = status->reason == REASON_QUEUE_INVALID ? status->text : NULL;
    bool news = queue_cache_is_news(q->cache, status->ref, sentence) && sentence;
    *ret_has_conditions = d->has_conditions;
    return news ? o : NULL;
}
