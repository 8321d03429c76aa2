/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and pods in JSON, and the facts that are decoded from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gang/inter_pod_rules.h"
#include "gang/node_predicates.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"

#define META "\"metadata\":{\"name\":\"p\",\"namespace\":\"ml\",\"uid\":\"u1\"}"

static json_t *parse(const char *text)
{
    json_error_t at;
    json_t *json = json_loads(text, 0, &at);
    if (!json)
        fail_msg("%s: %s", at.text, text);
    return json;
}

static struct gang_pod_facts *pod(const char *rest)
{
    cleanup_buf struct buf text = BUF_INIT;
    buf_printf(&text, "{" META "%s%s}", *rest ? "," : "", rest);
    cleanup_json json_t *json = parse(buf_str(&text));
    struct err err;
    struct gang_pod_facts *f = decode_pod(json, &err);
    if (!f)
        fail_msg("%s", err.text);
    return f;
}

/* ---- requests ---- */

/* kube-scheduler's requests for these pods. The expected values follow AggregateContainerRequests
 * and SetDefaults_Pod of k8s.io/kubernetes v1.36. */
static const struct {
    const char *what, *rest;
    int64_t cpu, gpu, memory;
} request_cases[] = {
    {"nothing", "\"spec\":{}", 0, 0, 0},
    {"requests of two containers add up",
     "\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"1Gi\"}}"
     "},"
     "{\"resources\":{\"requests\":{\"cpu\":\"1.5\",\"nvidia.com/gpu\":\"2\"}}}]}",
     1600, 2, 1 << 30},
    {"limits stand in for requests that are absent, one by one",
     "\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"},"
     "\"limits\":{\"cpu\":\"4\",\"memory\":\"2Gi\",\"nvidia.com/gpu\":1}}}]}",
     1000, 1, (int64_t)2 << 30},
    {"numbers in place of strings",
     "\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":0.1,\"nvidia.com/gpu\":2}}}]}",
     100, 2, 0},
    {"the largest init step counts when it exceeds the sum",
     "\"spec\":{\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"3\"}}},"
     "{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"
     "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}",
     3000, 0, 0},
    {"a sidecar counts with the containers and with the init steps after it",
     "\"spec\":{\"initContainers\":[{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{"
     "\"cpu\":\"1\"}}},{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}],"
     "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}",
     4000, 0, 0},
    {"overhead is added",
     "\"spec\":{\"overhead\":{\"cpu\":\"250m\"},\"containers\":[{\"resources\":{\"requests\":{"
     "\"cpu\":\"1\"}}}]}",
     1250, 0, 0},
    {"pod-level requests take the place of the sum, for what they may name",
     "\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"8\"}},\"containers\":[{\"resources\":{"
     "\"requests\":{\"cpu\":\"1\",\"nvidia.com/gpu\":\"2\"}}}]}",
     8000, 2, 0},
    {"pod-level limits alone: the containers' requests first, else the limit",
     "\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"8\",\"memory\":\"1Gi\"}},\"containers\":[{"
     "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}",
     1000, 0, 1 << 30},
    {"what is in force counts when it exceeds the spec",
     "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
     "\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
     "\"2\"}},"
     "\"allocatedResources\":{\"cpu\":\"3\"}}]}",
     3000, 0, 0},
    {"allocatedResources count only beside resources",
     "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
     "\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"allocatedResources\":{\"cpu\":\"3\"}}]}",
     1000, 0, 0},
    {"a resize that cannot be: what is in force, not what is wished for",
     "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"9\"}}}]},"
     "\"status\":{\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}],"
     "\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}",
     2000, 0, 0},
    {"a status of a container that is not there counts for nothing",
     "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
     "\"status\":{\"containerStatuses\":[{\"name\":\"d\",\"resources\":{\"requests\":{\"cpu\":"
     "\"2\"}}}]}",
     1000, 0, 0},
};

static void C10_requests_are_counted_as_in_kube_scheduler(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(request_cases); i++) {
        struct gang_pod_facts *f = pod(request_cases[i].rest);
        struct gang_amounts sum = f->requests;
        if (gang_amounts_get(&sum, "cpu") != request_cases[i].cpu ||
            gang_amounts_get(&sum, "nvidia.com/gpu") != request_cases[i].gpu ||
            gang_amounts_get(&sum, "memory") != request_cases[i].memory)
            fail_msg("%s: cpu %ld gpu %ld memory %ld", request_cases[i].what,
                     (long)gang_amounts_get(&sum, "cpu"),
                     (long)gang_amounts_get(&sum, "nvidia.com/gpu"),
                     (long)gang_amounts_get(&sum, "memory"));
        gang_pod_facts_free(f);
    }
}

/* ---- other fields of a pod ---- */

static void a_pod_without_fields_has_the_defaults(void **state)
{
    (void)state;
    struct gang_pod_facts *f = pod("");
    assert_string_equal(f->ns, "ml");
    assert_string_equal(f->name, "p");
    assert_string_equal(f->uid, "u1");
    assert_string_equal(f->scheduler, "default-scheduler");
    assert_int_equal(f->phase, PHASE_PENDING);
    assert_null(f->node);
    assert_null(f->nominated);
    assert_null(f->group.name);
    assert_false(f->deleting || f->has_affinity || f->has_pvc || f->invalid || f->requests.n);
    gang_pod_facts_free(f);
}

static void the_placement_fields_of_a_pod_are_decoded(void **state)
{
    (void)state;
    struct gang_pod_facts *f = pod(
        "\"spec\":{\"nodeName\":\"n1\",\"schedulerName\":\"volcano\",\"priority\":-5,"
        "\"schedulingGates\":[{\"name\":\"muster.dev/plan\"},{\"name\":\"kueue.x-k8s.io/"
        "admission\"}],"
        "\"nodeSelector\":{\"zone\":\"a\"},"
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"gpu\",\"operator\":\"In\","
        "\"values\":[\"a100\",\"h100\"]}],\"matchFields\":[{\"key\":\"metadata.name\","
        "\"operator\":\"NotIn\",\"values\":[\"n9\"]}]},{}]}}},"
        "\"tolerations\":[{\"operator\":\"Exists\"},{\"key\":\"k\",\"value\":\"v\","
        "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":\"n\",\"operator\":\"Gt\","
        "\"value\":\"3\"}]},"
        "\"status\":{\"phase\":\"Running\",\"nominatedNodeName\":\"n2\"}");
    assert_string_equal(f->node, "n1");
    assert_string_equal(f->nominated, "n2");
    assert_string_equal(f->scheduler, "volcano");
    assert_int_equal(f->priority, -5);
    assert_int_equal(f->phase, PHASE_RUNNING);
    assert_int_equal(f->n_gates, 1);
    assert_string_equal(f->gates[0], "kueue.x-k8s.io/admission");
    assert_true(f->gated);
    assert_string_equal(gang_kvs_get(&f->node_selector, "zone"), "a");
    assert_true(f->has_affinity);
    assert_int_equal(f->n_affinity, 2);
    assert_int_equal(f->affinity[0].n, 2);
    assert_int_equal(f->affinity[0].items[0].n_values, 2);
    assert_int_equal(f->affinity[0].items[1].op, MATCH_NOT_IN);
    assert_true(f->affinity[0].items[1].on_name);
    assert_int_equal(f->affinity[1].n, 0);
    assert_int_equal(f->n_tolerations, 2); /* a toleration with Gt tolerates nothing here */
    assert_null(f->tolerations[0].key);
    assert_true(f->tolerations[0].exists && f->tolerations[0].any_effect);
    assert_false(f->tolerations[1].exists || f->tolerations[1].any_effect);
    assert_int_equal(f->tolerations[1].effect, TAINT_NO_EXECUTE);
    gang_pod_facts_free(f);
}

static void C10_host_ports_of_containers_and_sidecars_count(void **state)
{
    (void)state;
    struct gang_pod_facts *f =
        pod("\"spec\":{\"initContainers\":[{\"ports\":[{\"hostPort\":1,\"containerPort\":1}]},"
            "{\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":2,\"containerPort\":2}]}],"
            "\"containers\":[{\"ports\":[{\"containerPort\":3},{\"containerPort\":4,"
            "\"hostPort\":40,\"hostIP\":\"10.0.0.1\",\"protocol\":\"UDP\"}]}]}");
    assert_int_equal(f->n_host_ports, 2);
    assert_int_equal(f->host_ports[0].port, 2);
    assert_null(f->host_ports[0].ip);
    assert_string_equal(f->host_ports[0].protocol, "TCP");
    assert_int_equal(f->host_ports[1].port, 40);
    assert_string_equal(f->host_ports[1].ip, "10.0.0.1");
    assert_string_equal(f->host_ports[1].protocol, "UDP");
    gang_pod_facts_free(f);
    f = pod(
        "\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"containerPort\":29500}]}]}");
    assert_int_equal(f->n_host_ports, 1);
    assert_int_equal(f->host_ports[0].port, 29500);
    gang_pod_facts_free(f);
}

static void the_claims_of_a_pod_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *claims; /* the names, separated by spaces */
        bool has;
    } cases[] = {
        {"\"spec\":{\"volumes\":[{\"emptyDir\":{}}]}", "", false},
        {"\"spec\":{\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]}", "c ", true},
        {"\"spec\":{\"volumes\":[{\"name\":\"scratch\",\"ephemeral\":{\"volumeClaimTemplate\":{}}},"
         "{\"name\":\"x\",\"persistentVolumeClaim\":{\"claimName\":\"d\"}}]}",
         "p-scratch d ", true},
        {"\"spec\":{\"resourceClaims\":[{\"name\":\"gpu\"}]}", "", true},
        {"\"spec\":{\"volumes\":null}", "", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = pod(cases[i].rest);
        cleanup_buf struct buf names = BUF_INIT;
        for (size_t c = 0; c < f->n_claims; c++)
            buf_printf(&names, "%s ", f->claims[c]);
        assert_int_equal(f->has_pvc, cases[i].has);
        assert_string_equal(buf_str(&names), cases[i].claims);
        gang_pod_facts_free(f);
    }
}

static void labels_and_the_controller_are_decoded(void **state)
{
    (void)state;
    cleanup_json json_t *json =
        parse("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"labels\":{\"a\":\"1\",\"b\":\"\"},"
              "\"ownerReferences\":[{\"kind\":\"X\"},{\"kind\":\"Job\",\"controller\":true}]}}");
    struct err err;
    struct gang_pod_facts *f = decode_pod(json, &err);
    assert_non_null(f);
    assert_int_equal(f->labels.n, 2);
    assert_string_equal(gang_kvs_get(&f->labels, "a"), "1");
    assert_true(f->controlled);
    assert_false(f->of_node || f->never_preempts);
    gang_pod_facts_free(f);
    static const char *const of_node[] = {"DaemonSet", "Node"};
    for (size_t i = 0; i < ARRAY_SIZE(of_node); i++) {
        cleanup_free char *text =
            xasprintf("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"ownerReferences\":[{\"kind\":"
                      "\"%s\",\"controller\":true}]},\"spec\":{\"preemptionPolicy\":\"Never\"}}",
                      of_node[i]);
        cleanup_json json_t *daemon = parse(text);
        f = decode_pod(daemon, &err);
        assert_non_null(f);
        assert_true(f->controlled && f->of_node && f->never_preempts);
        gang_pod_facts_free(f);
    }
    cleanup_json json_t *other =
        parse("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\","
              "\"ownerReferences\":[{\"kind\":\"X\",\"controller\":false}]}}");
    f = decode_pod(other, &err);
    assert_non_null(f);
    assert_false(f->controlled);
    gang_pod_facts_free(f);
}

/* The pod counts despite its odd metadata. */
static void a_pod_with_odd_metadata_is_kept(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT;
    buf_puts(&text, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"ownerReferences\":[");
    for (int i = 0; i < 5000; i++)
        buf_puts(&text, "{},");
    buf_puts(&text, "7],\"labels\":{\"odd\":1");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, ",\"l%d\":\"v\"", i);
    buf_puts(&text, "}},\"spec\":{\"nodeName\":\"n1\"}}");
    cleanup_json json_t *json = parse(buf_str(&text));
    struct err err;
    struct gang_pod_facts *f = decode_pod(json, &err);
    assert_non_null(f);
    assert_string_equal(f->node, "n1");
    assert_false(f->controlled);
    assert_int_equal(f->labels.n, 5000);
    assert_string_equal(gang_kvs_get(&f->labels, "l4711"), "v");
    assert_null(gang_kvs_get(&f->labels, "odd"));
    gang_pod_facts_free(f);
}

static void times_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        usec_t want; /* -1: invalid */
    } cases[] = {
        {"1970-01-01T00:00:01Z", USEC_PER_SEC},
        {"1970-01-01T00:00:01.25Z", USEC_PER_SEC + 250000},
        {"1970-01-01T00:00:00.1234567Z", 123456},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T23:30:00-00:30", 0},
        {"2024-02-29T12:00:00Z", (usec_t)1709208000 * USEC_PER_SEC},
        {"2024-13-01T00:00:00Z", -1},
        {"2024-01-01", -1},
        {"2024-01-01T00:00:00", -1},
        {"2024-01-01T00:00:00.Z", -1},
        {"2024-01-01T00:00:00+1", -1},
        {"-024-01-01T00:00:00Z", -1},
        {"", -1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        usec_t got = -1;
        struct err err;
        int r = time_parse(cases[i].text, &got, &err);
        if ((r < 0) != (cases[i].want == -1) || (r == 0 && got != cases[i].want))
            fail_msg("\"%s\": got %ld", cases[i].text, (long)got);
    }
    char text[32];
    assert_string_equal(time_format((usec_t)1709208000 * USEC_PER_SEC, text),
                        "2024-02-29T12:00:00Z");
}

/* ---- nodes ---- */

static void a_node_is_decoded(void **state)
{
    (void)state;
    cleanup_json json_t *json = parse(
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\"}},\"spec\":{\"unschedulable\":"
        "true,"
        "\"taints\":[{\"key\":\"gpu\",\"effect\":\"NoSchedule\"},{\"key\":\"k\",\"value\":\"v\","
        "\"effect\":\"PreferNoSchedule\"}]},\"status\":{\"capacity\":{\"cpu\":\"9\"},"
        "\"allocatable\":{\"cpu\":\"7500m\",\"memory\":\"16Gi\",\"pods\":\"110\","
        "\"nvidia.com/gpu\":\"8\"}}}");
    struct err err;
    struct gang_node_facts *f = decode_node(json, &err);
    assert_non_null(f);
    assert_true(f->unschedulable);
    assert_string_equal(gang_kvs_get(&f->labels, "zone"), "a");
    assert_int_equal(f->n_taints, 2);
    assert_string_equal(f->taints[0].value, "");
    assert_int_equal(f->taints[1].effect, TAINT_PREFER_NO_SCHEDULE);
    assert_int_equal(gang_amounts_get(&f->allocatable, "cpu"), 7500);
    assert_int_equal(gang_amounts_get(&f->allocatable, "memory"), (int64_t)16 << 30);
    assert_int_equal(gang_amounts_get(&f->allocatable, "pods"), 110);
    gang_node_facts_free(f);
}

static void a_node_without_allocatable_offers_its_capacity(void **state)
{
    (void)state;
    cleanup_json json_t *json =
        parse("{\"metadata\":{\"name\":\"n1\"},\"status\":{\"capacity\":{\"cpu\":\"9\"}}}");
    struct err err;
    struct gang_node_facts *f = decode_node(json, &err);
    assert_non_null(f);
    assert_int_equal(gang_amounts_get(&f->allocatable, "cpu"), 9000);
    gang_node_facts_free(f);
}

/* ---- priority classes ---- */

static void priority_classes_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int value;
        const char *error; /* NULL: no error */
    } cases[] = {
        {"{\"metadata\":{\"name\":\"high\"},\"value\":1000}", 1000, NULL},
        {"{\"metadata\":{\"name\":\"high\"},\"value\":-2147483648}", INT32_MIN, NULL},
        {"{\"metadata\":{\"name\":\"high\"}}", 0, NULL},
        {"{\"metadata\":{\"name\":\"high\"},\"value\":2147483648}", 0,
         "PriorityClass high: value is 2147483648"},
        {"{\"metadata\":{\"name\":\"high\"},\"value\":\"1\"}", 0,
         "PriorityClass high: value is a string"},
        {"{\"value\":1}", 0, "PriorityClass: metadata.name is missing"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *json = parse(cases[i].text);
        struct err err = {.text = ""};
        struct gang_priority_class_facts *f = decode_class(json, &err);
        if (cases[i].error) {
            assert_null(f);
            assert_non_null(strstr(err.text, cases[i].error));
            continue;
        }
        assert_non_null(f);
        assert_string_equal(f->name, "high");
        assert_int_equal(f->value, cases[i].value);
        gang_priority_class_facts_free(f);
    }
}

/* ---- PodDisruptionBudgets ---- */

/* A budget of generation 3. */
static struct gang_budget_facts *budget(const char *spec, const char *status, struct err *err)
{
    cleanup_free char *text =
        xasprintf("{\"metadata\":{\"name\":\"b\",\"namespace\":\"ml\",\"generation\":3}%s%s%s%s}",
                  *spec ? ",\"spec\":" : "", spec, *status ? ",\"status\":" : "", status);
    cleanup_json json_t *json = parse(text);
    struct gang_budget_facts *f = decode_budget(json, err);
    if (!f)
        fail_msg("%s", err->text);
    assert_string_equal(f->ns, "ml");
    assert_string_equal(f->name, "b");
    return f;
}

static void the_selector_of_a_budget_is_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool covers; /* the pod ml/p with the labels app=train and tier=a */
    } cases[] = {
        {"", false},
        {"{}", false},
        {"{\"selector\":null}", false},
        {"{\"selector\":{}}", true},
        {"{\"selector\":{\"matchLabels\":{}}}", true},
        {"{\"selector\":{\"matchLabels\":{\"app\":\"train\"}}}", true},
        {"{\"selector\":{\"matchLabels\":{\"app\":\"train\",\"tier\":\"b\"}}}", false},
        {"{\"selector\":{\"matchLabels\":{\"app\":\"train\"},\"matchExpressions\":[{\"key\":"
         "\"tier\","
         "\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}}",
         true},
        {"{\"selector\":{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"NotIn\","
         "\"values\":[\"a\"]}]}}",
         false},
        {"{\"selector\":{\"matchExpressions\":[{\"key\":\"x\",\"operator\":\"DoesNotExist\"}]}}",
         true},
    };
    struct gang_pod_facts *p = pod("");
    gang_kvs_add(&p->labels, "app", "train");
    gang_kvs_add(&p->labels, "tier", "a");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        struct gang_budget_facts *f = budget(cases[i].spec, "", &err);
        assert_int_equal(err.code, ERR_NONE);
        assert_int_equal(gang_budget_covers(f, p), cases[i].covers);
        gang_budget_facts_free(f);
    }
    gang_pod_facts_free(p);
}

/* The API server refuses evictions in the same cases. */
static void a_budget_allows_what_its_current_status_allows(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        int allowed;
    } cases[] = {
        {"", 0},
        {"{}", 0},
        {"null", 0},
        {"{\"disruptionsAllowed\":2}", 0},
        {"{\"observedGeneration\":2,\"disruptionsAllowed\":2}", 0},
        {"{\"observedGeneration\":3,\"disruptionsAllowed\":2}", 2},
        {"{\"observedGeneration\":4,\"disruptionsAllowed\":2}", 2},
        {"{\"observedGeneration\":3,\"disruptionsAllowed\":-1}", 0},
        {"{\"observedGeneration\":3}", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        struct gang_budget_facts *f = budget("{\"selector\":{}}", cases[i].status, &err);
        assert_int_equal(err.code, ERR_NONE);
        assert_int_equal(f->allowed, cases[i].allowed);
        gang_budget_facts_free(f);
    }
}

static void a_job_may_lose_as_many_pods_as_its_backoff_limit_allows(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        int64_t spare;
    } cases[] = {
        {"}", 6}, /* the API server's default */
        {",\"spec\":{\"backoffLimit\":0}}", 0},
        {",\"spec\":{\"backoffLimit\":4},\"status\":{\"failed\":3}}", 1},
        {",\"spec\":{\"backoffLimit\":4},\"status\":{\"failed\":5}}", 0},
        {",\"spec\":{\"backoffLimit\":4},\"status\":{\"conditions\":[{\"type\":\"Failed\","
         "\"status\":\"True\"}]}}",
         GANG_SPARE_UNLIMITED},
        {",\"spec\":{\"backoffLimit\":4},\"status\":{\"conditions\":[{\"type\":\"Complete\","
         "\"status\":\"False\"}]}}",
         4},
        {",\"spec\":{\"backoffLimit\":2147483647,\"backoffLimitPerIndex\":0}}", 0},
        {",\"spec\":{\"backoffLimit\":2147483647,\"backoffLimitPerIndex\":1}}",
         GANG_SPARE_UNLIMITED},
        {",\"spec\":{\"backoffLimit\":3,\"backoffLimitPerIndex\":1}}", 3},
        {",\"spec\":{\"backoffLimit\":3,\"podFailurePolicy\":{\"rules\":[{\"action\":\"FailJob\","
         "\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]}]}}}",
         0},
        {",\"spec\":{\"backoffLimit\":0,\"podFailurePolicy\":{\"rules\":[{\"action\":\"Ignore\","
         "\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]}]}}}",
         GANG_SPARE_UNLIMITED},
        {",\"spec\":{\"backoffLimit\":0,\"podFailurePolicy\":{\"rules\":[{\"action\":\"Count\","
         "\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]},{\"action\":\"Ignore\","
         "\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]}]}}}",
         0},
        {",\"spec\":{\"backoffLimit\":0,\"podFailurePolicy\":{\"rules\":[{\"action\":\"Ignore\","
         "\"onPodConditions\":[{\"type\":\"ConfigIssue\"}]}]}}}",
         0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        cleanup_free char *text =
            xasprintf("{\"metadata\":{\"name\":\"j\",\"namespace\":\"ml\"}%s", cases[i].rest);
        cleanup_json json_t *json = parse(text);
        struct gang_job_facts *f = decode_job(json, &err);
        assert_non_null(f);
        assert_int_equal(f->spare, cases[i].spare);
        gang_job_facts_free(f);
    }
}

/* Its controller decides what a failed Job means. A CronJob does not start it again. */
static void a_job_of_another_controller_may_lose_any_number(void **state)
{
    (void)state;
    struct err err;
    for (int cron = 0; cron < 2; cron++) {
        cleanup_free char *text =
            xasprintf("{\"metadata\":{\"name\":\"j\",\"namespace\":\"ml\",\"ownerReferences\":[{"
                      "\"kind\":\"%s\",\"controller\":true}]},\"spec\":{\"backoffLimit\":0}}",
                      cron ? "CronJob" : "JobSet");
        cleanup_json json_t *json = parse(text);
        struct gang_job_facts *f = decode_job(json, &err);
        assert_int_equal(f->spare, cron ? 0 : GANG_SPARE_UNLIMITED);
        gang_job_facts_free(f);
    }
    cleanup_json json_t *odd = parse("{\"metadata\":{\"name\":\"j\",\"namespace\":\"ml\"},"
                                     "\"spec\":{\"backoffLimit\":\"6\"}}");
    assert_null(decode_job(odd, &err));
    assert_non_null(strstr(err.text, "Job ml/j: spec.backoffLimit is a string"));
}

static void an_unreadable_budget_allows_no_eviction(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *status, *names;
        bool whole_namespace;
    } cases[] = {
        {"7", "{}", "spec is a number", true},
        {"{\"selector\":[]}", "{}", "spec.selector is a list", true},
        {"{\"selector\":{\"matchLabels\":{\"a\":1}}}", "{}",
         "spec.selector: matchLabels: the value of a must be a string", true},
        {"{\"selector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"k\","
         "\"operator\":\"Gt\",\"values\":[\"1\"]}]}}",
         "{}", "spec.selector: matchExpressions[0]: operator must be In", true},
        {"{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}", "[]", "status is a list", false},
        {"{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}",
         "{\"observedGeneration\":3,\"disruptionsAllowed\":\"2\"}",
         "status.disruptionsAllowed is a string", false},
        {"{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}",
         "{\"observedGeneration\":true,\"disruptionsAllowed\":2}",
         "status.observedGeneration is a boolean", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        struct gang_budget_facts *f = budget(cases[i].spec, cases[i].status, &err);
        if (err.code != ERR_INVALID || !strstr(err.text, cases[i].names) ||
            !strstr(err.text, "PodDisruptionBudget ml/b counts as one that allows no eviction: "))
            fail_msg("the error \"%s\" does not contain \"%s\"", err.text, cases[i].names);
        assert_int_equal(f->allowed, 0);
        assert_false(f->selects_none);
        assert_int_equal(f->selector.n, cases[i].whole_namespace ? 0 : 1);
        gang_budget_facts_free(f);
    }
}

static void a_budget_beyond_the_bound_covers_its_namespace(void **state)
{
    (void)state;
    for (int n = 62; n <= 63; n++) { /* with the requirement and the first value, 64 and 65 */
        struct err err;
        cleanup_buf struct buf spec = BUF_INIT;
        buf_puts(&spec,
                 "{\"selector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\","
                 "\"values\":[\"v\"");
        for (int i = 0; i < n; i++)
            buf_printf(&spec, ",\"v%d\"", i);
        buf_puts(&spec, "]}]}}");
        struct gang_budget_facts *f =
            budget(buf_str(&spec), "{\"observedGeneration\":3,\"disruptionsAllowed\":2}", &err);
        bool fits = n == 62;
        assert_int_equal(f->selector.n, fits);
        assert_int_equal(f->allowed, fits ? 2 : 0);
        assert_int_equal(err.code, fits ? ERR_NONE : ERR_INVALID);
        if (!fits)
            assert_non_null(
                strstr(err.text, "65 requirements and values; muster takes at most 64"));
        gang_budget_facts_free(f);
    }
}

/* ---- unreadable objects ---- */

static void errors_name_the_object_and_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"[]", "pod: not an object"},
        {"{}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":\"p\"}}", "pod default/p: metadata.uid is missing"},
        {"{\"metadata\":{\"name\":7}}", "metadata: name is a number"},
        {"{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"x\"}}", "creationTimestamp"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *json = parse(cases[i].text);
        struct err err = {.text = ""};
        assert_null(decode_pod(json, &err));
        if (!strstr(err.text, cases[i].names))
            fail_msg("the error \"%s\" does not contain \"%s\"", err.text, cases[i].names);
    }
}

/* A pod with a name and a UID is always kept, with a message about what is wrong. */
static void T06_a_pod_that_is_readable_only_in_part_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"creationTimestamp\":\"x\"}}",
         "pod default/p: pod p: metadata: creationTimestamp"},
        {"{" META ",\"spec\":[]}", "pod ml/p: spec is a list, must be an object"},
        {"{" META
         ",\"spec\":{\"containers\":[{},{\"resources\":{\"requests\":{\"cpu\":\"1x\"}}}]}}",
         "pod ml/p: spec.containers[1].resources.requests.cpu: \"1x\""},
        {"{" META ",\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"-1\"}}}]}}",
         "must not be negative"},
        {"{" META ",\"spec\":{\"priority\":3000000000}}", "priority is 3000000000"},
        {"{" META ",\"spec\":{\"tolerations\":[{\"effect\":\"Never\"}]}}",
         "tolerations[0]: effect"},
        {"{" META ",\"spec\":{\"affinity\":{\"nodeAffinity\":{"
         "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
         "{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Like\"}]}]}}}}}",
         "nodeSelectorTerms[0]: matchExpressions[0]: operator is \"Like\""},
        {"{" META ",\"spec\":{\"containers\":[{\"ports\":[{\"hostPort\":70000}]}]}}",
         "containers[0]: ports[0]: hostPort is 70000"},
        {"{" META ",\"status\":{\"phase\":\"Odd\"}}", "phase \"Odd\""},
        {"{" META ",\"spec\":{\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":7}}]}}",
         "spec: volumes[0]: claimName is a number"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *json = parse(cases[i].text);
        struct err err;
        struct gang_pod_facts *f = decode_pod(json, &err);
        assert_non_null(f);
        assert_non_null(f->inexact);
        if (!f->invalid || !strstr(f->invalid, cases[i].names))
            fail_msg("the error \"%s\" does not contain \"%s\"", f->invalid, cases[i].names);
        gang_pod_facts_free(f);
    }
}

/* The message tells one refusal from another, and muster's from kube-scheduler's own. */
static void T03_the_condition_shows_whether_muster_or_kube_scheduler_refused(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "0/1 nodes are available: persistentvolumeclaim \"data\" not found.",
        "0/1 nodes are available: 1 Insufficient cpu.",
        "0/1 nodes are available: 1 gang ml/g: 2 members needed, room for 1.",
    };
    uint64_t said[3];
    for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
        cleanup_json json_t *json = parse("{" META "}");
        json_object_set_new(json, "status",
                            json_pack("{s:[{s:s,s:s,s:s,s:s}]}", "conditions", "type",
                                      "PodScheduled", "status", "False", "reason", "Unschedulable",
                                      "message", messages[i]));
        struct err err;
        struct gang_pod_facts *f = decode_pod(json, &err);
        said[i] = f->said;
        assert_int_equal(f->said_alone, i < 2);
        gang_pod_facts_free(f);
    }
    assert_true(said[0] && said[0] != said[1] && said[1] != said[2]);
    cleanup_json json_t *json = parse("{" META "}");
    struct err err;
    struct gang_pod_facts *f = decode_pod(json, &err);
    assert_true(f->said == 0 && !f->said_alone);
    gang_pod_facts_free(f);
}

static void a_pod_that_is_disrupted_is_known(void **state)
{
    (void)state;
    const struct {
        const char *type, *status, *reason;
        bool preempted, marked, mark_ended;
    } cases[] = {
        {"DisruptionTarget", "True", "PreemptionByScheduler", true, false, false},
        {"DisruptionTarget", "True", "EvictionByEvictionAPI", false, false, false},
        {"Ready", "True", "PreemptionByScheduler", false, false, false},
        {"DisruptionTarget", "True", "EvictionByMuster", false, true, false},
        {"DisruptionTarget", "False", NULL, false, false, true}, /* syncStalePodDisruption */
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *json = parse("{" META "}");
        json_object_set_new(json, "status",
                            json_pack("{s:[{s:s,s:s,s:s*}]}", "conditions", "type", cases[i].type,
                                      "status", cases[i].status, "reason", cases[i].reason));
        struct err err;
        struct gang_pod_facts *f = decode_pod(json, &err);
        assert_int_equal(f->preempted, cases[i].preempted);
        assert_int_equal(f->marked, cases[i].marked);
        assert_int_equal(f->mark_ended, cases[i].mark_ended);
        gang_pod_facts_free(f);
    }
}

/* An annotation copied from another pod does not count. */
static void Q07_a_checkpoint_is_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        usec_t at;
    } cases[] = {{"1970-01-01T01:00:00Z", 3600 * USEC_PER_SEC},
                 {"1970-01-01T01:00:00.5+01:00", USEC_PER_SEC / 2},
                 {"yesterday", 0},
                 {"", 0}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *json = parse("{" META "}");
        json_object_set_new(json_object_get(json, "metadata"), "annotations",
                            json_pack("{s:s}", "muster.dev/last-checkpoint", cases[i].text));
        struct err err;
        struct gang_pod_facts *f = decode_pod(json, &err);
        assert_int_equal(f->saved_at, cases[i].at);
        assert_null(f->invalid);
        gang_pod_facts_free(f);
    }
}

static void T08_the_commit_annotation_counts_only_with_the_pods_own_uid(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        cleanup_json json_t *json = parse("{" META "}");
        json_t *meta = json_object_get(json, "metadata");
        const char *uid = json_string_value(json_object_get(meta, "uid"));
        json_object_set_new(meta, "annotations",
                            json_pack("{s:s}", GANG_COMMIT_MARK, own ? uid : "another"));
        json_object_set_new(json, "status",
                            json_pack("{s:[{s:s,s:s,s:s}]}", "conditions", "type", "PodScheduled",
                                      "status", "True", "lastTransitionTime",
                                      "1970-01-01T01:00:00Z"));
        struct err err;
        struct gang_pod_facts *f = decode_pod(json, &err);
        assert_int_equal(f->committed, own);
        assert_int_equal(f->bound_at, 3600 * USEC_PER_SEC);
        gang_pod_facts_free(f);
        json_object_set_new(json, "status",
                            json_pack("{s:s}", "startTime", "1970-01-01T02:00:00Z"));
        f = decode_pod(json, &err);
        assert_int_equal(f->bound_at, 7200 * USEC_PER_SEC);
        gang_pod_facts_free(f);
    }
}

static void the_condition_names_the_resource_that_is_short(void **state)
{
    (void)state;
    static const struct {
        const char *message, *short_of;
    } cases[] = {
        {"0/16 nodes are available: 16 Insufficient nvidia.com/gpu. no new claims to deallocate, "
         "preemption: 0/16 nodes are available: 16 No preemption victims found for incoming pod.",
         "nvidia.com/gpu"},
        {"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.", "cpu"},
        {"0/3 nodes are available: 3 Insufficient cpu. preemption: 3 Insufficient cpu.", "cpu"},
        {"0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.", NULL},
        {"0/3 nodes are available: 1 gang ml/g: room for 2 (4 short of memory), 2 Insufficient "
         "cpu. no new claims to deallocate.",
         "cpu"},
        {"0/3 nodes are available: 1 gang ml/g: room for 2 (4 short of memory).", NULL},
        {"0/3 nodes are available: 3 node(s) were unschedulable.", NULL},
        {"Insufficient ", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int tried = 0; tried < 2; tried++) {
            cleanup_json json_t *json = parse("{" META "}");
            json_t *condition =
                json_pack("{s:s,s:s,s:s,s:s*}", "type", "PodScheduled", "status", "False", "reason",
                          tried ? "Unschedulable" : "Other", "message", cases[i].message);
            json_object_set_new(json, "status", json_pack("{s:[o]}", "conditions", condition));
            struct err err;
            struct gang_pod_facts *f = decode_pod(json, &err);
            assert_non_null(f);
            assert_int_equal(f->unschedulable, tried);
            if (tried && cases[i].short_of)
                assert_string_equal(f->short_of, cases[i].short_of);
            else
                assert_null(f->short_of);
            gang_pod_facts_free(f);
        }
    }
}

/* A pod whose spec has many items, separated by commas. */
static struct gang_pod_facts *pod_of_many(const char *before, const char *item, const char *after,
                                          int n)
{
    cleanup_buf struct buf text = BUF_INIT;
    struct err err;
    buf_printf(&text, "{" META ",\"spec\":{\"nodeName\":\"n1\",%s", before);
    for (int i = 0; i < n; i++) {
        buf_puts(&text, i ? "," : "");
        for (const char *p = item; *p; p++)
            if (*p == '#')
                buf_printf(&text, "%d", i);
            else
                buf_putc(&text, *p);
    }
    buf_printf(&text, "%s}}", after);
    cleanup_json json_t *json = parse(buf_str(&text));
    struct gang_pod_facts *f = decode_pod(json, &err);
    assert_non_null(f);
    assert_string_equal(f->node, "n1");
    return f;
}

#define GPUS "\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":8}}}]"

/* A running pod is charged, even if other fields are beyond a bound. */
static void T06_a_pod_beyond_the_bounds_is_charged(void **state)
{
    (void)state;
    static const struct {
        const char *before, *item, *after;
        int n;
        const char *says;
    } cases[] = {
        {GPUS ",\"tolerations\":[", "{\"operator\":\"Exists\"}", "]", 4097,
         "spec.tolerations: 4097 tolerations; muster takes at most 256"},
        {GPUS ",\"nodeSelector\":{", "\"k#\":\"\"", "}", 5000,
         "5000 labels, terms and requirements; muster takes at most 128"},
        {GPUS ",\"volumes\":[", "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c#\"}}",
         "]", 5000, "5000 volumes with claims; muster takes at most 64"},
        {GPUS ",\"affinity\":{\"podAntiAffinity\":{"
              "\"requiredDuringSchedulingIgnoredDuringExecution\":[",
         "{\"topologyKey\":\"zone\",\"labelSelector\":{}}", "]}}", 5000,
         "5000 terms; muster takes at most 32"},
        {GPUS ",\"topologySpreadConstraints\":[", "{\"topologyKey\":\"zone\",\"labelSelector\":{}}",
         "]", 5000, "5000 required constraints; muster takes at most 32"},
        {"\"initContainers\":[],\"containers\":[{\"resources\":{\"requests\":{"
         "\"nvidia.com/gpu\":8,",
         "\"a.b/r#\":1", "}}}]", 513,
         "514 names of resources in requests; muster takes at most 64"},
        {"\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":8}}},",
         "{\"name\":\"c#\"}", "]", 5000, NULL},
        {"\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":8}},\"ports\":[",
         "{\"hostPort\":#}", "]}]", 5000, "4096 host ports; muster takes at most 256"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f =
            pod_of_many(cases[i].before, cases[i].item, cases[i].after, cases[i].n);
        assert_int_equal(gang_amounts_get(&f->requests, "nvidia.com/gpu"), 8);
        if (!cases[i].says)
            assert_null(f->invalid);
        else if (!f->invalid || !strstr(f->invalid, cases[i].says) ||
                 strncmp(f->invalid, "pod ml/p: ", 10) != 0 || !f->inexact)
            fail_msg("the error \"%s\" does not contain \"%s\"", f->invalid, cases[i].says);
        gang_pod_facts_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C10_requests_are_counted_as_in_kube_scheduler),
        cmocka_unit_test(a_pod_without_fields_has_the_defaults),
        cmocka_unit_test(the_placement_fields_of_a_pod_are_decoded),
        cmocka_unit_test(C10_host_ports_of_containers_and_sidecars_count),
        cmocka_unit_test(the_claims_of_a_pod_are_decoded),
        cmocka_unit_test(labels_and_the_controller_are_decoded),
        cmocka_unit_test(a_pod_with_odd_metadata_is_kept),
        cmocka_unit_test(times_are_parsed),
        cmocka_unit_test(a_node_is_decoded),
        cmocka_unit_test(a_node_without_allocatable_offers_its_capacity),
        cmocka_unit_test(priority_classes_are_decoded),
        cmocka_unit_test(the_selector_of_a_budget_is_decoded),
        cmocka_unit_test(a_budget_allows_what_its_current_status_allows),
        cmocka_unit_test(an_unreadable_budget_allows_no_eviction),
        cmocka_unit_test(a_job_may_lose_as_many_pods_as_its_backoff_limit_allows),
        cmocka_unit_test(a_job_of_another_controller_may_lose_any_number),
        cmocka_unit_test(a_budget_beyond_the_bound_covers_its_namespace),
        cmocka_unit_test(errors_name_the_object_and_the_field),
        cmocka_unit_test(the_condition_names_the_resource_that_is_short),
        cmocka_unit_test(T03_the_condition_shows_whether_muster_or_kube_scheduler_refused),
        cmocka_unit_test(a_pod_that_is_disrupted_is_known),
        cmocka_unit_test(Q07_a_checkpoint_is_a_time),
        cmocka_unit_test(T08_the_commit_annotation_counts_only_with_the_pods_own_uid),
        cmocka_unit_test(T06_a_pod_beyond_the_bounds_is_charged),
        cmocka_unit_test(T06_a_pod_that_is_readable_only_in_part_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
