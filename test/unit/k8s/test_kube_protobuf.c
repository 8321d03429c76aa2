/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that kube-apiserver gave in both forms (proto/). Both must decode to the same tree. */
#include "k8s/encoding/kube_protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/cpu_cost.h"

#define FOLDER "test/unit/k8s/proto/"

/* Fields that muster does not read and that the protobuf decoder leaves out. */
static const char *const left_out[] = {
    "apiVersion",
    "kind",
    "metadata.managedFields",
    "metadata.deletionGracePeriodSeconds",
    "spec.dnsPolicy",
    "spec.serviceAccount",
    "spec.securityContext",
    "spec.enableServiceLinks",
    "spec.containers[].command",
    "spec.containers[].env",
    "spec.containers[].volumeMounts",
    "spec.containers[].livenessProbe",
    "spec.containers[].terminationMessagePath",
    "spec.containers[].terminationMessagePolicy",
    "spec.containers[].imagePullPolicy",
    "spec.initContainers[].terminationMessagePath",
    "spec.initContainers[].terminationMessagePolicy",
    "spec.initContainers[].imagePullPolicy",
    "spec.volumes[].ephemeral.volumeClaimTemplate",
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    "spec.podCIDR",
    "spec.podCIDRs",
    "spec.taints[].timeAdded",
    "spec.accessModes",
    "spec.resources", /* of a claim; of a pod, see decoders_accept_the_tree() */
    "spec.volumeMode",
    "spec.capacity",
    "spec.local",
    "spec.persistentVolumeReclaimPolicy",
    "spec.minAvailable",
    "spec.unhealthyPodEvictionPolicy",
    "spec.parallelism",
    "spec.completions",
    "spec.completionMode",
    "spec.maxFailedIndexes",
    "spec.suspend",
    "spec.template",
    "spec.podFailurePolicy.rules[].onExitCodes",
    "status.active",
    "status.startTime",
    "status.currentHealthy",
    "status.desiredHealthy",
    "status.disruptedPods",
    "status.expectedPods",
    "status.qosClass",
    "status.observedGeneration",
    "status.conditions[].lastProbeTime",
    "status.containerStatuses[].image",
    "status.containerStatuses[].imageID",
    "status.containerStatuses[].lastState",
    "status.containerStatuses[].ready",
    "status.containerStatuses[].restartCount",
    "status.containerStatuses[].state",
    "status.initContainerStatuses[].image",
    "status.initContainerStatuses[].imageID",
    "status.initContainerStatuses[].lastState",
    "status.initContainerStatuses[].ready",
    "status.initContainerStatuses[].restartCount",
    "status.initContainerStatuses[].state",
    "status", /* of claims and volumes */
    "preemptionPolicy",
    "description",
};

/* Of nodes. */
static const char *const left_out_of_nodes[] = {
    "status.conditions",
    "status.images",
    "status.daemonEndpoints",
    "status.nodeInfo",
};

static struct buf read_file(const char *name, const char *form)
{
    struct buf b = BUF_INIT;
    char chunk[4096];
    cleanup_free char *path = xasprintf(FOLDER "%s.%s", name, form);
    FILE *f = fopen(path, "rbe");
    if (!f)
        fail_msg("%s: no such file", path);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(&b, chunk, n);
    fclose(f);
    return b;
}

static json_t *read_json(const char *name)
{
    cleanup_buf struct buf b = read_file(name, "json");
    json_t *tree = json_loadb(b.data, b.len, 0, NULL);
    assert_non_null(tree);
    return tree;
}

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || json_is_false(v) ||
           (json_is_integer(v) && json_integer_value(v) == 0) ||
           (json_is_string(v) && json_string_length(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0);
}

static bool is_left_out(const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
        if (str_eq(path, left_out[i]))
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(left_out_of_nodes); i++)
        if (str_eq(path, left_out_of_nodes[i]))
            return true;
    return false;
}

static void compare(const char *path, const json_t *json, const json_t *proto);

static void compare_objects(const char *path, const json_t *json, const json_t *proto)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        cleanup_free char *below = xasprintf("%s%s%s", path, *path ? "." : "", key);
        const json_t *other = json_object_get(proto, key);
        if (other)
            compare(below, value, other);
        else if (!is_empty(value) && !is_left_out(below))
            fail_msg("%s is not in the protobuf", below);
    }
    json_object_foreach((json_t *)(uintptr_t)proto, key, value)
    {
        if (!json_object_get(json, key))
            fail_msg("%s.%s is not in the JSON", path, key);
    }
}

static void compare(const char *path, const json_t *json, const json_t *proto)
{
    if (json_is_object(json) && json_is_object(proto)) {
        compare_objects(path, json, proto);
    } else if (json_is_array(json) && json_is_array(proto)) {
        cleanup_free char *below = xasprintf("%s[]", path);
        assert_int_equal(json_array_size(json), json_array_size(proto));
        for (size_t i = 0; i < json_array_size(json); i++)
            compare(below, json_array_get(json, i), json_array_get(proto, i));
    } else if (!json_equal(json, proto)) {
        cleanup_free char *a = json_dumps(json, JSON_ENCODE_ANY);
        cleanup_free char *b = json_dumps(proto, JSON_ENCODE_ANY);
        fail_msg("%s: %s in JSON, %s in protobuf", path, a, b);
    }
}

static json_t *read_proto(const char *name, const struct kube_protobuf_message *m)
{
    struct err err;
    cleanup_buf struct buf b = read_file(name, "pb");
    assert_true(kube_protobuf_is(b.data, b.len));
    json_t *tree = kube_protobuf_object(m, b.data, b.len, &err);
    if (!tree || err.code != ERR_NONE)
        fail_msg("%s: %s", name, err.text);
    return tree;
}

static void both_forms_give_the_same_tree(void **state)
{
    static const struct {
        const char *name;
        const struct kube_protobuf_message *m;
    } objects[] = {{"pod", &kube_protobuf_pod},       {"pod-plain", &kube_protobuf_pod},
                   {"node", &kube_protobuf_node},     {"claim", &kube_protobuf_claim},
                   {"volume", &kube_protobuf_volume}, {"class", &kube_protobuf_class},
                   {"budget", &kube_protobuf_budget}, {"job", &kube_protobuf_job}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        cleanup_json json_t *json = read_json(objects[i].name);
        cleanup_json json_t *proto = read_proto(objects[i].name, objects[i].m);
        compare("", json, proto);
    }
}

static void decoders_accept_the_tree(void **state)
{
    struct err err;
    (void)state;
    cleanup_json json_t *pod = read_proto("pod", &kube_protobuf_pod),
                        *node = read_proto("node", &kube_protobuf_node);
    struct gang_pod_facts *p = decode_pod(pod, &err);
    assert_non_null(p);
    assert_string_equal(p->nominated, "n00002");
    assert_int_equal(p->n_gates, 2);
    assert_int_equal(p->n_claims, 2);
    assert_int_equal(p->n_host_ports, 2);
    assert_int_equal(p->n_spreads, 1);
    assert_int_equal(p->n_anti_affinity, 1);
    assert_true(p->unschedulable && p->controlled && p->has_resource_claims && p->has_affinity);
    assert_int_equal(gang_amounts_get(&p->requests, "cpu"), 4000);
    gang_pod_facts_free(p);
    struct gang_node_facts *n = decode_node(node, &err);
    assert_non_null(n);
    assert_true(n->unschedulable);
    assert_int_equal(n->n_taints, 2);
    assert_int_equal(gang_amounts_get(&n->allocatable, "cpu"), 63500);
    gang_node_facts_free(n);
}

static void the_budget_of_the_tree_is_complete(void **state)
{
    struct err err;
    (void)state;
    cleanup_json json_t *budget = read_proto("budget", &kube_protobuf_budget);
    struct gang_budget_facts *f = decode_budget(budget, &err);
    assert_non_null(f);
    assert_int_equal(err.code, ERR_NONE);
    assert_false(f->selects_none);
    assert_int_equal(f->selector.n, 2);
    assert_int_equal(f->allowed, 3);
    gang_budget_facts_free(f);
}

static void a_list_is_read_item_by_item(void **state)
{
    struct err err;
    struct kube_protobuf_list list;
    (void)state;
    cleanup_buf struct buf b = read_file("list", "pb");
    cleanup_json json_t *json = read_json("list"), *item;
    cleanup_json json_t *meta = kube_protobuf_list_begin(&list, b.data, b.len, &err);
    assert_non_null(meta);
    assert_string_equal(field_peek(meta, "resourceVersion", NULL),
                        field_peek(json, "metadata", "resourceVersion", NULL));
    assert_non_null(field_peek(meta, "continue", NULL));
    const json_t *items = json_object_get(json, "items");
    for (size_t i = 0; i < 2; i++) {
        item = kube_protobuf_list_next(&list, &kube_protobuf_pod, &err);
        assert_non_null(item);
        compare("", json_array_get(items, i), item);
        json_decref(STEAL(item));
    }
    item = kube_protobuf_list_next(&list, &kube_protobuf_pod, &err);
    assert_null(item);
    assert_int_equal(err.code, ERR_NONE);
}

static void a_status_becomes_text(void **state)
{
    (void)state;
    cleanup_buf struct buf b = read_file("status", "pb"), pod = read_file("pod", "pb");
    cleanup_free char *text = kube_protobuf_status_text(b.data, b.len);
    assert_non_null(text);
    assert_non_null(strstr(text, "pods \\\"nobody\\\" not found"));
    assert_non_null(strstr(text, "\"code\":404"));
    assert_null(kube_protobuf_status_text(pod.data, pod.len));
}

static void a_frame_of_a_watch_is_read(void **state)
{
    struct err err;
    (void)state;
    cleanup_buf struct buf b = read_file("watch", "pb");
    assert_true(kube_protobuf_is_frame(b.data[0]));
    cleanup_json json_t *event =
        kube_protobuf_event(&kube_protobuf_pod, b.data + 4, b.len - 4, &err);
    assert_non_null(event);
    assert_string_equal(field_peek(event, "type", NULL), "ADDED");
    assert_string_equal(field_peek(event, "object", "metadata", "name", NULL), "odd");
    assert_non_null(field_peek(event, "object", "metadata", "deletionTimestamp", NULL));
    assert_null(kube_protobuf_event(&kube_protobuf_pod, b.data + 4, b.len - 5, &err));
    assert_true(strlen(err.text) > 0);
}

static void put_field(struct buf *b, int number, const struct buf *content)
{
    const size_t varints[] = {(size_t)number << 3 | 2, content->len};
    for (size_t i = 0; i < ARRAY_SIZE(varints); i++) {
        size_t rest = varints[i];
        for (; rest >= 128; rest >>= 7)
            buf_putc(b, (char)(rest | 128));
        buf_putc(b, (char)rest);
    }
    buf_append(b, content->data, content->len);
}

/* "k8s\0", Unknown{raw: Pod{metadata: {name, annotations: {key: value}}}} */
static json_t *pod_with(const char *value, size_t len)
{
    struct err err;
    cleanup_buf struct buf v = BUF_INIT, k = BUF_INIT, entry = BUF_INIT, meta = BUF_INIT,
                           pod = BUF_INIT, all = BUF_INIT;
    buf_append(&v, value, len);
    buf_puts(&k, "key");
    put_field(&entry, 1, &k);
    put_field(&entry, 2, &v);
    put_field(&meta, 1, &k); /* the name */
    put_field(&meta, 12, &entry);
    put_field(&pod, 1, &meta);
    buf_append(&all, "k8s", 4);
    put_field(&all, 2, &pod);
    return kube_protobuf_object(&kube_protobuf_pod, all.data, all.len, &err);
}

static void invalid_bytes_in_strings_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } cases[] = {{"a\0b", 3, "a?b"},
                 {"\xff\xfe", 2, "??"},
                 {"\xc3\xbc", 2, "\xc3\xbc"},
                 {"x\xed\xa0\x80", 4, "x???"},
                 {"", 0, ""}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *tree = pod_with(cases[i].in, cases[i].len);
        assert_string_equal(field_peek(tree, "metadata", "annotations", "key", NULL), cases[i].out);
    }
}

/* A rule that is newer than the decoder must not disappear silently. */
static void unknown_fields_are_noted(void **state)
{
    (void)state;
    struct err err;
    cleanup_buf struct buf text = BUF_INIT, container = BUF_INIT, spec = BUF_INIT, pod = BUF_INIT,
                           all = BUF_INIT;
    buf_puts(&text, "x");
    put_field(&container, 1, &text);
    buf_append(&container, "\xe2\x3f\x00", 3); /* number 1020, empty */
    put_field(&spec, 2, &container);
    put_field(&spec, 6, &text);           /* dnsPolicy */
    buf_append(&spec, "\xc8\x3e\x01", 3); /* number 1001, a varint */
    put_field(&pod, 2, &spec);
    buf_append(&all, "k8s", 4);
    put_field(&all, 2, &pod);
    cleanup_json json_t *tree = kube_protobuf_object(&kube_protobuf_pod, all.data, all.len, &err);
    const json_t *s = json_object_get(tree, "spec");
    assert_true(json_is_true(json_object_get(s, "field-1001")));
    assert_null(json_object_get(s, "field-6"));
    const json_t *c = json_array_get(json_object_get(s, "containers"), 0);
    assert_true(json_is_true(json_object_get(c, "field-1020")));
}

/* ---- too many items ---- */

static void put_text(struct buf *to, int number, const char *text)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b, text);
    put_field(to, number, &b);
}

/* Entries of a map<string, string>: "000000", "000001", … */
static void put_texts(struct buf *to, int number, int n)
{
    cleanup_buf struct buf entry = BUF_INIT;
    for (int i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof key, "%06d", i);
        buf_clear(&entry);
        put_text(&entry, 1, key);
        put_field(to, number, &entry);
    }
}

/* An entry of a map<string, Quantity>. */
static void put_quantity(struct buf *to, int number, const char *resource, const char *text)
{
    cleanup_buf struct buf quantity = BUF_INIT, entry = BUF_INIT;
    put_text(&quantity, 1, text);
    put_text(&entry, 1, resource);
    put_field(&entry, 2, &quantity);
    put_field(to, number, &entry);
}

static void put_quantities(struct buf *to, int number, int n)
{
    for (int i = 0; i < n; i++) {
        char resource[32];
        snprintf(resource, sizeof resource, "a.io/%06d", i);
        put_quantity(to, number, resource, "1");
    }
}

static void put_container(struct buf *spec, const struct buf *resources)
{
    cleanup_buf struct buf container = BUF_INIT;
    put_text(&container, 1, "c");
    put_field(&container, 8, resources);
    put_field(spec, 2, &container);
}

/* n containers, each of which requests a GPU. */
static void put_containers(struct buf *spec, int n)
{
    cleanup_buf struct buf resources = BUF_INIT;
    put_quantity(&resources, 2, "nvidia.com/gpu", "1");
    for (int i = 0; i < n; i++)
        put_container(spec, &resources);
}

static void put_tolerations(struct buf *spec, int n)
{
    cleanup_buf struct buf toleration = BUF_INIT;
    put_text(&toleration, 1, "k");
    put_text(&toleration, 2, "Exists");
    for (int i = 0; i < n; i++)
        put_field(spec, 22, &toleration);
}

/* A pod on the node "n1" that has finished, with `metadata` and `spec` added. */
static json_t *big_pod(const struct buf *metadata, const struct buf *spec, struct err *err)
{
    cleanup_buf struct buf meta = BUF_INIT, place = BUF_INIT, status = BUF_INIT, pod = BUF_INIT,
                           all = BUF_INIT;
    put_text(&meta, 1, "big");
    put_text(&meta, 3, "ml");
    put_text(&meta, 5, "uid");
    buf_append(&meta, buf_str(metadata), metadata->len);
    buf_append(&place, buf_str(spec), spec->len);
    put_text(&place, 10, "n1");
    put_text(&status, 1, "Succeeded");
    put_field(&pod, 1, &meta);
    put_field(&pod, 2, &place);
    put_field(&pod, 3, &status);
    buf_append(&all, "k8s", 4);
    put_field(&all, 2, &pod);
    return kube_protobuf_object(&kube_protobuf_pod, all.data, all.len, err);
}

static void T04_a_map_with_too_many_entries_is_read_in_part(void **state)
{
    (void)state;
    struct err err;
    cleanup_buf struct buf none = BUF_INIT, fits = BUF_INIT, more = BUF_INIT;
    put_texts(&fits, 11, KUBE_PROTOBUF_ITEMS);
    put_texts(&more, 11, KUBE_PROTOBUF_ITEMS + 1);
    cleanup_json json_t *whole = big_pod(&fits, &none, &err);
    assert_int_equal(err.code, ERR_NONE);
    cleanup_json json_t *part = big_pod(&more, &none, &err);
    assert_non_null(strstr(err.text, "have more than 10000 items"));
    assert_true(json_equal(whole, part));
    assert_string_equal(field_peek(part, "spec", "nodeName", NULL), "n1");
}

static int64_t gpus_of(const struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->requests.n; i++)
        if (strcmp(f->requests.items[i].resource, "nvidia.com/gpu") == 0)
            return f->requests.items[i].amount;
    return 0;
}

/* Otherwise a tenant could take GPUs unseen, and keep them after the pod has finished. */
static void T04_what_a_pod_with_too_many_items_holds_stays_known(void **state)
{
    (void)state;
    struct err err;
    cleanup_buf struct buf metadata = BUF_INIT, spec = BUF_INIT;
    put_texts(&metadata, 11, 2 * KUBE_PROTOBUF_ITEMS);
    put_texts(&metadata, 12, 2 * KUBE_PROTOBUF_ITEMS);
    put_containers(&spec, 8);
    put_tolerations(&spec, 2 * KUBE_PROTOBUF_ITEMS);
    cleanup_json json_t *tree = big_pod(&metadata, &spec, &err);
    assert_int_equal(err.code, ERR_INVALID);
    struct gang_pod_facts *f = decode_pod_part(tree, &err, &err);
    assert_non_null(f);
    assert_non_null(f->invalid);
    assert_false(f->part); /* a pod that muster knows changes: this one has ended */
    assert_int_equal(gpus_of(f), 8);
    assert_string_equal(f->node, "n1");
    assert_int_equal(f->phase, PHASE_SUCCEEDED);
    gang_pod_facts_free(f);
}

static double cost_of(const struct buf *metadata, const struct buf *spec)
{
    struct err err;
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        double begin = cost_ms();
        cleanup_json json_t *tree = big_pod(metadata, spec, &err);
        assert_int_equal(err.code, ERR_INVALID);
        gang_pod_facts_free(decode_pod_part(tree, &err, &err));
        json_decref(STEAL(tree));
        double ms = cost_ms() - begin;
        best = ms < best ? ms : best;
    }
    return best;
}

/* As large as the API server accepts: 1.5 MiB. */
static void T04_a_pod_with_too_many_items_costs_little_time(void **state)
{
    (void)state;
    enum { TEXTS, QUANTITIES, CONTAINERS, TOLERATIONS, BOTH, KINDS };
    static const char *const names[KINDS] = {"100,000 labels", "80,000 quantities",
                                             "50,000 containers with GPUs", "120,000 tolerations",
                                             "20,000 containers, 50,000 tolerations"};
    for (int kind = 0; kind < KINDS; kind++) {
        cleanup_buf struct buf metadata = BUF_INIT, spec = BUF_INIT;
        put_texts(&metadata, 11, kind == TEXTS ? 100000 : 0);
        put_quantities(&spec, 32, kind == QUANTITIES ? 80000 : 0);
        put_containers(&spec, kind == CONTAINERS ? 50000 : kind == BOTH ? 20000 : 0);
        put_tolerations(&spec, kind == TOLERATIONS ? 120000 : kind == BOTH ? 50000 : 0);
        double ms = cost_of(&metadata, &spec);
        print_message("%8.1f ms  %s\n", ms, names[kind]);
        if (ms > cost_limit(50))
            fail_msg("a pod with %s takes %.1f ms", names[kind], ms);
    }
}

/* The decoder never reads beyond its input (the sanitizers check that), and reports truncated
 * input. */
static void damaged_input_is_refused_or_decoded(void **state)
{
    struct err err;
    (void)state;
    cleanup_buf struct buf b = read_file("pod", "pb");
    for (size_t n = 0; n < b.len; n++) {
        char *cut = xmalloc(n + 1);
        memcpy(cut, b.data, n);
        json_decref(kube_protobuf_object(&kube_protobuf_pod, cut, n, &err));
        free(cut);
    }
    uint32_t dice = 1;
    for (int i = 0; i < 20000; i++) {
        dice = dice * 1664525 + 1013904223;
        size_t at = 4 + (dice >> 8) % (b.len - 4);
        char old = b.data[at];
        b.data[at] = (char)(dice >> 3);
        json_decref(kube_protobuf_object(&kube_protobuf_pod, b.data, b.len, &err));
        b.data[at] = old;
    }
    cleanup_buf struct buf list = read_file("list", "pb");
    int whole = 0;
    for (size_t n = 0; n <= list.len; n++) {
        struct kube_protobuf_list l;
        json_t *meta = kube_protobuf_list_begin(&l, list.data, n, &err), *item;
        if (!meta)
            continue;
        while ((item = kube_protobuf_list_next(&l, &kube_protobuf_pod, &err)) != NULL)
            json_decref(item);
        whole += err.code == ERR_NONE;
        json_decref(meta);
    }
    assert_in_range(whole, 1, 3); /* without the fields after raw, the object is complete */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_give_the_same_tree),
        cmocka_unit_test(decoders_accept_the_tree),
        cmocka_unit_test(the_budget_of_the_tree_is_complete),
        cmocka_unit_test(a_list_is_read_item_by_item),
        cmocka_unit_test(a_status_becomes_text),
        cmocka_unit_test(a_frame_of_a_watch_is_read),
        cmocka_unit_test(invalid_bytes_in_strings_are_replaced),
        cmocka_unit_test(unknown_fields_are_noted),
        cmocka_unit_test(T04_a_map_with_too_many_entries_is_read_in_part),
        cmocka_unit_test(T04_what_a_pod_with_too_many_items_holds_stays_known),
        cmocka_unit_test(T04_a_pod_with_too_many_items_costs_little_time),
        cmocka_unit_test(damaged_input_is_refused_or_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
