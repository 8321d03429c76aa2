/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/kinds.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

#define RAY(kind_, plural_, field_, pods_, suspend_)                                               \
    {                                                                                              \
        .group = "ray.io", .versions = LIST("v1", "v1alpha1"), .kind = kind_, .plural = plural_,   \
        .size = size_ray, .pods = pods_, .field = field_, .suspend = suspend_, .together = true,   \
        .templates = LIST(field_ ".headGroupSpec.template.metadata.labels",                        \
                          field_ ".workerGroupSpecs[*].template.metadata.labels"),                 \
    }

#define KUBEFLOW(versions_, kind_, plural_, size_, field_, required_)                              \
    {                                                                                              \
        .group = "kubeflow.org", .versions = versions_, .kind = kind_, .plural = plural_,          \
        .size = size_, .pods = pods_kubeflow, .field = field_, .required = required_,              \
        .suspend = "spec.runPolicy.suspend", .together = true,                                     \
        .templates = LIST("spec." field_ ".*.template.metadata.labels"),                           \
    }

/* A kind that wraps a workload of another kind, whose rule counts. */
#define WRAPPER(group_, versions_, kind_, plural_, instead_)                                       \
    {                                                                                              \
        .group = group_, .versions = versions_, .kind = kind_, .plural = plural_,                  \
        .instead = instead_,                                                                       \
    }

#define PLAIN(group_, versions_, kind_, plural_)                                                   \
    {                                                                                              \
        .group = group_, .versions = versions_, .kind = kind_, .plural = plural_,                  \
    }

/* Source: KAI-Scheduler pkg/podgrouper/podgrouper/hub and plugins. */
static const struct workload_kind kinds[] = {
    {
        .group = "",
        .versions = LIST("v1"),
        .kind = "Pod",
        .plural = "pods",
        .pods = pods_pod,
    },
    {
        .group = "batch",
        .versions = LIST("v1"),
        .kind = "Job",
        .plural = "jobs",
        .size = size_job,
        .all = all_of_job,
        .pods = pods_job,
        .suspend = "spec.suspend",
    },
    {
        .group = "batch",
        .versions = LIST("v1"),
        .kind = "CronJob",
        .plural = "cronjobs",
        .pods = pods_cronjob,
        .instead = "Job",
    },
    {
        .group = "apps",
        .versions = LIST("v1"),
        .kind = "StatefulSet",
        .plural = "statefulsets",
        .size = size_statefulset,
        .all = all_of_statefulset,
        .pods = pods_replicas,
    },
    {
        .group = "apps",
        .versions = LIST("v1"),
        .kind = "ReplicaSet",
        .plural = "replicasets",
        .all = all_of_replicas,
        .pods = pods_replicas,
    },
    {
        .group = "apps",
        .versions = LIST("v1"),
        .kind = "Deployment",
        .plural = "deployments",
        .pods = pods_deployment,
        .per_pod = true,
    },
    {
        .group = "jobset.x-k8s.io",
        .versions = LIST("v1alpha2"),
        .kind = "JobSet",
        .plural = "jobsets",
        .size = size_jobset,
        .pods = pods_jobset,
        .suspend = "spec.suspend",
        .together = true,
        .templates = LIST("spec.replicatedJobs[*].template.spec.template.metadata.labels"),
    },
    {
        .group = "leaderworkerset.x-k8s.io",
        .versions = LIST("v1"),
        .kind = "LeaderWorkerSet",
        .plural = "leaderworkersets",
        .size = size_lws,
        .pods = pods_lws,
        .together = true,
        .templates = LIST("spec.leaderWorkerTemplate.leaderTemplate.metadata.labels",
                          "spec.leaderWorkerTemplate.workerTemplate.metadata.labels"),
    },
    RAY("RayCluster", "rayclusters", "spec", pods_raycluster, "spec.suspend"),
    RAY("RayJob", "rayjobs", "spec.rayClusterSpec", pods_of_raycluster, "spec.suspend"),
    RAY("RayService", "rayservices", "spec.rayClusterConfig", pods_of_raycluster, NULL),
    KUBEFLOW(LIST("v1"), "PyTorchJob", "pytorchjobs", size_pytorch, "pytorchReplicaSpecs", NULL),
    KUBEFLOW(LIST("v1"), "TFJob", "tfjobs", size_kubeflow, "tfReplicaSpecs", NULL),
    KUBEFLOW(LIST("v1"), "XGBoostJob", "xgboostjobs", size_kubeflow, "xgbReplicaSpecs",
             LIST("Master", "Worker")),
    KUBEFLOW(LIST("v1"), "JAXJob", "jaxjobs", size_kubeflow, "jaxReplicaSpecs", LIST("Worker")),
    KUBEFLOW(LIST("v1", "v2beta1"), "MPIJob", "mpijobs", size_mpi, "mpiReplicaSpecs",
             LIST("Launcher", "Worker")),
    PLAIN("kubeflow.org", LIST("v1beta1"), "Notebook", "notebooks"),
    PLAIN("kubeflow.org", LIST("v1alpha1"), "ScheduledWorkflow", "scheduledworkflows"),
    PLAIN("sparkoperator.k8s.io", LIST("v1beta2"), "SparkApplication", "sparkapplications"),
    PLAIN("machinelearning.seldon.io", LIST("v1", "v1alpha2"), "SeldonDeployment",
          "seldondeployments"),
    PLAIN("kubevirt.io", LIST("v1"), "VirtualMachineInstance", "virtualmachineinstances"),
    PLAIN("workspace.devfile.io", LIST("v1alpha2"), "DevWorkspace", "devworkspaces"),
    PLAIN("tekton.dev", LIST("v1"), "PipelineRun", "pipelineruns"),
    PLAIN("tekton.dev", LIST("v1"), "TaskRun", "taskruns"),
    {
        .group = "serving.knative.dev",
        .versions = LIST("v1"),
        .kind = "Revision",
        .plural = "revisions",
        .size = size_revision,
    },
    PLAIN("serving.knative.dev", LIST("v1"), "Configuration", "configurations"),
    WRAPPER("serving.knative.dev", LIST("v1"), "Service", "services", "Revision"),
    WRAPPER("argoproj.io", LIST("v1alpha1"), "Workflow", "workflows", "*"),
    WRAPPER("trainer.kubeflow.org", LIST("v1alpha1"), "TrainJob", "trainjobs", "*"),
    WRAPPER("nvidia.com", NULL, "DynamoGraphDeployment", "dynamographdeployments", "*"),
    WRAPPER("run.ai", NULL, "TrainingWorkload", "trainingworkloads", "*"),
    WRAPPER("run.ai", NULL, "InteractiveWorkload", "interactiveworkloads", "*"),
    WRAPPER("run.ai", NULL, "DistributedWorkload", "distributedworkloads", "*"),
    WRAPPER("run.ai", NULL, "InferenceWorkload", "inferenceworkloads", "*"),
    WRAPPER("run.ai", NULL, "DistributedInferenceWorkload", "distributedinferenceworkloads", "*"),
    WRAPPER("run.ai", NULL, "WorkloadRunner", "workloadrunners", "*"),
};

static const struct workload_kind unknown_kind = {.group = "", .kind = "", .plural = NULL};

static bool has_version(const struct workload_kind *k, const char *version)
{
    for (const char *const *v = k->versions; v && *v; v++)
        if (strcmp(*v, version) == 0)
            return true;
    return !k->versions;
}

const struct workload_kind *workload_kind_at(size_t i)
{
    return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}

const struct workload_kind *workload_kind(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].kind, kind) == 0 && strlen(kinds[i].group) == len &&
            strncmp(kinds[i].group, api_version, len) == 0 &&
            has_version(&kinds[i], slash ? slash + 1 : api_version))
            return &kinds[i];
    return &unknown_kind;
}

const char *workload_plural(const char *api_version, const char *kind)
{
    return workload_kind(api_version, kind)->plural;
}

bool workload_scales(const struct workload_rules *rules, const char *api_version, const char *kind)
{
    const struct workload_kind *k = workload_kind(api_version, kind);
    return k->size || k->all || k->suspend || custom_kind(rules, api_version, kind);
}
