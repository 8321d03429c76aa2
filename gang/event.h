/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - every input of the core.
 *
 * An event owns its facts. gang_step() takes the facts that it keeps and leaves NULL in their
 * place. gang_event_done() frees the rest. An event only borrows the list of offered names: the
 * list must stay valid until the effects of that step are carried out.
 *
 * A call is an extender verb that kube-scheduler calls. The creator of the event chooses its `id`,
 * which is never 0 and unique among open calls. Exactly one REPLY_* effect answers each call. The
 * core answers filter, prioritize and preempt in the same step. It may answer bind in a later step.
 */
#ifndef MUSTER_GANG_EVENT_H
#define MUSTER_GANG_EVENT_H

#include "gang/queue_facts.h"

#define GANG_EVENTS(X)                                                                             \
    X(NODE_SET, "a node exists, or changed")                                                       \
    X(NODE_GONE, "a node was deleted")                                                             \
    X(POD_SET, "a pod exists, or changed")                                                         \
    X(POD_GONE, "a pod was deleted")                                                               \
    X(GROUP_SET, "a PodGroup exists, or changed")                                                  \
    X(GROUP_GONE, "a PodGroup was deleted")                                                        \
    X(CLASS_SET, "a PriorityClass exists, or changed")                                             \
    X(CLASS_GONE, "a PriorityClass was deleted")                                                   \
    X(CLAIM_SET, "a PersistentVolumeClaim exists, or where it may be used changed")                \
    X(CLAIM_GONE, "a PersistentVolumeClaim was deleted")                                           \
    X(BUDGET_SET, "a PodDisruptionBudget exists, or changed")                                      \
    X(BUDGET_GONE, "a PodDisruptionBudget was deleted")                                            \
    X(JOB_SET, "a Job exists, or the number of pods that it may lose has changed")                 \
    X(JOB_GONE, "a Job was deleted")                                                               \
    X(QUEUE_SET, "a queue exists, or changed")                                                     \
    X(QUEUE_GONE, "a queue was deleted")                                                           \
    X(NAMESPACE_SET, "a namespace names a queue, or another one")                                  \
    X(NAMESPACE_GONE, "a namespace was deleted, or names no queue any more")                       \
    X(SYNCED, "muster has read every list, so the cluster cache is complete")                      \
    X(WATCH, "the watch of nodes or pods fell behind or caught up")                                \
    X(FILTER, "kube-scheduler calls filter with these nodes")                                      \
    X(PRIORITIZE, "kube-scheduler calls prioritize with these nodes")                              \
    X(PREEMPT, "kube-scheduler calls preempt with these candidate nodes")                          \
    X(BIND, "kube-scheduler calls bind for a pod")                                                 \
    X(CALL_CLOSED, "the peer closed the connection of a held call")                                \
    X(BIND_DONE, "the result of a Binding that the core requested")                                \
    X(POD_READ, "the result of reading a pod, which the core requested")                           \
    X(SUSPEND_REFUSED, "a workload that the core wanted to suspend runs on")                       \
    X(TICK, "time passed")                                                                         \
    X(STOP, "the program ends, so every held call must be answered")

enum gang_event_kind {
#define X(name, help) GANG_EV_##name,
    GANG_EVENTS(X)
#undef X
        GANG_EV_MAX
};

/* The result of a Binding (BIND_DONE) or of reading a pod (POD_READ). */
enum gang_outcome {
    OUTCOME_OK,      /* the pod is bound: to the requested node, or (POD_READ) to `node` */
    OUTCOME_REFUSED, /* BIND_DONE: the pod was not bound, and a retry would not help;
                        POD_READ: the pod does not exist */
    OUTCOME_UNCLEAR, /* BIND_DONE: timeout, reset, conflict or 5xx, so the pod may be bound;
                        POD_READ: the read failed */
    OUTCOME_UNBOUND, /* POD_READ: the pod exists and has no node */
};

/* The watches whose lag the core tracks. */
enum gang_watch { GANG_WATCH_NODES, GANG_WATCH_PODS, GANG_WATCHES };

/* The victims of a preemption on one node. */
struct gang_victims {
    const char *const *uids;
    size_t n;
    int64_t violations; /* evictions that PodDisruptionBudgets do not allow */
};

struct gang_event {
    enum gang_event_kind kind;
    uint64_t id;       /* calls */
    bool pod_is_known; /* calls: `pod` is borrowed from the core, see gang_core_known_pod() */
    union {
        struct gang_node_facts *node;            /* NODE_SET; owned */
        struct gang_pod_facts *pod;              /* POD_SET, FILTER, PRIORITIZE, PREEMPT; owned */
        struct gang_group_facts *group;          /* GROUP_SET; owned */
        struct gang_priority_class_facts *class; /* CLASS_SET; owned */
        struct gang_claim_facts *claim;          /* CLAIM_SET; owned */
        struct gang_budget_facts *budget;        /* BUDGET_SET; owned */
        struct gang_job_facts *job;              /* JOB_SET; owned */
        struct gang_queue_facts *queue;          /* QUEUE_SET; owned */
        struct gang_namespace_facts *namespace;  /* NAMESPACE_SET; owned */
        /* NODE_GONE, CLASS_GONE, NAMESPACE_GONE (name), POD_GONE, CLAIM_GONE, BUDGET_GONE, JOB_GONE
         * (ns, name), GROUP_GONE, QUEUE_GONE, SUSPEND_REFUSED (all); owned */
        struct gang_ref gone;
        struct {
            usec_t api_time; /* of the API server's clock, since 1970; 0: unknown */
        } synced;            /* SYNCED */
        struct {
            enum gang_watch of;
            bool behind; /* false: the watch caught up, which is also the initial state */
        } watch;         /* WATCH */
        struct {
            char *ns, *name, *uid, *node; /* BIND; owned */
        } bind;
        struct {
            char *uid;  /* owned */
            char *node; /* owned; BIND_DONE: the requested node; POD_READ: the actual one; may be
                           NULL */
            char *text; /* owned; why it failed; may be NULL */
            enum gang_outcome outcome;
        } result; /* BIND_DONE, POD_READ */
    };
    /* FILTER, PRIORITIZE, PREEMPT: the nodes offered; borrowed. */
    const char *const *names;
    size_t n_names;
    const struct gang_victims
        *victims; /* PREEMPT: on each of these nodes; borrowed; NULL: unknown */
};

const char *gang_event_name(enum gang_event_kind kind);
/* Frees what the event still owns, but not the event itself. */
void gang_event_done(struct gang_event *ev);

#endif
