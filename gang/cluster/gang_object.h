/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_object.h - a gang: a PodGroup, or several PodGroups that are scheduled together, and their
 * members.
 *
 * podgroup/podgroups.c creates a gang for its first PodGroup and frees it with its last one. The
 * core owns it. The comment before a group of fields names the only file that writes them.
 * docs/decisions/142-keep-one-struct-per-object.md says why this is one struct.
 */
#ifndef MUSTER_GANG_CLUSTER_GANG_OBJECT_H
#define MUSTER_GANG_CLUSTER_GANG_OBJECT_H

#include "base/fair_queue.h"
#include "gang/cluster/podgroup.h"
#include "gang/cluster/queue.h"
#include "gang/cluster/timer.h"
#include "gang/state_table.h"

/* The infeasible nodes for pods of a signature: all nodes that are not in `offered` and have not
 * changed since. */
struct infeasible_nodes {
    /* podgroup/infeasible_nodes.c */
    struct signature *signature;
    uint64_t *offered; /* a bit for each node id below n_offered */
    size_t n_offered;
    uint64_t as_of; /* core->marks.clock when kube-scheduler offered these nodes */
    usec_t until;   /* when the nodes are tried again */
    int strikes;    /* how often nodes became infeasible; the time grows with it */
};

struct reason {
    /* messages/reason_text.c */
    enum gang_reason_code code;
    char *text;     /* owned; never NULL */
    char *help;     /* a change that would make the gang fit; owned; may be NULL */
    uint64_t queue; /* digest of the gang's queue, if the code is about queues; else 0 */
};

/* The sort key of a gang in its namespace queue, see gang_order.c. */
struct order_key {
    const struct group *head;
    int32_t priority, own_priority;
    bool starved;
    usec_t since; /* a starved gang: start of its wait; other gangs: last failure */
    usec_t created;
};

/* The waiting gangs of a namespace in one queue. */
struct namespace_queue {
    /* podgroup/gang_order.c */
    char *key; /* the namespace, and the queue's key if there is one */
    /* the first n_sorted are sorted, and the others joined since; NULL: a gang that left since */
    struct gang **gangs;
    size_t n, n_sorted, cap;
    struct list in_unsettled; /* core->unsettled */
};

struct gang {
    /* ---- what the facts say ---- */

    /* podgroup/podgroups.c */
    const struct gang_core *core;
    struct group *head;  /* gives the gang its name: the topmost parent, or the first of a bundle */
    struct list in_core; /* core->gangs */
    struct list groups;  /* its PodGroups, sorted by key */
    struct unit *root;   /* root of the tree of units */
    struct unit *bundle; /* the same, if it is a bundle; owned */
    char *invalid;       /* why muster refuses its PodGroups; NULL: valid */
    uint64_t refused;    /* core->forming when `invalid` was last set for a bound */
    bool over;           /* its PodGroups exceed a bound, see `invalid`; members are not counted */
    bool over_members;   /* they exceed the bound of members */
    usec_t recounted; /* when a changed member last led to a count, and it was too high; 0: never */
    struct list members;
    usec_t first_seen; /* when muster saw the first of its members; 0: none */
    usec_t newest;     /* when muster saw the newest one */

    /* lifecycle/reconcile.c: its priority */
    int32_t priority;     /* compared between namespaces, as of the last reconcile */
    int32_t own_priority; /* compared inside its namespace */
    int32_t pod_priority; /* see gang_pod_priority(); independent of trust_group_priority */

    /* queue/queues.c */
    struct queue *queue; /* NULL: without queues, or not reconciled yet */
    struct list in_queue;
    bool firm;             /* not preemptible, and limited to what its queue deserves */
    struct gang_assigned { /* what these follow from */
        uint64_t members;  /* marks.members */
        uint64_t queues;   /* core->queues.settled */
        int32_t priority;
    } assigned;

    /* ---- what the plan decided ---- */

    /* cluster/reservations.c */
    struct list slots;
    int n_slots;

    /* cluster/preempted_room.c */
    struct list preempted_room; /* slots on room that evicted pods leave; not part of its plan */
    uint64_t room_since;        /* core->marks.clock when it first got such room; 0: it has none */
    bool takes_room;            /* pods were evicted for it, or it took the room of such a gang, and
                                   it has neither been placed nor failed since */

    /* plan/plan_gang.c: its last plan */
    uint64_t tried;  /* core->marks.clock when planning was last tried; UINT64_MAX: more room would
                        not help */
    usec_t tried_at; /* when planning was last tried; 0: never */
    uint64_t pass;   /* core->plan_pass then */
    bool exceeds_queue; /* it failed at a limit that it exceeds alone, whatever else runs */

    /* podgroup/infeasible_nodes.c: by signature */
    struct infeasible_nodes *infeasible;
    size_t n_infeasible;

    /* podgroup/gang_order.c: its position in the order */
    struct gang_order {
        struct namespace_queue *queue; /* the queue of its namespace; NULL: it does not wait */
        size_t at;                     /* its index in queue->gangs */
        struct gang *behind;     /* the gang whose merit counts for it: itself or one ahead of it */
        struct order_key stands; /* its key when it joined the queue */
    } order;

    /* podgroup/costly_gangs.c */
    struct gang_costly {
        bool waits;                 /* it is in core->costly */
        enum gang_reason_code code; /* why its last plan failed */
        struct fair_queue_item item;
    } costly;

    /* ---- where it is in its life ---- */

    /* podgroup/gang_state.c: its state */
    enum gang_state state;
    usec_t since;                   /* when it entered the state */
    struct list in_open;            /* core->open */
    bool ever_scheduled, timed_out; /* see struct gang_status */
    bool capped;     /* filter refused later members because of the maximum, or in another gang */
    char *broken_by; /* what may have broken it, as a clause, if its minimum has not been checked
                        since; owned; NULL: nothing */

    /* cluster/pod_eviction.c */
    char *evicting; /* the reason for evictions that wait for marks; owned; NULL: none wait */

    /* cluster/dirty_gangs.c */
    struct gang_marks {
        struct list in_touched;       /* the gang changed in this step */
        struct list in_order_changed; /* its position in the order may have changed */
        bool stale;                   /* it changed since it was last reconciled */
        bool retry;                   /* plan it even if no room grew */
        bool requeued;                /* its queue, or limits there, changed: check its plan */
        const struct signature *full; /* the cached shortage of this signature explains why its last
                                         plan failed; NULL: none does */
        uint64_t full_version;        /* version of that shortage */
        int full_want;                /* how many members it wanted to place */
        bool queue_full;              /* its last plan failed because of its queue alone */
        uint64_t members;             /* grows with each change that gang_count() reads */
        uint64_t step;                /* core->steps of its last trigger */
        uint32_t triggered;           /* its triggers in that step, one bit for each */
        enum gang_state began;        /* its state before that step */
    } marks;

    /* lifecycle/reconcile.c: its attempts */
    int whole_at;   /* how many members it needed when its quorum was last bound */
    bool halted;    /* it waits for a change of its own facts, and is not planned */
    bool expecting; /* it has expected members */
    int attempts;   /* how many were started */

    /* plan/starvation.c */
    usec_t waits; /* start of its wait, over all attempts; 0: it does not wait */
    bool starved; /* it has waited for longer than config.starvation */

    /* lifecycle/backoff.c */
    int backoffs;        /* number of pauses since it was last placed */
    usec_t last_failure; /* decides the order among gangs of the same priority; 0: none */

    /* cluster/hold_quota.c */
    int n_held;                    /* members whose bind call is held */
    size_t booked_holds;           /* holds that it has booked */
    struct hold_quota *hold_quota; /* the quota that counts these holds; NULL: none is booked */

    /* lifecycle/commit.c */
    int commits; /* counts its commits */

    /* lifecycle/binding_results.c */
    int refused_in; /* the last commit with a refused Binding */

    /* lifecycle/partial_commit.c */
    usec_t partial_since; /* start of a commit that is not finished; 0: none */
    bool partial_first;   /* the gang goes ahead of all other gangs for now */

    /* lifecycle/gate_lifting.c */
    usec_t short_since; /* since when only room is missing; 0: room is not missing */
    bool shown;         /* its gates are removed so that an autoscaler sees its members */

    /* lifecycle/gang_preemption.c */
    struct gang_preempting {
        usec_t next;        /* no search for victims begins before */
        int tries;          /* number of searches in this wait */
        bool none;          /* the last search has shown that no victims are enough */
        uint32_t decision;  /* the number of the decision that muster will check and carry out; 0:
                               none */
        size_t n_victims;   /* of this decision */
        usec_t decided_at;  /* when it was made */
        uint32_t victim_of; /* the last decision that would evict it as a whole; 0: none */
        uint32_t loses_by;  /* the last decision that would evict some of its members; 0: none */
        uint64_t asked;     /* core->preempting.round when it was last asked may_reclaim() */
        usec_t began;       /* when muster first evicted pods for it in this wait; 0: never */
        usec_t evicted;     /* when it was last evicted as a whole; 0: never */
        uint64_t won; /* core->outside + 1 when it was last placed after evictions; 0: never */
        int unused;   /* how often it has failed with takes_room since it was last placed */
    } preempting;

    /* any file, through timers.h */
    struct timer timers[GANG_TIMERS];

    /* ---- what users see ---- */

    /* messages/reason_text.c */
    struct reason reason; /* why it waits */
    struct pod_text {
        char *text; /* what filter answers for waiting members; changes less often than `reason` */
        enum gang_reason_code code;
        usec_t since;    /* when it got its code */
        usec_t at, wait; /* no new text for the same code before `at` + `wait` */
    } pod_text;

    /* cluster/queue_usage.c */
    struct queue *shown_in;    /* the queue whose status counts it; NULL: none does */
    enum queue_gangs shown_as; /* there */

    /* ---- notes of those that go through many gangs ---- */

    /* step/gang_view.c */
    int rank; /* its position in the order, as of core->ranked */

    /* step/explain.c */
    size_t summed; /* while holders are summed, its index in the list + 1; else 0 */

    /* step/list_pages.c */
    uint64_t counted; /* core->steps when a list page last counted its members */

    /* lifecycle/wake.c */
    /* For members whose gates stay because of their queue: since when a node has been free for one
     * of them, and when this was last true. */
    usec_t gate_node_since, gate_node_at;
    uint64_t gate_round;   /* core->wake.round when its gates were last checked */
    uint64_t wake_counted; /* core->steps when its members were last counted for its maximum */

    /* cluster/signature_changes.c */
    uint64_t rule_labels_settled; /* core->rule_labels_settled when its expected slots last got new
                                     signatures */
};

#endif
