/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/manifest/manifest_gangs.h"

#include <ctype.h>

#include "base/map.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/grouper/created_podgroup.h"

struct reading {
    const struct manifest_options *options;
    struct manifest_gangs *m;
    struct map groups; /* keys of the PodGroups that were made here */
    size_t pods, bytes, work;
    int uids;
    struct err stopped; /* code ERR_NONE: no bound is exceeded */
    /* the object that is read now */
    char *given; /* "Job train", as it is written */
    char *title; /* "Job ml/train" */
    size_t values, created;
    bool wrong; /* it has a fault */
    /* the PodGroup of the last pod of a Job: all pods of it have the same */
    struct last {
        char *owner; /* UID */
        char *api_group, *name, *role;
    } last;
};

/* ---- results ---- */

static void note(char ***list, size_t *n, char *text)
{
    if (*n >= MANIFEST_NOTED) {
        free(text);
        return;
    }
    *list = xreallocarray(*list, *n + 1, sizeof **list);
    (*list)[(*n)++] = text;
}

/* One fault for each object is enough: its pods are alike. */
static void fault(struct reading *r, const char *text)
{
    size_t n = strlen(r->title);
    bool titled = strncmp(text, r->title, n) == 0 && text[n] == ':';
    if (!r->wrong)
        note(&r->m->faults, &r->m->n_faults,
             titled ? xstrdup(text) : xasprintf("%s: %s", r->title, text));
    r->wrong = true;
}

void manifest_fault(struct manifest_gangs *m, const char *kind, const char *ns, const char *name,
                    const char *text)
{
    note(&m->faults, &m->n_faults, xasprintf("%s %s/%s: %s", kind, ns, name, text));
}

static void add_event(struct reading *r, struct gang_event ev, const char *class)
{
    struct manifest_gangs *m = r->m;
    GROW(m->events, m->cap, m->n + 1);
    GROW(m->classes, m->cap_classes, m->n + 1);
    m->classes[m->n] = xstrdup_null(class);
    m->events[m->n++] = ev;
}

static void add_group(struct reading *r, struct gang_group_facts *f)
{
    f->created = r->options->wall;
    add_event(r, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f}, NULL);
}

/* Whether a PodGroup with this name is made here for the first time. */
static bool is_new(struct reading *r, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    if (map_get(&r->groups, key))
        return false;
    map_set(&r->groups, key, r);
    return true;
}

static void add_source(struct reading *r, const struct gang_ref *ref, const char *kind,
                       const char *name, bool single)
{
    struct manifest_gangs *m = r->m;
    GROW(m->sources, m->cap_sources, m->n_sources + 1);
    m->sources[m->n_sources++] = (struct manifest_source){
        {xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)},
        xstrdup(kind),
        xstrdup(name),
        single,
    };
}

const struct manifest_source *manifest_source_of(const struct manifest_gangs *m,
                                                 const struct gang_ref *ref)
{
    for (size_t i = 0; i < m->n_sources; i++)
        if (gang_ref_equal(&m->sources[i].ref, ref))
            return &m->sources[i];
    return NULL;
}

struct manifest_gangs *manifest_gangs_free(struct manifest_gangs *m)
{
    if (!m)
        return NULL;
    for (size_t i = 0; i < m->n; i++) {
        gang_event_done(&m->events[i]);
        free(m->classes[i]);
    }
    for (size_t i = 0; i < m->n_sources; i++) {
        gang_ref_done(&m->sources[i].ref);
        free(m->sources[i].kind);
        free(m->sources[i].name);
    }
    for (size_t i = 0; i < m->n_faults; i++)
        free(m->faults[i]);
    for (size_t i = 0; i < m->n_ignored; i++)
        free(m->ignored[i]);
    free(m->events);
    free(m->classes);
    free(m->sources);
    free(m->faults);
    free(m->ignored);
    free(m);
    return NULL;
}

/* ---- bounds ---- */

static bool stop(struct reading *r, const char *why)
{
    if (!r->stopped.code)
        err_set(&r->stopped, ERR_INVALID, "%s: %s", r->title, why);
    return false;
}

static bool spend(struct reading *r, size_t work)
{
    r->work += work;
    return r->work <= MANIFEST_WORK ||
           stop(r, "to read its pods would take too long; check fewer pods at a time");
}

static bool may_create_pod(struct reading *r)
{
    if (r->pods++ < GANG_DRY_PODS)
        return spend(r, r->values);
    cleanup_free char *why =
        xasprintf("there are more than %d pods with those that it creates, the most that muster "
                  "checks at a time",
                  GANG_DRY_PODS);
    return stop(r, why);
}

/* Also counts the PodGroup that the pod declares, which may name many others. */
static bool may_keep(struct reading *r, const struct gang_pod_facts *f)
{
    size_t declared = f->declared ? f->declared->n_bundle + f->declared->n_subgroups : 0;
    r->bytes += gang_pod_facts_size(f) + declared * sizeof(struct gang_subgroup);
    return r->bytes <= MANIFEST_BYTES ||
           stop(r, "the pods have too many labels and rules; check fewer pods at a time");
}

/* ---- the PodGroup of a pod ---- */

static void last_set(struct last *l, const char *owner, const struct workload_group *g)
{
    free(l->owner);
    free(l->api_group);
    free(l->name);
    free(l->role);
    *l = (struct last){xstrdup_null(owner), xstrdup_null(g ? g->api_group : NULL),
                       xstrdup_null(g ? g->name : NULL), xstrdup_null(g ? g->role : NULL)};
}

/* The PodGroup as an object, decoded like one that the watch shows. */
static bool make_group(struct reading *r, const struct dialect *d, const struct gang_ref *ref,
                       const struct workload_group *g)
{
    struct err err;
    cleanup_json json_t *object = created_podgroup_object(d, d->versions[0], ref->ns, g);
    struct gang_group_facts *f = decode_group(d, object, &err);
    if (!f) {
        fault(r, err.text);
        return false;
    }
    add_group(r, f);
    add_source(r, ref, g->owner.kind, g->owner.name, /* single= */ false);
    return true;
}

/* Links the pod as muster would; see grouper.h. False: there is a fault. */
static bool group_pod(struct reading *r, const json_t *const *chain, size_t n)
{
    struct workload_group g;
    struct err err;
    const char *owner = n > 1 ? field_peek(chain[1], "metadata", "uid", NULL) : NULL;
    const char *ns = field_peek(chain[0], "metadata", "namespace", NULL);
    if (!owner || !str_eq(owner, r->last.owner)) {
        int found = workload_group(r->options->rules, chain, n, &g, &err);
        last_set(&r->last, NULL, NULL);
        if (found < 0)
            fault(r, err.text);
        if (found != 0)
            return found > 0;
        const struct dialect *d = dialect_of_objects(g.api_group);
        struct gang_ref ref = {g.api_group, (char *)(uintptr_t)ns, g.name};
        bool made = d && spend(r, g.n_roles * g.n_roles / 64) &&
                    (!is_new(r, &ref) || make_group(r, d, &ref, &g));
        if (made)
            last_set(&r->last, owner, &g);
        workload_group_done(&g);
        if (!made)
            return false;
    }
    cleanup_json json_t *link = created_podgroup_link(dialect_of_objects(r->last.api_group),
                                                      field_peek(chain[0], "metadata", "uid", NULL),
                                                      r->last.name, r->last.role);
    json_object_update_recursive((json_t *)(uintptr_t)chain[0], link);
    /* Only Jobs have pods of one role. */
    if (n < 2 || !str_eq(field_peek(chain[1], "kind", NULL), "Job"))
        last_set(&r->last, NULL, NULL);
    return true;
}

/* Pods without a PodGroup are gangs of one: those of a workload become one gang with the minimum 1,
 * whose extras are placed as far as they fit. */
static void join_single(struct reading *r, const json_t *const *chain, size_t n,
                        struct gang_pod_facts *f)
{
    const char *kind = field_peek(chain[n - 1], "kind", NULL);
    const char *name = field_peek(chain[n - 1], "metadata", "name", NULL);
    f->group = (struct gang_ref){xstrdup(""), xstrdup(f->ns), xasprintf("%s.%s", kind, name)};
    for (char *p = f->group.name; *p != '.'; p++)
        *p = (char)tolower((unsigned char)*p);
    if (!is_new(r, &f->group))
        return;
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref = (struct gang_ref){xstrdup(""), xstrdup(f->ns), xstrdup(f->group.name)};
    g->uid = xstrdup("");
    g->min_member = 1;
    add_group(r, g);
    add_source(r, &f->group, kind, name, /* single= */ true);
}

/* ---- pods ---- */

static bool add_pod(struct reading *r, const json_t *const *chain, size_t n)
{
    struct err err;
    const json_t *pod = chain[0];
    struct gang_pod_facts *f = decode_pod(pod, &err);
    const char *wrong = !f            ? err.text
                        : f->bad_link ? f->bad_link
                        : f->node     ? "spec.nodeName is set, so that nothing schedules the pod; "
                                        "remove it"
                                      : NULL;
    if (wrong)
        fault(r, wrong);
    if (wrong || !may_keep(r, f)) {
        gang_pod_facts_free(f);
        return false;
    }
    if (!f->group.name)
        join_single(r, chain, n, f);
    if (f->declared)
        f->declared->created = r->options->wall;
    bool has_priority = json_object_get(json_object_get(pod, "spec"), "priority") != NULL;
    const char *class = has_priority ? NULL : field_peek(pod, "spec", "priorityClassName", NULL);
    add_event(r, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f}, class);
    return true;
}

static bool on_pod(void *arg, const json_t *const *chain, size_t n)
{
    struct reading *r = arg;
    const struct workload_rules *rules = r->options->rules;
    r->created++;
    if (!may_create_pod(r))
        return false;
    bool wants = rules && workload_wants_podgroup(rules, chain[0]) != WORKLOAD_NO;
    return (!wants || group_pod(r, chain, n)) && add_pod(r, chain, n);
}

/* ---- objects ---- */

/* Makes the object what the API server would store: without fields that only a server sets, with a
 * namespace and a UID. */
static int complete(struct reading *r, json_t *object, struct err *err)
{
    static const char *const set_by_server[] = {
        "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields",
        "ownerReferences", "generation",        "selfLink"};
    json_t *meta = json_object_get(object, "metadata");
    const char *name = NULL, *prefix = NULL, *ns = NULL;
    if (!json_is_object(meta))
        return err_set(err, ERR_INVALID, "metadata is missing; write it, with a name");
    if (field_string(meta, "name", &name, err) < 0 ||
        field_string(meta, "generateName", &prefix, err) < 0 ||
        field_string(meta, "namespace", &ns, err) < 0)
        return err_at(err, "metadata");
    if ((!name || !*name) && (!prefix || !*prefix))
        return err_set(err, ERR_INVALID, "metadata.name is missing; write it");
    if (!name || !*name) {
        cleanup_free char *generated = xasprintf("%sx", prefix);
        json_object_set_new(meta, "name", json_string(generated));
    }
    if (strlen(json_string_value(json_object_get(meta, "name"))) > 253 || (ns && strlen(ns) > 63))
        return err_set(err, ERR_INVALID, "metadata.name or metadata.namespace is too long");
    for (size_t i = 0; i < ARRAY_SIZE(set_by_server); i++)
        json_object_del(meta, set_by_server[i]);
    json_object_del(object, "status");
    if (!ns || !*ns)
        json_object_set_new(meta, "namespace",
                            json_string(r->options->ns ? r->options->ns : "default"));
    cleanup_free char *uid = r->uids++ ? xasprintf("uid%d", r->uids) : xstrdup("uid");
    json_object_set_new(meta, "uid", json_string(uid));
    return 0;
}

static char *title_of(const json_t *object, size_t i)
{
    char kind[FIELD_QUOTED], name[FIELD_QUOTED], ns[FIELD_QUOTED];
    const char *texts[] = {field_peek(object, "kind", NULL),
                           field_peek(object, "metadata", "namespace", NULL),
                           field_peek(object, "metadata", "name", NULL)};
    if (!texts[0] || !texts[2])
        return xasprintf("object %zu", i + 1);
    /* They are quoted only to be cut and cleaned. */
    field_quote(texts[0], kind);
    field_quote(texts[1] ? texts[1] : "", ns);
    field_quote(texts[2], name);
    kind[strlen(kind) - 1] = ns[strlen(ns) - 1] = name[strlen(name) - 1] = '\0';
    return xasprintf("%s %s%s%s", kind + 1, ns + 1, texts[1] ? "/" : "", name + 1);
}

static void ignore(struct reading *r)
{
    note(&r->m->ignored, &r->m->n_ignored, xstrdup(r->given));
}

static void read_podgroup(struct reading *r, const struct dialect *d, const json_t *object)
{
    struct err err;
    struct gang_group_facts *f = decode_group(d, object, &err);
    if (f)
        add_group(r, f);
    else
        fault(r, err.text);
}

/* Whether pods come of objects of this kind, although muster does not know which. */
static bool is_workload(const struct reading *r, const char *api_version, const char *kind)
{
    const struct workload_rules *rules = r->options->rules;
    return workload_plural(api_version, kind) ||
           (rules && workload_scales(rules, api_version, kind));
}

static void read_workload(struct reading *r, const char *api_version, const char *kind,
                          const json_t *object)
{
    struct err err;
    r->values = kube_json_values(object);
    r->created = 0;
    int known = workload_pods(object, on_pod, r, &err);
    if (known < 0)
        fault(r, err.text);
    else if (known == WORKLOAD_KNOWN && !r->created)
        fault(r, "it creates no pods; write at least one replica");
    else if (known == WORKLOAD_UNKNOWN && is_workload(r, api_version, kind))
        fault(r, "muster does not know which pods it creates; check these pods instead");
    else if (known == WORKLOAD_UNKNOWN)
        ignore(r);
}

static void read_object(struct reading *r, json_t *object, size_t i)
{
    struct err err;
    const char *api_version = field_peek(object, "apiVersion", NULL);
    const char *kind = field_peek(object, "kind", NULL);
    free(r->given);
    free(r->title);
    r->given = title_of(object, i);
    r->title = title_of(object, i);
    r->wrong = false;
    if (!json_is_object(object) || !api_version || !kind || !*kind) {
        fault(r, "apiVersion or kind is missing; write a manifest");
        return;
    }
    if (complete(r, object, &err) < 0) {
        fault(r, err.text);
        return;
    }
    free(r->title);
    r->title = title_of(object, i);
    const char *slash = strchr(api_version, '/');
    cleanup_free char *group = xstrndup(api_version, slash ? (size_t)(slash - api_version) : 0);
    const struct dialect *d = strcmp(kind, "PodGroup") == 0 ? dialect_of_objects(group) : NULL;
    if (d)
        read_podgroup(r, d, object);
    else
        read_workload(r, api_version, kind, object);
}

struct manifest_gangs *manifest_gangs_read(const char *text, size_t len,
                                           const struct manifest_options *options, struct err *err)
{
    cleanup_json json_t *objects = manifest_parse(text, len, err);
    if (!objects)
        return NULL;
    struct reading r = {.options = options,
                        .m = xcalloc(1, sizeof *r.m),
                        .groups = MAP_INIT,
                        .stopped = {.code = ERR_NONE}};
    for (size_t i = 0; i < json_array_size(objects) && !r.stopped.code; i++)
        read_object(&r, json_array_get(objects, i), i);
    map_done(&r.groups);
    last_set(&r.last, NULL, NULL);
    free(r.given);
    free(r.title);
    if (!r.stopped.code)
        return r.m;
    *err = r.stopped;
    return manifest_gangs_free(r.m);
}
