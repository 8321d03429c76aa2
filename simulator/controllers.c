/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/controllers.h"

#include <inttypes.h>

#include "base/duration.h"
#include "base/log.h"
#include "k8s/encoding/kube_field.h"
#include "workload/workload.h"

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

static void at_for(struct store *s, usec_t at, const struct object *o, sim_task_fn *run)
{
    struct task *t = sim_clock_at(s->clock, at, run, s);
    t->uid = xstrdup(o->uid);
}

/* ---- pods on nodes ---- */

static struct object *create(struct store *s, json_t *manifest, struct err *err);
static void sync_job_of(struct store *s, const json_t *pod);
static void sync_blocked(struct store *s, const char *ns);
static void remove_object(struct store *s, struct object *o);

static void pod_finish(void *owner, struct task *t)
{
    struct store *s = owner;
    struct object *o = store_pod(s, t->uid);
    if (!o || finished(o->json) || deleting(o->json))
        return;
    store_patch(s, o, json_pack("{s:{s:s}}", "status", "phase", "Succeeded"));
    store_report(s, SIMULATED_FINISHED, o, node_of(o->json), NULL);
    sync_job_of(s, o->json);
    sync_blocked(s, manifest_ns(o->json));
}

/* How long the pod runs, from its annotation. False: the pod does not end. */
static bool duration_of(const json_t *pod, usec_t *ret)
{
    const char *text = field_peek(pod, "metadata", "annotations", "muster.dev/duration", NULL);
    return text && duration_parse(text, ret, NULL) == 0;
}

static void set_running(struct store *s, struct object *o)
{
    char stamp[32];
    usec_t duration;
    store_patch(s, o,
                json_pack("{s:{s:s, s:s}}", "status", "phase", "Running", "startTime",
                          sim_clock_timestamp(s->clock, stamp)));
    store_report(s, SIMULATED_RUNNING, o, node_of(o->json), NULL);
    if (duration_of(o->json, &duration))
        at_for(s, s->clock->now + duration, o, pod_finish);
}

static void pod_start(void *owner, struct task *t)
{
    struct store *s = owner;
    struct object *o = store_pod(s, t->uid);
    if (o && !deleting(o->json) && str_eq(field_peek(o->json, "status", "phase", NULL), "Pending"))
        set_running(s, o);
}

void run_bound(struct store *s, struct object *pod)
{
    store_report(s, SIMULATED_BOUND, pod, node_of(pod->json), NULL);
    at_for(s, s->clock->now + COST_START, pod, pod_start);
}

static void pod_end(void *owner, struct task *t)
{
    struct store *s = owner;
    struct object *o = store_pod(s, t->uid);
    if (o)
        remove_object(s, o);
}

static void pod_delete(struct store *s, struct object *o)
{
    char stamp[32];
    if (!node_of(o->json) || finished(o->json)) {
        remove_object(s, o);
        return;
    }
    if (deleting(o->json))
        return;
    store_patch(s, o,
                json_pack("{s:{s:s}}", "metadata", "deletionTimestamp",
                          sim_clock_timestamp(s->clock, stamp)));
    at_for(s, s->clock->now + COST_TERMINATE, o, pod_end);
    sync_job_of(s, o->json);
}

/* ---- Jobs ---- */

struct job_count {
    int64_t active, succeeded;
    struct object *last; /* the pod to delete first: one that is not bound, otherwise the newest */
};

static bool owned_by_job(const struct object *pod, const struct object *job)
{
    const json_t *owners =
        json_object_get(json_object_get(pod->json, "metadata"), "ownerReferences");
    return str_eq(field_peek(json_array_get(owners, 0), "uid", NULL), job->uid);
}

static struct job_count count_pods(const struct store *s, const struct object *job)
{
    struct job_count c = {0, 0, NULL};
    map_for_each (e, &s->objects[KIND_POD]) {
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
    /* Without `completions`, the first pod that succeeds completes the Job. */
    int64_t left = completions >= 0 ? completions - c->succeeded : c->succeeded ? 0 : INT64_MAX;
    return parallelism < left ? parallelism : left;
}

static bool complete(const json_t *job, const struct job_count *c)
{
    int64_t completions = job_number(job, "completions", -1);
    return completions >= 0 ? c->succeeded >= completions : c->succeeded > 0 && c->active == 0;
}

static struct object *job_by_uid(const struct store *s, const char *uid)
{
    map_for_each (e, &s->objects[KIND_JOB]) {
        struct object *o = e->value;
        if (strcmp(o->uid, uid) == 0)
            return o;
    }
    return NULL;
}

static void job_end(void *owner, struct task *t)
{
    struct store *s = owner;
    struct object *job = job_by_uid(s, t->uid);
    if (job)
        remove_object(s, job);
}

static void job_status(struct store *s, struct object *job, const struct job_count *c)
{
    char stamp[32];
    bool was = field_peek(job->json, "status", "completionTime", NULL) != NULL;
    bool now_complete = complete(job->json, c);
    json_t *status = json_pack("{s:I, s:I}", "active", (json_int_t)c->active, "succeeded",
                               (json_int_t)c->succeeded);
    if (now_complete && !was) {
        json_object_set_new(status, "completionTime",
                            json_string(sim_clock_timestamp(s->clock, stamp)));
        json_object_set_new(status, "conditions",
                            json_pack("[{s:s, s:s}]", "type", "Complete", "status", "True"));
    }
    store_patch(s, job, json_pack("{s:o}", "status", status));
    int64_t ttl = job_number(job->json, "ttlSecondsAfterFinished", -1);
    if (now_complete && !was && ttl >= 0)
        at_for(s, s->clock->now + ttl * USEC_PER_SEC, job, job_end);
}

/* Creates one pod. False: a quota is exceeded. */
static bool create_one(struct store *s, struct object *job)
{
    struct err err;
    if (create(s, workload_job_pod(job->json, job->next_index), &err)) {
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
        store_report(s, SIMULATED_EVENT, job, NULL, text);
    }
    job->over_quota = true;
    return false;
}

static void sync_at(struct store *s, struct object *job, usec_t at);

/* Sets *ret to the time until the next batch. True: the annotation is set, so each batch has one
 * pod. */
static bool pace_of(const struct object *job, usec_t *ret)
{
    const char *text =
        field_peek(job->json, "metadata", "annotations", "muster.dev/create-every", NULL);
    *ret = COST_CREATE;
    return text && duration_parse(text, ret, NULL) == 0;
}

/* Creates a batch of the missing pods, twice as large as the last batch. True: pods are still
 * missing, and none was refused. Source: slowStartBatch. */
static bool create_batch(struct store *s, struct object *job, int64_t missing, bool single)
{
    int64_t n = single || job->batch < 1 ? 1 : job->batch;
    if (n > missing)
        n = missing;
    job->batch = n * 2;
    for (int64_t i = 0; i < n; i++)
        if (!create_one(s, job))
            return false;
    return n < missing;
}

/* Creates a batch of pods or deletes one pod, if the Job needs it. */
static void job_sync(void *owner, struct task *t)
{
    struct store *s = owner;
    struct object *job = job_by_uid(s, t->uid);
    if (!job)
        return;
    job->sync_due = false;
    struct job_count c = count_pods(s, job);
    int64_t want = wanted(job->json, &c);
    usec_t pace;
    bool single = pace_of(job, &pace), again = false;
    job_status(s, job, &c);
    if (c.active < want) {
        again = create_batch(s, job, want - c.active, single);
    } else if (c.active > want) {
        run_delete(s, c.last);
        again = c.active - 1 > want;
    }
    if (again)
        sync_at(s, job, s->clock->now + pace);
    else
        job->batch = 1;
}

static void sync_at(struct store *s, struct object *job, usec_t at)
{
    if (job->sync_due)
        return;
    job->sync_due = true;
    at_for(s, at, job, job_sync);
}

static void sync_job_of(struct store *s, const json_t *pod)
{
    const json_t *owners = json_object_get(json_object_get(pod, "metadata"), "ownerReferences");
    const char *uid = field_peek(json_array_get(owners, 0), "uid", NULL);
    struct object *job = uid ? job_by_uid(s, uid) : NULL;
    if (job)
        sync_at(s, job, s->clock->now + COST_CREATE);
}

static void sync_blocked(struct store *s, const char *ns)
{
    map_for_each (e, &s->objects[KIND_JOB]) {
        struct object *job = e->value;
        if (job->over_quota && strcmp(manifest_ns(job->json), ns) == 0)
            sync_at(s, job, s->clock->now + COST_CREATE);
    }
}

/* ---- consequences of creating and deleting objects ---- */

static struct object *create(struct store *s, json_t *manifest, struct err *err)
{
    struct object *o = store_create(s, manifest, err);
    if (!o)
        return NULL;
    if (o->kind == KIND_JOB)
        sync_at(s, o, s->clock->now + COST_CREATE);
    else if (o->kind == KIND_POD && node_of(o->json))
        set_running(s, o);
    return o;
}

static bool owned_by(const json_t *json, const char *uid)
{
    size_t i;
    json_t *owner;
    json_array_foreach(json_object_get(json_object_get(json, "metadata"), "ownerReferences"), i,
                       owner) if (str_eq(field_peek(owner, "uid", NULL), uid)) return true;
    return false;
}

static void delete_owned(struct store *s, const char *uid)
{
    static const enum manifest_kind kinds[] = {KIND_POD, KIND_POD_GROUP};
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        map_for_each (e, &s->objects[kinds[k]]) {
            struct object *o = e->value;
            if (owned_by(o->json, uid))
                run_delete(s, o);
        }
}

/* Deletes the pods of a deleted node, like the pod garbage collector. */
static void delete_pods_on(struct store *s, const char *node)
{
    map_for_each (e, &s->objects[KIND_POD]) {
        struct object *o = e->value;
        if (str_eq(node_of(o->json), node))
            pod_delete(s, o);
    }
}

/* Removes the object at once, and carries out the consequences. */
static void remove_object(struct store *s, struct object *o)
{
    enum manifest_kind kind = o->kind;
    json_t *json = json_incref(o->json);
    store_remove(s, o);
    if (kind == KIND_NODE)
        delete_pods_on(s, manifest_name(json));
    if (kind == KIND_JOB)
        delete_owned(s, field_peek(json, "metadata", "uid", NULL));
    if (kind == KIND_POD)
        sync_job_of(s, json);
    if (kind == KIND_POD || kind == KIND_QUOTA)
        sync_blocked(s, manifest_ns(json));
    json_decref(json);
}

void run_delete(struct store *s, struct object *o)
{
    if (o->kind == KIND_POD)
        pod_delete(s, o);
    else
        remove_object(s, o);
}

void run_create(struct store *s, json_t *manifest)
{
    struct err err;
    if (!create(s, manifest, &err))
        log_warning("Object of the scenario was not created", "error", err.text, NULL);
}

static void change(struct store *s, struct object *o, json_t *patch, const char *text)
{
    store_patch(s, o, patch);
    store_report(s, SIMULATED_CHANGED, o, NULL, text);
    if (o->kind == KIND_JOB)
        sync_at(s, o, s->clock->now + COST_CREATE);
    else if (o->kind == KIND_QUOTA)
        sync_blocked(s, manifest_ns(o->json));
}

void run_scale(struct store *s, struct object *job, int64_t parallelism)
{
    cleanup_free char *text = xasprintf("scaled to %" PRId64, parallelism);
    change(s, job, json_pack("{s:{s:I}}", "spec", "parallelism", (json_int_t)parallelism), text);
}

void run_patch(struct store *s, struct object *o, json_t *patch)
{
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    change(s, o, patch, text);
}
