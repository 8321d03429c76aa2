/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ElasticQuota {min, max}: min is deserved, max is the cap. Both objects have a namespace.
 *
 *   - scheduling.x-k8s.io/v1alpha1, of scheduler-plugins: the quota of its namespace.
 *   - scheduling.sigs.k8s.io/v1alpha1, of Koordinator: names are unique in the cluster and form a
 *     tree by labels. A pod names its quota in a label. Pods without the label use the quota that
 *     has the name of their namespace, else one that names the namespace in an annotation, else
 *     the default quota. Source: Koordinator's extension/elastic_quota.go and
 *     elasticquota/plugin_helper.go GetQuotaName.
 *
 * The status has no conditions.
 */
#include "k8s/dialect/queue_common.h"
#include "k8s/encoding/kube_field.h"

#define KOORDINATOR "quota.scheduling.koordinator.sh/"

static int read_min_and_max(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    const json_t *spec;
    if (dialect_spec(object, &spec, err) < 0 ||
        queue_quantities(spec, "min", QUOTA(deserved), facts, err) < 0)
        return -1;
    return queue_quantities(spec, "max", QUOTA(cap), facts, err);
}

/* The JSON in the annotation; NULL: there is none. The caller owns it. */
static int read_json(const json_t *object, const char *key, json_type type, const char *want,
                     json_t **ret, struct err *err)
{
    const char *text = dialect_annotation(object, key);
    *ret = text ? json_loads(text, 0, NULL) : NULL;
    if (!text || (*ret && json_typeof(*ret) == type))
        return 0;
    json_decref(STEAL(*ret));
    return dialect_bad_annotation(key, text, want, err);
}

#define SHARED_WEIGHT KOORDINATOR "shared-weight"

static int add_weight(struct gang_queue_facts *facts, const char *resource, const json_t *value,
                      bool *any, struct err *err)
{
    int64_t n;
    if (json_value_amount(value, resource, &n, err) < 0)
        return err_wrap(err, "annotation " SHARED_WEIGHT);
    gang_quota_add(facts, resource)->weight = n;
    *any |= n > 0;
    return 0;
}

/* Amounts that weigh; by default max. Of a resource that the annotation leaves out, the quota has
 * no weight. Source: Koordinator's extension/elastic_quota.go GetSharedWeight. */
static int read_weights(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    cleanup_json json_t *map = NULL;
    const char *name;
    json_t *value;
    bool any = false;
    facts->weighs_amounts = true;
    if (read_json(object, SHARED_WEIGHT, JSON_OBJECT, "a JSON object of resources and quantities",
                  &map, err) < 0 ||
        queue_check_bound(OVER_QUEUE_RESOURCES, json_object_size(map), err) < 0)
        return -1;
    for (size_t i = 0; i < facts->n_quotas; i++)
        facts->quotas[i].weight = 0;
    json_object_foreach(map, name, value)
    {
        if (add_weight(facts, name, value, &any, err) < 0)
            return -1;
    }
    for (size_t i = 0; !any && i < facts->n_quotas; i++)
        facts->quotas[i].weight = facts->quotas[i].cap;
    return queue_check_bound(OVER_QUEUE_RESOURCES, facts->n_quotas, err);
}

#define NAMESPACES KOORDINATOR "namespaces"

static int read_namespaces(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    cleanup_json json_t *list = NULL;
    const json_t *name;
    size_t i;
    if (read_json(object, NAMESPACES, JSON_ARRAY, "a JSON list of namespaces", &list, err) < 0)
        return -1;
    size_t n = json_array_size(list);
    if (queue_check_bound(OVER_QUEUE_NAMESPACES, n, err) < 0)
        return -1;
    facts->more_namespaces = xcalloc(n + 1, sizeof *facts->more_namespaces);
    json_array_foreach(list, i, name)
    {
        if (!json_is_string(name))
            return dialect_bad_annotation(NAMESPACES, dialect_annotation(object, NAMESPACES),
                                          "a JSON list of namespaces", err);
        facts->more_namespaces[facts->n_more_namespaces++] = xstrdup(json_string_value(name));
    }
    return 0;
}

static int koordinator_decode(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    bool is_parent = str_eq(dialect_label(object, KOORDINATOR "is-parent"), "true");
    facts->parent_field = "label " KOORDINATOR "parent";
    queue_parent(&queue_koordinator, dialect_label(object, KOORDINATOR "parent"), facts);
    if (is_parent || !str_eq(facts->of_namespace, facts->ref.name))
        free(STEAL(facts->of_namespace));
    if (read_min_and_max(object, facts, err) < 0 || read_weights(object, facts, err) < 0 ||
        (!is_parent && read_namespaces(object, facts, err) < 0))
        return -1;
    if (!str_eq(dialect_label(object, KOORDINATOR "allow-lent-resource"), "false"))
        return 0;
    /* What it does not lend is kept free for it. */
    const json_t *spec = json_object_get(object, "spec");
    return queue_quantities(spec, "min", QUOTA(reserved), facts, err);
}

static json_t *quota_status(const struct gang_queue_status *s, const struct queue_view *view)
{
    struct status_draft d =
        draft_begin(&(struct dialect_view){.group = view->object, .wall = view->wall});
    queue_draft_amounts(&d, "used", s, AMOUNT(used));
    return draft_end(&d);
}

const struct queue_dialect queue_koordinator = {
    .name = "koordinator",
    .api_group = "scheduling.sigs.k8s.io",
    .versions = (const char *const[]){"v1alpha1", NULL},
    .plural = "elasticquotas",
    .kind = "ElasticQuota",
    .namespaced = true,
    .unique_names = true,
    .root = "koordinator-root-quota",
    .fallback = "koordinator-default-quota",
    .links = (const struct dialect_key[]){{KEY_LABEL, KOORDINATOR "name"}, {KEY_END, NULL}},
    .family = "sigs",
    .preemptible_label = KOORDINATOR "preemptible",
    .preemptible_words =
        (const struct queue_word[]){{"false", PREEMPTIBLE_NO}, {NULL, PREEMPTIBLE_BY_PRIORITY}},
    .decode = koordinator_decode,
    .status = quota_status,
};

const struct queue_dialect queue_xk8s = {
    .name = "x-k8s",
    .api_group = "scheduling.x-k8s.io",
    .versions = (const char *const[]){"v1alpha1", NULL},
    .plural = "elasticquotas",
    .kind = "ElasticQuota",
    .namespaced = true,
    .links = (const struct dialect_key[]){{KEY_END, NULL}},
    .decode = read_min_and_max,
    .status = quota_status,
};
