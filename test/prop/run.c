/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/run.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/prop/digest.h"

/* CPU time, so that a busy machine does not matter. Allows for sanitizers. */
#define RUN_SECONDS 30

void play(const struct ops *ops, bool twin, bool loud, struct ops *trace, struct totals *totals,
          uint64_t *ret_digest, void (*fail)(struct model *, const char *, const char *))
{
    struct model *m = model_new(fail, totals, twin);
    m->loud = loud;
    m->trace = trace;
    m->digest = ret_digest ? digest_new() : NULL;
    for (size_t i = 0; i < ops->n; i++)
        model_do(m, &ops->items[i]);
    model_end(m);
    if (ret_digest)
        *ret_digest = digest_end(m->digest);
    model_free(m);
}

void limit_run(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = RUN_SECONDS}};
    if (setitimer(ITIMER_PROF, &limit, NULL) < 0)
        abort();
}

bool ended_by_limit(int wait_status)
{
    return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGPROF;
}

/* ---- in a child ---- */

static int report_to;

static void write_all(int fd, const void *data, size_t n)
{
    for (const char *p = data; n > 0;) {
        ssize_t w = write(fd, p, n);
        if (w <= 0)
            _exit(3);
        p += w;
        n -= (size_t)w;
    }
}

static void report(struct model *m, const char *tag, const char *text)
{
    struct failure f = {.failed = true, .line = m->line};
    snprintf(f.tag, sizeof f.tag, "%s", tag);
    snprintf(f.text, sizeof f.text, "%s", text);
    if (m->trace && (m->did_something || m->calm))
        ops_add(m->trace, &m->did);
    write_all(report_to, &f, sizeof f);
    if (m->trace)
        write_all(report_to, m->trace->items, m->trace->n * sizeof *m->trace->items);
    _exit(1);
}

static void child(const struct ops *ops, bool twin, bool trace, int fd)
{
    struct totals totals = {0};
    struct ops done = {NULL, 0, 0};
    report_to = fd;
    limit_run();
    /* Hides sanitizer reports: the same run prints them again when the scenario is played. */
    if (!freopen("/dev/null", "w", stderr))
        _exit(3);
    play(ops, twin, false, trace ? &done : NULL, &totals, NULL, report);
    _exit(0);
}

static size_t read_all(int fd, void *data, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = read(fd, (char *)data + got, n - got);
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    return got;
}

bool killed_from_outside(int wait_status)
{
    int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

struct failure run_list(const struct ops *ops, bool twin, struct ops *trace)
{
    int fds[2], status = 0;
    struct failure f = {.failed = false};
    fflush(NULL);
    if (pipe(fds) < 0)
        abort();
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        close(fds[0]);
        child(ops, twin, trace != NULL, fds[1]);
    }
    close(fds[1]);
    bool reported = read_all(fds[0], &f, sizeof f) == sizeof f;
    struct op op;
    while (reported && trace && read_all(fds[0], &op, sizeof op) == sizeof op)
        ops_add(trace, &op);
    close(fds[0]);
    waitpid(pid, &status, 0);
    if (killed_from_outside(status)) {
        fprintf(stderr, "test_prop: the run was killed from outside (wait status %d)\n", status);
        exit(2);
    }
    if (!reported) {
        f = (struct failure){.failed = !WIFEXITED(status) || WEXITSTATUS(status)};
        bool circles = ended_by_limit(status);
        snprintf(f.tag, sizeof f.tag, "%s", circles ? "endless" : "crash");
        snprintf(f.text, sizeof f.text,
                 circles ? "the run did not end within %d s of CPU time"
                         : "the core crashed (wait status %d)",
                 circles ? RUN_SECONDS : status);
    }
    return f;
}
