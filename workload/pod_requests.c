/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/pod_requests.h"

#include "workload/read_object.h"

struct reading {
    const json_t *pod;
    struct request_sums *sums;
    bool statuses;    /* the status counts too */
    bool infeasible;  /* a resize is impossible, so only the resources in the status count */
    struct map known; /* container name -> index + 1 of its status, if there are many */
    struct err *err;  /* for the first invalid field */
    bool failed;
};

/* The pod (list NULL) or an item of one of its lists. object NULL: the item does not exist. */
struct place {
    const json_t *object;
    const char *list;
    size_t i;
};

static void fail(struct reading *r, const struct place *at, struct err *err)
{
    if (at->list)
        err_at(err, "%s[%zu]", at->list, at->i);
    if (!r->failed && r->err)
        *r->err = *err;
    r->failed = true;
}

/* ---- quantities ---- */

static int64_t quantity(struct reading *r, const struct place *at, const char *path,
                        const char *resource, const json_t *value)
{
    struct err err;
    int64_t amount = 0;
    if (json_value_amount(value, resource, &amount, &err) == 0)
        return amount;
    err_at(&err, "%s", path);
    fail(r, at, &err);
    return INT64_MAX;
}

static const json_t *map_at(struct reading *r, const struct place *at, const char *path)
{
    const json_t *map = NULL;
    struct err err;
    if (field_whole_object(at->object, path, &map, &err) < 0)
        fail(r, at, &err);
    return map;
}

static const json_t *list_at(struct reading *r, const char *path)
{
    const json_t *list = NULL;
    struct err err;
    if (field_whole_array(r->pod, path, &list, &err) < 0)
        fail(r, &(struct place){.object = r->pod}, &err);
    return list;
}

static void ask(struct reading *r, const struct place *at, const char *path, const json_t *except)
{
    json_t *map = (json_t *)(uintptr_t)map_at(r, at, path), *value;
    const char *name;
    json_object_foreach(map, name, value)
    {
        if (!json_object_get(except, name))
            request_sums_ask(r->sums, name, quantity(r, at, path, name, value));
    }
}

/* ---- statuses ---- */

const json_t *pod_condition(const json_t *pod, const char *type)
{
    const json_t *conditions = NULL;
    field_whole_array(pod, "status.conditions", &conditions, NULL);
    for (size_t i = 0; i < json_array_size(conditions); i++)
        if (str_eq(read_text(json_array_get(conditions, i), "type"), type))
            return json_array_get(conditions, i);
    return NULL;
}

/* Source: IsPodResizeInfeasible. */
static bool resize_infeasible(const json_t *pod)
{
    return str_eq(read_text(pod_condition(pod, "PodResizePending"), "reason"), "Infeasible");
}

/* Up to this number of statuses, a linear search is fast enough. */
#define FEW 16

static void index_statuses(struct reading *r, const json_t *list)
{
    for (size_t i = 0; json_array_size(list) > FEW && i < json_array_size(list); i++) {
        const char *name = read_text(json_array_get(list, i), "name");
        if (name && !map_get(&r->known, name))
            map_set(&r->known, name, (void *)(i + 1));
    }
}

/* The index of the status of this container; the length of the list: there is none. */
static size_t find_status(const struct reading *r, const json_t *list, const char *name)
{
    size_t n = json_array_size(list);
    if (!name)
        return n;
    if (n > FEW) {
        uintptr_t known = (uintptr_t)map_get(&r->known, name);
        return known ? known - 1 : n;
    }
    for (size_t i = 0; i < n; i++)
        if (str_eq(read_text(json_array_get(list, i), "name"), name))
            return i;
    return n;
}

/* ---- containers ---- */

static void read_container(struct reading *r, const struct place *container,
                           const struct place *status, bool init)
{
    bool sidecar = init && str_eq(read_text(container->object, "restartPolicy"), "Always");
    bool lasts = !init || sidecar;
    const json_t *in_force = map_at(r, status, "resources");
    if (!(r->infeasible && in_force && lasts)) {
        ask(r, container, "resources.requests", NULL);
        ask(r, container, "resources.limits", map_at(r, container, "resources.requests"));
    }
    if (in_force && lasts) {
        ask(r, status, "resources.requests", NULL);
        ask(r, status, "allocatedResources", NULL);
    }
    request_sums_container(r->sums, sidecar ? CONTAINER_SIDECAR
                                    : init  ? CONTAINER_INIT
                                            : CONTAINER_REGULAR);
}

static void read_containers(struct reading *r)
{
    static const char *const names[2][2] = {{"spec.initContainers", "status.initContainerStatuses"},
                                            {"spec.containers", "status.containerStatuses"}};
    for (size_t l = 0; l < 2; l++) {
        const json_t *list = list_at(r, names[l][0]);
        const json_t *statuses = r->statuses ? list_at(r, names[l][1]) : NULL;
        index_statuses(r, statuses);
        for (size_t i = 0; i < json_array_size(list); i++) {
            struct place at = {json_array_get(list, i), names[l][0], i};
            size_t k = find_status(r, statuses, read_text(at.object, "name"));
            struct place status = {json_array_get(statuses, k), names[l][1], k};
            read_container(r, &at, &status, l == 0);
        }
        map_done(&r->known);
        r->known = (struct map)MAP_INIT;
    }
}

/* ---- pod-level resources ---- */

/* Source: IsSupportedPodLevelResource. */
static bool is_pod_level(const char *resource)
{
    return str_eq(resource, "cpu") || str_eq(resource, "memory") ||
           strncmp(resource, "hugepages-", 10) == 0;
}

/* Resources whose missing pod-level request defaults to the sum of the containers' requests. */
static const char *const summed[] = {"cpu", "memory"};

/* The sums of the requests in the containers' specs, for defaults. -1: there is no request. */
static void asked_by_specs(const struct reading *r, int64_t amounts[ARRAY_SIZE(summed)])
{
    struct request_sums sums = {0};
    struct reading specs = {.pod = r->pod, .sums = &sums};
    read_containers(&specs);
    for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
        amounts[i] = request_sums_get(&sums, summed[i]);
    request_sums_done(&sums);
}

/* The pod-level amount of a resource in the status; -1: the status has no pod-level resources. */
static int64_t in_force(struct reading *r, const char *resource)
{
    static const char *const paths[] = {"status.resources.requests", "status.allocatedResources"};
    const struct place pod = {.object = r->pod};
    int64_t most = -1;
    if (!r->statuses || !map_at(r, &pod, "status.resources"))
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        const json_t *map = map_at(r, &pod, paths[i]), *value = json_object_get(map, resource);
        int64_t amount = value ? quantity(r, &pod, paths[i], resource, value) : 0;
        if (json_object_size(map) && amount > most)
            most = amount;
    }
    return most;
}

/* Sets a pod-level request. During a resize in place (on by default since 1.36), the amount in the
 * status counts instead if it is larger, or if the resize is infeasible. */
static void set_level(struct reading *r, const char *resource, int64_t amount)
{
    int64_t now = in_force(r, resource);
    bool instead = now > amount || (r->infeasible && now >= 0);
    if (is_pod_level(resource))
        request_sums_set(r->sums, resource, instead ? now : amount);
}

/* Sets requests for which only a limit is given. They default to the sum of the containers'
 * requests (cpu and memory), else to the limit. Source: defaultPodRequests. muster does not need
 * defaultHugePagePodLimits, because its result equals the containers' sum. */
static void default_level(struct reading *r, const json_t *requests, const json_t *limits)
{
    const struct place pod = {.object = r->pod};
    int64_t asked[ARRAY_SIZE(summed)];
    const char *name;
    json_t *value;
    if (json_object_size(limits) == 0)
        return;
    asked_by_specs(r, asked);
    for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
        if (asked[i] >= 0 && !json_object_get(requests, summed[i]))
            set_level(r, summed[i], asked[i]);
    json_object_foreach((json_t *)(uintptr_t)limits, name, value)
    {
        bool set = json_object_get(requests, name) != NULL;
        for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
            set |= asked[i] >= 0 && str_eq(name, summed[i]);
        if (!set)
            set_level(r, name, quantity(r, &pod, "spec.resources.limits", name, value));
    }
}

static void read_pod_level(struct reading *r)
{
    static const char path[] = "spec.resources.requests";
    const struct place pod = {.object = r->pod};
    const json_t *requests = map_at(r, &pod, path);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)requests, name, value)
        set_level(r, name, quantity(r, &pod, path, name, value));
    default_level(r, requests, map_at(r, &pod, "spec.resources.limits"));
}

static void read_overhead(struct reading *r)
{
    static const char path[] = "spec.overhead";
    const struct place pod = {.object = r->pod};
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map_at(r, &pod, path), name, value)
        request_sums_add(r->sums, name, quantity(r, &pod, path, name, value));
}

int pod_requests_read(const json_t *pod, enum pod_requests_of of, struct request_sums *ret,
                      struct err *err)
{
    struct reading r = {.pod = pod, .sums = ret, .err = err};
    r.statuses = of == REQUESTS_OF_IN_FORCE;
    r.infeasible = r.statuses && resize_infeasible(pod);
    read_containers(&r);
    read_pod_level(&r);
    read_overhead(&r);
    return r.failed ? -1 : 0;
}
