/* SPDX-License-Identifier: Apache-2.0 */
/* Effects as API calls: what is sent, how often and in what order, and what happens to the result.
 */
#include "writer_fixture.h"

#include <stdio.h>

#include "base/log.h"
#include "k8s/encoding/kube_field.h"

/* ---- bindings ---- */

static void a_binding_names_the_pod_its_uid_and_the_node(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, BINDING, 201, "{\"kind\":\"Status\"}");
    pod_effect(x, GANG_BIND, "p", "u1", "n1");
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(buf_str(&x->heard), "bind:u1:n1:ok ");
    cleanup_json json_t *body = body_of(x, BINDING, 0);
    assert_string_equal(field_peek(body, "kind", NULL), "Binding");
    assert_string_equal(field_peek(body, "metadata", "name", NULL), "p");
    assert_string_equal(field_peek(body, "metadata", "uid", NULL), "u1");
    assert_string_equal(field_peek(body, "target", "kind", NULL), "Node");
    assert_string_equal(field_peek(body, "target", "name", NULL), "n1");
}

static void T08_a_binding_of_a_commit_adds_the_commit_annotation(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, BINDING, 201, "{\"kind\":\"Status\"}");
    struct gang_effect e = {.kind = GANG_BIND};
    e.pod.ns = "ns";
    e.pod.name = "p";
    e.pod.uid = "u1";
    e.pod.node = "n1";
    for (int i = 0; i < 2; i++) {
        e.pod.of_commit = i == 0;
        apply(x, &e);
        run_until(x, !writer_busy(x->writer));
        cleanup_json json_t *body = body_of(x, BINDING, (size_t)i);
        const char *mark = field_peek(body, "metadata", "annotations", GANG_COMMIT_MARK, NULL);
        assert_true(str_eq(mark, i == 0 ? "u1" : NULL)); /* the UID of the pod */
    }
}

static void C06_only_a_clear_answer_is_the_result_of_a_binding(void **state)
{
    struct fixture *x = *state;
    static const struct {
        unsigned status;
        const char *outcome;
    } cases[] = {
        {200, "ok"},      {201, "ok"},      {400, "refused"}, {401, "unclear"},
        {403, "refused"}, {404, "refused"}, {409, "unclear"}, {422, "refused"},
        {429, "unclear"}, {500, "unclear"}, {503, "unclear"}, {504, "unclear"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *name = xasprintf("p%zu", i);
        cleanup_free char *route = xasprintf("POST " POD("%s") "/binding", name);
        cleanup_free char *want = xasprintf("bind:u:n:%s ", cases[i].outcome);
        fake_answer(x->api, route, cases[i].status, "{\"message\":\"why\"}");
        buf_clear(&x->heard);
        pod_effect(x, GANG_BIND, name, "u", "n");
        run_until(x, !writer_busy(x->writer));
        if (!str_eq(buf_str(&x->heard), want))
            fail_msg("%u: %s instead of %s", cases[i].status, buf_str(&x->heard), want);
    }
}

static void a_binding_without_an_answer_is_unclear(void **state)
{
    struct fixture *x = *state;
    fake_stream(x->api, BINDING, "{\"ki", FAKE_CUT);
    pod_effect(x, GANG_BIND, "p", "u", "n");
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(buf_str(&x->heard), "bind:u:n:unclear ");
}

static void bindings_are_written_in_order(void **state)
{
    struct fixture *x = *state;
    writer_free(x->writer);
    make_writer(x, /* bindings= */ 1, 0, 0);
    char name[16], route[64];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "p%d", i);
        snprintf(route, sizeof route, "POST " POD("p%d") "/binding", i);
        fake_answer(x->api, route, 201, "{}");
        pod_effect(x, GANG_BIND, name, name, "n");
    }
    run_until(x, !writer_busy(x->writer));
    for (int i = 0; i < 20; i++) {
        snprintf(route, sizeof route, "POST " POD("p%d") "/binding", i);
        assert_int_equal(fake_order(x->api, route, 0), i);
    }
}

static void concurrent_bindings_are_bounded_and_events_are_written_one_by_one(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, BINDING, 201, "{}");
    fake_answer(x->api, EVENTS, 201, "{}");
    for (int i = 0; i < 50; i++)
        pod_effect(x, GANG_BIND, "p", "u", "n");
    for (int i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "m%d", i);
        struct gang_effect e = {.kind = GANG_EVENT};
        e.event.kind = "Pod";
        e.event.ns = "ns";
        e.event.name = "p";
        e.event.uid = "u";
        e.event.reason = "R";
        e.event.message = text;
        apply(x, &e);
    }
    run_until(x, fake_count(x->api, BINDING) == 4);
    usec_t until = usec_now() + 50 * USEC_PER_MSEC;
    while (usec_now() < until)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, BINDING), 50);
    assert_int_equal(fake_count(x->api, EVENTS), 20);
    assert_int_equal(fake_peak(x->api, BINDING), 4);
    assert_int_equal(fake_peak(x->api, EVENTS), 1);
}

static void names_that_change_the_request_path_are_never_sent(void **state)
{
    struct fixture *x = *state;
    static const char *const names[] = {"", "..", "../x", "a/b", "a b", "a%2fb", "A", "a?b"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        buf_clear(&x->heard);
        pod_effect(x, GANG_BIND, names[i], "u", "n");
        assert_string_equal(buf_str(&x->heard), "bind:u:n:refused ");
    }
    assert_false(writer_busy(x->writer));
}

/* ---- reads ---- */

static void a_read_reports_the_node_of_the_pod(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *name;
        unsigned status;
        const char *body, *want;
    } cases[] = {
        {"a", 200, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"nodeName\":\"n1\"}}",
         "read:u:n1:ok "},
        {"b", 200, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{}}", "read:u:-:unbound "},
        {"c", 200, "{\"metadata\":{\"uid\":\"v\"},\"spec\":{\"nodeName\":\"n1\"}}",
         "read:u:-:refused "},
        {"d", 404, "{\"message\":\"not found\"}", "read:u:-:refused "},
        {"e", 503, "{}", "read:u:-:unclear "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *route = xasprintf("GET " POD("%s"), cases[i].name);
        fake_answer(x->api, route, cases[i].status, cases[i].body);
        buf_clear(&x->heard);
        pod_effect(x, GANG_READ_POD, cases[i].name, "u", NULL);
        run_until(x, !writer_busy(x->writer));
        assert_string_equal(buf_str(&x->heard), cases[i].want);
    }
    assert_int_equal(fake_count(x->api, "GET " POD("e")), 4); /* with retries */
}

/* ---- nominations ---- */

#define NOMINATION "PATCH " POD("p") "/status"

static void a_nomination_is_a_patch_with_the_uid_of_the_pod(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, NOMINATION, 200, "{}");
    pod_effect(x, GANG_NOMINATE, "p", "u", "n1");
    run_until(x, !writer_busy(x->writer));
    pod_effect(x, GANG_NOMINATE, "p", "u", NULL);
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(fake_body(x->api, NOMINATION, 0),
                        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"nominatedNodeName\":\"n1\"}}");
    assert_string_equal(fake_body(x->api, NOMINATION, 1),
                        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"nominatedNodeName\":null}}");
}

static void
a_newer_nomination_replaces_a_waiting_one_and_never_overlaps_one_being_written(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, NOMINATION, 200, "{}");
    pod_effect(x, GANG_NOMINATE, "p", "u", "n1");
    run_until(x, fake_count(x->api, NOMINATION) == 1);
    pod_effect(x, GANG_NOMINATE, "p", "u", "n2");
    pod_effect(x, GANG_NOMINATE, "p", "u", "n3");
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, NOMINATION), 2);
    assert_int_equal(fake_peak(x->api, NOMINATION), 1);
    assert_non_null(strstr(fake_body(x->api, NOMINATION, 1), "n3"));
}

static void a_nomination_is_retried_unless_the_pod_is_gone(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, NOMINATION, 503, "{}");
    fake_answer(x->api, NOMINATION, 200, "{}");
    pod_effect(x, GANG_NOMINATE, "p", "u", "n1");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, NOMINATION), 2);
    fake_answer(x->api, "PATCH " POD("q") "/status", 404, "{}");
    pod_effect(x, GANG_NOMINATE, "q", "v", "n1");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, "PATCH " POD("q") "/status"), 1);
}

/* ---- gates ---- */

#define POD_PATCH "PATCH " POD("p")

static void only_musters_gate_is_lifted_and_after_the_nomination(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, NOMINATION, 200, "{}");
    fake_answer(x->api, POD_PATCH, 200, "{}");
    pod_effect(x, GANG_UNGATE, "p", "u", "n1");
    run_until(x, fake_count(x->api, NOMINATION) == 1);
    assert_int_equal(fake_count(x->api, POD_PATCH), 0);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(fake_body(x->api, NOMINATION, 0),
                        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"nominatedNodeName\":\"n1\"}}");
    /* A strategic merge patch merges the list by name. */
    assert_string_equal(fake_body(x->api, POD_PATCH, 0),
                        "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"schedulingGates\":[{\"name\":"
                        "\"muster.dev/plan\",\"$patch\":\"delete\"}]}}");
    pod_effect(x, GANG_UNGATE, "p", "u", NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, NOMINATION), 1);
    assert_int_equal(fake_count(x->api, POD_PATCH), 2);
}

static void lifting_a_gate_is_retried_unless_the_pod_is_gone(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, NOMINATION, 404,
                "{}"); /* the nomination may fail: the gate is lifted anyway */
    fake_answer(x->api, POD_PATCH, 503, "{}");
    fake_answer(x->api, POD_PATCH, 200, "{}");
    fake_answer(x->api, POD_PATCH, 409, "{}");
    pod_effect(x, GANG_UNGATE, "p", "u", "n1");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, POD_PATCH), 2);
    pod_effect(x, GANG_UNGATE, "p", "u", NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, POD_PATCH), 3);
}

static void the_nomination_and_the_lifted_gate_are_retried_separately(void **state)
{
    struct fixture *x = *state;
    for (int i = 0; i < 3; i++)
        fake_answer(x->api, NOMINATION, 503, "{}");
    fake_answer(x->api, NOMINATION, 200, "{}");
    for (int i = 0; i < 3; i++)
        fake_answer(x->api, POD_PATCH, 503, "{}");
    fake_answer(x->api, POD_PATCH, 200, "{}");
    pod_effect(x, GANG_UNGATE, "p", "u", "n1");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, NOMINATION),
                     4); /* it is not repeated with each retry of the patch */
    assert_int_equal(fake_count(x->api, POD_PATCH), 4);
}

static void a_missing_right_to_lift_gates_is_logged_once(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    fake_answer(x->api, NOMINATION, 403, "{\"message\":\"cannot patch pods/status\"}");
    fake_answer(x->api, POD_PATCH, 200, "{}");
    int saved = capture_log(&file);
    for (int i = 0; i < 2; i++) {
        pod_effect(x, GANG_UNGATE, "p", "u", "n1");
        run_until(x, !writer_busy(x->writer));
    }
    cleanup_free char *log = end_capture(file, saved);
    const char *said = strstr(log, "patch pods/status");
    assert_non_null(said);
    assert_null(strstr(said, "grant the missing rule"));
    assert_int_equal(fake_count(x->api, POD_PATCH), 2);
}

static void a_nomination_and_a_lifted_gate_are_never_written_at_the_same_time(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, NOMINATION, 200, "{}");
    fake_answer_late(x->api, POD_PATCH, 200, "{}");
    pod_effect(x, GANG_UNGATE, "p", "u", "n1");
    run_until(x, fake_count(x->api, POD_PATCH) == 1);
    pod_effect(x, GANG_NOMINATE, "p", "u", "n2");
    usec_t until = usec_now() + 50 * USEC_PER_MSEC;
    while (usec_now() < until)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
    assert_int_equal(fake_count(x->api, NOMINATION), 1);
    /* Both wait: they become one write, with the newer node and the gate. */
    pod_effect(x, GANG_UNGATE, "p", "u", "n3");
    pod_effect(x, GANG_NOMINATE, "p", "u", "n4");
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, NOMINATION), 2);
    assert_non_null(strstr(fake_body(x->api, NOMINATION, 1), "n4"));
    assert_int_equal(fake_count(x->api, POD_PATCH), 2);
}

/* A waiting nomination is written before the gate is lifted, with or without a node. */
static void lifting_a_gate_does_not_lose_a_waiting_nomination(void **state)
{
    struct fixture *x = *state;
    static const struct {
        enum gang_effect_kind first, second;
        const char *node, *then, *written;
    } cases[] = {
        {GANG_NOMINATE, GANG_UNGATE, NULL, NULL, "\"nominatedNodeName\":null"},
        {GANG_NOMINATE, GANG_UNGATE, "n2", NULL, "\"nominatedNodeName\":\"n2\""},
        {GANG_NOMINATE, GANG_UNGATE, "n2", "n3", "\"nominatedNodeName\":\"n3\""},
        {GANG_UNGATE, GANG_UNGATE, "n2", NULL, "\"nominatedNodeName\":\"n2\""},
        {GANG_UNGATE, GANG_NOMINATE, "n2", NULL, "\"nominatedNodeName\":null"},
    };
    char *name[ARRAY_SIZE(cases)], *gate[ARRAY_SIZE(cases)], *nomination[ARRAY_SIZE(cases)];
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        name[i] = xasprintf("p%zu", i);
        gate[i] = xasprintf("PATCH " POD("%s"), name[i]);
        nomination[i] = xasprintf("%s/status", gate[i]);
        fake_answer(x->api, gate[i], 200, "{}");
        fake_answer_late(x->api, nomination[i], 200, "{}");
        fake_answer(x->api, nomination[i], 200, "{}");
        pod_effect(x, GANG_NOMINATE, name[i], name[i], "n1");
        run_until(x, fake_count(x->api, nomination[i]) == 1);
        pod_effect(x, cases[i].first, name[i], name[i], cases[i].node);
        pod_effect(x, cases[i].second, name[i], name[i], cases[i].then);
    }
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_int_equal(fake_count(x->api, nomination[i]), 2);
        assert_non_null(strstr(fake_body(x->api, nomination[i], 1), cases[i].written));
        assert_int_equal(fake_count(x->api, gate[i]), 1);
        free(name[i]);
        free(gate[i]);
        free(nomination[i]);
    }
}

/* ---- evictions ---- */

static void C06_a_mark_is_a_condition_of_the_pod(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, "PATCH " POD("p") "/status", 200, "{}");
    struct gang_effect e = {.kind = GANG_MARK_VICTIM};
    e.pod.ns = "ns";
    e.pod.name = "p";
    e.pod.uid = "u";
    e.pod.text = "to make room for gang ml/b";
    apply(x, &e);
    run_until(x, !writer_busy(x->writer));
    cleanup_json json_t *body =
        json_loads(fake_body(x->api, "PATCH " POD("p") "/status", 0), 0, NULL);
    assert_string_equal(field_peek(body, "metadata", "uid", NULL), "u");
    const json_t *c =
        json_array_get(json_object_get(json_object_get(body, "status"), "conditions"), 0);
    assert_string_equal(field_peek(c, "type", NULL), "DisruptionTarget");
    assert_string_equal(field_peek(c, "status", NULL), "True");
    assert_string_equal(field_peek(c, "reason", NULL), "EvictionByMuster");
    assert_string_equal(field_peek(c, "message", NULL), "to make room for gang ml/b");
    assert_int_equal(strlen(field_peek(c, "lastTransitionTime", NULL)),
                     strlen("2026-01-01T00:00:00Z"));
}

#define EVICTION "POST " POD("p") "/eviction"

static void C06_an_eviction_names_the_uid_of_the_pod(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, EVICTION, 201, "{}");
    pod_effect(x, GANG_EVICT, "p", "u", NULL);
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(
        fake_body(x->api, EVICTION, 0),
        "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"namespace\":"
        "\"ns\",\"name\":\"p\"},\"deleteOptions\":{\"preconditions\":{\"uid\":\"u\"}}}");
    assert_int_equal(fake_count(x->api, EVICTION), 1);
}

static void C06_an_eviction_that_a_disruption_budget_forbids_is_retried(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, EVICTION, 429, "{\"message\":\"Cannot evict pod\"}");
    fake_answer(x->api, EVICTION, 201, "{}");
    usec_t begin = usec_now();
    pod_effect(x, GANG_EVICT, "p", "u", NULL);
    /* Other evictions do not wait for it. */
    fake_answer(x->api, "POST " POD("q") "/eviction", 201, "{}");
    pod_effect(x, GANG_EVICT, "q", "v", NULL);
    run_until(x, fake_count(x->api, "POST " POD("q") "/eviction") && fake_count(x->api, EVICTION));
    assert_int_equal(fake_count(x->api, EVICTION), 1);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVICTION), 2);
    assert_true(usec_now() - begin >= 500 * USEC_PER_MSEC);
}

/* Evicts a pod, and the API server answers with the status. Returns how many requests muster sends;
 * it accepts the second one. */
static int evictions_after(struct fixture *x, unsigned status, const char *message)
{
    cleanup_free char *name = xasprintf("p%u", status);
    cleanup_free char *route = xasprintf("POST " POD("%s") "/eviction", name);
    fake_answer(x->api, route, status, message);
    fake_answer(x->api, route, 201, "{}");
    pod_effect(x, GANG_EVICT, name, "u", NULL);
    run_until(x, !writer_busy(x->writer));
    return (int)fake_count(x->api, route);
}

static void C06_an_impossible_eviction_is_not_retried(void **state)
{
    struct fixture *x = *state;
    static const unsigned statuses[] = {404, 409, 403};
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        assert_int_equal(evictions_after(x, statuses[i],
                                         "{\"message\":\"User \\\"m\\\" cannot create resource "
                                         "\\\"pods/eviction\\\"\"}"),
                         1);
}

/* Other members of its gang may be evicted already. */
static void C06_an_eviction_that_a_webhook_refuses_is_retried(void **state)
{
    struct fixture *x = *state;
    static const unsigned statuses[] = {403, 400, 422};
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        assert_int_equal(evictions_after(x, statuses[i],
                                         "{\"message\":\"admission webhook \\\"keep\\\" denied "
                                         "the request: not now\"}"),
                         2);
}

static void limit_evictions(struct fixture *x, usec_t time)
{
    x->eviction_time = time;
    writer_free(x->writer);
    make_writer(x, 0, 0, 0);
}

static void C06_a_forbidden_eviction_is_not_repeated_after_its_time(void **state)
{
    struct fixture *x = *state;
    limit_evictions(x, 300 * USEC_PER_MSEC); /* shorter than the first pause */
    fake_answer(x->api, EVICTION, 429, "{\"message\":\"Cannot evict pod\"}");
    fake_answer(x->api, EVICTION, 201, "{}");
    pod_effect(x, GANG_EVICT, "p", "u", NULL);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVICTION), 1);
}

static void C06_an_eviction_that_waits_too_long_in_its_lane_is_not_sent(void **state)
{
    struct fixture *x = *state;
    enum { AT_ONCE = 16 }; /* in one namespace */
    limit_evictions(x, 300 * USEC_PER_MSEC);
    fake_answer_late(x->api, EVICTION, 201, "{}");
    fake_answer(x->api, "POST " POD("q") "/eviction", 201, "{}");
    for (int i = 0; i < AT_ONCE; i++)
        pod_effect(x, GANG_EVICT, "p", "u", NULL);
    pod_effect(x, GANG_EVICT, "q", "v", NULL);
    usec_t begin = usec_now();
    run_until(x, usec_now() - begin >= 300 * USEC_PER_MSEC);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVICTION), AT_ONCE);
    assert_int_equal(fake_count(x->api, "POST " POD("q") "/eviction"), 0);
}

/* ---- conditions on pods ---- */

#define TOLD      "PATCH " POD("p") "/status"
#define READ(p)   "GET " POD(p)
#define OUR_WORDS "gang ns/g: 2 of 3 members exist"

/* version: the pod's version for which the message was made. */
static void tell_effect(struct fixture *x, const char *name, int64_t version, const char *text)
{
    struct gang_effect e = {.kind = GANG_PATCH_CONDITION};
    e.pod.ns = "ns";
    e.pod.name = name;
    e.pod.uid = name;
    e.pod.text = text;
    e.pod.version = version;
    apply(x, &e);
}

static void tell(struct fixture *x, const char *pod)
{
    fake_answer(x->api, READ("p"), 200, pod);
    fake_answer(x->api, TOLD, 200, "{}");
    tell_effect(x, "p", 7, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
}

#define WAITING(uid, spec, status, message)                                                        \
    "{\"metadata\":{\"uid\":\"" uid "\",\"resourceVersion\":\"7\"},\"spec\":{" spec "},"           \
    "\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":\"True\"},{\"type\":"              \
    "\"PodScheduled\",\"status\":\"" status "\",\"message\":\"" message "\"}]}}"
#define GATED(uid)                                                                                 \
    WAITING(uid, "\"schedulingGates\":[{\"name\":\"muster.dev/plan\"}]", "False", "old")

static void a_condition_is_written_to_the_version_of_the_pod_that_was_read(void **state)
{
    struct fixture *x = *state;
    tell(x, WAITING("p", "", "False", "0/3 nodes are available: gang ns/g: 1 of 3 members exist"));
    assert_string_equal(fake_body(x->api, TOLD, 0),
                        "{\"metadata\":{\"uid\":\"p\",\"resourceVersion\":\"7\"},\"status\":"
                        "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
                        "\"reason\":\"Unschedulable\",\"message\":"
                        "\"gang ns/g: 2 of 3 members exist\"}]}}");
}

static void a_condition_is_not_written_if_it_is_there_or_no_longer_true(void **state)
{
    struct fixture *x = *state;
    static const char *const pods[] = {
        WAITING("p", "", "False", "0/3 nodes are available: gang ns/g: 2 of 3 members exist"),
        WAITING("p", "", "True", ""),
        WAITING("p", "\"nodeName\":\"n\"", "False", "old"),
        WAITING("another", "", "False", "old"),
        "{\"metadata\":{\"uid\":\"p\",\"resourceVersion\":\"7\"},\"spec\":{},\"status\":{}}",
        "no pod",
    };
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        tell(x, pods[i]);
        assert_int_equal(fake_count(x->api, READ("p")), i + 1);
        assert_int_equal(fake_count(x->api, TOLD), 0);
    }
}

/* A message may wait in its queue while kube-scheduler tries the pod again. kube-scheduler does not
 * write to gated pods, so for them a newer version is no obstacle. */
static void a_condition_never_replaces_a_newer_one_of_kube_scheduler(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, READ("p"), 200, WAITING("p", "", "False", "0/3 nodes: 3 of 3 exist"));
    fake_answer(x->api, READ("p"), 200, GATED("p"));
    fake_answer(x->api, TOLD, 200, "{}");
    tell_effect(x, "p", 6, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, READ("p")), 1);
    assert_int_equal(fake_count(x->api, TOLD), 0);
    tell_effect(x, "p", 6, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, TOLD), 1);
    assert_non_null(strstr(fake_body(x->api, TOLD, 0), "\"SchedulingGated\""));
}

/* A pod that keeps the queue busy until fake_release(). */
static void block_conditions(struct fixture *x)
{
    fake_answer_late(x->api, READ("first"), 404, "{}");
    tell_effect(x, "first", 7, "anything");
    run_until(x, fake_count(x->api, READ("first")) == 1);
}

static void a_newer_message_replaces_a_waiting_one(void **state)
{
    struct fixture *x = *state;
    static const char *const names[] = {"p", "q"};
    block_conditions(x);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_free char *read = xasprintf("GET " POD("%s"), names[i]);
        cleanup_free char *told = xasprintf("PATCH " POD("%s") "/status", names[i]);
        fake_answer(x->api, read, 200, i ? WAITING("q", "", "False", "old") : GATED("p"));
        fake_answer(x->api, told, 200, "{}");
        tell_effect(x, names[i], 6, "PodGroup ns/g does not exist");
    }
    tell_effect(x, "p", 6, OUR_WORDS);
    tell_effect(x, "q", 7, OUR_WORDS);
    tell_effect(x, "p", 6, "gang ns/g: 3 members needed, room for 2");
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, READ("p")), 1);
    assert_non_null(strstr(fake_body(x->api, TOLD, 0), "room for 2"));
    assert_int_equal(fake_count(x->api, READ("q")), 1);
    assert_non_null(strstr(fake_body(x->api, "PATCH " POD("q") "/status", 0), OUR_WORDS));
    assert_true(fake_order(x->api, TOLD, 0) <
                fake_order(x->api, READ("q"), 0)); /* it keeps the place in the queue */
}

static void no_condition_is_written_to_a_pod_that_is_ungated_or_bound(void **state)
{
    struct fixture *x = *state;
    block_conditions(x);
    fake_answer(x->api, "PATCH " POD("p"), 200, "{}");
    fake_answer(x->api, "POST " POD("q") "/binding", 201, "{}");
    tell_effect(x, "p", 7, OUR_WORDS);
    tell_effect(x, "q", 7, OUR_WORDS);
    tell_effect(x, "r", 7, OUR_WORDS);
    pod_effect(x, GANG_UNGATE, "p", "p", NULL);
    pod_effect(x, GANG_BIND, "q", "q", "n");
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, READ("p")), 0);
    assert_int_equal(fake_count(x->api, READ("q")), 0);
    assert_int_equal(fake_count(x->api, READ("r")), 1);
    /* A later reason is written. */
    tell_effect(x, "p", 7, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, READ("p")), 1);
}

static void a_condition_is_retried_and_after_a_conflict_read_once_more(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, READ("p"), 503, "{}");
    fake_answer(x->api, READ("p"), 200, GATED("p"));
    fake_answer(x->api, TOLD, 429, "{}");
    fake_answer(x->api, TOLD, 409, "{}");
    fake_answer(x->api, TOLD, 200, "{}");
    fake_answer(x->api, TOLD, 409, "{}");
    tell_effect(x, "p", 6, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, TOLD), 3);
    assert_int_equal(fake_count(x->api, READ("p")), 4);
    tell_effect(x, "p", 6, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, TOLD),
                     5); /* after two conflicts, the other writer's condition stays */
    assert_int_equal(fake_count(x->api, READ("p")), 6);
}

static void a_replaced_message_is_not_retried(void **state)
{
    struct fixture *x = *state;
    fake_answer_late(x->api, READ("p"), 503, "{}");
    fake_answer(x->api, READ("p"), 200, GATED("p"));
    fake_answer(x->api, TOLD, 200, "{}");
    tell_effect(x, "p", 6, "PodGroup ns/g does not exist");
    run_until(x, fake_count(x->api, READ("p")) == 1);
    tell_effect(x, "p", 6, OUR_WORDS);
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, TOLD), 1);
    assert_non_null(strstr(fake_body(x->api, TOLD, 0), OUR_WORDS));
}

static void a_pod_that_is_too_large_is_read_once(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *pod = xasprintf("{\"spec\":\"%*s\"}", 4 << 20, "");
    tell(x, pod);
    assert_int_equal(fake_count(x->api, READ("p")), 1);
    assert_int_equal(fake_count(x->api, TOLD), 0);
}

/* ---- events ---- */

static void no_event_is_written_about_a_gang_without_an_object(void **state)
{
    (void)state;
    struct gang_ref ref = {letters("gang.scheduling.koordinator.sh"), letters("ns"), letters("g")};
    struct gang_effect e = {.kind = GANG_STATUS};
    e.status = (struct gang_status){.ref = &ref, .uid = "", .text = "", .help = ""};
    assert_null(write_request_new(&e));
    e = (struct gang_effect){.kind = GANG_EVENT};
    e.event.kind = "PodGroup";
    e.event.api_group = "pod-group.scheduling.sigs.k8s.io";
    e.event.ns = "ns";
    e.event.name = "g";
    e.event.reason = e.event.message = "x";
    assert_null(write_request_new(&e));
}

static void event_effect(struct fixture *x, const char *uid, const char *message)
{
    struct gang_effect e = {.kind = GANG_EVENT};
    e.event.kind = "PodGroup";
    e.event.api_group = "scheduling.volcano.sh";
    e.event.ns = "ns";
    e.event.name = "g";
    e.event.uid = uid;
    e.event.warning = true;
    e.event.reason = "Unschedulable";
    e.event.message = message;
    apply(x, &e);
}

/* As long as a Binding is under way, some messages are still written, but only a few. */
static void few_messages_are_written_while_bindings_are_under_way(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, EVENTS, 201, "{}");
    fake_answer_late(x->api, BINDING, 201, "{}");
    usec_t begin = usec_now();
    pod_effect(x, GANG_BIND, "p", "u", "n");
    for (int i = 0; i < 60; i++) {
        char uid[8];
        snprintf(uid, sizeof uid, "g%d", i);
        event_effect(x, uid, "8 members needed");
    }
    run_until(x, fake_count(x->api, EVENTS) >= 4);
    usec_t waited = usec_now() - begin;
    assert_true(waited >= USEC_PER_SEC + 50 * USEC_PER_MSEC); /* two at once, then 20 per second */
    run_until(x, usec_now() - begin >= USEC_PER_SEC + 300 * USEC_PER_MSEC);
    size_t n = fake_count(x->api, EVENTS);
    usec_t beyond = usec_now() - begin - USEC_PER_SEC;
    assert_true(n <= 3 + (size_t)(20 * beyond / USEC_PER_SEC));
    fake_release(x->api);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVENTS), 60);
}

/* The next gang of a burst comes soon. Messages about the last one would delay it. */
static void messages_wait_for_the_end_of_a_burst_of_bindings(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, EVENTS, 201, "{}");
    fake_answer(x->api, BINDING, 201, "{}");
    pod_effect(x, GANG_BIND, "p", "u", "n");
    event_effect(x, "gu", "8 members needed");
    usec_t begin = usec_now();
    run_until(x, fake_count(x->api, EVENTS) == 1);
    assert_true(usec_now() - begin >= 50 * USEC_PER_MSEC);
    assert_true(usec_now() - begin < USEC_PER_SEC);
}

static void an_event_names_its_object_and_counts_repetitions(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, EVENTS, 201, "{}");
    event_effect(x, "gu", "8 members needed, room for 6");
    run_until(x, !writer_busy(x->writer));
    cleanup_json json_t *body = body_of(x, EVENTS, 0);
    assert_string_equal(field_peek(body, "involvedObject", "apiVersion", NULL),
                        "scheduling.volcano.sh/v1beta1");
    assert_string_equal(field_peek(body, "involvedObject", "kind", NULL), "PodGroup");
    assert_string_equal(field_peek(body, "involvedObject", "uid", NULL), "gu");
    assert_string_equal(field_peek(body, "involvedObject", "namespace", NULL), "ns");
    assert_string_equal(field_peek(body, "reason", NULL), "Unschedulable");
    assert_string_equal(field_peek(body, "message", NULL), "8 members needed, room for 6");
    assert_string_equal(field_peek(body, "type", NULL), "Warning");
    assert_string_equal(field_peek(body, "source", "component", NULL), "muster");
    assert_string_equal(field_peek(body, "reportingComponent", NULL), "muster");
    cleanup_free char *again = xasprintf("PATCH /api/v1/namespaces/ns/events/%s",
                                         field_peek(body, "metadata", "name", NULL));
    fake_answer(x->api, again, 200, "{}");
    fake_answer(x->api, again, 404, "{}");
    event_effect(x, "gu", "8 members needed, room for 6");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, again), 1);
    assert_non_null(strstr(fake_body(x->api, again, 0), "\"count\":2"));
    /* The event has expired on the server, so it is created again. */
    event_effect(x, "gu", "8 members needed, room for 6");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVENTS), 2);
    /* Another object gets another event. */
    event_effect(x, "other", "8 members needed, room for 6");
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, EVENTS), 3);
}

static void the_rate_and_the_number_of_events_are_bounded(void **state)
{
    struct fixture *x = *state;
    writer_free(x->writer);
    make_writer(x, 4, /* rate= */ 50, /* burst= */ 5);
    fake_answer(x->api, EVENTS, 201, "{}");
    usec_t begin = usec_now();
    for (int i = 0; i < 10; i++) {
        char text[16];
        snprintf(text, sizeof text, "m%d", i);
        event_effect(x, "gu", text);
    }
    run_until(x, !writer_busy(x->writer));
    /* Five at once, then five more at 50 per second. */
    assert_true(usec_now() - begin >= 90 * USEC_PER_MSEC);
    assert_int_equal(fake_count(x->api, EVENTS), 10);
    for (int i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof text, "n%d", i);
        event_effect(x, "gu", text);
    }
    cleanup_buf struct buf out = BUF_INIT;
    api_metrics_print(x->metrics, &out);
    assert_non_null(strstr(buf_str(&out), "muster_api_dropped_total{queue=\"events\"}"));
}

static void a_retried_message_does_not_replace_a_newer_one(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, READ("p"), 503, "{}");
    fake_answer(x->api, READ("p"), 200, GATED("p"));
    fake_answer(x->api, TOLD, 200, "{}");
    tell_effect(x, "p", 6, "PodGroup ns/g does not exist");
    run_until(x, fake_count(x->api, READ("p")) == 1);
    usec_t begin = usec_now();
    run_until(x, usec_now() - begin >= 50 * USEC_PER_MSEC); /* the retry waits 100 ms or more */
    tell_effect(x, "p", 6, OUR_WORDS);
    run_until(x, !writer_busy(x->writer));
    size_t last = fake_count(x->api, TOLD) - 1;
    assert_non_null(strstr(fake_body(x->api, TOLD, last), OUR_WORDS));
}

static void C06_a_binding_with_a_large_error_is_unclear(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *large = xasprintf("{\"message\":\"%*s\"}", 2 << 20, "");
    fake_answer(x->api, BINDING, 504, large);
    pod_effect(x, GANG_BIND, "p", "u", "n");
    run_until(x, !writer_busy(x->writer));
    assert_string_equal(buf_str(&x->heard), "bind:u:n:unclear ");
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(a_binding_names_the_pod_its_uid_and_the_node),
        TEST(T08_a_binding_of_a_commit_adds_the_commit_annotation),
        TEST(C06_only_a_clear_answer_is_the_result_of_a_binding),
        TEST(a_binding_without_an_answer_is_unclear),
        TEST(bindings_are_written_in_order),
        TEST(concurrent_bindings_are_bounded_and_events_are_written_one_by_one),
        TEST(names_that_change_the_request_path_are_never_sent),
        TEST(a_read_reports_the_node_of_the_pod),
        TEST(a_nomination_is_a_patch_with_the_uid_of_the_pod),
        TEST(a_newer_nomination_replaces_a_waiting_one_and_never_overlaps_one_being_written),
        TEST(a_nomination_is_retried_unless_the_pod_is_gone),
        TEST(only_musters_gate_is_lifted_and_after_the_nomination),
        TEST(lifting_a_gate_is_retried_unless_the_pod_is_gone),
        TEST(the_nomination_and_the_lifted_gate_are_retried_separately),
        TEST(a_missing_right_to_lift_gates_is_logged_once),
        TEST(a_nomination_and_a_lifted_gate_are_never_written_at_the_same_time),
        TEST(lifting_a_gate_does_not_lose_a_waiting_nomination),
        TEST(C06_a_mark_is_a_condition_of_the_pod),
        TEST(C06_an_eviction_names_the_uid_of_the_pod),
        TEST(C06_an_eviction_that_a_disruption_budget_forbids_is_retried),
        TEST(C06_an_impossible_eviction_is_not_retried),
        TEST(C06_an_eviction_that_a_webhook_refuses_is_retried),
        TEST(C06_a_forbidden_eviction_is_not_repeated_after_its_time),
        TEST(C06_an_eviction_that_waits_too_long_in_its_lane_is_not_sent),
        TEST(a_condition_is_written_to_the_version_of_the_pod_that_was_read),
        TEST(a_condition_is_not_written_if_it_is_there_or_no_longer_true),
        TEST(a_condition_never_replaces_a_newer_one_of_kube_scheduler),
        TEST(a_newer_message_replaces_a_waiting_one),
        TEST(no_condition_is_written_to_a_pod_that_is_ungated_or_bound),
        TEST(a_condition_is_retried_and_after_a_conflict_read_once_more),
        TEST(a_replaced_message_is_not_retried),
        TEST(a_pod_that_is_too_large_is_read_once),
        TEST(a_retried_message_does_not_replace_a_newer_one),
        TEST(C06_a_binding_with_a_large_error_is_unclear),
        TEST(no_event_is_written_about_a_gang_without_an_object),
        TEST(an_event_names_its_object_and_counts_repetitions),
        TEST(few_messages_are_written_while_bindings_are_under_way),
        TEST(messages_wait_for_the_end_of_a_burst_of_bindings),
        TEST(the_rate_and_the_number_of_events_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
