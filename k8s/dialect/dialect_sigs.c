/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.sigs.k8s.io/v1alpha1: scheduler-plugins before v0.25, Koordinator (which adds
 * annotations to the PodGroup) and Alibaba ACS (where all members have the same compute class).
 * Pods are linked by a label. Phases follow the controller of scheduler-plugins v0.24.
 */
#include "k8s/dialect/dialect_common.h"

static int sigs_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    if (dialect_min_member(group, facts, err) < 0 || dialect_min_resources(group, facts, err) < 0 ||
        dialect_koordinator_annotations(group, "spec.minMember", facts, err) < 0)
        return -1;
    return dialect_timeout(group, facts,
                           err); /* last, because the field overrides the annotation */
}

/* This API has neither queues nor subgroups. */
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

static const struct dialect_field sigs_fields[] = {
    {"spec.minMember", DIALECT_READS | DIALECT_CREATES,
     "this many pods start together, or none starts. 0 or absent: each pod starts on its own"},
    {"spec.minResources", DIALECT_READS | DIALECT_CREATES,
     "muster makes no plan while less than this is free. It ignores keys for quotas (`requests.`, "
     "`limits.`, `count/`)"},
    {"spec.scheduleTimeoutSeconds", DIALECT_READS,
     "the longest time for an attempt in seconds, at most `maxScheduleTimeoutSeconds`. Takes "
     "precedence over the annotation `waiting-time`"},
    KOORDINATOR_FIELDS,
    {"status.phase", DIALECT_WRITES, "see [Phases](#phases)"},
    {"status.scheduled", DIALECT_WRITES, "members that are bound"},
    {"status.running", DIALECT_WRITES, "members that are running"},
    {"status.succeeded", DIALECT_WRITES, "members that have succeeded"},
    {"status.failed", DIALECT_WRITES, "pods that have failed"},
    {"status.occupiedBy", DIALECT_WRITES,
     "the owners of the pods, as `namespace/name`. Written once"},
    {"status.scheduleStartTime", DIALECT_WRITES,
     "when the gang first left the state Assembling. Written once"},
    {"status.conditions", DIALECT_WRITES,
     "the condition `PodGroupScheduled`. Its reason is a [code](reasons.md) or a state"},
    {NULL, 0, NULL},
};

/* It has no default timeout: in scheduler-plugins that is an argument of the plugin, which is
 * muster's setting scheduleTimeoutSeconds. */
const struct dialect dialect_sigs = {
    .name = "sigs",
    .api_group = "scheduling.sigs.k8s.io",
    .versions = (const char *const[]){"v1alpha1", NULL},
    .status_subresource = true,
    .links = (const struct dialect_key[]){{KEY_LABEL, "pod-group.scheduling.sigs.k8s.io"},
                                          {KEY_END, NULL}},
    .family = "sigs",
    /* If no member has the label, all members have the same value. */
    .uniform = "alibabacloud.com/compute-class",
    .fields = sigs_fields,
    .decode = sigs_decode,
    .status = sigs_status,
    .make = sigs_make,
};
