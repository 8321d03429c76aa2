/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_cache.h - the objects that own pods, read on demand.
 *
 * owner_cache_find() returns a known owner; otherwise it starts to read the owner and calls
 * ready() of the waiter once there is news: the object, or why it cannot be read (it is then
 * retried, and ready() is called again). Objects stay while they are in use and a few seconds
 * longer.
 *
 * A followed owner is watched (with its whole kind, from the first one on): changed() is called
 * when its spec, labels or annotations change, and once when it is first seen. Client's thread.
 * ready() and changed() may be called while watches deliver data and must not send anything.
 */
#ifndef MUSTER_K8S_GROUPER_OWNER_CACHE_H
#define MUSTER_K8S_GROUPER_OWNER_CACHE_H

#include <jansson.h>

#include "base/map.h"
#include "k8s/client/background_calls.h"
#include "workload/workload.h"

struct owner_cache;

struct owner_cache_options {
    struct client *client; /* all borrowed */
    struct api_metrics *metrics;
    struct background_calls *background_calls;
    void (*changed)(void *arg, const char *uid);
    void *arg;
    usec_t retry; /* 0: the default; the first pause after a failure */
};

/* Embedded in what waits for an owner. */
struct owner_wait {
    struct list link;
    void (*ready)(struct owner_wait *wait);
};

enum owner_state {
    OWNER_KNOWN,
    OWNER_COMING,  /* it is being read */
    OWNER_FAILING, /* for now it cannot be */
    OWNER_DENIED,  /* it may not be read, does not exist, or its kind is not served */
};

struct owner_cache *owner_cache_new(const struct owner_cache_options *options);
struct owner_cache *owner_cache_free(struct owner_cache *o);

/*
 * *ret is borrowed until the client runs again. For an owner that is not known, ready() of `wait`
 * (which must be in no list) is called once there is news, and *ret_why (borrowed) says why it
 * cannot be read. A reference that can lead nowhere is OWNER_DENIED, and `wait` stays in no list.
 */
enum owner_state owner_cache_find(struct owner_cache *o, const char *ns,
                                  const struct workload_ref *ref, struct owner_wait *wait,
                                  const json_t **ret, const char **ret_why);
/* As often as owner_cache_unfollow(). */
void owner_cache_follow(struct owner_cache *o, const char *ns, const struct workload_ref *ref);
void owner_cache_unfollow(struct owner_cache *o, const char *uid);

#endif
