/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.h - passes messages between threads: any thread puts, one thread at a time takes.
 *
 * The message has a struct mail as a member, and belongs to the reader once it is put. The reader
 * waits until mailbox_fd() is readable, and then takes all mail in the order in which it was put.
 * Several threads may be the reader in turn if a lock outside the mailbox separates them.
 */
#ifndef MUSTER_BASE_MAILBOX_H
#define MUSTER_BASE_MAILBOX_H

#include "base/err.h"

struct mail {
    struct mail *next;
};

struct mailbox;

struct mailbox *mailbox_new(struct err *err);
/* Frees the mailbox, which must be empty. No thread may use it any more. Returns NULL. */
struct mailbox *mailbox_free(struct mailbox *box);
/* Any thread. */
void mailbox_put(struct mailbox *box, struct mail *mail);
/* Reader only: takes all mail, in order and linked by `next`; NULL: no mail. */
struct mail *mailbox_take(struct mailbox *box);
/* Reader only. */
bool mailbox_has(struct mailbox *box);
/* Any thread. Wakes the reader without mail: mailbox_fd() becomes readable. */
void mailbox_wake(struct mailbox *box);
/* A file descriptor for epoll or poll. It is readable while the mailbox has mail. */
int mailbox_fd(const struct mailbox *box);

#endif
