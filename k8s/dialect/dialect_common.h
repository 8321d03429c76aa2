/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect_common.h - what PodGroup APIs have in common, for the dialect_*.c files only.
 *
 * A status is drafted beside the object as last seen:
 *
 *     struct status_draft d = draft_begin(view);
 *     draft_string(&d, "phase", "Pending");
 *     draft_count(&d, "running", 3);
 *     draft_condition(&d, "Unschedulable", true, "NotEnoughResources", "...");
 *     return draft_end(&d);
 *
 * draft_end() gives a merge patch of what differs, or NULL. All functions are pure.
 */
#ifndef MUSTER_K8S_DIALECT_DIALECT_COMMON_H
#define MUSTER_K8S_DIALECT_DIALECT_COMMON_H

#include "k8s/dialect/dialect.h"

extern const struct dialect dialect_kai, dialect_volcano, dialect_sigs, dialect_xk8s,
    dialect_lightweight, dialect_koordinator;

/* Borrowed from the object; NULL when absent or empty. */
const char *dialect_annotation(const json_t *object, const char *key);
const char *dialect_label(const json_t *object, const char *key);

/* The object's spec; NULL when it has none. */
int dialect_spec(const json_t *group, const json_t **ret, struct err *err);
/* A number of things: 0 to 2147483647. */
int dialect_count(const json_t *object, const char *key, int64_t *ret, struct err *err);
/* spec.minMember as written; absent stays 0. */
int dialect_min_member(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* spec.scheduleTimeoutSeconds; absent or not positive leaves the default. */
int dialect_timeout(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* spec.minResources, but for what only a quota counts ("limits.cpu", "count/pods"). */
int dialect_min_resources(const json_t *group, struct gang_group_facts *facts, struct err *err);
/* Room for n subgroups, all empty. */
void dialect_subgroups(struct gang_group_facts *facts, size_t n);
/* Koordinator's annotations of a PodGroup or of a pod: total-number, mode, match-policy,
 * waiting-time, groups. min_member is set already; min_name is where it was found. */
int dialect_koordinator_annotations(const json_t *object, const char *min_name,
                                    struct gang_group_facts *facts, struct err *err);

/* A spec with minMember, what queue and priorityClassName say if the API has them, and
 * minResources. */
json_t *dialect_make(const struct workload_group *group, bool has_queue);

/* Members that must be bound, run or be done for the group to count as that. */
int64_t dialect_quorum(const struct gang_status *status);
/* The quorum runs or has succeeded. */
bool dialect_runs(const struct gang_status *status);
/* The quorum has succeeded. */
bool dialect_succeeded(const struct gang_status *status);

/* A dialect's words for the life of a gang. */
struct dialect_phases {
    const char *by_state[GANG_STATE_MAX];
    const char *running;   /* Scheduled, and the quorum runs */
    const char *finished;  /* Done, and the quorum has succeeded */
    const char *timed_out; /* backed off by its timeout; NULL: as by_state */
};
const char *dialect_phase(const struct dialect_phases *phases, const struct gang_status *status);

struct status_draft {
    const json_t *old;  /* status as last seen, may be NULL; borrowed */
    json_t *patch;      /* what differs */
    json_t *conditions; /* the whole new list, once one differs */
    usec_t wall;
    bool numbered; /* each transition of a condition gets a number, transitionID */
};

struct status_draft draft_begin(const struct dialect_view *view);
/* Where nothing is there yet; value NULL: nothing to say. */
void draft_once(struct status_draft *d, const char *key, const char *value);
void draft_string(struct status_draft *d, const char *key, const char *value);
/* An absent count is 0. */
void draft_count(struct status_draft *d, const char *key, int64_t value);
/* running, succeeded, failed. */
void draft_counts(struct status_draft *d, const struct gang_status *status);
/* Sets one condition of status.conditions, others stay. lastTransitionTime moves only when the
 * status does. */
void draft_condition(struct status_draft *d, const char *type, bool status, const char *reason,
                     const char *message);
/* Makes a condition that is True False; one that is not there stays away. */
void draft_condition_clear(struct status_draft *d, const char *type, const char *reason);
/* The usual condition of dialects that have no words of their own: PodGroupScheduled, with the
 * core's reason and text. */
void draft_scheduled(struct status_draft *d, const struct gang_status *status);
json_t *draft_end(struct status_draft *d);

/* The one of this type in a list of conditions, borrowed, or NULL. */
json_t *find_condition(const json_t *conditions, const char *type);
/* The transitionID of the next transition in a list of conditions: they count up. */
char *next_transition(const json_t *conditions);
/* Why the gang waits and what would help, as a message for people; the caller frees it. */
char *status_words(const struct gang_status *status);
/* A group that has enough members says since when it is scheduled, and whose pods it has. */
void draft_occupied(struct status_draft *d, const struct gang_status *status,
                    const struct dialect_view *view);

#endif
