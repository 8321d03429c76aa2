/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2.h - the client's side of one HTTP/2 connection, on bytes: it knows no socket and no clock.
 *
 *   1. http2_new(); the hooks say what becomes of requests.
 *   2. http2_ask() begins a request. What is to be sent is fetched with http2_output(): all
 * requests begun meanwhile come out together. What was received goes into http2_input().
 *   3. A request ends with the hook end(), once, or with http2_drop(), silently.
 *   4. http2_free() drops all that is left, silently.
 *
 * The stream is the caller's memory and must live until then. Inside hooks, http2_ask() and
 * http2_drop() are allowed, http2_free() is not. One thread.
 */
#ifndef MUSTER_K8S_CLIENT_HTTP2_H
#define MUSTER_K8S_CLIENT_HTTP2_H

#include <stdint.h>

#include "base/mem.h"

struct http2;

enum http2_end {
    HTTP2_WHOLE,  /* the reply is there */
    HTTP2_UNSEEN, /* the server says that it has not looked at it: it may be sent again */
    HTTP2_BROKEN, /* whatever the server has done of it */
};

struct http2_stream {
    int32_t id;
    const char *body; /* what of it is not sent yet */
    size_t left;
    long status; /* of the reply; 0: none yet */
    bool whole;
};

struct http2_hooks {
    /* A piece of the reply's body; false: no more of it is wanted, end(HTTP2_BROKEN) follows. */
    bool (*data)(struct http2_stream *s, const char *data, size_t len);
    void (*end)(struct http2_stream *s, enum http2_end how);
};

struct http2_header {
    const char *name, *value; /* names in lower case; constants */
};

/* hooks is borrowed. */
struct http2 *http2_new(const struct http2_hooks *hooks);
struct http2 *http2_free(struct http2 *h);

/* Whether requests may be begun: the server has not said goodbye. */
bool http2_open(const struct http2 *h);
/* Whether there is anything left to say or to hear. */
bool http2_alive(const struct http2 *h);
/* Begins a request; :method, :path and so on are headers as well, and come first. `body` (NULL:
 * none) stays the caller's until the end. */
int http2_ask(struct http2 *h, struct http2_stream *s, const struct http2_header *headers, size_t n,
              const char *body);
/* Nothing of the request has come out yet: it waits for the server to take more at once. */
bool http2_unsent(const struct http2 *h, const struct http2_stream *s);
void http2_drop(struct http2 *h, struct http2_stream *s);
/* -1: what the server says is not HTTP/2. */
int http2_input(struct http2 *h, const char *data, size_t len);
/* Writes up to `room` bytes to `out`; returns how many. */
size_t http2_output(struct http2 *h, char *out, size_t room);

#endif
