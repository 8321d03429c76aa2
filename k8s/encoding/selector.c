/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/selector.h"

static int decode_operator(const char *text, enum gang_match_op *ret, struct err *err)
{
    static const char *const names[] = {
        [MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
        [MATCH_EXISTS] = "Exists", [MATCH_NOT_EXISTS] = "DoesNotExist",
        [MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (str_eq(text, names[i])) {
            *ret = (enum gang_match_op)i;
            return 0;
        }
    return err_set(err, ERR_INVALID,
                   "operator is \"%.40s\", must be In, NotIn, Exists, DoesNotExist, Gt or Lt",
                   text ? text : "");
}

static int read_requirement(const json_t *json, bool on_name, struct gang_requirement *r,
                            struct err *err)
{
    const char *op_text = NULL;
    const json_t *values = NULL;
    r->on_name = on_name;
    if (field_copy(json, "key", &r->key, err) < 0 ||
        field_string(json, "operator", &op_text, err) < 0 ||
        field_array(json, "values", &values, err) < 0 || decode_operator(op_text, &r->op, err) < 0)
        return -1;
    if (!r->key)
        return err_set(err, ERR_INVALID, "key is missing");
    if (on_name && strcmp(r->key, "metadata.name") != 0)
        return err_set(err, ERR_INVALID, "key is \"%.80s\", must be metadata.name", r->key);
    r->values = xcalloc(json_array_size(values), sizeof *r->values);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *v = json_string_value(json_array_get(values, i));
        if (!v)
            return err_set(err, ERR_INVALID, "values[%zu] must be a string", i);
        r->values[r->n_values++] = xstrdup(v);
    }
    gang_texts_sort(r->values, r->n_values);
    return 0;
}

/* Adds an entry of matchExpressions, or (on_name) of a NodeSelector's matchFields, to the term. An
 * invalid entry is not added. */
static int decode_requirement(const json_t *json, bool on_name, struct gang_term *term,
                              struct err *err)
{
    struct gang_requirement r = {.key = NULL};
    int ret = read_requirement(json, on_name, &r, err);
    if (ret == 0) {
        term->items[term->n++] = r;
        return 0;
    }
    while (r.n_values > 0)
        free(r.values[--r.n_values]);
    free(r.values);
    free(r.key);
    return ret;
}

static int decode_term(const json_t *json, struct gang_term *term, struct err *err)
{
    static const char *const names[2] = {"matchExpressions", "matchFields"};
    const json_t *lists[2] = {NULL, NULL};
    if (field_array(json, names[0], &lists[0], err) < 0 ||
        field_array(json, names[1], &lists[1], err) < 0)
        return -1;
    term->items =
        xcalloc(json_array_size(lists[0]) + json_array_size(lists[1]), sizeof *term->items);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < json_array_size(lists[l]); i++)
            if (decode_requirement(json_array_get(lists[l], i), l == 1, term, err) < 0)
                return err_wrap(err, "%s[%zu]", names[l], i);
    return 0;
}

void decode_node_length(const json_t *selector, struct decode_length *more)
{
    static const char *const names[2] = {"matchExpressions", "matchFields"};
    const json_t *terms = json_object_get(selector, "nodeSelectorTerms");
    more->rules += json_array_size(terms);
    if (more->rules > BOUND_NODE_RULES)
        return; /* stop early: an object can contain half a million terms */
    for (size_t i = 0; i < json_array_size(terms); i++)
        for (size_t l = 0; l < ARRAY_SIZE(names); l++) {
            const json_t *list = json_object_get(json_array_get(terms, i), names[l]);
            more->rules += json_array_size(list);
            for (size_t k = 0; k < json_array_size(list); k++)
                more->values += json_array_size(json_object_get(json_array_get(list, k), "values"));
        }
}

int decode_node_terms(const json_t *selector, struct gang_term **ret, size_t *ret_n,
                      struct err *err)
{
    const json_t *terms = NULL;
    if (field_array(selector, "nodeSelectorTerms", &terms, err) < 0)
        return -1;
    *ret = xcalloc(json_array_size(terms), sizeof **ret);
    for (size_t i = 0; i < json_array_size(terms); i++)
        if (decode_term(json_array_get(terms, i), &(*ret)[(*ret_n)++], err) < 0)
            return err_wrap(err, "nodeSelectorTerms[%zu]", i);
    return 0;
}

static int match_label(const char *key, const json_t *value, struct gang_requirement *r,
                       struct err *err)
{
    if (!json_is_string(value))
        return err_set(err, ERR_INVALID, "matchLabels: the value of %.80s must be a string", key);
    r->key = xstrdup(key);
    r->op = MATCH_IN;
    r->values = xcalloc(1, sizeof *r->values);
    r->values[r->n_values++] = xstrdup(json_string_value(value));
    return 0;
}

size_t decode_label_length(const json_t *selector)
{
    const json_t *labels = json_object_get(selector, "matchLabels");
    const json_t *expressions = json_object_get(selector, "matchExpressions");
    size_t n = 2 * json_object_size(labels) + json_array_size(expressions);
    for (size_t i = 0; i < json_array_size(expressions); i++)
        n += json_array_size(json_object_get(json_array_get(expressions, i), "values"));
    return n;
}

int decode_label_selector(const json_t *selector, struct gang_term *term, struct err *err)
{
    const json_t *labels = NULL, *expressions = NULL;
    if (field_object(selector, "matchLabels", &labels, err) < 0 ||
        field_array(selector, "matchExpressions", &expressions, err) < 0)
        return -1;
    term->items =
        xcalloc(json_object_size(labels) + json_array_size(expressions) + 1, sizeof *term->items);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)labels, key, value)
    {
        if (match_label(key, value, &term->items[term->n++], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < json_array_size(expressions); i++) {
        if (decode_requirement(json_array_get(expressions, i), /* on_name= */ false, term, err) < 0)
            return err_wrap(err, "matchExpressions[%zu]", i);
        const struct gang_requirement *r = &term->items[term->n - 1];
        if (r->op == MATCH_GT || r->op == MATCH_LT)
            return err_set(err, ERR_INVALID,
                           "matchExpressions[%zu]: operator must be In, NotIn, Exists or "
                           "DoesNotExist",
                           i);
    }
    return 0;
}
