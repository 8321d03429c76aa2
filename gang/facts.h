/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what the core is told about the cluster: nodes, pods and PodGroups, as plain C.
 *
 * Decoders (k8s/) fill these from JSON; the core keeps them. A facts object is allocated by its
 * maker with *_facts_new(), handed over whole in an event, and freed by whoever holds it last
 * with *_facts_free() (NULL is fine). All strings and arrays in it are owned by it; an absent
 * string is NULL, an absent array has n == 0. Nothing here is shared or locked.
 *
 * Units: amounts of "cpu" are millicores, all others the resource's own unit (bytes, devices);
 * `created` is microseconds since 1970.
 */
#ifndef MUSTER_GANG_FACTS_H
#define MUSTER_GANG_FACTS_H

#include <stdint.h>

#include "base/mem.h"
#include "base/usec.h"

struct gang_kv {
    char *key, *value;
};
struct gang_kvs {
    struct gang_kv *items;
    size_t n;
};

struct gang_amount {
    char *resource;
    int64_t amount;
};
struct gang_amounts {
    struct gang_amount *items;
    size_t n;
};

enum gang_taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };
struct gang_taint {
    char *key, *value; /* value is never NULL */
    enum gang_taint_effect effect;
};

struct gang_toleration {
    char *key; /* NULL: every key (with exists) */
    char *value;
    bool exists;     /* operator Exists; else Equal */
    bool any_effect; /* no effect named: tolerates all */
    enum gang_taint_effect effect;
};

enum gang_match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };
struct gang_requirement {
    bool on_name; /* matchFields metadata.name instead of a label */
    char *key;
    enum gang_match_op op;
    char **values;
    size_t n_values;
};
/* All requirements of a term must hold; a term without requirements matches nothing. */
struct gang_term {
    struct gang_requirement *items;
    size_t n;
};

struct gang_port {
    char *ip;       /* NULL: 0.0.0.0 */
    char *protocol; /* "TCP", "UDP", "SCTP" */
    int32_t port;
};

struct gang_container {
    bool init;
    bool sidecar; /* an init container with restartPolicy Always */
    struct gang_amounts requests;
    struct gang_amounts status; /* what status.containerStatuses says is allocated or in force */
};

enum gang_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED, PHASE_UNKNOWN };

/* Which PodGroup: API group (which tells the dialect), namespace and name. */
struct gang_ref {
    char *api_group; /* "scheduling.volcano.sh"; NULL: no link */
    char *ns, *name;
};

struct gang_node_facts {
    char *name;
    bool unschedulable; /* spec.unschedulable (cordoned) */
    struct gang_kvs labels;
    struct gang_taint *taints;
    size_t n_taints;
    struct gang_amounts allocatable; /* with "pods" */
};

struct gang_pod_facts {
    char *ns, *name, *uid;
    char *node;      /* spec.nodeName; NULL: not bound */
    char *nominated; /* status.nominatedNodeName */
    char *scheduler; /* spec.schedulerName */
    enum gang_phase phase;
    bool deleting; /* metadata.deletionTimestamp is set */
    int32_t priority;
    usec_t created;
    char **gates; /* names of spec.schedulingGates */
    size_t n_gates;
    struct gang_ref group; /* the PodGroup it is linked to, if any */
    bool has_pvc; /* uses a PersistentVolumeClaim or a ResourceClaim (placement facts muster lacks)
                   */

    struct gang_container *containers;
    size_t n_containers;
    bool has_pod_level; /* spec.resources is set: it overrides the sum for the resources it names */
    struct gang_amounts pod_level;
    struct gang_amounts overhead;
    struct gang_port *host_ports;
    size_t n_host_ports;

    struct gang_kvs node_selector;
    bool has_affinity; /* requiredDuringScheduling… node affinity is set: one term must match */
    struct gang_term *affinity;
    size_t n_affinity;
    struct gang_toleration *tolerations;
    size_t n_tolerations;
};

struct gang_group_facts {
    struct gang_ref ref;
    char *uid;
    int64_t min_member; /* as written, not judged: the core refuses what makes no sense */
    bool has_priority;  /* a priority of the group's own, instead of its pods' */
    int32_t priority;
    usec_t schedule_timeout; /* 0: the core's default */
    usec_t created;
};

struct gang_node_facts *gang_node_facts_new(void);
struct gang_node_facts *gang_node_facts_free(struct gang_node_facts *f);
struct gang_pod_facts *gang_pod_facts_new(void);
struct gang_pod_facts *gang_pod_facts_free(struct gang_pod_facts *f);
struct gang_group_facts *gang_group_facts_new(void);
struct gang_group_facts *gang_group_facts_free(struct gang_group_facts *f);

/* Appends a copy. */
void gang_amounts_add(struct gang_amounts *a, const char *resource, int64_t amount);
/* 0 when absent. */
int64_t gang_amounts_get(const struct gang_amounts *a, const char *resource);
void gang_kvs_add(struct gang_kvs *kvs, const char *key, const char *value);
/* NULL when absent. */
const char *gang_kvs_get(const struct gang_kvs *kvs, const char *key);

#endif
