/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - the inside of gang/: its objects and who changes what. For gang/ only.
 *
 *   picture.c  nodes and pods, as the facts say
 *   ledger.c   what is charged on a node, and what fits beside it
 *   slots.c    places in a plan: reserved, filled, given up
 *   shape.c    pods that are alike for placement, resources by number
 *   life.c     a gang from its first member to Done: states, attempts, backoff
 *   plan.c     a place for every member that is needed, or none
 *   filter.c   answers to filter, prioritize and preempt
 *   bind.c     holds, commit, results of bindings
 *   status.c   what people see: PodGroup status and events
 *   reason.c   every sentence
 *   effects.c  the list of effects and their memory
 *   check.c    the invariants
 *   view.c     looking in from outside
 *
 * The ledger. A node has three sums per resource: allocatable (facts), used (pods charged:
 * assigned, or with a Binding under way) and reserved (slots). Only ledger.c changes used, only
 * slots.c changes reserved. After a step used + reserved <= allocatable on every node, unless
 * assigned pods alone exceed it.
 *
 * A member on its way: Unscheduled -> Assumed (has a slot) -> Held (its bind call waits) ->
 * Binding (Binding sent: the slot became a charge) -> Assigned.
 */
#ifndef MUSTER_GANG_CORE_H
#define MUSTER_GANG_CORE_H

#include "base/buf.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "gang/gang.h"

/* Deleted UIDs remembered, so that a late filter call does not bring a pod back. */
#define GONE_MAX ((size_t)16384)
/* A pod learnt from filter that the watch has not shown for so long never existed for us. */
#define UNSEEN_LIMIT (60 * USEC_PER_SEC)
/* How long a new reason waits for the scheduler to ask, before members are told by event. */
#define NOTICE_DELAY (2 * USEC_PER_SEC)

/* Resources by number; "pods" is a resource of which every pod needs one. */
enum { RES_PODS, RES_CPU, RES_MEMORY, RES_FIRST_OTHER };

struct need {
    uint32_t resource;
    int64_t amount; /* > 0 */
};

/* Pods of one shape can take each other's slots: same needs, same rules about nodes. */
struct shape {
    char *key;
    struct need *needs;
    size_t n_needs;
    int device;         /* the resource number of its first device, or -1 */
    bool ports;         /* has host ports */
    struct list pods;   /* all pods of this shape; the shape lives while there are any */
    size_t users;       /* pods, slots and evidence that hold it */
    struct verdict {    /* gang_node_refusal, remembered by node->id */
        uint64_t gen;   /* of the node when it was asked; 0: not asked */
        const char *no; /* NULL: the node will do */
    } * verdicts;
    size_t n_verdicts;
};

struct amounts {
    int64_t *v; /* by resource number */
    size_t n;   /* numbers beyond are 0 */
};

struct node {
    char *name;
    struct gang_node_facts *facts; /* NULL: only known from a pod that runs there */
    uint32_t id;                   /* small, reused */
    uint64_t gen;                  /* grows with every change of facts */
    uint64_t freed;                /* core->clock when room last grew here, by our count */
    uint64_t changed;              /* the same, by what kube-scheduler can know */
    uint64_t woken;                /* core->freed when starved pods were last sent here */
    int n_woken;                   /* how many */
    uint64_t offered;              /* core->offers of the filter call that last offered it */
    uint32_t offer_index;          /* its place among the names of that call */
    struct amounts allocatable, used, reserved;
    struct list pods;  /* charged here */
    struct list slots; /* reserved here */
    size_t n_pods, n_slots;
    bool devices; /* has devices in allocatable */
};

enum timer_kind {
    TIMER_ATTEMPT,  /* gang: the attempt's schedule timeout */
    TIMER_EXTRAS,   /* gang: Placed; slots that no extra came for are released */
    TIMER_BACKOFF,  /* gang: the backoff is over */
    TIMER_HOPE,     /* gang: members that do not exist yet are not hoped for any longer */
    TIMER_HOLD,     /* gang: its oldest held call must be answered */
    TIMER_EVIDENCE, /* gang: what the scheduler refused may be tried again */
    TIMER_STATUS,   /* gang: figures may be written again */
    TIMER_REFRESH,  /* gang: it waits; its reason is looked at again, room may have shrunk */
    TIMER_NOTICE,   /* gang: members that the scheduler did not ask about are told why */
    GANG_TIMERS,
    TIMER_CALL = GANG_TIMERS, /* pod: its bind call must be answered */
    TIMER_RETRY,              /* pod: read or bind again */
    TIMER_UNSEEN,             /* pod: learnt from filter, the watch never showed it */
    TIMER_WAKE,               /* core: starved pods are left to wake */
};
enum { POD_TIMERS = TIMER_WAKE - GANG_TIMERS };

struct timer {
    struct heap_node node;
    enum timer_kind kind;
    void *owner; /* struct gang or struct pod, by kind; NULL: the core */
};

struct slot {
    struct list in_gang, in_node;
    struct gang *gang;
    struct node *node;
    struct shape *shape;
    struct pod *pod; /* NULL: expected, a member that does not exist yet */
    bool steered;    /* its member was nominated here because the node was not offered */
};

enum charge { CHARGE_NONE, CHARGE_BINDING, CHARGE_ASSIGNED };

struct pod {
    struct gang_pod_facts *facts;
    struct shape *shape;
    struct gang *gang; /* NULL: ordinary */
    struct list in_gang, in_node, in_shape, in_starved;
    struct node *node; /* charged there; NULL: nowhere */
    enum charge charge;
    struct slot *slot;
    uint64_t call; /* bind call not yet answered; 0: none */
    usec_t call_since;
    uint64_t woken;     /* core->freed when it was last woken from starving */
    bool held;          /* the call waits for the quorum; it asks for the slot's node */
    uint32_t held_node; /* id of that node */
    bool sent;          /* filter named its slot: it is on its way to bind there */
    bool rejected;      /* filter said no since it was last steered: only a write wakes it */
    enum gang_reason_code told; /* the reason last sent to it as an event */
    char *nominated;            /* status.nominatedNodeName, as far as we know */
    int bind_tries;
    struct timer timers[POD_TIMERS];
};

/*
 * What a whole list of offered nodes says: for pods of this shape the scheduler refuses every
 * other node, as far as nothing changed there since.
 */
struct evidence {
    struct shape *shape;
    uint32_t *offered; /* node ids */
    size_t n_offered;
    uint64_t as_of; /* core->clock */
    usec_t until;   /* 0: over (kept for its strikes) */
    int strikes;
};

struct reason {
    enum gang_reason_code code;
    char *text; /* owned; never NULL */
};

/* Members counted, see tally(). */
struct tally {
    int members; /* neither Terminating nor Failed */
    int bound;   /* assigned or finished well */
    int binding; /* Binding sent, result open */
    int held;    /* bind call waits */
    int running, succeeded, failed;
    int gated;                    /* unbound, with somebody else's scheduling gate */
    int foreign;                  /* unbound, of a scheduler that is not ours */
    int plannable;                /* unbound, no gate, ours */
    const char *gate, *scheduler; /* an example of each; borrowed */
};

struct gang {
    char *key;
    struct gang_ref ref;
    struct gang_group_facts *facts; /* NULL: the PodGroup is not known */
    enum gang_state state;
    usec_t since;
    struct list members;
    struct list slots;
    int n_slots;
    struct reason reason;
    char *pod_text; /* what filter says to waiting members; refreshed slowly */
    enum gang_reason_code pod_text_code;
    usec_t pod_text_at, pod_text_wait; /* next refresh not before their sum */
    struct list in_touched;            /* core->touched: something about it changed in this step */
    bool stale;                        /* changed since its last review */
    bool retry;                        /* to be planned whatever the ledger says */
    uint64_t tried;                    /* core->clock when planning last failed */
    bool ever_placed, timed_out;
    bool hoping;       /* members are missing, and expected to come soon */
    usec_t first_seen; /* its first member, of this run; 0: none */
    int attempts, backoffs;
    usec_t last_failure; /* orders it behind its equals; 0: none */
    int n_held;          /* members whose bind call is held */
    int32_t priority;    /* gang_priority() at its last review */
    struct evidence *evidence;
    size_t n_evidence;
    uint64_t told_words, told_figures, told_text; /* digests of the status last emitted */
    usec_t told_at;
    struct timer timers[GANG_TIMERS];
};

/* Effects of one step and the memory they point to. */
struct effects {
    struct gang_effect *items;
    size_t n, cap;
    struct arena_block *blocks;
};

struct gang_core {
    struct gang_config config;
    char **scheduler_names;
    usec_t now;
    bool synced, stopping;
    bool sweep;     /* a deleted node may be bare now */
    uint64_t clock; /* counts changes of the picture */
    uint64_t freed; /* clock when capacity last grew anywhere */
    size_t n_slots; /* over all gangs */

    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map pods;        /* uid -> pod */
    struct map names;       /* ns/name -> pod */
    struct map shapes;      /* key -> shape */
    struct map gangs;       /* key -> gang */
    struct map calls;       /* id -> pod with that bind call open */
    struct list touched;    /* gangs to review, then to tell about */
    uint64_t starved_tried; /* freed when the starved were last looked at */
    struct timer wake;
    uint64_t offers;     /* filter calls whose names were looked up */
    struct list starved; /* ordinary pods refused because of reservations */
    char **gone;         /* ring of uids of deleted pods */
    size_t gone_at;
    struct map gone_set;
    char **resources; /* number -> name */
    size_t n_resources;
    struct map resource_numbers; /* name -> number + 1 */

    struct heap timers;
    struct effects fx;
    struct gang_stats stats;
};

/* ---- effects.c ---- */
void effects_clear(struct effects *fx);
void effects_done(struct effects *fx);
void *fx_alloc(struct gang_core *core, size_t size);
const char *fx_str(struct gang_core *core, const char *s);
struct gang_effect *fx_add(struct gang_core *core, enum gang_effect_kind kind);

/* ---- shape.c ---- */
uint32_t resource_number(struct gang_core *core, const char *name);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n ? a->v[resource] : 0;
}
/* A shape with one more user; give it back with shape_unref(). */
struct shape *shape_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct shape *shape_ref(struct shape *shape);
void shape_unref(struct gang_core *core, struct shape *shape);
/* The facts of some pod of the shape; NULL when there is none left. */
const struct gang_pod_facts *shape_sample(const struct shape *shape);
/* NULL, or why no pod of this shape may run on the node, whatever is in use there. */
const char *shape_refusal(struct shape *shape, const struct node *node);

/* ---- picture.c ---- */
struct node *node_by_name(const struct gang_core *core, const char *name);
/* Makes one that is only known by name, if need be. */
struct node *node_get(struct gang_core *core, const char *name);
void node_drop(struct gang_core *core, struct node *node);
void nodes_sweep(struct gang_core *core);
struct pod *pod_by_uid(const struct gang_core *core, const char *uid);
struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name);
bool pod_was_deleted(const struct gang_core *core, const char *uid);
bool pod_is_finished(const struct pod *pod);
/* A member that counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Unbound, wanted, and the scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
void take_node(struct gang_core *core, struct gang_node_facts *facts);
void take_node_gone(struct gang_core *core, const char *name);
void take_pod(struct gang_core *core, struct gang_pod_facts *facts);
void take_pod_gone(struct gang_core *core, struct pod *pod);
/* A pod that filter brought before the watch did. */
struct pod *learn_pod(struct gang_core *core, struct gang_pod_facts *facts);
void pod_remove(struct gang_core *core, struct pod *pod);

/* ---- ledger.c ---- */
/* What is neither charged nor reserved; negative when assigned pods exceed the node. */
static inline int64_t node_free(const struct node *node, uint32_t resource)
{
    return amount_of(&node->allocatable, resource) - amount_of(&node->used, resource) -
           amount_of(&node->reserved, resource);
}
/* The resource of which the node has too little free for one more pod of the shape, or -1. */
int node_short(const struct node *node, const struct shape *shape);
/* As node_short, and host ports: -2 is a port conflict. */
int node_misfit(const struct node *node, const struct shape *shape);
/*
 * For pods that kube-scheduler has judged itself: whether one fits beside the reservations and as
 * many others of its shape. A resource that the node does not have at all is somebody else's to
 * count (ignoredByScheduler of another extender), as are host ports of assigned pods.
 */
bool node_takes(const struct node *node, const struct shape *shape, int others);
/* Whether it would, if all slots whose member is not at bind had moved away. */
bool node_could_take(const struct node *node, const struct shape *shape);
/* Assigned pods and slots exceed the node in something the slot needs. */
bool slot_in_excess(const struct slot *slot);
/* Adds (sign 1) or takes (-1) what one pod of the shape needs. */
void amounts_add(struct amounts *to, const struct shape *shape, int sign);
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
void uncharge(struct gang_core *core, struct pod *pod);
/* Room grew on this node by our count; by what the scheduler knows too. */
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);

/* ---- slots.c ---- */
struct slot *slot_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                      struct node *node);
/* The pod takes the slot, which was expected to be filled. */
void slot_fill(struct slot *slot, struct pod *pod);
/* The reservation ends, to become a charge or as if it had never been. */
void slot_free(struct gang_core *core, struct slot *slot);
/* The place is given up: its room is free, a held call is answered with the code's sentence. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* All places of the gang; what its members were nominated to is taken back. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

/* ---- life.c ---- */
struct gang *gang_get(struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void gang_drop(struct gang_core *core, struct gang *gang);
/* Neither PodGroup nor members: to be forgotten at the end of the step. */
bool gang_is_over(const struct gang *gang);
void take_group(struct gang_core *core, struct gang_group_facts *facts);
void take_group_gone(struct gang_core *core, const struct gang_ref *ref);
struct tally tally(const struct gang_core *core, const struct gang *gang);
int gang_needed(const struct gang *gang);
int32_t gang_priority(const struct gang *gang);
void gang_touch(struct gang_core *core, struct gang *gang);
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* The attempt failed: all is released, and the gang waits with jitter before the next. */
void back_off(struct gang_core *core, struct gang *gang);
/* Where a gang goes whose plan is gone. */
enum gang_state gang_without_plan(const struct gang *gang);
/* Brings the states of all stale gangs in line with the facts; true when there were any. */
bool review_touched(struct gang_core *core);
void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind);
void timer_set(struct gang_core *core, struct timer *t, usec_t at);
void timer_stop(struct gang_core *core, struct timer *t);
static inline struct timer *pod_timer(struct pod *pod, enum timer_kind kind)
{
    return &pod->timers[kind - GANG_TIMERS];
}

/* ---- plan.c ---- */
/* Tries every gang that may have become feasible, in order. */
void plan_pass(struct gang_core *core);
/* Undoes the plan as a whole; held calls are answered with the code's sentence. */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);
/* A slot must leave its node: to another that fits, else the gang is one short and is planned
 * again. */
void slot_leave(struct gang_core *core, struct slot *slot);
/* Moves slots off a node until none of them is in excess. */
void node_settle(struct gang_core *core, struct node *node);
/* Frees room for one pod of the shape by moving slots whose member is not at bind yet. */
bool node_make_room(struct gang_core *core, struct node *node, const struct shape *shape);
/* The best node for the shape, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except);
bool node_better(const struct shape *shape, const struct node *a, const struct node *b);
void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n);
void evidence_forget(struct gang_core *core, struct gang *gang);
/* Writes the nomination: wakes the pod and steers it. NULL clears. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* Takes back the nominations of members that have no place. */
void clear_nominations(struct gang_core *core, struct gang *gang);
/* An ordinary pod (or one of a Placed gang) that reservations keep out sleeps until woken. */
void starve(struct gang_core *core, struct pod *pod);
void wake_starved(struct gang_core *core);
/* The refusals that still hold may be tried again at the earliest of their ends. */
void evidence_arm(struct gang_core *core, struct gang *gang);

/* ---- filter.c ---- */
void answer_filter(struct gang_core *core, struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);

/* ---- bind.c ---- */
void answer_bind(struct gang_core *core, const struct gang_event *ev);
void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why);
void reply_bind(struct gang_core *core, struct pod *pod, const char *error);
/* The pod's call is no hold any more (answered, or its Binding is sent). */
void hold_end(struct gang_core *core, struct pod *pod);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
void call_closed(struct gang_core *core, uint64_t id);
void binding_done(struct gang_core *core, const struct gang_event *ev);
void pod_read(struct gang_core *core, const struct gang_event *ev);
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* Commits when the needed set is at bind; to be asked whenever that may have become true. */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
void stop_all(struct gang_core *core);

/* ---- status.c ---- */
struct gang_status gang_status_of(const struct gang_core *core, const struct gang *gang);
void tell_status(struct gang_core *core, struct gang *gang);
void tell_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message);
void tell_members(struct gang_core *core, struct gang *gang);

/* ---- reason.c ---- */
struct shortage {
    int room;                  /* members that have a place */
    int resource;              /* the one most nodes lack; -1: none, -2: host ports */
    int64_t missing;           /* of it, in its own unit */
    bool no_node;              /* no node passes selector, affinity and taints */
    bool refused;              /* nodes would do, but the scheduler refused them */
    const struct pod *culprit; /* the first member without a place */
};
/* Sets the gang's reason; true when code or text changed. */
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);
char *reason_members(const struct gang *gang, const struct tally *t);
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
char *reason_timeout(const struct gang *gang, const struct tally *t, usec_t timeout);
char *reason_hold(const struct gang *gang, const struct tally *t, usec_t hold);
/* A sentence for one call, allocated in the effects. */
const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node);
/* What filter says to a waiting member. */
const char *reason_for_pod(struct gang_core *core, struct gang *gang);

#endif
