/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RayCluster, RayJob, RayService: the PodGroup needs the head, and the minimum of each worker
 * group. Source: KAI ray_grouper.go, which counts as KubeRay does for Volcano
 * (volcano_scheduler.go). With autoscaling, the minimum is minReplicas.
 *
 * For a RayJob or RayService, KAI reads its RayCluster. muster uses the description of the cluster
 * in the RayJob or RayService itself, so that all its pods, even the submitter, give the same
 * PodGroup.
 */
#include <inttypes.h>

#include "workload/kinds.h"

#define HEAD "headgroup"

struct worker_group {
    const char *name;
    int64_t replicas, min_replicas, hosts;
    bool suspended;
};

/* KubeRay keeps replicas between minReplicas and maxReplicas (GetWorkerGroupDesiredReplicas). If
 * these contradict each other, newer versions create no pods (ValidateRayClusterSpec). */
static int clamp_replicas(const json_t *json, struct worker_group *w, struct err *err)
{
    const json_t *most = json_object_get(json, "maxReplicas");
    int64_t max = json_is_integer(most) ? json_integer_value(most) : INT64_MAX;
    max = max > 0 ? max : 0;
    if (w->min_replicas > max && !w->suspended)
        return err_set(err, ERR_INVALID,
                       "minReplicas is %" PRId64 ", but maxReplicas is %" PRId64
                       "; raise it or lower minReplicas",
                       w->min_replicas, max);
    if (w->replicas < w->min_replicas)
        w->replicas = w->min_replicas;
    if (w->replicas > max)
        w->replicas = max;
    return 0;
}

static int read_group(const json_t *json, struct worker_group *w, struct err *err)
{
    *w = (struct worker_group){.hosts = 1};
    if (!json_is_object(json))
        return err_set(err, ERR_INVALID, "groupName is missing; write a worker group as an object");
    if (field_string(json, "groupName", &w->name, err) < 0 ||
        field_bool(json, "suspend", &w->suspended, err) < 0 ||
        field_bool(json, "suspended", &w->suspended, err) < 0 ||
        field_count(json, "replicas", 0, &w->replicas, err) < 0 ||
        field_count(json, "minReplicas", 0, &w->min_replicas, err) < 0 ||
        field_count(json, "numOfHosts", 1, &w->hosts, err) < 0)
        return -1;
    return clamp_replicas(json, w, err);
}

static int add_group(const struct worker_group *w, size_t i, bool autoscaling,
                     struct workload_group *g, struct err *err)
{
    cleanup_free char *unnamed = xasprintf("worker-group-%zu", i);
    cleanup_free char *part = name_part(w->name && *w->name ? w->name : unnamed);
    bool least = autoscaling || w->min_replicas > 0;
    int64_t pods = (least ? w->min_replicas : w->replicas) * w->hosts;
    char q[FIELD_QUOTED];
    if (w->suspended || (w->replicas == 0 && w->min_replicas == 0))
        return 0;
    if (part_exists(g, part))
        return err_set(err, ERR_INVALID,
                       "groupName is %s, as in another group; give each group a different name",
                       field_quote(w->name ? w->name : unnamed, q));
    part_add(g, part, NULL, pods);
    g->min_member += pods;
    if (g->min_member > FIELD_MAX_COUNT)
        return err_set(err, ERR_INVALID,
                       "replicas and numOfHosts add up to more than %d pods; lower them",
                       FIELD_MAX_COUNT);
    return 0;
}

/* The object with the description of the cluster, and its path there. NULL: there is none. */
static const json_t *find_cluster(const struct workload_case *c, const char **ret_path)
{
    const json_t *spec = NULL;
    *ret_path = c->kind->field;
    if (field_object(case_owner(c), c->kind->field, &spec, NULL) == 0 && spec)
        return case_owner(c);
    /* A RayJob can use an existing RayCluster. */
    for (size_t i = c->at; i-- > 1;)
        if (strcmp(object_identity(c->chain, i).kind, "RayCluster") == 0) {
            *ret_path = "spec";
            return c->chain[i];
        }
    return NULL;
}

static void join(const json_t *pod, struct workload_group *g)
{
    const char *group = read_label(pod, "ray.io/group");
    if (!group && str_eq(read_label(pod, "ray.io/node-type"), "head"))
        group = HEAD;
    if (!group)
        return;
    cleanup_free char *part = name_part(group);
    part_join(g, part);
}

int size_ray(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const char *at;
    const json_t *cluster = find_cluster(c, &at), *groups = NULL;
    bool autoscaling = false;
    if (!cluster)
        return 0;
    cleanup_free char *groups_path = xasprintf("%s.workerGroupSpecs", at);
    cleanup_free char *scaling_path = xasprintf("%s.enableInTreeAutoscaling", at);
    if (field_array(cluster, groups_path, &groups, err) < 0 ||
        field_bool(cluster, scaling_path, &autoscaling, err) < 0)
        return -1;
    if (json_array_size(groups) >= WORKLOAD_MAX_ROLES)
        return err_set(err, ERR_INVALID, "%s has %zu groups, must be fewer than %d", groups_path,
                       json_array_size(groups), WORKLOAD_MAX_ROLES);
    g->min_member = 1;
    part_add(g, HEAD, NULL, 1);
    for (size_t i = 0; i < json_array_size(groups); i++) {
        struct worker_group w;
        if (read_group(json_array_get(groups, i), &w, err) < 0 ||
            add_group(&w, i, autoscaling, g, err) < 0)
            return err_at(err, "%s[%zu]", groups_path, i);
    }
    join(case_pod(c), g);
    return 0;
}

/* ---- its pods ---- */

static json_t *make_ray_pod(const struct created_chain *c, const json_t *template,
                            const char *group, const char *type, int64_t index)
{
    const json_t *cluster = created_owner(c);
    const char *of = object_identity(&cluster, 0).name;
    cleanup_free char *name = xasprintf("%s-%s-%" PRId64, of, group, index);
    json_t *pod = created_pod(cluster, template, name);
    created_label(pod, "ray.io/cluster", of);
    created_label(pod, "ray.io/group", group);
    created_label(pod, "ray.io/node-type", type);
    return pod;
}

static int pods_of_group(struct created_chain *c, const json_t *json, size_t at, struct err *err)
{
    struct worker_group w;
    const json_t *template;
    if (read_group(json, &w, err) < 0 || created_template(json, "template", &template, err) < 0)
        return -1;
    cleanup_free char *unnamed = xasprintf("worker-group-%zu", at);
    const char *name = w.name && *w.name ? w.name : unnamed;
    int64_t n = w.suspended ? 0 : w.replicas * w.hosts;
    int r = 0;
    for (int64_t i = 0; i < n && r == 0; i++)
        r = created_tell(c, make_ray_pod(c, template, name, "worker", i));
    return r;
}

int pods_raycluster(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *cluster = created_owner(c), *head, *groups = NULL;
    (void)kind;
    if (created_template(cluster, "spec.headGroupSpec.template", &head, err) < 0 ||
        field_array(cluster, "spec.workerGroupSpecs", &groups, err) < 0)
        return -1;
    int r = created_tell(c, make_ray_pod(c, head, HEAD, "head", 0));
    for (size_t i = 0; i < json_array_size(groups) && r == 0; i++)
        if ((r = pods_of_group(c, json_array_get(groups, i), i, err)) < 0)
            return err_at(err, "spec.workerGroupSpecs[%zu]", i);
    return r;
}

/* Those of its cluster. The submitter of a RayJob starts when the cluster runs. */
int pods_of_raycluster(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *owner = created_owner(c), *spec = NULL;
    if (field_object(owner, kind->field, &spec, err) < 0)
        return -1;
    if (!spec)
        return err_set(err, ERR_INVALID, "%s is missing; it describes the pods to create",
                       kind->field);
    cleanup_free char *name = xasprintf("%s-1", object_identity(&owner, 0).name);
    cleanup_json json_t *template = json_pack("{s:O}", "spec", spec);
    created_enter(c, created_object(owner, "ray.io/v1", "RayCluster", template, name));
    int r = pods_raycluster(c, kind, err);
    created_leave(c);
    return r < 0 ? err_wrap(err, "%s, the spec of its RayCluster", kind->field) : r;
}
