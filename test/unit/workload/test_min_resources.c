/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of a pod, times a number, as minResources states them. */
#include "base/buf.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"
#include "workload/kinds.h"
#include "workload/request_sums.h"
#include "workload_fixture.h"

static const struct {
    const char *what, *spec;
    int64_t n;
    const char *gives;
} pods[] = {
    {"nothing", "{}", 8, "{}"},
    {"containers add up",
     "{containers: [{resources: {requests: {cpu: 250m, memory: 1Gi}}}, "
     "{resources: {requests: {cpu: 1}}}]}",
     1, "{\"cpu\": \"1250m\", \"memory\": \"1Gi\"}"},
    {"times",
     "{containers: [{resources: {requests: {cpu: 1500m, memory: 1536Mi, nvidia.com/gpu: "
     "'2'}}}]}",
     8, "{\"cpu\": \"12\", \"memory\": \"12Gi\", \"nvidia.com/gpu\": \"16\"}"},
    {"limits where no requests are",
     "{containers: [{resources: {limits: {cpu: 2, "
     "nvidia.com/gpu: 1}, requests: {cpu: 1}}}]}",
     2, "{\"cpu\": \"2\", \"nvidia.com/gpu\": \"2\"}"},
    {"the largest init step",
     "{initContainers: [{resources: {requests: {cpu: 4}}}, {resources: "
     "{requests: {cpu: 3}}}], containers: [{resources: {requests: {cpu: "
     "1}}}]}",
     1, "{\"cpu\": \"4\"}"},
    {"sidecars stay",
     "{initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, "
     "{resources: {requests: {cpu: 3}}}], containers: [{resources: {requests: "
     "{cpu: 2}}}]}",
     1, "{\"cpu\": \"4\"}"},
    {"sidecars beside containers",
     "{initContainers: [{restartPolicy: Always, resources: "
     "{requests: {cpu: 1}}}, {restartPolicy: Always, resources: "
     "{requests: {cpu: 1}}}], containers: [{resources: {requests: "
     "{cpu: 2}}}]}",
     1, "{\"cpu\": \"4\"}"},
    {"pod-level and overhead",
     "{overhead: {cpu: 100m}, resources: {requests: {cpu: 8}}, "
     "containers: [{resources: {requests: {cpu: 2, memory: 1Gi}}}]}",
     1, "{\"cpu\": \"8100m\", \"memory\": \"1Gi\"}"},
    {"pod-level requests leave alone what they may not name",
     "{resources: {requests: {cpu: 8, memory: 2Gi, hugepages-2Mi: 4Mi, nvidia.com/gpu: 1}}, "
     "containers: [{resources: {requests: {cpu: 2, memory: 1Gi, hugepages-2Mi: 2Mi, "
     "nvidia.com/gpu: 4}}}]}",
     2,
     "{\"cpu\": \"16\", \"hugepages-2Mi\": \"8Mi\", \"memory\": \"4Gi\", \"nvidia.com/gpu\": "
     "\"8\"}"},
    {"pod-level limits alone: the containers' requests first, else the limit",
     "{resources: {limits: {cpu: 8, memory: 1Gi}}, containers: [{resources: {requests: {cpu: "
     "1}}}]}",
     1, "{\"cpu\": \"1\", \"memory\": \"1Gi\"}"},
    {"limits of a sidecar and of an init step",
     "{initContainers: [{restartPolicy: Always, resources: {limits: {cpu: 1}}}, "
     "{resources: {limits: {nvidia.com/gpu: 2}}}], containers: [{resources: {limits: {cpu: 2}}}]}",
     1, "{\"cpu\": \"3\", \"nvidia.com/gpu\": \"2\"}"},
    {"not what is in force",
     "{containers: [{name: c, resources: {requests: {cpu: 1}}}]}, status: "
     "{containerStatuses: [{name: c, resources: {requests: {cpu: 2}}}]}",
     1, "{\"cpu\": \"1\"}"},
    {"none of it", "{containers: [{resources: {requests: {cpu: 0, memory: 1}}}]}", 1,
     "{\"memory\": \"1\"}"},
    {"all there is",
     "{containers: [{resources: {requests: {example.com/a: 9223372036854775807}}}]}", 1000000,
     "{\"example.com/a\": \"9223372036854775807\"}"},
    /* invalid */
    {"negative", "{containers: [{resources: {requests: {cpu: -1}}}]}", 1,
     "spec.containers[0].resources.requests.cpu is -1, must not be negative"},
    {"no quantity", "{containers: [{resources: {requests: {cpu: true}}}]}", 1,
     "spec.containers[0].resources.requests.cpu is a boolean, must be a quantity (such as 2, 500m "
     "or 16Gi)"},
    {"a list", "{containers: [{resources: {requests: [1]}}]}", 1,
     "spec.containers[0].resources.requests is a list, must be an object"},
    {"init steps", "{initContainers: [{}, {resources: 7}]}", 1,
     "spec.initContainers[1].resources is a number, must be an object"},
    {"containers", "{containers: {}}", 1, "spec.containers is an object, must be a list"},
    {"overhead", "{overhead: {cpu: x}}", 1,
     "spec.overhead.cpu: \"x\" is not a quantity (such as 2, 500m or 16Gi)"},
};

/* All containers count, even if there are very many. */
static void requests_of_many_containers_are_summed(void **state)
{
    (void)state;
    cleanup_buf struct buf yaml = BUF_INIT;
    buf_puts(&yaml, "{spec: {containers: [");
    for (int i = 0; i < 600; i++)
        buf_puts(&yaml, "{resources: {requests: {cpu: 1}}},");
    buf_puts(&yaml, "]}}");
    cleanup_json json_t *pod = yaml_object(buf_str(&yaml));
    cleanup_json json_t *sum = NULL;
    assert_int_equal(requests_times(pod, 1, &sum, NULL), 0);
    assert_string_equal(json_string_value(json_object_get(sum, "cpu")), "600");
}

static void min_resources_are_the_requests_of_a_pod_times_the_minimum(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        cleanup_free char *yaml = xasprintf("{spec: %s}", pods[i].spec);
        cleanup_json json_t *pod = yaml_object(yaml);
        cleanup_json json_t *sum = NULL;
        struct err err = {.text = ""};
        cleanup_free char *got = NULL;
        if (requests_times(pod, pods[i].n, &sum, &err) < 0)
            got = xstrdup(err.text);
        else
            got = sum ? json_dumps(sum, JSON_SORT_KEYS) : xstrdup("{}");
        if (strcmp(got, pods[i].gives) != 0)
            fail_msg("%s: got %s, want %s", pods[i].what, got, pods[i].gives);
    }
}

/* ---- the sums ---- */

/* Containers in order, with their CPU: 'c' container, 'i' init container, 's' sidecar. */
static void C10_init_containers_and_sidecars_count_as_in_kube_scheduler(void **state)
{
    (void)state;
    static const struct {
        const char *kinds;
        int64_t cpu[4];
        int64_t want;
    } cases[] = {
        {"cc", {100, 200}, 300},       {"ic", {500, 200}, 500},
        {"ic", {100, 200}, 200},       {"sc", {100, 200}, 300},
        {"sic", {100, 500, 200}, 600}, /* the init container runs beside the earlier sidecar */
        {"isc", {500, 100, 200}, 500}, /* the init container has ended when the sidecar starts */
        {"iic", {300, 400, 100}, 400}, {"ssic", {100, 100, 300, 50}, 500},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct request_sums r = {0};
        for (size_t k = 0; cases[i].kinds[k]; k++) {
            char kind = cases[i].kinds[k];
            request_sums_ask(&r, "cpu", cases[i].cpu[k]);
            request_sums_container(&r, kind == 'c'   ? CONTAINER_REGULAR
                                       : kind == 's' ? CONTAINER_SIDECAR
                                                     : CONTAINER_INIT);
        }
        if (request_sums_get(&r, "cpu") != cases[i].want)
            fail_msg("%s: got %d, want %d", cases[i].kinds, (int)request_sums_get(&r, "cpu"),
                     (int)cases[i].want);
        request_sums_done(&r);
    }
}

static void C10_overhead_pod_level_requests_and_resizes_count(void **state)
{
    (void)state;
    struct request_sums r = {0};
    request_sums_ask(&r, "cpu", 100);
    request_sums_ask(&r, "nvidia.com/gpu", 2);
    request_sums_ask(&r, "cpu", 300); /* resized in place: the larger amount counts */
    request_sums_container(&r, CONTAINER_REGULAR);
    assert_int_equal(request_sums_get(&r, "cpu"), 300);
    request_sums_set(&r, "cpu", 1000);
    request_sums_add(&r, "cpu", 50);
    request_sums_add(&r, "memory", 7);
    request_sums_add(&r, "memory", INT64_MAX);
    assert_int_equal(request_sums_get(&r, "cpu"), 1050);
    assert_int_equal(request_sums_get(&r, "nvidia.com/gpu"), 2);
    assert_int_equal(request_sums_get(&r, "memory"), INT64_MAX);
    request_sums_done(&r);
}

/* Each container requests another resource, and all request one. The sums are exact. */
static void T06_requests_of_any_number_of_resources_are_summed(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct request_sums r = {0};
    for (int i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.b/r%d", (i * 7) % 1000);
        request_sums_ask(&r, name, i);
        request_sums_ask(&r, "nvidia.com/gpu", 1);
        request_sums_container(&r, CONTAINER_REGULAR);
    }
    assert_int_equal(r.n, 1001);
    assert_int_equal(request_sums_get(&r, "nvidia.com/gpu"), N);
    assert_int_equal(request_sums_get(&r, "a.b/r7"), 1 + 1001 + 2001);
    request_sums_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(min_resources_are_the_requests_of_a_pod_times_the_minimum),
        cmocka_unit_test(requests_of_many_containers_are_summed),
        cmocka_unit_test(C10_init_containers_and_sidecars_count_as_in_kube_scheduler),
        cmocka_unit_test(C10_overhead_pod_level_requests_and_resizes_count),
        cmocka_unit_test(T06_requests_of_any_number_of_resources_are_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
