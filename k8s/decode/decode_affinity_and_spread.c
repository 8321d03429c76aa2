/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules between pods: pod anti-affinity and topology spread. Sources: k8s.io/kubernetes v1.36
 * pkg/registry/core/pod/strategy.go and the scheduler's plugins interpodaffinity and
 * podtopologyspread.
 *
 * Only rules over hosts are decoded. The nodes that kube-scheduler offers reflect the other rules:
 * other topology keys, required pod affinity, and a namespaceSelector that selects some namespaces.
 * If a pod's rules exceed a bound (gang/bounds.h), none of them is decoded, because the planner
 * would have to check each node against each rule.
 */
#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode_internal.h"

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
 * matchLabelKeys and mismatchLabelKeys: adds the pod's own label values to the selector. An API
 * server does this when it creates the pod, and a later change of the label does not change the
 * selector. The built-in cluster does not do it. Source: applyLabelKeysToLabelSelector.
 */
static int merge_keys(const json_t *rule, const char *field, enum gang_match_op op,
                      const struct gang_kvs *labels, struct gang_term *term, struct err *err)
{
    const json_t *keys = NULL;
    if (field_array(rule, field, &keys, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(keys) && term->n <= BOUND_POD_VALUES; i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        if (!key)
            return err_set(err, ERR_INVALID, "%s[%zu] must be a string", field, i);
        const char *value = gang_kvs_get(labels, key);
        if (value && !has_requirement(term, key, op))
            add_requirement(term, key, op, value);
    }
    return 0;
}

/* ---- bounds ---- */

/* The number of requirements, values and namespaces in a list of terms or constraints. */
static size_t values_in(const json_t *list)
{
    static const char *const names[] = {"namespaces", "matchLabelKeys", "mismatchLabelKeys"};
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        n += decode_label_length(json_object_get(json, "labelSelector"));
        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            n += json_array_size(json_object_get(json, names[k]));
    }
    return n;
}

static const json_t *required_terms(const json_t *spec, const char *kind)
{
    const json_t *affinity = json_object_get(json_object_get(spec, "affinity"), kind);
    return json_object_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
}

/* Anti-affinity and topology spread share one bound. */
static bool values_within(const json_t *spec, struct gang_pod_facts *f)
{
    return decode_within(f, OVER_POD_VALUES,
                         values_in(required_terms(spec, "podAntiAffinity")) +
                             values_in(json_object_get(spec, "topologySpreadConstraints")));
}

/* ---- anti-affinity ---- */

/* Whether a namespaceSelector is {}, which selects every namespace. */
static bool selects_all(const json_t *selector)
{
    return selector && json_object_size(json_object_get(selector, "matchLabels")) == 0 &&
           json_array_size(json_object_get(selector, "matchExpressions")) == 0;
}

enum { SELECTS_NOBODY, BEYOND, PARTLY, MODELLED };

/*
 * Decodes a term into *s. *how gets how much of the term *s models. muster models terms over hosts
 * that name their namespaces or select all of them. If a term has names and selects more namespaces
 * by labels, *s models only the names (PARTLY). Source: newAffinityTerm,
 * getNamespacesFromPodAffinityTerm.
 */
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

/* Keeps a term that is not modelled, or only partly. The kept selector selects the same pods or
 * more. */
static void shun(const json_t *json, struct gang_pod_facts *f)
{
    struct err err;
    int how;
    decode_mark_inexact(f, "anti-affinity that is not over hosts");
    if (f->n_wide_anti_affinity == 0)
        f->wide_anti_affinity = xcalloc(BOUND_APART, sizeof *f->wide_anti_affinity);
    struct gang_selector *s = &f->wide_anti_affinity[f->n_wide_anti_affinity++];
    decode_apart(json, &f->labels, s, &how, &err); /* the caller has checked the term */
    s->all_namespaces |= json_object_get(json, "namespaceSelector") != NULL;
}

/* Stands for all terms, when none of them is decoded. It selects all pods of the namespace, or all
 * pods of the cluster if a term names other namespaces. */
static void shun_all(const json_t *list, struct gang_pod_facts *f)
{
    bool wide = false;
    for (size_t i = 0; i < json_array_size(list) && !wide; i++) {
        const json_t *json = json_array_get(list, i);
        wide = json_array_size(json_object_get(json, "namespaces")) > 0 ||
               json_object_get(json, "namespaceSelector") != NULL;
    }
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->wide_anti_affinity[f->n_wide_anti_affinity++].all_namespaces = wide;
}

int decode_anti_affinity(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *affinity = NULL, *anti = NULL, *list = NULL;
    if (field_object(spec, "affinity", &affinity, err) < 0 ||
        field_object(affinity, "podAntiAffinity", &anti, err) < 0 ||
        field_whole_array(anti, "requiredDuringSchedulingIgnoredDuringExecution", &list, err) < 0)
        return err_wrap(err, "affinity");
    if (json_array_size(required_terms(spec, "podAffinity")))
        decode_mark_inexact(f, "required pod affinity");
    if (!decode_within(f, OVER_APART, json_array_size(list)) || !values_within(spec, f)) {
        if (json_array_size(list))
            shun_all(list, f);
        return 0;
    }
    f->anti_affinity = xcalloc(json_array_size(list), sizeof *f->anti_affinity);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        struct gang_selector *s = &f->anti_affinity[f->n_anti_affinity++];
        int how = SELECTS_NOBODY;
        int r = decode_apart(json, &f->labels, s, &how, err);
        if (r < 0 || how < PARTLY) {
            gang_selector_done(s);
            f->n_anti_affinity--;
        }
        if (r < 0)
            return err_wrap(err, "required pod anti-affinity[%zu]", i);
        if (how != SELECTS_NOBODY && how != MODELLED)
            shun(json, f);
    }
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

static bool has_key(const struct gang_spread *s, const char *key)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i], key) == 0)
            return true;
    return false;
}

/* A node counts only if it has the topology keys of all required constraints. */
static void add_keys(const json_t *list, struct gang_spread *s)
{
    s->keys = xcalloc(BOUND_SPREADS, sizeof *s->keys);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *other = json_array_get(list, i);
        const char *key = field_peek(other, "topologyKey", NULL);
        if (key && is_required(other) && !has_key(s, key))
            s->keys[s->n_keys++] = xstrdup(key);
    }
}

/* Whether the constraint never counts a pod: its selector is missing or empty. Source:
 * countPodsMatchSelector. */
static bool counts_none(const json_t *json, const struct gang_spread *s)
{
    return !json_is_object(json_object_get(json, "labelSelector")) || s->selector.term.n == 0;
}

static size_t count_required(const json_t *list)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        n += is_required(json_array_get(list, i));
    return n;
}

int decode_spreads(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *list = NULL;
    if (field_whole_array(spec, "topologySpreadConstraints", &list, err) < 0)
        return -1;
    size_t n = count_required(list);
    if (!decode_within(f, OVER_SPREADS, n) || !values_within(spec, f))
        return 0;
    f->spreads = xcalloc(n, sizeof *f->spreads);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        if (!is_required(json))
            continue;
        if (!str_eq(field_peek(json, "topologyKey", NULL), GANG_HOSTNAME)) {
            decode_mark_inexact(f, "topology spread that is not over hosts");
            continue;
        }
        struct gang_spread *s = &f->spreads[f->n_spreads++];
        int r = decode_spread(json, &f->labels, s, err);
        if (r < 0 || counts_none(json, s)) { /* it only requires the node to have the label */
            decode_mark_inexact(f, "topology spread that counts no pods");
            gang_selector_done(&s->selector);
            f->n_spreads--;
        } else {
            add_keys(list, s);
        }
        if (r < 0)
            return err_wrap(err, "topologySpreadConstraints[%zu]", i);
    }
    return 0;
}
