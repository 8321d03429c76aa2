/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/grouper/owner_cache.h"

#include <inttypes.h>

#include "base/hash.h"
#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/list_watch/watch.h"

#define READ_TIMEOUT (15 * USEC_PER_SEC)
#define MAX_BODY     ((size_t)4 << 20)
/* Longest kind or UID in an owner reference, where the API server sets no limit. */
#define MAX_WORD    128
#define RETRY_FIRST (2 * USEC_PER_SEC)
#define RETRY_MOST  (60 * USEC_PER_SEC)
/* An owner that was not used for this long is dropped. */
#define KEEP  (10 * USEC_PER_SEC)
#define SWEEP (5 * USEC_PER_SEC)
/* How long an object may be used after it was read, if no watch shows its changes. */
#define FRESH (3 * USEC_PER_SEC)

/* A kind of owners. */
struct kind {
    struct owner_cache *all;
    char *api_version, *name;
    char *ns;               /* namespace of its first owner, for the queue of background calls */
    char *plural;           /* resource name; NULL: unknown yet */
    bool namespaced;        /* its objects are in the namespaces of their pods */
    char *why;              /* why the last discovery failed; NULL: it did not */
    enum owner_state state; /* set together with `why` */
    struct background_call discover;
    struct list owners; /* owners that wait for the plural */
    char *path, *rule;  /* of the watch */
    struct watch *watch;
    size_t refs;    /* number of owners of this kind in the cache */
    bool wanted;    /* some are followed: watch it once its plural is known */
    bool forbidden; /* the missing right was logged */
};

struct owner {
    struct owner_cache *all;
    char *key, *uid, *ns, *name;
    struct kind *kind;
    json_t *object;         /* NULL: not read yet */
    char *why;              /* why the last read failed; NULL: it did not */
    enum owner_state state; /* set together with `why` */
    usec_t used, read_at;
    struct background_call read;
    struct list in_kind; /* in kind->owners until the plural is known */
    struct list waits;   /* of struct owner_wait */
};

/* An owner whose changes are reported. */
struct followed {
    size_t count;  /* of owner_cache_follow() */
    uint64_t mark; /* mark_of() its last known version; 0: unknown */
};

struct owner_cache {
    struct owner_cache_options o;
    struct map kinds;    /* "apiVersion/Kind" -> struct kind */
    struct map owners;   /* owner_key() -> struct owner */
    struct map followed; /* UID -> struct followed */
    struct client_timer sweep;
};

static void read_send(struct background_call *e);
static void read_done(struct background_call *e, const struct client_reply *reply);
static void discover_send(struct background_call *e);
static void discover_done(struct background_call *e, const struct client_reply *reply);
static void start_watch(struct kind *k);

/* ---- life ---- */

static void owner_free(struct owner *w)
{
    list_for_each_safe (wait, &w->waits, struct owner_wait, link)
        list_remove(&wait->link);
    background_call_drop(&w->read);
    list_remove(&w->in_kind);
    w->kind->refs--;
    json_decref(w->object);
    free(w->key);
    free(w->uid);
    free(w->ns);
    free(w->name);
    free(w->why);
    free(w);
}

static void kind_free(struct kind *k)
{
    watch_stop(k->watch, /* forget= */ false);
    background_call_drop(&k->discover);
    free(k->api_version);
    free(k->name);
    free(k->plural);
    free(k->ns);
    free(k->why);
    free(k->path);
    free(k->rule);
    free(k);
}

static bool in_use(const struct owner *w)
{
    return !list_empty(&w->waits) || w->read.state == BACKGROUND_CALL_QUEUED ||
           w->read.state == BACKGROUND_CALL_IN_FLIGHT;
}

static void on_sweep(void *arg)
{
    struct owner_cache *o = arg;
    usec_t now = usec_now();
    map_for_each (e, &o->owners) {
        struct owner *w = e->value;
        if (in_use(w) || now - w->used < KEEP)
            continue;
        map_remove(&o->owners, e->key);
        owner_free(w);
    }
    map_for_each (e, &o->kinds) {
        struct kind *k = e->value;
        if (k->refs > 0 || k->wanted)
            continue;
        map_remove(&o->kinds, e->key);
        kind_free(k);
    }
    if (map_count(&o->owners) > 0)
        client_timer_set(o->o.client, &o->sweep, now + SWEEP);
}

struct owner_cache *owner_cache_new(const struct owner_cache_options *options)
{
    struct owner_cache *o = xcalloc(1, sizeof *o);
    o->o = *options;
    o->sweep = (struct client_timer){.fire = on_sweep, .arg = o};
    return o;
}

struct owner_cache *owner_cache_free(struct owner_cache *o)
{
    if (!o)
        return NULL;
    client_timer_clear(o->o.client, &o->sweep);
    map_for_each (e, &o->owners)
        owner_free(e->value);
    map_for_each (e, &o->kinds)
        kind_free(e->value);
    map_for_each (e, &o->followed)
        free(e->value);
    map_done(&o->owners);
    map_done(&o->kinds);
    map_done(&o->followed);
    free(o);
    return NULL;
}

/* ---- kinds ---- */

static void put_version_path(struct buf *b, const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    buf_puts(b, slash ? "/apis/" : "/api/");
    if (slash) {
        cleanup_free char *group = xstrndup(api_version, (size_t)(slash - api_version));
        client_escape(b, group);
        buf_putc(b, '/');
    }
    client_escape(b, slash ? slash + 1 : api_version);
}

/* "rayclusters in API group ray.io" */
static char *resource_words(const struct kind *k)
{
    const char *slash = strchr(k->api_version, '/');
    if (!slash)
        return xstrdup(k->plural);
    return xasprintf("%s in API group %.*s", k->plural, (int)(slash - k->api_version),
                     k->api_version);
}

static struct kind *kind_of(struct owner_cache *o, const char *ns, const struct workload_ref *ref)
{
    cleanup_free char *key = xasprintf("%s/%s", ref->api_version, ref->kind);
    struct kind *k = map_get(&o->kinds, key);
    if (k)
        return k;
    k = xcalloc(1, sizeof *k);
    k->all = o;
    k->api_version = xstrdup(ref->api_version);
    k->name = xstrdup(ref->kind);
    k->ns = xstrdup(ns);
    k->plural = xstrdup_null(workload_plural(ref->api_version, ref->kind));
    k->namespaced = true;
    list_init(&k->owners);
    background_call_init(&k->discover, o->o.background_calls, BACKGROUND_CALL_READ, k->ns,
                         discover_send, discover_done);
    map_set(&o->kinds, key, k);
    return k;
}

/* Whether the plural is still needed. */
static bool is_waited_for(const struct kind *k)
{
    list_for_each (w, &k->owners, struct owner, in_kind)
        if (!list_empty(&w->waits))
            return true;
    return k->wanted;
}

static void discover_send(struct background_call *e)
{
    const struct kind *k = CONTAINER_OF(e, struct kind, discover);
    if (!is_waited_for(k)) {
        background_call_skip(e);
        return;
    }
    cleanup_buf struct buf path = BUF_INIT;
    put_version_path(&path, k->api_version);
    background_call_send(e, &(struct client_request){.verb = "get",
                                                     .resource = "apis",
                                                     .method = "GET",
                                                     .path = buf_str(&path),
                                                     .timeout = READ_TIMEOUT,
                                                     .max_body = MAX_BODY});
}

/* The resource of this kind in an APIResourceList. Names with a slash are subresources. */
static const json_t *find_resource(const json_t *list, const char *kind)
{
    const json_t *resources = json_object_get(list, "resources");
    for (size_t i = 0; i < json_array_size(resources); i++) {
        const json_t *r = json_array_get(resources, i);
        const char *name = field_peek(r, "name", NULL);
        if (str_eq(field_peek(r, "kind", NULL), kind) && name && *name && !strchr(name, '/'))
            return r;
    }
    return NULL;
}

static void tell(struct owner *w)
{
    struct list ready;
    list_init(&ready);
    while (!list_empty(&w->waits)) {
        struct list *first = w->waits.next;
        list_remove(first);
        list_push(&ready, first);
    }
    while (!list_empty(&ready)) {
        struct owner_wait *wait = CONTAINER_OF(ready.next, struct owner_wait, link);
        list_remove(&wait->link);
        wait->ready(wait);
    }
}

static void set_why(char **why, char *text)
{
    free(*why);
    *why = text;
}

/* OWNER_DENIED: an immediate retry would not help. */
static enum owner_state state_of(const struct client_reply *reply)
{
    bool denied = !reply->error && (reply->status == 403 || reply->status == 404);
    return client_ok(reply) || denied ? OWNER_DENIED : OWNER_FAILING;
}

static void discover_done(struct background_call *e, const struct client_reply *reply)
{
    struct kind *k = CONTAINER_OF(e, struct kind, discover);
    struct err err;
    cleanup_json json_t *list =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    const json_t *r = find_resource(list, k->name);
    if (r) {
        k->plural = xstrdup(field_peek(r, "name", NULL));
        k->namespaced = json_is_true(json_object_get(r, "namespaced"));
        set_why(&k->why, NULL);
    } else if (client_ok(reply) || (!reply->error && reply->status == 404)) {
        set_why(&k->why,
                xasprintf("the API server does not serve kind %s of %s", k->name, k->api_version));
    } else {
        client_reply_error(reply, &err);
        set_why(&k->why,
                xasprintf("the resources of %s cannot be read: %s", k->api_version, err.text));
    }
    k->state = state_of(reply);
    list_for_each_safe (w, &k->owners, struct owner, in_kind) {
        if (!k->plural) {
            tell(w);
            continue;
        }
        list_remove(&w->in_kind);
        background_call_enqueue(&w->read);
    }
    if (!k->plural)
        background_call_retry(e, k->all->o.retry ? k->all->o.retry : RETRY_FIRST, RETRY_MOST);
    else if (k->wanted && !k->watch)
        start_watch(k);
}

/* ---- reading ---- */

static void read_send(struct background_call *e)
{
    const struct owner *w = CONTAINER_OF(e, struct owner, read);
    if (list_empty(&w->waits)) { /* the owner is no longer needed */
        background_call_skip(e);
        return;
    }
    cleanup_buf struct buf path = BUF_INIT;
    put_version_path(&path, w->kind->api_version);
    if (w->kind->namespaced) {
        buf_puts(&path, "/namespaces/");
        client_escape(&path, w->ns);
    }
    buf_putc(&path, '/');
    client_escape(&path, w->kind->plural);
    buf_putc(&path, '/');
    client_escape(&path, w->name);
    background_call_send(e, &(struct client_request){.verb = "get",
                                                     .resource = "owners",
                                                     .method = "GET",
                                                     .path = buf_str(&path),
                                                     .timeout = READ_TIMEOUT,
                                                     .max_body = MAX_BODY});
}

/* Removes long fields that no rule reads. */
static void trim(json_t *object)
{
    json_t *metadata = json_object_get(object, "metadata");
    json_object_del(metadata, "managedFields");
    json_object_del(json_object_get(metadata, "annotations"),
                    "kubectl.kubernetes.io/last-applied-configuration");
}

static char *read_failed(const struct owner *w, const struct client_reply *reply)
{
    struct kind *k = w->kind;
    struct err err;
    client_reply_error(reply, &err);
    if (!reply->error && reply->status == 404)
        return xasprintf("%s %s/%s does not exist", k->name, w->ns, w->name);
    if (reply->error || reply->status != 403)
        return xasprintf("%s %s/%s cannot be read: %s", k->name, w->ns, w->name, err.text);
    cleanup_free char *resource = resource_words(k);
    if (!k->forbidden)
        log_error("The API server does not let muster read the owners of pods; grant the missing "
                  "rule",
                  "rule", resource, "verbs", "get, list, watch", "error", err.text, NULL);
    k->forbidden = true;
    return xasprintf(
        "muster is not allowed to read %s %s/%s: grant its service account get, list and "
        "watch on %s",
        k->name, w->ns, w->name, resource);
}

static json_int_t generation(const json_t *object)
{
    return json_integer_value(json_object_get(json_object_get(object, "metadata"), "generation"));
}

static void remember(struct owner *w, json_t *object)
{
    json_decref(w->object);
    w->object = json_incref(object);
    w->read_at = usec_now();
    set_why(&w->why, NULL);
    tell(w);
}

/* Why the reply is unusable: it has no object, only a part of one (`bad`), or another object. */
static char *why_not(const struct owner *w, const struct client_reply *reply, const json_t *object,
                     const struct err *bad)
{
    if (!object)
        return read_failed(w, reply);
    if (bad->code != ERR_NONE)
        return xasprintf("%s %s/%s cannot be read: %s", w->kind->name, w->ns, w->name, bad->text);
    return xasprintf("%s %s/%s was deleted and created again", w->kind->name, w->ns, w->name);
}

static void read_done(struct background_call *e, const struct client_reply *reply)
{
    struct owner *w = CONTAINER_OF(e, struct owner, read);
    struct err bad = {.code = ERR_NONE};
    cleanup_json json_t *object =
        client_ok(reply) ? kube_json_object(reply->body, reply->len, &bad) : NULL;
    if (object && bad.code == ERR_NONE &&
        str_eq(field_peek(object, "metadata", "uid", NULL), w->uid)) {
        w->kind->forbidden = false;
        trim(object);
        /* The watch may have shown a newer version in the meantime. */
        if (!w->object || !w->kind->watch || generation(object) > generation(w->object))
            remember(w, object);
        return;
    }
    set_why(&w->why, why_not(w, reply, object, &bad));
    w->state = state_of(reply);
    background_call_retry(e, w->all->o.retry ? w->all->o.retry : RETRY_FIRST, RETRY_MOST);
    tell(w);
}

/* The key contains the whole reference, so that knowing the UID of an object in another namespace
 * is not enough to read the object. */
static char *owner_key(const char *ns, const char *api_version, const char *kind, const char *name,
                       const char *uid)
{
    return xasprintf("%s/%s/%s/%s/%s", ns, api_version, kind, name, uid);
}

static struct owner *owner_new(struct owner_cache *o, const char *ns,
                               const struct workload_ref *ref)
{
    struct owner *w = xcalloc(1, sizeof *w);
    w->all = o;
    w->uid = xstrdup(ref->uid);
    w->ns = xstrdup(ns);
    w->name = xstrdup(ref->name);
    w->kind = kind_of(o, ns, ref);
    w->kind->refs++;
    list_init(&w->in_kind);
    list_init(&w->waits);
    background_call_init(&w->read, o->o.background_calls, BACKGROUND_CALL_READ, w->ns, read_send,
                         read_done);
    if (map_count(&o->owners) == 0)
        client_timer_set(o->o.client, &o->sweep, usec_now() + SWEEP);
    w->key = owner_key(ns, ref->api_version, ref->kind, ref->name, ref->uid);
    map_set(&o->owners, w->key, w);
    return w;
}

/*
 * Whether s can be a segment of a path. The API server accepts almost any text in an owner
 * reference, but decodes a path before it splits it ("..%2F" leads to another path). So muster does
 * not request names that no object can have.
 */
static bool is_segment(const char *s, size_t len)
{
    return len > 0 && len <= 253 && s[0] != '.' && !memchr(s, '/', len) &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") >= len;
}

static bool can_be(const struct workload_ref *ref)
{
    const char *slash = strchr(ref->api_version, '/');
    const char *version = slash ? slash + 1 : ref->api_version;
    return (!slash || is_segment(ref->api_version, (size_t)(slash - ref->api_version))) &&
           is_segment(version, strlen(version)) && is_segment(ref->name, strlen(ref->name)) &&
           strlen(ref->kind) <= MAX_WORD && strlen(ref->uid) <= MAX_WORD;
}

enum owner_state owner_cache_find(struct owner_cache *o, const char *ns,
                                  const struct workload_ref *ref, struct owner_wait *wait,
                                  const json_t **ret, const char **ret_why)
{
    cleanup_free char *key = owner_key(ns, ref->api_version, ref->kind, ref->name, ref->uid);
    struct owner *w = map_get(&o->owners, key);
    if (!can_be(ref)) {
        *ret_why =
            "its owner reference has an apiVersion, kind, name or UID that no object can have";
        return OWNER_DENIED;
    }
    if (!w)
        w = owner_new(o, ns, ref);
    w->used = usec_now();
    *ret = w->object;
    if (w->object && (w->kind->watch || w->used - w->read_at < FRESH))
        return OWNER_KNOWN;
    list_push(&w->waits, &wait->link);
    if (w->kind->plural) {
        if (w->read.state == BACKGROUND_CALL_IDLE)
            background_call_enqueue(&w->read);
        *ret_why = w->why;
        return w->why ? w->state : OWNER_COMING;
    }
    if (list_empty(&w->in_kind))
        list_push(&w->kind->owners, &w->in_kind);
    if (w->kind->discover.state == BACKGROUND_CALL_IDLE)
        background_call_enqueue(&w->kind->discover);
    *ret_why = w->kind->why;
    return w->kind->why ? w->kind->state : OWNER_COMING;
}

/* ---- following ---- */

/* A digest of the generation (which changes with the spec), labels and annotations; never 0. */
static uint64_t mark_of(const json_t *object)
{
    static const char *const parts[] = {"generation", "labels", "annotations"};
    const json_t *metadata = json_object_get(object, "metadata");
    uint64_t h = HASH_START;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        const json_t *part = json_object_get(metadata, parts[i]);
        cleanup_free char *text =
            part ? json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
        h = hash_text(h, text ? text : "-");
    }
    return h ? h : 1;
}

static int on_object(void *arg, json_t *object, struct err *err)
{
    struct kind *k = arg;
    struct owner_cache *o = k->all;
    (void)err;
    const char *uid = field_peek(object, "metadata", "uid", NULL);
    if (!uid)
        return 0;
    trim(object);
    const char *ns = field_peek(object, "metadata", "namespace", NULL);
    const char *name = field_peek(object, "metadata", "name", NULL);
    cleanup_free char *key =
        owner_key(ns ? ns : "", k->api_version, k->name, name ? name : "", uid);
    struct owner *w = map_get(&o->owners, key);
    if (w && (!w->object || generation(object) >= generation(w->object)))
        remember(w, object);
    struct followed *f = map_get(&o->followed, uid);
    uint64_t mark = f ? mark_of(object) : 0;
    if (!f || f->mark == mark)
        return 0;
    f->mark = mark;
    o->o.changed(o->o.arg, uid);
    return 0;
}

/* Garbage collection deletes the PodGroup, and muster then stops following the owner. */
static void on_gone(void *arg, const char *ns, const char *name)
{
    (void)arg;
    (void)ns;
    (void)name;
}

static void on_synced(void *arg)
{
    (void)arg;
}

static void start_watch(struct kind *k)
{
    cleanup_buf struct buf path = BUF_INIT;
    cleanup_free char *resource = resource_words(k);
    put_version_path(&path, k->api_version);
    buf_putc(&path, '/');
    client_escape(&path, k->plural);
    k->path = buf_steal(&path);
    k->rule = xasprintf("list and watch %s", resource);
    k->watch = watch_start(k->all->o.client, k->all->o.metrics,
                           &(struct watch_options){.path = k->path,
                                                   .resource = k->plural,
                                                   .rule = k->rule,
                                                   .set = on_object,
                                                   .gone = on_gone,
                                                   .synced = on_synced,
                                                   .arg = k});
}

void owner_cache_follow(struct owner_cache *o, const char *ns, const struct workload_ref *ref)
{
    struct kind *k = kind_of(o, ns, ref);
    struct followed *f = map_get(&o->followed, ref->uid);
    if (!f) {
        f = xcalloc(1, sizeof *f);
        cleanup_free char *key = owner_key(ns, ref->api_version, ref->kind, ref->name, ref->uid);
        const struct owner *w = map_get(&o->owners, key);
        f->mark = w && w->object ? mark_of(w->object) : 0;
        map_set(&o->followed, ref->uid, f);
    }
    f->count++;
    k->wanted = true;
    if (!k->watch && k->plural)
        start_watch(k);
    else if (!k->plural && k->discover.state == BACKGROUND_CALL_IDLE)
        background_call_enqueue(&k->discover);
}

void owner_cache_unfollow(struct owner_cache *o, const char *uid)
{
    struct followed *f = map_get(&o->followed, uid);
    if (!f || --f->count > 0)
        return;
    map_remove(&o->followed, uid);
    free(f);
}
