/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_object.h - a gang: one PodGroup, or several that are placed together, with all members.
 *
 * podgroup/podgroups.c makes it with its first PodGroup and frees it with its last. Owned by the
 * core; one thread. The comment before some fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_GANG_OBJECT_H
#define MUSTER_GANG_CLUSTER_GANG_OBJECT_H

#include "gang/cluster/podgroup.h"
#include "gang/cluster/timer.h"
#include "gang/state_table.h"

/*
 * The infeasible nodes of a signature: all that are not in `offered`. kube-scheduler refuses them,
 * as far as they have not changed since.
 */
struct infeasible_nodes {
    struct signature *signature;
    uint64_t *offered; /* a bit for each node id below n_offered */
    size_t n_offered;
    uint64_t as_of; /* core->marks.clock then */
    usec_t until;   /* 0: expired (kept for its strikes) */
    int strikes;
};

struct reason {
    enum gang_reason_code code;
    char *text; /* owned; never NULL */
    char *help; /* what would make it fit; owned; may be NULL */
};

/* The sort key of a gang in its namespace queue, see gang_order.c. */
struct order_key {
    const struct group *head;
    int32_t priority, own_priority;
    bool starved;
    usec_t since, created; /* since: start of its wait if starved, else its last failure */
};

/* The waiting gangs of a namespace. */
struct namespace_queue {
    char *ns;
    /* Sorted up to n_sorted; later ones arrived since. NULL: a gang that left since. */
    struct gang **gangs;
    size_t n, n_sorted, cap;
    struct list in_unsettled; /* core->unsettled */
};

struct gang {
    /* podgroup/podgroups.c */
    struct group *head;  /* names the gang: topmost parent, or first of a bundle */
    struct list in_core; /* core->gangs */
    struct list groups;  /* sorted by key */
    struct unit *root;   /* root of the tree of minimums */
    struct unit *bundle; /* the root if several PodGroups are at the top; owned */
    char *invalid;       /* why its PodGroups are refused; NULL: valid */
    uint64_t refused;    /* core->forming when that was last reported */
    bool over; /* its family exceeds a bound (see `invalid`): no tree, members not counted */
    bool over_members; /* the exceeded bound is that of members */
    usec_t recounted;  /* when a recount for a changed member last found too many; 0: never */
    struct list members;
    usec_t first_seen; /* when its first member came, in this run; 0: none */
    usec_t newest;     /* when its newest member came */

    /* cluster/reservations.c */
    struct list slots;
    int n_slots;

    /* cluster/dirty_gangs.c */
    struct gang_marks {
        struct list in_touched;       /* it changed in this step */
        struct list in_order_changed; /* its place in the order may change */
        bool stale;                   /* changed since it was last reconciled */
        bool retry;                   /* to be planned even if no room grew */
        const struct signature *full; /* whose cached shortage its last plan hit; NULL: unknown */
        uint64_t full_version;        /* version of that shortage */
        int full_want;                /* members that it wanted then */
        uint64_t step;                /* core->steps of its last trigger */
        uint32_t triggered;           /* its triggers in that step, one bit each */
        enum gang_state began;        /* its state before that step */
    } marks;

    /* podgroup/gang_state.c: its state */
    enum gang_state state;
    usec_t since;
    struct list in_open; /* core->open */
    bool ever_scheduled, timed_out;
    bool capped; /* later members were refused: beyond the maximum, or in another gang */

    /* podgroup/gang_order.c: its place in the order */
    struct gang_order {
        struct namespace_queue *queue; /* its namespace's queue; NULL: it does not wait */
        size_t at;                     /* its index in queue->gangs */
        struct gang *behind; /* the gang whose key decides its turn: itself or one ahead of it */
        struct order_key stands; /* its key when it joined the queue */
    } order;

    /* podgroup/infeasible_nodes.c: by signature */
    struct infeasible_nodes *infeasible;
    size_t n_infeasible;

    /* plan/plan_gang.c: its last plan */
    uint64_t tried;  /* core->marks.clock when last tried; UINT64_MAX: it does not lack room */
    usec_t tried_at; /* last planning attempt; 0: never */

    /* cluster/hold_quota.c */
    int n_held;                    /* members whose bind call is held */
    size_t booked_holds;           /* hold places booked for them */
    struct hold_quota *hold_quota; /* the namespace's account with those places; NULL: none */

    /* lifecycle/reconcile.c: its attempts */
    int32_t priority, own_priority; /* when last reconciled: between namespaces, inside its own */
    int32_t pod_priority; /* the lower of its own and its lowest member's, whatever is trusted */
    int whole_at;         /* members needed when it was last complete */
    bool halted;          /* it waits for its own facts: no plan is made, whatever room there is */
    bool expecting;       /* members are missing and expected soon */
    usec_t waits;         /* start of its wait, over all attempts; 0: it does not wait */
    bool starved;         /* it has waited too long and lacks capacity */
    int attempts;

    /* lifecycle/backoff.c */
    int backoffs;
    usec_t last_failure; /* puts it after its equals in the order; 0: none */

    /* lifecycle/commit.c */
    int commits;

    /* lifecycle/binding_results.c */
    int refused_in; /* the last commit with a refused Binding */

    /* lifecycle/partial_commit.c */
    usec_t partial_since; /* start of a commit that is still partial; 0: none */
    bool partial_first;   /* it goes before all other gangs for a while */

    /* lifecycle/gate_lifting.c */
    usec_t short_since; /* since when it lacks nothing but room; 0: it does not */
    bool shown;         /* its gates are lifted so that an autoscaler sees its members */

    /* messages/reason_text.c: texts emitted last */
    struct reason reason;
    struct pod_text {
        char *text; /* the text of filter's refusals to waiting members; refreshed slowly */
        enum gang_reason_code code;
        usec_t at, wait; /* no refresh before `at` + `wait` */
    } pod_text;

    /* step/gang_view.c */
    int rank; /* its position in the order, as of core->ranked */

    /* step/explain.c */
    size_t summed; /* its index + 1 while holders are summed; 0: none */

    /* step/list_pages.c */
    uint64_t counted; /* core->steps when a list page counted it */

    /* lifecycle/wake.c */
    uint64_t wake_counted; /* core->steps when it was last checked for blocked members */

    /* cluster/signature_changes.c */
    uint64_t rule_labels_settled; /* core->rule_labels_settled when its expected slots followed */

    /* Set and stopped through timers.h, by the file that owns the timer's kind. */
    struct timer timers[GANG_TIMERS];
};

#endif
