/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the statuses of PodGroups and of queues have in common: a merge patch that applies only to
 * the version of the object that it was made from. After a conflict, the object is read, and the
 * request is tried again with the new version.
 */
#include <limits.h>

#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/write/write_internal.h"

#define WRITE_TIMEOUT (10 * USEC_PER_SEC)
#define MAX_BODY      ((size_t)4 << 20)
#define CONFLICTS     8
#define RETRY_FIRST   (200 * USEC_PER_MSEC)
#define TRIES_500     40 /* about eight minutes */

/* A missing right is logged once. */
static void give_up(struct in_flight_write *f, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    bool *logged = &f->writer->status_forbidden[f->lane];
    bool forbidden = !reply->error && reply->status == 403;
    if (forbidden && *logged)
        return;
    *logged |= forbidden;
    cleanup_free char *key = gang_ref_key(&f->request->ref);
    log_warning(f->status->failed, f->status->log_key, key, "error", err.text, NULL);
}

static void keep_object(struct in_flight_write *f, const struct client_reply *reply)
{
    cleanup_json json_t *object = kube_json_whole(reply->body, reply->len);
    if (object)
        f->status->keep(f, object);
}

/* Retries without limit during an outage. A 500 has a limit, because it may concern only this
 * object, such as "etcdserver: request is too large" or a failed webhook. */
static bool retry_after(struct in_flight_write *f, const struct client_reply *reply, usec_t first)
{
    bool counts = !reply->error && reply->status == 500;
    if (counts && ++f->failures >= TRIES_500)
        return false;
    return in_flight_retry(f, INT_MAX, first);
}

static void reread_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (client_ok(reply))
        keep_object(f, reply);
    if (client_ok(reply) && ++f->conflicts < CONFLICTS &&
        in_flight_retry(f, INT_MAX, RETRY_FIRST / 10))
        return;
    if (client_reply_is_temporary(reply) && retry_after(f, reply, RETRY_FIRST / 10))
        return;
    if (reply->error || reply->status != 404)
        give_up(f, reply);
    in_flight_end(f);
}

static void patch_done(struct in_flight_write *f, const struct client_reply *reply)
{
    bool conflict = !reply->error && reply->status == 409;
    if (conflict)
        json_decref(STEAL(f->sent)); /* the API server refused it */
    if (client_ok(reply))
        keep_object(f, reply);
    else if (conflict && status_read(f, reread_done))
        return;
    else if (client_reply_is_temporary(reply) && retry_after(f, reply, RETRY_FIRST))
        return;
    else if (reply->error || (!conflict && reply->status != 404))
        give_up(f, reply);
    in_flight_end(f);
}

/* Returns the resource; NULL: its API is no longer served, or the object is gone. */
static const char *put_path(const struct in_flight_write *f, bool status, struct buf *path)
{
    bool subresource;
    const char *resource = f->status->put_path(f, path, &subresource);
    if (resource && status)
        buf_puts(path, subresource ? "/status?fieldManager=muster" : "?fieldManager=muster");
    return resource;
}

bool status_read(struct in_flight_write *f,
                 void (*done)(struct in_flight_write *f, const struct client_reply *reply))
{
    cleanup_buf struct buf path = BUF_INIT;
    const char *resource = put_path(f, /* status= */ false, &path);
    if (!resource)
        return false;
    in_flight_send(f,
                   &(struct client_request){.verb = "get",
                                            .resource = resource,
                                            .method = "GET",
                                            .path = buf_str(&path),
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = MAX_BODY},
                   done);
    return true;
}

void status_patch_send(struct in_flight_write *f, json_t *patch, const json_t *object)
{
    cleanup_buf struct buf path = BUF_INIT;
    const char *resource = patch ? put_path(f, /* status= */ true, &path) : NULL;
    if (!resource) {
        in_flight_end(f);
        return;
    }
    json_object_set_new(patch, "metadata",
                        json_pack("{s:s, s:s}", "uid", field_peek(object, "metadata", "uid", NULL),
                                  "resourceVersion",
                                  field_peek(object, "metadata", "resourceVersion", NULL)));
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    in_flight_send(f,
                   &(struct client_request){.verb = "patch",
                                            .resource = resource,
                                            .method = "PATCH",
                                            .path = buf_str(&path),
                                            .content_type = "application/merge-patch+json",
                                            .body = text,
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = MAX_BODY},
                   patch_done);
}
