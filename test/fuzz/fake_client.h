/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_client.h - an API server without a network: stands in for k8s/client/client.c at link time.
 * Calls wait until the target answers them; timers fire when it lets time pass.
 */
#ifndef MUSTER_TEST_FAKE_CLIENT_H
#define MUSTER_TEST_FAKE_CLIENT_H

#include "k8s/client/client.h"
#include "test/fuzz/fuzz.h"

struct client *fake_client_new(void);
/* No call may be open. */
void fake_client_free(struct client *c);

/* The call that waits longest; NULL: none. */
struct client_call *fake_client_oldest(struct client *c);
size_t fake_client_open(const struct client *c);
const char *fake_call_path(const struct client_call *call);

/*
 * Answers it as the client would: `status` 0 is a connection that broke. A body that is streamed
 * comes in pieces of at most `most` bytes (0: whole), each a block of its own; others are bounded.
 */
void fake_client_answer(struct client *c, struct client_call *call, long status, const char *body,
                        size_t len, size_t most);

/* Fires the next timer, and moves the clock there; false: there is none. */
bool fake_client_tick(struct client *c);

/* Takes the next of several replies in an input, which have a line "--" between them and begin with
 * their status: "200 {…}". False: there is no more. */
struct fake_reply {
    long status;
    const char *body;
    size_t len;
};
bool fake_reply_next(const char **p, const char *end, struct fake_reply *ret);

#endif
