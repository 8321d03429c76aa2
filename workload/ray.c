/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RayCluster, RayJob, RayService: the head, and of each worker group so many hosts as must be there
 * at least. Source: KAI ray_grouper.go, which counts as KubeRay does for Volcano
 * (volcano_scheduler.go): the minimum where workers come and go by themselves.
 *
 * KAI reads the RayCluster of a RayJob or RayService; here the cluster that these describe
 * themselves counts, so that all their pods, the submitter's too, give the same answer.
 */
#include <inttypes.h>

#include "workload/kinds.h"

#define HEAD "headgroup"

struct worker_group {
    const char *name;
    int64_t replicas, min_replicas, hosts;
    bool suspended;
};

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
    /* KubeRay goes no further than maxReplicas, whatever replicas says. */
    const json_t *most = json_object_get(json, "maxReplicas");
    if (json_is_integer(most) && json_integer_value(most) < w->replicas)
        w->replicas = json_integer_value(most) > 0 ? json_integer_value(most) : 0;
    if (w->min_replicas > w->replicas && !w->suspended)
        return err_set(err, ERR_INVALID,
                       "minReplicas is %" PRId64 ", but replicas (or maxReplicas) is %" PRId64
                       "; raise that or lower minReplicas",
                       w->min_replicas, w->replicas);
    return 0;
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
                       "groupName is %s, which another group has; give each a name of its own",
                       field_quote(w->name ? w->name : unnamed, q));
    part_add(g, part, NULL, pods);
    g->min_member += pods;
    if (g->min_member > FIELD_MAX_COUNT)
        return err_set(err, ERR_INVALID,
                       "replicas and numOfHosts add up to more than %d pods; lower them",
                       FIELD_MAX_COUNT);
    return 0;
}

/* The path of the cluster's description, and the object it is in. */
static const json_t *find_cluster(const struct workload_case *c, const char **ret_path)
{
    const json_t *spec = NULL;
    *ret_path = c->kind->field;
    if (field_object(case_owner(c), c->kind->field, &spec, NULL) == 0 && spec)
        return case_owner(c);
    /* A RayJob that uses a cluster which is there already. */
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
