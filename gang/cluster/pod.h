/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.h - a pod in the cluster cache, and the slot of a member.
 *
 * The states of a member: Unscheduled -> Assumed (it has a slot) -> Held (muster holds its bind
 * call) -> Binding (muster has sent its Binding, and the slot has become a charge) -> Assigned.
 *
 * pods.c creates a pod when the watch shows it or filter is called for it. reservations.c creates
 * slots. The core owns both. The comment before a group of fields names the only file that writes
 * them. docs/decisions/142-keep-one-struct-per-object.md says why this is one struct.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_H
#define MUSTER_GANG_CLUSTER_POD_H

#include "gang/cluster/signature.h"
#include "gang/cluster/timer.h"

struct slot {
    /* cluster/reservations.c */
    struct list in_gang, in_node;
    struct gang *gang;
    struct unit *unit; /* the unit of its member */
    struct node *node;
    struct signature *signature;
    struct pod *pod; /* NULL: the slot of an expected member */
    usec_t made;     /* when the slot was reserved */
    bool steered;    /* muster nominated the member here because a call did not offer the node */
    bool unoffered;  /* a complete list for a pod of its signature lacked the node */

    /* cluster/preempted_room.c */
    bool awaits; /* of preempted room: the queue's limits have no room for it yet */

    /* cluster/queue_usage.c */
    struct queue *counted_in; /* queue that counts it; NULL: none */
    bool counted_firm;
};

/* The nodes that filter last returned for a pod. */
enum filter_result_kind { FILTERED_NONE, FILTERED_ONE, FILTERED_SOME, FILTERED_ANY };
struct filter_result {
    usec_t at;
    enum filter_result_kind to;
    uint32_t node;  /* FILTERED_ONE: the node's id */
    uint64_t *bits; /* FILTERED_SOME: a bit for each node id */
    size_t n_words;
    uint64_t as_of; /* core->marks.clock then; the result includes no node created later */
};

enum charge { CHARGE_NONE, CHARGE_BINDING, CHARGE_ASSIGNED };

/* A PersistentVolumeClaim with facts that matter, or that pods use. */
struct claim {
    /* cluster/volume_claims.c */
    char *key;                      /* ns/name */
    struct gang_claim_facts *facts; /* NULL: unknown, or any node can use it */
    struct list uses;               /* of pods that are not finished, by in_claim */

    /* cluster/signature_changes.c */
    struct list in_waiting; /* in claims_rest.waiting while `next` waits to replace `facts` */
    struct gang_claim_facts *next; /* NULL: as for `facts` */
};
struct claim_use {
    struct list in_claim;
    struct claim *claim;
    struct pod *pod;
};

struct pod {
    /* What counts of members and plans read comes first, in two cache lines. */

    /* ---- what the facts say ---- */

    /* cluster/pods.c */
    struct gang_pod_facts *facts;
    struct signature *signature;

    /* podgroup/podgroups.c */
    struct group *group; /* its PodGroup; NULL: an ordinary pod */
    struct gang *gang;   /* its PodGroup's gang; NULL: an ordinary pod */
    struct unit *unit;   /* the unit in which it counts */
    struct list in_gang;

    /* ---- what the plan decided ---- */

    /* cluster/reservations.c */
    struct slot *slot;

    /* ---- where it is in its life ---- */

    /* cluster/ledger.c */
    struct node *node; /* the node to which it is charged; NULL: none */
    struct list in_node;
    enum charge charge;

    /* cluster/held_calls.c */
    bool held; /* muster holds its bind call, which names the node of the slot */
    bool sent; /* it is on its way: filter has returned the node of its slot */

    /* lifecycle/early_rejection.c */
    bool rejected_early; /* kube-scheduler rejected it early, so it is not plannable */
    uint16_t missed; /* attempts in a row in which it did not use its slot, so that it comes last in
                        plans */

    /* cluster/pods.c */
    bool unseen; /* a filter call has shown it, and the watch not yet */

    /* lifecycle/gang_preemption.c */
    uint32_t victim_of; /* the last decision that would evict it alone; 0: none */

    /* cluster/pod_eviction.c */
    struct pod_eviction {
        bool requested; /* muster is evicting it; see suspends and marks */
        bool for_room;  /* for the room of another gang, and not to undo a failed commit */
        bool suspends;  /* so far, muster has only requested to suspend its workload */
        bool marks;     /* so far, muster has only marked it */
        bool keeps;     /* its mark must stay until it is Terminating */
        usec_t in_vain; /* when it was last not evicted in time; 0: never */
    } eviction;

    /* lifecycle/suspension.c */
    struct pod *replaced_by; /* of a suspended pod: the new member in its place; NULL: none */

    /* The rest follows in the same order. */

    /* ---- what the facts say ---- */

    /* cluster/volume_claims.c */
    struct claim_use *uses; /* one for each of facts->claims, in the same order;
                               none if the pod is finished */
    char *pinned;           /* the node to which it is pinned; NULL: none */
    uint32_t n_uses;

    /* cluster/signatures.c */
    bool counts; /* it is in signature->pods, else in signature->ended */
    struct list in_signature;

    /* cluster/pod_labels.c */
    struct list in_namespace; /* namespace_rule_labels.members */

    /* cluster/pods_by_queue.c */
    struct list in_queue_name; /* core->pods_by_queue */

    /* cluster/disruption_budgets.c */
    struct pod_budget {
        struct budget *of; /* only valid if the budgets of its namespace have this version */
        uint64_t version;
    } budget;

    /* cluster/dirty_nodes.c */
    struct list in_wide_anti_affinity;
    uint64_t wide_anti_affinity_seq; /* its number in core->marks.wide_anti_affinity */

    /* lifecycle/predicate_coverage.c */
    uint64_t wide_anti_affinity_checked; /* no pod in that list up to this number excludes it */

    /* ---- where it is in its life ---- */

    /* cluster/held_calls.c */
    uint32_t held_node; /* id of the node of the held call */
    uint64_t call;      /* id of its open bind call; 0: none */
    usec_t call_since;

    /* cluster/pod_binding.c */
    struct pod_binding {
        int tries;        /* how often its result was unclear */
        int commit;       /* the number of the gang's commit that sent it; 0: none */
        usec_t began;     /* when the Binding was first sent */
        usec_t sent;      /* when the Binding was last sent */
        char *refused_on; /* the node of the last refused Binding; NULL: none */
    } binding;

    /* cluster/pod_eviction.c */
    struct list in_ending;

    /* lifecycle/suspension.c */
    struct pod *replaces; /* the suspended pod whose place it has taken; NULL: none */

    /* cluster/queue_usage.c */
    struct queue *counted_in; /* queue that counts its charge; NULL: none */
    bool counted_firm;

    /* cluster/pod_gate.c */
    int lifts; /* requests to remove its gate that the watch does not show yet */
    struct list in_ungrouped;

    /* cluster/kube_queue.c */
    struct pod_queue {
        bool rejected;  /* the pod sleeps because it was refused: only a write wakes it */
        bool refused;   /* filter has refused it in this run of muster */
        bool asked;     /* filter was called since muster or kube-scheduler last wrote to the pod */
        bool was_asked; /* filter was ever called for it in this run of muster */
        int early_rejections; /* since it got its slot, or since the last filter call */
        usec_t joined; /* when it last joined kube-scheduler's queue, as far as muster knows */
        struct blocked_pod *blocked; /* NULL: it is not a blocked pod */
    } queue;

    /* lifecycle/steering.c */
    struct pod_steering {
        usec_t at; /* when it is steered, unless filter is called before */
        struct list in_unasked;
    } steering;

    /* lifecycle/wake.c */
    struct pod_wake {
        usec_t at;      /* when it was last woken */
        uint64_t round; /* core->wake.round when it was last woken */
        struct list in_woken;
    } wake;

    /* cluster/timers.c */
    struct timer *timers; /* by kind; NULL: none is set */

    /* ---- what kube-scheduler and users know ---- */

    /* cluster/filter_results.c */
    struct filter_result filter_result; /* filter's last result for it */
    struct list in_filter_results;

    /* verb/filter.c */
    uint32_t declined; /* filter refused the nominated node in a call with this node alone: id + 1
                          of the node; 0: no */

    /* cluster/nominations.c */
    char *nominated; /* status.nominatedNodeName: the last value that the watch showed or that
                        muster wrote */
    struct list in_nominated;

    /* cluster/nominated_room.c */
    struct node *nominated_room; /* the node with its nominated room; NULL: none */
    char *named; /* the nomination, if only muster wrote it in this run; else NULL */
    struct list in_nominated_room;

    /* cluster/wake_writes.c */
    int wake_writes; /* wake writes since the pod was last known to be awake */

    /* messages/status_and_events.c */
    enum gang_reason_code emitted_reason; /* the last reason that muster gave for it */
};

#endif
