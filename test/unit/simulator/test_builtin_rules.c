/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in scheduler's filters for other pods and for volumes. The core in these tests lets
 * every pod pass, so every refusal is the built-in scheduler's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"
#include "simulator/built_in_cluster.h"

struct fixture {
    struct cluster *cluster;
    usec_t now;
    struct gang_event inbox[256];
    size_t n_inbox;
};

static void post(void *arg, struct gang_event *ev)
{
    struct fixture *x = arg;
    assert_true(x->n_inbox < ARRAY_SIZE(x->inbox));
    x->inbox[x->n_inbox++] = *ev;
}

static void apply(struct fixture *x, const struct gang_effect *e)
{
    x->cluster->ops->apply(x->cluster, x->now, e);
}

static void answer(struct fixture *x, const struct gang_event *ev)
{
    uint8_t scores[64] = {0};
    struct gang_effect e = {.kind = GANG_REPLY_FILTER};
    switch (ev->kind) {
    case GANG_EV_FILTER:
        e.filter.id = ev->id;
        e.filter.pass_all = true;
        apply(x, &e);
        break;
    case GANG_EV_PRIORITIZE:
        e.kind = GANG_REPLY_PRIORITIZE;
        e.prioritize.id = ev->id;
        e.prioritize.scores = scores;
        for (size_t i = 0; i < ev->n_names; i++) /* the first node by name */
            scores[i] = (uint8_t)('z' - ev->names[i][0]);
        e.prioritize.n = ev->n_names;
        apply(x, &e);
        break;
    case GANG_EV_BIND:
        e.kind = GANG_BIND;
        e.pod.ns = ev->bind.ns;
        e.pod.name = ev->bind.name;
        e.pod.uid = ev->bind.uid;
        e.pod.node = ev->bind.node;
        apply(x, &e);
        e = (struct gang_effect){.kind = GANG_REPLY_BIND};
        e.bind_reply.id = ev->id;
        e.bind_reply.error = "";
        apply(x, &e);
        break;
    default:
        break;
    }
}

/* Runs everything up to this time. */
static void run(struct fixture *x, usec_t until)
{
    for (usec_t at; (at = x->cluster->ops->next(x->cluster)) <= until;) {
        x->now = at > x->now ? at : x->now;
        x->cluster->ops->advance(x->cluster, x->now);
        for (size_t i = 0; i < x->n_inbox; i++) {
            struct gang_event ev = x->inbox[i];
            answer(x, &ev);
            gang_event_done(&ev);
        }
        x->n_inbox = 0;
    }
    x->now = until;
}

static struct fixture *begin(const char *text)
{
    struct err err = {0};
    struct scenario *s = scenario_parse("t.yaml", ".", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err.text);
    struct fixture *x = xcalloc(1, sizeof *x);
    x->cluster = builtin_cluster_new(s, &(struct cluster_sink){post, x}, 0);
    return x;
}

static void end(struct fixture *x)
{
    x->cluster->ops->close(x->cluster, 0);
    for (size_t i = 0; i < x->n_inbox; i++)
        gang_event_done(&x->inbox[i]);
    free(x);
}

/* node: where the pod is; "": not scheduled, with `says` in its message. */
static void expect(struct fixture *x, const char *name, const char *node, const char *says)
{
    const json_t *pod = builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", name);
    assert_non_null(pod);
    const char *on = field_peek(pod, "spec", "nodeName", NULL);
    const json_t *conditions = json_object_get(json_object_get(pod, "status"), "conditions");
    const char *text = field_peek(json_array_get(conditions, 0), "message", NULL);
    if (strcmp(on ? on : "", node) != 0 || (says && !strstr(text ? text : "", says)))
        fail_msg("%s is on \"%s\", with the message \"%s\"", name, on ? on : "", text ? text : "");
}

#define NODE(name, more) "- {name: " name ", allocatable: {cpu: 8, memory: 8Gi}" more "}\n"
#define NODES            "nodes:\n" NODE("a", "") NODE("b", "")
#define POD(name, app, spec)                                                                       \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: " app                  \
    "}}, spec: {" spec "containers: [{name: c}]}}\n"
#define APART(app)                                                                                 \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " \
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: " app "}}}]}}, "
#define SPREAD(app, more)                                                                          \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "               \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: " app "}}" more "}], "
#define CLAIM(name, volume)                                                                        \
    "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name                       \
    "}, spec: {volumeName: " volume "}}\n"
#define VOLUME(name, host)                                                                         \
    "- {apiVersion: v1, kind: PersistentVolume, metadata: {name: " name                            \
    "}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "           \
    "kubernetes.io/hostname, operator: In, values: [" host "]}]}]}}}}\n"
#define USES(claim) "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}], "

static void anti_affinity_counts_in_both_directions(void **state)
{
    (void)state;
    struct fixture *x = begin(NODES "objects:\n" POD("p", "x", "") POD("q", "y", APART("x"))
                                  POD("r", "x", "") POD("s", "y", APART("x")));
    run(x, USEC_PER_SEC);
    expect(x, "p", "a", NULL);
    expect(x, "q", "b", NULL);
    expect(x, "r", "a", NULL); /* q excludes b */
    expect(x, "s", "b", NULL);
    end(x);
}

static void the_message_names_anti_affinity(void **state)
{
    (void)state;
    struct fixture *x =
        begin("nodes:\n" NODE("a", "") "objects:\n" POD("p", "x", "") POD("q", "y", APART("x")));
    run(x, USEC_PER_SEC);
    expect(x, "q", "", "1 node(s) didn't match pod anti-affinity rules.");
    end(x);
    x = begin("nodes:\n" NODE("a", "") "objects:\n" POD("p", "y", APART("x")) POD("q", "x", ""));
    run(x, USEC_PER_SEC);
    expect(x, "q", "", "1 node(s) didn't satisfy existing pods anti-affinity rules.");
    end(x);
}

static void a_pod_with_anti_affinity_that_goes_makes_room(void **state)
{
    (void)state;
    struct fixture *x =
        begin("nodes:\n" NODE("a", "") "objects:\n" POD("p", "x", "")
                  POD("q", "y", APART("x")) "timetable:\n- {at: 5s, delete: [{kind: "
                                            "Pod, namespace: default, name: p}]}\n");
    run(x, 4 * USEC_PER_SEC);
    expect(x, "q", "", NULL);
    run(x, 20 * USEC_PER_SEC);
    expect(x, "q", "a", NULL);
    end(x);
}

static void a_spread_is_kept(void **state)
{
    (void)state;
    struct fixture *x = begin(NODES "objects:\n" POD("p", "x", SPREAD("x", ""))
                                  POD("q", "x", SPREAD("x", "")) POD("r", "x", SPREAD("x", "")));
    run(x, USEC_PER_SEC);
    expect(x, "p", "a", NULL);
    expect(x, "q", "b", NULL);
    expect(x, "r", "a", NULL);
    end(x);
}

static void the_message_names_the_topology_spread(void **state)
{
    (void)state;
    struct fixture *x = begin("nodes:\n" NODE("a", "") NODE(
        "b", ", taints: [{key: k, effect: NoSchedule}]") "objects:\n" POD("p", "x", SPREAD("x", ""))
                                  POD("q", "x", SPREAD("x", "")));
    run(x, USEC_PER_SEC);
    expect(x, "p", "a", NULL);
    expect(x, "q", "", "1 node(s) didn't match pod topology spread constraints");
    end(x);
    x = begin(NODES "objects:\n" POD("p", "x", SPREAD("x", ", minDomains: 3")) POD(
        "q", "x", SPREAD("x", ", minDomains: 3")) POD("r", "x", SPREAD("x", ", minDomains: 3")));
    run(x, USEC_PER_SEC);
    expect(x, "q", "b", NULL);
    expect(x, "r", "", "2 node(s) didn't match pod topology spread constraints.");
    end(x);
}

/* A nominated pod keeps its room from pods of the same or a lower priority. */
static void nominated_pods_count(void **state)
{
    (void)state;
    struct fixture *x = begin("nodes:\n" NODE("a", "") NODE(
        "b", ", unschedulable: true") "objects:\n- {apiVersion: v1, "
                                      "kind: Pod, metadata: {name: big, labels: {app: x}}, status: "
                                      "{}, spec: {containers: [{name: "
                                      "c, resources: {requests: {cpu: 9}}}]}}\n"
                                      "timetable:\n- at: 5s\n  create:\n  " POD(
                                          "p", "y", APART("x")) "  " POD("q", "x",
                                                                         SPREAD("x", "")));
    run(x, 4 * USEC_PER_SEC);
    struct gang_effect e = {.kind = GANG_NOMINATE};
    e.pod.ns = "default";
    e.pod.name = "big";
    e.pod.uid = field_peek(builtin_cluster_object(x->cluster, KIND_POD, NULL, "default", "big"),
                           "metadata", "uid", NULL);
    e.pod.node = "a";
    apply(x, &e);
    run(x, 6 * USEC_PER_SEC);
    expect(x, "p", "", "1 node(s) didn't match pod anti-affinity rules");
    expect(x, "q", "", "1 node(s) didn't match pod topology spread constraints");
    end(x);
}

static void a_volume_decides_the_node(void **state)
{
    (void)state;
    struct fixture *x = begin(NODES "objects:\n" CLAIM("c1", "v1") VOLUME("v1", "b") CLAIM(
        "c2", "v2") VOLUME("v2", "elsewhere") POD("p", "x", USES("c1")) POD("q", "x", USES("c2")));
    run(x, USEC_PER_SEC);
    expect(x, "p", "b", NULL);
    expect(x, "q", "", "2 node(s) didn't match PersistentVolume's node affinity.");
    end(x);
}

static void the_selected_node_of_a_claim_decides_the_node(void **state)
{
    (void)state;
    struct fixture *x = begin(
        NODES "objects:\n- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, "
              "annotations: {volume.kubernetes.io/selected-node: b}}}\n" POD("p", "x", USES("c")));
    run(x, USEC_PER_SEC);
    expect(x, "p", "b", NULL);
    end(x);
}

static void a_pod_is_scheduled_when_the_volume_that_limits_it_is_deleted(void **state)
{
    (void)state;
    struct fixture *x = begin(NODES "objects:\n" CLAIM("c", "v") VOLUME("v", "far") POD(
        "p", "x",
        USES("c")) "timetable:\n- at: 5s\n  delete: [{kind: PersistentVolume, name: v}]\n");
    run(x, 4 * USEC_PER_SEC);
    expect(x, "p", "", NULL);
    run(x, 20 * USEC_PER_SEC);
    expect(x, "p", "a", NULL); /* the volume is unknown now */
    end(x);
}

static void invalid_manifests_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    static const char text[] = "objects:\n- {apiVersion: v1, kind: PersistentVolume, metadata: "
                               "{name: v}, spec: {nodeAffinity: {required: []}}}\n";
    assert_null(scenario_parse("t.yaml", ".", text, sizeof text - 1, &err));
    assert_non_null(strstr(err.text, "PersistentVolume v: spec.nodeAffinity: required is a list"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anti_affinity_counts_in_both_directions),
        cmocka_unit_test(the_message_names_anti_affinity),
        cmocka_unit_test(a_pod_with_anti_affinity_that_goes_makes_room),
        cmocka_unit_test(a_spread_is_kept),
        cmocka_unit_test(the_message_names_the_topology_spread),
        cmocka_unit_test(nominated_pods_count),
        cmocka_unit_test(a_volume_decides_the_node),
        cmocka_unit_test(the_selected_node_of_a_claim_decides_the_node),
        cmocka_unit_test(a_pod_is_scheduled_when_the_volume_that_limits_it_is_deleted),
        cmocka_unit_test(invalid_manifests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
