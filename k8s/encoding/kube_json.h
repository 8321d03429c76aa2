/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_json.h - splits the API server's JSON (objects, lists, watch events) into objects, and
 * parses each object into a tree of its own. kube_protobuf.h does the same for protobuf.
 *
 * An object of 1.5 MiB can contain half a million values. Its tree would take 120 MB and 0.2 s.
 * Maps cost most: 65,000 members take 0.1 s. Useful objects have far fewer than KUBE_JSON_VALUES
 * values. For an object with more, the functions set err and return only its identity: namespace,
 * name, uid and resourceVersion in its metadata.
 *
 * The bytes must be repaired (base/json_repair.h), like all replies of client.h. The caller owns
 * the returned trees. A list borrows the bytes. Pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_JSON_H
#define MUSTER_K8S_ENCODING_KUBE_JSON_H

#include <jansson.h>

#include "base/err.h"
#include "base/json_scan.h"

#define KUBE_JSON_VALUES 20000

/* Parses an object. Always sets err->code; ERR_NONE means that the object is complete. After an
 * error, returns only its identity, or NULL if it is not an object. */
json_t *kube_json_object(const char *data, size_t len, struct err *err);

/* Parses an object. NULL: it is not an object, or has too many values. */
json_t *kube_json_whole(const char *data, size_t len);

/* The number of values in a tree, which is at most as deep as the parsers allow. */
size_t kube_json_values(const json_t *tree);

struct kube_json_list {
    struct json_scan scan; /* inside `items` */
    bool none;             /* no item is left */
};
/* Begins to read a list. Returns its metadata as a tree {"resourceVersion": …, "continue": …}. */
json_t *kube_json_list_begin(struct kube_json_list *list, const char *data, size_t len,
                             struct err *err);
/* The next item, as kube_json_object() returns it; JSON null if the item is not an object; NULL at
 * the end. */
json_t *kube_json_list_next(struct kube_json_list *list, struct err *err);

/* Parses a line of a watch. Returns {"type": …, "object": …}, where the object can be only an
 * identity. NULL: the line is not an event. */
json_t *kube_json_event(const char *data, size_t len, struct err *err);

#endif
