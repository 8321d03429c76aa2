/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper_fixture.h - a grouper with a scripted API server. The test shows it pods and PodGroups,
 * as the watches would.
 */
#ifndef MUSTER_TEST_GROUPER_FIXTURE_H
#define MUSTER_TEST_GROUPER_FIXTURE_H

#include "base/map.h"
#include "k8s/grouper/grouper.h"
#include "writer_fixture.h"

#define KAI_GROUP "scheduling.run.ai"
#define NS        "/namespaces/ns"
#define JOB       "GET /apis/batch/v1" NS "/jobs/train"
#define RAY       "GET /apis/ray.io/v1" NS "/rayclusters/ray"
#define RAYS      "GET /apis/ray.io/v1/rayclusters"
#define W_RAYS    "WATCH /apis/ray.io/v1/rayclusters"
#define MAKE      "POST /apis/scheduling.run.ai/v2alpha2" NS "/podgroups"
#define LINK(p)   "PATCH " POD(p)
#define MADE      "pg-train-uj"

/* YAML of a Job, with `more` in its metadata, and of one of its pods. */
#define JOB_OF(more)                                                                               \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: ns, uid: uj, "           \
    "resourceVersion: '1', generation: 1" more "}, spec: {parallelism: 4}}"
#define GANG_OF_4 ", annotations: {kai.scheduler/batch-min-member: '4'}"
#define POD_OF(name, uid, kind, owner, owner_uid, more)                                            \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: ns, uid: " uid              \
    ", ownerReferences: [{" kind ", name: " owner ", uid: " owner_uid                              \
    ", controller: true}]}, spec: {schedulerName: kai-scheduler, containers: [{name: c}]" more     \
    "}}"
#define JOB_POD(name, uid) POD_OF(name, uid, "apiVersion: batch/v1, kind: Job", "train", "uj", "")

/* A RayCluster with one head and this many workers, one of the workers, and their PodGroup. */
#define RAY_OF(version, workers)                                                                   \
    "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray, namespace: ns, uid: ur, "     \
    "resourceVersion: '" version "', generation: " version                                         \
    "}, spec: {headGroupSpec: {}, workerGroupSpecs: [{groupName: w, replicas: " workers            \
    ", minReplicas: " workers "}]}}"
#define RAY_POD(name, uid)                                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: ns, uid: " uid              \
    ", resourceVersion: '3', labels: {ray.io/node-type: worker, ray.io/group: w}, "                \
    "ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: ray, uid: ur, "             \
    "controller: true}]}, spec: {schedulerName: kai-scheduler}}"
#define RAY_MADE  "pg-ray-ur"
#define RAY_PATCH "PATCH /apis/scheduling.run.ai/v2alpha2" NS "/podgroups/" RAY_MADE

struct gfixture {
    struct fixture *w;
    struct workload_rules rules;
    struct grouper *grouper;
    struct map pods; /* name -> "waits: …", "in GROUP as ROLE" or "alone" */
};

int grouper_set_up(void **state);
/* A grouper that never retries by itself. */
int grouper_set_up_patient(void **state);
int grouper_tear_down(void **state);

/* JSON of a YAML text; the caller frees it. */
char *json_of(const char *yaml);
/* Sets the answer of a route, in YAML. */
void answers(struct gfixture *x, const char *route, unsigned status, const char *yaml);
/* Any pod that is patched: the answer is the pod with that link. */
void answers_link(struct gfixture *x, const char *pod_yaml, const char *name, const char *group);
void show_pod(struct gfixture *x, const char *yaml);
void show_group(struct gfixture *x, const char *yaml);
void group_gone(struct gfixture *x, const char *name);
/* The list of RayClusters at the start of their watch, and what the watch shows later. */
void lists_rays(struct gfixture *x, const char *item);
void pushes_ray(struct gfixture *x, const char *item);
/* The worker p with its link, as JSON; the caller frees it. */
char *linked_ray_pod(void);
/* Sets up a RayCluster of two workers with its PodGroup, which the watch shows, and one linked pod.
 */
void make_ray(struct gfixture *x);
/* What the grouper knows about a pod. */
const char *state_of(struct gfixture *x, const char *pod);
/* Runs for a moment, in which nothing should happen. */
void idle(struct gfixture *x);

#define until(x, condition) run_until((x)->w, condition)
#define count(x, route)     fake_count((x)->w->api, route)
#define assert_state(x, pod, want)                                                                 \
    do {                                                                                           \
        usec_t limit_ = usec_now() + 10 * USEC_PER_SEC;                                            \
        while (!str_eq(state_of(x, pod), want)) {                                                  \
            if (usec_now() > limit_)                                                               \
                fail_msg("%s: got \"%s\", want \"%s\"", pod, state_of(x, pod), want);              \
            client_run((x)->w->client, 10 * USEC_PER_MSEC, (x)->w->fd);                            \
        }                                                                                          \
    } while (0)

#define PATIENT(name)                                                                              \
    cmocka_unit_test_setup_teardown(name, grouper_set_up_patient, grouper_tear_down)
#define GTEST(name) cmocka_unit_test_setup_teardown(name, grouper_set_up, grouper_tear_down)

#endif
