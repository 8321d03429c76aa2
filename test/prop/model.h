/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a core in a simulated cluster. The model simulates the API server, kube-scheduler with
 * its queue, a watch that lags, Bindings that get lost, and restarts of muster.
 *
 *   1. model_new() creates the model and a synced core.
 *   2. model_do() runs one operation. After each step it checks the invariants (oracle.h). The
 *      first violation calls m->fail, which does not return.
 *   3. model_end() stops the core and checks that every call has a reply. model_free() frees all.
 *
 * model.c runs steps and carries out the effects. model_facts.c makes facts from the objects.
 * model_api_objects.c changes objects. model_evictions.c and model_suspension.c simulate how pods
 * make room. model_dry_runs.c makes dry runs. model_scheduler.c simulates kube-scheduler.
 * model_time_and_restarts.c simulates time, restarts and calm. The model owns everything, and only
 * one thread may use it.
 */
#ifndef MUSTER_TEST_PROP_MODEL_H
#define MUSTER_TEST_PROP_MODEL_H

#include "gang/gang.h"
#include "test/prop/op.h"

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
/* muster treats a list of more than 100 nodes as a sample. STRANGERS is the number of names of
 * other nodes that the model adds to a sample. */
enum { STRANGERS = 110, NAMES_MAX = NODES + STRANGERS, BATCH_MAX = 192, REQUESTS_MAX = 256 };
/* The number of request sizes that pod_doubt() distinguishes. */
enum { NEEDS = 32 };

/* Why kube-scheduler does not try a pod: an extender or one of its own plugins rejected it. */
enum sleep { AWAKE, SLEEPS_EXTENDER, SLEEPS_PLUGINS };

/* The reason in the PodScheduled condition that kube-scheduler wrote: no room, the gang, or the
 * pod was rejected early. */
enum said { SAID_NOTHING, SAID_FULL, SAID_GANG, SAID_BARRED };

/* What the watch has not shown yet: nothing, only the nomination or condition, or other changes. */
enum dirty { CLEAN, RENOMINATED, CHANGED };

/* What the core must have charged for a pod, by its events and effects. */
enum charged { NOT_CHARGED, CHARGED_BINDING, CHARGED_ASSIGNED };

/* What muster has requested of a workload, and nobody has carried out yet. */
enum wish { NO_WISH, WISH_SUSPEND, WISH_RESUME };

/* A pod. Nodes and groups are numbers; -1 means none. */
/* terminationGracePeriodSeconds of all pods. */
#define POD_GRACE (30 * USEC_PER_SEC)

struct pod_truth {
    /* The API object */
    bool exists;
    int serial; /* becomes part of the UID, so each pod of this name has its own */
    usec_t created;
    struct op spec; /* the operation that created the pod, with later changes */
    bool stands_in; /* it does not exist: it stands for a pod of a suspended workload */
    int node;       /* the node to which the pod is bound */
    enum gang_phase phase;
    bool deleting;
    usec_t gone_by; /* with `deleting`: the end of its grace period */
    int preempted;  /* the serial of the pod that muster evicted last to make room */
    int disrupted;  /* the serial of the pod that kube-scheduler preempted last */
    bool taken;     /* kube-scheduler has preempted it, and the watch does not show this yet */
    int refused;    /* the serial of the pod whose eviction was refused last */
    usec_t refused_at;
    int marked;          /* the serial of the pod with muster's condition DisruptionTarget */
    bool inherited_mark; /* an earlier core has marked it */
    /* The serial of the pod that the watch has shown marked, Running, Terminating or finished. */
    int shown_mark, shown_running, shown_end;
    int chosen; /* the serial of the pod that this core has marked and not evicted yet */
    usec_t chosen_at;
    int paused; /* the serial of the pod whose workload muster has last asked to suspend */
    usec_t paused_at;
    bool runs_on; /* with `paused`: this step tells the core that its workload runs on */
    enum dirty dirty;
    int lost;         /* the node of a Binding that may still succeed after an unclear result */
    usec_t lost_sent; /* the time of this Binding: the API server drops it after a while */

    /* status.nominatedNodeName */
    int nominated;
    bool inherited;      /* it was set before muster's last restart, and has not changed since */
    bool steered;        /* muster nominated the pod at least once */
    int shown_nominated; /* the last value in an event of the watch or in a call */
    int ours;        /* the value that this core wrote, if kube-scheduler did not write the same */
    int rewritten;   /* this core's last write, if it repeats the value in shown_nominated */
    int named;       /* this core's last write, if nothing has changed since */
    usec_t named_at; /* the time of this write */
    bool named_now;  /* the write is an effect of this step */
    bool overtaken;  /* in the same step, the watch showed an older version of the pod */
    bool lift_asked; /* this core asked to remove the pod's gate */
    bool lifted_later; /* it did so in this step, and the pod is a later member without a slot */

    /* Bindings */
    int sent_to;    /* the node of the last Binding */
    bool of_commit; /* the last Binding was part of a commit */
    bool committed; /* a Binding of a commit succeeded, so the pod has the commit annotation */
    usec_t bound_at;
    usec_t sent_at; /* the time of the last Binding */

    /* kube-scheduler */
    enum sleep sleep;
    bool asked;            /* kube-scheduler has called filter for the pod */
    usec_t asked_at;       /* the time of the last filter call */
    uint64_t asked_turn;   /* the turn of this call */
    bool shut_out;         /* since then, no node has passed kube-scheduler's own filters */
    bool unschedulable;    /* the PodScheduled condition is False */
    bool plain;            /* the condition contains no text of muster */
    enum said said;        /* the reason in the condition */
    bool rejected_early;   /* the core treats the pod as rejected early */
    int place;             /* the node of the pod's slot, plus 1; 0: no slot */
    usec_t placed_at;      /* the time since when `place` has this value */
    uint64_t steered_turn; /* the turn of the last such change, write of the nomination, or join */
    bool lifted;           /* the gate was just removed, and the next step shows it */
    bool joins;            /* its gate was removed, and the watch does not show it yet */
    bool hidden;           /* the last attempt hid nodes from the pod: it wakes when time passes */
    usec_t retry_at;       /* after an error: kube-scheduler waits until this time */
    int picked;         /* the node that kube-scheduler chose after filter; bind not called yet */
    uint64_t picked_at; /* the order of these choices */
    uint64_t call;      /* the id of the open bind call; 0: none */
    int call_node;
    uint32_t let; /* the nodes of the last filter result, one bit for each node */
    usec_t let_at;

    /* What the core knows, by its events and effects */
    enum charged charged;
    int charged_serial, charged_node;
    bool shown;      /* the watch has shown this object to this core */
    int shown_group; /* the group of the pod at that time */
    bool learnt;     /* this core knows the pod only from a filter call */
    bool ghost;      /* the pod was deleted, and no watch event will show it */
    bool replaced;   /* the core may know only the pod that had this name before */

    /* After the previous step: its serial if it counted in a queue, and whether it had a slot */
    int counted;
    bool had_slot;
};

struct object_truth { /* any object except a pod */
    bool exists;
    int serial;
    usec_t created;
    struct op spec;
    bool dirty; /* the watch has not shown the last change */
    bool shown; /* the watch has shown the object to this core */
};

/* The largest number of pods of a workload. */
enum { WORKLOAD_PODS = 8 };

/* The workload that owns the PodGroup with the same number. */
struct workload_truth {
    bool suspended;
    bool by_muster; /* it has muster's label, so muster may resume it */
    bool idle;      /* it is suspended, but its controller has not deleted the pods yet */
    bool failed;    /* since it was suspended, its gang may have failed */
    enum wish wish;
    int wish_serial;       /* of the PodGroup, when muster requested it; 0: it was gone */
    uint64_t resumed_step; /* totals->steps at the last request to resume it */
    usec_t until;          /* it runs, and its stand-ins stay until then; 0: it has none */
    /* What it creates when it is resumed */
    struct op pods[WORKLOAD_PODS];
    int n_pods;
};

struct call {
    uint64_t id;
    int pod;
    usec_t since;
    bool closed; /* kube-scheduler closed the connection */
};

struct request { /* a Binding or a read in flight */
    int pod, serial, node;
    usec_t sent;
    bool read; /* a read, not a Binding */
    bool done; /* the Binding succeeded, but the core does not have the result yet */
};

/* An event of the next step. Pods and nodes are numbers; -1 means none. */
struct queued {
    struct gang_event ev, twin;
    int pod; /* the object of the event; -2: the call has got its reply */
    int pick;
    bool own;    /* the call offers only the node to which the pod is nominated */
    int passed;  /* the pod that passed filter */
    int refused; /* the member that was refused because its slot's node was not offered */
    int tried;   /* the nominated node that kube-scheduler tried first and refused */
    const char *names[NAMES_MAX];
    size_t n_names;
};

/* What the last emitted status of a queue shows. */
struct queue_shown {
    bool emitted;
    int waiting, planned, running, done;
    enum gang_reason_code reason;
    int64_t used, firm, requested; /* GPUs */
};

/* Counters of all runs of a process. */
struct totals {
    uint64_t runs, ops, events, steps, effects, rebuilds, calms, dry_runs, dry_fits;
    uint64_t kinds[GANG_EV_MAX];
    uint64_t cells[GANG_STATE_MAX][TRIGGER_MAX]; /* gang/state_table.h */
};

struct model {
    struct gang_core *core;
    struct gang_core *twin; /* gets the same events and must return the same effects; may be NULL */
    struct op config;       /* the settings of the next core */
    const char *grants[QUEUES]; /* queueNamespaces of the next core */
    size_t n_grants;
    /* Settings of the current core */
    int gates;    /* enum gates */
    int steering; /* enum gang_steering */
    size_t max_holds;
    int forbids;        /* queues that the namespace must not use, one bit for each */
    uint64_t liftings;  /* gates that it asked to remove */
    uint64_t namings;   /* nominations that it wrote */
    uint64_t unsteered; /* a bit for each pod, see oracle_steered() */
    usec_t now;
    uint64_t turn; /* orders filter calls, new slots and writes of nominations */
    uint64_t next_id, next_pick;
    struct object_truth nodes[NODES], groups[GROUPS], classes[CLASSES], claims[CLAIMS];
    struct object_truth queues[QUEUES], namespaces[NAMESPACES], budgets[BUDGETS];
    bool dying;      /* muster is being killed, and the writes that are not in `landed` are lost */
    uint32_t landed; /* a bit for each pod */
    uint64_t evicted_in[BUDGETS]; /* totals->steps of the last evictions that it could count */
    struct workload_truth workloads[GROUPS];
    enum gang_state states[GROUPS]; /* of the gangs, after the previous step */
    struct pod_truth pods[PODS];
    struct queue_shown queues_shown[QUEUES];
    int preemptions[GROUPS]; /* how often muster evicted pods for the gang in this calm phase */
    bool excused[GROUPS];    /* after a failure or change: may be bound in part */
    usec_t doubted[GROUPS][NEEDS][NODES];       /* see pod_doubt() */
    int64_t used[NODES][4], reserved[NODES][4]; /* the core's sums after the previous step */
    uint32_t kept;      /* the nodes in the last preempt reply, one bit for each node */
    uint32_t forgotten; /* the nodes for which this step refused bind calls, as bits */
    usec_t left[NODES]; /* the last time that the core removed a charge from the node */
    struct call calls[PODS * 4];
    size_t n_calls;
    struct request requests[REQUESTS_MAX];
    size_t n_requests;
    struct queued *queue;
    size_t n_queue;
    int cursor;                /* the pod that kube-scheduler tried last */
    int line;                  /* the number of the current operation */
    bool queues_edited;        /* the watch shows another version of a queue in this step */
    bool groups_were_known;    /* before this step, so no running gang comes from another queue */
    bool expected_slots;       /* the core has slots for expected members */
    uint64_t plans_made;       /* the core's count of plans when the slots were last read */
    bool kinds;                /* a member had the label that must be equal for all members */
    bool closed;               /* the express lane was closed before this step */
    bool lies;                 /* kube-scheduler hid nodes, lags behind, or is too slow */
    bool behind[GANG_WATCHES]; /* what the core knows about its watches */
    bool calm;                 /* the current operation is calm: nothing fails */
    struct op did;             /* the current operation, with the subject that was chosen */
    bool did_something;
    struct ops *trace;     /* the operations that did something; may be NULL */
    bool loud;             /* print all events and effects */
    struct digest *digest; /* may be NULL */
    struct totals *totals;
    /* Called for a violation. Must not return. `tag` is the kind of failure, one word. */
    void (*fail)(struct model *m, const char *tag, const char *text);
};

/* The caller frees the model with model_free(). `totals` must outlive it. `twin`: run a second core
 * and compare the effects. */
struct model *model_new(void (*fail)(struct model *, const char *, const char *),
                        struct totals *totals, bool twin);
void model_free(struct model *m);
void model_do(struct model *m, const struct op *op);
void model_end(struct model *m);

void model_fail(struct model *m, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void model_say(const struct model *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- model.c ---- */
/* Records that the core removes the pod's charge. */
void model_uncharge(struct model *m, struct pod_truth *t);
/* Records the pod's filter result: one bit for each node. */
void model_let(struct model *m, int p, uint32_t nodes);
/* Adds the event to the next step and takes ownership of it. `index` is the number of its object.
 */
void model_tell(struct model *m, struct gang_event ev, int index);
/* The same for a call of kube-scheduler. The names are borrowed. `pick` selects one of the nodes
 * that pass. */
void model_ask(struct model *m, struct gang_event ev, int pod, const char *const *names, size_t n,
               int pick);
/* Runs one step with all events that were added. */
void model_step(struct model *m);
struct gang_config model_config(const struct model *m);
void model_start_core(struct model *m);
struct call *call_of(struct model *m, uint64_t id);

/* ---- model_dry_runs.c ---- */
/* A dry run of the first core alone: the twin shows that it changes nothing. */
void model_dry_run(struct model *m);

/* ---- model_facts.c ---- */
const char *node_name(int n);
int node_number(const char *name);
char *pod_uid(const struct model *m, int p);
/* The pod with this UID, or -1. Stores its serial number in *ret_serial. */
int pod_number(const char *uid, int *ret_serial);
struct gang_node_facts *facts_node(const struct model *m, int n);
struct gang_group_facts *facts_group(const struct model *m, int g);
struct gang_pod_facts *facts_pod(const struct model *m, int p);
struct gang_priority_class_facts *facts_class(const struct model *m, int k);
struct gang_claim_facts *facts_claim(const struct model *m, int c);
struct gang_budget_facts *facts_budget(const struct model *m, int b);
struct gang_ref facts_ref(int g);
struct gang_queue_facts *facts_queue(const struct model *m, int q);
struct gang_namespace_facts *facts_namespace(const struct model *m);
struct gang_ref facts_queue_ref(int q);
/* A queue's names. Pods of `of_namespace` are in the queue unless they name another, and so are
 * pods of `more` if no queue is `of_namespace`; `grant` is a setting that keeps the queue from the
 * namespace of all pods. */
struct queue_id {
    const char *api_group, *ns, *name, *of_namespace, *more, *grant;
    bool fallback;
    int firm_priority; /* see struct gang_queue_facts */
};
extern const struct queue_id queue_ids[QUEUES];

/* ---- model_api_objects.c ---- */
bool pod_finished(const struct pod_truth *t);
/* Whether muster evicts the pod, so that it does not count as a member. */
bool pod_evicted(const struct pod_truth *t);
static inline int pod_group(const struct pod_truth *t)
{
    return op_has(&t->spec, A_BADLINK) ? -1 : op_get(&t->spec, A_LINK, -1);
}
/* Whether the pod has a scheduling gate, so that kube-scheduler ignores it. */
static inline bool pod_gated(const struct pod_truth *t)
{
    return op_has(&t->spec, A_GATED) || op_has(&t->spec, A_CLOSED) || t->stands_in;
}
/* Whether rules keep the two pods off a common node. */
bool pods_apart(const struct pod_truth *a, const struct pod_truth *b);
/* Resources, as indexes of arrays of amounts. */
enum { R_GPUS, R_CPU, R_PODS, R_PORT, RESOURCES };
void pod_needs(const struct pod_truth *t, int64_t need[RESOURCES]);
void node_has(const struct model *m, int n, int64_t have[RESOURCES]);
/* What the node has, minus bound pods and pods whose Binding is in flight. */
void node_left(const struct model *m, int n, int64_t left[RESOURCES]);
bool node_allows(const struct model *m, int p, int n);
void objects_show(struct model *m, char class, int i);
void objects_show_all(struct model *m);
/* Sends the core an event for each watch that has fallen behind or caught up. Call this before time
 * passes. A delay without a change of time causes no event. */
void objects_notice(struct model *m);
/* Creates the pod with this spec. The watch does not show it. */
void pod_made(struct model *m, int p, const struct op *spec);
/* Marks the pod as bound to the node. */
void pod_bound(struct model *m, int p, int n);
/* The same, by a Binding of muster. */
void pod_bound_by_us(struct model *m, int p, int n);
void group_excuse(struct model *m, int g);
/* Records that kube-scheduler refused the node for a pod although the node has room. For a while,
 * muster may treat the node as infeasible for pods of the group with the same requests. */
void pod_doubt(struct model *m, int p, int n);
/* The same for all nodes and all pods of the group. */
void group_doubt(struct model *m, int g);
/* Whether muster may still treat the node as infeasible for pods like p in group g. */
bool pod_doubted(const struct model *m, int g, int p, int n);
bool group_doubted(const struct model *m, int g);
void do_object(struct model *m, const struct op *op);

/* ---- model_evictions.c ---- */
/* muster asks the eviction API to evict the pod. `chosen`: it has just chosen the pod as a victim.
 */
void eviction_asked(struct model *m, int p, bool chosen);
/* muster marks the pod before it evicts it with its gang. `chosen`: see above. */
void victim_marked(struct model *m, int p, bool chosen);
/* Whether all other members that this core has marked show it. */
bool marks_shown(const struct model *m, int p);
/* muster asks to suspend the workload of these running pods instead. The API server does not check
 * budgets then. */
void evictions_by_suspension(struct model *m, const bool pods[PODS]);
/* Counts the pod for its budgets, before its controller deletes it. */
void budgets_count(struct model *m, int p);
/* Carries out the evictions that budgets have refused and now allow. */
void evictions_retry(struct model *m);
/* Deletes all budgets and carries out all evictions. */
void evictions_end(struct model *m);
/* How long muster tries to evict a pod. Then it gives up, and the pod counts as before. */
#define EVICT_TIME SECONDS(300)
/* Longer than that. */
#define EVICTIONS_END SECONDS(310)
/* How long muster waits for the marks of a gang. */
#define MARK_LIMIT SECONDS(5)
/* Gives up the evictions that have been refused for EVICT_TIME. */
void evictions_give_up(struct model *m);

/* ---- model_suspension.c ---- */
/* muster asks to suspend or resume the workload of a PodGroup. */
void suspension_asked(struct model *m, const struct gang_effect *e);
void resumption_asked(struct model *m, const struct gang_effect *e);
/* The watch shows that the PodGroup exists, or is gone. */
void workload_sees_group(struct model *m, int g);
/* A user suspends or resumes the workload. */
void do_suspend(struct model *m, const struct op *op);
void do_resume(struct model *m, const struct op *op);
/* Carries out a request of muster, or deletes the pods of a suspended workload. */
bool do_patch(struct model *m, const struct op *op);
/* Removes stand-ins whose time is over. */
void stand_ins_end(struct model *m);
/* When the first ones are over; USEC_NEVER: none will be. */
usec_t stand_ins_next(const struct model *m);
/* Whether the pod is a stand-in of a workload that runs again. A restarted muster does not see it.
 */
bool stand_in_lingers(const struct model *m, int p);
/* muster is killed. Requests in flight are carried out if their bit in `landed` is set. */
void workloads_orphaned(struct model *m, int32_t landed);

/* ---- model_scheduler.c ---- */
/* An event that wakes pods in kube-scheduler's queue. `room`: the event may have added capacity. */
void wake_pods(struct model *m, bool room);
void wake_pod(struct model *m, int p);
/* Writes status.nominatedNodeName; -1 clears it. */
void sched_nominated(struct model *m, int p, int node);
/* After a bind call failed: kube-scheduler forgets the assumed pod and tries it again later. */
void sched_forget(struct model *m, int p);
/* Wakes all pods, like kube-scheduler's flush of unschedulable pods after five minutes. */
void sched_flush(struct model *m);
bool sched_ready(const struct model *m, int p);
void do_sched(struct model *m, const struct op *op);
void do_request(struct model *m, const struct op *op);

/* ---- model_time_and_restarts.c ---- */
void let_time_pass(struct model *m, usec_t t);
void do_life(struct model *m, const struct op *op);

#endif
