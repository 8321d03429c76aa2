/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_form.h - the API server's JSON form of objects, lists and events, taken apart so that each
 * object becomes a tree by itself. The other form is in proto.h; both speak alike.
 *
 * An object of 1.5 MiB may hold half a million values: a tree of 120 MB that takes 0.2 s. No object
 * that anybody needs has JSON_FORM_VALUES of them; of one that has more only the part is given that
 * says who it is: namespace, name, uid and resourceVersion in its metadata. err says so then.
 *
 * The bytes were mended (base/json_mend.h), as all that client.h gives. Pure, any thread. Trees are
 * the caller's; a list borrows the bytes.
 */
#ifndef MUSTER_K8S_ENCODING_JSON_FORM_H
#define MUSTER_K8S_ENCODING_JSON_FORM_H

#include <jansson.h>

#include "base/err.h"
#include "base/json_scan.h"

#define JSON_FORM_VALUES 50000

/* An object, or with err set the part of it that says who it is. NULL, with err: it is no object.
 */
json_t *json_form_object(const char *data, size_t len, struct err *err);

/* The same where nobody has a use for a part: NULL then. */
json_t *json_form_whole(const char *data, size_t len);

/* A list: its metadata first, as a tree {"resourceVersion": …, "continue": …}. */
struct json_form_list {
    struct json_scan scan; /* inside `items` */
    bool none;             /* there are no items, or no more */
};
json_t *json_form_list_begin(struct json_form_list *list, const char *data, size_t len,
                             struct err *err);
/* The next item, or the part of it that says who it is, as above; null for what is no object; NULL
 * at the end. */
json_t *json_form_list_next(struct json_form_list *list, struct err *err);

/* A line of a watch, as {"type": …, "object": …}; NULL when it is none. Of the object it may be a
 * part, as above. */
json_t *json_form_event(const char *data, size_t len, struct err *err);

#endif
