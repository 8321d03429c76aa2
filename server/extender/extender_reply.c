/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender/extender_reply.h"

static void put_text(struct buf *out, const char *s)
{
    buf_json(out, s, strlen(s));
}

static void put_passed(const struct extender_args *a, uint32_t i, size_t nth, struct buf *out)
{
    if (nth)
        buf_putc(out, ',');
    if (a->items)
        buf_append(out, a->body + a->items[i].at, a->items[i].len);
    else
        put_text(out, a->names[i]);
}

#define ITEMS_HEAD "\"Nodes\":{\"metadata\":{},\"items\":["
#define ITEMS_TAIL "]},\"NodeNames\":null"

static size_t passing(const struct extender_args *a, const struct gang_filter_reply *r)
{
    return r->pass_all ? a->n_names : r->n_passed;
}

static uint32_t passed_at(const struct gang_filter_reply *r, size_t i)
{
    return r->pass_all ? (uint32_t)i : r->passed[i];
}

static void put_nodes(const struct extender_args *a, const struct gang_filter_reply *r,
                      struct buf *out)
{
    buf_puts(out, a->items ? ITEMS_HEAD : "\"NodeNames\":[");
    for (size_t i = 0; i < passing(a, r); i++)
        put_passed(a, passed_at(r, i), i, out);
    buf_puts(out, a->items ? ITEMS_TAIL : "],\"Nodes\":null");
}

static void put_refusals(const struct extender_args *args,
                         const struct gang_filter_refusal *refused, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ',');
        put_text(out, args->names[refused[i].index]);
        buf_putc(out, ':');
        put_text(out, refused[i].text);
    }
}

static void put_refused(const struct extender_args *args, const struct gang_filter_reply *reply,
                        struct buf *out)
{
    size_t unresolvable = reply->n_refused - reply->n_full;
    buf_puts(out, ",\"FailedAndUnresolvableNodes\":{");
    put_refusals(args, reply->refused, unresolvable, out);
    if (reply->n_full) {
        buf_puts(out, "},\"FailedNodes\":{");
        put_refusals(args, reply->refused + unresolvable, reply->n_full, out);
    }
    buf_puts(out, "},\"Error\":\"\"}");
}

void extender_write_filter(const struct extender_args *args, const struct gang_filter_reply *reply,
                           struct buf *out)
{
    if (reply->error) {
        extender_write_failure(EXTENDER_FILTER, reply->error, out);
        return;
    }
    buf_putc(out, '{');
    put_nodes(args, reply, out);
    put_refused(args, reply, out);
}

/* Nodes move only towards the beginning of the buffer, so no node is overwritten before it is
 * moved. The names are copies outside the body. */
bool extender_filter_in_place(const struct extender_args *a, const struct gang_filter_reply *r,
                              struct buf *body)
{
    size_t n = passing(a, r), at = strlen("{" ITEMS_HEAD);
    if (r->error || !a->items || n == 0 || a->items[passed_at(r, 0)].at < at)
        return false;
    for (size_t i = 1; i < n; i++)
        if (passed_at(r, i) <= passed_at(r, i - 1))
            return false;
    memcpy(body->data, "{" ITEMS_HEAD, at);
    for (size_t i = 0; i < n; i++) {
        const struct json_span *item = &a->items[passed_at(r, i)];
        if (i)
            body->data[at++] = ',';
        memmove(body->data + at, body->data + item->at, item->len);
        at += item->len;
    }
    body->len = at;
    buf_puts(body, ITEMS_TAIL);
    put_refused(a, r, body);
    return true;
}

void extender_write_prioritize(const struct extender_args *args, const uint8_t *scores, size_t n,
                               struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? ",{\"Host\":" : "{\"Host\":");
        put_text(out, args->names[i]);
        buf_printf(out, ",\"Score\":%u}", scores[i]);
    }
    buf_putc(out, ']');
}

void extender_write_preempt(const struct extender_args *args, const uint32_t *kept, size_t n_kept,
                            struct buf *out)
{
    buf_puts(out, "{\"NodeNameToMetaVictims\":{");
    for (size_t i = 0; i < n_kept; i++) {
        const struct json_span *v = &args->victims[kept[i]];
        if (i)
            buf_putc(out, ',');
        put_text(out, args->names[kept[i]]);
        buf_putc(out, ':');
        buf_append(out, args->victims_text.data + v->at, v->len);
    }
    buf_puts(out, "}}");
}

void extender_write_bind(const char *error, struct buf *out)
{
    buf_puts(out, "{\"Error\":");
    put_text(out, error);
    buf_putc(out, '}');
}

int extender_write_failure(enum extender_verb verb, const char *error, struct buf *out)
{
    switch (verb) {
    case EXTENDER_PRIORITIZE:
        buf_puts(out, "[]");
        return 200;
    case EXTENDER_PREEMPT:
        extender_write_bind(error, out); /* kube-scheduler reads only the status */
        return 500;
    case EXTENDER_FILTER:
        buf_puts(out, "{\"Nodes\":null,\"NodeNames\":null,\"FailedAndUnresolvableNodes\":null,"
                      "\"Error\":");
        put_text(out, error);
        buf_putc(out, '}');
        return 200;
    default:
        extender_write_bind(error, out);
        return 200;
    }
}
