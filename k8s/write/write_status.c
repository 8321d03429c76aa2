/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the status of a PodGroup: what its dialect would change of the object as last seen. If
 * another writer keeps changing a field, muster leaves the field alone for a while
 * (podgroup_cache.h), and the log names the writer.
 */
#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/write/write_internal.h"

static const char *put_group_path(const struct in_flight_write *f, struct buf *b,
                                  bool *ret_subresource)
{
    const struct write_request *o = f->request;
    const struct podgroups_served *served = podgroups_served(f->writer->o.groups, o->api_group);
    if (!served)
        return NULL;
    buf_printf(b, "/apis/%s/%s/namespaces/", served->dialect->api_group, served->version);
    client_escape(b, o->ns);
    buf_puts(b, "/podgroups/");
    client_escape(b, o->name);
    *ret_subresource = served->status_subresource;
    return "podgroups";
}

static void keep_group(struct in_flight_write *f, json_t *object)
{
    struct podgroups *groups = f->writer->o.groups;
    if (f->sent)
        podgroups_wrote(groups, &f->request->ref, f->sent, object, usec_now());
    podgroups_written(groups, &f->request->ref, object, usec_now());
}

static const struct status_kind podgroup_status = {.failed =
                                                       "Could not write the status of a PodGroup",
                                                   .log_key = "podgroup",
                                                   .put_path = put_group_path,
                                                   .keep = keep_group};

/* The manager, other than muster, that last set this field of the status. */
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

/* Logs who changes the contested field, and writes the other fields. */
static void contested_done(struct in_flight_write *f, const struct client_reply *reply)
{
    cleanup_json json_t *object =
        client_ok(reply) ? kube_json_whole(reply->body, reply->len) : NULL;
    const char *manager = manager_of(object, f->contested);
    cleanup_free char *key = gang_ref_key(&f->request->ref);
    log_warning("Another writer keeps changing the status of a PodGroup; muster does not write "
                "this field for ten minutes",
                "podgroup", key, "field", f->contested, "writer", manager ? manager : "unknown",
                NULL);
    if (object)
        podgroups_written(f->writer->o.groups, &f->request->ref, object, usec_now());
    status_send(f);
}

/* The patch to send for this version of the object; NULL: there is nothing to write. */
static json_t *status_patch(struct in_flight_write *f, const json_t *seen)
{
    const struct write_request *o = f->request;
    struct podgroups *groups = f->writer->o.groups;
    const struct podgroups_served *served = podgroups_served(groups, o->api_group);
    usec_t now = usec_now();
    const char *uid = field_peek(seen, "metadata", "uid", NULL);
    /* The PodGroup is gone, or a new one has its name. The core will send another status. */
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
    return patch;
}

void status_send(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    const json_t *seen = podgroups_seen(f->writer->o.groups, &o->ref, usec_now());
    cleanup_json json_t *patch = status_patch(f, seen);
    f->status = &podgroup_status;
    if (patch && f->contested[0] && status_read(f, contested_done))
        return;
    if (!patch) {
        in_flight_end(f);
        return;
    }
    json_decref(f->sent);
    f->sent = json_incref(json_object_get(patch, "status"));
    status_patch_send(f, patch, seen);
}
