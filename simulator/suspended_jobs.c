/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/suspended_jobs.h"

#include "k8s/decode/suspended_pods.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/write/suspend_patch.h"
#include "simulator/controllers.h"

/* How long the pods are shown after the Job was resumed. */
#define KEEP (60 * USEC_PER_SEC)

/* What the core knows of a Job. */
struct suspended {
    char *ns;
    struct gang_ref group;
    char **pods; /* names */
    size_t n;
    bool resumed;
};

struct suspended_jobs {
    struct store *store;
    const struct cluster_sink *sink;
    struct priority_classes *classes;
    struct map jobs; /* UID -> struct suspended */
};

static const struct workload_suspendable *job_kind(void)
{
    static struct workload_suspendable of;
    workload_suspendable("batch/v1", "Job", &of);
    return &of;
}

/* The PodGroup's Job; NULL: it has none. */
static struct object *job_of(const struct suspended_jobs *s, const struct gang_ref *ref)
{
    struct workload_ref owner;
    const struct object *group =
        store_find(s->store, KIND_POD_GROUP, ref->api_group, ref->ns, ref->name);
    if (!group || !workload_suspendable_owner(group->json, &owner))
        return NULL;
    struct object *job = strcmp(owner.kind, "Job") == 0
                             ? store_find(s->store, KIND_JOB, NULL, ref->ns, owner.name)
                             : NULL;
    bool same = job && strcmp(job->uid, owner.uid) == 0;
    workload_ref_done(&owner);
    return same ? job : NULL;
}

/* ---- the core's effects ---- */

static void change(struct suspended_jobs *s, struct object *job, char *patch)
{
    json_t *parsed = json_loads(patch, 0, NULL);
    json_object_del(json_object_get(parsed, "metadata"), "uid");
    json_object_del(json_object_get(parsed, "metadata"), "resourceVersion");
    free(patch);
    run_patch(s->store, job, parsed);
}

static int check(const struct suspended_jobs *s, const struct object *job,
                 const struct gang_ref *ref, struct err *err)
{
    const struct suspended_pods_options options = {NULL, s->classes, ref};
    struct suspended_pods pods;
    if (check_suspendable(job_kind(), job->json, err) < 0 ||
        suspended_pods(job_kind(), job->json, &options, &pods, err) < 0)
        return -1;
    suspended_pods_done(&pods);
    return 0;
}

void suspended_jobs_suspend(struct suspended_jobs *s, const struct gang_effect *e)
{
    char now[32];
    usec_t wall = 0;
    struct err err;
    const struct gang_ref *ref = e->workload.ref;
    struct object *job = job_of(s, ref);
    if (!job || check(s, job, ref, &err) < 0) {
        struct gang_event ev = {.kind = GANG_EV_SUSPEND_REFUSED};
        ev.gone = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
        s->sink->post(s->sink->arg, &ev);
        return;
    }
    (void)time_parse(sim_clock_timestamp(s->store->clock, now), &wall, NULL);
    change(s, job, suspend_patch(job_kind(), job->json, e->workload.text, wall));
}

void suspended_jobs_resume(struct suspended_jobs *s, const struct gang_effect *e)
{
    struct object *job = job_of(s, e->workload.ref);
    if (job && suspended_by_muster(job->json))
        change(s, job, resume_patch(job_kind(), job->json));
}

/* ---- pods ---- */

static void hide(struct suspended_jobs *s, const char *uid)
{
    struct suspended *j = map_remove(&s->jobs, uid);
    if (!j)
        return;
    for (size_t i = 0; i < j->n; i++) {
        struct gang_event ev = {.kind = GANG_EV_POD_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup(j->ns), .name = j->pods[i]};
        s->sink->post(s->sink->arg, &ev);
    }
    gang_ref_done(&j->group);
    free(j->pods);
    free(j->ns);
    free(j);
}

/* The PodGroup that the Job owns; NULL: none. The ref borrows from it. */
static const struct object *group_of(const struct suspended_jobs *s, const char *uid)
{
    map_for_each (e, &s->store->objects[KIND_POD_GROUP]) {
        const struct object *group = e->value;
        struct workload_ref owner;
        if (!workload_suspendable_owner(group->json, &owner))
            continue;
        bool its = strcmp(owner.uid, uid) == 0;
        workload_ref_done(&owner);
        if (its)
            return group;
    }
    return NULL;
}

static void show_pods(struct suspended_jobs *s, const json_t *job, const char *uid)
{
    struct err err;
    struct suspended_pods pods;
    const struct object *group = group_of(s, uid);
    if (!group)
        return;
    struct gang_ref ref = {manifest_group(group->json), xstrdup(manifest_ns(group->json)),
                           xstrdup(manifest_name(group->json))};
    const struct suspended_pods_options options = {NULL, s->classes, &ref};
    if (suspended_pods(job_kind(), job, &options, &pods, &err) < 0) {
        gang_ref_done(&ref);
        return;
    }
    struct suspended *j = xcalloc(1, sizeof *j);
    j->ns = xstrdup(ref.ns);
    j->group = ref;
    j->n = pods.n;
    j->pods = xcalloc(pods.n, sizeof *j->pods);
    map_set(&s->jobs, uid, j);
    for (size_t i = 0; i < pods.n; i++) {
        j->pods[i] = xstrdup(pods.facts[i]->name);
        struct gang_event ev = {.kind = GANG_EV_POD_SET, .pod = STEAL(pods.facts[i])};
        s->sink->post(s->sink->arg, &ev);
    }
    suspended_pods_done(&pods);
}

static void on_resumed(void *owner, struct task *t)
{
    struct suspended_jobs *s = owner;
    const struct suspended *j = map_get(&s->jobs, t->uid);
    if (j && j->resumed)
        hide(s, t->uid);
}

void suspended_jobs_show(struct suspended_jobs *s, const json_t *job, bool gone)
{
    const char *uid = field_peek(job, "metadata", "uid", NULL);
    struct suspended *j = map_get(&s->jobs, uid);
    bool is = !gone && suspended_by_muster(job) && is_suspended(job_kind(), job);
    if (is && (!j || j->resumed)) {
        hide(s, uid);
        show_pods(s, job, uid);
    } else if (gone) {
        hide(s, uid);
    } else if (j && !is && !j->resumed) {
        j->resumed = true;
        struct task *t = sim_clock_at(s->store->clock, s->store->clock->now + KEEP, on_resumed, s);
        t->uid = xstrdup(uid);
    }
}

void suspended_jobs_group_gone(struct suspended_jobs *s, const struct gang_ref *ref)
{
    map_for_each (e, &s->jobs) {
        const struct suspended *j = e->value;
        if (!gang_ref_equal(&j->group, ref))
            continue;
        cleanup_free char *uid = xstrdup(e->key);
        hide(s, uid);
        map_for_each (o, &s->store->objects[KIND_JOB]) {
            struct object *job = o->value;
            if (strcmp(job->uid, uid) == 0 && suspended_by_muster(job->json))
                change(s, job, resume_patch(job_kind(), job->json));
        }
        return;
    }
}

void suspended_jobs_show_class(struct suspended_jobs *s, const json_t *class, bool gone)
{
    if (gone)
        priority_classes_gone(s->classes, manifest_name(class));
    else
        priority_classes_set(s->classes, class);
}

/* ---- life ---- */

struct suspended_jobs *suspended_jobs_new(struct store *store, const struct cluster_sink *sink)
{
    struct suspended_jobs *s = xcalloc(1, sizeof *s);
    s->store = store;
    s->sink = sink;
    s->classes = priority_classes_new();
    for (size_t i = 0; i < ARRAY_SIZE(store_system_classes); i++) {
        cleanup_json json_t *class =
            json_pack("{s:{s:s}, s:i}", "metadata", "name", store_system_classes[i].name, "value",
                      store_system_classes[i].value);
        priority_classes_set(s->classes, class);
    }
    return s;
}

struct suspended_jobs *suspended_jobs_free(struct suspended_jobs *s)
{
    if (!s)
        return NULL;
    map_for_each (e, &s->jobs) {
        struct suspended *j = e->value;
        for (size_t i = 0; i < j->n; i++)
            free(j->pods[i]);
        gang_ref_done(&j->group);
        free(j->pods);
        free(j->ns);
        free(j);
    }
    map_done(&s->jobs);
    priority_classes_free(s->classes);
    free(s);
    return NULL;
}
