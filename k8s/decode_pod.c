/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods, as kube-scheduler sees them. The defaults that an API server would fill in are filled in
 * here as well, because the built-in cluster has none: source k8s.io/kubernetes v1.36
 * pkg/apis/core/v1/defaults.go (SetDefaults_Pod, SetDefaults_PodSpec).
 */
#include "gang/predicates.h"
#include "k8s/decode.h"
#include "k8s/decode_internal.h"

static bool amounts_has(const struct gang_amounts *a, const char *resource)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].resource, resource) == 0)
            return true;
    return false;
}

/* Adds what is absent from *to. */
static void amounts_default(struct gang_amounts *to, const struct gang_amounts *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (!amounts_has(to, from->items[i].resource))
            gang_amounts_add(to, from->items[i].resource, from->items[i].amount);
}

static void amounts_max(struct gang_amounts *to, const struct gang_amounts *from)
{
    for (size_t i = 0; i < from->n; i++) {
        size_t at = 0;
        while (at < to->n && strcmp(to->items[at].resource, from->items[i].resource) != 0)
            at++;
        if (at == to->n)
            gang_amounts_add(to, from->items[i].resource, from->items[i].amount);
        else if (to->items[at].amount < from->items[i].amount)
            to->items[at].amount = from->items[i].amount;
    }
}

/* ---- containers ---- */

static int decode_ports(const json_t *container, bool host_network, struct gang_pod_facts *f,
                        struct err *err)
{
    const json_t *ports = NULL;
    if (field_array(container, "ports", &ports, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *json = json_array_get(ports, i);
        const char *ip = NULL, *protocol = "TCP";
        int64_t host = 0, inside = 0;
        if (field_int(json, "hostPort", 0, 65535, &host, err) < 0 ||
            field_int(json, "containerPort", 0, 65535, &inside, err) < 0 ||
            field_string(json, "hostIP", &ip, err) < 0 ||
            field_string(json, "protocol", &protocol, err) < 0)
            return err_wrap(err, "ports[%zu]", i);
        if (!host && host_network)
            host = inside;
        if (!host)
            continue;
        if (f->n_host_ports == FIELD_MAX_ITEMS)
            return err_set(err, ERR_INVALID, "ports: more than %d host ports", FIELD_MAX_ITEMS);
        f->host_ports = xreallocarray(f->host_ports, f->n_host_ports + 1, sizeof *f->host_ports);
        f->host_ports[f->n_host_ports++] =
            (struct gang_port){ip && *ip ? xstrdup(ip) : NULL, xstrdup(protocol), (int32_t)host};
    }
    return 0;
}

static int decode_resources(const json_t *container, struct gang_amounts *requests, struct err *err)
{
    const json_t *resources = NULL;
    if (field_object(container, "resources", &resources, err) < 0)
        return -1;
    struct gang_amounts limits = {NULL, 0};
    int r = 0;
    if (field_amounts(resources, "requests", requests, err) < 0 ||
        field_amounts(resources, "limits", &limits, err) < 0)
        r = err_wrap(err, "resources");
    amounts_default(requests, &limits);
    gang_amounts_done(&limits);
    return r;
}

/* Over all containers; thousands would cost the core a second for each event of such a pod. */
#define MAX_REQUESTS 512

static int decode_container(const json_t *json, bool init, bool host_network,
                            struct gang_pod_facts *f, struct err *err)
{
    const char *restart = NULL;
    if (field_string(json, "restartPolicy", &restart, err) < 0)
        return -1;
    struct gang_container *c = &f->containers[f->n_containers++];
    c->init = init;
    c->sidecar = init && str_eq(restart, "Always");
    if (decode_resources(json, &c->requests, err) < 0)
        return -1;
    /* Source: schedutil.GetHostPorts: init containers that end do not keep their ports. */
    if (init && !c->sidecar)
        return 0;
    return decode_ports(json, host_network, f, err);
}

static int decode_containers(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *lists[2] = {NULL, NULL};
    static const char *const names[2] = {"initContainers", "containers"};
    bool host_network = false;
    if (field_bool(spec, "hostNetwork", &host_network, err) < 0 ||
        field_array(spec, names[0], &lists[0], err) < 0 ||
        field_array(spec, names[1], &lists[1], err) < 0)
        return -1;
    f->containers =
        xcalloc(json_array_size(lists[0]) + json_array_size(lists[1]), sizeof *f->containers);
    size_t requests = 0;
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < json_array_size(lists[l]); i++) {
            if (decode_container(json_array_get(lists[l], i), l == 0, host_network, f, err) < 0)
                return err_wrap(err, "%s[%zu]", names[l], i);
            requests += f->containers[f->n_containers - 1].requests.n;
        }
    if (requests > MAX_REQUESTS)
        return err_set(err, ERR_INVALID, "resources: %zu requests in all containers, more than %d",
                       requests, MAX_REQUESTS);
    return 0;
}

/* ---- resources beside the containers' own ---- */

/*
 * spec.resources. Where only limits are written, requests default to what the containers ask for
 * (cpu and memory), else to the limit. Source: defaultPodRequests; defaultHugePagePodLimits is not
 * needed, its result equals the containers' sum. To be called before statuses are filled in.
 */
static int decode_pod_level(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *resources = NULL;
    if (field_object(spec, "resources", &resources, err) < 0)
        return -1;
    struct gang_amounts limits = {NULL, 0}, sum = {NULL, 0};
    int r = 0;
    if (field_amounts(resources, "requests", &f->pod_level, err) < 0 ||
        field_amounts(resources, "limits", &limits, err) < 0) {
        r = err_wrap(err, "resources");
    } else if (limits.n) {
        gang_pod_requests(f, &sum);
        for (size_t i = 0; i < sum.n; i++) {
            const char *name = sum.items[i].resource;
            if ((str_eq(name, "cpu") || str_eq(name, "memory")) &&
                !amounts_has(&f->pod_level, name))
                gang_amounts_add(&f->pod_level, name, sum.items[i].amount);
        }
        amounts_default(&f->pod_level, &limits);
    }
    f->has_pod_level = f->pod_level.n > 0;
    gang_amounts_done(&limits);
    gang_amounts_done(&sum);
    return r;
}

/* The condition of that type; NULL: there is none. */
static const json_t *condition_of(const json_t *status, const char *type)
{
    const json_t *conditions = json_object_get(status, "conditions");
    for (size_t i = 0; i < json_array_size(conditions); i++)
        if (str_eq(field_peek(json_array_get(conditions, i), "type", NULL), type))
            return json_array_get(conditions, i);
    return NULL;
}

/* Whether a resize was found impossible: then what is in force counts, not what is wished for.
 * Source: IsPodResizeInfeasible. */
static bool resize_infeasible(const json_t *status)
{
    return str_eq(field_peek(condition_of(status, "PodResizePending"), "reason", NULL),
                  "Infeasible");
}

/* What a status says is in force: the larger of its resources.requests and allocatedResources;
 * nothing where it carries no resources. Source: AggregateContainerRequests. */
static int decode_in_force(const json_t *status, struct gang_amounts *ret, struct err *err)
{
    const json_t *resources = NULL;
    if (field_object(status, "resources", &resources, err) < 0)
        return -1;
    if (!resources)
        return 0;
    struct gang_amounts allocated = {NULL, 0};
    int r = 0;
    if (field_amounts(resources, "requests", ret, err) < 0)
        r = err_wrap(err, "resources");
    else
        r = field_amounts(status, "allocatedResources", &allocated, err);
    amounts_max(ret, &allocated);
    gang_amounts_done(&allocated);
    return r;
}

static const json_t *status_of(const json_t *statuses, const char *name)
{
    for (size_t i = 0; name && i < json_array_size(statuses); i++)
        if (str_eq(field_peek(json_array_get(statuses, i), "name", NULL), name))
            return json_array_get(statuses, i);
    return NULL;
}

static int decode_container_statuses(const json_t *spec, const json_t *status,
                                     struct gang_pod_facts *f, struct err *err)
{
    static const char *const names[2][2] = {{"initContainers", "initContainerStatuses"},
                                            {"containers", "containerStatuses"}};
    bool infeasible = resize_infeasible(status);
    size_t at = 0;
    for (size_t l = 0; l < 2; l++) {
        const json_t *containers = json_object_get(spec, names[l][0]), *statuses = NULL;
        if (field_array(status, names[l][1], &statuses, err) < 0)
            return -1;
        for (size_t i = 0; i < json_array_size(containers); i++) {
            struct gang_container *c = &f->containers[at++];
            const char *name = field_peek(json_array_get(containers, i), "name", NULL);
            const json_t *own = status_of(statuses, name);
            if (decode_in_force(own, &c->status, err) < 0)
                return err_wrap(err, "%s of %s", names[l][1], name);
            if (infeasible && json_object_get(own, "resources") && (!c->init || c->sidecar))
                gang_amounts_done(&c->requests);
        }
    }
    return 0;
}

/* Pod-level resources that were resized in place. Source: PodRequests, on since 1.36. */
static int decode_pod_level_status(const json_t *status, struct gang_pod_facts *f, struct err *err)
{
    if (!f->has_pod_level)
        return 0;
    struct gang_amounts in_force = {NULL, 0};
    int r = decode_in_force(status, &in_force, err);
    bool infeasible = in_force.n && resize_infeasible(status);
    for (size_t i = 0; i < f->pod_level.n; i++) {
        struct gang_amount *a = &f->pod_level.items[i];
        int64_t now = gang_amounts_get(&in_force, a->resource);
        if (infeasible || now > a->amount)
            a->amount = now;
    }
    gang_amounts_done(&in_force);
    return r;
}

/* ---- where it may go ---- */

static int decode_toleration(const json_t *json, struct gang_pod_facts *f, struct err *err)
{
    const char *op_text = "Equal", *effect = NULL;
    struct gang_toleration *t = &f->tolerations[f->n_tolerations];
    if (field_string(json, "operator", &op_text, err) < 0 ||
        field_string(json, "effect", &effect, err) < 0)
        return -1;
    /* Numeric comparison (alpha in 1.36) is not modelled: such a toleration tolerates nothing. */
    if (str_eq(op_text, "Gt") || str_eq(op_text, "Lt")) {
        decode_beyond(f, "a toleration that compares numbers");
        return 0;
    }
    f->n_tolerations++;
    t->value = xstrdup("");
    t->exists = str_eq(op_text, "Exists");
    t->any_effect = !effect || !*effect;
    if (!t->exists && *op_text && !str_eq(op_text, "Equal"))
        return err_set(err, ERR_INVALID, "operator is \"%.40s\", must be Equal or Exists", op_text);
    if (!t->any_effect && decode_taint_effect(effect, &t->effect, err) < 0)
        return -1;
    if (field_copy(json, "value", &t->value, err) < 0 || field_copy(json, "key", &t->key, err) < 0)
        return -1;
    if (t->key && !*t->key)
        free(STEAL(t->key));
    return 0;
}

static int decode_tolerations(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *list = NULL;
    if (field_array(spec, "tolerations", &list, err) < 0)
        return -1;
    f->tolerations = xcalloc(json_array_size(list), sizeof *f->tolerations);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (decode_toleration(json_array_get(list, i), f, err) < 0)
            return err_wrap(err, "tolerations[%zu]", i);
    return 0;
}

/* ---- the pod ---- */

static int decode_gates(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *gates = NULL;
    if (field_array(spec, "schedulingGates", &gates, err) < 0)
        return -1;
    f->gates = xcalloc(json_array_size(gates), sizeof *f->gates);
    for (size_t i = 0; i < json_array_size(gates); i++) {
        const char *name = "";
        if (field_string(json_array_get(gates, i), "name", &name, err) < 0)
            return err_wrap(err, "schedulingGates[%zu]", i);
        if (str_eq(name, GANG_GATE))
            f->gated = true;
        else
            f->gates[f->n_gates++] = xstrdup(name);
    }
    return 0;
}

/* The claim that a volume uses; NULL: none. An ephemeral volume has one made for it, named after
 * pod and volume. Source: component-helpers/storage/ephemeral VolumeClaimName. */
static int claim_of(const json_t *volume, const char *pod, char **ret, struct err *err)
{
    const json_t *claim = NULL, *ephemeral = NULL;
    const char *name = "", *volume_name = "";
    if (field_object(volume, "persistentVolumeClaim", &claim, err) < 0 ||
        field_object(volume, "ephemeral", &ephemeral, err) < 0 ||
        field_string(claim, "claimName", &name, err) < 0 ||
        field_string(volume, "name", &volume_name, err) < 0)
        return -1;
    if (claim)
        *ret = xstrdup(name);
    else if (ephemeral)
        *ret = xasprintf("%s-%s", pod, volume_name);
    return 0;
}

/* Volumes or claims that only the scheduler can place. */
static int decode_claims(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *volumes = NULL, *claims = NULL;
    if (field_array(spec, "volumes", &volumes, err) < 0 ||
        field_array(spec, "resourceClaims", &claims, err) < 0)
        return -1;
    f->claims = xcalloc(json_array_size(volumes), sizeof *f->claims);
    for (size_t i = 0; i < json_array_size(volumes); i++) {
        if (claim_of(json_array_get(volumes, i), f->name, &f->claims[f->n_claims], err) < 0)
            return err_wrap(err, "volumes[%zu]", i);
        f->n_claims += f->claims[f->n_claims] != NULL;
    }
    f->has_resource_claims = json_array_size(claims) > 0;
    f->has_pvc = f->n_claims > 0 || f->has_resource_claims;
    return 0;
}

static int decode_spec(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    int64_t priority = 0;
    f->scheduler = xstrdup("default-scheduler");
    if (field_copy(spec, "nodeName", &f->node, err) < 0 ||
        field_copy(spec, "schedulerName", &f->scheduler, err) < 0 ||
        field_int(spec, "priority", INT32_MIN, INT32_MAX, &priority, err) < 0 ||
        field_amounts(spec, "overhead", &f->overhead, err) < 0 ||
        field_kvs(spec, "nodeSelector", &f->node_selector, err) < 0 ||
        decode_gates(spec, f, err) < 0 || decode_claims(spec, f, err) < 0 ||
        decode_rules(spec, f, err) < 0 || decode_tolerations(spec, f, err) < 0)
        return -1;
    f->priority = (int32_t)priority;
    if (f->node && !*f->node)
        free(STEAL(f->node));
    decode_exactness(spec, f);
    return 0;
}

static int decode_phase(const char *text, enum gang_phase *ret, struct err *err)
{
    static const char *const names[] = {
        [PHASE_PENDING] = "Pending", [PHASE_RUNNING] = "Running", [PHASE_SUCCEEDED] = "Succeeded",
        [PHASE_FAILED] = "Failed",   [PHASE_UNKNOWN] = "Unknown",
    };
    if (!text || !*text)
        text = names[PHASE_PENDING];
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (str_eq(text, names[i])) {
            *ret = (enum gang_phase)i;
            return 0;
        }
    return err_set(err, ERR_INVALID, "phase \"%.40s\" is not known", text);
}

/*
 * "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient nvidia.com/gpu. …": the
 * resource. None of a message that names several, or a gang: that is not kube-scheduler's alone.
 */
static char *decode_shortage(const char *message)
{
    static const char insufficient[] = "Insufficient ";
    cleanup_free char *found = NULL;
    if (!message || strstr(message, "gang "))
        return NULL;
    for (const char *at = message; (at = strstr(at, insufficient));) {
        at += strlen(insufficient);
        size_t n = strcspn(at, ", ");
        n -= n && at[n - 1] == '.';
        if (!n || (found && (strlen(found) != n || strncmp(found, at, n) != 0)))
            return NULL;
        if (!found)
            found = xstrndup(at, n);
    }
    return STEAL(found);
}

static int decode_status(const json_t *status, struct gang_pod_facts *f, struct err *err)
{
    const char *phase = NULL;
    if (field_copy(status, "nominatedNodeName", &f->nominated, err) < 0 ||
        field_string(status, "phase", &phase, err) < 0 || decode_phase(phase, &f->phase, err) < 0)
        return -1;
    if (f->nominated && !*f->nominated)
        free(STEAL(f->nominated));
    const json_t *scheduled = condition_of(status, "PodScheduled");
    f->unschedulable = str_eq(field_peek(scheduled, "status", NULL), "False") &&
                       str_eq(field_peek(scheduled, "reason", NULL), "Unschedulable");
    if (f->unschedulable)
        f->short_of = decode_shortage(field_peek(scheduled, "message", NULL));
    return 0;
}

static int decode_body(const json_t *pod, struct gang_pod_facts *f, struct err *err)
{
    const json_t *spec = NULL, *status = NULL;
    if (field_object(pod, "spec", &spec, err) < 0 || field_object(pod, "status", &status, err) < 0)
        return -1;
    /* The order matters: pod-level defaults are made of the containers without their statuses. */
    if (decode_containers(spec, f, err) < 0 || decode_pod_level(spec, f, err) < 0 ||
        decode_spec(spec, f, err) < 0)
        return err_wrap(err, "spec");
    if (decode_container_statuses(spec, status, f, err) < 0 ||
        decode_pod_level_status(status, f, err) < 0 || decode_status(status, f, err) < 0)
        return err_wrap(err, "status");
    return 0;
}

/* Nothing here may keep a pod from being counted: what is beyond all bounds is passed over. */
static void decode_labels(const json_t *metadata, struct gang_pod_facts *f)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(metadata, "labels"), key, value)
    {
        if (json_is_string(value) && f->labels.n < FIELD_MAX_ITEMS)
            gang_kvs_add(&f->labels, key, json_string_value(value));
        else
            decode_beyond(f, "labels that muster does not read");
    }
}

static void decode_owners(const json_t *metadata, struct gang_pod_facts *f)
{
    const json_t *owners = json_object_get(metadata, "ownerReferences");
    for (size_t i = 0; i < json_array_size(owners) && !f->controlled; i++)
        f->controlled = json_is_true(json_object_get(json_array_get(owners, i), "controller"));
}

struct gang_pod_facts *decode_pod(const json_t *pod, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(pod, "pod", &meta, err) < 0)
        return NULL;
    if (!meta.uid || !*meta.uid) {
        err_set(err, ERR_INVALID, "pod %s/%s: metadata.uid is missing", meta.ns, meta.name);
        return NULL;
    }
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup(meta.ns);
    f->name = xstrdup(meta.name);
    f->uid = xstrdup(meta.uid);
    f->version = decode_version(&meta);
    f->created = meta.created;
    f->deleting = field_peek(meta.json, "deletionTimestamp", NULL) != NULL;
    decode_labels(meta.json, f);
    decode_owners(meta.json, f);
    decode_link(pod, &meta, f);
    if (decode_body(pod, f, err) == 0)
        return f;
    err_wrap(err, "pod %s/%s", meta.ns, meta.name);
    return gang_pod_facts_free(f);
}
