/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole server over real sockets: listeners, loop and core, with a cluster that only notes what
 * it is asked for. What a gang is and when it is bound is the core's business and tested there;
 * here it is that calls get in, are held, and get out.
 */
#include "server/loop.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "k8s/decode.h"
#include "server/calls.h"
#include "server/ops.h"
#include "test/unit/server/client.h"

/* ---- a cluster that binds what it is told to ---- */

struct fake {
    struct cluster cluster; /* first */
    struct cluster_sink sink;
    atomic_int bindings;
    atomic_bool closed;
    atomic_bool paused; /* the core thread is kept busy, mail piles up */
};

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
    while (atomic_load(&f->paused))
        usleep(1000);
}

static usec_t fake_next(const struct cluster *c)
{
    const struct fake *f = (const void *)c; /* its first member */
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

struct server {
    struct fake fake;
    struct config *config;
    struct metrics metrics;
    struct loop *loop;
    struct calls_context calls;
    struct ops_context ops;
    char *verbs, *ops_at;
    pthread_t thread;
    bool running;
};

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int setup_with(void **state, usec_t hold)
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
    s->loop = loop_new(s->config, &s->metrics, &err);
    assert_non_null(s->loop);
    s->calls = (struct calls_context){s->loop, &s->metrics, NULL};
    s->ops = (struct ops_context){s->loop, xstrdup("{}")};
    const struct http_options verbs = {.listen = "127.0.0.1:0",
                                       .threads = 2,
                                       .connection_limit = 4096,
                                       .body_limit = 1 << 20,
                                       .request_timeout = 10 * USEC_PER_SEC,
                                       .routes = calls_routes,
                                       .n_routes = calls_n_routes,
                                       .arg = &s->calls,
                                       .refused = calls_refused};
    const struct http_options ops = {.listen = "127.0.0.1:0",
                                     .threads = 1,
                                     .connection_limit = 64,
                                     .body_limit = 1024,
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

static int setup(void **state)
{
    return setup_with(state, 120 * USEC_PER_SEC); /* longer than any wait here */
}

static int setup_short_hold(void **state)
{
    return setup_with(state, USEC_PER_SEC);
}

static void stop(struct server *s)
{
    if (s->running) {
        loop_stop(s->loop);
        pthread_join(s->thread, NULL);
    }
    s->running = false;
}

static int teardown(void **state)
{
    struct server *s = *state;
    stop(s);
    assert_true(atomic_load(&s->fake.closed));
    loop_free(s->loop);
    config_free(s->config);
    free(s->ops.configz);
    free(s->verbs);
    free(s->ops_at);
    free(s);
    return 0;
}

/* ---- what the cluster shows ---- */

static void post(struct server *s, struct gang_event ev)
{
    s->fake.sink.post(s->fake.sink.arg, &ev);
}

static void post_node(struct server *s, const char *name, int64_t gpus)
{
    struct gang_node_facts *n = gang_node_facts_new();
    n->name = xstrdup(name);
    gang_amounts_add(&n->allocatable, "pods", 100000);
    gang_amounts_add(&n->allocatable, "nvidia.com/gpu", gpus);
    post(s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = n});
}

static char *pod_json(const char *name, const char *group)
{
    cleanup_free char *link =
        group ? xasprintf("\"annotations\":{\"scheduling.k8s.io/group-name\":\"%s\"},", group)
              : xstrdup("");
    return xasprintf("{\"metadata\":{%s\"name\":\"%s\",\"namespace\":\"ml\",\"uid\":\"u-%s\"},"
                     "\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":"
                     "\"c\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}]},"
                     "\"status\":{\"phase\":\"Pending\"}}",
                     link, name, name);
}

static void post_pod(struct server *s, const char *name, const char *group)
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

static void post_group(struct server *s, const char *name, int64_t min_member)
{
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref.api_group = xstrdup("scheduling.volcano.sh");
    g->ref.ns = xstrdup("ml");
    g->ref.name = xstrdup(name);
    g->uid = xasprintf("g-%s", name);
    g->min_member = min_member;
    post(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
}

/* A gang "g" of n members that fits on node "n0", plus an ordinary pod "single". */
static void post_world(struct server *s, int n)
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

static char *filter_body(const char *pod, const char *group)
{
    cleanup_free char *json = pod_json(pod, group);
    return xasprintf("{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[\"n0\"]}", json);
}

static char *bind_body(const char *pod)
{
    return xasprintf("{\"PodName\":\"%s\",\"PodNamespace\":\"ml\",\"PodUID\":\"u-%s\","
                     "\"Node\":\"n0\"}",
                     pod, pod);
}

static json_t *ask_json(const char *at, const char *method, const char *path, const char *body,
                        int status)
{
    cleanup_reply struct client_reply r;
    client_ask(at, method, path, body, &r);
    assert_int_equal(r.status, status);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    if (!j)
        fail_msg("no JSON: %s", buf_str(&r.body));
    return j;
}

static bool passes_filter(struct server *s, const char *pod, const char *group)
{
    cleanup_free char *body = filter_body(pod, group);
    json_t *j = ask_json(s->verbs, "POST", "/scheduler/filter", body, 200);
    bool passed = json_array_size(json_object_get(j, "NodeNames")) == 1;
    json_decref(j);
    return passed;
}

/* Sends a bind and leaves the connection waiting. */
static int send_bind(struct server *s, const char *pod)
{
    cleanup_free char *body = bind_body(pod);
    int fd = client_connect(s->verbs);
    client_request(fd, "POST", "/scheduler/bind", body);
    return fd;
}

static char *bind_error(int fd)
{
    cleanup_reply struct client_reply r;
    if (!client_read(fd, &r))
        fail_msg("a held call was not answered");
    assert_int_equal(r.status, 200);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    assert_non_null(j);
    char *error = xstrdup(json_string_value(json_object_get(j, "Error")));
    json_decref(j);
    return error;
}

/* A number of gang ml/g, as the API shows it. */
static int gang_number(struct server *s, const char *key)
{
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, &r);
    json_t *j = json_loads(buf_str(&r.body), 0, NULL);
    json_t *value = json_object_get(j, key);
    int n = value ? (int)json_integer_value(value) : -1;
    json_decref(j);
    return n;
}

static void wait_for(struct server *s, const char *key, int n)
{
    for (int i = 0; i < 3000; i++) {
        if (gang_number(s, key) == n)
            return;
        usleep(10000);
    }
    fail_msg("%s did not become %d but %d", key, n, gang_number(s, key));
}

static int ready_status(struct server *s)
{
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/readyz", NULL, &r);
    return r.status;
}

static void wait_ready(struct server *s)
{
    for (int i = 0; i < 3000 && ready_status(s) != 200; i++)
        usleep(10000);
    assert_int_equal(ready_status(s), 200);
}

/* ---- tests ---- */

static void nothing_passes_before_the_picture_is_whole(void **state)
{
    struct server *s = *state;
    assert_int_equal(ready_status(s), 503);
    cleanup_free char *body = filter_body("single", NULL);
    json_t *j = ask_json(s->verbs, "POST", "/scheduler/filter", body, 200);
    assert_true(strlen(json_string_value(json_object_get(j, "Error"))) > 0);
    json_decref(j);
    int fd = send_bind(s, "single");
    cleanup_free char *error = bind_error(fd);
    assert_true(strlen(error) > 0);
    close(fd);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    post_world(s, 2);
    wait_ready(s);
    assert_true(passes_filter(s, "single", NULL));
}

static void a_gang_is_held_and_bound_together(void **state)
{
    struct server *s = *state;
    int fds[3];
    post_world(s, 3);
    wait_ready(s);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        assert_true(passes_filter(s, name, "g"));
        assert_int_equal(atomic_load(&s->fake.bindings), 0);
        fds[i] = send_bind(s, name);
        if (i < 2)
            wait_for(s, "held", i + 1);
    }
    for (int i = 0; i < 3; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_string_equal(error, "");
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), 3);
    assert_int_equal(gang_number(s, "bound"), 3);
}

static void C03_a_hold_is_answered_at_its_limit_and_the_gang_completes_later(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    usec_t from = usec_now();
    int lone = send_bind(s, "p0");
    cleanup_free char *why = bind_error(lone);
    usec_t took = usec_now() - from;
    assert_true(took >= 900 * USEC_PER_MSEC && took < 5 * USEC_PER_SEC);
    assert_true(strlen(why) > 0);
    assert_int_equal(gang_number(s, "planned"), 2);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    int first = send_bind(s, "p0"), second = send_bind(s, "p1");
    cleanup_free char *a = bind_error(first), *b = bind_error(second);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    assert_int_equal(atomic_load(&s->fake.bindings), 2);
    close(lone);
    close(first);
    close(second);
}

static void a_caller_that_leaves_voids_its_hold(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    int leaves = send_bind(s, "p0");
    wait_for(s, "held", 1);
    close(leaves);
    wait_for(s, "held", 0);
    /* The quorum is not reached with the dead call: the second is held, not bound. */
    int second = send_bind(s, "p1");
    wait_for(s, "held", 1);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    int again = send_bind(s, "p0");
    cleanup_free char *a = bind_error(again), *b = bind_error(second);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    assert_int_equal(atomic_load(&s->fake.bindings), 2);
    close(again);
    close(second);
}

static void a_caller_gone_before_it_was_heard_is_never_counted(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    atomic_store(&s->fake.paused, true);
    int gone = send_bind(s, "p0");
    int stays = send_bind(s, "p1");
    usleep(300000); /* both calls are posted by now */
    close(gone);
    usleep(100000);
    atomic_store(&s->fake.paused, false);
    wait_for(s, "held", 1);
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    assert_false(client_readable(stays, 0));
    int again = send_bind(s, "p0");
    cleanup_free char *a = bind_error(again), *b = bind_error(stays);
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    close(again);
    close(stays);
}

static void a_hung_core_thread_fails_livez(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    atomic_store(&s->fake.paused, true);
    post_node(s, "n1", 1); /* something to wake up for */
    int status = 200;
    for (int i = 0; i < 1000 && status == 200; i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->ops_at, "GET", "/livez", NULL, &r);
        status = r.status;
        usleep(10000);
    }
    assert_int_equal(status, 503);
    atomic_store(&s->fake.paused, false);
    wait_ready(s);
}

static void held_1000_binds_and_filter_still_answers(void **state)
{
    struct server *s = *state;
    enum { N = 1001 };
    cleanup_free int *fds = xcalloc(N, sizeof *fds);
    post_world(s, N);
    wait_ready(s);
    for (int i = 0; i < N - 1; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        fds[i] = send_bind(s, name);
    }
    wait_for(s, "held", N - 1);
    usec_t slowest = 0;
    for (int i = 0; i < 20; i++) {
        usec_t from = usec_now();
        assert_true(passes_filter(s, i % 2 ? "single" : "p1000", i % 2 ? NULL : "g"));
        usec_t took = usec_now() - from;
        slowest = took > slowest ? took : slowest;
    }
    assert_true(slowest < 5 * USEC_PER_SEC); /* kube-scheduler's default timeout */
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
    fds[N - 1] = send_bind(s, "p1000");
    for (int i = 0; i < N; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_string_equal(error, "");
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), N);
}

static void the_end_answers_every_held_call(void **state)
{
    struct server *s = *state;
    enum { N = 20 };
    int fds[N];
    post_world(s, N + 1);
    wait_ready(s);
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        fds[i] = send_bind(s, name);
    }
    wait_for(s, "held", N);
    stop(s);
    for (int i = 0; i < N; i++) {
        cleanup_free char *error = bind_error(fds[i]);
        assert_non_null(strstr(error, "stopping"));
        close(fds[i]);
    }
    assert_int_equal(atomic_load(&s->fake.bindings), 0);
}

/* Asks on one connection until it is refused or closed; every reply that comes must be whole. */
struct hammer {
    pthread_t thread;
    int fd;
    char *body;
    int answers;
};

static void *hammer(void *arg)
{
    struct hammer *h = arg;
    for (bool on = true; on;) {
        cleanup_reply struct client_reply r = {0};
        client_request(h->fd, "POST", "/scheduler/filter", h->body);
        on = client_read(h->fd, &r) && !strstr(buf_str(&r.body), "stopping");
        h->answers += on;
    }
    return NULL;
}

static void the_end_under_load_is_orderly(void **state)
{
    struct server *s = *state;
    struct hammer hammers[4] = {0};
    post_world(s, 2);
    wait_ready(s);
    int held = send_bind(s, "p0");
    wait_for(s, "held", 1);
    for (size_t i = 0; i < ARRAY_SIZE(hammers); i++) {
        hammers[i].fd = client_connect(s->verbs);
        hammers[i].body = filter_body("single", NULL);
        pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]);
    }
    usleep(100000);
    loop_stop(s->loop);
    cleanup_free char *error = bind_error(held);
    assert_non_null(strstr(error, "stopping"));
    for (size_t i = 0; i < ARRAY_SIZE(hammers); i++) {
        pthread_join(hammers[i].thread, NULL);
        assert_true(hammers[i].answers > 0);
        free(hammers[i].body);
        close(hammers[i].fd);
    }
    close(held);
}

static void broken_input_is_answered_as_kube_scheduler_reads_it(void **state)
{
    struct server *s = *state;
    cleanup_buf struct buf deep = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_puts(&deep, "{\"Pod\":");
    const char *const bodies[] = {"",
                                  "{",
                                  "[]",
                                  "{\"Pod\":1,\"NodeNames\":[\"a\"]}",
                                  buf_str(&deep),
                                  "{\"Pod\":{},\"NodeNames\":[\"a\"]}"};
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        json_t *f = ask_json(s->verbs, "POST", "/scheduler/filter", bodies[i], 200);
        json_t *p = ask_json(s->verbs, "POST", "/scheduler/prioritize", bodies[i], 200);
        json_t *e = ask_json(s->verbs, "POST", "/scheduler/preempt", bodies[i], 500);
        json_t *b = ask_json(s->verbs, "POST", "/scheduler/bind", bodies[i], 200);
        assert_true(json_string_length(json_object_get(f, "Error")) > 0);
        assert_true(json_is_array(p) && json_array_size(p) == 0);
        assert_true(json_string_length(json_object_get(b, "Error")) > 0);
        json_decref(f);
        json_decref(p);
        json_decref(e);
        json_decref(b);
    }
    json_t *f = ask_json(s->verbs, "POST", "/scheduler/filter", buf_str(&deep), 200);
    assert_non_null(
        strstr(json_string_value(json_object_get(f, "Error")), "nested deeper than 64"));
    json_decref(f);
    json_decref(ask_json(s->ops_at, "GET", "/configz", NULL, 200));
}

static void verbs_refuse_other_paths_and_methods(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *method, *path;
        int status;
    } cases[] = {{"GET", "/scheduler/filter", 405}, {"PUT", "/scheduler/bind", 405},
                 {"POST", "/scheduler/none", 404},  {"POST", "/filter", 404},
                 {"POST", "/scheduler", 404},       {"GET", "/metrics", 404}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->verbs, cases[i].method, cases[i].path, "{}", &r);
        assert_int_equal(r.status, cases[i].status);
        if (r.status == 405)
            assert_non_null(strstr(buf_str(&r.head), "Allow: POST\r\n"));
    }
}

static void ops_show_what_there_is(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    json_t *gangs = ask_json(s->ops_at, "GET", "/api/v1/gangs", NULL, 200);
    json_t *other = ask_json(s->ops_at, "GET", "/api/v1/gangs?namespace=x", NULL, 200);
    json_t *one = ask_json(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, 200);
    json_t *nodes = ask_json(s->ops_at, "GET", "/api/v1/nodes", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(gangs, "gangs")), 1);
    assert_int_equal(json_array_size(json_object_get(other, "gangs")), 0);
    json_t *gang = json_array_get(json_object_get(gangs, "gangs"), 0);
    static const char *const texts[] = {"namespace", "name", "group", "state", "since"};
    static const char *const numbers[] = {"minMember", "needed",   "members",   "bound",
                                          "running",   "failed",   "succeeded", "held",
                                          "planned",   "priority", "attempts"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_true(json_is_string(json_object_get(gang, texts[i])));
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        assert_true(json_is_integer(json_object_get(gang, numbers[i])));
    assert_true(json_is_true(json_object_get(gang, "known")));
    assert_true(json_is_string(json_object_get(json_object_get(gang, "reason"), "code")));
    assert_string_equal(json_string_value(json_object_get(gang, "state")), "Planned");
    assert_int_equal(json_array_size(json_object_get(one, "pods")), 2);
    json_t *node = json_array_get(json_object_get(nodes, "nodes"), 0);
    json_t *gpu = json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu");
    assert_int_equal(json_integer_value(json_object_get(gpu, "allocatable")), 10);
    assert_int_equal(json_integer_value(json_object_get(gpu, "reserved")), 2);
    assert_int_equal(json_integer_value(json_object_get(node, "slots")), 2);
    json_decref(gangs);
    json_decref(other);
    json_decref(one);
    json_decref(nodes);
    json_decref(ask_json(s->ops_at, "GET", "/api/v1/gangs/ml/none", NULL, 404));
    json_decref(ask_json(s->ops_at, "GET", "/api/v1/gangs/ml", NULL, 404));
    json_decref(ask_json(s->ops_at, "GET", "/api/v1/gangs/a/b/c", NULL, 404));
}

/* Every sample belongs to a family announced by HELP and TYPE, and no gang's name is in it. */
static void metrics_are_well_formed(void **state)
{
    struct server *s = *state;
    post_world(s, 2);
    wait_ready(s);
    assert_true(passes_filter(s, "single", NULL));
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/metrics", NULL, &r);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(buf_str(&r.head), "text/plain; version=0.0.4"));
    static const char *const wanted[] = {
        "\nmuster_extender_requests_total{verb=\"filter\",outcome=\"ok\"} 1\n",
        "\nmuster_extender_request_duration_seconds_count{verb=\"filter\"} 1\n",
        "\nmuster_extender_request_duration_seconds_bucket{verb=\"filter\",le=\"+Inf\"} 1\n",
        "\nmuster_gangs{state=\"Planned\"} 1\n",
        "\nmuster_reserved_devices{resource=\"nvidia.com/gpu\"} 2\n",
        "\nmuster_held_binds 0\n",
        "\nmuster_nodes 1\n",
        "\nmuster_pods 3\n",
        "\nmuster_build_info{version=\"" MUSTER_VERSION "\"} 1\n",
        "\nprocess_resident_memory_bytes ",
        "\nfake_metric 1\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        if (!strstr(buf_str(&r.body), wanted[i]))
            fail_msg("no %s in %s", wanted[i], buf_str(&r.body));
    char family[128] = "";
    char *rest = NULL;
    for (char *line = strtok_r(r.body.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "# TYPE %127s", family) == 1 || line[0] == '#' ||
            str_eq(line, "fake_metric 1"))
            continue;
        if (strncmp(line, family, strlen(family)) != 0)
            fail_msg("%s does not belong to %s", line, family);
    }
}

static void health_is_told(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *path, *body;
        int status;
    } cases[] = {
        {"/livez", "ok", 200},
        {"/healthz", "ok", 200},
        {"/livez?verbose", "[+]core ok\nlivez check passed\n", 200},
        {"/readyz", "[+]core ok\n[-]synced failed\n[+]serving ok\nreadyz check failed\n", 503}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        client_ask(s->ops_at, "GET", cases[i].path, NULL, &r);
        assert_int_equal(r.status, cases[i].status);
        assert_string_equal(buf_str(&r.body), cases[i].body);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- what the API says ---- */

static void the_api_says_what_is_wrong_with_a_question(void **state)
{
    struct server *s = *state;
    static const struct {
        const char *path;
        int status;
        const char *says;
    } cases[] = {
        {"/api/v1/gangs/ml/h", 404, "there is no gang ml/h; in that namespace there are g"},
        {"/api/v1/gangs/lm/g", 404, "there is no gang lm/g, and none in that namespace"},
        {"/api/v1/gangs/ml", 404, "the path of a gang is /api/v1/gangs/NAMESPACE/NAME"},
        {"/api/v1/events?limit=0", 400, "limit is no number"},
        {"/api/v1/events?limit=1x", 400, "limit is no number"},
        {"/api/v1/events?limit=-1", 400, "limit is no number"},
        {"/api/v1/events?gang=g", 400, "gang is no name"},
        {"/api/v1/events?gang=ml/", 400, "gang is no name"},
    };
    post_world(s, 2);
    wait_for(s, "members", 2);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *j = ask_json(s->ops_at, "GET", cases[i].path, NULL, cases[i].status);
        const char *error = json_string_value(json_object_get(j, "error"));
        if (!error || !strstr(error, cases[i].says))
            fail_msg("%s: %s", cases[i].path, error);
        json_decref(j);
    }
}

static size_t count_events(struct server *s, const char *query)
{
    cleanup_free char *path = xasprintf("/api/v1/events%s", query);
    json_t *j = ask_json(s->ops_at, "GET", path, NULL, 200);
    size_t n = json_array_size(json_object_get(j, "events"));
    json_decref(j);
    return n;
}

static void events_are_shown_for_one_gang_and_in_part(void **state)
{
    struct server *s = *state;
    post_group(s, "other", 5);
    post_world(s, 2);
    wait_for(s, "planned", 2);
    size_t all = count_events(s, "");
    assert_true(all >= 2);
    assert_int_equal(count_events(s, "?limit=1"), 1);
    assert_int_equal(count_events(s, "?gang=ml/other"), 1);
    assert_int_equal(count_events(s, "?gang=ml/g") + 1, all);
    assert_int_equal(count_events(s, "?namespace=ml"), all);
    assert_int_equal(count_events(s, "?namespace=none"), 0);
    assert_int_equal(count_events(s, "?gang=ml/g&group=other.io"), 0);
}

static void one_gang_comes_with_why(void **state)
{
    struct server *s = *state;
    post_group(s, "g", 3);
    post_node(s, "n0", 2);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        post_pod(s, name, "g");
    }
    post(s, (struct gang_event){.kind = GANG_EV_SYNCED});
    wait_for(s, "place", 1);
    json_t *j = ask_json(s->ops_at, "GET", "/api/v1/gangs/ml/g", NULL, 200);
    json_t *shape = json_array_get(json_object_get(j, "waiting"), 0);
    json_t *missing = json_object_get(shape, "short");
    assert_int_equal(json_integer_value(json_object_get(shape, "pods")), 3);
    assert_int_equal(json_integer_value(json_object_get(shape, "fit")), 2);
    assert_string_equal(json_string_value(json_object_get(missing, "resource")), "nvidia.com/gpu");
    assert_int_equal(json_integer_value(json_object_get(missing, "free")), 2);
    assert_int_equal(json_array_size(json_object_get(j, "pods")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "withoutPlace")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "minimums")), 1);
    assert_true(json_array_size(json_object_get(j, "events")) > 0);
    assert_int_equal(json_integer_value(json_object_get(j, "inOrder")), 1);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_api_says_what_is_wrong_with_a_question, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(events_are_shown_for_one_gang_and_in_part, setup, teardown),
        cmocka_unit_test_setup_teardown(one_gang_comes_with_why, setup, teardown),
        TEST(nothing_passes_before_the_picture_is_whole),
        TEST(a_gang_is_held_and_bound_together),
        cmocka_unit_test_setup_teardown(
            C03_a_hold_is_answered_at_its_limit_and_the_gang_completes_later, setup_short_hold,
            teardown),
        TEST(a_caller_that_leaves_voids_its_hold),
        TEST(a_caller_gone_before_it_was_heard_is_never_counted),
        TEST(held_1000_binds_and_filter_still_answers),
        TEST(the_end_answers_every_held_call),
        TEST(the_end_under_load_is_orderly),
        TEST(broken_input_is_answered_as_kube_scheduler_reads_it),
        TEST(verbs_refuse_other_paths_and_methods),
        TEST(ops_show_what_there_is),
        TEST(metrics_are_well_formed),
        TEST(health_is_told),
        TEST(a_hung_core_thread_fails_livez),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
