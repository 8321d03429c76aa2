/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - operations of the model, and their text form.
 *
 * A run is a list of operations. The list is drawn from a seed before the run (run.h), or read from
 * a scenario file. A failing list is shrunk (run.h) and printed. Each line is one operation:
 *
 *     node n0 gpus=4                         a verb, a subject, attributes
 *     group g1 min=3 timeout=20s
 *     + pod p1 group=g1 gpus=2               "+": in the same step as the next line
 *     filter p1 hide=n0,n2                   kube-scheduler calls filter without n0 and n2
 *     filter                                 no subject: the next pod in kube-scheduler's order
 *     wait 3.5s
 *
 * The tables below define verbs and attributes; `test_prop --help` prints them. An operation that
 * is not possible in the current state does nothing, so each part of a list is a valid list.
 *
 * Plain values, except that a `struct ops` owns its items. No shared state.
 */
#ifndef MUSTER_TEST_PROP_OP_H
#define MUSTER_TEST_PROP_OP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { NODES = 8, GROUPS = 8, PODS = 48, CLASSES = 3, CLAIMS = 4, QUEUES = 10, NAMESPACES = 1 };
enum { BUDGETS = 2 };

/* Letters of subjects: node, PodGroup, pod, PriorityClass, PersistentVolumeClaim, queue, namespace,
 * PodDisruptionBudget. */
#define SUBJECTS "ngpkcqsb"

/* id, verb, letters of subjects ("": no subject; a leading '?': the subject is optional), meaning
 */
#define OPS(X)                                                                                     \
    X(CONFIG, "config", "", "set muster's settings, as the first line or before a kill")           \
    X(NODE, "node", "n", "create or change a node")                                                \
    X(NONODE, "nonode", "n", "delete a node")                                                      \
    X(GROUP, "group", "g", "create or change a PodGroup")                                          \
    X(NOGROUP, "nogroup", "g", "delete a PodGroup")                                                \
    X(POD, "pod", "p", "create a pod")                                                             \
    X(NOPOD, "nopod", "p", "delete a pod")                                                         \
    X(TERMINATE, "terminate", "p", "set the pod's deletionTimestamp")                              \
    X(RUN, "run", "p", "a bound pod becomes Running")                                              \
    X(SUCCEED, "succeed", "p", "a bound pod becomes Succeeded")                                    \
    X(FAIL, "fail", "p", "a bound pod becomes Failed")                                             \
    X(UNGATE, "ungate", "p", "remove all scheduling gates of the pod")                             \
    X(UNBAR, "unbar", "p", "end the early rejection of a barred pod")                              \
    X(RELINK, "relink", "p", "link the pod to another PodGroup, or to none")                       \
    X(MOVE, "move", "p", "let the pod name another queue, or none")                                \
    X(RESIZE, "resize", "p", "change the pod's requests in place")                                 \
    X(ASSIGN, "assign", "p", "another client binds the pod")                                       \
    X(CLASS, "class", "k", "create or change a PriorityClass")                                     \
    X(NOCLASS, "noclass", "k", "delete a PriorityClass")                                           \
    X(CLAIM, "claim", "c", "create or change a PersistentVolumeClaim")                             \
    X(NOCLAIM, "noclaim", "c", "delete a PersistentVolumeClaim")                                   \
    X(BUDGET, "budget", "b", "create or change a PodDisruptionBudget")                             \
    X(NOBUDGET, "nobudget", "b", "delete a PodDisruptionBudget")                                   \
    X(QUEUE, "queue", "q", "create or change a queue (model_facts.c has their APIs)")              \
    X(NOQUEUE, "noqueue", "q", "delete a queue")                                                   \
    X(NAMESPACE, "namespace", "s", "let the namespace of all pods name a queue")                   \
    X(NONAMESPACE, "nonamespace", "s", "the namespace names no queue any more")                    \
    X(SUSPEND, "suspend", "g", "a user suspends the workload that owns the PodGroup")              \
    X(RESUME, "resume", "g", "a user resumes this workload")                                       \
    X(SHOW, "show", "?ngpkcqsb", "the watch shows a change that it has not shown yet")             \
    X(FILTER, "filter", "?p", "kube-scheduler tries a pod")                                        \
    X(BIND, "bind", "?p", "kube-scheduler calls bind with the node that it chose")                 \
    X(PRIORITIZE, "prioritize", "p", "kube-scheduler calls prioritize")                            \
    X(PREEMPT, "preempt", "p", "kube-scheduler calls preempt")                                     \
    X(CLOSE, "close", "?p", "kube-scheduler closes the connection of an open bind call")           \
    X(RESULT, "result", "?p", "muster gets the result of a Binding")                               \
    X(LAND, "land", "?p", "a Binding with an unclear or missing result succeeds")                  \
    X(READ, "read", "?p", "muster gets the result of a read of a pod")                             \
    X(PATCH, "patch", "?g", "muster's request to suspend or resume a workload is carried out")     \
    X(WAIT, "wait", "", "time passes")                                                             \
    X(KILL, "kill", "", "kill muster and start it again")                                          \
    X(RESTART, "restart", "", "kill kube-scheduler and start it again")                            \
    X(REBUILD, "rebuild", "", "a second core, made from the same objects, must decide alike")      \
    X(CALM, "calm", "", "no more faults: all pods and gangs that fit must be bound")               \
    X(EXPECT, "expect", "gp", "check the number of bound members, or the pod's node")

enum op_kind {
#define X(id, verb, subjects, help) OP_##id,
    OPS(X)
#undef X
        OP_KINDS
};

enum attr_type {
    T_FLAG,
    T_NUMBER,
    T_TIME,
    T_NODE, /* from here on: objects */
    T_GROUP,
    T_CLASS,
    T_CLAIM,
    T_QUEUE,
    T_NODES,
    T_GROUPS,
    T_QUEUES
};

/* A number of this size stands for the largest one that the core knows. */
#define GIANT INT32_MAX

/* id, key, type, meaning. Times are in milliseconds. A set has one bit for each member. */
#define ATTRS(X)                                                                                   \
    X(GPUS, "gpus", T_NUMBER, "node: allocatable GPUs; pod: request; group: minResources")         \
    X(CPU, "cpu", T_NUMBER, "the same for whole CPUs (default: node 64, pod 1); queue: its limit") \
    X(ROOM, "pods", T_NUMBER, "node: allocatable pods (default 110)")                              \
    X(CORDON, "cordoned", T_FLAG, "node: spec.unschedulable")                                      \
    X(TAINT, "tainted", T_FLAG, "node: a taint that only tolerant pods tolerate")                  \
    X(MIN, "min", T_NUMBER, "group: minMember; pod: the minimum it declares for its group")        \
    X(MAX, "max", T_NUMBER, "group: maxMember")                                                    \
    X(TIMEOUT, "timeout", T_TIME, "group: scheduleTimeoutSeconds")                                 \
    X(PRIO, "priority", T_NUMBER, "pod, group, queue: priority; class: value")                     \
    X(BYCLASS, "class", T_CLASS, "group: PriorityClass")                                           \
    X(UNREAD, "unreadable", T_FLAG, "group, queue: muster can decode only its name and UID")       \
    X(PARENT, "parent", T_GROUP, "group: its parent group")                                        \
    X(BUNDLE, "with", T_GROUPS, "group: the groups of its bundle")                                 \
    X(SUBA, "a", T_NUMBER, "group: the minimum of its subgroup a")                                 \
    X(SUBB, "b", T_NUMBER, "group: the minimum of its subgroup b")                                 \
    X(SUBC, "c", T_NUMBER, "group: the minimum of its subgroup c")                                 \
    X(NESTED, "nested", T_FLAG, "group: subgroup c is a child of subgroup a")                      \
    X(SUBS, "subgroups", T_NUMBER, "group: how many subgroups must meet their minimum")            \
    X(SPLIT, "split", T_NUMBER, "group: a subgroup with one part of this size for each rack")      \
    X(PARTS, "parts", T_NUMBER, "group: how many parts must be complete (default: all)")           \
    X(RUNNING, "match-running", T_FLAG, "group: below the minimum, later members wait")            \
    X(WAITING, "match-waiting", T_FLAG, "group: later members form a new gang")                    \
    X(ONCE, "match-once", T_FLAG, "group: after it is Scheduled once, members pass singly")        \
    X(LINK, "group", T_GROUP, "pod: the group that it is linked to")                               \
    X(ROLE, "role", T_NUMBER, "pod: its subgroup (1: a, 2: b, 3: c)")                              \
    X(RACK, "rack", T_NUMBER, "pod: its label rack")                                               \
    X(GATED, "gated", T_FLAG, "pod: has a foreign scheduling gate")                                \
    X(CLOSED, "closed", T_FLAG, "pod: has muster's scheduling gate; queue: takes no gangs")        \
    X(PORT, "port", T_FLAG, "pod: needs a host port")                                              \
    X(TOLERANT, "tolerant", T_FLAG, "pod: tolerates the taint and the cordon")                     \
    X(FOREIGN, "foreign", T_FLAG, "pod: belongs to another scheduler")                             \
    X(BARRED, "barred", T_NUMBER, "pod: rejected early; 2: without a PodScheduled condition")      \
    X(BEYOND, "beyond", T_FLAG, "pod: requests more resources than muster reads")                  \
    X(PICKY, "picky", T_FLAG, "pod with GPUs: its nodeSelector selects nodes with GPUs")           \
    X(BARE, "bare", T_FLAG, "pod: has no controller")                                              \
    X(KEPT, "kept", T_FLAG, "pod: a finalizer keeps it Terminating")                               \
    X(DISRUPTED, "preempted", T_FLAG, "terminate: kube-scheduler preempts the pod")                \
    X(HOOKED, "hooked", T_FLAG, "pod: a webhook refuses its eviction for a while")                 \
    X(KIND, "kind", T_NUMBER, "pod: a label that must be equal for all members")                   \
    X(USES, "claim", T_CLAIM, "pod: uses this PersistentVolumeClaim")                              \
    X(DEVICES, "devices", T_FLAG, "pod: has a ResourceClaim")                                      \
    X(ALLOWED, "allowed", T_NUMBER, "budget: how many evictions it allows (default 0)")            \
    X(APP, "app", T_NUMBER, "pod: its label app; budget: of which pods (default: all)")            \
    X(AWAY, "away", T_NUMBER, "pod: anti-affinity to pods of this app, over hosts")                \
    X(SPREAD, "spread", T_NUMBER, "pod: maxSkew of pods of its app, over hosts")                   \
    X(FORBID, "forbid", T_NODES, "pod: nodes that kube-scheduler refuses by unknown rules")        \
    X(ON, "node", T_NODE, "assign, bind, claim, expect: the node")                                 \
    X(LIMITED, "nodes", T_NODES, "claim: bound to a volume that only these nodes reach")           \
    X(APART, "apart", T_FLAG, "pod: anti-affinity to pods of its group, over hosts")               \
    X(BADLINK, "misnamed", T_FLAG, "pod: its link names no PodGroup")                              \
    X(AGAIN, "again", T_FLAG, "bind: repeat the open call after its connection was lost")          \
    X(STALE, "stale", T_FLAG, "filter: kube-scheduler lags; the pod can be bound or Terminating")  \
    X(UNSEEN, "unseen", T_FLAG, "the watch does not show it yet; close: muster does not notice")   \
    X(PREEMPTS, "preempts", T_FLAG, "filter: if no node has room, preempt lower pods")             \
    X(HIDE, "hide", T_NODES, "filter: nodes that kube-scheduler does not offer")                   \
    X(SAMPLE, "sample", T_FLAG, "filter: offer a sample (more than 100 nodes)")                    \
    X(PICK, "pick", T_NUMBER, "filter: which of the returned nodes kube-scheduler chooses")        \
    X(SKIP, "skip", T_NUMBER, "without a subject: skip this many")                                 \
    X(REFUSED, "refused", T_FLAG, "result: it failed; patch: the workload stays as it is")         \
    X(UNCLEAR, "unclear", T_FLAG, "result: unclear, and the Binding failed; read: no reply")       \
    X(DONE, "done", T_FLAG, "result unclear: the Binding succeeded")                               \
    X(MASK, "landed", T_NUMBER, "kill: which Bindings and patches in flight succeed, as bits")     \
    X(HOPE, "assemble", T_TIME, "config: assembleSeconds (default 0)")                             \
    X(HOLDS, "holds", T_NUMBER, "config: maxHolds")                                                \
    X(STARVE, "starvation", T_TIME, "config: starvationSeconds")                                   \
    X(SLOW, "slow", T_FLAG, "config: a step plans one gang and wakes one pod")                     \
    X(STRICT, "strict", T_FLAG, "config: strictOrder")                                             \
    X(EVICT, "evict", T_FLAG, "config: onFailedCommit evict")                                      \
    X(EVICTS, "preemption", T_FLAG, "config: preemption")                                          \
    X(REQUEUE, "requeue", T_FLAG, "config: belowMinimum requeue")                                  \
    X(TOGETHER, "together", T_NUMBER, "config: commitBatchThreshold (default 0)")                  \
    X(STEER, "steer", T_NUMBER, "config: steering (0: auto, 1: always, 2: never)")                 \
    X(GATES, "gates", T_NUMBER, "config: the sum of enum gates values (default 0)")                \
    X(EXPRESS, "express", T_FLAG, "config: expressLane")                                           \
    X(LOST, "lost", T_NUMBER, "config: after N nominations, one is lost (not in calm)")            \
    X(SHUN, "shun", T_NUMBER, "pod: wide anti-affinity to this app, over halves of the nodes")     \
    X(NAMES, "queue", T_QUEUE, "group, pod, move, namespace: the queue that it names")             \
    X(UNDER, "under", T_QUEUE, "queue: its parent")                                                \
    X(DESERVED, "deserved", T_NUMBER, "queue: GPUs that it deserves")                              \
    X(LIMIT, "limit", T_NUMBER, "queue: GPUs that its pods may use at once")                       \
    X(RESERVED, "reserved", T_NUMBER, "queue: GPUs that are kept free for it")                     \
    X(ANYGPU, "any-gpu", T_FLAG, "queue: its GPUs are the sum of all kinds of GPUs")               \
    X(WEIGHT, "weight", T_NUMBER, "queue: weight of its part in what is left over")                \
    X(FIFO, "fifo", T_FLAG, "queue: nothing passes its first waiting gang")                        \
    X(FIRM, "firm", T_FLAG, "group: not preemptible")                                              \
    X(SUSPENDS, "suspends", T_FLAG, "group: its workload asks to be suspended, not evicted")       \
    X(IDLE, "idle", T_FLAG, "patch: the controller deletes the pods only at the next patch")       \
    X(STOPPED, "suspended", T_NUMBER, "expect: whether muster has suspended the workload")         \
    X(FORBIDS, "forbidden", T_QUEUES, "config: queues that the namespace must not use")            \
    X(HALFLIFE, "half-life", T_TIME, "config: queueHalfLifeSeconds")                               \
    X(FACTOR, "time-factor", T_NUMBER, "config: queueTimeFactorPercent")                           \
    X(BOUND, "bound", T_NUMBER, "expect: the number of bound members; pod: 1 or 0")                \
    X(TIME, "", T_TIME, "wait: how long")

enum attr {
#define X(id, key, type, help) A_##id,
    ATTRS(X)
#undef X
        ATTR_COUNT
};

/* Settings: gates.enabled, gates.showToAutoscaler. Faults: every third removal of a gate is lost;
 * the watch shows the other removals late. */
enum gates { GATES_ON = 1, GATES_SHOW = 2, GATES_LOST = 4, GATES_LATE = 8, GATES_MAX = 15 };

struct op {
    enum op_kind kind;
    bool joined;               /* in the same step as the next operation */
    char class;                /* the letter of the subject, one of SUBJECTS; 0: no subject */
    int subject;               /* the number of the subject */
    bool has[ATTR_COUNT];      /* whether the operation has the attribute */
    int32_t value[ATTR_COUNT]; /* 0 if the operation does not have it */
};

struct ops {
    struct op *items;
    size_t n, cap;
};

static inline bool op_has(const struct op *op, enum attr a)
{
    return op->has[a];
}
static inline int32_t op_get(const struct op *op, enum attr a, int32_t otherwise)
{
    return op_has(op, a) ? op->value[a] : otherwise;
}
static inline void op_set(struct op *op, enum attr a, int32_t value)
{
    op->has[a] = true;
    op->value[a] = value;
}
static inline void op_unset(struct op *op, enum attr a)
{
    op->has[a] = false;
    op->value[a] = 0;
}
enum attr_type attr_type(enum attr a);

struct op op_make(enum op_kind kind, char class, int subject);
void ops_add(struct ops *ops, const struct op *op);
void ops_copy(struct ops *to, const struct ops *from);
void ops_done(struct ops *ops);

/* Appends the operation as one line, without a newline. */
void op_print(struct buf *b, const struct op *op);
void ops_print(struct buf *b, const struct ops *ops);
/* Appends the operations in the text. On failure returns a negative number, and the error names
 * line and word. */
int ops_parse(struct ops *ops, const char *text, struct err *err);
/* Appends a list of all verbs and attributes with their meaning. */
void op_help(struct buf *b);

#endif
