/* SPDX-License-Identifier: Apache-2.0 */
/* A namespace with many writes delays another one only by its turn. */
#include "writer_fixture.h"

#include <stdio.h>

#include "k8s/client/background_calls.h"
#include "k8s/dialect/dialect.h"

#define EVENTS_OF(ns)    "POST /api/v1/namespaces/" ns "/events"
#define BINDING_OF(ns)   "POST /api/v1/namespaces/" ns "/pods/p/binding"
#define EVICTION_OF(ns)  "POST /api/v1/namespaces/" ns "/pods/p/eviction"
#define STATUS_OF(ns, p) "GET /api/v1/namespaces/" ns "/pods/" p

static void pod_of(struct fixture *x, enum gang_effect_kind kind, const char *ns, const char *uid)
{
    struct gang_effect e = {.kind = kind};
    e.pod.ns = ns;
    e.pod.name = "p";
    e.pod.uid = uid;
    e.pod.node = "n";
    e.pod.text = "why";
    writer_take(x->writer, write_request_new(&e));
}

static void event_of(struct fixture *x, const char *ns, const char *kind, int number)
{
    char text[32];
    snprintf(text, sizeof text, "text %d", number);
    struct gang_effect e = {.kind = GANG_EVENT};
    e.event.kind = kind;
    e.event.ns = ns;
    e.event.name = "p";
    e.event.uid = "u";
    e.event.reason = "R";
    e.event.message = text;
    writer_take(x->writer, write_request_new(&e));
}

static void restart(struct fixture *x, int bindings, double rate)
{
    writer_free(x->writer);
    make_writer(x, bindings, rate, /* burst= */ 1);
    fake_answer(x->api, EVENTS_OF("noisy"), 201, "{}");
    fake_answer(x->api, EVENTS_OF("quiet"), 201, "{}");
    fake_answer(x->api, BINDING_OF("noisy"), 201, "{}");
    fake_answer(x->api, BINDING_OF("quiet"), 201, "{}");
}

static void T16_events_take_turns_by_namespace(void **state)
{
    struct fixture *x = *state;
    static const char *const kinds[] = {"Pod", "PodGroup"}; /* two queues */
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        restart(x, 0, /* rate= */ 50);
        size_t noisy = fake_count(x->api, EVENTS_OF("noisy")),
               quiet = fake_count(x->api, EVENTS_OF("quiet"));
        for (int i = 0; i < 500; i++)
            event_of(x, "noisy", kinds[k], i);
        event_of(x, "quiet", kinds[k], 0);
        writer_pump(x->writer);
        run_until(x, fake_count(x->api, EVENTS_OF("quiet")) > quiet);
        assert_in_range(fake_count(x->api, EVENTS_OF("noisy")) - noisy, 0, 3);
    }
}

static void T16_pod_conditions_take_turns_by_namespace(void **state)
{
    struct fixture *x = *state;
    restart(x, 0, /* rate= */ 50);
    fake_answer(x->api, STATUS_OF("noisy", "p"), 404, "{}");
    fake_answer(x->api, STATUS_OF("quiet", "p"), 404, "{}");
    for (int i = 0; i < 300; i++) {
        char uid[16];
        snprintf(uid, sizeof uid, "u%d", i);
        pod_of(x, GANG_PATCH_CONDITION, "noisy", uid);
    }
    pod_of(x, GANG_PATCH_CONDITION, "quiet", "q");
    writer_pump(x->writer);
    run_until(x, fake_count(x->api, STATUS_OF("quiet", "p")) > 0);
    assert_in_range(fake_count(x->api, STATUS_OF("noisy", "p")), 0, 3);
}

/* The Bindings of a gang are written together, except for the turns of others. */
static void T16_bindings_of_a_large_gang_do_not_delay_others(void **state)
{
    struct fixture *x = *state;
    restart(x, /* bindings= */ 1, 0);
    for (int i = 0; i < 300; i++)
        pod_of(x, GANG_BIND, "noisy", "u");
    pod_of(x, GANG_BIND, "quiet", "q");
    writer_pump(x->writer);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, BINDING_OF("noisy")), 300);
    assert_in_range(fake_order(x->api, BINDING_OF("quiet"), 0), 8, 32);
}

/* 2,000 messages may wait. Beyond that, the namespace with the most loses messages. */
static void T16_a_full_queue_drops_messages_of_the_namespace_with_the_most(void **state)
{
    struct fixture *x = *state;
    restart(x, 0, /* rate= */ 50);
    for (int i = 0; i < 20; i++)
        event_of(x, "quiet", "Pod", i);
    for (int i = 0; i < 5000; i++)
        event_of(x, "noisy", "Pod", i);
    writer_pump(x->writer);
    run_until(x, fake_count(x->api, EVENTS_OF("quiet")) == 20);
}

/* A full queue of Bindings refuses the newest Binding of the namespace with the most. */
static void
T16_a_full_queue_of_bindings_refuses_the_newest_of_the_namespace_with_the_most(void **state)
{
    struct fixture *x = *state;
    restart(x, /* bindings= */ 1, 0);
    enum { ROOM = 200000 };
    for (int i = 0; i < ROOM; i++)
        pod_of(x, GANG_BIND, "noisy", i == ROOM - 1 ? "last" : "u");
    assert_string_equal(buf_str(&x->heard), "");
    pod_of(x, GANG_BIND, "noisy", "more");
    assert_string_equal(buf_str(&x->heard), "bind:more:n:unclear ");
    buf_clear(&x->heard);
    pod_of(x, GANG_BIND, "quiet", "q");
    assert_string_equal(buf_str(&x->heard), "bind:last:n:unclear ");
}

/* Disruption budgets of one namespace forbid all its evictions for minutes. */
static void T16_forbidden_evictions_do_not_delay_others(void **state)
{
    struct fixture *x = *state;
    restart(x, 0, 0);
    fake_answer(x->api, EVICTION_OF("noisy"), 429, "{}");
    fake_answer(x->api, EVICTION_OF("quiet"), 201, "{}");
    for (int i = 0; i < 200; i++)
        pod_of(x, GANG_EVICT, "noisy", "u");
    pod_of(x, GANG_EVICT, "quiet", "q");
    writer_pump(x->writer);
    run_until(x, fake_count(x->api, EVICTION_OF("quiet")) == 1);
    run_until(x, fake_count(x->api, EVICTION_OF("noisy")) >= 16);
    assert_in_range(fake_peak(x->api, EVICTION_OF("noisy")), 1, 16);
}

#define VOLCANO "scheduling.volcano.sh"

static void status_of(struct fixture *x, const char *ns, const char *name)
{
    struct gang_ref ref = {letters(VOLCANO), letters(ns), letters(name)};
    cleanup_json json_t *json = json_pack("{s:{s:s, s:s, s:s, s:s}}", "metadata", "namespace", ns,
                                          "name", name, "uid", "gu", "resourceVersion", "5");
    podgroups_set(x->groups, &ref, json);
    struct gang_effect e = {.kind = GANG_STATUS};
    e.status = (struct gang_status){
        .ref = &ref, .uid = "gu", .state = GANG_PLANNED, .text = "why", .help = ""};
    apply(x, &e);
}

/* Frees the route. */
static size_t count_of(struct fixture *x, char *route)
{
    size_t n = fake_count(x->api, route);
    free(route);
    return n;
}

/* For example, each patch of a PodGroup of the namespace makes it too large for etcd. */
static void T16_statuses_that_keep_failing_do_not_stop_those_of_others(void **state)
{
    struct fixture *x = *state;
    enum { EACH = 8, CROWD = 20 }; /* EACH: under way or waiting for a retry, in a namespace */
    static const char noisy[] = "PATCH /apis/" VOLCANO "/v1beta1/namespaces/noisy/podgroups/g%d";
    static const char quiet[] = "PATCH /apis/" VOLCANO "/v1beta1/namespaces/quiet/podgroups/g";
    podgroups_serve(x->groups, dialect_by_group(VOLCANO), "v1beta1", /* subresource= */ false);
    for (int i = 0; i < CROWD; i++) {
        cleanup_free char *name = xasprintf("g%d", i), *route = xasprintf(noisy, i);
        fake_answer(x->api, route, 500, "{\"message\":\"etcdserver: request is too large\"}");
        status_of(x, "noisy", name);
    }
    for (int i = 0; i < EACH; i++)
        run_until(x, count_of(x, xasprintf(noisy, i)) > 1);
    fake_answer(x->api, quiet, 200, "{}");
    status_of(x, "quiet", "g");
    run_until(x, fake_count(x->api, quiet) == 1);
    for (int i = EACH; i < CROWD; i++)
        assert_int_equal(count_of(x, xasprintf(noisy, i)), 0);
}

static void condition_of(struct fixture *x, const char *ns, const char *name)
{
    struct gang_effect e = {.kind = GANG_PATCH_CONDITION};
    e.pod.ns = ns;
    e.pod.name = e.pod.uid = name;
    e.pod.text = "why";
    apply(x, &e);
}

static void T16_pod_conditions_that_fail_do_not_delay_those_of_others(void **state)
{
    struct fixture *x = *state;
    enum { EACH = 4, TRIES = 4, CROWD = 20 };
    static const char noisy[] = STATUS_OF("noisy", "p%d");
    for (int i = 0; i < CROWD; i++) {
        cleanup_free char *name = xasprintf("p%d", i), *route = xasprintf(noisy, i);
        fake_answer(x->api, route, 500, "{}");
        condition_of(x, "noisy", name);
    }
    for (int i = 0; i < EACH; i++)
        run_until(x, count_of(x, xasprintf(noisy, i)) > 0);
    fake_answer(x->api, STATUS_OF("quiet", "q"), 404, "{}");
    condition_of(x, "quiet", "q");
    run_until(x, fake_count(x->api, STATUS_OF("quiet", "q")) == 1);
    assert_in_range(count_of(x, xasprintf(noisy, 0)), 1, TRIES - 1); /* it still waits */
    assert_int_equal(count_of(x, xasprintf(noisy, EACH)), 0);
}

/* ---- background calls ---- */

struct call {
    struct background_call background_call;
    struct fixture *x;
    char name;
};

static void call_send(struct background_call *e)
{
    const struct call *c = CONTAINER_OF(e, struct call, background_call);
    buf_putc(&c->x->heard, c->name);
    background_call_skip(e);
}

static void call_done(struct background_call *e, const struct client_reply *reply)
{
    (void)e;
    (void)reply;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void T16_calls_for_owners_take_turns_by_namespace(void **state)
{
    struct fixture *x = *state;
    struct background_calls *all = background_calls_new(x->client, x->metrics, never, NULL);
    static const char owners[] = "nnnnnnnnnnnnq";
    struct call calls[sizeof owners - 1];
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        calls[i].x = x;
        calls[i].name = owners[i];
        background_call_init(&calls[i].background_call, all, BACKGROUND_CALL_READ,
                             owners[i] == 'q' ? "quiet" : "noisy", call_send, call_done);
        background_call_enqueue(&calls[i].background_call);
    }
    run_until(x, x->heard.len == ARRAY_SIZE(calls));
    assert_memory_equal(buf_str(&x->heard), "nqn", 3);
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        background_call_drop(&calls[i].background_call);
    background_calls_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(T16_events_take_turns_by_namespace),
        TEST(T16_pod_conditions_take_turns_by_namespace),
        TEST(T16_bindings_of_a_large_gang_do_not_delay_others),
        TEST(T16_a_full_queue_drops_messages_of_the_namespace_with_the_most),
        TEST(T16_a_full_queue_of_bindings_refuses_the_newest_of_the_namespace_with_the_most),
        TEST(T16_forbidden_evictions_do_not_delay_others),
        TEST(T16_statuses_that_keep_failing_do_not_stop_those_of_others),
        TEST(T16_pod_conditions_that_fail_do_not_delay_those_of_others),
        TEST(T16_calls_for_owners_take_turns_by_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
