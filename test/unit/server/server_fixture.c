/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/server/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "k8s/decode/decode.h"
#include "test/lib/raw_client.h"

/* ---- a cluster that sends Bindings on request ---- */

static void fake_apply(struct cluster *c, usec_t now, const struct gang_effect *e)
{
    struct fake *f = CONTAINER_OF(c, struct fake, cluster);
    (void)now;
    if (e->kind != GANG_BIND)
        return;
    atomic_fetch_add(&f->bindings, 1);
    struct gang_event ev = {.kind = GANG_EV_BIND_DONE};
    ev.result.uid = xstrdup(e->pod.uid);
    ev.result.node = xstrdup(e->pod.node);
    ev.result.outcome = OUTCOME_OK;
    f->sink.post(f->sink.arg, &ev);
}

static void fake_advance(struct cluster *c, usec_t now)
{
    struct fake *f = CONTAINER_OF(c, struct fake, cluster);
    (void)now;
    while (atomic_load(&f->paused)) {
        atomic_store(&f->resting, true);
        usleep(1000);
    }
    atomic_store(&f->resting, false);
}

static usec_t fake_next(const struct cluster *c)
{
    const struct fake *f = (const void *)c; /* c is its first member */
    return atomic_load(&f->paused) ? 0 : USEC_NEVER;
}

static void fake_close(struct cluster *c, usec_t deadline)
{
    struct fake *f = CONTAINER_OF(c, struct fake, cluster);
    assert_true(deadline > usec_now());
    atomic_store(&f->closed, true);
}

static void fake_metrics(struct cluster *c, struct buf *out)
{
    (void)c;
    buf_puts(out, "fake_metric 1\n");
}

static const struct cluster_ops fake_ops = {fake_apply, fake_advance, fake_next, fake_close,
                                            fake_metrics};

/* ---- a server ---- */

/* Longer than any wait in these tests. */
#define LONG_HOLD (120 * USEC_PER_SEC)

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

/* muster creates PodGroups for pods of the scheduler muster. */
static const struct workload_rules *creates_podgroups(void)
{
    static char muster[] = "muster", home[] = "scheduling.run.ai";
    static char *schedulers[] = {muster};
    static const struct workload_rules rules = {
        .on = true, .schedulers = schedulers, .n_schedulers = 1, .home = home};
    return &rules;
}

static int setup_with(void **state, usec_t hold, bool express)
{
    struct server *s = xcalloc(1, sizeof *s);
    struct err err;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    log_setup(LOG_ERROR, LOG_TEXT);
    s->config = config_defaults();
    s->config->hold = hold;
    s->config->express_lane = express;
    s->loop = loop_new(s->config, &s->metrics, &err);
    assert_non_null(s->loop);
    s->calls = (struct verb_context){s->loop, &s->metrics, NULL};
    s->checks = check_reader_new(s->loop, creates_podgroups(), &err);
    assert_non_null(s->checks);
    s->ops = (struct ops_context){s->loop, xstrdup("{}"), s->checks};
    const struct http_options verbs = {.listen = "127.0.0.1:0",
                                       .threads = 2,
                                       .connection_limit = 4096,
                                       .body_limit = 1 << 20,
                                       .memory = 2 << 20,
                                       .request_timeout = 10 * USEC_PER_SEC,
                                       .routes = verb_routes,
                                       .n_routes = verb_n_routes,
                                       .arg = &s->calls,
                                       .refused = verb_refused};
    const struct http_options ops = {.listen = "127.0.0.1:0",
                                     .threads = 1,
                                     .connection_limit = 2 * OPS_QUERIES,
                                     .body_limit = OPS_BODY_LIMIT,
                                     .memory = 64 << 20,
                                     .request_timeout = 10 * USEC_PER_SEC,
                                     .routes = ops_routes,
                                     .n_routes = ops_n_routes,
                                     .arg = &s->ops};
    struct http *v = http_open(&verbs, &err), *o = http_open(&ops, &err);
    assert_non_null(v);
    assert_non_null(o);
    s->verbs = xstrdup(http_address(v));
    s->ops_at = xstrdup(http_address(o));
    s->fake.cluster.ops = &fake_ops;
    s->fake.sink = loop_sink(s->loop);
    loop_attach(s->loop, v, o);
    loop_attach_cluster(s->loop, &s->fake.cluster);
    pthread_create(&s->thread, NULL, run, s->loop);
    s->running = true;
    *state = s;
    return 0;
}

int setup(void **state)
{
    return setup_with(state, LONG_HOLD, /* express= */ false);
}

int setup_short_hold(void **state)
{
    return setup_with(state, USEC_PER_SEC, /* express= */ false);
}

int setup_express(void **state)
{
    return setup_with(state, LONG_HOLD, /* express= */ true);
}

void stop(struct server *s)
{
    if (s->running) {
        loop_stop(s->loop);
        pthread_join(s->thread, NULL);
    }
    s->running = false;
}

int teardown(void **state)
{
    struct server *s = *state;
    stop(s);
    assert_true(atomic_load(&s->fake.closed));
    check_reader_free(s->checks);
    loop_free(s->loop);
    config_free(s->config);
    free(s->ops.configz);
    free(s->verbs);
    free(s->ops_at);
    free(s);
    return 0;
}

/* ---- events from the cluster ---- */

void post(struct server *s, struct gang_event ev)
{
    s->fake.sink.post(s->fake.sink.arg, &ev);
}

void post_node(struct server *s, const char *name, int64_t gpus)
{
    struct gang_node_facts *n = gang_node_facts_new();
    n->name = xstrdup(name);
    gang_amounts_add(&n->allocatable, "pods", 100000);
    gang_amounts_add(&n->allocatable, "nvidia.com/gpu", gpus);
    post(s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = n});
}

char *pod_json(const char *name, const char *group)
{
    cleanup_free char *link =
        group ? xasprintf("\"annotations\":{\"scheduling.k8s.io/group-name\":\"%s\"},", group)
              : xstrdup("");
    return xasprintf("{\"metadata\":{%s\"name\":\"%s\",\"namespace\":\"ml\",\"uid\":\"u-%s\","
                     "\"resourceVersion\":\"7\"},"
                     "\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":"
                     "\"c\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}]},"
                     "\"status\":{\"phase\":\"Pending\"}}",
                     link, name, name);
}

void post_pod(struct server *s, const char *name, const char *group)
{
    cleanup_free char *text = pod_json(name, group);
    struct err err;
    json_t *j = json_loads(text, 0, NULL);
    struct gang_pod_facts *pod = decode_pod(j, &err);
    json_decref(j);
    if (!pod)
        fail_msg("%s", err.text);
    post(s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod});
}

/* Keeps the core thread busy, and with it the turn, until fake.paused is cleared. */
void pause_core_thread(struct server *s)
{
    atomic_store(&s->fake.paused, true);
    post_node(s, "other", 1); /* an event that wakes the thread */
    while (!atomic_load(&s->fake.resting))
        usleep(1000);
}

void post_group(struct server *s, const char *name, int64_t min_member)
{
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref.api_group = xstrdup("scheduling.volcano.sh");
    g->ref.ns = xstrdup("ml");
    g->ref.name = xstrdup(name);
    g->uid = xasprintf("g-%s", name);
    g->min_member = min_member;
    post(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
}

/* A gang "g" of n members that fits on node "n0", and an ordinary pod "single". */
void post_world(struct server *s, int n)
{
    post_node(s, "n0", n + 8);
    post_group(s, "g", n);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        post_pod(s, name, "g");
    }
    post_pod(s, "single", NULL);
    post(s, (struct gang_event){.kind = GANG_EV_SYNCED});
}

/* ---- calls ---- */

char *filter_body(const char *pod, const char *group)
{
    cleanup_free char *json = pod_json(pod, group);
    return xasprintf("{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[\"n0\"]}", json);
}

char *bind_body(const char *pod)
{
    return xasprintf("{\"PodName\":\"%s\",\"PodNamespace\":\"ml\",\"PodUID\":\"u-%s\","
                     "\"Node\":\"n0\"}",
                     pod, pod);
}

json_t *fetch_json(const char *at, const char *method, const char *path, const char *body,
                   int status)
{
    cleanup_reply struct client_reply r;
    client_ask(at, method, path, body, &r);
    assert_int_equal(r.status, status);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    if (!j)
        fail_msg("not JSON: %s", buf_str(&r.body));
    return j;
}

bool passes_filter(struct server *s, const char *pod, const char *group)
{
    cleanup_free char *body = filter_body(pod, group);
    json_t *j = fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200);
    bool passed = json_array_size(json_object_get(j, "NodeNames")) == 1;
    json_decref(j);
    return passed;
}

/* Sends a bind call and keeps the connection open. */
int send_bind(struct server *s, const char *pod)
{
    cleanup_free char *body = bind_body(pod);
    int fd = client_connect(s->verbs);
    client_request(fd, "POST", "/scheduler/bind", body);
    return fd;
}

char *bind_error(int fd)
{
    cleanup_reply struct client_reply r;
    if (!client_read(fd, &r))
        fail_msg("a held call got no answer");
    assert_int_equal(r.status, 200);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    assert_non_null(j);
    char *error = xstrdup(json_string_value(json_object_get(j, "Error")));
    json_decref(j);
    return error;
}

/* A number from the API's view of gang ml/g. */
int gang_number(struct server *s, const char *key)
{
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, &r);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    json_t *value = json_object_get(j, key);
    int n = value ? (int)json_integer_value(value) : -1;
    json_decref(j);
    return n;
}

void wait_for(struct server *s, const char *key, int n)
{
    for (int i = 0; i < 3000; i++) {
        if (gang_number(s, key) == n)
            return;
        usleep(10000);
    }
    fail_msg("%s is not %d but %d", key, n, gang_number(s, key));
}

int ready_status(struct server *s)
{
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/readyz", NULL, &r);
    return r.status;
}

void wait_ready(struct server *s)
{
    for (int i = 0; i < 3000 && ready_status(s) != 200; i++)
        usleep(10000);
    assert_int_equal(ready_status(s), 200);
}
