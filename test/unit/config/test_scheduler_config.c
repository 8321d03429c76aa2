/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/scheduler_config.h"
#include "test/unit/config/temp_file.h"

#define HEAD                                                                                       \
    "apiVersion: kubescheduler.config.k8s.io/v1\n"                                                 \
    "kind: KubeSchedulerConfiguration\n"                                                           \
    "extenders:\n"                                                                                 \
    "- urlPrefix: http://127.0.0.1:9910/scheduler\n"
#define VERBS  "  filterVerb: filter\n  prioritizeVerb: prioritize\n  preemptVerb: preempt\n"
#define BIND   "  bindVerb: bind\n"
#define WEIGHT "  weight: 10\n"
#define CACHE  "  nodeCacheCapable: true\n"
#define TIME   "  httpTimeout: 30s\n"
#define ALL    HEAD VERBS BIND WEIGHT CACHE TIME

/* The place and severity, and a part of the finding. where NULL: no finding. */
static const struct {
    const char *text, *where, *part;
} cases[] = {
    {ALL, NULL, NULL},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: 1m0s\n", NULL, NULL},
    {ALL "  ignorable: true\n", ":12: error", "ignorable: false"},
    {ALL "  ignorable: false\n", NULL, NULL},
    {HEAD VERBS BIND WEIGHT CACHE, ":4: error", "httpTimeout is 5s by default"},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: 24s\n", ":11: error",
     "httpTimeout is 24s, but muster holds bind calls for up to 20s (holdSeconds): write at least "
     "\"httpTimeout: 25s\""},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: soon\n", ":11: error", "is not a duration"},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: 30\n", ":11: error",
     "write \"httpTimeout: 30s\""},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: \"1d\"\n", ":11: error",
     "write \"httpTimeout: 86400s\""},
    {HEAD VERBS BIND WEIGHT CACHE "  httpTimeout: 0.5h\n", NULL, NULL},
    {ALL "  ignoreable: true\n", ":12: error", "did you mean ignorable?"},
    {ALL "  Ignorable: true\n", ":12: error",
     "does not know the key \"Ignorable\" here: did you mean"},
    {ALL "  color: red\n", ":12: error", "does not know the key \"color\" here: remove it"},
    {ALL "  enableHTTPS: true\n  tlsConfig: {caFile: /ca.crt, cafile: x}\n", ":13: error",
     "did you mean caFile?"},
    {ALL "- urlPrefix: http://x:1/y\n  filterVerb: f\n  managedResources: [{nam: x}]\n",
     ":14: error", "did you mean name?"},
    {ALL "profile: []\n", ":12: warning", "did you mean profiles?"},
    {ALL "profiles:\n- schedulerName: a\n- schedulerName: b\n", NULL, NULL},
    {ALL "profiles:\n- percentageOfNodesToScore: 50\n", NULL, NULL},
    {ALL "profiles:\n- schedulerName: a\n- schedulerName: b\n- schedulerName: a\n", ":15: error",
     "two profiles have schedulerName a (the first is on line 13)"},
    {ALL "profiles:\n- schedulerName: a\n- plugins: {}\n", ":14: error",
     "a profile has no schedulerName"},
    {ALL "profiles:\n- schedulername: a\n", ":13: error", "did you mean schedulerName?"},
    {HEAD VERBS BIND WEIGHT TIME, ":4: warning", "nodeCacheCapable: true"},
    {HEAD VERBS BIND WEIGHT TIME "  nodeCacheCapable: false\n", ":11: warning",
     "nodeCacheCapable: true"},
    {HEAD VERBS BIND CACHE TIME, ":4: error", "weight: 10"},
    {HEAD VERBS BIND "  weight: 0\n" CACHE TIME, ":9: error", "weight: 10"},
    {HEAD VERBS WEIGHT CACHE TIME, ":4: error", "bindVerb is missing"},
    {HEAD "  preemptVerb: preempt\n" BIND
          "  filterVerb: x\n  prioritizeVerb: prioritize\n" WEIGHT CACHE TIME,
     ":7: error", "muster has no verb \"x\""},
    {HEAD "  filterVerb: filter\n  prioritizeVerb: prioritize\n" BIND WEIGHT CACHE TIME,
     ":4: warning", "preemptVerb is missing"},
    {ALL "  managedResources:\n  - name: nvidia.com/gpu\n", ":13: warning", "managedResources"},
    {ALL "  managedResources: []\n", NULL, NULL},
    {ALL "  enableHTTPS: true\n", ":12: error", "tlsConfig.caFile"},
    {ALL "  enableHTTPS: true\n  tlsConfig: {caFile: /ca.crt}\n", NULL, NULL},
    {ALL "- urlPrefix: http://x:1/y\n  bindVerb: bind\n", ":13: error", "a second extender"},
    {ALL "- urlPrefix: http://x:1/y\n  filterVerb: f\n", NULL, NULL},
    {ALL "  weight: 3\n", ":12: error", "weight is set twice (first on line 9)"},
    {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", ":1: error",
     "no extender has urlPrefix http://127.0.0.1:9910/scheduler"},
    {"apiVersion: v1\nkind: Pod\n", ":2: error", "kind is Pod"},
    {"- a\n", ":1: error", "is not a KubeSchedulerConfiguration"},
    {"", ":1: error", "is not a KubeSchedulerConfiguration"},
    {"a: [\n", ":2: error", "is not valid YAML"},
    {"a: 1\nb: *a\n", ":2: error", "is not valid YAML: the alias *a has no anchor before it"},
};

static void every_mistake_is_found_at_its_line(void **state)
{
    (void)state;
    struct config *c = config_defaults();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_file char *path = file_make(cases[i].text);
        struct scheduler_config_report r;
        scheduler_config_check(path, c, &r);
        if (!cases[i].where) {
            assert_string_equal(buf_str(&r.text), "");
            assert_int_equal(r.errors + r.warnings, 0);
        } else {
            cleanup_free char *where = xasprintf("%s%s: ", path, cases[i].where);
            if (!strstr(buf_str(&r.text), where) || !strstr(buf_str(&r.text), cases[i].part))
                fail_msg("case %zu: %s", i, buf_str(&r.text));
            assert_true(strstr(cases[i].where, "error") ? r.errors > 0 : r.warnings > 0);
        }
        buf_done(&r.text);
    }
    config_free(c);
}

static void another_host_with_our_port_and_path_is_ours(void **state)
{
    (void)state;
    struct config *c = config_defaults();
    cleanup_file char *path = file_make(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: https://muster.muster-system.svc:9910/scheduler/\n" VERBS BIND
            WEIGHT CACHE TIME);
    struct scheduler_config_report r;
    scheduler_config_check(path, c, &r);
    assert_string_equal(buf_str(&r.text), "");
    buf_done(&r.text);
    config_free(c);
}

static void the_printed_file_passes_the_check(void **state)
{
    (void)state;
    static const char *const listens[] = {"127.0.0.1:9910", "0.0.0.0:80", "[::1]:9", "[::]:9910"};
    static const char *const profiles[] = {"default-scheduler", "kai-scheduler", "123"};
    for (size_t i = 0; i < ARRAY_SIZE(listens); i++) {
        struct config *c = config_defaults();
        struct err err;
        cleanup_buf struct buf out = BUF_INIT;
        free(c->listen);
        c->listen = xstrdup(listens[i]);
        assert_int_equal(scheduler_config_print(c, profiles, ARRAY_SIZE(profiles), &out, &err), 0);
        cleanup_file char *path = file_make(buf_str(&out));
        struct scheduler_config_report r;
        scheduler_config_check(path, c, &r);
        assert_string_equal(buf_str(&r.text), "");
        buf_done(&r.text);
        config_free(c);
    }
}

static void invalid_scheduler_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "A", "a b", "a\nextenders: []", "-a", "a."};
    struct config *c = config_defaults();
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err;
        cleanup_buf struct buf out = BUF_INIT;
        assert_int_equal(scheduler_config_print(c, &bad[i], 1, &out, &err), -1);
    }
    cleanup_buf struct buf out = BUF_INIT;
    struct err err;
    assert_int_equal(scheduler_config_print(c, NULL, 0, &out, &err), 0);
    assert_non_null(strstr(buf_str(&out), "- schedulerName: \"default-scheduler\"\n"
                                          "- schedulerName: \"kai-scheduler\"\n"
                                          "- schedulerName: \"volcano\"\n"
                                          "- schedulerName: \"muster\"\n"));
    config_free(c);
}

/* where NULL: the express lane may be used. */
static const struct {
    const char *text, *where, *part;
} express_cases[] = {
    {ALL, NULL, NULL},
    {ALL "profiles:\n- schedulerName: a\n  plugins:\n    score: {disabled: [{name: x}]}\n", NULL,
     NULL},
    {ALL "profiles:\n- schedulerName: a\n  plugins:\n    filter: {enabled: [{name: x}]}\n",
     ":15: error", "expressLane: plugins.filter"},
    {ALL "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    multiPoint: {}\n",
     ":16: error", "expressLane: plugins.multiPoint"},
    {ALL "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: {addedAffinity: {}}\n",
     ":15: error", "expressLane: addedAffinity of NodeAffinity"},
    {ALL
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {ignoredResources: []}\n",
     ":15: error", "expressLane: ignoredResources"},
    {ALL
     "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {}}\n",
     NULL, NULL},
    {ALL "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n"
         "    args: {defaultConstraints: []}\n",
     ":15: error", "expressLane: defaultConstraints"},
    {ALL "profiles:\n- pluginConfig:\n  - name: Mine\n", ":14: error", "the arguments of Mine"},
    {ALL "- urlPrefix: http://x:1/y\n  filterVerb: f\n", ":12: error", "another extender filters"},
    {ALL "- urlPrefix: http://x:1/y\n  prioritizeVerb: f\n  weight: 1\n", NULL, NULL},
    {ALL "  managedResources:\n  - name: nvidia.com/gpu\n", ":4: error",
     "not every pod binds through muster"},
};

static void P03_mistakes_that_prevent_the_express_lane_are_found_at_their_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(express_cases); i++) {
        cleanup_file char *path = file_make(express_cases[i].text);
        for (int express = 0; express < 2; express++) {
            struct config *c = config_defaults();
            struct scheduler_config_report r;
            c->express_lane = express;
            scheduler_config_check(path, c, &r);
            if ((r.errors > 0) != (express && express_cases[i].where))
                fail_msg("case %zu: %s", i, buf_str(&r.text));
            cleanup_free char *where =
                xasprintf("%s%s: ", path, express_cases[i].where ? express_cases[i].where : "");
            if (r.errors > 0 && (!strstr(buf_str(&r.text), where) ||
                                 !strstr(buf_str(&r.text), express_cases[i].part)))
                fail_msg("case %zu: %s", i, buf_str(&r.text));
            buf_done(&r.text);
            config_free(c);
        }
    }
}

static void a_percentage_of_100_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool whole;
    } files[] = {
        {ALL, false},
        {ALL "percentageOfNodesToScore: 100\n", true},
        {ALL "percentageOfNodesToScore: 99\n", false},
        {ALL "percentageOfNodesToScore: 100\nprofiles:\n- schedulerName: a\n", true},
        {ALL "percentageOfNodesToScore: 100\nprofiles:\n- percentageOfNodesToScore: 5\n", false},
        {ALL "profiles:\n- percentageOfNodesToScore: 100\n", true},
        {ALL "profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 100\n- schedulerName: b\n",
         false},
    };
    struct config *c = config_defaults();
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        cleanup_file char *path = file_make(files[i].text);
        struct scheduler_config_report r;
        scheduler_config_check(path, c, &r);
        if (r.whole_lists != files[i].whole)
            fail_msg("case %zu", i);
        buf_done(&r.text);
    }
    config_free(c);
}

#define PLUGINS(text) ALL "profiles:\n- plugins:\n" text

static void T13_disabled_plugins_are_read(void **state)
{
    (void)state;
    enum { UNSCHEDULABLE = 1, AFFINITY = 2, TAINTS = 4, EVERY = 7 };
    static const struct {
        const char *text;
        unsigned off;
    } files[] = {
        {ALL, 0},
        {PLUGINS("    filter: {disabled: [{name: TaintToleration}]}\n"), TAINTS},
        {PLUGINS("    score: {disabled: [{name: TaintToleration}]}\n"), 0},
        {PLUGINS("    multiPoint: {disabled: [{name: NodeAffinity}]}\n"), AFFINITY},
        {PLUGINS("    multiPoint: {disabled: [{name: \"*\"}]}\n"), EVERY},
        {PLUGINS("    multiPoint: {disabled: [{name: \"*\"}], enabled: [{name: NodeAffinity}]}\n"),
         UNSCHEDULABLE | TAINTS},
        {PLUGINS("    filter: {enabled: [{name: TaintToleration}]}\n"
                 "    multiPoint: {disabled: [{name: \"*\"}]}\n"),
         UNSCHEDULABLE | AFFINITY},
        {PLUGINS("    filter: {disabled: [{name: \"*\"}], enabled: [{name: TaintToleration}]}\n"),
         UNSCHEDULABLE | AFFINITY},
        {ALL "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n"
             "    filter: {disabled: [{name: NodeUnschedulable}]}\n",
         UNSCHEDULABLE},
    };
    struct config *c = config_defaults();
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        cleanup_file char *path = file_make(files[i].text);
        struct scheduler_config_report r;
        scheduler_config_check(path, c, &r);
        if (r.rules_off != files[i].off)
            fail_msg("case %zu: %u", i, r.rules_off);
        buf_done(&r.text);
    }
    config_free(c);
}

static void a_file_too_large_is_refused(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT;
    for (int i = 0; i < 1 << 20; i++)
        buf_putc(&text, '#');
    buf_putc(&text, '\n');
    cleanup_file char *path = file_make(buf_str(&text));
    struct config *c = config_defaults();
    struct scheduler_config_report r;
    scheduler_config_check(path, c, &r);
    cleanup_free char *want = xasprintf("%s: error: is larger than 1 MiB\n", path);
    assert_string_equal(buf_str(&r.text), want);
    buf_done(&r.text);
    config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_found_at_its_line),
        cmocka_unit_test(another_host_with_our_port_and_path_is_ours),
        cmocka_unit_test(the_printed_file_passes_the_check),
        cmocka_unit_test(invalid_scheduler_names_are_refused),
        cmocka_unit_test(P03_mistakes_that_prevent_the_express_lane_are_found_at_their_lines),
        cmocka_unit_test(a_percentage_of_100_is_read),
        cmocka_unit_test(a_file_too_large_is_refused),
        cmocka_unit_test(T13_disabled_plugins_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
