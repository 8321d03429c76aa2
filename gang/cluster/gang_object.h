/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_object.h - a gang: a PodGroup, or several that are placed together, with all their members.
 *
 * Made by podgroup/podgroups.c with its first PodGroup, freed with its last. Owned by the core;
 * one thread. The comment before some fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_GANG_OBJECT_H
#define MUSTER_GANG_CLUSTER_GANG_OBJECT_H

#include "gang/cluster/podgroup.h"
#include "gang/cluster/timer.h"
#include "gang/state_table.h"

/*
 * What a whole list of offered nodes says: for pods of this signature the scheduler refuses every
 * other node, as far as nothing changed there since.
 */
struct infeasible_nodes {
    struct signature *signature;
    uint64_t *offered; /* a bit for each node id below n_offered */
    size_t n_offered;
    uint64_t as_of; /* core->marks.clock */
    usec_t until;   /* 0: over (kept for its strikes) */
    int strikes;
};

struct reason {
    enum gang_reason_code code;
    char *text; /* owned; never NULL */
    char *help; /* what would make it fit; owned; may be NULL */
};

/* What the place of a gang in its line goes by, see gang_order.c. */
struct order_key {
    const struct group *head;
    int32_t priority, own_priority;
    bool starved;
    usec_t since, created; /* since: when it began to wait, if starved; else its last failure */
};

/* The gangs of a namespace that wait. */
struct namespace_queue {
    char *ns;
    /* In order, but for those that came since the line was settled; NULL: it left since then. */
    struct gang **gangs;
    size_t n, n_sorted, cap;
    struct list in_unsettled; /* core->unsettled */
};

struct gang {
    /* podgroup/podgroups.c */
    struct group *head;  /* the one it is named after: the topmost parent, the first of a bundle */
    struct list in_core; /* core->gangs */
    struct list groups;  /* in the order of their keys */
    struct unit *root;   /* of the tree of minimums */
    struct unit *bundle; /* the root, where there is more than one PodGroup at the top; owned */
    char *invalid;       /* what is wrong with its PodGroups; NULL: nothing */
    uint64_t refused;    /* core->forming when that was said last */
    bool over;           /* it belongs to a family beyond a bound: invalid says so, and neither its
                          * tree is built nor its members are counted; */
    bool crowded;        /* the bound of members */
    usec_t recounted;    /* when a member came or went, and the family had too many all the same */
    struct list members;
    usec_t first_seen; /* its first member, of this run; 0: none */
    usec_t newest;     /* when the last of them came */

    /* cluster/reservations.c */
    struct list slots;
    int n_slots;

    /* cluster/dirty_gangs.c */
    struct gang_marks {
        struct list in_touched;       /* something about it changed in this step */
        struct list in_order_changed; /* its place in the order may be another */
        bool stale;                   /* changed since its last review */
        bool retry;                   /* to be planned whatever the ledger says */
        const struct signature *full; /* it failed for what this signature's fill says; NULL: ask */
        uint64_t full_version;        /* in these words, */
        int full_want;                /* for so many */
        uint64_t step;                /* core->steps when something last happened to it, */
        uint32_t triggered;           /* what, a bit each, */
        enum gang_state began;        /* and the state it was in before */
    } marks;

    /* podgroup/gang_state.c: where it is in its life */
    enum gang_state state;
    usec_t since;
    struct list in_open; /* core->open */
    bool ever_scheduled, timed_out;
    bool capped; /* later members were refused, by the maximum or in another gang */

    /* podgroup/gang_order.c: its place among those that wait */
    struct gang_order {
        struct namespace_queue *queue; /* of its namespace; NULL: it does not wait */
        size_t at;                     /* its place in the line */
        struct gang *behind; /* whose merit decides when its turn is; itself, or one before it */
        struct order_key stands; /* when it joined the line */
    } order;

    /* podgroup/infeasible_nodes.c: what kube-scheduler refused it */
    struct infeasible_nodes *infeasible;
    size_t n_infeasible;

    /* plan/plan_gang.c: what came of the last plan */
    uint64_t tried;  /* core->marks.clock when planning last failed; UINT64_MAX: it does not lack
                      * room */
    usec_t tried_at; /* when a plan was last looked for; 0: never */

    /* cluster/hold_quota.c */
    int n_held;                    /* members whose bind call is held */
    size_t booked_holds;           /* booked for them */
    struct hold_quota *hold_quota; /* the namespace that has those; NULL: there are none */

    /* lifecycle/reconcile.c: its attempts */
    int32_t priority, own_priority; /* at its last review: between namespaces, inside its own */
    int32_t pod_priority;           /* no more than its lowest member's, whatever is trusted */
    int whole_at;                   /* what it needed when it was last whole */
    bool halted;    /* it waits for its own facts: no plan is of use, whatever the cluster */
    bool expecting; /* members are missing, and expected to come soon */
    usec_t waits;   /* since when it could have been placed, over all attempts; 0: it does
                     * not wait */
    bool starved;   /* it waits for longer than it should, and capacity is what it lacks */
    int attempts;

    /* lifecycle/backoff.c */
    int backoffs;
    usec_t last_failure; /* orders it behind its equals; 0: none */

    /* lifecycle/commit.c */
    int commits;

    /* lifecycle/binding_results.c */
    int refused_in; /* the last commit of which a Binding was refused */

    /* lifecycle/partial_commit.c */
    usec_t partial_since; /* when a commit began that is not whole yet; 0: none */
    bool partial_first;   /* for that it goes before all others, for a while */

    /* lifecycle/gate_lifting.c */
    usec_t short_since; /* since when room is all it lacks; 0: it does not wait for that */
    bool shown;         /* an autoscaler is to see its members: no gate stays */

    /* messages/reason_text.c: what was told */
    struct reason reason;
    struct pod_text {
        char *text; /* what filter says to waiting members; refreshed slowly */
        enum gang_reason_code code;
        usec_t at, wait; /* next refresh not before their sum */
    } pod_text;

    /* step/gang_view.c */
    int rank; /* its place in the order, as of core->ranked */

    /* step/explain.c */
    size_t summed; /* while it is summed up who holds what: its place there; 0: none */

    /* step/list_pages.c */
    uint64_t counted; /* core->steps when it was counted for somebody who looks in */

    /* lifecycle/wake.c */
    uint64_t wake_counted; /* the same for those of its members that sleep */

    /* cluster/signature_changes.c */
    uint64_t rule_labels_settled; /* core->rule_labels_settled when its expected slots followed */

    /* Set and stopped through timers.h, each by whoever its kind belongs to. */
    struct timer timers[GANG_TIMERS];
};

#endif
