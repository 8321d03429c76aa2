/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSet: each Job is a part, and the Jobs of a replicated job form a part above them. Source: KAI
 * jobset_grouper.go.
 *
 * muster differs from KAI in two cases in which the gang would wait forever. A Job with fewer
 * completions than parallelism has only as many pods as completions. Jobs that depend on other Jobs
 * (dependsOn) are created later, so each replicated job gets its own PodGroup.
 */
#include <inttypes.h>

#include "workload/kinds.h"

struct replicated_job {
    const char *name;
    int64_t replicas; /* Jobs */
    int64_t pods;     /* needed pods of each Job */
    bool later;       /* created when another replicated job is ready or complete */
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
    struct replicated_job *jobs; /* only those with pods */
    size_t n;
    int64_t pods, parts;
    bool staged; /* some are created later */
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
                       "spec.replicatedJobs has no pods; write at least one replicated job with "
                       "replicas");
    return 0;
}

/* ---- the part of a pod ---- */

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
    return err_set(
        err, ERR_INVALID,
        "label %s is missing, so the part of the pod is unknown; JobSet writes this label, do "
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

/* ---- one PodGroup for the JobSet ---- */

/* How many replicated jobs must have their minimum: all, or the first one if they start InOrder. */
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

/* The minimum of a PodGroup without parts: the pods of the first `needed` replicated jobs. */
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
                           "spec.replicatedJobs has the name %s twice; give each a different name",
                           field_quote(s->jobs[i].name, q));
        part_of_parts(g, part, s->jobs[i].replicas);
        add_leaves(&s->jobs[i], part, g);
    }
    return 0;
}

/* ---- one PodGroup for each replicated job ---- */

/*
 * With dependsOn, each replicated job gets its own PodGroup, as in KAI before v0.14 for InOrder. In
 * a common PodGroup, the first members would wait forever for members that are created later.
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

/* ---- its pods ---- */

/* The labels of a Job are on its pods too. Source: jobset_controller.go labelAndAnnotateObject. */
static void label_jobset(json_t *object, const char *set, const char *job, int64_t index)
{
    created_label(object, "jobset.sigs.k8s.io/jobset-name", set);
    created_label(object, "jobset.sigs.k8s.io/replicatedjob-name", job);
    created_label_number(object, "jobset.sigs.k8s.io/job-index", index);
}

static json_t *make_job(const json_t *set, const json_t *template, const char *job, int64_t index)
{
    const char *of = object_identity(&set, 0).name;
    cleanup_free char *name = xasprintf("%s-%s-%" PRId64, of, job, index);
    json_t *made = created_object(set, "batch/v1", "Job", template, name);
    json_t *spec = json_object_get(made, "spec");
    json_t *pod = json_copy(json_object_get(spec, "template"));
    if (pod) {
        json_object_set_new(pod, "metadata", json_deep_copy(json_object_get(pod, "metadata")));
        label_jobset(pod, of, job, index);
        json_object_set_new(spec, "template", pod);
    }
    label_jobset(made, of, job, index);
    return made;
}

static int pods_of_replicated(struct created_chain *c, const struct workload_kind *kind,
                              const json_t *json, struct err *err)
{
    struct replicated_job j;
    const json_t *template = NULL;
    if (read_job(json, &j, err) < 0 || field_object(json, "template", &template, err) < 0)
        return -1;
    int r = 0;
    for (int64_t i = 0; i < j.replicas && r == 0; i++) {
        created_enter(c, make_job(created_owner(c), template, j.name, i));
        r = pods_job(c, kind, err);
        created_leave(c);
    }
    return r < 0 ? err_at(err, "template") : r;
}

int pods_jobset(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *list = NULL;
    if (field_array(created_owner(c), "spec.replicatedJobs", &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int r = pods_of_replicated(c, kind, json_array_get(list, i), err);
        if (r)
            return r < 0 ? err_at(err, "spec.replicatedJobs[%zu]", i) : r;
    }
    return 0;
}
