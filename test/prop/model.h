/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a core and everything around it: the truth of an API server, a kube-scheduler that
 * sleeps and wakes by events, a watch that lags, Bindings that get lost, a muster that dies.
 *
 *   1. model_new()
 *   2. model_do() for every operation, in order; after each step the invariants are checked
 *      (oracle.h). The first violation calls m->fail and does not return.
 *   3. model_end() stops the core: every call must be answered. model_free().
 *
 * The files: model.c steps the core and carries out what it asks; model_facts.c makes facts of the
 * truth; model_api_objects.c is what happens to objects; model_scheduler.c is kube-scheduler;
 * model_time_and_restarts.c is time, restarts and calm. Everything is owned by the model; one
 * thread.
 */
#ifndef MUSTER_TEST_PROP_MODEL_H
#define MUSTER_TEST_PROP_MODEL_H

#include "gang/gang.h"
#include "test/prop/op.h"

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
/* Names of a list that is a sample: kube-scheduler stops looking at 100 feasible nodes. */
enum { STRANGERS = 110, NAMES_MAX = NODES + STRANGERS, BATCH_MAX = 192, REQUESTS_MAX = 256 };
/* Pods of more different needs than that share numbers, see pod_doubt(). */
enum { NEEDS = 32 };

/* Why kube-scheduler does not try a pod: an extender refused it, or its own plugins did. */
enum sleep { AWAKE, SLEEPS_EXTENDER, SLEEPS_PLUGINS };

/* What kube-scheduler has written on a pod. */
enum said { SAID_NOTHING, SAID_FULL, SAID_GANG, SAID_BARRED };

/* What the watch has not shown of a pod: nothing, its nomination only, more. */
enum dirty { CLEAN, RENOMINATED, CHANGED };

/* What the core has charged for a pod, as far as the world can tell. */
enum charged { NOT_CHARGED, CHARGED_BINDING, CHARGED_ASSIGNED };

struct pod_truth {
    bool exists;
    int serial; /* of the object: its UID */
    usec_t created;
    struct op spec; /* as it was made, with later changes */
    int node;       /* bound there; -1 */
    enum gang_phase phase;
    bool deleting;
    enum dirty dirty;
    int lost;            /* node of a Binding that nobody knows the end of; -1 */
    usec_t lost_sent;    /* when that was sent: the API server gives it up in the end */
    int nominated;       /* status.nominatedNodeName; -1 */
    bool inherited;      /* by an earlier life of muster, and nothing came between */
    bool steered;        /* muster has nominated it once */
    int shown_nominated; /* the same, as the watch, or a call, has shown it last; -1 */
    int ours;      /* where this core has written it, and nobody else may have meant the same; -1 */
    int rewritten; /* where this core has written what it took for kube-scheduler's word; -1 */
    int named;     /* where this core has, if nothing came between; -1 */
    usec_t named_at; /* and when */
    bool named_now;  /* in this step */
    bool overtaken;  /* and the watch has shown, with it, what was before */
    bool lift_asked; /* this core has asked for its gate to be lifted */
    int sent_to;     /* node of its last Binding; -1 */
    bool of_commit;  /* that was one of a commit, */
    bool committed;  /* and it was done: the mark is on the pod */
    usec_t bound_at;
    usec_t sent_at; /* and when */

    /* kube-scheduler */
    enum sleep sleep;
    bool asked;          /* muster was asked about it */
    usec_t asked_at;     /* and when last */
    bool unschedulable;  /* its condition says that it was tried in vain, */
    bool plain;          /* in kube-scheduler's words alone */
    enum said said;      /* in which */
    bool rejected_early; /* so says the core, */
    int place;           /* or that it has a place: the node, and 1, */
    usec_t placed_at;    /* since then */
    bool lifted;         /* its gate was just taken off, and the watch is not late */
    bool hidden;         /* asleep because nodes were hidden from it: they come back with time */
    usec_t retry_at;     /* an error: not before this time */
    int picked;          /* where filter sent it, bind not asked yet; -1 */
    uint64_t picked_at;  /* serial number of that */
    uint64_t call;       /* its bind call; 0 */
    int call_node;
    uint32_t let; /* nodes that filter let it through to last, */
    usec_t let_at;

    /* the core, as its events say */
    enum charged charged;
    int charged_serial, charged_node;
    bool shown;      /* the watch has shown this object to this core */
    int shown_group; /* the group it named then; -1 */
    bool learnt;     /* the core knows it from a filter call only */
    bool ghost;      /* and it is gone, which no watch will tell */
};

struct object_truth { /* node, group, class, claim */
    bool exists;
    int serial;
    usec_t created;
    struct op spec;
    bool dirty;
    bool shown; /* the core got an event that it exists */
};

struct call {
    uint64_t id;
    int pod;
    usec_t since;
    bool closed; /* the scheduler does not wait any more */
};

struct request { /* a Binding or a read under way */
    int pod, serial, node;
    usec_t sent;
    bool read;
    bool done; /* the API server has done it, the answer is on its way */
};

struct queued {
    struct gang_event ev, twin;
    int pod; /* of a filter call */
    int pick;
    bool own;    /* one name, and the pod is nominated to it */
    int passed;  /* the pod that passed; -1: none */
    int refused; /* the member whose place was not offered; -1: none */
    int tried;   /* the node that kube-scheduler refused it first, alone; -1: none */
    const char *names[NAMES_MAX];
    size_t n_names;
};

/* What was counted over all runs of a process. */
struct totals {
    uint64_t runs, ops, events, steps, effects, rebuilds, calms;
    uint64_t kinds[GANG_EV_MAX];
    uint64_t cells[GANG_STATE_MAX][TRIGGER_MAX]; /* gang/state_table.h */
};

struct model {
    struct gang_core *core;
    struct gang_core *twin; /* gets the same events, must answer alike; NULL */
    struct op config;
    /* of the core that runs */
    int gates;    /* enum gates */
    int steering; /* enum gang_steering */
    size_t max_holds;
    uint64_t liftings;  /* of gates that it asked for */
    uint64_t namings;   /* nominations that it asked for */
    uint64_t unsteered; /* pods, by bits, see oracle_steered() */
    usec_t now;
    uint64_t next_id, next_pick;
    struct object_truth nodes[NODES], groups[GROUPS], classes[CLASSES], claims[CLAIMS];
    struct pod_truth pods[PODS];
    bool excused[GROUPS];                 /* a loss, a refusal or a change: may be part bound */
    usec_t doubted[GROUPS][NEEDS][NODES]; /* see pod_doubt() */
    int64_t used[NODES][4], reserved[NODES][4]; /* by the core, after the step before */
    uint32_t kept;      /* nodes where the core let a preemption go on last, by bits */
    usec_t left[NODES]; /* when a pod last left it, for this core; 0 */
    struct call calls[PODS * 4];
    size_t n_calls;
    struct request requests[REQUESTS_MAX];
    size_t n_requests;
    struct queued *queue;
    size_t n_queue;
    int cursor; /* the pod that was tried last */
    int line;
    bool kinds;                /* there was a member with a label that all must share */
    bool closed;               /* the express lane, when the step began */
    bool lies;                 /* the scheduler has hidden nodes, or is behind or too slow */
    bool behind[GANG_WATCHES]; /* as the core was told */
    bool calm;                 /* all goes well: the operation under way is that one */
    struct op did;             /* the operation under way, with the names that were chosen */
    bool did_something;
    struct ops *trace; /* what was done, with names; NULL: not kept */
    bool loud;
    struct digest *digest; /* of what the core did; NULL: not kept */
    struct totals *totals;
    /* Ends the run; does not return. `tag` is the kind of failure, one word. */
    void (*fail)(struct model *m, const char *tag, const char *text);
};

/* totals outlives the model. */
struct model *model_new(void (*fail)(struct model *, const char *, const char *),
                        struct totals *totals, bool twin);
void model_free(struct model *m);
void model_do(struct model *m, const struct op *op);
void model_end(struct model *m);

void model_fail(struct model *m, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void model_say(const struct model *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- model.c ---- */
/* Takes the pod off the core's ledger, if it is there. */
void model_uncharge(struct model *m, struct pod_truth *t);
/* Filter, or a call that was taken for this node, let the pod through to these. */
void model_let(struct model *m, int p, uint32_t nodes);
/* Takes the event; it is stepped with the others that wait, see model_step(). */
void model_tell(struct model *m, struct gang_event ev, int index);
void model_ask(struct model *m, struct gang_event ev, int pod, const char *const *names, size_t n,
               int pick);
/* The core takes all that waits in one step. */
void model_step(struct model *m);
struct gang_config model_config(const struct model *m);
void model_start_core(struct model *m);
struct call *call_of(struct model *m, uint64_t id);

/* ---- model_facts.c ---- */
const char *node_name(int n);
int node_number(const char *name);
char *pod_uid(const struct model *m, int p);
/* The pod of the UID, whose serial goes to *ret; -1 when it is none. */
int pod_number(const char *uid, int *ret_serial);
struct gang_node_facts *facts_node(const struct model *m, int n);
struct gang_group_facts *facts_group(const struct model *m, int g);
struct gang_pod_facts *facts_pod(const struct model *m, int p);
struct gang_priority_class_facts *facts_class(const struct model *m, int k);
struct gang_claim_facts *facts_claim(const struct model *m, int c);
struct gang_ref facts_ref(int g);

/* ---- model_api_objects.c ---- */
bool pod_finished(const struct pod_truth *t);
static inline int pod_group(const struct pod_truth *t)
{
    return op_has(&t->spec, A_BADLINK) ? -1 : op_get(&t->spec, A_LINK, -1);
}
/* It does not exist for kube-scheduler. */
static inline bool pod_gated(const struct pod_truth *t)
{
    return op_has(&t->spec, A_GATED) || op_has(&t->spec, A_CLOSED);
}
/* The two may not be on one node. */
bool pods_apart(const struct pod_truth *a, const struct pod_truth *b);
/* Amounts by number, of what nodes have and pods need. */
enum { R_GPUS, R_CPU, R_PODS, R_PORT, RESOURCES };
void pod_needs(const struct pod_truth *t, int64_t need[RESOURCES]);
void node_has(const struct model *m, int n, int64_t have[RESOURCES]);
/* Less what is bound there, or on its way by a Binding. */
void node_left(const struct model *m, int n, int64_t left[RESOURCES]);
bool node_allows(const struct model *m, int p, int n);
void objects_show(struct model *m, char class, int i);
void objects_show_all(struct model *m);
/* The core hears of watches that are late, or not any more: of what is late for a moment it does
 * not. To be called before time passes. */
void objects_notice(struct model *m);
/* The pod is bound by whoever it was. */
void pod_bound(struct model *m, int p, int n);
/* By a Binding of muster's. */
void pod_bound_by_us(struct model *m, int p, int n);
void group_excuse(struct model *m, int g);
/* kube-scheduler refuses the node, which has room, to pods of the group that need as much as this
 * one. Muster may believe it for a while, of that node and such pods. */
void pod_doubt(struct model *m, int p, int n);
/* The same of every node, for all of the group's pods. */
void group_doubt(struct model *m, int g);
/* Whether muster may still believe it of the node, for whoever is like the pod in group g. */
bool pod_doubted(const struct model *m, int g, int p, int n);
bool group_doubted(const struct model *m, int g);
void do_object(struct model *m, const struct op *op);

/* ---- model_scheduler.c ---- */
/* Something happened that kube-scheduler has a wake-up for. */
void wake_pods(struct model *m, bool room);
void wake_pod(struct model *m, int p);
/* status.nominatedNodeName is written; -1 clears it. */
void sched_nominated(struct model *m, int p, int node);
/* A bind call ended with an error: the scheduler forgets the pod and tries again later. */
void sched_forget(struct model *m, int p);
/* Nothing wakes who has slept for five minutes but the clock. */
void sched_flush(struct model *m);
bool sched_ready(const struct model *m, int p);
void do_sched(struct model *m, const struct op *op);
void do_request(struct model *m, const struct op *op);

/* ---- model_time_and_restarts.c ---- */
void let_time_pass(struct model *m, usec_t t);
void do_life(struct model *m, const struct op *op);

#endif
