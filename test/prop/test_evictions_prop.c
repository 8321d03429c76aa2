/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_evictions_prop.c - who evicts whom, in random trees of queues with random jobs.
 *
 *   test_evictions_prop [--seed N] [--arrivals N]
 *
 * Each run draws a small cluster and a tree of queues, and then changes from outside: jobs arrive
 * and end, pods are lost, nodes and queues change, and kube-scheduler lets some jobs wait. After
 * each change, muster, the controllers and kube-scheduler go on until nothing happens any more
 * (test/lib/world_jobs.h). The controllers create evicted pods again at once. The test checks each
 * step with evictions against these rules, which know nothing of the core:
 *
 *   - a gang loses all its pods, or keeps its minimum
 *   - inside a queue, only a lower priority is evicted
 *   - reclaim leaves each queue on the side of the victims what it deserves, at every level up to
 *     the lowest common ancestor: of GPUs, and for a gang without GPUs also of cpus
 *   - reclaim gives each queue on the other side at most what it deserves of the resource that the
 *     gang takes back: GPUs, or cpus if it needs no GPUs
 *   - reclaim of GPUs takes from jobs with GPUs
 *   - with a limit on reclaim, the queue on the side of the victims just below the lowest common
 *     ancestor is left alone after a loss, for a time that is in proportion to the loss
 *   - until the next change from outside, each gang evicts at most once, and no gang evicts one
 *     that has evicted it, directly or through others. So the evictions between two changes are
 *     bounded. Reclaim takes nothing from a gang that has evicted others and has been placed.
 *
 * All gangs that have evicted others must run in the end, unless they were evicted themselves. This
 * rule and "at most once" have an exception: a gang of a higher priority in the same queue may
 * take the room, if it needs the room for its minimum. "At most once" has another one: a gang of a
 * queue that deserves the room may take it from a plan that kube-scheduler does not use.
 *
 * In runs with an even seed, cpus are scarce too, and some jobs need no GPUs.
 *
 * A run that fails is shrunk, and printed as a list of changes that a person can read. The test
 * needs 10,000 arrivals for Q08 (test/acceptance.txt).
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include "test/lib/world_jobs.h"

enum { NODES = 5, QUEUES = 8, CHANGES = 60, JOBS = CHANGES, NODE_CPUS = 16 };
enum { GPUS, CPUS, RESOURCES };

/* How long nothing happens before the next change. */
#define QUIET SECONDS(70)
/* A minimum time before a reclaim, in seconds: longer than some of these pauses. */
#define RUNTIME 200

enum what { QUEUE_SET, NODE_SET, JOB_NEW, JOB_ENDS, JOB_SLEEPS, POD_LOST };

/* One change; a number means what its kind says. */
struct change {
    enum what what;
    int index;                      /* of the queue, node or job */
    int parent, cap;                /* QUEUE_SET: -1: none */
    int deserved[RESOURCES];        /* QUEUE_SET: -1: not stated */
    int weight, runtime;            /* QUEUE_SET: runtime: minimum in seconds before a reclaim */
    bool exists, keeps;             /* QUEUE_SET: keeps: it is not reclaimable */
    int gpus;                       /* NODE_SET: 0: it is gone; JOB_NEW: of each pod */
    int cpus;                       /* JOB_NEW: of each pod; 0: 1 */
    int queue, min, size, priority; /* JOB_NEW: queue -1: none */
    enum job_suspends suspends;     /* JOB_NEW */
};

struct run {
    struct change changes[CHANGES];
    size_t n;
    int limit;        /* on reclaim, in percent per ten minutes; 0: none */
    bool scarce_cpus; /* nodes have NODE_CPUS */
};

/* ---- chance ---- */

static uint64_t chance;

static int up_to(int n)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return n > 0 ? (int)(chance % (uint64_t)(n + 1)) : 0;
}

static bool one_in(int n)
{
    return up_to(n - 1) == 0;
}

/* ---- a run ---- */

struct drawn {
    int queues, nodes, jobs, has[RESOURCES];
    bool scarce_cpus;
    int parents[QUEUES], deserved[QUEUES][RESOURCES];
};

/* A queue deserves at most what its parent deserves. Otherwise it is invalid. */
static int draw_deserved(const struct drawn *d, int parent, int resource)
{
    int most = parent >= 0 ? d->deserved[parent][resource] : d->has[resource];
    return one_in(6) ? -1 : up_to(most > 0 ? most : 0);
}

static struct change draw_queue(struct drawn *d, int q, bool is_new)
{
    if (is_new)
        d->parents[q] = q == 0 || one_in(3) ? -1 : up_to(q - 1);
    int parent = d->parents[q];
    d->deserved[q][GPUS] = draw_deserved(d, parent, GPUS);
    d->deserved[q][CPUS] = d->scarce_cpus ? draw_deserved(d, parent, CPUS) : -1;
    return (struct change){.what = QUEUE_SET,
                           .index = q,
                           .exists = true,
                           .parent = parent,
                           .deserved = {d->deserved[q][GPUS], d->deserved[q][CPUS]},
                           .cap = one_in(5) ? up_to(d->has[GPUS]) : -1,
                           .weight = up_to(3),
                           .runtime = one_in(6) ? RUNTIME : 0,
                           .keeps = one_in(12)};
}

/* A queue without children. */
static int draw_leaf(const struct drawn *d)
{
    for (;;) {
        int q = up_to(d->queues - 1);
        bool leaf = true;
        for (int i = 0; i < d->queues; i++)
            leaf &= d->parents[i] != q;
        if (leaf)
            return q;
    }
}

static struct change draw_job(struct drawn *d)
{
    struct change c = {.what = JOB_NEW, .index = d->jobs++};
    c.queue = !d->queues || one_in(10) ? -1 : draw_leaf(d);
    c.gpus = d->scarce_cpus && one_in(4) ? 0 : 1 << up_to(2);
    c.cpus = d->scarce_cpus ? 1 << up_to(3) : 0;
    c.min = 1 + up_to(3);
    c.size = c.min + (one_in(4) ? 1 + up_to(2) : 0);
    c.priority = up_to(3);
    c.suspends = c.index % 3 ? JOB_EVICTED : c.index % 4 ? JOB_SUSPENDS : JOB_REFUSES_PAUSE;
    return c;
}

static struct change draw_change(struct drawn *d)
{
    int kind = up_to(19);
    struct change c = {.index = up_to(d->jobs - 1)};
    if (kind < 11 || !d->jobs)
        return draw_job(d);
    if (kind == 11)
        return draw_queue(d, up_to(d->queues - 1), false);
    c.what = kind < 17 ? JOB_ENDS : kind == 17 ? JOB_SLEEPS : kind == 18 ? POD_LOST : NODE_SET;
    if (c.what == NODE_SET) {
        c.index = up_to(d->nodes - 1);
        c.gpus = one_in(3) ? 0 : 2 << up_to(2);
    }
    return c;
}

static struct run draw_run(bool scarce_cpus)
{
    struct run run = {.scarce_cpus = scarce_cpus, .limit = one_in(3) ? 5 + up_to(45) : 0};
    struct drawn d = {.queues = one_in(8) ? 0 : 2 + up_to(QUEUES - 2),
                      .nodes = 1 + up_to(NODES - 1),
                      .scarce_cpus = scarce_cpus};
    for (int i = 0; i < d.nodes; i++) {
        struct change c = {.what = NODE_SET, .index = i, .gpus = 2 << up_to(2)};
        run.changes[run.n++] = c;
        d.has[GPUS] += c.gpus;
        d.has[CPUS] += NODE_CPUS;
    }
    for (int i = 0; i < d.queues; i++)
        run.changes[run.n++] = draw_queue(&d, i, true);
    while (run.n < CHANGES)
        run.changes[run.n++] = draw_change(&d);
    return run;
}

/* ---- the rules ---- */

struct play {
    struct jobs *jobs;
    struct job *by_index[JOBS];
    struct change queues[QUEUES]; /* as they are now */
    bool queues_exist;
    bool scarce_cpus;
    int limit; /* on reclaim */
    /* To reclaim: in this step, and in the last one. */
    int loses[QUEUES][RESOURCES], lost[QUEUES][RESOURCES];
    usec_t lost_at[QUEUES][RESOURCES];
    int nodes[NODES];                       /* their GPUs */
    bool holds[JOBS];                       /* the job has a plan, or muster keeps room for it */
    size_t since[JOBS];                     /* jobs->started when the job last evicted others */
    bool evicts[JOBS][JOBS];                /* since the last change */
    size_t by_priority, by_reclaim, inside; /* evicted pods; inside: within a queue of the tree */
    bool looks_again, is_second_look;       /* see owes() */
    const char *failure;                    /* the first one; NULL: none */
    const struct job *taker, *victim;       /* of this failure */
};

static void fails(struct play *p, const char *rule, const struct job *taker,
                  const struct job *victim)
{
    if (p->failure)
        return;
    p->failure = rule;
    p->taker = taker;
    p->victim = victim;
}

static int index_of(const struct job *job)
{
    return atoi(job->name + 1);
}

/* Without queue objects, names mean nothing. */
static int queue_of(const struct play *p, const struct job *job)
{
    return job->queue && p->queues_exist ? atoi(job->queue + 1) : -1;
}

/* -1: none, or it does not exist, because the run is shrunk. */
static int parent_of(const struct play *p, int q)
{
    int parent = p->queues[q].parent;
    return parent >= 0 && p->queues[parent].exists ? parent : -1;
}

static bool is_below(const struct play *p, int q, int top)
{
    for (; q >= 0; q = parent_of(p, q))
        if (q == top)
            return true;
    return false;
}

/* Of each pod. */
static int needs(const struct job *job, int resource)
{
    return resource == GPUS ? job->gpus : job->cpus;
}

static int node_has(const struct play *p, const char *node, int resource)
{
    int gpus = p->nodes[atoi(node + 1)];
    return resource == GPUS || !gpus ? gpus : NODE_CPUS;
}

/* How much the running pods of the job use in its queue: at most what their nodes have. */
static int counts(const struct play *p, const struct job *job, int resource)
{
    int sum = 0, need = needs(job, resource);
    for (size_t i = 0; i < job->n_pods; i++) {
        const struct job_pod *pod = &job->pods[i];
        int most = pod->node && !pod->leaving ? node_has(p, pod->node, resource) : 0;
        sum += need < most ? need : most;
    }
    return sum;
}

/* What runs in the queue and below it, without evicted pods. `plans`: and what has a plan or room.
 */
static int uses(const struct play *p, int top, int resource, bool plans)
{
    int sum = 0;
    for (size_t i = 0; i < p->jobs->n; i++) {
        const struct job *job = p->jobs->items[i];
        if (job->exists && is_below(p, queue_of(p, job), top))
            sum += plans && p->holds[index_of(job)] ? needs(job, resource) * job->size
                                                    : counts(p, job, resource);
    }
    return sum;
}

static int deserves(const struct play *p, int q, int resource)
{
    int deserved = p->queues[q].deserved[resource];
    return deserved > 0 ? deserved : 0;
}

/* What the pods in the queue and below it can have used so far, with those that were ending. */
static int used_at_most(const struct play *p, int top, int resource)
{
    int sum = 0;
    for (int i = 0; i < JOBS; i++) {
        const struct job *job = p->by_index[i];
        if (job && is_below(p, queue_of(p, job), top))
            sum += 2 * needs(job, resource) * job->size;
    }
    return sum;
}

/* Until then, nothing is taken back from the queue: at least so long after what it last lost. */
static usec_t rests_until(const struct play *p, int q, int r)
{
    int used = used_at_most(p, q, r);
    return p->limit && used
               ? p->lost_at[q][r] + SECONDS(600) * 100 / p->limit * p->lost[q][r] / used -
                     USEC_PER_MSEC
               : 0;
}

/* Whether the job has evicted others since the last change. */
static bool has_evicted(const struct play *p, int job)
{
    for (int i = 0; i < JOBS; i++)
        if (p->evicts[job][i])
            return true;
    return false;
}

/* Whether it has started since then, too. */
static bool has_won(const struct play *p, const struct job *job)
{
    return has_evicted(p, index_of(job)) && job->started_at > p->since[index_of(job)];
}

/* KAI's reclaimMinRuntime, in seconds: of the queue, or else of the nearest one above that sets it.
 */
static int min_runtime(const struct play *p, int q)
{
    while (q >= 0 && !p->queues[q].runtime)
        q = parent_of(p, q);
    return q >= 0 ? p->queues[q].runtime : 0;
}

/* The queue takes room for the job from another one: `q` and those above it, as far as they are not
 * above `other` too. */
static void check_reclaim(struct play *p, const struct job *taker, const struct job *victim)
{
    int mine = queue_of(p, taker), theirs = queue_of(p, victim), branch = theirs;
    int taken = taker->gpus ? GPUS : CPUS;
    if (mine < 0 || theirs < 0) {
        fails(p, "a gang takes room from another queue, and one of them is in no queue", taker,
              victim);
        return;
    }
    for (int q = theirs; q >= 0 && !is_below(p, mine, q); q = parent_of(p, q)) {
        if (uses(p, q, taken, true) < deserves(p, q, taken) ||
            (victim->gpus && uses(p, q, GPUS, true) < deserves(p, q, GPUS)))
            fails(p, "reclaim leaves a queue less than it deserves", taker, victim);
        if (p->queues[q].keeps)
            fails(p, "reclaim takes from a queue that is not reclaimable", taker, victim);
        branch = q;
    }
    if (!needs(victim, taken))
        fails(p, "reclaim takes from a job that gives nothing back", taker, victim);
    if (has_won(p, victim))
        fails(p, "reclaim takes from a gang that has just evicted others", taker, victim);
    if (!job_runs(victim) && p->jobs->w->now < victim->ran_from + SECONDS(min_runtime(p, branch)))
        fails(p, "reclaim takes a whole gang before its minimum time", taker, victim);
    if (p->jobs->w->now < rests_until(p, branch, taken))
        fails(p, "reclaim takes more than its limit", taker, victim);
    p->loses[branch][GPUS] += victim->gpus;
    p->loses[branch][CPUS] += victim->cpus;
    for (int q = mine; q >= 0 && !is_below(p, theirs, q); q = parent_of(p, q))
        if (uses(p, q, taken, false) + taker->min * needs(taker, taken) > deserves(p, q, taken))
            fails(p, "reclaim gives a queue more than it deserves", taker, victim);
    p->by_reclaim++;
    p->inside += parent_of(p, mine) >= 0 && is_below(p, theirs, parent_of(p, mine));
}

/* Whether `from` has evicted `to`, directly or through others. */
static bool reaches(const struct play *p, int from, int to, bool seen[JOBS])
{
    if (from == to)
        return true;
    seen[from] = true;
    for (int i = 0; i < JOBS; i++)
        if (p->evicts[from][i] && !seen[i] && reaches(p, i, to, seen))
            return true;
    return false;
}

static void check_eviction(struct play *p, const struct job *taker, const struct job *victim)
{
    int left = job_runs(victim);
    if (left && left < victim->min)
        fails(p, "a gang is left below its minimum", taker, victim);
    if (queue_of(p, taker) != queue_of(p, victim))
        check_reclaim(p, taker, victim);
    else if (victim->priority >= taker->priority)
        fails(p, "a gang evicts one of no lower priority in its own queue", taker, victim);
    else
        p->by_priority++;
    bool seen[JOBS] = {false};
    if (reaches(p, index_of(victim), index_of(taker), seen))
        fails(p, "a gang evicts one that has evicted it", taker, victim);
}

static void see_state(void *arg, const struct gang_view *view)
{
    struct play *p = arg;
    enum gang_state state = view->status.state;
    int job = atoi(view->status.ref->name + 1);
    p->holds[job] = state == GANG_PLANNED || state == GANG_COMMITTING || state == GANG_RECOVERING ||
                    view->status.reason == REASON_EVICTING;
}

/* Whether another gang may have taken the room since the job has evicted others, because it has
 * started, or got needed pods again. In the same queue, it needs a higher priority, and it may also
 * be a gang that kube-scheduler does not try: its plan keeps the room for a while. In another queue
 * that deserves the room, it can only take it from a plan, so kube-scheduler does not try the job.
 */
static bool is_excused(const struct play *p, const struct job *taker)
{
    for (size_t i = 0; i < p->jobs->n; i++) {
        const struct job *job = p->jobs->items[i];
        bool started = job->started_at > p->since[index_of(taker)];
        bool may = queue_of(p, job) == queue_of(p, taker)
                       ? job->priority > taker->priority && (started || job->asleep)
                       : taker->asleep && started;
        if (job->exists && may)
            return true;
    }
    return false;
}

/* The losses of this step count from now on. */
static void note_losses(struct play *p)
{
    for (int q = 0; q < QUEUES; q++)
        for (int r = 0; r < RESOURCES; r++)
            if (p->loses[q][r]) {
                p->lost[q][r] = p->loses[q][r];
                p->lost_at[q][r] = p->jobs->w->now;
            }
}

/* One step of muster has evicted pods. */
static void see(void *arg, size_t first)
{
    struct play *p = arg;
    bool before[JOBS];
    for (int i = 0; i < JOBS; i++)
        before[i] = has_evicted(p, i);
    memset(p->loses, 0, sizeof p->loses);
    gang_core_each_gang(p->jobs->w->core, see_state, p);
    for (size_t i = first; i < p->jobs->n_evictions; i++) {
        const struct job_eviction *e = &p->jobs->evictions[i];
        check_eviction(p, e->taker, e->victim);
        if (before[index_of(e->taker)] && !is_excused(p, e->taker))
            fails(p, "a gang evicts others twice, and nothing has changed", e->taker, e->victim);
        p->evicts[index_of(e->taker)][index_of(e->victim)] = true;
    }
    for (size_t i = first; i < p->jobs->n_evictions; i++)
        p->since[index_of(p->jobs->evictions[i].taker)] = p->jobs->started;
    note_losses(p);
}

/* ---- what comes back ---- */

/* Whether muster accepts the queue and those above it. */
static bool is_valid(const struct play *p, int q)
{
    for (; q >= 0 && p->queues[q].parent >= 0; q = p->queues[q].parent) {
        int parent = p->queues[q].parent;
        if (!p->queues[parent].exists || deserves(p, q, GPUS) > deserves(p, parent, GPUS) ||
            deserves(p, q, CPUS) > deserves(p, parent, CPUS))
            return false;
    }
    return true;
}

/* Whether the queue and those above it, as far as they are not above `theirs` too, deserve what the
 * waiting job needs, and no limit of any queue stops it. */
static bool is_entitled(const struct play *p, const struct job *taker, int theirs)
{
    int r = taker->gpus ? GPUS : CPUS, need = taker->min * needs(taker, r);
    for (int q = queue_of(p, taker); q >= 0; q = parent_of(p, q)) {
        int cap = p->queues[q].cap;
        if (!is_below(p, theirs, q) && uses(p, q, r, true) + need > deserves(p, q, r))
            return false;
        if (cap >= 0 && uses(p, q, GPUS, true) + taker->min * taker->gpus > cap)
            return false;
    }
    return true;
}

/* Whether the queues of the victim, up to the lowest common ancestor, let all of it be taken. */
static bool is_lent(const struct play *p, const struct job *taker, const struct job *victim)
{
    int mine = queue_of(p, taker), r = taker->gpus ? GPUS : CPUS, branch = -1;
    for (int q = queue_of(p, victim); q >= 0 && !is_below(p, mine, q); q = parent_of(p, q)) {
        if (p->queues[q].keeps || uses(p, q, r, true) - counts(p, victim, r) < deserves(p, q, r) ||
            (victim->gpus &&
             uses(p, q, GPUS, true) - counts(p, victim, GPUS) < deserves(p, q, GPUS)))
            return false;
        branch = q;
    }
    return branch >= 0 && counts(p, victim, r) && !min_runtime(p, branch);
}

struct room {
    int gpus, cpus;
};

static void see_room(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    struct room *room = arg;
    int64_t left = all - used - reserved;
    if (strcmp(resource, GPU) == 0)
        room->gpus = (int)left;
    if (strcmp(resource, "cpu") == 0)
        room->cpus = (int)(left / 1000);
}

/* How many pods of the waiting job the node holds once the victim is gone. */
static int holds_without(const struct play *p, const char *node, const struct job *taker,
                         const struct job *victim)
{
    struct room room = {.gpus = 0};
    gang_core_each_amount(p->jobs->w->core, node, see_room, &room);
    for (size_t i = 0; i < victim->n_pods; i++)
        if (victim->pods[i].node && strcmp(victim->pods[i].node, node) == 0) {
            room.gpus += victim->gpus;
            room.cpus += victim->cpus;
        }
    int by_gpus = taker->gpus ? room.gpus / taker->gpus : INT_MAX;
    int by_cpus = taker->cpus ? room.cpus / taker->cpus : INT_MAX;
    int holds = by_gpus < by_cpus ? by_gpus : by_cpus;
    return holds > 0 ? holds : 0;
}

static bool has_room_without(const struct play *p, const struct job *taker,
                             const struct job *victim)
{
    int holds = 0;
    for (size_t i = 0; i < victim->n_pods; i++)
        if (victim->pods[i].leaving)
            return false;
    map_for_each (e, &p->jobs->w->nodes)
        holds += holds_without(p, e->key, taker, victim);
    return holds >= taker->min;
}

/* Whether future room is kept for another gang, which has waited for too long. */
static bool respects_earmark(const struct play *p, const struct job *job)
{
    char api_group[] = "test", ns[] = "default", name[8];
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    snprintf(name, sizeof name, "%s", job->name);
    bool found = gang_core_explain(p->jobs->w->core, &ref, GANG_EXPLAIN_STATE, &x);
    bool respects = found && x.respects_earmark;
    if (found)
        gang_explained_done(&x);
    return respects;
}

/* A gang that respected an earmark until now searches again after a pause of up to a minute, so the
 * rule is broken only if it is broken twice. */
static void owes(struct play *p, const struct job *taker, const struct job *victim)
{
    if (p->is_second_look)
        fails(p, "a queue does not get the room back that it deserves", taker, victim);
    p->looks_again = true;
}

/* Without a limit on reclaim, a job gets its room back if one victim is enough. */
static void check_comes_back(struct play *p, const struct job *taker)
{
    int mine = queue_of(p, taker);
    if (taker->asleep || job_runs(taker) || p->limit || p->holds[index_of(taker)] || mine < 0 ||
        !is_valid(p, mine))
        return;
    for (size_t i = 0; i < p->jobs->n; i++) {
        const struct job *victim = p->jobs->items[i];
        int theirs = queue_of(p, victim);
        if (victim->exists && victim->suspends == JOB_EVICTED && theirs >= 0 && theirs != mine &&
            !has_won(p, victim) && is_lent(p, taker, victim) && is_entitled(p, taker, theirs) &&
            has_room_without(p, taker, victim) && !respects_earmark(p, taker))
            owes(p, taker, victim);
    }
}

/* Nothing happens any more. */
static void check_result(struct play *p)
{
    gang_core_each_gang(p->jobs->w->core, see_state, p);
    for (int i = 0; i < JOBS; i++) {
        const struct job *taker = p->by_index[i];
        bool evicts = has_evicted(p, i), evicted = false;
        for (int k = 0; k < JOBS; k++)
            evicted |= p->evicts[k][i];
        if (evicts && !evicted && !taker->asleep && job_runs(taker) < taker->min &&
            !is_excused(p, taker))
            fails(p, "a gang does not run although others were evicted for it", taker, taker);
        if (taker && taker->exists && !evicts && !evicted)
            check_comes_back(p, taker);
    }
}

/* ---- changes ---- */

static void set_queue(struct play *p, const struct change *c)
{
    cleanup_free char *name = xasprintf("q%d", c->index);
    cleanup_free char *parent = c->parent >= 0 ? xasprintf("q%d", c->parent) : NULL;
    struct gang_queue_facts *f = world_queue_facts(name, parent);
    struct gang_quota *quota = gang_quota_add(f, GPU);
    quota->deserved = c->deserved[GPUS] >= 0 ? c->deserved[GPUS] : GANG_NOT_STATED;
    quota->cap = c->cap >= 0 ? c->cap : GANG_UNLIMITED;
    if (c->deserved[CPUS] >= 0)
        gang_quota_add(f, "cpu")->deserved = 1000 * c->deserved[CPUS];
    f->weight = 1000 * c->weight;
    f->reclaimable = !c->keeps;
    f->reclaim_min_runtime = c->runtime ? SECONDS(c->runtime) : GANG_NOT_STATED;
    p->queues[c->index] = *c;
    p->queues_exist = true;
    world_queue_set(p->jobs->w, f);
}

static void set_node(struct play *p, const struct change *c)
{
    cleanup_free char *name = xasprintf("n%d", c->index);
    p->nodes[c->index] = c->gpus;
    if (c->gpus && p->scarce_cpus)
        world_node_small(p->jobs->w, name, c->gpus, 1000 * NODE_CPUS);
    else if (c->gpus)
        world_node(p->jobs->w, name, c->gpus);
    else if (map_get(&p->jobs->w->nodes, name))
        jobs_lose_node(p->jobs, name);
}

static void add_job(struct play *p, const struct change *c)
{
    cleanup_free char *name = xasprintf("j%02d", c->index);
    cleanup_free char *queue = c->queue >= 0 ? xasprintf("q%d", c->queue) : NULL;
    p->by_index[c->index] = job_add(p->jobs, (struct job){.name = name,
                                                          .queue = queue,
                                                          .min = c->min,
                                                          .size = c->size,
                                                          .gpus = c->gpus,
                                                          .cpus = c->cpus,
                                                          .suspends = c->suspends,
                                                          .priority = c->priority});
}

/* Whether the change is an outside change for muster, see docs/preemption.md. job: which it
 * changes; NULL: it adds one, or the job is gone. */
static bool is_outside(const struct change *c, const struct job *job)
{
    return c->what < JOB_ENDS || (job && c->what == JOB_ENDS) ||
           (job && c->what == POD_LOST && job_runs(job));
}

/* What the job evicted while kube-scheduler did not try it may have been in vain. */
static void set_asleep(struct play *p, struct job *job)
{
    job->asleep = !job->asleep;
    if (job_runs(job) < job->min)
        memset(p->evicts[index_of(job)], 0, sizeof p->evicts[0]);
}

static void apply(struct play *p, const struct change *c)
{
    struct job *job = c->what >= JOB_ENDS ? p->by_index[c->index] : NULL;
    if (job && !job->exists)
        job = NULL;
    bool outside = is_outside(c, job);
    if (outside)
        memset(p->evicts, 0, sizeof p->evicts);
    if (c->what == QUEUE_SET)
        set_queue(p, c);
    else if (c->what == NODE_SET)
        set_node(p, c);
    else if (c->what == JOB_NEW)
        add_job(p, c);
    else if (job && c->what == JOB_ENDS)
        job_end(p->jobs, job);
    else if (job && c->what == JOB_SLEEPS)
        set_asleep(p, job);
    else if (job)
        job_lose_pod(p->jobs, job);
    jobs_look(p->jobs);
    if (outside && (c->what == NODE_SET || c->what == JOB_ENDS)) /* pods have ended one by one */
        memset(p->evicts, 0, sizeof p->evicts);
}

static void print_change(const struct change *c)
{
    switch (c->what) {
    case QUEUE_SET:
        printf("queue q%d: parent %d deserves %d GPUs, %d cpus; cap %d weight %d%s%s\n", c->index,
               c->parent, c->deserved[GPUS], c->deserved[CPUS], c->cap, c->weight,
               c->runtime ? " runs for 200 s" : "", c->keeps ? " not reclaimable" : "");
        break;
    case NODE_SET:
        printf("node n%d: %d GPUs\n", c->index, c->gpus);
        break;
    case JOB_NEW:
        printf("job j%02d in queue %d: %d of %d pods of %d GPUs, %d cpus, priority %d%s\n",
               c->index, c->queue, c->min, c->size, c->gpus, c->cpus, c->priority,
               c->suspends == JOB_SUSPENDS        ? ", can be suspended"
               : c->suspends == JOB_REFUSES_PAUSE ? ", refuses its suspension"
                                                  : "");
        break;
    default:
        printf("job j%02d %s\n", c->index,
               c->what == JOB_ENDS     ? "ends"
               : c->what == JOB_SLEEPS ? "sleeps or wakes up"
                                       : "loses a pod");
    }
}

/* ---- runs ---- */

struct figures {
    size_t arrivals, evictions, by_priority, by_reclaim, inside, suspensions, resumptions;
};

/* Prints the evictions since the n-th. */
static void say_evictions(const struct play *p, size_t n)
{
    for (; n < p->jobs->n_evictions; n++)
        printf("    %s loses a pod for %s\n", p->jobs->evictions[n].victim->name,
               p->jobs->evictions[n].taker->name);
}

/* Plays until nothing happens any more, and checks the result. */
static void settle(struct play *p)
{
    p->looks_again = p->is_second_look = false;
    do {
        p->is_second_look = p->looks_again;
        if (!jobs_settle(p->jobs, QUIET))
            fails(p, "the evictions do not end", NULL, NULL);
        check_result(p);
    } while (p->looks_again && !p->is_second_look);
}

/* True: a rule is broken. `say`: print the changes and evictions. */
static bool run_fails(const struct run *run, bool slow, struct figures *f, bool say)
{
    struct play *p = xcalloc(1, sizeof *p);
    struct gang_config config = test_config();
    config.assemble = 0;
    config.reclaim_limit = p->limit = run->limit;
    p->jobs = jobs_new(world_new_with(config, true));
    p->jobs->slow = slow;
    p->scarce_cpus = run->scarce_cpus;
    p->jobs->see = see;
    p->jobs->arg = p;
    for (size_t i = 0; i < run->n && !p->failure; i++) {
        size_t n = p->jobs->n_evictions;
        if (say && !i && p->limit)
            printf("reclaim: %d percent in 10 minutes\n", p->limit);
        if (say)
            print_change(&run->changes[i]);
        p->jobs->w->unchecked = i % 4 != 0; /* the check of the invariants takes long */
        apply(p, &run->changes[i]);
        settle(p);
        if (say)
            say_evictions(p, n);
        f->arrivals += run->changes[i].what == JOB_NEW;
    }
    bool failed = p->failure;
    if (say && failed)
        printf("%s (%s for %s)\n", p->failure, p->victim ? p->victim->name : "-",
               p->taker ? p->taker->name : "-");
    f->evictions += p->jobs->n_evictions;
    f->by_priority += p->by_priority;
    f->by_reclaim += p->by_reclaim;
    f->inside += p->inside;
    f->suspensions += p->jobs->suspensions;
    f->resumptions += p->jobs->resumptions;
    jobs_free(p->jobs);
    free(p);
    return failed;
}

/* Leaves out changes while the run still fails, until each of them is needed. */
static void shrink(struct run *run, bool slow)
{
    struct figures f;
    for (size_t before = run->n + 1; run->n < before;) {
        before = run->n;
        for (size_t i = run->n; i-- > 0;) {
            struct run less = *run;
            memmove(&less.changes[i], &less.changes[i + 1],
                    (less.n - i - 1) * sizeof less.changes[0]);
            less.n--;
            if (run_fails(&less, slow, &f, false))
                *run = less;
        }
    }
}

static int report(struct run *run, bool slow, uint64_t seed)
{
    struct figures f;
    printf("seed %llu fails; shrunk:\n", (unsigned long long)seed);
    shrink(run, slow);
    run_fails(run, slow, &f, true);
    return 1;
}

/* A violated invariant of the core ends the program; this tells the seed. */
static uint64_t playing;

static void tell_seed(void)
{
    if (playing)
        printf("seed %llu fails\n", (unsigned long long)playing);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'}, {"arrivals", required_argument, NULL, 'a'}, {0}};
    uint64_t seed = 1, arrivals = 10000;
    struct figures f = {0};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (o == 'a')
            arrivals = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    atexit(tell_seed);
    for (; f.arrivals < arrivals; seed++) {
        chance = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
        playing = seed;
        bool slow = one_in(2);
        struct run run = draw_run(seed % 2 == 0);
        if (run_fails(&run, slow, &f, false)) {
            int bad = report(&run, slow, seed);
            playing = 0;
            return bad;
        }
        playing = 0;
    }
    printf(
        "%zu arrivals: %zu pods evicted, %zu of them by priority and %zu by reclaim (%zu inside a "
        "queue of the tree); %zu jobs suspended, %zu resumed; no rule is broken\n",
        f.arrivals, f.evictions, f.by_priority, f.by_reclaim, f.inside, f.suspensions,
        f.resumptions);
    return 0;
}
