/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - the inside of gang/: its objects and who changes what. For gang/ only.
 *
 *   picture.c  nodes and pods, as the facts say
 *   groups.c   PodGroups, and which of them are one gang; priority classes
 *   units.c    the tree of minimums of a gang: who counts where, how many are missing
 *   ledger.c   what is charged on a node, and what fits beside it
 *   slots.c    places in a plan: reserved, filled, given up
 *   shape.c    pods that are alike for placement, resources by number
 *   life.c     a gang from its first member to Done: states, attempts, backoff
 *   plan.c     which gangs are tried, in which order, and what comes of it
 *   place.c    a place for every member that is needed, or none
 *   keep.c     capacity kept for a gang that has waited too long
 *   move.c     slots leave nodes; plans are undone
 *   wake.c     nominations, pods that sleep
 *   evidence.c nodes that the scheduler refuses
 *   rules.c    rules between pods and nodes that a plan heeds: apart, spread, volumes
 *   crowd.c    how many pods of each kind are on a node, for those rules
 *   claims.c   volumes that pods use, and where they can be reached from
 *   filter.c   answers to filter, prioritize and preempt
 *   bind.c     holds, commit, results of bindings
 *   status.c   what people see: PodGroup status and events
 *   reason.c   every sentence
 *   effects.c  the list of effects and their memory
 *   table.c    what may become of a gang: state by happening
 *   check.c    the invariants
 *   view.c     looking in from outside
 *   explain.c  the same of one gang: where each member could go, what is missing
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
#include "gang/table.h"

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

/* What shape_refusal() said of the nodes, for all shapes with the same rules about nodes and the
 * same limits by volumes. */
struct verdicts {
    char *key;
    size_t users; /* shapes */
    struct verdict {
        uint64_t gen;   /* of the node when it was asked; 0: not asked */
        const char *no; /* NULL: the node will do */
    } * by_id;
    size_t n;
};

/* Why a plan failed, see place.c. */
struct shortage {
    int room;                  /* needed members that have a place */
    int lacks;                 /* those that have none */
    int n_nodes;               /* that pass the rules of the culprit */
    int n_able;                /* of these, those that could hold it if they were empty */
    int ports;                 /* of these, those with a port conflict alone */
    int resource;              /* the one most of them lack; -1: none, -2: host ports */
    int64_t amount, missing;   /* of it, in its own unit: one member needs, all that lack need */
    bool refused;              /* nodes would do, but the scheduler refused them */
    bool kept;                 /* nodes would do, but their room is kept for another gang */
    bool tied;                 /* its volumes are on one node */
    int volumes;               /* nodes that pass the rules but for its volumes */
    int apart, spread;         /* nodes that would do, but for pods that are there or elsewhere */
    bool strangers;            /* some of those that keep it apart are no siblings */
    const struct pod *culprit; /* the first member without a place; NULL: nothing is short */
};

/* Pods of one shape can take each other's slots: same needs, same rules about nodes. */
struct shape {
    char *key;
    struct need *needs;
    size_t n_needs;
    int device;                /* the resource number of its first device, or -1 */
    bool ports;                /* has host ports */
    bool apart, spread;        /* has anti-affinity, topology spread over hosts */
    size_t base;               /* so much of the key is not about its volumes */
    bool alone;                /* by its host ports or anti-affinity never two of it on one node */
    bool limited;              /* its volumes can be used on some nodes only */
    struct list pods;          /* all pods of this shape; the shape lives while there are any */
    size_t users;              /* pods, slots and evidence that hold it */
    struct verdicts *verdicts; /* of shapes with the same rules about nodes */
    uint64_t starved_full;     /* core->wake_round in which no node took a pod of it */
    uint64_t full;             /* core->trial in which no node had room for it */
    struct crowd *crowd;       /* what its rules see on the nodes, see crowd.c; NULL: not asked */
    struct {
        uint64_t layout; /* core->layout when it was tried; 0: never */
        bool heed;
        int room; /* for so many of it */
        struct shortage shortage;
    } fill; /* what the last plain gang of it found out, see place.c */
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
    uint64_t woken;                /* core->wake_round when starved pods were last sent here */
    int n_woken;                   /* how many */
    uint64_t offered;              /* core->offers of the filter call that last offered it */
    uint32_t offer_index;          /* its place among the names of that call */
    struct amounts allocatable, used, reserved;
    struct amounts kept; /* for the gang that has waited too long, see keep.c */
    bool kept_alone;     /* for one of its members that is alone on its node */
    struct list pods;    /* charged here */
    struct list slots;   /* reserved here */
    size_t n_pods, n_slots;
    size_t n_apart; /* of both, with anti-affinity */
    uint64_t crowd; /* core->crowds when somebody came or went here, or its labels changed */
    bool devices;   /* has devices in allocatable */
};

enum timer_kind {
    TIMER_ATTEMPT,  /* gang: the attempt's schedule timeout */
    TIMER_EXTRAS,   /* gang: Placed; slots that no extra came for are released */
    TIMER_BACKOFF,  /* gang: the backoff is over */
    TIMER_HOPE,     /* gang: members that do not exist yet are not hoped for any longer */
    TIMER_HOLD,     /* gang: its oldest held call must be answered */
    TIMER_EVIDENCE, /* gang: what the scheduler refused may be tried again */
    TIMER_STATUS,   /* gang: figures may be written again */
    TIMER_STARVE,   /* gang: it has waited too long, see keep.c */
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
    struct unit *unit; /* where its member counts */
    struct node *node;
    struct shape *shape;
    struct pod *pod; /* NULL: expected, a member that does not exist yet */
    bool steered;    /* its member was nominated here because the node was not offered */
};

enum charge { CHARGE_NONE, CHARGE_BINDING, CHARGE_ASSIGNED };

/* A PersistentVolumeClaim that says where it may be used, or that pods name. */
struct claim {
    char *key;                      /* ns/name */
    struct gang_claim_facts *facts; /* NULL: any node will do, or it is not known */
    struct list uses;
};
struct claim_use {
    struct list in_claim;
    struct claim *claim;
    struct pod *pod;
};

struct pod {
    struct gang_pod_facts *facts;
    struct claim_use *uses; /* one for each of facts->claims, in their order */
    size_t n_uses;
    struct shape *shape;
    struct group *group; /* NULL: ordinary */
    struct gang *gang;   /* of the group; NULL: ordinary */
    struct unit *unit;   /* where it counts there */
    struct list in_gang, in_node, in_shape, in_starved, in_woken;
    struct node *node; /* charged there; NULL: nowhere */
    enum charge charge;
    struct slot *slot;
    uint64_t call; /* bind call not yet answered; 0: none */
    usec_t call_since;
    usec_t woken_at;
    uint64_t woken;     /* core->wake_round when it was last woken from starving */
    bool held;          /* the call waits for the quorum; it asks for the slot's node */
    uint32_t held_node; /* id of that node */
    bool sent;          /* filter named its slot: it is on its way to bind there */
    bool rejected;      /* filter said no since it was last steered: only a write wakes it */
    bool declined;      /* filter said no to its nomination's own call; the full list follows */
    enum gang_reason_code told; /* the reason last sent to it as an event */
    char *nominated;            /* status.nominatedNodeName, as far as we know */
    usec_t bind_sent;           /* its last Binding */
    int bind_tries;
    int commit;       /* the gang's commit that sent its Binding; 0: none */
    char *refused_on; /* the node of its last Binding that was refused; NULL: none */
    bool evicted;     /* asked to leave, after a failed commit */
    char *pinned;     /* the node for which the scheduler has prepared its volumes; NULL: none */
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

/* Members counted, see gang_count(). */
struct tally {
    int members; /* neither Terminating nor Failed */
    int bound;   /* assigned or finished well */
    int binding; /* Binding sent, result open */
    int held;    /* bind call waits */
    int slots;   /* unbound, with a slot; expected ones too */
    int running, succeeded, failed;
    int gated;                    /* unbound, with somebody else's scheduling gate */
    int foreign;                  /* unbound, of a scheduler that is not ours */
    int plannable;                /* unbound, no gate, ours */
    const char *gate, *scheduler; /* an example of each; borrowed */
};

/* How far a member must be to count. Each stage includes those after it. */
enum stage {
    STAGE_NONE, /* nobody counts */
    STAGE_EXISTS,
    STAGE_REACHABLE, /* bound, or the scheduler may place it */
    STAGE_PLANNED,   /* bound, or has a slot */
    STAGE_AT_BIND,   /* bound, or its bind call is held */
    STAGE_BOUND,
};

/*
 * A part of a gang that has a minimum of its own: a PodGroup, a subgroup of it, one of the equal
 * parts of a subgroup, or the bundle of several PodGroups. Owned by its group (the bundle's by the
 * gang), made anew when the group's facts change, see units.c.
 */
struct unit {
    struct group *group; /* NULL: a bundle */
    const struct gang_subgroup
        *spec;           /* NULL: the PodGroup's own; borrowed from the group's facts */
    char *part;          /* the label values that make this part; NULL: no part */
    struct unit *parent; /* NULL: the gang's root */
    struct list in_parent, children;
    int n_children;
    int min_pods;       /* members in it and below */
    int min_children;   /* units below it that must have theirs */
    int max_pods;       /* at once; 0: no limit */
    struct tally t;     /* of the last gang_count(), with all units below */
    struct shape *like; /* of its own members, then: their shape; NULL: it has none; borrowed */
    bool mixed;         /* they are of several */
    /* while a plan is made */
    int want;      /* members it still must get */
    bool chosen;   /* it is to have its minimum */
    bool adrift;   /* its parent does not exist, or is below it */
    bool excluded; /* it has no room: another is chosen in its place */
};

/* One PodGroup: the object, or only a name that pods or other PodGroups refer to. */
struct group {
    char *key;
    struct gang_ref ref;
    struct gang_group_facts *facts; /* NULL: not known */
    bool declared;                  /* facts are what its pods say: there is no object */
    struct pod *declarer;           /* the pod whose word that is */
    struct gang *gang;              /* never NULL */
    struct list in_gang;
    uint64_t formed;     /* core->forming when its gang was last formed */
    struct unit **units; /* the first is its own, then one for each subgroup, then parts */
    size_t n_units;
    struct map subgroups; /* name -> unit */
    struct kin {          /* PodGroups it names: its parent, those of its bundle */
        struct list in_referrers;
        struct group *from, *to;
        bool bundle;
    } * kin;
    size_t n_kin;
    struct list referrers;                        /* kin of others that name it */
    size_t n_members;                             /* pods linked to it */
    uint64_t told_words, told_figures, told_text; /* digests of the status last emitted */
    usec_t told_at;
};

struct reason {
    enum gang_reason_code code;
    char *text; /* owned; never NULL */
    char *help; /* what would make it fit; owned; may be NULL */
};

/* The running notion of a PodGroup, or of several that are placed together. */
struct gang {
    struct group *head;  /* the one it is named after: the topmost parent, the first of a bundle */
    struct list in_core; /* core->gangs */
    struct list groups;  /* in the order of their keys */
    struct unit *root;   /* of the tree of minimums */
    struct unit *bundle; /* the root, where there is more than one PodGroup at the top; owned */
    char *invalid;       /* what is wrong with its PodGroups; NULL: nothing */
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
    uint64_t step;                     /* core->steps when something last happened to it, */
    uint32_t happened;                 /* what, a bit each, */
    enum gang_state began;             /* and the state it was in before */
    bool retry;                        /* to be planned whatever the ledger says */
    uint64_t tried;                    /* core->clock when planning last failed */
    usec_t tried_at;                   /* when a plan was last looked for; 0: never */
    bool ever_placed, timed_out;
    int whole_at;      /* what it needed when it was last whole */
    bool capped;       /* later members were refused by the maximum */
    bool halted;       /* it waits for its own facts: no plan is of use, whatever the cluster */
    bool hoping;       /* members are missing, and expected to come soon */
    usec_t first_seen; /* its first member, of this run; 0: none */
    usec_t waits;      /* since when it could have been placed, over all attempts; 0: it does not */
    bool starved;      /* it waits for longer than it should, and capacity is what it lacks */
    int attempts, backoffs, commits;
    int refused_in;      /* the last commit of which a Binding was refused */
    usec_t last_failure; /* orders it behind its equals; 0: none */
    int n_held;          /* members whose bind call is held */
    int32_t priority;    /* gang_priority() at its last review */
    struct evidence *evidence;
    size_t n_evidence;
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
    bool sweep; /* a deleted node may be bare now */
    uint64_t steps;
    uint64_t clock;  /* counts changes of the picture */
    uint64_t freed;  /* clock when capacity last grew anywhere */
    uint64_t passed; /* freed when all gangs were last looked at */
    size_t n_slots;  /* over all gangs */

    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map pods;     /* uid -> pod */
    struct map names;    /* ns/name -> pod */
    struct map shapes;   /* key -> shape */
    struct map verdicts; /* key -> verdicts */
    struct map groups;   /* key -> group */
    struct list gangs;   /* in_core, in the order they were made */
    size_t n_gangs;
    struct map classes;     /* name -> gang_class_facts */
    struct map calls;       /* id -> pod with that bind call open */
    struct map claims;      /* ns/name -> claim */
    struct map labels;      /* keys of labels that rules between pods ask for */
    bool labels_matter;     /* there are, or were, such rules */
    uint64_t crowds;        /* counts changes of who is on a node */
    size_t n_apart;         /* over all nodes */
    struct list touched;    /* gangs to review, then to tell about */
    uint64_t forming;       /* counts changes of which PodGroups are one gang */
    struct gang *keeper;    /* capacity is kept for this one; NULL: none */
    uint64_t trial;         /* counts plans tried, see place.c */
    uint64_t layout;        /* a number for what is on the nodes now: never the same for another */
    uint64_t layouts;       /* such numbers given so far */
    uint64_t starved_tried; /* freed when the starved were last looked at */
    uint64_t wake_round;    /* counts the news for which starved pods are woken */
    uint64_t round_freed;   /* freed when it began */
    bool wake_again;        /* the room that was given to those woken may be another's now */
    usec_t wake_look;       /* when that is looked at next; 0: nobody was woken */
    struct timer wake;
    uint64_t offers;     /* filter calls whose names were looked up */
    struct list starved; /* ordinary pods refused because of reservations */
    struct list woken;   /* of these, those that were woken and not asked about since */
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
/* A write about a pod; node NULL: none. */
struct gang_effect *fx_pod(struct gang_core *core, enum gang_effect_kind kind,
                           const struct pod *pod, const struct node *node);

/* ---- shape.c ---- */
uint32_t resource_number(struct gang_core *core, const char *name);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n ? a->v[resource] : 0;
}
/* What one pod of the shape needs of it. */
int64_t shape_need(const struct shape *shape, uint32_t resource);
/* A shape with one more user; give it back with shape_unref(). */
struct shape *shape_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct shape *shape_ref(struct shape *shape);
void shape_unref(struct gang_core *core, struct shape *shape);
/* The facts of some pod of the shape; NULL when there is none left. */
const struct gang_pod_facts *shape_sample(const struct shape *shape);
/* NULL, or why no pod of this shape may run on the node, whatever is in use there. */
const char *shape_refusal(struct shape *shape, const struct node *node);

/* Places that one may have keep the other fits: the same needs, in the same order. */
bool shape_needs_equal(const struct shape *a, const struct shape *b);
/* All is equal but where their volumes may be used. */
bool shape_like(const struct shape *a, const struct shape *b);
/* Also the reason that shape_refusal() gives when volumes are in the way, and nothing else is. */
extern const char shape_volume_refusal[];

/* ---- crowd.c ---- */
enum rule { RULE_NONE, RULE_APART, RULE_SPREAD };
/* A question about pods of a shape; to be asked at once, before anything changes. */
struct rules {
    const struct gang_core *core;
    struct shape *shape;
    const struct gang_pod_facts *who; /* one of them; NULL: no rule concerns it */
    struct crowd *crowd;
};
struct rules rules_for(const struct gang_core *core, struct shape *shape);
/* Which rule between pods one more pod would break on the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* Who keeps the pod off the node by anti-affinity, of either; NULL: nobody. */
const struct gang_pod_facts *node_foe(const struct node *node, const struct gang_pod_facts *who);
/* A slot that does, and that kube-scheduler does not know of; NULL: none. `except` may be NULL. */
const struct slot *slots_keep_away(const struct node *node, const struct gang_pod_facts *who,
                                   const struct slot *except);
/* A pod that was charged meanwhile keeps the slot's member away, which is not on its way yet. */
bool slot_is_kept_away(const struct slot *slot);
/* Labels that the pod's rules ask for matter from now on: members that differ in them have
 * shapes of their own. */
void labels_learn(struct gang_core *core, const struct gang_pod_facts *facts);
/* Somebody came, went, or has other labels; or the node has. */
void node_crowd(struct gang_core *core, struct node *node);
/* Something on some node is not as it was. */
static inline void layout_new(struct gang_core *core)
{
    core->layout = ++core->layouts;
}
void crowd_free(struct crowd *crowd);

/* ---- claims.c ---- */
/* The pod's claims become its own to follow; before it has a shape. */
void claims_join(struct gang_core *core, struct pod *pod);
void claims_leave(struct gang_core *core, struct pod *pod);
void take_claim(struct gang_core *core, struct gang_claim_facts *facts);
void take_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* It has claims, and all are bound to volumes: nothing is prepared on one node for it. */
bool claims_bound(const struct pod *pod);
void claims_done(struct gang_core *core);
/* NULL: any node will do, or it is not known. */
const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name);

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
/* Why a pod that should be a member is none: its link is wrong, or its PodGroup is being made.
 * REASON_NONE: it is linked, or for itself. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* A member that counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Unbound, wanted, and the scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
void take_node(struct gang_core *core, struct gang_node_facts *facts);
void take_node_gone(struct gang_core *core, const char *name);
void take_pod(struct gang_core *core, struct gang_pod_facts *facts);
void take_pod_gone(struct gang_core *core, struct pod *pod);
/* The pod's shape follows its facts and claims. Its slot stays if the node still does. */
void pod_reshape(struct gang_core *core, struct pod *pod);
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
/* For whoever heeds what is kept for the gang that has waited too long (keep.c): less that. */
static inline int64_t node_left(const struct node *node, uint32_t resource, bool heed)
{
    return node_free(node, resource) - (heed ? amount_of(&node->kept, resource) : 0);
}
/* The resource of which the node has too little left for one more pod of the shape, or -1. */
int node_short(const struct node *node, const struct shape *shape, bool heed);
/* As node_short, and host ports: -2 is a port conflict. */
int node_misfit(const struct node *node, const struct shape *shape, bool heed);
/*
 * For pods that kube-scheduler has judged itself: whether one fits beside the reservations and as
 * many others of its shape. A resource that the node does not have at all is somebody else's to
 * count (ignoredByScheduler of another extender), as are host ports of assigned pods.
 */
bool node_takes(const struct node *node, const struct shape *shape, int others, bool heed);
/* Whether it would, if all slots whose member is not at bind had moved away. */
bool node_could_take(const struct node *node, const struct shape *shape);
/* Assigned pods and slots exceed the node in something the slot needs. */
bool slot_in_excess(const struct slot *slot);
/* The same of a pod that is charged. */
bool charge_in_excess(const struct pod *pod);
/* Adds (sign 1) or takes (-1) what one pod of the shape needs. */
void amounts_add(struct amounts *to, const struct shape *shape, int sign);
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
/* A pod or slot of the shape came (sign 1) or goes (-1). */
void node_joined(struct gang_core *core, struct node *node, const struct shape *shape, int sign);
void uncharge(struct gang_core *core, struct pod *pod);
/* Room grew by our count: somewhere, on this node, on this node by what the scheduler knows too. */
void room_grew(struct gang_core *core);
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);

/* ---- slots.c ---- */
struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct shape *shape, struct node *node);
/* The pod takes the slot, which was expected to be filled. */
void slot_fill(struct slot *slot, struct pod *pod);
/* The reservation ends, to become a charge or as if it had never been. */
void slot_free(struct gang_core *core, struct slot *slot);
/* The slot's pod has another shape now, that needs the same. */
void slot_reshape(struct gang_core *core, struct slot *slot, struct shape *shape);
/* The place is given up: its room is free, a held call is answered with the code's sentence. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* All places of the gang; what its members were nominated to is taken back. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

/* ---- groups.c ---- */
struct group *group_find(const struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void take_group(struct gang_core *core, struct gang_group_facts *facts);
void take_group_gone(struct gang_core *core, const struct gang_ref *ref);
/* The member is new or changed: what it says of its group may count, or not any more. */
void group_declare(struct gang_core *core, struct pod *pod);
/* The pod joins the group that it is linked to; leaves it; may count elsewhere in it now. */
void group_add(struct gang_core *core, struct pod *pod);
void group_remove(struct gang_core *core, struct pod *pod);
void group_moved(struct gang_core *core, struct pod *pod);
/* Forgets a gang of which there is neither PodGroup nor member; true: it is gone. */
bool gang_sweep(struct gang_core *core, struct gang *gang);
void take_class(struct gang_core *core, struct gang_class_facts *facts);
void take_class_gone(struct gang_core *core, const char *name);
int32_t gang_priority(const struct gang_core *core, const struct gang *gang);
void groups_drop(struct gang_core *core);

/* ---- units.c ---- */
/* Makes the group's units from its facts; they hang in no tree above the group's own. */
void units_build(struct group *group);
void units_free(struct group *group);
struct unit *bundle_new(void);
struct unit *bundle_free(struct unit *bundle);
void unit_attach(struct unit *unit, struct unit *parent);
/* The unit of a PodGroup that others name as their parent. */
void unit_count_children(struct unit *own);
/* It is `above`, or in it. */
bool unit_is_below(const struct unit *unit, const struct unit *above);
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod);
/* The subgroup of that name; NULL: there is none. */
struct unit *unit_by_name(const struct group *group, const char *name);
/* A member of it went: parts that nobody is in end. */
void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit);
/* Counts the gang's members in all of its units; the root's tally. */
const struct tally *gang_count(const struct gang_core *core, const struct gang *gang);
/* How many more members, at least, have to reach the stage for the minimums of the unit (of the
 * gang) to be met; not positive: they are. unit_lacks() goes by the last gang_count(). */
int unit_lacks(const struct unit *unit, enum stage stage);
int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage);
/* The size of the smallest set of members that meets all minimums. */
int unit_needs(const struct unit *unit);
int gang_needed(const struct gang *gang);
/* Units below it that must have their minimum. */
int unit_children_needed(const struct unit *unit);
/* The unit on the way up that takes no more members; NULL: none. By the last gang_count(). */
bool unit_at_maximum(const struct unit *unit);
bool unit_beyond_maximum(const struct unit *unit);
bool gang_has_maximum(const struct gang *gang);
/* Keeps the tallies right while slots are given and taken. */
void unit_add_slots(struct unit *unit, int n);
/* The first contradiction in what the PodGroup asks for, as a sentence; NULL: none. */
char *judge_group(const struct group *group);

/* ---- table.c ---- */
/* To be called before anything changes by it, see gang/table.h. */
void happened(struct gang_core *core, struct gang *gang, enum gang_happening what);
/* The first happening, or change of state, of a gang in a step. */
void happening_begin(struct gang_core *core, struct gang *gang);

/* ---- life.c ---- */
void gang_touch(struct gang_core *core, struct gang *gang);
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* The time of the gang's attempt runs from now, unless it does already. */
void begin_attempt(struct gang_core *core, struct gang *gang);
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
/* For qsort, over struct gang *: the order in which gangs are planned. */
int by_order(const void *a, const void *b);

/* ---- place.c ---- */
/*
 * Completes the gang's plan to its needed set, and beyond with extras that fit. Existing slots
 * stay. False: not possible; the slots that were there are still there, and *ret says what was
 * short when all that fits was placed. Not for good: only says whether it is possible.
 */
bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret);
/* Places for the needed members as they could be some day, see keep.c, given to take(); forget()
 * is called before each try. False: not for all. */
bool place_some_day(struct gang_core *core, struct gang *gang, void (*forget)(struct gang_core *),
                    void (*take)(struct gang_core *, struct node *, struct shape *));
/* The best node for the shape, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except);
bool node_better(const struct shape *shape, const struct node *a, const struct node *b);
/* The node that the member cannot leave any more; NULL: it may go anywhere. */
struct node *pinned_node(const struct gang_core *core, const struct pod *pod);

/* ---- keep.c ---- */
/* The gang could not be planned: it becomes the keeper, unless one before it is. */
void keep_for(struct gang_core *core, struct gang *gang);
/* The gang, if it is the keeper, is it no more. */
void keep_end(struct gang_core *core, struct gang *gang);
/* The gang's place in the order may be another: if it is the keeper, some of those behind it may
 * be before it now. */
void keep_moved(struct gang_core *core, const struct gang *gang);
/* Whether what is kept is out of reach for a gang's plan, and for an ordinary or later pod. */
bool gang_heeds(const struct gang_core *core, const struct gang *gang);
bool pod_heeds(const struct gang_core *core, const struct pod *pod);
struct node *some_day_node(struct gang_core *core, const struct gang *gang, struct shape *shape);

/* ---- move.c ---- */
/* Undoes the plan as a whole; held calls are answered with the code's sentence. */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);
/* A slot must leave its node: to another that fits, else the gang is one short and is planned
 * again. */
void slot_leave(struct gang_core *core, struct slot *slot);
/* Moves slots off a node until none of them is in excess. */
void node_settle(struct gang_core *core, struct node *node);
/* Frees room for one pod of the shape by moving slots whose member is not at bind yet. */
bool node_make_room(struct gang_core *core, struct node *node, const struct shape *shape);

/* ---- evidence.c ---- */
bool evidence_refuses(const struct gang_core *core, const struct gang *gang,
                      const struct shape *shape, const struct node *node);
void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n);
/* One node is refused, about the others nothing new is known. */
void evidence_add_node(struct gang_core *core, struct gang *gang, struct shape *shape,
                       const struct node *node);
void evidence_forget(struct gang_core *core, struct gang *gang);
/* The refusals that still hold may be tried again at the earliest of their ends. */
void evidence_arm(struct gang_core *core, struct gang *gang);

/* ---- wake.c ---- */
/* Writes the nomination: wakes the pod and steers it. NULL clears. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* Takes back the nominations of members that have no place. */
void clear_nominations(struct gang_core *core, struct gang *gang);
/* An ordinary pod (or one of a Placed gang) that reservations keep out sleeps until woken. */
void starve(struct gang_core *core, struct pod *pod);
void wake_starved(struct gang_core *core);
void wake_timer_fired(struct gang_core *core);

/* ---- filter.c ---- */
void answer_filter(struct gang_core *core, struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);
/* As many members of its gang as its maximum allows are placed. */
bool pod_at_maximum(const struct gang_core *core, const struct pod *pod);

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
void evict(struct gang_core *core, struct pod *pod);
void stop_all(struct gang_core *core);

/* ---- status.c ---- */
/* After gang_count(). */
struct gang_status group_status(const struct group *group);
void tell_status(struct gang_core *core, struct gang *gang);
/* An event on each of its PodGroups. */
void tell_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message);
void tell_placed(struct gang_core *core, const struct gang *gang);
void tell_evicted(struct gang_core *core, const struct gang *gang, int n);
void tell_members(struct gang_core *core, struct gang *gang);

/* ---- reason.c ---- */
/* Sets the gang's reason, and what would help (or NULL); takes both; true when anything changed. */
bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help);
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);
/* Sentences, allocated. Those that count go by the last gang_count(). */
char *reason_missing(const struct group *group);
char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b);
char *reason_beyond_maximum(const struct unit *own);
char *reason_members(const struct gang *gang);
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
/* May be NULL: nothing is known that would help. */
char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s);
char *reason_min_resources(const struct group *group, const struct gang_amount *min, int64_t room);
char *reason_behind(const struct gang *gang);
char *reason_timeout(const struct gang *gang, usec_t timeout);
char *reason_hold(const struct gang *gang, usec_t hold);
/* A sentence for one call, allocated in the effects. */
const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node);
/* What filter says to a waiting member. */
const char *reason_for_pod(struct gang_core *core, struct gang *gang);

#endif
