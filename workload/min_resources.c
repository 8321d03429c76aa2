/* SPDX-License-Identifier: Apache-2.0 */
/* minResources of a PodGroup: what one pod is charged, as Volcano's CalTaskRequests reckons it. */
#include "base/buf.h"
#include "base/quantity.h"
#include "workload/kinds.h"
#include "workload/pod_requests.h"

static char *words(const char *resource, int64_t n)
{
    static const char *const bytes[] = {"memory", "ephemeral-storage", "hugepages-", "storage"};
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < ARRAY_SIZE(bytes) && !b.len; i++)
        if (strncmp(resource, bytes[i], strlen(bytes[i])) == 0)
            quantity_format_bytes(&b, n);
    if (!b.len && strcmp(resource, "cpu") == 0)
        quantity_format_milli(&b, n);
    if (!b.len)
        buf_printf(&b, "%lld", (long long)n);
    return buf_steal(&b);
}

int requests_times(const json_t *pod, int64_t n, json_t **ret, struct err *err)
{
    cleanup_json json_t *out = json_object();
    struct request_sums sums = {0};
    int r = pod_requests_read(pod, REQUESTS_OF_SPEC, &sums, err);
    for (size_t i = 0; r == 0 && i < sums.n; i++) {
        int64_t all;
        if (__builtin_mul_overflow(request_sums_charged(&sums.items[i]), n, &all))
            all = INT64_MAX;
        cleanup_free char *text = words(sums.items[i].resource, all);
        if (all > 0)
            json_object_set_new(out, sums.items[i].resource, json_string(text));
    }
    request_sums_done(&sums);
    *ret = json_object_size(out) ? STEAL(out) : NULL;
    return r;
}
