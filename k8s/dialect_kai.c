/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.run.ai: KAI's own PodGroup (v2alpha2, pods linked by the annotation pod-group-name)
 * and the lenient form that recipes write (v2, annotation scheduling.run.ai/pod-group, numeric
 * priority, scheduleTimeoutSeconds, phases). One decoder reads both.
 *
 * Newer versions of KAI's CRD have dropped status.phase and the counters; an API server prunes
 * them there, and the condition remains.
 */
#include "k8s/dialect_common.h"
#include "k8s/field.h"

static const char *kai_link(const json_t *pod)
{
    const char *name = dialect_annotation(pod, "scheduling.run.ai/pod-group");
    return name ? name : dialect_annotation(pod, "pod-group-name");
}

static int kai_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    if (dialect_min_member(group, facts, err) < 0 || dialect_timeout(group, facts, err) < 0)
        return -1;
    /* In KAI 0 (or none) means "no gang": each pod for itself, which is a gang of one. */
    if (facts->min_member == 0)
        facts->min_member = 1;
    const json_t *spec = NULL;
    int64_t priority = 0;
    if (field_object(group, "spec", &spec, err) < 0)
        return -1;
    if (field_int(spec, "priority", INT32_MIN, INT32_MAX, &priority, err) < 0)
        return err_wrap(err, "spec");
    facts->has_priority = json_is_integer(json_object_get(spec, "priority"));
    facts->priority = (int32_t)priority;
    return 0;
}

static const struct dialect_phases kai_phases = {
    .by_state =
        {
            [GANG_ASSEMBLING] = "Pending",
            [GANG_WAITING] = "Pending",
            [GANG_PLANNED] = "PreScheduling",
            [GANG_COMMITTING] = "PreScheduling",
            [GANG_PLACED] = "Scheduled",
            [GANG_RECOVERING] = "PreScheduling",
            [GANG_BACKED_OFF] = "Pending",
            [GANG_DONE] = "Failed",
        },
    .running = "Running",
    .finished = "Finished",
    .timed_out = "Failed",
};

static json_t *kai_status(const struct gang_status *s, const json_t *group, usec_t wall)
{
    struct status_draft d = draft_begin(group, wall);
    int pending = s->members - s->running - s->succeeded;
    draft_string(&d, "phase", dialect_phase(&kai_phases, s));
    draft_count(&d, "pending", pending > 0 ? pending : 0);
    draft_counts(&d, s);
    draft_scheduled(&d, s);
    return draft_end(&d);
}

const struct dialect dialect_kai = {
    .name = "kai",
    .api_group = "scheduling.run.ai",
    .versions = (const char *const[]){"v2", "v2alpha2", NULL},
    .status_subresource = true,
    .link = kai_link,
    .decode = kai_decode,
    .status = kai_status,
};
