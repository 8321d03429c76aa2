/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a PodGroup: what its dialect would change of the object as last seen, as a merge
 * patch that only applies to that very version of it. Somebody else was faster: read again, look
 * again.
 */
#include <limits.h>

#include "base/log.h"
#include "k8s/field.h"
#include "k8s/write_internal.h"

#define WRITE_TIMEOUT  (10 * USEC_PER_SEC)
#define GROUP_MAX_BODY ((size_t)4 << 20)
#define TRIES          8
#define RETRY_FIRST    (200 * USEC_PER_MSEC)

static void put_group_path(struct buf *b, const struct groups_served *served, const struct order *o,
                           bool status)
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

static void give_up(struct flight *f, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    cleanup_free char *key = groups_key(&f->order->ref);
    bool forbidden = !reply->error && reply->status == 403;
    if (forbidden && f->writer->status_forbidden)
        return;
    f->writer->status_forbidden |= forbidden;
    log_warning("the status of a PodGroup could not be written", "podgroup", key, "error", err.text,
                NULL);
}

static void take_reply(struct flight *f, const struct client_reply *reply)
{
    cleanup_json json_t *object = json_loadb(reply->body, reply->len, 0, NULL);
    if (json_is_object(object))
        groups_written(f->writer->o.groups, &f->order->ref, object, usec_now());
}

static void reread_done(struct flight *f, const struct client_reply *reply)
{
    if (client_ok(reply))
        take_reply(f, reply);
    bool again = client_ok(reply) || reply_is_temporary(reply);
    int tries = reply_is_temporary(reply) ? INT_MAX : TRIES; /* an outage ends some time */
    if (again && flight_retry(f, tries, RETRY_FIRST / 10))
        return;
    if (reply->error || reply->status != 404)
        give_up(f, reply);
    flight_end(f);
}

static void reread(struct flight *f, const struct groups_served *served)
{
    cleanup_buf struct buf path = BUF_INIT;
    put_group_path(&path, served, f->order, /* status= */ false);
    flight_send(f,
                &(struct client_request){.verb = "get",
                                         .resource = "podgroups",
                                         .method = "GET",
                                         .path = buf_str(&path),
                                         .timeout = WRITE_TIMEOUT,
                                         .max_body = GROUP_MAX_BODY},
                reread_done);
}

static void patch_done(struct flight *f, const struct client_reply *reply)
{
    const struct groups_served *served = groups_served(f->writer->o.groups, f->order->api_group);
    if (client_ok(reply)) {
        take_reply(f, reply);
    } else if (!reply->error && reply->status == 409 && served) {
        reread(f, served);
        return;
    } else if (reply_is_temporary(reply) && flight_retry(f, INT_MAX, RETRY_FIRST)) {
        return;
    } else if (reply->error || reply->status != 404) {
        give_up(f, reply);
    }
    flight_end(f);
}

void status_send(struct flight *f)
{
    struct order *o = f->order;
    struct groups *groups = f->writer->o.groups;
    const struct groups_served *served = groups_served(groups, o->api_group);
    const json_t *seen = groups_seen(groups, &o->ref, usec_now());
    const char *uid = field_peek(seen, "metadata", "uid", NULL);
    cleanup_json json_t *patch = NULL;
    /* Gone, or another object under the same name: the core will say something new about it. */
    if (served && uid && (!o->uid || str_eq(uid, o->uid)))
        patch = served->dialect->status(&o->status, seen, usec_wall());
    if (!patch) {
        flight_end(f);
        return;
    }
    json_object_set_new(patch, "metadata",
                        json_pack("{s:s, s:s}", "uid", uid, "resourceVersion",
                                  field_peek(seen, "metadata", "resourceVersion", NULL)));
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    put_group_path(&path, served, o, /* status= */ true);
    flight_send(f,
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
