/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario_load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"

enum {
    MAX_OBJECTS = 200000, /* at the start, or in one step */
    MAX_STEPS = 10000,
    MAX_FILES = 64, /* manifest files of a scenario */
};

/* ---- nodes in short form ---- */

static void set_copy(json_t *to, const char *key, const json_t *value)
{
    if (value)
        json_object_set_new(to, key, json_deep_copy(value));
}

static json_t *node_manifest(const json_t *node, const char *name)
{
    json_t *labels = json_object();
    json_object_set_new(labels, "kubernetes.io/hostname", json_string(name));
    json_object_update(labels, json_object_get(node, "labels"));
    json_t *spec = json_object();
    set_copy(spec, "taints", json_object_get(node, "taints"));
    set_copy(spec, "unschedulable", json_object_get(node, "unschedulable"));
    json_t *allocatable = json_object();
    json_object_set_new(allocatable, "pods", json_integer(110));
    json_object_update(allocatable, json_object_get(node, "allocatable"));
    return json_pack("{s:s, s:s, s:{s:s, s:o}, s:o, s:{s:o}}", "apiVersion", "v1", "kind", "Node",
                     "metadata", "name", name, "labels", labels, "spec", spec, "status",
                     "allocatable", allocatable);
}

static int add_object(const struct scenario_loader *l, const char *place, json_t *object,
                      json_t *out)
{
    struct err err;
    if (json_array_size(out) >= MAX_OBJECTS) {
        json_decref(object);
        return load_error(l, place, "more than %d objects", MAX_OBJECTS);
    }
    if (manifest_check(object, &err) < 0) {
        json_decref(object);
        return load_error(l, place, "%s", err.text);
    }
    manifest_default(object);
    return json_array_append_new(out, object);
}

static int add_nodes(const struct scenario_loader *l, const char *place, const json_t *node,
                     json_t *out)
{
    static const char *const keys[] = {"name",   "count",         "allocatable", "labels",
                                       "taints", "unschedulable", NULL};
    const char *name = NULL;
    int64_t count = -1;
    if (load_keys(l, place, node, keys) < 0 || load_text(l, place, node, "name", &name) < 0 ||
        load_count(l, place, node, "count", 0, MAX_OBJECTS, &count) < 0)
        return -1;
    if (!name)
        return load_error(l, place,
                          "name is missing: a node needs a name, or a prefix if count is set");
    if (!json_is_object(json_object_get(node, "allocatable")))
        return load_error(
            l, place, "node %.80s: allocatable is missing: write {cpu: 64, memory: 512Gi}", name);
    const json_t *labels = json_object_get(node, "labels");
    if (labels && !json_is_object(labels))
        return load_error(l, place, "node %.80s: labels must be a mapping", name);
    if (count < 0)
        return add_object(l, place, node_manifest(node, name), out);
    for (int64_t i = 0; i < count; i++) {
        cleanup_free char *numbered = xasprintf("%s-%" PRId64, name, i);
        if (add_object(l, place, node_manifest(node, numbered), out) < 0)
            return -1;
    }
    return 0;
}

/* ---- lists of manifests ---- */

static int add_documents(const struct scenario_loader *l, const char *place,
                         const json_t *documents, json_t *out)
{
    for (size_t i = 0; i < json_array_size(documents); i++) {
        cleanup_free char *at = xasprintf("%s%sdocument %zu", place, *place ? ", " : "", i + 1);
        if (add_object(l, at, json_deep_copy(json_array_get(documents, i)), out) < 0)
            return -1;
    }
    return 0;
}

static int add_file(struct scenario_loader *l, const char *place, const char *file, json_t *out)
{
    struct err err;
    cleanup_free char *path = file[0] == '/' ? xstrdup(file) : xasprintf("%s/%s", l->dir, file);
    if (++l->files > MAX_FILES)
        return load_error(l, place, "more than %d files", MAX_FILES);
    json_t *documents = yaml_load(path, &err);
    if (!documents)
        return load_error(l, place, "%s", err.text);
    cleanup_free char *at = xasprintf("%s: %s", place, file);
    int ret = add_documents(l, at, documents, out);
    json_decref(documents);
    return ret;
}

static int add_item(struct scenario_loader *l, const char *place, const json_t *item, json_t *out)
{
    if (json_is_string(item))
        return add_file(l, place, json_string_value(item), out);
    if (json_is_object(item) && !json_object_get(item, "kind"))
        return add_nodes(l, place, item, out);
    return add_object(l, place, json_deep_copy(item), out);
}

static int add_list(struct scenario_loader *l, const char *place, const json_t *object,
                    const char *key, json_t *out)
{
    const json_t *list;
    if (load_list(l, place, object, key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        cleanup_free char *at = xasprintf("%s%s%s[%zu]", place, *place ? "." : "", key, i);
        if (add_item(l, at, json_array_get(list, i), out) < 0)
            return -1;
    }
    return 0;
}

/* ---- timetable ---- */

static enum manifest_kind kind_by_name(const char *name)
{
    for (int k = 0; k < KIND_MAX; k++)
        if (strcmp(manifest_kind_name((enum manifest_kind)k), name) == 0)
            return (enum manifest_kind)k;
    return KIND_MAX;
}

int scenario_target(const json_t *entry, struct scenario_target *ret, struct err *err)
{
    const char *kind = load_text_at(entry, "kind", ""),
               *group = load_text_at(entry, "apiGroup", NULL);
    *ret = (struct scenario_target){
        .kind = kind_by_name(kind),
        .api_group = group,
        .name = load_text_at(entry, "name", ""),
        .parallelism = -1,
    };
    if (ret->kind == KIND_MAX)
        return err_set(err, ERR_INVALID, "unknown kind \"%.80s\": write a kind such as Pod or Job",
                       kind);
    if (!ret->name[0])
        return err_set(err, ERR_INVALID, "name is missing");
    if (group && !manifest_kind_in_group(ret->kind, group))
        return err_set(err, ERR_INVALID, "apiGroup %.80s has no %s", group,
                       manifest_kind_name(ret->kind));
    ret->ns =
        manifest_kind_namespaced(ret->kind) ? load_text_at(entry, "namespace", "default") : "";
    const json_t *n = json_object_get(entry, "parallelism");
    if (json_is_integer(n) && json_integer_value(n) >= 0)
        ret->parallelism = json_integer_value(n);
    return 0;
}

/* What an entry of a list needs besides its target. */
typedef int check_entry(const struct scenario_loader *l, const char *at, const json_t *entry,
                        const struct scenario_target *target);

static int check_scale(const struct scenario_loader *l, const char *at, const json_t *entry,
                       const struct scenario_target *target)
{
    (void)entry;
    if (target->kind == KIND_JOB && target->parallelism >= 0)
        return 0;
    return load_error(l, at,
                      "only a Job can be scaled: write {kind: Job, name: x, parallelism: 4}");
}

static const char *const patched[] = {"metadata", "spec", "status", NULL};

json_t *scenario_patch(const json_t *entry)
{
    json_t *patch = json_object();
    for (const char *const *key = patched; *key; key++)
        if (json_object_get(entry, *key))
            json_object_set(patch, *key, json_object_get(entry, *key));
    return patch;
}

static int check_patch(const struct scenario_loader *l, const char *at, const json_t *entry,
                       const struct scenario_target *target)
{
    static const char *const metadata[] = {"labels", "annotations", NULL};
    bool any = false;
    for (const char *const *key = patched; *key; key++) {
        const json_t *part = json_object_get(entry, *key);
        any |= part != NULL;
        if (part && !json_is_object(part))
            return load_error(l, at, "%s must be a mapping", *key);
    }
    if (!any)
        return load_error(l, at, "nothing to patch: write metadata, spec or status");
    if (target->kind == KIND_POD &&
        (json_object_get(entry, "spec") || json_object_get(entry, "status")))
        return load_error(l, at, "of a Pod, only metadata can be patched");
    cleanup_free char *place = xasprintf("%s.metadata", at);
    return load_keys(l, place, json_object_get(entry, "metadata"), metadata);
}

static const struct target_list {
    const char *key;
    const char *keys[8]; /* of an entry, closed by NULL */
    check_entry *check;  /* NULL: the target is enough */
} target_lists[] = {
    {"delete", {"kind", "apiGroup", "namespace", "name"}, NULL},
    {"scale", {"kind", "namespace", "name", "parallelism"}, check_scale},
    {"patch", {"kind", "apiGroup", "namespace", "name", "metadata", "spec", "status"}, check_patch},
};

static int check_targets(const struct scenario_loader *l, const char *place, const json_t *step,
                         const struct target_list *of)
{
    const json_t *list;
    if (load_list(l, place, step, of->key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        cleanup_free char *at = xasprintf("%s.%s[%zu]", place, of->key, i);
        struct scenario_target t;
        struct err err;
        if (!json_is_object(entry))
            return load_error(l, at,
                              "must be a mapping such as {kind: Pod, namespace: ml, name: a-0}");
        if (load_keys(l, at, entry, of->keys) < 0)
            return -1;
        if (scenario_target(entry, &t, &err) < 0)
            return load_error(l, at, "%s", err.text);
        if (of->check && of->check(l, at, entry, &t) < 0)
            return -1;
    }
    return 0;
}

static int check_names(const struct scenario_loader *l, const char *place, const json_t *step,
                       const char *key)
{
    const json_t *list;
    if (load_list(l, place, step, key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return load_error(l, place, "%s[%zu] must be the name of a node", key, i);
    return 0;
}

static int read_step(struct scenario_loader *l, const char *place, json_t *json,
                     struct scenario_step *ret)
{
    static const char *const keys[] = {"at",     "every",    "times", "create", "delete",
                                       "cordon", "uncordon", "scale", "patch",  NULL};
    *ret = (struct scenario_step){.at = -1, .times = 1};
    if (!json_is_object(json))
        return load_error(l, place, "must be a mapping such as {at: 10s, create: […]}");
    if (load_keys(l, place, json, keys) < 0 || load_time(l, place, json, "at", &ret->at) < 0 ||
        load_time(l, place, json, "every", &ret->every) < 0)
        return -1;
    if (ret->at < 0)
        return load_error(l, place, "at is missing: write the time, such as 10s");
    if (json_object_get(json, "every")) {
        ret->times = INT64_MAX;
        if (ret->every < USEC_PER_MSEC)
            return load_error(l, place, "every must be at least 1ms");
    } else if (json_object_get(json, "times")) {
        return load_error(l, place, "times is set without every: set every too");
    }
    if (load_count(l, place, json, "times", 1, INT32_MAX, &ret->times) < 0 ||
        check_names(l, place, json, "cordon") < 0 || check_names(l, place, json, "uncordon") < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(target_lists); i++)
        if (check_targets(l, place, json, &target_lists[i]) < 0)
            return -1;
    ret->todo = json_copy(json);
    json_t *create = json_array();
    json_object_set_new(ret->todo, "create", create);
    return add_list(l, place, json, "create", create);
}

static int read_timetable(struct scenario_loader *l, const json_t *document)
{
    const json_t *list;
    if (load_list(l, "", document, "timetable", &list) < 0)
        return -1;
    size_t n = json_array_size(list);
    if (n > MAX_STEPS)
        return load_error(l, "timetable", "more than %d entries", MAX_STEPS);
    l->s->steps = xcalloc(n, sizeof *l->s->steps);
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *place = xasprintf("timetable[%zu]", i);
        l->s->n_steps = i + 1;
        if (read_step(l, place, json_array_get(list, i), &l->s->steps[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

static int read_scenario(struct scenario_loader *l, json_t *document)
{
    static const char *const keys[] = {"nodes", "objects", "timetable", "config", "expect", NULL};
    if (load_keys(l, "", document, keys) < 0 ||
        add_list(l, "", document, "nodes", l->s->objects) < 0 ||
        add_list(l, "", document, "objects", l->s->objects) < 0)
        return -1;
    if (read_timetable(l, document) < 0 || load_expects(l, document) < 0)
        return -1;
    return load_config(l, document);
}

static int read_documents(struct scenario_loader *l, json_t *documents)
{
    json_t *first = json_array_get(documents, 0);
    if (!first)
        return load_error(l, "", "is empty: write nodes, objects and a timetable");
    if (json_object_get(first, "kind"))
        return add_documents(l, "", documents, l->s->objects);
    if (!json_is_object(first))
        return load_error(l, "",
                          "must be a mapping with nodes, objects, timetable, config or expect");
    if (json_array_size(documents) > 1)
        return load_error(l, "",
                          "a scenario must be one document: list the manifests under objects");
    return read_scenario(l, first);
}

static struct scenario *load(const char *name, const char *dir, json_t *documents, struct err *err)
{
    if (!documents)
        return NULL;
    struct scenario *s = xcalloc(1, sizeof *s);
    s->name = xstrdup(name);
    s->objects = json_array();
    s->raw = documents;
    struct scenario_loader l = {.s = s, .dir = dir, .err = err};
    return read_documents(&l, documents) < 0 ? scenario_free(s) : s;
}

struct scenario *scenario_parse(const char *name, const char *dir, const char *text, size_t len,
                                struct err *err)
{
    return load(name, dir, yaml_parse(name, text, len, err), err);
}

struct scenario *scenario_load(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    return load(path, dir, yaml_load(path, err), err);
}

struct scenario *scenario_free(struct scenario *s)
{
    if (!s)
        return NULL;
    free(s->name);
    json_decref(s->objects);
    for (size_t i = 0; i < s->n_steps; i++)
        json_decref(s->steps[i].todo);
    free(s->steps);
    for (size_t i = 0; i < s->n_expects; i++) {
        free(s->expects[i].ns);
        free(s->expects[i].name);
        free(s->expects[i].where);
    }
    free(s->expects);
    json_decref(s->config);
    free(s->queue_grants);
    json_decref(s->raw);
    free(s);
    return NULL;
}

/* ---- repetitions ---- */

static json_t *fill_in(const json_t *value, const char *number);

static json_t *fill_in_string(const json_t *value, const char *number)
{
    const char *rest = json_string_value(value);
    cleanup_buf struct buf b = BUF_INIT;
    for (const char *at; (at = strstr(rest, "$(n)")) != NULL; rest = at + strlen("$(n)")) {
        buf_append(&b, rest, (size_t)(at - rest));
        buf_puts(&b, number);
    }
    buf_puts(&b, rest);
    return json_string(buf_str(&b));
}

static json_t *fill_in_object(const json_t *value, const char *number)
{
    json_t *copy = json_object();
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)value, key, v)
        json_object_set_new(copy, key, fill_in(v, number));
    return copy;
}

static json_t *fill_in(const json_t *value, const char *number)
{
    if (json_is_string(value))
        return fill_in_string(value, number);
    if (json_is_object(value))
        return fill_in_object(value, number);
    if (!json_is_array(value))
        return json_copy((json_t *)(uintptr_t)value);
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(copy, fill_in(json_array_get(value, i), number));
    return copy;
}

json_t *scenario_step_todo(const struct scenario_step *step, int64_t n)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, n);
    return fill_in(step->todo, number);
}
