/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/ops_queries.h"

#include <time.h>

#include "server/views/api_json.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

static void free_query(void *user)
{
    struct ops_query *q = user;
    free(q->ns);
    free(q->name);
    free(q->api_group);
    free(q->after);
    free(q);
}

struct ops_query *ops_query_new(struct http_request *r, enum ops_query_kind kind)
{
    struct ops_query *q = xcalloc(1, sizeof *q);
    q->mail.kind = LOOP_QUERY;
    q->kind = kind;
    q->request = r;
    r->user = q;
    r->free_user = free_query;
    return q;
}

void ops_query_fail(struct http_request *r, int status, const char *why)
{
    struct buf *body = &r->reply;
    buf_clear(body);
    buf_puts(body, "{\"error\":");
    buf_json(body, why, strlen(why));
    buf_puts(body, "}\n");
    http_answer(r, status, HTTP_JSON);
}

/* ---- answers ---- */

static void answer_events(const struct ops_query *q, const struct history *history,
                          struct buf *body)
{
    const struct history_filter filter = {q->ns, q->name, q->api_group, q->limit};
    buf_puts(body, "{\"events\":");
    history_json(history, &filter, body);
    buf_putc(body, '}');
}

/* The body; false: there is no such gang. */
static bool put_answer(const struct ops_query *q, const struct ops_query_context *view,
                       struct buf *body)
{
    struct gang_page page = {.after = q->after, .limit = q->limit};
    usec_t now = usec_now(), wall = usec_wall();
    switch (q->kind) {
    case QUERY_METRICS:
        metrics_write(view->metrics, view->core, view->cluster, view->verbs, view->ops, body);
        return true;
    case QUERY_GANGS:
        api_json_gangs(view->core, q->ns, &page, now, wall, body);
        break;
    case QUERY_GANG:
        if (!api_json_gang(view->core, view->history, q->ns, q->name, q->api_group, &page, now,
                           wall, body))
            return false;
        break;
    case QUERY_EVENTS:
        answer_events(q, view->history, body);
        break;
    case QUERY_NODES:
        api_json_nodes(view->core, &page, body);
        break;
    }
    buf_putc(body, '\n');
    return true;
}

void ops_query_refuse(struct ops_query *q, const char *why)
{
    struct http_request *r = q->request;
    ops_query_fail(r, 503, why);
    http_resume(r);
}

/* Answers and lets go: the query is gone afterwards. */
static void ops_query_answer(struct ops_query *q, const struct ops_query_context *view)
{
    struct http_request *r = q->request;
    if (http_is_full(r)) {
        ops_query_refuse(q,
                         "clients read too slowly, and the memory for replies is full: try again");
        return;
    }
    if (put_answer(q, view, &r->reply)) {
        http_answer(r, 200, q->kind == QUERY_METRICS ? METRICS_TYPE : HTTP_JSON);
    } else {
        cleanup_buf struct buf why = BUF_INIT;
        api_json_no_gang(view->core, q->ns, q->name, &why);
        ops_query_fail(r, 404, buf_str(&why));
    }
    http_resume(r);
}

/* ---- queries that wait ---- */

void ops_query_wait(struct ops_query_queue *line, struct ops_query *q)
{
    struct ops_query_fifo *queue = q->kind == QUERY_METRICS ? &line->scrapes : &line->others;
    q->next = NULL;
    if (queue->first)
        queue->last->next = q;
    else
        queue->first = q;
    queue->last = q;
}

static bool is_empty(const struct ops_query_queue *line)
{
    return !line->scrapes.first && !line->others.first;
}

static struct ops_query *next_in(struct ops_query_queue *line)
{
    line->scrape_was_last = line->scrapes.first && !(line->scrape_was_last && line->others.first);
    struct ops_query_fifo *queue = line->scrape_was_last ? &line->scrapes : &line->others;
    struct ops_query *q = queue->first;
    queue->first = q->next;
    return q;
}

usec_t ops_query_next(const struct ops_query_queue *line)
{
    return is_empty(line) ? USEC_NEVER : line->pause_until;
}

static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void ops_query_turn(struct ops_query_queue *line, const struct ops_query_context *view, bool busy)
{
    if (is_empty(line) || (busy && usec_now() < line->pause_until))
        return;
    int64_t begin = cpu_now();
    ops_query_answer(next_in(line), view);
    int64_t spent = cpu_now() - begin;
    line->pause_until = busy ? usec_now() + QUERY_PAUSE * (spent / 1000) : 0;
    samples_add(&view->metrics->queries, spent);
}

void ops_query_refuse_all(struct ops_query_queue *line, const char *why)
{
    while (!is_empty(line))
        ops_query_refuse(next_in(line), why);
}
