/* SPDX-License-Identifier: Apache-2.0 */
/* Creates PodGroups, and updates them when their owners change. */
#include <inttypes.h>

#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/grouper/grouper_internal.h"

/* If the watch has not shown a created PodGroup after this time, the PodGroup is gone again. */
#define SHOWN_BY (30 * USEC_PER_SEC)
/* After a conflict, the watch shows the other writer's version within this time. */
#define CONFLICT_PAUSE (200 * USEC_PER_MSEC)
/* Linked pods remembered before the PodGroups are listed. */
#define MAX_SAMPLES 100000

static void created_podgroup_send(struct background_call *e);
static void created_podgroup_done(struct background_call *e, const struct client_reply *reply);
static void sample_send(struct background_call *e);
static void sample_done(struct background_call *e, const struct client_reply *reply);
static void refresh_found(struct owner_walk *s, const struct workload_group *group);
static void refresh_none(struct owner_walk *s);
static void refresh_stuck(struct owner_walk *s, const char *why);

/* ---- life ---- */

static struct created_podgroup *created_podgroup_new(struct grouper *g, const struct dialect *d,
                                                     const struct gang_ref *ref)
{
    struct created_podgroup *m = xcalloc(1, sizeof *m);
    m->g = g;
    m->dialect = d;
    m->key = gang_ref_key(ref);
    m->ref = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    list_init(&m->dead);
    list_init(&m->ungrouped);
    background_call_init(&m->background_call, g->background_calls, BACKGROUND_CALL_MAKE, m->ref.ns,
                         created_podgroup_send, created_podgroup_done);
    background_call_init(&m->read, g->background_calls, BACKGROUND_CALL_CHECK, m->ref.ns,
                         sample_send, sample_done);
    owner_walk_init(&m->walk, g, m->ref.ns);
    m->walk.found = refresh_found;
    m->walk.none = refresh_none;
    m->walk.stuck = refresh_stuck;
    map_set(&g->created, m->key, m);
    grouper_look_later(g); /* it may never be created */
    return m;
}

static struct created_podgroup *find(const struct grouper *g, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    return map_get(&g->created, key);
}

void created_podgroup_free(struct created_podgroup *m)
{
    background_call_drop(&m->background_call);
    background_call_drop(&m->read);
    owner_walk_end(&m->walk);
    list_remove(&m->dead);
    workload_ref_done(&m->top);
    json_decref(m->write);
    free(m->key);
    free(m->ref.api_group);
    free(m->ref.ns);
    free(m->ref.name);
    free(m->owner);
    free(m->why);
    free(m->dispute);
    while (m->n_samples)
        free(m->samples[--m->n_samples]);
    free(m);
}

static void requeue_ungrouped(struct created_podgroup *m)
{
    while (!list_empty(&m->ungrouped)) {
        struct ungrouped_pod *n = CONTAINER_OF(m->ungrouped.next, struct ungrouped_pod, in_created);
        list_remove(&n->in_created);
        owner_walk_again(&n->walk);
    }
}

static void unfollow(struct created_podgroup *m)
{
    if (m->followed)
        owner_cache_unfollow(m->g->owners, m->top.uid);
    m->followed = false;
}

/* Starts to follow the owner. Must not be called while a watch delivers data. */
static void follow(struct created_podgroup *m)
{
    const struct grouper *g = m->g;
    if (m->followed || !workload_scales(g->o.rules, m->top.api_version, m->top.kind))
        return;
    owner_cache_follow(g->owners, m->ref.ns, &m->top);
    m->followed = true;
}

static void forget(struct created_podgroup *m)
{
    struct grouper *g = m->g;
    map_remove(&g->created, m->key);
    requeue_ungrouped(m);
    unfollow(m);
    owner_walk_end(&m->walk);
    list_remove(&m->dead);
    list_push(&g->dead_created, &m->dead);
    grouper_pump_soon(g);
}

/* Follows and refreshes the PodGroup at the next pump, when requests may be sent. */
static void learn_soon(struct created_podgroup *m)
{
    if (!list_empty(&m->dead))
        return;
    list_push(&m->g->learnt, &m->dead);
    grouper_pump_soon(m->g);
}

/* ---- creating ---- */

static char *group_path(const struct created_podgroup *m, const char *version, bool one)
{
    cleanup_buf struct buf path = BUF_INIT;
    buf_printf(&path, "/apis/%s/%s/namespaces/", m->ref.api_group, version);
    client_escape(&path, m->ref.ns);
    buf_puts(&path, "/podgroups");
    if (one) {
        buf_putc(&path, '/');
        client_escape(&path, m->ref.name);
    }
    buf_puts(&path, "?fieldManager=muster");
    return buf_steal(&path);
}

static void created_podgroup_send(struct background_call *e)
{
    struct created_podgroup *m = CONTAINER_OF(e, struct created_podgroup, background_call);
    const struct podgroups_served *served = podgroups_served(m->g->o.groups, m->ref.api_group);
    /* The pods that needed it may be gone. */
    if (!m->write || !served || (!m->there && list_empty(&m->ungrouped))) {
        json_decref(STEAL(m->write));
        requeue_ungrouped(m);
        background_call_skip(e);
        return;
    }
    m->creates = !m->there;
    cleanup_free char *path = group_path(m, served->version, m->there);
    cleanup_free char *text = json_dumps(m->write, JSON_COMPACT);
    background_call_send(
        e, &(struct client_request){.verb = m->there ? "patch" : "create",
                                    .resource = "podgroups",
                                    .method = m->there ? "PATCH" : "POST",
                                    .path = path,
                                    .content_type = m->there ? "application/merge-patch+json"
                                                             : "application/json",
                                    .body = text,
                                    .timeout = GROUPER_TIMEOUT,
                                    .max_body = GROUPER_MAX_BODY});
}

static void is_there(struct created_podgroup *m)
{
    m->there = true;
    m->there_since = usec_now();
    m->not_before = 0;
    free(STEAL(m->why));
    json_decref(STEAL(m->write));
    requeue_ungrouped(m);
    grouper_look_later(m->g);
}

/* The PodGroup was created by another writer, or by muster before a restart. muster uses it as it
 * is, and gets the owner from the object. */
static void is_there_already(struct created_podgroup *m)
{
    unfollow(m);
    workload_ref_done(&m->top);
    is_there(m);
}

static void created(struct created_podgroup *m)
{
    struct grouper *g = m->g;
    cleanup_free char *name = xasprintf("%s/%s", m->ref.ns, m->ref.name);
    api_metrics_count(g->o.metrics, "podgroups_created_total", "dialect", m->dialect->name);
    log_info("Created a PodGroup", "podgroup", name, "dialect", m->dialect->name, "owner", m->owner,
             NULL);
    g->make_forbidden = false;
    is_there(m);
    learn_soon(m);
}

static char *why_not(struct created_podgroup *m, const struct client_reply *reply)
{
    struct grouper *g = m->g;
    struct err err;
    client_reply_error(reply, &err);
    bool forbidden = client_reply_unauthorized(reply);
    if (forbidden && !g->make_forbidden)
        log_error("The API server does not let muster create PodGroups; grant the missing rule",
                  "rule", "create and patch podgroups", "group", m->ref.api_group, "error",
                  err.text, NULL);
    g->make_forbidden = forbidden;
    return forbidden
               ? xasprintf("muster is not allowed to create it: grant its service account create "
                           "on podgroups in API group %s",
                           m->ref.api_group)
               : xasprintf("PodGroup %s/%s: %s", m->ref.ns, m->ref.name, err.text);
}

/* "Conflict" is temporary: the API server also updates a ResourceQuota, and that can conflict. */
static bool is_temporary(const struct client_reply *r)
{
    return r->error || r->status == 429 || r->status >= 500 || client_reply_is(r, "Conflict");
}

/* After a temporary failure, sends the same object again. Else the walks of the waiting pods run
 * again and determine the PodGroup anew. */
static void not_created(struct created_podgroup *m, const struct client_reply *reply)
{
    struct grouper *g = m->g;
    api_metrics_count(g->o.metrics, "podgroup_failures_total", "step", "podgroup");
    free(m->why);
    m->why = why_not(m, reply);
    list_for_each_safe (n, &m->ungrouped, struct ungrouped_pod, in_created) {
        n->walk.stuck(&n->walk, m->why);
        if (is_temporary(reply))
            continue;
        list_remove(&n->in_created);
        owner_walk_park(&n->walk);
    }
    if (is_temporary(reply)) {
        background_call_retry(&m->background_call, g->o.retry, GROUPER_MOST);
        return;
    }
    json_decref(STEAL(m->write));
    m->not_before = usec_now() + g->o.retry;
}

static bool is_another(const struct client_reply *r)
{
    return !r->error && (r->status == 404 || r->status == 409);
}

/* Plans another update. After a conflict, or if the PodGroup is gone, it uses the next version that
 * the watch shows. */
static void not_patched(struct created_podgroup *m, const struct client_reply *reply)
{
    struct grouper *g = m->g;
    bool other = is_another(reply);
    usec_t pause = usec_backoff(other ? CONFLICT_PAUSE : g->o.retry, GROUPER_MOST, m->vain++);
    m->stale = true;
    if (!other) {
        cleanup_free char *why = why_not(m, reply);
        api_metrics_count(g->o.metrics, "podgroup_failures_total", "step", "update");
        if (!m->complained)
            log_warning("Could not update a PodGroup", "podgroup", m->key, "error", why, NULL);
        m->complained = true;
        m->not_before = usec_now() + pause / 2; /* the shortest pause, see client_backoff() */
    }
    if (m->n_samples && m->read.state == BACKGROUND_CALL_IDLE)
        background_call_retry(&m->read, pause, GROUPER_MOST);
}

/* Whether the watch has shown another version than the patch was made for. */
static bool is_shown_anew(const struct created_podgroup *m)
{
    const json_t *seen = podgroups_seen(m->g->o.groups, &m->ref, usec_now());
    return !seen || !str_eq(field_peek(seen, "metadata", "resourceVersion", NULL),
                            field_peek(m->write, "metadata", "resourceVersion", NULL));
}

static void patched(struct created_podgroup *m, const struct client_reply *reply)
{
    struct grouper *g = m->g;
    bool tell = !is_another(reply) || is_shown_anew(m);
    json_decref(STEAL(m->write));
    json_t *object = client_ok(reply) ? kube_json_whole(reply->body, reply->len) : NULL;
    if (object) {
        m->vain = 0;
        m->complained = false;
        log_info("Updated a PodGroup after its owner changed", "podgroup", m->key, "owner",
                 m->owner, NULL);
        podgroups_written(g->o.groups, &m->ref, object, usec_now());
        json_decref(object);
        if (m->stale)
            learn_soon(m);
    } else {
        not_patched(m, reply);
    }
    if (tell)
        requeue_ungrouped(m);
    else
        grouper_look_later(g);
}

static void created_podgroup_done(struct background_call *e, const struct client_reply *reply)
{
    struct created_podgroup *m = CONTAINER_OF(e, struct created_podgroup, background_call);
    if (m->creates && client_ok(reply))
        created(m);
    else if (m->creates && !reply->error && reply->status == 409 && !is_temporary(reply))
        is_there_already(m);
    else if (m->creates)
        not_created(m, reply);
    else
        patched(m, reply);
}

/* ---- needed by ungrouped pods ---- */

static bool is_busy(const struct created_podgroup *m)
{
    return m->background_call.state == BACKGROUND_CALL_QUEUED ||
           m->background_call.state == BACKGROUND_CALL_IN_FLIGHT;
}

static void set_owner(struct created_podgroup *m, const struct workload_ref *top)
{
    unfollow(m);
    workload_ref_done(&m->top);
    m->top = (struct workload_ref){xstrdup(top->api_version), xstrdup(top->kind),
                                   xstrdup(top->name), xstrdup(top->uid)};
    free(m->owner);
    m->owner = xasprintf("%s %s/%s", top->kind, m->ref.ns, top->name);
}

/* Updates the PodGroup if it differs. False: a write is in flight, or the pod must become an owner
 * of the PodGroup first. */
static bool update(struct created_podgroup *m, const json_t *seen,
                   const struct workload_group *group)
{
    json_t *patch = created_podgroup_patch(seen, m->dialect, group);
    if (!patch)
        return true;
    if (is_busy(m)) {
        json_decref(patch);
        return false;
    }
    json_decref(m->write);
    m->write = patch;
    m->there = true;
    background_call_enqueue(&m->background_call);
    return !group->shared;
}

static enum created_podgroup_state
created_podgroup_wait(struct created_podgroup *m, struct ungrouped_pod *n, const char **ret_why)
{
    list_remove(&n->in_created);
    list_push(&m->ungrouped, &n->in_created);
    *ret_why = m->why;
    return m->why ? PODGROUP_FAILING : PODGROUP_PENDING;
}

enum created_podgroup_state created_podgroup_need(struct ungrouped_pod *n, const struct dialect *d,
                                                  const struct gang_ref *ref,
                                                  const struct workload_group *group,
                                                  const char **ret_why)
{
    struct grouper *g = n->walk.g;
    struct created_podgroup *m = find(g, ref);
    usec_t now = usec_now();
    const json_t *seen = podgroups_seen(g->o.groups, ref, now);
    if (seen && m) {
        free(m->dispute);
        m->dispute = created_podgroup_dispute(seen, d, group);
        if (m->dispute) {
            owner_walk_park(&n->walk);
            *ret_why = m->dispute;
            return PODGROUP_FAILING;
        }
    }
    if (seen) {
        bool good = !m || now < m->not_before || update(m, seen, group);
        return good ? PODGROUP_EXISTS : created_podgroup_wait(m, n, ret_why);
    }
    if (m && m->there && m->there_since && now - m->there_since < SHOWN_BY)
        return group->shared && !str_eq(group->owner.uid, m->top.uid)
                   ? created_podgroup_wait(m, n, ret_why)
                   : PODGROUP_EXISTS;
    if (!m)
        m = created_podgroup_new(g, d, ref);
    m->there = false;
    if (now < m->not_before) {
        owner_walk_park(&n->walk);
        *ret_why = m->why;
        return PODGROUP_FAILING;
    }
    if (m->background_call.state == BACKGROUND_CALL_IDLE) {
        const struct podgroups_served *served = podgroups_served(g->o.groups, d->api_group);
        json_decref(m->write);
        m->write = created_podgroup_object(d, served->version, ref->ns, group);
        set_owner(m, &group->owner);
        follow(m); /* the owner can change before the PodGroup is created */
        background_call_enqueue(&m->background_call);
    }
    return created_podgroup_wait(m, n, ret_why);
}

/* ---- following ---- */

static void refresh(struct created_podgroup *m)
{
    if (m->n_samples && !m->walk.pod && m->read.state == BACKGROUND_CALL_IDLE)
        background_call_enqueue(&m->read);
}

static void sample_send(struct background_call *e)
{
    const struct created_podgroup *m = CONTAINER_OF(e, struct created_podgroup, read);
    cleanup_buf struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/namespaces/");
    client_escape(&path, m->ref.ns);
    buf_puts(&path, "/pods/");
    client_escape(&path, m->samples[0]);
    background_call_send(e, &(struct client_request){.verb = "get",
                                                     .resource = "pods",
                                                     .method = "GET",
                                                     .path = buf_str(&path),
                                                     .timeout = GROUPER_TIMEOUT,
                                                     .max_body = GROUPER_MAX_BODY});
}

static bool is_member(const struct created_podgroup *m, const json_t *pod)
{
    const char *name = NULL;
    return dialect_of_pod(pod, &name, NULL) == m->dialect && str_eq(name, m->ref.name);
}

static void add_sample(struct created_podgroup *m, const char *pod)
{
    for (size_t i = 0; i < m->n_samples; i++)
        if (strcmp(m->samples[i], pod) == 0)
            return;
    if (m->n_samples < GROUPER_SAMPLES)
        m->samples[m->n_samples++] = xstrdup(pod);
}

/* The first sample is no longer a member. Continues with the next one. */
static void drop_sample(struct created_podgroup *m)
{
    free(m->samples[0]);
    m->n_samples--;
    memmove(m->samples, m->samples + 1, m->n_samples * sizeof *m->samples);
    refresh(m);
}

static void sample_done(struct background_call *e, const struct client_reply *reply)
{
    struct created_podgroup *m = CONTAINER_OF(e, struct created_podgroup, read);
    cleanup_json json_t *pod =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    if (!pod && (reply->error || reply->status != 404)) {
        background_call_retry(e, m->g->o.retry, GROUPER_MOST);
        return;
    }
    if (!pod || !is_member(m, pod)) {
        drop_sample(m);
        return;
    }
    m->stale = false;
    owner_walk_start(&m->walk, json_dumps(pod, JSON_COMPACT));
}

static void refresh_found(struct owner_walk *s, const struct workload_group *group)
{
    struct created_podgroup *m = CONTAINER_OF(s, struct created_podgroup, walk);
    const json_t *seen = podgroups_seen(s->g->o.groups, &m->ref, usec_now());
    owner_walk_end(s);
    bool ours = str_eq(group->name, m->ref.name);
    if (!seen || (ours && !update(m, seen, group)))
        m->stale = true; /* until it is shown or written */
    else if (m->stale)   /* the owner has changed again in the meantime */
        learn_soon(m);
}

static void refresh_none(struct owner_walk *s)
{
    struct created_podgroup *m = CONTAINER_OF(s, struct created_podgroup, walk);
    owner_walk_end(s); /* the owner needs no PodGroup any more: keep it unchanged */
    if (m->stale)
        learn_soon(m);
}

static void refresh_stuck(struct owner_walk *s, const char *why)
{
    struct created_podgroup *m = CONTAINER_OF(s, struct created_podgroup, walk);
    bool unread = !list_empty(&s->wait.link);
    (void)why; /* shown on the pods that need the PodGroup */
    owner_walk_end(s);
    if (unread) {
        m->stale = true;
        grouper_look_later(s->g);
    } else if (m->stale) { /* the owner was invalid, and has changed again in the meantime */
        learn_soon(m);
    }
}

void created_podgroups_follow(struct grouper *g)
{
    list_for_each_safe (m, &g->learnt, struct created_podgroup, dead) {
        list_remove(&m->dead);
        if (m->top.uid)
            follow(m);
        if (!m->followed)
            m->stale = false;
        else if (m->stale)
            refresh(m);
    }
}

void created_podgroup_owner_changed(void *arg, const char *uid)
{
    struct grouper *g = arg;
    map_for_each (e, &g->created) {
        struct created_podgroup *m = e->value;
        if (!str_eq(m->top.uid, uid))
            continue;
        m->stale = true;
        learn_soon(m);
    }
}

/* ---- objects from the watch ---- */

void created_podgroup_member(struct grouper *g, const struct gang_ref *ref, const char *pod)
{
    const struct dialect *d = dialect_of_objects(ref->api_group);
    cleanup_free char *key = gang_ref_key(ref);
    struct created_podgroup *m = map_get(&g->created, key);
    if (!m) {
        if (d && !grouper_is_ready(g, d) && map_count(&g->samples) < MAX_SAMPLES)
            free(map_set(&g->samples, key, xstrdup(pod)));
        return;
    }
    add_sample(m, pod);
    if (m->stale)
        learn_soon(m);
}

void created_podgroups_listed(struct grouper *g, const struct dialect *dialect)
{
    size_t len = strlen(dialect->api_group);
    map_for_each (e, &g->samples)
        if (strncmp(e->key, dialect->api_group, len) == 0 && e->key[len] == '/')
            free(map_remove(&g->samples, e->key));
}

/* Starts to follow a PodGroup that muster created before it was restarted. */
static void recognise(struct created_podgroup *m, const json_t *object)
{
    struct workload_ref owner;
    if (!grouper_ref(grouper_first_owner(object), &owner))
        return;
    set_owner(m, &owner);
    cleanup_free char *sample = map_remove(&m->g->samples, m->key);
    if (sample)
        add_sample(m, sample);
    m->stale = true;
    learn_soon(m);
}

void grouper_group(struct grouper *g, const struct gang_ref *ref, const json_t *object)
{
    struct created_podgroup *m = g ? find(g, ref) : NULL;
    if (!g || (!m && !created_podgroup_is_ours(object)))
        return;
    if (!m)
        m = created_podgroup_new(g, dialect_of_objects(ref->api_group), ref);
    if (!m->top.uid && created_podgroup_is_ours(object))
        recognise(m, object);
    m->there = true;
    m->there_since = 0;
    free(STEAL(m->why));
    requeue_ungrouped(m);
    if (m->stale)
        learn_soon(m);
}

void grouper_group_gone(struct grouper *g, const struct gang_ref *ref)
{
    struct created_podgroup *m = g ? find(g, ref) : NULL;
    if (m)
        forget(m);
}

bool created_podgroups_sweep(struct grouper *g)
{
    usec_t now = usec_now();
    bool more = false;
    map_for_each (e, &g->created) {
        struct created_podgroup *m = e->value;
        bool idle = m->background_call.state == BACKGROUND_CALL_IDLE;
        bool unseen = !m->there || (m->there_since && now - m->there_since >= SHOWN_BY);
        if (idle && unseen) {
            forget(m);
            continue;
        }
        if (idle)
            requeue_ungrouped(m); /* they may wait for a version that the watch did not show */
        if (m->stale)
            learn_soon(m);
        more = more || m->stale || !m->there || m->there_since || !list_empty(&m->ungrouped);
    }
    return more;
}
