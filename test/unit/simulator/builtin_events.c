/* SPDX-License-Identifier: Apache-2.0 */
#include "builtin_events.h"

/* The time at which a scenario begins. */
#define ORIGIN (50 * USEC_PER_SEC)

static void post(void *arg, struct gang_event *ev)
{
    struct builtin_events *x = arg;
    x->put(&x->lines, ev);
    gang_event_done(ev);
}

struct builtin_events *events_begin(const char *text,
                                    void (*put)(struct buf *to, const struct gang_event *ev))
{
    struct err err = {0};
    struct scenario *s = scenario_parse("t.yaml", ".", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err.text);
    struct builtin_events *x = xcalloc(1, sizeof *x);
    struct cluster_sink sink = {post, x};
    x->now = ORIGIN;
    x->put = put;
    x->cluster = builtin_cluster_new(s, &sink, /* wall= */ 0);
    return x;
}

void events_end(struct builtin_events *x)
{
    x->cluster->ops->close(x->cluster, 0);
    buf_done(&x->lines);
    free(x);
}

const char *events_until(struct builtin_events *x, usec_t until)
{
    buf_clear(&x->lines);
    for (usec_t at; (at = x->cluster->ops->next(x->cluster)) <= ORIGIN + until;) {
        x->now = at > x->now ? at : x->now;
        x->cluster->ops->advance(x->cluster, x->now);
    }
    x->now = ORIGIN + until;
    return buf_str(&x->lines);
}
