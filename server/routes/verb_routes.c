/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes/verb_routes.h"

#include "config/scheduler_config.h"
#include "server/extender/node_stream.h"
#include "server/loop/call.h"

/* A call, and its request while that arrives. */
struct arrival {
    struct call call; /* first */
    struct loop *loop;
    struct node_stream stream;
};

static void free_arrival(void *user)
{
    struct arrival *a = user;
    node_stream_drop(&a->stream);
    extender_args_done(&a->call.args);
    free(a);
}

/* For the next call in the same block. */
static void rest_arrival(void *user)
{
    struct arrival *a = user;
    node_stream_drop(&a->stream);
    extender_args_rest(&a->call.args, HTTP_KEPT);
    *a = (struct arrival){.call.args = a->call.args};
}

/* Which whole nodes a reply may echo: prioritize none, filter all where nothing is known yet. */
static enum node_keep ask_keep(void *arg, const struct buf *before, char one[NODE_STREAM_NAME + 1])
{
    struct arrival *a = arg;
    struct extender_args pod = {0};
    one[0] = '\0';
    if (a->call.verb == EXTENDER_PRIORITIZE)
        return NODE_KEEP_ONE;
    bool expects = extender_peek_pod(buf_str(before), before->len, &pod) &&
                   loop_expects(a->loop, pod.pod_uid, one, NODE_STREAM_NAME + 1);
    extender_args_done(&pod);
    return expects ? NODE_KEEP_ONE : NODE_KEEP_ALL;
}

static enum extender_verb verb_of(const struct http_route *route)
{
    return (enum extender_verb)route->tag;
}

/* The call of a request: from its first piece on, in what an earlier one has left. */
static struct arrival *arrival_of(const struct verb_context *context, struct http_request *r)
{
    struct arrival *a = r->user ? r->user : xcalloc(1, sizeof *a);
    if (a->call.request)
        return a;
    a->call.mail.kind = LOOP_CALL;
    a->call.request = r;
    a->call.verb = verb_of(r->route);
    a->call.metrics = context->metrics;
    a->call.rules = context->rules;
    a->loop = context->loop;
    node_stream_begin(&a->stream, &r->body, ask_keep, a);
    r->user = a;
    r->free_user = free_arrival;
    r->rest_user = rest_arrival;
    return a;
}

void verb_piece(void *arg, struct http_request *r, const char *data, size_t n)
{
    struct arrival *a = arrival_of(arg, r);
    if (a->call.verb == EXTENDER_FILTER || a->call.verb == EXTENDER_PRIORITIZE)
        node_stream_put(&a->stream, data, n);
    else
        buf_append(&r->body, data, n);
    r->aside = a->stream.node.len;
}

static void handle(void *arg, struct http_request *r)
{
    const struct verb_context *context = arg;
    struct arrival *a = arrival_of(context, r);
    struct call *call = &a->call;
    node_stream_end(&a->stream);
    call->args.small = a->stream.small;
    if (!call_parse(call) || loop_serve(context->loop, call) || !call_decode(call))
        return;
    /* From the post on the request belongs to whoever has the turn. */
    call->deferred = http_defer(r);
    if (call->deferred)
        loop_post(context->loop, &call->mail);
    else
        call_refuse(call, "muster is stopping");
}

void verb_refused(void *arg, const struct http_route *route, int status)
{
    const struct verb_context *context = arg;
    enum metric_outcome outcome = status == 413   ? METRIC_TOO_LARGE
                                  : status == 405 ? METRIC_METHOD
                                  : status == 503 ? METRIC_OVERLOAD
                                                  : METRIC_BROKEN;
    metrics_call(context->metrics, verb_of(route), outcome, 0, 0, -1, -1);
}

#define X(id, name) {SCHEDULER_CONFIG_PATH "/" name, "POST", handle, EXTENDER_##id},
const struct http_route verb_routes[] = {EXTENDER_VERBS(X)};
#undef X
const size_t verb_n_routes = ARRAY_SIZE(verb_routes);
