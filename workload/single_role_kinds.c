/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of kinds without parts: Job, StatefulSet, ReplicaSet, Knative's Revision, and kinds that
 * the configuration adds. */
#include <inttypes.h>

#include "workload/kinds.h"

static int missing(const char *path, const char *remedy, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s is missing; %s", path, remedy);
}

/* ---- Job ---- */

/* A Job never has more pods at once than completions. */
int job_pods(const json_t *object, const char *path, int64_t *ret, struct err *err)
{
    cleanup_free char *parallelism = xasprintf("%s.parallelism", path);
    cleanup_free char *completions = xasprintf("%s.completions", path);
    int64_t most = FIELD_MAX_COUNT;
    *ret = 1;
    if (field_count(object, parallelism, 0, ret, err) < 0 ||
        field_count(object, completions, 0, &most, err) < 0)
        return -1;
    if (most < *ret)
        *ret = most;
    return 0;
}

int all_of_job(const struct workload_case *c, int64_t *ret, struct err *err)
{
    return job_pods(case_owner(c), "spec", ret, err);
}

/* The minimum is 1, or the number in the Job's annotation. Source: KAI job_grouper.go. */
int size_job(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t pods;
    if (all_of_job(c, &pods, err) < 0 ||
        read_annotation_count(c->marks, KAI_MIN_MEMBER, 1, &g->min_member, err) < 0)
        return -1;
    if (read_annotation(c->marks, KAI_MIN_MEMBER) && g->min_member > pods)
        return err_set(err, ERR_INVALID,
                       "annotation " KAI_MIN_MEMBER " is %" PRId64 ", but only %" PRId64
                       " pods run at once; lower it, or raise spec.parallelism (and "
                       "spec.completions)",
                       g->min_member, pods);
    return 0;
}

json_t *workload_job_pod(const json_t *job, int64_t index)
{
    const json_t *spec = json_object_get(job, "spec");
    const char *name = object_identity(&job, 0).name;
    cleanup_free char *pod_name = xasprintf("%s-%" PRId64, name, index);
    json_t *pod = created_pod(job, json_object_get(spec, "template"), pod_name);
    created_label(pod, "job-name", name);
    created_label(pod, "batch.kubernetes.io/job-name", name);
    if (str_eq(read_text(spec, "completionMode"), "Indexed"))
        created_annotation_number(pod, "batch.kubernetes.io/job-completion-index", index);
    return pod;
}

int pods_job(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *job = created_owner(c), *template;
    int64_t n;
    int r = 0;
    (void)kind;
    if (created_template(job, "spec.template", &template, err) < 0 ||
        job_pods(job, "spec", &n, err) < 0)
        return -1;
    for (int64_t i = 0; i < n && r == 0; i++)
        r = created_tell(c, workload_job_pod(job, i));
    return r;
}

/* One run of it. */
int pods_cronjob(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *owner = created_owner(c), *template = NULL;
    if (field_object(owner, "spec.jobTemplate", &template, err) < 0)
        return -1;
    cleanup_free char *name = xasprintf("%s-1", object_identity(&owner, 0).name);
    created_enter(c, created_object(owner, "batch/v1", "Job", template, name));
    int r = pods_job(c, kind, err);
    created_leave(c);
    return r < 0 ? err_at(err, "spec.jobTemplate") : r;
}

/* ---- StatefulSet, ReplicaSet, Deployment ---- */

int pods_replicas(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *owner = created_owner(c), *template;
    int64_t n = 1;
    int r = 0;
    (void)kind;
    if (created_template(owner, "spec.template", &template, err) < 0 ||
        field_count(owner, "spec.replicas", 0, &n, err) < 0)
        return -1;
    for (int64_t i = 0; i < n && r == 0; i++) {
        cleanup_free char *name = xasprintf("%s-%" PRId64, object_identity(&owner, 0).name, i);
        json_t *pod = created_pod(owner, template, name);
        created_label_number(pod, "apps.kubernetes.io/pod-index", i);
        r = created_tell(c, pod);
    }
    return r;
}

int pods_deployment(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *owner = created_owner(c);
    cleanup_free char *name = xasprintf("%s-1", object_identity(&owner, 0).name);
    cleanup_json json_t *template = json_pack("{s:O?}", "spec", json_object_get(owner, "spec"));
    created_enter(c, created_object(owner, "apps/v1", "ReplicaSet", template, name));
    int r = pods_replicas(c, kind, err);
    created_leave(c);
    return r;
}

int all_of_replicas(const struct workload_case *c, int64_t *ret, struct err *err)
{
    *ret = 1;
    return field_count(case_owner(c), "spec.replicas", 0, ret, err);
}

/* Without Parallel, a StatefulSet creates a pod only when the one before it is ready, so several
 * pods never wait together. */
static int must_be_parallel(const struct workload_case *c, const char *what, struct err *err)
{
    const char *policy = NULL;
    if (field_string(case_owner(c), "spec.podManagementPolicy", &policy, err) < 0)
        return -1;
    if (str_eq(policy, "Parallel"))
        return 0;
    return err_set(err, ERR_INVALID,
                   "annotation %s asks for several pods at once, but spec.podManagementPolicy "
                   "creates pods one by one; write spec.podManagementPolicy: Parallel",
                   what);
}

int all_of_statefulset(const struct workload_case *c, int64_t *ret, struct err *err)
{
    if (all_of_replicas(c, ret, err) < 0)
        return -1;
    return *ret > 1 ? must_be_parallel(c, c->asked_by, err) : 0;
}

/* Source: KAI statefulset_grouper.go. */
int size_statefulset(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    static const char key[] = "kai.scheduler/min-member";
    if (read_annotation_count(c->marks, key, 1, &g->min_member, err) < 0)
        return -1;
    return g->min_member > 1 ? must_be_parallel(c, key, err) : 0;
}

/* ---- Knative ---- */

/* Source: KAI knative.go. */
int size_revision(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    static const char key[] = "autoscaling.knative.dev/min-scale";
    if (read_annotation_count(c->marks, key, 0, &g->min_member, err) < 0)
        return -1;
    if (g->min_member == 0) /* it can scale to zero, and then each pod starts by itself */
        g->min_member = 1;
    return 0;
}

/* ---- kinds that the configuration adds ---- */

static int add_count(const json_t *value, const char *where, void *arg, struct err *err)
{
    int64_t *sum = arg, n = 0;
    if (!value)
        return missing(where, "write it, or correct the path in the configuration", err);
    if (!json_is_integer(value))
        return err_set(err, ERR_INVALID,
                       "%s is not a whole number; correct it, or the path in the configuration",
                       where);
    n = json_integer_value(value);
    if (n < 0 || n > FIELD_MAX_COUNT || (*sum += n) > FIELD_MAX_COUNT)
        return err_set(err, ERR_INVALID, "%s is %" PRId64 ", but the sum must be between 0 and %d",
                       where, n, FIELD_MAX_COUNT);
    return 0;
}

static int any_count(const json_t *value, const char *where, void *arg, struct err *err)
{
    (void)where;
    (void)err;
    *(bool *)arg |= value != NULL;
    return 0;
}

int size_custom(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *owner = case_owner(c);
    int64_t all = 0, least = 0;
    bool has_minimum = false;
    if (read_each(owner, c->custom->replicas, add_count, &all, err) < 0)
        return -1;
    if (c->custom->minimum &&
        read_each(owner, c->custom->minimum, any_count, &has_minimum, err) < 0)
        return -1;
    if (has_minimum && read_each(owner, c->custom->minimum, add_count, &least, err) < 0)
        return -1;
    if (least > all)
        return err_set(err, ERR_INVALID,
                       "%s is %" PRId64 ", but %s is %" PRId64
                       "; lower the first or raise the second",
                       c->custom->minimum, least, c->custom->replicas, all);
    g->min_member = has_minimum ? least : all;
    return 0;
}
