/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_api.h - an API server that says what the test wants, on a port of its own.
 *
 * A route is "METHOD /path" without the query; watches have the method WATCH. Each route has a
 * queue of answers; the last one is given again and again. A route without answers: watches stay
 * open and silent, everything else is 404. Every request is recorded. Thread-safe.
 */
#ifndef MUSTER_TEST_FAKE_API_H
#define MUSTER_TEST_FAKE_API_H

#include "k8s/client/client.h"

struct fake_api;

enum fake_then {
    FAKE_OPEN, /* the stream stays open; fake_push() adds to it */
    FAKE_END,  /* it ends well */
    FAKE_CUT,  /* the connection is cut */
};

struct fake_api *fake_start(void);
void fake_stop(struct fake_api *f);
/* "http://127.0.0.1:PORT", borrowed. */
const char *fake_url(const struct fake_api *f);
/* A kubeconfig structure that points here. */
struct kubeconfig *fake_kubeconfig(const struct fake_api *f);

void fake_answer(struct fake_api *f, const char *route, unsigned status, const char *body);
/* Status 200, and what is no text. */
void fake_answer_bytes(struct fake_api *f, const char *route, const char *body, size_t len);
/* An answer that is kept back until fake_release(). */
void fake_answer_late(struct fake_api *f, const char *route, unsigned status, const char *body);
void fake_release(struct fake_api *f);
void fake_stream(struct fake_api *f, const char *route, const char *text, enum fake_then then);
/* Adds text to the stream of the route that was opened last. */
void fake_push(struct fake_api *f, const char *route, const char *text, enum fake_then then);
void fake_push_bytes(struct fake_api *f, const char *route, const char *bytes, size_t len,
                     enum fake_then then);

/* Requests so far. */
size_t fake_count(struct fake_api *f, const char *route);
/* Under way at once, at most. */
size_t fake_peak(struct fake_api *f, const char *route);
/* Of the n-th request (from 0), borrowed until fake_stop(); "" when there is none. */
const char *fake_query(struct fake_api *f, const char *route, size_t n);
const char *fake_body(struct fake_api *f, const char *route, size_t n);
const char *fake_authorization(struct fake_api *f, const char *route, size_t n);
/* Position of the n-th request of the route among all requests. */
size_t fake_order(struct fake_api *f, const char *route, size_t n);

#endif
