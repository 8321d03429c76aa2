/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.volcano.sh/v1beta1. Pods are linked by the annotation scheduling.k8s.io/group-name
 * (the only key Volcano's own scheduler reads) or scheduling.volcano.sh/group-name.
 *
 * Phases: Pending is "waits for capacity", Inqueue "may have pods": operators that wait for
 * Inqueue before they create pods would wait for ever otherwise, so a group without enough members
 * is Inqueue. Unknown is Volcano's word for a group of which only a part runs.
 */
#include "k8s/dialect_common.h"

static const char *volcano_link(const json_t *pod)
{
    const char *name = dialect_annotation(pod, "scheduling.k8s.io/group-name");
    return name ? name : dialect_annotation(pod, "scheduling.volcano.sh/group-name");
}

static int volcano_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    if (dialect_min_member(group, facts, err) < 0)
        return -1;
    /* In Volcano 0 (or none) asks for nothing: each pod for itself, which is a gang of one. */
    if (facts->min_member == 0)
        facts->min_member = 1;
    return 0;
}

static const struct {
    const char *phase;
    bool unschedulable; /* carries that condition */
} volcano_states[GANG_STATE_MAX] = {
    [GANG_ASSEMBLING] = {"Inqueue", true}, [GANG_WAITING] = {"Pending", true},
    [GANG_PLANNED] = {"Inqueue", false},   [GANG_COMMITTING] = {"Inqueue", false},
    [GANG_PLACED] = {"Running", false},    [GANG_RECOVERING] = {"Inqueue", true},
    [GANG_BACKED_OFF] = {"Pending", true}, [GANG_DONE] = {"Completed", false},
};

static const char *volcano_reason(const struct gang_status *s)
{
    switch (s->reason) {
    case REASON_GROUP_INVALID:
    case REASON_NOT_ENOUGH_MEMBERS:
    case REASON_MEMBERS_GATED:
    case REASON_FOREIGN_SCHEDULER:
        return "NotEnoughTasks";
    default:
        return "NotEnoughResources";
    }
}

/* The Scheduled condition's reason is a sentence in Volcano; tools look for it. */
#define VOLCANO_READY "tasks in gang are ready to be scheduled"

static json_t *volcano_status(const struct gang_status *s, const json_t *group, usec_t wall)
{
    struct status_draft d = draft_begin(group, wall);
    const char *reason = volcano_states[s->state].unschedulable ? volcano_reason(s) : NULL;
    bool partial = reason && s->running > 0;
    draft_string(&d, "phase", partial ? "Unknown" : volcano_states[s->state].phase);
    draft_counts(&d, s);
    if (reason) {
        draft_condition_clear(&d, "Scheduled", reason);
        draft_condition(&d, "Unschedulable", true, reason, s->text);
    } else if (s->state == GANG_PLACED || s->state == GANG_DONE) {
        draft_condition_clear(&d, "Unschedulable", "Scheduled");
        draft_condition(&d, "Scheduled", true, VOLCANO_READY, "");
    } else {
        draft_condition_clear(&d, "Unschedulable", "Planned");
    }
    return draft_end(&d);
}

const struct dialect dialect_volcano = {
    .name = "volcano",
    .api_group = "scheduling.volcano.sh",
    .versions = (const char *const[]){"v1beta1", NULL},
    .status_subresource = false,
    .link = volcano_link,
    .decode = volcano_decode,
    .status = volcano_status,
};
