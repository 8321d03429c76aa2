/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_fixture.h - the whole server on real sockets: listeners, loop and core. Its cluster
 * records what the server writes, and sends Bindings on request.
 *
 * setup() starts a server as the test's state (struct server), teardown() ends it. The post_…()
 * functions are events from the cluster; the other functions call the server. They fail the test if
 * something is wrong.
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
    struct cluster cluster; /* must be the first member */
    struct cluster_sink sink;
    atomic_int bindings;
    atomic_bool closed;
    atomic_bool paused;  /* keeps the core thread busy, so that mail collects */
    atomic_bool resting; /* the core thread is paused */
};

struct server {
    struct fake fake;
    struct config *config;
    struct metrics metrics;
    struct loop *loop;
    struct check_reader *checks;
    struct verb_context calls;
    struct ops_context ops;
    char *verbs, *ops_at;
    pthread_t thread;
    bool running;
};

/* Holds last longer than any wait in these tests. */
int setup(void **state);
/* Holds end after one second. */
int setup_short_hold(void **state);
/* As setup(), with the express lane. */
int setup_express(void **state);
int teardown(void **state);
void stop(struct server *s);
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* ---- events from the cluster ---- */

void post(struct server *s, struct gang_event ev);
void post_node(struct server *s, const char *name, int64_t gpus);
/* A body; the caller frees it. group NULL: an ordinary pod. The same for the bodies below. */
char *pod_json(const char *name, const char *group);
void post_pod(struct server *s, const char *name, const char *group);
/* Keeps the core thread busy, and with it the turn, until fake.paused is cleared. */
void pause_core_thread(struct server *s);
void post_group(struct server *s, const char *name, int64_t min_member);
/* A gang "g" of n members that fits on node "n0", and an ordinary pod "single". */
void post_world(struct server *s, int n);

/* ---- calls ---- */

char *filter_body(const char *pod, const char *group);
char *bind_body(const char *pod);
json_t *fetch_json(const char *at, const char *method, const char *path, const char *body,
                   int status);
bool passes_filter(struct server *s, const char *pod, const char *group);
/* Sends a bind call and keeps the connection open. */
int send_bind(struct server *s, const char *pod);
char *bind_error(int fd);
/* A number from the API's view of gang ml/g. */
int gang_number(struct server *s, const char *key);
void wait_for(struct server *s, const char *key, int n);
int ready_status(struct server *s);
void wait_ready(struct server *s);

#endif
