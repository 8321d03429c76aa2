/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes/ops_routes.h"

#include "server/loop/ops_queries.h"
#include "server/views/api_json.h"

#define TEXT_TYPE "text/plain; charset=utf-8"

/* /livez fails if the core thread is overdue for this long. */
#define ALIVE_LIMIT (2 * USEC_PER_SEC)

#define GANG_PATH "/api/v1/gangs/"

/* ---- health ---- */

struct health_check {
    const char *name;
    bool good;
};

/* The format of kube-apiserver: "ok", or with ?verbose or on failure a line for each check. */
static void answer_checks(struct http_request *r, const struct health_check *checks, size_t n)
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

static struct health_check alive(const struct loop_health *h)
{
    return (struct health_check){"core", h->stopping || h->late < ALIVE_LIMIT};
}

static void livez(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct loop_health h = loop_health(o->loop);
    struct health_check checks[] = {alive(&h)};
    answer_checks(r, checks, ARRAY_SIZE(checks));
}

static void readyz(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct loop_health h = loop_health(o->loop);
    struct health_check checks[] = {alive(&h), {"synced", h.synced}, {"serving", !h.stopping}};
    answer_checks(r, checks, ARRAY_SIZE(checks));
}

/* ---- version and settings ---- */

static void version(void *arg, struct http_request *r)
{
    (void)arg;
    struct buf *body = &r->reply;
    buf_puts(body, "{\"name\":\"muster\",\"version\":\"" MUSTER_VERSION "\"}\n");
    http_answer(r, 200, HTTP_JSON);
}

static void configz(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct buf *body = &r->reply;
    buf_puts(body, o->configz);
    buf_putc(body, '\n');
    http_answer(r, 200, HTTP_JSON);
}

/* ---- queries ---- */

static char *parameter(struct http_request *r, const char *key)
{
    const char *value = http_query(r, key);
    return value && *value ? xstrdup(value) : NULL;
}

/* Reads the rest of the path, which is NS/NAME. */
static bool gang_path(const char *rest, struct ops_query *q)
{
    const char *slash = strchr(rest, '/');
    if (!slash || slash == rest || !slash[1] || strchr(slash + 1, '/'))
        return false;
    q->ns = xstrndup(rest, (size_t)(slash - rest));
    q->name = xstrdup(slash + 1);
    return true;
}

/* Reads ?limit=N&continue=TOKEN&gang=NS/NAME. Returns an error text, or NULL. */
static const char *list_parameters(struct http_request *r, struct ops_query *q)
{
    bool events = q->kind == QUERY_EVENTS;
    size_t most = events ? HISTORY_SIZE : API_JSON_PAGE;
    const char *limit = http_query(r, "limit"), *gang = events ? http_query(r, "gang") : NULL;
    char *end = NULL;
    unsigned long n = limit && *limit >= '0' && *limit <= '9' ? strtoul(limit, &end, 10) : 0;
    q->limit = limit && n < most ? n : most;
    if (limit && (!end || *end || n == 0))
        return "limit must be a whole number of at least 1";
    if (gang && !gang_path(gang, q))
        return "gang must be NAMESPACE/NAME";
    q->after = parameter(r, "continue");
    return NULL;
}

/* Whether one more query may wait; if not, refuses it. */
static bool may_wait(struct http_request *r, size_t most)
{
    bool may = http_waiting(r) < most;
    if (!may)
        ops_query_fail(r, 503, "too many requests at once: try again");
    return may;
}

static void check(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct ops_query *q = ops_query_new(r, QUERY_CHECK);
    q->ns = parameter(r, "namespace");
    if (!may_wait(r, OPS_QUERIES))
        return;
    if (http_defer(r))
        check_reader_post(o->checks, q);
    else
        ops_query_fail(r, 503, "muster is stopping");
}

static void ask(void *arg, struct http_request *r)
{
    const struct ops_context *o = arg;
    struct ops_query *q = ops_query_new(r, (enum ops_query_kind)r->route->tag);
    bool scrape = q->kind == QUERY_METRICS;
    if (q->kind == QUERY_GANG && !gang_path(r->path + strlen(GANG_PATH), q)) {
        ops_query_fail(r, 404, "the path of a gang is " GANG_PATH "NAMESPACE/NAME");
        return;
    }
    const char *wrong = scrape ? NULL : list_parameters(r, q);
    if (wrong) {
        ops_query_fail(r, 400, wrong);
        return;
    }
    if (!may_wait(r, OPS_QUERIES + (scrape ? OPS_SCRAPES : 0)))
        return;
    if (!q->ns)
        q->ns = parameter(r, "namespace");
    q->api_group = parameter(r, "apiGroup");
    if (http_defer(r))
        loop_post(o->loop, &q->mail);
    else
        ops_query_fail(r, 503, "muster is stopping");
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
    {"/api/v1/queues", "GET", ask, QUERY_QUEUES},
    {"/api/v1/events", "GET", ask, QUERY_EVENTS},
    {"/api/v1/check", "POST", check, QUERY_CHECK},
};
const size_t ops_n_routes = ARRAY_SIZE(ops_routes);
