/* SPDX-License-Identifier: Apache-2.0 */
/* How many pods a Job may lose before it fails. */
#include "k8s/decode/decode.h"
#include "k8s/decode/decode_internal.h"
#include "k8s/encoding/kube_field.h"

static bool is_finished(const json_t *job)
{
    const json_t *conditions = NULL, *condition;
    size_t i;
    field_whole_array(job, "status.conditions", &conditions, NULL);
    json_array_foreach(conditions, i, condition)
    {
        const char *type = field_peek(condition, "type", NULL);
        if ((str_eq(type, "Complete") || str_eq(type, "Failed")) &&
            str_eq(field_peek(condition, "status", NULL), "True"))
            return true;
    }
    return false;
}

static bool is_about_disruptions(const json_t *rule)
{
    const json_t *conditions = json_object_get(rule, "onPodConditions"), *condition;
    size_t i;
    json_array_foreach(conditions, i, condition) if (str_eq(field_peek(condition, "type", NULL),
                                                            "DisruptionTarget")) return true;
    return false;
}

/* What the first rule about disruptions does with evicted pods, such as "Ignore"; NULL: there is no
 * such rule, so they count as failures. */
static const char *action_for_disruptions(const json_t *job)
{
    const json_t *rules = NULL, *rule;
    size_t i;
    field_whole_array(job, "spec.podFailurePolicy.rules", &rules, NULL);
    json_array_foreach(rules, i, rule)
    {
        if (is_about_disruptions(rule))
            return field_peek(rule, "action", NULL);
    }
    return NULL;
}

/* A controller of the Job decides what a failure means. With backoffLimitPerIndex, an index also
 * counts its own failures. Of these, only the limit 0 is read. Source: jobController.syncJob. */
static int decode_spare(const json_t *job, int64_t *ret, struct err *err)
{
    int64_t limit = 6, per_index = 1, failed = 0;
    const char *action = action_for_disruptions(job);
    if (field_int(job, "spec.backoffLimit", INT32_MIN, INT32_MAX, &limit, err) < 0 ||
        field_int(job, "spec.backoffLimitPerIndex", INT32_MIN, INT32_MAX, &per_index, err) < 0 ||
        field_int(job, "status.failed", INT32_MIN, INT32_MAX, &failed, err) < 0)
        return -1;
    if (is_finished(job) || field_controller(job) || str_eq(action, "Ignore"))
        *ret = GANG_SPARE_UNLIMITED;
    else if (per_index <= 0 || str_eq(action, "FailJob") || str_eq(action, "FailIndex"))
        *ret = 0;
    else
        *ret = limit > failed ? limit - failed : 0;
    return 0;
}

struct gang_job_facts *decode_job(const json_t *job, struct err *err)
{
    struct decoded_metadata meta;
    int64_t spare;
    if (decode_metadata(job, "Job", &meta, err) < 0)
        return NULL;
    if (decode_spare(job, &spare, err) < 0) {
        err_wrap(err, "Job %s/%s", meta.ns, meta.name);
        return NULL;
    }
    struct gang_job_facts *f = gang_job_facts_new();
    f->ns = xstrdup(meta.ns);
    f->name = xstrdup(meta.name);
    f->spare = spare;
    return f;
}
