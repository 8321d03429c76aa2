/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/grouper/grouper_internal.h"

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

#define RETRY    (2 * USEC_PER_SEC)
#define LOOK     (15 * USEC_PER_SEC)
#define PATIENCE (30 * USEC_PER_SEC)
/* How many objects with events are remembered. */
#define MAX_REPORTED 4096
/* The pods of an owner can have different problems. An event with another text about the same
 * object is sent only after this multiple of the patience. */
#define TOLD_AGAIN 20

/* ---- events about failures ---- */

/* The last event about an object. */
struct reported {
    usec_t at;
    char text[];
};

/* Logs and sends an event about an object whose PodGroup could not be created for a long time. The
 * same text is sent only once, and another text only later. */
static void complain(struct grouper *g, const char *ns, const struct workload_ref *about,
                     const char *text)
{
    const struct reported *old = map_get(&g->reported, about->uid);
    usec_t now = usec_now();
    if (old && (strcmp(old->text, text) == 0 || now - old->at < TOLD_AGAIN * g->o.patience))
        return;
    if (map_count(&g->reported) >= MAX_REPORTED) {
        size_t first = 0;
        struct map_entry *oldest = map_next(&g->reported, &first);
        free(map_remove(&g->reported, oldest->key));
    }
    struct reported *reported = xcalloc(1, sizeof *reported + strlen(text) + 1);
    reported->at = now;
    strcpy(reported->text, text);
    free(map_set(&g->reported, about->uid, reported));
    log_warning("Could not create a PodGroup", "namespace", ns, "kind", about->kind, "name",
                about->name, "error", text, NULL);
    writer_take(g->o.writer,
                write_request_event(&(struct write_request_about){.api_version = about->api_version,
                                                                  .kind = about->kind,
                                                                  .ns = ns,
                                                                  .name = about->name,
                                                                  .uid = about->uid},
                                    WRITER_EVENT_PODGROUP_NOT_CREATED, text));
    writer_pump(g->o.writer);
}

/* ---- ungrouped pods ---- */

static char *key_of(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns, name);
}

static struct ungrouped_pod *find(const struct grouper *g, const char *ns, const char *name)
{
    cleanup_free char *key = key_of(ns, name);
    return map_get(&g->ungrouped, key);
}

static void ungrouped_free(struct ungrouped_pod *n)
{
    owner_walk_end(&n->walk);
    background_call_drop(&n->link);
    list_remove(&n->in_created);
    list_remove(&n->dead);
    free(n->key);
    free(n->ns);
    free(n->name);
    free(n->uid);
    free(n->text);
    free(n->group.api_group);
    free(n->group.ns);
    free(n->group.name);
    free(n->role);
    free(n);
}

/* Stops handling the pod. */
static void dismiss(struct ungrouped_pod *n)
{
    struct grouper *g = n->walk.g;
    map_remove(&g->ungrouped, n->key);
    owner_walk_end(&n->walk);
    list_remove(&n->in_created);
    list_push(&g->dead_ungrouped, &n->dead);
    grouper_pump_soon(g);
}

/* Passes the pod on, with its current awaits_group. */
static void show(struct ungrouped_pod *n, json_t *pod)
{
    struct grouper *g = n->walk.g;
    g->showing = n;
    g->o.show(g->o.arg, pod);
    g->showing = NULL;
}

static void show_again(struct ungrouped_pod *n)
{
    cleanup_json json_t *pod = json_loads(n->walk.pod, 0, NULL);
    show(n, pod);
}

/* The object for the event: the pod's first owner, or else the pod. Borrowed. */
static bool culprit(const json_t *pod, struct workload_ref *ret)
{
    static char version[] = "v1", kind[] = "Pod";
    const json_t *owner = grouper_first_owner(pod);
    if (owner)
        return grouper_ref(owner, ret);
    *ret = (struct workload_ref){version, kind,
                                 (char *)(uintptr_t)field_peek(pod, "metadata", "name", NULL),
                                 (char *)(uintptr_t)field_peek(pod, "metadata", "uid", NULL)};
    return ret->name && ret->uid;
}

static void ungrouped_stuck(struct owner_walk *s, const char *why)
{
    struct ungrouped_pod *n = CONTAINER_OF(s, struct ungrouped_pod, walk);
    struct grouper *g = s->g;
    char *text = xasprintf("its PodGroup cannot be created: %s", why);
    bool news = !str_eq(text, n->text);
    free(n->text);
    n->text = text;
    if (news)
        show_again(n);
    if (usec_now() - n->since < g->o.patience)
        return;
    cleanup_json json_t *pod = json_loads(s->pod, 0, NULL);
    struct workload_ref about;
    if (culprit(pod, &about))
        complain(g, n->ns, &about, why);
}

static void ungrouped_none(struct owner_walk *s)
{
    struct ungrouped_pod *n = CONTAINER_OF(s, struct ungrouped_pod, walk);
    n->state = UNGROUPED_IGNORED;
    free(STEAL(n->text));
    show_again(n);
    owner_walk_end(s);
}

static void set_group(struct ungrouped_pod *n, const struct gang_ref *ref, const char *role)
{
    struct gang_ref *g = &n->group;
    free(g->api_group);
    free(g->ns);
    free(g->name);
    free(n->role);
    *g = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    n->role = xstrdup_null(role);
}

static void ungrouped_found(struct owner_walk *s, const struct workload_group *group)
{
    struct ungrouped_pod *n = CONTAINER_OF(s, struct ungrouped_pod, walk);
    struct grouper *g = s->g;
    const struct dialect *d = dialect_of_objects(group->api_group);
    if (!d || !grouper_is_ready(g, d)) {
        owner_walk_park(s); /* until the PodGroups of this dialect are listed */
        return;
    }
    if (!podgroups_served(g->o.groups, d->api_group)) {
        cleanup_free char *why =
            xasprintf("the API server does not serve PodGroups of %s; install their CRD, or set "
                      "podGroupDialect to a dialect that it serves",
                      d->api_group);
        owner_walk_park(s);
        ungrouped_stuck(s, why);
        return;
    }
    const struct gang_ref ref = {(char *)(uintptr_t)d->api_group, n->ns, group->name};
    const char *why = NULL;
    enum created_podgroup_state answer = created_podgroup_need(n, d, &ref, group, &why);
    if (answer == PODGROUP_FAILING)
        ungrouped_stuck(s, why);
    if (answer != PODGROUP_EXISTS)
        return;
    set_group(n, &ref, group->role);
    n->state = UNGROUPED_LINKING;
    background_call_enqueue(&n->link);
}

/* ---- links ---- */

static void link_send(struct background_call *e)
{
    const struct ungrouped_pod *n = CONTAINER_OF(e, struct ungrouped_pod, link);
    const struct dialect *d = dialect_of_objects(n->group.api_group);
    cleanup_json json_t *patch = created_podgroup_link(d, n->uid, n->group.name, n->role);
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/namespaces/");
    client_escape(&path, n->ns);
    buf_puts(&path, "/pods/");
    client_escape(&path, n->name);
    buf_puts(&path, "?fieldManager=muster");
    background_call_send(e, &(struct client_request){.verb = "patch",
                                                     .resource = "pods",
                                                     .method = "PATCH",
                                                     .path = buf_str(&path),
                                                     .content_type = "application/merge-patch+json",
                                                     .body = text,
                                                     .timeout = GROUPER_TIMEOUT,
                                                     .max_body = GROUPER_MAX_BODY});
}

static void link_failed(struct ungrouped_pod *n, const struct client_reply *reply)
{
    struct grouper *g = n->walk.g;
    struct err err;
    client_reply_error(reply, &err);
    api_metrics_count(g->o.metrics, "podgroup_failures_total", "step", "link");
    bool forbidden = client_reply_unauthorized(reply);
    if (forbidden && !g->link_forbidden)
        log_error("The API server does not let muster link pods to the PodGroups that it creates; "
                  "grant the missing rule",
                  "rule", "patch pods", "error", err.text, NULL);
    g->link_forbidden = forbidden;
    cleanup_free char *why =
        forbidden
            ? xstrdup(
                  "muster is not allowed to link the pod: grant its service account patch on pods")
            : xasprintf("muster cannot link the pod: %s", err.text);
    ungrouped_stuck(&n->walk, why);
    background_call_retry(&n->link, g->o.retry, GROUPER_MOST);
}

static void link_done(struct background_call *e, const struct client_reply *reply)
{
    struct ungrouped_pod *n = CONTAINER_OF(e, struct ungrouped_pod, link);
    if (!list_empty(&n->dead))
        return;
    cleanup_json json_t *pod =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    if (pod) {
        n->state = UNGROUPED_LINKED;
        n->walk.g->link_forbidden = false;
        owner_walk_end(&n->walk);
        show(n, pod);
    } else if (!reply->error && (reply->status == 404 || reply->status == 409)) {
        dismiss(n); /* the pod is gone, or a new pod has its name: the watch will show it */
    } else {
        link_failed(n, reply);
    }
}

/* ---- objects from the watch ---- */

static struct ungrouped_pod *ungrouped_new(struct grouper *g, const struct gang_pod_facts *f)
{
    struct ungrouped_pod *n = xcalloc(1, sizeof *n);
    n->ns = xstrdup(f->ns);
    n->name = xstrdup(f->name);
    n->uid = xstrdup(f->uid);
    n->key = key_of(f->ns, f->name);
    n->since = usec_now();
    n->text = xstrdup(f->awaits_group);
    list_init(&n->dead);
    list_init(&n->in_created);
    owner_walk_init(&n->walk, g, n->ns);
    n->walk.found = ungrouped_found;
    n->walk.none = ungrouped_none;
    n->walk.stuck = ungrouped_stuck;
    background_call_init(&n->link, g->background_calls, BACKGROUND_CALL_LINK, n->ns, link_send,
                         link_done);
    map_set(&g->ungrouped, n->key, n);
    return n;
}

/* The pod as text of about 3 kB. A tree would take ten times as much. */
static char *pod_text(const json_t *pod)
{
    cleanup_json json_t *copy = json_copy((json_t *)(uintptr_t)pod);
    json_t *metadata = json_copy(json_object_get(pod, "metadata"));
    json_object_del(metadata, "managedFields");
    json_object_set_new(copy, "metadata", metadata);
    return json_dumps(copy, JSON_COMPACT);
}

void grouper_overlay(struct grouper *g, json_t *pod)
{
    const char *ns = field_peek(pod, "metadata", "namespace", NULL);
    const char *name = field_peek(pod, "metadata", "name", NULL), *linked;
    struct ungrouped_pod *n = g && ns && name ? find(g, ns, name) : NULL;
    if (g && g->showing != n)
        g->showing = NULL;
    if (!n || n->state != UNGROUPED_LINKED || g->showing == n ||
        !str_eq(n->uid, field_peek(pod, "metadata", "uid", NULL)) ||
        dialect_of_pod(pod, &linked, NULL))
        return;
    const struct dialect *d = dialect_of_objects(n->group.api_group);
    cleanup_json json_t *link = created_podgroup_link(d, n->uid, n->group.name, n->role);
    json_object_update_recursive(pod, link);
    g->showing = n; /* grouper_pod() must not take this link for one from the watch */
}

/* Handles a pod that has a link or needs no PodGroup. */
static void take_settled(struct grouper *g, struct ungrouped_pod *n, const struct gang_pod_facts *f)
{
    if (n && n != g->showing)
        dismiss(n);
    if (f->group.name && !f->declared)
        created_podgroup_member(g, &f->group, f->name);
}

/* Handles a pod that needs, or may need, a PodGroup. */
static void take_newcomer(struct grouper *g, struct ungrouped_pod *n, const json_t *pod,
                          struct gang_pod_facts *f)
{
    if (!n)
        n = ungrouped_new(g, f);
    free(STEAL(f->awaits_group));
    f->awaits_group = xstrdup_null(n->text);
    if (n == g->showing || n->state > UNGROUPED_LINKING)
        return;
    if (!n->walk.pod) {
        owner_walk_start(&n->walk, pod_text(pod));
    } else {
        free(n->walk.pod);
        n->walk.pod = pod_text(pod);
    }
}

void grouper_pod(struct grouper *g, const json_t *pod, struct gang_pod_facts *f)
{
    if (!g)
        return;
    struct ungrouped_pod *n = find(g, f->ns, f->name);
    if (n && !str_eq(n->uid, f->uid)) {
        dismiss(n);
        n = NULL;
    }
    if (decode_awaits(g->o.rules, pod, f))
        take_newcomer(g, n, pod, f);
    else
        take_settled(g, n, f);
    g->showing = NULL;
}

void grouper_pod_gone(struct grouper *g, const char *ns, const char *name)
{
    struct ungrouped_pod *n = g ? find(g, ns, name) : NULL;
    if (n)
        dismiss(n);
}

void grouper_ready(struct grouper *g, const struct dialect *dialect, bool ready)
{
    if (!g)
        return;
    grouper_set_ready(g, dialect, ready);
    if (!ready)
        return;
    created_podgroups_listed(g, dialect);
    owner_walks_unpark(g);
}

/* ---- life ---- */

static void bury(struct grouper *g)
{
    list_for_each_safe (n, &g->dead_ungrouped, struct ungrouped_pod, dead)
        ungrouped_free(n);
    list_for_each_safe (m, &g->dead_created, struct created_podgroup, dead)
        created_podgroup_free(m);
}

static void on_pump(void *arg)
{
    struct grouper *g = arg;
    bury(g);
    created_podgroups_follow(g);
    owner_walks_step(g);
}

static void on_look(void *arg)
{
    struct grouper *g = arg;
    owner_walks_unpark(g);
    if (created_podgroups_sweep(g))
        grouper_look_later(g);
}

static bool is_urgent(void *arg)
{
    return writer_urgent(((struct grouper *)arg)->o.writer);
}

struct grouper *grouper_new(const struct grouper_options *options)
{
    struct grouper *g = xcalloc(1, sizeof *g);
    g->o = *options;
    g->o.retry = g->o.retry ? g->o.retry : RETRY;
    g->o.look = g->o.look ? g->o.look : LOOK;
    g->o.patience = g->o.patience ? g->o.patience : PATIENCE;
    struct list *lists[] = {&g->queue, &g->stuck, &g->dead_ungrouped, &g->dead_created, &g->learnt};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        list_init(lists[i]);
    g->pump = (struct client_timer){.fire = on_pump, .arg = g};
    g->look = (struct client_timer){.fire = on_look, .arg = g};
    g->background_calls = background_calls_new(g->o.client, g->o.metrics, is_urgent, g);
    g->owners =
        owner_cache_new(&(struct owner_cache_options){.client = g->o.client,
                                                      .metrics = g->o.metrics,
                                                      .background_calls = g->background_calls,
                                                      .changed = created_podgroup_owner_changed,
                                                      .arg = g,
                                                      .retry = g->o.retry});
    return g;
}

static void free_texts(struct map *map)
{
    map_for_each (e, map)
        free(e->value);
    map_done(map);
}

struct grouper *grouper_free(struct grouper *g)
{
    if (!g)
        return NULL;
    bury(g);
    map_for_each (e, &g->ungrouped)
        ungrouped_free(e->value);
    map_for_each (e, &g->created)
        created_podgroup_free(e->value);
    map_done(&g->ungrouped);
    map_done(&g->created);
    free_texts(&g->samples);
    free_texts(&g->reported);
    owner_cache_free(g->owners);
    background_calls_free(g->background_calls);
    client_timer_clear(g->o.client, &g->pump);
    client_timer_clear(g->o.client, &g->look);
    free(g);
    return NULL;
}
