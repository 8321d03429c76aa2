/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kube-scheduler charges for a pod, summed while it is read: however many requests there are,
 * the charge is exact. Whatever cannot be read is charged as more than any node has, so that what
 * the pod may use never looks free; the API server takes no such pod.
 *
 * The defaults of an API server are filled in: a missing request is the limit. Source:
 * component-helpers/resource PodRequests, AggregateContainerRequests.
 */
#include "base/map.h"
#include "gang/bounds.h"
#include "gang/requests.h"
#include "k8s/decode/decode_internal.h"

struct reading {
    struct gang_pod_facts *f;
    struct gang_requests *sums;
    const json_t *spec, *status; /* status NULL: as if there was none */
    bool infeasible;             /* a resize was found impossible: what is in force counts */
    struct map statuses;         /* name -> status of a container, where there are many */
};

/* ---- quantities ---- */

/* `where` is for people. */
static int64_t quantity(struct reading *r, const char *where, const char *resource,
                        const json_t *value)
{
    struct err err;
    int64_t amount = 0;
    if (field_amount(resource, value, &amount, &err) == 0)
        return amount;
    err_wrap(&err, "%s", where);
    decode_invalid(r->f, &err);
    return INT64_MAX;
}

static const json_t *map_at(struct reading *r, const json_t *object, const char *key)
{
    const json_t *map = json_object_get(object, key);
    struct err err;
    if (!map || json_is_null(map) || json_is_object(map))
        return map;
    err_set(&err, ERR_INVALID, "%s must be an object", key);
    decode_invalid(r->f, &err);
    return NULL;
}

static void ask(struct reading *r, const json_t *amounts, const json_t *except)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)amounts, name, value)
    {
        if (!json_object_get(except, name))
            gang_requests_ask(r->sums, name, quantity(r, "resources", name, value));
    }
}

/* ---- what is in force ---- */

/* The condition of that type; NULL: there is none. */
const json_t *decode_condition(const json_t *status, const char *type)
{
    const json_t *conditions = json_object_get(status, "conditions");
    for (size_t i = 0; i < json_array_size(conditions); i++)
        if (str_eq(field_peek(json_array_get(conditions, i), "type", NULL), type))
            return json_array_get(conditions, i);
    return NULL;
}

/* Source: IsPodResizeInfeasible. */
static bool resize_infeasible(const json_t *status)
{
    return str_eq(field_peek(decode_condition(status, "PodResizePending"), "reason", NULL),
                  "Infeasible");
}

/* So few are compared one by one. */
#define FEW 16

static void index_statuses(struct reading *r, const json_t *list)
{
    for (size_t i = 0; json_array_size(list) > FEW && i < json_array_size(list); i++) {
        json_t *status = json_array_get(list, i);
        const char *name = field_peek(status, "name", NULL);
        if (name && !map_get(&r->statuses, name))
            map_set(&r->statuses, name, status);
    }
}

static const json_t *status_of(const struct reading *r, const json_t *list, const char *name)
{
    if (json_array_size(list) > FEW)
        return name ? map_get(&r->statuses, name) : NULL;
    for (size_t i = 0; name && i < json_array_size(list); i++)
        if (str_eq(field_peek(json_array_get(list, i), "name", NULL), name))
            return json_array_get(list, i);
    return NULL;
}

/* ---- containers ---- */

static void read_container(struct reading *r, const json_t *container, const json_t *status,
                           bool init)
{
    bool sidecar = init && str_eq(field_peek(container, "restartPolicy", NULL), "Always");
    bool lasts = !init || sidecar;
    const json_t *resources = map_at(r, container, "resources");
    const json_t *in_force = map_at(r, status, "resources");
    if (!(r->infeasible && in_force && lasts)) {
        const json_t *requests = map_at(r, resources, "requests");
        ask(r, requests, NULL);
        ask(r, map_at(r, resources, "limits"), requests);
    }
    if (in_force && lasts) {
        ask(r, map_at(r, in_force, "requests"), NULL);
        ask(r, map_at(r, status, "allocatedResources"), NULL);
    }
    gang_requests_container(r->sums, sidecar ? CONTAINER_SIDECAR
                                     : init  ? CONTAINER_INIT
                                             : CONTAINER_REGULAR);
}

static void read_containers(struct reading *r)
{
    static const char *const names[2][2] = {{"initContainers", "initContainerStatuses"},
                                            {"containers", "containerStatuses"}};
    for (size_t l = 0; l < 2; l++) {
        const json_t *list = json_object_get(r->spec, names[l][0]);
        const json_t *statuses = json_object_get(r->status, names[l][1]);
        index_statuses(r, statuses);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *container = json_array_get(list, i);
            const char *name = field_peek(container, "name", NULL);
            read_container(r, container, status_of(r, statuses, name), l == 0);
        }
        map_done(&r->statuses);
        r->statuses = (struct map)MAP_INIT;
    }
}

/* ---- resources of the pod ---- */

static bool is_pod_level(const char *resource)
{
    return str_eq(resource, "cpu") || str_eq(resource, "memory") ||
           strncmp(resource, "hugepages-", 10) == 0;
}

/* Those whose missing request is what the containers ask for. */
static const char *const summed[] = {"cpu", "memory"};

/* What the containers' specs alone ask for: defaults go by that. -1: nothing. */
static void asked_by_specs(const struct reading *r, int64_t amounts[ARRAY_SIZE(summed)])
{
    struct gang_requests sums = {0};
    struct reading specs = {.f = r->f, .sums = &sums, .spec = r->spec};
    read_containers(&specs);
    for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
        amounts[i] = gang_requests_get(&sums, summed[i]);
    gang_requests_end(&sums, NULL);
}

/* What is in force of a resource, in a pod's status. */
static int64_t in_force(struct reading *r, const char *resource)
{
    const json_t *resources = map_at(r, r->status, "resources");
    const json_t *requests = json_object_get(resources, "requests");
    const json_t *allocated = json_object_get(r->status, "allocatedResources");
    const json_t *values[] = {json_object_get(requests, resource),
                              json_object_get(allocated, resource)};
    int64_t most = 0;
    for (size_t i = 0; resources && i < ARRAY_SIZE(values); i++) {
        int64_t amount = values[i] ? quantity(r, "status", resource, values[i]) : 0;
        most = amount > most ? amount : most;
    }
    return most;
}

/* Resized in place: what is in force, if it is more, or the wish cannot be met. On since 1.36. */
static void set_level(struct reading *r, const char *resource, int64_t amount)
{
    const json_t *resources = json_object_get(r->status, "resources");
    bool told = json_object_size(json_object_get(resources, "requests")) ||
                (resources && json_object_size(json_object_get(r->status, "allocatedResources")));
    int64_t now = told ? in_force(r, resource) : 0;
    bool instead = (r->infeasible && told) || now > amount;
    if (is_pod_level(resource))
        gang_requests_set(r->sums, resource, instead ? now : amount);
}

/* Where only limits are written, requests default to what the containers ask for (cpu and memory),
 * else to the limit. Source: defaultPodRequests; defaultHugePagePodLimits is not needed, its result
 * equals the containers' sum. */
static void default_level(struct reading *r, const json_t *requests, const json_t *limits)
{
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
            set_level(r, name, quantity(r, "resources", name, value));
    }
}

static void read_pod_level(struct reading *r)
{
    const json_t *resources = map_at(r, r->spec, "resources");
    const json_t *requests = map_at(r, resources, "requests");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)requests, name, value)
        set_level(r, name, quantity(r, "resources", name, value));
    default_level(r, requests, map_at(r, resources, "limits"));
}

static void read_overhead(struct reading *r)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map_at(r, r->spec, "overhead"), name, value)
        gang_requests_add(r->sums, name, quantity(r, "overhead", name, value));
}

void decode_requests(const json_t *spec, const json_t *status, struct gang_pod_facts *f)
{
    struct gang_requests sums = {0};
    struct reading r = {.f = f, .sums = &sums, .spec = spec, .status = status};
    r.infeasible = resize_infeasible(status);
    read_containers(&r);
    read_pod_level(&r);
    read_overhead(&r);
    gang_requests_end(&sums, &f->requests);
    decode_within(f, OVER_RESOURCES, f->requests.n);
}
