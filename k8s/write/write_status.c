/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a PodGroup: what its dialect would change of the object as last seen, as a merge
 * patch that only applies to that very version of it. Somebody else was faster: read again, look
 * again. Somebody else keeps setting a field to something else: it is left to him
 * (podgroup_cache.h), and the log says who he is.
 */
#include <limits.h>

#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/write/write_internal.h"

#define WRITE_TIMEOUT  (10 * USEC_PER_SEC)
#define GROUP_MAX_BODY ((size_t)4 << 20)
#define TRIES          8
#define RETRY_FIRST    (200 * USEC_PER_MSEC)

static void put_group_path(struct buf *b, const struct podgroups_served *served,
                           const struct write_request *o, bool status)
{
    buf_printf(b, "/apis/%s/%s/namespaces/", served->dialect->api_group, served->version);
    client_escape(b, o->ns);
    buf_puts(b, "/podgroups/");
    client_escape(b, o->name);
    if (status && served->status_subresource)
        buf_puts(b, "/status");
    if (status)
        buf_puts(b, "?fieldManager=muster");
}

static void give_up(struct in_flight_write *f, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    cleanup_free char *key = podgroups_key(&f->request->ref);
    bool forbidden = !reply->error && reply->status == 403;
    if (forbidden && f->writer->status_forbidden)
        return;
    f->writer->status_forbidden |= forbidden;
    log_warning("the status of a PodGroup could not be written", "podgroup", key, "error", err.text,
                NULL);
}

static void take_reply(struct in_flight_write *f, const struct client_reply *reply)
{
    cleanup_json json_t *object = kube_json_whole(reply->body, reply->len);
    if (!object)
        return;
    if (f->sent)
        podgroups_wrote(f->writer->o.groups, &f->request->ref, f->sent, object, usec_now());
    podgroups_written(f->writer->o.groups, &f->request->ref, object, usec_now());
}

/* Who, other than us, has set that field of the status last. */
static const char *manager_of(const json_t *object, const char *field)
{
    const json_t *list = json_object_get(json_object_get(object, "metadata"), "managedFields");
    cleanup_free char *key = xasprintf("f:%s", field);
    const char *found = NULL, *latest = "";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const json_t *status = json_object_get(json_object_get(entry, "fieldsV1"), "f:status");
        const char *name = field_peek(entry, "manager", NULL);
        const char *time = field_peek(entry, "time", NULL);
        if (!name || strcmp(name, "muster") == 0 || !json_object_get(status, key) ||
            (time && strcmp(time, latest) < 0))
            continue;
        found = name;
        latest = time ? time : latest;
    }
    return found;
}

/* What is left of the status goes on its way. */
static void contested_done(struct in_flight_write *f, const struct client_reply *reply)
{
    cleanup_json json_t *object =
        client_ok(reply) ? kube_json_whole(reply->body, reply->len) : NULL;
    const char *manager = manager_of(object, f->contested);
    cleanup_free char *key = podgroups_key(&f->request->ref);
    log_warning("another writer keeps changing the status of a PodGroup; it is left to it for "
                "ten minutes",
                "podgroup", key, "field", f->contested, "writer", manager ? manager : "unknown",
                NULL);
    if (object)
        podgroups_written(f->writer->o.groups, &f->request->ref, object, usec_now());
    status_send(f);
}

static void reread_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (client_ok(reply))
        take_reply(f, reply);
    bool again = client_ok(reply) || client_reply_is_temporary(reply);
    int tries = client_reply_is_temporary(reply) ? INT_MAX : TRIES; /* an outage ends some time */
    if (again && in_flight_retry(f, tries, RETRY_FIRST / 10))
        return;
    if (reply->error || reply->status != 404)
        give_up(f, reply);
    in_flight_end(f);
}

static void read_group(struct in_flight_write *f, const struct podgroups_served *served,
                       void (*done)(struct in_flight_write *f, const struct client_reply *reply))
{
    cleanup_buf struct buf path = BUF_INIT;
    put_group_path(&path, served, f->request, /* status= */ false);
    in_flight_send(f,
                   &(struct client_request){.verb = "get",
                                            .resource = "podgroups",
                                            .method = "GET",
                                            .path = buf_str(&path),
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = GROUP_MAX_BODY},
                   done);
}

static void patch_done(struct in_flight_write *f, const struct client_reply *reply)
{
    const struct podgroups_served *served =
        podgroups_served(f->writer->o.groups, f->request->api_group);
    if (client_ok(reply)) {
        take_reply(f, reply);
    } else if (!reply->error && reply->status == 409 && served) {
        json_decref(STEAL(f->sent)); /* it was not */
        read_group(f, served, reread_done);
        return;
    } else if (client_reply_is_temporary(reply) && in_flight_retry(f, INT_MAX, RETRY_FIRST)) {
        return;
    } else if (reply->error || reply->status != 404) {
        give_up(f, reply);
    }
    in_flight_end(f);
}

/* The patch to send; NULL: there is nothing to write. */
static json_t *status_patch(struct in_flight_write *f, const struct podgroups_served *served)
{
    const struct write_request *o = f->request;
    struct podgroups *groups = f->writer->o.groups;
    usec_t now = usec_now();
    const json_t *seen = podgroups_seen(groups, &o->ref, now);
    const char *uid = field_peek(seen, "metadata", "uid", NULL);
    /* Gone, or another object under the same name: the core will say something new about it. */
    if (!served || !uid || (o->uid && !str_eq(uid, o->uid)))
        return NULL;
    struct dialect_view view = {seen, podgroups_owners(groups, &o->ref), usec_wall()};
    json_t *patch = served->dialect->status(&o->status, &view);
    json_t *status = json_object_get(patch, "status");
    if (!podgroups_trim(groups, &o->ref, status, now, f->contested))
        f->contested[0] = '\0';
    if (json_object_size(status) == 0 && !f->contested[0]) {
        json_decref(patch);
        return NULL;
    }
    json_object_set_new(patch, "metadata",
                        json_pack("{s:s, s:s}", "uid", uid, "resourceVersion",
                                  field_peek(seen, "metadata", "resourceVersion", NULL)));
    return patch;
}

void status_send(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    const struct podgroups_served *served = podgroups_served(f->writer->o.groups, o->api_group);
    cleanup_json json_t *patch = status_patch(f, served);
    if (!patch) {
        in_flight_end(f);
        return;
    }
    if (f->contested[0]) {
        read_group(f, served, contested_done);
        return;
    }
    json_decref(f->sent);
    f->sent = json_incref(json_object_get(patch, "status"));
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    put_group_path(&path, served, o, /* status= */ true);
    in_flight_send(f,
                   &(struct client_request){.verb = "patch",
                                            .resource = "podgroups",
                                            .method = "PATCH",
                                            .path = buf_str(&path),
                                            .content_type = "application/merge-patch+json",
                                            .body = text,
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = GROUP_MAX_BODY},
                   patch_done);
}
