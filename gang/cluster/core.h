/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - struct gang_core: the cluster cache, reservations and pending work.
 *
 * step.c makes and frees the core. Its content lives as long as the core unless its own header says
 * otherwise. One thread. The comment before some fields names the only file that writes them;
 * step.c sets up and tears down the state of the other files.
 */
#ifndef MUSTER_GANG_CLUSTER_CORE_H
#define MUSTER_GANG_CLUSTER_CORE_H

#include "base/buf.h"
#include "gang/cluster/gang_object.h"
#include "gang/cluster/node.h"
#include "gang/cluster/pod.h"

/* A node on which kube-scheduler's offer differs from muster's predicates. */
struct suspect {
    bool used;
    uint32_t node;
    enum gang_predicate predicate;
    uint64_t key;   /* digest of the signature and its pod's namespace */
    uint64_t owner; /* digest of the namespace alone */
    usec_t as_of;   /* node->marks.touched_at then, or core->marks.touched_at for a spread */
    usec_t since;
    usec_t seen;   /* when it was last seen */
    uint64_t look; /* parity.looks then */
    bool counted;
};
enum { SUSPECTS_MAX = 64 };

/* The effects of one step and the memory that they point to. */
struct effects {
    struct gang_effect *items;
    size_t n, cap;
    struct arena_block *blocks;
};

enum { CLASS_LABELS_MAX = 64 };

/* The pod of a filter call. Pods of no lower priority that were queued before it have had their
 * turn. */
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

    /* ---- the cluster cache ---- */

    /* cluster/nodes.c */
    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map offered; /* resource -> number of nodes with it in allocatable */

    /* cluster/pods.c */
    struct map pods;  /* uid -> pod */
    struct map names; /* ns/name -> pod */
    size_t n_unseen;  /* pods known from filter that the watch has not shown yet */
    size_t n_invalid; /* pods with facts->invalid */
    char **gone;      /* ring buffer of UIDs of deleted pods */
    size_t gone_at;   /* next index in gone */
    struct map gone_set;

    /* cluster/pod_gate.c */
    size_t n_gated; /* pods with muster's own gate */
    /* gated pods without a gang that changed since their gates were last checked */
    struct list ungrouped_gated;

    /* cluster/signatures.c */
    struct map signatures;   /* key -> signature */
    struct map rule_results; /* key -> rule_results */

    /* cluster/node_classes.c */
    struct map node_classes;   /* key -> node_class */
    struct list empty_classes; /* classes that lost their last node in this step */

    /* cluster/class_labels.c */
    struct core_labels {
        struct map keys;                                /* key -> label_key */
        struct label_key *of_classes[CLASS_LABELS_MAX]; /* the class labels */
        size_t n_class_labels;
        uint64_t gen; /* counts changes after which signature_labels must be read again */
        usec_t left;  /* when a class label was last dropped */
        bool unused;  /* some class label may have no user */
        bool stale;   /* labels of nodes changed: check the bounds */
    } labels;

    /* cluster/pod_labels.c */
    struct core_rule_labels {
        struct map all; /* namespace -> namespace_rule_labels */
        bool idle;      /* some namespace may have lost its last rule or member */
        usec_t swept;
        struct list stale; /* namespaces whose members have signatures by outdated keys */
        bool matter;       /* such rules exist, or existed */
    } rule_labels;

    /* cluster/signature_changes.c */
    uint64_t rule_labels_settled; /* counts updates of the signatures of a namespace's members */

    /* cluster/volume_claims.c */
    struct map claims; /* ns/name -> claim */

    /* cluster/anti_affinity_and_spread.c */
    struct map hosts;          /* hostname -> number of nodes with it */
    size_t n_shared_hostnames; /* nodes that share their hostname with an earlier one */

    /* cluster/resources.c */
    struct core_resources {
        char **names;  /* number -> name; NULL: unused number */
        size_t *users; /* number -> count of signatures and amounts that use it */
        size_t n, cap;
        uint32_t *free; /* unused numbers */
        size_t n_free;
        struct map numbers; /* name -> number + 1 */
    } resources;

    /* cluster/watch_lag.c */
    bool behind[GANG_WATCHES];
    usec_t behind_since;  /* when the current or last lag began */
    usec_t follows_since; /* when the last lag ended; 0: no watch ever lagged */

    /* podgroup/podgroups.c */
    struct map groups; /* key -> group */
    struct list gangs; /* gangs by in_core, oldest first */
    size_t n_gangs;
    struct map priority_classes; /* name -> gang_priority_class_facts */
    uint64_t forming;            /* counts changes in how PodGroups form gangs */

    /* lifecycle/pod_update.c */
    usec_t newest; /* the latest timestamp in any pod: approximates the API server's clock */

    /* ---- what changed ---- */

    /* cluster/dirty_nodes.c */
    struct core_marks {
        uint64_t clock;         /* counts changes of the cluster cache */
        uint64_t freed;         /* clock when room last grew anywhere */
        uint64_t pods_changes;  /* counts changes of the pods on any node */
        usec_t touched_at;      /* last change of any node */
        bool paused;            /* a trial is open: its changes do not count */
        uint64_t layout;        /* number of the nodes' present content; no other content gets it */
        uint64_t layouts;       /* layout numbers given out so far */
        bool unused;            /* a deleted node may be unused now */
        struct list reclassify; /* nodes whose class must be recomputed */
        struct list recheck_slots; /* nodes whose slots may no longer fit */
        /* Pods with wide anti-affinity that are or may soon be on a node, by ascending seq. */
        struct list wide_anti_affinity;
        uint64_t wide_anti_affinity_last; /* the highest seq so far */
    } marks;

    /* cluster/dirty_gangs.c */
    struct list touched;       /* gangs to reconcile, then to report */
    struct list touched_later; /* of these, gangs to report in the next step */
    struct list order_changed; /* gangs whose place in the order may change */

    /* ---- reservations and pending work ---- */

    /* cluster/ledger.c */
    size_t n_anti_affinity; /* pods and slots with anti-affinity, over all nodes */

    /* cluster/reservations.c */
    size_t n_slots; /* over all gangs */

    /* cluster/nominated_room.c */
    size_t n_nominated_room; /* pods with nominated room */

    /* cluster/held_calls.c */
    struct map calls; /* id -> pod with that open bind call */

    /* cluster/hold_quota.c */
    struct map hold_quotas; /* namespace -> hold_quota */
    size_t booked_unused;   /* hold places that are booked and not yet taken */

    /* cluster/kube_queue.c */
    size_t n_refused;            /* pods that sleep because filter refused them, see pod_reject() */
    struct list blocked;         /* ordinary pods refused because of reservations */
    uint64_t blocked_checked_at; /* marks.freed when blocked pods were last checked; 0: check */

    /* cluster/offered_nodes.c */
    uint64_t offers; /* filter calls whose node names were resolved */

    /* cluster/filter_results.c */
    struct list filter_results; /* pods with an open filter result, not at bind yet */
    size_t filter_result_words; /* words in all their bit sets, at most FILTER_RESULT_WORDS_MAX */

    /* ---- the planning order ---- */

    /* podgroup/gang_state.c */
    struct list open; /* gangs that are neither Scheduled nor Done and so need plans */

    /* podgroup/gang_order.c */
    struct map namespace_queues; /* namespace -> namespace_queue */
    struct list unsettled;       /* queues to be sorted */

    /* podgroup/earmark.c */
    struct gang *earmark_gang; /* the gang that has the earmark; NULL: none */
    struct list earmarked;     /* nodes with earmarked room */

    /* plan/plan_gang.c */
    uint64_t plan_pass_freed; /* marks.freed when all gangs were last tried */
    uint64_t planned_in;      /* the last step that planned a gang */
    bool plans_deferred;      /* this step used up its work before it planned all due gangs */

    /* plan/placement.c */
    uint64_t trials; /* counts passes that place members */

    /* plan/shortage_cache.c */
    uint64_t fills; /* versions of signature_shortage given out so far */

    /* plan/node_scan.c */
    int64_t work; /* work done in this step, in nodes scanned; weighted by the rules' length */

    /* lifecycle/wake.c */
    struct core_wake {
        uint64_t round;       /* counts rounds of waking blocked pods */
        uint64_t round_freed; /* marks.freed when the round began */
        bool again;           /* a new round is due even if no room grew */
        usec_t look;          /* next check of the woken pods; 0: none was woken */
        usec_t rest;          /* no pod is woken before */
        struct list sent;     /* nodes with n_woken > 0 */
        struct list woken;    /* woken pods without a filter call since */
    } wake;

    /* lifecycle/steering.c */
    struct core_steering {
        struct list unasked; /* members with a slot to be steered there, by steering.at */
        usec_t next;         /* until then, at most `left` more of them */
        int left;
    } steering;

    /* lifecycle/commit_batch.c */
    usec_t batch_end;    /* deadline for complete gangs that wait to commit together */
    uint64_t batch_step; /* steps at the last batch */

    /* verb/bind.c */
    usec_t last_hold; /* when a member last came to bind */

    /* lifecycle/early_rejection.c */
    struct turn turns[TURNS_MAX];
    size_t n_turns;
    usec_t asked_at; /* the last filter call for an unbound pod; 0: none */

    /* lifecycle/predicate_parity.c */
    struct parity {
        struct suspect suspects[SUSPECTS_MAX];
        uint64_t looks;
        int64_t credit; /* nodes that may be compared now; grows with time */
        usec_t credit_at;
        uint64_t looker;            /* digest of the namespace that was compared last */
        struct map differences;     /* namespace -> struct difference: confirmed differences */
        int seen_in[PREDICATE_MAX]; /* namespaces with a confirmed difference */
        char *first;                /* the first difference as text; NULL: none */
        usec_t closed_at;           /* when the express lane was closed for all; 0: open */
    } parity;

    /* step/gang_invariants.c */
    char *violations[GANG_INVARIANT_MAX]; /* first violation of each, as text; NULL: none */

    /* step/list_pages.c */
    uint64_t ranked; /* steps when gangs last got their ranks */

    /* ---- the step itself ---- */

    /* cluster/effects.c */
    struct effects fx;

    /* Set and stopped through timers.h, by the file that owns the timer's kind. */
    struct heap timers;
    struct core_timers {
        struct timer wake, steer; /* blocked pods are left to wake, members to steer */
        struct timer plan;        /* gangs are left to plan */
        struct timer show;        /* gated gangs may be shown to an autoscaler */
        struct timer batch;       /* complete gangs wait to commit together */
        struct timer labels;      /* a namespace's pause after a change of its rule labels ends */
    } due;

    /* Each file counts its own events. */
    struct gang_stats stats;
};

#endif
