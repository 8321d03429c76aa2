/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods that controllers create, and the PodGroup that each of them leads to. The workloads are
 * those of examples/workloads, whose README files describe the PodGroups.
 */
#include <stdio.h>

#include "base/buf.h"
#include "k8s/encoding/yaml_to_json.h"
#include "test/lib/yaml_object.h"
#include "workload/kinds.h"
#include "workload_fixture.h"

struct seen {
    struct workload_rules rules;
    struct buf text; /* "COUNT PODGROUP", a line for equal pods one after the other */
    char *last;
    int count, pods, most;
};

static void put_last(struct seen *s)
{
    if (s->last)
        buf_printf(&s->text, "%d %s\n", s->count, s->last);
    free(STEAL(s->last));
    s->count = 0;
}

/* Each pod has a name, a UID and a spec, and belongs to the object above it. */
static void check_pod(const json_t *const *chain, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct workload_identity w = object_identity(chain, i);
        assert_true(*w.name && w.uid && *w.uid);
        assert_string_equal(w.ns, object_identity(chain + n - 1, 0).ns);
        struct workload_ref ref;
        if (i + 1 == n)
            break;
        assert_true(workload_owner(&(struct workload_rules){.on = true}, chain[i], &ref));
        assert_string_equal(ref.uid, object_identity(chain + i + 1, 0).uid);
        workload_ref_done(&ref);
    }
    assert_true(json_is_array(json_object_get(json_object_get(chain[0], "spec"), "containers")));
}

static bool see(void *arg, const json_t *const *chain, size_t n)
{
    struct seen *s = arg;
    check_pod(chain, n);
    char *words = fixture_ask(&s->rules, chain, n);
    if (s->last && strcmp(words, s->last) != 0)
        put_last(s);
    free(s->last);
    s->last = words;
    s->count++;
    return ++s->pods != s->most;
}

/* The pods of the object as text; the caller frees it. most 0: all pods. */
static char *pods_of(json_t *object, int most)
{
    struct seen s = {.rules = fixture_rules(), .text = BUF_INIT, .most = most};
    struct err err;
    json_object_set_new(json_object_get(object, "metadata"), "uid", json_string("uid"));
    int r = workload_pods(object, see, &s, &err);
    put_last(&s);
    if (r < 0)
        buf_printf(&s.text, "error: %s\n", err.text);
    if (r == WORKLOAD_UNKNOWN)
        buf_puts(&s.text, "unknown\n");
    if (r == WORKLOAD_STOPPED)
        buf_puts(&s.text, "stopped\n");
    return buf_steal(&s.text);
}

static void expect(const char *what, json_t *object, int most, const char *want)
{
    cleanup_free char *got = pods_of(object, most);
    if (strcmp(got, want) != 0)
        fail_msg("%s\n  got:\n%s\n  want:\n%s", what, got, want);
}

static void expect_yaml(const char *yaml, const char *want)
{
    cleanup_json json_t *object = yaml_object(yaml);
    expect(yaml, object, 0, want);
}

#define KAI "scheduling.run.ai "
#define JOBSET_AS(role)                                                                            \
    KAI "pg-pretrain-uid min 5 children 2 [driver children 1] [driver-replica-0 in driver 1] "     \
        "[workers children 2] [workers-replica-0 in workers 2] [workers-replica-1 in workers 2] "  \
        "as " role " of jobset.x-k8s.io/v1alpha2/JobSet/pretrain uid\n"
#define LWS_AS(group, role)                                                                        \
    KAI "pg-serving-uid-group-" group " min 3 [leader 1] [workers 2] as " role                     \
        " of leaderworkerset.x-k8s.io/v1/LeaderWorkerSet/serving uid\n"
#define RAY_AS(kind, name, parts, role)                                                            \
    KAI "pg-" name "-uid min " parts " as " role " of ray.io/v1/" kind "/" name " uid\n"
#define DDP_AS(role)                                                                               \
    KAI "pg-ddp-uid min 4 [master 1] [worker 3] as " role " of kubeflow.org/v1/PyTorchJob/ddp "    \
        "uid\n"

static const struct {
    const char *file, *pods;
} examples[] = {
    {"job/job.yaml", "4 " KAI "pg-train-uid min 4 annotations kai.scheduler/batch-min-member=4 "
                     "of batch/v1/Job/train uid\n"},
    {"indexed-job/indexed-job.yaml", "3 " KAI "pg-ranks-uid min 3 of batch/v1/Job/ranks uid\n"},
    {"cronjob/cronjob.yaml", "3 " KAI "pg-nightly-1-uid.nightly-1 min 3 annotations "
                             "kai.scheduler/batch-min-member=3 of batch/v1/Job/nightly-1 "
                             "uid.nightly-1\n"},
    {"statefulset/statefulset.yaml", "3 scheduling.volcano.sh podgroup-uid min 3 resources "
                                     "nvidia.com/gpu=3 of apps/v1/StatefulSet/shards uid\n"},
    {"deployment/deployment.yaml", "2 scheduling.volcano.sh podgroup-uid.servers-1 min 1 resources "
                                   "nvidia.com/gpu=1 of apps/v1/ReplicaSet/servers-1 "
                                   "uid.servers-1\n"},
    {"jobset/jobset.yaml", "1 " JOBSET_AS("driver-replica-0") "2 " JOBSET_AS(
                               "workers-replica-0") "2 " JOBSET_AS("workers-replica-1")},
    {"leaderworkerset/leaderworkerset.yaml",
     "1 " LWS_AS("0", "leader") "2 " LWS_AS("0", "workers") "1 " LWS_AS("1", "leader") "2 " LWS_AS(
         "1", "workers")},
    {"raycluster/raycluster.yaml",
     "1 " RAY_AS("RayCluster", "ray", "4 [headgroup 1] [gpu 3]",
                 "headgroup") "3 " RAY_AS("RayCluster", "ray", "4 [headgroup 1] [gpu 3]", "gpu")},
    {"rayjob/rayjob.yaml",
     "1 " RAY_AS("RayJob", "tune", "3 [headgroup 1] [gpu 2]",
                 "headgroup") "2 " RAY_AS("RayJob", "tune", "3 [headgroup 1] [gpu 2]", "gpu")},
    {"rayservice/rayservice.yaml",
     "1 " RAY_AS("RayService", "chat", "3 [headgroup 1] [gpu 2]",
                 "headgroup") "2 " RAY_AS("RayService", "chat", "3 [headgroup 1] [gpu 2]", "gpu")},
    {"pytorchjob/pytorchjob.yaml", "1 " DDP_AS("master") "3 " DDP_AS("worker")},
    {"tfjob/tfjob.yaml", "3 " KAI "pg-mnist-uid min 3 of kubeflow.org/v1/TFJob/mnist uid\n"},
    {"xgboostjob/xgboostjob.yaml",
     "3 " KAI "pg-churn-uid min 3 of kubeflow.org/v1/XGBoostJob/churn uid\n"},
    {"mpijob/mpijob.yaml",
     "4 " KAI "pg-allreduce-uid min 4 of kubeflow.org/v2beta1/MPIJob/allreduce uid\n"},
    {"plain-pods/pods.yaml", "1 " KAI "peers min 3 of v1/Pod/peer-2 uid shared\n"},
};

static void W01_created_pods_lead_to_the_podgroup_of_their_workload(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct err err;
        cleanup_free char *path = xasprintf("examples/workloads/%s", examples[i].file);
        cleanup_json json_t *docs = yaml_load(path, &err);
        assert_non_null(docs);
        expect(path, json_array_get(docs, json_array_size(docs) - 1), 0, examples[i].pods);
    }
}

#define POD "spec: {schedulerName: kai-scheduler, containers: [{name: c}]}"

/* A part of a pod depends on its index. */
static void pods_know_their_index(void **state)
{
    (void)state;
    expect_yaml(
        "apiVersion: kubeflow.org/v1\n"
        "kind: PyTorchJob\n"
        "metadata: {name: p}\n"
        "spec:\n"
        "  pytorchReplicaSpecs:\n"
        "    Worker:\n"
        "      replicas: 3\n"
        "      template: {metadata: {annotations: {kai.scheduler/segment-size: '2'}}, " POD "}\n",
        "2 " KAI "pg-p-uid min 3 [worker children -1] [worker-0 in worker 2] [worker-1 in worker "
        "1] as worker-0 of kubeflow.org/v1/PyTorchJob/p uid\n"
        "1 " KAI "pg-p-uid min 3 [worker children -1] [worker-0 in worker 2] [worker-1 in worker "
        "1] as worker-1 of kubeflow.org/v1/PyTorchJob/p uid\n");
    cleanup_json json_t *job = yaml_object("apiVersion: batch/v1\n"
                                           "kind: Job\n"
                                           "metadata: {name: j, uid: u}\n"
                                           "spec:\n"
                                           "  completionMode: Indexed\n"
                                           "  template: {" POD "}\n");
    cleanup_json json_t *pod = workload_job_pod(job, 7);
    assert_string_equal(read_text(pod, "metadata.name"), "j-7");
    assert_string_equal(read_annotation(pod, "batch.kubernetes.io/job-completion-index"), "7");
    assert_string_equal(read_label(pod, "batch.kubernetes.io/job-name"), "j");
    assert_null(json_object_get(json_object_get(json_object_get(job, "spec"), "template"),
                                "metadata")); /* the Job has not changed */
}

/* Under Volcano's rules the owner next to the pod counts. */
static void the_owners_between_are_those_of_the_controllers(void **state)
{
    (void)state;
    expect_yaml("apiVersion: kubeflow.org/v2beta1\n"
                "kind: MPIJob\n"
                "metadata: {name: m}\n"
                "spec:\n"
                "  mpiReplicaSpecs:\n"
                "    Launcher: {replicas: 1, template: {spec: {schedulerName: volcano, containers: "
                "[{name: c}]}}}\n"
                "    Worker: {replicas: 2, template: {spec: {schedulerName: volcano, containers: "
                "[{name: c}]}}}\n",
                "1 scheduling.volcano.sh podgroup-uid.m-launcher min 1 of batch/v1/Job/m-launcher "
                "uid.m-launcher\n"
                "2 scheduling.volcano.sh podgroup-uid min 1 of kubeflow.org/v2beta1/MPIJob/m "
                "uid\n");
    expect_yaml("apiVersion: leaderworkerset.x-k8s.io/v1\n"
                "kind: LeaderWorkerSet\n"
                "metadata: {name: l}\n"
                "spec:\n"
                "  leaderWorkerTemplate:\n"
                "    size: 3\n"
                "    workerTemplate: {spec: {schedulerName: volcano, containers: [{name: c}]}}\n",
                "1 scheduling.volcano.sh podgroup-uid.l min 1 of apps/v1/StatefulSet/l uid.l\n"
                "2 scheduling.volcano.sh podgroup-uid.l.l-0.l-0 min 1 of apps/v1/StatefulSet/l-0 "
                "uid.l.l-0.l-0\n");
    expect_yaml("apiVersion: jobset.x-k8s.io/v1alpha2\n"
                "kind: JobSet\n"
                "metadata: {name: s}\n"
                "spec:\n"
                "  replicatedJobs:\n"
                "  - name: w\n"
                "    replicas: 2\n"
                "    template: {spec: {parallelism: 2, completions: 2, template: {spec: "
                "{schedulerName: volcano, containers: [{name: c}]}}}}\n",
                "2 scheduling.volcano.sh podgroup-uid.s-w-0 min 1 of batch/v1/Job/s-w-0 uid.s-w-0\n"
                "2 scheduling.volcano.sh podgroup-uid.s-w-1 min 1 of batch/v1/Job/s-w-1 "
                "uid.s-w-1\n");
}

static void KubeRay_creates_at_least_minReplicas_workers(void **state)
{
    (void)state;
    expect_yaml("apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\n"
                "spec: {headGroupSpec: {template: {" POD "}}, workerGroupSpecs: [{groupName: w, "
                "minReplicas: 2, maxReplicas: 10, template: {" POD "}}]}\n",
                "1 " RAY_AS("RayCluster", "r", "3 [headgroup 1] [w 2]", "headgroup") "2 " RAY_AS(
                    "RayCluster", "r", "3 [headgroup 1] [w 2]", "w"));
}

static void errors_name_the_field(void **state)
{
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true}\n",
         "error: spec.suspend is true, so that it creates no pods; set it to false\n"},
        {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 2}\n",
         "error: spec.template.spec is missing; it describes the pods to create\n"},
        {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
         "spec: {parallelism: many, template: {" POD "}}\n",
         "error: spec.parallelism is a string, must be a whole number\n"},
        {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec: {}\n",
         "error: spec.jobTemplate.spec.template.spec is missing; it describes the pods to "
         "create\n"},
        {"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\n"
         "spec: {replicatedJobs: [{name: w, template: {spec: {}}}]}\n",
         "error: spec.replicatedJobs[0].template.spec.template.spec is missing; it describes the "
         "pods to create\n"},
        {"apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\n"
         "spec: {headGroupSpec: {template: {" POD "}}, workerGroupSpecs: [{groupName: w, replicas: "
         "1}]}\n",
         "1 " KAI "pg-r-uid min 2 [headgroup 1] [w 1] as headgroup of ray.io/v1/RayCluster/r uid\n"
         "error: spec.workerGroupSpecs[0].template.spec is missing; it describes "
         "the pods to create\n"},
        {"apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: r}\nspec: {}\n",
         "error: spec.rayClusterSpec is missing; it describes the pods to create\n"},
        {"apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: t}\n"
         "spec: {tfReplicaSpecs: {Worker: {replicas: 2}}}\n",
         "error: spec.tfReplicaSpecs.Worker.template.spec is missing; it describes the pods to "
         "create\n"},
        {"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\n"
         "spec: {}\n",
         "error: spec.leaderWorkerTemplate.workerTemplate.spec is missing; it describes the pods "
         "to create\n"},
        {"apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", "unknown\n"},
        {"apiVersion: example.com/v1\nkind: TrainSet\nmetadata: {name: s}\n", "unknown\n"},
        {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
         "spec: {parallelism: 0, template: {" POD "}}\n",
         ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_yaml(cases[i].yaml, cases[i].want);
}

/* A million replicas cost no more than the pods that the caller takes. */
static void the_caller_may_stop(void **state)
{
    static const char *const huge[] = {
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n"
        "spec: {parallelism: 1000000, template: {" POD "}}\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"
        "spec: {replicas: 1000000, template: {" POD "}}\n",
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: x}\n"
        "spec: {replicatedJobs: [{name: w, replicas: 1000, template: {spec: {parallelism: 1000, "
        "template: {" POD "}}}}]}\n",
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: x}\n"
        "spec: {replicas: 1000000, leaderWorkerTemplate: {size: 1000000, workerTemplate: {" POD
        "}}}\n",
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: x}\n"
        "spec: {headGroupSpec: {template: {" POD "}}, workerGroupSpecs: [{groupName: w, replicas: "
        "1000, numOfHosts: 1000, maxReplicas: 1000, template: {" POD "}}]}\n",
        "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: x}\n"
        "spec: {tfReplicaSpecs: {Worker: {replicas: 1000000, template: {" POD "}}}}\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(huge); i++) {
        cleanup_json json_t *object = yaml_object(huge[i]);
        cleanup_free char *got = pods_of(object, 5);
        assert_non_null(strstr(got, "stopped\n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(W01_created_pods_lead_to_the_podgroup_of_their_workload),
        cmocka_unit_test(pods_know_their_index),
        cmocka_unit_test(the_owners_between_are_those_of_the_controllers),
        cmocka_unit_test(KubeRay_creates_at_least_minReplicas_workers),
        cmocka_unit_test(errors_name_the_field),
        cmocka_unit_test(the_caller_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
