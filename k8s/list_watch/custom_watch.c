/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/custom_watch.h"

#include "base/mem.h"

struct custom_watch {
    struct client *client;
    struct api_metrics *metrics;
    struct custom_watch_options o;
    char *resource; /* "podgroups.scheduling.volcano.sh" */
    struct api_discovery *discovery;
    struct watch *watch;      /* NULL: the resource is not served */
    struct client_timer lost; /* fires when the watch has found that the CRD was removed */
};

/* ---- from the watch ---- */

static int on_set(void *arg, json_t *object, struct err *err)
{
    struct custom_watch *w = arg;
    return w->o.set(w->o.arg, object, err);
}

static int on_unread(void *arg, json_t *object, const struct err *why)
{
    struct custom_watch *w = arg;
    return w->o.unread(w->o.arg, object, why);
}

static void on_gone(void *arg, const char *ns, const char *name)
{
    struct custom_watch *w = arg;
    w->o.gone(w->o.arg, ns, name);
}

static void on_settled(void *arg)
{
    struct custom_watch *w = arg;
    w->o.settled(w->o.arg);
}

static void on_forbidden(void *arg)
{
    struct custom_watch *w = arg;
    (w->o.forbidden ? w->o.forbidden : w->o.settled)(w->o.arg);
}

static void on_missing(void *arg)
{
    struct custom_watch *w = arg;
    client_timer_set(w->client, &w->lost, usec_now());
}

/* ---- the CRD comes and goes ---- */

static void on_lost(void *arg)
{
    struct custom_watch *w = arg;
    w->watch = watch_stop(w->watch, /* forget= */ true);
    w->o.served(w->o.arg, /* version= */ NULL, /* status_subresource= */ false);
    api_discovery_again(w->discovery);
    on_settled(w);
}

static void on_found(void *arg, const char *version, bool status_subresource)
{
    struct custom_watch *w = arg;
    const struct api_resource *r = &w->o.resource;
    if (!version) {
        on_settled(w);
        return;
    }
    w->o.served(w->o.arg, version, status_subresource);
    cleanup_free char *path = xasprintf("/apis/%s/%s/%s", r->api_group, version, r->plural);
    cleanup_free char *rule =
        xasprintf("list and watch %s in API group %s", r->plural, r->api_group);
    w->watch = watch_start(w->client, w->metrics,
                           &(struct watch_options){.path = path,
                                                   .selector = w->o.selector,
                                                   .resource = w->resource,
                                                   .rule = w->o.may_be_forbidden ? NULL : rule,
                                                   .set = on_set,
                                                   .unread = on_unread,
                                                   .gone = on_gone,
                                                   .synced = on_settled,
                                                   .missing = on_missing,
                                                   .forbidden = on_forbidden,
                                                   .arg = w});
}

/* ---- life ---- */

struct custom_watch *custom_watch_start(struct client *c, struct api_metrics *metrics,
                                        const struct custom_watch_options *options)
{
    struct custom_watch *w = xcalloc(1, sizeof *w);
    const struct api_resource *r = &options->resource;
    *w = (struct custom_watch){.client = c, .metrics = metrics, .o = *options};
    w->resource = xasprintf("%s.%s", r->plural, r->api_group);
    w->lost = (struct client_timer){.fire = on_lost, .arg = w};
    w->discovery = api_discovery_start(c, r, on_found, w);
    return w;
}

struct custom_watch *custom_watch_stop(struct custom_watch *w)
{
    if (!w)
        return NULL;
    watch_stop(w->watch, /* forget= */ false);
    api_discovery_free(w->discovery);
    client_timer_clear(w->client, &w->lost);
    free(w->resource);
    free(w);
    return NULL;
}
