/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_cache.h - the objects that own pods, read on demand.
 *
 * owner_cache_find() returns a known owner. If the owner is unknown, it starts to read the owner.
 * It calls the waiter's ready() when the object has arrived or the read has failed. After a failure
 * it retries, and calls ready() again if the waiter waits again. Objects are kept while they are in
 * use, and for a few more seconds.
 *
 * The cache watches followed owners: it watches all objects of a kind as soon as one of them is
 * followed. It calls changed() when the spec, labels or annotations of a followed owner change, and
 * when the watch first shows an owner that was not read before.
 *
 * Belongs to the client's thread. ready() and changed() may be called while watches deliver data,
 * so they must not send anything.
 */
#ifndef MUSTER_K8S_GROUPER_OWNER_CACHE_H
#define MUSTER_K8S_GROUPER_OWNER_CACHE_H

#include <jansson.h>

#include "base/map.h"
#include "k8s/client/background_calls.h"
#include "workload/workload.h"

struct owner_cache;

struct owner_cache_options {
    struct client *client; /* all pointers are borrowed */
    struct api_metrics *metrics;
    struct background_calls *background_calls;
    void (*changed)(void *arg, const char *uid);
    void *arg;
    usec_t retry; /* the first pause after a failure; 0: the default */
};

/* Embedded in a struct that waits for an owner. */
struct owner_wait {
    struct list link;
    void (*ready)(struct owner_wait *wait);
};

enum owner_state {
    OWNER_KNOWN,
    OWNER_COMING,  /* it is being read */
    OWNER_FAILING, /* it cannot be read for now */
    OWNER_DENIED,  /* muster may not read it, it does not exist, or its kind is not served */
};

struct owner_cache *owner_cache_new(const struct owner_cache_options *options);
/* Accepts NULL; returns NULL. */
struct owner_cache *owner_cache_free(struct owner_cache *o);

/*
 * OWNER_KNOWN: *ret gets the object, borrowed until the client runs again. Else `wait`, which must
 * be in no list, waits for the owner, and its ready() is called once. *ret_why gets the reason of a
 * failure, borrowed; NULL: none yet. For a reference that no object can have, the result is
 * OWNER_DENIED, and `wait` stays in no list.
 */
enum owner_state owner_cache_find(struct owner_cache *o, const char *ns,
                                  const struct workload_ref *ref, struct owner_wait *wait,
                                  const json_t **ret, const char **ret_why);
/* Each call needs one call of owner_cache_unfollow(). */
void owner_cache_follow(struct owner_cache *o, const char *ns, const struct workload_ref *ref);
void owner_cache_unfollow(struct owner_cache *o, const char *uid);

#endif
