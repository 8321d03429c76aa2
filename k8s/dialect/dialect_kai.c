/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.run.ai: KAI's own PodGroup (v2alpha2, pods linked by the annotation pod-group-name)
 * and the simpler form that recipes use (v2, annotation scheduling.run.ai/pod-group, numeric
 * priority, maxMember, parentPodGroup, scheduleTimeoutSeconds, phases). One decoder reads both.
 *
 * Newer versions of KAI's CRD have no status.phase and no counters. The API server drops these
 * fields and stores the conditions.
 */
#include "base/duration.h"
#include "base/map.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/dialect/queue_common.h"
#include "k8s/encoding/kube_field.h"

/* ---- subgroups ---- */

/* Which minimums a subgroup sets. Which one is valid depends on whether it has subgroups. */
struct kai_part {
    bool has_member, has_children;
};

static int kai_part(const json_t *json, struct gang_subgroup *s, struct kai_part *part,
                    struct err *err)
{
    if (!json_is_object(json))
        return err_set(err, ERR_INVALID, "name is missing: write a subgroup as an object");
    if (field_copy(json, "name", &s->name, err) < 0 ||
        field_copy(json, "parent", &s->parent, err) < 0 ||
        dialect_count(json, "minMember", &s->min_member, err) < 0 ||
        dialect_count(json, "minSubGroup", &s->min_children, err) < 0)
        return -1;
    if (!s->name || !*s->name)
        return err_set(err, ERR_INVALID, "name is missing");
    char q[FIELD_QUOTED];
    /* The name must be a valid label value, because pods name their subgroup in a label. */
    if (strlen(s->name) > 63 ||
        strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(s->name))
        return err_set(err, ERR_INVALID,
                       "name is %s, must be at most 63 lower case letters, digits and -",
                       field_quote(s->name, q));
    if (s->parent && !*s->parent)
        free(STEAL(s->parent));
    *part = (struct kai_part){field_is_set(json, "minMember"), field_is_set(json, "minSubGroup")};
    return 0;
}

/* Checks the minimums of a subgroup; the core checks the tree. Source: KAI podgroup_webhook.go. */
static int kai_check_part(const struct gang_subgroup *s, const struct kai_part *part, bool leaf,
                          struct err *err)
{
    char name[FIELD_QUOTED];
    field_quote(s->name, name);
    if (part->has_member && part->has_children)
        return err_set(err, ERR_INVALID,
                       "minMember and minSubGroup exclude each other; remove one from subgroup %s",
                       name);
    if (leaf && part->has_children)
        return err_set(
            err, ERR_INVALID,
            "minSubGroup is set, but subgroup %s has no subgroups of its own; write minMember",
            name);
    if (leaf && !part->has_member)
        return err_set(err, ERR_INVALID,
                       "minMember is missing: subgroup %s has no subgroups of its own and needs it",
                       name);
    if (!leaf && part->has_member)
        return err_set(
            err, ERR_INVALID,
            "minMember is set, but subgroup %s has subgroups of its own; write minSubGroup", name);
    return 0;
}

/* Whether the parents of subgroups form a cycle, which the core reports. Subgroups in a cycle are
 * not checked further. Visits each subgroup once. */
static bool kai_in_circles(struct gang_group_facts *facts)
{
    struct map by_name = MAP_INIT;
    /* The number of the walk that visited the subgroup first; 0: none yet. */
    cleanup_free size_t *walk = xcalloc(facts->n_subgroups, sizeof *walk);
    bool found = false;
    for (size_t i = 0; i < facts->n_subgroups; i++)
        map_set(&by_name, facts->subgroups[i].name, &facts->subgroups[i]);
    for (size_t i = 0; i < facts->n_subgroups && !found; i++) {
        const struct gang_subgroup *s = &facts->subgroups[i];
        while (s && !walk[s - facts->subgroups]) {
            walk[s - facts->subgroups] = i + 1;
            s = s->parent ? map_get(&by_name, s->parent) : NULL;
        }
        found = s && walk[s - facts->subgroups] == i + 1;
    }
    map_done(&by_name);
    return found;
}

static int kai_parts(const json_t *list, struct gang_group_facts *facts, struct kai_part *parts,
                     struct map *parents, struct err *err)
{
    for (size_t i = 0; i < facts->n_subgroups; i++) {
        struct gang_subgroup *s = &facts->subgroups[i];
        if (kai_part(json_array_get(list, i), s, &parts[i], err) < 0)
            return err_at(err, "spec.subGroups[%zu]", i);
        if (s->parent)
            map_set(parents, s->parent, s);
    }
    if (kai_in_circles(facts))
        return 0;
    for (size_t i = 0; i < facts->n_subgroups; i++) {
        const struct gang_subgroup *s = &facts->subgroups[i];
        if (kai_check_part(s, &parts[i], !map_get(parents, s->name), err) < 0)
            return err_at(err, "spec.subGroups[%zu]", i);
    }
    return 0;
}

static int kai_subgroups(const json_t *spec, struct gang_group_facts *facts, struct err *err)
{
    const json_t *list = NULL;
    if (field_array(spec, "subGroups", &list, err) < 0 ||
        dialect_count(spec, "minSubGroup", &facts->min_children, err) < 0)
        return err_at(err, "spec");
    if (field_is_set(spec, "minMember") && field_is_set(spec, "minSubGroup"))
        return err_set(err, ERR_INVALID,
                       "spec.minMember and spec.minSubGroup exclude each other; remove one");
    if (field_is_set(spec, "minSubGroup") && json_array_size(list) == 0)
        return err_set(err, ERR_INVALID,
                       "spec.minSubGroup is set, but spec.subGroups is empty; list the subgroups "
                       "or write spec.minMember");
    struct map parents = MAP_INIT;
    dialect_subgroups(facts, json_array_size(list));
    cleanup_free struct kai_part *parts = xcalloc(facts->n_subgroups, sizeof *parts);
    int r = kai_parts(list, facts, parts, &parents, err);
    map_done(&parents);
    return r;
}

/* ---- decoding and making ---- */

/* The fields that only the recipes' form has. */
static int kai_recipe(const json_t *spec, struct gang_group_facts *facts, struct err *err)
{
    int64_t priority = 0;
    if (field_copy(spec, "parentPodGroup", &facts->parent, err) < 0 ||
        field_int(spec, "priority", INT32_MIN, INT32_MAX, &priority, err) < 0 ||
        dialect_count(spec, "maxMember", &facts->max_member, err) < 0)
        return err_at(err, "spec");
    facts->has_priority = field_is_set(spec, "priority");
    facts->priority = (int32_t)priority;
    if (facts->parent && !*facts->parent)
        free(STEAL(facts->parent));
    if (facts->parent && (strchr(facts->parent, '/') || strlen(facts->parent) > 253)) {
        char q[FIELD_QUOTED];
        field_quote(facts->parent, q);
        free(STEAL(facts->parent));
        return err_set(err, ERR_INVALID,
                       "spec.parentPodGroup is %s; write only the name, because the parent must be "
                       "in the same namespace",
                       q);
    }
    return 0;
}

static int kai_preemptibility(const json_t *spec, struct gang_group_facts *facts, struct err *err)
{
    const char *text = "";
    char q[FIELD_QUOTED];
    if (field_string(spec, "preemptibility", &text, err) < 0)
        return err_at(err, "spec");
    for (const struct queue_word *w = queue_kai.preemptible_words; *text && w->text; w++)
        if (strcmp(text, w->text) == 0) {
            facts->preemptible = w->means;
            return 0;
        }
    if (!*text)
        return 0;
    return err_set(
        err, ERR_INVALID,
        "spec.preemptibility is %s, must be preemptible, semi-preemptible or non-preemptible",
        field_quote(text, q));
}

static int kai_decode(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec;
    if (dialect_spec(group, &spec, err) < 0 || kai_recipe(spec, facts, err) < 0 ||
        dialect_min_member(group, facts, err) < 0 || dialect_timeout(group, facts, err) < 0 ||
        kai_subgroups(spec, facts, err) < 0)
        return -1;
    if (field_copy(spec, "priorityClassName", &facts->priority_class, err) < 0)
        return err_at(err, "spec");
    if (dialect_queue(group, queue_kai.links, facts, err) < 0 ||
        kai_preemptibility(spec, facts, err) < 0 ||
        dialect_spec_duration(spec, "preemptionDelay", &facts->preemption_delay, err) < 0)
        return -1;
    /* In KAI, a minimum of 0 (or none) means that each pod is scheduled by itself: a gang of one.
     * If there are subgroups, their minimums count. */
    if (facts->min_member == 0 && facts->n_subgroups == 0)
        facts->min_member = 1;
    return 0;
}

static bool has_parts(const struct workload_group *group, const char *name)
{
    for (size_t i = 0; i < group->n_roles; i++)
        if (str_eq(group->roles[i].parent, name))
            return true;
    return false;
}

static json_t *kai_made_part(const struct workload_group *group, const struct workload_role *role)
{
    json_t *part = json_pack("{s:s}", "name", role->name);
    if (role->parent)
        json_object_set_new(part, "parent", json_string(role->parent));
    if (!has_parts(group, role->name))
        json_object_set_new(part, "minMember", json_integer(role->min_member));
    else if (role->min_children >= 0)
        json_object_set_new(part, "minSubGroup", json_integer(role->min_children));
    return part;
}

/* minMember and minSubGroup exclude each other. KAI computes minResources itself. */
static json_t *kai_make(const struct workload_group *group)
{
    json_t *spec = dialect_make(group, /* has_queue= */ true), *parts = json_array();
    json_object_del(spec, "minResources");
    if (group->preemptibility)
        json_object_set_new(spec, "preemptibility", json_string(group->preemptibility));
    if (group->preemption_delay) {
        cleanup_buf struct buf delay = BUF_INIT;
        duration_format(&delay, group->preemption_delay);
        json_object_set_new(spec, "preemptionDelay", json_string(buf_str(&delay)));
    }
    for (size_t i = 0; i < group->n_roles; i++)
        json_array_append_new(parts, kai_made_part(group, &group->roles[i]));
    if (group->n_roles > 0)
        json_object_set(spec, "subGroups", parts);
    if (group->n_roles > 0 && group->min_children >= 0) {
        json_object_del(spec, "minMember");
        json_object_set_new(spec, "minSubGroup", json_integer(group->min_children));
    }
    json_decref(parts);
    return spec;
}

static const struct dialect_phases kai_phases = {
    .by_state =
        {
            [GANG_ASSEMBLING] = "Pending",
            [GANG_WAITING] = "Pending",
            [GANG_PLANNED] = "PreScheduling",
            [GANG_COMMITTING] = "PreScheduling",
            [GANG_SCHEDULED] = "Scheduled",
            [GANG_RECOVERING] = "PreScheduling",
            [GANG_BACKED_OFF] = "Pending",
            [GANG_DONE] = "Failed",
        },
    .running = "Running",
    .finished = "Finished",
    .timed_out = "Failed",
};

/* Sets status.schedulingConditions, where users of KAI's own API look for the reason. "default" is
 * KAI's pool of all nodes. */
static void kai_unschedulable(struct status_draft *d, const struct gang_status *s,
                              const struct dialect_view *view)
{
    static const char type[] = "UnschedulableOnNodePool";
    const char *version = field_peek(view->group, "apiVersion", NULL);
    if (!str_eq(version, "scheduling.run.ai/v2alpha2"))
        return;
    bool waits = s->state == GANG_WAITING || s->state == GANG_BACKED_OFF;
    const json_t *list = json_object_get(d->old, "schedulingConditions");
    const json_t *old = find_condition(list, type);
    bool waited = str_eq(field_peek(old, "status", NULL), "True");
    cleanup_free char *words = waits ? status_words(s) : xstrdup("");
    if (waits == waited && (!waits || str_eq(field_peek(old, "message", NULL), words)))
        return;
    json_t *changed = json_is_array(list) ? json_deep_copy(list) : json_array();
    json_t *c = find_condition(changed, type);
    if (!c) {
        c = json_object();
        json_array_append_new(changed, c);
    }
    const char *pool =
        field_peek(view->group, "metadata", "labels", "kai.scheduler/node-pool", NULL);
    if (waits != waited) {
        char now[32];
        cleanup_free char *number = next_transition(list);
        json_object_set_new(c, "transitionID", json_string(number));
        json_object_set_new(c, "lastTransitionTime", json_string(time_format(d->wall, now)));
    }
    json_t *reasons =
        waits ? json_pack("[{s:s, s:s}]", "reason", gang_reason_name(s->reason), "message", words)
              : json_array();
    json_object_update_new(c, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "type", type, "nodePool",
                                        pool ? pool : "default", "status", waits ? "True" : "False",
                                        "reason", "Unschedulable", "message", words, "reasons",
                                        reasons));
    json_object_set_new(d->patch, "schedulingConditions", changed);
}

static json_t *kai_status(const struct gang_status *s, const struct dialect_view *view)
{
    struct status_draft d = draft_begin(view);
    int pending = s->members - s->running - s->succeeded;
    draft_string(&d, "phase", dialect_phase(&kai_phases, s));
    draft_count(&d, "pending", pending > 0 ? pending : 0);
    draft_counts(&d, s);
    draft_scheduled(&d, s);
    kai_unschedulable(&d, s, view);
    return draft_end(&d);
}

static const struct dialect_field kai_fields[] = {
    {"spec.minMember", DIALECT_READS | DIALECT_CREATES,
     "this many pods start together, or none starts. 0 or absent: each pod starts on its own, "
     "unless subgroups have minimums. In a PodGroup with child PodGroups: this many of the "
     "children start together"},
    {"spec.minSubGroup", DIALECT_READS | DIALECT_CREATES,
     "this many of the topmost subgroups must meet their minimums. Absent: all of them. Must not "
     "be set together with `spec.minMember`"},
    {"spec.subGroups[].name", DIALECT_READS | DIALECT_CREATES,
     "the name of the subgroup. Its pods have this name in the label "
     "`kai.scheduler/subgroup-name`"},
    {"spec.subGroups[].parent", DIALECT_READS | DIALECT_CREATES, "the subgroup above this one"},
    {"spec.subGroups[].minMember", DIALECT_READS | DIALECT_CREATES,
     "this many pods of the subgroup start together. Required if the subgroup has no subgroups "
     "below it, and otherwise not allowed"},
    {"spec.subGroups[].minSubGroup", DIALECT_READS | DIALECT_CREATES,
     "this many of the subgroups directly below must meet their minimums. Absent: all of them"},
    {"spec.maxMember", DIALECT_READS,
     "the highest number of pods that may be assigned to nodes at the same time"},
    {"spec.parentPodGroup", DIALECT_READS, "the PodGroup above this one, in the same namespace"},
    {"spec.priority", DIALECT_READS,
     "the priority of the gang, in place of the priority of its pods. When muster compares gangs "
     "of different namespaces, it uses this value only if it is lower than the priority of the "
     "pods, or if `trustPodGroupPriority` is true"},
    {"spec.priorityClassName", DIALECT_READS | DIALECT_CREATES,
     "the name of a PriorityClass that sets this priority. `spec.priority` overrides it. If the "
     "PriorityClass does not exist, muster uses the priority of the pods"},
    {"spec.scheduleTimeoutSeconds", DIALECT_READS,
     "the longest time for an attempt in seconds, at most `maxScheduleTimeoutSeconds`"},
    {"spec.queue", DIALECT_READS | DIALECT_CREATES,
     "the queue of the gang. Absent: the label `kai.scheduler/queue` or `runai/queue` of the "
     "PodGroup names it"},
    {"spec.preemptibility", DIALECT_READS | DIALECT_CREATES,
     "`preemptible`, `semi-preemptible` or `non-preemptible`. muster treats `semi-preemptible` "
     "like `preemptible`. Absent: a gang of priority 100 or higher is not preemptible"},
    {"spec.topologyConstraint", 0, ""},
    {"spec.subGroups[].topologyConstraint", 0, ""},
    {"spec.markUnschedulable", 0, ""},
    {"spec.schedulingBackoff", 0, ""},
    {"spec.preemptionDelay", DIALECT_READS | DIALECT_CREATES,
     "after its creation, and after its own eviction, the gang evicts no others for this time"},
    {"spec.stalenessGracePeriod", 0, ""},
    {"spec.parallelism", 0, ""},
    {"spec.completions", 0, ""},
    {"spec.backoffLimit", 0, ""},
    {"status.phase", DIALECT_WRITES, "see [Phases](#phases)"},
    {"status.pending", DIALECT_WRITES, "members that are not running and have not succeeded"},
    {"status.running", DIALECT_WRITES, "members that are running"},
    {"status.succeeded", DIALECT_WRITES, "members that have succeeded"},
    {"status.failed", DIALECT_WRITES, "pods that have failed"},
    {"status.conditions", DIALECT_WRITES,
     "the condition `PodGroupScheduled`. Its reason is a [code](reasons.md) or a state"},
    {"status.schedulingConditions", DIALECT_WRITES,
     "in v2alpha2 an entry of type `UnschedulableOnNodePool`"},
    {NULL, 0, NULL},
};

const struct dialect dialect_kai = {
    .name = "kai",
    .api_group = "scheduling.run.ai",
    .versions = (const char *const[]){"v2", "v2alpha2", NULL},
    .status_subresource = true,
    .links = (const struct dialect_key[]){{KEY_ANNOTATION, "pod-group-name"},
                                          {KEY_ANNOTATION, "scheduling.run.ai/pod-group"},
                                          {KEY_END, NULL}},
    .roles =
        (const struct dialect_key[]){{KEY_LABEL, "kai.scheduler/subgroup-name"}, {KEY_END, NULL}},
    .fields = kai_fields,
    .decode = kai_decode,
    .status = kai_status,
    .make = kai_make,
};
