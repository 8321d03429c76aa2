/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background_calls.h - low-priority calls to the API server: a few at a time, and only one while
 * something urgent (bindings) is under way. A burst of them neither floods the server nor delays
 * anything else.
 *
 *   1. background_call_init() once.
 *   2. background_call_enqueue() queues the call. It may be called inside a watch's set(): it sends
 *      nothing. When the call's turn comes, send() makes the request with background_call_send();
 *      done() gets the reply.
 *   3. In done() the call is idle again: enqueue it, retry it with background_call_retry(), or free
 *      it.
 *   4. background_call_drop() before it is freed elsewhere; not inside a watch's set() or gone().
 *
 * Calls that finish something already begun go first. Within a rank, namespaces take turns.
 * Client's thread.
 */
#ifndef MUSTER_K8S_CLIENT_BACKGROUND_CALLS_H
#define MUSTER_K8S_CLIENT_BACKGROUND_CALLS_H

#include "base/fair_queue.h"
#include "k8s/client/client.h"

struct background_calls;

/* In the order in which they go. */
enum background_call_rank {
    BACKGROUND_CALL_LINK,
    BACKGROUND_CALL_MAKE,
    BACKGROUND_CALL_READ,
    BACKGROUND_CALL_CHECK,
    BACKGROUND_CALL_RANKS
};

struct background_call {
    struct fair_queue_item waits;
    struct background_calls *all;
    enum background_call_rank rank;
    const char *ns; /* for whom; borrowed */
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

/* urgent() says whether something that must not wait is under way. */
struct background_calls *background_calls_new(struct client *client, struct api_metrics *metrics,
                                              bool (*urgent)(void *arg), void *arg);
/* No background call may be left in it that was not dropped. Before client_free(). */
struct background_calls *background_calls_free(struct background_calls *all);

/* ns must live as long as the background call. */
void background_call_init(struct background_call *e, struct background_calls *all,
                          enum background_call_rank rank, const char *ns,
                          void (*send)(struct background_call *e),
                          void (*done)(struct background_call *e,
                                       const struct client_reply *reply));
/* Unless it waits or is under way already; a pause ends. */
void background_call_enqueue(struct background_call *e);
/* Enqueues it after a pause that doubles with each try. */
void background_call_retry(struct background_call *e, usec_t first, usec_t most);
/* Only inside send(). done and arg of the request are set here. */
void background_call_send(struct background_call *e, const struct client_request *request);
/* Only inside send(): there is nothing to send after all; done() is not called. */
void background_call_skip(struct background_call *e);
void background_call_drop(struct background_call *e);

#endif
