/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/kinds.h"

static int check_runs(const struct workload_kind *kind, const json_t *object, struct err *err)
{
    bool suspended = false;
    if (kind->suspend && field_bool(object, kind->suspend, &suspended, err) < 0)
        return -1;
    return suspended
               ? err_set(err, ERR_INVALID,
                         "%s is true, so that it creates no pods; set it to false", kind->suspend)
               : 0;
}

int workload_pods(const json_t *object, workload_pod_fn *fn, void *arg, struct err *err)
{
    struct workload_identity w = object_identity(&object, 0);
    const struct workload_kind *kind = workload_kind(w.api_version, w.kind);
    if (!kind->pods)
        return WORKLOAD_UNKNOWN;
    return check_runs(kind, object, err) < 0 ? -1 : created_pods(object, kind, fn, arg, err);
}
