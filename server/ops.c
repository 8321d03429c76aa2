/* SPDX-License-Identifier: Apache-2.0 */
#include "server/ops.h"

#include <time.h>

#include "server/views.h"

#define JSON_TYPE    "application/json"
#define TEXT_TYPE    "text/plain; charset=utf-8"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The core thread says when it will be back; when it is so much later, it counts as hung. */
#define ALIVE_LIMIT (2 * USEC_PER_SEC)

enum { QUERY_METRICS, QUERY_GANGS, QUERY_GANG, QUERY_NODES, QUERY_EVENTS };

#define GANG_PATH "/api/v1/gangs/"

/* ---- health ---- */

struct check {
    const char *name;
    bool good;
};

/* As kube-apiserver words it: "ok", and with ?verbose or on failure a line per check. */
static void answer_checks(struct http_request *r, const struct check *checks, size_t n)
{
    struct buf *body = &r->reply;
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = good && checks[i].good;
    if (good && !http_query(r, "verbose")) {
        buf_puts(body, "ok");
    } else {
        for (size_t i = 0; i < n; i++)
            buf_printf(body, "[%c]%s %s\n", checks[i].good ? '+' : '-', checks[i].name,
                       checks[i].good ? "ok" : "failed");
        buf_printf(body, "%s check %s\n", r->path + 1, good ? "passed" : "failed");
    }
    http_answer(r, good ? 200 : 503, TEXT_TYPE);
}

static struct check alive(const struct loop_health *h)
{
    return (struct check){"core", h->stopping || h->late < ALIVE_LIMIT};
}

static void livez(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct loop_health h = loop_health(o->loop);
    struct check checks[] = {alive(&h)};
    answer_checks(r, checks, ARRAY_SIZE(checks));
}

static void readyz(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct loop_health h = loop_health(o->loop);
    struct check checks[] = {alive(&h), {"synced", h.synced}, {"serving", !h.stopping}};
    answer_checks(r, checks, ARRAY_SIZE(checks));
}

/* ---- constants ---- */

static void version(void *arg, struct http_request *r)
{
    (void)arg;
    struct buf *body = &r->reply;
    buf_puts(body, "{\"name\":\"muster\",\"version\":\"" MUSTER_VERSION "\"}\n");
    http_answer(r, 200, JSON_TYPE);
}

static void configz(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct buf *body = &r->reply;
    buf_puts(body, o->configz);
    buf_putc(body, '\n');
    http_answer(r, 200, JSON_TYPE);
}

/* ---- queries ---- */

static void free_query(void *user)
{
    struct query *q = user;
    free(q->ns);
    free(q->name);
    free(q->api_group);
    free(q->after);
    free(q);
}

static char *parameter(struct http_request *r, const char *key)
{
    const char *value = http_query(r, key);
    return value && *value ? xstrdup(value) : NULL;
}

/* The rest of the path: NS/NAME. */
static bool gang_path(const char *rest, struct query *q)
{
    const char *slash = strchr(rest, '/');
    if (!slash || slash == rest || !slash[1] || strchr(slash + 1, '/'))
        return false;
    q->ns = xstrndup(rest, (size_t)(slash - rest));
    q->name = xstrdup(slash + 1);
    return true;
}

static void answer_error(struct http_request *r, int status, const char *why)
{
    struct buf *body = &r->reply;
    buf_clear(body);
    buf_puts(body, "{\"error\":");
    buf_json(body, why, strlen(why));
    buf_puts(body, "}\n");
    http_answer(r, status, JSON_TYPE);
}

/* ?limit=N&continue=TOKEN&gang=NS/NAME; returns what is wrong with them, or NULL. */
static const char *list_parameters(struct http_request *r, struct query *q)
{
    bool events = r->route->tag == QUERY_EVENTS;
    size_t most = events ? HISTORY_SIZE : VIEWS_PAGE;
    const char *limit = http_query(r, "limit"), *gang = events ? http_query(r, "gang") : NULL;
    char *end = NULL;
    unsigned long n = limit && *limit >= '0' && *limit <= '9' ? strtoul(limit, &end, 10) : 0;
    q->limit = limit && n < most ? n : most;
    if (limit && (!end || *end || n == 0))
        return "limit must be a number from 1 on";
    if (gang && !gang_path(gang, q))
        return "gang must be NAMESPACE/NAME";
    q->after = parameter(r, "continue");
    return NULL;
}

static bool is_scrape(const struct http_request *r)
{
    return r->route->tag == QUERY_METRICS;
}

static void ask(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct query *q = xcalloc(1, sizeof *q);
    q->mail.kind = LOOP_QUERY;
    q->request = r;
    r->user = q;
    r->free_user = free_query;
    if (r->route->tag == QUERY_GANG && !gang_path(r->path + strlen(GANG_PATH), q)) {
        answer_error(r, 404, "the path of a gang is " GANG_PATH "NAMESPACE/NAME");
        return;
    }
    const char *wrong = is_scrape(r) ? NULL : list_parameters(r, q);
    if (wrong) {
        answer_error(r, 400, wrong);
        return;
    }
    if (http_waiting(r) >= OPS_QUERIES + (is_scrape(r) ? OPS_SCRAPES : 0)) {
        answer_error(r, 503, "too many questions at once: try again");
        return;
    }
    if (!q->ns)
        q->ns = parameter(r, "namespace");
    q->api_group = parameter(r, "group");
    if (http_defer(r))
        loop_post(o->loop, &q->mail);
    else
        answer_error(r, 503, "muster is stopping");
}

const struct http_route ops_routes[] = {
    {"/metrics", "GET", ask, QUERY_METRICS},
    {"/livez", "GET", livez, 0},
    {"/readyz", "GET", readyz, 0},
    {"/healthz", "GET", livez, 0},
    {"/version", "GET", version, 0},
    {"/configz", "GET", configz, 0},
    {"/api/v1/gangs", "GET", ask, QUERY_GANGS},
    {GANG_PATH, "GET", ask, QUERY_GANG},
    {"/api/v1/nodes", "GET", ask, QUERY_NODES},
    {"/api/v1/events", "GET", ask, QUERY_EVENTS},
};
const size_t ops_n_routes = ARRAY_SIZE(ops_routes);

/* ---- on the core thread ---- */

static void answer_events(const struct query *q, const struct history *history, struct buf *body)
{
    const struct history_filter filter = {q->ns, q->name, q->api_group, q->limit};
    buf_puts(body, "{\"events\":");
    history_json(history, &filter, body);
    buf_putc(body, '}');
}

/* The body; false: there is no such gang. */
static bool put_answer(const struct query *q, const struct ops_view *view, struct buf *body)
{
    struct gang_page page = {.after = q->after, .limit = q->limit};
    usec_t now = usec_now(), wall = usec_wall();
    switch (q->request->route->tag) {
    case QUERY_METRICS:
        metrics_write(view->metrics, view->core, view->cluster, view->verbs, view->ops, body);
        return true;
    case QUERY_GANGS:
        views_gangs(view->core, q->ns, &page, now, wall, body);
        break;
    case QUERY_GANG:
        if (!views_gang(view->core, view->history, q->ns, q->name, q->api_group, &page, now, wall,
                        body))
            return false;
        break;
    case QUERY_EVENTS:
        answer_events(q, view->history, body);
        break;
    default:
        views_nodes(view->core, &page, body);
        break;
    }
    buf_putc(body, '\n');
    return true;
}

void query_refuse(struct query *q, const char *why)
{
    struct http_request *r = q->request;
    answer_error(r, 503, why);
    http_resume(r);
}

/* Answers and lets go: the query is gone afterwards. */
static void query_answer(struct query *q, const struct ops_view *view)
{
    struct http_request *r = q->request;
    if (http_is_full(r)) {
        query_refuse(q, "clients read too slowly, and the memory for replies is full: try again");
        return;
    }
    if (put_answer(q, view, &r->reply)) {
        http_answer(r, 200, is_scrape(r) ? METRICS_TYPE : JSON_TYPE);
    } else {
        cleanup_buf struct buf why = BUF_INIT;
        views_no_gang(view->core, q->ns, q->name, &why);
        answer_error(r, 404, buf_str(&why));
    }
    http_resume(r);
}

/* ---- the line of those that wait ---- */

void query_wait(struct query_line *line, struct query *q)
{
    struct query_queue *queue = is_scrape(q->request) ? &line->scrapes : &line->others;
    q->next = NULL;
    if (queue->first)
        queue->last->next = q;
    else
        queue->first = q;
    queue->last = q;
}

static bool is_empty(const struct query_line *line)
{
    return !line->scrapes.first && !line->others.first;
}

static struct query *next_in(struct query_line *line)
{
    line->scrape_was_last = line->scrapes.first && !(line->scrape_was_last && line->others.first);
    struct query_queue *queue = line->scrape_was_last ? &line->scrapes : &line->others;
    struct query *q = queue->first;
    queue->first = q->next;
    return q;
}

usec_t query_next(const struct query_line *line)
{
    return is_empty(line) ? USEC_NEVER : line->pause_until;
}

static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void query_turn(struct query_line *line, const struct ops_view *view, bool busy)
{
    if (is_empty(line) || (busy && usec_now() < line->pause_until))
        return;
    int64_t begin = cpu_now();
    query_answer(next_in(line), view);
    int64_t spent = cpu_now() - begin;
    line->pause_until = busy ? usec_now() + QUERY_PAUSE * (spent / 1000) : 0;
    samples_add(&view->metrics->queries, spent);
}

void query_refuse_all(struct query_line *line, const char *why)
{
    while (!is_empty(line))
        query_refuse(next_in(line), why);
}
