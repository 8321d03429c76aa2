/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_client.h - a minimal HTTP client that gives a test control of every byte.
 *
 * A test can stop in the middle of a request, close the connection, or send invalid HTTP. All
 * functions block. If the server sends nothing for 30 seconds, the test fails.
 */
#ifndef MUSTER_TEST_RAW_CLIENT_H
#define MUSTER_TEST_RAW_CLIENT_H

#include "base/buf.h"
#include "base/usec.h"

/* Connects to the port of `address` ("127.0.0.1:PORT"). The caller closes the descriptor. */
int client_connect(const char *address);
/* Sends all bytes. Stops without an error if the server has closed the connection. */
void client_send(int fd, const char *data, size_t len);
/* Sends a complete request. `body` may be NULL. */
void client_request(int fd, const char *method, const char *path, const char *body);

struct client_reply {
    int status;
    struct buf head, body;
};
/* Reads one reply and uses its Content-Length. Returns false if the server closes the connection
 * before the reply is complete. */
bool client_read(int fd, struct client_reply *reply);
void client_reply_done(struct client_reply *reply);
#define cleanup_reply __attribute__((cleanup(client_reply_done)))

/* Waits until the server closes the connection. Returns false if it stays open for `limit`. */
bool client_closed(int fd, usec_t limit);
/* Waits for the first byte of a reply. Returns false if none arrives within `limit`. */
bool client_readable(int fd, usec_t limit);

/* Sends one request on a new connection, reads the reply, and closes the connection. */
void client_ask(const char *address, const char *method, const char *path, const char *body,
                struct client_reply *reply);

#endif
