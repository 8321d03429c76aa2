/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "test/unit/config/temp_file.h"

static const struct config_key *key_of(const char *name)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (str_eq(keys[i].name, name))
            return &keys[i];
    fail_msg("no key %s", name);
    return NULL;
}

/* Loads the text and returns the mistakes, with FILE instead of the file's name. */
static char *load(const char *text, struct config **ret)
{
    cleanup_file char *path = file_make(text);
    cleanup_buf struct buf mistakes = BUF_INIT;
    struct buf out = BUF_INIT;
    *ret = config_load(path, NULL, 0, &mistakes);
    const char *p = buf_str(&mistakes);
    for (const char *hit; (hit = strstr(p, path)) != NULL; p = hit + strlen(path)) {
        buf_append(&out, p, (size_t)(hit - p));
        buf_puts(&out, "FILE");
    }
    buf_puts(&out, p);
    assert_true((*ret == NULL) == (out.len > 0));
    return buf_steal(&out);
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    struct config *c = config_defaults();
    assert_string_equal(c->listen, "127.0.0.1:9910");
    assert_string_equal(c->ops_listen, "127.0.0.1:9911");
    assert_null(c->kubeconfig);
    assert_int_equal(c->log_level, LOG_INFO);
    assert_int_equal(c->log_format, LOG_TEXT);
    assert_int_equal(c->hold, 20 * USEC_PER_SEC);
    assert_int_equal(c->http_timeout, 30 * USEC_PER_SEC);
    assert_int_equal(c->schedule_timeout, 60 * USEC_PER_SEC);
    assert_int_equal(c->max_schedule_timeout, 3600 * USEC_PER_SEC);
    assert_int_equal(c->backoff, 5 * USEC_PER_SEC);
    assert_int_equal(c->max_backoff, 300 * USEC_PER_SEC);
    assert_int_equal(c->reason_refresh, 30 * USEC_PER_SEC);
    assert_int_equal(c->starvation, 300 * USEC_PER_SEC);
    assert_false(c->strict_order);
    assert_int_equal(c->on_failed_commit, CONFIG_COMPLETE);
    assert_int_equal(c->below_minimum, CONFIG_LEAVE);
    assert_int_equal(c->steering, CONFIG_STEER_AUTO);
    assert_false(c->gates || c->gates_show);
    assert_int_equal(c->max_holds, 10000);
    assert_int_equal(c->max_body_mib, 128);
    assert_int_equal(c->connection_limit, 16384);
    assert_int_equal(c->max_metrics_queues, 200);
    assert_int_equal(c->scheduler_names.n, 0);
    config_free(c);
}

static void every_key_can_be_set(void **state)
{
    (void)state;
    struct config *c;
    cleanup_free char *mistakes =
        load("# all of them\n"
             "listen: 0.0.0.0:1\nopsListen: \"[::1]:2\"\nkubeconfig: /etc/k\nlogLevel: debug\n"
             "logFormat: json\nholdSeconds: 2500ms\nhttpTimeoutSeconds: 1m\n"
             "scheduleTimeoutSeconds: 90\nmaxScheduleTimeoutSeconds: 2h\n"
             "backoffSeconds: 0.5\nmaxBackoffSeconds: 1h\n"
             "reasonRefreshSeconds: '10s'\nrequestTimeoutSeconds: 3\nmaxHolds: 5\nmaxBodyMiB: 1\n"
             "connectionLimit: 128\nschedulerNames: [default-scheduler, volcano]\n"
             "starvationSeconds: 0\nstrictOrder: true\nonFailedCommit: evict\n"
             "belowMinimum: requeue\nsteering: never\n"
             "gates:\n  enabled: true\n  showToAutoscaler: true\n",
             &c);
    assert_string_equal(mistakes, "");
    assert_string_equal(c->listen, "0.0.0.0:1");
    assert_string_equal(c->ops_listen, "[::1]:2");
    assert_string_equal(c->kubeconfig, "/etc/k");
    assert_int_equal(c->log_level, LOG_DEBUG);
    assert_int_equal(c->log_format, LOG_JSON);
    assert_int_equal(c->hold, 2500 * USEC_PER_MSEC);
    assert_int_equal(c->http_timeout, 60 * USEC_PER_SEC);
    assert_int_equal(c->schedule_timeout, 90 * USEC_PER_SEC);
    assert_int_equal(c->max_schedule_timeout, 7200 * USEC_PER_SEC);
    assert_int_equal(c->backoff, 500 * USEC_PER_MSEC);
    assert_int_equal(c->max_backoff, 3600 * USEC_PER_SEC);
    assert_int_equal(c->reason_refresh, 10 * USEC_PER_SEC);
    assert_int_equal(c->request_timeout, 3 * USEC_PER_SEC);
    assert_int_equal(c->starvation, 0);
    assert_true(c->strict_order);
    assert_int_equal(c->on_failed_commit, CONFIG_EVICT);
    assert_int_equal(c->below_minimum, CONFIG_REQUEUE);
    assert_int_equal(c->steering, CONFIG_STEER_NEVER);
    assert_true(c->gates && c->gates_show);
    assert_int_equal(c->max_holds, 5);
    assert_int_equal(c->max_body_mib, 1);
    assert_int_equal(c->connection_limit, 128);
    assert_int_equal(c->scheduler_names.n, 2);
    assert_string_equal(c->scheduler_names.items[1], "volcano");
    config_free(c);
}

static void empty_files_are_the_defaults(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         "\n# nothing\n",  "---\n",
                                        "{}\n",     "holdSeconds:\n", "schedulerNames: ~\n",
                                        "gates:\n", "gates: {}\n"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct config *c;
        cleanup_free char *mistakes = load(texts[i], &c);
        assert_string_equal(mistakes, "");
        assert_int_equal(c->hold, 20 * USEC_PER_SEC);
        config_free(c);
    }
}

/* Each mistake is reported in a line of its own, with its place in the file. */
static const struct {
    const char *text, *mistakes;
} wrong[] = {
    {"\nholdSecond: 3\n", "FILE:2: holdSecond: unknown key; did you mean holdSeconds?\n"},
    {"HOLDSECONDS: 3\n", "FILE:1: HOLDSECONDS: unknown key; did you mean holdSeconds?\n"},
    {"apiVersion: v1\n",
     "FILE:1: apiVersion: unknown key; \"muster serve --help\" lists all keys\n"},
    {"holdSeconds: 1\nmaxHolds: 2\nholdSeconds: 1\n",
     "FILE:3: holdSeconds: is set twice (first on line 1): keep one\n"},
    {"logLevel: info\nexpressLane: true\n",
     "FILE:2: expressLane: muster must know kube-scheduler's configuration: set "
     "kubeSchedulerConfig to the path of kube-scheduler's configuration file\n"},
    {"holdSeconds: soon\n",
     "FILE:1: holdSeconds: \"soon\" is not a duration: write 90s, 1m30s or 500ms\n"},
    {"holdSeconds: 0\n",
     "FILE:1: holdSeconds: 0 is out of range: write a value from 0.1 to 3600 seconds\n"},
    {"holdSeconds: -1\n",
     "FILE:1: holdSeconds: \"-1\" is not a duration: write 90s, 1m30s or 500ms\n"},
    {"holdSeconds: [1]\n",
     "FILE:1: holdSeconds: the value has the wrong type: write a duration, such as 20 or 20s\n"},
    {"maxHolds: 1.5\n",
     "FILE:1: maxHolds: \"1.5\" is not a whole number: write a number from 1 to 500000\n"},
    {"maxHolds: 99999999999999999999\n", "FILE:1: maxHolds: \"99999999999999999999\" is not a "
                                         "whole number: write a number from 1 to 500000\n"},
    {"maxHolds: 0\n", "FILE:1: maxHolds: 0 is out of range: write a number from 1 to 500000\n"},
    {"maxHolds: {a: [b, {c: d}]}\nmaxBodyMiB: x\n",
     "FILE:1: maxHolds: the value has the wrong type: write a whole number\n"
     "FILE:2: maxBodyMiB: \"x\" is not a whole number: write a number from 1 to 2048\n"},
    {"strictOrder: yes\n",
     "FILE:1: strictOrder: \"yes\" is not a valid value: write true or false\n"},
    {"strictOrder: [true]\n",
     "FILE:1: strictOrder: the value has the wrong type: write true or false\n"},
    {"onFailedCommit: undo\n",
     "FILE:1: onFailedCommit: \"undo\" is not a valid value: write complete or evict\n"},
    {"starvationSeconds: 31d\n",
     "FILE:1: starvationSeconds: 31d is out of range: write a value from 0 to 2592000 seconds\n"},
    {"logLevel: loud\n",
     "FILE:1: logLevel: \"loud\" is not a valid value: write error, warning, info or debug\n"},
    {"kubeconfig: \"\"\n",
     "FILE:1: kubeconfig: the value is empty: write a value, or remove the key\n"},
    {"listen: localhost:1\n", "FILE:1: listen: \"localhost\" is not an IP address: write one, such "
                              "as 127.0.0.1 (this machine "
                              "only), 0.0.0.0 (all interfaces) or [::1]\n"},
    {"listen: 127.0.0.1\n",
     "FILE:1: listen: \"127.0.0.1\" is not an address: write ADDR:PORT, such as 127.0.0.1:9910 or "
     "[::1]:9910\n"},
    {"listen: 127.0.0.1:70000\n", "FILE:1: listen: \"127.0.0.1:70000\" is not an address: write "
                                  "ADDR:PORT, such as 127.0.0.1:9910 "
                                  "or [::1]:9910\n"},
    {"schedulerNames: volcano\n",
     "FILE:1: schedulerNames: the value has the wrong type: write a list of schedulerNames\n"},
    {"schedulerNames:\n- a\n- [b]\n- {}\n- c\n",
     "FILE:3: schedulerNames: an entry is not a string: write a schedulerName\n"},
    {"schedulerNames: [a, b, a]\n", "FILE:1: schedulerNames: \"a\" is listed twice: keep one\n"},
    {"schedulerNames: [a, '']\n",
     "FILE:1: schedulerNames: an entry is empty: write a schedulerName\n"},
    {"podGroupNamespaces: ml\n",
     "FILE:1: podGroupNamespaces: the value has the wrong type: write a "
     "list of namespaces\n"},
    {"podGroupNamespaces: [a, b]\npodGroupExcludedNamespaces: [c, b]\n",
     "FILE:1: podGroupNamespaces: b is also in podGroupExcludedNamespaces: remove it from one of "
     "the two\n"},
    {"podGroupNamespaces: [kube-system]\n", "FILE:1: podGroupNamespaces: kube-system is also in "
                                            "podGroupExcludedNamespaces: remove it from "
                                            "one of the two\n"},
    {"podGroupDialect: scheduling.run.ai\n", "FILE:1: podGroupDialect: \"scheduling.run.ai\" is "
                                             "not a valid value: write kai, volcano, x-k8s or "
                                             "sigs\n"},
    {"workloads: [TrainSet:spec.workers]\n",
     "FILE:1: workloads: \"TrainSet:spec.workers\" is not a kind of workload: write the API "
     "version, the kind, the path of the number of pods and, if there is one, the path of the "
     "minimum, such as "
     "example.com/v1/TrainSet:spec.workers:spec.minWorkers\n"},
    {"workloads:\n- example.com/v1/TrainSet:spec..workers\n",
     "FILE:1: workloads: \"example.com/v1/TrainSet:spec..workers\": \"spec..workers\" is not the "
     "path of a field: write a path such as spec.workers, spec.groups[*].replicas or "
     "spec.tasks.*.replicas\n"},
    {"gates: true\n", "FILE:1: gates: is a section: write its settings below it, indented\n"},
    {"gates:\n- enabled: true\n",
     "FILE:2: gates: is a section: write its settings below it, indented\n"},
    {"gates:\n  enabled: maybe\n  enable: true\nmaxHolds: x\n",
     "FILE:2: gates.enabled: \"maybe\" is not a valid value: write true or false\n"
     "FILE:3: gates.enable: unknown key; did you mean gates.enabled?\n"
     "FILE:4: maxHolds: \"x\" is not a whole number: write a number from 1 to 500000\n"},
    {"gates:\n  enabled: true\ngates:\n  enabled: false\n",
     "FILE:4: gates.enabled: is set twice (first on line 2): keep one\n"},
    {"gates:\n  enabled: {deep: true}\n",
     "FILE:2: gates.enabled: the value has the wrong type: write true or false\n"},
    {"gates.enabled: true\ngates: {enabled: true}\n",
     "FILE:2: gates.enabled: is set twice (first on line 1): keep one\n"},
    {"- a\n", "FILE:1: the file is not a mapping: write lines of the form \"key: value\"\n"},
    {"just text\n", "FILE:1: the file is not a mapping: write lines of the form \"key: value\"\n"},
    {"maxHolds: 3\n---\nmaxHolds: 4\n",
     "FILE:2: a second YAML document begins here: keep one document\n"},
    {"{a: b}: c\nmaxHolds: x\n", "FILE:1: the key is not a string: write \"key: value\"\nFILE:2: "
                                 "maxHolds: \"x\" is not a whole "
                                 "number: write a number from 1 to 500000\n"},
    {"maxHolds: &a 3\nmaxBodyMiB: *a\n",
     "FILE:2: maxBodyMiB: the value has the wrong type: write a whole number\n"},
    {"\n\nholdSeconds: 26\n",
     "FILE:3: holdSeconds: 26 is too long for httpTimeoutSeconds 30: lower it to at most 25, or "
     "raise httpTimeoutSeconds and kube-scheduler's httpTimeout\n"},
    {"maxHolds: 4\nhttpTimeoutSeconds: 10\n",
     "FILE:2: holdSeconds: 20 is too long for httpTimeoutSeconds 10: lower it to at most 5, or "
     "raise httpTimeoutSeconds and kube-scheduler's httpTimeout\n"},
    {"maxBackoffSeconds: 1\n",
     "FILE:1: backoffSeconds: 5 is longer than maxBackoffSeconds 1: lower backoffSeconds, or raise "
     "maxBackoffSeconds\n"},
    {"connectionLimit: 1000\n",
     "FILE:1: maxHolds: 10000 leaves too few connections for filter calls: "
     "lower it to at most connectionLimit - 64 = "
     "936, or raise connectionLimit\n"},
    {"opsListen: 127.0.0.1:9910\n",
     "FILE:1: opsListen: 127.0.0.1:9910 is also the address of listen: choose another port\n"},
    /* Several mistakes, in the order of the file; combinations are not checked. */
    {"logFormat: xml\nbogusKey: {deep: [1, 2]}\nholdSeconds: 100\nmaxHolds: no\n",
     "FILE:1: logFormat: \"xml\" is not a valid value: write text or json\n"
     "FILE:2: bogusKey: unknown key; \"muster serve --help\" lists all keys\n"
     "FILE:4: maxHolds: \"no\" is not a whole number: write a number from 1 to 500000\n"},
};

static void a_kind_of_workload_is_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *api_version, *kind, *replicas, *minimum;
    } good[] = {
        {"example.com/v1/TrainSet:spec.workers:spec.minWorkers", "example.com/v1", "TrainSet",
         "spec.workers", "spec.minWorkers"},
        {"v1/Thing:spec.groups[*].replicas", "v1", "Thing", "spec.groups[*].replicas", NULL},
        {"a.b-c.d/v1beta1/K2:spec.tasks.*.replicas", "a.b-c.d/v1beta1", "K2",
         "spec.tasks.*.replicas", NULL},
    };
    static const char *const bad[] = {
        "",
        "Kind",
        "v1/Kind",
        "v1/Kind:",
        ":spec.replicas",
        "/Kind:spec.replicas",
        "a/b/c/Kind:spec.replicas",
        "/v1/Kind:spec.replicas",
        "v1/:spec.replicas",
        "v1/Ki nd:spec.replicas",
        "v1/Kind:spec.replicas:",
        "v1/Kind:spec.replicas:spec.min:more",
        "v1/Kind:.replicas",
        "v1/Kind:spec.[*]",
        "v1/Kind:spec[0].replicas",
        "v1/Kind:spec.*x",
    };
    struct config_workload w;
    struct err err;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        if (config_workload(good[i].text, &w, &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(w.api_version, good[i].api_version);
        assert_string_equal(w.kind, good[i].kind);
        assert_string_equal(w.replicas, good[i].replicas);
        assert_true(str_eq(w.minimum, good[i].minimum));
        config_workload_done(&w);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (config_workload(bad[i], &w, &err) == 0)
            fail_msg("\"%s\" is accepted", bad[i]);
}

static void lists_have_defaults_that_can_be_emptied(void **state)
{
    (void)state;
    struct config *c = config_defaults();
    assert_true(c->create_pod_groups);
    assert_int_equal(c->pod_group_schedulers.n, 3);
    assert_string_equal(c->pod_group_schedulers.items[1], "volcano");
    assert_int_equal(c->pod_group_excluded_namespaces.n, 1);
    assert_string_equal(config_dialects[c->pod_group_dialect], "kai");
    config_free(c);
    cleanup_free char *mistakes =
        load("createPodGroups: false\npodGroupSchedulers: []\npodGroupExcludedNamespaces: []\n"
             "podGroupNamespaces: [kube-system, ml]\npodGroupDialect: x-k8s\n"
             "workloads: ['v1/Kind:spec.replicas']\n",
             &c);
    assert_string_equal(mistakes, "");
    assert_false(c->create_pod_groups);
    assert_int_equal(c->pod_group_schedulers.n, 0);
    assert_int_equal(c->pod_group_excluded_namespaces.n, 0);
    assert_int_equal(c->pod_group_namespaces.n, 2);
    assert_string_equal(config_dialects[c->pod_group_dialect], "x-k8s");
    assert_string_equal(c->workloads.items[0], "v1/Kind:spec.replicas");
    config_free(c);
}

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct config *c;
        cleanup_free char *mistakes = load(wrong[i].text, &c);
        assert_string_equal(mistakes, wrong[i].mistakes);
    }
}

static void a_mistake_is_one_line_whatever_it_quotes(void **state)
{
    (void)state;
    struct config *c;
    cleanup_free char *got = load("\"a\\nb\\e\": 1\n", &c);
    assert_string_equal(got, "FILE:1: a?b?: unknown key; \"muster serve --help\" lists all keys\n");
}

static void broken_yaml_has_its_line(void **state)
{
    (void)state;
    static const char *const texts[] = {"a: 1\nmaxHolds: [1, 2\n", "a: b\nx: : y\n",
                                        "listen: \"127\n", "a: b\n\tc: d\n", "*x: 1\nb: c\n"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct config *c;
        cleanup_free char *mistakes = load(texts[i], &c);
        assert_null(c);
        assert_non_null(strstr(mistakes, "FILE:"));
    }
    struct config *c;
    cleanup_free char *mistakes = load("maxHolds: 3\nlisten: @x\n", &c);
    assert_non_null(strstr(mistakes, "FILE:2: the file is not valid YAML: "));
}

static void truncation_anywhere_is_survived(void **state)
{
    (void)state;
    const char *all = "listen: \"127.0.0.1:1\"\nschedulerNames: [a, {b: c}, 'd']\nx: &y {z: *y}\n";
    for (size_t n = 0; n <= strlen(all); n++) {
        cleanup_free char *text = xstrndup(all, n);
        struct config *c;
        cleanup_free char *mistakes = load(text, &c);
        config_free(c);
    }
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    cleanup_buf struct buf mistakes = BUF_INIT;
    assert_null(config_load("/nowhere/muster.yaml", NULL, 0, &mistakes));
    assert_string_equal(buf_str(&mistakes),
                        "/nowhere/muster.yaml: cannot be opened: No such file or directory\n");
}

static void flags_win_over_the_file(void **state)
{
    (void)state;
    cleanup_file char *path = file_make("holdSeconds: 3\nschedulerNames: [x]\nmaxHolds: 7\n");
    const struct config_flag flags[] = {{key_of("holdSeconds"), "4"},
                                        {key_of("schedulerNames"), "a,b"},
                                        {key_of("holdSeconds"), "5s"}};
    cleanup_buf struct buf mistakes = BUF_INIT;
    struct config *c = config_load(path, flags, ARRAY_SIZE(flags), &mistakes);
    assert_string_equal(buf_str(&mistakes), "");
    assert_int_equal(c->hold, 5 * USEC_PER_SEC);
    assert_int_equal(c->max_holds, 7);
    assert_int_equal(c->scheduler_names.n, 2);
    assert_string_equal(c->scheduler_names.items[0], "a");
    config_free(c);
}

static void mistakes_in_flags_name_the_flag(void **state)
{
    (void)state;
    const struct config_flag flags[] = {{key_of("holdSeconds"), "x"}, {key_of("maxHolds"), "-1"}};
    cleanup_buf struct buf mistakes = BUF_INIT;
    assert_null(config_load(NULL, flags, ARRAY_SIZE(flags), &mistakes));
    assert_string_equal(
        buf_str(&mistakes),
        "--hold-seconds: holdSeconds: \"x\" is not a duration: write 90s, 1m30s or 500ms\n"
        "--max-holds: maxHolds: -1 is out of range: write a number from 1 to 500000\n");
}

static void printed_as_json_it_reads_back(void **state)
{
    (void)state;
    struct config *c;
    cleanup_free char *mistakes =
        load("holdSeconds: 1500ms\nkubeconfig: \"a\\\"b\\n\"\nschedulerNames: [a, b]\n", &c);
    assert_string_equal(mistakes, "");
    cleanup_buf struct buf out = BUF_INIT;
    config_json(c, &out);
    json_t *j = json_loads(buf_str(&out), 0, NULL);
    assert_non_null(j);
    size_t n, n_keys = 0, n_sections = 0;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        n_keys += !strchr(keys[i].name, '.');
    const char *name;
    json_t *value;
    json_object_foreach(j, name, value) n_sections += json_is_object(value);
    assert_int_equal(json_object_size(j), n_keys + n_sections);
    assert_true(json_is_false(json_object_get(json_object_get(j, "gates"), "enabled")));
    assert_true(json_number_value(json_object_get(j, "holdSeconds")) == 1.5);
    assert_string_equal(json_string_value(json_object_get(j, "kubeconfig")), "a\"b\n");
    assert_string_equal(json_string_value(json_object_get(j, "logLevel")), "info");
    assert_int_equal(json_array_size(json_object_get(j, "schedulerNames")), 2);
    json_decref(j);
    config_free(c);
}

static void the_drawback_of_a_setting_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text, *remark;
    } cases[] = {
        {"", NULL},
        {"strictOrder: false\nstarvationSeconds: 1\n", NULL},
        {"strictOrder: true\n", "strictOrder: a gang that does not fit"},
        {"strictOrder: true\nstarvationSeconds: 0\n", "strictOrder: a gang that does not fit"},
        {"starvationSeconds: 0\n", "starvationSeconds: 0: a large gang may wait"},
        {"onFailedCommit: evict\n", "onFailedCommit: evict: muster evicts members"},
        {"belowMinimum: requeue\n", "belowMinimum: requeue: replacements"},
        {"gates: {showToAutoscaler: true}\n", "gates.showToAutoscaler: has no effect"},
        {"gates: {showToAutoscaler: true, enabled: true}\n", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct config *c;
        cleanup_free char *mistakes = load(cases[i].text, &c);
        cleanup_buf struct buf out = BUF_INIT;
        config_remarks(c, &out);
        if (cases[i].remark)
            assert_ptr_equal(strstr(buf_str(&out), cases[i].remark), buf_str(&out));
        const char *end = strchr(buf_str(&out), '\n');
        assert_true(cases[i].remark ? end && end[1] == '\0' : out.len == 0); /* one line */
        config_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(every_key_can_be_set),
        cmocka_unit_test(the_drawback_of_a_setting_is_reported),
        cmocka_unit_test(empty_files_are_the_defaults),
        cmocka_unit_test(a_kind_of_workload_is_parsed),
        cmocka_unit_test(lists_have_defaults_that_can_be_emptied),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(a_mistake_is_one_line_whatever_it_quotes),
        cmocka_unit_test(broken_yaml_has_its_line),
        cmocka_unit_test(truncation_anywhere_is_survived),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(flags_win_over_the_file),
        cmocka_unit_test(mistakes_in_flags_name_the_flag),
        cmocka_unit_test(printed_as_json_it_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
