/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http.h - a listener without a network; replaces server/http/http.c at link time, so that a
 * target sends requests to the real handlers.
 */
#ifndef MUSTER_TEST_FAKE_HTTP_H
#define MUSTER_TEST_FAKE_HTTP_H

#include "server/http/http.h"
#include "test/fuzz/fuzz.h"

struct fake_request {
    struct http_request r; /* must be the first member */
    char *path, *query;    /* "a=b&c", not decoded; may be NULL */
    char *values[8];       /* values of the parameters read so far */
    size_t n_values;
    struct buf sent; /* the complete body, without escaped NULs */
    int status;      /* 0: no answer yet */
    bool deferred, gone;
};

/* path includes the query. */
struct fake_request *fake_request_new(const struct http_route *route, const char *path);
void fake_request_body(struct fake_request *f, const char *data, size_t size);
/* The request must have one answer, and must be resumed if it was deferred. */
void fake_request_free(struct fake_request *f);

#endif
