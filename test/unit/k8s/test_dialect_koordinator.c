/* SPDX-License-Identifier: Apache-2.0 */
/* Koordinator's annotations on PodGroups and pods, and the older labels. */
#include "podgroup_text.h"

#include "base/buf.h"

#define G "gang.scheduling.koordinator.sh/"
#define L "pod-group.scheduling.sigs.k8s.io/"

static void S13_koordinators_annotations_of_a_podgroup_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *annotations, *spec, *want;
    } cases[] = {
        {"{" G "total-number: '5', " G "mode: NonStrict, " G "match-policy: waiting-and-running, " G
         "waiting-time: 10m, " G "groups: '[\"ml/g\",\"ml/b\",\"other/c\",\"ml/b\"]'}",
         "{minMember: 3}", "min 3 with ml/b other/c match running timeout 600000ms"},
        {"{" G "waiting-time: 10m}", "{minMember: 3, scheduleTimeoutSeconds: 20}",
         "min 3 timeout 20000ms"},
        {"{" G "waiting-time: 1h30m0.5s}", "{minMember: 3}", "min 3 timeout 5400500ms"},
        {"{" G "waiting-time: '0'}", "{minMember: 3}", "min 3"},
        {"{" L "match-policy: only-waiting}", "{minMember: 3}", "min 3 match waiting"},
        {"{" L "match-policy: only-waiting, " G "match-policy: once-satisfied}", "{minMember: 3}",
         "min 3 match once"},
        {"{" G "groups: '[\"ml/g\"]', " G "mode: Strict}", "{minMember: 3}", "min 3"},
        {"{" G "groups: '[]', " G "total-number: '3'}", "{minMember: 3}", "min 3"},
        {"null", "{minMember: 3}", "min 3"},
        /* Invalid values. */
        {"{" G "total-number: '2'}", "{minMember: 3}",
         "annotation " G "total-number is 2, spec.minMember is 3; raise the total or lower the "
         "minimum"},
        {"{" G "total-number: many}", "{minMember: 3}",
         "annotation " G "total-number is \"many\", must be a whole number from 0 to 2147483647"},
        {"{" G "mode: Loose}", "{minMember: 3}",
         "annotation " G "mode is \"Loose\", must be Strict or NonStrict"},
        {"{" G "match-policy: always}", "{minMember: 3}",
         "annotation " G
         "match-policy is \"always\", must be once-satisfied, waiting-and-running or "
         "only-waiting"},
        {"{" L "match-policy: ''}", "{minMember: 3}", "min 3"},
        {"{" G "waiting-time: soon}", "{minMember: 3}",
         "annotation " G "waiting-time is \"soon\", must be a duration with a unit, such as "
         "600s or 10m"},
        {"{" G "waiting-time: '600'}", "{minMember: 3}",
         "annotation " G "waiting-time is \"600\", must be a duration with a unit, such as "
         "600s or 10m"},
        {"{" G "waiting-time: '-5s'}", "{minMember: 3}",
         "annotation " G "waiting-time is \"-5s\", must be a duration with a unit, such as "
         "600s or 10m"},
        {"{" G "groups: 'ml/a,ml/b'}", "{minMember: 3}",
         "annotation " G
         "groups is \"ml/a,ml/b\", must be a JSON list such as [\"ml/a\",\"ml/b\"]"},
        {"{" G "groups: '{\"a\":1}'}", "{minMember: 3}",
         "annotation " G
         "groups is \"{\"a\":1}\", must be a JSON list such as [\"ml/a\",\"ml/b\"]"},
        {"{" G "groups: '[\"b\"]'}", "{minMember: 3}",
         "annotation " G "groups has the entry \"b\", must be namespace/name"},
        {"{" G "groups: '[\"a/b/c\"]'}", "{minMember: 3}",
         "annotation " G "groups has the entry \"a/b/c\", must be namespace/name"},
        {"{" G "groups: '[7]'}", "{minMember: 3}",
         "annotation " G "groups has the entry \"(no text)\", must be namespace/name"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_group_facts *f = read_group(SIGS, cases[i].annotations, cases[i].spec);
        assert_words(f, cases[i].annotations, cases[i].want);
        gang_group_facts_free(f);
    }
}

static void bundles_are_bounded(void **state)
{
    (void)state;
    static const int sizes[] = {64, 65, 100000};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        cleanup_buf struct buf text = BUF_INIT;
        buf_puts(&text, "{" G "groups: '[");
        for (int n = 0; n < sizes[i]; n++)
            buf_printf(&text, "%s\"ml/gang-%d\"", n ? "," : "", n);
        buf_puts(&text, "]'}");
        struct gang_group_facts *f = read_group(SIGS, buf_str(&text), "{minMember: 3}");
        if (sizes[i] <= 64) {
            assert_null(f->invalid);
            assert_int_equal(f->n_bundle, 64);
        } else {
            assert_words(f, "groups", "annotation " G "groups names more than 64 gangs");
        }
        gang_group_facts_free(f);
    }
}

static void S13_pods_declare_their_gang(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *api_group, *want;
    } cases[] = {
        {"annotations: {" G "name: g, " G "min-available: '3'}", KOORD, "min 3 timeout 600000ms"},
        {"annotations: {" G "name: g, " G "min-available: '3', " G "total-number: '4', " G
         "waiting-time: 30s, " G "mode: Strict, " G "match-policy: only-waiting, " G
         "groups: '[\"ml/g\",\"ml/b\"]'}",
         KOORD, "min 3 with ml/b match waiting timeout 30000ms"},
        {"labels: {" L "name: g, " L "min-available: '3'}", LIGHT, "min 3"},
        {"labels: {" L "name: g}, annotations: {" G "min-available: '5'}", LIGHT, "min 5"},
        /* The label comes first. */
        {"labels: {" L "min-available: '3'}, annotations: {" G "name: g, " G "min-available: '5'}",
         KOORD, "min 3 timeout 600000ms"},
        {"annotations: {" G "name: g}", KOORD,
         "min-available is missing: set annotation " G "min-available to the number of pods that "
         "must be placed together"},
        {"annotations: {" G "name: g, " G "min-available: three}", KOORD,
         "annotation " G "min-available is \"three\", must be a whole number from 0 to 2147483647"},
        {"annotations: {" G "name: g, " G "min-available: '-1'}", KOORD,
         "annotation " G "min-available is \"-1\", must be a whole number from 0 to 2147483647"},
        {"annotations: {" G "name: g, " G "min-available: '2147483648'}", KOORD,
         "annotation " G "min-available is \"2147483648\", must be a whole number from 0 to "
         "2147483647"},
        {"annotations: {" G "name: g, " G "min-available: '99999999999999999999'}", KOORD,
         "annotation " G "min-available is \"99999999999999999999\", must be a whole number from 0 "
         "to 2147483647"},
        {"labels: {" L "name: g, " L "min-available: 3x}", LIGHT,
         "label " L "min-available is \"3x\", must be a whole number from 0 to 2147483647"},
        {"annotations: {" G "name: g, " G "min-available: '3', " G "total-number: '2'}", KOORD,
         "annotation " G "total-number is 2, annotation " G
         "min-available is 3; raise the total or "
         "lower the minimum"},
        {"annotations: {" G "name: g, " G "min-available: '3', " G "waiting-time: ten}", KOORD,
         "annotation " G "waiting-time is \"ten\", must be a duration with a unit, such as "
         "600s or 10m"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = read_pod(cases[i].metadata);
        assert_non_null(f->declared);
        assert_null(f->bad_link);
        assert_string_equal(f->group.api_group, cases[i].api_group);
        assert_string_equal(f->declared->ref.api_group, cases[i].api_group);
        assert_string_equal(f->declared->ref.ns, "ml");
        assert_string_equal(f->declared->ref.name, "g");
        assert_string_equal(f->declared->uid, "");
        assert_string_equal(f->declared->min_field, "min-available");
        assert_int_equal(f->declared->created, WALL);
        assert_words(f->declared, cases[i].metadata, cases[i].want);
        gang_pod_facts_free(f);
    }
}

static void only_koordinators_pods_declare_gangs(void **state)
{
    (void)state;
    struct gang_pod_facts *f = read_pod("labels: {pod-group.scheduling.sigs.k8s.io: g}, "
                                        "annotations: {" G "min-available: '3'}");
    assert_string_equal(f->group.api_group, SIGS);
    assert_null(f->declared);
    gang_pod_facts_free(f);
    assert_null(dialect_of_objects(KOORD));
    assert_null(dialect_of_objects(LIGHT));
    assert_non_null(dialect_of_objects(SIGS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(S13_koordinators_annotations_of_a_podgroup_are_decoded),
        cmocka_unit_test(bundles_are_bounded),
        cmocka_unit_test(S13_pods_declare_their_gang),
        cmocka_unit_test(only_koordinators_pods_declare_gangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
