/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors of pods and of nodes: {"labels": {…}, "selector": LabelSelector, "node": NodeSelector}.
 * They match as the Kubernetes API defines, computed from the JSON.
 */
#include "gang/node_predicates.h"
#include "k8s/decode/decode_internal.h"
#include "test/fuzz/fuzz.h"

#define NODE "n0"

static bool whole_number(const char *text, int64_t *ret)
{
    char *end;
    size_t sign = *text == '-' || *text == '+';
    size_t n = strspn(text + sign, "0123456789");
    if (n == 0 || n > 18 || text[sign + n])
        return false;
    *ret = strtoll(text, &end, 10);
    return true;
}

/* value NULL: the label is missing. */
static bool holds(const json_t *requirement, const char *value)
{
    const char *op = json_string_value(json_object_get(requirement, "operator"));
    const json_t *values = json_object_get(requirement, "values");
    bool in = false;
    for (size_t i = 0; i < json_array_size(values); i++)
        in = in || str_eq(json_string_value(json_array_get(values, i)), value);
    if (str_eq(op, "In"))
        return value && in;
    if (str_eq(op, "NotIn"))
        return !value || !in;
    if (str_eq(op, "Exists"))
        return value != NULL;
    if (str_eq(op, "DoesNotExist"))
        return value == NULL;
    int64_t have, want;
    if (!value || json_array_size(values) != 1 || !whole_number(value, &have) ||
        !whole_number(json_string_value(json_array_get(values, 0)), &want))
        return false;
    return str_eq(op, "Gt") ? have > want : have < want;
}

static const char *label(const json_t *labels, const json_t *requirement)
{
    const char *key = json_string_value(json_object_get(requirement, "key"));
    return json_string_value(json_object_get(labels, key));
}

static bool all_hold(const json_t *list, const json_t *labels, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *r = json_array_get(list, i);
        if (!holds(r, name ? name : label(labels, r)))
            return false;
    }
    return true;
}

/* Numbers that the two implementations read differently. No label can have them. */
static bool odd_number(const json_t *list, const json_t *labels)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *r = json_array_get(list, i);
        const json_t *values = json_object_get(r, "values");
        const char *texts[] = {label(labels, r), json_string_value(json_array_get(values, 0))};
        for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
            if (texts[k] && (strlen(texts[k]) > 18 || strpbrk(texts[k], " \t\n\v\f\r")))
                return true;
    }
    return false;
}

static void check_label_selector(const json_t *selector, const json_t *labels,
                                 const struct gang_kvs *kvs)
{
    struct err err;
    struct gang_selector s = {.term = {NULL, 0}};
    if (decode_label_selector(selector, &s.term, &err) < 0) {
        fuzz_check_error(&err);
        gang_selector_done(&s);
        return;
    }
    bool got = true, want = true;
    for (size_t i = 0; i < s.term.n; i++)
        got = got && gang_label_matches(&s.term.items[i], kvs);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(selector, "matchLabels"), key, value) want =
        want && str_eq(json_string_value(json_object_get(labels, key)), json_string_value(value));
    want = want && all_hold(json_object_get(selector, "matchExpressions"), labels, NULL);
    HOLDS(got == want, "the label selector %s", got ? "matches" : "does not match");
    gang_selector_done(&s);
}

static void check_node_selector(const json_t *selector, const json_t *labels,
                                const struct gang_node_facts *node)
{
    struct err err;
    struct gang_claim_facts *owner = gang_claim_facts_new(); /* owns the terms */
    const json_t *terms = json_object_get(selector, "nodeSelectorTerms");
    if (decode_node_terms(selector, &owner->terms, &owner->n_terms, &err) < 0) {
        fuzz_check_error(&err);
        gang_claim_facts_free(owner);
        return;
    }
    HOLDS(owner->n_terms == json_array_size(terms), "another number of terms");
    for (size_t i = 0; i < owner->n_terms; i++) {
        const json_t *term = json_array_get(terms, i);
        const json_t *labelled = json_object_get(term, "matchExpressions");
        const json_t *named = json_object_get(term, "matchFields");
        if (odd_number(labelled, labels) || odd_number(named, NULL))
            continue;
        bool any = json_array_size(labelled) + json_array_size(named) > 0;
        bool want = any && all_hold(labelled, labels, NULL) && all_hold(named, NULL, NODE);
        bool got = gang_term_matches(&owner->terms[i], node);
        HOLDS(got == want, "term %zu %s", i, got ? "matches" : "does not match");
    }
    gang_claim_facts_free(owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    cleanup_tree json_t *tree = json_loadb((const char *)data, size, 0, NULL);
    const json_t *labels = json_object_get(tree, "labels");
    struct gang_node_facts *node = gang_node_facts_new();
    node->name = xstrdup(NODE);
    if (field_kvs(tree, "labels", &node->labels, &err) < 0) {
        fuzz_check_error(&err);
    } else {
        check_label_selector(json_object_get(tree, "selector"), labels, &node->labels);
        check_node_selector(json_object_get(tree, "node"), labels, node);
    }
    gang_node_facts_free(node);
    return 0;
}
