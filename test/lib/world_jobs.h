/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_jobs.h - jobs in the world of tests (world.h), with their controllers and a kube-scheduler.
 *
 * A job is a gang. When muster evicts a pod, the pod becomes Terminating, the controller of the job
 * creates another one at once, and the evicted pod ends later. kube-scheduler tries all pods of
 * gangs with a plan, and those of running gangs. jobs_settle() lets all this go on until nothing
 * happens any more.
 *
 * If muster suspends a job, its pods become Terminating, and pods that stand for its new ones are
 * shown until muster resumes it.
 *
 * Nodes have the names n0 to n9. All evictions are noted, each with the job that gets the room.
 */
#ifndef MUSTER_TEST_WORLD_JOBS_H
#define MUSTER_TEST_WORLD_JOBS_H

#include "test/lib/world_queues.h"

struct job_pod {
    char *name, *node; /* node NULL: it waits */
    bool leaving;      /* it is evicted, or its job is suspended */
    uint64_t call;     /* the last bind call; 0: none */
};

enum job_suspends {
    JOB_EVICTED,       /* it does not ask to be suspended */
    JOB_SUSPENDS,      /* muster may suspend it */
    JOB_REFUSES_PAUSE, /* the same, but the suspension is refused */
};

struct job {
    const char *name, *queue; /* queue NULL: none */
    int min, size;            /* members needed and in total; size 0: as min */
    int gpus, cpus, priority; /* of a pod; cpus 0: 1 */
    const char *on;           /* the node of each member, as in "001"; NULL: it waits */
    bool refused;             /* an admission webhook refuses its Bindings */
    bool asleep;              /* kube-scheduler does not try its pods */
    enum job_suspends suspends;

    /* Kept by world_jobs.c. */
    bool exists, tried, suspended;
    struct job_pod *pods;
    size_t n_pods, cap_pods;
    int made;          /* pods so far */
    size_t started_at; /* jobs->started when it last got a pod up to its minimum; 0: never */
    usec_t ran_from;   /* when a pod of it last started while no other ran */
};

struct job_eviction {
    struct job *victim, *taker;
};

struct jobs {
    struct world *w;
    bool slow; /* evicted pods end one by one */
    struct job **items;
    size_t n, cap;
    struct job_eviction *evictions; /* an entry for each pod */
    size_t n_evictions, cap_evictions;
    size_t suspensions, resumptions; /* how often this has happened */
    size_t started;                  /* counts Bindings of pods that their jobs need */
    /* Called after each step with evictions, when the new ones are noted; may be NULL. */
    void (*see)(void *arg, size_t first);
    void *arg;
};

/* Takes ownership of the world. */
struct jobs *jobs_new(struct world *w);
void jobs_free(struct jobs *jobs);
/* Copies the job and its names. The result is valid until jobs_free(). */
struct job *job_add(struct jobs *jobs, struct job job);
/* Its pods and its PodGroup are deleted. */
void job_end(struct jobs *jobs, struct job *job);
/* A user deletes a running pod, and the controller creates another one. False: none runs. */
bool job_lose_pod(struct jobs *jobs, struct job *job);
/* The pods on the node are deleted, the controllers create them again, and the node is deleted. */
void jobs_lose_node(struct jobs *jobs, const char *node);
/* How many pods run and are not evicted. */
int job_runs(const struct job *job);
/* How many pods of the job were evicted so far. */
size_t job_evicted(const struct jobs *jobs, const struct job *job);
/* Until nothing has happened for `quiet`, but for at most an hour. Returns false if things still
 * happened then. */
bool jobs_settle(struct jobs *jobs, usec_t quiet);
/* The same for so long, whatever happens. */
void jobs_pass(struct jobs *jobs, usec_t t);
/* Call it after each use of the world that is not one of the above. */
void jobs_look(struct jobs *jobs);

#endif
