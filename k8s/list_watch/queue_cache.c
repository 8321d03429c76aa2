/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/queue_cache.h"

#include <stdio.h>

#include "base/map.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/seen_object.h"

struct cached_queue {
    struct seen_object seen;
    char *home;   /* the object's namespace; "" if it has none */
    char *parent; /* NULL: none */
    char *told;   /* see queue_cache_is_news() */
    char *unread; /* why the object cannot be read; NULL: it can */
    usec_t created;
};

/* An object whose name belongs to an older one. */
struct heir {
    struct seen_object seen;
    char *ns, *name;
    char *unread; /* as in struct cached_queue */
    usec_t created;
};

struct queue_cache {
    struct queue_api *apis; /* in the order of queue_dialects[] */
    size_t n_apis;
    struct map queues; /* key of the ref -> struct cached_queue */
    struct map heirs;  /* key with the object's own namespace -> struct heir */
};

struct queue_cache *queue_cache_new(void)
{
    struct queue_cache *c = xcalloc(1, sizeof *c);
    while (queue_dialects[c->n_apis])
        c->n_apis++;
    c->apis = xcalloc(c->n_apis, sizeof *c->apis);
    for (size_t i = 0; i < c->n_apis; i++)
        c->apis[i].dialect = queue_dialects[i];
    return c;
}

static void queue_free(struct cached_queue *q)
{
    seen_object_done(&q->seen);
    free(q->home);
    free(q->parent);
    free(q->told);
    free(q->unread);
    free(q);
}

static void heir_free(struct heir *h)
{
    seen_object_done(&h->seen);
    free(h->ns);
    free(h->name);
    free(h->unread);
    free(h);
}

struct queue_cache *queue_cache_free(struct queue_cache *c)
{
    if (!c)
        return NULL;
    map_for_each (e, &c->queues)
        queue_free(e->value);
    map_done(&c->queues);
    map_for_each (e, &c->heirs)
        heir_free(e->value);
    map_done(&c->heirs);
    free(c->apis);
    free(c);
    return NULL;
}

/* ---- APIs ---- */

void queue_cache_serve(struct queue_cache *c, const struct queue_dialect *dialect,
                       const char *version, bool status_subresource)
{
    for (size_t i = 0; i < c->n_apis; i++)
        if (c->apis[i].dialect == dialect) {
            snprintf(c->apis[i].version, sizeof c->apis[i].version, "%s", version ? version : "");
            c->apis[i].status_subresource = status_subresource;
        }
}

const struct queue_api *queue_cache_api(const struct queue_cache *c, const char *api_group)
{
    for (size_t i = 0; i < c->n_apis; i++)
        if (str_eq(c->apis[i].dialect->api_group, api_group) && *c->apis[i].version)
            return &c->apis[i];
    return NULL;
}

/* ---- queues ---- */

static struct cached_queue *find(const struct queue_cache *c, const struct gang_ref *ref)
{
    return gang_ref_get(&c->queues, ref);
}

static void heir_drop(struct queue_cache *c, const char *key)
{
    struct heir *h = map_remove(&c->heirs, key);
    if (h)
        heir_free(h);
}

static struct heir *heir_of(struct queue_cache *c, const char *api_group, const char *ns,
                            const char *name)
{
    cleanup_free char *key = gang_key(api_group, ns, name);
    struct heir *h = map_get(&c->heirs, key);
    if (!h) {
        h = xcalloc(1, sizeof *h);
        h->ns = xstrdup(ns);
        h->name = xstrdup(name);
        map_set(&c->heirs, key, h);
    }
    return h;
}

/* Two objects with the same name: which is the queue does not depend on the order of arrival. */
static bool is_older(usec_t created, const char *ns, const struct cached_queue *than)
{
    return created != than->created ? created < than->created : strcmp(ns, than->home) < 0;
}

/* The queue's object gives way to an older one. */
static void step_back(struct queue_cache *c, const struct gang_ref *ref, struct cached_queue *q)
{
    struct heir *h = heir_of(c, ref->api_group, q->home, ref->name);
    h->created = q->created;
    free(h->unread);
    h->unread = STEAL(q->unread);
    seen_object_done(&h->seen);
    h->seen = q->seen;
    q->seen = (struct seen_object){.written_at = 0};
    free(STEAL(q->told));
}

bool queue_cache_set(struct queue_cache *c, const struct gang_queue_facts *facts, json_t *object,
                     const char *unread, const char **ret_other)
{
    const struct gang_ref *ref = &facts->ref;
    const char *ns = field_peek(object, "metadata", "namespace", NULL);
    const char *home = ns ? ns : "";
    struct cached_queue *q = find(c, ref);
    if (q && strcmp(q->home, home) != 0 && !is_older(facts->created, home, q)) {
        struct heir *h = heir_of(c, ref->api_group, home, ref->name);
        h->created = facts->created;
        free(h->unread);
        h->unread = xstrdup_null(unread);
        seen_object_set(&h->seen, object);
        *ret_other = q->home;
        return false;
    }
    cleanup_free char *own = gang_key(ref->api_group, home, ref->name);
    heir_drop(c, own);
    if (q && strcmp(q->home, home) != 0)
        step_back(c, ref, q);
    if (!q) {
        cleanup_free char *key = gang_ref_key(ref);
        q = xcalloc(1, sizeof *q);
        map_set(&c->queues, key, q);
    }
    free(q->home);
    free(q->parent);
    free(q->unread);
    q->unread = xstrdup_null(unread);
    q->home = xstrdup(home);
    q->parent = xstrdup_null(facts->parent);
    q->created = facts->created;
    seen_object_set(&q->seen, object);
    return true;
}

/* The object that becomes the queue with that name, taken from the heirs: the oldest one. */
static json_t *next_heir(struct queue_cache *c, const char *name, char **ret_unread)
{
    const char *key = NULL;
    struct heir *first = NULL;
    map_for_each (e, &c->heirs) {
        struct heir *h = e->value;
        if (strcmp(h->name, name) == 0 &&
            (!first || h->created < first->created ||
             (h->created == first->created && strcmp(h->ns, first->ns) < 0))) {
            first = h;
            key = e->key;
        }
    }
    json_t *object = first ? seen_object_load(&first->seen, 0) : NULL;
    if (first) {
        *ret_unread = STEAL(first->unread);
        cleanup_free char *copy = xstrdup(key);
        heir_drop(c, copy);
    }
    return object;
}

bool queue_cache_gone(struct queue_cache *c, const struct queue_dialect *dialect, const char *ns,
                      const char *name, json_t **ret_heir, char **ret_unread)
{
    cleanup_free char *key = gang_key(dialect->api_group, queue_dialect_ref_ns(dialect, ns), name);
    cleanup_free char *own = gang_key(dialect->api_group, ns, name);
    struct cached_queue *q = map_get(&c->queues, key);
    *ret_heir = NULL;
    *ret_unread = NULL;
    heir_drop(c, own);
    if (!q || strcmp(q->home, ns) != 0)
        return false;
    map_remove(&c->queues, key);
    queue_free(q);
    if (dialect->unique_names)
        *ret_heir = next_heir(c, name, ret_unread);
    return true;
}

void queue_cache_written(struct queue_cache *c, const struct gang_ref *ref, json_t *object,
                         usec_t now)
{
    struct cached_queue *q = find(c, ref);
    if (q)
        seen_object_written(&q->seen, object, now);
}

json_t *queue_cache_load(struct queue_cache *c, const struct gang_ref *ref, usec_t now)
{
    struct cached_queue *q = find(c, ref);
    return q ? seen_object_load(&q->seen, now) : NULL;
}

const char *queue_cache_home(const struct queue_cache *c, const struct gang_ref *ref)
{
    const struct cached_queue *q = find(c, ref);
    return q ? q->home : NULL;
}

bool queue_cache_is_orphan(const struct queue_cache *c, const struct gang_ref *ref)
{
    const struct cached_queue *q = find(c, ref);
    struct gang_ref parent = *ref;
    if (!q || !q->parent)
        return false;
    parent.name = q->parent;
    return !find(c, &parent);
}

bool queue_cache_is_news(struct queue_cache *c, const struct gang_ref *ref, const char *sentence)
{
    struct cached_queue *q = find(c, ref);
    if (!q || str_eq(q->told, sentence))
        return false;
    free(q->told);
    q->told = xstrdup_null(sentence);
    return true;
}
