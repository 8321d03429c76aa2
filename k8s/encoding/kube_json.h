/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_json.h - splits the API server's JSON (objects, lists, watch events), so that each object
 * becomes a tree of its own. kube_protobuf.h does the same for protobuf, with the same functions.
 *
 * An object of 1.5 MiB may hold half a million values: a tree of 120 MB that takes 0.2 s. No
 * object of use has KUBE_JSON_VALUES of them. Of an object with more, only its identity is returned
 * (namespace, name, uid and resourceVersion in its metadata), and err says so.
 *
 * The bytes were repaired (base/json_repair.h), like all replies of client.h. Pure, any thread.
 * Trees are the caller's; a list borrows the bytes.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_JSON_H
#define MUSTER_K8S_ENCODING_KUBE_JSON_H

#include <jansson.h>

#include "base/err.h"
#include "base/json_scan.h"

#define KUBE_JSON_VALUES 50000

/* Parses an object. If it cannot be parsed as a whole, sets err and returns its identity alone, or
 * NULL if it is not an object. */
json_t *kube_json_object(const char *data, size_t len, struct err *err);

/* The same where nobody has a use for a part: NULL then. */
json_t *kube_json_whole(const char *data, size_t len);

/* A list: its metadata first, as a tree {"resourceVersion": …, "continue": …}. */
struct kube_json_list {
    struct json_scan scan; /* inside `items` */
    bool none;             /* no item is left */
};
json_t *kube_json_list_begin(struct kube_json_list *list, const char *data, size_t len,
                             struct err *err);
/* The next item, as kube_json_object() returns it; JSON null if the item is not an object; NULL at
 * the end. */
json_t *kube_json_list_next(struct kube_json_list *list, struct err *err);

/* A line of a watch, as {"type": …, "object": …}; NULL when it is none. Of the object it may be a
 * part, as above. */
json_t *kube_json_event(const char *data, size_t len, struct err *err);

#endif
