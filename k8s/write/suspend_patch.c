/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/write/suspend_patch.h"

#include "k8s/encoding/kube_field.h"

/* The prefix of Kueue's labels, annotations and values. */
#define KUEUE_KEY "kueue.x-k8s.io/"
/* Kueue's field manager. Source: kueue pkg/util/useragent, client-go's default of the manager. */
#define KUEUE "kueue"

static bool has_prefix(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

bool suspended_by_muster(const json_t *workload)
{
    return str_eq(field_peek(workload, "metadata", "labels", WORKLOAD_SUSPENDED, NULL), "true");
}

bool is_suspended(const struct workload_suspendable *of, const json_t *workload)
{
    bool on = false;
    return field_bool(workload, of->suspend, &on, NULL) == 0 && on;
}

/* ---- which workloads ---- */

/*
 * Whether a key or a text anywhere in the workload is Kueue's: the label with its queue,
 * spec.managedBy, and what Kueue writes into pod templates when it starts a workload.
 */
static bool mentions_kueue(const json_t *v)
{
    size_t i;
    const char *key;
    json_t *child;
    if (json_is_array(v)) {
        json_array_foreach(v, i, child) if (mentions_kueue(child)) return true;
    } else {
        json_object_foreach((json_t *)(uintptr_t)v, key,
                            child) if (has_prefix(key, KUEUE_KEY) ||
                                       mentions_kueue(child)) return true;
    }
    return has_prefix(json_string_value(v), KUEUE_KEY);
}

/* With manageJobsWithoutQueueName, only a write shows that Kueue manages the workload. */
static bool written_by_kueue(const json_t *workload)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(
        json_object_get(json_object_get(workload, "metadata"), "managedFields"), i,
        entry) if (has_prefix(field_peek(entry, "manager", NULL), KUEUE)) return true;
    return false;
}

bool is_of_kueue(const json_t *workload)
{
    return mentions_kueue(workload) || written_by_kueue(workload);
}

/* KubeRay fails such a RayJob instead of suspending it. Source: kuberay ValidateRayJobSpec. */
static bool fails_when_suspended(const struct workload_suspendable *of, const json_t *workload)
{
    const json_t *spec = json_object_get(workload, "spec");
    return strcmp(of->kind, "RayJob") == 0 &&
           (!json_is_true(json_object_get(spec, "shutdownAfterJobFinishes")) ||
            json_object_size(json_object_get(spec, "clusterSelector")) > 0);
}

int check_suspendable(const struct workload_suspendable *of, const json_t *workload,
                      struct err *err)
{
    char q[FIELD_QUOTED];
    /* It decides when the workload runs, and may undo the suspension. */
    const char *controller = field_controller(workload);
    if (!str_eq(field_peek(workload, "metadata", "annotations", WORKLOAD_PREEMPTION, NULL),
                "suspend"))
        return err_set(err, ERR_INVALID,
                       "it does not have the annotation " WORKLOAD_PREEMPTION ": suspend");
    if (field_peek(workload, "metadata", "deletionTimestamp", NULL))
        return err_set(err, ERR_INVALID, "it is being deleted");
    if (is_of_kueue(workload))
        return err_set(err, ERR_INVALID, "Kueue manages it");
    if (controller)
        return err_set(err, ERR_INVALID, "its controller, of kind %s, manages it",
                       field_quote(controller, q));
    if (is_suspended(of, workload) && !suspended_by_muster(workload))
        return err_set(err, ERR_INVALID, "it is suspended already");
    if (fails_when_suspended(of, workload))
        return err_set(err, ERR_INVALID,
                       "a RayJob can be suspended only with shutdownAfterJobFinishes: true and "
                       "without clusterSelector");
    return 0;
}

/* ---- patches ---- */

static char *patch(const struct workload_suspendable *of, const json_t *workload, bool suspend,
                   const char *reason)
{
    cleanup_json json_t *body = workload_suspend_patch(of, suspend);
    json_object_set_new(body, "metadata",
                        json_pack("{s:s?, s:s?, s:{s:s?}, s:{s:s?}}", "uid",
                                  field_peek(workload, "metadata", "uid", NULL), "resourceVersion",
                                  field_peek(workload, "metadata", "resourceVersion", NULL),
                                  "labels", WORKLOAD_SUSPENDED, suspend ? "true" : NULL,
                                  "annotations", WORKLOAD_SUSPENDED_REASON, reason));
    return json_dumps(body, JSON_COMPACT);
}

char *suspend_patch(const struct workload_suspendable *of, const json_t *workload, const char *why,
                    usec_t wall)
{
    char now[32];
    cleanup_free char *reason = xasprintf("%s: %s", time_format(wall, now), why);
    return patch(of, workload, /* suspend= */ true, reason);
}

char *resume_patch(const struct workload_suspendable *of, const json_t *workload)
{
    return patch(of, workload, /* suspend= */ false, /* reason= */ NULL);
}
