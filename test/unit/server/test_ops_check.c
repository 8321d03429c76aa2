/* SPDX-License-Identifier: Apache-2.0 */
/* POST /api/v1/check: what would happen to the gangs of manifests. */
#include "test/unit/server/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "k8s/encoding/kube_field.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/raw_client.h"

#define PATH    "/api/v1/check?namespace=ml"
#define VOLCANO "scheduling.volcano.sh"

/* A PodGroup and a Job with as many pods. */
static char *gang_yaml(const char *name, int n, const char *queue)
{
    return xasprintf(
        "apiVersion: scheduling.volcano.sh/v1beta1\n"
        "kind: PodGroup\n"
        "metadata: {name: %s}\n"
        "spec: {minMember: %d, queue: %s}\n"
        "---\n"
        "apiVersion: batch/v1\n"
        "kind: Job\n"
        "metadata: {name: %s}\n"
        "spec:\n"
        "  parallelism: %d\n"
        "  completions: %d\n"
        "  template:\n"
        "    metadata: {annotations: {scheduling.k8s.io/group-name: %s}}\n"
        "    spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n",
        name, n, queue, name, n, n, name);
}

static json_t *ask(struct server *s, const char *text)
{
    return fetch_json(s->ops_at, "POST", PATH, text, 200);
}

/* The answer about a gang of n pods; the caller owns it. */
static json_t *ask_gang(struct server *s, const char *name, int n, const char *queue)
{
    cleanup_free char *yaml = gang_yaml(name, n, queue);
    return ask(s, yaml);
}

static const json_t *first(const json_t *reply)
{
    return json_array_get(json_object_get(reply, "gangs"), 0);
}

/* The value of the gang at this key as compact JSON. */
static void has(const json_t *reply, const char *key, const char *want)
{
    const json_t *value = json_object_get(first(reply), key);
    cleanup_free char *got =
        value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : xstrdup("nothing");
    if (strcmp(got, want) != 0) {
        cleanup_free char *all = json_dumps(reply, JSON_COMPACT);
        fail_msg("%s is %s, not %s, in %s", key, got, want, all);
    }
}

static const char *reason(const json_t *reply, const char *key)
{
    const char *text = field_peek(first(reply), "reason", key, NULL);
    return text ? text : "";
}

static void post_queue(struct server *s, const char *name, const char *parent, int64_t gpus)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup(VOLCANO), xstrdup(""), xstrdup(name)};
    f->uid = xasprintf("uid-%s", name);
    f->parent = xstrdup_null(parent);
    f->parent_field = "spec.parent";
    gang_quota_add(f, "nvidia.com/gpu")->cap = gpus;
    post(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f});
}

/* Node n0 with 10 GPUs; gang ml/g is planned there with 2. */
static void begin(struct server *s)
{
    post_world(s, 2);
    wait_ready(s);
    wait_for(s, "planned", 2);
}

/* ---- answers ---- */

static void a_gang_that_fits_shows_its_nodes(void **state)
{
    struct server *s = *state;
    begin(s);
    json_t *reply = ask_gang(s, "new", 8, "q");
    has(reply, "fits", "true");
    has(reply, "namespace", "\"ml\"");
    has(reply, "name", "\"new\"");
    has(reply, "apiGroup", "\"scheduling.volcano.sh\"");
    has(reply, "needed", "8");
    has(reply, "members", "8");
    has(reply, "placed", "8");
    has(reply, "nodes", "[{\"name\":\"n0\",\"members\":8}]");
    has(reply, "workload", "nothing");
    assert_true(json_is_true(json_object_get(reply, "fits")));
    json_decref(reply);
    /* Nothing has changed: there is no such gang, and its room is free. */
    json_decref(fetch_json(s->ops_at, "GET", "/api/v1/gangs/ml/new", NULL, 404));
    json_t *nodes = fetch_json(s->ops_at, "GET", "/api/v1/nodes", NULL, 200);
    const json_t *node = json_array_get(json_object_get(nodes, "nodes"), 0);
    assert_int_equal(json_integer_value(json_object_get(node, "slots")), 2);
    json_decref(nodes);
}

static void a_gang_that_waits_says_after_whom_and_with_how_many_it_fits(void **state)
{
    struct server *s = *state;
    begin(s);
    json_t *reply = ask_gang(s, "new", 10, "q");
    has(reply, "fits", "false");
    assert_string_equal(reason(reply, "code"), "NotEnoughResources");
    assert_string_equal(reason(reply, "text"),
                        "gang ml/new: 10 members needed, room for 8 (2 short of nvidia.com/gpu)");
    has(reply, "smallerMinimum", "8");
    has(reply, "after",
        "[{\"kind\":\"gang\",\"namespace\":\"ml\",\"name\":\"g\",\"planned\":true}]");
    has(reply, "moreNodes", "{\"nodes\":1,\"likeNode\":\"n0\"}");
    has(reply, "position", "1");
    has(reply, "ahead", "[]");
    assert_true(json_is_false(json_object_get(reply, "fits")));
    json_decref(reply);
}

static void a_limit_above_the_queue_is_named_and_another_queue(void **state)
{
    struct server *s = *state;
    begin(s);
    post_queue(s, "research", NULL, 4);
    post_queue(s, "vision", "research", GANG_UNLIMITED);
    post_queue(s, "large", NULL, GANG_UNLIMITED);
    json_t *reply = ask_gang(s, "new", 6, "vision");
    has(reply, "fits", "false");
    assert_string_equal(reason(reply, "code"), "QueueLimitReached");
    has(reply, "queue",
        "{\"namespace\":\"\",\"name\":\"vision\",\"apiGroup\":\"scheduling.volcano.sh\"}");
    has(reply, "limit",
        "{\"queue\":\"research\",\"resource\":\"nvidia.com/gpu\",\"limit\":4,\"used\":0,"
        "\"needed\":6}");
    has(reply, "smallerMinimum", "4");
    has(reply, "otherQueues", "[\"large\"]");
    json_decref(reply);
    reply = ask_gang(s, "new", 6, "nowhere");
    assert_string_equal(reason(reply, "code"), "QueueNotFound");
    has(reply, "otherQueues", "[\"large\"]");
    json_decref(reply);
}

static void the_gangs_ahead_in_the_queue_are_named(void **state)
{
    struct server *s = *state;
    begin(s);
    post_queue(s, "training", NULL, GANG_UNLIMITED);
    const char *const gangs[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        struct gang_group_facts *g = gang_group_facts_new();
        g->ref = (struct gang_ref){xstrdup(VOLCANO), xstrdup("ml"), xstrdup(gangs[i])};
        g->uid = xstrdup(gangs[i]);
        g->min_member = 1;
        g->queue = xstrdup("training");
        g->created = i + 1;
        gang_amounts_add(&g->min_resources, "nvidia.com/gpu", 99);
        post(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
        cleanup_free char *pod = xasprintf("%s-0", gangs[i]);
        post_pod(s, pod, gangs[i]);
    }
    json_t *reply = ask_gang(s, "new", 10, "training");
    has(reply, "position", "3");
    has(reply, "ahead",
        "[{\"namespace\":\"ml\",\"name\":\"a\"},{\"namespace\":\"ml\",\"name\":\"b\"}]");
    json_decref(reply);
}

/* muster would create the PodGroup. */
static void a_workload_without_a_podgroup_is_a_gang_of_its_own(void **state)
{
    struct server *s = *state;
    begin(s);
    json_t *reply =
        ask(s, "apiVersion: kubeflow.org/v1\n"
               "kind: PyTorchJob\n"
               "metadata: {name: ddp}\n"
               "spec:\n"
               "  pytorchReplicaSpecs:\n"
               "    Worker:\n"
               "      replicas: 3\n"
               "      template: {spec: {schedulerName: muster, containers: [{name: c, resources: "
               "{limits: {nvidia.com/gpu: 3}}}]}}\n");
    has(reply, "workload", "{\"kind\":\"PyTorchJob\",\"name\":\"ddp\",\"singlePods\":false}");
    has(reply, "name", "\"pg-ddp-uid\"");
    has(reply, "fits", "false");
    has(reply, "needed", "3");
    json_decref(reply);
    reply = ask(s, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}");
    has(reply, "workload", "{\"kind\":\"Pod\",\"name\":\"p\",\"singlePods\":true}");
    has(reply, "fits", "true");
    json_decref(reply);
}

static void pods_have_the_priority_of_their_class(void **state)
{
    struct server *s = *state;
    begin(s);
    for (int i = 0; i < 2; i++) {
        struct gang_event ev = {.kind = GANG_EV_CLASS_SET,
                                .class = gang_priority_class_facts_new()};
        ev.class->name = xstrdup(i ? "high" : "system-node-critical");
        ev.class->value = 1000;
        post(s, ev);
    }
    post_group(s, "waits", 1);
    post_pod(s, "waits-0", "waits");
    json_t *reply =
        ask(s, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, "
               "schedulerName: muster, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
               "99}}}]}}\n"
               "---\n"
               "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {priorityClassName: hihg, "
               "containers: []}}\n");
    has(reply, "position", "1");
    cleanup_free char *faults = json_dumps(json_object_get(reply, "faults"), JSON_COMPACT);
    assert_string_equal(faults,
                        "[\"Pod ml/q: spec.priorityClassName names a PriorityClass that does not "
                        "exist; create it or correct the name\"]");
    json_decref(reply);
}

/* ---- errors ---- */

static void faults_name_the_object(void **state)
{
    struct server *s = *state;
    begin(s);
    json_t *reply = ask(s, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: "
                           "{parallelism: 2}}\n"
                           "---\n"
                           "{apiVersion: v1, kind: Service, metadata: {name: j}}\n");
    cleanup_free char *text = json_dumps(reply, JSON_COMPACT);
    assert_string_equal(text, "{\"gangs\":[],\"fits\":false,\"faults\":[\"Job ml/j: "
                              "spec.template.spec is missing; it describes the pods to "
                              "create\"],\"ignored\":[\"Service j\"]}");
    json_decref(reply);
}

static void refused(struct server *s, const char *text, int status, const char *want)
{
    json_t *reply = fetch_json(s->ops_at, "POST", PATH, text, status);
    const char *error = field_peek(reply, "error", NULL);
    if (!error || !strstr(error, want))
        fail_msg("\"%s\" is not in \"%s\"", want, error ? error : "");
    json_decref(reply);
}

static void what_cannot_be_checked_is_refused(void **state)
{
    struct server *s = *state;
    json_decref(fetch_json(s->ops_at, "POST", PATH, "a: 1", 503)); /* not synced */
    begin(s);
    refused(s, "a: [", 400, "manifest:2: while parsing");
    refused(s, "", 400, "the text has no object");
    cleanup_free char *exists = gang_yaml("g", 2, "q");
    refused(s, exists, 409, "PodGroup ml/g exists: use `muster explain`");
    refused(s,
            "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 1000000, "
            "template: {spec: {containers: []}}}}",
            400, "Job ml/j: there are more than 2048 pods");
    cleanup_reply struct client_reply r = {0}, get = {0};
    cleanup_free char *large = xmalloc(OPS_BODY_LIMIT + 2);
    memset(large, '#', OPS_BODY_LIMIT + 1);
    large[OPS_BODY_LIMIT + 1] = '\0';
    client_ask(s->ops_at, "POST", PATH, large, &r);
    assert_int_equal(r.status, 413);
    client_ask(s->ops_at, "GET", PATH, NULL, &get);
    assert_int_equal(get.status, 405);
}

/* A check that is still read when muster stops is refused like any other query. */
static void a_check_does_not_keep_muster_from_stopping(void **state)
{
    struct server *s = *state;
    int fds[20];
    begin(s);
    cleanup_free char *yaml = gang_yaml("new", 2000, "q");
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        fds[i] = client_connect(s->ops_at);
        client_request(fds[i], "POST", PATH, yaml);
    }
    stop(s);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        close(fds[i]);
}

/* ---- load ---- */

enum { NODES = IS_FAST_BUILD ? 10000 : 500 };
enum { CLIENTS = 40 };
#define TURN_NS 50e6 /* how long a check may use the core */
#define SOON    (2 * USEC_PER_SEC)

/* A template with these fields, in a gang of the most pods that are checked. */
static char *hostile_yaml(const char *meta, const char *spec)
{
    return xasprintf("apiVersion: scheduling.volcano.sh/v1beta1\n"
                     "kind: PodGroup\n"
                     "metadata: {name: h}\n"
                     "spec: {minMember: %d}\n"
                     "---\n"
                     "apiVersion: batch/v1\n"
                     "kind: Job\n"
                     "metadata: {name: h}\n"
                     "spec:\n"
                     "  parallelism: %d\n"
                     "  template:\n"
                     "    metadata: {annotations: {scheduling.k8s.io/group-name: h}, %s}\n"
                     "    spec: {%s, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
                     "1}}}]}\n",
                     GANG_DRY_PODS, GANG_DRY_PODS, meta, spec);
}

#define SELECT "labelSelector: {matchLabels: {app: x}}, topologyKey: kubernetes.io/hostname"

static const char *const hostile[][2] = {
    {"labels: {app: x}", "nodeSelector: {a: b}"},
    {"labels: {app: x}",
     "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" SELECT
     "}]}}"},
    {"labels: {app: x}",
     "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, " SELECT "}]"},
    {"labels: {app: x}", "hostNetwork: true"},
};

static usec_t probe(struct server *s)
{
    usec_t begin_at = usec_now();
    cleanup_reply struct client_reply r;
    client_ask(s->ops_at, "GET", "/livez", NULL, &r);
    assert_int_equal(r.status, 200);
    return usec_now() - begin_at;
}

static usec_t call(struct server *s)
{
    usec_t begin_at = usec_now();
    cleanup_free char *body = filter_body("single", NULL);
    json_decref(fetch_json(s->verbs, "POST", "/scheduler/filter", body, 200));
    return usec_now() - begin_at;
}

static void T10_checks_of_hostile_manifests_do_not_delay_calls_and_probes(void **state)
{
    struct server *s = *state;
    int fds[CLIENTS], answered = 0;
    usec_t longest = 0;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("node-%d", i);
        post_node(s, name, 8);
    }
    begin(s);
    samples_clear(&s->metrics.queries);
    for (int i = 0; i < CLIENTS; i++) {
        const char *const *h = hostile[(size_t)i % ARRAY_SIZE(hostile)];
        cleanup_free char *yaml = hostile_yaml(h[0], h[1]);
        fds[i] = client_connect(s->ops_at);
        client_request(fds[i], "POST", PATH, yaml);
    }
    for (int i = 0; i < 100; i++) { /* until the checks are under way */
        usec_t took = i % 2 ? probe(s) : call(s);
        longest = took > longest ? took : longest;
        usleep(10000);
    }
    for (int i = 0; i < CLIENTS; i++) {
        cleanup_reply struct client_reply r;
        assert_true(client_read(fds[i], &r));
        assert_true(r.status == 200 || r.status == 503); /* 503: too many at once */
        answered += r.status == 200;
        close(fds[i]);
    }
    assert_true(answered >= 8);
    double turn = (double)samples_quantile(&s->metrics.queries, 1.0);
    print_message("longest turn %.1f ms of CPU, longest probe or call %.1f ms\n", turn / 1e6,
                  (double)longest / 1e3);
    assert_true(longest < SOON);
    if (turn > cost_limit(TURN_NS))
        fail_msg("a check takes %.1f ms of the core's CPU", turn / 1e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gang_that_fits_shows_its_nodes),
        TEST(a_gang_that_waits_says_after_whom_and_with_how_many_it_fits),
        TEST(a_limit_above_the_queue_is_named_and_another_queue),
        TEST(the_gangs_ahead_in_the_queue_are_named),
        TEST(a_workload_without_a_podgroup_is_a_gang_of_its_own),
        TEST(pods_have_the_priority_of_their_class),
        TEST(faults_name_the_object),
        TEST(what_cannot_be_checked_is_refused),
        TEST(a_check_does_not_keep_muster_from_stopping),
        TEST(T10_checks_of_hostile_manifests_do_not_delay_calls_and_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
