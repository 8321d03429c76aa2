/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - what the core consists of: all that it knows, has reserved and has under way.
 *
 * Made and freed by step.c; everything in it lives as long as it does, unless its own header says
 * less. One thread. The comment before some fields names the only file that writes them; step.c
 * sets up and takes down what other files keep here.
 */
#ifndef MUSTER_GANG_CLUSTER_CORE_H
#define MUSTER_GANG_CLUSTER_CORE_H

#include "base/buf.h"
#include "gang/cluster/gang_object.h"
#include "gang/cluster/node.h"
#include "gang/cluster/pod.h"

/* A difference between what kube-scheduler offers and what the rules here say. */
struct suspect {
    bool used;
    uint32_t node;
    enum gang_predicate predicate;
    uint64_t key;   /* digest of the signature and its pod's namespace, */
    uint64_t owner; /* and of the namespace alone */
    usec_t as_of;   /* node->marks.stirred, or for a spread core->marks.stirred, then */
    usec_t since;
    usec_t seen;   /* when it was seen last, */
    uint64_t look; /* and model.looks then */
    bool counted;
};
enum { SUSPECTS_MAX = 64 };

/* Effects of one step and the memory they point to. */
struct effects {
    struct gang_effect *items;
    size_t n, cap;
    struct arena_block *blocks;
};

enum { CLASS_LABELS_MAX = 64 };

/* Whom kube-scheduler has asked about: pods of no higher priority that were queued no later had
 * their turn before. */
struct turn {
    int32_t priority;
    usec_t queued, asked;
};
enum { TURNS_MAX = 16 };

struct gang_core {
    /* step/step.c */
    struct gang_config config;
    char **scheduler_names;
    usec_t now;
    uint64_t steps;
    bool synced;
    usec_t synced_at;

    /* lifecycle/commit.c */
    bool stopping;

    /* ---- what there is ---- */

    /* cluster/nodes.c */
    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map offered; /* resource -> how many nodes name it in allocatable */

    /* cluster/pods.c */
    struct map pods;  /* uid -> pod */
    struct map names; /* ns/name -> pod */
    size_t n_unseen;  /* pods that filter brought and the watch has not shown */
    size_t n_invalid; /* pods of which something is not in their facts */
    char **gone;      /* ring of uids of deleted pods */
    size_t gone_at;   /* in it */
    struct map gone_set;

    /* cluster/pod_gate.c */
    size_t n_gated; /* pods with muster's own gate */
    /* gated pods of no gang that changed since their gates were looked at */
    struct list ungrouped_gated;

    /* cluster/signatures.c */
    struct map signatures;   /* key -> signature */
    struct map rule_results; /* key -> verdicts */

    /* cluster/node_classes.c */
    struct map node_classes;   /* key -> node_class */
    struct list empty_classes; /* classes that lost their last node in this step */

    /* cluster/class_labels.c */
    struct core_labels {
        struct map keys;                                /* key -> label_key */
        struct label_key *of_classes[CLASS_LABELS_MAX]; /* those by which nodes are told apart */
        size_t n_class_labels;
        uint64_t gen; /* counts what may change the answer to a signature that asked */
        usec_t left;  /* when a key was given up last */
        bool unused;  /* some key may have no user */
        bool stale;   /* labels of nodes have changed, the bounds are to be looked at */
    } labels;

    /* cluster/pod_labels.c */
    struct core_rule_labels {
        struct map all; /* namespace -> namespace_rule_labels */
        bool idle;      /* some namespace may have no rules or members any more */
        usec_t swept;
        struct list stale; /* whose members have signatures by other keys */
        bool matter;       /* there are, or were, such rules */
    } rule_labels;

    /* cluster/signature_changes.c */
    uint64_t rule_labels_settled; /* counts how often members of a namespace got other signatures */

    /* cluster/volume_claims.c */
    struct map claims; /* ns/name -> claim */

    /* cluster/anti_affinity_and_spread.c */
    struct map hosts;          /* name of a host -> how many nodes have it */
    size_t n_shared_hostnames; /* nodes beyond the first of their host's name */

    /* cluster/resources.c */
    struct core_resources {
        char **names;  /* number -> name; NULL: a free number */
        size_t *users; /* number -> signatures and amounts that use it */
        size_t n, cap;
        uint32_t *free; /* numbers of names that nobody uses any more */
        size_t n_free;
        struct map numbers; /* name -> number + 1 */
    } resources;

    /* cluster/watch_lag.c */
    bool behind[GANG_WATCHES];
    usec_t behind_since;  /* when the first of them fell behind last, */
    usec_t follows_since; /* and when the last had caught up; 0: none was ever behind */

    /* podgroup/podgroups.c */
    struct map groups; /* key -> group */
    struct list gangs; /* in_core, in the order they were made */
    size_t n_gangs;
    struct map priority_classes; /* name -> gang_priority_class_facts */
    uint64_t forming;            /* counts changes of which PodGroups are one gang */

    /* lifecycle/pod_update.c */
    usec_t newest; /* the latest time in any pod: about now, by the clock of the API server */

    /* ---- what changed ---- */

    /* cluster/dirty_nodes.c */
    struct core_marks {
        uint64_t clock;        /* counts changes of the picture */
        uint64_t freed;        /* clock when capacity last grew anywhere */
        uint64_t pods_changes; /* counts changes of who is on a node */
        usec_t touched_at;     /* when anything changed on any node */
        bool paused;           /* a trial is open: its changes do not count */
        uint64_t layout;  /* a number for what is on the nodes now: never the same for another */
        uint64_t layouts; /* such numbers given so far */
        bool unused;      /* a deleted node may be bare now */
        struct list reclassify;    /* nodes to be put into the class of what they are now */
        struct list recheck_slots; /* nodes whose slots may not fit any more */
        /* Pods on nodes that may keep others out of wider domains; the last has the highest seq. */
        struct list wide_anti_affinity;
        uint64_t wide_anti_affinity_last; /* the highest number given so far */
    } marks;

    /* cluster/dirty_gangs.c */
    struct list touched;       /* gangs to review, then to tell about */
    struct list touched_later; /* of these, those that are told about in the next step */
    struct list order_changed; /* gangs whose place in the order may be another */

    /* ---- what is reserved and on its way ---- */

    /* cluster/ledger.c */
    size_t n_anti_affinity; /* pods and slots with anti-affinity, over all nodes */

    /* cluster/reservations.c */
    size_t n_slots; /* over all gangs */

    /* cluster/nominated_room.c */
    size_t n_nominated_room; /* pods that room is promised to */

    /* cluster/held_calls.c */
    struct map calls; /* id -> pod with that bind call open */

    /* cluster/hold_quota.c */
    struct map hold_quotas; /* namespace -> holder */
    size_t booked_unused;   /* places for holds that are booked_unused, and not taken yet */

    /* cluster/kube_queue.c */
    size_t n_refused;            /* pods that sleep because filter refused them, see pod_reject() */
    struct list blocked;         /* ordinary pods refused because of reservations */
    uint64_t blocked_checked_at; /* marks.freed when the starved were last looked at */

    /* cluster/offered_nodes.c */
    uint64_t offers; /* filter calls whose names were looked up */

    /* cluster/filter_results.c */
    struct list filter_results; /* pods that filter let through, and that are not at bind yet */
    size_t filter_result_words; /* in the bits of all of them, at most FILTER_RESULT_WORDS_MAX */

    /* ---- who is next ---- */

    /* podgroup/gang_state.c */
    struct list open; /* gangs that are neither Placed nor Done: plans are made for them */

    /* podgroup/gang_order.c */
    struct map namespace_queues; /* namespace -> line */
    struct list unsettled;       /* lines to be put in order */

    /* podgroup/earmark.c */
    struct gang *earmark_gang; /* capacity is kept for this one; NULL: none */
    struct list earmarked;     /* nodes where something is kept */

    /* plan/plan_gang.c */
    uint64_t plan_pass_freed; /* marks.freed when all gangs were last looked at */
    uint64_t planned_in;      /* the last step in which a gang was tried */
    bool plans_deferred; /* gangs that are due were not tried in this step: its work was done */

    /* plan/placement.c */
    uint64_t trials; /* counts plans tried */

    /* plan/shortage_cache.c */
    uint64_t fills; /* versions of signatures' fill given so far */

    /* plan/node_scan.c */
    int64_t work; /* of this step, in looks at nodes */

    /* lifecycle/wake.c */
    struct core_wake {
        uint64_t round;       /* counts the news for which starved pods are woken */
        uint64_t round_freed; /* marks.freed when it began */
        bool again;           /* the room that was given to those woken may be another's now */
        usec_t look;          /* when that is looked at next; 0: nobody was woken */
        usec_t rest;          /* until then nobody is woken */
        struct list sent;     /* nodes with n_woken */
        struct list woken;    /* pods that were woken and not asked about since */
        struct list unasked;  /* members with a place that are to be steered there, by steer_at */
        usec_t steer_next;    /* until then no more of them than steer_left */
        int steer_left;
    } wake;

    /* lifecycle/commit_batch.c */
    usec_t batch_end;    /* complete gangs that wait commit then at the latest */
    uint64_t batch_step; /* steps when they did last */

    /* verb/bind.c */
    usec_t last_hold; /* when a member came to bind last */

    /* lifecycle/early_rejection.c */
    struct turn turns[TURNS_MAX];
    size_t n_turns;
    usec_t asked_at; /* the last filter call about a pod that is not bound; 0: none */

    /* lifecycle/predicate_parity.c */
    struct parity {
        struct suspect suspects[SUSPECTS_MAX];
        uint64_t looks;
        int64_t credit; /* nodes that may be looked at now */
        usec_t credit_at;
        uint64_t looker;        /* digest of the namespace that looked last */
        struct map differences; /* namespace -> struct difference: those that stood a second look */
        int seen_in[PREDICATE_MAX]; /* namespaces with such a difference */
        char *first;                /* in words; NULL: there is none */
        usec_t closed_at;           /* since when the lane is closed for all; 0: it is not */
    } parity;

    /* step/gang_invariants.c */
    char *violations[GANG_INVARIANT_MAX]; /* the first of each check, in words; NULL: none */

    /* step/list_pages.c */
    uint64_t ranked; /* steps when gangs got their ranks */

    /* ---- the step itself ---- */

    /* cluster/effects.c */
    struct effects fx;

    /* Set and stopped through timers.h, each by whoever its kind belongs to. */
    struct heap timers;
    struct core_timers {
        struct timer wake, steer; /* starved pods, members are left to wake and to steer */
        struct timer plan;        /* gangs are left to plan */
        struct timer show;        /* gated gangs may be shown to an autoscaler */
        struct timer batch;       /* complete gangs wait to commit together */
        struct timer labels;      /* a namespace whose labels changed has rested */
    } due;

    /* Each counter is counted up by whoever sees what it counts. */
    struct gang_stats stats;
};

#endif
