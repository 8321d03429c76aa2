/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes pods as kube-scheduler sees them. The decoder sets the defaults that an API server would
 * set, because the built-in cluster sets none. Source: k8s.io/kubernetes v1.36
 * pkg/apis/core/v1/defaults.go (SetDefaults_Pod, SetDefaults_PodSpec).
 */
#include "base/hash.h"
#include "k8s/decode/decode.h"

#include "k8s/decode/decode_internal.h"
#include "workload/pod_requests.h"

/* The annotation with which a job says when it last saved a checkpoint. */
#define CHECKPOINT "muster.dev/last-checkpoint"

/* ---- host ports ---- */

static int decode_port(const json_t *json, bool host_network, struct gang_pod_facts *f, size_t *cap,
                       struct err *err)
{
    const char *ip = NULL, *protocol = "TCP";
    int64_t host = 0, inside = 0;
    if (field_int(json, "hostPort", 0, 65535, &host, err) < 0 ||
        field_int(json, "containerPort", 0, 65535, &inside, err) < 0 ||
        field_string(json, "hostIP", &ip, err) < 0 ||
        field_string(json, "protocol", &protocol, err) < 0)
        return -1;
    if (!host && host_network)
        host = inside;
    if (!host)
        return 0;
    GROW(f->host_ports, *cap, f->n_host_ports + 1);
    f->host_ports[f->n_host_ports++] =
        (struct gang_port){ip && *ip ? xstrdup(ip) : NULL, xstrdup(protocol), (int32_t)host};
    return 0;
}

/* Init containers count only if they are sidecars. Source: schedutil.GetHostPorts. */
static int decode_ports(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    static const char *const names[2] = {"initContainers", "containers"};
    bool host_network = json_is_true(json_object_get(spec, "hostNetwork"));
    size_t n = 0, cap = 0;
    for (size_t l = 0; l < 2; l++) {
        const json_t *list = json_object_get(spec, names[l]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *container = json_array_get(list, i), *ports = NULL;
            if (l == 0 && !str_eq(field_peek(container, "restartPolicy", NULL), "Always"))
                continue;
            if (field_whole_array(container, "ports", &ports, err) < 0)
                return err_wrap(err, "%s[%zu]", names[l], i);
            for (size_t k = 0; k < json_array_size(ports); k++) {
                n = f->n_host_ports;
                if (n < BOUND_LEDGER_PORTS &&
                    decode_port(json_array_get(ports, k), host_network, f, &cap, err) < 0)
                    return err_wrap(err, "%s[%zu]: ports[%zu]", names[l], i, k);
            }
        }
    }
    gang_ports_sort(f->host_ports, f->n_host_ports);
    decode_within(f, OVER_HOST_PORTS, f->n_host_ports);
    return 0;
}

/* ---- nodes and tolerations ---- */

static int decode_toleration(const json_t *json, struct gang_pod_facts *f, struct err *err)
{
    const char *op_text = "Equal", *effect = NULL;
    struct gang_toleration *t = &f->tolerations[f->n_tolerations];
    if (field_string(json, "operator", &op_text, err) < 0 ||
        field_string(json, "effect", &effect, err) < 0)
        return -1;
    /* Numeric comparison (alpha in 1.36) is not modelled. Such a toleration is ignored. */
    if (str_eq(op_text, "Gt") || str_eq(op_text, "Lt")) {
        decode_mark_inexact(f, "a toleration that compares numbers");
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
    if (field_whole_array(spec, "tolerations", &list, err) < 0)
        return -1;
    if (!decode_within(f, OVER_TOLERATIONS, json_array_size(list)))
        return 0;
    f->tolerations = xcalloc(json_array_size(list), sizeof *f->tolerations);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (decode_toleration(json_array_get(list, i), f, err) < 0)
            return err_wrap(err, "tolerations[%zu]", i);
    return 0;
}

/* Decodes nodeSelector and required node affinity: both or, if they exceed a bound, neither. */
static int decode_nodes(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *selector = NULL, *affinity = NULL, *node = NULL, *required = NULL;
    if (field_whole_object(spec, "nodeSelector", &selector, err) < 0 ||
        field_object(spec, "affinity", &affinity, err) < 0 ||
        field_object(affinity, "nodeAffinity", &node, err) < 0 ||
        field_object(node, "requiredDuringSchedulingIgnoredDuringExecution", &required, err) < 0)
        return -1;
    struct decode_length length = {.rules = json_object_size(selector)};
    decode_node_length(required, &length);
    if (!decode_within(f, OVER_NODE_RULES, length.rules) ||
        !decode_within(f, OVER_NODE_VALUES, length.values))
        return 0;
    f->has_affinity = required != NULL;
    if (field_kvs(spec, "nodeSelector", &f->node_selector, err) < 0)
        return -1;
    if (decode_node_terms(required, &f->affinity, &f->n_affinity, err) < 0)
        return err_wrap(err, "affinity: required node affinity");
    return 0;
}

/* ---- the pod ---- */

/* How many names of gates are kept, for messages. */
#define MAX_GATES 16

static int decode_gates(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *gates = NULL;
    if (field_whole_array(spec, "schedulingGates", &gates, err) < 0)
        return -1;
    size_t n = json_array_size(gates), most = n < MAX_GATES ? n : MAX_GATES;
    f->gates = xcalloc(most, sizeof *f->gates);
    for (size_t i = 0; i < n; i++) {
        const char *name = "";
        if (field_string(json_array_get(gates, i), "name", &name, err) < 0)
            return err_wrap(err, "schedulingGates[%zu]", i);
        if (str_eq(name, GANG_GATE))
            f->gated = true;
        else if (f->n_gates < most)
            f->gates[f->n_gates++] = xstrdup(name);
    }
    return 0;
}

/* *ret gets the name of the claim that a volume uses; it stays NULL if there is none. The claim of
 * an ephemeral volume is named after the pod and the volume. Source:
 * component-helpers/storage/ephemeral VolumeClaimName. */
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

/* Decodes PersistentVolumeClaims and ResourceClaims, which kube-scheduler prepares. */
static int decode_claims(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    const json_t *volumes = NULL, *claims = NULL;
    if (field_whole_array(spec, "volumes", &volumes, err) < 0 ||
        field_whole_array(spec, "resourceClaims", &claims, err) < 0)
        return -1;
    f->has_resource_claims = json_array_size(claims) > 0;
    size_t n = 0;
    size_t most = json_array_size(volumes) < BOUND_CLAIMS ? json_array_size(volumes) : BOUND_CLAIMS;
    f->claims = xcalloc(most, sizeof *f->claims);
    for (size_t i = 0; i < json_array_size(volumes); i++) {
        char *name = NULL;
        if (claim_of(json_array_get(volumes, i), f->name, &name, err) < 0)
            return err_wrap(err, "volumes[%zu]", i);
        if (name && n++ < most)
            f->claims[f->n_claims++] = STEAL(name);
        free(name);
    }
    f->has_pvc = n > 0 || f->has_resource_claims;
    decode_within(f, OVER_CLAIMS, n);
    return 0;
}

static int decode_names(const json_t *spec, struct gang_pod_facts *f, struct err *err)
{
    int64_t priority = 0;
    f->scheduler = xstrdup("default-scheduler");
    if (field_copy(spec, "nodeName", &f->node, err) < 0)
        return -1;
    if (f->node && !*f->node)
        free(STEAL(f->node));
    if (field_copy(spec, "schedulerName", &f->scheduler, err) < 0 ||
        field_int(spec, "priority", INT32_MIN, INT32_MAX, &priority, err) < 0)
        return -1;
    f->priority = (int32_t)priority;
    json_int_t grace = json_integer_value(json_object_get(spec, "terminationGracePeriodSeconds"));
    f->grace = grace > 0 && grace < USEC_NEVER / USEC_PER_SEC ? grace * USEC_PER_SEC : 0;
    f->never_preempts = str_eq(field_peek(spec, "preemptionPolicy", NULL), "Never");
    return 0;
}

/* An unknown phase is an error, and counts as PHASE_UNKNOWN: the pod has not finished. */
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
    *ret = PHASE_UNKNOWN;
    return err_set(err, ERR_INVALID, "phase \"%.40s\" is unknown", text);
}

/*
 * Returns the resource in a message of kube-scheduler such as "0/4 nodes are available: 1 node(s)
 * were unschedulable, 3 Insufficient nvidia.com/gpu. …". The caller frees it. NULL: the message
 * names no resource or several.
 */
static char *decode_shortage(const char *message)
{
    static const char insufficient[] = "Insufficient ";
    cleanup_free char *found = NULL;
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

static void decode_requests(const json_t *pod, struct gang_pod_facts *f)
{
    struct request_sums sums = {0};
    struct err err;
    if (pod_requests_read(pod, REQUESTS_OF_IN_FORCE, &sums, &err) < 0)
        decode_invalid(f, &err);
    f->requests = (struct gang_amounts){xcalloc(sums.n, sizeof *f->requests.items), sums.n};
    for (size_t i = 0; i < sums.n; i++)
        f->requests.items[i] = (struct gang_amount){
            .amount = request_sums_charged(&sums.items[i]),
            .resource = STEAL(sums.items[i].resource),
        };
    request_sums_done(&sums);
    decode_within(f, OVER_RESOURCES, f->requests.n);
}

static int decode_status(const json_t *pod, const json_t *status, struct gang_pod_facts *f,
                         struct err *err)
{
    const char *phase = NULL;
    if (field_copy(status, "nominatedNodeName", &f->nominated, err) < 0 ||
        field_string(status, "phase", &phase, err) < 0 || decode_phase(phase, &f->phase, err) < 0)
        return -1;
    if (f->nominated && !*f->nominated)
        free(STEAL(f->nominated));
    const json_t *scheduled = pod_condition(pod, "PodScheduled");
    const json_t *disrupted = pod_condition(pod, "DisruptionTarget");
    const char *by = field_peek(disrupted, "reason", NULL);
    const char *is_disrupted = field_peek(disrupted, "status", NULL);
    f->preempted = str_eq(by, "PreemptionByScheduler");
    f->marked = str_eq(by, GANG_VICTIM_MARK) && str_eq(is_disrupted, "True");
    f->mark_ended = str_eq(is_disrupted, "False"); /* kube-controller-manager writes no reason */
    f->unschedulable = str_eq(field_peek(scheduled, "status", NULL), "False") &&
                       str_eq(field_peek(scheduled, "reason", NULL), "Unschedulable");
    const char *message = f->unschedulable ? field_peek(scheduled, "message", NULL) : NULL;
    if (message) {
        f->short_of = decode_shortage(message);
        f->said = hash_text(HASH_START, message);
        f->said_alone = !strstr(message, "gang ");
    }
    /* Where a kubelet has rewritten the conditions, startTime remains: it is close enough. */
    struct err ignored;
    bool bound = str_eq(field_peek(scheduled, "status", NULL), "True");
    (void)field_time(bound ? scheduled : status, bound ? "lastTransitionTime" : "startTime",
                     &f->bound_at, &ignored);
    return 0;
}

/* If one part is invalid, the other parts are still decoded. */
static void decode_spec(const json_t *spec, struct gang_pod_facts *f)
{
    static int (*const parts[])(const json_t *spec, struct gang_pod_facts *f, struct err *err) = {
        decode_names,       decode_nodes,  decode_anti_affinity, decode_spreads,
        decode_tolerations, decode_claims, decode_gates,         decode_ports};
    struct err err;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (parts[i](spec, f, &err) < 0) {
            err_wrap(&err, "spec");
            decode_invalid(f, &err);
        }
    decode_unknown_fields(spec, f);
}

static void decode_body(const json_t *pod, struct gang_pod_facts *f)
{
    const json_t *spec = NULL, *status = NULL;
    struct err err;
    if (field_whole_object(pod, "spec", &spec, &err) < 0 ||
        field_whole_object(pod, "status", &status, &err) < 0)
        decode_invalid(f, &err);
    decode_spec(spec, f);
    decode_requests(pod, f);
    if (decode_status(pod, status, f, &err) < 0) {
        err_wrap(&err, "status");
        decode_invalid(f, &err);
    }
}

static void decode_labels(const json_t *metadata, struct gang_pod_facts *f)
{
    const char *key;
    json_t *value, *labels = json_object_get(metadata, "labels");
    if (!decode_within(f, OVER_LABELS, json_object_size(labels)))
        return;
    json_object_foreach(labels, key, value)
    {
        if (json_is_string(value))
            gang_kvs_add(&f->labels, key, json_string_value(value));
        else
            decode_mark_inexact(f, "labels that muster does not read");
    }
}

/* The value is only a hint, so the pod is valid without it. */
static void decode_checkpoint(const json_t *metadata, struct gang_pod_facts *f)
{
    const char *text = field_peek(metadata, "annotations", CHECKPOINT, NULL);
    struct err ignored;
    if (text && time_parse(text, &f->saved_at, &ignored) < 0)
        f->saved_at = 0;
}

static void decode_owners(const json_t *metadata, struct gang_pod_facts *f)
{
    const json_t *owners = json_object_get(metadata, "ownerReferences");
    for (size_t i = 0; i < json_array_size(owners) && !f->controlled; i++) {
        const json_t *owner = json_array_get(owners, i);
        const char *kind = field_peek(owner, "kind", NULL);
        f->controlled = json_is_true(json_object_get(owner, "controller"));
        f->of_node = f->controlled && (str_eq(kind, "DaemonSet") || str_eq(kind, "Node"));
        if (f->controlled && str_eq(kind, "Job"))
            f->job = xstrdup_null(field_peek(owner, "name", NULL));
    }
}

struct gang_pod_facts *decode_pod(const json_t *pod, struct err *err)
{
    struct decoded_metadata meta = {.name = NULL};
    struct err unread = {.code = ERR_NONE};
    bool whole = decode_metadata(pod, "pod", &meta, &unread) == 0;
    if (!whole && !(meta.name && *meta.name && meta.uid)) {
        if (err)
            *err = unread;
        return NULL;
    }
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
    struct err ignored;
    if (field_time(meta.json, "deletionTimestamp", &f->gone_by, &ignored) < 0)
        f->gone_by = 0;
    if (!whole)
        decode_invalid(f, &unread);
    decode_labels(meta.json, f);
    decode_owners(meta.json, f);
    decode_checkpoint(meta.json, f);
    decode_link(pod, &meta, f);
    f->committed = str_eq(field_peek(meta.json, "annotations", GANG_COMMIT_MARK, NULL), f->uid);
    decode_body(pod, f);
    return f;
}

struct gang_pod_facts *decode_pod_part(const json_t *pod, const struct err *why, struct err *err)
{
    struct gang_pod_facts *f = decode_pod(pod, err);
    if (!f)
        return NULL;
    decode_invalid(f, why);
    f->part = !json_object_get(pod, "spec");
    return f;
}
