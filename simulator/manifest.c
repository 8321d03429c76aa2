/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/manifest.h"

#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/claim_topology.h"
#include "workload/workload.h"

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

const char *manifest_kind_group(enum manifest_kind kind, size_t i)
{
    if (kinds[kind].group[0] != '*')
        return i == 0 ? kinds[kind].group : NULL;
    if (kind == KIND_POD_GROUP) {
        for (const struct dialect *const *d = dialects; *d; d++)
            if (dialect_has_objects(*d) && i-- == 0)
                return (*d)->api_group;
        return NULL;
    }
    for (const struct queue_dialect *const *d = queue_dialects; *d; d++)
        if (strcmp((*d)->kind, kinds[kind].name) == 0 && i-- == 0)
            return (*d)->api_group;
    return NULL;
}

bool manifest_kind_in_group(enum manifest_kind kind, const char *group)
{
    const char *each;
    for (size_t i = 0; (each = manifest_kind_group(kind, i)) != NULL; i++)
        if (strcmp(each, group) == 0)
            return true;
    return false;
}

enum manifest_kind manifest_kind_of(const json_t *object)
{
    cleanup_free char *group = manifest_group(object);
    const char *name = string_at(object, "kind");
    for (int i = 0; i < KIND_MAX; i++)
        if (strcmp(kinds[i].name, name) == 0 &&
            manifest_kind_in_group((enum manifest_kind)i, group))
            return (enum manifest_kind)i;
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

/* Like json_object_get(), but creates the object if it is missing. */
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

/* ---- checks ---- */

static int check_pod(const json_t *pod, struct err *err)
{
    struct gang_pod_facts *facts = decode_pod(pod, err);
    int r = facts ? 0 : -1;
    if (facts && facts->invalid) /* an API server would accept it, but the author should know */
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
            return err_set(err, ERR_INVALID, "spec.%s must be a whole number from 0 to %d",
                           counts[i], INT32_MAX);
    }
    if (!json_is_object(json_object_get(json_object_get(spec, "template"), "spec")))
        return err_set(err, ERR_INVALID,
                       "spec.template.spec is missing: it describes the pods to create");
    json_t *pod = workload_job_pod(job, 0);
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
        return err_set(err, ERR_INVALID, "value is missing: write the priority as a whole number");
    struct gang_priority_class_facts *facts = decode_class(class, err);
    gang_priority_class_facts_free(facts);
    return facts ? 0 : -1;
}

/* A number of pods, or a percentage of them, rounded up. Source:
 * intstr.GetScaledValueFromIntOrPercent. */
static int scaled(const json_t *value, const char *where, int64_t pods, int64_t *ret,
                  struct err *err)
{
    const char *text = json_string_value(value);
    size_t digits = text ? strspn(text, "0123456789") : 0;
    int64_t percent = digits >= 1 && digits <= 3 ? strtoll(text, NULL, 10) : INT64_MAX;
    if (percent <= 100 && strcmp(text + digits, "%") == 0) {
        *ret = (percent * pods + 99) / 100;
        return 0;
    }
    if (json_is_integer(value))
        return json_value_int(value, where, 0, INT32_MAX, ret, err);
    return err_set(err, ERR_INVALID, "%s must be a whole number, or a percentage such as \"50%%\"",
                   where);
}

/* Source: disruption.getExpectedPodCount. */
int manifest_budget_desired(const json_t *budget, int64_t expected, int64_t *ret, struct err *err)
{
    const json_t *spec = json_object_get(budget, "spec");
    bool least = field_is_set(spec, "minAvailable"), most = field_is_set(spec, "maxUnavailable");
    int64_t down = 0;
    if (least && most)
        return err_set(err, ERR_INVALID, "spec: write minAvailable or maxUnavailable, not both");
    if (least)
        return scaled(json_object_get(spec, "minAvailable"), "spec.minAvailable", expected, ret,
                      err);
    if (most && scaled(json_object_get(spec, "maxUnavailable"), "spec.maxUnavailable", expected,
                       &down, err) < 0)
        return -1;
    *ret = down < expected ? expected - down : 0;
    return 0;
}

static int check_budget(const json_t *budget, struct err *err)
{
    int64_t desired;
    struct gang_budget_facts *facts = decode_budget(budget, err);
    bool whole = facts && err->code == ERR_NONE;
    gang_budget_facts_free(facts);
    return whole ? manifest_budget_desired(budget, /* expected= */ 0, &desired, err) : -1;
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

/* An invalid queue is accepted, as an invalid PodGroup is: the simulation shows what it causes. */
static int check_queue(const json_t *queue, struct err *err)
{
    cleanup_free char *group = manifest_group(queue);
    struct gang_queue_facts *facts = decode_queue(queue_dialect_by_group(group), queue, err);
    gang_queue_facts_free(facts);
    return facts ? 0 : -1;
}

static int check_decoded(enum manifest_kind kind, const json_t *object, struct err *err)
{
    static int (*const checks[KIND_MAX])(const json_t *, struct err *) = {
        [KIND_NODE] = check_node,
        [KIND_POD] = check_pod,
        [KIND_JOB] = check_job,
        [KIND_POD_GROUP] = check_group,
        [KIND_QUOTA] = check_quota,
        [KIND_PRIORITY_CLASS] = check_class,
        [KIND_CLAIM] = check_claim,
        [KIND_VOLUME] = check_volume,
        [KIND_BUDGET] = check_budget,
        [KIND_QUEUE] = check_queue,
        [KIND_ELASTIC_QUOTA] = check_queue,
    };
    /* The decoders need the fields that an API server sets. */
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
        return err_set(err, ERR_INVALID,
                       "not an object: write a manifest with apiVersion, kind and metadata");
    const char *version = string_at(object, "apiVersion"), *name = manifest_name(object);
    if (!version[0] || !string_at(object, "kind")[0])
        return err_set(err, ERR_INVALID, "apiVersion or kind is missing");
    enum manifest_kind kind = manifest_kind_of(object);
    if (kind == KIND_MAX)
        return err_set(err, ERR_UNSUPPORTED,
                       "the built-in cluster does not support %s %s: write its pods, or a Job",
                       version, string_at(object, "kind"));
    if (!name[0])
        return err_set(err, ERR_INVALID, "%s: metadata.name is missing", kinds[kind].name);
    if (strlen(name) > 253 || strlen(manifest_ns(object)) > 63)
        return err_set(err, ERR_INVALID, "%s: the name or namespace is too long", kinds[kind].name);
    if (check_decoded(kind, object, err) < 0)
        return err_wrap(err, "%s %s", kinds[kind].name, name);
    return 0;
}
