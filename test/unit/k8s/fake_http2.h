/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_http2.h - an API server behind TLS that speaks HTTP/2 (or only HTTP/1.1), one thread for
 * each connection. What it does is said by the path:
 *
 *   /ok         200, what it was asked for: "METHOD PATH TOKEN BODY" (all others too, but for)
 *   /who        200, the name in the client's certificate, and what it was asked for
 *   /slow       200, but nothing happens on this connection for a fifth of a second
 *   /status/N   that status
 *   /big/N      200 and N bytes
 *   /early      103, then 200
 *   /hang       no answer
 *   /reset      200, a part of the body, and the stream is broken off
 *   /cut        the connection is cut
 *   /refuse/N   refused N times, then 200
 *   /bye        200, and a goodbye: what comes later on this connection is left out
 *   /leave      a goodbye, and no answer
 *   /babble     what is no HTTP/2
 *   /deaf       from here on nothing of this connection is read or answered
 *
 * A token "old", or a certificate of that name, is answered 401, whatever the path. Counters are
 * safe from any thread.
 */
#ifndef MUSTER_TEST_FAKE_HTTP2_H
#define MUSTER_TEST_FAKE_HTTP2_H

#include "k8s/client/kubeconfig.h"

struct fake_http2;

struct fake_http2_options {
    bool only_http1;
    unsigned streams;      /* at once on a connection; 0: 100 */
    const char *name;      /* in the certificate; NULL: the address */
    unsigned max_requests; /* then it says goodbye; 0: no end */
};

struct fake_http2 *fake_http2_start(const struct fake_http2_options *options);
void fake_http2_stop(struct fake_http2 *f);
/* One that points here and trusts its certificate. */
struct kubeconfig *fake_http2_kubeconfig(const struct fake_http2 *f);
/* Writes a client's certificate and its key into the file. */
void fake_http2_certify(const char *name, const char *path);
/* Connections accepted so far, requests seen whole, and streams at once at most. */
unsigned fake_http2_connections(struct fake_http2 *f);
unsigned fake_http2_requests(struct fake_http2 *f);
/* Connections that are not closed. */
unsigned fake_http2_open(struct fake_http2 *f);
unsigned fake_http2_peak(struct fake_http2 *f);
/* Streams that the client has taken back. */
unsigned fake_http2_taken_back(struct fake_http2 *f);

#endif
