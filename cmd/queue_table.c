/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/queue_table.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/quantity.h"
#include "cmd/ops_client.h"

/* -1: no limit, or, as what a queue deserves, not stated. */
static int64_t amount(const json_t *queue, const char *resource, const char *key)
{
    const json_t *r = json_object_get(json_object_get(queue, "resources"), resource);
    const json_t *value = json_object_get(r, key);
    return value ? json_integer_value(value) : -1;
}

/* What the queue deserves and does not use; what it uses above that. */
static int64_t unused(const json_t *queue, const char *resource)
{
    int64_t deserved = amount(queue, resource, "deserved"), used = amount(queue, resource, "used");
    return deserved > used ? deserved - used : 0;
}

static int64_t borrowed(const json_t *queue, const char *resource)
{
    int64_t deserved = amount(queue, resource, "deserved"), used = amount(queue, resource, "used");
    return deserved >= 0 && used > deserved ? used - deserved : 0;
}

/* Identifies the children of a queue, which are of one API group, and one resource of theirs. */
static char *siblings_key(const json_t *queue, const char *resource)
{
    return xasprintf("%s %s %" PRId64 " %s", reply_text(queue, "apiGroup"),
                     reply_text(queue, "parent"), reply_number(queue, "depth"), resource);
}

/* What each set of siblings borrows of each resource: siblings_key() -> int64_t. */
static struct map borrowed_by_siblings(const json_t *queues)
{
    struct map sums = MAP_INIT;
    size_t i;
    const char *resource;
    json_t *queue, *r;
    json_array_foreach(queues, i, queue)
        json_object_foreach(json_object_get(queue, "resources"), resource, r)
    {
        cleanup_free char *key = siblings_key(queue, resource);
        int64_t *sum = map_get(&sums, key);
        if (!sum)
            map_set(&sums, key, sum = xcalloc(1, sizeof *sum));
        *sum += borrowed(queue, resource);
    }
    return sums;
}

static void sums_done(struct map *sums)
{
    map_for_each (e, sums)
        free(e->value);
    map_done(sums);
}

/* No more than its siblings borrow. A queue that lends borrows nothing itself. */
static int64_t lent(const struct map *sums, const json_t *queue, const char *resource)
{
    cleanup_free char *key = siblings_key(queue, resource);
    const int64_t *sum = map_get(sums, key);
    int64_t own = unused(queue, resource), others = sum ? *sum : 0;
    return own < others ? own : others;
}

enum column { DESERVED, LIMIT, USED, LENT, BORROWED };

static int64_t value_of(const struct map *sums, const json_t *queue, const char *resource,
                        enum column column)
{
    switch (column) {
    case DESERVED:
        return amount(queue, resource, "deserved");
    case LIMIT:
        return amount(queue, resource, "limit");
    case USED:
        return amount(queue, resource, "used");
    case LENT:
        return lent(sums, queue, resource);
    default:
        return borrowed(queue, resource);
    }
}

/* A device, or what KAI counts all GPUs as. */
static bool is_device(const char *resource)
{
    return strchr(resource, '/') || strcmp(resource, "gpu") == 0;
}

/* "gpu=4,nvidia.com/gpu=4"; no limit and nothing are left out. */
static void add_amounts(struct table *t, const struct map *sums, const json_t *queue, bool wide,
                        enum column column)
{
    cleanup_buf struct buf b = BUF_INIT;
    const char *resource;
    json_t *r;
    json_object_foreach(json_object_get(queue, "resources"), resource, r)
    {
        int64_t value = value_of(sums, queue, resource, column);
        bool nothing = value == 0 && (column == LENT || column == BORROWED);
        if ((!wide && !is_device(resource)) || nothing || value < 0)
            continue;
        buf_printf(&b, "%s%s=", b.len ? "," : "", resource);
        quantity_format(&b, resource, value);
    }
    table_add(t, b.len ? buf_str(&b) : "<none>");
}

static void add_row(struct table *t, const struct map *sums, const json_t *queue, bool wide)
{
    const char *ns = reply_text(queue, "namespace");
    table_addf(t, "%*s%s%s%s", 2 * (int)reply_number(queue, "depth"), "", ns, *ns ? "/" : "",
               reply_text(queue, "name"));
    table_add(t, reply_text(queue, "state"));
    table_addf(t, "%" PRId64, reply_number(queue, "waiting"));
    table_addf(t, "%" PRId64, reply_number(queue, "running"));
    for (int column = DESERVED; column <= BORROWED; column++)
        add_amounts(t, sums, queue, wide, (enum column)column);
    if (!wide)
        return;
    table_addf(t, "%" PRId64, reply_number(queue, "priority"));
    table_add(t, reply_text(queue, "apiGroup"));
    table_add(t, reply_text(queue, "text"));
}

void queue_table(const json_t *reply, bool wide, struct table *t)
{
    static const char *const heads[] = {"NAME",     "STATE",    "WAITING", "RUNNING",
                                        "DESERVED", "LIMIT",    "USED",    "LENT",
                                        "BORROWED", "PRIORITY", "GROUP",   "TEXT"};
    const json_t *queues = json_object_get(reply, "queues");
    size_t i;
    json_t *queue;
    t->columns = wide ? ARRAY_SIZE(heads) : 9;
    for (i = 0; i < t->columns; i++)
        table_add(t, heads[i]);
    struct map sums = borrowed_by_siblings(queues);
    json_array_foreach(queues, i, queue) add_row(t, &sums, queue, wide);
    sums_done(&sums);
}
