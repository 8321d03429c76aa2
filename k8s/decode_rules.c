/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a pod may go by its labels and those of others: node affinity, pod anti-affinity, topology
 * spread. Sources: k8s.io/kubernetes v1.36 pkg/registry/core/pod/strategy.go and the scheduler's
 * plugins interpodaffinity and podtopologyspread.
 *
 * Of the rules between pods, those over hosts are read. Not modelled, and left to what the
 * scheduler offers: other topology keys, required pod affinity, a namespaceSelector that selects
 * some namespaces, and what exceeds MAX_RULES and MAX_VALUES, which no sane pod has but which each
 * node would be held against.
 */
#include "gang/rules.h"
#include "k8s/decode_internal.h"

#define MAX_RULES  32  /* of each kind, in one pod */
#define MAX_VALUES 256 /* requirements and values, in all of them */

/* ---- node affinity ---- */

static int decode_node_affinity(const json_t *affinity, struct gang_pod_facts *f, struct err *err)
{
    const json_t *node = NULL, *required = NULL;
    if (field_object(affinity, "nodeAffinity", &node, err) < 0 ||
        field_object(node, "requiredDuringSchedulingIgnoredDuringExecution", &required, err) < 0)
        return err_wrap(err, "affinity");
    f->has_affinity = required != NULL;
    if (decode_node_terms(required, &f->affinity, &f->n_affinity, err) < 0)
        return err_wrap(err, "required node affinity");
    return 0;
}

/* ---- selectors ---- */

static int decode_strings(const json_t *object, const char *key, char ***ret, size_t *ret_n,
                          struct err *err)
{
    const json_t *list = NULL;
    if (field_array(object, key, &list, err) < 0)
        return -1;
    *ret = xcalloc(json_array_size(list), sizeof **ret);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return err_set(err, ERR_INVALID, "%s[%zu] must be a string", key, i);
        (*ret)[(*ret_n)++] = xstrdup(text);
    }
    return 0;
}

static bool has_requirement(const struct gang_term *t, const char *key, enum gang_match_op op)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].op == op && strcmp(t->items[i].key, key) == 0)
            return true;
    return false;
}

static void add_requirement(struct gang_term *t, const char *key, enum gang_match_op op,
                            const char *value)
{
    t->items = xreallocarray(t->items, t->n + 1, sizeof *t->items);
    struct gang_requirement *r = &t->items[t->n++];
    *r = (struct gang_requirement){.key = xstrdup(key), .op = op, .n_values = 1};
    r->values = xcalloc(1, sizeof *r->values);
    r->values[0] = xstrdup(value);
}

/*
 * matchLabelKeys and mismatchLabelKeys: the pod's own values become part of the selector. The API
 * server has done so when the pod was created (what it has put there stays, whatever became of the
 * label); the built-in cluster has not. Source: applyLabelKeysToLabelSelector.
 */
static int merge_keys(const json_t *rule, const char *field, enum gang_match_op op,
                      const struct gang_kvs *labels, struct gang_term *term, struct err *err)
{
    const json_t *keys = NULL;
    if (field_array(rule, field, &keys, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        if (!key)
            return err_set(err, ERR_INVALID, "%s[%zu] must be a string", field, i);
        const char *value = gang_kvs_get(labels, key);
        if (value && !has_requirement(term, key, op))
            add_requirement(term, key, op, value);
    }
    return 0;
}

/* Whether the last of so many rules may be kept, with what was kept before. */
static bool within_bounds(const struct gang_selector *s, size_t rules, size_t *values)
{
    size_t n = s->term.n + s->n_namespaces;
    for (size_t i = 0; i < s->term.n; i++)
        n += s->term.items[i].n_values;
    if (rules > MAX_RULES || n > MAX_VALUES - *values)
        return false;
    *values += n;
    return true;
}

/* ---- anti-affinity ---- */

/* {} selects every namespace. */
static bool selects_all(const json_t *selector)
{
    return selector && json_object_size(json_object_get(selector, "matchLabels")) == 0 &&
           json_array_size(json_object_get(selector, "matchExpressions")) == 0;
}

enum { SELECTS_NOBODY, BEYOND, PARTLY, MODELLED };

/* How much of one term, which goes into *s, is modelled: over hosts, with something selected in
 * namespaces that are known by name. Of a namespaceSelector beside names, the names are. Source:
 * newAffinityTerm, getNamespacesFromPodAffinityTerm. */
static int decode_apart(const json_t *json, const struct gang_kvs *labels, struct gang_selector *s,
                        int *how, struct err *err)
{
    const char *key = NULL;
    const json_t *selector = NULL, *spaces = NULL;
    if (field_string(json, "topologyKey", &key, err) < 0 ||
        field_object(json, "labelSelector", &selector, err) < 0 ||
        field_object(json, "namespaceSelector", &spaces, err) < 0 ||
        decode_strings(json, "namespaces", &s->namespaces, &s->n_namespaces, err) < 0)
        return -1;
    if (decode_label_selector(selector, &s->term, err) < 0)
        return err_wrap(err, "labelSelector");
    if (merge_keys(json, "matchLabelKeys", MATCH_IN, labels, &s->term, err) < 0 ||
        merge_keys(json, "mismatchLabelKeys", MATCH_NOT_IN, labels, &s->term, err) < 0)
        return -1;
    s->all_namespaces = selects_all(spaces);
    *how = !selector                      ? SELECTS_NOBODY
           : !str_eq(key, GANG_HOSTNAME)  ? BEYOND
           : !spaces || s->all_namespaces ? MODELLED
           : s->n_namespaces > 0          ? PARTLY
                                          : BEYOND;
    return 0;
}

/* A term that is not modelled, or not all of it: whom it selects is kept, or more than that. */
static void shun(const json_t *json, struct gang_pod_facts *f, size_t *values)
{
    struct gang_selector s = {.n_namespaces = 0};
    struct err err;
    int how;
    decode_beyond(f, "anti-affinity that is not over hosts");
    if (f->n_shuns == 0)
        f->shuns = xcalloc(MAX_RULES, sizeof *f->shuns);
    decode_apart(json, &f->labels, &s, &how, &err); /* it was read once already */
    s.all_namespaces |= json_object_get(json, "namespaceSelector") != NULL;
    if (!within_bounds(&s, f->n_shuns + 1, values)) {
        gang_selector_done(&s);
        s.all_namespaces = true;
    }
    if (f->n_shuns == MAX_RULES)
        gang_selector_done(&f->shuns[--f->n_shuns]);
    f->shuns[f->n_shuns++] = s;
}

static int decode_anti_affinity(const json_t *affinity, struct gang_pod_facts *f, size_t *values,
                                struct err *err)
{
    const json_t *anti = NULL, *list = NULL;
    if (field_object(affinity, "podAntiAffinity", &anti, err) < 0 ||
        field_array(anti, "requiredDuringSchedulingIgnoredDuringExecution", &list, err) < 0)
        return err_wrap(err, "affinity");
    f->apart = xcalloc(json_array_size(list), sizeof *f->apart);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        struct gang_selector *s = &f->apart[f->n_apart++];
        int how = SELECTS_NOBODY;
        if (decode_apart(json, &f->labels, s, &how, err) < 0)
            return err_wrap(err, "required pod anti-affinity[%zu]", i);
        bool kept = how >= PARTLY && within_bounds(s, f->n_apart, values);
        if (!kept) {
            gang_selector_done(s);
            f->n_apart--;
        }
        if (how != SELECTS_NOBODY && (how != MODELLED || !kept))
            shun(json, f, values);
    }
    return 0;
}

static int decode_affinity_to_pods(const json_t *affinity, struct gang_pod_facts *f,
                                   struct err *err)
{
    const json_t *to = NULL, *list = NULL;
    if (field_object(affinity, "podAffinity", &to, err) < 0 ||
        field_array(to, "requiredDuringSchedulingIgnoredDuringExecution", &list, err) < 0)
        return err_wrap(err, "affinity");
    if (json_array_size(list))
        decode_beyond(f, "required pod affinity");
    return 0;
}

/* ---- topology spread ---- */

static bool is_required(const json_t *spread)
{
    const char *when = field_peek(spread, "whenUnsatisfiable", NULL);
    return !when || str_eq(when, "DoNotSchedule");
}

/* Source: filterTopologySpreadConstraints, nodeLabelsMatchSpreadConstraints. */
static int decode_spread(const json_t *json, const struct gang_kvs *labels, struct gang_spread *s,
                         struct err *err)
{
    const json_t *selector = NULL;
    int64_t skew = 1, domains = 0;
    if (field_object(json, "labelSelector", &selector, err) < 0 ||
        field_int(json, "maxSkew", 1, INT32_MAX, &skew, err) < 0 ||
        field_int(json, "minDomains", 1, INT32_MAX, &domains, err) < 0)
        return -1;
    if (decode_label_selector(selector, &s->selector.term, err) < 0)
        return err_wrap(err, "labelSelector");
    s->max_skew = (int32_t)skew;
    s->min_domains = (int32_t)domains;
    s->any_affinity = str_eq(field_peek(json, "nodeAffinityPolicy", NULL), "Ignore");
    s->taints_count = str_eq(field_peek(json, "nodeTaintsPolicy", NULL), "Honor");
    return merge_keys(json, "matchLabelKeys", MATCH_IN, labels, &s->selector.term, err);
}

/* A node counts only if it has the keys of all required spreads. */
static void add_keys(const json_t *list, struct gang_spread *s)
{
    s->keys = xcalloc(MAX_RULES, sizeof *s->keys);
    for (size_t i = 0; i < json_array_size(list) && s->n_keys < MAX_RULES; i++) {
        const json_t *other = json_array_get(list, i);
        const char *key = field_peek(other, "topologyKey", NULL);
        if (key && is_required(other))
            s->keys[s->n_keys++] = xstrdup(key);
    }
}

/* Nothing selected, or (source: countPodsMatchSelector) everything: no pod is ever counted. */
static bool counts_none(const json_t *json, const struct gang_spread *s)
{
    return !json_is_object(json_object_get(json, "labelSelector")) || s->selector.term.n == 0;
}

static int decode_spreads(const json_t *spec, struct gang_pod_facts *f, size_t *values,
                          struct err *err)
{
    const json_t *list = NULL;
    if (field_array(spec, "topologySpreadConstraints", &list, err) < 0)
        return -1;
    f->spreads = xcalloc(json_array_size(list), sizeof *f->spreads);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        if (!is_required(json))
            continue;
        if (!str_eq(field_peek(json, "topologyKey", NULL), GANG_HOSTNAME)) {
            decode_beyond(f, "topology spread that is not over hosts");
            continue;
        }
        struct gang_spread *s = &f->spreads[f->n_spreads++];
        if (decode_spread(json, &f->labels, s, err) < 0)
            return err_wrap(err, "topologySpreadConstraints[%zu]", i);
        bool bounded = within_bounds(&s->selector, f->n_spreads, values);
        if (!bounded)
            decode_beyond(f, "more topology spread than muster reads");
        if (counts_none(json, s)) /* what is left of it: the node must have the label */
            decode_beyond(f, "topology spread that counts no pods");
        if (counts_none(json, s) || !bounded) {
            gang_selector_done(&s->selector);
            f->n_spreads--;
            continue;
        }
        add_keys(list, s);
    }
    return 0;
}

int decode_rules(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *affinity = NULL;
    size_t values = 0;
    if (field_object(spec, "affinity", &affinity, err) < 0 ||
        decode_node_affinity(affinity, f, err) < 0 ||
        decode_anti_affinity(affinity, f, &values, err) < 0 ||
        decode_affinity_to_pods(affinity, f, err) < 0)
        return -1;
    return decode_spreads(spec, f, &values, err);
}
