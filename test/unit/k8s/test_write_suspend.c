/* SPDX-License-Identifier: Apache-2.0 */
/* Which workloads muster suspends, and how it suspends and resumes them. */
#include "writer_fixture.h"

#include "base/log.h"
#include "test/lib/yaml_object.h"

#define JOB   "/apis/batch/v1/namespaces/ns/jobs/train"
#define READ  "GET " JOB
#define PATCH "PATCH " JOB

/* The PodGroup g, with these owner references. */
static void know_group(struct fixture *x, const char *name, const char *owners)
{
    const struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters(name)};
    cleanup_free char *yaml =
        xasprintf("{metadata: {namespace: ns, name: %s, uid: gu, resourceVersion: '1', "
                  "ownerReferences: [%s]}}",
                  name, owners);
    cleanup_json json_t *group = yaml_object(yaml);
    podgroups_set(x->groups, &ref, group);
}

#define OWNER "{apiVersion: batch/v1, kind: Job, name: train, uid: u}"

static void effect(struct fixture *x, enum gang_effect_kind kind)
{
    static const struct gang_ref ref = {(char *)(uintptr_t) "scheduling.volcano.sh",
                                        (char *)(uintptr_t) "ns", (char *)(uintptr_t) "g"};
    struct gang_effect e = {.kind = kind};
    e.workload.ref = &ref;
    e.workload.uid = "gu";
    e.workload.text = kind == GANG_SUSPEND ? "to make room for gang ns/urgent" : NULL;
    apply(x, &e);
    run_until(x, !writer_busy(x->writer));
}

#define META_OF(more)                                                                              \
    "metadata: {namespace: ns, name: train, uid: u, resourceVersion: '7', annotations: "           \
    "{muster.dev/preemption: suspend}" more "}"
#define SPEC_OF(more)                                                                              \
    "spec: {parallelism: 2, " more "template: {metadata: {annotations: "                           \
    "{scheduling.k8s.io/group-name: g}}, spec: {containers: [{name: c}]}}}"
#define JOB_OF(meta, spec) "{apiVersion: batch/v1, kind: Job, " META_OF(meta) ", " SPEC_OF(spec) "}"
#define LABELLED           ", labels: {muster.dev/suspended: 'true'}"

static void answer(struct fixture *x, const char *route, const char *yaml)
{
    cleanup_json json_t *object = yaml_object(yaml);
    cleanup_free char *body = json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY);
    fake_answer(x->api, route, 200, body);
}

static void a_workload_is_suspended(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF("", "suspend: false, "));
    answer(x, PATCH, JOB_OF(LABELLED, "suspend: true, "));
    effect(x, GANG_SUSPEND);
    assert_string_equal(buf_str(&x->heard), "");
    cleanup_json json_t *body = body_of(x, PATCH, 0);
    const char *reason =
        field_peek(body, "metadata", "annotations", "muster.dev/suspended-reason", NULL);
    assert_non_null(strstr(reason, "Z: to make room for gang ns/urgent"));
    assert_string_equal(field_peek(body, "metadata", "labels", "muster.dev/suspended", NULL),
                        "true");
    assert_string_equal(field_peek(body, "metadata", "uid", NULL), "u");
    assert_string_equal(field_peek(body, "metadata", "resourceVersion", NULL), "7");
    assert_true(json_is_true(json_object_get(json_object_get(body, "spec"), "suspend")));
    assert_non_null(strstr(fake_query(x->api, PATCH, 0), "fieldManager=muster"));
}

static void a_field_inside_an_object_is_patched_alone(void **state)
{
    struct fixture *x = *state;
    static const char read[] = "GET /apis/kubeflow.org/v2beta1/namespaces/ns/mpijobs/train";
    static const char patch[] = "PATCH /apis/kubeflow.org/v2beta1/namespaces/ns/mpijobs/train";
    know_group(x, "g", "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: train, uid: u}");
    answer(x, read,
           "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, " META_OF(
               LABELLED) ", spec: {runPolicy: {suspend: true}}}");
    answer(x, patch, "{}");
    effect(x, GANG_RESUME);
    cleanup_json json_t *body = body_of(x, patch, 0);
    json_object_del(body, "metadata");
    cleanup_free char *text = json_dumps(body, JSON_COMPACT);
    assert_string_equal(text, "{\"spec\":{\"runPolicy\":{\"suspend\":false}}}");
}

static void a_workload_is_resumed(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF(LABELLED, "suspend: true, "));
    answer(x, PATCH, JOB_OF("", "suspend: false, "));
    effect(x, GANG_RESUME);
    cleanup_json json_t *body = body_of(x, PATCH, 0);
    cleanup_free char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text,
                        "{\"metadata\":{\"annotations\":{\"muster.dev/suspended-reason\":null},"
                        "\"labels\":{\"muster.dev/suspended\":null},\"resourceVersion\":\"7\","
                        "\"uid\":\"u\"},\"spec\":{\"suspend\":false}}");
}

static void a_workload_that_a_user_suspended_is_not_resumed(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF("", "suspend: true, "));
    fake_answer(x->api, READ, 404, "{}");
    FILE *file;
    int saved = capture_log(&file);
    effect(x, GANG_RESUME);
    effect(x, GANG_RESUME);
    free(end_capture(file, saved));
    assert_int_equal(fake_count(x->api, PATCH), 0);
    assert_string_equal(buf_str(&x->heard), "");
}

static void a_workload_of_kueue_is_not_resumed(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ,
           JOB_OF(", labels: {muster.dev/suspended: 'true', kueue.x-k8s.io/queue-name: q}",
                  "suspend: true, "));
    effect(x, GANG_RESUME);
    assert_int_equal(fake_count(x->api, PATCH), 0);
}

/* muster has suspended it before, and nothing has changed. */
static void a_suspended_workload_is_not_patched_again(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF(LABELLED, "suspend: true, "));
    effect(x, GANG_SUSPEND);
    assert_int_equal(fake_count(x->api, PATCH), 0);
    assert_string_equal(buf_str(&x->heard), "");
}

static void what_muster_must_not_suspend_is_evicted(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *job, *why;
    } cases[] = {
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: train, uid: u}}",
         "it does not have the annotation muster.dev/preemption: suspend"},
        {JOB_OF("", "suspend: true, "), "it is suspended already"},
        {JOB_OF(", deletionTimestamp: '2026-01-01T00:00:00Z'", ""), "it is being deleted"},
        {JOB_OF(", labels: {kueue.x-k8s.io/queue-name: q}", ""), "Kueue manages it"},
        {JOB_OF("", "managedBy: kueue.x-k8s.io/multikueue, "), "Kueue manages it"},
        {JOB_OF(", managedFields: [{manager: kueue, operation: Update}]", ""), "Kueue manages it"},
        {"{" META_OF("") ", spec: {template: {metadata: {labels: {kueue.x-k8s.io/podset: main}}}}}",
         "Kueue manages it"},
        {JOB_OF(", ownerReferences: [{kind: JobSet, name: s, uid: su, controller: true}]", ""),
         "its controller, of kind \\\"JobSet\\\", manages it"},
        {"{" META_OF("") ", spec: {parallelism: 0, template: {spec: {containers: []}}}}",
         "it creates no pods"},
        {"{" META_OF("") ", spec: {parallelism: 5000, template: {spec: {containers: []}}}}",
         "it creates more than"},
        {"{metadata: {namespace: ns, name: train, uid: other}}",
         "it was deleted and created again"},
        {"7", "it has too many fields"},
    };
    FILE *file;
    know_group(x, "g", OWNER);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        answer(x, READ, cases[i].job);
    int saved = capture_log(&file);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        buf_clear(&x->heard);
        effect(x, GANG_SUSPEND);
        assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
    }
    cleanup_free char *log = end_capture(file, saved);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (!strstr(log, cases[i].why))
            fail_msg("not logged: %s in %s", cases[i].why, log);
    assert_int_equal(fake_count(x->api, PATCH), 0);
}

/* The user learns it from an event on the workload. */
static void a_missing_right_is_logged_once_and_told(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF(LABELLED, "suspend: true, "));
    answer(x, READ, JOB_OF(LABELLED, "suspend: true, "));
    answer(x, READ, JOB_OF("", ""));
    fake_answer(x->api, PATCH, 403,
                "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":"
                "\"jobs is forbidden: User \\\"m\\\" cannot patch\"}");
    int saved = capture_log(&file);
    effect(x, GANG_RESUME);
    effect(x, GANG_RESUME);
    cleanup_free char *log = end_capture(file, saved);
    const char *first = strstr(log, "patch jobs in API group batch");
    assert_non_null(first);
    assert_null(strstr(first + 1, "patch jobs"));
    assert_string_equal(buf_str(&x->heard), "");
    saved = capture_log(&file);
    effect(x, GANG_SUSPEND);
    free(end_capture(file, saved));
    assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
    cleanup_json json_t *event = body_of(x, EVENTS, 0);
    assert_string_equal(field_peek(event, "reason", NULL), "NotSuspended");
    assert_string_equal(field_peek(event, "involvedObject", "kind", NULL), "Job");
    assert_string_equal(field_peek(event, "involvedObject", "uid", NULL), "u");
    assert_non_null(
        strstr(field_peek(event, "message", NULL), "not allowed to patch jobs in API group batch"));
}

static void another_writer_may_be_faster(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF("", ""));
    fake_answer(x->api, PATCH, 409, "{}");
    answer(x, PATCH, JOB_OF(LABELLED, "suspend: true, "));
    effect(x, GANG_SUSPEND);
    assert_int_equal(fake_count(x->api, READ), 2);
    assert_int_equal(fake_count(x->api, PATCH), 2);
    assert_string_equal(buf_str(&x->heard), "");
}

static void other_writers_may_always_be_faster(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF("", ""));
    fake_answer(x->api, PATCH, 409, "{\"message\":\"conflict\"}");
    int saved = capture_log(&file);
    effect(x, GANG_SUSPEND);
    free(end_capture(file, saved));
    assert_int_equal(fake_count(x->api, PATCH), 5);
    assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
}

static void a_failure_that_passes_is_tried_again(void **state)
{
    struct fixture *x = *state;
    know_group(x, "g", OWNER);
    fake_answer(x->api, READ, 503, "{}");
    answer(x, READ, JOB_OF("", ""));
    fake_answer(x->api, PATCH, 500, "{}");
    answer(x, PATCH, JOB_OF(LABELLED, "suspend: true, "));
    effect(x, GANG_SUSPEND);
    assert_int_equal(fake_count(x->api, PATCH), 2);
    assert_string_equal(buf_str(&x->heard), "");
}

/* The CRD has no such field. */
static void a_field_that_is_not_stored_suspends_nothing(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    know_group(x, "g", OWNER);
    answer(x, READ, JOB_OF("", ""));
    answer(x, PATCH, JOB_OF(LABELLED, ""));
    int saved = capture_log(&file);
    effect(x, GANG_SUSPEND);
    cleanup_free char *log = end_capture(file, saved);
    assert_non_null(strstr(log, "does not store the field"));
    assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
}

static void a_workload_with_several_podgroups_is_not_suspended(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    know_group(x, "g", OWNER);
    know_group(x, "other", OWNER);
    answer(x, READ, JOB_OF("", ""));
    int saved = capture_log(&file);
    effect(x, GANG_SUSPEND);
    cleanup_free char *log = end_capture(file, saved);
    assert_non_null(strstr(log, "it owns several PodGroups"));
    assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
    const struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters("other")};
    podgroups_gone(x->groups, &ref);
    answer(x, PATCH, JOB_OF(LABELLED, "suspend: true, "));
    effect(x, GANG_SUSPEND);
    assert_int_equal(fake_count(x->api, PATCH), 1);
}

/* Nothing is requested for owners that no API server can have. */
static void strange_owners_are_not_requested(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    static const char *const owners[] = {
        "",
        "7",
        "{apiVersion: batch/v1, kind: Job, name: ../secrets/s, uid: u}",
        "{apiVersion: batch/v1, kind: Job, name: '', uid: u}",
        "{apiVersion: batch/v1/namespaces/x, kind: Job, name: train, uid: u}",
        "{apiVersion: apps/v1, kind: StatefulSet, name: train, uid: u}",
        "{apiVersion: v1, kind: Pod, name: train, uid: u}",
    };
    int saved = capture_log(&file);
    for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
        buf_clear(&x->heard);
        know_group(x, "g", owners[i]);
        effect(x, GANG_SUSPEND);
        assert_string_equal(buf_str(&x->heard), "refused:ns/g ");
    }
    free(end_capture(file, saved));
    assert_int_equal(fake_count(x->api, READ), 0);
}

static void a_new_podgroup_of_the_same_name_is_another(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    int saved = capture_log(&file);
    effect(x, GANG_SUSPEND); /* the PodGroup is gone */
    const struct gang_ref ref = {letters("scheduling.volcano.sh"), letters("ns"), letters("g")};
    cleanup_json json_t *group =
        yaml_object("{metadata: {namespace: ns, name: g, uid: new, "
                    "resourceVersion: '1', ownerReferences: [" OWNER "]}}");
    podgroups_set(x->groups, &ref, group);
    effect(x, GANG_SUSPEND);
    free(end_capture(file, saved));
    assert_string_equal(buf_str(&x->heard), "refused:ns/g refused:ns/g ");
    assert_int_equal(fake_count(x->api, READ), 0);
}

static void a_workload_without_a_podgroup_is_resumed(void **state)
{
    struct fixture *x = *state;
    const struct write_request_about about = {"batch/v1", "Job", "ns", "train", "u"};
    answer(x, READ, JOB_OF(LABELLED, "suspend: true, "));
    answer(x, PATCH, JOB_OF("", ""));
    writer_take(x->writer, write_request_resume(&about));
    writer_pump(x->writer);
    run_until(x, !writer_busy(x->writer));
    assert_int_equal(fake_count(x->api, PATCH), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_workload_is_suspended),
        TEST(a_field_inside_an_object_is_patched_alone),
        TEST(a_workload_is_resumed),
        TEST(a_workload_that_a_user_suspended_is_not_resumed),
        TEST(a_workload_of_kueue_is_not_resumed),
        TEST(a_suspended_workload_is_not_patched_again),
        TEST(what_muster_must_not_suspend_is_evicted),
        TEST(a_missing_right_is_logged_once_and_told),
        TEST(another_writer_may_be_faster),
        TEST(other_writers_may_always_be_faster),
        TEST(a_failure_that_passes_is_tried_again),
        TEST(a_field_that_is_not_stored_suspends_nothing),
        TEST(a_workload_with_several_podgroups_is_not_suspended),
        TEST(strange_owners_are_not_requested),
        TEST(a_new_podgroup_of_the_same_name_is_another),
        TEST(a_workload_without_a_podgroup_is_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
