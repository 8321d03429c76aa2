/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/api_discovery.h"

#include "base/log.h"
#include "gang/facts.h"
#include "k8s/encoding/kube_field.h"

#define ASK_FIRST   (2 * USEC_PER_SEC)
#define ASK_MOST    (10 * USEC_PER_SEC)
#define RETRY_FIRST (500 * USEC_PER_MSEC)
#define ASK_TIMEOUT (15 * USEC_PER_SEC)

struct api_discovery {
    struct client *client;
    struct api_resource resource;
    api_discovery_fn *found;
    void *arg;
    struct client_call *call;
    struct client_timer timer;
    size_t at;                /* index of the version in question, in dialect->versions */
    int absences;             /* "not served" answers in a row */
    int failures;             /* failed requests in a row */
    bool not_served_reported; /* the caller knows that they are not served */
};

static void ask(void *arg);

static void ask_later(struct api_discovery *d, int n, usec_t first)
{
    d->at = 0;
    client_timer_set(d->client, &d->timer,
                     usec_now() + client_backoff(d->client, n, first, ASK_MOST));
}

static void not_served(struct api_discovery *d)
{
    ask_later(d, d->absences++, ASK_FIRST);
    if (d->not_served_reported)
        return;
    d->not_served_reported = true;
    d->found(d->arg, /* version= */ NULL, /* status_subresource= */ false);
}

static void failed(struct api_discovery *d, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    if (d->failures == 0)
        log_warning("Could not find out whether the API server serves a resource, retrying",
                    "resource", d->resource.plural, "apiGroup", d->resource.api_group, "error",
                    err.text, NULL);
    ask_later(d, d->failures++, RETRY_FIRST);
    /* Continue without PodGroups that muster may not read. */
    if (!reply->error && reply->status == 403 && !d->not_served_reported) {
        d->not_served_reported = true;
        d->found(d->arg, /* version= */ NULL, /* status_subresource= */ false);
    }
}

static bool has_resource(const json_t *list, const char *name)
{
    const json_t *resources = json_object_get(list, "resources");
    for (size_t i = 0; i < json_array_size(resources); i++)
        if (str_eq(field_peek(json_array_get(resources, i), "name", NULL), name))
            return true;
    return false;
}

static void on_answer(void *arg, const struct client_reply *reply)
{
    struct api_discovery *d = arg;
    d->call = NULL;
    if (!client_ok(reply) && (reply->error || reply->status != 404)) {
        failed(d, reply);
        return;
    }
    d->failures = 0;
    cleanup_json json_t *list = json_loadb(reply->body, reply->len, 0, NULL);
    cleanup_free char *status = xasprintf("%s/status", d->resource.plural);
    const char *version = d->resource.versions[d->at];
    if (client_ok(reply) && has_resource(list, d->resource.plural)) {
        d->at = 0;
        d->absences = 0;
        d->found(d->arg, version, has_resource(list, status));
    } else if (d->resource.versions[++d->at]) {
        ask(d);
    } else {
        not_served(d);
    }
}

static void ask(void *arg)
{
    struct api_discovery *d = arg;
    cleanup_free char *path =
        xasprintf("/apis/%s/%s", d->resource.api_group, d->resource.versions[d->at]);
    d->call = client_send(d->client, &(struct client_request){.verb = "get",
                                                              .resource = "apis",
                                                              .method = "GET",
                                                              .path = path,
                                                              .timeout = ASK_TIMEOUT,
                                                              .done = on_answer,
                                                              .arg = d});
}

struct api_discovery *api_discovery_start(struct client *c, const struct api_resource *resource,
                                          api_discovery_fn *found, void *arg)
{
    struct api_discovery *d = xcalloc(1, sizeof *d);
    *d = (struct api_discovery){.client = c, .resource = *resource, .found = found, .arg = arg};
    d->timer = (struct client_timer){.fire = ask, .arg = d};
    ask(d);
    return d;
}

void api_discovery_again(struct api_discovery *d)
{
    d->not_served_reported = true;
    ask_later(d, d->absences++, ASK_FIRST);
}

struct api_discovery *api_discovery_free(struct api_discovery *d)
{
    if (!d)
        return NULL;
    if (d->call)
        client_cancel(d->client, d->call);
    client_timer_clear(d->client, &d->timer);
    free(d);
    return NULL;
}

/* ---- MutatingAdmissionPolicy ---- */

struct gate_policy_check {
    struct client *client;
    struct client_call *call;
    struct client_timer timer;
    int failures; /* failed requests in a row */
};

static void policies_failed(struct gate_policy_check *p, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    if (p->failures == 0)
        log_warning("gates.enabled is true, but muster could not find out whether this API server "
                    "has MutatingAdmissionPolicy, retrying",
                    "error", err.text, NULL);
    client_timer_set(p->client, &p->timer,
                     usec_now() + client_backoff(p->client, p->failures++, RETRY_FIRST, ASK_MOST));
}

static void on_policies(void *arg, const struct client_reply *reply)
{
    struct gate_policy_check *p = arg;
    p->call = NULL;
    if (!client_ok(reply) && (reply->error || reply->status != 404)) {
        policies_failed(p, reply);
        return;
    }
    cleanup_json json_t *list = json_loadb(reply->body, reply->len, 0, NULL);
    if (!has_resource(list, "mutatingadmissionpolicies"))
        log_warning("gates.enabled is true, but this API server has no MutatingAdmissionPolicy, "
                    "which needs Kubernetes 1.36 or later. Only pods that are created with the "
                    "scheduling gate wait behind it",
                    "gate", GANG_GATE, NULL);
}

static void ask_policies(void *arg)
{
    struct gate_policy_check *p = arg;
    p->call = client_send(p->client,
                          &(struct client_request){.verb = "get",
                                                   .resource = "apis",
                                                   .method = "GET",
                                                   .path = "/apis/admissionregistration.k8s.io/v1",
                                                   .timeout = ASK_TIMEOUT,
                                                   .done = on_policies,
                                                   .arg = p});
}

struct gate_policy_check *gate_policy_check_start(struct client *c)
{
    struct gate_policy_check *p = xcalloc(1, sizeof *p);
    *p = (struct gate_policy_check){.client = c, .timer = {.fire = ask_policies, .arg = p}};
    ask_policies(p);
    return p;
}

struct gate_policy_check *gate_policy_check_free(struct gate_policy_check *p)
{
    if (!p)
        return NULL;
    if (p->call)
        client_cancel(p->client, p->call);
    client_timer_clear(p->client, &p->timer);
    free(p);
    return NULL;
}
