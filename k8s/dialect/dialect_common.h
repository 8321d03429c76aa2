/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect_common.h - what PodGroup APIs have in common, for the dialect_*.c files only.
 *
 * A draft collects the differences between a new status and the latest known object:
 *
 *     struct status_draft d = draft_begin(view);
 *     draft_string(&d, "phase", "Pending");
 *     draft_count(&d, "running", 3);
 *     draft_condition(&d, "Unschedulable", true, "NotEnoughResources", "...");
 *     return draft_end(&d);
 *
 * draft_end() returns a merge patch of the differences, or NULL if there are none. All functions
 * are pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_K8S_DIALECT_DIALECT_COMMON_H
#define MUSTER_K8S_DIALECT_DIALECT_COMMON_H

#include "k8s/dialect/dialect.h"

extern const struct dialect dialect_kai, dialect_volcano, dialect_sigs, dialect_xk8s,
    dialect_lightweight, dialect_koordinator;

/* Borrowed from the object; NULL if absent or empty. */
const char *dialect_annotation(const json_t *object, const char *key);
const char *dialect_label(const json_t *object, const char *key);

const char *dialect_value(const json_t *object, const struct dialect_key *key);
/* A copy of the name of a queue, in a form that can be printed. A name that is too long for any
 * queue is cut to a length that is still too long. */
char *dialect_queue_name(const char *name);
/* Sets err: the annotation has this value and must be what `want` says. Returns -1. */
int dialect_bad_annotation(const char *key, const char *value, const char *want, struct err *err);

/* The object's spec; NULL if it has none. */
int dialect_spec(const json_t *group, const json_t **ret, struct err *err);
/* A duration in the spec; absent leaves *ret. */
int dialect_spec_duration(const json_t *spec, const char *key, usec_t *ret, struct err *err);
/* A count from 0 to 2147483647. */
int dialect_count(const json_t *object, const char *key, int64_t *ret, struct err *err);
/* spec.minMember as written; 0 if absent. */
int dialect_min_member(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* spec.scheduleTimeoutSeconds. If it is absent or not positive, the default stays. */
int dialect_timeout(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* spec.minResources, without entries that only a quota counts ("limits.cpu", "count/pods"). */
int dialect_min_resources(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* spec.queue, else one of the labels (closed by KEY_END; NULL: none). */
int dialect_queue(const json_t *group, const struct dialect_key *labels,
                  struct gang_group_facts *facts, struct err *err);
/* Allocates n empty subgroups. */
void dialect_subgroups(struct gang_group_facts *facts, size_t n);
/* Koordinator's annotations of a PodGroup or a pod: total-number, mode, match-policy, waiting-time
 * and groups. min_member must be set; min_name is its field or key, for errors. */
int dialect_koordinator_annotations(const json_t *object, const char *min_name,
                                    struct gang_group_facts *facts, struct err *err);

/* Those annotations, as rows of dialect.fields. */
#define KOORDINATOR_FIELDS                                                                         \
    {"annotation gang.scheduling.koordinator.sh/total-number", DIALECT_READS,                      \
     "the number of pods of the gang. Must not be below the minimum"},                             \
        {"annotation gang.scheduling.koordinator.sh/waiting-time", DIALECT_READS,                  \
         "the longest time for an attempt, such as `600s`, at most `maxScheduleTimeoutSeconds`"},  \
        {"annotation gang.scheduling.koordinator.sh/groups", DIALECT_READS,                        \
         "a JSON list of `namespace/name`. These gangs are placed together or not at all"},        \
        {"annotation gang.scheduling.koordinator.sh/match-policy", DIALECT_READS,                  \
         "how muster schedules members that are created after the gang was Scheduled. "            \
         "`once-satisfied`: one by one. `waiting-and-running`: they wait while the gang is below " \
         "its minimum. `only-waiting` means the same as `waiting-and-running`"},                   \
        {"annotation pod-group.scheduling.sigs.k8s.io/match-policy", DIALECT_READS,                \
         "the same as the annotation above. If both are set, muster uses the annotation above"},   \
    {                                                                                              \
        "annotation gang.scheduling.koordinator.sh/mode", DIALECT_READS,                           \
            "`Strict` and `NonStrict` have the same effect: the minimum number of pods start "     \
            "together, or none starts"                                                             \
    }

/* Returns a spec with minMember and minResources and, if has_queue, also queue and
 * priorityClassName. The caller owns it. */
json_t *dialect_make(const struct workload_group *group, bool has_queue);

/* The number of members that the gang's quorum needs. */
int64_t dialect_quorum(const struct gang_status *status);
/* Whether the quorum runs or has succeeded. */
bool dialect_runs(const struct gang_status *status);
/* Whether the quorum has succeeded. */
bool dialect_succeeded(const struct gang_status *status);

/* The phases of a dialect for the states of a gang. */
struct dialect_phases {
    const char *by_state[GANG_STATE_MAX];
    const char *running;   /* for Scheduled, if the quorum runs */
    const char *finished;  /* for Done, if the quorum has succeeded */
    const char *timed_out; /* for BackedOff after a timeout; NULL: as in by_state */
};
const char *dialect_phase(const struct dialect_phases *phases, const struct gang_status *status);

struct status_draft {
    const json_t *old;  /* latest known status; borrowed, may be NULL */
    json_t *patch;      /* the differences */
    json_t *conditions; /* the complete new list; NULL: no condition differs */
    usec_t wall;        /* the current time */
    bool numbered;      /* number the transitions of conditions (transitionID) */
};

struct status_draft draft_begin(const struct dialect_view *view);
/* Sets a field that is absent or empty. value NULL: does nothing. */
void draft_once(struct status_draft *d, const char *key, const char *value);
void draft_string(struct status_draft *d, const char *key, const char *value);
/* Removes a count that became 0: it is absent, as in the types of these APIs (omitempty). */
void draft_count(struct status_draft *d, const char *key, int64_t value);
/* Sets running, succeeded and failed. */
void draft_counts(struct status_draft *d, const struct gang_status *status);
/* Sets one condition in status.conditions and keeps the others. lastTransitionTime changes only
 * with the condition's status. */
void draft_condition(struct status_draft *d, const char *type, bool status, const char *reason,
                     const char *message);
/* Sets a condition that is True to False. Adds no condition. */
void draft_condition_clear(struct status_draft *d, const char *type, const char *reason);
/* Sets the condition PodGroupScheduled, with the core's reason and text. */
void draft_scheduled(struct status_draft *d, const struct gang_status *status);
/* Returns the merge patch, which the caller owns, or NULL. Frees the draft. */
json_t *draft_end(struct status_draft *d);

/* The condition of this type in a list, borrowed; NULL: there is none. */
json_t *find_condition(const json_t *conditions, const char *type);
/* The transitionID of the next transition: one more than the highest number in the list. The caller
 * frees it. */
char *next_transition(const json_t *conditions);
/* The message of a condition: why the gang waits and what would help. The caller frees it. */
char *status_words(const struct gang_status *status);
/* Sets occupiedBy and scheduleStartTime once the gang has left the state Assembling. */
void draft_occupied(struct status_draft *d, const struct gang_status *status,
                    const struct dialect_view *view);

#endif
