/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/unreadable_objects.h"

#include "base/log.h"

#define PERIOD (60 * USEC_PER_SEC)
#define NAMED  10 /* log lines in a period */

/* Changes the gauge by a difference, because two kinds of owners can have the same plural. */
static void change(struct unreadable_objects *u, int64_t by)
{
    u->now = (size_t)((int64_t)u->now + by);
    api_metrics_change(u->metrics, "unreadable_objects", "resource", u->resource, by);
}

static void on_end_of_period(void *arg)
{
    struct unreadable_objects *u = arg;
    if (u->added)
        log_error("More objects could not be read completely", "resource", u->resource, "more",
                  log_int(u->added), "now", log_int(u->now), NULL);
    u->named = 0;
    u->added = 0;
}

void unreadable_objects_begin(struct unreadable_objects *u, struct client *c,
                              struct api_metrics *metrics, const char *resource, usec_t period)
{
    *u = (struct unreadable_objects){.client = c,
                                     .metrics = metrics,
                                     .resource = resource,
                                     .period = period ? period : PERIOD,
                                     .end_of_period = {.fire = on_end_of_period, .arg = u}};
}

void unreadable_objects_end(struct unreadable_objects *u)
{
    change(u, -(int64_t)u->now);
    client_timer_clear(u->client, &u->end_of_period);
}

void unreadable_objects_add(struct unreadable_objects *u, const char *object, bool in_part,
                            const struct err *why)
{
    if (object)
        change(u, 1);
    if (u->named == 0)
        client_timer_set(u->client, &u->end_of_period, usec_now() + u->period);
    if (u->named == NAMED) {
        u->added++;
        return;
    }
    u->named++;
    log_error(
        in_part ? "Could read only a part of an object" : "Could not read an object, ignoring it",
        "resource", u->resource, "object", object ? object : "(no name)", "error", why->text, NULL);
}

void unreadable_objects_remove(struct unreadable_objects *u)
{
    change(u, -1);
}
