/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h - the objects that own pods, read when they are needed.
 *
 * owners_find() gives an owner that is known; of another one it begins to read it, and ready() of
 * the waiting one is called when there is something new: the object, or why it cannot be had (then
 * it is asked for again by itself, and ready() is called again). Objects are remembered while they
 * are in use and some seconds longer.
 *
 * An owner that is followed is watched (its whole kind is, from the first one on): changed() is
 * called when its spec, labels or annotations are others than before, and once when it is first
 * seen. Client's thread; ready() and changed() may be called while watches bring data: nothing may
 * be sent there.
 */
#ifndef MUSTER_K8S_GROUPER_OWNERS_H
#define MUSTER_K8S_GROUPER_OWNERS_H

#include <jansson.h>

#include "base/map.h"
#include "k8s/client/errand.h"
#include "workload/workload.h"

struct owners;

struct owners_options {
    struct client *client; /* all borrowed */
    struct api_metrics *metrics;
    struct errands *errands;
    void (*changed)(void *arg, const char *uid);
    void *arg;
    usec_t retry; /* 0: the default; the first pause after a failure */
};

/* Embedded in whatever waits for an owner. */
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

struct owners *owners_new(const struct owners_options *options);
struct owners *owners_free(struct owners *o);

/*
 * *ret is borrowed until the client runs again. If it is not known, `wait` (which must be in no
 * list) is told when there is something new, and *ret_why (borrowed) says what is wrong. A
 * reference that can lead nowhere is OWNER_DENIED, and `wait` stays in no list.
 */
enum owner_state owners_find(struct owners *o, const char *ns, const struct workload_ref *ref,
                             struct owner_wait *wait, const json_t **ret, const char **ret_why);
/* As often as owners_unfollow(). */
void owners_follow(struct owners *o, const char *ns, const struct workload_ref *ref);
void owners_unfollow(struct owners *o, const char *uid);

#endif
