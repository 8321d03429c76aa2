/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod asks for, times a number, as minResources says it. */
#include "base/buf.h"
#include "k8s/encoding/field.h"
#include "workload/kinds.h"
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
    {"none of it", "{containers: [{resources: {requests: {cpu: 0, memory: 1}}}]}", 1,
     "{\"memory\": \"1\"}"},
    {"all there is",
     "{containers: [{resources: {requests: {example.com/a: 9223372036854775807}}}]}", 1000000,
     "{\"example.com/a\": \"9223372036854775807\"}"},
    /* wrong */
    {"negative", "{containers: [{resources: {requests: {cpu: -1}}}]}", 1,
     "spec.containers[0].resources.requests.cpu: is -1, must not be negative"},
    {"no quantity", "{containers: [{resources: {requests: {cpu: true}}}]}", 1,
     "spec.containers[0].resources.requests.cpu: is no quantity; write one such as 2, 500m or "
     "16Gi"},
    {"a list", "{containers: [{resources: {requests: [1]}}]}", 1,
     "spec.containers[0].resources.requests is a list, must be an object"},
    {"init steps", "{initContainers: [{}, {resources: 7}]}", 1,
     "spec.initContainers[1].resources is a number, must be an object"},
    {"containers", "{containers: {}}", 1, "spec.containers is an object, must be a list"},
    {"overhead", "{overhead: {cpu: x}}", 1,
     "spec.overhead.cpu: \"x\" is not a quantity (such as 2, 500m or 16Gi)"},
};

static void test_pods_and_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        cleanup_free char *yaml = xasprintf("{spec: %s}", pods[i].spec);
        cleanup_json json_t *pod = fixture_parse(yaml);
        cleanup_json json_t *sum = NULL;
        struct err err = {.text = ""};
        cleanup_free char *got = NULL;
        if (requests_times(pod, pods[i].n, &sum, &err) < 0)
            got = xstrdup(err.text);
        else
            got = sum ? json_dumps(sum, JSON_SORT_KEYS) : xstrdup("{}");
        if (strcmp(got, pods[i].gives) != 0)
            fail_msg("%s: is %s, not %s", pods[i].what, got, pods[i].gives);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pods_and_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
