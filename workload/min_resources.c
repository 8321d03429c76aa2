/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod asks for, as kube-scheduler counts it: containers and sidecars together or the
 * largest init step, whichever is more; pod-level requests in place of the sums they name; plus
 * overhead. Source: k8s.io/component-helpers/resource PodRequests, which Volcano's
 * CalTaskRequests uses too. Sums are objects of resource names and whole numbers: cpu in
 * millicores, others in units.
 */
#include "base/buf.h"
#include "base/quantity.h"
#include "workload/kinds.h"

/* More than any pod has. */
#define MAX_CONTAINERS 512

static int64_t amount_of(const json_t *sum, const char *resource)
{
    return json_integer_value(json_object_get(sum, resource));
}

static void set_amount(json_t *sum, const char *resource, int64_t n)
{
    json_object_set_new(sum, resource, json_integer(n));
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t n;
    return __builtin_add_overflow(a, b, &n) ? INT64_MAX : n;
}

static void add_all(json_t *to, json_t *from)
{
    const char *resource;
    json_t *v;
    json_object_foreach(from, resource, v)
        set_amount(to, resource, plus(amount_of(to, resource), json_integer_value(v)));
}

static void max_all(json_t *to, json_t *from)
{
    const char *resource;
    json_t *v;
    json_object_foreach(from, resource, v) if (json_integer_value(v) > amount_of(to, resource))
        set_amount(to, resource, json_integer_value(v));
}

static int parse(const char *resource, const json_t *v, int64_t *ret, struct err *err)
{
    char number[40];
    const char *text = json_string_value(v);
    if (json_is_number(v)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(v));
        text = number;
    }
    if (!text)
        return err_set(err, ERR_INVALID, "is no quantity; write one such as 2, 500m or 16Gi");
    if (quantity_parse(text, strcmp(resource, "cpu") == 0 ? 1000 : 1, ret, err) < 0)
        return -1;
    if (*ret < 0)
        return err_set(err, ERR_INVALID, "is %.40s, must not be negative", text);
    return 0;
}

/* The quantities at a path, each only where `ret` has none yet. */
static int take(const json_t *object, const char *path, json_t *ret, struct err *err)
{
    const json_t *map = NULL;
    const char *resource;
    json_t *v;
    if (field_object(object, path, &map, err) < 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)map, resource, v)
    {
        int64_t n;
        char q[FIELD_QUOTED];
        if (json_object_get(ret, resource))
            continue;
        if (parse(resource, v, &n, err) < 0)
            return err_wrap(err, "%s.%s", path, read_key(resource, q));
        set_amount(ret, resource, n);
    }
    return 0;
}

/* The API server writes limits into requests that are absent; manifests that did not pass it
 * (the built-in cluster's) have to be read so here. */
static json_t *of_container(const json_t *container, struct err *err)
{
    cleanup_json json_t *own = json_object();
    if (take(container, "resources.requests", own, err) < 0 ||
        take(container, "resources.limits", own, err) < 0)
        return NULL;
    return STEAL(own);
}

static int add_containers(const json_t *pod, json_t *total, struct err *err)
{
    const json_t *list = NULL;
    if (field_array(pod, "spec.containers", &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list) && i < MAX_CONTAINERS; i++) {
        cleanup_json json_t *own = of_container(json_array_get(list, i), err);
        if (!own)
            return err_at(err, "spec.containers[%zu]", i);
        add_all(total, own);
    }
    return 0;
}

/* An init step runs beside the sidecars before it; sidecars stay. */
static int add_init_containers(const json_t *pod, json_t *total, struct err *err)
{
    const json_t *list = NULL;
    cleanup_json json_t *sidecars = json_object(), *peak = json_object();
    if (field_array(pod, "spec.initContainers", &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list) && i < MAX_CONTAINERS; i++) {
        const json_t *container = json_array_get(list, i);
        cleanup_json json_t *own = of_container(container, err);
        if (!own)
            return err_at(err, "spec.initContainers[%zu]", i);
        bool sidecar = str_eq(read_text(container, "restartPolicy"), "Always");
        add_all(own, sidecars);
        max_all(peak, own);
        if (sidecar) {
            json_object_clear(sidecars);
            add_all(sidecars, own);
        }
    }
    add_all(total, sidecars);
    max_all(total, peak);
    return 0;
}

static int add_pod_level(const json_t *pod, json_t *total, struct err *err)
{
    cleanup_json json_t *level = json_object(), *overhead = json_object();
    if (take(pod, "spec.resources.requests", level, err) < 0 ||
        take(pod, "spec.overhead", overhead, err) < 0)
        return -1;
    json_object_update(total, level);
    add_all(total, overhead);
    return 0;
}

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
    cleanup_json json_t *total = json_object(), *out = json_object();
    const char *resource;
    json_t *v;
    if (add_containers(pod, total, err) < 0 || add_init_containers(pod, total, err) < 0 ||
        add_pod_level(pod, total, err) < 0)
        return -1;
    json_object_foreach(total, resource, v)
    {
        int64_t all;
        if (__builtin_mul_overflow((int64_t)json_integer_value(v), n, &all))
            all = INT64_MAX;
        cleanup_free char *text = words(resource, all);
        if (all > 0)
            json_object_set_new(out, resource, json_string(text));
    }
    *ret = json_object_size(out) ? STEAL(out) : NULL;
    return 0;
}
