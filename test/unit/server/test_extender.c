/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender/extender_reply.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/podgroup_rules.h"
#include "k8s/encoding/kube_json.h"

#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ml\",\"uid\":\"u-1\"},"                         \
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":"                       \
    "{\"nvidia.com/gpu\":\"1\"}}}]}}"
#define NODE_A "{\"metadata\": {\"labels\":{\"name\":\"x\"},\"name\":\"a\\u002d1\"}, \"spec\":{}}"
#define NODE_B "{\"spec\":{\"metadata\":{\"name\":\"no\"}},\"metadata\":{\"name\":\"b\"}}"

/* Parses the request and its pod, as for a pod that muster does not know. */
static int parse_all(enum extender_verb verb, char *body, size_t len,
                     const struct workload_rules *rules, struct extender_args *args,
                     struct err *err)
{
    *args = (struct extender_args){0};
    if (extender_parse(verb, body, len, args, err) < 0)
        return -1;
    return extender_decode_pod(args, rules, err);
}

/* Parses a copy, which stays valid until the next call. */
static int parse(enum extender_verb verb, const char *body, struct extender_args *args,
                 struct err *err)
{
    static char copy[4096];
    assert_true(strlen(body) < sizeof copy);
    strcpy(copy, body);
    return parse_all(verb, copy, strlen(copy), NULL, args, err);
}

static char *dump(json_t *j)
{
    char *s = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(j);
    return s;
}

/* Compares the reply with the expected JSON, regardless of the order of keys. */
static void assert_json(const struct buf *out, const char *expected)
{
    json_t *got = json_loads(buf_str(out), 0, NULL), *want = json_loads(expected, 0, NULL);
    if (!got)
        fail_msg("not JSON: %s", buf_str(out));
    assert_non_null(want);
    cleanup_free char *g = dump(got), *w = dump(want);
    assert_string_equal(g, w);
}

static const struct {
    const char *body;
    bool whole; /* Nodes instead of NodeNames */
} good_args[] = {
    {"{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[\"a-1\",\"b\"]}", false},
    {"{\"pod\":" POD ",\"nodes\":null,\"nodenames\":[\"a-1\",\"b\"]}", false},
    {"{\"NODENAMES\":[\"a\\u002d1\",\"b\"],\"POD\":" POD "}", false},
    {"{\"Extra\":{\"Pod\":[1]},\"Pod\":" POD ",\"NodeNames\":[ \"a-1\" , \"b\" ]}", false},
    {"{\"Pod\":" POD ",\"Nodes\":{\"metadata\":{},\"items\":[" NODE_A "," NODE_B
     "]},\"NodeNames\":null}",
     true},
    {"{\"nodes\":{\"Items\":[ " NODE_A " ,\n" NODE_B " ]},\"pod\":" POD "}", true},
};

static void filter_accepts_both_forms_and_any_case_of_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good_args); i++) {
        struct extender_args a;
        struct err err;
        if (parse(EXTENDER_FILTER, good_args[i].body, &a, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
        assert_string_equal(a.pod->uid, "u-1");
        assert_int_equal(a.n_names, 2);
        assert_string_equal(a.names[0], "a-1");
        assert_string_equal(a.names[1], "b");
        assert_int_equal(a.items != NULL, good_args[i].whole);
        extender_args_done(&a);
        assert_int_equal(parse(EXTENDER_PRIORITIZE, good_args[i].body, &a, &err), 0);
        extender_args_done(&a);
    }
}

static void chosen_nodes_are_echoed_byte_for_byte(void **state)
{
    (void)state;
    struct extender_args a;
    struct err err;
    cleanup_buf struct buf out = BUF_INIT;
    assert_int_equal(parse(EXTENDER_FILTER, good_args[4].body, &a, &err), 0);
    const uint32_t passed[] = {1};
    const struct gang_filter_refusal refused[] = {{0, "reserved for gang \"ml/ddp\""}};
    const struct gang_filter_reply r = {
        .id = 1, .passed = passed, .n_passed = 1, .refused = refused, .n_refused = 1};
    extender_write_filter(&a, &r, &out);
    assert_non_null(strstr(buf_str(&out), "\"items\":[" NODE_B "]"));
    assert_json(&out,
                "{\"Nodes\":{\"metadata\":{},\"items\":[" NODE_B "]},\"NodeNames\":null,"
                "\"FailedAndUnresolvableNodes\":{\"a-1\":\"reserved for gang \\\"ml/ddp\\\"\"},"
                "\"Error\":\"\"}");
    buf_clear(&out);
    const struct gang_filter_refusal full[] = {{0, "Insufficient gpu"}, {1, "Insufficient gpu"}};
    extender_write_filter(
        &a, &(struct gang_filter_reply){.id = 1, .refused = full, .n_refused = 2, .n_full = 2},
        &out);
    assert_json(&out, "{\"Nodes\":{\"metadata\":{},\"items\":[]},\"NodeNames\":null,"
                      "\"FailedAndUnresolvableNodes\":{},"
                      "\"FailedNodes\":{\"a-1\":\"Insufficient gpu\","
                      "\"b\":\"Insufficient gpu\"},\"Error\":\"\"}");
    buf_clear(&out);
    extender_write_filter(
        &a, &(struct gang_filter_reply){.id = 1, .refused = full, .n_refused = 2, .n_full = 1},
        &out);
    assert_json(&out, "{\"Nodes\":{\"metadata\":{},\"items\":[]},\"NodeNames\":null,"
                      "\"FailedAndUnresolvableNodes\":{\"a-1\":\"Insufficient gpu\"},"
                      "\"FailedNodes\":{\"b\":\"Insufficient gpu\"},\"Error\":\"\"}");
    buf_clear(&out);
    extender_write_filter(&a, &(struct gang_filter_reply){.id = 1, .pass_all = true}, &out);
    assert_non_null(strstr(buf_str(&out), "\"items\":[" NODE_A "," NODE_B "]"));
    extender_args_done(&a);
}

/* The numbers of the nodes that pass; -1 alone: all. */
static const struct {
    const char *body;
    int passed[3];
    size_t n;
    bool in_place;
} whole_replies[] = {
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]}}", {-1}, 0, true},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A " ,\n " NODE_B "]}}", {0, 1}, 2, true},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]}}", {1}, 1, true},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]}}", {0}, 1, true},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]}}", {1, 0}, 2, false},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]}}", {0}, 0, false},
    /* The start of the reply would overlap the first node. */
    {"{\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]},\"Pod\":" POD "}", {-1}, 0, false},
    {"{\"Nodes\":{\"items\":[" NODE_A "," NODE_B "]},\"Pod\":" POD "}", {1}, 1, true},
    {"{\"Pod\":" POD ",\"NodeNames\":[\"a\",\"b\"]}", {-1}, 0, false},
};

static void P05_complete_nodes_that_pass_are_not_stored_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(whole_replies); i++) {
        struct extender_args a = {0};
        struct err err;
        uint32_t passed[3];
        cleanup_buf struct buf body = BUF_INIT, out = BUF_INIT;
        buf_puts(&body, whole_replies[i].body);
        while (body.cap - body.len < 256) /* room for the end of the reply */
            buf_putc(&body, ' ');
        assert_int_equal(extender_parse(EXTENDER_FILTER, body.data, body.len, &a, &err), 0);
        for (size_t k = 0; k < whole_replies[i].n; k++)
            passed[k] = (uint32_t)whole_replies[i].passed[k];
        const struct gang_filter_refusal refused[] = {{0, "reserved for gang \"ml/ddp\""}};
        const struct gang_filter_reply r = {.id = 1,
                                            .pass_all = whole_replies[i].passed[0] < 0,
                                            .passed = passed,
                                            .n_passed = whole_replies[i].n,
                                            .refused = refused,
                                            .n_refused = 1};
        extender_write_filter(&a, &r, &out);
        const char *before = body.data;
        cleanup_free char *bytes = xstrndup(body.data, body.len);
        size_t len = body.len;
        assert_int_equal(extender_filter_in_place(&a, &r, &body), whole_replies[i].in_place);
        if (whole_replies[i].in_place)
            assert_string_equal(body.data, buf_str(&out));
        else
            assert_memory_equal(body.data, bytes, strlen(bytes));
        assert_true(whole_replies[i].in_place || body.len == len);
        assert_ptr_equal(body.data, before);
        extender_args_done(&a);
    }
}

static void filter_replies_with_names(void **state)
{
    (void)state;
    struct extender_args a;
    struct err err;
    cleanup_buf struct buf out = BUF_INIT;
    assert_int_equal(parse(EXTENDER_FILTER, good_args[0].body, &a, &err), 0);
    extender_write_filter(&a, &(struct gang_filter_reply){.id = 1, .pass_all = true}, &out);
    assert_json(&out, "{\"Nodes\":null,\"NodeNames\":[\"a-1\",\"b\"],"
                      "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    buf_clear(&out);
    const struct gang_filter_refusal refused[] = {{0, "why"}};
    extender_write_filter(
        &a, &(struct gang_filter_reply){.id = 1, .refused = refused, .n_refused = 1}, &out);
    assert_json(&out, "{\"Nodes\":null,\"NodeNames\":[],"
                      "\"FailedAndUnresolvableNodes\":{\"a-1\":\"why\"},\"Error\":\"\"}");
    buf_clear(&out);
    extender_write_filter(&a, &(struct gang_filter_reply){.id = 1, .error = "not \"now\"\n"}, &out);
    assert_json(&out, "{\"Nodes\":null,\"NodeNames\":null,\"FailedAndUnresolvableNodes\":null,"
                      "\"Error\":\"not \\\"now\\\"\\n\"}");
    extender_args_done(&a);
}

static void prioritize_replies_with_hosts(void **state)
{
    (void)state;
    struct extender_args a;
    struct err err;
    cleanup_buf struct buf out = BUF_INIT;
    assert_int_equal(parse(EXTENDER_PRIORITIZE, good_args[4].body, &a, &err), 0);
    extender_write_prioritize(&a, (const uint8_t[]){10, 0}, 2, &out);
    assert_json(&out, "[{\"Host\":\"a-1\",\"Score\":10},{\"Host\":\"b\",\"Score\":0}]");
    extender_args_done(&a);
}

static const char *const good_preempt[] = {
    "{\"Pod\":" POD ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
    "\"n1\":{\"Pods\":[{\"UID\":\"v1\"},{\"UID\":\"v2\"}],\"NumPDBViolations\":3},"
    "\"n2\":{\"Pods\":null,\"NumPDBViolations\":0}}}",
    "{\"pod\":" POD ",\"nodenametovictims\":{"
    "\"n1\":{\"pods\":[{\"metadata\":{\"name\":\"x\",\"uid\":\"v1\"},\"spec\":{}},"
    "{\"spec\":{},\"metadata\":{\"uid\":\"v2\"}}],\"numpdbviolations\":3},"
    "\"n2\":{\"pods\":[]}}}",
};

static void preempt_accepts_both_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good_preempt); i++) {
        struct extender_args a;
        struct err err;
        cleanup_buf struct buf out = BUF_INIT;
        if (parse(EXTENDER_PREEMPT, good_preempt[i], &a, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(a.n_names, 2);
        assert_string_equal(a.names[1], "n2");
        assert_int_equal(a.victim_uids[0].n, 2);
        assert_string_equal(a.victim_uids[0].uids[0], "v1");
        assert_string_equal(a.victim_uids[0].uids[1], "v2");
        assert_int_equal(a.victim_uids[1].n, 0);
        extender_write_preempt(&a, (const uint32_t[]){0}, 1, &out);
        assert_json(&out, "{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"v1\"},"
                          "{\"UID\":\"v2\"}],\"NumPDBViolations\":3}}}");
        buf_clear(&out);
        extender_write_preempt(&a, NULL, 0, &out);
        assert_json(&out, "{\"NodeNameToMetaVictims\":{}}");
        extender_args_done(&a);
    }
}

#define BIND_BODY                                                                                  \
    "{\"PodName\":\"p\",\"PodNamespace\":\"ml\",\"PodUID\":\"u-1\",\"Node\":\"n\\u002f1\"}"

static void bind_accepts_any_case_of_keys(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        BIND_BODY,
        "{\"podname\":\"p\",\"podnamespace\":\"ml\",\"poduid\":\"u-1\",\"node\":\"n/1\",\"x\":[]}",
    };
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        struct extender_args a;
        struct err err;
        assert_int_equal(parse(EXTENDER_BIND, bodies[i], &a, &err), 0);
        assert_string_equal(a.name, "p");
        assert_string_equal(a.ns, "ml");
        assert_string_equal(a.uid, "u-1");
        assert_string_equal(a.node, "n/1");
        extender_args_done(&a);
    }
    cleanup_buf struct buf out = BUF_INIT;
    extender_write_bind("", &out);
    assert_json(&out, "{\"Error\":\"\"}");
}

static const struct {
    enum extender_verb verb;
    const char *body, *error;
} broken[] = {
    {EXTENDER_FILTER, "", "expected a value, but the input ends, at byte 0"},
    {EXTENDER_FILTER, "[]", "expected an object, at byte 0"},
    {EXTENDER_FILTER, "{}", "neither NodeNames nor Nodes is given"},
    {EXTENDER_FILTER, "{\"Pod\":" POD "}", "neither NodeNames nor Nodes is given"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":null}",
     "neither NodeNames nor Nodes is given"},
    {EXTENDER_FILTER, "{\"NodeNames\":[\"a\"]}", "Pod is missing"},
    {EXTENDER_FILTER, "{\"Pod\":null,\"NodeNames\":[\"a\"]}", "Pod is missing"},
    {EXTENDER_FILTER, "{\"Pod\":\"text\",\"NodeNames\":[\"a\"]}", "Pod: "},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":[\"a\",1]}", "expected a string, at byte"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":[\"\"]}", "empty node name"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":\"a\"}", "expected an array"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":[\"a\"],\"nodenames\":[\"b\"]}",
     "duplicate key"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"pod\":" POD ",\"NodeNames\":[\"a\"]}", "duplicate key"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":[\"a\"],\"Nodes\":{\"items\":[]}}",
     "both NodeNames and Nodes are given"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"Nodes\":{\"items\":[{\"metadata\":{}}]}}",
     "the node that ends here has no metadata.name"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"Nodes\":{\"items\":[{\"metadata\":{\"name\":7}}]}}",
     "the node that ends here has no metadata.name"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"Nodes\":{\"items\":[null]}}", "expected an object"},
    {EXTENDER_FILTER, "{\"Pod\":" POD ",\"NodeNames\":[\"a\"]} x", "unexpected data after the end"},
    {EXTENDER_PREEMPT, "{\"Pod\":" POD "}",
     "neither NodeNameToVictims nor NodeNameToMetaVictims is given"},
    {EXTENDER_PREEMPT, "{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":[{}]}}}",
     "the victim that ends here has no UID"},
    {EXTENDER_PREEMPT, "{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":null}}",
     "expected an object"},
    {EXTENDER_PREEMPT,
     "{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"NumPDBViolations\":1.5}}}",
     "expected an integer"},
    {EXTENDER_PREEMPT, "{\"NodeNameToMetaVictims\":{}}", "Pod is missing"},
    {EXTENDER_BIND, "{\"PodName\":\"p\",\"PodNamespace\":\"ml\",\"PodUID\":\"u\"}",
     "ExtenderBindingArgs: Node is missing"},
    {EXTENDER_BIND, "{\"PodName\":\"\",\"PodNamespace\":\"ml\",\"PodUID\":\"u\",\"Node\":\"n\"}",
     "ExtenderBindingArgs: PodName is missing"},
    {EXTENDER_BIND, "{\"PodName\":1}", "expected a string, at byte 11"},
    {EXTENDER_BIND, "{\"Node\":\"a\",\"node\":\"b\"}", "duplicate key"},
};

/* It would take 0.1 s. kube-scheduler tries again, and by then the watch has brought the pod. */
static void T04_a_pod_with_too_many_values_is_refused(void **state)
{
    (void)state;
    struct extender_args a = {0};
    struct err err;
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b,
             "{\"NodeNames\":[\"a\"],\"Pod\":{\"metadata\":{\"namespace\":\"ml\",\"name\":\"p\","
             "\"uid\":\"u\",\"labels\":{\"k\":\"\"");
    for (int i = 0; i < KUBE_JSON_VALUES; i++)
        buf_printf(&b, ",\"k%d\":\"\"", i);
    buf_puts(&b, "}}}}");
    assert_int_equal(extender_parse(EXTENDER_FILTER, b.data, b.len, &a, &err), 0);
    assert_int_equal(extender_decode_pod(&a, /* rules= */ NULL, &err), -1);
    assert_non_null(strstr(err.text, "Pod: it has 20007 values, must be at most 20000"));
    assert_null(a.pod);
    extender_args_done(&a);
}

static void errors_about_invalid_input_name_the_position(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        struct extender_args a;
        struct err err = {0};
        assert_int_equal(parse(broken[i].verb, broken[i].body, &a, &err), -1);
        if (!strstr(err.text, broken[i].error))
            fail_msg("case %zu: got %s, want %s", i, err.text, broken[i].error);
        extender_args_done(&a);
    }
}

static void errors_are_answered_in_kube_schedulers_form(void **state)
{
    (void)state;
    static const struct {
        enum extender_verb verb;
        int status;
        const char *body;
    } cases[] = {
        {EXTENDER_FILTER, 200,
         "{\"Nodes\":null,\"NodeNames\":null,\"FailedAndUnresolvableNodes\":null,"
         "\"Error\":\"x\"}"},
        {EXTENDER_PRIORITIZE, 200, "[]"},
        {EXTENDER_PREEMPT, 500, "{\"Error\":\"x\"}"},
        {EXTENDER_BIND, 200, "{\"Error\":\"x\"}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf out = BUF_INIT;
        assert_int_equal(extender_write_failure(cases[i].verb, "x", &out), cases[i].status);
        assert_json(&out, cases[i].body);
    }
}

/* Copies of the exact length, so that a sanitizer reports the first byte beyond the end. */
static void truncation_at_every_byte_is_an_error(void **state)
{
    (void)state;
    const struct {
        enum extender_verb verb;
        const char *body;
    } bodies[] = {
        {EXTENDER_FILTER, good_args[0].body}, {EXTENDER_FILTER, good_args[4].body},
        {EXTENDER_PREEMPT, good_preempt[0]},  {EXTENDER_PREEMPT, good_preempt[1]},
        {EXTENDER_BIND, BIND_BODY},
    };
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        for (size_t n = 0; n < strlen(bodies[i].body); n++) {
            char *cut = xmalloc(n ? n : 1);
            memcpy(cut, bodies[i].body, n);
            struct extender_args a;
            struct err err;
            assert_int_equal(parse_all(bodies[i].verb, cut, n, NULL, &a, &err), -1);
            extender_args_done(&a);
            free(cut);
        }
    }
}

static void a_changed_byte_anywhere_does_no_harm(void **state)
{
    (void)state;
    static const char bytes[] = {'\0', '"', '{', '}', '[', ']', ',', '\\', '1', (char)0xc3};
    const char *body = good_args[4].body, *preempt = good_preempt[1];
    for (int which = 0; which < 2; which++) {
        const char *from = which ? preempt : body;
        size_t n = strlen(from);
        for (size_t at = 0; at < n; at++) {
            for (size_t b = 0; b < ARRAY_SIZE(bytes); b++) {
                cleanup_free char *text = xstrdup(from);
                text[at] = bytes[b];
                struct extender_args a;
                struct err err;
                cleanup_buf struct buf out = BUF_INIT;
                if (parse_all(which ? EXTENDER_PREEMPT : EXTENDER_FILTER, text, n, NULL, &a,
                              &err) == 0 &&
                    !which) {
                    extender_write_filter(
                        &a, &(struct gang_filter_reply){.id = 1, .pass_all = true}, &out);
                    json_t *j = json_loads(buf_str(&out), 0, NULL);
                    assert_non_null(j);
                    json_decref(j);
                }
                extender_args_done(&a);
            }
        }
    }
}

/* A pod that filter sees before the watch does must not count as an ordinary pod. */
static void W01_a_pod_that_needs_a_podgroup_waits_for_it(void **state)
{
    (void)state;
    struct config *config = config_defaults();
    struct workload_rules *rules = podgroup_rules_new(config);
    static const struct {
        const char *spec;
        bool waits;
    } cases[] = {
        {"{\"schedulerName\":\"volcano\"}", true},
        {"{\"schedulerName\":\"default-scheduler\"}", false},
        {"{\"schedulerName\":\"volcano\",\"nodeName\":\"n\"}", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *body =
            xasprintf("{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"ml\",\"uid\":\"u\"},"
                      "\"spec\":%s},\"NodeNames\":[\"a\"]}",
                      cases[i].spec);
        struct extender_args a;
        struct err err;
        if (parse_all(EXTENDER_FILTER, body, strlen(body), rules, &a, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(a.pod->awaits_group != NULL, cases[i].waits);
        extender_args_done(&a);
    }
    podgroup_rules_free(rules);
    config_free(config);
}

/* The settings become the rules of workload/. */
static void settings_become_rules(void **state)
{
    (void)state;
    struct config *c = config_defaults();
    struct workload_rules *rules = podgroup_rules_new(c);
    assert_true(rules->on);
    assert_string_equal(rules->home, "scheduling.run.ai");
    assert_int_equal(rules->n_schedulers, 3);
    assert_int_equal(rules->n_customs, 0);
    podgroup_rules_free(rules);
    c->pod_group_dialect = 3;
    char *entry = xstrdup("example.com/v1/TrainSet:spec.workers:spec.minWorkers");
    c->workloads = (struct config_list){xcalloc(1, sizeof entry), 1};
    c->workloads.items[0] = entry;
    rules = podgroup_rules_new(c);
    assert_string_equal(rules->home, "scheduling.sigs.k8s.io");
    assert_int_equal(rules->n_customs, 1);
    assert_string_equal(rules->customs[0].api_version, "example.com/v1");
    assert_string_equal(rules->customs[0].minimum, "spec.minWorkers");
    podgroup_rules_free(rules);
    config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(W01_a_pod_that_needs_a_podgroup_waits_for_it),
        cmocka_unit_test(settings_become_rules),
        cmocka_unit_test(filter_accepts_both_forms_and_any_case_of_keys),
        cmocka_unit_test(chosen_nodes_are_echoed_byte_for_byte),
        cmocka_unit_test(P05_complete_nodes_that_pass_are_not_stored_twice),
        cmocka_unit_test(filter_replies_with_names),
        cmocka_unit_test(prioritize_replies_with_hosts),
        cmocka_unit_test(preempt_accepts_both_forms),
        cmocka_unit_test(bind_accepts_any_case_of_keys),
        cmocka_unit_test(T04_a_pod_with_too_many_values_is_refused),
        cmocka_unit_test(errors_about_invalid_input_name_the_position),
        cmocka_unit_test(errors_are_answered_in_kube_schedulers_form),
        cmocka_unit_test(truncation_at_every_byte_is_an_error),
        cmocka_unit_test(a_changed_byte_anywhere_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
