/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen_object.h - an object of the API server as last seen.
 *
 * The watch shows it, and so do the replies to muster's own writes, which are newer than the watch
 * for a moment. The objects are stored as text: a tree takes eighty times that. Zero-initialise the
 * struct, and free its content with seen_object_done(). API thread only.
 */
#ifndef MUSTER_K8S_LIST_WATCH_SEEN_OBJECT_H
#define MUSTER_K8S_LIST_WATCH_SEEN_OBJECT_H

#include <jansson.h>

#include "base/usec.h"

/* A version of the object; text NULL: none. */
struct stored_object {
    char *text, *version;
};

struct seen_object {
    struct stored_object seen;    /* from the watch */
    struct stored_object written; /* from a reply, until the watch has caught up */
    usec_t written_at;
};

/* From the watch. Removes managedFields from the object, which stays the caller's. */
void seen_object_set(struct seen_object *s, json_t *object);
/* From the reply to a write or a read; the same. */
void seen_object_written(struct seen_object *s, json_t *object, usec_t now);
/* The newest version; the caller owns it. NULL: none was seen. */
json_t *seen_object_load(struct seen_object *s, usec_t now);
void seen_object_done(struct seen_object *s);

#endif
