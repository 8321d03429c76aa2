/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of effects, which travel by mail to the API thread as write requests. */
#include "k8s/write/write_internal.h"

static void copy_status(struct write_request *o, const struct gang_status *s)
{
    o->api_group = xstrdup(s->ref->api_group);
    o->ns = xstrdup(s->ref->ns);
    o->name = xstrdup(s->ref->name);
    o->uid = xstrdup_null(s->uid);
    o->text = xstrdup(s->text);
    o->help = xstrdup(s->help);
    o->ref = (struct gang_ref){o->api_group, o->ns, o->name};
    o->status = *s;
    o->status.ref = &o->ref;
    o->status.uid = o->uid;
    o->status.text = o->text;
    o->status.help = o->help;
}

static void copy_queue_status(struct write_request *o, const struct gang_queue_status *s)
{
    o->api_group = xstrdup(s->ref->api_group);
    o->ns = xstrdup(s->ref->ns);
    o->name = xstrdup(s->ref->name);
    o->uid = xstrdup_null(s->uid);
    o->text = xstrdup(s->text);
    o->ref = (struct gang_ref){o->api_group, o->ns, o->name};
    o->queue = *s;
    o->queue.ref = &o->ref;
    o->queue.uid = o->uid;
    o->queue.text = o->text;
    struct gang_queue_amount *amounts = xcalloc(s->n_amounts, sizeof *amounts);
    const char **children = xcalloc(s->n_children, sizeof *children);
    for (size_t i = 0; i < s->n_amounts; i++) {
        amounts[i] = s->amounts[i];
        amounts[i].resource = xstrdup(s->amounts[i].resource);
    }
    for (size_t i = 0; i < s->n_children; i++)
        children[i] = xstrdup(s->children[i]);
    o->queue.amounts = amounts;
    o->queue.children = children;
}

static void free_queue_lists(struct write_request *o)
{
    for (size_t i = 0; i < o->queue.n_amounts; i++)
        free((char *)(uintptr_t)o->queue.amounts[i].resource);
    for (size_t i = 0; i < o->queue.n_children; i++)
        free((char *)(uintptr_t)o->queue.children[i]);
    free((void *)(uintptr_t)o->queue.amounts);
    free((void *)(uintptr_t)o->queue.children);
}

static void copy_workload(struct write_request *o, const struct gang_effect *e)
{
    o->api_group = xstrdup(e->workload.ref->api_group);
    o->ns = xstrdup(e->workload.ref->ns);
    o->name = xstrdup(e->workload.ref->name);
    o->uid = xstrdup(e->workload.uid);
    o->text = xstrdup_null(e->workload.text);
    o->ref = (struct gang_ref){o->api_group, o->ns, o->name};
    o->of_podgroup = true;
}

static void copy_event(struct write_request *o, const struct gang_effect *e)
{
    o->object_kind = xstrdup(e->event.kind);
    o->api_group = xstrdup_null(e->event.api_group);
    o->ns = xstrdup(e->event.ns);
    o->name = xstrdup(e->event.name);
    o->uid = xstrdup_null(e->event.uid);
    o->reason = xstrdup(e->event.reason);
    o->text = xstrdup(e->event.message);
    o->warning = e->event.warning;
}

/* A PodGroup that its pods declare is not an API object, so it gets no status and no events. */
static bool without_object(const char *api_group)
{
    const struct dialect *d = api_group ? dialect_by_group(api_group) : NULL;
    return d && !dialect_has_objects(d);
}

struct write_request *write_request_new(const struct gang_effect *e)
{
    if ((e->kind == GANG_STATUS && without_object(e->status.ref->api_group)) ||
        (e->kind == GANG_EVENT && without_object(e->event.api_group)))
        return NULL;
    struct write_request *o = xcalloc(1, sizeof *o);
    o->kind = e->kind;
    switch (e->kind) {
    case GANG_BIND:
    case GANG_READ_POD:
    case GANG_NOMINATE:
    case GANG_UNGATE:
    case GANG_MARK_VICTIM:
    case GANG_EVICT:
    case GANG_PATCH_CONDITION:
        o->ns = xstrdup(e->pod.ns);
        o->name = xstrdup(e->pod.name);
        o->uid = xstrdup(e->pod.uid);
        o->node = xstrdup_null(e->pod.node);
        o->nominates = e->kind == GANG_NOMINATE || (e->kind == GANG_UNGATE && o->node);
        o->text = xstrdup_null(e->pod.text);
        o->version = e->pod.version;
        o->of_commit = e->pod.of_commit;
        return o;
    case GANG_SUSPEND:
    case GANG_RESUME:
        copy_workload(o, e);
        return o;
    case GANG_STATUS:
        copy_status(o, &e->status);
        return o;
    case GANG_QUEUE_STATUS:
        copy_queue_status(o, &e->queue);
        return o;
    case GANG_EVENT:
        copy_event(o, e);
        return o;
    default:
        return write_request_free(o); /* a reply to kube-scheduler */
    }
}

struct write_request *write_request_event(const struct write_request_about *about,
                                          enum writer_event what, const char *text)
{
    static const char *const reasons[] = {
#define X(id, reason, object, when) [WRITER_EVENT_##id] = (reason),
        WRITER_EVENTS(X)
#undef X
    };
    struct write_request *o = xcalloc(1, sizeof *o);
    o->kind = GANG_EVENT;
    o->api_version = xstrdup(about->api_version);
    o->object_kind = xstrdup(about->kind);
    o->no_namespace = !about->ns;
    o->ns = xstrdup(about->ns ? about->ns : "default"); /* source: client-go's recorder */
    o->name = xstrdup(about->name);
    o->uid = xstrdup(about->uid);
    o->reason = xstrdup(reasons[what]);
    o->text = xstrdup(text);
    o->warning = true;
    return o;
}

struct write_request *write_request_resume(const struct write_request_about *workload)
{
    struct write_request *o = xcalloc(1, sizeof *o);
    o->kind = GANG_RESUME;
    o->api_version = xstrdup(workload->api_version);
    o->object_kind = xstrdup(workload->kind);
    o->ns = xstrdup(workload->ns);
    o->name = xstrdup(workload->name);
    o->uid = xstrdup(workload->uid);
    return o;
}

struct write_request *write_request_free(struct write_request *o)
{
    if (!o)
        return NULL;
    free(o->ns);
    free(o->name);
    free(o->uid);
    free(o->node);
    free(o->api_group);
    free(o->api_version);
    free(o->object_kind);
    free(o->reason);
    free(o->text);
    free(o->help);
    free_queue_lists(o);
    free(o);
    return NULL;
}

struct mail *write_request_mail(struct write_request *o)
{
    return &o->mail;
}

struct write_request *write_request_of_mail(struct mail *m)
{
    return CONTAINER_OF(m, struct write_request, mail);
}
