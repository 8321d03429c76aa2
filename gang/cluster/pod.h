/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.h - a pod, as the core knows it, and the slot that is reserved for one.
 *
 * A member on its way: Unscheduled -> Assumed (has a slot) -> Held (its bind call waits) ->
 * Binding (Binding sent: the slot became a charge) -> Assigned.
 *
 * Made by pods.c, when the watch shows it or filter is asked about it; slots by reservations.c.
 * Owned by the core; one thread. The comment before some fields names the only file that writes
 * them.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_H
#define MUSTER_GANG_CLUSTER_POD_H

#include "gang/cluster/signature.h"
#include "gang/cluster/timer.h"

struct slot {
    /* cluster/reservations.c */
    struct list in_gang, in_node;
    struct gang *gang;
    struct unit *unit; /* where its member counts */
    struct node *node;
    struct signature *signature;
    struct pod *pod; /* NULL: expected, a member that does not exist yet */
    usec_t made;
    bool steered;   /* its member was nominated here because the node was not offered */
    bool unoffered; /* a whole list for a member of its signature lacked the node */
};

/* Where filter let a pod through to, the last time. */
enum filter_result_kind { FILTERED_NONE, FILTERED_ONE, FILTERED_SOME, FILTERED_ANY };
struct filter_result {
    usec_t at;
    enum filter_result_kind to;
    uint32_t node;  /* FILTERED_ONE: its id */
    uint64_t *bits; /* FILTERED_SOME: by node id */
    size_t n_words;
    uint64_t as_of; /* core->marks.clock: a node that came later is none of them */
};

enum charge { CHARGE_NONE, CHARGE_BINDING, CHARGE_ASSIGNED };

/* A PersistentVolumeClaim that says where it may be used, or that pods name. */
struct claim {
    char *key;                      /* ns/name */
    struct gang_claim_facts *facts; /* NULL: any node will do, or it is not known */
    struct list uses;
};
struct claim_use {
    struct list in_claim;
    struct claim *claim;
    struct pod *pod;
};

struct pod {
    /* cluster/pods.c */
    struct gang_pod_facts *facts;
    struct signature *signature;
    struct list in_signature;
    bool unseen; /* the watch has not shown it */

    /* cluster/volume_claims.c */
    struct claim_use *uses; /* one for each of facts->claims, in their order */
    size_t n_uses;
    char *pinned; /* the node for which kube-scheduler has prepared its volumes; NULL: none */

    /* podgroup/podgroups.c */
    struct group *group; /* NULL: ordinary */
    struct gang *gang;   /* of the group; NULL: ordinary */
    struct unit *unit;   /* where it counts there */
    struct list in_gang;

    /* cluster/pod_labels.c */
    struct list in_space; /* of the members of its namespace */

    /* cluster/ledger.c */
    struct node *node; /* charged there; NULL: nowhere */
    enum charge charge;
    struct list in_node;

    /* cluster/reservations.c */
    struct slot *slot;

    /* cluster/held_calls.c */
    uint64_t call; /* bind call not yet answered; 0: none */
    usec_t call_since;
    bool held;          /* the call waits for the quorum; it asks for the slot's node */
    uint32_t held_node; /* id of that node */
    bool sent;          /* filter named its slot: it is on its way to bind there */

    /* cluster/pod_binding.c */
    struct pod_binding {
        usec_t began; /* its Binding was sent first, */
        usec_t sent;  /* and last */
        int tries;
        int commit;       /* the gang's commit that sent it; 0: none */
        char *refused_on; /* the node of its last Binding that was refused; NULL: none */
        bool undone;      /* asked to leave, after a failed commit */
    } binding;

    /* cluster/kube_queue.c */
    struct pod_queue {
        bool rejected;   /* it was refused since it was last steered: only a write wakes it */
        bool refused;    /* filter said no to it, in this life */
        int wake_writes; /* how often it was nominated to wake it, and nothing shows yet that it is
                          * awake */
        usec_t joined;   /* when it joined kube-scheduler's queue last, as far as is known */
        bool asked;      /* filter was asked about it since muster or kube-scheduler wrote on it */
        int early_rejections; /* times that it was refused unasked since it has its place */
        struct list in_blocked;
    } queue;

    /* cluster/nominations.c */
    char *nominated; /* status.nominatedNodeName, as far as we know */
    struct list in_nominated;

    /* cluster/nominated_room.c */
    struct node *nominated_room; /* where room is promised to it; NULL: nowhere */
    char *named;                 /* what this life of muster wrote there last; NULL: nothing, or who
                                  * else wrote since may mean the same node */
    struct list in_nominated_room;

    /* cluster/filter_results.c */
    struct filter_result filter_result; /* where filter let it through to */
    struct list in_filter_results;

    /* cluster/dirty_nodes.c */
    struct list in_wide_anti_affinity;
    uint64_t wide_anti_affinity_seq; /* its number in core->marks.wide_anti_affinity */

    /* lifecycle/predicate_coverage.c */
    uint64_t wide_anti_affinity_checked; /* none of the first so many of
                                            core->marks.wide_anti_affinity keeps it away */

    /* cluster/pod_gate.c */
    int lifts; /* how often its gate was asked to be lifted, and it is not seen yet */
    struct list in_ungrouped;

    /* lifecycle/wake.c */
    struct pod_wake {
        usec_t at;       /* when it was woken last */
        uint64_t round;  /* core->wake.round then */
        usec_t steer_at; /* when it is nominated to its place, unless it was asked about by then */
        struct list in_woken, in_unasked;
    } wake;

    /* lifecycle/early_rejection.c */
    bool rejected_early; /* kube-scheduler refuses it unasked: no plan counts on it */
    bool missed;         /* its gang's last plan failed without it: others get places first */

    /* verb/filter.c */
    uint32_t declined; /* filter said no to the own call of its nomination to this node: its id,
                        * and 1; the full list follows. 0: none */

    /* messages/status_and_events.c */
    enum gang_reason_code emitted_reason; /* the reason last sent to it as an event */

    /* Set and stopped through timers.h, each by whoever its kind belongs to. */
    struct timer timers[POD_TIMERS];
};

#endif
