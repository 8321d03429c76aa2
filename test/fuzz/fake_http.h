/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http.h - a listener without a network: stands in for server/http/http.c at link time, so
 * that a target gives requests to the very code that serves them.
 */
#ifndef MUSTER_TEST_FAKE_HTTP_H
#define MUSTER_TEST_FAKE_HTTP_H

#include "server/http/http.h"
#include "test/fuzz/fuzz.h"

struct fake_request {
    struct http_request r; /* first */
    char *path, *query;    /* "a=b&c", as it is written; may be NULL */
    char *values[8];       /* of parameters that were looked at */
    size_t n_values;
    struct buf sent; /* the whole body, without escaped NULs */
    int status;      /* 0: not answered yet */
    bool deferred, gone;
};

/* `path` with its query. */
struct fake_request *fake_request_new(const struct http_route *route, const char *path);
void fake_request_body(struct fake_request *f, const char *data, size_t size);
/* It must have been answered once, and resumed if it was deferred. */
void fake_request_free(struct fake_request *f);

#endif
