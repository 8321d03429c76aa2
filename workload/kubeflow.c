/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeflow.org: PyTorchJob, TFJob, XGBoostJob, JAXJob, MPIJob. The minimum is the number of all
 * replicas of all roles, unless the job sets a minimum. Source: KAI plugins/kubeflow
 * (distributed_common.go, pytorch_grouper.go, mpi-grouper.go).
 */
#include <inttypes.h>

#include "workload/kinds.h"

#define POLICY "spec.runPolicy.schedulingPolicy"

/* ---- replicas ---- */

static int missing(const char *path, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s is missing; write it", path);
}

static int role_replicas(const json_t *roles, const char *role, int64_t *ret, struct err *err)
{
    const json_t *spec = json_object_get(roles, role);
    *ret = 0;
    if (!json_is_object(spec))
        return err_set(err, ERR_INVALID, "replicas is missing; write the role as an object");
    if (field_count(spec, "replicas", 0, ret, err) < 0)
        return -1;
    if (*ret == 0)
        return err_set(err, ERR_INVALID,
                       "replicas is missing or 0, must be at least 1; write it, or remove the "
                       "role");
    return 0;
}

/* The sum over all roles. */
static int all_replicas(const struct workload_case *c, int64_t *ret, struct err *err)
{
    cleanup_free char *path = xasprintf("spec.%s", c->kind->field);
    const json_t *roles = NULL;
    const char *role;
    json_t *spec;
    *ret = 0;
    if (field_object(case_owner(c), path, &roles, err) < 0)
        return -1;
    if (json_object_size(roles) == 0)
        return missing(path, err);
    for (const char *const *r = c->kind->required; r && *r; r++)
        if (!json_object_get(roles, *r)) {
            cleanup_free char *role_path = xasprintf("%s.%s", path, *r);
            return missing(role_path, err);
        }
    json_object_foreach((json_t *)(uintptr_t)roles, role, spec)
    {
        char q[FIELD_QUOTED];
        int64_t n;
        (void)spec;
        if (role_replicas(roles, role, &n, err) < 0)
            return err_at(err, "%s.%s", path, read_key(role, q));
        *ret += n;
    }
    if (*ret > FIELD_MAX_COUNT)
        return err_set(err, ERR_INVALID, "%s has %" PRId64 " replicas, must be at most %d", path,
                       *ret, FIELD_MAX_COUNT);
    return 0;
}

static int too_high(const char *path, int64_t n, int64_t all, struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "%s is %" PRId64 ", but all roles together have %" PRId64
                   " replicas; lower it or raise replicas",
                   path, n, all);
}

/* Reads a minimum that the job sets. It must not exceed `all`, the number of all replicas; all 0:
 * unknown. */
static int read_minimum(const struct workload_case *c, const char *path, int64_t all,
                        struct workload_group *g, bool *ret_found, struct err *err)
{
    int64_t n = -1;
    if (field_count(case_owner(c), path, 0, &n, err) < 0)
        return -1;
    *ret_found = n >= 0;
    if (n < 0)
        return 0;
    if (all > 0 && n > all)
        return too_high(path, n, all, err);
    g->min_member = n;
    return 0;
}

int size_kubeflow(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t all = 0;
    bool found = false;
    struct err counting;
    int counted = all_replicas(c, &all, &counting);
    if (read_minimum(c, POLICY ".minAvailable", counted < 0 ? 0 : all, g, &found, err) < 0)
        return -1;
    /* If the job sets a minimum, errors in the replicas do not matter. */
    if (!found && counted < 0) {
        *err = counting;
        return -1;
    }
    if (!found)
        g->min_member = all;
    return 0;
}

/* ---- PyTorchJob ---- */

#define SPECS "spec.pytorchReplicaSpecs"

/* The annotation of the workers' template, else of the pod. 0: there are no segments. */
static int segment_size(const struct workload_case *c, int64_t *ret, struct err *err)
{
    const json_t *template = NULL;
    *ret = 0;
    if (field_object(case_owner(c), SPECS ".Worker.template", &template, err) < 0 ||
        read_annotation_count(template, KAI_SEGMENT_SIZE, 1, ret, err) < 0)
        return -1;
    if (*ret == 0 && read_annotation_count(case_pod(c), KAI_SEGMENT_SIZE, 1, ret, err) < 0)
        return in_its_pod(c, err);
    return 0;
}

/* Adds a part for each segment of `size` workers. The last one can be smaller. */
static void add_segments(struct workload_group *g, int64_t workers, int64_t least, int64_t size)
{
    int64_t n = (workers + size - 1) / size, needed = (least + size - 1) / size;
    part_of_parts(g, "worker", needed < n ? needed : -1);
    for (int64_t i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("worker-%" PRId64, i);
        part_add(g, name, "worker", i == n - 1 ? workers - i * size : size);
    }
}

static int join_pytorch(const struct workload_case *c, int64_t size, struct workload_group *g,
                        struct err *err)
{
    const json_t *pod = case_pod(c);
    const char *role = read_label(pod, "training.kubeflow.org/replica-type");
    int64_t index = -1;
    if (size == 0 || !str_eq(role, "worker")) {
        if (role)
            part_join(g, role);
        return 0;
    }
    if (read_label_count(pod, "training.kubeflow.org/replica-index", &index, err) < 0)
        return in_its_pod(c, err);
    cleanup_free char *name = xasprintf("worker-%" PRId64, index / size);
    if (index >= 0)
        part_join(g, name);
    return 0;
}

static int pytorch_parts(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *owner = case_owner(c), *master = NULL, *worker = NULL;
    int64_t masters = 0, workers = 1, size = 0;
    if (field_object(owner, SPECS ".Master", &master, err) < 0 ||
        field_object(owner, SPECS ".Worker", &worker, err) < 0 ||
        field_count(owner, SPECS ".Master.replicas", 0, &masters, err) < 0 ||
        field_count(owner, SPECS ".Worker.replicas", 0, &workers, err) < 0 ||
        segment_size(c, &size, err) < 0)
        return -1;
    if (!master && !worker)
        return missing(SPECS, err);
    if (masters > 0)
        part_add(g, "master", NULL, masters);
    int64_t least = g->min_member > masters ? g->min_member - masters : 0;
    if (!worker || (size > 0 && (workers + size - 1) / size > WORKLOAD_MAX_ROLES))
        size = 0;
    if (size > 0)
        add_segments(g, workers, least, size);
    else if (worker)
        part_add(g, "worker", NULL, least);
    return join_pytorch(c, size, g, err);
}

int size_pytorch(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t all = 0;
    bool found = false;
    if (all_replicas(c, &all, NULL) < 0)
        all = 0;
    if (size_kubeflow(c, g, err) < 0 ||
        read_minimum(c, "spec.elasticPolicy.minReplicas", all, g, &found, err) < 0)
        return -1;
    /* schedulingPolicy overrides elasticPolicy. */
    if (found && read_minimum(c, POLICY ".minAvailable", all, g, &found, err) < 0)
        return -1;
    return pytorch_parts(c, g, err);
}

/* ---- MPIJob ---- */

/*
 * A launcher that is created only when all workers are ready cannot be one of the needed members.
 * So at most all workers are needed. KAI subtracts the launcher from the minimum until its pod
 * exists, so there the minimum depends on the time.
 */
int size_mpi(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *owner = case_owner(c);
    const char *policy = NULL;
    int64_t launchers = 0, all = 0;
    if (size_kubeflow(c, g, err) < 0 ||
        field_string(owner, "spec.launcherCreationPolicy", &policy, err) < 0)
        return -1;
    if (!str_eq(policy, "WaitForWorkersReady"))
        return 0;
    if (field_count(owner, "spec.mpiReplicaSpecs.Launcher.replicas", 0, &launchers, err) < 0)
        return -1;
    if (all_replicas(c, &all, NULL) == 0 && g->min_member > all - launchers)
        g->min_member = all - launchers;
    return 0;
}

/* ---- pods ---- */

static char *lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
    return copy;
}

/* Source: training-operator pkg/controller.v1/common/pod.go, mpi-operator newWorker. */
static json_t *make_replica(const struct created_chain *c, const char *job, const json_t *template,
                            const char *role, int64_t index)
{
    cleanup_free char *name = xasprintf("%s-%s-%" PRId64, job, role, index);
    json_t *pod = created_pod(created_owner(c), template, name);
    created_label(pod, "training.kubeflow.org/job-name", job);
    created_label(pod, "training.kubeflow.org/replica-type", role);
    created_label(pod, "training.kubeflow.org/job-role", role);
    created_label_number(pod, "training.kubeflow.org/replica-index", index);
    return pod;
}

static int pods_of_role(struct created_chain *c, const struct workload_kind *kind,
                        const json_t *roles, const char *key, struct err *err)
{
    const json_t *spec = json_object_get(roles, key), *template, *job = created_owner(c);
    cleanup_free char *role = lower(key);
    int64_t n;
    if (role_replicas(roles, key, &n, err) < 0 ||
        created_template(spec, "template", &template, err) < 0)
        return -1;
    struct workload_identity w = object_identity(&job, 0);
    bool by_job = kind->size == size_mpi && strcmp(role, "launcher") == 0 &&
                  strcmp(w.api_version, "kubeflow.org/v2beta1") == 0;
    cleanup_free char *name = xasprintf("%s-%s", w.name, role);
    int r = 0;
    if (by_job)
        created_enter(c, created_object(job, "batch/v1", "Job", NULL, name));
    for (int64_t i = 0; i < n && r == 0; i++)
        r = created_tell(c, make_replica(c, w.name, template, role, i));
    if (by_job)
        created_leave(c);
    return r;
}

int pods_kubeflow(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    cleanup_free char *path = xasprintf("spec.%s", kind->field);
    const json_t *roles = NULL;
    const char *role;
    json_t *spec;
    if (field_object(created_owner(c), path, &roles, err) < 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)roles, role, spec)
    {
        char q[FIELD_QUOTED];
        (void)spec;
        int r = pods_of_role(c, kind, roles, role, err);
        if (r)
            return r < 0 ? err_at(err, "%s.%s", path, read_key(role, q)) : r;
    }
    return 0;
}
