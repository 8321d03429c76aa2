/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http2.h - an API server behind TLS that speaks HTTP/2 (or only HTTP/1.1), with one thread
 * for each connection. The path decides what it does:
 *
 *   /ok         200 and the request: "METHOD PATH TOKEN BODY" (all other paths, too)
 *   /who        200, the name in the client's certificate, and the request
 *   /slow       200, but nothing happens on this connection before fake_http2_release()
 *   /status/N   that status
 *   /big/N      200 and N bytes
 *   /early      103, then 200
 *   /hang       no answer
 *   /reset      200, a part of the body, and then a reset of the stream
 *   /cut        cuts the connection
 *   /refuse/N   refuses the stream N times, then 200
 *   /bye        200 and GOAWAY: later requests on this connection are ignored
 *   /leave      GOAWAY without an answer
 *   /babble     bytes that are not HTTP/2
 *   /deaf       from now on, reads and answers nothing on this connection
 *
 * A request with the token "old", or a certificate of that name, gets 401 on any path. The counters
 * may be read from any thread.
 */
#ifndef MUSTER_TEST_FAKE_HTTP2_H
#define MUSTER_TEST_FAKE_HTTP2_H

#include "k8s/client/kubeconfig.h"

struct fake_http2;

struct fake_http2_options {
    bool only_http1;
    unsigned streams;      /* at the same time on a connection; 0: 100 */
    const char *name;      /* in its certificate; NULL: the address */
    unsigned max_requests; /* then it sends GOAWAY; 0: no limit */
};

struct fake_http2 *fake_http2_start(const struct fake_http2_options *options);
void fake_http2_stop(struct fake_http2 *f);
/* A kubeconfig for this server, which trusts its certificate. */
struct kubeconfig *fake_http2_kubeconfig(const struct fake_http2 *f);
/* Writes a client certificate and its key into the file. */
void fake_http2_certify(const char *name, const char *path);
/* Accepted connections and complete requests so far, and the maximum number of concurrent streams.
 */
unsigned fake_http2_connections(struct fake_http2 *f);
unsigned fake_http2_requests(struct fake_http2 *f);
/* Requests for /slow go on. */
void fake_http2_release(struct fake_http2 *f);
/* Connections that are still open. */
unsigned fake_http2_open(struct fake_http2 *f);
unsigned fake_http2_peak(struct fake_http2 *f);
/* Streams that the client has reset. */
unsigned fake_http2_taken_back(struct fake_http2 *f);

#endif
