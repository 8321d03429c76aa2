/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSet: each Job is a part, and the Jobs of one template together are a part. Source: KAI
 * jobset_grouper.go. Where that would wait for ever it is done otherwise here: a Job with fewer
 * completions than parallelism has only so many pods, and Jobs that depend on others (dependsOn)
 * are made later.
 */
#include <inttypes.h>

#include "workload/kinds.h"

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
    if (field_string(json, "name", &j->name, err) < 0 ||
        field_count(json, "replicas", 0, &j->replicas, err) < 0 ||
        field_array(json, "dependsOn", &depends, err) < 0 ||
        field_object(json, "template", &template, err) < 0 ||
        job_pods(json, "template.spec", &j->pods, err) < 0)
        return -1;
    if (read_annotation_count(template, KAI_MIN_MEMBER, 1, &j->pods, err) < 0)
        return err_wrap(err, "template");
    if (!j->name || !*j->name)
        return err_set(err, ERR_INVALID, "name is missing; write it");
    j->later = json_array_size(depends) > 0;
    return 0;
}

struct jobset {
    struct replicated_job *jobs; /* those that have pods */
    size_t n;
    int64_t pods, parts;
    bool staged; /* some are made later */
};

static int read_jobset(const json_t *list, struct jobset *s, struct err *err)
{
    s->jobs = xcalloc(json_array_size(list), sizeof *s->jobs);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct replicated_job *j = &s->jobs[s->n];
        if (read_job(json_array_get(list, i), j, err) < 0)
            return err_at(err, "spec.replicatedJobs[%zu]", i);
        s->staged |= j->later;
        if (j->replicas == 0 || j->pods == 0)
            continue;
        s->parts += 1 + j->replicas;
        s->pods += j->replicas * j->pods;
        s->n++;
        if (s->pods > FIELD_MAX_COUNT)
            return err_set(err, ERR_INVALID,
                           "spec.replicatedJobs add up to more than %d pods; lower replicas or "
                           "parallelism",
                           FIELD_MAX_COUNT);
    }
    if (s->n == 0)
        return err_set(err, ERR_INVALID,
                       "spec.replicatedJobs has no pods; write at least one with replicas");
    return 0;
}

/* ---- which part a pod is in ---- */

struct place {
    const char *job, *index;
};

static int find_place(const json_t *pod, struct place *p, struct err *err)
{
    static const char job_key[] = "jobset.sigs.k8s.io/replicatedjob-name";
    static const char index_key[] = "jobset.sigs.k8s.io/job-index";
    *p = (struct place){read_label(pod, job_key), read_label(pod, index_key)};
    if (p->job && p->index)
        return 0;
    return err_set(err, ERR_INVALID,
                   "label %s is missing, so its part is not known; JobSet writes that label, do "
                   "not remove it",
                   p->job ? index_key : job_key);
}

static char *leaf_name(const char *job, const char *index)
{
    cleanup_free char *text = xasprintf("%s-replica-%s", job, index);
    return name_part(text);
}

static void add_leaves(const struct replicated_job *j, const char *parent, struct workload_group *g)
{
    for (int64_t i = 0; i < j->replicas; i++) {
        cleanup_free char *index = xasprintf("%" PRId64, i);
        cleanup_free char *leaf = leaf_name(j->name, index);
        part_add(g, leaf, parent, j->pods);
    }
}

/* ---- one PodGroup for all ---- */

/* How many of the replicated jobs there must be to begin: all, or with InOrder the first. */
static int needed_jobs(const struct workload_case *c, const struct jobset *s, int64_t *ret,
                       struct err *err)
{
    const char *order = NULL;
    int64_t all = (int64_t)s->n;
    *ret = all;
    if (field_string(case_owner(c), "spec.startupPolicy.startupPolicyOrder", &order, err) < 0)
        return -1;
    if (str_eq(order, "InOrder"))
        *ret = 1;
    if (read_annotation_count(c->marks, KAI_MIN_MEMBER, 1, ret, err) < 0)
        return -1;
    if (*ret > all)
        *ret = all;
    return 0;
}

/* The number of pods for PodGroups without parts: of those that come first. */
static int64_t pods_of_first(const struct jobset *s, int64_t needed)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < needed; i++)
        sum += s->jobs[i].replicas * s->jobs[i].pods;
    return sum;
}

static int whole_set(const struct workload_case *c, const struct jobset *s,
                     struct workload_group *g, struct err *err)
{
    int64_t needed;
    if (needed_jobs(c, s, &needed, err) < 0)
        return -1;
    g->min_member = pods_of_first(s, needed);
    if (s->parts > WORKLOAD_MAX_ROLES)
        return 0;
    g->min_children = needed;
    for (size_t i = 0; i < s->n; i++) {
        char q[FIELD_QUOTED];
        cleanup_free char *part = name_part(s->jobs[i].name);
        if (part_exists(g, part))
            return err_set(err, ERR_INVALID,
                           "spec.replicatedJobs has the name %s twice; give each a name of its own",
                           field_quote(s->jobs[i].name, q));
        part_of_parts(g, part, s->jobs[i].replicas);
        add_leaves(&s->jobs[i], part, g);
    }
    return 0;
}

/* ---- one for each stage ---- */

/*
 * With dependsOn what comes later is as much a gang as what comes first, so each replicated job is
 * a group, as KAI had it for InOrder before v0.14. In one group with the others it would be waited
 * for from the beginning, which is for ever.
 */
static void one_stage(const struct jobset *s, const char *job, struct workload_group *g)
{
    char *whole = g->name;
    g->name = xasprintf("%s-%s", whole, job);
    free(whole);
    for (size_t i = 0; i < s->n; i++) {
        const struct replicated_job *j = &s->jobs[i];
        if (strcmp(j->name, job) != 0)
            continue;
        g->min_member = j->replicas * j->pods;
        if (j->replicas <= WORKLOAD_MAX_ROLES)
            add_leaves(j, NULL, g);
        break;
    }
}

static int fill_jobset(const struct workload_case *c, const struct jobset *s,
                       struct workload_group *g, struct err *err)
{
    struct place p;
    if (find_place(case_pod(c), &p, err) < 0)
        return in_its_pod(c, err);
    if (s->staged)
        one_stage(s, p.job, g);
    else if (whole_set(c, s, g, err) < 0)
        return -1;
    cleanup_free char *leaf = leaf_name(p.job, p.index);
    part_join(g, leaf);
    return 0;
}

int size_jobset(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *list = NULL;
    struct jobset s = {.n = 0};
    int r = field_array(case_owner(c), "spec.replicatedJobs", &list, err);
    if (r == 0)
        r = read_jobset(list, &s, err);
    if (r == 0)
        r = fill_jobset(c, &s, g, err);
    free(s.jobs);
    return r;
}
