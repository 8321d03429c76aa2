/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that controllers create from a workload: the steps that all kinds share. The files of
 * the kinds have the rest (kinds.h). */
#include <inttypes.h>

#include "workload/kinds.h"

/* ---- objects ---- */

static json_t *copy_or_new(const json_t *object)
{
    return json_is_object(object) ? json_deep_copy(object) : json_object();
}

/* Like json_object_get(), but creates the object if it is missing. */
static json_t *child_of(json_t *object, const char *key)
{
    json_t *child = json_object_get(object, key);
    if (json_is_object(child))
        return child;
    child = json_object();
    json_object_set_new(object, key, child);
    return child;
}

static void set_mark(json_t *object, const char *map, const char *key, const char *value)
{
    json_object_set_new(child_of(child_of(object, "metadata"), map), key, json_string(value));
}

void created_label(json_t *object, const char *key, const char *value)
{
    set_mark(object, "labels", key, value);
}

void created_label_number(json_t *object, const char *key, int64_t value)
{
    cleanup_free char *text = xasprintf("%" PRId64, value);
    set_mark(object, "labels", key, text);
}

void created_annotation_number(json_t *object, const char *key, int64_t value)
{
    cleanup_free char *text = xasprintf("%" PRId64, value);
    set_mark(object, "annotations", key, text);
}

/* Its UID is made from that of its owner, so that it is unique and always the same. */
json_t *created_object(const json_t *owner, const char *api_version, const char *kind,
                       const json_t *template, const char *name)
{
    struct workload_identity of = object_identity(&owner, 0);
    json_t *metadata = copy_or_new(json_object_get(template, "metadata"));
    cleanup_free char *uid = xasprintf("%s.%s", of.uid ? of.uid : "", name);
    json_object_set_new(metadata, "name", json_string(name));
    json_object_set_new(metadata, "namespace", json_string(of.ns));
    json_object_set_new(metadata, "uid", json_string(uid));
    json_object_set_new(metadata, "ownerReferences",
                        json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", of.api_version,
                                  "kind", of.kind, "name", of.name, "uid", of.uid ? of.uid : "",
                                  "controller", 1));
    json_t *spec = json_object_get(template, "spec");
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", api_version, "kind", kind, "metadata",
                     metadata, "spec", json_is_object(spec) ? json_copy(spec) : json_object());
}

json_t *created_pod(const json_t *owner, const json_t *template, const char *name)
{
    return created_object(owner, "v1", "Pod", template, name);
}

int created_template(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *spec = NULL;
    *ret = NULL;
    if (field_object(object, path, ret, err) < 0)
        return -1;
    if (*ret && field_object(*ret, "spec", &spec, err) < 0)
        return err_at(err, "%s", path);
    return spec ? 0
                : err_set(err, ERR_INVALID, "%s.spec is missing; it describes the pods to create",
                          path);
}

/* ---- the chain, from the pod up to the workload ---- */

struct created_chain {
    const json_t *objects[WORKLOAD_MAX_CHAIN]; /* filled from the end */
    size_t n;
    workload_pod_fn *fn;
    void *arg;
};

const json_t *created_owner(const struct created_chain *c)
{
    return c->objects[WORKLOAD_MAX_CHAIN - c->n];
}

const json_t *created_enter(struct created_chain *c, json_t *object)
{
    c->objects[WORKLOAD_MAX_CHAIN - ++c->n] = object;
    return object;
}

void created_leave(struct created_chain *c)
{
    json_decref((json_t *)(uintptr_t)created_owner(c));
    c->n--;
}

static int tell(struct created_chain *c)
{
    return c->fn(c->arg, &c->objects[WORKLOAD_MAX_CHAIN - c->n], c->n) ? 0 : WORKLOAD_STOPPED;
}

int created_tell(struct created_chain *c, json_t *pod)
{
    created_enter(c, pod);
    int r = tell(c);
    created_leave(c);
    return r;
}

int created_pods(const json_t *object, const struct workload_kind *kind, workload_pod_fn *fn,
                 void *arg, struct err *err)
{
    struct created_chain c = {.fn = fn, .arg = arg};
    created_enter(&c, json_incref((json_t *)(uintptr_t)object));
    int r = kind->pods(&c, kind, err);
    created_leave(&c);
    return r;
}

/* A pod creates itself. */
int pods_pod(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    (void)kind;
    (void)err;
    return tell(c);
}
