/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2_session.h - the client's side of one HTTP/2 connection. It only handles bytes, and has no
 * socket and no clock.
 *
 *   1. http2_session_new() begins a session. The hooks report the result of each request.
 *   2. http2_session_request() begins a request. http2_session_output() returns the bytes to send,
 *      for all requests that have begun. Pass received bytes to http2_session_input().
 *   3. A request ends once: with the hook end(), or silently with http2_session_drop().
 *   4. http2_session_free() silently drops the remaining requests.
 *
 * The caller owns the stream, which must exist until its request ends. Hooks may call
 * http2_session_request() and http2_session_drop(), but not http2_session_free(). Belongs to one
 * thread.
 */
#ifndef MUSTER_K8S_CLIENT_HTTP2_SESSION_H
#define MUSTER_K8S_CLIENT_HTTP2_SESSION_H

#include <stdint.h>

#include "base/mem.h"

struct http2_session;

enum http2_end {
    HTTP2_WHOLE,  /* the reply is complete */
    HTTP2_UNSEEN, /* the server has not processed the request, so it may be sent again */
    HTTP2_BROKEN, /* the server may have processed the request */
};

struct http2_stream {
    int32_t id;
    const char *body; /* the part that is not sent yet */
    size_t left;      /* its length */
    long status;      /* of the reply; 0: none yet */
    bool whole;       /* the reply is complete */
};

struct http2_hooks {
    /* Gets a piece of the reply's body. False: end the request; end(HTTP2_BROKEN) follows. */
    bool (*data)(struct http2_stream *s, const char *data, size_t len);
    void (*end)(struct http2_stream *s, enum http2_end how);
};

struct http2_header {
    const char *name, *value; /* names in lower case; constants */
};

/* hooks is borrowed. */
struct http2_session *http2_session_new(const struct http2_hooks *hooks);
/* Accepts NULL; returns NULL. */
struct http2_session *http2_session_free(struct http2_session *h);

/* Whether new requests may begin: the server has not sent GOAWAY. */
bool http2_session_open(const struct http2_session *h);
/* Whether there is anything left to send or to receive. */
bool http2_session_alive(const struct http2_session *h);
/* Begins a request. `headers` starts with the pseudo-headers (:method, :path and so on). `body` is
 * borrowed until the request ends; NULL: none. -1: the request could not begin, and end() is not
 * called. */
int http2_session_request(struct http2_session *h, struct http2_stream *s,
                          const struct http2_header *headers, size_t n, const char *body);
/* Whether no byte of the request was sent, because the server limits the number of streams. */
bool http2_session_unsent(const struct http2_session *h, const struct http2_stream *s);
void http2_session_drop(struct http2_session *h, struct http2_stream *s);
/* -1: the bytes are not HTTP/2. */
int http2_session_input(struct http2_session *h, const char *data, size_t len);
/* Writes at most `room` bytes to `out`; returns the number of bytes. */
size_t http2_session_output(struct http2_session *h, char *out, size_t room);

#endif
