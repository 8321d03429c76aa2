/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes events (core/v1). Sending the same event about the same object again increases the
 * count of the existing event.
 */
#include <stdio.h>

#include <inttypes.h>

#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/write/write_internal.h"

#define WRITE_TIMEOUT (10 * USEC_PER_SEC)
#define MAX_SERIES    4096
#define MAX_MESSAGE   1024 /* bytes; the limit of kube-apiserver */

static char *series_key(const struct write_request *o)
{
    return xasprintf("%s/%s/%s/%s/%s", o->ns, o->name, o->uid ? o->uid : "", o->reason, o->text);
}

void series_free(struct writer *w, struct series *s)
{
    fair_queue_remove(&w->kept, &s->kept);
    free(s->key);
    free(s->name);
    free(s);
}

static struct series *series_find(struct writer *w, const struct write_request *o)
{
    cleanup_free char *key = series_key(o);
    return map_get(&w->series, key);
}

static void series_forget(struct writer *w, const struct write_request *o)
{
    cleanup_free char *key = series_key(o);
    struct series *s = map_remove(&w->series, key);
    if (s)
        series_free(w, s);
}

static void series_remember(struct writer *w, const struct write_request *o, const char *name)
{
    series_forget(w, o);
    if (map_count(&w->series) >= MAX_SERIES) {
        struct series *other =
            CONTAINER_OF(fair_queue_longest_first(&w->kept, o->ns), struct series, kept);
        map_remove(&w->series, other->key);
        series_free(w, other);
    }
    struct series *s = xcalloc(1, sizeof *s);
    s->key = series_key(o);
    s->name = xstrdup(name);
    s->count = 1;
    fair_queue_push(&w->kept, o->ns, &s->kept);
    map_set(&w->series, s->key, s);
}

/* `name` NULL: the path of the collection. */
static void put_event_path(struct buf *b, const struct write_request *o, const char *name)
{
    buf_puts(b, "/api/v1/namespaces/");
    client_escape(b, o->ns);
    buf_puts(b, "/events");
    if (name) {
        buf_putc(b, '/');
        client_escape(b, name);
    }
}

/* ---- a new event ---- */

static const char *api_version_of(const struct writer *w, const struct write_request *o,
                                  struct buf *b)
{
    if (!o->api_group)
        return o->api_version ? o->api_version : "v1";
    const struct podgroups_served *served = podgroups_served(w->o.groups, o->api_group);
    const struct dialect *d = dialect_of_objects(o->api_group);
    const char *version = served ? served->version : d ? d->versions[0] : "v1";
    buf_printf(b, "%s/%s", o->api_group, version);
    return buf_str(b);
}

/* The length of the message, limited to MAX_MESSAGE without splitting a UTF-8 character. */
static size_t message_length(const char *text)
{
    size_t len = strnlen(text, MAX_MESSAGE + 1);
    if (len <= MAX_MESSAGE)
        return len;
    for (len = MAX_MESSAGE; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static json_t *event_object(const struct writer *w, const struct write_request *o, const char *name)
{
    char now[32];
    time_format(usec_wall(), now);
    cleanup_buf struct buf version = BUF_INIT;
    json_t *event = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:s, s:s%, s:s, s:s, s:s, s:i, s:{s:s}, s:s, s:s}", "apiVersion",
        "v1", "kind", "Event", "metadata", "namespace", o->ns, "name", name, "reason", o->reason,
        "message", o->text, message_length(o->text), "type", o->warning ? "Warning" : "Normal",
        "firstTimestamp", now, "lastTimestamp", now, "count", 1, "source", "component", "muster",
        "reportingComponent", "muster", "reportingInstance", "muster");
    json_t *involved = json_pack("{s:s, s:s, s:s}", "apiVersion", api_version_of(w, o, &version),
                                 "kind", o->object_kind, "name", o->name);
    if (!o->no_namespace)
        json_object_set_new(involved, "namespace", json_string(o->ns));
    if (o->uid)
        json_object_set_new(involved, "uid", json_string(o->uid));
    json_object_set_new(event, "involvedObject", involved);
    return event;
}

static void create_done(struct in_flight_write *f, const struct client_reply *reply)
{
    struct writer *w = f->writer;
    if (client_ok(reply)) {
        series_remember(w, f->request, f->event_name);
    } else if (client_reply_is_temporary(reply) && in_flight_retry(f, 3, USEC_PER_SEC)) {
        return;
    } else if (!reply->error && reply->status != 404 && !w->event_forbidden) {
        struct err err;
        client_reply_error(reply, &err);
        log_warning("Could not send an event", "about", f->request->name, "reason",
                    f->request->reason, "error", err.text, NULL);
        w->event_forbidden = reply->status == 403;
    }
    in_flight_end(f);
}

static void create_event(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    struct client *c = f->writer->o.client;
    free(f->event_name);
    char stem[231]; /* possibly truncated; it must not end with '-' or '.' */
    snprintf(stem, sizeof stem, "%s", o->name);
    for (size_t n = strlen(stem); n > 0 && (stem[n - 1] == '-' || stem[n - 1] == '.');)
        stem[--n] = '\0';
    f->event_name = xasprintf("%s.%08x%08x", stem, client_random(c), client_random(c));
    cleanup_json json_t *event = event_object(f->writer, o, f->event_name);
    cleanup_free char *text = json_dumps(event, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    put_event_path(&path, o, /* name= */ NULL);
    in_flight_send(f,
                   &(struct client_request){.verb = "create",
                                            .resource = "events",
                                            .method = "POST",
                                            .path = buf_str(&path),
                                            .content_type = "application/json",
                                            .body = text,
                                            .timeout = WRITE_TIMEOUT},
                   create_done);
}

/* ---- a repeated event ---- */

static void count_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (client_ok(reply) || reply->error || reply->status != 404) {
        in_flight_end(f);
        return;
    }
    /* The API server has deleted the event; by default it keeps events for one hour. */
    series_forget(f->writer, f->request);
    create_event(f);
}

static void count_up(struct in_flight_write *f, struct series *s)
{
    char now[32];
    cleanup_json json_t *body = json_pack("{s:i, s:s}", "count", ++s->count, "lastTimestamp",
                                          time_format(usec_wall(), now));
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    put_event_path(&path, f->request, s->name);
    in_flight_send(f,
                   &(struct client_request){.verb = "patch",
                                            .resource = "events",
                                            .method = "PATCH",
                                            .path = buf_str(&path),
                                            .content_type = "application/merge-patch+json",
                                            .body = text,
                                            .timeout = WRITE_TIMEOUT},
                   count_done);
}

void event_send(struct in_flight_write *f)
{
    struct series *s = series_find(f->writer, f->request);
    if (s)
        count_up(f, s);
    else
        create_event(f);
}
