/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - what may happen in a world, as lines that people read.
 *
 * A run is a list of operations. It is drawn from a seed before anything runs (run.h), or
 * read from a scenario file; a failing list is shrunk (run.h) and printed again. One line is one
 * operation:
 *
 *     node n0 gpus=4                         a verb, what it is about, attributes
 *     group g1 min=3 timeout=20s
 *     + pod p1 group=g1 gpus=2               "+": taken in the same step as the next line
 *     filter p1 hide=n0,n2                   the scheduler asks, and does not offer n0 and n2
 *     filter                                 without a name: whoever is next
 *     wait 3.5s
 *
 * Verbs and attributes are tables; each entry says what it means (test_prop --help prints them).
 * An operation that makes no sense at its moment does nothing, so any part of a list is a list.
 * Plain values: nothing here is owned, shared or locked.
 */
#ifndef MUSTER_TEST_PROP_OP_H
#define MUSTER_TEST_PROP_OP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { NODES = 8, GROUPS = 8, PODS = 48, CLASSES = 3, CLAIMS = 4 };

/* Classes of subjects: node, group, pod, priority class, claim. */
#define SUBJECTS "ngpkc"

/* id, verb, classes of subjects ("" none; a leading '?': may be left out), attributes, meaning */
#define OPS(X)                                                                                     \
    X(CONFIG, "config", "", "the settings of muster; at the beginning, or with the next kill")     \
    X(NODE, "node", "n", "a node is made, or changed")                                             \
    X(NONODE, "nonode", "n", "a node is deleted")                                                  \
    X(GROUP, "group", "g", "a PodGroup is made, or changed")                                       \
    X(NOGROUP, "nogroup", "g", "a PodGroup is deleted")                                            \
    X(POD, "pod", "p", "a pod is made")                                                            \
    X(NOPOD, "nopod", "p", "a pod is deleted")                                                     \
    X(TERMINATE, "terminate", "p", "a pod begins to terminate")                                    \
    X(RUN, "run", "p", "a bound pod runs")                                                         \
    X(SUCCEED, "succeed", "p", "a bound pod ends well")                                            \
    X(FAIL, "fail", "p", "a bound pod fails")                                                      \
    X(UNGATE, "ungate", "p", "others take the scheduling gates off")                               \
    X(UNBAR, "unbar", "p", "what kept the pod from being tried is mended")                         \
    X(RELINK, "relink", "p", "the pod names another group, or none")                               \
    X(RESIZE, "resize", "p", "the pod's requests change in place")                                 \
    X(ASSIGN, "assign", "p", "somebody else binds the pod")                                        \
    X(CLASS, "class", "k", "a PriorityClass is made, or changed")                                  \
    X(NOCLASS, "noclass", "k", "a PriorityClass is deleted")                                       \
    X(CLAIM, "claim", "c", "a PersistentVolumeClaim is made, or changed")                          \
    X(NOCLAIM, "noclaim", "c", "a PersistentVolumeClaim is deleted")                               \
    X(SHOW, "show", "?ngpkc", "the watch shows what it had not shown")                             \
    X(FILTER, "filter", "?p", "the scheduler tries a pod")                                         \
    X(BIND, "bind", "?p", "the scheduler asks to bind the pod where filter sent it")               \
    X(PRIORITIZE, "prioritize", "p", "the scheduler asks for scores")                              \
    X(PREEMPT, "preempt", "p", "the scheduler asks whether it may preempt for the pod")            \
    X(CLOSE, "close", "?p", "the scheduler gives up a held call")                                  \
    X(RESULT, "result", "?p", "a Binding that muster sent has a result")                           \
    X(LAND, "land", "?p", "a Binding that was thought lost arrives after all")                     \
    X(READ, "read", "?p", "a pod that muster asked to read is read")                               \
    X(WAIT, "wait", "", "time passes")                                                             \
    X(KILL, "kill", "", "muster is killed and started again")                                      \
    X(RESTART, "restart", "", "kube-scheduler is killed and started again")                        \
    X(REBUILD, "rebuild", "", "a second muster, made from the same objects, must decide alike")    \
    X(CALM, "calm", "", "all goes well from here: whatever fits must come to an end")              \
    X(EXPECT, "expect", "gp", "must be true now: so many members are bound; the pod is, there")

enum op_kind {
#define X(id, verb, subjects, help) OP_##id,
    OPS(X)
#undef X
        OP_KINDS
};

enum attr_type { T_FLAG, T_NUMBER, T_TIME, T_NODE, T_GROUP, T_CLASS, T_CLAIM, T_NODES, T_GROUPS };

/* id, key, type, meaning. Times are kept in milliseconds, sets as bits. */
#define ATTRS(X)                                                                                   \
    X(GPUS, "gpus", T_NUMBER, "node: it has; pod: it needs; group: minResources")                  \
    X(CPU, "cpu", T_NUMBER, "the same in whole CPUs (a node has 64 unless said)")                  \
    X(ROOM, "pods", T_NUMBER, "node: pods it takes (110 unless said)")                             \
    X(CORDON, "cordoned", T_FLAG, "node: unschedulable")                                           \
    X(TAINT, "tainted", T_FLAG, "node: only for tolerant pods")                                    \
    X(MIN, "min", T_NUMBER, "group: minMember; pod: the minimum it declares for its group")        \
    X(MAX, "max", T_NUMBER, "group: maxMember")                                                    \
    X(TIMEOUT, "timeout", T_TIME, "group: scheduleTimeoutSeconds")                                 \
    X(PRIO, "priority", T_NUMBER, "pod, group: its priority; class: its value")                    \
    X(BYCLASS, "class", T_CLASS, "group: its PriorityClass")                                       \
    X(UNREAD, "unreadable", T_FLAG, "group: muster can read who it is, and nothing else of it")    \
    X(PARENT, "parent", T_GROUP, "group: the group it is a child of")                              \
    X(BUNDLE, "with", T_GROUPS, "group: placed together with these")                               \
    X(SUBA, "a", T_NUMBER, "group: subgroup a with this minimum")                                  \
    X(SUBB, "b", T_NUMBER, "group: subgroup b")                                                    \
    X(SUBC, "c", T_NUMBER,                                                                         \
      "group: subgroup c, which is in a where there is one and nested is set")                     \
    X(NESTED, "nested", T_FLAG, "group: subgroup c is in a")                                       \
    X(SUBS, "subgroups", T_NUMBER, "group: so many of the subgroups must have their minimum")      \
    X(SPLIT, "split", T_NUMBER, "group: a subgroup of parts by label rack, each of this size")     \
    X(PARTS, "parts", T_NUMBER, "group: so many of the parts must be whole (all unless said)")     \
    X(RUNNING, "match-running", T_FLAG, "group: below its minimum, later members wait")            \
    X(WAITING, "match-waiting", T_FLAG, "group: later members are a gang of their own")            \
    X(ONCE, "match-once", T_FLAG, "group: placed once, later members pass singly")                 \
    X(LINK, "group", T_GROUP, "pod: the group it names")                                           \
    X(ROLE, "role", T_NUMBER, "pod: 1 subgroup a, 2 b, 3 c")                                       \
    X(RACK, "rack", T_NUMBER, "pod: its label rack")                                               \
    X(GATED, "gated", T_FLAG, "pod: has somebody else's scheduling gate")                          \
    X(CLOSED, "closed", T_FLAG, "pod: has muster's own scheduling gate")                           \
    X(PORT, "port", T_FLAG, "pod: needs a host port")                                              \
    X(TOLERANT, "tolerant", T_FLAG, "pod: tolerates the taint and the cordon")                     \
    X(FOREIGN, "foreign", T_FLAG, "pod: of another scheduler")                                     \
    X(BARRED, "barred", T_NUMBER, "pod: the scheduler refuses it unasked; 2: and writes nothing")  \
    X(BEYOND, "beyond", T_FLAG, "pod: asks for more resources than muster reads")                  \
    X(PICKY, "picky", T_FLAG, "pod: that wants GPUs, selects nodes with GPUs by their label")      \
    X(BARE, "bare", T_FLAG, "pod: has no controller")                                              \
    X(KEPT, "kept", T_FLAG, "pod: a finalizer keeps it terminating")                               \
    X(KIND, "kind", T_NUMBER, "pod: label that all members must share")                            \
    X(USES, "claim", T_CLAIM, "pod: a PersistentVolumeClaim that it uses")                         \
    X(DEVICES, "devices", T_FLAG, "pod: has a ResourceClaim")                                      \
    X(APP, "app", T_NUMBER, "pod: its label app")                                                  \
    X(AWAY, "away", T_NUMBER, "pod: never on a node with pods of this app, of whatever group")     \
    X(SPREAD, "spread", T_NUMBER, "pod: the most by which nodes may differ in pods of its app")    \
    X(FORBID, "forbid", T_NODES, "pod: nodes the scheduler refuses it, for reasons of its own")    \
    X(ON, "node", T_NODE, "assign, bind, claim: which node")                                       \
    X(LIMITED, "nodes", T_NODES, "claim: bound to a volume that only these nodes reach")           \
    X(APART, "apart", T_FLAG, "pod: never on a node with others of its group (anti-affinity)")     \
    X(BADLINK, "misnamed", T_FLAG, "pod: its link names no PodGroup")                              \
    X(AGAIN, "again", T_FLAG, "bind: the same call once more, its connection was lost")            \
    X(STALE, "stale", T_FLAG, "filter: the scheduler is behind; the pod may be bound or leaving")  \
    X(UNSEEN, "unseen", T_FLAG, "the watch does not show it yet; close: muster is not told")       \
    X(PREEMPTS, "preempts", T_FLAG, "filter: where nothing has room, lower pods are evicted")      \
    X(HIDE, "hide", T_NODES, "filter: nodes the scheduler does not offer this time")               \
    X(SAMPLE, "sample", T_FLAG, "filter: the list is a sample (more than 100 names)")              \
    X(PICK, "pick", T_NUMBER, "filter: which of the nodes that passed the scheduler takes")        \
    X(SKIP, "skip", T_NUMBER, "without a name: not the next but this many later")                  \
    X(REFUSED, "refused", T_FLAG, "result: not done, for good")                                    \
    X(UNCLEAR, "unclear", T_FLAG, "result: nobody knows, it was not done; read: no answer")        \
    X(DONE, "done", T_FLAG, "result unclear: it was done all the same")                            \
    X(MASK, "landed", T_NUMBER, "kill: which Bindings under way are done, by bits")                \
    X(HOPE, "assemble", T_TIME, "config: assembleSeconds (0 unless said)")                         \
    X(HOLDS, "holds", T_NUMBER, "config: maxHolds")                                                \
    X(STARVE, "starvation", T_TIME, "config: starvationSeconds")                                   \
    X(SLOW, "slow", T_FLAG, "config: a step plans one gang, wakes one pod")                        \
    X(STRICT, "strict", T_FLAG, "config: strictOrder")                                             \
    X(EVICT, "evict", T_FLAG, "config: onFailedCommit evict")                                      \
    X(REQUEUE, "requeue", T_FLAG, "config: belowMinimum requeue")                                  \
    X(TOGETHER, "together", T_NUMBER, "config: commitBatchThreshold (0 unless said)")              \
    X(STEER, "steer", T_NUMBER, "config: steering; 0 auto, 1 always, 2 never")                     \
    X(GATES, "gates", T_NUMBER, "config: by bits, see enum gates (0 unless said)")                 \
    X(EXPRESS, "express", T_FLAG, "config: expressLane")                                           \
    X(LOST, "lost", T_NUMBER, "config: a nomination is lost after each so many (not in calm)")     \
    X(SHUN, "shun", T_NUMBER,                                                                      \
      "pod: never in one half of the nodes with pods of this app, by a rule muster does not know") \
    X(BOUND, "bound", T_NUMBER, "expect: members of the group that are bound; pod: 1, or 0")       \
    X(TIME, "", T_TIME, "wait: how long")

enum attr {
#define X(id, key, type, help) A_##id,
    ATTRS(X)
#undef X
        ATTR_COUNT
};

/* gates.enabled, gates.showToAutoscaler; every third lifting of a gate is lost; the watch is late
 * to show the others. */
enum gates { GATES_ON = 1, GATES_SHOW = 2, GATES_LOST = 4, GATES_LATE = 8, GATES_MAX = 15 };

struct op {
    enum op_kind kind;
    bool joined;               /* taken in the same step as the next one */
    char class;                /* of the subject, one of SUBJECTS; 0: none */
    int subject;               /* its number */
    bool has[ATTR_COUNT];      /* the attribute is given, */
    int32_t value[ATTR_COUNT]; /* with this value; 0 of the others */
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

/* One line, without its end. */
void op_print(struct buf *b, const struct op *op);
void ops_print(struct buf *b, const struct ops *ops);
/* Appends what the text says; the error names line, word and what is known there. */
int ops_parse(struct ops *ops, const char *text, struct err *err);
/* Every verb and attribute with its meaning. */
void op_help(struct buf *b);

#endif
