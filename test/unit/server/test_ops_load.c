/* SPDX-License-Identifier: Apache-2.0 */
/*
 * T10: many API requests at once in a large cluster. kube-scheduler's calls and probes still get
 * their answers, and a turn of the core spends at most a few milliseconds on API requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/lib/cpu_cost.h"
#include "test/lib/raw_client.h"
#include "test/unit/server/server_fixture.h"

enum { NODES = IS_FAST_BUILD ? 5000 : 500 };
enum { PODS = NODES * 10, GANG_OF = 8, WAITING = NODES / 5, CLIENTS = 256, ROUNDS = 12 };
#define TURN_NS 5e6 /* how long the API may use the core in a turn */
/* The longest time of a probe or call that does not wait for other requests. */
#define SOON (2 * USEC_PER_SEC)

static void post_member(struct server *s, const char *group, int i, const char *node)
{
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup("ml");
    f->name = xasprintf("%s-%d", group, i);
    f->uid = xasprintf("u-%s", f->name);
    f->version = 7;
    f->scheduler = xstrdup("default-scheduler");
    f->group = (struct gang_ref){xstrdup("scheduling.volcano.sh"), xstrdup("ml"), xstrdup(group)};
    f->node = xstrdup_null(node);
    f->phase = node ? PHASE_RUNNING : PHASE_PENDING;
    gang_amounts_add(&f->requests, "nvidia.com/gpu", 1);
    post(s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
}

static void post_gang(struct server *s, const char *kind, int number, int *at)
{
    cleanup_free char *group = xasprintf("%s-%d", kind, number);
    post_group(s, group, GANG_OF);
    for (int i = 0; i < GANG_OF; i++) {
        cleanup_free char *node = at ? xasprintf("node-%d", (*at)++ % NODES) : NULL;
        post_member(s, group, i, node);
    }
}

/* Full nodes, gangs that run there, and gangs that wait. */
static void post_large_world(struct server *s)
{
    int at = 0;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("node-%d", i);
        post_node(s, name, 10);
    }
    for (int i = 0; i < PODS / GANG_OF; i++)
        post_gang(s, "run", i, &at);
    for (int i = 0; i < WAITING; i++)
        post_gang(s, "wait", i, NULL);
    post_world(s, 4);
    wait_ready(s);
}

static const char *const questions[] = {
    "/api/v1/gangs",         "/api/v1/nodes", "/api/v1/gangs/ml/wait-7",
    "/api/v1/gangs/ml/none", "/metrics",      "/api/v1/events",
};

static usec_t probe(struct server *s, const char *path)
{
    usec_t begin = usec_now();
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", path, NULL, &r);
    assert_int_equal(r.status, 200);
    return usec_now() - begin;
}

static usec_t call(struct server *s)
{
    usec_t begin = usec_now();
    cleanup_free char *body = filter_body("single", NULL);
    json_decref(fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200));
    return usec_now() - begin;
}

static void keep_longest(usec_t *longest, usec_t took)
{
    *longest = took > *longest ? took : *longest;
}

/* Each kind of request alone, several times. */
static void send_each_alone(struct server *s)
{
    for (size_t q = 0; q < ARRAY_SIZE(questions); q++) {
        int64_t best = INT64_MAX;
        for (int round = 0; round < ROUNDS; round++) {
            samples_clear(&s->metrics.queries);
            cleanup_reply struct client_reply r;
            client_ask(s->ops_at, "GET", questions[q], NULL, &r);
            while (atomic_load(&s->metrics.queries.count) == 0)
                usleep(100); /* the time is stored after the reply is sent */
            int64_t ns = samples_quantile(&s->metrics.queries, 1.0);
            best = ns < best ? ns : best;
        }
        print_message("%-24s %6.2f ms of CPU\n", questions[q], (double)best / 1e6);
    }
}

/* Fewer than may wait: a request whose reply is being sent still counts as waiting. */
enum { CROWD = 240 };

struct readers {
    int fds[CROWD], status[CROWD]; /* status 0: no complete reply */
};

/* Reads meanwhile, because unread replies use up the memory for replies. */
static void *read_all(void *arg)
{
    struct readers *x = arg;
    for (int i = 0; i < CROWD; i++) {
        cleanup_reply struct client_reply r;
        x->status[i] = client_read(x->fds[i], &r) ? r.status : 0;
        close(x->fds[i]);
    }
    return NULL;
}

/* All clients send at once. Returns the longest turn of the core, in CPU time. */
static int64_t crowd(struct server *s, usec_t *longest_probe, usec_t *longest_call)
{
    struct readers x;
    pthread_t reader;
    samples_clear(&s->metrics.queries);
    for (int i = 0; i < CROWD; i++) {
        x.fds[i] = client_connect(s->ops_at);
        client_request(x.fds[i], "GET", questions[(size_t)i % ARRAY_SIZE(questions)], NULL);
    }
    assert_int_equal(pthread_create(&reader, NULL, read_all, &x), 0);
    for (int i = 0; i < 10; i++) {
        keep_longest(longest_probe, probe(s, i % 2 ? "/readyz" : "/livez"));
        keep_longest(longest_call, call(s));
    }
    pthread_join(reader, NULL);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(x.status[i], (size_t)i % ARRAY_SIZE(questions) == 3 ? 404 : 200);
    return samples_quantile(&s->metrics.queries, 1.0);
}

static void T10_many_api_requests_at_once_do_not_delay_calls_and_probes(void **state)
{
    struct server *s = *state;
    int64_t best = INT64_MAX;
    usec_t longest_probe = 0, longest_call = 0;
    post_large_world(s);
    send_each_alone(s);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t ns = crowd(s, &longest_probe, &longest_call);
        assert_true(ns > 0);
        best = ns < best ? ns : best;
    }
    print_message("longest turn %.2f ms of CPU (best of %d), probe %.1f ms, filter %.1f ms\n",
                  (double)best / 1e6, ROUNDS, (double)longest_probe / 1e3,
                  (double)longest_call / 1e3);
    assert_true(longest_probe < SOON);
    assert_true(longest_call < SOON);
    if ((double)best > cost_limit(TURN_NS))
        fail_msg("a turn takes %.1f ms of CPU", (double)best / 1e6);
}

/* A client that keeps sending requests, each on a new connection. */
struct asker {
    pthread_t thread;
    struct server *s;
    atomic_bool over;
    int answers;
};

static void *keep_asking(void *arg)
{
    struct asker *a = arg;
    for (; !atomic_load(&a->over); a->answers++) {
        cleanup_reply struct client_reply r;
        client_ask(a->s->ops_at, "GET", "/api/v1/gangs", NULL, &r);
    }
    return NULL;
}

/* The share of a second that the core spends on API requests, in thousandths. */
static int64_t share_of_questions(struct server *s, bool beside_calls)
{
    struct asker askers[8] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
        askers[i].s = s;
        pthread_create(&askers[i].thread, NULL, keep_asking, &askers[i]);
    }
    usec_t begin = usec_now(), now;
    uint64_t before = atomic_load(&s->metrics.queries.sum);
    while ((now = usec_now()) < begin + USEC_PER_SEC)
        if (beside_calls)
            call(s);
        else
            usleep(10000);
    uint64_t spent = atomic_load(&s->metrics.queries.sum) - before;
    for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
        atomic_store(&askers[i].over, true);
        pthread_join(askers[i].thread, NULL);
        assert_true(askers[i].answers > 0);
    }
    return (int64_t)spent / (now - begin);
}

static void T10_beside_calls_api_requests_take_at_most_a_tenth_of_the_core(void **state)
{
    struct server *s = *state;
    post_large_world(s);
    int64_t alone = share_of_questions(s, false), beside = share_of_questions(s, true);
    print_message("API requests alone take %.2f of the core, beside calls %.2f\n",
                  (double)alone / 1e3, (double)beside / 1e3);
    assert_true(beside < 200);
    if (IS_FAST_BUILD)
        assert_true(alone > beside);
}

/* ---- probes ---- */

static int status_of(struct server *s, const char *path, usec_t *took)
{
    usec_t begin = usec_now();
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", path, NULL, &r);
    *took = usec_now() - begin;
    return r.status;
}

static void T10_probes_report_a_stuck_core_and_do_not_wait_for_it(void **state)
{
    struct server *s = *state;
    usec_t took;
    int fds[CLIENTS];
    post_world(s, 2);
    wait_ready(s);
    pause_core_thread(s);
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect(s->ops_at);
        client_request(fds[i], "GET", "/api/v1/events", NULL);
    }
    assert_int_equal(status_of(s, "/livez", &took), 200); /* not stuck for long enough yet */
    assert_true(took < SOON);
    for (int i = 0; i < 100 && status_of(s, "/livez", &took) == 200; i++)
        usleep(100000);
    assert_int_equal(status_of(s, "/livez", &took), 503);
    assert_true(took < SOON);
    assert_int_equal(status_of(s, "/readyz", &took), 503);
    /* An API request beyond the limit is refused at once. A request for metrics is still accepted.
     */
    assert_int_equal(status_of(s, "/api/v1/nodes", &took), 503);
    int scrape = client_connect(s->ops_at);
    client_request(scrape, "GET", "/metrics", NULL);
    usleep(100000);
    atomic_store(&s->fake.paused, false);
    cleanup_reply struct client_reply metrics;
    assert_true(client_read(scrape, &metrics));
    assert_int_equal(metrics.status, 200);
    close(scrape);
    for (int i = 0; i < CLIENTS; i++) {
        cleanup_reply struct client_reply r;
        assert_true(client_read(fds[i], &r));
        assert_int_equal(r.status, 200);
        close(fds[i]);
    }
    assert_int_equal(status_of(s, "/livez", &took), 200);
}

static void T10_slow_clients_do_not_block_probes_or_calls(void **state)
{
    struct server *s = *state;
    enum { SLOW = 600 };
    int ops[SLOW], verbs[SLOW];
    static const char start[] = "POST /scheduler/filter HTTP/1.1\r\nHost: x\r\n";
    post_world(s, 2);
    wait_ready(s);
    for (int i = 0; i < SLOW; i++) {
        ops[i] = client_connect(s->ops_at);
        client_request(ops[i], "GET", "/metrics", NULL); /* and never reads the reply */
        verbs[i] = client_connect(s->verbs);
        client_send(verbs[i], start, (size_t)(1 + i % (int)(sizeof start - 1)));
    }
    usec_t took;
    assert_int_equal(status_of(s, "/livez", &took), 200);
    assert_true(took < SOON);
    assert_true(call(s) < SOON);
    for (int i = 0; i < SLOW; i++) {
        close(ops[i]);
        close(verbs[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(T10_many_api_requests_at_once_do_not_delay_calls_and_probes),
        TEST(T10_beside_calls_api_requests_take_at_most_a_tenth_of_the_core),
        TEST(T10_probes_report_a_stuck_core_and_do_not_wait_for_it),
        TEST(T10_slow_clients_do_not_block_probes_or_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
