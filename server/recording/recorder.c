/* SPDX-License-Identifier: Apache-2.0 */
#include "server/recording/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* The thread collects lines for this time, or until there are this many bytes. */
#define GATHER_TIME  (200 * USEC_PER_MSEC)
#define GATHER_BYTES ((size_t)1 << 20)
/* The buffer of a line that needed more memory is freed. */
#define KEEP_BYTES ((size_t)4 << 20)

struct recorder {
    char *path;
    int fd;
    pthread_t thread;
    /* owned by the thread that has the turn */
    struct record_names names;
    struct buf line;
    int64_t size, limit; /* bytes given to the recorder's thread so far, and their maximum */
    size_t backlog;
    bool ended; /* the recording has ended */
    /* shared */
    pthread_mutex_t lock;
    pthread_cond_t some;
    struct buf waiting;
    size_t writing; /* bytes that the thread has taken and still holds */
    bool closing;
    bool failed; /* a write failed, and the thread has logged it */
};

/* ---- the recorder's thread ---- */

static int write_all(int fd, const struct buf *b)
{
    for (size_t done = 0; done < b->len;) {
        ssize_t n = write(fd, b->data + done, b->len - done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static struct timespec deadline_after(usec_t usec)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t nsec = t.tv_nsec + usec * 1000;
    return (struct timespec){t.tv_sec + nsec / 1000000000, nsec % 1000000000};
}

/* Waits until there are enough lines to write. The caller holds the lock. */
static void gather(struct recorder *r)
{
    while (!r->waiting.len && !r->closing)
        pthread_cond_wait(&r->some, &r->lock);
    struct timespec until = deadline_after(GATHER_TIME);
    while (r->waiting.len < GATHER_BYTES && !r->closing &&
           pthread_cond_timedwait(&r->some, &r->lock, &until) == 0)
        ;
}

static void *run(void *arg)
{
    struct recorder *r = arg;
    bool closing = false;
    while (!closing) {
        pthread_mutex_lock(&r->lock);
        gather(r);
        struct buf b = r->waiting;
        r->waiting = (struct buf)BUF_INIT;
        r->writing = b.len;
        closing = r->closing;
        bool failed = r->failed;
        pthread_mutex_unlock(&r->lock);
        if (!failed && write_all(r->fd, &b) < 0) {
            log_error("Recording ended because the file cannot be written", "file", r->path,
                      "error", strerror(errno), NULL);
            failed = true;
        }
        buf_done(&b);
        pthread_mutex_lock(&r->lock);
        r->writing = 0;
        r->failed = failed;
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

/* ---- the thread that has the turn ---- */

enum taken { TAKEN, TOO_SLOW, DISK_FAILED };

static enum taken give(struct recorder *r, const struct buf *b, size_t backlog)
{
    enum taken taken = TAKEN;
    pthread_mutex_lock(&r->lock);
    if (r->failed)
        taken = DISK_FAILED;
    else if (r->waiting.len + r->writing + b->len > backlog) /* all three are in memory */
        taken = TOO_SLOW;
    else
        buf_append(&r->waiting, b->data, b->len);
    if (taken == TAKEN && (r->waiting.len == b->len || r->waiting.len >= GATHER_BYTES))
        pthread_cond_signal(&r->some);
    pthread_mutex_unlock(&r->lock);
    r->size += taken == TAKEN ? (int64_t)b->len : 0;
    return taken;
}

/* Writes the last line of the recording, which has the reason. The backlog does not limit it. */
static void put_end(struct recorder *r, const char *why)
{
    cleanup_buf struct buf line = BUF_INIT;
    record_put_end(why, &line);
    give(r, &line, SIZE_MAX);
    r->ended = true;
}

static void end_early(struct recorder *r, const char *why)
{
    log_warning("Recording ended early", "file", r->path, "reason", why, "bytes", log_int(r->size),
                NULL);
    put_end(r, why);
}

void recorder_events(struct recorder *r, usec_t now, const struct gang_event *events, size_t n)
{
    struct err err;
    if (r->ended)
        return;
    if (r->line.cap > KEEP_BYTES)
        buf_done(&r->line);
    buf_clear(&r->line);
    if (record_put_events(&r->names, now, events, n, &r->line, &err) < 0)
        end_early(r, err.text);
}

void recorder_effects(struct recorder *r, const struct gang_effect *effects, size_t n)
{
    if (r->ended)
        return;
    record_put_effects(effects, n, &r->line);
    if (r->size + (int64_t)r->line.len > r->limit) {
        end_early(r, "the file has reached its size limit (--record-limit)");
        return;
    }
    enum taken taken = give(r, &r->line, r->backlog);
    if (taken == TOO_SLOW)
        end_early(r, "the disk is too slow for the recording");
    r->ended |= taken == DISK_FAILED;
}

/* ---- life cycle ---- */

static int open_file(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        cleanup_free char *old = xasprintf("%s.old", path);
        if (!S_ISREG(st.st_mode))
            return err_set(err, ERR_INVALID, "%s is not a regular file: name a file to write to",
                           path);
        if (st.st_size > 0 && rename(path, old) < 0)
            return err_errno(err, "%s cannot be renamed to %s", path, old);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    return fd < 0 ? err_errno(err, "%s cannot be written", path) : fd;
}

static int start_thread(struct recorder *r, struct err *err)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->some, &attr);
    pthread_condattr_destroy(&attr);
    errno = pthread_create(&r->thread, NULL, run, r);
    if (errno)
        return err_errno(err, "cannot start the recorder's thread");
    pthread_setname_np(r->thread, "recorder"); /* for top and perf */
    return 0;
}

static struct recorder *free_recorder(struct recorder *r)
{
    close(r->fd);
    pthread_cond_destroy(&r->some);
    pthread_mutex_destroy(&r->lock);
    record_names_done(&r->names);
    buf_done(&r->line);
    buf_done(&r->waiting);
    free(r->path);
    free(r);
    return NULL;
}

struct recorder *recorder_open(const struct recorder_options *options,
                               const struct gang_config *config, struct err *err)
{
    int fd = open_file(options->path, err);
    if (fd < 0)
        return NULL;
    struct recorder *r = xcalloc(1, sizeof *r);
    r->path = xstrdup(options->path);
    r->fd = fd;
    r->limit = options->limit;
    r->backlog = options->backlog;
    if (start_thread(r, err) < 0)
        return free_recorder(r);
    record_put_head(config, usec_now(), usec_wall(), &r->line);
    give(r, &r->line, SIZE_MAX);
    return r;
}

struct recorder *recorder_close(struct recorder *r)
{
    if (!r)
        return NULL;
    if (!r->ended)
        put_end(r, "stopped");
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_signal(&r->some);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    return free_recorder(r);
}
