/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mailbox.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mailbox {
    int fd;
    /* shared */
    pthread_mutex_t lock;
    struct mail *first, **last;
};

struct mailbox *mailbox_new(struct err *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        err_errno(err, "cannot create an eventfd");
        return NULL;
    }
    struct mailbox *box = xcalloc(1, sizeof *box);
    box->fd = fd;
    pthread_mutex_init(&box->lock, NULL);
    box->last = &box->first;
    return box;
}

struct mailbox *mailbox_free(struct mailbox *box)
{
    if (box) {
        close(box->fd);
        pthread_mutex_destroy(&box->lock);
        free(box);
    }
    return NULL;
}

void mailbox_put(struct mailbox *box, struct mail *mail)
{
    mail->next = NULL;
    pthread_mutex_lock(&box->lock);
    bool was_empty = !box->first;
    *box->last = mail;
    box->last = &mail->next;
    pthread_mutex_unlock(&box->lock);
    if (was_empty)
        mailbox_wake(box);
}

void mailbox_wake(struct mailbox *box)
{
    uint64_t one = 1;
    ssize_t n = write(box->fd, &one, sizeof one);
    (void)n; /* fails only if the counter is full, and then the descriptor is readable anyway */
}

bool mailbox_has(struct mailbox *box)
{
    pthread_mutex_lock(&box->lock);
    bool has = box->first != NULL;
    pthread_mutex_unlock(&box->lock);
    return has;
}

struct mail *mailbox_take(struct mailbox *box)
{
    uint64_t count;
    ssize_t n = read(box->fd, &count, sizeof count);
    (void)n; /* EAGAIN: the counter is zero */
    pthread_mutex_lock(&box->lock);
    struct mail *first = box->first;
    box->first = NULL;
    box->last = &box->first;
    pthread_mutex_unlock(&box->lock);
    return first;
}

int mailbox_fd(const struct mailbox *box)
{
    return box->fd;
}
