/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - everything that can happen to the core.
 *
 * Facts events hand their facts over: gang_step() takes what it keeps and leaves NULL. Calls borrow
 * their strings and name lists: they must stay valid until the effects of that step were carried
 * out. gang_event_done() frees whatever the event still owns.
 *
 * A call is a verb that kube-scheduler asked; `id` is chosen by the caller, unique among the calls
 * not yet answered, never 0. Every call is answered by exactly one REPLY_* effect: filter,
 * prioritize and preempt in the same step, bind whenever the core decides.
 */
#ifndef MUSTER_GANG_EVENT_H
#define MUSTER_GANG_EVENT_H

#include "gang/facts.h"

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
    X(SYNCED, "every list was read once: the picture is whole")                                    \
    X(WATCH, "the watch of nodes or of pods fell behind, or has caught up")                        \
    X(FILTER, "kube-scheduler asks which of these nodes will do")                                  \
    X(PRIORITIZE, "kube-scheduler asks how good these nodes are")                                  \
    X(PREEMPT, "kube-scheduler asks which of these preemptions may go on")                         \
    X(BIND, "kube-scheduler asks to bind a pod")                                                   \
    X(CALL_CLOSED, "the peer closed the connection of a held call")                                \
    X(BIND_DONE, "a binding the core asked for has a result")                                      \
    X(POD_READ, "a pod the core asked to be read was read")                                        \
    X(TICK, "time passed")                                                                         \
    X(STOP, "the program ends: answer every held call")

enum gang_event_kind {
#define X(name, help) GANG_EV_##name,
    GANG_EVENTS(X)
#undef X
        GANG_EV_MAX
};

/* How a binding ended, or what reading a pod showed. */
enum gang_outcome {
    OUTCOME_OK,      /* bound to that node (POD_READ: bound to the node in `node`) */
    OUTCOME_REFUSED, /* definitely not done, and asking again is no use (POD_READ: no such pod) */
    OUTCOME_UNCLEAR, /* timeout, reset, conflict, 5xx: may have been done (POD_READ: could not be
                        read) */
    OUTCOME_UNBOUND, /* POD_READ only: the pod exists and has no node */
};

/* Watches of which the core wants to know whether what they have shown is what there is. */
enum gang_watch { GANG_WATCH_NODES, GANG_WATCH_PODS, GANG_WATCHES };

struct gang_event {
    enum gang_event_kind kind;
    uint64_t id;       /* calls */
    bool pod_is_known; /* calls: pod is the core's own, see gang_core_known_pod(); borrowed */
    union {
        struct gang_node_facts *node;            /* NODE_SET; owned */
        struct gang_pod_facts *pod;              /* POD_SET, FILTER, PRIORITIZE, PREEMPT; owned */
        struct gang_group_facts *group;          /* GROUP_SET; owned */
        struct gang_priority_class_facts *class; /* CLASS_SET; owned */
        struct gang_claim_facts *claim;          /* CLAIM_SET; owned */
        /* NODE_GONE, CLASS_GONE (name), POD_GONE, CLAIM_GONE (ns, name), GROUP_GONE (all); owned */
        struct gang_ref gone;
        struct {
            enum gang_watch of;
            bool behind; /* else it follows; so does one of which nothing was ever said */
        } watch;         /* WATCH */
        struct {
            char *ns, *name, *uid, *node; /* BIND; owned */
        } bind;
        struct {
            char *uid;  /* owned */
            char *node; /* owned; the node asked for (BIND_DONE) or seen (POD_READ), may be NULL */
            char *text; /* owned; why, for people; may be NULL */
            enum gang_outcome outcome;
        } result; /* BIND_DONE, POD_READ */
    };
    /* FILTER, PRIORITIZE, PREEMPT: the nodes offered; borrowed. */
    const char *const *names;
    size_t n_names;
};

const char *gang_event_name(enum gang_event_kind kind);
void gang_event_done(struct gang_event *ev);

#endif
