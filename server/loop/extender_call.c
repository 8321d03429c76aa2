/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/extender_call.h"

#include "base/json_repair.h"
#include "base/log.h"
#include "server/extender/extender_reply.h"

/* ---- requests ---- */

/* Nanoseconds spent on the call so far, without the time in which its bytes arrived. */
static int64_t work_on(const struct http_request *r)
{
    return r->spent + nsec_now() - r->whole;
}

/* Answers a call without the core. */
static void fail(struct extender_call *call, enum metric_outcome outcome, const char *why)
{
    struct http_request *r = call->request;
    int status = extender_write_failure(call->verb, why, &r->reply);
    metrics_call(call->metrics, call->verb, outcome, r->bytes, usec_now() - r->started, -1,
                 work_on(r));
    http_answer(r, status, HTTP_JSON);
}

static void not_readable(struct extender_call *call, const char *error)
{
    char peer[HTTP_PEER];
    log_warning("Cannot read a call", "verb", extender_verb_name(call->verb), "from",
                http_peer(call->request, peer), "error", error, NULL);
    cleanup_free char *why =
        xasprintf("muster: cannot read the %s call: %s", extender_verb_name(call->verb), error);
    fail(call, METRIC_BROKEN, why);
}

bool extender_call_parse(struct extender_call *call)
{
    struct http_request *r = call->request;
    struct err err;
    json_repair_nul(r->body.data, r->body.len); /* an annotation of any user can contain a NUL */
    if (extender_parse(call->verb, r->body.data, r->body.len, &call->args, &err) == 0)
        return true;
    not_readable(call, err.text);
    return false;
}

bool extender_call_decode(struct extender_call *call)
{
    struct err err;
    if (extender_decode_pod(&call->args, call->rules, &err) == 0)
        return true;
    not_readable(call, err.text);
    return false;
}

bool extender_call_prepare(struct extender_call *call, const struct gang_core *core)
{
    struct extender_args *a = &call->args;
    if (a->pod || call->verb == EXTENDER_BIND)
        return true;
    const char *nominated = *a->pod_nominated ? a->pod_nominated : NULL;
    a->known = gang_core_known_pod(core, a->pod_uid, a->pod_version, nominated);
    return a->known || extender_call_decode(call);
}

void extender_call_to_event(struct extender_call *call, struct gang_event *ev)
{
    static const enum gang_event_kind kinds[] = {
        [EXTENDER_FILTER] = GANG_EV_FILTER,
        [EXTENDER_PRIORITIZE] = GANG_EV_PRIORITIZE,
        [EXTENDER_PREEMPT] = GANG_EV_PREEMPT,
        [EXTENDER_BIND] = GANG_EV_BIND,
    };
    struct extender_args *a = &call->args;
    *ev = (struct gang_event){.kind = kinds[call->verb], .id = call->id};
    if (call->verb == EXTENDER_BIND) {
        ev->bind.ns = STEAL(a->ns);
        ev->bind.name = STEAL(a->name);
        ev->bind.uid = STEAL(a->uid);
        ev->bind.node = STEAL(a->node);
    } else {
        ev->pod_is_known = a->known != NULL;
        ev->pod = a->known ? a->known : STEAL(a->pod);
        ev->names = a->names;
        ev->n_names = a->n_names;
        ev->victims = a->victim_uids;
    }
}

/* ---- replies ---- */

static enum metric_outcome render_filter(struct extender_call *call,
                                         const struct gang_filter_reply *f)
{
    const struct extender_args *a = &call->args;
    struct http_request *r = call->request;
    if (extender_filter_in_place(a, f, &r->body))
        http_reply_in_place(r);
    else
        extender_write_filter(a, f, &r->reply);
    if (f->error)
        return METRIC_ERROR;
    return f->pass_all || f->n_passed ? METRIC_OK : METRIC_REFUSED;
}

static enum metric_outcome render(struct extender_call *call, const struct gang_effect *e)
{
    const struct extender_args *a = &call->args;
    struct buf *out = &call->request->reply;
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return render_filter(call, &e->filter);
    case GANG_REPLY_PRIORITIZE:
        extender_write_prioritize(a, e->prioritize.scores, e->prioritize.n, out);
        return METRIC_OK;
    case GANG_REPLY_PREEMPT:
        extender_write_preempt(a, e->preempt.kept, e->preempt.n_kept, out);
        return e->preempt.n_kept ? METRIC_OK : METRIC_REFUSED;
    default:
        extender_write_bind(e->bind_reply.error, out);
        return e->bind_reply.error[0] ? METRIC_REFUSED : METRIC_OK;
    }
}

uint64_t extender_call_reply_id(const struct gang_effect *e)
{
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return e->filter.id;
    case GANG_REPLY_PRIORITIZE:
        return e->prioritize.id;
    case GANG_REPLY_PREEMPT:
        return e->preempt.id;
    case GANG_REPLY_BIND:
        return e->bind_reply.id;
    default:
        return 0;
    }
}

void extender_call_answer(struct extender_call *call, const struct gang_effect *effect, usec_t now)
{
    struct http_request *r = call->request;
    enum metric_outcome outcome = render(call, effect);
    bool was_held = call->verb == EXTENDER_BIND && now > call->taken;
    int64_t work = work_on(r);
    http_answer(r, 200, HTTP_JSON);
    metrics_call(call->metrics, call->verb, outcome, r->bytes, usec_now() - r->started,
                 was_held ? now - call->taken : -1, work);
}

void extender_call_send(struct extender_call *call)
{
    if (call->deferred)
        http_resume(call->request);
}

void extender_call_refuse(struct extender_call *call, const char *why)
{
    fail(call, METRIC_ERROR, why);
    extender_call_send(call);
}
