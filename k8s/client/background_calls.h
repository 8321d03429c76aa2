/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background_calls.h - low-priority calls to the API server. Only a few are in flight at a time,
 * and only one while urgent writes (such as Bindings) are in flight. So a burst of background calls
 * neither floods the API server nor delays other calls.
 *
 *   1. Call background_call_init() once.
 *   2. background_call_enqueue() queues the call. It sends nothing, so it may be called inside a
 *      watch's set(). When it is the call's turn, send() makes the request with
 *      background_call_send(). done() gets the reply.
 *   3. In done(), the call is idle again. Enqueue it, retry it with background_call_retry(), or
 *      free it.
 *   4. To free it elsewhere, first call background_call_drop(), but not inside a watch's set() or
 *      gone().
 *
 * Calls of a lower rank are sent first. Within a rank, namespaces take turns. Belongs to the
 * client's thread.
 */
#ifndef MUSTER_K8S_CLIENT_BACKGROUND_CALLS_H
#define MUSTER_K8S_CLIENT_BACKGROUND_CALLS_H

#include "base/fair_queue.h"
#include "k8s/client/client.h"

struct background_calls;

/* In the order in which they are sent: calls that complete earlier work come first. */
enum background_call_rank {
    BACKGROUND_CALL_LINK,  /* link a pod to its PodGroup */
    BACKGROUND_CALL_MAKE,  /* create or update a PodGroup */
    BACKGROUND_CALL_READ,  /* read an owner or its kind */
    BACKGROUND_CALL_CHECK, /* read a linked pod again */
    BACKGROUND_CALL_RANKS
};

struct background_call {
    struct fair_queue_item waits;
    struct background_calls *all;
    enum background_call_rank rank;
    const char *ns; /* the namespace that it counts for; borrowed */
    enum {
        BACKGROUND_CALL_IDLE,
        BACKGROUND_CALL_QUEUED,
        BACKGROUND_CALL_IN_FLIGHT,
        BACKGROUND_CALL_PAUSED
    } state;
    struct client_call *call;
    struct client_timer timer; /* end of a pause */
    int tries;                 /* retries in a row; 0 after a success */
    void (*send)(struct background_call *e);
    void (*done)(struct background_call *e, const struct client_reply *reply);
};

/* urgent() returns whether urgent writes wait or are in flight. */
struct background_calls *background_calls_new(struct client *client, struct api_metrics *metrics,
                                              bool (*urgent)(void *arg), void *arg);
/* Drop all background calls first. Call it before client_free(). Accepts NULL; returns NULL. */
struct background_calls *background_calls_free(struct background_calls *all);

/* ns must live as long as the background call. */
void background_call_init(struct background_call *e, struct background_calls *all,
                          enum background_call_rank rank, const char *ns,
                          void (*send)(struct background_call *e),
                          void (*done)(struct background_call *e,
                                       const struct client_reply *reply));
/* Does nothing if the call is queued or in flight. Ends a pause. */
void background_call_enqueue(struct background_call *e);
/* Enqueues it after a pause that doubles with each try. */
void background_call_retry(struct background_call *e, usec_t first, usec_t most);
/* Only inside send(). Sets done and arg of the request itself. */
void background_call_send(struct background_call *e, const struct client_request *request);
/* Only inside send(), instead of background_call_send(). done() is not called. */
void background_call_skip(struct background_call *e);
void background_call_drop(struct background_call *e);

#endif
