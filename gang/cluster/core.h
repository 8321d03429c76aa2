/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - struct gang_core: the cluster cache, reservations and pending work.
 *
 * step.c creates and frees the core. The core owns everything that it points to, until it is freed
 * or until the header of the object says otherwise. Nothing in gang/ is locked: only the thread
 * that has the turn may use the core (docs/design.md). This holds for all headers of gang/.
 *
 * The comment before a group of fields names the only file that writes them. step.c initializes and
 * frees the fields of all files. The fields of higher rooms are here too, because all rooms get the
 * same core: docs/decisions/142-keep-one-struct-per-object.md.
 */
#ifndef MUSTER_GANG_CLUSTER_CORE_H
#define MUSTER_GANG_CLUSTER_CORE_H

#include "base/buf.h"
#include "base/fair_queue.h"
#include "gang/cluster/gang_object.h"
#include "gang/cluster/node.h"
#include "gang/cluster/pod.h"
#include "gang/cluster/queue.h"

/* A possible difference: a node where kube-scheduler's offer and muster's predicates differ. */
struct suspect {
    /* lifecycle/predicate_parity.c */
    bool used;
    uint32_t node; /* its id */
    enum gang_predicate predicate;
    uint64_t key;        /* digest of the pod's namespace and signature */
    uint64_t owner;      /* digest of the namespace alone */
    usec_t as_of;        /* touched_at of the node, or of the core for a pod with spreads */
    usec_t since;        /* when it was first seen */
    usec_t seen;         /* when it was last seen */
    uint64_t comparison; /* parity.comparisons when it was last seen */
    bool counted;        /* it was confirmed and reported */
};
enum { SUSPECTS_MAX = 64 };

/* The effects of a step, and the memory that they point to. */
struct effects {
    struct gang_effect *items;
    size_t n, cap;
    struct arena_block *blocks;
};

enum { CLASS_LABELS_MAX = 64 };

/* A filter call. It shows that kube-scheduler has already come to the pods ahead of its pod in the
 * queue: pods of the same or a higher priority that joined the queue earlier. */
struct filter_call_seen {
    int32_t priority;
    usec_t queued; /* when the pod joined the queue */
    usec_t asked;  /* when filter was called */
};
enum { FILTER_CALLS_SEEN_MAX = 16 };

struct gang_core {
    /* step/step.c */
    struct gang_config config;
    char **scheduler_names;
    char **queue_grants; /* sorted */
    usec_t now;
    uint64_t steps;
    uint64_t outside; /* counts facts that muster did not cause, and that may help a gang */
    bool synced;
    usec_t synced_at;

    /* lifecycle/commit.c */
    bool stopping;

    /* ---- the cluster cache ---- */

    /* cluster/nodes.c */
    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map offered;      /* resource -> number of nodes whose allocatable has it */
    struct amounts capacity; /* sums of allocatable over all nodes */

    /* cluster/pods.c */
    struct map pods;     /* uid -> pod */
    struct map names;    /* ns/name -> pod */
    size_t n_unseen;     /* pods that filter calls have shown, and the watch not yet */
    size_t n_invalid;    /* pods with facts->invalid */
    size_t n_suspended;  /* pods with facts->suspended */
    char **gone;         /* ring buffer of the UIDs of deleted pods */
    size_t gone_at;      /* index of the next entry in `gone` */
    struct map gone_set; /* the same UIDs */

    /* cluster/pod_gate.c */
    size_t n_gated; /* pods with muster's own gate */
    /* changed ordinary pods with the gate, or without a PodGroup yet, to be checked at the end of
     * the step */
    struct list ungrouped_changed;

    /* cluster/signatures.c */
    struct map signatures;   /* key -> signature */
    struct map rule_results; /* key -> rule_results */

    /* cluster/cache_budget.c */
    struct cache_budget *caches;

    /* cluster/node_classes.c */
    struct map node_classes;   /* key -> node_class */
    size_t n_used_classes;     /* classes with nodes */
    struct list empty_classes; /* classes that lost their last node in this step */

    /* cluster/class_labels.c */
    struct core_labels {
        struct map keys;                                /* key -> label_key */
        struct label_key *of_classes[CLASS_LABELS_MAX]; /* the class labels */
        size_t n_class_labels;
        uint64_t gen; /* counts changes that make each signature_labels stale */
        usec_t left;  /* when a class label was last dropped */
        bool unused;  /* some class label may have no user */
        bool stale;   /* labels of nodes changed, so the bounds must be checked */
    } labels;

    /* cluster/pod_labels.c */
    struct core_rule_labels {
        struct map all;    /* namespace -> namespace_rule_labels */
        bool idle;         /* some namespace may have lost its last rule or member */
        usec_t swept;      /* when rule_labels_sweep() last did its work */
        struct list stale; /* namespaces whose members need new signatures */
        bool matter;       /* a pod with rules between pods exists, or existed */
    } rule_labels;

    /* cluster/signature_changes.c */
    struct map claim_rests;       /* namespace -> claims_rest */
    uint64_t rule_labels_settled; /* counts how often members of a namespace got new signatures */

    /* cluster/volume_claims.c */
    struct map claims; /* ns/name -> claim */

    /* cluster/job_limits.c */
    struct map jobs; /* full name -> gang_job_facts; only Jobs with a limit */

    /* cluster/disruption_budgets.c */
    struct core_budgets {
        struct map namespaces; /* name -> budget_namespace */
        uint64_t versions;     /* the highest version of any of them */
        uint64_t compared;     /* counts comparisons of budgets with pods */
    } budgets;

    /* cluster/anti_affinity_and_spread.c */
    struct map hosts;          /* hostname -> number of nodes with it */
    size_t n_shared_hostnames; /* nodes that share their hostname with an earlier one */

    /* cluster/resources.c */
    struct core_resources {
        char **names;   /* number -> name; NULL: unused number */
        size_t *users;  /* number -> how many signatures and amounts use it */
        uint8_t *kinds; /* number -> bits of enum resource_kind */
        size_t n, cap;
        uint32_t *free; /* unused numbers */
        size_t n_free;
        struct map numbers; /* name -> number + 1 */
    } resources;

    /* cluster/watch_lag.c */
    bool behind[GANG_WATCHES];
    usec_t behind_since;  /* when the current or last lag began */
    usec_t follows_since; /* when the last lag ended; 0: no lag has ended yet */

    /* podgroup/podgroups.c */
    struct map groups; /* key -> group */
    struct list gangs; /* all gangs, by in_core, oldest first */
    size_t n_gangs;
    struct map priority_classes; /* name -> gang_priority_class_facts */
    uint64_t forming;            /* counts changes after which gangs were formed again */

    /* queue/queues.c */
    struct core_queues {
        struct map all;          /* key -> queue */
        struct queue *root;      /* the cluster; NULL: no queue object exists */
        struct queue *none;      /* the leaf for pods without a queue; NULL with root */
        size_t n_objects;        /* queue objects */
        size_t n_any_gpu;        /* those of them that state something about GANG_ANY_GPU */
        struct map objects;      /* API group -> number of its queue objects */
        struct map by_namespace; /* namespace -> the queue_claim that counts */
        struct map fallbacks;    /* API group -> queue of its gangs that name none */
        struct map namespaces;   /* name -> gang_namespace_facts */
        uint64_t settled;        /* counts changes of queues and namespaces */
        /* since the last queues_settle() */
        struct list edited;          /* queues whose object came, changed or went */
        struct map other_namespaces; /* names of those whose pods may be in another queue */
        bool others;                 /* the same, for all namespaces */
        /* since the last queues_sweep() */
        struct list unused; /* queues that perhaps nothing names any more */
    } queues;

    /* queue/queue_tree.c */
    uint32_t any_gpu;        /* number of GANG_ANY_GPU; RES_UNKNOWN: no queue uses it */
    uint64_t queues_visited; /* counts queues that got a parent, or were checked for a fault */

    /* cluster/pods_by_queue.c */
    struct map pods_by_queue; /* key of the queue that they name -> list of pods */

    /* cluster/queue_usage.c */
    uint64_t queue_changes;     /* counts changes of anything that orders queues */
    uint64_t queues_reordered;  /* queue_changes when something last changed that orders all */
    uint64_t want_changes;      /* counts changes of what queues use, and of what gangs need */
    uint64_t all_want_changed;  /* want_changes when something last changed this for all queues */
    struct list queues_changed; /* queues whose status may have changed */
    struct list queues_to_emit; /* the same, since a round began that emits statuses */
    struct list queues_later;   /* queues with something that those above them do not count yet */
    bool counts_later;          /* see queue_counts_begin() */
    struct need *counting;      /* what is being counted */
    size_t cap_counting;

    /* queue/fair_share.c */
    usec_t shared_at;   /* when the fair shares were last computed */
    usec_t credited_at; /* up to when time counts in their credit and past use */

    /* plan/taker.c */
    uint64_t taker_rounds; /* calls of taker_remembers() so far */

    /* plan/queue_picks.c */
    uint64_t queue_passes; /* planning passes by queue so far */

    /* messages/queue_status.c */
    usec_t queues_emitted_at; /* when statuses were last emitted */

    /* cluster/api_clock.c */
    usec_t api_ahead; /* the API server's clock minus `now`, as far as it is known */

    /* ---- what changed ---- */

    /* cluster/dirty_nodes.c */
    struct core_marks {
        uint64_t clock;              /* counts changes of the cluster cache */
        uint64_t freed;              /* `clock` when room last grew on any node */
        uint64_t pods_changes;       /* counts changes of the pods on any node */
        usec_t touched_at;           /* when any node last changed */
        bool paused;                 /* a trial is open, whose changes set no marks */
        bool dry;                    /* a dry run is open, whose objects leave nothing behind */
        uint64_t layout;             /* identifies the current content of all nodes */
        uint64_t layouts;            /* the highest number used for `layout` */
        bool unused;                 /* a deleted node may be unused now */
        uint64_t nodes_dropped;      /* counts nodes that were freed */
        struct list by_pods_changed; /* all nodes; the last one whose pods changed is first */
        struct list reclassify;      /* nodes whose class must be computed again */
        struct list recheck_slots;   /* nodes whose slots may no longer fit */
        /* Pods with wide anti-affinity that are on a node or may be soon, by ascending seq. */
        struct list wide_anti_affinity;
        uint64_t wide_anti_affinity_last; /* the highest seq so far */
    } marks;

    /* cluster/dirty_gangs.c */
    struct list touched;       /* gangs that changed: reconcile them, then report them */
    struct list touched_later; /* of these, gangs to report in a later step */
    struct list order_changed; /* gangs whose position in the order may have changed */

    /* ---- reservations and pending work ---- */

    /* cluster/ledger.c */
    size_t n_anti_affinity;   /* pods and slots with anti-affinity, over all nodes */
    int32_t lowest_priority;  /* no gang or pod that uses room has a lower one */
    bool lower_priority_came; /* it fell since lower_priority_came() was called */

    /* cluster/reservations.c */
    size_t n_slots; /* over all gangs */

    /* cluster/nominated_room.c */
    size_t n_nominated_room; /* pods with nominated room */

    /* cluster/kube_preemptions.c */
    struct {
        struct map by_preemptor, by_victim; /* UID of a pod -> kube_preemption */
        usec_t last;                        /* when the last one was added */
    } kube_preemptions;

    /* cluster/preempted_room.c */
    size_t n_preempted_room; /* slots of preempted room, over all gangs */
    size_t n_takers;         /* gangs with takes_room */

    /* cluster/pod_eviction.c */
    size_t n_evicted;   /* pods that use room and are being evicted for the room of a gang */
    struct list ending; /* pods that are Terminating or being evicted */

    /* cluster/held_calls.c */
    struct map calls; /* id of an open bind call -> its pod */

    /* cluster/hold_quota.c */
    struct map hold_quotas; /* namespace -> hold_quota */
    size_t booked_unused;   /* holds that are booked, without a held call yet */

    /* cluster/kube_queue.c */
    size_t n_refused; /* pods that sleep because filter refused them, see pod_reject() */
    /* Blocked pods; the owners are namespaces. blocked[blocked_at] has those that this round
     * (wake.round) has not checked, and the other queue has the checked ones. */
    struct fair_queue blocked[2];
    int blocked_at;

    /* cluster/offered_nodes.c */
    uint64_t offers; /* counts calls of look_up_names() */

    /* cluster/filter_results.c */
    struct list filter_results; /* pods with an open filter result and no bind call yet */
    size_t filter_result_words; /* size of their bit sets, at most FILTER_RESULT_WORDS_MAX */

    /* ---- the planning order ---- */

    /* podgroup/gang_state.c */
    struct list open; /* gangs that are neither Scheduled nor Done */

    /* podgroup/gang_order.c */
    struct map namespace_queues; /* namespace -> namespace_queue */
    struct list unsettled;       /* queues to be sorted */

    /* podgroup/costly_gangs.c */
    struct fair_queue costly; /* costly gangs, which muster plans one by one */

    /* podgroup/earmark.c */
    struct gang *earmark_gang; /* the gang that has the earmark; NULL: none */
    struct list earmarked;     /* nodes with earmarked room */

    /* plan/plan_gang.c */
    uint64_t plan_pass_freed; /* marks.freed when all gangs were last tried */
    uint64_t planned_in;      /* the last step (`steps`) that planned a gang it could defer */
    uint64_t plans_wait;      /* the last step (`steps`) whose work was used up before it planned */
    bool plans_deferred;      /* gangs are due that the last step did not plan */
    /* A pass tries each due gang at least once, in one step or several. */
    uint64_t plan_pass;
    uint64_t plans_step;   /* the last step (`steps`) that began or continued a pass */
    bool untried_deferred; /* among the deferred gangs are some that the pass has not tried */
    bool untried_only;     /* this step plans only such gangs */

    /* plan/placement.c */
    uint64_t trials; /* counts passes of place_needed() and place_extras() */

    /* plan/shortage_cache.c */
    uint64_t fills; /* the highest version of a signature_shortage */

    /* cluster/step_work.c */
    int64_t work; /* of this step, see step_work.h */

    /* lifecycle/wake.c */
    struct core_wake {
        uint64_t round;       /* counts rounds of waking blocked pods */
        uint64_t round_freed; /* marks.freed when the round began */
        bool again;           /* a new round is due even if no room grew */
        usec_t check_at;      /* when woken pods are checked next; 0: none was woken */
        usec_t rest;          /* no blocked pod is woken before this time */
        struct list sent;     /* nodes with n_woken > 0 */
        struct list woken;    /* woken pods without a filter call or a Binding since */
    } wake;

    /* lifecycle/steering.c */
    struct core_steering {
        struct list unasked; /* members that may have to be steered, by steering.at */
        usec_t next;         /* until then, at most `left` more members are steered */
        int left;
    } steering;

    /* lifecycle/commit_batch.c */
    usec_t batch_end;    /* when complete gangs commit together at the latest */
    uint64_t batch_step; /* `steps` at the last batch */

    /* verb/bind.c */
    usec_t last_hold; /* when a bind call was last held */

    /* lifecycle/gang_preemption.c */
    struct core_preempting {
        usec_t next;        /* no search for victims begins before */
        uint32_t decisions; /* so far */
        /* See may_be_asked(). */
        uint64_t step;          /* the last step in which gangs were asked may_reclaim() */
        int asked, asked_again; /* how many in this step; how many of them again in the round */
        usec_t crowded;         /* when a gang was put off that was not asked in the round */
        uint64_t round;         /* counts rounds, in which each gang is asked at least once */
    } preempting;

    /* lifecycle/early_rejection.c */
    struct filter_call_seen filter_calls_seen[FILTER_CALLS_SEEN_MAX];
    size_t n_filter_calls_seen;
    usec_t asked_at; /* when filter was last called for an unbound pod; 0: never */

    /* lifecycle/predicate_parity.c */
    struct parity {
        struct suspect suspects[SUSPECTS_MAX];
        uint64_t comparisons; /* how many were made */
        int64_t credit;       /* how many nodes may be compared now; grows with time */
        usec_t credit_at;
        uint64_t last_ns;           /* digest of the namespace of the last comparison */
        struct map differences;     /* namespace -> struct difference: confirmed differences */
        int seen_in[PREDICATE_MAX]; /* namespaces with a confirmed difference */
        char *first;                /* the first difference as text; NULL: none */
        usec_t closed_at;           /* when the express lane was closed for all; 0: open */
    } parity;

    /* step/gang_invariants.c */
    char *violations[GANG_INVARIANT_MAX]; /* first violation of each, as text; NULL: none */

    /* step/list_pages.c */
    uint64_t ranked; /* `steps` when gangs last got their ranks */

    /* ---- the step itself ---- */

    /* cluster/effects.c */
    struct effects fx;

    /* any file, through timers.h */
    struct heap timers;
    struct core_timers {
        struct timer wake, steer, plan, show, batch, labels; /* see enum timer_kind */
        struct timer shares; /* the shares of queues are computed again */
        struct timer costly; /* plan the next costly gang */
        struct timer queues; /* statuses of queues are to be written */
    } due;

    /* any file; each counts its own events */
    struct gang_stats stats;
};

#endif
