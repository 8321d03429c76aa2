/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/write/ungate.h"

#include <curl/curl.h>

#include "base/list.h"
#include "base/map.h"
#include "gang/facts.h"
#include "k8s/client/client.h"
#include "k8s/encoding/kube_field.h"

#define PAGE         500
#define MAX_PAGE     ((size_t)256 << 20)
#define MAX_POD      ((size_t)4 << 20)
#define AT_ONCE      16
#define TIMEOUT      (30 * USEC_PER_SEC)
#define TRIES        5
#define FIRST_PAUSE  (200 * USEC_PER_MSEC)
#define LONGEST_WAIT (5 * USEC_PER_SEC)
#define ROUNDS       5 /* the last round only lists */

struct gated {
    struct list link; /* in run->waiting */
    struct run *run;
    char *ns, *name, *uid;
    int tries;
    struct client_timer retry;
};

struct run {
    const struct ungate_options *o;
    struct client *client;
    struct list waiting;
    int n_in_flight;
    struct map seen; /* UIDs of pods that are being patched or still have the gate */
    int round;
    bool found; /* this round found a pod to patch */
    /* the list */
    char *next;       /* continue token of the next page; NULL: the first page */
    int tries, begun; /* failures in a row; how often an expired list began again */
    bool listed, failed;
    struct err *err;
    struct client_timer retry;
};

char *ungate_patch(const char *uid)
{
    cleanup_json json_t *body =
        json_pack("{s:{s:s}, s:{s:[{s:s, s:s}]}}", "metadata", "uid", uid, "spec",
                  "schedulingGates", "name", GANG_GATE, "$patch", "delete");
    return json_dumps(body, JSON_COMPACT);
}

static void again(struct client *c, struct client_timer *t, int tries)
{
    client_timer_set(c, t, usec_now() + client_backoff(c, tries, FIRST_PAUSE, LONGEST_WAIT));
}

/* ---- one pod ---- */

static void patch_send(struct gated *g);

static void patch_next(struct run *run)
{
    while (run->n_in_flight < AT_ONCE && !list_empty(&run->waiting)) {
        struct gated *g = CONTAINER_OF(run->waiting.next, struct gated, link);
        list_remove(&g->link);
        run->n_in_flight++;
        if (run->o->dry_run)
            client_timer_set(run->client, &g->retry, usec_now());
        else
            patch_send(g);
    }
}

static void gated_end(struct gated *g)
{
    struct run *run = g->run;
    client_timer_clear(run->client, &g->retry);
    free(g->ns);
    free(g->name);
    free(g->uid);
    free(g);
    run->n_in_flight--;
    patch_next(run);
}

static void say(const struct gated *g, enum ungate_outcome outcome, const char *why)
{
    g->run->o->pod(g->run->o->arg, g->ns, g->name, outcome, why);
}

static void patch_done(void *arg, const struct client_reply *reply)
{
    struct gated *g = arg;
    struct err err;
    bool gone = !reply->error && reply->status == 404;
    /* Another pod has this name, or another writer was faster. The next list shows which. */
    bool conflict = !reply->error && reply->status == 409;
    if (client_ok(reply) || gone || conflict) {
        map_remove(&g->run->seen, g->uid);
        if (!conflict)
            say(g, gone ? UNGATE_GONE : UNGATE_DONE, NULL);
    } else if (client_reply_is_temporary(reply) && ++g->tries < TRIES) {
        again(g->run->client, &g->retry, g->tries);
        return;
    } else {
        client_reply_error(reply, &err);
        say(g, UNGATE_KEPT, err.text);
    }
    gated_end(g);
}

static void patch_send(struct gated *g)
{
    cleanup_buf struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/namespaces/");
    client_escape(&path, g->ns);
    buf_puts(&path, "/pods/");
    client_escape(&path, g->name);
    buf_puts(&path, "?fieldManager=muster");
    cleanup_free char *body = ungate_patch(g->uid);
    client_send(g->run->client,
                &(struct client_request){.verb = "patch",
                                         .resource = "pods",
                                         .method = "PATCH",
                                         .path = buf_str(&path),
                                         .content_type = "application/strategic-merge-patch+json",
                                         .body = body,
                                         .timeout = TIMEOUT,
                                         .max_body = MAX_POD,
                                         .done = patch_done,
                                         .arg = g});
}

static void on_retry(void *arg)
{
    struct gated *g = arg;
    if (!g->run->o->dry_run) {
        patch_send(g);
        return;
    }
    say(g, UNGATE_DONE, NULL);
    gated_end(g);
}

/* ---- the list ---- */

static bool has_gate(const json_t *pod)
{
    size_t i;
    const json_t *gate;
    json_array_foreach(json_object_get(json_object_get(pod, "spec"), "schedulingGates"), i,
                       gate) if (str_eq(field_peek(gate, "name", NULL), GANG_GATE)) return true;
    return false;
}

static void on_pod_set(struct run *run, const json_t *pod)
{
    const char *ns = field_peek(pod, "metadata", "namespace", NULL);
    const char *name = field_peek(pod, "metadata", "name", NULL);
    const char *uid = field_peek(pod, "metadata", "uid", NULL);
    if (!ns || !name || !uid || !has_gate(pod) || map_get(&run->seen, uid))
        return;
    map_set(&run->seen, uid, run);
    if (run->round + 1 == ROUNDS) {
        run->o->pod(run->o->arg, ns, name, UNGATE_KEPT,
                    "it has the gate again, or still; check whether a policy still sets the gate");
        return;
    }
    run->found = true;
    struct gated *g = xcalloc(1, sizeof *g);
    *g = (struct gated){.run = run, .ns = xstrdup(ns), .name = xstrdup(name), .uid = xstrdup(uid)};
    g->retry = (struct client_timer){.fire = on_retry, .arg = g};
    list_push(&run->waiting, &g->link);
}

static void list_send(struct run *run);

/* The continue token has expired. The reply may contain a new token, with which the list continues
 * after the last name. Without one, the list begins again. */
static bool go_on_anew(struct run *run, const struct client_reply *reply)
{
    cleanup_json json_t *status = json_loadb(reply->body, reply->len, 0, NULL);
    const char *next = field_peek(status, "metadata", "continue", NULL);
    if (next && !*next)
        next = NULL;
    if (!run->next || (next ? ++run->tries : ++run->begun) >= TRIES)
        return false;
    free(run->next);
    run->next = xstrdup_null(next);
    return true;
}

static void list_failed(struct run *run, const struct client_reply *reply)
{
    if (!reply->error && reply->status == 410 && go_on_anew(run, reply)) {
        list_send(run);
    } else if (client_reply_is_temporary(reply) && !client_reply_unauthorized(reply) &&
               ++run->tries < TRIES) {
        again(run->client, &run->retry, run->tries);
    } else {
        client_reply_error(reply, run->err);
        err_wrap(run->err, "list pods");
        run->failed = true;
    }
}

static void list_done(void *arg, const struct client_reply *reply)
{
    struct run *run = arg;
    cleanup_json json_t *page =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    if (!page) {
        list_failed(run, reply);
        return;
    }
    size_t i;
    const json_t *pod;
    json_array_foreach(json_object_get(page, "items"), i, pod) on_pod_set(run, pod);
    const char *next = field_peek(page, "metadata", "continue", NULL);
    free(run->next);
    run->next = next && *next ? xstrdup(next) : NULL;
    run->tries = 0;
    run->listed = !run->next;
    if (run->next)
        list_send(run);
    patch_next(run);
}

/* Lists unbound pods only, because bound pods have no gates. */
static void list_send(struct run *run)
{
    cleanup_buf struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/");
    if (run->o->ns) {
        buf_puts(&path, "namespaces/");
        client_escape(&path, run->o->ns);
        buf_putc(&path, '/');
    }
    buf_printf(&path, "pods?fieldSelector=spec.nodeName%%3D&limit=%d", PAGE);
    if (run->next) {
        buf_puts(&path, "&continue=");
        client_escape(&path, run->next);
    }
    client_send(run->client, &(struct client_request){.verb = "list",
                                                      .resource = "pods",
                                                      .method = "GET",
                                                      .path = buf_str(&path),
                                                      .timeout = TIMEOUT,
                                                      .max_body = MAX_PAGE,
                                                      .done = list_done,
                                                      .arg = run});
}

static void on_list_retry(void *arg)
{
    list_send(arg);
}

/* Lists the pods and patches each one that has the gate. */
static void run_round(struct run *run)
{
    run->listed = run->found = false;
    list_send(run);
    while (!(run->listed || run->failed) || run->n_in_flight)
        client_run(run->client, USEC_PER_SEC, /* fd= */ -1);
}

int ungate_pods(const struct ungate_options *options, struct err *err)
{
    struct kubeconfig *kc = kubeconfig_load(options->kubeconfig, err);
    if (!kc)
        return -1;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct api_metrics *metrics = api_metrics_new();
    cleanup_free char *agent = xasprintf("muster/%s", options->version);
    struct run run = {.o = options, .err = err};
    run.retry = (struct client_timer){.fire = on_list_retry, .arg = &run};
    list_init(&run.waiting);
    run.client = client_new(kc, agent, metrics, err);
    for (bool more = run.client; more; run.round++) {
        run_round(&run);
        more = run.found && !run.failed && !options->dry_run;
    }
    bool done = run.client && !run.failed;
    free(run.next);
    map_done(&run.seen);
    client_free(run.client);
    api_metrics_free(metrics);
    return done ? 0 : -1;
}
