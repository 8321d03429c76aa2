/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bindings, reads, nominations, gates, evictions and conditions of pods. Every write contains the
 * pod's UID. If a new pod has the same name, kube-apiserver refuses the write (409, observed with
 * version 1.36).
 */
#include <limits.h>

#include "base/log.h"
#include "base/must.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/write/ungate.h"
#include "k8s/write/write_internal.h"

#define BIND_TIMEOUT  (10 * USEC_PER_SEC)
#define WRITE_TIMEOUT (10 * USEC_PER_SEC)
#define POD_MAX_BODY  ((size_t)4 << 20)

static void put_pod_path(struct buf *b, const struct write_request *o, const char *subresource)
{
    buf_puts(b, "/api/v1/namespaces/");
    client_escape(b, o->ns);
    buf_puts(b, "/pods/");
    client_escape(b, o->name);
    buf_puts(b, subresource);
}

/* ---- BIND ---- */

static enum gang_outcome outcome_of(const struct client_reply *r)
{
    if (client_ok(r))
        return OUTCOME_OK;
    /* A conflict can mean that an earlier attempt succeeded, but its reply was lost. */
    if (r->error || client_reply_is_temporary(r) || r->status == 409 || r->status < 400)
        return OUTCOME_UNCLEAR;
    return OUTCOME_REFUSED;
}

static void bind_done(struct in_flight_write *f, const struct client_reply *reply)
{
    struct err err = {.text = ""};
    enum gang_outcome outcome = outcome_of(reply);
    if (outcome != OUTCOME_OK)
        client_reply_error(reply, &err);
    writer_post(f->writer, GANG_EV_BIND_DONE, f->request->uid, f->request->node, err.text, outcome);
    in_flight_end(f);
}

void bind_send(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    MUST(*o->uid && o->node && *o->node); /* without a UID it could bind a new pod of this name */
    cleanup_buf struct buf path = BUF_INIT;
    put_pod_path(&path, o, "/binding");
    cleanup_json json_t *body =
        json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "apiVersion", "v1", "kind",
                  "Binding", "metadata", "namespace", o->ns, "name", o->name, "uid", o->uid,
                  "target", "apiVersion", "v1", "kind", "Node", "name", o->node);
    /* The API server copies the annotations of a Binding to the pod (assignPod). */
    if (o->of_commit)
        json_object_set_new(json_object_get(body, "metadata"), "annotations",
                            json_pack("{s:s}", GANG_COMMIT_MARK, o->uid));
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    in_flight_send(f,
                   &(struct client_request){.verb = "create",
                                            .resource = "bindings",
                                            .method = "POST",
                                            .path = buf_str(&path),
                                            .content_type = "application/json",
                                            .body = text,
                                            .timeout = BIND_TIMEOUT},
                   bind_done);
}

static void get_pod(struct in_flight_write *f,
                    void (*done)(struct in_flight_write *f, const struct client_reply *reply))
{
    cleanup_buf struct buf path = BUF_INIT;
    put_pod_path(&path, f->request, "");
    in_flight_send(f,
                   &(struct client_request){.verb = "get",
                                            .resource = "pods",
                                            .method = "GET",
                                            .path = buf_str(&path),
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = POD_MAX_BODY},
                   done);
}

/* ---- READ_POD ---- */

static void read_done(struct in_flight_write *f, const struct client_reply *reply)
{
    struct write_request *o = f->request;
    struct err err = {.text = ""};
    enum gang_outcome outcome = OUTCOME_UNBOUND;
    const char *node = NULL;
    cleanup_json json_t *pod =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    if (pod) {
        node = field_peek(pod, "spec", "nodeName", NULL);
        if (!str_eq(field_peek(pod, "metadata", "uid", NULL), o->uid)) {
            outcome = OUTCOME_REFUSED;
            err_set(&err, ERR_NOT_FOUND, "the pod was deleted and created again");
            node = NULL;
        } else if (node && *node) {
            outcome = OUTCOME_OK;
        }
    } else {
        client_reply_error(reply, &err);
        bool gone = !reply->error && reply->status == 404;
        if (!gone && in_flight_retry(f, 4, 250 * USEC_PER_MSEC))
            return;
        outcome = gone ? OUTCOME_REFUSED : OUTCOME_UNCLEAR;
    }
    writer_post(f->writer, GANG_EV_POD_READ, o->uid, node && *node ? node : NULL, err.text,
                outcome);
    in_flight_end(f);
}

void read_send(struct in_flight_write *f)
{
    get_pod(f, read_done);
}

enum part { POD, POD_STATUS };

/* The body contains the UID, so the API server refuses the patch for another pod. */
static void patch_pod(struct in_flight_write *f, enum part part, const char *content_type,
                      const char *body,
                      void (*done)(struct in_flight_write *f, const struct client_reply *reply))
{
    bool status = part == POD_STATUS;
    cleanup_buf struct buf path = BUF_INIT;
    put_pod_path(&path, f->request,
                 status ? "/status?fieldManager=muster" : "?fieldManager=muster");
    in_flight_send(f,
                   &(struct client_request){.verb = "patch",
                                            .resource = status ? "pods/status" : "pods",
                                            .method = "PATCH",
                                            .path = buf_str(&path),
                                            .content_type = content_type,
                                            .body = body,
                                            .timeout = WRITE_TIMEOUT,
                                            .max_body = POD_MAX_BODY},
                   done);
}

/* ---- NOMINATE ---- */

/* Nominations, marks and conditions need the same right. */
static void note_pod_status(struct writer *w, const struct client_reply *reply)
{
    struct err err;
    if (reply->error || reply->status != 403 || w->pod_status_forbidden)
        return;
    client_reply_error(reply, &err);
    log_error(
        "The API server does not let muster write nominations, marks and reasons to pods; grant "
        "the missing rule",
        "rule", "patch pods/status", "error", err.text, NULL);
    w->pod_status_forbidden = true;
}

static bool try_again(struct in_flight_write *f, const struct client_reply *reply)
{
    return !client_ok(reply) && client_reply_is_temporary(reply) &&
           in_flight_retry(f, 4, 200 * USEC_PER_MSEC);
}

/* If the core still needs the write, it sends it again, or continues without it. */
static void pod_status_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (try_again(f, reply))
        return;
    note_pod_status(f->writer, reply);
    in_flight_end(f);
}

static void send_nomination(struct in_flight_write *f,
                            void (*done)(struct in_flight_write *f,
                                         const struct client_reply *reply))
{
    const struct write_request *o = f->request;
    cleanup_json json_t *body = json_pack("{s:{s:s}, s:{s:s?}}", "metadata", "uid", o->uid,
                                          "status", "nominatedNodeName", o->node);
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    patch_pod(f, POD_STATUS, "application/merge-patch+json", text, done);
}

void nominate_send(struct in_flight_write *f)
{
    send_nomination(f, pod_status_done);
}

/* ---- UNGATE ---- */

static void ungate_failed(struct writer *w, const struct write_request *o,
                          const struct client_reply *reply)
{
    struct err err;
    if (!reply->error && (reply->status == 404 || reply->status == 409))
        return; /* the pod is gone, or another pod has its name */
    client_reply_error(reply, &err);
    if (client_reply_unauthorized(reply)) {
        if (!w->ungate_forbidden)
            log_error("The API server does not let muster remove its scheduling gate; grant the "
                      "missing rule",
                      "rule", "patch pods", "error", err.text, NULL);
        w->ungate_forbidden = true;
        return;
    }
    log_warning("Could not remove muster's scheduling gate from a pod, retrying", "namespace",
                o->ns, "pod", o->name, "error", err.text, NULL);
}

/* The core repeats the request until the watch shows the pod without the gate. */
static void ungate_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (try_again(f, reply))
        return;
    if (!client_ok(reply))
        ungate_failed(f->writer, f->request, reply);
    else
        f->writer->ungate_forbidden = false;
    in_flight_end(f);
}

/* The API server merges the list by name, so the gates of other programs stay. */
static void take_gate_off(struct in_flight_write *f)
{
    cleanup_free char *text = ungate_patch(f->request->uid);
    patch_pod(f, POD, "application/strategic-merge-patch+json", text, ungate_done);
}

/* Removes the gate even if the nomination failed: the nomination is only a hint. */
static void ungate_nominated(struct in_flight_write *f, const struct client_reply *reply)
{
    if (try_again(f, reply))
        return;
    note_pod_status(f->writer, reply);
    f->nominated = true;
    f->tries = 0;
    take_gate_off(f);
}

void ungate_send(struct in_flight_write *f)
{
    if (f->request->nominates && !f->nominated)
        send_nomination(f, ungate_nominated);
    else
        take_gate_off(f);
}

/* ---- MARK_VICTIM ---- */

/* If the pod is not evicted, kube-controller-manager sets the condition to False after two minutes
 * (syncStalePodDisruption). */
void mark_send(struct in_flight_write *f)
{
    char stamp[32];
    const struct write_request *o = f->request;
    cleanup_json json_t *body = json_pack(
        "{s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s, s:s}]}}", "metadata", "uid", o->uid, "status",
        "conditions", "type", "DisruptionTarget", "status", "True", "reason", GANG_VICTIM_MARK,
        "message", o->text, "lastTransitionTime", time_format(usec_wall(), stamp));
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    patch_pod(f, POD_STATUS, "application/strategic-merge-patch+json", text, pod_status_done);
}

/* ---- EVICT ---- */

/* How long a disruption budget or an admission webhook may forbid the eviction. The core waits a
 * little longer and then counts the pod again (EVICT_LIMIT), so a later eviction would be useless.
 */
#define EVICT_TIME  (290 * USEC_PER_SEC)
#define EVICT_FIRST USEC_PER_SEC

static bool eviction_is_late(const struct in_flight_write *f)
{
    usec_t limit = f->writer->o.eviction_time ? f->writer->o.eviction_time : EVICT_TIME;
    return usec_now() - f->request->since >= limit;
}

static void evict_failed(struct writer *w, const struct write_request *o,
                         const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    if (client_reply_unauthorized(reply)) {
        if (!w->evict_forbidden)
            log_error("The API server does not let muster evict pods; grant the missing rule",
                      "rule", "create pods/eviction", "error", err.text, NULL);
        w->evict_forbidden = true;
        return;
    }
    log_warning("Could not evict a pod", "namespace", o->ns, "pod", o->name, "error", err.text,
                NULL);
}

static void evict_done(struct in_flight_write *f, const struct client_reply *reply)
{
    /* 404: the pod is gone; 409: another pod has its name. */
    bool gone = !reply->error && (reply->status == 404 || reply->status == 409);
    bool refused = !client_ok(reply) && !gone;
    /* 429: a disruption budget forbids the eviction for now. Webhooks refuse with other codes. The
     * rest of the gang may be evicted already, so this one must not run on alone. */
    if (refused && !client_reply_unauthorized(reply) && !eviction_is_late(f) &&
        in_flight_retry(f, INT_MAX, EVICT_FIRST))
        return;
    if (refused)
        evict_failed(f->writer, f->request, reply);
    in_flight_end(f);
}

void evict_send(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    if (eviction_is_late(f)) {
        log_warning("Could not evict a pod in time", "namespace", o->ns, "pod", o->name, NULL);
        in_flight_end(f);
        return;
    }
    cleanup_buf struct buf path = BUF_INIT;
    put_pod_path(&path, o, "/eviction");
    cleanup_json json_t *body =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}}}", "apiVersion", "policy/v1", "kind",
                  "Eviction", "metadata", "namespace", o->ns, "name", o->name, "deleteOptions",
                  "preconditions", "uid", o->uid);
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    in_flight_send(f,
                   &(struct client_request){.verb = "create",
                                            .resource = "evictions",
                                            .method = "POST",
                                            .path = buf_str(&path),
                                            .content_type = "application/json",
                                            .body = text,
                                            .timeout = WRITE_TIMEOUT},
                   evict_done);
}

/* ---- PATCH_CONDITION ---- */

/*
 * kube-scheduler writes the condition PodScheduled after each attempt to schedule the pod. For a
 * pod with scheduling gates, the API server writes it once, when it creates the pod. muster
 * replaces the message and keeps the reason that the writer uses.
 *
 * The patch applies only to the version of the pod that was read, so it cannot change a pod that
 * was bound in the meantime. A pod without gates that has changed since the text was made gets no
 * patch: the change makes kube-scheduler try the pod again, and its message is then newer.
 */
static json_t *condition_patch(const json_t *pod, const struct write_request *o)
{
    const char *version = field_peek(pod, "metadata", "resourceVersion", NULL);
    bool gated =
        json_array_size(json_object_get(json_object_get(pod, "spec"), "schedulingGates")) > 0;
    if (!gated && decode_version_text(version) != o->version)
        return NULL;
    const json_t *list = json_object_get(json_object_get(pod, "status"), "conditions");
    size_t i;
    json_t *c;
    json_array_foreach(list, i, c)
    {
        if (!str_eq(field_peek(c, "type", NULL), "PodScheduled"))
            continue;
        const char *message = field_peek(c, "message", NULL);
        if (!str_eq(field_peek(c, "status", NULL), "False") ||
            (message && strstr(message, o->text)))
            return NULL;
        return json_pack("{s:{s:s, s:s}, s:{s:[{s:s, s:s, s:s, s:s}]}}", "metadata", "uid", o->uid,
                         "resourceVersion", version, "status", "conditions", "type", "PodScheduled",
                         "status", "False", "reason", gated ? "SchedulingGated" : "Unschedulable",
                         "message", o->text);
    }
    return NULL;
}

/* Retries, unless a newer condition of the pod waits. */
static bool condition_again(struct in_flight_write *f, const struct client_reply *reply)
{
    return !map_get(&f->writer->waiting_conditions, f->request->uid) && try_again(f, reply);
}

static void condition_done(struct in_flight_write *f, const struct client_reply *reply)
{
    if (condition_again(f, reply))
        return;
    if (!reply->error && reply->status == 409 && !f->conflicted) {
        f->conflicted = true; /* read the pod again and compare: the change may be unrelated */
        condition_send(f);
        return;
    }
    note_pod_status(f->writer, reply);
    in_flight_end(f);
}

static void condition_read(struct in_flight_write *f, const struct client_reply *reply)
{
    const struct write_request *o = f->request;
    if (condition_again(f, reply))
        return;
    cleanup_json json_t *pod =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    bool waits = pod && str_eq(field_peek(pod, "metadata", "uid", NULL), o->uid) &&
                 !field_peek(pod, "spec", "nodeName", NULL);
    cleanup_json json_t *patch = waits ? condition_patch(pod, o) : NULL;
    if (!patch) {
        in_flight_end(f);
        return;
    }
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    patch_pod(f, POD_STATUS, "application/strategic-merge-patch+json", text, condition_done);
}

void condition_send(struct in_flight_write *f)
{
    get_pod(f, condition_read);
}
