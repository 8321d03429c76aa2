/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_client.h - an API server without a network; replaces k8s/client/client.c at link time. Calls
 * wait until the target answers them, and timers fire when it lets time pass.
 */
#ifndef MUSTER_TEST_FAKE_CLIENT_H
#define MUSTER_TEST_FAKE_CLIENT_H

#include "k8s/client/client.h"
#include "test/fuzz/fuzz.h"

struct client *fake_client_new(void);
/* All calls must have ended. */
void fake_client_free(struct client *c);

/* The call that has waited longest; NULL: none. */
struct client_call *fake_client_oldest(struct client *c);
size_t fake_client_open(const struct client *c);
const char *fake_call_path(const struct client_call *call);

/*
 * Answers the call as the client would. Status 0 is a broken connection. A streamed body comes in
 * pieces of at most `most` bytes (0: in one piece), each in its own block of memory. Other bodies
 * are bounded.
 */
void fake_client_answer(struct client *c, struct client_call *call, long status, const char *body,
                        size_t len, size_t most);

/* Fires the next timer and moves the clock there; false: there is none. */
bool fake_client_tick(struct client *c);

/* Takes the next reply from an input with several replies. They are separated by a line "--" and
 * start with their status: "200 {…}". False: there is none left. */
struct fake_reply {
    long status;
    const char *body;
    size_t len;
};
bool fake_reply_next(const char **p, const char *end, struct fake_reply *ret);

#endif
