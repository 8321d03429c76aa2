/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect.h - everything that the core can ask its caller to do.
 *
 * gang_step() returns the effects. The core owns them and their strings until the next gang_step().
 * A caller that carries out an effect later copies what it needs. The caller carries out effects in
 * order. Pointers are never NULL unless noted.
 */
#ifndef MUSTER_GANG_EFFECT_H
#define MUSTER_GANG_EFFECT_H

#include "gang/facts.h"

/* The name (metric label, JSON) and the meaning (docs/reference/states.md). */
#define GANG_STATES(X)                                                                             \
    X(ASSEMBLING, "Assembling", "fewer members exist than needed")                                 \
    X(WAITING, "Waiting", "enough members exist, but muster cannot plan the gang now")             \
    X(PLANNED, "Planned", "the gang has a plan; its members have not all come to bind yet")        \
    X(COMMITTING, "Committing", "the quorum is at bind, and muster writes the Bindings")           \
    X(SCHEDULED, "Scheduled", "the quorum is bound; later members are scheduled one by one")       \
    X(RECOVERING, "Recovering",                                                                    \
      "the gang is partly bound; the other needed members start together")                         \
    X(BACKED_OFF, "BackedOff", "the last attempt timed out, or its Bindings were refused")         \
    X(DONE, "Done", "all members have succeeded")

enum gang_state {
#define X(id, name, help) GANG_##id,
    GANG_STATES(X)
#undef X
        GANG_STATE_MAX
};
const char *gang_state_name(enum gang_state state);

/*
 * Why a gang waits or a call is refused. The code is stable: it is part of the API, the metrics and
 * the PodGroup's condition. gang/messages/ and gang/cluster/refusal_text.c build the text for
 * users. GANG: the reason of a gang, in the condition of its PodGroup; CALL: of one pod or call,
 * shown as text only. The meaning is for docs/reference/reasons.md.
 */
#define GANG_REASONS(X)                                                                            \
    X(NONE, "", GANG, "")                                                                          \
    X(GROUP_MISSING, "PodGroupNotFound", GANG,                                                     \
      "the pods name a PodGroup that does not exist in their namespace")                           \
    X(GROUP_INVALID, "InvalidPodGroup", GANG,                                                      \
      "the PodGroup contradicts itself or another PodGroup, or exceeds a limit")                   \
    X(NOT_ENOUGH_MEMBERS, "NotEnoughMembers", GANG, "fewer pods exist than the minimum requires")  \
    X(MEMBERS_GATED, "MembersGated", GANG,                                                         \
      "some members have another controller's scheduling gate, and too few have none")             \
    X(FOREIGN_SCHEDULER, "OtherScheduler", GANG,                                                   \
      "some members name a scheduler that muster does not serve, and the others are too few")      \
    X(NOT_ENOUGH_RESOURCES, "NotEnoughResources", GANG,                                            \
      "there is not enough room for all needed members at once")                                   \
    X(NO_MATCHING_NODE, "NoMatchingNode", GANG, "the rules of a member exclude every node")        \
    X(MIN_RESOURCES, "MinResourcesNotFree", GANG,                                                  \
      "the nodes have less free than `spec.minResources` asks for")                                \
    X(NOT_UNIFORM, "MembersDiffer", GANG, "the members differ in a label that must be equal")      \
    X(MEMBER_INVALID, "InvalidMember", GANG,                                                       \
      "a pod exceeds a limit, or has a field that muster cannot read")                             \
    X(BEHIND, "BehindAnotherGang", GANG,                                                           \
      "with `strictOrder`, the gang waits for a gang ahead of it")                                 \
    X(EARMARKED, "RoomEarmarked", GANG, "muster keeps the room for another gang")                  \
    X(PREEMPTED_ROOM, "RoomPreempted", GANG,                                                       \
      "muster keeps the room for another gang until the pods that use it now have ended")          \
    X(EVICTING, "WaitsForEvictedPods", GANG,                                                       \
      "muster keeps room for the gang, and the pods that use it have not ended yet")               \
    X(VOLUME_NODE, "VolumeOnAnotherNode", GANG,                                                    \
      "volumes or claims tie a member to nodes that cannot take it")                               \
    X(KEPT_APART, "PodAntiAffinity", GANG,                                                         \
      "required anti-affinity keeps a member off the nodes that have room")                        \
    X(SPREAD, "TopologySpread", GANG,                                                              \
      "a spread constraint keeps a member off the nodes that have room")                           \
    X(ABOVE_MAXIMUM, "AboveMaxMember", CALL, "`maxMember` pods of the gang are placed already")    \
    X(BAD_LINK, "InvalidLink", CALL, "the pod names two PodGroups, or one that cannot exist")      \
    X(AWAITS_GROUP, "WaitsForPodGroup", CALL,                                                      \
      "the pod's PodGroup does not exist yet; muster creates it")                                  \
    X(REFUSED_BY_SCHEDULER, "RefusedByScheduler", GANG,                                            \
      "kube-scheduler refuses the nodes that have room for a member")                              \
    X(REJECTED_EARLY, "MemberRejectedEarly", GANG,                                                 \
      "kube-scheduler refuses a member without a filter call to muster")                           \
    X(PLAN_TOO_LARGE, "PlanTooLarge", GANG,                                                        \
      "the members differ so much that planning the gang would delay other gangs")                 \
    X(QUEUE_MISSING, "QueueNotFound", GANG, "the gang names a queue that does not exist")          \
    X(QUEUE_INVALID, "InvalidQueue", GANG,                                                         \
      "the queue has queues below it, or the queue or one above it has an error")                  \
    X(QUEUE_CLOSED, "QueueClosed", GANG, "the queue takes no new gangs")                           \
    X(QUEUE_FORBIDDEN, "QueueNotAllowed", GANG,                                                    \
      "`queueNamespaces` does not list the namespace for the queue")                               \
    X(QUEUE_LIMIT, "QueueLimitReached", GANG,                                                      \
      "the gang does not fit into a limit of its queue, or of one above it")                       \
    X(QUEUE_DESERVED, "QueueDeservedReached", GANG,                                                \
      "the gang is not preemptible, and does not fit into what its queue deserves")                \
    X(QUEUE_RESERVED, "RoomReservedForQueue", GANG, "the free room is reserved for other queues")  \
    X(QUEUE_BEHIND, "BehindInQueue", GANG,                                                         \
      "the queue is first in, first out, and other gangs are ahead")                               \
    X(SCHEDULE_TIMEOUT, "ScheduleTimeout", GANG, "the attempt timed out, and the gang backs off")  \
    X(PLANNED, "Planned", GANG, "the gang has a plan, and its slots are reserved")                 \
    X(SCHEDULED, "Scheduled", GANG, "the quorum is bound")                                         \
    X(NODE_NOT_OFFERED, "NodeNotOffered", CALL,                                                    \
      "kube-scheduler did not offer the node of the member's slot")                                \
    X(RESERVED, "Reserved", CALL, "the room is reserved for the plan of a gang")                   \
    X(NO_ROOM, "NoRoom", CALL, "the node of the bind call has no unreserved room for the pod")     \
    X(NOT_FILTERED, "NotPassed", CALL, "filter did not return the node of the bind call recently") \
    X(RULE, "NodeRule", CALL, "a rule of the pod or the node forbids the bind call")               \
    X(POD_UNKNOWN, "PodUnknown", CALL, "muster's watch has not shown the pod yet")                 \
    X(NODE_UNKNOWN, "NodeUnknown", CALL, "muster's watch has not shown the node yet")              \
    X(POD_BOUND, "PodBound", CALL, "the pod is bound already")                                     \
    X(POD_DELETED, "PodDeleted", CALL, "the pod is deleted, finished or being evicted")            \
    X(SLOT_MOVED, "SlotMoved", CALL,                                                               \
      "the plan has no slot for the member on the node of the bind call")                          \
    X(HOLD_SUPERSEDED, "HoldSuperseded", CALL,                                                     \
      "a newer bind call for the pod replaced the held one")                                       \
    X(CALL_CLOSED, "CallClosed", CALL,                                                             \
      "kube-scheduler closed the connection of the held bind call")                                \
    X(TOO_MANY_HOLDS, "TooManyHolds", CALL,                                                        \
      "muster already holds as many bind calls of other gangs as it may")                          \
    X(BIND_OPEN, "BindingOpen", CALL,                                                              \
      "the result of an earlier Binding of the pod is not known yet")                              \
    X(BIND_REFUSED, "BindingRefused", GANG, "the API server refused a Binding")                    \
    X(NOT_SYNCED, "NotSynced", CALL, "muster has not read all objects since its start")            \
    X(STOPPING, "Stopping", CALL, "muster is shutting down")

enum gang_reason_code {
#define X(id, name, of, meaning) REASON_##id,
    GANG_REASONS(X)
#undef X
        REASON_MAX
};
const char *gang_reason_name(enum gang_reason_code code);

/*
 * The Kubernetes events that the core sends: the reason, which is stable, whether the event is a
 * warning, and the kind of the object. Three reasons are also codes of a gang. When the event is
 * sent is for docs/reference/events.md.
 */
#define GANG_KUBE_EVENTS(X)                                                                        \
    X(GROUP_INVALID, "InvalidPodGroup", true, "PodGroup", "the PodGroup is refused")               \
    X(NOT_UNIFORM, "MembersDiffer", true, "PodGroup",                                              \
      "the gang is refused, because its members differ in a label that must be equal")             \
    X(MEMBER_INVALID, "InvalidMember", true, "PodGroup",                                           \
      "the gang is refused, because a pod exceeds a limit or has a field that muster cannot read") \
    X(WAITS, "Unschedulable", true, "PodGroup",                                                    \
      "the gang begins to wait, or its reason for waiting changes; the message is the reason")     \
    X(TIMEOUT, "Timeout", true, "PodGroup", "an attempt times out")                                \
    X(BIND_REFUSED, "BindingRefused", true, "PodGroup",                                            \
      "the API server refuses a Binding of a commit; one event for each commit")                   \
    X(EVICTED, "Evicted", true, "PodGroup",                                                        \
      "muster undoes a failed commit (`onFailedCommit: evict`)")                                   \
    X(SCHEDULED, "PodGroupScheduled", false, "PodGroup", "the gang is Scheduled")                  \
    X(PREEMPTS, "Preempting", false, "PodGroup",                                                   \
      "muster evicts gangs or pods to make room for the gang")                                     \
    X(PREEMPTED, "Preempted", true, "PodGroup",                                                    \
      "muster evicts the gang, or members that it does not need, to make room for another gang; "  \
      "or it evicts the rest of the gang, because kube-scheduler has preempted some of its "       \
      "members, or because muster was restarted while it evicted them")                            \
    X(POD_PREEMPTED, "Preempted", true, "Pod", "muster evicts the pod; the message is the reason") \
    X(POD_WAITS, "Unschedulable", true, "Pod",                                                     \
      "the gang's reason for waiting has changed, and kube-scheduler has not called filter for "   \
      "the member since that change, so the message on the member is outdated")                    \
    X(MISMATCH, "PredicateMismatch", true, "Pod",                                                  \
      "with `expressLane: true`: muster and kube-scheduler disagree about whether a node is "      \
      "feasible for the pod. Only the first difference in a namespace is reported")

enum gang_kube_event {
#define X(id, reason, warning, kind, when) KUBE_EVENT_##id,
    GANG_KUBE_EVENTS(X)
#undef X
        KUBE_EVENT_MAX
};

enum gang_effect_kind {
    GANG_REPLY_FILTER,
    GANG_REPLY_PRIORITIZE,
    GANG_REPLY_PREEMPT,
    GANG_REPLY_BIND,
    GANG_BIND,     /* create this Binding and report the result with BIND_DONE */
    GANG_READ_POD, /* read this pod and report the result with POD_READ */
    GANG_NOMINATE, /* set status.nominatedNodeName, which wakes and steers the pod; node NULL clears
                      the field */
    GANG_UNGATE,   /* remove muster's own scheduling gate, and no other gate; if `node` is set,
                      first set status.nominatedNodeName */
    GANG_MARK_VICTIM, /* set the condition DisruptionTarget of a pod that muster evicts with its
                         gang, with the reason GANG_VICTIM_MARK */
    GANG_EVICT,   /* evict a bound pod through the Eviction API: to make room for a gang, or to undo
                     a failed commit */
    GANG_SUSPEND, /* suspend the workload that owns the PodGroup, or report SUSPEND_REFUSED */
    GANG_RESUME,  /* resume this workload, if muster has suspended it */
    GANG_STATUS,  /* the PodGroup's status changed: convert it to the dialect and write it */
    GANG_QUEUE_STATUS,    /* the queue's status changed: convert it to the dialect and write it */
    GANG_EVENT,           /* send a Kubernetes event */
    GANG_PATCH_CONDITION, /* replace the message of condition PodScheduled, which also wakes the
                             pod. If the pod has no gates, write only while the pod still has
                             `version`: in a later version, kube-scheduler may have written a newer
                             message */
    GANG_EFFECT_MAX
};

struct gang_filter_reply {
    uint64_t id;
    const char *error;      /* answer only Error, with this text; NULL: no error */
    bool pass_all;          /* every offered node passes */
    const uint32_t *passed; /* else: indexes into the offered names, ascending or best first */
    size_t n_passed;
    struct gang_filter_refusal {
        uint32_t index; /* into the offered names */
        const char *text;
    } const *refused; /* the refused nodes that get a text; may be only some of them */
    size_t n_refused;
    size_t n_full; /* how many of the last refusals go into FailedNodes, where kube-scheduler puts
                      full nodes; the others go into FailedAndUnresolvableNodes */
};

/* The content of a PodGroup's status. Strings are borrowed. */
struct gang_status {
    const struct gang_ref *ref;
    const char *uid;
    enum gang_state state;
    enum gang_reason_code reason;
    const char *text;    /* the reason as text; "": none */
    const char *help;    /* a change that would make the gang fit, as text; "": unknown */
    bool timed_out;      /* the schedule timeout ended the last attempt */
    bool ever_scheduled; /* the quorum has been bound at some time */
    int64_t min_member;  /* as written in the PodGroup */
    /* For a parent, the numbers below are sums over its children. */
    int needed;  /* members that must be bound before the PodGroup is Scheduled */
    int members; /* linked pods that are neither Terminating nor Failed */
    int bound;   /* members with a node, including finished ones */
    int running, succeeded;
    int failed; /* Failed pods, which `members` does not include */
};

/* A resource in a queue: what the queue states, and what is counted in it and below. The name is
 * borrowed. */
struct gang_queue_amount {
    const char *resource;
    int64_t reserved, deserved, cap; /* see struct gang_quota */
    int64_t share;                   /* its fair share now, in thousandths of a unit */
    int64_t used;                    /* by its pods and slots, and those of all queues below it */
    int64_t firm;                    /* part of `used`, by gangs that are not preemptible */
    int64_t requested;               /* `used`, and what its waiting gangs need */
};

/* Numbers and texts for a queue's status. Strings are borrowed. */
struct gang_queue_status {
    const struct gang_ref *ref;
    const char *uid;
    enum gang_reason_code reason; /* QUEUE_INVALID; NONE: gangs can use the queue */
    const char *text;             /* why not; "": gangs can use it */
    bool closed;
    int waiting; /* gangs without a plan; all counts include queues below it */
    int planned; /* gangs with a plan that are not Scheduled yet */
    int running; /* Scheduled gangs */
    int done;
    const struct gang_queue_amount *amounts; /* sorted by name */
    size_t n_amounts;
    const char *const *children; /* names of the queues directly below it, sorted */
    size_t n_children;
};

struct gang_effect {
    enum gang_effect_kind kind;
    union {
        struct gang_filter_reply filter;
        struct {
            uint64_t id;
            const uint8_t *scores; /* 0..10, one per offered name */
            size_t n;
        } prioritize;
        struct {
            uint64_t id;
            const uint32_t *kept; /* indexes of the candidate nodes that remain */
            size_t n_kept;
        } preempt;
        struct {
            uint64_t id;
            const char *error; /* "": success */
        } bind_reply;
        struct {
            const char *ns, *name, *uid;
            const char *node; /* BIND: the target; NOMINATE: the target, NULL clears the nomination;
                                 UNGATE: the target, NULL keeps the nomination; others: NULL */
            const char *text; /* PATCH_CONDITION: the new message; MARK_VICTIM, EVICT: why, for
                                 users, such as "to make room for gang ml/b"; others: NULL */
            int64_t version;  /* PATCH_CONDITION: the pod's version that muster knows; others: 0 */
            bool of_commit; /* BIND: the Binding is part of a commit and carries GANG_COMMIT_MARK */
        } pod; /* BIND, READ_POD, NOMINATE, UNGATE, MARK_VICTIM, EVICT, PATCH_CONDITION */
        struct {
            const struct gang_ref *ref;
            const char *uid;
            const char *text; /* SUSPEND: why, for users; RESUME: NULL */
        } workload;           /* SUSPEND, RESUME: the PodGroup that the workload owns */
        struct gang_status status;
        struct gang_queue_status queue;
        struct {
            const char *kind;      /* "Pod" or "PodGroup" */
            const char *api_group; /* of a PodGroup; NULL for pods */
            const char *ns, *name, *uid;
            bool warning;
            const char *reason; /* CamelCase, stable: "PodGroupScheduled", "Unschedulable", … */
            const char *message;
        } event;
    };
};

#endif
