/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.h - a pod in the cluster cache, and the slot reserved for a member.
 *
 * A member's way to its node: Unscheduled -> Assumed (has a slot) -> Held (its bind call waits) ->
 * Binding (Binding sent: the slot became a charge) -> Assigned.
 *
 * pods.c makes a pod when the watch shows it or filter is called for it; reservations.c makes
 * slots. Owned by the core; one thread. The comment before some fields names the only file that
 * writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_H
#define MUSTER_GANG_CLUSTER_POD_H

#include "gang/cluster/signature.h"
#include "gang/cluster/timer.h"

struct slot {
    /* cluster/reservations.c */
    struct list in_gang, in_node;
    struct gang *gang;
    struct unit *unit; /* the unit in which its member counts */
    struct node *node;
    struct signature *signature;
    struct pod *pod; /* NULL: expected, for a member that does not exist yet */
    usec_t made;
    bool steered;   /* its member was nominated here: kube-scheduler had not offered the node */
    bool unoffered; /* a complete list for its signature lacked the node */
};

/* The nodes that filter last returned for a pod. */
enum filter_result_kind { FILTERED_NONE, FILTERED_ONE, FILTERED_SOME, FILTERED_ANY };
struct filter_result {
    usec_t at;
    enum filter_result_kind to;
    uint32_t node;  /* FILTERED_ONE: its id */
    uint64_t *bits; /* FILTERED_SOME: a bit for each node id */
    size_t n_words;
    uint64_t as_of; /* core->marks.clock then; nodes added later are excluded */
};

enum charge { CHARGE_NONE, CHARGE_BINDING, CHARGE_ASSIGNED };

/* A PersistentVolumeClaim that limits nodes or that pods name. */
struct claim {
    char *key;                      /* ns/name */
    struct gang_claim_facts *facts; /* NULL: unknown, or it limits no node */
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
    bool unseen; /* known from filter; the watch has not shown it yet */

    /* cluster/volume_claims.c */
    struct claim_use *uses; /* one for each of facts->claims, same order */
    size_t n_uses;
    char *pinned; /* node for which kube-scheduler prepared its volumes; NULL: none */

    /* podgroup/podgroups.c */
    struct group *group; /* NULL: ordinary */
    struct gang *gang;   /* gang of the group; NULL: ordinary */
    struct unit *unit;   /* the unit in which it counts */
    struct list in_gang;

    /* cluster/pod_labels.c */
    struct list in_namespace; /* among the members of its namespace */

    /* cluster/ledger.c */
    struct node *node; /* node to which it is charged; NULL: none */
    enum charge charge;
    struct list in_node;

    /* cluster/reservations.c */
    struct slot *slot;

    /* cluster/held_calls.c */
    uint64_t call; /* open bind call; 0: none */
    usec_t call_since;
    bool held;          /* the call waits for the quorum, at the slot's node */
    uint32_t held_node; /* id of that node */
    bool sent;          /* filter returned its slot's node: it is on its way to bind there */

    /* cluster/pod_binding.c */
    struct pod_binding {
        usec_t began; /* when its Binding was first sent */
        usec_t sent;  /* when its Binding was last sent */
        int tries;
        int commit;       /* the gang's commit that sent it; 0: none */
        char *refused_on; /* node of its last refused Binding; NULL: none */
        bool undone;      /* its eviction was requested after a failed commit */
    } binding;

    /* cluster/kube_queue.c */
    struct pod_queue {
        bool rejected; /* refused since it was last steered: only a write wakes it */
        bool refused;  /* filter has refused it in this run of muster */
        usec_t joined; /* when it last joined kube-scheduler's queue, as far as known */
        bool asked; /* filter was called for it since muster or kube-scheduler last wrote to it */
        int early_rejections; /* early rejections since it got its slot or filter was last called */
        struct list in_blocked;
    } queue;

    /* cluster/wake_writes.c */
    int wake_writes; /* wake writes without a sign yet that the pod is awake */

    /* cluster/nominations.c */
    char *nominated; /* status.nominatedNodeName, as far as known */
    struct list in_nominated;

    /* cluster/nominated_room.c */
    struct node *nominated_room; /* node with room nominated for it; NULL: none */
    char *named; /* nomination that muster wrote in this run; NULL: none, or kube-scheduler's too */
    struct list in_nominated_room;

    /* cluster/filter_results.c */
    struct filter_result filter_result; /* filter's last result for it */
    struct list in_filter_results;

    /* cluster/dirty_nodes.c */
    struct list in_wide_anti_affinity;
    uint64_t wide_anti_affinity_seq; /* its number in core->marks.wide_anti_affinity */

    /* lifecycle/predicate_coverage.c */
    uint64_t wide_anti_affinity_checked; /* no entry up to this seq excludes it */

    /* cluster/pod_gate.c */
    int lifts; /* requests to lift its gate that the watch does not show yet */
    struct list in_ungrouped;

    /* lifecycle/wake.c */
    struct pod_wake {
        usec_t at;      /* when it was last woken */
        uint64_t round; /* core->wake.round then */
        struct list in_woken;
    } wake;

    /* lifecycle/steering.c */
    struct pod_steering {
        usec_t at; /* when it is nominated to its slot, if filter is not called before */
        struct list in_unasked;
    } steering;

    /* lifecycle/early_rejection.c */
    bool rejected_early; /* kube-scheduler rejected it early: plans do not count on it */
    bool missed;         /* it did not use its slot in the last attempt: others get slots first */

    /* verb/filter.c */
    uint32_t declined; /* id + 1 of the nominated node whose own call filter refused; 0: none */

    /* messages/status_and_events.c */
    enum gang_reason_code emitted_reason; /* reason of the last event sent for it */

    /* cluster/timers.c */
    struct timer *timers; /* by kind; NULL: none is set */
};

#endif
