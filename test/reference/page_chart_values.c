/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of the chart, in the order of values.schema.json. A property of the schema with a
 * description is a row; one without is a section whose properties are rows. Both images
 * share a definition, and each may describe single properties itself.
 */
#include "base/buf.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"
#include "test/reference/reference.h"

#define SCHEMA "charts/muster/values.schema.json"

static const json_t *schema;

/* What "$ref": "#/definitions/NAME" stands for, also in allOf; else the node itself. */
static const json_t *resolve(const json_t *node)
{
    const json_t *all = json_object_get(node, "allOf");
    const char *ref = field_peek(all ? json_array_get(all, 0) : node, "$ref", NULL);
    if (!ref)
        return node;
    const char *name = ref + strlen("#/definitions/");
    return json_object_get(json_object_get(schema, "definitions"), name);
}

static const char *description(const json_t *node)
{
    return field_peek(node, "description", NULL);
}

/* "string", or the values that it may have. */
static void print_type(const json_t *node)
{
    const json_t *values = json_object_get(node, "enum");
    const char *type = field_peek(node, "type", NULL);
    if (!values) {
        page_cell("%s", str_eq(type, "array")     ? "list"
                        : str_eq(type, "boolean") ? "true or false"
                                                  : type);
        return;
    }
    for (size_t i = 0; i < json_array_size(values); i++)
        printf("%s `%s`", i ? "," : "", json_string_value(json_array_get(values, i)));
    printf(" |");
}

static void print_row(const char *name, const json_t *node, const char *text, const json_t *value)
{
    if (!value)
        page_fail("values.yaml has no %s", name);
    cleanup_free char *shown = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    printf("| `%s` |", name);
    print_type(resolve(node));
    if (json_is_string(value))
        page_cell(*json_string_value(value) ? "`%s`" : "%s", json_string_value(value));
    else
        page_cell("`%s`", shown);
    page_cell("%s", text);
    putchar('\n');
}

static void print_properties(const char *prefix, const json_t *node, const json_t *values);

/* `beside`: descriptions for this use of a definition; may be NULL. */
static void print_property(const char *prefix, const char *key, const json_t *node,
                           const json_t *beside, const json_t *values)
{
    cleanup_free char *name = xasprintf("%s%s%s", prefix, *prefix ? "." : "", key);
    const json_t *value = json_object_get(values, key);
    const char *own = description(json_object_get(beside, key)), *text = description(node);
    if (own || text || description(resolve(node)))
        print_row(name, node, own ? own : text ? text : description(resolve(node)), value);
    else if (json_object_get(resolve(node), "properties"))
        print_properties(name, node, value);
    else
        page_fail(SCHEMA ": %s has no description", name);
}

static void print_properties(const char *prefix, const json_t *node, const json_t *values)
{
    const json_t *properties = json_object_get(resolve(node), "properties");
    const json_t *beside =
        json_object_get(node, "allOf") ? json_object_get(node, "properties") : NULL;
    const char *key;
    json_t *property;
    json_object_foreach((json_t *)(uintptr_t)properties, key, property)
        print_property(prefix, key, property, beside, values);
    json_object_foreach((json_t *)(uintptr_t)values, key,
                        property) if (!json_object_get(properties, key))
        page_fail(SCHEMA " has no %s%s%s", prefix, *prefix ? "." : "", key);
}

void page_chart_values(const char *root)
{
    cleanup_free char *text = page_file(root, SCHEMA);
    cleanup_free char *path = xasprintf("%s/charts/muster/values.yaml", root);
    struct err err;
    cleanup_json json_t *all = json_loads(text, 0, NULL), *documents = yaml_load(path, &err);
    if (!all || !documents)
        page_fail("%s", all ? err.text : SCHEMA " is not JSON");
    schema = all;
    json_object_del(json_object_get(all, "properties"), "global"); /* Helm's own */
    page_title(
        "Values of the chart",
        "This page is for operators who install the chart. It lists each value with its type "
        "and default.",
        "`" SCHEMA "` and `charts/muster/values.yaml`");
    printf(
        "Helm rejects values that are not in this table, settings under `config` that muster does "
        "not have, and values of the\nwrong type. [Install](../install.md#by-chart) describes how "
        "to use the values. The chart has no value for replicas,\nbecause only one muster may "
        "run.\n\n"
        "| value | type | default | meaning |\n|---|---|---|---|\n");
    print_properties("", all, json_array_get(documents, 0));
}
