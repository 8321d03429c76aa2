/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect.h - everything the core can ask for.
 *
 * Effects are owned by the core and valid until the next gang_step(); whoever carries one out later
 * copies what it needs. They are to be carried out in order. Pointers in them are never NULL unless
 * said.
 */
#ifndef MUSTER_GANG_EFFECT_H
#define MUSTER_GANG_EFFECT_H

#include "gang/facts.h"

/* name, one-line meaning (becomes metric label, JSON and documentation) */
#define GANG_STATES(X)                                                                             \
    X(ASSEMBLING, "Assembling", "fewer members exist than needed")                                 \
    X(WAITING, "Waiting", "enough members exist; no feasible plan now")                            \
    X(PLANNED, "Planned", "plan made, capacity reserved, members on their way to bind")            \
    X(COMMITTING, "Committing", "quorum at bind; bindings being written")                          \
    X(SCHEDULED, "Placed", "quorum bound; later members pass one by one")                          \
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
 * Why a gang waits or a call is refused. The code is stable (API, metrics, condition reason),
 * the text is for people and built in gang/messages/reason_text.c, nowhere else.
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
    X(SCHEDULED, "Placed")                                                                         \
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
    GANG_NOMINATE, /* set status.nominatedNodeName (wakes and steers the pod); node NULL clears it
                    */
    GANG_UNGATE, /* take off muster's own scheduling gate, and no other; before that, where node is
                  * given, set status.nominatedNodeName */
    GANG_EVICT,  /* undo a member of a failed commit through the Eviction API */
    GANG_STATUS, /* the PodGroup's status changed: project it into the dialect and write it */
    GANG_EVENT,  /* send a Kubernetes event */
    GANG_PATCH_CONDITION, /* put the text into the pod's condition PodScheduled, where
                           * kube-scheduler has put an older one; that wakes the pod too. Of a pod
                           * without gates only into that very version: of a later one
                           * kube-scheduler says what is new */
    GANG_EFFECT_MAX
};

struct gang_filter_reply {
    uint64_t id;
    const char *error;      /* set: answer Error with this text, nothing else; may be NULL */
    bool pass_all;          /* every offered node passes */
    const uint32_t *passed; /* else: indexes into the offered names, rising order or best first */
    size_t n_passed;
    struct gang_filter_refusal {
        uint32_t index;
        const char *text; /* goes to FailedAndUnresolvableNodes */
    } const *refused;     /* at most a few, or one per refused node */
    size_t n_refused;
    bool as_full; /* texts go to FailedNodes: as kube-scheduler counts nodes without room */
};

/* Figures and words for a PodGroup's status. Borrowed strings. */
struct gang_status {
    const struct gang_ref *ref;
    const char *uid;
    enum gang_state state;
    enum gang_reason_code reason;
    const char *text;    /* the reason in words; "" when there is none */
    const char *help;    /* what would make it fit, in words; "" when nothing is known */
    bool timed_out;      /* the last attempt ended by scheduleTimeoutSeconds */
    bool ever_scheduled; /* the quorum was bound once */
    int64_t min_member;  /* as the PodGroup says */
    /* Of a parent, the figures below are the sums over its children. */
    int needed;  /* members that must be bound for the PodGroup to be placed */
    int members; /* linked pods that are neither Terminating nor Failed */
    int bound;   /* of these, with a node (finished ones too) */
    int running, succeeded;
    int failed; /* Failed pods (not in members) */
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
            const uint32_t *kept; /* indexes of the candidate nodes that may go on */
            size_t n_kept;
        } preempt;
        struct {
            uint64_t id;
            const char *error; /* "" is success */
        } bind_reply;
        struct {
            const char *ns, *name, *uid;
            const char *node; /* BIND: where; NOMINATE: where or NULL to clear; UNGATE: where, or
                               * NULL to leave it; else NULL */
            const char *text; /* TELL; else NULL */
            int64_t version;  /* TELL: of the pod that was known then; else 0 */
            bool of_commit;   /* BIND: one of a gang's commit, to be marked (GANG_COMMIT_MARK) */
        } pod;                /* BIND, READ_POD, NOMINATE, UNGATE, EVICT, TELL */
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
