/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/event_text.h"

#include <inttypes.h>

static const char *text(const char *s)
{
    return s ? s : "-";
}

static const char *outcome_name(enum gang_outcome outcome)
{
    static const char *const names[] = {"ok", "refused", "unclear", "unbound"};
    return names[outcome];
}

static void say_pod(struct buf *b, const struct gang_pod_facts *f)
{
    if (!f) {
        buf_puts(b, " (taken)");
        return;
    }
    buf_printf(b, " %s (%s) of %s on %s%s%s", f->name, f->uid, text(f->group.name), text(f->node),
               f->deleting ? ", terminating" : "", f->n_gates ? ", gated" : "");
    if (f->suspended)
        buf_puts(b, ", of a suspended workload");
    if (f->nominated)
        buf_printf(b, ", nominated to %s", f->nominated);
    if (f->queue.name)
        buf_printf(b, ", names queue %s/%s", f->queue.api_group, f->queue.name);
}

static void say_amount(struct buf *b, const char *what, int64_t amount, int64_t none)
{
    if (amount == GANG_UNLIMITED && amount != none)
        buf_printf(b, " %s all", what);
    else if (amount != none)
        buf_printf(b, " %s %" PRId64, what, amount);
}

static void say_queue(struct buf *b, const struct gang_queue_facts *f)
{
    buf_printf(b, " %s/%s below %s%s%s%s weight %" PRId64 " priority %" PRId32, f->ref.api_group,
               f->ref.name, text(f->parent), f->invalid ? ", invalid" : "",
               f->closed ? ", closed" : "", f->fifo ? ", first in first out" : "", f->weight,
               f->priority);
    for (size_t i = 0; i < f->n_quotas; i++) {
        const struct gang_quota *q = &f->quotas[i];
        buf_printf(b, "; %s", q->resource);
        say_amount(b, "deserved", q->deserved, GANG_NOT_STATED);
        say_amount(b, "limit", q->cap, GANG_UNLIMITED);
        say_amount(b, "reserved", q->reserved, 0);
    }
}

void event_text(struct buf *b, const struct gang_event *ev)
{
    buf_puts(b, gang_event_name(ev->kind));
    switch (ev->kind) {
    case GANG_EV_NODE_SET:
        buf_printf(b, " %s gpus %" PRId64 "%s", ev->node->name,
                   gang_amounts_get(&ev->node->allocatable, "nvidia.com/gpu"),
                   ev->node->unschedulable ? ", cordoned" : "");
        break;
    case GANG_EV_POD_SET:
    case GANG_EV_FILTER:
    case GANG_EV_PRIORITIZE:
    case GANG_EV_PREEMPT:
        say_pod(b, ev->pod);
        for (size_t i = 0; i < ev->n_names && i < 9; i++)
            buf_printf(b, "%s%s", i ? " " : ": ", ev->names[i]);
        if (ev->n_names > 9)
            buf_printf(b, " … %zu names", ev->n_names);
        break;
    case GANG_EV_GROUP_SET:
        buf_printf(b, " %s min %" PRId64, ev->group->ref.name, ev->group->min_member);
        if (ev->group->queue)
            buf_printf(b, " in queue %s", ev->group->queue);
        break;
    case GANG_EV_QUEUE_SET:
        say_queue(b, ev->queue);
        break;
    case GANG_EV_NAMESPACE_SET:
        buf_printf(b, " %s names queue %s", ev->namespace->name, text(ev->namespace->queue));
        break;
    case GANG_EV_BUDGET_SET:
        buf_printf(b, " %s allows %" PRId64, ev->budget->name, ev->budget->allowed);
        break;
    case GANG_EV_BUDGET_GONE:
    case GANG_EV_QUEUE_GONE:
    case GANG_EV_NAMESPACE_GONE:
    case GANG_EV_NODE_GONE:
    case GANG_EV_POD_GONE:
    case GANG_EV_GROUP_GONE:
    case GANG_EV_CLASS_GONE:
    case GANG_EV_CLAIM_GONE:
    case GANG_EV_SUSPEND_REFUSED:
        buf_printf(b, " %s", ev->gone.name);
        break;
    case GANG_EV_BIND:
        buf_printf(b, " #%" PRIu64 " %s to %s", ev->id, ev->bind.uid, ev->bind.node);
        break;
    case GANG_EV_WATCH:
        buf_printf(b, " of %s %s", ev->watch.of == GANG_WATCH_NODES ? "nodes" : "pods",
                   ev->watch.behind ? "is behind" : "follows");
        break;
    case GANG_EV_CALL_CLOSED:
        buf_printf(b, " #%" PRIu64, ev->id);
        break;
    case GANG_EV_BIND_DONE:
    case GANG_EV_POD_READ:
        buf_printf(b, " %s %s: %s", ev->result.uid, text(ev->result.node),
                   outcome_name(ev->result.outcome));
        break;
    default:
        break;
    }
}

static void say_filter(struct buf *b, const struct gang_filter_reply *r)
{
    buf_printf(b, "filter #%" PRIu64, r->id);
    if (r->error)
        buf_printf(b, " error \"%s\"", r->error);
    if (r->pass_all)
        buf_puts(b, " all pass");
    for (size_t i = 0; i < r->n_passed; i++)
        buf_printf(b, "%s%" PRIu32, i ? "," : " pass ", r->passed[i]);
    for (size_t i = 0; i < r->n_refused; i++)
        buf_printf(b, " no %" PRIu32 " \"%s\"", r->refused[i].index, r->refused[i].text);
}

static void say_status(struct buf *b, const struct gang_status *s)
{
    buf_printf(b,
               "status of %s (%s): %s %s%s%s \"%s\" \"%s\" min %" PRId64
               " needed %d members %d bound %d running %d succeeded %d failed %d",
               s->ref->name, text(s->uid), gang_state_name(s->state), gang_reason_name(s->reason),
               s->timed_out ? " timed-out" : "", s->ever_scheduled ? " placed-once" : "", s->text,
               text(s->help), s->min_member, s->needed, s->members, s->bound, s->running,
               s->succeeded, s->failed);
}

static void say_queue_status(struct buf *b, const struct gang_queue_status *s)
{
    buf_printf(b,
               "status of queue %s/%s (%s): %s%s \"%s\" waiting %d planned %d running %d done %d",
               s->ref->api_group, s->ref->name, s->uid, gang_reason_name(s->reason),
               s->closed ? " closed" : "", s->text, s->waiting, s->planned, s->running, s->done);
    for (size_t i = 0; i < s->n_amounts; i++) {
        const struct gang_queue_amount *a = &s->amounts[i];
        buf_printf(b, ", %s used %" PRId64 " firm %" PRId64 " requested %" PRId64 " share %" PRId64,
                   a->resource, a->used, a->firm, a->requested, a->share);
    }
    for (size_t i = 0; i < s->n_children; i++)
        buf_printf(b, " child %s", s->children[i]);
}

void effect_text(struct buf *b, const struct gang_effect *e)
{
    static const char *const writes[] = {
        [GANG_BIND] = "BIND",
        [GANG_READ_POD] = "read",
        [GANG_NOMINATE] = "nominate",
        [GANG_UNGATE] = "ungate",
        [GANG_MARK_VICTIM] = "mark",
        [GANG_EVICT] = "evict",
        [GANG_PATCH_CONDITION] = "tell",
    };
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        say_filter(b, &e->filter);
        break;
    case GANG_REPLY_PRIORITIZE:
        buf_printf(b, "prioritize #%" PRIu64, e->prioritize.id);
        for (size_t i = 0; i < e->prioritize.n; i++)
            buf_printf(b, " %d", e->prioritize.scores[i]);
        break;
    case GANG_REPLY_PREEMPT:
        buf_printf(b, "preempt #%" PRIu64, e->preempt.id);
        for (size_t i = 0; i < e->preempt.n_kept; i++)
            buf_printf(b, " %" PRIu32, e->preempt.kept[i]);
        break;
    case GANG_REPLY_BIND:
        buf_printf(b, "answer #%" PRIu64 " \"%s\"", e->bind_reply.id, e->bind_reply.error);
        break;
    case GANG_STATUS:
        say_status(b, &e->status);
        break;
    case GANG_QUEUE_STATUS:
        say_queue_status(b, &e->queue);
        break;
    case GANG_SUSPEND:
    case GANG_RESUME:
        buf_printf(b, "%s the workload of %s (%s) \"%s\"",
                   e->kind == GANG_SUSPEND ? "suspend" : "resume", e->workload.ref->name,
                   e->workload.uid, text(e->workload.text));
        break;
    case GANG_EVENT:
        buf_printf(b, "event on %s %s: %s%s \"%s\"", e->event.kind, e->event.name,
                   e->event.warning ? "Warning " : "", e->event.reason, e->event.message);
        break;
    default:
        buf_printf(b, "%s %s (%s) %s", writes[e->kind], e->pod.name, e->pod.uid, text(e->pod.node));
    }
}
