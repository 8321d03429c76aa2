/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang.h - the pure core: what happened goes in, what to do comes out.
 *
 * Life cycle
 *   1. gang_core_new(config)
 *   2. gang_step() with NODE_SET, POD_SET, GROUP_SET for everything that exists, then SYNCED.
 *      Until then every call is answered with an error.
 *   3. gang_step() for every batch of events; carry out the effects it returns, in order.
 *   4. by gang_core_next() at the latest, gang_step() with TICK.
 *   5. gang_step() with STOP answers every held call; then gang_core_free().
 *
 * The core does no I/O, reads no clock, starts no thread and rolls no dice: the same config and the
 * same sequence of (now, events) give the same effects. It belongs to one thread; nothing in it is
 * locked. `now` is any monotonic microsecond clock and must not go backwards.
 *
 * One step: facts are taken in (and charged), timers that are due fire, gangs are planned in their
 * order, then calls are answered from the outcome, in the order they came.
 */
#ifndef MUSTER_GANG_GANG_H
#define MUSTER_GANG_GANG_H

#include "base/err.h"
#include "gang/effect.h"
#include "gang/event.h"
#include "gang/node_predicates.h"
#include "gang/state_table.h"

struct gang_core;

/* Whether members are nominated to their places before kube-scheduler asks, see
 * gang/lifecycle/wake.c.
 */
enum gang_steering { GANG_STEER_AUTO, GANG_STEER_ALWAYS, GANG_STEER_NEVER };

struct gang_config {
    usec_t hold;             /* longest time a bind call is held */
    usec_t assemble;         /* missing members are planned for so long after the last; 0: not */
    usec_t schedule_timeout; /* of an attempt, where neither group nor dialect says */
    usec_t schedule_timeout_max; /* the most that a group may say */
    usec_t backoff_initial; /* after a timed-out attempt; doubles up to backoff_max, with jitter */
    usec_t backoff_max;
    usec_t text_refresh; /* shortest time between two texts for the same waiting pods */
    size_t max_holds;    /* calls held at once, over all gangs */
    int64_t plan_work;   /* of a step, see plan_pass(): what is left is planned in the next;
                          * pods that sleep are woken with a part of it, see wake.c */
    size_t together;     /* so many refused pods wait: gangs commit together; 0: never */
    usec_t starvation;   /* a gang that waits so long has freed capacity kept for it; 0: never */
    bool strict_order;   /* nothing goes ahead of a waiting gang that comes before it */
    bool trust_group_priority;   /* a PodGroup's priority may be above that of its pods */
    bool evict_on_failed_commit; /* else a failed commit is completed elsewhere */
    bool requeue_below_minimum;  /* else later members of a Placed gang always pass singly */
    enum gang_steering steering;
    bool gates;        /* gated members keep the gate until there is a plan; else all are let go */
    bool show_gated;   /* gangs that lack room let go, for an autoscaler */
    bool express;      /* the first member at bind is enough where the model is exact */
    int32_t rules_off; /* 1 << PREDICATE_X: kube-scheduler runs without that rule */
    bool whole_lists;  /* kube-scheduler never offers a sample (percentageOfNodesToScore 100) */
    const char *const *scheduler_names; /* whose pods are ours; n 0: all */
    size_t n_scheduler_names;
};

/* The documented defaults: 20 s, 3 s, 60 s, 3600 s, 5 s, 300 s, 30 s, 10000, 100000, 500, 300 s,
 * no, no, no, auto, no, no, no, no, all. */
struct gang_config gang_config_default(void);

/* Copies config. Never NULL. */
struct gang_core *gang_core_new(const struct gang_config *config);
struct gang_core *gang_core_free(struct gang_core *core);

/*
 * Takes a batch of events and returns the effects, owned by the core until the next step. Facts
 * that the core keeps are taken out of the events; the caller still calls gang_event_done() on
 * each, after the effects were carried out.
 */
const struct gang_effect *gang_step(struct gang_core *core, usec_t now, struct gang_event *events,
                                    size_t n_events, size_t *ret_n);

/* When the core wants a TICK at the latest; USEC_NEVER: not at all. */
usec_t gang_core_next(const struct gang_core *core);

bool gang_core_synced(const struct gang_core *core);
/* The last step did the work of one step: gangs that are due are tried in the next. */
bool gang_core_plans_deferred(const struct gang_core *core);

/*
 * What is known of that pod, if it is of that very version and nomination; else NULL. A call whose
 * pod need not be decoded gives this back in its event (pod_is_known). Borrowed until the next step
 * ends; that step may hold no facts, only the call.
 */
struct gang_pod_facts *gang_core_known_pod(const struct gang_core *core, const char *uid,
                                           int64_t version, const char *nominated);

/*
 * Checks the invariants over the whole state (I2, I3, I4 and that every sum adds up); 0 when they
 * hold, else -1 and the first violation in err. Costs one pass over everything.
 */
int gang_core_check(const struct gang_core *core, struct err *err);

/* What is looked at of each gang that a step touched, see gang/step/gang_invariants.h: its name as
 * a metric label. */
#define GANG_INVARIANTS(X)                                                                         \
    X(TRANSITION, "transition") /* gang/state_table.h allows what has become of it */              \
    X(RESERVED, "reserved")     /* only a gang with a plan reserves */                             \
    X(HELD, "held")             /* only such a gang holds bind calls, and not without limit */     \
    X(COUNTS, "counts")         /* its slots and holds are as many as are counted */               \
    X(WHOLE, "whole")           /* it is not bound in part but while it commits or recovers */     \
    X(STATE, "state")           /* it has what its state says */

enum gang_invariant {
#define X(id, name) GANG_INVARIANT_##id,
    GANG_INVARIANTS(X)
#undef X
        GANG_INVARIANT_MAX
};
const char *gang_invariant_name(enum gang_invariant what);
/* The first gang of which that did not hold, in words; NULL: there was none. Lives as long as the
 * core. */
const char *gang_core_violation(const struct gang_core *core, enum gang_invariant what);

/* ---- looking in, for the API, metrics and tests; views are borrowed until the next step ---- */

struct gang_view {
    struct gang_status status;
    usec_t since;                /* when the state was entered */
    usec_t created;              /* of the PodGroup; 0 when it is not known */
    bool known;                  /* the PodGroup object exists */
    int32_t priority;            /* that counts between namespaces */
    int32_t own_priority;        /* the PodGroup's, that orders it inside its namespace */
    const struct gang_ref *root; /* the PodGroup it is placed with: itself, parent, or bundle */
    int place;    /* in the order in which gangs are planned, from 1; 0: it does not wait */
    usec_t tried; /* when a plan was last looked for; 0: never */
    usec_t waits; /* since when it waits, over all attempts; 0: it does not */
    int attempts; /* attempts begun so far */
    int held;     /* members whose bind call is held */
    int planned;  /* slots of the plan */
};
struct gang_member_view {
    const struct gang_pod_facts *facts;
    const char *node;  /* bound or being bound; NULL */
    const char *slot;  /* node of its slot; NULL */
    const char *state; /* Gated, Unscheduled, Overlooked (kube-scheduler refuses it without asking
                        * muster), Assumed, Held, Binding, Assigned, Finished */
};
struct gang_node_view {
    const struct gang_node_facts *facts;
    int pods;  /* assigned */
    int slots; /* reserved */
};
typedef void gang_view_fn(void *arg, const struct gang_view *view);
typedef void gang_member_fn(void *arg, const struct gang_member_view *view);
typedef void gang_node_fn(void *arg, const struct gang_node_view *view);
/* resource, allocatable, used (assigned pods), reserved (slots) */
typedef void gang_node_amount_fn(void *arg, const char *resource, int64_t allocatable, int64_t used,
                                 int64_t reserved);

/*
 * All of them, however many: for tests and simulations. Whoever serves the core as well takes
 * pages, which cost no more than a few milliseconds each.
 */
void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg);
/* Members of one gang; nothing when it is not known. */
void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg);

/* The resources of a node. */
void gang_core_each_amount(const struct gang_core *core, const char *node, gang_node_amount_fn *fn,
                           void *arg);

/* Sums of devices, over the nodes that offer them. */
void gang_core_each_device(const struct gang_core *core, gang_node_amount_fn *fn, void *arg);
/*
 * A page of a list: the items whose keys come after `after`, in the order of the keys. Fewer than
 * `limit` are shown where more would cost too much; `last` says whether that was all.
 */
struct gang_page {
    const char *after; /* NULL: from the beginning */
    size_t limit;
    const char *last; /* set: the key of the last item shown; NULL: it was the last of all */
    size_t left;      /* set: how many come after it */
};
/* A page of nodes ends behind the one with which so many resources are shown. */
#define GANG_PAGE_AMOUNTS 8000
/* ns NULL: of all namespaces. */
void gang_core_page_gangs(struct gang_core *core, const char *ns, struct gang_page *page,
                          gang_view_fn *fn, void *arg);
void gang_core_page_members(const struct gang_core *core, const struct gang_ref *ref,
                            struct gang_page *page, gang_member_fn *fn, void *arg);
void gang_core_page_nodes(const struct gang_core *core, struct gang_page *page, gang_node_fn *fn,
                          void *arg);
/* One gang; api_group NULL: the first of that name. False: there is none. */
bool gang_core_one_gang(struct gang_core *core, const char *ns, const char *name,
                        const char *api_group, gang_view_fn *fn, void *arg);
/* The names of the gangs in a namespace, and how many there are. */
typedef void gang_ref_fn(void *arg, const struct gang_ref *ref);
size_t gang_core_names(const struct gang_core *core, const char *ns, gang_ref_fn *fn, void *arg);
/* The gang that a pod is linked to; NULL: none, or the pod is not known. */
const struct gang_ref *gang_core_gang_of(const struct gang_core *core, const char *uid);

/* ---- why a gang is where it is; strings are borrowed until the next step ---- */

/* The first difference of the model check that stood a second look, in words; NULL: none. */
const char *gang_core_parity_difference(const struct gang_core *core);

/* A part with a minimum of its own, from the top down. */
struct gang_explained_unit {
    int depth;
    const struct gang_ref *group;  /* NULL: a bundle */
    const char *subgroup, *part;   /* NULL: the PodGroup's own */
    int needs, members, bound;     /* bound: with those whose Binding is sent */
    int held, planned;             /* at bind; with a place */
    int children, children_needed; /* units right below */
};

/* Members without a place that are alike, and what the nodes say to them. */
struct gang_explained_signature {
    const struct gang_pod_facts *sample;
    const char *beyond; /* the constraint that is kube-scheduler's alone to judge; NULL: none */
    int pods;
    int nodes;            /* that were looked at: all that are known, unless partly */
    int passing;          /* of these: pass its node selector, affinity and taints */
    int able;             /* of those: could hold one member if nothing else was there */
    int roomy;            /* of those: have room for one more now */
    int refused;          /* of those: kube-scheduler refused them lately */
    int earmarked;        /* passing, and their room is kept for another gang */
    int volumes;          /* pass the rules but for its volumes */
    int ports;            /* passing, with host ports taken */
    int between;          /* roomy, but a rule between pods is in the way (anti-affinity, spread) */
    int fit;              /* members that have room now, if all of it is theirs */
    const char *resource; /* too little of it is free for all; NULL: of nothing */
    int64_t each;         /* one member needs of it */
    int64_t free;         /* on all passing nodes */
    int64_t largest;      /* on one of them, at most */
    bool partly;          /* only the first nodes were looked at: the rest would take too long */
};

struct gang_explained_pod {
    const struct gang_pod_facts *facts;
    int signature;      /* index; -1: beyond those that are shown */
    const char *pinned; /* the node that its volumes are prepared for; NULL: none */
};

/* Of a question that may be too costly to ask. */
enum gang_answer { GANG_NOT_ASKED, GANG_NO, GANG_YES };

/* Who has a resource on nodes that pass: a gang with all its pods there, or an ordinary pod. */
struct gang_explained_holder {
    const struct gang_ref *gang;      /* NULL: */
    const struct gang_pod_facts *pod; /* an ordinary pod */
    int pods;
    int64_t amount;
    int64_t reserved;        /* of amount: for slots */
    enum gang_answer enough; /* if it ended, there would be room */
};

struct gang_explained {
    int waiting;                         /* gangs that wait, itself too if it does */
    const struct gang_ref *earmark_gang; /* for whom capacity is kept; NULL: nobody */
    bool has_earmark, respects_earmark;  /* for itself; it may not use what is kept */
    bool express;                        /* the setting */
    const char *express_doubt;  /* why every member has to come to bind; NULL: one is enough */
    const char *express_closed; /* what the model check has against it; NULL: nothing */
    uint64_t mismatches;        /* of the model check, all together */
    usec_t attempt_until, backoff_until, hold_until, infeasible_until; /* 0: not running */
    struct gang_explained_unit *units;
    struct gang_explained_signature *signatures;
    struct gang_explained_pod *pods;       /* members without a place: the first 512 */
    const char *held;                      /* the resource of the holders; NULL: nothing is short */
    struct gang_explained_holder *holders; /* largest first */
    size_t n_units, n_signatures, n_pods, n_holders;
    size_t n_others; /* holders beyond those */
    bool partly;     /* holders were counted on some of the nodes only */
    int64_t others_amount;
    int more_nodes;   /* so many nodes more would do, as a trial shows; 0: not found out */
    const char *like; /* each like this one */
};
/* False: there is no such gang. Else the caller calls gang_explained_done(). What would help is
 * tried out in the core, which is as before when this returns. */
bool gang_core_explain(struct gang_core *core, const struct gang_ref *ref,
                       struct gang_explained *ret);
void gang_explained_done(struct gang_explained *explained);

/* Counters since gang_core_new(); gauges are taken now. */
struct gang_stats {
    uint64_t plans_made, plans_failed, plans_dropped, slots_moved;
    uint64_t commits, bindings_ok, bindings_refused, bindings_unclear;
    uint64_t holds, hold_timeouts, attempts_timed_out, wakes;
    uint64_t rejected_early;            /* members that kube-scheduler refused unasked */
    uint64_t gates_lifted;              /* asked for; each pod counts once */
    uint64_t binds_not_passed;          /* bind calls that filter had not let through */
    uint64_t binds_unfit;               /* bind calls to nodes that the pod's own rules refuse */
    uint64_t bindings_express;          /* sent for members that had not come to bind */
    uint64_t model_looks;               /* whole lists of nodes that were compared with the rules */
    uint64_t mismatches[PREDICATE_MAX]; /* differences that stood a second look */
    uint64_t
        violations[GANG_INVARIANT_MAX]; /* how often a touched gang was not what it should be */
    /* What happened to gangs, by the state they were in: the table in gang/state_table.h */
    uint64_t cells[GANG_STATE_MAX][TRIGGER_MAX];
    size_t gangs[GANG_STATE_MAX];
    size_t nodes, pods, groups, held;
    size_t gated;          /* pods with muster's own gate */
    size_t invalid;        /* pods of which muster does not read everything */
    bool express;          /* the express lane is not closed for all */
    size_t express_closed; /* namespaces that it is closed for by differences of their own */
};
void gang_core_stats(const struct gang_core *core, struct gang_stats *ret);

#endif
