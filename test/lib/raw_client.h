/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_client.h - an HTTP client down to the byte, for tests: it can stop in the middle, go away, or
 * send what no library would. Blocking, with a time limit; a test that runs into it fails.
 */
#ifndef MUSTER_TEST_RAW_CLIENT_H
#define MUSTER_TEST_RAW_CLIENT_H

#include "base/buf.h"
#include "base/usec.h"

/* "127.0.0.1:PORT" */
int client_connect(const char *address);
void client_send(int fd, const char *data, size_t len);
/* A whole request; body NULL: none. */
void client_request(int fd, const char *method, const char *path, const char *body);

struct client_reply {
    int status;
    struct buf head, body;
};
/* Reads one reply by its Content-Length; false when the peer closed before it was whole. */
bool client_read(int fd, struct client_reply *reply);
void client_reply_done(struct client_reply *reply);
#define cleanup_reply __attribute__((cleanup(client_reply_done)))

/* Waits until the peer closes; false when it did not within `limit`. */
bool client_closed(int fd, usec_t limit);
/* Whether a reply has begun to arrive within `limit`. */
bool client_readable(int fd, usec_t limit);

/* Connects, asks, reads, closes. */
void client_ask(const char *address, const char *method, const char *path, const char *body,
                struct client_reply *reply);

#endif
