/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/kinds.h"

static bool fill(const struct workload_kind *k, struct workload_suspendable *ret)
{
    *ret = (struct workload_suspendable){k->group, k->versions, k->kind, k->plural, k->suspend};
    return k->suspend != NULL;
}

bool workload_suspendable_at(size_t i, struct workload_suspendable *ret)
{
    const struct workload_kind *k;
    for (size_t at = 0; (k = workload_kind_at(at)); at++)
        if (fill(k, ret) && i-- == 0)
            return true;
    return false;
}

bool workload_suspendable(const char *api_version, const char *kind,
                          struct workload_suspendable *ret)
{
    return fill(workload_kind(api_version, kind), ret);
}

bool workload_suspendable_owner(const json_t *group, struct workload_ref *ret)
{
    static const struct workload_rules none;
    struct workload_suspendable of;
    if (!workload_owner(&none, group, ret))
        return false;
    if (workload_suspendable(ret->api_version, ret->kind, &of))
        return true;
    workload_ref_done(ret);
    return false;
}

/* The value inside the objects that lead to it. */
static json_t *at_path(const char *path, json_t *value)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return json_pack("{s:o}", path, value);
    return json_pack("{s%:o}", path, (size_t)(dot - path), at_path(dot + 1, value));
}

json_t *workload_suspend_patch(const struct workload_suspendable *of, bool suspend)
{
    return at_path(of->suspend, json_boolean(suspend));
}

static void leave_out_completed(json_t *job)
{
    json_t *spec = json_object_get(job, "spec");
    const json_t *completions = json_object_get(spec, "completions");
    json_int_t done =
        json_integer_value(json_object_get(json_object_get(job, "status"), "succeeded"));
    json_int_t left = json_integer_value(completions) - done;
    if (json_is_integer(completions) && done > 0)
        json_object_set_new(spec, "completions", json_integer(left > 0 ? left : 0));
}

json_t *workload_resumed(const struct workload_suspendable *of, const json_t *object)
{
    cleanup_json json_t *patch = workload_suspend_patch(of, /* suspend= */ false);
    json_t *copy = json_deep_copy(object);
    json_object_update_recursive(copy, patch);
    if (strcmp(of->kind, "Job") == 0)
        leave_out_completed(copy);
    return copy;
}
