/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/queue_watches.h"

#include "base/log.h"
#include "k8s/list_watch/custom_watch.h"
#include "k8s/list_watch/queue_feed.h"

/* The queues of one dialect. */
struct queue_kind {
    struct queue_watches *all;
    const struct queue_dialect *dialect;
    struct custom_watch *watch;
    bool settled;
};

struct queue_watches {
    struct queue_watches_options o;
    struct queue_feed *feed;
    struct queue_kind *kinds;
    size_t n_kinds;
    struct {
        const struct queue_dialect *dialect; /* whose annotation is read */
        struct watch *watch;                 /* NULL: not followed */
        bool settled;
    } namespaces;
    bool synced;
};

static void check_synced(struct queue_watches *w)
{
    bool all = !w->namespaces.watch || w->namespaces.settled;
    for (size_t i = 0; i < w->n_kinds; i++)
        all = all && w->kinds[i].settled;
    if (!all || w->synced)
        return;
    w->synced = true;
    w->o.synced(w->o.arg);
}

/* ---- namespaces ---- */

static int set_namespace(void *arg, json_t *object, struct err *err)
{
    struct queue_watches *w = arg;
    return queue_feed_set_namespace(w->feed, w->namespaces.dialect, object, err);
}

static void namespace_gone(void *arg, const char *ns, const char *name)
{
    struct queue_watches *w = arg;
    (void)ns; /* namespaces are not namespaced */
    queue_feed_namespace_gone(w->feed, name);
}

/* Also called if muster may not read namespaces: queues work without them. */
static void namespaces_settled(void *arg)
{
    struct queue_watches *w = arg;
    w->namespaces.settled = true;
    check_synced(w);
}

static void follow_namespaces(struct queue_watches *w, const struct queue_dialect *dialect)
{
    w->namespaces.dialect = dialect;
    w->namespaces.settled = false;
    w->namespaces.watch = watch_start(w->o.client, w->o.metrics,
                                      &(struct watch_options){.path = "/api/v1/namespaces",
                                                              .resource = "namespaces",
                                                              .rule = "list and watch namespaces",
                                                              .proto = &kube_protobuf_namespace,
                                                              .set = set_namespace,
                                                              .gone = namespace_gone,
                                                              .synced = namespaces_settled,
                                                              .missing = namespaces_settled,
                                                              .forbidden = namespaces_settled,
                                                              .arg = w});
}

/* ---- queues ---- */

static int set_queue(void *arg, json_t *object, struct err *err)
{
    struct queue_kind *k = arg;
    return queue_feed_set(k->all->feed, k->dialect, object, err);
}

static int unread_queue(void *arg, json_t *object, const struct err *why)
{
    struct queue_kind *k = arg;
    return queue_feed_unread(k->all->feed, k->dialect, object, why);
}

static void queue_gone(void *arg, const char *ns, const char *name)
{
    struct queue_kind *k = arg;
    queue_feed_gone(k->all->feed, k->dialect, ns, name);
}

static void queues_served(void *arg, const char *version, bool status_subresource)
{
    struct queue_kind *k = arg;
    struct queue_watches *w = k->all;
    if (version)
        log_info("Queues are served", "dialect", k->dialect->name, "version", version, NULL);
    else
        log_info("Queues are no longer served", "dialect", k->dialect->name, NULL);
    queue_cache_serve(w->o.cache, k->dialect, version, status_subresource);
    if (!k->dialect->namespace_annotation)
        return;
    w->namespaces.watch = watch_stop(w->namespaces.watch, /* forget= */ true);
    if (version)
        follow_namespaces(w, k->dialect);
}

static void queues_settled(void *arg)
{
    struct queue_kind *k = arg;
    k->settled = true;
    check_synced(k->all);
}

/* ---- life ---- */

struct queue_watches *queue_watches_start(const struct queue_watches_options *options)
{
    struct queue_watches *w = xcalloc(1, sizeof *w);
    w->o = *options;
    w->feed = queue_feed_new(options->cache, options->sink);
    while (queue_dialects[w->n_kinds])
        w->n_kinds++;
    w->kinds = xcalloc(w->n_kinds, sizeof *w->kinds);
    for (size_t i = 0; i < w->n_kinds; i++) {
        const struct queue_dialect *d = queue_dialects[i];
        w->kinds[i] = (struct queue_kind){.all = w, .dialect = d};
        w->kinds[i].watch = custom_watch_start(
            w->o.client, w->o.metrics,
            &(struct custom_watch_options){.resource = {d->api_group, d->versions, d->plural},
                                           .set = set_queue,
                                           .unread = unread_queue,
                                           .gone = queue_gone,
                                           .served = queues_served,
                                           .settled = queues_settled,
                                           .arg = &w->kinds[i]});
    }
    return w;
}

struct queue_watches *queue_watches_stop(struct queue_watches *w)
{
    if (!w)
        return NULL;
    for (size_t i = 0; i < w->n_kinds; i++)
        custom_watch_stop(w->kinds[i].watch);
    watch_stop(w->namespaces.watch, /* forget= */ false);
    queue_feed_free(w->feed);
    free(w->kinds);
    free(w);
    return NULL;
}
