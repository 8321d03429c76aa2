/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h - what the core consists of: nodes, pods, shapes, slots, units, PodGroups, gangs.
 * For gang/ only.
 *
 * The ledger. A node has three sums per resource: allocatable (facts), used (pods charged:
 * assigned, or with a Binding under way) and reserved (slots). Pods are charged for the resources
 * that the node has, and for those that every node has. Only ledger.c changes used, only
 * reservations.c changes reserved. After a step used + reserved <= allocatable on every node,
 * unless assigned pods alone exceed it.
 *
 * A member on its way: Unscheduled -> Assumed (has a slot) -> Held (its bind call waits) ->
 * Binding (Binding sent: the slot became a charge) -> Assigned.
 *
 * Everything is owned by the core, and lives as long as struct gang_core says; one thread.
 */
#ifndef MUSTER_GANG_CLUSTER_OBJECTS_H
#define MUSTER_GANG_CLUSTER_OBJECTS_H

#include "base/buf.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "gang/gang.h"
#include "gang/state_table.h"

/* From so many names up a list of nodes is a sample: kube-scheduler stops looking at 100 feasible
 * nodes (minFeasibleNodesToFind), so fewer names mean that it looked at every node. */
#define SAMPLE_SIZE 100
/* Deleted UIDs remembered, so that a late filter call does not bring a pod back. */
#define GONE_MAX ((size_t)16384)
/* A pod learnt from filter that the watch has not shown for so long never existed for us. */
#define UNSEEN_LIMIT (60 * USEC_PER_SEC)
/* Such pods at once, and bytes of what each says: whoever reaches the verbs can name more. */
#define UNSEEN_MAX  ((size_t)2048)
#define UNSEEN_SIZE ((size_t)16 << 10)
/* What is remembered of filter's answers: 32 MiB, or 53,000 pods on their way on 5,000 nodes. */
#define PASS_WORDS_MAX ((size_t)4 << 20)
/* How long a new reason waits for the scheduler to ask, before members are told by event. */
#define NOTICE_DELAY (2 * USEC_PER_SEC)

/* Resources by number; "pods" is a resource of which every pod needs one. */
enum { RES_PODS, RES_CPU, RES_MEMORY, RES_FIRST_OTHER };
#define RES_UNKNOWN UINT32_MAX /* of a name that nobody uses */

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

enum displace { DISPLACE_NONE, DISPLACE_LOWER, DISPLACE_ALL };
/* What somebody may count on, on a node: what is free, */
struct reach {
    bool heeds;  /* less what is kept for the gang that has waited too long (starvation.c), */
    bool yields; /* less what is promised to pods of `priority` or more (nominated_pods.c), */
    enum displace displace; /* and what slots have whose member is not at bind: those of gangs
                             * below `priority`, or all */
    int32_t priority;
    const struct pod *self; /* what is promised to it is its own; NULL: nobody */
};

/* Why a plan failed, see placement.c. */
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
    bool promised;             /* nodes would do, but nominated pods have their room */
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
    int device;              /* the resource number of its first device, or -1 */
    bool ports;              /* has host ports */
    bool apart, spread;      /* has anti-affinity, topology spread over hosts */
    size_t base;             /* so much of the key is not about its volumes */
    bool alone;              /* by its host ports or anti-affinity never two of it on one node */
    bool limited;            /* its volumes can be used on some nodes only */
    struct label_key **told; /* labels of nodes that it asks for, see node_labels.h */
    size_t n_told;
    uint64_t told_gen;         /* core->told_gen when it asked; else it has to ask again */
    bool singly;               /* it looks at each node */
    struct list pods;          /* all pods of this shape; the shape lives while there are any */
    size_t users;              /* pods, slots and evidence that hold it */
    struct verdicts *verdicts; /* of shapes with the same rules about nodes */
    uint64_t starved_full;     /* core->wake_round in which no node took a pod of it */
    uint64_t full;             /* core->trial in which no node had room for it */
    struct crowd *crowd; /* what its rules see on the nodes, see inter_pod.c; NULL: not asked */
    struct {
        uint64_t layout; /* core->layout when it was tried; 0: never */
        struct reach reach;
        int room; /* for so many of it */
        struct shortage shortage;
        uint64_t version; /* a number for these words: others have another */
    } fill;               /* what the last plain gang of it found out, see placement.c */
};

struct amounts {
    struct need *items; /* by resource number, in order; what is not there is 0 */
    size_t n, cap;
};

struct node {
    char *name;
    struct gang_node_facts *facts; /* NULL: only known from a pod that runs there */
    uint32_t id;                   /* small, reused */
    uint64_t born;                 /* core->clock when it came */
    uint64_t gen;                  /* grows with every change of facts */
    uint64_t freed;                /* core->clock when room last grew here, by our count */
    uint64_t changed;              /* the same, by what kube-scheduler can know */
    int n_woken;                   /* starved pods sent here in the last core->wake_round */
    uint64_t offered;              /* core->offers of the filter call that last offered it */
    uint32_t offer_index;          /* its place among the names of that call */
    struct amounts allocatable, used, reserved;
    struct amounts kept; /* for the gang that has waited too long, see starvation.c */
    bool kept_alone;     /* for one of its members that is alone on its node */
    struct list pods;    /* charged here */
    struct list slots;   /* reserved here */
    size_t n_pods, n_slots;
    size_t n_apart; /* of both, with anti-affinity */
    uint64_t crowd; /* core->crowds when somebody came or went here, or its labels changed */
    bool devices;   /* has devices in allocatable */
    struct node_class *class; /* see node_classes.h; NULL: it is in none */
    size_t in_class;          /* its place there */
    uint64_t class_gen;       /* gen when it was put there; 0: its rules are to be looked at */
    uint64_t told;            /* digest of the labels by which nodes are told apart */
    struct list in_moved, in_kept, in_sent, in_doubted;
    struct list nominated; /* unbound pods with this node as status.nominatedNodeName */
    struct list promised;  /* of these, those that room is promised to, see nominated_pods.c */
    usec_t stirred;        /* when anything about it changed last that a rule looks at */
    usec_t left;           /* when a pod last left it */
    usec_t unasked;        /* when a Binding to it was last sent that nobody asked for */
};

enum timer_kind {
    TIMER_ATTEMPT,  /* gang: the attempt's schedule timeout */
    TIMER_EXTRAS,   /* gang: Placed; slots that no extra came for are released */
    TIMER_BACKOFF,  /* gang: the backoff is over */
    TIMER_HOPE,     /* gang: members that do not exist yet are not hoped for any longer */
    TIMER_HOLD,     /* gang: its oldest held call must be answered */
    TIMER_EVIDENCE, /* gang: what the scheduler refused may be tried again */
    TIMER_STATUS,   /* gang: figures may be written again */
    TIMER_STARVE,   /* gang: it has waited too long, see starvation.c */
    TIMER_REFRESH,  /* gang: it waits; its reason is looked at again, room may have shrunk */
    TIMER_NOTICE,   /* gang: members that the scheduler did not ask about are told why */
    TIMER_FIRST,    /* gang: its commit has been unfinished for too long to go first */
    TIMER_TURNS,  /* gang: it has places; whose turn has passed is looked at, see refused_unasked.c
                   */
    TIMER_FAMILY, /* gang: its family had too many members, and may have fewer now */
    GANG_TIMERS,
    TIMER_CALL = GANG_TIMERS, /* pod: its bind call must be answered */
    TIMER_RETRY,              /* pod: read or bind again */
    TIMER_UNSEEN,             /* pod: learnt from filter, the watch never showed it */
    TIMER_GATE,               /* pod: gated; its gate is to be lifted again, or it is told why */
    TIMER_NUDGE,              /* pod: what was to wake it may be lost, and is written again */
    TIMER_OVERLOOKED,         /* pod: it may be planned for again */
    TIMER_WAKE,               /* core: starved pods are left to wake */
    TIMER_STEER,              /* core: members are left to steer */
    TIMER_PLAN,               /* core: gangs are left to plan */
    TIMER_SHOW,               /* core: gated gangs may be shown to an autoscaler */
    TIMER_BATCH,              /* core: gangs that are complete wait for others */
    TIMER_LABELS,             /* core: members are to get shapes by other labels */
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
    usec_t made;
    bool steered;   /* its member was nominated here because the node was not offered */
    bool unoffered; /* a whole list for a member of its shape lacked the node */
};

/* Where filter let a pod through to, the last time. */
enum pass_to { PASS_NOWHERE, PASS_ONE, PASS_SOME, PASS_ANY };
struct pass {
    usec_t at;
    enum pass_to to;
    uint32_t node;  /* PASS_ONE: its id */
    uint64_t *bits; /* PASS_SOME: by node id */
    size_t n_words;
    uint64_t as_of; /* core->clock: a node that came later is none of them */
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
    struct list in_gang, in_node, in_shape, in_starved, in_woken, in_unasked;
    struct list in_nominated, in_promised, in_passing, in_shunning, in_lone;
    struct list in_space; /* of the members of its namespace, see pod_labels.c */
    uint64_t shuns_as;    /* its number in core->shunning, */
    uint64_t unshunned;   /* of which none of the first so many keeps it away */
    struct pass pass;     /* where filter let it through to */
    struct node *node;    /* charged there; NULL: nowhere */
    enum charge charge;
    struct slot *slot;
    uint64_t call; /* bind call not yet answered; 0: none */
    usec_t call_since;
    usec_t woken_at;
    usec_t steer_at;    /* when it is nominated to its place, unless it was asked about by then */
    uint64_t woken;     /* core->wake_round when it was last woken from starving */
    bool unseen;        /* the watch has not shown it */
    bool held;          /* the call waits for the quorum; it asks for the slot's node */
    uint32_t held_node; /* id of that node */
    bool sent;          /* filter named its slot: it is on its way to bind there */
    bool rejected;      /* it was refused since it was last steered: only a write wakes it; set by
                         * pod_reject() */
    bool refused;       /* filter said no to it, in this life */
    int nudges;         /* how often it was nominated to wake it, and nothing shows yet that it is
                         * awake; see wake.c */
    uint32_t declined;  /* filter said no to the own call of its nomination to this node: its id,
                         * and 1; the full list follows. 0: none */
    usec_t queued;      /* when it joined kube-scheduler's queue last, as far as is known */
    bool asked;         /* filter was asked about it since muster or kube-scheduler wrote on it */
    int snubs;          /* times that it was refused unasked since it has its place, */
    bool overlooked;    /* and no plan counts on it, see refused_unasked.c */
    bool missed;        /* its gang's last plan failed without it: others get places first */
    int lifts;          /* how often its gate was asked to be lifted, and it is not seen yet */
    enum gang_reason_code told; /* the reason last sent to it as an event */
    char *nominated;            /* status.nominatedNodeName, as far as we know */
    char *named;                /* what this life of muster wrote there last; NULL: nothing, or who
                                 * else wrote since may mean the same node */
    struct node *promised;      /* where room is promised to it; NULL: nowhere */
    usec_t bind_began;          /* its Binding was sent first, */
    usec_t bind_sent;           /* and last */
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
    uint64_t *offered; /* a bit for each node id below n_offered */
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
    int closed;                   /* unbound, with muster's own gate; in the others too */
    int plannable;                /* unbound, no gate of others, ours */
    int overlooked;               /* unbound, kube-scheduler refuses it unasked */
    const char *gate, *scheduler; /* an example of each; borrowed */
    const char *refused;          /* an example of those overlooked, by name */
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
 * gang), made anew when the group's facts change, see quorum.c.
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
    uint64_t formed;     /* core->forming when its gang was last formed; 0: to be formed again */
    uint64_t stays;      /* core->forming when it was found to belong to its gang */
    struct unit **units; /* the first is its own, then one for each subgroup, then parts */
    size_t n_units, cap_units;
    size_t n_specs;        /* so many of them, with its own, are no parts */
    struct map subgroups;  /* name -> unit */
    struct map parts;      /* subgroup and label values -> unit */
    struct kin {           /* PodGroups it names: its parent, those of its bundle */
        struct list in_to; /* to->children, or to->namers */
        struct group *from, *to;
        bool bundle;
    } * kin;
    size_t n_kin;
    struct list children;                         /* kin of others that name it as their parent */
    struct list namers;                           /* that name it for their bundle */
    size_t n_members;                             /* pods linked to it */
    uint64_t told_words, told_figures, told_text; /* digests of the status last emitted */
    usec_t told_at;
};

struct reason {
    enum gang_reason_code code;
    char *text; /* owned; never NULL */
    char *help; /* what would make it fit; owned; may be NULL */
};

/* What the place of a gang in its line goes by, see order.c. */
struct standing {
    const struct group *head;
    int32_t priority, own_priority;
    bool starved;
    usec_t since, created; /* since: when it began to wait, if starved; else its last failure */
};

/* The gangs of a namespace that wait. */
struct line {
    char *ns;
    /* In order, but for those that came since the line was settled; NULL: it left since then. */
    struct gang **gangs;
    size_t n, n_sorted, cap;
    struct list in_unsettled; /* core->unsettled */
};

/* The running notion of a PodGroup, or of several that are placed together. */
struct gang {
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
    struct list in_open;               /* core->open */
    const struct shape *full;          /* it failed for what this shape's fill says; NULL: ask */
    uint64_t full_version;             /* in these words, */
    int full_want;                     /* for so many */
    bool stale;                        /* changed since its last review */
    uint64_t step;                     /* core->steps when something last happened to it, */
    uint32_t happened;                 /* what, a bit each, */
    enum gang_state began;             /* and the state it was in before */
    bool retry;                        /* to be planned whatever the ledger says */
    uint64_t tried;  /* core->clock when planning last failed; UINT64_MAX: it does not lack room */
    usec_t tried_at; /* when a plan was last looked for; 0: never */
    bool ever_placed, timed_out;
    int whole_at;      /* what it needed when it was last whole */
    bool capped;       /* later members were refused, by the maximum or in another gang */
    bool halted;       /* it waits for its own facts: no plan is of use, whatever the cluster */
    bool hoping;       /* members are missing, and expected to come soon */
    usec_t first_seen; /* its first member, of this run; 0: none */
    usec_t newest;     /* when the last of them came */
    usec_t waits;      /* since when it could have been placed, over all attempts; 0: it does not */
    usec_t short_since; /* since when room is all it lacks; 0: it does not wait for that */
    bool shown;         /* an autoscaler is to see its members: no gate stays */
    bool starved;       /* it waits for longer than it should, and capacity is what it lacks */
    int attempts, backoffs, commits;
    usec_t first_since;    /* when a commit began that is not whole yet; 0: none */
    bool first;            /* for that it goes before all others, for a while */
    int refused_in;        /* the last commit of which a Binding was refused */
    usec_t last_failure;   /* orders it behind its equals; 0: none */
    int n_held;            /* members whose bind call is held */
    size_t places;         /* booked for them, see call_quota.c */
    struct holder *holder; /* the namespace that has those; NULL: there are none */
    /* At its last review: what counts between namespaces, and inside its own. */
    int32_t priority, own_priority;
    int32_t pod_priority;    /* no more than its lowest member's, whatever is trusted */
    struct line *line;       /* of its namespace; NULL: it does not wait */
    size_t at;               /* its place in the line */
    struct gang *behind;     /* whose merit decides when its turn is; itself, or one before it */
    struct standing stands;  /* when it joined the line */
    struct list in_noted;    /* core->noted */
    int rank;                /* its place in the order, as of core->ranked; see view.c */
    size_t summed;           /* while explain.c sums up who holds what: its place there; 0: none */
    uint64_t counted;        /* core->steps when it was counted for somebody who looks in */
    uint64_t wake_counted;   /* the same for those of its members that sleep */
    uint64_t labels_settled; /* core->labels_settled when its expected slots followed */
    struct evidence *evidence;
    size_t n_evidence;
    struct timer timers[GANG_TIMERS];
};

/* A difference between what kube-scheduler offers and what the rules here say. */
struct suspect {
    bool used;
    uint32_t node;
    enum gang_predicate predicate;
    uint64_t key;   /* digest of the shape and its pod's namespace, */
    uint64_t owner; /* and of the namespace alone */
    usec_t as_of;   /* node->stirred, or for a spread model.stirred, then */
    usec_t since;
    usec_t seen;   /* when it was seen last, */
    uint64_t look; /* and model.looks then */
    bool counted;
};
enum { SUSPECTS_MAX = 64 };

/* The model check, see model_check.c. */
struct model {
    struct suspect suspects[SUSPECTS_MAX];
    uint64_t looks;
    usec_t stirred; /* when anything changed on any node */
    int64_t credit; /* nodes that may be looked at now */
    usec_t credit_at;
    uint64_t looker;            /* digest of the namespace that looked last */
    struct map differences;     /* namespace -> struct difference: those that stood a second look */
    int seen_in[PREDICATE_MAX]; /* namespaces with such a difference */
    char *first;                /* in words; NULL: there is none */
    usec_t closed_at;           /* since when the lane is closed for all; 0: it is not */
};

/* Effects of one step and the memory they point to. */
struct effects {
    struct gang_effect *items;
    size_t n, cap;
    struct arena_block *blocks;
};

enum { TOLD_MAX = 64 };

/* Whom kube-scheduler has asked about: pods of no higher priority that were queued no later had
 * their turn before. */
struct turn {
    int32_t priority;
    usec_t queued, asked;
};
enum { TURNS_MAX = 16 };

struct gang_core {
    struct gang_config config;
    char **scheduler_names;
    usec_t now;
    bool synced, stopping;
    usec_t synced_at;
    usec_t newest; /* the latest time in any pod: about now, by the clock of the API server */
    bool behind[GANG_WATCHES];
    usec_t behind_since;  /* when the first of them fell behind last, */
    usec_t follows_since; /* and when the last had caught up; 0: none was ever behind */
    bool sweep;           /* a deleted node may be bare now */
    uint64_t steps;
    uint64_t clock;    /* counts changes of the picture */
    uint64_t freed;    /* clock when capacity last grew anywhere */
    uint64_t passed;   /* freed when all gangs were last looked at */
    uint64_t ranked;   /* steps when gangs got their ranks */
    size_t n_slots;    /* over all gangs */
    size_t n_promised; /* pods that room is promised to */

    struct map nodes;    /* name -> node */
    struct node **by_id; /* id -> node or NULL */
    size_t n_ids;
    struct map pods;                  /* uid -> pod */
    struct map names;                 /* ns/name -> pod */
    struct map shapes;                /* key -> shape */
    struct map verdicts;              /* key -> verdicts */
    struct map node_classes;          /* key -> node_class */
    struct map label_keys;            /* key -> label_key, see node_labels.h */
    struct label_key *told[TOLD_MAX]; /* those by which nodes are told apart */
    size_t n_told;
    uint64_t told_gen;      /* counts what may change the answer to a shape that asked */
    usec_t told_left;       /* when a key was given up last */
    bool told_unused;       /* some key may have no user */
    bool told_stale;        /* labels of nodes have changed, the bounds are to be looked at */
    struct list moved;      /* nodes to be put into the class of what they are now */
    struct list bare;       /* classes that lost their last node in this step */
    struct list kept, sent; /* nodes where something is kept; with n_woken */
    struct list doubted;    /* nodes whose slots may not fit any more */
    struct map groups;      /* key -> group */
    struct list gangs;      /* in_core, in the order they were made */
    struct list open;       /* those that are neither Placed nor Done: plans are made for them */
    size_t n_gangs;
    struct map lines;             /* namespace -> line */
    struct list noted, unsettled; /* gangs that changed, lines to be put in order; see order.c */
    struct map classes;           /* name -> gang_class_facts */
    struct map calls;             /* id -> pod with that bind call open */
    struct map holders;           /* namespace -> holder, see call_quota.c */
    size_t booked;                /* places for holds that are booked, and not taken yet */
    struct map claims;            /* ns/name -> claim */
    struct map label_spaces;      /* namespace -> label_space, see pod_labels.c */
    bool labels_idle;             /* some namespace may have no rules or members any more */
    usec_t labels_swept;
    struct list stale_spaces; /* whose members have shapes by other keys */
    struct timer labels;      /* one of them has rested */
    uint64_t labels_settled;  /* counts how often members of one got other shapes */
    bool labels_matter;       /* there are, or were, such rules */
    uint64_t crowds;          /* counts changes of who is on a node */
    size_t n_apart;           /* over all nodes */
    struct map hosts;         /* name of a host -> how many nodes have it */
    size_t n_twins;           /* nodes beyond the first of their host's name */
    struct list touched;      /* gangs to review, then to tell about */
    uint64_t forming;         /* counts changes of which PodGroups are one gang */
    struct gang *keeper;      /* capacity is kept for this one; NULL: none */
    uint64_t trial;           /* counts plans tried, see placement.c */
    uint64_t fills;           /* versions of shapes' fill given so far */
    uint64_t layout;        /* a number for what is on the nodes now: never the same for another */
    uint64_t layouts;       /* such numbers given so far */
    uint64_t starved_tried; /* freed when the starved were last looked at */
    uint64_t wake_round;    /* counts the news for which starved pods are woken */
    uint64_t round_freed;   /* freed when it began */
    bool wake_again;        /* the room that was given to those woken may be another's now */
    usec_t wake_look;       /* when that is looked at next; 0: nobody was woken */
    usec_t wake_rest;       /* until then nobody is woken */
    struct timer wake;
    struct timer show;
    struct timer batch;   /* complete gangs wait to commit together; see commit_batch.c */
    usec_t batch_end;     /* they commit then at the latest */
    uint64_t batch_step;  /* steps when they did last */
    usec_t last_hold;     /* when a member came to bind last */
    size_t n_refused;     /* pods that sleep because filter refused them, see pod_reject() */
    size_t n_gated;       /* pods with muster's own gate */
    size_t n_unseen;      /* pods that filter brought and the watch has not shown */
    size_t n_invalid;     /* pods of which something is not in their facts */
    struct map offered;   /* resource -> how many nodes name it in allocatable */
    uint64_t offers;      /* filter calls whose names were looked up */
    struct list passing;  /* pods that filter let through, and that are not at bind yet */
    size_t pass_words;    /* in the bits of all of them, at most PASS_WORDS_MAX */
    struct list shunning; /* pods on nodes that may keep others away from wider domains */
    struct list lone;     /* gated pods of no gang that changed since their gates were looked at */
    uint64_t shunnings;   /* numbers given to them so far; the last in the list has the highest */
    struct model model;
    struct turn turns[TURNS_MAX];
    size_t n_turns;
    usec_t asked_at;     /* the last filter call about a pod that is not bound; 0: none */
    struct list starved; /* ordinary pods refused because of reservations */
    struct list woken;   /* of these, those that were woken and not asked about since */
    struct list unasked; /* members with a place that are to be steered there, by steer_at */
    usec_t steer_next;   /* until then no more of them than steer_left */
    int steer_left;
    struct timer steer;
    int64_t work;        /* of this step, in looks at nodes, see look_begin() */
    uint64_t planned_in; /* the last step in which a gang was tried */
    bool plans_left;     /* gangs that are due were not tried in this step: its work was done */
    struct timer plan;
    char **gone; /* ring of uids of deleted pods */
    size_t gone_at;
    struct map gone_set;
    char **resources;       /* number -> name; NULL: a free number */
    size_t *resource_users; /* number -> shapes and amounts that use it */
    size_t n_resources, cap_resources;
    uint32_t *free_resources; /* numbers of names that nobody uses any more */
    size_t n_free_resources;
    struct map resource_numbers; /* name -> number + 1 */

    struct heap timers;
    struct effects fx;
    struct gang_stats stats;
};

/* ---- finding them; NULL: there is none ---- */
struct node *node_by_name(const struct gang_core *core, const char *name);
struct pod *pod_by_uid(const struct gang_core *core, const char *uid);
struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name);
bool pod_was_deleted(const struct gang_core *core, const char *uid);
/* The key of core->names; allocated. */
char *full_name(const char *ns, const char *name);

/* ---- what they say of themselves ---- */
bool pod_is_finished(const struct pod *pod);
/* A member that counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Unbound, wanted, and the scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
/* It has muster's gate, which could be lifted. */
bool gate_is_closed(const struct pod *pod);
/* Why a pod that should be a member is none: its link is wrong, or its PodGroup is being made.
 * REASON_NONE: it is linked, or for itself. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* What one pod of the shape needs of it. */
int64_t shape_need(const struct shape *shape, uint32_t resource);
/* The facts of some pod of the shape; NULL when there is none left. */
const struct gang_pod_facts *shape_sample(const struct shape *shape);
/* The slot's room is within reach: its member is not at bind, and its gang is to be displaced. */
bool slot_yields(const struct slot *slot, const struct reach *reach);
/* The gang's members need no plan any more: each is judged for itself. */
static inline bool passes_singly(const struct gang *gang)
{
    return gang->state == GANG_PLACED || gang->state == GANG_DONE;
}

#endif
