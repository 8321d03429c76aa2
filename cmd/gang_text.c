/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/gang_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/human_readable.h"
#include "cmd/ops_client.h"

static const char *ordinal(int64_t n)
{
    int64_t last = n % 100 / 10 == 1 ? 0 : n % 10;
    return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

void put_queue_place(struct buf *out, int64_t position, const char *queue, const json_t *ahead)
{
    size_t n = json_array_size(ahead);
    if (position)
        buf_printf(out, "%" PRId64 "%s %s", position, ordinal(position),
                   queue ? "in queue " : "of the gangs that wait");
    buf_puts(out, queue ? queue : "");
    for (size_t i = 0; i < n; i++) {
        const json_t *other = json_array_get(ahead, i);
        bool last = i + 1 == n && (int64_t)n == position - 1;
        buf_printf(out, "%s%s/%s",
                   i == 0 ? ", behind "
                   : last ? " and "
                          : ", ",
                   reply_text(other, "namespace"), reply_text(other, "name"));
    }
    if ((int64_t)n < position - 1)
        buf_printf(out, " and %" PRId64 " more", position - 1 - (int64_t)n);
}

const char *bare_reason(const json_t *gang, const char *text)
{
    char prefix[600];
    int n = snprintf(prefix, sizeof prefix, "gang %s/%s: ", reply_text(gang, "namespace"),
                     reply_text(gang, "name"));
    return n > 0 && strncmp(text, prefix, (size_t)n) == 0 ? text + n : text;
}

/* The planner has tried this. The hint is only calculated from counts. */
void put_more_nodes(struct buf *out, const char *before, const json_t *gang)
{
    const json_t *more = json_object_get(gang, "moreNodes");
    int64_t n = reply_number(more, "nodes");
    if (more)
        buf_printf(out, "%swith %" PRId64 " more node%s like %s\n", before, n, n == 1 ? "" : "s",
                   reply_text(more, "likeNode"));
}

/* ---- evictions ---- */

/* What would make room if it ended. With `preemption: true`, muster evicts it soon. */
#define VICTIMS_SHOWN 5
static void put_victims(struct buf *out, const char *before, const json_t *eviction)
{
    const json_t *victims = json_object_get(eviction, "victims"), *v;
    size_t i, n = json_array_size(victims);
    for (i = 0; i < n && i < VICTIMS_SHOWN; i++) {
        v = json_array_get(victims, i);
        buf_printf(out, "%s%s%s %s/%s", i == 0 ? before : "",
                   i == 0       ? "without "
                   : i + 1 == n ? " and "
                                : ", ",
                   reply_text(v, "kind"), reply_text(v, "namespace"), reply_text(v, "name"));
    }
    if (n > VICTIMS_SHOWN)
        buf_printf(out, " and %zu more", n - VICTIMS_SHOWN);
    buf_printf(
        out,
        ", which may be evicted (highest priority: %" PRId64 ", gangs and pods hit: %" PRId64
        ", lost work: %" PRId64 " device-seconds, run time: %" PRId64 " pod-seconds%s)\n",
        reply_number(eviction, "highestPriority"), reply_number(eviction, "gangsAndPods"),
        reply_number(eviction, "lostDeviceSeconds"), reply_number(eviction, "podSeconds"),
        json_is_true(json_object_get(eviction, "endsJob"))
            ? "; a Job would fail, because it would lose more pods than its backoffLimit allows"
            : "");
}

void put_budget(struct buf *out, const char *budget)
{
    if (str_eq(budget, "several"))
        buf_puts(out, "several PodDisruptionBudgets");
    else
        buf_printf(out, "PodDisruptionBudget %s", budget);
}

void put_evictions(struct buf *out, const char *fit, const char *none, const json_t *gang)
{
    const json_t *eviction = json_object_get(gang, "eviction");
    const char *room = reply_text(eviction, "makesRoom"),
               *budget = reply_text(eviction, "protectedBy"),
               *limited = reply_text(eviction, "limitedQueue"),
               *deserving = reply_text(eviction, "deservingQueue");
    if (json_array_size(json_object_get(eviction, "victims")))
        put_victims(out, fit, eviction);
    else if (str_eq(room, "unknown"))
        buf_printf(out,
                   "%smuster stopped the search for gangs and pods to evict, because it takes too "
                   "long\n",
                   none);
    else if (str_eq(room, "no") && (*limited || *deserving || *budget)) {
        buf_printf(out, "%swould not make enough room", none);
        if (*deserving)
            buf_printf(out, "; queue %s would have less than it deserves", deserving);
        if (*limited) {
            const char *until = reply_text(eviction, "limitedUntil");
            buf_printf(out, "; the limit on reclaim protects queue %s", limited);
            buf_puts(out, *until ? " for another " : "");
            if (*until)
                format_until(out, until);
        }
        if (*budget) {
            buf_puts(out, "; some pods are protected by ");
            put_budget(out, budget);
        }
        buf_putc(out, '\n');
    }
}
