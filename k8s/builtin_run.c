/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/log.h"
#include "k8s/builtin_internal.h"
#include "k8s/field.h"

static bool finished(const json_t *pod)
{
    const char *phase = field_peek(pod, "status", "phase", NULL);
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static bool deleting(const json_t *pod)
{
    return field_peek(pod, "metadata", "deletionTimestamp", NULL) != NULL;
}

static const char *node_of(const json_t *pod)
{
    return field_peek(pod, "spec", "nodeName", NULL);
}

static void patch(struct builtin *b, struct object *o, json_t *p)
{
    store_patch(b, o, p);
    json_decref(p);
}

static void at_for(struct builtin *b, usec_t at, const struct object *o, sim_task_fn *run)
{
    struct task *t = sim_clock_at(&b->clock, at, run, b);
    t->uid = xstrdup(o->uid);
}

/* ---- pods on nodes ---- */

static void sync_job_of(struct builtin *b, const json_t *pod);
static void sync_blocked(struct builtin *b, const char *ns);

static void pod_finish(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_pod(b, t->uid);
    if (!o || finished(o->json) || deleting(o->json))
        return;
    patch(b, o, json_pack("{s:{s:s}}", "status", "phase", "Succeeded"));
    builtin_tell(b, BUILTIN_FINISHED, o, node_of(o->json), NULL);
    sync_job_of(b, o->json);
    sync_blocked(b, manifest_ns(o->json));
}

/* How long the pod runs, from its annotation; false: for ever. */
static bool duration_of(const json_t *pod, usec_t *ret)
{
    const char *text = field_peek(pod, "metadata", "annotations", "muster.dev/duration", NULL);
    return text && duration_parse(text, ret, NULL) == 0;
}

static void set_running(struct builtin *b, struct object *o)
{
    char stamp[32];
    usec_t duration;
    patch(b, o,
          json_pack("{s:{s:s, s:s}}", "status", "phase", "Running", "startTime",
                    sim_clock_timestamp(&b->clock, stamp)));
    builtin_tell(b, BUILTIN_RUNNING, o, node_of(o->json), NULL);
    if (duration_of(o->json, &duration))
        at_for(b, b->clock.now + duration, o, pod_finish);
}

static void pod_start(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_pod(b, t->uid);
    if (o && !deleting(o->json) && str_eq(field_peek(o->json, "status", "phase", NULL), "Pending"))
        set_running(b, o);
}

void run_bound(struct builtin *b, struct object *pod)
{
    builtin_tell(b, BUILTIN_BOUND, pod, node_of(pod->json), NULL);
    at_for(b, b->clock.now + COST_START, pod, pod_start);
}

static void pod_end(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *o = store_pod(b, t->uid);
    if (o)
        store_remove(b, o);
}

static void pod_delete(struct builtin *b, struct object *o)
{
    char stamp[32];
    if (!node_of(o->json) || finished(o->json)) {
        store_remove(b, o);
        return;
    }
    if (deleting(o->json))
        return;
    patch(b, o,
          json_pack("{s:{s:s}}", "metadata", "deletionTimestamp",
                    sim_clock_timestamp(&b->clock, stamp)));
    at_for(b, b->clock.now + COST_TERMINATE, o, pod_end);
    sync_job_of(b, o->json);
}

/* Pods of a node that is gone end, as the pod garbage collector sees to. */
static void delete_pods_on(struct builtin *b, const char *node)
{
    map_for_each (e, &b->objects[KIND_POD]) {
        struct object *o = e->value;
        if (str_eq(node_of(o->json), node))
            pod_delete(b, o);
    }
}

/* ---- Jobs ---- */

struct job_count {
    int64_t active, succeeded;
    struct object *last; /* the one to delete first: not bound, else the newest */
};

static bool owned_by_job(const struct object *pod, const struct object *job)
{
    const json_t *owners =
        json_object_get(json_object_get(pod->json, "metadata"), "ownerReferences");
    return str_eq(field_peek(json_array_get(owners, 0), "uid", NULL), job->uid);
}

static struct job_count count_pods(const struct builtin *b, const struct object *job)
{
    struct job_count c = {0, 0, NULL};
    map_for_each (e, &b->objects[KIND_POD]) {
        struct object *o = e->value;
        if (!owned_by_job(o, job))
            continue;
        if (str_eq(field_peek(o->json, "status", "phase", NULL), "Succeeded"))
            c.succeeded++;
        if (finished(o->json) || deleting(o->json))
            continue;
        c.active++;
        if (!c.last || !node_of(o->json) || node_of(c.last->json))
            c.last = o;
    }
    return c;
}

static int64_t job_number(const json_t *job, const char *key, int64_t otherwise)
{
    const json_t *n = json_object_get(json_object_get(job, "spec"), key);
    return json_is_integer(n) ? json_integer_value(n) : otherwise;
}

static int64_t wanted(const json_t *job, const struct job_count *c)
{
    if (json_is_true(json_object_get(json_object_get(job, "spec"), "suspend")))
        return 0;
    int64_t parallelism = job_number(job, "parallelism", 1);
    int64_t completions = job_number(job, "completions", -1);
    /* Without completions the first success means that the work is done. */
    int64_t left = completions >= 0 ? completions - c->succeeded : c->succeeded ? 0 : INT64_MAX;
    return parallelism < left ? parallelism : left;
}

static bool complete(const json_t *job, const struct job_count *c)
{
    int64_t completions = job_number(job, "completions", -1);
    return completions >= 0 ? c->succeeded >= completions : c->succeeded > 0 && c->active == 0;
}

static struct object *job_by_uid(const struct builtin *b, const char *uid)
{
    map_for_each (e, &b->objects[KIND_JOB]) {
        struct object *o = e->value;
        if (strcmp(o->uid, uid) == 0)
            return o;
    }
    return NULL;
}

static void job_end(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *job = job_by_uid(b, t->uid);
    if (job)
        store_remove(b, job);
}

static void job_status(struct builtin *b, struct object *job, const struct job_count *c)
{
    char stamp[32];
    bool was = field_peek(job->json, "status", "completionTime", NULL) != NULL;
    bool now_complete = complete(job->json, c);
    json_t *status = json_pack("{s:I, s:I}", "active", (json_int_t)c->active, "succeeded",
                               (json_int_t)c->succeeded);
    if (now_complete && !was) {
        json_object_set_new(status, "completionTime",
                            json_string(sim_clock_timestamp(&b->clock, stamp)));
        json_object_set_new(status, "conditions",
                            json_pack("[{s:s, s:s}]", "type", "Complete", "status", "True"));
    }
    patch(b, job, json_pack("{s:o}", "status", status));
    int64_t ttl = job_number(job->json, "ttlSecondsAfterFinished", -1);
    if (now_complete && !was && ttl >= 0)
        at_for(b, b->clock.now + ttl * USEC_PER_SEC, job, job_end);
}

/* Creates one pod; false when the quota does not let it. */
static bool create_one(struct builtin *b, struct object *job)
{
    struct err err;
    if (store_create(b, manifest_job_pod(job->json, job->next_index), &err)) {
        job->next_index++;
        job->over_quota = false;
        return true;
    }
    if (err.code == ERR_CONFLICT) {
        job->next_index++;
        return true;
    }
    if (!job->over_quota) {
        cleanup_free char *text = xasprintf("FailedCreate: Error creating: %s", err.text);
        builtin_tell(b, BUILTIN_EVENT, job, NULL, text);
    }
    job->over_quota = true;
    return false;
}

static void sync_at(struct builtin *b, struct object *job, usec_t at);

/* How long until the next batch; true: of one pod each, as the annotation wants it. */
static bool pace_of(const struct object *job, usec_t *ret)
{
    const char *text =
        field_peek(job->json, "metadata", "annotations", "muster.dev/create-every", NULL);
    *ret = COST_CREATE;
    return text && duration_parse(text, ret, NULL) == 0;
}

/* A batch of the pods that are missing, twice as large as the last one. Source: slowStartBatch. */
static bool create_batch(struct builtin *b, struct object *job, int64_t missing, bool single)
{
    int64_t n = single || job->batch < 1 ? 1 : job->batch;
    if (n > missing)
        n = missing;
    job->batch = n * 2;
    for (int64_t i = 0; i < n; i++)
        if (!create_one(b, job))
            return false;
    return n < missing;
}

/* One step towards what the Job wants: pods more, or a pod less. */
static void job_sync(void *owner, struct task *t)
{
    struct builtin *b = owner;
    struct object *job = job_by_uid(b, t->uid);
    if (!job)
        return;
    job->sync_due = false;
    struct job_count c = count_pods(b, job);
    int64_t want = wanted(job->json, &c);
    usec_t pace;
    bool single = pace_of(job, &pace), again = false;
    job_status(b, job, &c);
    if (c.active < want) {
        again = create_batch(b, job, want - c.active, single);
    } else if (c.active > want) {
        run_delete(b, c.last);
        again = c.active - 1 > want;
    }
    if (again)
        sync_at(b, job, b->clock.now + pace);
    else
        job->batch = 1;
}

static void sync_at(struct builtin *b, struct object *job, usec_t at)
{
    if (job->sync_due)
        return;
    job->sync_due = true;
    at_for(b, at, job, job_sync);
}

static void sync_job_of(struct builtin *b, const json_t *pod)
{
    const json_t *owners = json_object_get(json_object_get(pod, "metadata"), "ownerReferences");
    const char *uid = field_peek(json_array_get(owners, 0), "uid", NULL);
    struct object *job = uid ? job_by_uid(b, uid) : NULL;
    if (job)
        sync_at(b, job, b->clock.now + COST_CREATE);
}

static void sync_blocked(struct builtin *b, const char *ns)
{
    map_for_each (e, &b->objects[KIND_JOB]) {
        struct object *job = e->value;
        if (job->over_quota && strcmp(manifest_ns(job->json), ns) == 0)
            sync_at(b, job, b->clock.now + COST_CREATE);
    }
}

/* ---- after the store changed ---- */

void run_created(struct builtin *b, struct object *o)
{
    if (o->kind == KIND_JOB)
        sync_at(b, o, b->clock.now + COST_CREATE);
    else if (o->kind == KIND_POD && node_of(o->json))
        set_running(b, o);
}

void run_removed(struct builtin *b, enum manifest_kind kind, const json_t *json)
{
    if (kind == KIND_NODE)
        delete_pods_on(b, manifest_name(json));
    if (kind == KIND_POD)
        sync_job_of(b, json);
    if (kind == KIND_POD || kind == KIND_QUOTA)
        sync_blocked(b, manifest_ns(json));
}

void run_delete(struct builtin *b, struct object *o)
{
    if (o->kind == KIND_POD)
        pod_delete(b, o);
    else
        store_remove(b, o);
}

void run_create(struct builtin *b, json_t *manifest)
{
    struct err err;
    if (!store_create(b, manifest, &err))
        log_warning("scenario: not created", "why", err.text, NULL);
}

/* ---- timetable ---- */

static void not_there(const struct scenario_target *t)
{
    log_warning("scenario: no such object", "kind", manifest_kind_name(t->kind), "namespace", t->ns,
                "name", t->name, NULL);
}

static void delete_all(struct builtin *b, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t;
        if (scenario_target(json_array_get(list, i), &t, NULL) < 0)
            continue;
        struct object *o = store_find(b, t.kind, t.api_group, t.ns, t.name);
        if (o)
            run_delete(b, o);
        else
            not_there(&t);
    }
}

static void scale_all(struct builtin *b, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t;
        if (scenario_target(json_array_get(list, i), &t, NULL) < 0)
            continue;
        struct object *o = store_find(b, t.kind, NULL, t.ns, t.name);
        if (!o) {
            not_there(&t);
            continue;
        }
        patch(b, o, json_pack("{s:{s:I}}", "spec", "parallelism", (json_int_t)t.parallelism));
        cleanup_free char *text = xasprintf("scaled to %" PRId64, t.parallelism);
        builtin_tell(b, BUILTIN_CHANGED, o, NULL, text);
        sync_at(b, o, b->clock.now + COST_CREATE);
    }
}

static void cordon_all(struct builtin *b, const json_t *list, bool on)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t = {.kind = KIND_NODE, .ns = ""};
        t.name = json_string_value(json_array_get(list, i));
        struct object *o = store_find(b, KIND_NODE, NULL, "", t.name);
        if (!o) {
            not_there(&t);
            continue;
        }
        patch(b, o, json_pack("{s:{s:b}}", "spec", "unschedulable", on));
        builtin_tell(b, BUILTIN_CHANGED, o, NULL, on ? "cordoned" : "uncordoned");
    }
}

static void step_run(void *owner, struct task *t);

/* The step's n-th time, from 0. */
static void step_at(struct builtin *b, size_t step, int64_t n)
{
    const struct scenario_step *s = &b->scenario->steps[step];
    struct task *t = sim_clock_at(&b->clock, b->clock.origin + s->at + n * s->every, step_run, b);
    t->id = step;
    t->n = n;
}

static void step_run(void *owner, struct task *t)
{
    struct builtin *b = owner;
    const struct scenario_step *step = &b->scenario->steps[t->id];
    json_t *todo = scenario_step_todo(step, t->n);
    const json_t *create = json_object_get(todo, "create");
    delete_all(b, json_object_get(todo, "delete"));
    for (size_t i = 0; i < json_array_size(create); i++)
        run_create(b, json_deep_copy(json_array_get(create, i)));
    scale_all(b, json_object_get(todo, "scale"));
    cordon_all(b, json_object_get(todo, "cordon"), true);
    cordon_all(b, json_object_get(todo, "uncordon"), false);
    json_decref(todo);
    if (step->every && t->n + 1 < step->times)
        step_at(b, t->id, t->n + 1);
}

void run_timetable(struct builtin *b)
{
    for (size_t i = 0; i < b->scenario->n_steps; i++)
        step_at(b, i, 0);
}
