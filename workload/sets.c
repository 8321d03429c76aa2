/* SPDX-License-Identifier: Apache-2.0 */
/* JobSet and LeaderWorkerSet: groups of pods inside a group. Source: KAI jobset_grouper.go and
 * lws_grouper.go. */
#include <inttypes.h>

#include "workload/kinds.h"

/* ---- JobSet ---- */

struct replicated_job {
    const char *name;
    int64_t replicas; /* Jobs */
    int64_t pods;     /* of each that are needed */
    bool later;       /* made when another one is ready or complete */
};

static int read_job(const json_t *json, struct replicated_job *j, struct err *err)
{
    const json_t *template = NULL, *depends = NULL;
    *j = (struct replicated_job){.replicas = 1};
    if (!json_is_object(json))
        return err_set(err, ERR_INVALID, "name is missing; write a replicated job as an object");
    if (read_string(json, "name", &j->name, err) < 0 ||
        read_count(json, "replicas", 0, &j->replicas, err) < 0 ||
        read_array(json, "dependsOn", &depends, err) < 0 ||
        read_object(json, "template", &template, err) < 0 ||
        job_pods(json, "template.spec", &j->pods, err) < 0)
        return -1;
    if (read_annotation_count(template, KAI_MIN_MEMBER, 1, &j->pods, err) < 0)
        return read_at(err, "template");
    if (!j->name || !*j->name)
        return err_set(err, ERR_INVALID, "name is missing; write it");
    j->later = json_array_size(depends) > 0;
    return 0;
}

/* How many of the replicated jobs there must be to begin: KAI asks for all, or with InOrder for
 * the first; those that wait for others cannot be waited for either. */
static int needed_jobs(const struct workload_case *c, int64_t at_once, int64_t *ret,
                       struct err *err)
{
    const char *order = NULL;
    *ret = at_once;
    if (read_string(case_owner(c), "spec.startupPolicy.startupPolicyOrder", &order, err) < 0)
        return -1;
    if (str_eq(order, "InOrder") && at_once > 1)
        *ret = 1;
    if (read_annotation_count(c->marks, KAI_MIN_MEMBER, 1, ret, err) < 0)
        return -1;
    if (*ret > at_once)
        *ret = at_once;
    return 0;
}

static int add_job(const struct replicated_job *j, struct workload_group *g, struct err *err)
{
    char q[READ_QUOTED];
    cleanup_free char *part = name_part(j->name);
    if (part_exists(g, part))
        return err_set(err, ERR_INVALID,
                       "name is %s, which another one has; give each a name of its own",
                       read_quote(j->name, q));
    part_of_parts(g, part, j->replicas);
    for (int64_t i = 0; i < j->replicas; i++) {
        cleanup_free char *text = xasprintf("%s-replica-%" PRId64, j->name, i);
        cleanup_free char *leaf = name_part(text);
        part_add(g, leaf, part, j->pods);
    }
    return 0;
}

static int join_jobset(const json_t *pod, struct workload_group *g, struct err *err)
{
    static const char name_key[] = "jobset.sigs.k8s.io/replicatedjob-name";
    static const char index_key[] = "jobset.sigs.k8s.io/job-index";
    const char *name = read_label(pod, name_key), *index = read_label(pod, index_key);
    if (!name || !index)
        return err_set(err, ERR_INVALID,
                       "a pod of it has no label %s, so its part is not known; JobSet writes that "
                       "label, do not remove it",
                       name ? index_key : name_key);
    cleanup_free char *text = xasprintf("%s-replica-%s", name, index);
    cleanup_free char *leaf = name_part(text);
    part_join(g, leaf);
    return 0;
}

struct jobset {
    struct replicated_job *jobs;
    size_t n;
    int64_t pods, parts, at_once;
};

static int read_jobset(const json_t *list, struct jobset *s, struct err *err)
{
    s->jobs = xcalloc(json_array_size(list), sizeof *s->jobs);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct replicated_job *j = &s->jobs[s->n];
        if (read_job(json_array_get(list, i), j, err) < 0)
            return read_at(err, "spec.replicatedJobs[%zu]", i);
        if (j->replicas == 0 || j->pods == 0)
            continue;
        s->parts += 1 + j->replicas;
        s->pods += j->replicas * j->pods;
        s->at_once += !j->later;
        s->n++;
        if (s->pods > READ_MAX_COUNT)
            return err_set(err, ERR_INVALID,
                           "spec.replicatedJobs add up to more than %d pods; lower replicas or "
                           "parallelism",
                           READ_MAX_COUNT);
    }
    return 0;
}

/* The number of pods for PodGroups without parts: of those that come first. */
static int64_t pods_of_first(const struct jobset *s, int64_t needed)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n && needed > 0; i++)
        if (!s->jobs[i].later) {
            sum += s->jobs[i].replicas * s->jobs[i].pods;
            needed--;
        }
    return sum;
}

static int fill_jobset(const struct workload_case *c, const struct jobset *s,
                       struct workload_group *g, struct err *err)
{
    int64_t needed;
    if (s->n == 0)
        return err_set(err, ERR_INVALID,
                       "spec.replicatedJobs has no pods; write at least one with replicas");
    if (needed_jobs(c, s->at_once, &needed, err) < 0)
        return -1;
    g->min_member = pods_of_first(s, needed);
    if (s->parts > WORKLOAD_MAX_ROLES)
        return 0;
    g->min_children = needed;
    for (size_t i = 0; i < s->n; i++)
        if (add_job(&s->jobs[i], g, err) < 0)
            return read_at(err, "spec.replicatedJobs");
    return join_jobset(case_pod(c), g, err);
}

int size_jobset(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *list = NULL;
    struct jobset s = {NULL, 0, 0, 0, 0};
    int r = read_array(case_owner(c), "spec.replicatedJobs", &list, err);
    if (r == 0)
        r = read_jobset(list, &s, err);
    if (r == 0)
        r = fill_jobset(c, &s, g, err);
    free(s.jobs);
    return r;
}

/* ---- LeaderWorkerSet ---- */

#define LWS_SIZE "spec.leaderWorkerTemplate.size"

/* With LeaderReady the workers are made when the leader is ready: till it is bound it is alone. */
static int lws_minimum(const struct workload_case *c, int64_t size, bool leader, int64_t *ret,
                       struct err *err)
{
    const json_t *pod = case_pod(c);
    const char *policy = NULL, *node = read_text(pod, "spec.nodeName");
    char q[READ_QUOTED];
    *ret = size;
    if (read_string(case_owner(c), "spec.startupPolicy", &policy, err) < 0)
        return -1;
    if (!policy || strcmp(policy, "LeaderCreated") == 0)
        return 0;
    if (strcmp(policy, "LeaderReady") != 0)
        return err_set(err, ERR_INVALID,
                       "spec.startupPolicy is %s, must be LeaderCreated or LeaderReady",
                       read_quote(policy, q));
    if (read_annotation_count(pod, "leaderworkerset.sigs.k8s.io/size", 1, ret, err) < 0)
        return -1;
    if (leader && !(node && *node))
        *ret = 1;
    return 0;
}

/* A group of its own for each replica: which one, the pod's label says. */
static int lws_name(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t index = -1;
    if (read_label_count(case_pod(c), "leaderworkerset.sigs.k8s.io/group-index", &index, err) < 0)
        return -1;
    if (index >= 0) {
        cleanup_free char *old = STEAL(g->name);
        g->name = xasprintf("%s-group-%" PRId64, old, index);
    }
    return 0;
}

int size_lws(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t size = 0, worker = -1;
    if (read_count(case_owner(c), LWS_SIZE, 1, &size, err) < 0 ||
        read_label_count(case_pod(c), "leaderworkerset.sigs.k8s.io/worker-index", &worker, err) < 0)
        return -1;
    if (size == 0)
        return err_set(err, ERR_INVALID, LWS_SIZE " is missing; write it");
    if (lws_minimum(c, size, worker == 0, &g->min_member, err) < 0 || lws_name(c, g, err) < 0)
        return -1;
    part_add(g, "leader", NULL, 1);
    if (g->min_member > 1)
        part_add(g, "workers", NULL, g->min_member - 1);
    part_join(g, worker == 0 ? "leader" : "workers");
    return 0;
}
