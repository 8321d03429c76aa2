/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/manifest.h"

#include <inttypes.h>

#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/list_watch/claim_topology.h"

static const struct kind {
    const char *group, *name;
    bool namespaced;
} kinds[] = {
#define X(id, group, name, namespaced, help) {group, name, namespaced},
    MANIFEST_KINDS(X)
#undef X
};

static const char *string_at(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

char *manifest_group(const json_t *object)
{
    const char *version = string_at(object, "apiVersion");
    const char *slash = strchr(version, '/');
    return xstrndup(version, slash ? (size_t)(slash - version) : 0);
}

const char *manifest_ns(const json_t *object)
{
    return string_at(json_object_get(object, "metadata"), "namespace");
}

const char *manifest_name(const json_t *object)
{
    return string_at(json_object_get(object, "metadata"), "name");
}

enum manifest_kind manifest_kind_of(const json_t *object)
{
    cleanup_free char *group = manifest_group(object);
    const char *name = string_at(object, "kind");
    for (int i = 0; i < KIND_MAX; i++) {
        bool any = kinds[i].group[0] == '*';
        if (strcmp(kinds[i].name, name) == 0 &&
            (any ? dialect_of_objects(group) != NULL : strcmp(kinds[i].group, group) == 0))
            return (enum manifest_kind)i;
    }
    return KIND_MAX;
}

const char *manifest_kind_name(enum manifest_kind kind)
{
    return kind < KIND_MAX ? kinds[kind].name : "?";
}

bool manifest_kind_namespaced(enum manifest_kind kind)
{
    return kind < KIND_MAX && kinds[kind].namespaced;
}

/* ---- defaults ---- */

/* Like json_object_get, but makes the object when it is absent. */
static json_t *child(json_t *object, const char *key)
{
    json_t *c = json_object_get(object, key);
    if (!json_is_object(c)) {
        c = json_object();
        json_object_set_new(object, key, c);
    }
    return c;
}

static void set_default(json_t *object, const char *key, const char *value)
{
    if (!json_object_get(object, key))
        json_object_set_new(object, key, json_string(value));
}

void manifest_default(json_t *object)
{
    enum manifest_kind kind = manifest_kind_of(object);
    if (manifest_kind_namespaced(kind))
        set_default(child(object, "metadata"), "namespace", "default");
    if (kind == KIND_NODE)
        set_default(child(child(object, "metadata"), "labels"), GANG_HOSTNAME,
                    manifest_name(object));
}

/* ---- pods of Jobs ---- */

static json_t *copy_or_new(const json_t *object)
{
    return json_is_object(object) ? json_deep_copy(object) : json_object();
}

json_t *manifest_job_pod(const json_t *job, int64_t index)
{
    const json_t *job_spec = json_object_get(job, "spec");
    const json_t *template = json_object_get(job_spec, "template");
    const json_t *job_meta = json_object_get(job, "metadata");
    const char *name = manifest_name(job);
    cleanup_free char *pod_name = xasprintf("%s-%" PRId64, name, index);

    json_t *meta = copy_or_new(json_object_get(template, "metadata"));
    json_object_set_new(meta, "name", json_string(pod_name));
    json_object_set_new(meta, "namespace", json_string(manifest_ns(job)));
    json_t *labels = child(meta, "labels");
    json_object_set_new(labels, "job-name", json_string(name));
    json_object_set_new(labels, "batch.kubernetes.io/job-name", json_string(name));
    if (strcmp(string_at(job_spec, "completionMode"), "Indexed") == 0) {
        cleanup_free char *text = xasprintf("%" PRId64, index);
        json_object_set_new(child(meta, "annotations"), "batch.kubernetes.io/job-completion-index",
                            json_string(text));
    }
    json_t *owner = json_pack("{s:s, s:s, s:s, s:s, s:b}", "apiVersion", "batch/v1", "kind", "Job",
                              "name", name, "uid", string_at(job_meta, "uid"), "controller", 1);
    json_object_set_new(meta, "ownerReferences", json_pack("[o]", owner));

    json_t *pod = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                            meta, "spec", copy_or_new(json_object_get(template, "spec")));
    manifest_default(pod);
    return pod;
}

/* ---- checks ---- */

static int check_pod(const json_t *pod, struct err *err)
{
    struct gang_pod_facts *facts = decode_pod(pod, err);
    int r = facts ? 0 : -1;
    if (facts && facts->invalid) /* a cluster would keep it; here somebody has just written it */
        r = err_set(err, ERR_INVALID, "%s", facts->invalid);
    gang_pod_facts_free(facts);
    return r;
}

static int check_job(const json_t *job, struct err *err)
{
    static const char *const counts[] = {"parallelism", "completions", "ttlSecondsAfterFinished"};
    const json_t *spec = json_object_get(job, "spec");
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        const json_t *n = json_object_get(spec, counts[i]);
        if (n &&
            (!json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > INT32_MAX))
            return err_set(err, ERR_INVALID, "spec.%s must be a number from 0", counts[i]);
    }
    if (!json_is_object(json_object_get(json_object_get(spec, "template"), "spec")))
        return err_set(err, ERR_INVALID, "spec.template.spec is missing: the pods to create");
    json_t *pod = manifest_job_pod(job, 0);
    json_object_set_new(json_object_get(pod, "metadata"), "uid", json_string("0"));
    int ret = check_pod(pod, err);
    json_decref(pod);
    return ret < 0 ? err_wrap(err, "spec.template") : 0;
}

static int check_group(const json_t *object, struct err *err)
{
    cleanup_free char *group = manifest_group(object);
    struct gang_group_facts *facts = decode_group(dialect_by_group(group), object, err);
    gang_group_facts_free(facts);
    return facts ? 0 : -1;
}

static int check_node(const json_t *node, struct err *err)
{
    struct gang_node_facts *facts = decode_node(node, err);
    gang_node_facts_free(facts);
    return facts ? 0 : -1;
}

static int check_quota(const json_t *quota, struct err *err)
{
    const json_t *hard = json_object_get(json_object_get(quota, "spec"), "hard");
    return json_is_object(hard) ? 0 : err_set(err, ERR_INVALID, "spec.hard is missing");
}

static int check_class(const json_t *class, struct err *err)
{
    if (!json_is_integer(json_object_get(class, "value")))
        return err_set(err, ERR_INVALID, "value is missing: the priority, a number");
    struct gang_priority_class_facts *facts = decode_class(class, err);
    gang_priority_class_facts_free(facts);
    return facts ? 0 : -1;
}

static void drop_event(void *arg, struct gang_event *ev)
{
    (void)arg;
    gang_event_done(ev);
}

static int check_storage(const json_t *object,
                         int (*set)(struct claim_topology *, const json_t *, struct err *),
                         struct err *err)
{
    struct claim_topology *claims = claim_topology_new(&(struct cluster_sink){drop_event, NULL});
    int ret = set(claims, object, err);
    claim_topology_free(claims);
    return ret;
}

static int check_claim(const json_t *claim, struct err *err)
{
    return check_storage(claim, claim_topology_set, err);
}

static int check_volume(const json_t *volume, struct err *err)
{
    return check_storage(volume, claim_topology_set_volume, err);
}

static int check_decoded(enum manifest_kind kind, const json_t *object, struct err *err)
{
    static int (*const checks[KIND_MAX])(const json_t *, struct err *) = {
        [KIND_NODE] = check_node,   [KIND_POD] = check_pod,
        [KIND_JOB] = check_job,     [KIND_POD_GROUP] = check_group,
        [KIND_QUOTA] = check_quota, [KIND_PRIORITY_CLASS] = check_class,
        [KIND_CLAIM] = check_claim, [KIND_VOLUME] = check_volume,
    };
    /* Decoders want what the API server sets. */
    json_t *copy = json_deep_copy(object);
    manifest_default(copy);
    json_t *meta = json_object_get(copy, "metadata");
    json_object_set_new(meta, "uid", json_string("0"));
    set_default(meta, "creationTimestamp", "2026-01-01T00:00:00Z");
    int ret = checks[kind] ? checks[kind](copy, err) : 0;
    json_decref(copy);
    return ret;
}

int manifest_check(const json_t *object, struct err *err)
{
    if (!json_is_object(object))
        return err_set(err, ERR_INVALID, "not an object: write a manifest (apiVersion, kind, …)");
    const char *version = string_at(object, "apiVersion"), *name = manifest_name(object);
    if (!version[0] || !string_at(object, "kind")[0])
        return err_set(err, ERR_INVALID, "apiVersion or kind is missing");
    enum manifest_kind kind = manifest_kind_of(object);
    if (kind == KIND_MAX)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s %s is not known to the built-in cluster: write its pods, or a Job",
                       version, string_at(object, "kind"));
    if (!name[0])
        return err_set(err, ERR_INVALID, "%s: metadata.name is missing", kinds[kind].name);
    if (strlen(name) > 253 || strlen(manifest_ns(object)) > 63)
        return err_set(err, ERR_INVALID, "%s: the name or namespace is too long", kinds[kind].name);
    if (check_decoded(kind, object, err) < 0)
        return err_wrap(err, "%s %s", kinds[kind].name, name);
    return 0;
}
