/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_cache.h - the queue objects as last seen, and where each queue dialect is served.
 *
 * muster writes a status as the difference to the object (queue_dialect.h), so it keeps the
 * objects. A queue is identified by its ref, see struct gang_queue_facts.
 *
 * Two objects of a dialect with unique names can still have the same name, in two namespaces. Then
 * the older one is the queue, and the cache keeps the other one as its heir. API thread only.
 */
#ifndef MUSTER_K8S_LIST_WATCH_QUEUE_CACHE_H
#define MUSTER_K8S_LIST_WATCH_QUEUE_CACHE_H

#include "k8s/dialect/queue_dialect.h"

struct queue_cache;

struct queue_api {
    const struct queue_dialect *dialect;
    char version[32]; /* "" while it is not served */
    bool status_subresource;
};

struct queue_cache *queue_cache_new(void);
struct queue_cache *queue_cache_free(struct queue_cache *c);

/* version NULL: not served. */
void queue_cache_serve(struct queue_cache *c, const struct queue_dialect *dialect,
                       const char *version, bool status_subresource);
/* NULL: the API group is of no dialect, or not served. */
const struct queue_api *queue_cache_api(const struct queue_cache *c, const char *api_group);

/*
 * From the watch: the object of these facts. unread: why it cannot be read; NULL: it can. False:
 * another object is the queue with this name, and *ret_other is its namespace, borrowed until the
 * next call. Removes managedFields from the object, which stays the caller's.
 */
bool queue_cache_set(struct queue_cache *c, const struct gang_queue_facts *facts, json_t *object,
                     const char *unread, const char **ret_other);
/*
 * From the watch: the object is gone. False: it was not the queue with this name. *ret_heir is the
 * object that becomes the queue; NULL: none, so the queue is gone. *ret_unread is `unread` of its
 * queue_cache_set(). The caller owns both.
 */
bool queue_cache_gone(struct queue_cache *c, const struct queue_dialect *dialect, const char *ns,
                      const char *name, json_t **ret_heir, char **ret_unread);
/* From the reply to a write or a read. Removes managedFields too. */
void queue_cache_written(struct queue_cache *c, const struct gang_ref *ref, json_t *object,
                         usec_t now);

/* The newest version; the caller owns it. NULL: there is no such queue. */
json_t *queue_cache_load(struct queue_cache *c, const struct gang_ref *ref, usec_t now);
/* The namespace of the object, borrowed until the next call; "": it has none; NULL: there is no
 * such queue. */
const char *queue_cache_home(const struct queue_cache *c, const struct gang_ref *ref);
/* It names a parent, and no such queue exists. */
bool queue_cache_is_orphan(const struct queue_cache *c, const struct gang_ref *ref);
/* True if this sentence (NULL: none) differs from the one of the last call for the queue. */
bool queue_cache_is_news(struct queue_cache *c, const struct gang_ref *ref, const char *sentence);

#endif
