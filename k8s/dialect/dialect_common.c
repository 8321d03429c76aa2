/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/dialect/dialect_common.h"

#include "base/duration.h"
#include "base/utf8.h"
#include "gang/node_predicates.h"
#include "k8s/encoding/kube_field.h"

static const char *not_empty(const char *s)
{
    return s && *s ? s : NULL;
}

const char *dialect_annotation(const json_t *pod, const char *key)
{
    return not_empty(field_peek(pod, "metadata", "annotations", key, NULL));
}

const char *dialect_label(const json_t *pod, const char *key)
{
    return not_empty(field_peek(pod, "metadata", "labels", key, NULL));
}

const char *dialect_value(const json_t *object, const struct dialect_key *key)
{
    return key->kind == KEY_LABEL ? dialect_label(object, key->name)
                                  : dialect_annotation(object, key->name);
}

/* Source: apimachinery IsDNS1123Subdomain. */
#define LONGEST_NAME 253

char *dialect_queue_name(const char *name)
{
    char *copy = xstrndup(name, LONGEST_NAME + 1);
    utf8_clean(copy);
    return copy;
}

int dialect_bad_annotation(const char *key, const char *value, const char *want, struct err *err)
{
    char q[FIELD_QUOTED];
    return err_set(err, ERR_INVALID, "annotation %s is %s, must be %s", key, field_quote(value, q),
                   want);
}

int dialect_spec(const json_t *group, const json_t **ret, struct err *err)
{
    *ret = NULL;
    return field_object(group, "spec", ret, err);
}

int dialect_spec_duration(const json_t *spec, const char *key, usec_t *ret, struct err *err)
{
    const char *text = NULL;
    char q[FIELD_QUOTED];
    if (field_string(spec, key, &text, err) < 0)
        return err_at(err, "spec");
    if (!text || duration_parse_units(text, ret) == 0)
        return 0;
    return err_set(err, ERR_INVALID, "spec.%s is %s, must be a duration with a unit, such as 5m",
                   key, field_quote(text, q));
}

int dialect_count(const json_t *object, const char *key, int64_t *ret, struct err *err)
{
    return field_int(object, key, 0, INT32_MAX, ret, err);
}

int dialect_min_member(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec;
    if (dialect_spec(group, &spec, err) < 0)
        return -1;
    if (dialect_count(spec, "minMember", &facts->min_member, err) < 0)
        return err_at(err, "spec");
    return 0;
}

int dialect_timeout(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec;
    int64_t seconds = 0;
    if (dialect_spec(group, &spec, err) < 0)
        return -1;
    if (field_int(spec, "scheduleTimeoutSeconds", INT32_MIN, INT32_MAX, &seconds, err) < 0)
        return err_at(err, "spec");
    if (seconds > 0)
        facts->schedule_timeout = seconds * USEC_PER_SEC;
    return 0;
}

/* Bounded, because the core sums up each resource over the whole cluster. */
#define MAX_MIN_RESOURCES 64

/* Source: volcano pkg/scheduler/api NewResource and util.FilterQuotaKeys. */
static bool only_for_quotas(const char *resource)
{
    static const char *const prefixes[] = {"requests.", "limits.", "count/"};
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (strncmp(resource, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

int dialect_min_resources(const json_t *group, struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec, *map = NULL;
    struct gang_amounts all = {NULL, 0};
    if (dialect_spec(group, &spec, err) < 0)
        return -1;
    if (field_object(spec, "minResources", &map, err) < 0)
        return err_at(err, "spec");
    if (json_object_size(map) > MAX_MIN_RESOURCES)
        return err_set(err, ERR_INVALID, "spec.minResources has %zu entries, must be at most %d",
                       json_object_size(map), MAX_MIN_RESOURCES);
    int r = field_amounts(spec, "minResources", &all, err);
    for (size_t i = 0; r == 0 && i < all.n; i++)
        if (!only_for_quotas(all.items[i].resource))
            gang_amounts_add(&facts->min_resources, all.items[i].resource, all.items[i].amount);
    gang_amounts_done(&all);
    return r < 0 ? err_at(err, "spec") : 0;
}

int dialect_queue(const json_t *group, const struct dialect_key *labels,
                  struct gang_group_facts *facts, struct err *err)
{
    const json_t *spec;
    const char *name = NULL;
    if (dialect_spec(group, &spec, err) < 0)
        return -1;
    if (field_string(spec, "queue", &name, err) < 0)
        return err_at(err, "spec");
    name = not_empty(name);
    for (; !name && labels && labels->kind != KEY_END; labels++)
        name = dialect_value(group, labels);
    facts->queue = name ? dialect_queue_name(name) : NULL;
    return 0;
}

void dialect_subgroups(struct gang_group_facts *facts, size_t n)
{
    facts->subgroups = xcalloc(n, sizeof *facts->subgroups);
    facts->n_subgroups = n;
    for (size_t i = 0; i < n; i++)
        facts->subgroups[i].min_children = -1;
}

json_t *dialect_make(const struct workload_group *group, bool has_queue)
{
    json_t *spec = json_pack("{s:I}", "minMember", (json_int_t)group->min_member);
    if (group->min_resources)
        json_object_set(spec, "minResources", group->min_resources);
    if (has_queue && group->queue)
        json_object_set_new(spec, "queue", json_string(group->queue));
    if (has_queue && group->priority_class)
        json_object_set_new(spec, "priorityClassName", json_string(group->priority_class));
    return spec;
}

int64_t dialect_quorum(const struct gang_status *status)
{
    if (status->needed > 0)
        return status->needed;
    return status->min_member > 0 ? status->min_member : 1;
}

bool dialect_runs(const struct gang_status *status)
{
    return (int64_t)status->running + status->succeeded >= dialect_quorum(status);
}

bool dialect_succeeded(const struct gang_status *status)
{
    return status->succeeded >= dialect_quorum(status);
}

const char *dialect_phase(const struct dialect_phases *phases, const struct gang_status *status)
{
    if (status->state == GANG_SCHEDULED && dialect_runs(status))
        return phases->running;
    if (status->state == GANG_DONE && dialect_succeeded(status))
        return phases->finished;
    if (status->state == GANG_BACKED_OFF && status->timed_out && phases->timed_out)
        return phases->timed_out;
    return phases->by_state[status->state];
}

/* ---- drafting ---- */

struct status_draft draft_begin(const struct dialect_view *view)
{
    return (struct status_draft){
        .old = json_object_get(view->group, "status"), .patch = json_object(), .wall = view->wall};
}

void draft_once(struct status_draft *d, const char *key, const char *value)
{
    if (value && !not_empty(field_peek(d->old, key, NULL)))
        json_object_set_new(d->patch, key, json_string(value));
}

void draft_string(struct status_draft *d, const char *key, const char *value)
{
    if (!str_eq(field_peek(d->old, key, NULL), value))
        json_object_set_new(d->patch, key, json_string(value));
}

void draft_count(struct status_draft *d, const char *key, int64_t value)
{
    if (json_integer_value(json_object_get(d->old, key)) != value)
        json_object_set_new(d->patch, key, value ? json_integer(value) : json_null());
}

json_t *find_condition(const json_t *conditions, const char *type)
{
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        json_t *c = json_array_get(conditions, i);
        if (str_eq(field_peek(c, "type", NULL), type))
            return c;
    }
    return NULL;
}

char *next_transition(const json_t *conditions)
{
    long last = 0;
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const char *text = field_peek(json_array_get(conditions, i), "transitionID", NULL);
        size_t len = text ? strlen(text) : 0;
        /* Other writers can use UUIDs, which do not count. */
        if (len > 0 && len < 10 && strspn(text, "0123456789") == len)
            last = strtol(text, NULL, 10) > last ? strtol(text, NULL, 10) : last;
    }
    return xasprintf("%ld", last + 1);
}

char *status_words(const struct gang_status *status)
{
    if (!*status->help)
        return xstrdup(status->text);
    return xasprintf("%s%sTo fit: %s", status->text, *status->text ? ". " : "", status->help);
}

/* The list of conditions with the changes so far, to read. */
static const json_t *conditions_now(const struct status_draft *d)
{
    return d->conditions ? d->conditions : json_object_get(d->old, "conditions");
}

/* The list of conditions with the changes so far, to change. */
static json_t *conditions_to_change(struct status_draft *d)
{
    if (!d->conditions) {
        const json_t *old = json_object_get(d->old, "conditions");
        d->conditions = json_is_array(old) ? json_deep_copy(old) : json_array();
    }
    return d->conditions;
}

void draft_counts(struct status_draft *d, const struct gang_status *status)
{
    draft_count(d, "running", status->running);
    draft_count(d, "succeeded", status->succeeded);
    draft_count(d, "failed", status->failed);
}

void draft_condition(struct status_draft *d, const char *type, bool status, const char *reason,
                     const char *message)
{
    const char *word = status ? "True" : "False";
    const json_t *old = find_condition(conditions_now(d), type);
    const char *old_message = field_peek(old, "message", NULL);
    bool same_status = str_eq(field_peek(old, "status", NULL), word);
    if (same_status && str_eq(field_peek(old, "reason", NULL), reason) &&
        str_eq(old_message ? old_message : "", message))
        return;
    json_t *list = conditions_to_change(d);
    json_t *c = find_condition(list, type);
    if (!c) {
        c = json_object();
        json_array_append_new(list, c);
    }
    if (d->numbered && !same_status) {
        cleanup_free char *number = next_transition(list);
        json_object_set_new(c, "transitionID", json_string(number));
    }
    json_object_set_new(c, "type", json_string(type));
    json_object_set_new(c, "status", json_string(word));
    json_object_set_new(c, "reason", json_string(reason));
    json_object_set_new(c, "message", json_string(message));
    char now[32];
    if (!same_status || !field_peek(c, "lastTransitionTime", NULL))
        json_object_set_new(c, "lastTransitionTime", json_string(time_format(d->wall, now)));
}

void draft_condition_clear(struct status_draft *d, const char *type, const char *reason)
{
    const json_t *c = find_condition(conditions_now(d), type);
    if (str_eq(field_peek(c, "status", NULL), "True"))
        draft_condition(d, type, false, reason, "");
}

void draft_scheduled(struct status_draft *d, const struct gang_status *status)
{
    bool scheduled = status->state == GANG_SCHEDULED || status->state == GANG_DONE;
    const char *reason = gang_reason_name(status->reason);
    if (!*reason)
        reason = scheduled ? "Scheduled" : gang_state_name(status->state);
    cleanup_free char *words = status_words(status);
    draft_condition(d, "PodGroupScheduled", scheduled, reason, words);
}

void draft_occupied(struct status_draft *d, const struct gang_status *status,
                    const struct dialect_view *view)
{
    char now[32];
    if (status->state == GANG_ASSEMBLING)
        return;
    draft_once(d, "occupiedBy", view->owners);
    draft_once(d, "scheduleStartTime", time_format(view->wall, now));
}

json_t *draft_end(struct status_draft *d)
{
    if (d->conditions)
        json_object_set_new(d->patch, "conditions", STEAL(d->conditions));
    json_t *patch = STEAL(d->patch);
    if (json_object_size(patch) == 0) {
        json_decref(patch);
        return NULL;
    }
    json_t *whole = json_object();
    json_object_set_new(whole, "status", patch);
    return whole;
}
