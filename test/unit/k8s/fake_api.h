/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_api.h - a scripted API server on a port of its own.
 *
 * A route is "METHOD /path" without the query; watches have the method WATCH. Each route has a
 * queue of answers, and the last one is used again and again. For a route without answers, watches
 * stay open and silent, and everything else gets 404. The server records every request.
 * Thread-safe.
 */
#ifndef MUSTER_TEST_FAKE_API_H
#define MUSTER_TEST_FAKE_API_H

#include "k8s/client/client.h"

struct fake_api;

enum fake_then {
    FAKE_OPEN, /* the stream stays open; fake_push() adds to it */
    FAKE_END,  /* the stream ends normally */
    FAKE_CUT,  /* the connection breaks */
};

struct fake_api *fake_start(void);
void fake_stop(struct fake_api *f);
/* "http://127.0.0.1:PORT", borrowed. */
const char *fake_url(const struct fake_api *f);
/* A kubeconfig for this server. */
struct kubeconfig *fake_kubeconfig(const struct fake_api *f);

/* The header Date of all replies. Otherwise it is the current time. `date` is borrowed. */
void fake_date(struct fake_api *f, const char *date);
void fake_answer(struct fake_api *f, const char *route, unsigned status, const char *body);
/* An answer with status 200 and a body that may contain NUL bytes. */
void fake_answer_bytes(struct fake_api *f, const char *route, const char *body, size_t len);
/* An answer that is sent only after fake_release(). */
void fake_answer_late(struct fake_api *f, const char *route, unsigned status, const char *body);
void fake_release(struct fake_api *f);
void fake_stream(struct fake_api *f, const char *route, const char *text, enum fake_then then);
/* Adds text to the stream of the route that was opened last. */
void fake_push(struct fake_api *f, const char *route, const char *text, enum fake_then then);
void fake_push_bytes(struct fake_api *f, const char *route, const char *bytes, size_t len,
                     enum fake_then then);

/* The number of requests so far. */
size_t fake_count(struct fake_api *f, const char *route);
/* The maximum number of requests at the same time. */
size_t fake_peak(struct fake_api *f, const char *route);
/* Texts of the n-th request (from 0), borrowed until fake_stop(); "" if there is none. */
const char *fake_query(struct fake_api *f, const char *route, size_t n);
const char *fake_body(struct fake_api *f, const char *route, size_t n);
const char *fake_authorization(struct fake_api *f, const char *route, size_t n);
/* The position of the n-th request of the route among all requests. */
size_t fake_order(struct fake_api *f, const char *route, size_t n);

#endif
