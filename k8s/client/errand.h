/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errand.h - calls of the API server that can wait: few at once, and one at a time while something
 * urgent (bindings) is under way, so that a burst of them neither floods the server nor stands in
 * anybody's way.
 *
 *   1. errand_init() once.
 *   2. errand_put() queues it (may be called inside a watch's set(): nothing is sent there); send()
 *      is called when it is its turn, and makes the call with errand_send(); done() has the reply.
 *   3. In done() the errand is idle again: it may be put, paused with errand_again(), or freed.
 *   4. errand_drop() before it is freed elsewhere; not inside a watch's set() or gone().
 *
 * What finishes something that has begun goes first; of equal rank namespaces take turns. Client's
 * thread.
 */
#ifndef MUSTER_K8S_CLIENT_ERRAND_H
#define MUSTER_K8S_CLIENT_ERRAND_H

#include "base/fair.h"
#include "k8s/client/client.h"

struct errands;

/* In the order in which they go. */
enum errand_rank { ERRAND_LINK, ERRAND_MAKE, ERRAND_READ, ERRAND_CHECK, ERRAND_RANKS };

struct errand {
    struct fair_item waits;
    struct errands *all;
    enum errand_rank rank;
    const char *ns; /* for whom; borrowed */
    enum { ERRAND_IDLE, ERRAND_WAITS, ERRAND_FLIES, ERRAND_PAUSES } state;
    struct client_call *call;
    struct client_timer timer; /* end of a pause */
    int tries;                 /* in vain, in a row */
    void (*send)(struct errand *e);
    void (*done)(struct errand *e, const struct client_reply *reply);
};

/* urgent() says whether something that must not wait is under way. */
struct errands *errands_new(struct client *client, struct api_metrics *metrics,
                            bool (*urgent)(void *arg), void *arg);
/* No errand may be left in it that was not dropped. Before client_free(). */
struct errands *errands_free(struct errands *all);

/* ns must live as long as the errand. */
void errand_init(struct errand *e, struct errands *all, enum errand_rank rank, const char *ns,
                 void (*send)(struct errand *e),
                 void (*done)(struct errand *e, const struct client_reply *reply));
/* Unless it waits or is under way already; a pause ends. */
void errand_put(struct errand *e);
/* Puts it after a pause that doubles with each try. */
void errand_again(struct errand *e, usec_t first, usec_t most);
/* Only inside send(). done and arg of the request are set here. */
void errand_send(struct errand *e, const struct client_request *request);
/* Only inside send(): there is nothing to send after all; done() is not called. */
void errand_skip(struct errand *e);
void errand_drop(struct errand *e);

#endif
