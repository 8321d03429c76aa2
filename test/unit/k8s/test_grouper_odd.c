/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups for pods without one, with an odd server, an odd order of events or odd users. */
#include "grouper_fixture.h"

#include "base/log.h"
#include "k8s/dialect/dialect_common.h"

/* Longer than idle(): long enough to see a retry loop. */
static void idle_long(struct gfixture *x)
{
    for (int i = 0; i < 8; i++)
        idle(x);
}

static json_int_t minimum_in(struct gfixture *x, const char *route, size_t n)
{
    cleanup_json json_t *body = body_of(x->w, route, n);
    return json_integer_value(json_object_get(json_object_get(body, "spec"), "minMember"));
}

/* ---- answers of the API server ---- */

/* Another writer changes a ResourceQuota that counts PodGroups. */
static void a_conflict_during_the_creation_does_not_mean_that_the_podgroup_exists(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(GANG_OF_4));
    fake_answer(x->w->api, MAKE, 409,
                "{\"reason\":\"Conflict\",\"message\":\"Operation cannot be fulfilled on "
                "resourcequotas \\\"q\\\": the object has been modified\"}");
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(count(x, MAKE), 2);
}

static void a_refusal_by_a_quota_or_webhook_is_not_a_missing_right(void **state)
{
    struct gfixture *x = *state;
    static const char *const says =
        "podgroups.scheduling.run.ai \\\"pg\\\" is forbidden: exceeded quota: ten, requested: "
        "count/podgroups.scheduling.run.ai=1";
    cleanup_free char *reply = xasprintf("{\"reason\":\"Forbidden\",\"message\":\"%s\"}", says);
    answers(x, JOB, 200, JOB_OF(""));
    fake_answer(x->w->api, MAKE, 403, reply);
    show_pod(x, JOB_POD("p", "up"));
    answers(x, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 403,
                "{\"reason\":\"Forbidden\",\"message\":\"admission webhook \\\"w\\\" denied it\"}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    until(x, strstr(state_of(x, "p"), "exceeded quota: ten"));
    assert_null(strstr(state_of(x, "p"), "grant"));
    until(x, strstr(state_of(x, "p"), "denied it"));
    assert_null(strstr(state_of(x, "p"), "grant"));
    assert_state(x, "p", "in " MADE " as -");
}

static void a_creation_that_is_always_refused_is_tried_less_and_less_often(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    fake_answer(x->w->api, RAY_PATCH, 422, "{\"message\":\"no\"}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) >= 1);
    idle_long(x);
    assert_in_range(count(x, RAY_PATCH), 2, 9);
}

/* The watch of PodGroups shows nothing for a while. */
static void a_conflict_is_not_tried_again_at_full_speed(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    fake_answer(x->w->api, RAY_PATCH, 409, "{\"reason\":\"Conflict\",\"message\":\"modified\"}");
    pushes_ray(x, RAY_OF("2", "5"));
    until(x, count(x, RAY_PATCH) >= 1);
    show_pod(x, RAY_POD("q", "uq"));
    idle_long(x);
    assert_in_range(count(x, RAY_PATCH), 2, 16);
}

/* T01: other programs write the owner's status, the pod's and some fields of the PodGroup. */
static void T01_an_odd_number_in_an_owner_or_a_reply_does_no_harm(void **state)
{
#define ODD ", \"status\": {\"x\": 18446744073709552000}}"
    struct gfixture *x = *state;
    cleanup_free char *job = json_of(JOB_OF(GANG_OF_4)), *pod = json_of(JOB_POD("p", "up"));
    job[strlen(job) - 1] = '\0';
    cleanup_free char *odd_job = xasprintf("%s" ODD, job);
    char *annotated = strstr(pod, "\"metadata\":");
    assert_non_null(annotated);
    cleanup_free char *odd_pod = xasprintf(
        "{\"x\":-1e999,\"metadata\":{\"annotations\":{\"pod-group-name\":\"" MADE "\"},%s",
        strchr(annotated, '{') + 1);
    fake_answer(x->w->api, JOB, 200, odd_job);
    fake_answer(x->w->api, MAKE, 201, "{\"x\": [1E999]}");
    fake_answer(x->w->api, LINK("p"), 200, odd_pod);
    show_pod(x, JOB_POD("p", "up"));
    assert_state(x, "p", "in " MADE " as -");
    assert_int_equal(minimum_in(x, MAKE, 0), 4);
#undef ODD
}

static void T01_an_owner_with_too_many_values_affects_only_its_own_pods(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *job = json_of(JOB_OF(GANG_OF_4));
    cleanup_buf struct buf rich = BUF_INIT;
    buf_append(&rich, job, strlen(job) - 1);
    buf_puts(&rich, ",\"x\":[0");
    for (int i = 0; i < 50000; i++)
        buf_puts(&rich, ",0");
    buf_puts(&rich, "]}");
    fake_answer(x->w->api, JOB, 200, buf_str(&rich));
    answers(x, JOB, 200, JOB_OF(GANG_OF_4));
    answers(x, MAKE, 201, "{}");
    answers_link(x, JOB_POD("p", "up"), "p", MADE);
    show_pod(x, JOB_POD("p", "up"));
    until(x, strstr(state_of(x, "p"), "Job ns/train cannot be read: it has 500"));
    assert_state(x, "p", "in " MADE " as -"); /* it was corrected */
}

/* ---- kinds ---- */

#define FOO_POD                                                                                    \
    "{metadata: {name: p, namespace: ns, uid: up, ownerReferences: [{apiVersion: example.com/v1, " \
    "kind: Foo, name: f, uid: uf, controller: true}]}, spec: {schedulerName: kai-scheduler}}"

static void a_kind_that_is_no_longer_needed_is_not_looked_up(void **state)
{
    struct gfixture *x = *state;
    answers(x, MAKE, 201, "{}");
    answers_link(x, FOO_POD, "p", "pg-f-uf");
    show_pod(x, FOO_POD);
    assert_state(x, "p", "in pg-f-uf as -");
    idle(x);
    size_t asked = count(x, "GET /apis/example.com/v1");
    idle_long(x);
    assert_int_equal(count(x, "GET /apis/example.com/v1"), asked);
}

/* It would be part of stored keys and of messages. */
static void a_huge_kind_or_uid_is_not_accepted(void **state)
{
    struct gfixture *x = *state;
    for (int i = 0; i < 2; i++) {
        cleanup_free char *owner = i ? xasprintf("kind: Foo, name: f, uid: u%0900d", 1)
                                     : xasprintf("kind: Foo%0900d, name: f, uid: uf", 1);
        cleanup_free char *pod =
            xasprintf("{metadata: {name: p%d, namespace: ns, uid: u%d, ownerReferences: "
                      "[{apiVersion: example.com/v1, %s, controller: true}]}, spec: "
                      "{schedulerName: kai-scheduler}}",
                      i, i, owner);
        cleanup_free char *name = xasprintf("p%d", i);
        show_pod(x, pod);
        until(x, strstr(state_of(x, name), "kind, name or UID that no object can have"));
    }
    idle(x);
    assert_int_equal(count(x, "GET /apis/example.com/v1"), 0);
}

static struct workload_custom customs[] = {{
    (char *)(uintptr_t) "example.com/v1",
    (char *)(uintptr_t) "TrainSet",
    (char *)(uintptr_t) "spec.workers",
    NULL,
}};

#define SET_OF(version, workers)                                                                   \
    "{apiVersion: example.com/v1, kind: TrainSet, metadata: {name: t, namespace: ns, uid: ut, "    \
    "resourceVersion: '" version "', generation: " version "}, spec: {workers: " workers "}}"
#define SET_POD                                                                                    \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: up, annotations: "        \
    "{pod-group-name: pg-t-ut}, ownerReferences: [{apiVersion: example.com/v1, kind: TrainSet, "   \
    "name: t, uid: ut, controller: true}]}, spec: {schedulerName: kai-scheduler}}"
#define SETS "/apis/example.com/v1/trainsets"

static void a_configured_kind_is_updated_after_a_restart(void **state)
{
    struct gfixture *x = *state;
    x->rules.customs = customs;
    x->rules.n_customs = ARRAY_SIZE(customs);
    answers(x, "GET /apis/example.com/v1", 200,
            "{resources: [{name: trainsets, kind: TrainSet, namespaced: true}]}");
    answers(x, "GET /apis/example.com/v1" NS "/trainsets/t", 200, SET_OF("1", "2"));
    fake_answer(x->w->api, "GET " SETS, 200, "{\"metadata\":{\"resourceVersion\":\"5\"}}");
    answers(x, "GET " POD("p"), 200, SET_POD);
    grouper_ready(x->grouper, &dialect_kai, false);
    show_pod(x, SET_POD);
    show_group(x, "{metadata: {name: pg-t-ut, namespace: ns, resourceVersion: '9', annotations: "
                  "{muster.dev/created-spec: '{\"minMember\":2}'}, ownerReferences: [{apiVersion: "
                  "example.com/v1, kind: TrainSet, name: t, uid: ut}]}, spec: {minMember: 2}}");
    grouper_ready(x->grouper, &dialect_kai, true);
    until(x, count(x, "WATCH " SETS) == 1);
    idle(x);
    answers(x, "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/pg-t-ut", 200, "{}");
    cleanup_free char *json = json_of(SET_OF("2", "5"));
    cleanup_free char *line = xasprintf("{\"type\":\"MODIFIED\",\"object\":%s}\n", json);
    fake_push(x->w->api, "WATCH " SETS, line, FAKE_OPEN);
    until(x, count(x, "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/pg-t-ut") == 1);
}

/* ---- owners that change at a bad moment ---- */

static void an_owner_that_changes_while_it_is_read_is_read_again(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    cleanup_free char *old = json_of(RAY_OF("1", "2"));
    fake_answer_late(x->w->api, RAY, 200, old);
    fake_answer(x->w->api, RAYS, 200, "{\"metadata\":{\"resourceVersion\":\"5\"}}");
    fake_answer(x->w->api, "GET " POD("p"), 200, pod);
    answers(x, RAY_PATCH, 200, "{}");
    grouper_ready(x->grouper, &dialect_kai, false);
    show_pod(x, pod);
    show_group(x,
               "{metadata: {name: " RAY_MADE ", namespace: ns, resourceVersion: '9', "
               "annotations: {muster.dev/created-spec: '{\"minMember\":3,\"subGroups\":[{\"name\":"
               "\"headgroup\",\"minMember\":1},{\"name\":\"w\",\"minMember\":2}]}'}, "
               "ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: ray, uid: "
               "ur}]}, spec: {minMember: 3, subGroups: [{name: headgroup, minMember: 1}, {name: "
               "w, minMember: 2}]}}");
    grouper_ready(x->grouper, &dialect_kai, true);
    until(x, count(x, RAY) == 1);
    pushes_ray(x, RAY_OF("2", "5"));
    idle(x);
    fake_release(x->w->api);
    until(x, count(x, RAY_PATCH) == 1);
    assert_int_equal(minimum_in(x, RAY_PATCH, 0), 6);
}

static void the_podgroup_follows_an_owner_that_grows_during_its_creation(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    /* Another owner, so that the kind is watched. */
    answers(x, "GET /apis/ray.io/v1" NS "/rayclusters/other", 200,
            "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: other, namespace: ns, uid: "
            "uo}, spec: {headGroupSpec: {}}}");
    lists_rays(x, RAY_OF("1", "2"));
    answers(x, MAKE, 201, "{}");
    show_pod(x, POD_OF("o", "uop", "apiVersion: ray.io/v1, kind: RayCluster", "other", "uo", ""));
    until(x, count(x, W_RAYS) == 1 && count(x, MAKE) == 1);

    answers(x, RAY, 200, RAY_OF("1", "2"));
    fake_answer_late(x->w->api, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 200, pod);
    fake_answer(x->w->api, "GET " POD("p"), 200, pod);
    answers(x, RAY_PATCH, 200, "{}");
    show_pod(x, RAY_POD("p", "up"));
    until(x, count(x, MAKE) == 2);
    pushes_ray(x, RAY_OF("2", "5"));
    idle(x);
    fake_release(x->w->api);
    assert_state(x, "p", "in " RAY_MADE " as -");
    cleanup_json json_t *made = body_of(x->w, MAKE, 1);
    json_object_set_new(json_object_get(made, "metadata"), "resourceVersion", json_string("9"));
    cleanup_free char *text = json_dumps(made, JSON_COMPACT);
    show_group(x, text);
    until(x, count(x, RAY_PATCH) == 1);
    assert_int_equal(minimum_in(x, RAY_PATCH, 0), 6);
}

/* The member that was seen first is among the deleted ones. */
static void another_existing_member_is_used_when_the_first_is_gone(void **state)
{
    struct gfixture *x = *state;
    make_ray(x);
    cleanup_free char *p = linked_ray_pod();
    cleanup_json json_t *pod = json_loads(p, 0, NULL);
    json_t *metadata = json_object_get(pod, "metadata");
    json_object_set_new(metadata, "name", json_string("q"));
    json_object_set_new(metadata, "uid", json_string("uq"));
    cleanup_free char *q = json_dumps(pod, JSON_COMPACT);
    show_pod(x, p);
    show_pod(x, q);
    until(x, count(x, W_RAYS) == 1);
    idle(x);
    fake_answer(x->w->api, "GET " POD("p"), 404, "{}");
    fake_answer(x->w->api, "GET " POD("q"), 200, q);
    answers(x, RAY_PATCH, 200, "{}");
    pushes_ray(x, RAY_OF("2", "2"));
    until(x, count(x, "GET " POD("p")) == 1); /* it still exists */
    pushes_ray(x, RAY_OF("3", "1"));
    until(x, count(x, RAY_PATCH) == 1);
    assert_int_equal(minimum_in(x, RAY_PATCH, 0), 2);
}

#define RAY_SUSPENDED                                                                              \
    "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray, namespace: ns, uid: ur, "     \
    "resourceVersion: '1', generation: 1}, spec: {suspend: true, headGroupSpec: {}, "              \
    "workerGroupSpecs: [{groupName: w, "                                                           \
    "replicas: 2, minReplicas: 2}]}}"

/* The owner may have been read before the pod was created. The pod must not be scheduled alone. */
static void a_pod_of_a_suspended_owner_waits(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    lists_rays(x, RAY_SUSPENDED);
    answers(x, MAKE, 201, "{}");
    answers(x, "GET /apis/ray.io/v1" NS "/rayclusters/other", 200,
            "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: other, namespace: ns, uid: "
            "uo}, spec: {headGroupSpec: {}}}");
    show_pod(x, POD_OF("o", "uop", "apiVersion: ray.io/v1, kind: RayCluster", "other", "uo", ""));
    until(x, count(x, W_RAYS) == 1);
    answers(x, RAY, 200, RAY_SUSPENDED);
    fake_answer(x->w->api, LINK("p"), 200, pod);
    show_pod(x, RAY_POD("p", "up"));
    until(x, count(x, RAY) == 1);
    idle(x);
    assert_non_null(strstr(state_of(x, "p"), "waits: "));
    assert_non_null(strstr(state_of(x, "p"), "suspend"));
    pushes_ray(x, RAY_OF("2", "2"));
    assert_state(x, "p", "in " RAY_MADE " as -");
}

/* If no watch covers the owner. */
static void an_owner_that_is_not_watched_is_read_again(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    answers(x, RAY, 200, RAY_SUSPENDED);
    answers(x, RAY, 200, RAY_OF("2", "2"));
    lists_rays(x, RAY_OF("2", "2"));
    answers(x, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 200, pod);
    show_pod(x, RAY_POD("p", "up"));
    until(x, strstr(state_of(x, "p"), "suspend"));
    idle(x);
    assert_int_equal(count(x, RAY), 1);
    assert_state(x, "p", "in " RAY_MADE " as -");
    assert_int_equal(count(x, RAY), 2);
}

/* ---- pods that share a PodGroup ---- */

#define RING_POD(name, uid)                                                                        \
    "{metadata: {name: " name ", namespace: ns, uid: " uid ", annotations: {muster.dev/gang: "     \
    "ring, muster.dev/min-member: '2'}}, spec: {schedulerName: kai-scheduler}}"
#define RING_PATCH "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/ring"

/* Shows the PodGroup as it was created. */
static void show_ring(struct gfixture *x, const char *version)
{
    cleanup_json json_t *made = body_of(x->w, MAKE, 0);
    json_object_set_new(json_object_get(made, "metadata"), "resourceVersion", json_string(version));
    cleanup_free char *text = json_dumps(made, JSON_COMPACT);
    show_group(x, text);
}

/* Compares the owners in a patch, and the version that it is for. */
static void assert_owners(struct gfixture *x, size_t n, const char *version, const char *want)
{
    cleanup_json json_t *patch = body_of(x->w, RING_PATCH, n);
    const json_t *metadata = json_object_get(patch, "metadata");
    const json_t *owners = json_object_get(metadata, "ownerReferences");
    cleanup_buf struct buf b = BUF_INIT;
    for (size_t i = 0; i < json_array_size(owners); i++)
        buf_printf(&b, "%s ", field_peek(json_array_get(owners, i), "name", NULL));
    assert_string_equal(buf_str(&b), want);
    assert_string_equal(field_peek(metadata, "resourceVersion", NULL), version);
}

static void show_ring_pods(struct gfixture *x)
{
    answers(x, MAKE, 201, "{}");
    answers_link(x, RING_POD("p", "up"), "p", "ring");
    answers_link(x, RING_POD("q", "uq"), "q", "ring");
    show_pod(x, RING_POD("p", "up"));
    show_pod(x, RING_POD("q", "uq"));
    assert_state(x, "p", "in ring as -");
    idle(x);
}

static void a_pod_with_another_minimum_than_the_others_waits(void **state)
{
    struct gfixture *x = *state;
    show_group(
        x,
        "{metadata: {name: ring, namespace: ns, resourceVersion: '5', annotations: "
        "{muster.dev/created-spec: '{\"minMember\":3}'}, ownerReferences: [{apiVersion: v1, kind: "
        "Pod, name: a, uid: ua}]}, spec: {minMember: 3}}");
    show_pod(x, RING_POD("p", "up"));
    assert_state(
        x, "p",
        "waits: its PodGroup cannot be created: annotation muster.dev/min-member is 2, but on "
        "earlier pods it is 3; write the same number on each pod of PodGroup ring");
    idle(x);
    assert_int_equal(count(x, RING_PATCH), 0);
    assert_int_equal(count(x, LINK("p")), 0);
}

static void pods_that_come_at_the_same_time_all_own_their_podgroup(void **state)
{
    struct gfixture *x = *state;
    answers(x, RING_PATCH, 200,
            "{metadata: {resourceVersion: '10', ownerReferences: [{uid: up}, {uid: uq}]}}");
    show_ring_pods(x);
    assert_int_equal(count(x, LINK("q")), 0); /* its ownership is written first */
    show_ring(x, "9");
    assert_state(x, "q", "in ring as -");
    assert_int_equal(count(x, RING_PATCH), 1);
    assert_owners(x, 0, "9", "p q ");
}

/* Another writer updates the status at the same time. */
static void an_owner_is_not_lost_by_a_conflict(void **state)
{
    struct gfixture *x = *state;
    fake_answer(x->w->api, RING_PATCH, 409, "{\"reason\":\"Conflict\",\"message\":\"modified\"}");
    answers(x, RING_PATCH, 200,
            "{metadata: {resourceVersion: '11', ownerReferences: [{uid: up}, {uid: uq}]}}");
    show_ring_pods(x);
    show_ring(x, "9");
    until(x, count(x, RING_PATCH) == 1);
    show_ring(x, "10");
    assert_state(x, "q", "in ring as -");
    assert_int_equal(count(x, RING_PATCH), 2);
    assert_owners(x, 1, "10", "p q ");
}

/* The old pods are deleted, and the new pods came before that. */
static void no_pod_is_linked_to_a_podgroup_that_was_just_deleted(void **state)
{
    struct gfixture *x = *state;
    fake_answer(x->w->api, RING_PATCH, 404, "{\"reason\":\"NotFound\",\"message\":\"not found\"}");
    show_group(
        x,
        "{metadata: {name: ring, namespace: ns, resourceVersion: '5', annotations: "
        "{muster.dev/created-spec: '{\"minMember\":2}'}, ownerReferences: [{apiVersion: v1, kind: "
        "Pod, name: a, uid: ua}]}, spec: {minMember: 2}}");
    answers(x, MAKE, 201, "{}");
    answers_link(x, RING_POD("p", "up"), "p", "ring");
    show_pod(x, RING_POD("p", "up"));
    until(x, count(x, RING_PATCH) == 1);
    idle(x);
    assert_int_equal(count(x, LINK("p")), 0);
    group_gone(x, "ring");
    assert_state(x, "p", "in ring as -");
    assert_int_equal(count(x, MAKE), 1);
}

/* ---- events ---- */

#define EVENT "POST /api/v1" NS "/events"

/* Each pod has its own message. The event is about the Job that they share. */
static void an_owner_of_many_invalid_pods_gets_one_event(void **state)
{
    struct gfixture *x = *state;
    answers(x, JOB, 200, JOB_OF(""));
    fake_answer(x->w->api, EVENT, 201, "{}");
    for (int i = 0; i < 5; i++) {
        cleanup_free char *pod =
            xasprintf("{metadata: {name: p%d, namespace: ns, uid: u%d, annotations: "
                      "{muster.dev/min-member: few}, ownerReferences: [{apiVersion: batch/v1, "
                      "kind: Job, name: train, uid: uj, controller: true}]}, spec: "
                      "{schedulerName: kai-scheduler}}",
                      i, i);
        show_pod(x, pod);
    }
    until(x, count(x, EVENT) >= 1);
    idle_long(x);
    assert_int_equal(count(x, EVENT), 1);
    assert_non_null(strstr(state_of(x, "p4"), "Pod ns/p4: annotation muster.dev/min-member"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GTEST(a_conflict_during_the_creation_does_not_mean_that_the_podgroup_exists),
        GTEST(a_refusal_by_a_quota_or_webhook_is_not_a_missing_right),
        GTEST(a_creation_that_is_always_refused_is_tried_less_and_less_often),
        GTEST(a_conflict_is_not_tried_again_at_full_speed),
        GTEST(T01_an_odd_number_in_an_owner_or_a_reply_does_no_harm),
        GTEST(T01_an_owner_with_too_many_values_affects_only_its_own_pods),
        GTEST(a_kind_that_is_no_longer_needed_is_not_looked_up),
        GTEST(a_huge_kind_or_uid_is_not_accepted),
        GTEST(a_configured_kind_is_updated_after_a_restart),
        GTEST(an_owner_that_changes_while_it_is_read_is_read_again),
        GTEST(the_podgroup_follows_an_owner_that_grows_during_its_creation),
        GTEST(another_existing_member_is_used_when_the_first_is_gone),
        GTEST(a_pod_of_a_suspended_owner_waits),
        GTEST(an_owner_that_is_not_watched_is_read_again),
        GTEST(a_pod_with_another_minimum_than_the_others_waits),
        GTEST(pods_that_come_at_the_same_time_all_own_their_podgroup),
        GTEST(an_owner_is_not_lost_by_a_conflict),
        GTEST(no_pod_is_linked_to_a_podgroup_that_was_just_deleted),
        GTEST(an_owner_of_many_invalid_pods_gets_one_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
