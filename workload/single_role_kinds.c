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

/* A Job never has more pods at once than completions that are left to be made. */
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

/* Source: KAI job_grouper.go: one, or what the Job says. */
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

/* ---- StatefulSet, ReplicaSet ---- */

int all_of_replicas(const struct workload_case *c, int64_t *ret, struct err *err)
{
    *ret = 1;
    return field_count(case_owner(c), "spec.replicas", 0, ret, err);
}

/* One pod after the other, each when the one before is ready: they never wait together. */
static int must_be_parallel(const struct workload_case *c, const char *what, struct err *err)
{
    const char *policy = NULL;
    if (field_string(case_owner(c), "spec.podManagementPolicy", &policy, err) < 0)
        return -1;
    if (str_eq(policy, "Parallel"))
        return 0;
    return err_set(
        err, ERR_INVALID,
        "annotation %s asks for several pods at once, but spec.podManagementPolicy makes "
        "one after the other; write spec.podManagementPolicy: Parallel",
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
    if (g->min_member == 0) /* may scale to nothing; who is asked for starts alone */
        g->min_member = 1;
    return 0;
}

/* ---- kinds of the configuration ---- */

static int add_count(const json_t *value, const char *where, void *arg, struct err *err)
{
    int64_t *sum = arg, n = 0;
    if (!value)
        return missing(where, "write it, or correct the path in the configuration", err);
    if (!json_is_integer(value))
        return err_set(err, ERR_INVALID,
                       "%s is no whole number; correct it, or the path in the "
                       "configuration",
                       where);
    n = json_integer_value(value);
    if (n < 0 || n > FIELD_MAX_COUNT || (*sum += n) > FIELD_MAX_COUNT)
        return err_set(err, ERR_INVALID, "%s is %" PRId64 ", must be between 0 and %d in all",
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
                       "%s is %" PRId64 ", but %s is %" PRId64 "; lower the one or raise the other",
                       c->custom->minimum, least, c->custom->replicas, all);
    g->min_member = has_minimum ? least : all;
    return 0;
}
