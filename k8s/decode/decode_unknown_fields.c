/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks a pod's facts as inexact if the pod has constraints of kube-scheduler's filter plugins that
 * the facts do not contain. The express lane relies on this mark. The tables therefore list the
 * fields that are safe: any other field may be a constraint that this version does not know.
 *
 * Sources: the filter plugins of k8s.io/kubernetes v1.36 (getDefaultPlugins), and what
 * component-helpers/nodedeclaredfeatures infers for scheduling.
 */
#include "k8s/decode/decode_internal.h"

/* Fields that the decoders read, or that no filter plugin reads. */
static const char *const fields_known[] = {
    "activeDeadlineSeconds",
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostUsers",
    "hostname",
    "imagePullSecrets",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
};

/* Kinds of volumes that every node can use. Other kinds limit the nodes, their number on a node, or
 * sharing. */
static const char *const volumes_everywhere[] = {
    "configMap", "downwardAPI", "emptyDir", "hostPath", "nfs", "projected", "secret",
};

static bool is_in(const char *const *list, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], key) == 0)
            return true;
    return false;
}

static bool volume_is_everywhere(const json_t *volume)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)volume, key, value)
    {
        if (!str_eq(key, "name") && !json_is_null(value) &&
            !is_in(volumes_everywhere, ARRAY_SIZE(volumes_everywhere), key))
            return false;
    }
    return true;
}

/* Whether `value` contains a field that is not in the tables of k8s/encoding/kube_protobuf.c. */
static bool has_unknown(const json_t *value)
{
    const char *key;
    json_t *inner;
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        if (strncmp(key, "field-", 6) == 0 || has_unknown(inner))
            return true;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (has_unknown(json_array_get(value, i)))
            return true;
    return false;
}

/* Nodes declare support for restart rules of containers, and kube-scheduler checks it. */
static bool has_restart_rules(const json_t *spec)
{
    static const char *const names[] = {"initContainers", "containers"};
    for (size_t l = 0; l < ARRAY_SIZE(names); l++) {
        const json_t *list = json_object_get(spec, names[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            if (json_array_size(json_object_get(json_array_get(list, i), "restartPolicyRules")))
                return true;
    }
    return false;
}

static bool has_unknown_fields(const json_t *spec)
{
    static const char *const names[] = {"initContainers", "containers", "affinity", "tolerations",
                                        "topologySpreadConstraints"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (has_unknown(json_object_get(spec, names[i])))
            return true;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)spec, key, value)
    {
        if (!json_is_null(value) && !is_in(fields_known, ARRAY_SIZE(fields_known), key))
            return true;
    }
    return false;
}

void decode_unknown_fields(const json_t *spec, struct gang_pod_facts *f)
{
    const json_t *volumes = json_object_get(spec, "volumes");
    for (size_t i = 0; i < json_array_size(volumes); i++)
        if (!volume_is_everywhere(json_array_get(volumes, i)))
            decode_mark_inexact(f, "volumes");
    if (f->has_resource_claims)
        decode_mark_inexact(f, "resource claims");
    if (has_restart_rules(spec))
        decode_mark_inexact(f, "restart rules of containers");
    if (json_is_true(json_object_get(spec, "hostNetwork")) &&
        json_is_false(json_object_get(spec, "hostUsers")))
        decode_mark_inexact(f, "user namespaces on the host's network");
    if (has_unknown_fields(spec))
        decode_mark_inexact(f, "a field of the pod that muster does not know");
}
