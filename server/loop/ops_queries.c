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

/* Sends the reply. The client may read it slowly, so everything else is freed now. */
static void resume(struct ops_query *q)
{
    q->manifests = manifest_gangs_free(q->manifests);
    if (q->unanswered)
        atomic_fetch_sub(q->unanswered, 1);
    http_resume(q->request);
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

bool ops_query_read(struct ops_query *q, const struct workload_rules *rules)
{
    struct http_request *r = q->request;
    const struct manifest_options options = {.ns = q->ns, .rules = rules, .wall = usec_wall()};
    struct err err;
    q->manifests = manifest_gangs_read(buf_str(&r->body), r->body.len, &options, &err);
    if (q->manifests)
        return true;
    ops_query_fail(r, 400, err.text);
    resume(q);
    return false;
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

static int put_check(const struct ops_query *q, struct gang_core *core, struct buf *body,
                     struct buf *why)
{
    struct err err;
    if (api_json_check(core, q->manifests, body, &err) == 0)
        return 200;
    buf_puts(why, err.text);
    return err.code == ERR_UNAVAILABLE ? 503 : err.code == ERR_CONFLICT ? 409 : 400;
}

/* Writes a gang, or the next part of its explanation. Only the first page has an explanation. */
static int put_gang(struct ops_query *q, const struct ops_query_context *view,
                    struct gang_page *page, struct buf *body, struct buf *why)
{
    usec_t now = usec_now(), wall = usec_wall();
    if (q->part == GANG_EXPLAIN_END) {
        const struct gang_ref *gang =
            api_json_gang(view->core, q->ns, q->name, q->api_group, page, now, wall, body);
        if (!gang) {
            api_json_no_gang(view->core, q->ns, q->name, why);
            return 404;
        }
        if (!q->api_group)
            q->api_group = xstrdup(gang->api_group);
        q->part = q->after ? GANG_EXPLAIN_END : GANG_EXPLAIN_STATE;
    } else {
        const struct gang_ref gang = {q->api_group, q->ns, q->name};
        q->part = api_json_explain(view->core, view->history, &gang, q->part, now, wall, body);
    }
    if (q->part == GANG_EXPLAIN_END)
        buf_putc(body, '}');
    return 200;
}

/* Writes the body, or the next part of it, or why there is none. Returns the HTTP status. */
static int put_answer(struct ops_query *q, const struct ops_query_context *view, struct buf *body,
                      struct buf *why)
{
    struct gang_page page = {.after = q->after, .limit = q->limit};
    int status = 200;
    switch (q->kind) {
    case QUERY_METRICS:
        metrics_write(view->metrics, view->core, view->cluster, view->verbs, view->ops, body);
        return 200;
    case QUERY_GANGS:
        api_json_gangs(view->core, q->ns, &page, usec_now(), usec_wall(), body);
        break;
    case QUERY_GANG:
        status = put_gang(q, view, &page, body, why);
        break;
    case QUERY_EVENTS:
        answer_events(q, view->history, body);
        break;
    case QUERY_NODES:
        api_json_nodes(view->core, &page, body);
        break;
    case QUERY_QUEUES:
        api_json_queues(view->core, &page, body);
        break;
    case QUERY_CHECK:
        status = put_check(q, view->core, body, why);
        break;
    }
    return status;
}

void ops_query_refuse(struct ops_query *q, const char *why)
{
    ops_query_fail(q->request, 503, why);
    resume(q);
}

/* Does a turn for the query. True: it was answered, and must not be used afterwards. */
static bool answer(struct ops_query *q, const struct ops_query_context *view)
{
    struct http_request *r = q->request;
    if (http_is_full(r)) {
        ops_query_refuse(q, "the memory for replies is full, because clients read too slowly: try "
                            "again");
        return true;
    }
    cleanup_buf struct buf why = BUF_INIT;
    int status = put_answer(q, view, &r->reply, &why);
    if (q->part != GANG_EXPLAIN_END)
        return false;
    if (status != 200) {
        ops_query_fail(r, status, buf_str(&why));
    } else if (q->kind == QUERY_METRICS) {
        http_answer(r, 200, METRICS_TYPE);
    } else {
        buf_putc(&r->reply, '\n');
        http_answer(r, 200, HTTP_JSON);
    }
    resume(q);
    return true;
}

/* ---- queues ---- */

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

/* Its next turn comes before those of the queries behind it. */
static void go_on(struct ops_query_queue *line, struct ops_query *q)
{
    q->next = line->others.first;
    if (!q->next)
        line->others.last = q;
    line->others.first = q;
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
    struct ops_query *q = next_in(line);
    if (!answer(q, view))
        go_on(line, q);
    int64_t spent = cpu_now() - begin;
    line->pause_until = busy ? usec_now() + QUERY_PAUSE * (spent / 1000) : 0;
    samples_add(&view->metrics->queries, spent);
}

void ops_query_refuse_all(struct ops_query_queue *line, const char *why)
{
    while (!is_empty(line))
        ops_query_refuse(next_in(line), why);
}
