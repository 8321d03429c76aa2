/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/queue_feed.h"

#include "base/map.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

struct queue_feed {
    struct queue_cache *cache;
    const struct cluster_sink *sink;
    struct map namespaces; /* names of those that name a queue */
};

struct queue_feed *queue_feed_new(struct queue_cache *cache, const struct cluster_sink *sink)
{
    struct queue_feed *f = xcalloc(1, sizeof *f);
    f->cache = cache;
    f->sink = sink;
    return f;
}

struct queue_feed *queue_feed_free(struct queue_feed *f)
{
    if (!f)
        return NULL;
    map_done(&f->namespaces);
    free(f);
    return NULL;
}

static void post(struct queue_feed *f, struct gang_event *ev)
{
    f->sink->post(f->sink->arg, ev);
}

/* ---- queues ---- */

/* Takes the facts; NULL: err says why there are none. unread: see queue_cache_set(). */
static int take_queue(struct queue_feed *f, const struct queue_dialect *d,
                      struct gang_queue_facts *facts, json_t *object, const char *unread,
                      struct err *err)
{
    const char *other;
    struct gang_event ev = {.kind = GANG_EV_QUEUE_SET, .queue = facts};
    if (!facts)
        return -1;
    if (queue_dialect_is_root(d, facts->ref.name)) {
        gang_queue_facts_free(facts);
        return 0;
    }
    if (!queue_cache_set(f->cache, facts, object, unread, &other)) {
        gang_queue_facts_free(facts);
        err_set(err, ERR_INVALID,
                "namespace %s has an older %s with this name; names must be unique in the cluster, "
                "rename one of the two",
                other, d->kind);
        return 1;
    }
    post(f, &ev);
    return 0;
}

int queue_feed_set(struct queue_feed *f, const struct queue_dialect *dialect, json_t *object,
                   struct err *err)
{
    return take_queue(f, dialect, decode_queue(dialect, object, err), object, NULL, err);
}

/* The queue stays known, so its gangs wait and say why. */
int queue_feed_unread(struct queue_feed *f, const struct queue_dialect *dialect, json_t *object,
                      const struct err *why)
{
    struct err err;
    int r = take_queue(f, dialect, decode_queue_part(dialect, object, why, &err), object, why->text,
                       &err);
    return r == 0 ? 1 : r;
}

void queue_feed_gone(struct queue_feed *f, const struct queue_dialect *dialect, const char *ns,
                     const char *name)
{
    const struct queue_dialect *d = dialect;
    struct err err;
    json_t *heir;
    cleanup_free char *unread = NULL;
    if (!queue_cache_gone(f->cache, d, ns, name, &heir, &unread))
        return;
    if (heir) {
        if (unread) {
            err_set(&err, ERR_INVALID, "%s", unread);
            queue_feed_unread(f, d, heir, &err);
        } else {
            queue_feed_set(f, d, heir, &err);
        }
        json_decref(heir);
        return;
    }
    struct gang_event ev = {.kind = GANG_EV_QUEUE_GONE};
    ev.gone = (struct gang_ref){xstrdup(d->api_group), xstrdup(queue_dialect_ref_ns(d, ns)),
                                xstrdup(name)};
    post(f, &ev);
}

/* ---- namespaces ---- */

void queue_feed_namespace_gone(struct queue_feed *f, const char *name)
{
    if (!map_remove(&f->namespaces, name))
        return;
    struct gang_event ev = {.kind = GANG_EV_NAMESPACE_GONE};
    ev.gone = (struct gang_ref){.name = xstrdup(name)};
    post(f, &ev);
}

int queue_feed_set_namespace(struct queue_feed *f, const struct queue_dialect *dialect,
                             const json_t *object, struct err *err)
{
    struct gang_event ev = {.kind = GANG_EV_NAMESPACE_SET};
    ev.namespace = decode_namespace(dialect, object, err);
    if (!ev.namespace)
        return -1;
    if (ev.namespace->queue) {
        map_set(&f->namespaces, ev.namespace->name, f);
        post(f, &ev);
        return 0;
    }
    queue_feed_namespace_gone(f, ev.namespace->name);
    gang_event_done(&ev);
    return 0;
}
