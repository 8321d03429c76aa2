/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/world_jobs.h"

#include <stdio.h>

/* How often kube-scheduler looks while nothing happens. */
#define ROUND_INTERVAL SECONDS(10)

struct jobs *jobs_new(struct world *w)
{
    struct jobs *jobs = xcalloc(1, sizeof *jobs);
    jobs->w = w;
    return jobs;
}

static void pod_done(struct job_pod *pod)
{
    free(pod->name);
    free(pod->node);
}

void jobs_free(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = jobs->items[i];
        for (size_t k = 0; k < job->n_pods; k++)
            pod_done(&job->pods[k]);
        free(job->pods);
        free((char *)(uintptr_t)job->name);
        free((char *)(uintptr_t)job->queue);
        free(job);
    }
    free(jobs->items);
    free(jobs->evictions);
    world_free(jobs->w);
    free(jobs);
}

/* ---- pods ---- */

static struct gang_pod_facts *pod_facts(const struct jobs *jobs, const struct job *job,
                                        const struct job_pod *pod)
{
    struct gang_pod_facts *f = world_pod_facts(pod->name, job->name, job->gpus);
    f->requests.items[0].amount = job->cpus ? 1000 * job->cpus : 1000;
    f->priority = job->priority;
    f->controlled = true;
    f->created = jobs->w->now;
    f->node = xstrdup_null(pod->node);
    f->phase = pod->node ? PHASE_RUNNING : PHASE_PENDING;
    f->bound_at = pod->node ? jobs->w->now : 0;
    f->deleting = pod->leaving;
    return f;
}

static void show_pod(struct jobs *jobs, const struct job *job, const struct job_pod *pod)
{
    world_pod_set(jobs->w, pod_facts(jobs, job, pod));
}

static void make_pod(struct jobs *jobs, struct job *job, const char *node)
{
    GROW(job->pods, job->cap_pods, job->n_pods + 1);
    struct job_pod *pod = &job->pods[job->n_pods++];
    *pod = (struct job_pod){.name = xasprintf("%s-%d", job->name, job->made++),
                            .node = xstrdup_null(node)};
    show_pod(jobs, job, pod);
}

static void drop_pod(struct jobs *jobs, struct job *job, size_t i)
{
    cleanup_free char *name = STEAL(job->pods[i].name);
    pod_done(&job->pods[i]);
    memmove(&job->pods[i], &job->pods[i + 1], (job->n_pods - i - 1) * sizeof *job->pods);
    job->n_pods--;
    world_pod_gone(jobs->w, name);
}

/* ---- what muster does ---- */

static struct job *job_named(const struct jobs *jobs, const char *name, size_t len)
{
    for (size_t i = 0; i < jobs->n; i++)
        if (strlen(jobs->items[i]->name) == len && memcmp(jobs->items[i]->name, name, len) == 0)
            return jobs->items[i];
    fail_msg("no job has the name %.*s", (int)len, name);
    return NULL;
}

static struct job_pod *pod_named(const struct jobs *jobs, const char *name, struct job **job)
{
    *job = job_named(jobs, name, (size_t)(strrchr(name, '-') - name));
    for (size_t i = 0; i < (*job)->n_pods; i++)
        if (strcmp((*job)->pods[i].name, name) == 0)
            return &(*job)->pods[i];
    fail_msg("no pod has the name %s", name);
    return NULL;
}

/* The gang for which the pod is evicted or its job suspended (`how`), from the event of the pod. */
static struct job *taker_of_pod(const struct jobs *jobs, const char *pod, const char *how)
{
    cleanup_free char *start =
        xasprintf("Pod/%s Preempted: %s to make room for gang default/", pod, how);
    for (size_t i = 0; i < jobs->w->n_events; i++)
        if (strncmp(jobs->w->events[i], start, strlen(start)) == 0) {
            const char *name = jobs->w->events[i] + strlen(start);
            return job_named(jobs, name, strcspn(name, ",:"));
        }
    fail_msg("no event says why pod %s is %s", pod, how);
    return NULL;
}

static void note_leaving(struct jobs *jobs, struct job *job, struct job_pod *pod, const char *how)
{
    assert_false(pod->leaving);
    pod->leaving = true;
    GROW(jobs->evictions, jobs->cap_evictions, jobs->n_evictions + 1);
    jobs->evictions[jobs->n_evictions++] =
        (struct job_eviction){job, taker_of_pod(jobs, pod->name, how)};
}

/* Pods of a job whose suspension was refused were noted before. */
static void note_eviction(struct jobs *jobs, const char *name)
{
    struct job *job;
    struct job_pod *pod = pod_named(jobs, name, &job);
    if (!(job->suspends == JOB_REFUSES_PAUSE && pod->leaving))
        note_leaving(jobs, job, pod, "evicted");
}

static void carry_out_eviction(struct jobs *jobs, const char *name)
{
    struct job *job;
    show_pod(jobs, job, pod_named(jobs, name, &job));
    make_pod(jobs, job, NULL);
}

/* ---- suspended jobs ---- */

/* "suspend j" */
static struct job *job_to_suspend(const struct jobs *jobs, const char *workload)
{
    const char *name = strchr(workload, ' ') + 1;
    return strncmp(workload, "suspend", 7) == 0 ? job_named(jobs, name, strlen(name)) : NULL;
}

static void note_suspension(struct jobs *jobs, const char *workload)
{
    struct job *job = job_to_suspend(jobs, workload);
    for (size_t i = 0; job && i < job->n_pods; i++)
        if (job->pods[i].node && !job->pods[i].leaving)
            note_leaving(jobs, job, &job->pods[i], "suspended");
}

static char *stand_in_name(const struct job *job, int i)
{
    return xasprintf("%s-s%d", job->name, i);
}

static void suspend(struct jobs *jobs, struct job *job)
{
    job->suspended = true;
    jobs->suspensions++;
    for (size_t i = job->n_pods; i-- > 0;)
        if (job->pods[i].node)
            show_pod(jobs, job, &job->pods[i]);
        else
            drop_pod(jobs, job, i);
    for (int i = 0; i < job->size; i++) {
        cleanup_free char *name = stand_in_name(job, i);
        struct gang_pod_facts *f = pod_facts(jobs, job, &(struct job_pod){.name = name});
        f->gated = f->suspended = true;
        world_pod_set(jobs->w, f);
    }
}

static void end_suspension(struct jobs *jobs, struct job *job)
{
    for (int i = 0; i < job->size && job->suspended; i++) {
        cleanup_free char *name = stand_in_name(job, i);
        world_pod_gone(jobs->w, name);
    }
    job->suspended = false;
}

static void resume(struct jobs *jobs, struct job *job)
{
    jobs->resumptions += job->suspended;
    for (int i = 0; i < job->size && job->suspended; i++)
        make_pod(jobs, job, NULL);
    end_suspension(jobs, job);
}

static void carry_out_pause(struct jobs *jobs, const char *workload)
{
    struct job *job = job_to_suspend(jobs, workload);
    const char *name = strchr(workload, ' ') + 1;
    if (!job)
        resume(jobs, job_named(jobs, name, strlen(name)));
    else if (job->suspends == JOB_REFUSES_PAUSE)
        world_suspend_refused(jobs->w, name);
    else
        suspend(jobs, job);
}

static void carry_out_binding(struct jobs *jobs, const char *binding)
{
    struct job *job;
    cleanup_free char *name = xasprintf("%.*s", (int)strcspn(binding, "@"), binding);
    const char *node = strchr(binding, '@') + 1;
    struct job_pod *pod = pod_named(jobs, name, &job);
    world_result(jobs->w, name, node, job->refused ? OUTCOME_REFUSED : OUTCOME_OK);
    if (job->refused)
        return;
    if (job_runs(job) < job->min)
        job->started_at = ++jobs->started;
    if (!job_runs(job))
        job->ran_from = jobs->w->now;
    free(pod->node);
    pod->node = xstrdup(node);
    show_pod(jobs, job, pod);
}

/* What muster requested in a step. */
struct requests {
    char **items;
    size_t n;
};

static struct requests take(char ***items, size_t *n, size_t *cap)
{
    struct requests r = {STEAL(*items), *n};
    *n = *cap = 0;
    return r;
}

static void carry_out(struct jobs *jobs, struct requests r,
                      void (*fn)(struct jobs *jobs, const char *request))
{
    for (size_t i = 0; i < r.n; i++) {
        fn(jobs, r.items[i]);
        free(r.items[i]);
    }
    free(r.items);
}

void jobs_look(struct jobs *jobs)
{
    struct world *w = jobs->w;
    while (w->n_evictions || w->n_bindings || w->n_workloads) {
        size_t first = jobs->n_evictions;
        struct requests evictions = take(&w->evictions, &w->n_evictions, &w->cap_evictions);
        struct requests bindings = take(&w->bindings, &w->n_bindings, &w->cap_bindings);
        struct requests workloads = take(&w->workloads, &w->n_workloads, &w->cap_workloads);
        for (size_t i = 0; i < evictions.n; i++)
            note_eviction(jobs, evictions.items[i]);
        for (size_t i = 0; i < workloads.n; i++)
            note_suspension(jobs, workloads.items[i]);
        if (jobs->see && jobs->n_evictions > first)
            jobs->see(jobs->arg, first);
        world_forget(w);
        carry_out(jobs, bindings, carry_out_binding);
        carry_out(jobs, evictions, carry_out_eviction);
        carry_out(jobs, workloads, carry_out_pause);
    }
    world_forget(w);
}

/* ---- jobs ---- */

struct job *job_add(struct jobs *jobs, struct job job)
{
    struct job *its = xcalloc(1, sizeof *its);
    *its = job;
    its->name = xstrdup(job.name);
    its->queue = xstrdup_null(job.queue);
    its->size = job.size ? job.size : job.min;
    its->exists = true;
    GROW(jobs->items, jobs->cap, jobs->n + 1);
    jobs->items[jobs->n++] = its;
    struct gang_group_facts *f = world_group_facts(its->name, its->min);
    f->queue = xstrdup_null(its->queue);
    f->created = jobs->w->now;
    f->suspends = its->suspends != JOB_EVICTED;
    world_group_set(jobs->w, f);
    for (int i = 0; i < its->size; i++) {
        char node[3] = {'n', its->on ? its->on[i] : '\0', '\0'};
        make_pod(jobs, its, its->on ? node : NULL);
        jobs_look(jobs);
    }
    return its;
}

void job_end(struct jobs *jobs, struct job *job)
{
    job->exists = false;
    end_suspension(jobs, job);
    jobs_look(jobs);
    while (job->n_pods) {
        drop_pod(jobs, job, job->n_pods - 1);
        jobs_look(jobs);
    }
    world_group_gone(jobs->w, job->name);
    jobs_look(jobs);
}

bool job_lose_pod(struct jobs *jobs, struct job *job)
{
    for (size_t i = 0; i < job->n_pods; i++)
        if (job->pods[i].node && !job->pods[i].leaving) {
            drop_pod(jobs, job, i);
            jobs_look(jobs);
            make_pod(jobs, job, NULL);
            jobs_look(jobs);
            return true;
        }
    return false;
}

void jobs_lose_node(struct jobs *jobs, const char *node)
{
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = jobs->items[i];
        for (size_t k = job->n_pods; k-- > 0;) {
            if (!str_eq(job->pods[k].node, node))
                continue;
            bool leaving = job->pods[k].leaving;
            drop_pod(jobs, job, k);
            jobs_look(jobs);
            if (!leaving)
                make_pod(jobs, job, NULL);
            jobs_look(jobs);
        }
    }
    world_node_gone(jobs->w, node);
    jobs_look(jobs);
}

int job_runs(const struct job *job)
{
    int n = 0;
    for (size_t i = 0; i < job->n_pods; i++)
        n += job->pods[i].node && !job->pods[i].leaving;
    return n;
}

size_t job_evicted(const struct jobs *jobs, const struct job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < jobs->n_evictions; i++)
        n += jobs->evictions[i].victim == job;
    return n;
}

/* ---- time ---- */

/* One evicted pod ends, or all of them. */
static bool end_pods(struct jobs *jobs)
{
    bool any = false;
    for (size_t i = 0; i < jobs->n; i++)
        for (size_t k = 0; k < jobs->items[i]->n_pods; k++)
            if (jobs->items[i]->pods[k].leaving) {
                drop_pod(jobs, jobs->items[i], k--);
                jobs_look(jobs);
                any = true;
                if (jobs->slow)
                    return any;
            }
    return any;
}

static void see_state(void *arg, const struct gang_view *view)
{
    struct jobs *jobs = arg;
    const char *name = view->status.ref->name;
    enum gang_state state = view->status.state;
    job_named(jobs, name, strlen(name))->tried =
        state != GANG_WAITING && state != GANG_BACKED_OFF && state != GANG_ASSEMBLING;
}

struct look {
    int64_t gpus, cpus; /* free; thousandths of a cpu */
};

static void see_amount(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    struct look *look = arg;
    (void)reserved;
    if (strcmp(resource, GPU) == 0)
        look->gpus = all - used;
    if (strcmp(resource, "cpu") == 0)
        look->cpus = all - used;
}

/* The nodes with enough room for a pod of the job, apart from muster's reservations. */
static char *nodes_for(struct jobs *jobs, const struct job *job)
{
    struct buf names = BUF_INIT;
    int64_t cpus = job->cpus ? 1000 * job->cpus : 1000;
    map_for_each (e, &jobs->w->nodes) {
        struct look look = {.gpus = 0};
        gang_core_each_amount(jobs->w->core, e->key, see_amount, &look);
        if ((!job->gpus || look.gpus >= job->gpus) && look.cpus >= cpus)
            buf_printf(&names, "%s%s", names.len ? " " : "", e->key);
    }
    return buf_steal(&names);
}

/* kube-scheduler tries the pod. True: it is bound now. */
static bool try_pod(struct jobs *jobs, struct job *job, size_t i)
{
    struct job_pod *pod = &job->pods[i];
    if (pod->node || (pod->call && !world_answer(jobs->w, pod->call)))
        return false;
    cleanup_free char *nodes = nodes_for(jobs, job);
    if (!*nodes)
        return false;
    cleanup_free char *node = xstrdup(world_filter_on(jobs->w, pod->name, nodes, NULL));
    jobs_look(jobs);
    node[strcspn(node, " ")] = '\0';
    if (*node)
        job->pods[i].call = world_bind(jobs->w, job->pods[i].name, node);
    jobs_look(jobs);
    return job->pods[i].node != NULL;
}

static bool try_pods(struct jobs *jobs)
{
    bool any = false;
    gang_core_each_gang(jobs->w->core, see_state, jobs);
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = jobs->items[i];
        for (size_t k = 0; job->exists && job->tried && !job->asleep && k < job->n_pods; k++)
            any |= try_pod(jobs, job, k);
    }
    return any;
}

/* Time passes. True: muster has requested something. */
static bool let_pass(struct jobs *jobs, usec_t t)
{
    struct world *w = jobs->w;
    usec_t end = w->now + t;
    bool any = false;
    while (!any && gang_core_next(w->core) <= end) {
        usec_t next = gang_core_next(w->core);
        w->now = next > w->now ? next : w->now;
        world_step(w, &(struct gang_event){.kind = GANG_EV_TICK}, 1);
        any = w->n_evictions || w->n_bindings || w->n_workloads;
        jobs_look(jobs);
    }
    w->now = any ? w->now : end;
    return any;
}

/* One round, and some time if nothing happens. */
static bool go_on(struct jobs *jobs)
{
    bool any = end_pods(jobs);
    any |= try_pods(jobs);
    any |= let_pass(jobs, any ? 0 : ROUND_INTERVAL);
    return any;
}

bool jobs_settle(struct jobs *jobs, usec_t quiet)
{
    usec_t end = jobs->w->now + SECONDS(3600);
    for (usec_t still = 0; still < quiet;) {
        still = go_on(jobs) ? 0 : still + ROUND_INTERVAL;
        if (jobs->w->now >= end)
            return false;
    }
    return true;
}

void jobs_pass(struct jobs *jobs, usec_t t)
{
    for (usec_t end = jobs->w->now + t; jobs->w->now < end;)
        go_on(jobs);
}
