/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/decode/decode.h"

#include "k8s/decode/decode_internal.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/dialect/queue_dialect.h"

int decode_metadata(const json_t *object, const char *kind, struct decoded_metadata *ret,
                    struct err *err)
{
    if (!json_is_object(object))
        return err_set(err, ERR_INVALID, "%s: not an object", kind);
    *ret = (struct decoded_metadata){.ns = "default"};
    if (field_object(object, "metadata", &ret->json, err) < 0 ||
        field_string(ret->json, "name", &ret->name, err) < 0 ||
        field_string(ret->json, "namespace", &ret->ns, err) < 0 ||
        field_string(ret->json, "uid", &ret->uid, err) < 0 ||
        field_time(ret->json, "creationTimestamp", &ret->created, err) < 0)
        return err_wrap(err, "%s %s: metadata", kind, ret->name ? ret->name : "without a name");
    if (!ret->name || !*ret->name)
        return err_set(err, ERR_INVALID, "%s: metadata.name is missing", kind);
    return 0;
}

int64_t decode_version_text(const char *text)
{
    int64_t version = 0;
    size_t n = text ? strspn(text, "0123456789") : 0;
    if (n == 0 || n > 18 || text[n]) /* versions are only compared, so muster can do without */
        return 0;
    for (; *text; text++)
        version = version * 10 + (*text - '0');
    return version;
}

int64_t decode_version(const struct decoded_metadata *meta)
{
    return decode_version_text(field_peek(meta->json, "resourceVersion", NULL));
}

static bool taint_effect(const char *text, enum gang_taint_effect *ret)
{
    static const char *const effects[] = {
        [TAINT_NO_SCHEDULE] = "NoSchedule",
        [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
        [TAINT_NO_EXECUTE] = "NoExecute",
    };
    for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
        if (str_eq(text, effects[i])) {
            *ret = (enum gang_taint_effect)i;
            return true;
        }
    return false;
}

int decode_taint_effect(const char *text, enum gang_taint_effect *ret, struct err *err)
{
    if (taint_effect(text, ret))
        return 0;
    return err_set(err, ERR_INVALID,
                   "effect is \"%.40s\", must be NoSchedule, PreferNoSchedule or NoExecute",
                   text ? text : "");
}

static int decode_taint(const json_t *json, struct gang_taint *t, struct err *err)
{
    const char *effect = NULL;
    t->value = xstrdup("");
    if (field_copy(json, "key", &t->key, err) < 0 ||
        field_copy(json, "value", &t->value, err) < 0 ||
        field_string(json, "effect", &effect, err) < 0)
        return -1;
    if (!t->key)
        return err_set(err, ERR_INVALID, "key is missing");
    return decode_taint_effect(effect, &t->effect, err);
}

/* Whether n is within the bound. If not, the node counts as cordoned, because muster must not plan
 * on a node that it does not know completely. */
static bool node_within(struct gang_node_facts *f, enum gang_bound bound, size_t n)
{
    if (n <= gang_bounds[bound].most)
        return true;
    free(f->invalid);
    f->invalid = gang_bound_exceeded(bound, n);
    f->unschedulable = true;
    return false;
}

static int decode_node_labels(const json_t *metadata, struct gang_node_facts *f, struct err *err)
{
    if (!node_within(f, OVER_LABELS, json_object_size(json_object_get(metadata, "labels"))))
        return 0;
    return field_kvs(metadata, "labels", &f->labels, err) < 0 ? err_wrap(err, "metadata") : 0;
}

static int decode_taints(const json_t *spec, struct gang_node_facts *f, struct err *err)
{
    const json_t *taints = NULL;
    if (field_whole_array(spec, "taints", &taints, err) < 0)
        return err_wrap(err, "spec");
    size_t n = json_array_size(taints);
    if (!node_within(f, OVER_NODE_TAINTS, n))
        return 0;
    f->taints = xcalloc(n, sizeof *f->taints);
    for (size_t i = 0; i < n; i++) {
        f->n_taints = i + 1;
        if (decode_taint(json_array_get(taints, i), &f->taints[i], err) < 0)
            return err_wrap(err, "spec.taints[%zu]", i);
    }
    return 0;
}

static int decode_node_spec(const json_t *node, struct gang_node_facts *f, struct err *err)
{
    const json_t *spec = NULL;
    if (field_object(node, "spec", &spec, err) < 0)
        return -1;
    if (field_bool(spec, "unschedulable", &f->unschedulable, err) < 0)
        return err_wrap(err, "spec");
    return decode_taints(spec, f, err);
}

/* Keeps the resources of Kubernetes first, because running pods use them. */
static void bound_resources(struct gang_node_facts *f)
{
    struct gang_amounts all = f->allocatable;
    if (all.n <= BOUND_NODE_RESOURCES)
        return;
    free(f->invalid);
    f->invalid = gang_bound_exceeded(OVER_NODE_RESOURCES, all.n);
    f->allocatable = (struct gang_amounts){NULL, 0};
    for (int devices = 0; devices < 2; devices++)
        for (size_t i = 0; i < all.n && f->allocatable.n < BOUND_NODE_RESOURCES; i++)
            if ((strchr(all.items[i].resource, '/') != NULL) == devices)
                gang_amounts_add(&f->allocatable, all.items[i].resource, all.items[i].amount);
    gang_amounts_done(&all);
}

/* The default of allocatable is capacity. Source: SetDefaults_NodeStatus. */
static int decode_node_status(const json_t *node, struct gang_node_facts *f, struct err *err)
{
    const json_t *status = NULL, *allocatable = NULL;
    if (field_object(node, "status", &status, err) < 0)
        return -1;
    if (field_whole_object(status, "allocatable", &allocatable, err) < 0 ||
        field_amounts(status, allocatable ? "allocatable" : "capacity", &f->allocatable, err) < 0)
        return err_wrap(err, "status");
    bound_resources(f);
    return 0;
}

struct gang_node_facts *decode_node(const json_t *node, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(node, "node", &meta, err) < 0)
        return NULL;
    struct gang_node_facts *f = gang_node_facts_new();
    f->name = xstrdup(meta.name);
    if (decode_node_spec(node, f, err) == 0 && decode_node_status(node, f, err) == 0 &&
        decode_node_labels(meta.json, f, err) == 0)
        return f;
    err_wrap(err, "node %s", meta.name);
    return gang_node_facts_free(f);
}

static struct gang_group_facts *new_group(const struct dialect *dialect, const char *name,
                                          const struct decoded_metadata *meta)
{
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref.api_group = xstrdup(dialect->api_group);
    f->ref.ns = xstrdup(meta->ns);
    f->ref.name = xstrdup(name);
    f->created = meta->created;
    f->schedule_timeout = dialect->default_timeout;
    return f;
}

/* muster asks the workload itself again before it suspends it. */
static int decode_preemption(const json_t *object, struct gang_group_facts *f, struct err *err)
{
    struct workload_ref owner;
    const char *how = dialect_annotation(object, WORKLOAD_PREEMPTION);
    if (!how || str_eq(how, "evict"))
        return 0;
    if (!str_eq(how, "suspend"))
        return dialect_bad_annotation(WORKLOAD_PREEMPTION, how, "suspend or evict", err);
    f->suspends = workload_suspendable_owner(object, &owner);
    if (f->suspends)
        workload_ref_done(&owner);
    return 0;
}

/* The facts of an invalid PodGroup contain only its minimum, for messages, and its parent, which
 * counts it as missing. The other fields could mislead. */
static struct gang_group_facts *group_facts(const struct dialect *dialect, const json_t *object,
                                            const char *name, const struct decoded_metadata *meta)
{
    struct err err;
    struct gang_group_facts *f = new_group(dialect, name, meta);
    if (dialect->decode(object, f, &err) == 0 &&
        (!dialect_has_objects(dialect) || decode_preemption(object, f, &err) == 0))
        return f;
    struct gang_group_facts *bad = new_group(dialect, name, meta);
    bad->min_member = f->min_member;
    bad->min_field = f->min_field;
    bad->parent = STEAL(f->parent);
    bad->invalid = xstrdup(err.text);
    gang_group_facts_free(f);
    return bad;
}

struct gang_group_facts *decode_group(const struct dialect *dialect, const json_t *group,
                                      struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(group, "PodGroup", &meta, err) < 0)
        return NULL;
    struct gang_group_facts *f = group_facts(dialect, group, meta.name, &meta);
    f->uid = xstrdup(meta.uid ? meta.uid : "");
    return f;
}

struct gang_group_facts *decode_group_part(const struct dialect *dialect, const json_t *group,
                                           const struct err *why, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(group, "PodGroup", &meta, err) < 0)
        return NULL;
    struct gang_group_facts *f = new_group(dialect, meta.name, &meta);
    f->uid = xstrdup(meta.uid ? meta.uid : "");
    f->invalid = xasprintf("it cannot be read: %s", why->text);
    return f;
}

/* `linked`: the dialect that links the pod; NULL: none. */
static void decode_queue_link(const json_t *pod, const struct dialect *linked,
                              struct gang_pod_facts *f)
{
    const char *name;
    const struct queue_dialect *d = queue_dialect_of_pod(pod, linked, &name);
    f->preemptible = queue_dialect_preemptible(pod);
    if (d)
        f->queue = (struct gang_ref){xstrdup(d->api_group), xstrdup(""), dialect_queue_name(name)};
}

void decode_link(const json_t *pod, const struct decoded_metadata *meta, struct gang_pod_facts *f)
{
    const char *name;
    const struct dialect *d = dialect_of_pod(pod, &name, &f->bad_link);
    decode_queue_link(pod, d, f);
    if (!d)
        return;
    f->group.api_group = xstrdup(d->api_group);
    f->group.ns = xstrdup(f->ns);
    f->group.name = xstrdup(name);
    f->role = xstrdup_null(dialect_role(d, pod));
    if (d->uniform) {
        const char *value = field_peek(pod, "metadata", "labels", d->uniform, NULL);
        f->uniform = (struct gang_kv){xstrdup(d->uniform), xstrdup(value ? value : "")};
    }
    if (dialect_has_objects(d))
        return;
    f->declared = group_facts(d, pod, name, meta);
    f->declared->uid = xstrdup("");
}

struct gang_priority_class_facts *decode_class(const json_t *class, struct err *err)
{
    struct decoded_metadata meta;
    int64_t value = 0;
    if (decode_metadata(class, "PriorityClass", &meta, err) < 0)
        return NULL;
    if (field_int(class, "value", INT32_MIN, INT32_MAX, &value, err) < 0) {
        err_wrap(err, "PriorityClass %s", meta.name);
        return NULL;
    }
    struct gang_priority_class_facts *f = gang_priority_class_facts_new();
    f->name = xstrdup(meta.name);
    f->value = (int32_t)value;
    return f;
}

/* ---- PodDisruptionBudgets ---- */

/* After an error, the facts have no requirements. */
static int decode_budget_selector(const json_t *budget, struct gang_budget_facts *f,
                                  struct err *err)
{
    const json_t *selector = NULL;
    struct gang_selector read = {.n_namespaces = 0};
    if (field_object(budget, "spec.selector", &selector, err) < 0)
        return -1;
    size_t n = decode_label_length(selector);
    if (n > BOUND_BUDGET_RULES) {
        cleanup_free char *text = gang_bound_exceeded(OVER_BUDGET_RULES, n);
        return err_set(err, ERR_INVALID, "%s", text);
    }
    if (decode_label_selector(selector, &read.term, err) < 0) {
        gang_selector_done(&read);
        return err_wrap(err, "spec.selector");
    }
    f->selector = read.term;
    f->selects_none = !selector;
    return 0;
}

/* The API server evicts no pod if the status is older than the spec. */
static int decode_budget_allowed(const json_t *budget, int64_t *ret, struct err *err)
{
    int64_t generation = 0, observed = 0, allowed = 0;
    if (field_int(budget, "metadata.generation", INT64_MIN, INT64_MAX, &generation, err) < 0 ||
        field_int(budget, "status.observedGeneration", INT64_MIN, INT64_MAX, &observed, err) < 0 ||
        field_int(budget, "status.disruptionsAllowed", INT32_MIN, INT32_MAX, &allowed, err) < 0)
        return -1;
    *ret = observed >= generation && allowed > 0 ? allowed : 0;
    return 0;
}

struct gang_budget_facts *decode_budget_part(const json_t *budget, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(budget, "PodDisruptionBudget", &meta, err) < 0)
        return NULL;
    struct gang_budget_facts *f = gang_budget_facts_new();
    f->ns = xstrdup(meta.ns);
    f->name = xstrdup(meta.name);
    return f;
}

struct gang_budget_facts *decode_budget(const json_t *budget, struct err *err)
{
    struct gang_budget_facts *f = decode_budget_part(budget, err);
    if (!f)
        return NULL;
    *err = (struct err){.code = ERR_NONE};
    if (decode_budget_selector(budget, f, err) < 0 ||
        decode_budget_allowed(budget, &f->allowed, err) < 0)
        err_wrap(err, "PodDisruptionBudget %s/%s counts as one that allows no eviction", f->ns,
                 f->name);
    return f;
}

bool decode_awaits(const struct workload_rules *rules, const json_t *pod,
                   struct gang_pod_facts *facts)
{
    bool settled = facts->group.name || facts->bad_link || facts->node || facts->deleting ||
                   facts->phase == PHASE_SUCCEEDED || facts->phase == PHASE_FAILED;
    if (!rules || settled || workload_wants_podgroup(rules, pod) == WORKLOAD_NO)
        return false;
    facts->awaits_group = xstrdup("its PodGroup is being created");
    return true;
}
