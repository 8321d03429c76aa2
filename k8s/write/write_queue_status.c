/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the status of a queue: what its dialect would change of the object as last seen. If the
 * dialect's status has no conditions, an event on the object says why the queue is invalid.
 */
#include "k8s/encoding/kube_field.h"
#include "k8s/write/write_internal.h"

/* NULL: the queue is not served or not known. */
static const struct queue_api *api_of(const struct in_flight_write *f)
{
    struct queue_cache *queues = f->writer->o.queues;
    return queues ? queue_cache_api(queues, f->request->api_group) : NULL;
}

/* The path needs the namespace of the object, which the ref of the queue may lack. */
static const char *put_queue_path(const struct in_flight_write *f, struct buf *b,
                                  bool *ret_subresource)
{
    const struct queue_api *api = api_of(f);
    const char *ns = api ? queue_cache_home(f->writer->o.queues, &f->request->ref) : NULL;
    if (!ns)
        return NULL;
    buf_printf(b, "/apis/%s/%s/", api->dialect->api_group, api->version);
    if (api->dialect->namespaced) {
        buf_puts(b, "namespaces/");
        client_escape(b, ns);
        buf_putc(b, '/');
    }
    buf_printf(b, "%s/", api->dialect->plural);
    client_escape(b, f->request->name);
    *ret_subresource = api->status_subresource;
    return api->dialect->plural;
}

static void keep_queue(struct in_flight_write *f, json_t *object)
{
    queue_cache_written(f->writer->o.queues, &f->request->ref, object, usec_now());
}

static const struct status_kind queue_status = {.failed = "Could not write the status of a queue",
                                                .log_key = "queue",
                                                .put_path = put_queue_path,
                                                .keep = keep_queue};

/* What an event on the queue says: its error, or that it exceeds a limit. NULL: nothing. */
static char *sentence_of(const struct write_request *o, enum writer_event *ret)
{
    bool invalid = o->queue.reason == REASON_QUEUE_INVALID;
    *ret = invalid ? WRITER_EVENT_QUEUE_INVALID : WRITER_EVENT_QUEUE_OVER_LIMIT;
    return invalid ? xstrdup(o->text) : queue_dialect_over_limit(&o->queue);
}

static void send_event(struct in_flight_write *f, const struct queue_api *api, const json_t *object)
{
    enum writer_event event;
    const struct write_request *o = f->request;
    if (api->dialect->has_conditions)
        return;
    cleanup_free char *sentence = sentence_of(o, &event);
    if (!queue_cache_is_news(f->writer->o.queues, &o->ref, sentence) || !sentence)
        return;
    cleanup_free char *version = xasprintf("%s/%s", api->dialect->api_group, api->version);
    const struct write_request_about about = {
        .api_version = version,
        .kind = api->dialect->kind,
        .ns = field_peek(object, "metadata", "namespace", NULL),
        .name = o->name,
        .uid = field_peek(object, "metadata", "uid", NULL),
    };
    writer_take(f->writer, write_request_event(&about, event, sentence));
    f->writer->pump_due = true;
}

void queue_status_send(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    const struct queue_api *api = api_of(f);
    struct queue_cache *queues = f->writer->o.queues;
    cleanup_json json_t *object = api ? queue_cache_load(queues, &o->ref, usec_now()) : NULL;
    const char *uid = field_peek(object, "metadata", "uid", NULL);
    /* Gone, or another object with the same name: the core will send its status. */
    if (!uid || (o->uid && !str_eq(uid, o->uid))) {
        in_flight_end(f);
        return;
    }
    send_event(f, api, object);
    struct queue_view view = {
        .object = object, .orphan = queue_cache_is_orphan(queues, &o->ref), .wall = usec_wall()};
    cleanup_json json_t *patch = api->dialect->status(&o->queue, &view);
    f->status = &queue_status;
    status_patch_send(f, patch, object);
}
