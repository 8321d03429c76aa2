/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups for pods that have none, where the server, the order of events or a user is odd. */
#include "grouper_fixture.h"

#include "base/log.h"
#include "k8s/dialect_common.h"

/* Longer than idle(): what goes on for ever is seen to. */
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

/* ---- kinds ---- */

#define FOO_POD                                                                                    \
    "{metadata: {name: p, namespace: ns, uid: up, ownerReferences: [{apiVersion: example.com/v1, " \
    "kind: Foo, name: f, uid: uf, controller: true}]}, spec: {schedulerName: kai-scheduler}}"

static void a_kind_that_nobody_needs_any_more_is_not_asked_for(void **state)
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

static void a_kind_of_the_configuration_is_followed_after_a_restart(void **state)
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
                  "{muster.dev/made: '{\"minMember\":2}'}, ownerReferences: [{apiVersion: "
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

static void an_owner_that_changes_while_it_is_read_is_read_well(void **state)
{
    struct gfixture *x = *state;
    cleanup_free char *pod = linked_ray_pod();
    cleanup_free char *old = json_of(RAY_OF("1", "2"));
    fake_answer_late(x->w->api, RAY, 200, old);
    lists_rays(x, RAY_OF("1", "2"));
    fake_answer(x->w->api, "GET " POD("p"), 200, pod);
    answers(x, RAY_PATCH, 200, "{}");
    grouper_ready(x->grouper, &dialect_kai, false);
    show_pod(x, pod);
    show_group(x, "{metadata: {name: " RAY_MADE ", namespace: ns, resourceVersion: '9', "
                  "annotations: {muster.dev/made: '{\"minMember\":3,\"subGroups\":[{\"name\":"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        GTEST(a_kind_that_nobody_needs_any_more_is_not_asked_for),
        GTEST(a_kind_of_the_configuration_is_followed_after_a_restart),
        GTEST(an_owner_that_changes_while_it_is_read_is_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
