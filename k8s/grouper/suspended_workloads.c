/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/grouper/suspended_workloads.h"

#include "base/fair_queue.h"
#include "base/log.h"
#include "base/map.h"
#include "k8s/decode/suspended_pods.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/custom_watch.h"
#include "k8s/write/suspend_patch.h"

#define KEEP       (60 * USEC_PER_SEC)
#define LOG_PAUSE  USEC_PER_SEC
#define LOOK       (10 * USEC_PER_SEC)   /* how often failed work is tried again */
#define BYTES_EACH (4 * SUSPENDED_BYTES) /* of the pods of a namespace */
/* The thread spends at most a fifth of its time on these workloads. */
#define REST 4

/* A kind whose objects can be suspended. */
struct kind {
    struct suspended_workloads *all;
    struct workload_suspendable of;
    const char *version; /* as it is served */
    bool wanted;         /* a PodGroup of this kind of workload asks muster to suspend it */
    bool settled;
    struct custom_watch *watch; /* NULL: not started so far */
};

struct workload {
    struct kind *kind;
    char *key, *ns, *name, *uid;
    char *text; /* the object; NULL: it runs or is gone */
    int64_t generation;
    bool is_due;
    struct fair_queue_item due;
    /* the pods that the core knows */
    char *group; /* gang_ref_key() of their PodGroup; NULL: none is shown */
    char **pods; /* names */
    size_t n_pods, bytes;
    usec_t until; /* they go at this time; USEC_NEVER: the workload is suspended */
};

/* What the core knows of a namespace. */
struct share {
    size_t pods, bytes;
};

struct suspended_workloads {
    struct suspended_workloads_options o;
    struct kind *kinds;
    size_t n_kinds;
    struct map workloads; /* "KIND/ns/name" -> struct workload */
    struct map uids;      /* the same by UID */
    struct map shown;     /* by PodGroup: gang_ref_key() -> struct workload */
    struct map shares;    /* namespace -> struct share */
    struct fair_queue due;
    bool begun, ends;
    bool knows_groups; /* see suspended_workloads_begin() */
    usec_t rest;       /* no workload is read before this time */
    usec_t logged;     /* when muster last logged that it resumes one */
    struct client_timer pump, look;
};

/* ---- when ---- */

static void pump_soon(struct suspended_workloads *s)
{
    usec_t now = usec_now();
    client_timer_set(s->o.client, &s->pump, s->rest > now ? s->rest : now);
}

static void look_later(struct suspended_workloads *s)
{
    usec_t pause = s->o.keep && s->o.keep < LOOK ? s->o.keep : LOOK;
    client_timer_set(s->o.client, &s->look, usec_now() + pause);
}

static void set_due(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    if (w->is_due)
        return;
    w->is_due = true;
    if (s->due.n == 0)
        pump_soon(s);
    fair_queue_push(&s->due, w->ns, &w->due);
}

static void not_due(struct workload *w)
{
    if (w->is_due)
        fair_queue_remove(&w->kind->all->due, &w->due);
    w->is_due = false;
}

/* ---- pods ---- */

static struct share *share_of(struct suspended_workloads *s, const char *ns)
{
    struct share *share = map_get(&s->shares, ns);
    if (!share) {
        share = xcalloc(1, sizeof *share);
        map_set(&s->shares, ns, share);
    }
    return share;
}

static void add_to_share(struct workload *w, const struct suspended_pods *pods)
{
    struct share *share = share_of(w->kind->all, w->ns);
    share->pods += pods->n;
    share->bytes += pods->bytes;
}

static void take_from_share(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    struct share *share = share_of(s, w->ns);
    share->pods -= w->n_pods;
    share->bytes -= w->bytes;
    if (share->pods == 0)
        free(map_remove(&s->shares, w->ns));
}

static void hide(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    if (!w->group)
        return;
    for (size_t i = 0; i < w->n_pods; i++) {
        struct gang_event ev = {.kind = GANG_EV_POD_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup(w->ns), .name = w->pods[i]};
        if (s->ends)
            gang_event_done(&ev);
        else
            s->o.sink->post(s->o.sink->arg, &ev);
    }
    take_from_share(w);
    free(STEAL(w->pods));
    w->n_pods = w->bytes = 0;
    if (map_get(&s->shown, w->group) == w)
        map_remove(&s->shown, w->group);
    free(STEAL(w->group));
}

static void show(struct workload *w, const struct gang_ref *group, struct suspended_pods *pods)
{
    struct suspended_workloads *s = w->kind->all;
    add_to_share(w, pods);
    w->group = gang_ref_key(group);
    map_set(&s->shown, w->group, w);
    w->n_pods = pods->n;
    w->bytes = pods->bytes;
    w->pods = xcalloc(pods->n, sizeof *w->pods);
    for (size_t i = 0; i < pods->n; i++) {
        w->pods[i] = xstrdup(pods->facts[i]->name);
        struct gang_event ev = {.kind = GANG_EV_POD_SET, .pod = STEAL(pods->facts[i])};
        s->o.sink->post(s->o.sink->arg, &ev);
    }
    free(pods->facts);
}

/* ---- one workload ---- */

static void forget(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    hide(w);
    not_due(w);
    map_remove(&s->workloads, w->key);
    if (map_get(&s->uids, w->uid) == w)
        map_remove(&s->uids, w->uid);
    free(w->key);
    free(w->ns);
    free(w->name);
    free(w->uid);
    free(w->text);
    free(w);
}

/* Tenants can label many workloads, so most lines are for debugging. */
static void log_resume(const struct workload *w, const char *why)
{
    struct suspended_workloads *s = w->kind->all;
    usec_t now = usec_now();
    bool loud = !s->logged || now - s->logged > LOG_PAUSE;
    log_line(loud ? LOG_WARNING : LOG_DEBUG,
             "Resuming a suspended workload, because muster cannot plan its pods", "namespace",
             w->ns, "kind", w->kind->of.kind, "name", w->name, "reason", why, NULL);
    if (loud)
        s->logged = now;
}

static void resume(struct workload *w, const char *why)
{
    const struct kind *k = w->kind;
    cleanup_free char *version = xasprintf("%s/%s", k->of.api_group, k->version);
    const struct write_request_about about = {version, k->of.kind, w->ns, w->name, w->uid};
    log_resume(w, why);
    writer_take(k->all->o.writer, write_request_resume(&about));
    writer_pump(k->all->o.writer);
    look_later(k->all);
}

/* The only PodGroup of the workload. NULL: the error says why. */
static const struct gang_ref *group_of(const struct workload *w, struct err *err)
{
    const struct podgroups *groups = w->kind->all->o.groups;
    const struct gang_ref *ref = podgroups_of_workload(groups, w->uid, 0);
    if (ref && !podgroups_of_workload(groups, w->uid, 1))
        return ref;
    err_set(err, ERR_INVALID, "it owns %s", ref ? "several PodGroups" : "no PodGroup");
    return NULL;
}

static int within_share(struct workload *w, struct suspended_pods *pods, struct err *err)
{
    const struct share *share = map_get(&w->kind->all->shares, w->ns);
    if (!share ||
        (share->pods + pods->n <= SUSPENDED_PODS_EACH && share->bytes + pods->bytes <= BYTES_EACH))
        return 0;
    suspended_pods_done(pods);
    return err_set(err, ERR_INVALID, "too many pods of its namespace are suspended");
}

static void process(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    struct err err;
    struct suspended_pods pods;
    hide(w);
    const struct gang_ref *group = group_of(w, &err);
    const struct suspended_pods_options options = {s->o.rules, s->o.classes, group};
    cleanup_json json_t *object = group ? json_loads(w->text, 0, NULL) : NULL;
    if (!group || suspended_pods(&w->kind->of, object, &options, &pods, &err) < 0 ||
        within_share(w, &pods, &err) < 0)
        resume(w, err.text);
    else
        show(w, group, &pods);
}

/* ---- all workloads ---- */

static void start_watch(struct kind *k);

static void start_watches(struct suspended_workloads *s)
{
    for (size_t i = 0; i < s->n_kinds; i++)
        if (!s->kinds[i].watch && (s->kinds[i].wanted || s->knows_groups))
            start_watch(&s->kinds[i]);
}

static void on_pump(void *arg)
{
    struct suspended_workloads *s = arg;
    usec_t began = usec_now();
    start_watches(s);
    struct fair_queue_item *item = s->begun ? fair_queue_first(&s->due) : NULL;
    if (item) {
        struct workload *w = CONTAINER_OF(item, struct workload, due);
        w->is_due = false;
        fair_queue_serve(&s->due, item);
        process(w);
    }
    usec_t now = usec_now();
    s->rest = now + REST * (now - began);
    if (s->begun && s->due.n > 0)
        pump_soon(s);
    else
        s->o.settled(s->o.arg);
}

static void on_look(void *arg)
{
    struct suspended_workloads *s = arg;
    usec_t now = usec_now();
    map_for_each (e, &s->workloads) {
        struct workload *w = e->value;
        if (!w->text && w->until <= now)
            forget(w);
        else if (w->text && !w->group)
            set_due(w); /* it could not be resumed */
    }
    if (map_count(&s->workloads) > 0)
        look_later(s);
}

bool suspended_workloads_settled(const struct suspended_workloads *s)
{
    bool all = s->begun && s->due.n == 0;
    for (size_t i = 0; i < s->n_kinds; i++)
        all = all && (!s->kinds[i].wanted || s->kinds[i].settled);
    return all;
}

void suspended_workloads_begin(struct suspended_workloads *s, bool knows_groups)
{
    if (!s->begun || (knows_groups && !s->knows_groups))
        pump_soon(s);
    s->begun = true;
    s->knows_groups |= knows_groups;
}

/* ---- workloads from the watches ---- */

static char *key_of(const struct kind *k, const char *ns, const char *name)
{
    return xasprintf("%s/%s/%s", k->of.kind, ns, name);
}

/* The new pods replace those that are shown. */
static void resumed(struct workload *w)
{
    struct suspended_workloads *s = w->kind->all;
    if (!w->text)
        return;
    free(STEAL(w->text));
    not_due(w);
    w->until = usec_now() + (s->o.keep ? s->o.keep : KEEP);
    look_later(s);
}

static struct workload *learn(struct kind *k, const char *key, const json_t *object,
                              const char *uid)
{
    struct suspended_workloads *s = k->all;
    struct workload *w = map_get(&s->workloads, key);
    if (w && strcmp(w->uid, uid) != 0) {
        forget(w);
        w = NULL;
    }
    if (w)
        return w;
    w = xcalloc(1, sizeof *w);
    w->kind = k;
    w->key = xstrdup(key);
    w->ns = xstrdup(field_peek(object, "metadata", "namespace", NULL));
    w->name = xstrdup(field_peek(object, "metadata", "name", NULL));
    w->uid = xstrdup(uid);
    map_set(&s->workloads, w->key, w);
    map_set(&s->uids, w->uid, w);
    look_later(s);
    return w;
}

static int64_t generation_of(const json_t *object)
{
    return json_integer_value(json_object_get(json_object_get(object, "metadata"), "generation"));
}

static int on_set(void *arg, json_t *object, struct err *err)
{
    struct kind *k = arg;
    const char *ns = field_peek(object, "metadata", "namespace", NULL);
    const char *name = field_peek(object, "metadata", "name", NULL);
    const char *uid = field_peek(object, "metadata", "uid", NULL);
    int64_t generation = generation_of(object);
    if (!ns || !name || !uid)
        return err_set(err, ERR_INVALID, "%s: its namespace, name or UID is missing", k->of.kind);
    cleanup_free char *key = key_of(k, ns, name);
    struct workload *w = map_get(&k->all->workloads, key);
    if (!suspended_by_muster(object) || !is_suspended(&k->of, object) || is_of_kueue(object)) {
        if (w)
            resumed(w);
        return 0;
    }
    w = learn(k, key, object, uid);
    if (w->text && w->generation == generation)
        return 0; /* only its status, labels or annotations have changed */
    json_object_del(json_object_get(object, "metadata"), "managedFields");
    free(w->text);
    w->text = json_dumps(object, JSON_COMPACT);
    w->generation = generation;
    w->until = USEC_NEVER;
    set_due(w);
    return 0;
}

/* muster itself never suspends such a workload. */
static int on_unread(void *arg, json_t *object, const struct err *why)
{
    (void)arg;
    (void)object;
    (void)why;
    return -1;
}

/* It was deleted, or resumed: then it no longer has the label. */
static void on_gone(void *arg, const char *ns, const char *name)
{
    struct kind *k = arg;
    cleanup_free char *key = key_of(k, ns, name);
    struct workload *w = map_get(&k->all->workloads, key);
    if (w)
        resumed(w);
}

static void on_served(void *arg, const char *version, bool status_subresource)
{
    struct kind *k = arg;
    (void)status_subresource;
    if (version)
        k->version = version;
}

static void on_settled(void *arg)
{
    struct kind *k = arg;
    k->settled = true;
    k->all->o.settled(k->all->o.arg);
}

static void start_watch(struct kind *k)
{
    const struct suspended_workloads_options *o = &k->all->o;
    k->watch = custom_watch_start(
        o->client, o->metrics,
        &(struct custom_watch_options){.resource = {k->of.api_group, k->of.versions, k->of.plural},
                                       .selector = SUSPENDED_SELECTOR,
                                       .may_be_forbidden = !k->wanted,
                                       .set = on_set,
                                       .unread = on_unread,
                                       .gone = on_gone,
                                       .served = on_served,
                                       .settled = on_settled,
                                       .arg = k});
}

/* ---- PodGroups ---- */

static bool has_workloads(const struct kind *k)
{
    map_for_each (e, &k->all->workloads)
        if (((const struct workload *)e->value)->kind == k)
            return true;
    return false;
}

static void want_kind(struct suspended_workloads *s, const char *kind)
{
    for (size_t i = 0; i < s->n_kinds; i++) {
        struct kind *k = &s->kinds[i];
        if (k->wanted || !str_eq(k->of.kind, kind))
            continue;
        k->wanted = true;
        if (!has_workloads(k)) /* restart the watch, so that a missing right is logged */
            k->watch = custom_watch_stop(k->watch);
        pump_soon(s);
    }
}

static void want_owner(struct suspended_workloads *s, const json_t *group)
{
    struct workload_ref owner;
    if (!workload_suspendable_owner(group, &owner))
        return;
    want_kind(s, owner.kind);
    workload_ref_done(&owner);
}

/* The PodGroup is gone, or belongs to another workload now. */
static void lost_group(struct workload *w)
{
    if (w->text)
        set_due(w);
    else
        forget(w);
}

void suspended_workloads_group(struct suspended_workloads *s, const struct gang_group_facts *facts,
                               const json_t *object)
{
    const char *uid = podgroups_workload(s->o.groups, &facts->ref);
    cleanup_free char *key = gang_ref_key(&facts->ref);
    if (facts->suspends)
        want_owner(s, object);
    struct workload *before = map_get(&s->shown, key);
    if (before && !str_eq(before->uid, uid))
        lost_group(before);
    struct workload *w = uid ? map_get(&s->uids, uid) : NULL;
    if (w && w->text && !str_eq(w->group, key))
        set_due(w);
}

void suspended_workloads_group_gone(struct suspended_workloads *s, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    struct workload *w = map_get(&s->shown, key);
    if (w)
        lost_group(w);
}

/* ---- life ---- */

struct suspended_workloads *
suspended_workloads_new(const struct suspended_workloads_options *options)
{
    struct suspended_workloads *s = xcalloc(1, sizeof *s);
    struct workload_suspendable of;
    s->o = *options;
    while (workload_suspendable_at(s->n_kinds, &of))
        s->n_kinds++;
    s->kinds = xcalloc(s->n_kinds, sizeof *s->kinds);
    for (size_t i = 0; i < s->n_kinds; i++) {
        s->kinds[i].all = s;
        workload_suspendable_at(i, &s->kinds[i].of);
    }
    fair_queue_init(&s->due, /* turn= */ 1);
    s->pump = (struct client_timer){.fire = on_pump, .arg = s};
    s->look = (struct client_timer){.fire = on_look, .arg = s};
    return s;
}

struct suspended_workloads *suspended_workloads_free(struct suspended_workloads *s)
{
    if (!s)
        return NULL;
    s->ends = true;
    for (size_t i = 0; i < s->n_kinds; i++)
        custom_watch_stop(s->kinds[i].watch);
    map_for_each (e, &s->workloads)
        forget(e->value);
    client_timer_clear(s->o.client, &s->pump);
    client_timer_clear(s->o.client, &s->look);
    map_done(&s->workloads);
    map_done(&s->uids);
    map_done(&s->shown);
    map_done(&s->shares);
    fair_queue_done(&s->due);
    free(s->kinds);
    free(s);
    return NULL;
}
