/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_fixture.h - the whole server over real sockets: listeners, loop and core, with a cluster
 * that records what the server asks of it and binds on request.
 *
 * setup() starts one as the test's state (struct server), teardown() ends it. The post_…()
 * functions are what the cluster shows; the others are callers of the server. They fail the test
 * when something is wrong.
 */
#ifndef MUSTER_TEST_UNIT_SERVER_SERVER_FIXTURE_H
#define MUSTER_TEST_UNIT_SERVER_SERVER_FIXTURE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "server/loop/loop.h"
#include "server/routes/ops_routes.h"
#include "server/routes/verb_routes.h"

struct fake {
    struct cluster cluster; /* first */
    struct cluster_sink sink;
    atomic_int bindings;
    atomic_bool closed;
    atomic_bool paused;  /* the core thread is kept busy, mail piles up */
    atomic_bool resting; /* it is */
};

struct server {
    struct fake fake;
    struct config *config;
    struct metrics metrics;
    struct loop *loop;
    struct verb_context calls;
    struct ops_context ops;
    char *verbs, *ops_at;
    pthread_t thread;
    bool running;
};

/* Its holds are longer than any wait in these tests. */
int setup(void **state);
/* Its holds end after a second. */
int setup_short_hold(void **state);
/* As setup(), with the express lane. */
int setup_express(void **state);
int teardown(void **state);
void stop(struct server *s);
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* ---- what the cluster shows ---- */

void post(struct server *s, struct gang_event ev);
void post_node(struct server *s, const char *name, int64_t gpus);
/* The caller frees it; group NULL: an ordinary pod. So with the bodies below. */
char *pod_json(const char *name, const char *group);
void post_pod(struct server *s, const char *name, const char *group);
/* Keeps the core thread, and with it the turn, until fake.paused is taken back. */
void pause_core_thread(struct server *s);
void post_group(struct server *s, const char *name, int64_t min_member);
/* A gang "g" of n members that fits on node "n0", plus an ordinary pod "single". */
void post_world(struct server *s, int n);

/* ---- calls ---- */

char *filter_body(const char *pod, const char *group);
char *bind_body(const char *pod);
json_t *fetch_json(const char *at, const char *method, const char *path, const char *body,
                   int status);
bool passes_filter(struct server *s, const char *pod, const char *group);
/* Sends a bind and leaves the connection waiting. */
int send_bind(struct server *s, const char *pod);
char *bind_error(int fd);
/* A number of gang ml/g, as the API shows it. */
int gang_number(struct server *s, const char *key);
void wait_for(struct server *s, const char *key, int n);
int ready_status(struct server *s);
void wait_ready(struct server *s);

#endif
