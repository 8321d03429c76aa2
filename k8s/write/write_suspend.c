/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspends the workload that owns a PodGroup, and resumes it. It reads the workload, checks it, and
 * patches this version of it. If another writer is faster, it starts again.
 *
 * A tenant can write any owner into a PodGroup. So the workload itself must ask to be suspended,
 * and its pods must be those of the PodGroup.
 */
#include "base/log.h"
#include "k8s/decode/suspended_pods.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/write/suspend_patch.h"
#include "k8s/write/write_internal.h"

#define TIMEOUT       (10 * USEC_PER_SEC)
#define MAX_BODY      ((size_t)4 << 20)
#define TRIES         5
#define FIRST_PAUSE   (200 * USEC_PER_MSEC)
#define MAX_CONFLICTS 5

typedef void done_fn(struct in_flight_write *f, const struct client_reply *reply);

static bool suspends(const struct in_flight_write *f)
{
    return f->request->kind == GANG_SUSPEND;
}

/* ---- the end ---- */

static void log_forbidden(struct writer *w, const char *rule, const struct err *err)
{
    if (!w->suspend_forbidden)
        log_error("The API server does not let muster suspend and resume workloads; grant the "
                  "missing rule",
                  "rule", rule, "error", err->text, NULL);
    w->suspend_forbidden = true;
}

static void tell_owner(struct in_flight_write *f, const char *why)
{
    if (!f->workload.uid)
        return;
    const struct write_request_about about = {f->workload.api_version, f->workload.kind,
                                              f->request->ns, f->workload.name, f->workload.uid};
    cleanup_free char *text = xasprintf("muster evicts the pods: %s", why);
    writer_take(f->writer, write_request_event(&about, WRITER_EVENT_NOT_SUSPENDED, text));
}

/* The core then evicts the pods, or requests again to resume the workload. */
static void refuse(struct in_flight_write *f, const char *why)
{
    const struct write_request *o = f->request;
    log_warning(suspends(f) ? "A workload is not suspended, so its pods are evicted"
                            : "Could not resume a workload",
                "namespace", o->ns, "kind", f->workload.kind ? f->workload.kind : "-", "name",
                f->workload.name ? f->workload.name : o->name, "reason", why, NULL);
    if (suspends(f)) {
        tell_owner(f, why);
        writer_post_refused(f->writer, &o->ref);
    }
    in_flight_end(f);
}

static void failed(struct in_flight_write *f, const struct client_reply *reply, const char *verb)
{
    struct err err;
    struct workload_suspendable of;
    bool gone = !reply->error && reply->status == 404;
    if (client_reply_is_temporary(reply) && in_flight_retry(f, TRIES, FIRST_PAUSE))
        return;
    if (gone && !suspends(f)) {
        in_flight_end(f);
        return;
    }
    client_reply_error(reply, &err);
    if (client_reply_unauthorized(reply) &&
        workload_suspendable(f->workload.api_version, f->workload.kind, &of)) {
        cleanup_free char *rule = xasprintf("%s %s in API group %s", verb, of.plural, of.api_group);
        log_forbidden(f->writer, rule, &err);
        if (!suspends(f)) { /* the core requests it again and again */
            in_flight_end(f);
            return;
        }
        err_set(&err, ERR_FORBIDDEN, "muster is not allowed to %s", rule);
    }
    refuse(f, err.text);
}

/* ---- requests ---- */

static void send(struct in_flight_write *f, const struct workload_suspendable *of, const char *body,
                 done_fn *done)
{
    cleanup_buf struct buf path = BUF_INIT;
    buf_printf(&path, "/apis/%s/namespaces/", f->workload.api_version);
    client_escape(&path, f->request->ns);
    buf_printf(&path, "/%s/", of->plural);
    client_escape(&path, f->workload.name);
    if (body)
        buf_puts(&path, "?fieldManager=muster");
    in_flight_send(
        f,
        &(struct client_request){.verb = body ? "patch" : "get",
                                 .resource = "workloads",
                                 .method = body ? "PATCH" : "GET",
                                 .path = buf_str(&path),
                                 .content_type = body ? "application/merge-patch+json" : NULL,
                                 .body = body,
                                 .timeout = TIMEOUT,
                                 .max_body = MAX_BODY},
        done);
}

static void patched(struct in_flight_write *f, const struct client_reply *reply)
{
    struct workload_suspendable of;
    if (!reply->error && reply->status == 409 && ++f->conflicts < MAX_CONFLICTS) {
        suspend_send(f);
        return;
    }
    if (!client_ok(reply)) {
        failed(f, reply, "patch");
        return;
    }
    f->writer->suspend_forbidden = false;
    workload_suspendable(f->workload.api_version, f->workload.kind, &of);
    cleanup_json json_t *now = kube_json_whole(reply->body, reply->len);
    if (suspends(f) && !is_suspended(&of, now)) {
        refuse(f, "the API server does not store the field that suspends it");
        return;
    }
    log_info(suspends(f) ? "Suspended a workload" : "Resumed a workload", "namespace",
             f->request->ns, "kind", f->workload.kind, "name", f->workload.name, "reason",
             f->request->text ? f->request->text : "-", NULL);
    in_flight_end(f);
}

/* Whether the core can plan its pods while it is suspended. */
static int check_pods(const struct in_flight_write *f, const struct workload_suspendable *of,
                      const json_t *workload, struct err *err)
{
    const struct writer_options *o = &f->writer->o;
    struct suspended_pods pods;
    const struct suspended_pods_options options = {o->rules, o->classes, &f->request->ref};
    if (podgroups_of_workload(o->groups, f->workload.uid, 1))
        return err_set(err, ERR_INVALID, "it owns several PodGroups");
    if (suspended_pods(of, workload, &options, &pods, err) < 0)
        return -1;
    suspended_pods_done(&pods);
    return 0;
}

static void suspend(struct in_flight_write *f, const struct workload_suspendable *of,
                    const json_t *workload)
{
    struct err err;
    if (check_suspendable(of, workload, &err) < 0 || check_pods(f, of, workload, &err) < 0) {
        refuse(f, err.text);
        return;
    }
    if (is_suspended(of, workload)) {
        in_flight_end(f);
        return;
    }
    cleanup_free char *body = suspend_patch(of, workload, f->request->text, usec_wall());
    send(f, of, body, patched);
}

static void resume(struct in_flight_write *f, const struct workload_suspendable *of,
                   const json_t *workload)
{
    if (!suspended_by_muster(workload) || is_of_kueue(workload)) {
        in_flight_end(f);
        return;
    }
    cleanup_free char *body = resume_patch(of, workload);
    send(f, of, body, patched);
}

static void workload_read(struct in_flight_write *f, const struct client_reply *reply)
{
    struct workload_suspendable of;
    cleanup_json json_t *workload =
        client_ok(reply) ? kube_json_whole(reply->body, reply->len) : NULL;
    if (!client_ok(reply)) {
        failed(f, reply, "get");
        return;
    }
    workload_suspendable(f->workload.api_version, f->workload.kind, &of);
    if (!workload || !str_eq(field_peek(workload, "metadata", "uid", NULL), f->workload.uid)) {
        refuse(f, workload ? "it was deleted and created again" : "it has too many fields");
        return;
    }
    if (suspends(f))
        suspend(f, &of, workload);
    else
        resume(f, &of, workload);
}

/* ---- the workload ---- */

/* From the PodGroup, or from the request itself. False: it is unknown. */
static bool find_workload(struct in_flight_write *f)
{
    const struct write_request *o = f->request;
    workload_ref_done(&f->workload);
    if (!o->of_podgroup) {
        f->workload = (struct workload_ref){xstrdup(o->api_version), xstrdup(o->object_kind),
                                            xstrdup(o->name), xstrdup(o->uid)};
        return true;
    }
    const json_t *group = podgroups_seen(f->writer->o.groups, &o->ref, usec_now());
    return group && str_eq(field_peek(group, "metadata", "uid", NULL), o->uid) &&
           workload_suspendable_owner(group, &f->workload) && write_is_name(f->workload.name);
}

void suspend_send(struct in_flight_write *f)
{
    struct workload_suspendable of;
    bool known = f->writer->o.classes && find_workload(f);
    if (known && workload_suspendable(f->workload.api_version, f->workload.kind, &of)) {
        send(f, &of, /* body= */ NULL, workload_read);
        return;
    }
    workload_ref_done(&f->workload); /* it may be anything */
    refuse(f, "its PodGroup names no workload that can be suspended");
}
