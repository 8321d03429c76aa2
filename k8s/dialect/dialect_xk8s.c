/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.x-k8s.io/v1alpha1: scheduler-plugins since v0.25. Pods are linked by a label. Phases
 * follow its controller: the phase is Scheduling as soon as enough pods exist. Failed and Finished
 * are final, so only the condition and an event show that an attempt has timed out.
 */
#include "k8s/dialect/dialect_common.h"

static int xk8s_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    if (dialect_min_member(group, facts, err) < 0 || dialect_min_resources(group, facts, err) < 0)
        return -1;
    return dialect_timeout(group, facts, err);
}

/* This API has neither queues nor subgroups. */
static json_t *xk8s_make(const struct workload_group *group)
{
    return dialect_make(group, /* has_queue= */ false);
}

static const struct dialect_phases xk8s_phases = {
    .by_state =
        {
            [GANG_ASSEMBLING] = "Pending",
            [GANG_WAITING] = "Scheduling",
            [GANG_PLANNED] = "Scheduling",
            [GANG_COMMITTING] = "Scheduling",
            [GANG_SCHEDULED] = "Scheduling",
            [GANG_RECOVERING] = "Scheduling",
            [GANG_BACKED_OFF] = "Scheduling", /* Failed is final here */
            [GANG_DONE] = "Failed",
        },
    .running = "Running",
    .finished = "Finished",
};

static json_t *xk8s_status(const struct gang_status *s, const struct dialect_view *view)
{
    struct status_draft d = draft_begin(view);
    draft_string(&d, "phase", dialect_phase(&xk8s_phases, s));
    draft_counts(&d, s);
    draft_occupied(&d, s, view);
    draft_scheduled(&d, s);
    return draft_end(&d);
}

static const struct dialect_field xk8s_fields[] = {
    {"spec.minMember", DIALECT_READS | DIALECT_CREATES,
     "this many pods start together, or none starts. 0 or absent: each pod starts on its own"},
    {"spec.minResources", DIALECT_READS | DIALECT_CREATES,
     "muster makes no plan while less than this is free. It ignores keys for quotas (`requests.`, "
     "`limits.`, `count/`)"},
    {"spec.scheduleTimeoutSeconds", DIALECT_READS,
     "the longest time for an attempt in seconds, at most `maxScheduleTimeoutSeconds`"},
    {"status.phase", DIALECT_WRITES, "see [Phases](#phases)"},
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

const struct dialect dialect_xk8s = {
    .name = "x-k8s",
    .api_group = "scheduling.x-k8s.io",
    .versions = (const char *const[]){"v1alpha1", NULL},
    .status_subresource = true,
    .links =
        (const struct dialect_key[]){{KEY_LABEL, "scheduling.x-k8s.io/pod-group"}, {KEY_END, NULL}},
    .fields = xk8s_fields,
    .decode = xk8s_decode,
    .status = xk8s_status,
    .make = xk8s_make,
};
