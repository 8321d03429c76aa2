/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mailbox.h - many threads put, one thread takes; the only thing threads share.
 *
 * "One thread" may be several in turns, as long as something else keeps them apart.
 *
 * The message embeds its link (struct mail) and changes owner with the put. The reader waits on
 * mailbox_fd() (readable when there is mail) and takes everything there is at once, in the order
 * it was put. Order is kept per sender; between senders it is the order of the lock.
 */
#ifndef MUSTER_BASE_MAILBOX_H
#define MUSTER_BASE_MAILBOX_H

#include "base/err.h"

struct mail {
    struct mail *next;
};

struct mailbox;

struct mailbox *mailbox_new(struct err *err);
/* Frees the box, which must be empty and no longer known to any sender. Returns NULL. */
struct mailbox *mailbox_free(struct mailbox *box);
/* Any thread. */
void mailbox_put(struct mailbox *box, struct mail *mail);
/* Reader only: the chain of all mail in order, linked by next; NULL when empty. */
struct mail *mailbox_take(struct mailbox *box);
/* Reader only: whether there is mail. */
bool mailbox_has(struct mailbox *box);
/* Any thread: makes mailbox_fd() readable without mail. */
void mailbox_wake(struct mailbox *box);
/* For epoll/poll; readable while there is mail. */
int mailbox_fd(const struct mailbox *box);

#endif
