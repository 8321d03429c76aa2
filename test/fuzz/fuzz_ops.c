/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the ops listener: any path with any query, answered from the core of the fixture. The
 * lines after the first are the body, as of a check.
 * Each request gets one answer, and an answer with the content type JSON is JSON.
 */
#include "server/routes/ops_routes.h"

#include "server/loop/ops_queries.h"
#include "test/fuzz/core_fixture.h"
#include "test/fuzz/fake_http.h"

struct loop {
    struct ops_query *posted;
};

void loop_post(struct loop *l, struct loop_mail *mail)
{
    HOLDS(mail->kind == LOOP_QUERY, "another mail");
    l->posted = CONTAINER_OF(mail, struct ops_query, mail);
}

struct loop_health loop_health(const struct loop *l)
{
    (void)l;
    return (struct loop_health){.synced = true};
}

void check_reader_post(struct check_reader *c, struct ops_query *query)
{
    struct loop *l = (struct loop *)(void *)c;
    if (ops_query_read(query, /* rules= */ NULL))
        l->posted = query;
}

/* As in http.c. */
static const struct http_route *route_of(const char *path)
{
    for (size_t i = 0; i < ops_n_routes; i++) {
        const char *want = ops_routes[i].path;
        size_t n = strlen(want);
        if (want[n - 1] == '/' ? strncmp(path, want, n) == 0 && path[n] && path[n] != '?'
                               : strncmp(path, want, n) == 0 && (!path[n] || path[n] == '?'))
            return &ops_routes[i];
    }
    return NULL;
}

static void answer(struct ops_query *q, struct core_fixture *fixture)
{
    static struct metrics metrics = {.max_queues = 200};
    struct history *history = history_new();
    /* A history entry, so that there is something to show. */
    struct gang_event tick = {.kind = GANG_EV_TICK};
    size_t n;
    const struct gang_effect *effects = gang_step(fixture->core, fixture->now, &tick, 1, &n);
    history_effects(history, fixture->now, usec_wall(), fixture->core, effects, n);
    struct ops_query_context view = {
        .core = fixture->core, .history = history, .metrics = &metrics};
    struct ops_query_queue line = {0};
    ops_query_wait(&line, q);
    while (ops_query_next(&line) != USEC_NEVER) /* each part of an explanation is a turn */
        ops_query_turn(&line, &view, false);
    history_free(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *path = fuzz_text(data, size);
    char *body = strchr(path, '\n');
    if (body)
        *body++ = '\0';
    const struct http_route *route = route_of(path);
    if (!route)
        return 0;
    fuzz_begin();
    struct core_fixture *fixture = core_fixture_new();
    struct loop loop = {NULL};
    struct ops_context context = {&loop, (char *)(uintptr_t) "{}",
                                  (struct check_reader *)(void *)&loop};
    struct fake_request *f = fake_request_new(route, path);
    if (body)
        fake_request_body(f, body, strlen(body));
    route->handle(&context, &f->r);
    if (loop.posted)
        answer(loop.posted, fixture);
    if (strncmp(path, "/api/", strlen("/api/")) == 0) {
        cleanup_tree json_t *reply = fuzz_json("the reply", buf_str(&f->r.reply), f->r.reply.len);
        HOLDS(json_is_object(reply), "the reply is not a JSON object");
    }
    fake_request_free(f);
    core_fixture_free(fixture);
    return 0;
}
