/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes/verb_routes.h"

#include "config/scheduler_config.h"
#include "server/loop/extender_call.h"

static void free_call(void *user)
{
    struct extender_call *call = user;
    extender_args_done(&call->args);
    free(call);
}

static enum extender_verb verb_of(const struct http_route *route)
{
    return (enum extender_verb)route->tag;
}

static struct extender_call *extender_call_new(const struct verb_context *context,
                                               struct http_request *r)
{
    struct extender_call *call = xcalloc(1, sizeof *call);
    call->mail.kind = LOOP_CALL;
    call->request = r;
    call->verb = verb_of(r->route);
    call->metrics = context->metrics;
    call->rules = context->rules;
    r->user = call;
    r->free_user = free_call;
    return call;
}

static void handle(void *arg, struct http_request *r)
{
    const struct verb_context *context = arg;
    struct extender_call *call = extender_call_new(context, r);
    if (!extender_call_parse(call) || loop_serve(context->loop, call) ||
        !extender_call_decode(call))
        return;
    /* After the post, the request belongs to the thread that has the turn. */
    call->deferred = http_defer(r);
    if (call->deferred)
        loop_post(context->loop, &call->mail);
    else
        extender_call_refuse(call, "muster is stopping");
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
