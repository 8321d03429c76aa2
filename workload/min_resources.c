/* SPDX-License-Identifier: Apache-2.0 */
/* minResources of a PodGroup: the requests of one pod times the number of pods, as in Volcano's
 * CalTaskRequests. */
#include "base/buf.h"
#include "base/quantity.h"
#include "workload/kinds.h"
#include "workload/pod_requests.h"

int requests_times(const json_t *pod, int64_t n, json_t **ret, struct err *err)
{
    cleanup_json json_t *out = json_object();
    struct request_sums sums = {0};
    int r = pod_requests_read(pod, REQUESTS_OF_SPEC, &sums, err);
    for (size_t i = 0; r == 0 && i < sums.n; i++) {
        int64_t all;
        if (__builtin_mul_overflow(request_sums_charged(&sums.items[i]), n, &all))
            all = INT64_MAX;
        cleanup_buf struct buf text = BUF_INIT;
        quantity_format(&text, sums.items[i].resource, all);
        if (all > 0)
            json_object_set_new(out, sums.items[i].resource, json_string(buf_str(&text)));
    }
    request_sums_done(&sums);
    *ret = json_object_size(out) ? STEAL(out) : NULL;
    return r;
}
