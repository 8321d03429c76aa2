/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/duration.h"
#include "server/http/json_put.h"
#include "server/views/api_json.h"

/* -1: without a limit. */
static int64_t limit_of(int64_t amount)
{
    return amount == GANG_UNLIMITED ? -1 : amount;
}

/* A queue that does not state it uses the value of the queue above. */
static void put_runtime(struct buf *out, const char *key, usec_t time)
{
    cleanup_buf struct buf text = BUF_INIT;
    if (time == GANG_NOT_STATED)
        return;
    duration_format(&text, time);
    json_put_text(out, key, buf_str(&text));
}

/* What the queue states, besides its resources. */
static void put_facts(struct buf *out, const struct gang_queue_facts *f)
{
    json_put_flag(out, "reclaimable", f->reclaimable);
    put_runtime(out, "preemptMinRuntime", f->preempt_min_runtime);
    put_runtime(out, "reclaimMinRuntime", f->reclaim_min_runtime);
}

static void put_amounts(struct buf *out, const struct gang_queue_status *s)
{
    json_put_key(out, "resources");
    buf_putc(out, '{');
    for (size_t i = 0; i < s->n_amounts; i++) {
        const struct gang_queue_amount *a = &s->amounts[i];
        json_put_comma(out);
        buf_json(out, a->resource, strlen(a->resource)); /* the queue's author chooses it */
        buf_puts(out, ":{");
        if (a->deserved != GANG_NOT_STATED)
            json_put_number(out, "deserved", limit_of(a->deserved));
        json_put_number(out, "limit", limit_of(a->cap));
        if (a->reserved)
            json_put_number(out, "reserved", a->reserved);
        json_put_number(out, "used", a->used);
        json_put_number(out, "notPreemptible", a->firm);
        json_put_number(out, "requested", a->requested);
        json_put_key(out, "fairShare");
        buf_printf(out, "%" PRId64 ".%03d", a->share / 1000, (int)(a->share % 1000));
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void put_queue(void *arg, const struct gang_queue_view *v)
{
    struct buf *out = arg;
    const struct gang_queue_status *s = &v->status;
    json_put_object(out);
    json_put_text(out, "name", s->ref->name);
    json_put_text(out, "namespace", s->ref->ns);
    json_put_text(out, "apiGroup", s->ref->api_group);
    json_put_text(out, "parent", v->parent ? v->parent->name : "");
    json_put_text(out, "state", gang_queue_state_name(v->state));
    json_put_text(out, "text", s->text);
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"depth", v->depth},
        {"children", (int64_t)s->n_children},
        {"waiting", s->waiting},
        {"planned", s->planned},
        {"running", s->running},
        {"done", s->done},
        {"priority", v->facts ? v->facts->priority : 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        json_put_number(out, numbers[i].key, numbers[i].value);
    if (v->facts)
        put_facts(out, v->facts);
    put_amounts(out, s);
    buf_putc(out, '}');
}

void api_json_queues(struct gang_core *core, struct gang_page *page, struct buf *out)
{
    size_t skip = page->after ? strtoul(page->after, NULL, 10) : 0;
    struct gang_page shown = *page;
    char token[32];
    buf_puts(out, "{\"queues\":[");
    size_t all = gang_core_queues(core, skip, page->limit, put_queue, out);
    buf_putc(out, ']');
    if (all > skip && all - skip > page->limit) {
        snprintf(token, sizeof token, "%zu", skip + page->limit);
        shown.last = token;
        shown.left = all - skip - page->limit;
    }
    api_json_metadata(out, &shown);
    buf_putc(out, '}');
}
