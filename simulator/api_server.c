/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/api_server.h"

#include <inttypes.h>
#include <stdio.h>

#include "k8s/encoding/kube_field.h"

/* Objects of different API groups may have the same kind and name. */
static char *object_key(const char *group, const char *ns, const char *name)
{
    return xasprintf("%s|%s/%s", group, ns, name);
}

struct object *store_find(const struct store *s, enum manifest_kind kind, const char *api_group,
                          const char *ns, const char *name)
{
    const char *group;
    for (size_t i = 0; (group = manifest_kind_group(kind, i)) != NULL; i++) {
        if (api_group && strcmp(api_group, group) != 0)
            continue;
        cleanup_free char *key = object_key(group, ns, name);
        struct object *o = map_get(&s->objects[kind], key);
        if (o)
            return o;
    }
    return NULL;
}

struct object *store_pod(const struct store *s, const char *uid)
{
    return map_get(&s->pods, uid);
}

/* ---- admission ---- */

const struct store_class store_system_classes[2] = {
    {"system-cluster-critical", 2000000000},
    {"system-node-critical", 2000001000},
};

static int64_t class_value(const struct store *s, const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(store_system_classes); i++)
        if (strcmp(store_system_classes[i].name, name) == 0)
            return store_system_classes[i].value;
    const struct object *o = store_find(s, KIND_PRIORITY_CLASS, NULL, "", name);
    return o ? json_integer_value(json_object_get(o->json, "value")) : 0;
}

static const char *default_class(const struct store *s)
{
    map_for_each (e, &s->objects[KIND_PRIORITY_CLASS]) {
        const struct object *o = e->value;
        if (json_is_true(json_object_get(o->json, "globalDefault")))
            return manifest_name(o->json);
    }
    return NULL;
}

/* Source: registry/core/pod applySchedulingGatedCondition. */
static json_t *gated_condition(void)
{
    return json_pack("[{s:s, s:s, s:s, s:s}]", "type", "PodScheduled", "status", "False", "reason",
                     "SchedulingGated", "message",
                     "Scheduling is blocked due to non-empty scheduling gates");
}

static void admit_pod(const struct store *s, json_t *pod)
{
    json_t *spec = json_object_get(pod, "spec");
    const char *class = field_peek(spec, "priorityClassName", NULL);
    if (!class)
        class = default_class(s);
    if (class && !json_object_get(spec, "priority"))
        json_object_set_new(spec, "priority", json_integer(class_value(s, class)));
    if (!json_object_get(spec, "schedulerName"))
        json_object_set_new(spec, "schedulerName", json_string("default-scheduler"));
    json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
    if (json_array_size(json_object_get(spec, "schedulingGates")))
        json_object_set_new(json_object_get(pod, "status"), "conditions", gated_condition());
}

/* Sets the uid of an owner that has only kind and name, because a scenario cannot know the uid. */
static void resolve_owners(const struct store *s, json_t *meta)
{
    const char *ns = field_peek(meta, "namespace", NULL);
    size_t i;
    json_t *owner;
    json_array_foreach(json_object_get(meta, "ownerReferences"), i, owner)
    {
        const char *kind = field_peek(owner, "kind", NULL), *name = field_peek(owner, "name", NULL);
        if (!str_eq(kind, "Job") || !name || field_peek(owner, "uid", NULL))
            continue;
        const struct object *job = store_find(s, KIND_JOB, NULL, ns ? ns : "", name);
        if (job)
            json_object_set_new(owner, "uid", json_string(job->uid));
    }
}

static void set_revision(struct store *s, json_t *json)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, ++s->revision);
    json_object_set_new(json_object_get(json, "metadata"), "resourceVersion", json_string(text));
}

static void fill_in(struct store *s, enum manifest_kind kind, json_t *json)
{
    char text[64], stamp[32];
    json_t *meta = json_object_get(json, "metadata");
    snprintf(text, sizeof text, "00000000-0000-4000-8000-%012" PRIu64, ++s->uids);
    json_object_set_new(meta, "uid", json_string(text));
    json_object_set_new(meta, "creationTimestamp",
                        json_string(sim_clock_timestamp(s->clock, stamp)));
    resolve_owners(s, meta);
    set_revision(s, json);
    if (kind == KIND_POD)
        admit_pod(s, json);
    if (kind == KIND_BUDGET) /* only its controller writes the status */
        json_object_del(json, "status");
}

/* ---- quota ---- */

static bool quota_limit(const json_t *quota, int64_t *ret)
{
    const json_t *hard = json_object_get(json_object_get(quota, "spec"), "hard");
    const json_t *pods = json_object_get(hard, "pods");
    if (!pods)
        pods = json_object_get(hard, "count/pods");
    if (json_is_integer(pods))
        *ret = json_integer_value(pods);
    else if (json_is_string(pods))
        *ret = strtoll(json_string_value(pods), NULL, 10);
    return pods != NULL;
}

static int64_t pods_in_use(const struct store *s, const char *ns)
{
    int64_t n = 0;
    map_for_each (e, &s->objects[KIND_POD]) {
        const struct object *o = e->value;
        const char *phase = field_peek(o->json, "status", "phase", NULL);
        if (strcmp(manifest_ns(o->json), ns) == 0 && !str_eq(phase, "Succeeded") &&
            !str_eq(phase, "Failed"))
            n++;
    }
    return n;
}

static int check_quota(const struct store *s, const json_t *pod, struct err *err)
{
    const char *ns = manifest_ns(pod);
    map_for_each (e, &s->objects[KIND_QUOTA]) {
        const struct object *o = e->value;
        int64_t limit = 0;
        if (strcmp(manifest_ns(o->json), ns) != 0 || !quota_limit(o->json, &limit))
            continue;
        int64_t used = pods_in_use(s, ns);
        if (used >= limit)
            return err_set(err, ERR_FORBIDDEN,
                           "pods \"%s\" is forbidden: exceeded quota: %s, requested: pods=1, used: "
                           "pods=%" PRId64 ", limited: pods=%" PRId64,
                           manifest_name(pod), manifest_name(o->json), used, limit);
    }
    return 0;
}

/* ---- watches and reports ---- */

static void leave_change(struct store *s, const struct object *o, bool gone)
{
    usec_t at = s->listing ? STORE_LISTED : s->clock->now + COST_WATCH;
    struct task *t = sim_clock_at(s->clock, at, NULL, NULL);
    t->id = o->kind;
    t->json = json_incref(o->json);
    t->n = gone;
}

void store_report(struct store *s, enum simulated_event_kind kind, const struct object *o,
                  const char *node, const char *text)
{
    struct simulated_event what = {
        .kind = kind,
        .object = o->kind,
        .json = o->json,
        .ns = manifest_ns(o->json),
        .name = manifest_name(o->json),
        .node = node,
        .text = text,
    };
    if (s->watch)
        s->watch(s->watch_arg, s->clock->now - s->clock->origin, &what);
}

/* ---- writes ---- */

static struct object *insert(struct store *s, enum manifest_kind kind, char *key, json_t *json)
{
    struct object *o = xcalloc(1, sizeof *o);
    *o = (struct object){
        .kind = kind,
        .key = key,
        .json = json,
        .uid = xstrdup(field_peek(json, "metadata", "uid", NULL)),
    };
    map_set(&s->objects[kind], key, o);
    if (kind == KIND_POD)
        map_set(&s->pods, o->uid, o);
    return o;
}

static struct object *create(struct store *s, json_t *manifest, struct err *err)
{
    enum manifest_kind kind = manifest_kind_of(manifest);
    cleanup_free char *group = manifest_group(manifest);
    const char *ns = manifest_kind_namespaced(kind) ? manifest_ns(manifest) : "";
    cleanup_free char *key = object_key(group, ns, manifest_name(manifest));
    if (map_get(&s->objects[kind], key)) {
        err_set(err, ERR_CONFLICT, "%s %s%s%s already exists", manifest_kind_name(kind), ns,
                *ns ? "/" : "", manifest_name(manifest));
        return NULL;
    }
    if (kind == KIND_POD && check_quota(s, manifest, err) < 0)
        return NULL;
    fill_in(s, kind, manifest);
    return insert(s, kind, STEAL(key), json_incref(manifest));
}

struct object *store_create(struct store *s, json_t *manifest, struct err *err)
{
    struct object *o = create(s, manifest, err);
    json_decref(manifest);
    if (!o)
        return NULL;
    leave_change(s, o, /* gone= */ false);
    store_report(s, SIMULATED_CREATED, o, NULL, NULL);
    return o;
}

/* A merge patch (RFC 7396) that changes `target` in place. */
static void merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value)
    {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (json_is_object(value)) {
            if (!json_is_object(json_object_get(target, key)))
                json_object_set_new(target, key, json_object());
            merge(json_object_get(target, key), value);
        } else {
            json_object_set_new(target, key, json_deep_copy(value));
        }
    }
}

void store_patch(struct store *s, struct object *o, json_t *patch)
{
    json_t *json = json_deep_copy(o->json);
    merge(json, patch);
    json_decref(patch);
    set_revision(s, json);
    json_decref(o->json);
    o->json = json;
    leave_change(s, o, /* gone= */ false);
}

static void object_free(struct object *o)
{
    free(o->key);
    free(o->uid);
    free(o->owners);
    json_decref(o->json);
    free(o);
}

void store_remove(struct store *s, struct object *o)
{
    map_remove(&s->objects[o->kind], o->key);
    if (o->kind == KIND_POD)
        map_remove(&s->pods, o->uid);
    store_report(s, SIMULATED_DELETED, o, NULL, NULL);
    leave_change(s, o, /* gone= */ true);
    object_free(o);
}

void store_done(struct store *s)
{
    for (int k = 0; k < KIND_MAX; k++) {
        map_for_each (e, &s->objects[k])
            object_free(e->value);
        map_done(&s->objects[k]);
    }
    map_done(&s->pods);
}
