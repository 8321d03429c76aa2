/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang.h - the pure core: events go in, effects come out.
 *
 * Life cycle
 *   1. gang_core_new(config)
 *   2. gang_step() with NODE_SET, POD_SET, GROUP_SET for everything that exists, then SYNCED.
 *      Until SYNCED, the core answers every call with an error.
 *   3. gang_step() with every batch of events; carry out the returned effects in order.
 *   4. gang_step() with TICK, no later than gang_core_next().
 *   5. gang_step() with STOP, which answers every held call; then gang_core_free().
 *
 * The core does no I/O, reads no clock, starts no thread and uses no random numbers: the same
 * config and the same sequence of (now, events) give the same effects. The core has no locks, so
 * only one thread at a time may call these functions for a core. `now` comes from a monotonic clock
 * in microseconds and must not go backwards.
 *
 * A step takes the facts, fires the timers that are due, plans gangs in their order, and then
 * answers calls in the order in which they arrived.
 */
#ifndef MUSTER_GANG_GANG_H
#define MUSTER_GANG_GANG_H

#include "base/err.h"
#include "gang/effect.h"
#include "gang/event.h"
#include "gang/node_predicates.h"
#include "gang/state_table.h"

struct gang_core;

/* Whether muster steers members, see gang/lifecycle/steering.h. */
enum gang_steering { GANG_STEER_AUTO, GANG_STEER_ALWAYS, GANG_STEER_NEVER };

struct gang_config {
    usec_t hold;             /* how long a bind call is held at most */
    usec_t assemble;         /* how long members are expected after the newest one came; 0: never */
    usec_t schedule_timeout; /* of an attempt, unless the PodGroup or its dialect sets one */
    usec_t schedule_timeout_max; /* upper bound for a PodGroup's own timeout */
    usec_t backoff_initial;      /* after the first failed attempt; doubles up to backoff_max, with
                                    jitter */
    usec_t backoff_max;
    usec_t reason_refresh; /* shortest pause between two texts for the same waiting pods */
    size_t max_holds;      /* bind calls held at once, over all gangs */
    int64_t plan_work; /* limit of one step, in scanned nodes, see plan_pass(). The next step plans
                          the remaining gangs. For waking pods, see wake.c */
    size_t commit_batch_threshold; /* gangs commit together if at least this many refused pods
                                      wait; 0: never */
    usec_t starvation;         /* a gang that has waited this long for capacity starves; 0: never */
    bool strict_order;         /* no gang goes ahead of a waiting gang before it in the order */
    bool trust_group_priority; /* a PodGroup's priority may exceed that of its pods */
    bool preemption;           /* evict gangs and pods of a lower priority to make room for gangs */
    bool evict_on_failed_commit; /* false: muster completes the gang on other nodes */
    bool requeue_below_minimum;  /* replacements of lost members wait until the minimum exists;
                                    false: they are scheduled one by one */
    enum gang_steering steering;
    bool gates; /* members keep muster's gate until their gang has a plan; false: muster removes
                   every gate */
    bool show_gated;   /* also remove the gates of gangs that lack room, so that an autoscaler sees
                          their pods */
    bool express_lane; /* commit when the first member is at bind, see express_lane.h */
    int32_t rules_off; /* 1 << PREDICATE_X: kube-scheduler runs without this plugin */
    bool whole_lists;  /* kube-scheduler checks all nodes (percentageOfNodesToScore: 100) */
    const char *const *scheduler_names; /* muster schedules the pods of these schedulers */
    size_t n_scheduler_names;           /* 0: of all schedulers */
    /* "QUEUE:NAMESPACE", which namespaces may use which queues; NAMESPACE *: all of them. A queue
     * that no entry names is open to all. */
    const char *const *queue_grants;
    size_t n_queue_grants;
    /* The half-life of a queue's credit, and of its past use in time-based fair share. */
    usec_t queue_half_life;
    int64_t queue_time_factor; /* k of time-based fair share, in thousandths; 0: off */
    /* The part of what a queue uses that others may take back per ten minutes, in percent, see
     * queue_loses(); 0: no limit. */
    int64_t reclaim_limit;
    /* Whether the search for a victim's reclaimMinRuntime begins at the victim's own queue, instead
     * of at the queue directly below the lowest common ancestor. */
    bool reclaim_runtime_of_queue;
};

/* The usual plan_work. With it, planning takes at most about 20 ms of a step. */
#define GANG_PLAN_WORK 100000

/* Copies config. Never NULL; the caller frees the core with gang_core_free(), which accepts NULL
 * and returns NULL. */
struct gang_core *gang_core_new(const struct gang_config *config);
struct gang_core *gang_core_free(struct gang_core *core);

/*
 * Takes a batch of events and returns the effects, *ret_n of them. The core owns the effects, which
 * are valid until the next step. After the caller has carried them out, it calls gang_event_done()
 * for each event.
 */
const struct gang_effect *gang_step(struct gang_core *core, usec_t now, struct gang_event *events,
                                    size_t n_events, size_t *ret_n);

/* When the next step is due at the latest; USEC_NEVER: only after an event. */
usec_t gang_core_next(const struct gang_core *core);

bool gang_core_synced(const struct gang_core *core);
/* Whether the last step used up its plan_work, so that the next step plans the remaining gangs. */
bool gang_core_plans_deferred(const struct gang_core *core);

/*
 * The stored facts of the pod, if they have this version and this nomination; else NULL. The caller
 * can pass them in a call's event (pod_is_known) instead of decoding the pod again. They are
 * borrowed until the end of the next step. The events of that step must be calls only.
 */
struct gang_pod_facts *gang_core_known_pod(const struct gang_core *core, const char *uid,
                                           int64_t version, const char *nominated);

/*
 * Checks all invariants, those of docs/proof.md (I1 to I4) and all sums, over the whole state.
 * Returns 0, or -1 with the first violation in err. For tests: it recomputes everything.
 */
int gang_core_check(const struct gang_core *core, struct err *err);

/* The invariants of a single gang, with their metric labels. They are checked for each gang that a
 * step touched, see gang/step/gang_invariants.h. */
#define GANG_INVARIANTS(X)                                                                         \
    X(TRANSITION, "transition") /* gang/state_table.h allows the change of state */                \
    X(RESERVED, "reserved")     /* the gang has slots only in a state with a plan */               \
    X(HELD, "held")             /* the gang holds bind calls only with a plan and a time limit */  \
    X(COUNTS, "counts")         /* the numbers of slots and held calls are correct */              \
    X(WHOLE, "whole")           /* the gang is partly bound only while it commits or recovers */   \
    X(STATE, "state")           /* the gang's slots, Bindings and bound members match its state */

enum gang_invariant {
#define X(id, name) GANG_INVARIANT_##id,
    GANG_INVARIANTS(X)
#undef X
        GANG_INVARIANT_MAX
};
const char *gang_invariant_name(enum gang_invariant what);
/* The first violation of the invariant, as text; NULL: none. Valid as long as the core. */
const char *gang_core_violation(const struct gang_core *core, enum gang_invariant what);

/* ---- views for the API, metrics and tests; borrowed until the next step ---- */

struct gang_view {
    struct gang_status status;
    usec_t since;                /* when the state was entered */
    usec_t created;              /* of the PodGroup; 0: unknown */
    bool known;                  /* the PodGroup object exists */
    int32_t priority;            /* compared between namespaces */
    int32_t own_priority;        /* compared inside the namespace */
    const struct gang_ref *root; /* the head of the gang: itself, a parent or another of a bundle */
    int position;                /* in the order of waiting gangs, from 1; 0: it does not wait */
    usec_t last_planned;         /* when planning was last tried; 0: never */
    usec_t waiting_since;        /* start of the wait, over all attempts; 0: it does not wait */
    int attempts;                /* number of attempts that were started */
    int held;                    /* members whose bind call is held */
    int planned;                 /* slots, including those of expected members */
    const struct gang_ref *queue; /* NULL: none */
};
struct gang_member_view {
    const struct gang_pod_facts *facts;
    const char *node;  /* the node that it is bound to or being bound to; NULL: none */
    const char *slot;  /* node of its slot; NULL: no slot */
    const char *state; /* Suspended, Gated, Unscheduled, RejectedEarly, Assumed, Held, Binding,
                          Assigned, Finished */
};
struct gang_node_view {
    const struct gang_node_facts *facts;
    int pods;  /* charged to the node */
    int slots; /* on the node */
};
/* The state of a queue, with its name for users. */
#define GANG_QUEUE_STATES(X)                                                                       \
    X(OPEN, "Open")                                                                                \
    X(CLOSED, "Closed")   /* takes no new gangs */                                                 \
    X(INVALID, "Invalid") /* its own fields or a queue above it keep gangs from using it */        \
    X(MISSING, "Missing") /* gangs name it, and no object exists */

enum gang_queue_state {
#define X(id, name) GANG_QUEUE_##id,
    GANG_QUEUE_STATES(X)
#undef X
        GANG_QUEUE_STATE_MAX
};
const char *gang_queue_state_name(enum gang_queue_state state);

/* Queues come as a tree, parents before their children. */
struct gang_queue_view {
    struct gang_queue_status status;
    enum gang_queue_state state;
    const struct gang_queue_facts *facts; /* NULL: gangs name it, and it does not exist */
    const struct gang_ref *parent;        /* NULL: directly below the cluster */
    int depth;                            /* 0: directly below the cluster */
    int64_t credit; /* of a queue whose next gang exceeds its share: parts per billion of the
                       cluster, times seconds; 0: none */
};
typedef void gang_queue_fn(void *arg, const struct gang_queue_view *view);
typedef void gang_view_fn(void *arg, const struct gang_view *view);
typedef void gang_member_fn(void *arg, const struct gang_member_view *view);
typedef void gang_node_fn(void *arg, const struct gang_node_view *view);
/* The amounts of a resource: allocatable, used by charged pods, reserved by slots. */
typedef void gang_node_amount_fn(void *arg, const char *resource, int64_t allocatable, int64_t used,
                                 int64_t reserved);

/* Shows all gangs at once, for tests and simulations. A server reads pages instead, which take at
 * most a few milliseconds each. */
void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg);
/* Shows the members of one PodGroup; none if it is unknown. */
void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg);

/* Shows the resources of one node. */
void gang_core_each_amount(const struct gang_core *core, const char *node, gang_node_amount_fn *fn,
                           void *arg);

/* Shows the sums of each device over all nodes that have it. */
void gang_core_each_device(const struct gang_core *core, gang_node_amount_fn *fn, void *arg);
/*
 * A page of a list: items with keys after `after`, in the order of their keys. A page may have
 * fewer than `limit` items, because the work for one page is bounded.
 */
struct gang_page {
    const char *after; /* NULL: from the beginning */
    size_t limit;
    const char *last; /* result: key of the last item shown; NULL: the list is complete */
    size_t left;      /* result: number of items after it */
};
/* A page of nodes ends when it has shown this many resources. */
#define GANG_PAGE_AMOUNTS 8000
/* ns NULL: all namespaces. */
void gang_core_page_gangs(struct gang_core *core, const char *ns, struct gang_page *page,
                          gang_view_fn *fn, void *arg);
void gang_core_page_members(const struct gang_core *core, const struct gang_ref *ref,
                            struct gang_page *page, gang_member_fn *fn, void *arg);
void gang_core_page_nodes(const struct gang_core *core, struct gang_page *page, gang_node_fn *fn,
                          void *arg);
/* All queues in tree order, at most `limit` after the first `skip`. Returns their total. */
size_t gang_core_queues(const struct gang_core *core, size_t skip, size_t limit, gang_queue_fn *fn,
                        void *arg);
/* The part of the cluster that a queue's pods and slots use, of cpu, memory or devices the largest
 * one, in parts per billion. ref NULL: all pods of the cluster. */
typedef void gang_queue_part_fn(void *arg, const struct gang_ref *ref, bool has_children,
                                int64_t part);
/* Shows the parts of the cluster and of each queue. Nothing without queues. */
void gang_core_each_queue_part(const struct gang_core *core, gang_queue_part_fn *fn, void *arg);
/* What the metrics of one queue show. */
struct gang_queue_figures {
    struct gang_queue_status status; /* without the names of the children; amounts in any order */
    enum gang_queue_state state;
    const struct gang_ref *parent; /* NULL: directly below the cluster */
    usec_t waiting_since; /* start of the longest wait of its gangs, with queues below it; 0: none
                             waits */
};
/* False: no more queues. */
typedef bool gang_queue_figures_fn(void *arg, const struct gang_queue_figures *figures);
/* Shows at most `limit` queue objects: the topmost levels first, and each level in the order of the
 * keys. Sets counts[STATE] to the number of queues in this state. Returns false, and sets nothing,
 * if there are no queue objects. */
bool gang_core_top_queues(const struct gang_core *core, size_t limit, gang_queue_figures_fn *fn,
                          void *arg, size_t counts[static GANG_QUEUE_STATE_MAX]);
/* Shows one PodGroup; api_group NULL: the first one with this name. False: there is none. */
bool gang_core_one_gang(struct gang_core *core, const char *ns, const char *name,
                        const char *api_group, gang_view_fn *fn, void *arg);
typedef void gang_ref_fn(void *arg, const struct gang_ref *ref);
/* Passes each PodGroup of the namespace to the callback and returns their number. */
size_t gang_core_names(const struct gang_core *core, const char *ns, gang_ref_fn *fn, void *arg);
/* The PodGroup that the pod is linked to; NULL: none, or the pod is unknown. */
const struct gang_ref *gang_core_gang_of(const struct gang_core *core, const char *uid);

/* ---- explanations of a gang's state; strings are borrowed until the next step ---- */

/* The first difference that the predicate parity check confirmed, as text; NULL: none. */
const char *gang_core_parity_difference(const struct gang_core *core);

/* A unit of the gang; the units are listed from the root down. */
struct gang_explained_unit {
    int depth;
    const struct gang_ref *group;  /* NULL: a bundle */
    const char *subgroup, *part;   /* NULL: the PodGroup itself */
    int needs, members, bound;     /* `bound` includes members whose Binding was sent */
    int held, planned;             /* members at bind; members with a slot */
    int children, children_needed; /* units directly below */
};

/* Members of one signature without a slot, and how many nodes are feasible for them. */
struct gang_explained_signature {
    const struct gang_pod_facts *sample;
    const char *beyond; /* the constraint that only kube-scheduler evaluates; NULL: none */
    int pods;
    int nodes;            /* scanned nodes: all that have facts, unless `partly` */
    int passing;          /* of these, nodes that pass all its rules about nodes and volumes */
    int able;             /* of `passing`, nodes that could hold one member if they were empty */
    int roomy;            /* of `passing`, nodes that have room for one member now */
    int refused;          /* of `roomy`, infeasible nodes (kube-scheduler refuses them) */
    int earmarked;        /* of `passing`, nodes whose room is earmarked for another gang */
    int volumes;          /* of `nodes`, nodes that only its volumes rule out */
    int ports;            /* of `passing`, nodes where its host ports are taken */
    int between;          /* of `roomy`, nodes that anti-affinity or topology spread rules out */
    int fit;              /* how many members the feasible nodes would hold */
    const char *resource; /* the resource that is short; NULL: none */
    int64_t each;         /* need of one member */
    int64_t free;         /* free amount on all passing nodes together */
    int64_t largest;      /* largest free amount on one of them */
    bool partly;          /* only some nodes were scanned, because the work is bounded */
};

struct gang_explained_pod {
    const struct gang_pod_facts *facts;
    int signature;      /* index into `signatures`; -1: it is not listed there */
    const char *pinned; /* node to which the member is pinned; NULL: none */
};

/* The answer of a check that is skipped if it costs too much. */
enum gang_answer { GANG_NOT_ASKED, GANG_NO, GANG_YES };

/* What uses the short resource on passing nodes: a gang (all its pods there), or one ordinary
 * pod. */
struct gang_explained_holder {
    const struct gang_ref *gang;      /* NULL: an ordinary pod */
    const struct gang_pod_facts *pod; /* NULL: a gang */
    int pods;
    int64_t amount;
    int64_t reserved;        /* the part of `amount` that slots reserve */
    enum gang_answer enough; /* whether the explained gang would have room without it */
};

/* A gang, a member that its gang does not need, or an ordinary pod. */
struct gang_explained_victim {
    const struct gang_ref *gang;      /* NULL: an ordinary pod */
    const struct gang_pod_facts *pod; /* NULL: the whole gang */
};

/* Whether evictions would make room for the gang. */
struct gang_explained_eviction {
    enum gang_answer room; /* GANG_NOT_ASKED: it was not searched for, or not to the end */
    bool searched;
    struct gang_explained_victim *victims; /* with GANG_YES: without them, the gang has room */
    size_t n_victims;                      /* 0: the room is enough when all ending pods are gone */
    int32_t priority;                      /* the highest one of a victim */
    int gangs;                             /* gangs and ordinary pods that lose pods */
    int64_t lost_seconds;                  /* device-seconds */
    int64_t run_seconds;                   /* of all their pods, each rounded up */
    bool ends_job; /* a Job fails, because it loses more pods than its backoffLimit allows */
    /* Without GANG_YES: the first disruption budget that protects a pod; NULL: none. Its name is
     * NULL if several budgets cover the pod. */
    const struct gang_budget_facts *budget;
    /* Without GANG_YES: a queue that the limit on reclaim protects, and until when; NULL: none. */
    const struct gang_ref *resting;
    usec_t rests_until;
    /* With GANG_NO: a queue that would keep less than it deserves; NULL: none. */
    const struct gang_ref *deserving;
};

/* An ordinary pod, a member that its gang does not need, or pods of a gang that restarts. */
struct gang_explained_move {
    const struct gang_ref *gang;      /* NULL: an ordinary pod */
    const struct gang_pod_facts *pod; /* NULL: pods of a whole gang */
    const char *from, *to;            /* nodes */
    int pods;                         /* how many move */
    int restarts;                     /* how many restart, on all nodes */
};

/* Whether moves of running pods to other nodes would make room for the gang. */
struct gang_explained_consolidation {
    enum gang_answer room; /* GANG_NOT_ASKED: it was not searched for, or not to the end */
    bool searched;
    struct gang_explained_move *moves; /* in their order. With GANG_NO: if `budget` allowed them */
    size_t n_moves;
    /* With GANG_NO and moves: the budget that forbids one. Its name is NULL if several budgets
     * cover the pod. */
    const struct gang_budget_facts *budget;
};

/* The parts of an explanation, in their order. With 5,000 nodes, each takes a few milliseconds, so
 * kube-scheduler's calls go in between. */
enum gang_explain {
    GANG_EXPLAIN_END,      /* no further part */
    GANG_EXPLAIN_STATE,    /* everything except for the next two */
    GANG_EXPLAIN_EVICTION, /* searches for victims */
    GANG_EXPLAIN_MOVES,    /* searches for moves */
};

struct gang_explained {
    int waiting;                         /* number of all waiting gangs */
    const struct gang_ref *earmark_gang; /* the gang that has the earmark; NULL: none */
    bool has_earmark, respects_earmark;  /* the gang has the earmark; must not use it */
    bool express;                        /* the setting */
    const char *express_doubt;  /* why every member must come to bind; NULL: one is enough */
    const char *express_closed; /* why predicate parity closes the express lane; NULL: it is open */
    uint64_t mismatches;        /* differences that predicate parity confirmed, of all gangs */
    usec_t attempt_until, backoff_until, hold_until, infeasible_until; /* 0: not running */
    struct gang_explained_unit *units;
    struct gang_explained_signature *signatures;
    struct gang_explained_pod *pods;       /* the first 512 members without a slot */
    const char *held;                      /* the resource of `holders`; NULL: none is short */
    struct gang_explained_holder *holders; /* the largest ones, sorted */
    size_t n_units, n_signatures, n_pods, n_holders;
    size_t n_others; /* holders that are not listed */
    bool partly;     /* holders were counted on some nodes only */
    int64_t others_amount;
    const struct gang_ref *queue; /* NULL: none */
    int queue_position; /* among the waiting gangs of its queue, or of all if it is in none, from 1;
                           0: it does not wait */
    const struct gang_ref *ahead[3]; /* the first gangs ahead of it there */
    size_t n_ahead;                  /* of these, how many are set */
    int more_nodes;                  /* with this many more nodes, a trial found room; 0: unknown */
    const char *like;                /* the additional nodes were copies of this node; NULL: none */
    struct gang_explained_eviction eviction;
    struct gang_explained_consolidation consolidation;
    enum gang_explain next; /* the next part that has something to tell */
};
/* Fills this part of *ret, and `next`; everything else is 0. The caller frees it with
 * gang_explained_done(). False: there is no such gang, and *ret is not set. Runs trials, and leaves
 * the core as it was. */
bool gang_core_explain(struct gang_core *core, const struct gang_ref *ref, enum gang_explain part,
                       struct gang_explained *ret);
void gang_explained_done(struct gang_explained *explained);

/* ---- gangs that do not exist yet ---- */

/* The most that one dry run takes. */
#define GANG_DRY_PODS  2048
#define GANG_DRY_GANGS 64

struct gang_dry_node {
    const char *name;
    int members; /* which would get a slot there */
};
/* The limit of a queue that stops a gang; the reason says which limit it is. */
struct gang_dry_limit {
    const struct gang_ref *queue; /* the gang's queue, or one above it; NULL: no limit stops it */
    const char *resource;
    int64_t limit, used, needed;
};
/* A gang or an ordinary pod without which the gang fits. */
struct gang_dry_holder {
    const struct gang_ref *gang;      /* NULL: an ordinary pod */
    const struct gang_pod_facts *pod; /* NULL: a gang */
    bool planned;                     /* it has a plan, and is not bound yet */
};
struct gang_dry_run {
    const struct gang_ref *ref;
    enum gang_answer fits; /* whether it would be planned now; GANG_NOT_ASKED: this would take too
                              long to find out */
    enum gang_reason_code reason;
    const char *text, *help; /* why not, and what would help; "": nothing to say */
    int needed, members;
    int placed;                        /* members that would get a slot, with extras */
    const struct gang_dry_node *nodes; /* where, by name */
    size_t n_nodes;
    const struct gang_ref *queue; /* NULL: none */
    struct gang_dry_limit limit;
    int smaller; /* the largest minimum that would fit; 0: none, or it is made of parts */
    const struct gang_ref *queues[4]; /* other queues that would take it now */
    size_t n_queues;
    struct gang_dry_holder after[10]; /* the end of one of these would be enough, as far as tried */
    size_t n_after;
    const struct gang_explained *why; /* NULL: it fits, or several others are explained already */
    /* What muster may evict for it; NULL: it did not search. */
    const struct gang_explained_eviction *eviction;
};
typedef void gang_dry_run_fn(void *arg, const struct gang_dry_run *run);
/*
 * Finds out which gangs would be planned if they existed. The events are GROUP_SETs and POD_SETs;
 * no object of the cluster may have their names, or be named by them. Calls fn for each gang, in
 * the order of planning: a gang finds the room taken that those before it would get. Pointers are
 * valid during the call. The core decides afterwards as if nothing had happened.
 *
 * Takes the facts of the pods. -1: the events are not of that kind or too many, or the core has not
 * synced; fn was not called.
 */
int gang_core_dry_run(struct gang_core *core, struct gang_event *events, size_t n,
                      gang_dry_run_fn *fn, void *arg, struct err *err);
/* The priority that a PriorityClass gives to pods. False: it is unknown. */
bool gang_core_priority_class(const struct gang_core *core, const char *name, int32_t *ret);

/* Why muster evicts a gang or pod, with its metric label. */
#define GANG_PREEMPTION_REASONS(X)                                                                 \
    X(PRIORITY, "priority") /* it has a lower priority */                                          \
    X(RECLAIM, "reclaim")   /* its queue uses more than it deserves */                             \
    X(BROKEN, "broken")     /* it is the rest of a gang that has lost its minimum */

enum gang_preemption_reason {
#define X(id, name) GANG_PREEMPTION_##id,
    GANG_PREEMPTION_REASONS(X)
#undef X
        GANG_PREEMPTION_REASON_MAX
};

/* Counters start at 0 in gang_core_new(). Gauges, from `gangs` on, show the current state. */
struct gang_stats {
    uint64_t plans_made, plans_failed, plans_dropped, slots_displaced;
    uint64_t commits, bindings_ok, bindings_refused, bindings_unclear;
    uint64_t holds, hold_timeouts, attempts_timed_out, wakes;
    uint64_t rejected_early;      /* early rejections of members */
    uint64_t gates_lifted;        /* pods for which muster has requested it */
    uint64_t binds_not_passed;    /* bind calls that no filter result allows */
    uint64_t searches;            /* for victims of a preemption */
    uint64_t searches_stopped;    /* of them, those that took too long */
    uint64_t preemptions;         /* of them, searches after which pods were evicted */
    uint64_t preemptions_spoiled; /* the room that they made was not enough any more */
    /* evicted, by reason */
    uint64_t preempted_gangs[GANG_PREEMPTION_REASON_MAX];
    uint64_t preempted_pods[GANG_PREEMPTION_REASON_MAX];
    uint64_t preempted_lost;   /* device-seconds that those evicted for other gangs had run */
    uint64_t preemptions_done; /* gangs for which pods were evicted, and which are Scheduled now */
    usec_t preemption_waits;   /* sum of the times that these waited since the evictions began */
    uint64_t binds_unfit;      /* bind calls for nodes that the pod's own rules exclude */
    uint64_t bindings_express; /* sent for members that were not at bind */
    uint64_t predicate_checks; /* filter calls that predicate parity has compared */
    uint64_t mismatches[PREDICATE_MAX]; /* confirmed differences */
    uint64_t violations[GANG_INVARIANT_MAX];
    uint64_t cells[GANG_STATE_MAX][TRIGGER_MAX]; /* triggers, by the gang's state before them */
    size_t gangs[GANG_STATE_MAX];
    size_t nodes, pods, groups, held;
    size_t gated;          /* pods with muster's own gate */
    size_t invalid;        /* pods that muster cannot read completely */
    bool express;          /* the express lane is on, and not closed for all */
    size_t preempted_room; /* slots that are kept for gangs while evicted pods leave */
    size_t express_closed; /* namespaces whose own differences have closed the express lane */
};
void gang_core_stats(const struct gang_core *core, struct gang_stats *ret);

#endif
