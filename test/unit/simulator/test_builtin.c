/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in cluster against a core that only does what a test tells it: which nodes pass
 * filter, what a bind call is answered.
 */
#include "simulator/built_in_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"

#define WALL   (INT64_C(1767225600) * USEC_PER_SEC)
#define ORIGIN (50 * USEC_PER_SEC)

enum bind_answer { BIND_WRITES, BIND_REFUSES, BIND_HOLDS };

struct core {
    struct cluster *cluster;
    usec_t now;
    struct gang_event inbox[4096];
    size_t n_inbox;
    struct buf trace; /* what was posted, one line each */

    /* what it answers */
    const char *filter_node;  /* the only node that passes; NULL: all; "": none */
    const char *filter_text;  /* why the others do not */
    const char *filter_error; /* Error instead */
    const char *best_node;    /* scored 10 */
    enum bind_answer bind;
    uint64_t held;
    int filters, prioritizes, binds, closed; /* calls so far */
};

static void post(void *arg, struct gang_event *ev)
{
    struct core *c = arg;
    assert_true(c->n_inbox < ARRAY_SIZE(c->inbox));
    c->inbox[c->n_inbox++] = *ev;
}

static void apply(struct core *c, const struct gang_effect *e)
{
    c->cluster->ops->apply(c->cluster, c->now, e);
}

static void trace(struct core *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void trace(struct core *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_printf(&c->trace, "%ld %s\n", (long)((c->now - ORIGIN) / USEC_PER_MSEC), text);
}

static void answer_filter(struct core *c, const struct gang_event *ev)
{
    uint32_t passed[1];
    struct gang_filter_refusal refused = {0, c->filter_text ? c->filter_text : "no"};
    struct gang_effect e = {.kind = GANG_REPLY_FILTER, .filter = {.id = ev->id}};
    c->filters++;
    trace(c, "filter %s %zu %s", ev->pod->name, ev->n_names, ev->names[0]);
    e.filter.error = c->filter_error;
    e.filter.pass_all = !c->filter_node;
    for (uint32_t i = 0; c->filter_node && i < ev->n_names; i++)
        if (strcmp(ev->names[i], c->filter_node) == 0) {
            passed[0] = i;
            e.filter.n_passed = 1;
        }
    e.filter.passed = passed;
    if (c->filter_node && !e.filter.n_passed) {
        e.filter.refused = &refused;
        e.filter.n_refused = 1;
    }
    apply(c, &e);
}

static void answer_prioritize(struct core *c, const struct gang_event *ev)
{
    uint8_t scores[1024] = {0};
    struct gang_effect e = {.kind = GANG_REPLY_PRIORITIZE};
    c->prioritizes++;
    assert_true(ev->n_names <= ARRAY_SIZE(scores));
    for (size_t i = 0; i < ev->n_names; i++)
        scores[i] = str_eq(ev->names[i], c->best_node) ? 10 : 0;
    e.prioritize.id = ev->id;
    e.prioritize.scores = scores;
    e.prioritize.n = ev->n_names;
    apply(c, &e);
}

static void reply_bind(struct core *c, uint64_t id, const char *error)
{
    struct gang_effect e = {.kind = GANG_REPLY_BIND};
    e.bind_reply.id = id;
    e.bind_reply.error = error;
    apply(c, &e);
}

static void write_binding(struct core *c, const char *ns, const char *name, const char *uid,
                          const char *node)
{
    struct gang_effect e = {.kind = GANG_BIND, .pod = {ns, name, uid, node}};
    apply(c, &e);
}

static void answer_bind(struct core *c, const struct gang_event *ev)
{
    c->binds++;
    trace(c, "bind %s %s", ev->bind.name, ev->bind.node);
    c->held = ev->id;
    if (c->bind == BIND_WRITES)
        write_binding(c, ev->bind.ns, ev->bind.name, ev->bind.uid, ev->bind.node);
    else if (c->bind == BIND_REFUSES)
        reply_bind(c, ev->id, "not now");
}

static void take(struct core *c, const struct gang_event *ev)
{
    switch (ev->kind) {
    case GANG_EV_FILTER:
        assert_true(ev->id & CLUSTER_CALL);
        answer_filter(c, ev);
        break;
    case GANG_EV_PRIORITIZE:
        answer_prioritize(c, ev);
        break;
    case GANG_EV_BIND:
        answer_bind(c, ev);
        break;
    case GANG_EV_BIND_DONE:
        trace(c, "bind_done %d %s", (int)ev->result.outcome, ev->result.text ? "text" : "");
        if (c->bind == BIND_WRITES)
            reply_bind(c, c->held, "");
        break;
    case GANG_EV_POD_READ:
        trace(c, "pod_read %d %s", (int)ev->result.outcome,
              ev->result.node ? ev->result.node : "-");
        break;
    case GANG_EV_CALL_CLOSED:
        c->closed++;
        break;
    case GANG_EV_POD_SET:
        trace(c, "pod %s %s %d%s", ev->pod->name, ev->pod->node ? ev->pod->node : "-",
              (int)ev->pod->phase, ev->pod->deleting ? " deleting" : "");
        break;
    case GANG_EV_GROUP_SET:
        trace(c, "group %s", ev->group->ref.name);
        break;
    case GANG_EV_POD_GONE:
    case GANG_EV_NODE_GONE:
    case GANG_EV_GROUP_GONE:
        trace(c, "gone %s", ev->gone.name);
        break;
    default:
        trace(c, "%s", gang_event_name(ev->kind));
        break;
    }
}

static void moment(struct core *c)
{
    c->cluster->ops->advance(c->cluster, c->now);
    for (size_t i = 0; i < c->n_inbox; i++) {
        struct gang_event ev = c->inbox[i];
        take(c, &ev);
        gang_event_done(&ev);
    }
    c->n_inbox = 0;
}

/* Everything up to this time on the scenario's clock. */
static void run(struct core *c, usec_t until)
{
    for (usec_t at; (at = c->cluster->ops->next(c->cluster)) <= ORIGIN + until;) {
        if (at > c->now)
            c->now = at;
        moment(c);
    }
    c->now = ORIGIN + until;
}

static struct core *begin(const char *text)
{
    struct err err = {0};
    struct scenario *s = scenario_parse("t.yaml", ".", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err.text);
    struct core *c = xcalloc(1, sizeof *c);
    struct cluster_sink sink = {post, c};
    c->cluster = builtin_cluster_new(s, &sink, WALL);
    c->now = ORIGIN;
    return c;
}

static void end(struct core *c)
{
    c->cluster->ops->close(c->cluster, 0);
    for (size_t i = 0; i < c->n_inbox; i++)
        gang_event_done(&c->inbox[i]);
    buf_done(&c->trace);
    free(c);
}

static const json_t *pod_of(struct core *c, const char *name)
{
    const json_t *pod = builtin_cluster_object(c->cluster, KIND_POD, NULL, "default", name);
    if (!pod)
        fail_msg("no pod %s", name);
    return pod;
}

static const char *uid_of(struct core *c, const char *name)
{
    return field_peek(pod_of(c, name), "metadata", "uid", NULL);
}

static const char *node_of(struct core *c, const char *name)
{
    const char *node = field_peek(pod_of(c, name), "spec", "nodeName", NULL);
    return node ? node : "";
}

static const char *phase_of(struct core *c, const char *name)
{
    return field_peek(pod_of(c, name), "status", "phase", NULL);
}

static const char *message_of(struct core *c, const char *name)
{
    const json_t *conditions =
        json_object_get(json_object_get(pod_of(c, name), "status"), "conditions");
    const char *text = field_peek(json_array_get(conditions, 0), "message", NULL);
    return text ? text : "";
}

static bool saw(const struct core *c, const char *line)
{
    return strstr(buf_str(&c->trace), line) != NULL;
}

static int times(const struct core *c, const char *line)
{
    int n = 0;
    for (const char *at = buf_str(&c->trace); (at = strstr(at, line)) != NULL; at += strlen(line))
        n++;
    return n;
}

static void count_one(void *arg, const json_t *object)
{
    (void)object;
    ++*(int *)arg;
}

static int count_pods(struct core *c)
{
    int n = 0;
    builtin_cluster_each(c->cluster, KIND_POD, count_one, &n);
    return n;
}

#define NODE(name)        "- {name: " name ", allocatable: {cpu: 8, memory: 8Gi, nvidia.com/gpu: 1}}\n"
#define NODES             "nodes:\n" NODE("a") NODE("b")
#define POD_X(name, more) POD_XX(name, "1", more)
#define POD_XX(name, gpus, more)                                                                   \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name ", annotations: {muster.dev/duration: " \
    "10s}}, spec: {" more "containers: [{name: c, resources: {limits: {nvidia.com/gpu: " gpus      \
    "}}}]}}\n"
#define POD(name) POD_X(name, "")

/* ---- an ordinary pod from beginning to end ---- */

static void a_pod_is_filtered_bound_runs_and_ends(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    run(c, 0);
    assert_string_equal(buf_str(&c->trace), "0 CLASS_SET\n0 CLASS_SET\n0 NODE_SET\n0 NODE_SET\n"
                                            "0 pod p - 0\n0 SYNCED\n0 filter p 2 a\n");
    assert_int_equal(c->prioritizes, 1);
    run(c, 2999);
    assert_int_equal(c->binds, 0);
    run(c, 3 * USEC_PER_MSEC);
    assert_true(saw(c, "3 bind p a"));
    run(c, 6 * USEC_PER_MSEC);
    assert_true(saw(c, "5 bind_done 0 \n"));
    assert_true(saw(c, "6 pod p a 0"));
    assert_false(builtin_cluster_settled(c->cluster));
    run(c, 600 * USEC_PER_MSEC);
    assert_true(saw(c, "506 pod p a 1"));
    assert_string_equal(phase_of(c, "p"), "Running");
    assert_string_equal(field_peek(pod_of(c, "p"), "status", "startTime", NULL),
                        "2026-01-01T00:00:00Z");
    run(c, 11 * USEC_PER_SEC);
    assert_true(saw(c, "10506 pod p a 2"));
    assert_string_equal(phase_of(c, "p"), "Succeeded");
    assert_true(builtin_cluster_settled(c->cluster));
    assert_true(c->cluster->ops->next(c->cluster) == USEC_NEVER);
    end(c);
}

static void a_pod_with_a_node_runs_from_the_start(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD_X("p", "nodeName: b, ") POD("q"));
    run(c, 100 * USEC_PER_MSEC);
    assert_string_equal(phase_of(c, "p"), "Running");
    assert_true(saw(c, "filter q 1 a"));
    end(c);
}

/* ---- scheduling cycles ---- */

static void filter_is_not_asked_when_no_node_passes(void **state)
{
    (void)state;
    struct core *c =
        begin(NODES "objects:\n" POD_XX("p", "2", "") "timetable:\n- {at: 5s, create: [{name: big, "
                                                      "allocatable: {nvidia.com/gpu: 2}}]}\n");
    run(c, 4 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    assert_string_equal(message_of(c, "p"),
                        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
    run(c, 6 * USEC_PER_SEC);
    assert_true(saw(c, "5001 filter p 1 big"));
    assert_string_equal(node_of(c, "p"), "big");
    end(c);
}

static void nodes_are_judged_as_the_scheduler_judges_them(void **state)
{
    (void)state;
    struct core *c = begin("nodes:\n"
                           "- {name: cordoned, allocatable: {nvidia.com/gpu: 1}, unschedulable: "
                           "true}\n"
                           "- {name: tainted, allocatable: {nvidia.com/gpu: 1}, taints: [{key: k, "
                           "effect: NoSchedule}]}\n"
                           "- {name: full, allocatable: {nvidia.com/gpu: 1, pods: 0}}\n"
                           "objects:\n" POD("p"));
    run(c, USEC_PER_SEC);
    assert_string_equal(message_of(c, "p"),
                        "0/3 nodes are available: 1 Too many pods, 1 node(s): unschedulable "
                        "(cordoned), 1 node(s): untolerated taint.");
    end(c);
}

static void host_ports_collide(void **state)
{
    (void)state;
#define PORT_POD(name)                                                                             \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: c, "     \
    "ports: [{containerPort: 80, hostPort: 80}]}]}}\n"
    struct core *c = begin("nodes:\n" NODE("a") "objects:\n" PORT_POD("p") PORT_POD("q"));
    run(c, USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    assert_string_equal(node_of(c, "q"), "");
    assert_non_null(strstr(message_of(c, "q"), "free ports"));
    end(c);
}

static void priority_goes_first_then_age(void **state)
{
    (void)state;
    struct core *c =
        begin(NODES "objects:\n- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                    "{name: high}, value: 100}\n" POD("p") POD("q")
                        POD_X("r", "priorityClassName: high, ") POD_X("s", "priority: 200, "));
    c->filter_node = "";
    run(c, 7 * USEC_PER_MSEC);
    const char *s = strstr(buf_str(&c->trace), "0 filter s");
    const char *r = strstr(buf_str(&c->trace), "2 filter r");
    const char *p = strstr(buf_str(&c->trace), "4 filter p");
    const char *q = strstr(buf_str(&c->trace), "6 filter q");
    assert_true(s && r && p && q && s < r && r < p && p < q);
    end(c);
}

static void prioritize_decides_unless_one_node_is_left(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p") POD("q"));
    c->best_node = "b";
    run(c, USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "b");
    assert_string_equal(node_of(c, "q"), "a");
    assert_int_equal(c->prioritizes, 1);
    end(c);
}

static void assumed_pods_keep_their_place(void **state)
{
    (void)state;
    struct core *c = begin("nodes:\n" NODE("a") "objects:\n" POD("p") POD("q"));
    c->bind = BIND_HOLDS;
    run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->binds, 1);
    assert_int_equal(c->filters, 1);
    assert_non_null(strstr(message_of(c, "q"), "Insufficient nvidia.com/gpu"));
    assert_false(builtin_cluster_settled(c->cluster));
    end(c);
}

static void from_100_nodes_up_a_sample_is_offered(void **state)
{
    (void)state;
    static const struct {
        const char *count, *line;
    } cases[] = {
        {"99", "filter p 99 "},   {"100", "filter p 100 "},  {"150", "filter p 100 "},
        {"400", "filter p 188 "}, {"1000", "filter p 420 "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text =
            xasprintf("nodes:\n- {name: n, count: %s, allocatable: {nvidia.com/gpu: 9}}\n"
                      "objects:\n%s%s",
                      cases[i].count, POD("p"), POD("q"));
        struct core *c = begin(text);
        run(c, USEC_PER_SEC);
        assert_true(saw(c, cases[i].line));
        /* The next scan goes on where this one ended. */
        assert_int_equal(saw(c, "filter q 188 n-188"), i == 3);
        end(c);
    }
}

/* ---- rejected pods ---- */

static void a_rejected_pod_is_tried_twice_then_left_alone(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    c->filter_text = "gang ml/g: 8 members needed, room for 6";
    run(c, 60 * USEC_PER_SEC);
    assert_int_equal(c->filters, 2);
    assert_string_equal(message_of(c, "p"),
                        "0/2 nodes are available: 1 gang ml/g: 8 members needed, room for 6.");
    assert_true(builtin_cluster_settled(c->cluster));
    /* The scheduler's own flush, five minutes after the last try. */
    run(c, 302 * USEC_PER_SEC);
    assert_int_equal(c->filters, 3);
    end(c);
}

static void any_event_wakes_what_the_extender_rejected(void **state)
{
    (void)state;
    /* A pod appears on b: no room is made, and the pod that is too large is left alone. */
    struct core *c = begin(NODES "objects:\n" POD("p") POD_XX(
        "large", "2", "") "timetable:\n- at: 20s\n  create:\n  " POD_X("r", "nodeName: b, "));
    c->filter_node = "";
    run(c, 19 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE,
                            .pod = {"default", "large", uid_of(c, "large"), "b"}};
    apply(c, &e);
    run(c, 21 * USEC_PER_SEC);
    assert_true(saw(c, "20001 filter p 1 a"));
    /* Another try would have cleared it. */
    assert_string_equal(field_peek(pod_of(c, "large"), "status", "nominatedNodeName", NULL), "b");
    end(c);
}

static void a_nomination_wakes_and_steers(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    run(c, 19 * USEC_PER_SEC);
    c->filter_node = "b";
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    apply(c, &e);
    run(c, 20 * USEC_PER_SEC);
    assert_true(saw(c, "filter p 1 b"));
    assert_string_equal(node_of(c, "p"), "b");
    end(c);
}

static void a_refused_nomination_falls_back_and_is_cleared(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->filter_node = "";
    run(c, 19 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    apply(c, &e);
    run(c, 20 * USEC_PER_SEC);
    const char *alone = strstr(buf_str(&c->trace), "19003 filter p 1 b");
    assert_non_null(alone);
    assert_non_null(strstr(alone, "19003 filter p 2 a"));
    assert_null(field_peek(pod_of(c, "p"), "status", "nominatedNodeName", NULL));
    end(c);
}

static void what_only_the_scheduler_rejected_is_not_woken_by_a_patch(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD_XX("p", "2", "") POD_X("q", "nodeName: a, ")
                               POD_X("r", "nodeName: b, "));
    run(c, 5 * USEC_PER_SEC);
    usec_t next = c->cluster->ops->next(c->cluster);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    apply(c, &e);
    run(c, 9 * USEC_PER_SEC);
    /* The nomination would have been cleared by another try. */
    assert_string_equal(field_peek(pod_of(c, "p"), "status", "nominatedNodeName", NULL), "b");
    assert_true(next > ORIGIN + 9 * USEC_PER_SEC);
    end(c);
}

/* p waits with a nomination to b that its in-tree filters do not let it use: 2 GPUs. */
static void nominated_pods_count_for_equals_but_not_above(void **state)
{
    (void)state;
    struct core *c =
        begin("nodes:\n- {name: b, allocatable: {nvidia.com/gpu: 2}}\n"
              "objects:\n" POD_XX("p", "2", "")
                  POD_X("r", "nodeName: b, ") "timetable:\n- at: 3s\n  create:\n  " POD(
                      "q") "- at: 5s\n  create:\n  " POD_X("s", "priority: 5, "));
    run(c, 2 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE, .pod = {"default", "p", uid_of(c, "p"), "b"}};
    apply(c, &e);
    run(c, 4 * USEC_PER_SEC);
    assert_false(saw(c, "filter q"));
    assert_non_null(strstr(message_of(c, "q"), "Insufficient nvidia.com/gpu"));
    run(c, 6 * USEC_PER_SEC);
    assert_true(saw(c, "filter s 1 b"));
    end(c);
}

static void an_error_sits_out_its_backoff(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->filter_error = "not synced";
    run(c, 999 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 1);
    assert_string_equal(message_of(c, "p"), "not synced");
    run(c, USEC_PER_SEC);
    assert_int_equal(c->filters, 2);
    run(c, 2999 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 2);
    run(c, 3 * USEC_PER_SEC);
    assert_int_equal(c->filters, 3);
    run(c, 60 * USEC_PER_SEC);
    /* 7 s, 15 s, then every 10 s. */
    assert_int_equal(c->filters, 3 + 2 + 4);
    end(c);
}

/* ---- bindings ---- */

static void a_refused_bind_is_tried_again_later(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_REFUSES;
    run(c, USEC_PER_SEC);
    assert_int_equal(c->binds, 1);
    assert_string_equal(message_of(c, "p"), "running Bind: not now");
    run(c, 1003 * USEC_PER_MSEC);
    assert_int_equal(c->filters, 2);
    c->bind = BIND_WRITES;
    run(c, 10 * USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    end(c);
}

static void the_scheduler_gives_up_a_bind_after_its_timeout(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_HOLDS;
    run(c, 30 * USEC_PER_SEC);
    assert_int_equal(c->closed, 0);
    uint64_t first = c->held;
    run(c, 31 * USEC_PER_SEC);
    assert_int_equal(c->closed, 1);
    assert_non_null(strstr(message_of(c, "p"), "deadline exceeded"));
    run(c, 32 * USEC_PER_SEC);
    assert_int_equal(c->binds, 2);
    /* A reply to the call that was given up changes nothing. */
    reply_bind(c, first, "late");
    run(c, 33 * USEC_PER_SEC);
    assert_int_equal(c->binds, 2);
    write_binding(c, "default", "p", uid_of(c, "p"), "a");
    run(c, 34 * USEC_PER_SEC);
    reply_bind(c, c->held, "");
    run(c, 70 * USEC_PER_SEC);
    assert_int_equal(c->closed, 1);
    assert_string_equal(phase_of(c, "p"), "Succeeded");
    end(c);
}

static void bindings_are_answered_as_an_api_server_would(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    c->bind = BIND_HOLDS;
    run(c, USEC_PER_SEC);
    buf_clear(&c->trace);
    cleanup_free char *uid = xstrdup(uid_of(c, "p"));
    struct gang_effect read = {.kind = GANG_READ_POD, .pod = {"default", "p", uid, NULL}};
    struct gang_effect other = {.kind = GANG_READ_POD, .pod = {"default", "p", "other", NULL}};
    apply(c, &read);
    apply(c, &other);
    write_binding(c, "default", "nobody", uid, "a");
    write_binding(c, "default", "p", "other", "a");
    write_binding(c, "default", "p", uid, "a");
    write_binding(c, "default", "p", uid, "a");
    run(c, 2 * USEC_PER_SEC);
    apply(c, &read);
    run(c, 3 * USEC_PER_SEC);
    assert_int_equal(times(c, "pod_read 3 -"), 1);     /* not bound */
    assert_int_equal(times(c, "pod_read 1 -"), 1);     /* another pod */
    assert_int_equal(times(c, "bind_done 1 text"), 2); /* unknown, other uid */
    assert_int_equal(times(c, "bind_done 0 "), 1);
    assert_int_equal(times(c, "bind_done 2 text"), 1); /* already bound */
    assert_int_equal(times(c, "pod_read 0 a"), 1);
    end(c);
}

static void a_pod_being_deleted_is_not_bound(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD_X(
        "p", "nodeName: a, ") "timetable:\n- {at: 1s, delete: [{kind: Pod, name: p}]}\n");
    run(c, 1500 * USEC_PER_MSEC);
    assert_true(saw(c, "1001 pod p a 1 deleting"));
    write_binding(c, "default", "p", uid_of(c, "p"), "b");
    run(c, 1600 * USEC_PER_MSEC);
    assert_true(saw(c, "bind_done 2 text"));
    run(c, 3 * USEC_PER_SEC);
    assert_true(saw(c, "2001 gone p"));
    assert_int_equal(count_pods(c), 0);
    end(c);
}

/* ---- Jobs, quotas, nodes ---- */

#define JOB(more)                                                                                  \
    "- {apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "                        \
    "{muster.dev/create-every: 100ms}}, spec: {" more                                              \
    "template: {metadata: {annotations: {muster.dev/duration: 5s}}, spec: {containers: [{name: "   \
    "c}]}}}}\n"
#define ROOM "nodes:\n- {name: a, allocatable: {cpu: 8}}\n"

static void a_job_creates_its_pods_one_by_one_and_ends(void **state)
{
    (void)state;
    struct core *c = begin(
        ROOM "objects:\n" JOB("parallelism: 3, completions: 5, ttlSecondsAfterFinished: 7, "));
    run(c, 100 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 1);
    run(c, 250 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 3);
    run(c, 5 * USEC_PER_SEC);
    assert_int_equal(count_pods(c), 3);
    run(c, 6500 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 5);
    run(c, 15 * USEC_PER_SEC);
    const json_t *job = builtin_cluster_object(c->cluster, KIND_JOB, NULL, "default", "j");
    assert_non_null(field_peek(job, "status", "completionTime", NULL));
    assert_string_equal(phase_of(c, "j-4"), "Succeeded");
    run(c, 20 * USEC_PER_SEC);
    assert_null(builtin_cluster_object(c->cluster, KIND_JOB, NULL, "default", "j"));
    assert_int_equal(count_pods(c), 0);
    assert_true(builtin_cluster_settled(c->cluster));
    end(c);
}

static void a_quota_stops_a_job_until_it_goes(void **state)
{
    (void)state;
    struct core *c = begin(
        ROOM "objects:\n- {apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: "
             "{pods: '2'}}}\n" JOB(
                 "parallelism: 4, ") "timetable:\n"
                                     "- {at: 2s, delete: [{kind: ResourceQuota, name: q}]}\n");
    run(c, 1900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 2);
    run(c, 3 * USEC_PER_SEC);
    assert_int_equal(count_pods(c), 4);
    end(c);
}

static void a_job_is_scaled_and_replaces_what_is_lost(void **state)
{
    (void)state;
    struct core *c = begin(
        "nodes:\n- {name: a, allocatable: {cpu: 8}}\n- {name: b, allocatable: {cpu: 8}}\n"
        "objects:\n" JOB(
            "parallelism: 2, ") "timetable:\n"
                                "- {at: 1s, scale: [{kind: Job, name: j, parallelism: 3}]}\n"
                                "- {at: 2s, delete: [{kind: Pod, name: j-0}]}\n"
                                "- {at: 3s, scale: [{kind: Job, name: j, parallelism: 1}]}\n");
    c->filter_node = "a";
    run(c, 1900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 3);
    run(c, 2900 * USEC_PER_MSEC);
    assert_true(saw(c, "pod j-3 a"));
    run(c, 4900 * USEC_PER_MSEC);
    assert_int_equal(count_pods(c), 1);
    end(c);
}

static void pods_of_a_lost_node_end_and_are_replaced(void **state)
{
    (void)state;
    struct core *c = begin("nodes:\n- {name: a, allocatable: {cpu: 8}}\n- {name: b, allocatable: "
                           "{cpu: 8}}\nobjects:\n" JOB(
                               "parallelism: 1, ") "timetable:\n"
                                                   "- {at: 2s, delete: [{kind: Node, name: a}]}\n");
    c->best_node = "a";
    run(c, 4 * USEC_PER_SEC);
    assert_true(saw(c, "gone a"));
    assert_true(saw(c, "gone j-0"));
    assert_string_equal(node_of(c, "j-1"), "b");
    end(c);
}

static void gated_pods_are_not_asked_about(void **state)
{
    (void)state;
    struct core *c = begin(
        NODES "objects:\n" POD_X("p", "schedulingGates: [{name: kueue.x-k8s.io/admission}], "));
    run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    assert_true(builtin_cluster_settled(c->cluster));
    end(c);
}

static void P07_a_gate_of_muster_is_lifted_by_it_and_others_stay(void **state)
{
    (void)state;
    struct core *c =
        begin(NODES "objects:\n" POD_X("p", "schedulingGates: [{name: muster.dev/plan}], ")
                  POD_X("q", "schedulingGates: [{name: muster.dev/plan}, {name: "
                             "kueue.x-k8s.io/admission}], "));
    run(c, 10 * USEC_PER_SEC);
    assert_int_equal(c->filters, 0);
    apply(c,
          &(struct gang_effect){.kind = GANG_UNGATE, .pod = {"default", "p", uid_of(c, "p"), "a"}});
    apply(c, &(struct gang_effect){.kind = GANG_UNGATE, .pod = {"default", "q", uid_of(c, "q")}});
    run(c, 12 * USEC_PER_SEC);
    assert_string_equal(node_of(c, "p"), "a");
    assert_string_equal(node_of(c, "q"), "");
    end(c);
}

/* ---- status and events ---- */

static void a_status_is_written_through_the_dialect(void **state)
{
    (void)state;
    struct core *c = begin("objects:\n- {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, "
                           "metadata: {name: g}, spec: {minMember: 2}}\n");
    run(c, USEC_PER_SEC);
    char group[] = "scheduling.x-k8s.io", ns[] = "default", name[] = "g";
    struct gang_ref ref = {group, ns, name};
    struct gang_effect e = {.kind = GANG_STATUS,
                            .status = {.ref = &ref,
                                       .uid = "u",
                                       .state = GANG_SCHEDULED,
                                       .text = "",
                                       .help = "",
                                       .ever_scheduled = true,
                                       .min_member = 2,
                                       .needed = 2,
                                       .members = 2,
                                       .bound = 2,
                                       .running = 2}};
    apply(c, &e);
    run(c, 2 * USEC_PER_SEC);
    const json_t *object = builtin_cluster_object(c->cluster, KIND_POD_GROUP, NULL, "default", "g");
    assert_string_equal(field_peek(object, "status", "phase", NULL), "Running");
    assert_int_equal(times(c, "group g"), 2);
    /* Nothing new: nothing is written. */
    apply(c, &e);
    run(c, 3 * USEC_PER_SEC);
    assert_int_equal(times(c, "group g"), 2);
    end(c);
}

static void events_are_kept_but_not_for_ever(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p"));
    run(c, 0);
    for (int i = 0; i < 1005; i++) {
        char text[32];
        snprintf(text, sizeof text, "message %d", i);
        struct gang_effect e = {.kind = GANG_EVENT,
                                .event = {.kind = "Pod",
                                          .ns = "default",
                                          .name = "p",
                                          .uid = "u",
                                          .reason = "Unschedulable",
                                          .message = text}};
        apply(c, &e);
    }
    const json_t *events = builtin_cluster_events(c->cluster);
    assert_int_equal(json_array_size(events), 1000);
    assert_string_equal(field_peek(json_array_get(events, 0), "message", NULL), "message 5");
    end(c);
}

static void mistakes_of_a_timetable_do_not_stop_it(void **state)
{
    (void)state;
    struct core *c = begin(NODES "objects:\n" POD("p") "timetable:\n- at: 1s\n  create:\n  " POD(
        "p") "  delete: [{kind: Pod, name: q}]\n  cordon: [z]\n"
             "- {at: 2s, scale: [{kind: Job, name: z, parallelism: 1}], cordon: [a]}\n");
    run(c, 3 * USEC_PER_SEC);
    const json_t *node = builtin_cluster_object(c->cluster, KIND_NODE, NULL, "", "a");
    assert_true(json_is_true(json_object_get(json_object_get(node, "spec"), "unschedulable")));
    assert_int_equal(count_pods(c), 1);
    end(c);
}

static void the_same_scenario_gives_the_same_events(void **state)
{
    (void)state;
    char *traces[2];
    for (int i = 0; i < 2; i++) {
        struct core *c = begin(NODES "objects:\n" POD("p") POD("q") POD("r")
                                   JOB("parallelism: 3, ") "timetable:\n- {at: 1s, every: 2s, "
                                                           "times: 5, cordon: [a], uncordon: "
                                                           "[b]}\n");
        run(c, 120 * USEC_PER_SEC);
        traces[i] = buf_steal(&c->trace);
        end(c);
    }
    assert_string_equal(traces[0], traces[1]);
    assert_true(strlen(traces[0]) > 500);
    free(traces[0]);
    free(traces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_filtered_bound_runs_and_ends),
        cmocka_unit_test(a_pod_with_a_node_runs_from_the_start),
        cmocka_unit_test(filter_is_not_asked_when_no_node_passes),
        cmocka_unit_test(nodes_are_judged_as_the_scheduler_judges_them),
        cmocka_unit_test(host_ports_collide),
        cmocka_unit_test(priority_goes_first_then_age),
        cmocka_unit_test(prioritize_decides_unless_one_node_is_left),
        cmocka_unit_test(assumed_pods_keep_their_place),
        cmocka_unit_test(from_100_nodes_up_a_sample_is_offered),
        cmocka_unit_test(a_rejected_pod_is_tried_twice_then_left_alone),
        cmocka_unit_test(any_event_wakes_what_the_extender_rejected),
        cmocka_unit_test(a_nomination_wakes_and_steers),
        cmocka_unit_test(a_refused_nomination_falls_back_and_is_cleared),
        cmocka_unit_test(what_only_the_scheduler_rejected_is_not_woken_by_a_patch),
        cmocka_unit_test(nominated_pods_count_for_equals_but_not_above),
        cmocka_unit_test(an_error_sits_out_its_backoff),
        cmocka_unit_test(a_refused_bind_is_tried_again_later),
        cmocka_unit_test(the_scheduler_gives_up_a_bind_after_its_timeout),
        cmocka_unit_test(bindings_are_answered_as_an_api_server_would),
        cmocka_unit_test(a_pod_being_deleted_is_not_bound),
        cmocka_unit_test(a_job_creates_its_pods_one_by_one_and_ends),
        cmocka_unit_test(a_quota_stops_a_job_until_it_goes),
        cmocka_unit_test(a_job_is_scaled_and_replaces_what_is_lost),
        cmocka_unit_test(pods_of_a_lost_node_end_and_are_replaced),
        cmocka_unit_test(gated_pods_are_not_asked_about),
        cmocka_unit_test(P07_a_gate_of_muster_is_lifted_by_it_and_others_stay),
        cmocka_unit_test(a_status_is_written_through_the_dialect),
        cmocka_unit_test(events_are_kept_but_not_for_ever),
        cmocka_unit_test(mistakes_of_a_timetable_do_not_stop_it),
        cmocka_unit_test(the_same_scenario_gives_the_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
