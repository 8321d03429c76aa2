/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups for pods without one: what is read, created and linked, and which pods are left alone.
 */
#include "grouper_fixture.h"

#include "base/log.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/grouper/created_podgroup.h"

#define WAITS "waits: its PodGroup is being created"

static void a_podgroup_is_created_and_its_pods_are_linked(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(GANG_OF_4));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    answers_link(x, JOB_POD("q", "uq"), "q", MADE);
    show_pod(x, JOB_POD("p", "up"));
    show_pod(x, JOB_POD("q", "uq"));
    assert_string_equal(state_of(x, "p"), WAITS);
    assert_state(x, "p", "in " MADE " as -");
    assert_state(x, "q", "in " MADE " as -");
    idle(x);
    assert_int_equal(count(x, JOB), 1);
    assert_int_equal(count(x, MAKE), 1);
    assert_int_equal(count(x, LINK("p")), 1);
    cleanup_json json_t *group = body_of(x->w, MAKE, 0);
    assert_string_equal(field_peek(group, "apiVersion", NULL), KAI_GROUP "/v2alpha2");
    assert_string_equal(field_peek(group, "metadata", "name", NULL), MADE);
    assert_string_equal(field_peek(group, "metadata", "namespace", NULL), "ns");
    assert_string_equal(field_peek(group, "metadata", "annotations", CREATED_SPEC_ANNOTATION, NULL),
                        "{\"minMember\":4}");
    const json_t *owner =
        json_array_get(json_object_get(json_object_get(group, "metadata"), "ownerReferences"), 0);
    assert_string_equal(field_peek(owner, "kind", NULL), "Job");
    assert_string_equal(field_peek(owner, "uid", NULL), "uj");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(group, "spec"), "minMember")), 4);
    cleanup_json json_t *link = body_of(x->w, LINK("p"), 0);
    assert_string_equal(field_peek(link, "metadata", "uid", NULL), "up");
    assert_string_equal(field_peek(link, "metadata", "annotations", "pod-group-name", NULL), MADE);
}

static void an_existing_podgroup_is_used_unchanged(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 409, "{message: already exists}"); /* the watch is behind */
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    answers_link(x, JOB_POD("q", "uq"), "q", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    show_group(x, "{metadata: {name: " MADE ", resourceVersion: '7'}, spec: {minMember: 3}}");
    show_pod(x, JOB_POD("q", "uq"));
    assert_state(x, "q", "in " MADE " as -");
    idle(x);
    assert_int_equal(count(x, MAKE), 1);
    assert_int_equal(count(x, "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/" MADE), 0);
}

static void no_podgroup_is_created_before_existing_ones_are_listed(void **state)
{
    struct gfixture *x = *state;
    grouper_ready(x->grouper, &dialect_kai, false);
    answers(x, JOB, 200, JOB_OF(""));
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    until(x, count(x, JOB) == 1);
    idle(x);
    assert_string_equal(state_of(x, "p"), WAITS);
    show_group(x, "{metadata: {name: " MADE ", resourceVersion: '7'}, spec: {minMember: 3}}");
    grouper_ready(x->grouper, &dialect_kai, true);
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, MAKE), 0);
}

static void a_deleted_podgroup_is_created_again_for_a_new_pod(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    answers_link(x, JOB_POD("q", "uq"), "q", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    cleanup_free char *made = xstrdup(fake_body(x->w->api, MAKE, 0));
    show_group(x, made);
    group_gone(x, MADE);
    idle(x);
    assert_int_equal(count(x, MAKE), 1);
    show_pod(x, JOB_POD("q", "uq"));
    assert_state(x, "q", "in " MADE " as -");
    assert_int_equal(count(x, MAKE), 2);
}

/* ---- pods that are left alone ---- */

static void pods_that_need_no_podgroup_are_left_alone(void **state)
{
    struct gfixture *x = *state;
    static const char *const pods[] = {
        POD_OF("p", "up", "apiVersion: batch/v1, kind: Job", "train", "uj", ", nodeName: n1"),
        "{metadata: {name: p, namespace: ns, uid: up}, spec: {schedulerName: other}}",
        "{metadata: {name: p, namespace: ns, uid: up}, spec: {schedulerName: kai-scheduler}, "
        "status: {phase: Succeeded}}",
        "{metadata: {name: p, namespace: ns, uid: up, deletionTimestamp: '2024-02-29T12:00:00Z'}, "
        "spec: {schedulerName: kai-scheduler}}",
    };
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        show_pod(x, pods[i]);
        idle(x);
        assert_string_equal(state_of(x, "p"), "alone");
    }
    assert_int_equal(count(x, JOB), 0);
    assert_int_equal(count(x, LINK("p")), 0);
}

static void an_owner_may_refuse_a_podgroup(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(", annotations: {muster.dev/create-podgroup: 'false'}"));
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "alone");
    show_pod(x, JOB_POD("p", "up")); /* and this does not change */
    assert_string_equal(state_of(x, "p"), "alone");
    idle(x);
    assert_int_equal(count(x, JOB), 1);
    assert_int_equal(count(x, MAKE), 0);
}

/* ---- changes at a bad moment ---- */

static void no_podgroup_is_created_for_a_deleted_pod(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *job = json_of(JOB_OF(""));
    fake_answer_late(x->w->api, JOB, 200, job);
    show_pod(x, JOB_POD("p", "up"));
    until(x, count(x, JOB) == 1);
    grouper_pod_gone(x->grouper, "ns", "p");
    fake_release(x->w->api);
    idle(x);
    assert_int_equal(count(x, MAKE), 0);
    assert_int_equal(count(x, LINK("p")), 0);
}

static void no_podgroup_is_created_when_the_last_pod_that_needs_it_is_gone(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    fake_answer(x->w->api, MAKE, 500, "{\"message\":\"not now\"}");
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "waits: its PodGroup cannot be created: PodGroup ns/" MADE ": not now");
    grouper_pod_gone(x->grouper, "ns", "p"); /* before the retry */
    idle(x);
    assert_int_equal(count(x, MAKE), 1);
    assert_int_equal(count(x, LINK("p")), 0);
}

/* The first pod is never linked, and what was read for it is used for the second. */
static void a_pod_may_be_recreated_while_its_owner_is_read(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *job = json_of(JOB_OF(""));
    fake_answer_late(x->w->api, JOB, 200, job);
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "second"), "p", MADE);
    show_pod(x, JOB_POD("p", "first"));
    until(x, count(x, JOB) == 1);
    show_pod(x, JOB_POD("p", "second"));
    fake_release(x->w->api);
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, LINK("p")), 1);
    cleanup_json json_t *link = body_of(x->w, LINK("p"), 0);
    assert_string_equal(field_peek(link, "metadata", "uid", NULL), "second");
}

#define SHARED(name, uid)                                                                          \
    "{metadata: {name: " name ", namespace: ns, uid: " uid ", annotations: {muster.dev/gang: "     \
    "ours, muster.dev/min-member: '2'}}, spec: {schedulerName: kai-scheduler}}"
#define SHARED_PATCH "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/ours"

/* Pods without an owner share the ownership of their PodGroup. Each waits until it is an owner. */
static void a_podgroup_deleted_while_pods_wait_for_it_is_created_again(void **state)
{
    struct gfixture *x = *state;
    show_group(
        x,
        "{metadata: {name: ours, namespace: ns, resourceVersion: '5', annotations: "
        "{muster.dev/created-spec: '{\"minMember\":2}'}, ownerReferences: [{apiVersion: v1, kind: "
        "Pod, name: a, uid: ua}]}, spec: {minMember: 2}}");
    fake_answer_late(x->w->api, SHARED_PATCH, 404, "{}");
    answers(x, MAKE, 201, "{}");
    answers_link(x, SHARED("b", "ub"), "b", "ours");
    answers_link(x, SHARED("c", "uc"), "c", "ours");
    show_pod(x, SHARED("b", "ub"));
    until(x, count(x, SHARED_PATCH) == 1);
    cleanup_json json_t *patch = body_of(x->w, SHARED_PATCH, 0);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(patch, "metadata"), "ownerReferences")), 2);
    show_pod(x, SHARED("c", "uc"));
    idle(x);
    assert_string_equal(state_of(x, "c"), WAITS);
    group_gone(x, "ours");
    until(x, count(x, MAKE) == 1);
    assert_state(x, "b", "in ours as -");
    assert_string_equal(state_of(x, "c"), WAITS); /* until it is an owner of the new PodGroup */
    fake_release(x->w->api);
}

static void a_recreated_pod_is_another_pod(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 409, "{\"message\":\"the UID in the precondition\"}");
    answers_link(x, JOB_POD("p", "second"), "p", MADE);
    show_pod(x, JOB_POD("p", "first"));
    until(x, count(x, LINK("p")) == 1);
    idle(x);
    show_pod(x, JOB_POD("p", "second"));
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, LINK("p")), 2);
    cleanup_json json_t *link = body_of(x->w, LINK("p"), 1);
    assert_string_equal(field_peek(link, "metadata", "uid", NULL), "second");
}

static void an_old_version_of_a_pod_does_not_remove_its_link(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    show_pod(x, JOB_POD("p", "up")); /* a version from before the link */
    assert_string_equal(state_of(x, "p"), "in " MADE " as -");
    show_pod(x, "{metadata: {name: p, namespace: ns, uid: up, annotations: {pod-group-name: " MADE
                "}}, spec: {schedulerName: kai-scheduler}}");
    assert_string_equal(state_of(x, "p"), "in " MADE " as -");
    idle(x);
    assert_int_equal(count(x, LINK("p")), 1);
    /* From now on, the watch counts. */
    show_pod(x, JOB_POD("p", "up"));
    assert_string_equal(state_of(x, "p"), WAITS);
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, LINK("p")), 2);
}

/* ---- errors ---- */

/* The answer of the API server. */
#define UNAUTHORIZED(verb, resource)                                                               \
    "{\"reason\":\"Forbidden\",\"message\":\"" resource                                            \
    " is forbidden: User \\\"u\\\" cannot " verb " resource \\\"" resource "\\\" in API group\"}"

static void a_missing_rbac_rule_is_named(void **state)
{
    struct gfixture *x = *state;
    log_setup(LOG_ERROR, LOG_TEXT);
    fake_answer(x->w->api, JOB, 403, UNAUTHORIZED("get", "jobs"));
    answers(x, JOB, 200, JOB_OF(""));
    fake_answer(x->w->api, MAKE, 403, UNAUTHORIZED("create", "podgroups"));
    answers(x, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 403, UNAUTHORIZED("patch", "pods"));
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: muster is not allowed to read Job ns/train: grant "
        "its service account get, list and watch on jobs in API group batch");
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: muster is not allowed to create it: grant its "
        "service account create on podgroups in API group scheduling.run.ai");
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: muster is not allowed to link the pod: grant "
        "its service account patch on pods");
    assert_state(x, "p", "in " MADE " as -");
}

static void a_pod_waits_for_an_owner_that_does_not_exist_yet(void **state)
{
    struct gfixture *x = *state;
    fake_answer(x->w->api, JOB, 404, "{\"message\":\"not found\"}");
    answers(x, JOB, 200, "{metadata: {name: train, namespace: ns, uid: another}}");
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "waits: its PodGroup cannot be created: Job ns/train does not exist");
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: Job ns/train was deleted and created again");
    assert_state(x, "p", "in " MADE " as -");
}

static void an_invalid_field_of_the_owner_is_reported(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(", annotations: {kai.scheduler/batch-min-member: many}"));
    fake_answer(x->w->api, "POST /api/v1" NS "/events", 201, "{}");
    show_pod(x, JOB_POD("p", "up"));
    until(x, strstr(state_of(x, "p"), "kai.scheduler/batch-min-member"));
    assert_int_equal(count(x, "POST /api/v1" NS "/events"), 0); /* the user may correct it soon */
    assert_non_null(strstr(state_of(x, "p"), "Job ns/train"));
    until(x, count(x, "POST /api/v1" NS "/events") == 1); /* it has been wrong for long */
    idle(x);
    idle(x);
    assert_int_equal(count(x, "POST /api/v1" NS "/events"), 1);
    cleanup_json json_t *event = body_of(x->w, "POST /api/v1" NS "/events", 0);
    assert_string_equal(field_peek(event, "reason", NULL), "PodGroupNotCreated");
    assert_string_equal(field_peek(event, "involvedObject", "apiVersion", NULL), "batch/v1");
    assert_string_equal(field_peek(event, "involvedObject", "kind", NULL), "Job");
    assert_string_equal(field_peek(event, "involvedObject", "name", NULL), "train");
}

static void a_missing_crd_is_named(void **state)
{
    struct gfixture *x = *state;
    podgroups_serve(x->w->groups, &dialect_kai, NULL, false);
    answers(x, JOB, 200, JOB_OF(""));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: the API server does not serve PodGroups of "
        "scheduling.run.ai; install their CRD, or set podGroupDialect to a dialect that "
        "it serves");
    podgroups_serve(x->w->groups, &dialect_kai, "v2alpha2", true);
    grouper_ready(x->grouper, &dialect_kai, true);
    assert_state(x, "p", "in " MADE " as -");
}

static void a_refused_podgroup_is_reported_and_tried_again(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    fake_answer(x->w->api, MAKE, 503, "{\"message\":\"overloaded\"}");
    fake_answer(x->w->api, MAKE, 422, "{\"message\":\"spec.queue: is required\"}");
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "waits: its PodGroup cannot be created: PodGroup ns/" MADE ": overloaded");
    assert_state(x, "p",
                 "waits: its PodGroup cannot be created: PodGroup ns/" MADE
                 ": spec.queue: is required");
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, MAKE), 3);
}

/* ---- kinds that are not in the table ---- */

#define FOO_POD(scheduler)                                                                         \
    "{metadata: {name: p, namespace: ns, uid: up, ownerReferences: [{apiVersion: example.com/v1, " \
    "kind: Foo, name: f, uid: uf, controller: true}]}, spec: {schedulerName: " scheduler "}}"

#define FOOS                                                                                       \
    "{resources: [{name: foos/status, kind: Foo, namespaced: true}, {name: foos, kind: Foo, "      \
    "namespaced: true}]}"
#define BAR "{apiVersion: example.com/v1, kind: Bar, metadata: {name: b, namespace: ns, uid: ub}}"

/* Its owner, too: Bar, which is also in the list of resources. */
static void an_unknown_kind_is_discovered(void **state)
{
    struct gfixture *x = *state;
    fake_answer(x->w->api, "GET /apis/example.com/v1", 503, "{}");
    answers(x, "GET /apis/example.com/v1", 200, FOOS);
    answers(x, "GET /apis/example.com/v1" NS "/foos/f", 200,
            "{apiVersion: example.com/v1, kind: Foo, metadata: {name: f, namespace: ns, uid: uf, "
            "ownerReferences: [{apiVersion: example.com/v2, kind: Bar, name: b, uid: ub}]}}");
    answers(x, "GET /apis/example.com/v2", 200,
            "{resources: [{name: bars, kind: Bar, namespaced: false}]}");
    answers(x, "GET /apis/example.com/v2/bars/b", 200, BAR);
    answers(x, MAKE, 201, "{}");
    answers_link(x, FOO_POD("kai-scheduler"), "p", "pg-b-ub");
    show_pod(x, FOO_POD("kai-scheduler"));
    until(x,
          strstr(state_of(x, "p"), "the resources of example.com/v1 cannot be read")); /* for now */
    assert_state(x, "p", "in pg-b-ub as -");
}

/* For a kind that is not in the table, the owner reference is enough. */
static void an_unknown_kind_that_muster_may_not_read_is_not_needed(void **state)
{
    struct gfixture *x = *state;
    log_setup(LOG_ERROR, LOG_TEXT);
    answers(x, "GET /apis/example.com/v1", 200, FOOS);
    fake_answer(x->w->api, "GET /apis/example.com/v1" NS "/foos/f", 403, "{}");
    answers(x, MAKE, 201, "{}");
    answers_link(x, FOO_POD("kai-scheduler"), "p", "pg-f-uf");
    show_pod(x, FOO_POD("kai-scheduler"));
    assert_state(x, "p", "in pg-f-uf as -");
    cleanup_json json_t *group = body_of(x->w, MAKE, 0);
    const json_t *owner =
        json_array_get(json_object_get(json_object_get(group, "metadata"), "ownerReferences"), 0);
    assert_string_equal(field_peek(owner, "apiVersion", NULL), "example.com/v1");
    assert_string_equal(field_peek(owner, "kind", NULL), "Foo");
    assert_string_equal(field_peek(owner, "uid", NULL), "uf");
}

static void an_unknown_kind_that_is_not_served_is_not_needed(void **state)
{
    struct gfixture *x = *state;
    fake_answer(x->w->api, "GET /apis/example.com/v1", 404, "404 page not found");
    answers(x, MAKE, 201, "{}");
    answers_link(x, FOO_POD("kai-scheduler"), "p", "pg-f-uf");
    show_pod(x, FOO_POD("kai-scheduler"));
    assert_state(x, "p", "in pg-f-uf as -");
}

/* The rule of a configured kind needs the object. */
static void a_configured_kind_must_be_readable(void **state)
{
    struct gfixture *x = *state;
    struct workload_custom foo = {letters("example.com/v1"), letters("Foo"),
                                  letters("spec.replicas"), NULL};
    x->rules.customs = &foo;
    x->rules.n_customs = 1;
    fake_answer(x->w->api, "GET /apis/example.com/v1", 404, "404 page not found");
    show_pod(x, FOO_POD("kai-scheduler"));
    assert_state(x, "p",
                 "waits: its PodGroup cannot be created: the API server does not serve kind Foo of "
                 "example.com/v1");
}

static void a_circle_of_owners_is_reported(void **state)
{
    struct gfixture *x = *state;
    answers(x, "GET /apis/example.com/v1", 200, FOOS);
    answers(x, "GET /apis/example.com/v1" NS "/foos/f", 200,
            "{apiVersion: example.com/v1, kind: Foo, metadata: {name: f, namespace: ns, uid: uf, "
            "ownerReferences: [{apiVersion: example.com/v1, kind: Foo, name: f, uid: uf}]}}");
    show_pod(x, FOO_POD("kai-scheduler"));
    assert_state(x, "p",
                 "waits: its PodGroup cannot be created: the pod and its owners are 17 objects, "
                 "must be between 1 and 16");
}

static void pods_wait_for_an_owner_that_muster_may_not_read(void **state)
{
    struct gfixture *x = *state;
    struct workload_custom foo = {letters("example.com/v1"), letters("Foo"),
                                  letters("spec.replicas"), NULL};
    x->rules.customs = &foo;
    x->rules.n_customs = 1;
    fake_answer(x->w->api, "GET /apis/example.com/v1", 404, "404 page not found");
    show_pod(x, FOO_POD("other"));
    assert_string_equal(state_of(x, "p"), WAITS); /* the owner may request a PodGroup */
    assert_state(x, "p", "alone");
}

static void an_owner_reference_with_an_invalid_path_is_not_followed(void **state)
{
    struct gfixture *x = *state;
    static const char *const refs[] = {
        "apiVersion: batch/v1, kind: Job, name: ../secrets/s",
        "apiVersion: batch/v1, kind: Job, name: ..",
        "apiVersion: ../v1, kind: Job, name: train",
        "apiVersion: batch/v1/x, kind: Job, name: train",
        "apiVersion: example.com/.., kind: Foo, name: f",
        "apiVersion: ..%2Fapi, kind: Foo, name: f",
    };
    for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
        cleanup_free char *pod = xasprintf("{metadata: {name: p%zu, namespace: ns, uid: u%zu, "
                                           "ownerReferences: [{%s, uid: uo, controller: true}]}, "
                                           "spec: {schedulerName: kai-scheduler}}",
                                           i, i, refs[i]);
        cleanup_free char *name = xasprintf("p%zu", i);
        show_pod(x, pod);
        assert_state(
            x, name,
            "waits: its PodGroup cannot be created: its owner reference has an apiVersion, "
            "kind, name or UID that no object can have");
    }
    /* Nothing was requested. */
    cleanup_buf struct buf metrics = BUF_INIT;
    api_metrics_print(x->w->metrics, &metrics);
    assert_null(strstr(buf_str(&metrics), "verb=\"get\""));
}

static void an_owner_in_another_namespace_does_not_count(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(", labels: {secret: yes}"));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    /* The same reference in a namespace without such a Job. */
    fake_answer(x->w->api, "GET /apis/batch/v1/namespaces/other/jobs/train", 404, "{}");
    show_pod(x, "{metadata: {name: q, namespace: other, uid: uq, ownerReferences: [{apiVersion: "
                "batch/v1, kind: Job, name: train, uid: uj, controller: true}]}, spec: "
                "{schedulerName: kai-scheduler}}");
    assert_state(x, "q", "waits: its PodGroup cannot be created: Job other/train does not exist");
    assert_int_equal(count(x, "POST /apis/scheduling.run.ai/v2alpha2/namespaces/other/podgroups"),
                     0);
}

/* ---- following changes ---- */

static void W01_the_minimum_follows_the_scale_of_the_owner(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) == 1);
    idle(x);
    assert_int_equal(count(x, RAY_PATCH), 1);
    cleanup_json json_t *patch = body_of(x->w, RAY_PATCH, 0);
    assert_string_equal(field_peek(patch, "metadata", "resourceVersion", NULL), "9");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(patch, "spec"), "minMember")), 6);
}

static void a_change_without_effect_is_not_written(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    pushes_ray(x, RAY_OF("2", "2"));
    until(x, count(x, "GET " POD("p")) >= 1);
    idle(x);
    assert_int_equal(count(x, RAY_PATCH), 0);
}

/* A status update does not count: a Job has one for each pod that ends. */
static void a_change_of_only_the_status_is_ignored(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    cleanup_free char *json = json_of(RAY_OF("1", "2"));
    cleanup_json json_t *ray = json_loads(json, 0, NULL);
    json_object_set_new(json_object_get(ray, "metadata"), "resourceVersion", json_string("77"));
    json_object_set_new(ray, "status", json_pack("{s:s}", "state", "ready"));
    cleanup_free char *text = json_dumps(ray, JSON_COMPACT);
    cleanup_free char *line = xasprintf("{\"type\":\"MODIFIED\",\"object\":%s}\n", text);
    until(x, count(x, W_RAYS) >= 1);
    idle(x);
    size_t before = count(x, "GET " POD("p"));
    fake_push(x->w->api, W_RAYS, line, FAKE_OPEN);
    idle(x);
    assert_int_equal(count(x, "GET " POD("p")), before);
}

/* The member that a change was computed from is gone. The next member that is seen replaces it. */
static void another_member_is_used_when_the_first_is_gone(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    cleanup_free char *pod = linked_ray_pod();
    fake_answer(x->w->api, "GET " POD("p"), 404, "{}");
    cleanup_free char *other = json_of(
        "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: ns, uid: uq, annotations: "
        "{pod-group-name: " RAY_MADE "}, labels: {ray.io/node-type: worker, ray.io/group: w}, "
        "ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: ray, uid: ur, "
        "controller: true}]}, spec: {schedulerName: kai-scheduler}}");
    fake_answer(x->w->api, "GET " POD("q"), 200, other);
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "3"));
    until(x, count(x, "GET " POD("p")) >= 2 || count(x, RAY_PATCH) == 1);
    pushes_ray(x, RAY_OF("3", "5"));
    idle(x);
    show_pod(x, other);
    until(x, count(x, "GET " POD("q")) == 1);
}

/* No pod is linked yet. The first linked pod is used. */
static void a_conflict_before_any_pod_is_linked_is_tried_again(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    answers(x, RAY, 200, RAY_OF("1", "2"));
    lists_rays(x, RAY_OF("1", "2"));
    show_group(x, "{metadata: {name: " RAY_MADE ", namespace: ns, resourceVersion: '9', "
                  "annotations: {muster.dev/created-spec: '{\"minMember\":2}'}, ownerReferences: "
                  "[{apiVersion: ray.io/v1, kind: RayCluster, name: ray, uid: ur}]}, spec: "
                  "{minMember: 2}}");
    fake_answer(x->w->api, RAY_PATCH, 409, "{\"message\":\"modified\"}");
    answers(x, RAY_PATCH, 200, "{}");
    fake_answer_late(x->w->api, LINK("p"), 200, pod);
    fake_answer(x->w->api, "GET " POD("p"), 200, pod);
    show_pod(x, RAY_POD("p", "up"));
    until(x, count(x, RAY_PATCH) == 1);
    idle(x);
    assert_int_equal(count(x, RAY_PATCH), 1);
    fake_release(x->w->api);
    assert_state(x, "p", "in " RAY_MADE " as -");
    until(x, count(x, RAY_PATCH) == 2);
}

static void a_conflict_is_tried_again(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    fake_answer(x->w->api, RAY_PATCH, 409, "{\"message\":\"modified\"}");
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) == 2);
}

static void a_missing_right_to_write_is_tried_again(void **state)
{
    struct gfixture *x = *state;
    log_setup(LOG_ERROR, LOG_TEXT);
    make_ray(x);
    fake_answer(x->w->api, RAY_PATCH, 403, UNAUTHORIZED("create", "podgroups"));
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) == 2);
}

static void podgroups_created_before_a_restart_are_found_and_updated(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *text = linked_ray_pod();
    answers(x, RAY, 200, RAY_OF("1", "2"));
    lists_rays(x, RAY_OF("1", "2"));
    fake_answer(x->w->api, "GET " POD("p"), 200, text);
    /* Pods are listed before PodGroups. */
    grouper_ready(x->grouper, &dialect_kai, false);
    show_pod(x, text);
    show_group(x,
               "{metadata: {name: " RAY_MADE ", namespace: ns, resourceVersion: '9', "
               "annotations: {muster.dev/created-spec: '{\"minMember\":3,\"subGroups\":[{\"name\":"
               "\"headgroup\",\"minMember\":1},{\"name\":\"w\",\"minMember\":2}]}'}, "
               "ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: ray, uid: "
               "ur}]}, spec: {minMember: 3, subGroups: [{name: headgroup, minMember: 1}, {name: "
               "w, minMember: 2}]}}");
    grouper_ready(x->grouper, &dialect_kai, true);
    until(x, count(x, W_RAYS) == 1);
    idle(x);
    assert_int_equal(count(x, MAKE), 0);
    assert_int_equal(count(x, LINK("p")), 0);
    assert_int_equal(count(x, RAY_PATCH), 0);
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) == 1);
}

/* ---- many pods at once ---- */

#define MANY 40

/* Pods of as many Jobs, whose answers wait. */
static void show_many(struct gfixture *x)
{
    for (int i = 0; i < MANY; i++) {
        cleanup_free char *route = xasprintf("GET /apis/batch/v1" NS "/jobs/train%d", i);
        cleanup_free char *pod =
            xasprintf("{metadata: {name: p%d, namespace: ns, uid: u%d, ownerReferences: "
                      "[{apiVersion: batch/v1, kind: Job, name: train%d, uid: uj%d, controller: "
                      "true}]}, spec: {schedulerName: kai-scheduler}}",
                      i, i, i, i);
        fake_answer_late(x->w->api, route, 404, "{}");
        show_pod(x, pod);
    }
}

static size_t jobs_read(struct gfixture *x)
{
    size_t n = 0;
    for (int i = 0; i < MANY; i++) {
        cleanup_free char *route = xasprintf("GET /apis/batch/v1" NS "/jobs/train%d", i);
        n += count(x, route) > 0;
    }
    return n;
}

static void only_a_few_owners_are_read_at_a_time(void **state)
{
    struct gfixture *x = *state;
    show_many(x);
    until(x, jobs_read(x) == 8);
    idle(x);
    assert_int_equal(jobs_read(x), 8);
    fake_release(x->w->api);
    until(x, jobs_read(x) == MANY);
}

static void bindings_go_first(void **state)
{
    struct gfixture *x = *state;
    fake_answer_late(x->w->api, BINDING, 201, "{}");
    pod_effect(x->w, GANG_BIND, "p", "u1", "n1");
    until(x, count(x, BINDING) == 1);
    show_many(x);
    until(x, jobs_read(x) == 1);
    idle(x);
    assert_int_equal(jobs_read(x), 1);
    fake_release(x->w->api);
    until(x, jobs_read(x) == MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PATIENT(a_podgroup_is_created_and_its_pods_are_linked),
        GTEST(an_existing_podgroup_is_used_unchanged),
        PATIENT(no_podgroup_is_created_before_existing_ones_are_listed),
        GTEST(a_deleted_podgroup_is_created_again_for_a_new_pod),
        GTEST(pods_that_need_no_podgroup_are_left_alone),
        GTEST(an_owner_may_refuse_a_podgroup),
        GTEST(no_podgroup_is_created_for_a_deleted_pod),
        GTEST(no_podgroup_is_created_when_the_last_pod_that_needs_it_is_gone),
        GTEST(a_recreated_pod_is_another_pod),
        GTEST(a_pod_may_be_recreated_while_its_owner_is_read),
        GTEST(a_podgroup_deleted_while_pods_wait_for_it_is_created_again),
        GTEST(an_old_version_of_a_pod_does_not_remove_its_link),
        GTEST(a_missing_rbac_rule_is_named),
        GTEST(a_pod_waits_for_an_owner_that_does_not_exist_yet),
        GTEST(an_invalid_field_of_the_owner_is_reported),
        PATIENT(a_missing_crd_is_named),
        GTEST(a_refused_podgroup_is_reported_and_tried_again),
        GTEST(an_unknown_kind_is_discovered),
        GTEST(an_unknown_kind_that_muster_may_not_read_is_not_needed),
        GTEST(an_unknown_kind_that_is_not_served_is_not_needed),
        GTEST(a_configured_kind_must_be_readable),
        GTEST(a_circle_of_owners_is_reported),
        GTEST(pods_wait_for_an_owner_that_muster_may_not_read),
        GTEST(an_owner_reference_with_an_invalid_path_is_not_followed),
        GTEST(an_owner_in_another_namespace_does_not_count),
        PATIENT(W01_the_minimum_follows_the_scale_of_the_owner),
        GTEST(a_change_without_effect_is_not_written),
        GTEST(a_change_of_only_the_status_is_ignored),
        GTEST(another_member_is_used_when_the_first_is_gone),
        GTEST(a_conflict_before_any_pod_is_linked_is_tried_again),
        GTEST(a_conflict_is_tried_again),
        GTEST(a_missing_right_to_write_is_tried_again),
        GTEST(podgroups_created_before_a_restart_are_found_and_updated),
        GTEST(only_a_few_owners_are_read_at_a_time),
        GTEST(bindings_go_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
