/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/gang_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
