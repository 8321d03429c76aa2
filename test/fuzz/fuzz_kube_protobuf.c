/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API server sends in protobuf: objects, lists, frames of a watch. The first letter is the
 * kind: p(od), n(ode), c(laim), v(olume), k (PriorityClass), b (PodDisruptionBudget), j (Job), s
 * (Namespace).
 *
 * A decoded tree can be written as JSON, and the decoders produce the same facts from both. A list
 * gives the same items wherever it is cut.
 */
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_protobuf.h"
#include "test/fuzz/compare_facts.h"
#include "test/fuzz/core_fixture.h"

static const struct kind {
    char letter;
    const struct kube_protobuf_message *message;
    const char *api_version, *kind;
} kinds[] = {
    {'p', &kube_protobuf_pod, "v1", "Pod"},
    {'n', &kube_protobuf_node, "v1", "Node"},
    {'c', &kube_protobuf_claim, "v1", "PersistentVolumeClaim"},
    {'v', &kube_protobuf_volume, "v1", "PersistentVolume"},
    {'k', &kube_protobuf_class, "scheduling.k8s.io/v1", "PriorityClass"},
    {'b', &kube_protobuf_budget, "policy/v1", "PodDisruptionBudget"},
    {'j', &kube_protobuf_job, "batch/v1", "Job"},
    {'s', &kube_protobuf_namespace, "v1", "Namespace"},
};

/* Decodes the facts of the tree and of its JSON, and gives them to the core. */
static void check_tree(const struct kind *k, json_t *tree, struct core_fixture *fixture)
{
    json_object_set_new(tree, "apiVersion", json_string(k->api_version));
    json_object_set_new(tree, "kind", json_string(k->kind));
    cleanup_free char *text = json_dumps(tree, JSON_COMPACT);
    HOLDS(text, "a tree that is no JSON");
    cleanup_tree json_t *same = fuzz_json("a tree", text, strlen(text));
    HOLDS(json_equal(tree, same), "JSON says something else: %s", text);
    struct gang_event a, b;
    struct err err_a, err_b;
    bool good = core_fixture_event(tree, &a, &err_a);
    HOLDS(core_fixture_event(same, &b, &err_b) == good, "one of both is read: %s / %s",
          good ? "" : err_a.text, good ? err_b.text : "");
    if (!good)
        return;
    facts_same("protobuf and JSON", &a, &b);
    facts_survive_recording(&a);
    gang_event_done(&b);
    core_fixture_step(fixture, &a, 1);
}

static void check_object(const struct kind *k, const char *data, size_t len,
                         struct core_fixture *fixture)
{
    struct err err;
    cleanup_tree json_t *tree = kube_protobuf_object(k->message, data, len, &err);
    cleanup_free char *status = kube_protobuf_status_text(data, len);
    if (status) {
        cleanup_tree json_t *text = fuzz_json("a Status", status, strlen(status));
        HOLDS(tree && json_equal(tree, text), "a Status reads in two ways");
    }
    if (tree)
        check_tree(k, tree, fixture);
    else
        fuzz_check_error(&err);
}

static void check_list(const struct kind *k, const char *data, size_t len,
                       struct core_fixture *fixture)
{
    struct kube_protobuf_list list;
    struct err err = {.code = ERR_NONE};
    cleanup_tree json_t *meta = kube_protobuf_list_begin(&list, data, len, &err);
    if (!meta) {
        fuzz_check_error(&err);
        return;
    }
    json_t *item;
    const char *before = list.at;
    while ((item = kube_protobuf_list_next(&list, k->message, &err)) != NULL) {
        HOLDS(list.at > before && list.at <= list.end, "a list that does not go on");
        before = list.at;
        check_tree(k, item, fixture);
        json_decref(item);
    }
    if (err.code != ERR_NONE)
        fuzz_check_error(&err);
}

static void check_event(const struct kind *k, const char *data, size_t len,
                        struct core_fixture *fixture)
{
    struct err err;
    cleanup_tree json_t *event = kube_protobuf_event(k->message, data, len, &err);
    if (!event) {
        fuzz_check_error(&err);
        return;
    }
    json_t *object = json_object_get(event, "object");
    HOLDS(json_is_object(object), "an event without its object");
    check_tree(k, object, fixture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct kind *k = NULL;
    for (size_t i = 0; size && i < ARRAY_SIZE(kinds); i++)
        if (kinds[i].letter == (char)data[0])
            k = &kinds[i];
    if (!k)
        return 0;
    fuzz_begin();
    struct core_fixture *fixture = core_fixture_new();
    const char *rest = (const char *)data + 1;
    check_object(k, rest, size - 1, fixture);
    check_list(k, rest, size - 1, fixture);
    check_event(k, rest, size - 1, fixture);
    if (size > 5) /* after the length of a frame */
        check_event(k, rest + 4, size - 5, fixture);
    core_fixture_wait(fixture, 10 * USEC_PER_SEC, 20);
    core_fixture_free(fixture);
    return 0;
}
