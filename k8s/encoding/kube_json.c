/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/kube_json.h"

static int not_json(const struct json_scan *s, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s is not JSON: %s, at byte %zu", what, s->error, s->at);
}

/* ---- objects ---- */

static bool is_identity(const char *key)
{
    static const char *const keys[] = {"namespace", "name", "uid", "resourceVersion",
                                       "creationTimestamp"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static json_t *metadata_of(struct json_scan *s)
{
    cleanup_buf struct buf key = BUF_INIT, value = BUF_INIT;
    json_t *metadata = json_object();
    json_scan_object(s);
    while (json_scan_key(s, &key))
        if (!is_identity(buf_str(&key)) || json_scan_peek(s) != '"')
            json_scan_skip(s, NULL);
        else if (json_scan_string(s, &value))
            json_object_set_new(metadata, buf_str(&key), json_string(buf_str(&value)));
    return metadata;
}

static json_t *identity_of(const char *data, size_t len)
{
    cleanup_buf struct buf key = BUF_INIT;
    struct json_scan s = json_scan_new(data, len);
    json_t *object = json_object();
    json_scan_object(&s);
    while (json_scan_key(&s, &key))
        if (strcmp(buf_str(&key), "metadata") == 0 && json_scan_peek(&s) == '{')
            json_object_set_new(object, "metadata", metadata_of(&s));
        else
            json_scan_skip(&s, NULL);
    return object;
}

json_t *kube_json_object(const char *data, size_t len, struct err *err)
{
    struct json_scan s = json_scan_new(data, len);
    err->code = ERR_NONE;
    if (json_scan_peek(&s) != '{' || !json_scan_skip(&s, NULL) || !json_scan_end(&s)) {
        json_scan_fail(&s, "expected an object");
        not_json(&s, "the object", err);
        return NULL;
    }
    if (s.values > KUBE_JSON_VALUES) {
        err_set(err, ERR_INVALID,
                "it has %zu values, must be at most %d; remove fields that are not needed",
                s.values, KUBE_JSON_VALUES);
        return identity_of(data, len);
    }
    json_error_t at;
    json_t *object = json_loadb(data, len, 0, &at);
    if (!object)
        err_set(err, ERR_INVALID, "it is not JSON: %s", at.text);
    return object;
}

json_t *kube_json_whole(const char *data, size_t len)
{
    struct err err;
    json_t *object = kube_json_object(data, len, &err);
    if (err.code == ERR_NONE)
        return object;
    json_decref(object);
    return NULL;
}

size_t kube_json_values(const json_t *tree)
{
    size_t n = 1, i;
    const char *key;
    json_t *child;
    if (json_is_array(tree))
        json_array_foreach(tree, i, child) n += kube_json_values(child);
    else
        json_object_foreach((json_t *)(uintptr_t)tree, key, child) n += kube_json_values(child);
    return n;
}

/* ---- lists and events ---- */

/* Finds two members of an object. The span of an absent member has length 0. */
static bool find_members(const char *data, size_t len, const char *const keys[2],
                         struct json_span spans[2], const char *what, struct err *err)
{
    cleanup_buf struct buf key = BUF_INIT;
    struct json_scan s = json_scan_new(data, len);
    spans[0] = spans[1] = (struct json_span){0, 0};
    json_scan_object(&s);
    while (json_scan_key(&s, &key))
        json_scan_skip(&s, strcmp(buf_str(&key), keys[0]) == 0   ? &spans[0]
                           : strcmp(buf_str(&key), keys[1]) == 0 ? &spans[1]
                                                                 : NULL);
    return json_scan_end(&s) || not_json(&s, what, err) == 0;
}

json_t *kube_json_list_begin(struct kube_json_list *list, const char *data, size_t len,
                             struct err *err)
{
    static const char *const keys[] = {"metadata", "items"};
    struct json_span spans[2];
    if (!find_members(data, len, keys, spans, "the list", err))
        return NULL;
    list->scan = json_scan_new(data + spans[1].at, spans[1].len);
    list->none = spans[1].len == 0 || json_scan_null(&list->scan);
    json_t *metadata = json_loadb(data + spans[0].at, spans[0].len, 0, NULL);
    if (metadata && (list->none || json_scan_array(&list->scan)))
        return metadata;
    json_decref(metadata);
    err_set(err, ERR_INVALID, "the reply is not a list with a resourceVersion");
    return NULL;
}

json_t *kube_json_list_next(struct kube_json_list *list, struct err *err)
{
    struct json_span span;
    err->code = ERR_NONE;
    if (list->none || !json_scan_item(&list->scan) || !json_scan_skip(&list->scan, &span))
        return NULL;
    json_t *item = kube_json_object(list->scan.start + span.at, span.len, err);
    return item ? item : json_null();
}

json_t *kube_json_event(const char *data, size_t len, struct err *err)
{
    static const char *const keys[] = {"type", "object"};
    struct json_span spans[2];
    if (!find_members(data, len, keys, spans, "the event", err))
        return NULL;
    json_t *type = json_loadb(data + spans[0].at, spans[0].len, JSON_DECODE_ANY, NULL);
    json_t *object = spans[1].len ? kube_json_object(data + spans[1].at, spans[1].len, err) : NULL;
    if (type && object)
        return json_pack("{s:o, s:o}", "type", type, "object", object);
    json_decref(type);
    json_decref(object);
    err_set(err, ERR_INVALID, "the watch sent a line that is not an event");
    return NULL;
}
