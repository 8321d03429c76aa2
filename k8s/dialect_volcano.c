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
    const char *unschedulable; /* reason of the condition, or NULL: it is not */
} volcano_states[GANG_STATE_MAX] = {
    [GANG_ASSEMBLING] = {"Inqueue", "NotEnoughTasks"},
    [GANG_WAITING] = {"Pending", "NotEnoughResources"},
    [GANG_PLANNED] = {"Inqueue", NULL},
    [GANG_COMMITTING] = {"Inqueue", NULL},
    [GANG_PLACED] = {"Running", NULL},
    [GANG_RECOVERING] = {"Inqueue", "NotEnoughResources"},
    [GANG_BACKED_OFF] = {"Pending", "NotEnoughResources"},
    [GANG_DONE] = {"Completed", NULL},
};

/* The Scheduled condition's reason is a sentence in Volcano; tools look for it. */
#define VOLCANO_READY "tasks in gang are ready to be scheduled"

static json_t *volcano_status(const struct gang_status *s, const json_t *group, usec_t wall)
{
    struct status_draft d = draft_begin(group, wall);
    const char *reason = volcano_states[s->state].unschedulable;
    bool partial = reason && s->running > 0;
    draft_string(&d, "phase", partial ? "Unknown" : volcano_states[s->state].phase);
    draft_count(&d, "running", s->running);
    draft_count(&d, "succeeded", s->succeeded);
    draft_count(&d, "failed", s->failed);
    if (reason) {
        draft_condition_clear(&d, "Scheduled", reason);
        draft_condition(&d, "Unschedulable", true, reason, s->text);
    } else if (s->state == GANG_PLACED || s->state == GANG_DONE) {
        draft_condition_clear(&d, "Unschedulable", "Scheduled");
        draft_condition(&d, "Scheduled", true, VOLCANO_READY, "");
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
