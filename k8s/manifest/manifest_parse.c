/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_scan.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/encoding/yaml_to_json.h"
#include "k8s/manifest/manifest_gangs.h"
#include "workload/json_field.h"

/* JSON objects, one after the other; NULL: the text is something else, such as YAML. */
static json_t *parse_json(const char *text, size_t len)
{
    json_t *objects = json_array();
    const char *p = text, *end = text + len;
    size_t values = 0;
    while (true) {
        while (p < end && strchr(" \t\r\n", *p))
            p++;
        if (p == end && json_array_size(objects))
            return objects;
        struct json_scan s = json_scan_new(p, (size_t)(end - p));
        struct json_span span;
        bool whole = json_scan_peek(&s) == '{' && json_scan_skip(&s, &span);
        values += s.values;
        json_t *object = whole && values <= MANIFEST_VALUES ? kube_json_whole(p, span.len) : NULL;
        if (!object)
            break;
        json_array_append_new(objects, object);
        p += span.len;
    }
    json_decref(objects);
    return NULL;
}

static int too_many(struct err *err)
{
    return err_set(err, ERR_INVALID, "there are more than %d objects; check fewer at a time",
                   MANIFEST_OBJECTS);
}

/* Adds the object, or those of a List. */
static int add(json_t *to, json_t *object, struct err *err)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    json_t *items = json_object_get(object, "items"), *item;
    size_t i, n = kind ? strlen(kind) : 0;
    bool list = n >= 4 && strcmp(kind + n - 4, "List") == 0 && json_is_array(items);
    if (json_array_size(to) + (list ? json_array_size(items) : 1) > MANIFEST_OBJECTS)
        return too_many(err);
    if (list)
        json_array_foreach(items, i, item) json_array_append(to, item);
    else
        json_array_append(to, object);
    return 0;
}

json_t *manifest_parse(const char *text, size_t len, struct err *err)
{
    cleanup_json json_t *documents = parse_json(text, len), *objects = json_array();
    size_t i;
    json_t *document;
    if (!documents)
        documents = yaml_parse_most("manifest", text, len, MANIFEST_VALUES, err);
    if (!documents)
        return NULL;
    json_array_foreach(documents, i, document) if (add(objects, document, err) < 0) return NULL;
    if (json_array_size(objects) == 0) {
        err_set(err, ERR_INVALID, "the text has no object; write a manifest");
        return NULL;
    }
    return STEAL(objects);
}
