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
 * config and the same sequence of (now, events) give the same effects. It belongs to one thread and
 * has no locks. `now` comes from any monotonic microsecond clock and must not go backwards.
 *
 * One step takes in the facts, fires the due timers, plans gangs in their order, then answers calls
 * in the order they came.
 */
#ifndef MUSTER_GANG_GANG_H
#define MUSTER_GANG_GANG_H

#include "base/err.h"
#include "gang/effect.h"
#include "gang/event.h"
#include "gang/node_predicates.h"
#include "gang/state_table.h"

struct gang_core;

/* Whether muster nominates members to their slots before kube-scheduler calls filter for them,
 * see gang/lifecycle/steering.h. */
enum gang_steering { GANG_STEER_AUTO, GANG_STEER_ALWAYS, GANG_STEER_NEVER };

struct gang_config {
    usec_t hold;     /* longest time a bind call is held */
    usec_t assemble; /* how long to plan for missing members after the newest one; 0: never */
    usec_t schedule_timeout;     /* of an attempt, unless the PodGroup or its dialect sets one */
    usec_t schedule_timeout_max; /* upper bound for a PodGroup's own timeout */
    usec_t backoff_initial; /* after a timed-out attempt; doubles up to backoff_max, with jitter */
    usec_t backoff_max;
    usec_t reason_refresh; /* shortest time between two texts for the same waiting pods */
    size_t max_holds;      /* bind calls held at once, over all gangs */
    int64_t plan_work; /* per step, see plan_pass(); the rest is planned in the next step. Waking
                        pods takes a part, see wake.c */
    size_t commit_batch_threshold; /* gangs commit together while this many refused pods wait; 0:
                                      never */
    usec_t starvation; /* a gang that waits this long gets freed capacity earmarked; 0: never */
    bool strict_order; /* no later work overtakes a waiting gang */
    bool trust_group_priority;   /* a PodGroup's priority may exceed that of its pods */
    bool evict_on_failed_commit; /* else muster completes a failed commit elsewhere */
    bool requeue_below_minimum; /* else later members of a Scheduled gang always schedule one by one
                                 */
    enum gang_steering steering;
    bool gates; /* members keep muster's gate until there is a plan; else muster lifts every gate */
    bool show_gated;   /* lift the gates of gangs that lack room, so that an autoscaler sees their
                          pods */
    bool express_lane; /* commit on the first member at bind where muster's predicates are exact */
    int32_t rules_off; /* 1 << PREDICATE_X: kube-scheduler runs without that rule */
    bool whole_lists;  /* kube-scheduler checks all nodes (percentageOfNodesToScore 100) */
    const char *const *scheduler_names; /* whose pods muster schedules; n 0: all */
    size_t n_scheduler_names;
};

/* The usual plan_work: planning takes at most about 20 ms of a step. */
#define GANG_PLAN_WORK 100000

/* Copies config. Never NULL. */
struct gang_core *gang_core_new(const struct gang_config *config);
struct gang_core *gang_core_free(struct gang_core *core);

/*
 * Takes a batch of events and returns the effects, which the core owns until the next step. The
 * core takes the facts that it keeps out of the events. The caller still calls gang_event_done() on
 * each event after it has carried out the effects.
 */
const struct gang_effect *gang_step(struct gang_core *core, usec_t now, struct gang_event *events,
                                    size_t n_events, size_t *ret_n);

/* Latest time for the next TICK; USEC_NEVER: none is needed. */
usec_t gang_core_next(const struct gang_core *core);

bool gang_core_synced(const struct gang_core *core);
/* The last step used up its plan_work; the next one plans the remaining gangs. */
bool gang_core_plans_deferred(const struct gang_core *core);

/*
 * The stored facts of the pod, if they have exactly this version and nomination; else NULL. A
 * caller that need not decode the pod passes them back in its event (pod_is_known). Borrowed until
 * the end of the next step, which may contain calls but no facts.
 */
struct gang_pod_facts *gang_core_known_pod(const struct gang_core *core, const char *uid,
                                           int64_t version, const char *nominated);

/*
 * Checks the invariants over the whole state (I2, I3, I4 and that every sum adds up). Returns 0
 * when they hold, else -1 with the first violation in err. Costs one pass over everything.
 */
int gang_core_check(const struct gang_core *core, struct err *err);

/* Checks on each gang that a step touched, see gang/step/gang_invariants.h: each with its metric
 * label. */
#define GANG_INVARIANTS(X)                                                                         \
    X(TRANSITION, "transition") /* gang/state_table.h allows the change of state */                \
    X(RESERVED, "reserved")     /* only a gang with a plan has slots */                            \
    X(HELD, "held")     /* only such a gang holds bind calls, and only until a time limit */       \
    X(COUNTS, "counts") /* the counts of its slots and holds are right */                          \
    X(WHOLE, "whole")   /* it is partly bound only while it commits or recovers */                 \
    X(STATE, "state")   /* its slots, holds and Bindings suit its state */

enum gang_invariant {
#define X(id, name) GANG_INVARIANT_##id,
    GANG_INVARIANTS(X)
#undef X
        GANG_INVARIANT_MAX
};
const char *gang_invariant_name(enum gang_invariant what);
/* The first violation of the check, as text; NULL: none. Lives as long as the core. */
const char *gang_core_violation(const struct gang_core *core, enum gang_invariant what);

/* ---- views for the API, metrics and tests; borrowed until the next step ---- */

struct gang_view {
    struct gang_status status;
    usec_t since;                /* when the state was entered */
    usec_t created;              /* of the PodGroup; 0: unknown */
    bool known;                  /* the PodGroup object exists */
    int32_t priority;            /* compared between namespaces */
    int32_t own_priority;        /* the PodGroup's own, compared inside its namespace */
    const struct gang_ref *root; /* PodGroup it is placed with: itself, parent or bundle */
    int position;                /* position in the planning order, from 1; 0: it does not wait */
    usec_t last_planned;         /* last planning attempt; 0: never */
    usec_t waiting_since;        /* start of its wait, over all attempts; 0: it does not wait */
    int attempts;                /* attempts started so far */
    int held;                    /* members whose bind call is held */
    int planned;                 /* slots of the plan */
};
struct gang_member_view {
    const struct gang_pod_facts *facts;
    const char *node;  /* bound or being bound to; NULL: none */
    const char *slot;  /* node of its slot; NULL: no slot */
    const char *state; /* Gated, Unscheduled, RejectedEarly (rejected early by kube-scheduler),
                          Assumed, Held, Binding, Assigned, Finished */
};
struct gang_node_view {
    const struct gang_node_facts *facts;
    int pods;  /* assigned */
    int slots; /* reserved */
};
typedef void gang_view_fn(void *arg, const struct gang_view *view);
typedef void gang_member_fn(void *arg, const struct gang_member_view *view);
typedef void gang_node_fn(void *arg, const struct gang_node_view *view);
/* The callback gets the resource, its allocatable amount, the use by assigned pods and the
 * amount reserved by slots. */
typedef void gang_node_amount_fn(void *arg, const char *resource, int64_t allocatable, int64_t used,
                                 int64_t reserved);

/*
 * All gangs at once, for tests and simulations. A server should read pages, which take at most a
 * few milliseconds each.
 */
void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg);
/* Members of one gang; an unknown gang has none. */
void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg);

/* The resources of one node. */
void gang_core_each_amount(const struct gang_core *core, const char *node, gang_node_amount_fn *fn,
                           void *arg);

/* Sums of each device over all nodes that offer it. */
void gang_core_each_device(const struct gang_core *core, gang_node_amount_fn *fn, void *arg);
/*
 * A page of a list: the items whose keys come after `after`, in key order. A page holds fewer than
 * `limit` items where more would cost too much.
 */
struct gang_page {
    const char *after; /* NULL: from the beginning */
    size_t limit;
    const char *last; /* set: key of the last item shown; NULL: the list is complete */
    size_t left;      /* set: number of items after it */
};
/* A page of nodes ends after the node that brings it to this many resources. */
#define GANG_PAGE_AMOUNTS 8000
/* ns NULL: all namespaces. */
void gang_core_page_gangs(struct gang_core *core, const char *ns, struct gang_page *page,
                          gang_view_fn *fn, void *arg);
void gang_core_page_members(const struct gang_core *core, const struct gang_ref *ref,
                            struct gang_page *page, gang_member_fn *fn, void *arg);
void gang_core_page_nodes(const struct gang_core *core, struct gang_page *page, gang_node_fn *fn,
                          void *arg);
/* One gang; api_group NULL: the first gang with that name. False: there is none. */
bool gang_core_one_gang(struct gang_core *core, const char *ns, const char *name,
                        const char *api_group, gang_view_fn *fn, void *arg);
/* Passes each gang of the namespace to the callback and returns their number. */
typedef void gang_ref_fn(void *arg, const struct gang_ref *ref);
size_t gang_core_names(const struct gang_core *core, const char *ns, gang_ref_fn *fn, void *arg);
/* The gang that the pod is linked to; NULL: none, or the pod is unknown. */
const struct gang_ref *gang_core_gang_of(const struct gang_core *core, const char *uid);

/* ---- explanations of a gang's state; strings are borrowed until the next step ---- */

/* The first confirmed difference between muster's predicates and kube-scheduler's offers, as
 * text; NULL: none. */
const char *gang_core_parity_difference(const struct gang_core *core);

/* A part of the gang with its own minimum, listed from the top down. */
struct gang_explained_unit {
    int depth;
    const struct gang_ref *group;  /* NULL: a bundle */
    const char *subgroup, *part;   /* NULL: the PodGroup itself */
    int needs, members, bound;     /* bound includes members whose Binding is sent */
    int held, planned;             /* members at bind; members with a slot */
    int children, children_needed; /* units directly below */
};

/* Members of one signature without a slot, and how many nodes suit them. */
struct gang_explained_signature {
    const struct gang_pod_facts *sample;
    const char *beyond; /* the constraint that only kube-scheduler evaluates; NULL: none */
    int pods;
    int nodes;            /* scanned: all known nodes, unless `partly` */
    int passing;          /* of these, nodes that pass its node selector, affinity and taints */
    int able;             /* of `passing`, nodes that could hold one member if they were empty */
    int roomy;            /* of `able`, nodes with room for one more member now */
    int refused;          /* of `roomy`, nodes that kube-scheduler refused lately */
    int earmarked;        /* of `passing`, nodes whose room is earmarked for another gang */
    int volumes;          /* nodes that only its volumes rule out */
    int ports;            /* of `passing`, nodes where its host ports are taken */
    int between;          /* of `roomy`, nodes that anti-affinity or spread rules out */
    int fit;              /* members that would fit now if they got all the room */
    const char *resource; /* the resource that is short; NULL: none */
    int64_t each;         /* need of one member */
    int64_t free;         /* free on all passing nodes */
    int64_t largest;      /* largest free amount on one of them */
    bool partly;          /* only the first nodes were scanned; all would take too long */
};

struct gang_explained_pod {
    const struct gang_pod_facts *facts;
    int signature;      /* index; -1: not among those shown */
    const char *pinned; /* node for which its volumes are prepared; NULL: none */
};

/* The answer to a check that may be too costly to make. */
enum gang_answer { GANG_NOT_ASKED, GANG_NO, GANG_YES };

/* A holder of the resource on passing nodes: a gang with all its pods there, or an ordinary pod. */
struct gang_explained_holder {
    const struct gang_ref *gang;      /* NULL: `pod` holds it */
    const struct gang_pod_facts *pod; /* NULL: `gang` holds it */
    int pods;
    int64_t amount;
    int64_t reserved;        /* part of `amount` that slots reserve */
    enum gang_answer enough; /* whether there would be room if it ended */
};

struct gang_explained {
    int waiting;                         /* gangs that wait, including this one if it does */
    const struct gang_ref *earmark_gang; /* the gang that has the earmark; NULL: none */
    bool has_earmark, respects_earmark;  /* owns the earmark; must leave it alone */
    bool express;                        /* the setting */
    const char *express_doubt;  /* why every member must come to bind; NULL: one is enough */
    const char *express_closed; /* why predicate parity closes the express lane; NULL: it is open */
    uint64_t mismatches;        /* confirmed differences of predicate parity, in total */
    usec_t attempt_until, backoff_until, hold_until, infeasible_until; /* 0: not running */
    struct gang_explained_unit *units;
    struct gang_explained_signature *signatures;
    struct gang_explained_pod *pods;       /* members without a slot: the first 512 */
    const char *held;                      /* the resource of the holders; NULL: none is short */
    struct gang_explained_holder *holders; /* largest first */
    size_t n_units, n_signatures, n_pods, n_holders;
    size_t n_others; /* holders not listed */
    bool partly;     /* holders were counted on some nodes only */
    int64_t others_amount;
    int more_nodes;   /* additional nodes that a trial found to be enough; 0: unknown */
    const char *like; /* each a copy of this node */
};
/* False: there is no such gang. Else the caller calls gang_explained_done(). Finding what would
 * help runs trials in the core, which is unchanged when this returns. */
bool gang_core_explain(struct gang_core *core, const struct gang_ref *ref,
                       struct gang_explained *ret);
void gang_explained_done(struct gang_explained *explained);

/* Counters run since gang_core_new(); gauges show the current state. */
struct gang_stats {
    uint64_t plans_made, plans_failed, plans_dropped, slots_displaced;
    uint64_t commits, bindings_ok, bindings_refused, bindings_unclear;
    uint64_t holds, hold_timeouts, attempts_timed_out, wakes;
    uint64_t rejected_early;            /* members that kube-scheduler rejected early */
    uint64_t gates_lifted;              /* requested; each pod counts once */
    uint64_t binds_not_passed;          /* bind calls for nodes that no filter result allows */
    uint64_t binds_unfit;               /* bind calls for nodes that the pod's own rules exclude */
    uint64_t bindings_express;          /* sent for members that had not come to bind */
    uint64_t predicate_checks;          /* complete node lists compared with muster's predicates */
    uint64_t mismatches[PREDICATE_MAX]; /* confirmed differences */
    uint64_t violations[GANG_INVARIANT_MAX]; /* failed checks of touched gangs */
    /* Triggers by the state that the gang was in, see gang/state_table.h */
    uint64_t cells[GANG_STATE_MAX][TRIGGER_MAX];
    size_t gangs[GANG_STATE_MAX];
    size_t nodes, pods, groups, held;
    size_t gated;          /* pods with muster's own gate */
    size_t invalid;        /* pods that muster does not read completely */
    bool express;          /* the express lane is open, at least for some namespaces */
    size_t express_closed; /* namespaces that lost it by differences of their own */
};
void gang_core_stats(const struct gang_core *core, struct gang_stats *ret);

#endif
