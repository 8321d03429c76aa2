/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.sigs.k8s.io/v1alpha1: scheduler-plugins before v0.25, Koordinator (which adds
 * annotations to the PodGroup) and Alibaba ACS (whose gangs are of one compute class). Pods are
 * linked by a label. Phases follow the controller of scheduler-plugins v0.24.
 */
#include "k8s/dialect/dialect_common.h"

static int sigs_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    if (dialect_min_member(group, facts, err) < 0 || dialect_min_resources(group, facts, err) < 0 ||
        dialect_koordinator_annotations(group, "spec.minMember", facts, err) < 0)
        return -1;
    return dialect_timeout(group, facts, err); /* the field goes before the annotation */
}

/* It has neither queues nor parts. */
static json_t *sigs_make(const struct workload_group *group)
{
    return dialect_make(group, /* has_queue= */ false);
}

static const struct dialect_phases sigs_phases = {
    .by_state =
        {
            [GANG_ASSEMBLING] = "Pending",
            [GANG_WAITING] = "PreScheduling",
            [GANG_PLANNED] = "PreScheduling",
            [GANG_COMMITTING] = "Scheduling",
            [GANG_SCHEDULED] = "Scheduled",
            [GANG_RECOVERING] = "Scheduling",
            [GANG_BACKED_OFF] = "PreScheduling",
            [GANG_DONE] = "Failed",
        },
    .running = "Running",
    .finished = "Finished",
    .timed_out = "Failed",
};

static json_t *sigs_status(const struct gang_status *s, const struct dialect_view *view)
{
    struct status_draft d = draft_begin(view);
    draft_string(&d, "phase", dialect_phase(&sigs_phases, s));
    draft_count(&d, "scheduled", s->bound);
    draft_counts(&d, s);
    draft_occupied(&d, s, view);
    draft_scheduled(&d, s);
    return draft_end(&d);
}

/* No timeout of its own: scheduler-plugins' default is an argument of the plugin, which is the
 * config's scheduleTimeout here. */
const struct dialect dialect_sigs = {
    .name = "sigs",
    .api_group = "scheduling.sigs.k8s.io",
    .versions = (const char *const[]){"v1alpha1", NULL},
    .status_subresource = true,
    .links = (const struct dialect_key[]){{KEY_LABEL, "pod-group.scheduling.sigs.k8s.io"},
                                          {KEY_END, NULL}},
    .family = "sigs",
    /* Absent is a value like others: a gang that never heard of compute classes is of one. */
    .uniform = "alibabacloud.com/compute-class",
    .decode = sigs_decode,
    .status = sigs_status,
    .make = sigs_make,
};
