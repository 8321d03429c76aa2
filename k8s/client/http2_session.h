/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2_session.h - the client's side of one HTTP/2 connection, on bytes: no socket, no clock.
 *
 *   1. http2_session_new(); the hooks report the outcome of each request.
 *   2. http2_session_request() begins a request. http2_session_output() returns the bytes to send:
 *      all requests begun meanwhile come out together. Pass received bytes to
 *      http2_session_input().
 *   3. A request ends once: with the hook end(), or silently with http2_session_drop().
 *   4. http2_session_free() silently drops the requests that are left.
 *
 * The stream is the caller's memory and must live until its request ends. Inside hooks,
 * http2_session_request() and http2_session_drop() are allowed, http2_session_free() is not. One
 * thread.
 */
#ifndef MUSTER_K8S_CLIENT_HTTP2_SESSION_H
#define MUSTER_K8S_CLIENT_HTTP2_SESSION_H

#include <stdint.h>

#include "base/mem.h"

struct http2_session;

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
struct http2_session *http2_session_new(const struct http2_hooks *hooks);
struct http2_session *http2_session_free(struct http2_session *h);

/* Whether requests may be begun: the server has not said goodbye. */
bool http2_session_open(const struct http2_session *h);
/* Whether there is anything left to say or to hear. */
bool http2_session_alive(const struct http2_session *h);
/* Begins a request; :method, :path and so on are headers as well, and come first. `body` (NULL:
 * none) stays the caller's until the end. */
int http2_session_request(struct http2_session *h, struct http2_stream *s,
                          const struct http2_header *headers, size_t n, const char *body);
/* Nothing of the request has come out yet: it waits for the server to take more at once. */
bool http2_session_unsent(const struct http2_session *h, const struct http2_stream *s);
void http2_session_drop(struct http2_session *h, struct http2_stream *s);
/* -1: what the server says is not HTTP/2. */
int http2_session_input(struct http2_session *h, const char *data, size_t len);
/* Writes up to `room` bytes to `out`; returns how many. */
size_t http2_session_output(struct http2_session *h, char *out, size_t room);

#endif
