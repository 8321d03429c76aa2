/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/write/resume.h"

#include <curl/curl.h>
#include <strings.h>

#include "k8s/client/client.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/write/suspend_patch.h"

#define PAGE         500
#define MAX_PAGE     ((size_t)256 << 20)
#define MAX_BODY     ((size_t)4 << 20)
#define TIMEOUT      (30 * USEC_PER_SEC)
#define TRIES        5
#define FIRST_PAUSE  (200 * USEC_PER_MSEC)
#define LONGEST_WAIT (5 * USEC_PER_SEC)
/* client_run() may go on to sleep after it has called on_reply(). */
#define POLL (10 * USEC_PER_MSEC)

/* One request at a time: few workloads are suspended. */
struct run {
    const struct resume_options *o;
    struct client *client;
    bool answered, due;
    long status;  /* of the last reply; 0: there was none */
    json_t *body; /* of the last reply; NULL: it is not an object */
    bool temporary;
    struct err err; /* why the last request failed */
};

/* ---- requests ---- */

static void on_reply(void *arg, const struct client_reply *reply)
{
    struct run *run = arg;
    run->answered = true;
    run->status = reply->error ? 0 : reply->status;
    run->temporary = client_reply_is_temporary(reply) && !client_reply_unauthorized(reply);
    json_decref(STEAL(run->body));
    if (!client_ok(reply)) {
        client_reply_error(reply, &run->err);
        return;
    }
    run->body = json_loadb(reply->body, reply->len, 0, NULL);
    if (!run->body) {
        err_set(&run->err, ERR_INVALID, "the reply is not JSON");
        run->status = 0;
    }
}

static void on_time(void *arg)
{
    ((struct run *)arg)->due = true;
}

static void sleep_until(struct run *run, usec_t at)
{
    struct client_timer timer = {.fire = on_time, .arg = run};
    run->due = false;
    client_timer_set(run->client, &timer, at);
    while (!run->due)
        client_run(run->client, POLL, /* fd= */ -1);
}

/* Sends a GET, or a PATCH with this body, and waits for the reply. True: it is in run->body. */
static bool ask(struct run *run, const char *path, const char *body)
{
    for (int tries = 0;; tries++) {
        run->answered = false;
        client_send(run->client, &(struct client_request){
                                     .verb = body ? "patch" : "get",
                                     .resource = "workloads",
                                     .method = body ? "PATCH" : "GET",
                                     .path = path,
                                     .content_type = body ? "application/merge-patch+json" : NULL,
                                     .body = body,
                                     .timeout = TIMEOUT,
                                     .max_body = body ? MAX_BODY : MAX_PAGE,
                                     .done = on_reply,
                                     .arg = run});
        while (!run->answered)
            client_run(run->client, POLL, /* fd= */ -1);
        if (run->body || !run->temporary || tries + 1 >= TRIES)
            return run->body != NULL;
        sleep_until(run,
                    usec_now() + client_backoff(run->client, tries, FIRST_PAUSE, LONGEST_WAIT));
    }
}

/* ---- one workload ---- */

static void say(const struct run *run, const struct workload_suspendable *of, const json_t *object,
                enum resume_outcome outcome, const char *why)
{
    run->o->workload(run->o->arg, of->kind, field_peek(object, "metadata", "namespace", NULL),
                     field_peek(object, "metadata", "name", NULL), outcome, why);
}

static void put_path(struct buf *b, const struct workload_suspendable *of, const char *version,
                     const char *ns)
{
    buf_printf(b, "/apis/%s/%s/", of->api_group, version);
    if (ns) {
        buf_puts(b, "namespaces/");
        client_escape(b, ns);
        buf_putc(b, '/');
    }
    buf_puts(b, of->plural);
}

/* Reads it again after a conflict. */
static void resume_one(struct run *run, const struct workload_suspendable *of, const char *version,
                       const json_t *object)
{
    cleanup_buf struct buf path = BUF_INIT;
    put_path(&path, of, version, field_peek(object, "metadata", "namespace", NULL));
    buf_putc(&path, '/');
    client_escape(&path, field_peek(object, "metadata", "name", NULL));
    cleanup_json json_t *now = json_incref((json_t *)(uintptr_t)object);
    if (is_of_kueue(object)) {
        say(run, of, object, RESUME_KEPT,
            "Kueue manages it, and resumes it when its quota is free");
        return;
    }
    for (int tries = 0; tries < TRIES; tries++) {
        if (!suspended_by_muster(now)) {
            say(run, of, object, RESUME_GONE, NULL);
            return;
        }
        cleanup_free char *body = resume_patch(of, now);
        if (run->o->dry_run || ask(run, buf_str(&path), body)) {
            say(run, of, object, RESUME_DONE, NULL);
            return;
        }
        if (run->status != 409 || !ask(run, buf_str(&path), NULL))
            break;
        json_decref(now);
        now = json_incref(run->body);
    }
    say(run, of, object, run->status == 404 ? RESUME_GONE : RESUME_KEPT,
        run->status == 404 ? NULL : run->err.text);
}

/* ---- the lists ---- */

static bool is_selected(const struct run *run, const json_t *object)
{
    const char *name = field_peek(object, "metadata", "name", NULL);
    return name && field_peek(object, "metadata", "namespace", NULL) &&
           (!run->o->name || strcmp(name, run->o->name) == 0);
}

/* A page, which the caller owns; NULL: an error. Frees *next and replaces it. */
static json_t *read_list(struct run *run, const struct workload_suspendable *of,
                         const char *version, char **next)
{
    cleanup_buf struct buf path = BUF_INIT;
    put_path(&path, of, version, run->o->ns);
    buf_printf(&path, "?%s&limit=%d", SUSPENDED_SELECTOR, PAGE);
    if (*next) {
        buf_puts(&path, "&continue=");
        client_escape(&path, *next);
    }
    if (!ask(run, buf_str(&path), NULL))
        return NULL;
    const char *token = field_peek(run->body, "metadata", "continue", NULL);
    free(*next);
    *next = token && *token ? xstrdup(token) : NULL;
    return STEAL(run->body);
}

/* 0: all are resumed, or the version is not served: then run->status is 404. */
static int resume_version(struct run *run, const struct workload_suspendable *of,
                          const char *version)
{
    cleanup_free char *next = NULL;
    do {
        cleanup_json json_t *page = read_list(run, of, version, &next);
        size_t i;
        const json_t *object;
        if (!page)
            return run->status == 404 ? 0 : -1;
        json_array_foreach(json_object_get(page, "items"), i, object) if (is_selected(run, object))
            resume_one(run, of, version, object);
    } while (next);
    run->status = 200;
    return 0;
}

static int resume_kind(struct run *run, const struct workload_suspendable *of)
{
    for (const char *const *v = of->versions; *v; v++) {
        if (resume_version(run, of, *v) < 0)
            return -1;
        if (run->status != 404)
            return 0;
    }
    return 0;
}

static bool is_kind(const struct workload_suspendable *of, const char *name)
{
    return strcasecmp(name, of->kind) == 0 || strcasecmp(name, of->plural) == 0;
}

static int resume_kinds(struct run *run, struct err *err)
{
    struct workload_suspendable of;
    int r = 0;
    for (size_t i = 0; workload_suspendable_at(i, &of); i++) {
        if ((run->o->kind && !is_kind(&of, run->o->kind)) || resume_kind(run, &of) == 0)
            continue;
        if (r == 0)
            *err = run->err;
        if (r == 0)
            err_wrap(err, "list %s", of.plural);
        r = -1;
    }
    return r;
}

bool resume_knows_kind(const char *kind)
{
    struct workload_suspendable of;
    for (size_t i = 0; workload_suspendable_at(i, &of); i++)
        if (is_kind(&of, kind))
            return true;
    return false;
}

int resume_workloads(const struct resume_options *options, struct err *err)
{
    struct kubeconfig *kc = kubeconfig_load(options->kubeconfig, err);
    if (!kc)
        return -1;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct api_metrics *metrics = api_metrics_new();
    cleanup_free char *agent = xasprintf("muster/%s", options->version);
    struct run run = {.o = options};
    run.client = client_new(kc, agent, metrics, err);
    int r = run.client ? resume_kinds(&run, err) : -1;
    json_decref(run.body);
    client_free(run.client);
    api_metrics_free(metrics);
    return r;
}
