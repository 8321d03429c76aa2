/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.volcano.sh/v1beta1. Pods are linked by the annotation scheduling.k8s.io/group-name
 * (the only key Volcano's own scheduler reads) or scheduling.volcano.sh/group-name.
 *
 * Phases: Pending means that the PodGroup waits for capacity, and Inqueue that its pods may be
 * created. Some operators create no pods before the phase is Inqueue, so a PodGroup without enough
 * members is Inqueue. Unknown means that only a part of the members runs.
 */
#include <inttypes.h>

#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/selector.h"

/* ---- minTaskMember ---- */

/* Whether a Volcano Job owns the PodGroup. For a task without a minimum, Volcano's Job controller
 * writes all its replicas into minTaskMember, even if minMember is smaller. Source:
 * job_controller_actions.go createOrUpdatePodGroup. */
static bool made_of_a_vcjob(const json_t *group)
{
    static const char api[] = "batch.volcano.sh/";
    const json_t *owners = json_object_get(json_object_get(group, "metadata"), "ownerReferences");
    for (size_t i = 0; i < json_array_size(owners) && i < JSON_MAX_ITEMS; i++) {
        const char *version = field_peek(json_array_get(owners, i), "apiVersion", NULL);
        if (version && strncmp(version, api, sizeof api - 1) == 0)
            return true;
    }
    return false;
}

/*
 * *ret gets minTaskMember, or NULL if it does not count. Volcano ignores minTaskMember if its sum
 * exceeds minMember (job_info.go CheckTaskValid). muster ignores it only if Volcano wrote both;
 * from a user it is an error. Without minMember, minTaskMember alone is the minimum.
 */
static int volcano_find_tasks(const json_t *group, const json_t *spec, int64_t min_member,
                              const json_t **ret, struct err *err)
{
    int64_t sum = 0;
    const char *name;
    json_t *value;
    if (field_object(spec, "minTaskMember", ret, err) < 0)
        return err_at(err, "spec");
    json_object_foreach((json_t *)(uintptr_t)*ret, name, value)
    {
        int64_t n = 0;
        if (json_value_int(value, name, 0, INT32_MAX, &n, err) < 0)
            return err_at(err, "spec.minTaskMember");
        sum += n;
    }
    if (!json_is_integer(json_object_get(spec, "minMember")) || sum <= min_member)
        return 0;
    *ret = NULL;
    if (made_of_a_vcjob(group))
        return 0;
    return err_set(err, ERR_INVALID,
                   "spec.minTaskMember adds up to %" PRId64 ", spec.minMember is %" PRId64
                   "; raise spec.minMember or lower the minimums of the tasks",
                   sum, min_member);
}

static void volcano_tasks(const json_t *tasks, struct gang_subgroup *s)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)tasks, name, value)
    {
        s->min_member = json_integer_value(value);
        (s++)->name = xstrdup(name);
    }
}

/* ---- subGroupPolicy ---- */

static int volcano_split_by(const json_t *policy, struct gang_subgroup *s, struct err *err)
{
    const json_t *keys = NULL;
    if (field_array(policy, "matchLabelKeys", &keys, err) < 0)
        return -1;
    s->split_by = xcalloc(json_array_size(keys), sizeof *s->split_by);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        if (!key || !*key)
            return err_set(err, ERR_INVALID, "matchLabelKeys[%zu] must be a label key", i);
        s->split_by[s->n_split_by++] = xstrdup(key);
    }
    return 0;
}

static int volcano_policy(const json_t *policy, struct gang_subgroup *s, struct err *err)
{
    const json_t *selector = NULL;
    s->by_labels = true;
    s->part_size = 1;
    s->min_children = 0;
    if (!json_is_object(policy))
        return err_set(err, ERR_INVALID, "name is missing: write a policy as an object");
    if (field_copy(policy, "name", &s->name, err) < 0 ||
        field_int(policy, "subGroupSize", 1, INT32_MAX, &s->part_size, err) < 0 ||
        dialect_count(policy, "minSubGroups", &s->min_children, err) < 0 ||
        field_object(policy, "labelSelector", &selector, err) < 0 ||
        volcano_split_by(policy, s, err) < 0)
        return -1;
    if (!s->name || !*s->name)
        return err_set(err, ERR_INVALID, "name is missing");
    if (decode_label_selector(selector, &s->selector, err) < 0)
        return err_at(err, "labelSelector");
    return 0;
}

static int volcano_subgroups(const json_t *group, const json_t *spec,
                             struct gang_group_facts *facts, struct err *err)
{
    const json_t *tasks = NULL, *policies = NULL;
    if (volcano_find_tasks(group, spec, facts->min_member, &tasks, err) < 0)
        return -1;
    if (field_array(spec, "subGroupPolicy", &policies, err) < 0)
        return err_at(err, "spec");
    size_t n_tasks = json_object_size(tasks), n_policies = json_array_size(policies);
    dialect_subgroups(facts, n_tasks + n_policies);
    volcano_tasks(tasks, facts->subgroups);
    for (size_t i = 0; i < n_policies; i++)
        if (volcano_policy(json_array_get(policies, i), &facts->subgroups[n_tasks + i], err) < 0)
            return err_at(err, "spec.subGroupPolicy[%zu]", i);
    return 0;
}

static int volcano_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec;
    if (dialect_spec(group, &spec, err) < 0 || dialect_min_member(group, facts, err) < 0 ||
        dialect_min_resources(group, facts, err) < 0 ||
        volcano_subgroups(group, spec, facts, err) < 0)
        return -1;
    if (field_copy(spec, "priorityClassName", &facts->priority_class, err) < 0)
        return err_at(err, "spec");
    if (dialect_queue(group, /* labels= */ NULL, facts, err) < 0)
        return -1;
    /* In Volcano, a minimum of 0 (or none) means that each pod is scheduled by itself: a gang of
     * one. If tasks or subgroups have minimums, these count. */
    if (facts->min_member == 0 && facts->n_subgroups == 0)
        facts->min_member = 1;
    return 0;
}

/* Writes roles as tasks if they are not nested and their sum does not exceed minMember, because
 * Volcano ignores other tasks. */
static json_t *volcano_make(const struct workload_group *group)
{
    json_t *spec = dialect_make(group, /* has_queue= */ true), *tasks = json_object();
    int64_t sum = 0;
    bool flat = true;
    for (size_t i = 0; i < group->n_roles; i++) {
        const struct workload_role *role = &group->roles[i];
        flat = flat && !role->parent;
        sum += role->min_member;
        json_object_set_new(tasks, role->name, json_integer(role->min_member));
    }
    if (flat && sum > 0 && sum <= group->min_member)
        json_object_set(spec, "minTaskMember", tasks);
    json_decref(tasks);
    return spec;
}

static const struct {
    const char *phase;
    bool unschedulable; /* has the condition Unschedulable */
} volcano_states[GANG_STATE_MAX] = {
    [GANG_ASSEMBLING] = {"Inqueue", true}, [GANG_WAITING] = {"Pending", true},
    [GANG_PLANNED] = {"Inqueue", false},   [GANG_COMMITTING] = {"Inqueue", false},
    [GANG_SCHEDULED] = {"Running", false}, [GANG_RECOVERING] = {"Inqueue", true},
    [GANG_BACKED_OFF] = {"Pending", true}, [GANG_DONE] = {"Completed", false},
};

/* Volcano's own reasons, for muster's reasons that have such a counterpart. */
static const char *const volcano_reasons[REASON_MAX] = {
    [REASON_NOT_ENOUGH_MEMBERS] = "NotEnoughTasks",
    [REASON_MEMBERS_GATED] = "NotEnoughTasks",
    [REASON_FOREIGN_SCHEDULER] = "NotEnoughTasks",
    [REASON_NOT_ENOUGH_RESOURCES] = "NotEnoughResources",
    [REASON_NO_MATCHING_NODE] = "NotEnoughResources",
    [REASON_MIN_RESOURCES] = "NotEnoughResources",
    [REASON_BEHIND] = "NotEnoughResources",
    [REASON_EARMARKED] = "NotEnoughResources",
    [REASON_PREEMPTED_ROOM] = "NotEnoughResources",
    [REASON_EVICTING] = "NotEnoughResources",
    [REASON_NO_ROOM] = "NotEnoughResources",
};

static const char *volcano_reason(const struct gang_status *s)
{
    /* There are enough members, but not in every role. */
    if (s->reason == REASON_NOT_ENOUGH_MEMBERS && s->members >= s->needed)
        return "NotEnoughPodsOfTask";
    if (volcano_reasons[s->reason])
        return volcano_reasons[s->reason];
    if (s->state == GANG_RECOVERING)
        return s->failed > 0 ? "PodFailed" : "PodDeleted";
    return s->reason == REASON_NONE ? gang_state_name(s->state) : gang_reason_name(s->reason);
}

/* In Volcano, this phrase is the reason of condition Scheduled, and tools look for it. */
#define VOLCANO_READY "tasks in gang are ready to be scheduled"

static json_t *volcano_status(const struct gang_status *s, const struct dialect_view *view)
{
    struct status_draft d = draft_begin(view);
    const char *reason = volcano_states[s->state].unschedulable ? volcano_reason(s) : NULL;
    bool partial = reason && s->running > 0;
    d.numbered = true;
    draft_string(&d, "phase", partial ? "Unknown" : volcano_states[s->state].phase);
    draft_counts(&d, s);
    if (reason) {
        draft_condition_clear(&d, "Scheduled", reason);
        cleanup_free char *words = status_words(s);
        draft_condition(&d, "Unschedulable", true, reason, words);
    } else if (s->state == GANG_SCHEDULED || s->state == GANG_DONE) {
        draft_condition_clear(&d, "Unschedulable", "Scheduled");
        draft_condition(&d, "Scheduled", true, VOLCANO_READY, "");
    } else {
        draft_condition_clear(&d, "Unschedulable", "Planned");
    }
    return draft_end(&d);
}

static const struct dialect_field volcano_fields[] = {
    {"spec.minMember", DIALECT_READS | DIALECT_CREATES,
     "this many pods start together, or none starts. 0 or absent: each pod starts on its own, "
     "unless tasks or subgroups have minimums"},
    {"spec.minTaskMember", DIALECT_READS | DIALECT_CREATES,
     "a minimum for each task. In the PodGroup of a Volcano Job, Volcano sets it to the number of "
     "all replicas of the task. In such a PodGroup, muster uses the field only if the sum of its "
     "values is at most `spec.minMember`"},
    {"spec.minResources", DIALECT_READS | DIALECT_CREATES,
     "muster makes no plan while less than this is free. It ignores keys for quotas (`requests.`, "
     "`limits.`, `count/`)"},
    {"spec.priorityClassName", DIALECT_READS | DIALECT_CREATES,
     "the name of a PriorityClass, which replaces the priority of the pods. If the PriorityClass "
     "does not exist, muster uses the priority of the pods"},
    {"spec.subGroupPolicy[].name", DIALECT_READS, "the name of the policy, for messages"},
    {"spec.subGroupPolicy[].labelSelector", DIALECT_READS, "selects members"},
    {"spec.subGroupPolicy[].matchLabelKeys", DIALECT_READS,
     "selected members that have equal values of these labels form a subgroup"},
    {"spec.subGroupPolicy[].subGroupSize", DIALECT_READS, "how many members a subgroup needs"},
    {"spec.subGroupPolicy[].minSubGroups", DIALECT_READS, "how many subgroups must start together"},
    {"spec.queue", DIALECT_READS | DIALECT_CREATES, "the queue of the gang"},
    {"spec.networkTopology", 0, ""},
    {"spec.subGroupPolicy[].networkTopology", 0, ""},
    {"status.phase", DIALECT_WRITES, "see [Phases](#phases)"},
    {"status.running", DIALECT_WRITES, "members that are running"},
    {"status.succeeded", DIALECT_WRITES, "members that have succeeded"},
    {"status.failed", DIALECT_WRITES, "pods that have failed"},
    {"status.conditions", DIALECT_WRITES,
     "the conditions `Scheduled` and `Unschedulable`. The reason is one that [Volcano "
     "defines](reasons.md) or one that muster defines"},
    {NULL, 0, NULL},
};

const struct dialect dialect_volcano = {
    .name = "volcano",
    .api_group = "scheduling.volcano.sh",
    .versions = (const char *const[]){"v1beta1", NULL},
    .status_subresource = false,
    .links = (const struct dialect_key[]){{KEY_ANNOTATION, "scheduling.k8s.io/group-name"},
                                          {KEY_ANNOTATION, "scheduling.volcano.sh/group-name"},
                                          {KEY_END, NULL}},
    .roles = (const struct dialect_key[]){{KEY_ANNOTATION, "volcano.sh/task-spec"},
                                          {KEY_LABEL, "volcano.sh/task-spec"},
                                          {KEY_END, NULL}},
    .fields = volcano_fields,
    .decode = volcano_decode,
    .status = volcano_status,
    .make = volcano_make,
};
