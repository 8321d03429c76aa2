/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect.h - everything the core can ask its caller to do.
 *
 * The core owns the effects; they are valid until the next gang_step(). A caller that defers an
 * effect copies what it needs. Effects are carried out in order. Pointers in them are never NULL
 * unless noted.
 */
#ifndef MUSTER_GANG_EFFECT_H
#define MUSTER_GANG_EFFECT_H

#include "gang/facts.h"

/* name, one-line meaning (metric label, JSON and documentation) */
#define GANG_STATES(X)                                                                             \
    X(ASSEMBLING, "Assembling", "fewer members exist than needed")                                 \
    X(WAITING, "Waiting", "enough members exist; no feasible plan now")                            \
    X(PLANNED, "Planned", "plan made, capacity reserved, members on their way to bind")            \
    X(COMMITTING, "Committing", "quorum at bind; bindings being written")                          \
    X(SCHEDULED, "Scheduled", "quorum bound; later members pass one by one")                       \
    X(RECOVERING, "Recovering", "part of it is bound; the needed rest is started together")        \
    X(BACKED_OFF, "BackedOff", "the last attempt timed out or was refused")                        \
    X(DONE, "Done", "all members finished")

enum gang_state {
#define X(id, name, help) GANG_##id,
    GANG_STATES(X)
#undef X
        GANG_STATE_MAX
};
const char *gang_state_name(enum gang_state state);

/*
 * Why a gang waits or a call is refused. The code is stable (API, metrics, condition reason); the
 * text is for people, and gang/messages/reason_text.c alone builds it.
 */
#define GANG_REASONS(X)                                                                            \
    X(NONE, "")                                                                                    \
    X(GROUP_MISSING, "PodGroupNotFound")                                                           \
    X(GROUP_INVALID, "InvalidPodGroup")                                                            \
    X(NOT_ENOUGH_MEMBERS, "NotEnoughMembers")                                                      \
    X(MEMBERS_GATED, "MembersGated")                                                               \
    X(FOREIGN_SCHEDULER, "OtherScheduler")                                                         \
    X(NOT_ENOUGH_RESOURCES, "NotEnoughResources")                                                  \
    X(NO_MATCHING_NODE, "NoMatchingNode")                                                          \
    X(MIN_RESOURCES, "MinResourcesNotFree")                                                        \
    X(NOT_UNIFORM, "MembersDiffer")                                                                \
    X(MEMBER_INVALID, "InvalidMember")                                                             \
    X(BEHIND, "BehindAnotherGang")                                                                 \
    X(EARMARKED, "RoomEarmarked")                                                                  \
    X(VOLUME_NODE, "VolumeOnAnotherNode")                                                          \
    X(KEPT_APART, "PodAntiAffinity")                                                               \
    X(SPREAD, "TopologySpread")                                                                    \
    X(ABOVE_MAXIMUM, "AboveMaxMember")                                                             \
    X(BAD_LINK, "InvalidLink")                                                                     \
    X(AWAITS_GROUP, "WaitsForPodGroup")                                                            \
    X(REFUSED_BY_SCHEDULER, "RefusedByScheduler")                                                  \
    X(REJECTED_EARLY, "MemberRejectedEarly")                                                       \
    X(SCHEDULE_TIMEOUT, "ScheduleTimeout")                                                         \
    X(PLANNED, "Planned")                                                                          \
    X(SCHEDULED, "Scheduled")                                                                      \
    X(NODE_NOT_OFFERED, "NodeNotOffered")                                                          \
    X(RESERVED, "Reserved")                                                                        \
    X(NO_ROOM, "NoRoom")                                                                           \
    X(NOT_FILTERED, "NotPassed")                                                                   \
    X(RULE, "NodeRule")                                                                            \
    X(POD_UNKNOWN, "PodUnknown")                                                                   \
    X(NODE_UNKNOWN, "NodeUnknown")                                                                 \
    X(POD_BOUND, "PodBound")                                                                       \
    X(POD_DELETED, "PodDeleted")                                                                   \
    X(SLOT_MOVED, "SlotMoved")                                                                     \
    X(HOLD_SUPERSEDED, "HoldSuperseded")                                                           \
    X(CALL_CLOSED, "CallClosed")                                                                   \
    X(TOO_MANY_HOLDS, "TooManyHolds")                                                              \
    X(BIND_OPEN, "BindingOpen")                                                                    \
    X(BIND_REFUSED, "BindingRefused")                                                              \
    X(NOT_SYNCED, "NotSynced")                                                                     \
    X(STOPPING, "Stopping")

enum gang_reason_code {
#define X(id, name) REASON_##id,
    GANG_REASONS(X)
#undef X
        REASON_MAX
};
const char *gang_reason_name(enum gang_reason_code code);

enum gang_effect_kind {
    GANG_REPLY_FILTER,
    GANG_REPLY_PRIORITIZE,
    GANG_REPLY_PREEMPT,
    GANG_REPLY_BIND,
    GANG_BIND,     /* write this Binding, answer with BIND_DONE */
    GANG_READ_POD, /* read this pod, answer with POD_READ */
    GANG_NOMINATE, /* set status.nominatedNodeName, which wakes and steers the pod; node NULL clears
                      it */
    GANG_UNGATE,   /* remove muster's own scheduling gate and no other; first set
                      status.nominatedNodeName if node is given */
    GANG_EVICT,    /* undo a member of a failed commit through the Eviction API */
    GANG_STATUS,   /* the PodGroup's status changed: convert it to the dialect and write it */
    GANG_EVENT,    /* send a Kubernetes event */
    GANG_PATCH_CONDITION, /* replace the text of condition PodScheduled where kube-scheduler wrote
                             an older one; this also wakes the pod. A pod without gates is written
                             only at exactly this version: the condition of a later version is
                             kube-scheduler's newer one */
    GANG_EFFECT_MAX
};

struct gang_filter_reply {
    uint64_t id;
    const char *error;      /* if set, answer Error with this text and nothing else; may be NULL */
    bool pass_all;          /* every offered node passes */
    const uint32_t *passed; /* else: indexes into the offered names, ascending or best first */
    size_t n_passed;
    struct gang_filter_refusal {
        uint32_t index;
        const char *text; /* goes to FailedAndUnresolvableNodes */
    } const *refused;     /* at most a few, or one per refused node */
    size_t n_refused;
    bool as_full; /* texts go to FailedNodes, as for nodes without room */
};

/* Numbers and texts for a PodGroup's status. Strings are borrowed. */
struct gang_status {
    const struct gang_ref *ref;
    const char *uid;
    enum gang_state state;
    enum gang_reason_code reason;
    const char *text;    /* the reason as text; "": none */
    const char *help;    /* what would make it fit, as text; "": unknown */
    bool timed_out;      /* scheduleTimeoutSeconds ended the last attempt */
    bool ever_scheduled; /* the quorum has been bound at some time */
    int64_t min_member;  /* as written in the PodGroup */
    /* For a parent, the numbers below are sums over its children. */
    int needed;  /* members that must be bound before the PodGroup is Scheduled */
    int members; /* linked pods that are neither Terminating nor Failed */
    int bound;   /* members with a node, finished ones included */
    int running, succeeded;
    int failed; /* Failed pods, not counted in members */
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
            const char *node; /* BIND: the target; NOMINATE: the target or NULL to clear; UNGATE:
                                 the target or NULL to leave it; else NULL */
            const char *text; /* PATCH_CONDITION; else NULL */
            int64_t version;  /* PATCH_CONDITION: version of the known pod; else 0 */
            bool of_commit; /* BIND: part of a gang's commit, to be marked with GANG_COMMIT_MARK */
        } pod;              /* BIND, READ_POD, NOMINATE, UNGATE, EVICT, PATCH_CONDITION */
        struct gang_status status;
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
