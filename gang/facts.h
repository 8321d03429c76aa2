/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - the core's input about nodes, pods and PodGroups, as plain C structs.
 *
 * Decoders (k8s/) fill these structs, and the core keeps them. A decoder allocates a facts object
 * with *_facts_new() and hands it over in an event. Its last owner frees it with *_facts_free(),
 * which accepts NULL. The object owns all its strings and arrays. An absent string is NULL, and an
 * absent array has n == 0. Objects have no locks: only one thread at a time may use an object.
 *
 * Units: amounts of "cpu" are in millicores; all other amounts are in the unit of the resource
 * (bytes, devices). Times of objects, such as `created`, are in microseconds since 1970.
 */
#ifndef MUSTER_GANG_FACTS_H
#define MUSTER_GANG_FACTS_H

#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/usec.h"

struct gang_kv {
    char *key, *value;
};
/* Sorted by key; gang_kvs_add() keeps the order. */
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
    char *key; /* NULL: every key, if `exists` */
    char *value;
    bool exists;     /* operator Exists; false: Equal */
    bool any_effect; /* no effect is given, so it tolerates all effects */
    enum gang_taint_effect effect;
};

enum gang_match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };
struct gang_requirement {
    bool on_name; /* reads metadata.name (matchFields) instead of a label */
    char *key;
    enum gang_match_op op;
    char **values; /* ordered by gang_texts_sort() */
    size_t n_values;
};
/* All requirements of a term must hold. For nodes, a term without requirements matches nothing. */
struct gang_term {
    struct gang_requirement *items;
    size_t n;
};

struct gang_port {
    char *ip;       /* NULL: every address */
    char *protocol; /* "TCP", "UDP", "SCTP" */
    int32_t port;
};

enum gang_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED, PHASE_UNKNOWN };

/* Identifies a PodGroup by API group (one for each dialect), namespace and name. */
struct gang_ref {
    char *api_group; /* "scheduling.volcano.sh"; NULL: no PodGroup */
    char *ns, *name;
};

/* Selects pods by labels and namespaces. A term without requirements selects all labels. */
struct gang_selector {
    struct gang_term term;
    char **namespaces; /* empty: the namespace of the pod with the rule */
    size_t n_namespaces;
    bool all_namespaces;
};

/* A required topology spread over hosts (whenUnsatisfiable: DoNotSchedule, topologyKey
 * kubernetes.io/hostname). */
struct gang_spread {
    struct gang_selector selector; /* applies in the pod's own namespace only */
    int32_t max_skew;
    int32_t min_domains; /* 0 or 1: no minimum */
    bool any_affinity; /* nodeAffinityPolicy Ignore: nodes count that the pod's affinity excludes */
    bool taints_count; /* nodeTaintsPolicy Honor: nodes with untolerated taints do not count */
    char **keys;       /* the pod's other topology keys: only nodes with all of them count */
    size_t n_keys;
};

struct gang_group_facts;

/* Whether others may take the room of pods. Pods that are not preemptible fit only inside what
 * their queue deserves. By priority: see firm_priority in struct gang_queue_facts. */
enum gang_preemptible { PREEMPTIBLE_BY_PRIORITY, PREEMPTIBLE_YES, PREEMPTIBLE_NO };

struct gang_node_facts {
    char *name;
    bool unschedulable; /* spec.unschedulable (cordoned) */
    struct gang_kvs labels;
    struct gang_taint *taints;
    size_t n_taints;
    struct gang_amounts allocatable; /* includes "pods" */
    char *invalid; /* the field that exceeds a bound and was left out; NULL: none */
};

/* muster's own scheduling gate on a pod, see gang/lifecycle/gate_lifting.c. */
#define GANG_GATE "muster.dev/plan"

/* The annotation that the Binding of a commit adds to the pod. The value is the pod's UID, so a
 * copy from a pod template or another pod does not match. */
#define GANG_COMMIT_MARK "muster.dev/commit"

/* The reason of the condition DisruptionTarget of a pod that muster evicts with its gang. */
#define GANG_VICTIM_MARK "EvictionByMuster"

struct gang_pod_facts {
    /* What counts of members and plans read comes first, in one cache line. */
    char *name;
    char *scheduler; /* spec.schedulerName */
    usec_t created;
    size_t n_gates;
    char **gates; /* the names in spec.schedulingGates, except for muster's own */
    enum gang_phase phase;
    int32_t priority;
    bool deleting;      /* metadata.deletionTimestamp is set */
    bool unschedulable; /* kube-scheduler's last attempt failed (condition PodScheduled) */
    bool gated;         /* has muster's own scheduling gate */
    bool suspended; /* muster suspended its workload, so this pod does not exist. It stands for a
                       pod that the workload will create, see gang/lifecycle/suspension.h */

    /* The next cache line holds what searches for victims read of every pod. */
    char *node;      /* spec.nodeName; NULL: not bound */
    usec_t bound_at; /* when the pod was bound; may be by the kubelet's clock; 0: unknown */
    usec_t saved_at; /* when its job last saved a checkpoint, as the pod states; 0: never */
    usec_t grace;    /* spec.terminationGracePeriodSeconds; 0: unknown */
    char *job;       /* the Job that is its controller; NULL: none */
    enum gang_preemptible preemptible; /* as the pod itself states */
    bool controlled;                   /* has a controller, which would replace the pod */
    bool of_node;                      /* belongs to its node: a DaemonSet's pod, or a static pod */
    bool never_preempts;               /* spec.preemptionPolicy is Never */

    char *ns, *uid;
    char *nominated; /* status.nominatedNodeName */
    int64_t version; /* metadata.resourceVersion; 0: none, or not a number */
    char *short_of;  /* the only resource that nodes lack according to that condition; NULL: none
                        or several */
    bool committed;  /* muster bound the pod in a commit (GANG_COMMIT_MARK) */
    bool preempted;  /* kube-scheduler has preempted the pod (condition DisruptionTarget) */
    bool marked;     /* muster evicts the pod with its gang (GANG_VICTIM_MARK) */
    bool mark_ended; /* kube-controller-manager has set DisruptionTarget to False */
    usec_t gone_by;  /* metadata.deletionTimestamp: when its grace period ends; 0: none */
    uint64_t said;   /* digest of the condition's message; 0: no message */
    bool said_alone; /* that message names no gang, so it is kube-scheduler's alone */
    struct gang_kvs labels;

    struct gang_ref group; /* the PodGroup that the pod is linked to; empty: none */
    struct gang_ref queue; /* the queue that the pod names; ns ""; api_group NULL: none */
    char *role;            /* the pod's subgroup or task in the PodGroup; NULL: none */
    char *bad_link;        /* a sentence: why the link is invalid or ambiguous. `group` is empty */
    char *awaits_group;    /* a sentence: muster is creating the PodGroup. `group` is empty */
    /* The facts of a PodGroup without an object, as this pod declares them (Koordinator's
     * annotations, older labels of scheduler-plugins). `ref` equals `group`, and `uid` is "". */
    struct gang_group_facts *declared;
    /* A label that must have the same value on all members (ACS compute class); key NULL: none. */
    struct gang_kv uniform; /* if the key is set, the value is not NULL; "": the label is absent */

    char **claims; /* names of its PersistentVolumeClaims, including generated ones */
    size_t n_claims;
    bool has_resource_claims; /* uses ResourceClaims (DRA) */
    bool has_pvc; /* uses a PersistentVolumeClaim or a ResourceClaim, which kube-scheduler prepares
                     before it binds the pod */

    struct gang_amounts requests; /* what kube-scheduler counts for the pod, without "pods". Their
                                     number is not bounded, see workload/request_sums.h */
    struct gang_port *host_ports; /* sorted, see gang_port_compare() */
    size_t n_host_ports;

    struct gang_kvs node_selector;
    bool has_affinity; /* has required node affinity: at least one term must match */
    struct gang_term *affinity;
    size_t n_affinity;
    struct gang_toleration *tolerations;
    size_t n_tolerations;
    struct gang_selector *anti_affinity; /* required anti-affinity over hosts */
    size_t n_anti_affinity;
    struct gang_spread *spreads;
    size_t n_spreads;
    /* The first constraint that is not part of these facts, so that only kube-scheduler can
     * evaluate it, such as "volumes". NULL: the facts contain all constraints. */
    char *inexact;
    /* A sentence about a field that was left out, because it exceeds a bound (gang/bounds.h) or
     * cannot be read; NULL: none. muster refuses a member's gang with this sentence. For an
     * ordinary pod, kube-scheduler evaluates the rules, and muster still charges the requests. */
    char *invalid;
    bool part; /* only the identity could be decoded, so the core keeps the earlier facts */
    /* Required anti-affinity over domains that are, or may be, wider than a host. */
    struct gang_selector *wide_anti_affinity;
    size_t n_wide_anti_affinity;
    bool packed; /* everything except `declared` is one block, see gang_pod_facts_pack() */
};

/*
 * A part of a PodGroup with its own minimum: KAI's subGroups, Volcano's minTaskMember and
 * subGroupPolicy. A pod belongs to the subgroup if its role is the subgroup's name. With
 * `by_labels`, the selector decides instead. The labels in `split_by` then divide the subgroup into
 * equal parts, one for each distinct set of values, and each part needs `part_size` members.
 */
struct gang_subgroup {
    char *name;
    char *parent;         /* the parent subgroup; NULL: the PodGroup itself */
    int64_t min_member;   /* minimum of members in the subgroup and below it; 0: no own minimum */
    int64_t min_children; /* subgroups or parts that must meet their minimums; -1: all */
    bool by_labels;
    struct gang_term selector; /* without requirements: all members */
    char **split_by;
    size_t n_split_by;
    int64_t part_size;
};

/* How a PodGroup treats later members after it was Scheduled, see "belowMinimum" in
 * docs/design.md. */
enum gang_match {
    MATCH_ONCE,    /* they are scheduled one by one */
    MATCH_RUNNING, /* below the minimum, they wait until enough members exist for it */
    MATCH_WAITING, /* Koordinator's only-waiting; muster treats it like MATCH_RUNNING */
    MATCH_DEFAULT, /* the setting belowMinimum decides */
};

/*
 * Minimums are as written in the PodGroup; the core validates them. `invalid` reports errors that
 * only the decoder can see, such as wrong types, values out of range, and fields that exclude each
 * other. It is a sentence that names the field and the remedy, and muster refuses the gang with it.
 */
struct gang_group_facts {
    struct gang_ref ref;
    char *uid;
    char *invalid;
    const char *min_field; /* name of the field with the minimum, for messages; a constant; NULL:
                              spec.minMember */
    int64_t min_member;    /* of a parent: how many child PodGroups must meet their minimums */
    int64_t max_member;    /* 0: no limit */
    int64_t min_children;  /* subgroups that must meet their minimums; -1: all */
    struct gang_subgroup *subgroups;
    size_t n_subgroups;
    char *parent; /* the parent PodGroup, in the same namespace and API group; NULL: none */
    struct gang_ref *bundle; /* the PodGroups that it names as its gang group */
    size_t n_bundle;
    struct gang_amounts min_resources; /* what must be free before the gang is planned */
    bool has_priority;                 /* `priority` is set, see gang_own_priority() */
    int32_t priority;
    char *priority_class;              /* name of the PriorityClass; NULL: none */
    char *queue;                       /* the queue that it names, in its API group; NULL: none */
    enum gang_preemptible preemptible; /* by priority: what its members state counts */
    enum gang_match match;
    bool suspends; /* muster may suspend the workload that owns it, instead of evicting its pods */
    usec_t schedule_timeout; /* of an attempt; 0: the core's default */
    usec_t preemption_delay; /* after its creation or its own eviction, it evicts nobody for this
                                time */
    usec_t created;
};

struct gang_priority_class_facts { /* a PriorityClass */
    char *name;
    int32_t value;
};

/* A PersistentVolumeClaim: on which nodes its volume can be used. */
struct gang_claim_facts {
    char *ns, *name;
    char *selected; /* the node for which the volume is being prepared; NULL: none */
    bool bound;     /* the claim is bound to a volume, so nothing is left to prepare */
    bool limited;   /* only nodes that match at least one term can use the volume */
    struct gang_term *terms;
    size_t n_terms;
};

/* A PodDisruptionBudget. */
struct gang_budget_facts {
    char *ns, *name;
    struct gang_term selector; /* of pods in its namespace; no requirements: all of them */
    bool selects_none;         /* it has no selector */
    int64_t allowed; /* how many pods may be evicted now (status.disruptionsAllowed). 0 as long as
                        the status does not reflect the spec, or if the selector exceeds a bound, so
                        that it is read as one of all pods */
};

/* How many pods a Job may lose before it fails. */
struct gang_job_facts {
    char *ns, *name;
    int64_t spare; /* how many more pods it may lose; GANG_SPARE_UNLIMITED: any number */
};
#define GANG_SPARE_UNLIMITED INT32_MAX

bool gang_ref_equal(const struct gang_ref *a, const struct gang_ref *b);
/* "API group/namespace/name", for maps and logs. The caller frees it. */
char *gang_key(const char *api_group, const char *ns, const char *name);
char *gang_ref_key(const struct gang_ref *ref);
/* The value of that key in the map; NULL: none. Hardly ever allocates memory. */
void *gang_ref_get(const struct map *m, const struct gang_ref *ref);
/* Frees its texts and leaves it empty. */
void gang_ref_done(struct gang_ref *ref);
struct gang_node_facts *gang_node_facts_new(void);
struct gang_node_facts *gang_node_facts_free(struct gang_node_facts *f);
struct gang_pod_facts *gang_pod_facts_new(void);
struct gang_pod_facts *gang_pod_facts_free(struct gang_pod_facts *f);
/* Frees f and returns the same facts in one block, which needs half the memory. The result must not
 * be changed. */
struct gang_pod_facts *gang_pod_facts_pack(struct gang_pod_facts *f);
/* The copy is one block, too. */
struct gang_pod_facts *gang_pod_facts_copy(const struct gang_pod_facts *f);
/* The size of that block in bytes; f need not be packed. */
size_t gang_pod_facts_size(const struct gang_pod_facts *f);
struct gang_group_facts *gang_group_facts_new(void);
struct gang_group_facts *gang_group_facts_free(struct gang_group_facts *f);
struct gang_group_facts *gang_group_facts_copy(const struct gang_group_facts *f);
bool gang_group_facts_equal(const struct gang_group_facts *a, const struct gang_group_facts *b);
struct gang_priority_class_facts *gang_priority_class_facts_new(void);
struct gang_priority_class_facts *
gang_priority_class_facts_free(struct gang_priority_class_facts *f);
struct gang_claim_facts *gang_claim_facts_new(void);
struct gang_claim_facts *gang_claim_facts_free(struct gang_claim_facts *f);
struct gang_budget_facts *gang_budget_facts_new(void);
struct gang_budget_facts *gang_budget_facts_free(struct gang_budget_facts *f);
struct gang_job_facts *gang_job_facts_new(void);
struct gang_job_facts *gang_job_facts_free(struct gang_job_facts *f);
/* Whether both have the same selector. */
bool gang_budget_selector_equal(const struct gang_budget_facts *a,
                                const struct gang_budget_facts *b);

/* Frees the content and leaves an empty selector. */
void gang_selector_done(struct gang_selector *s);
/* Appends a copy. The array must be empty or made by this function. */
void gang_amounts_add(struct gang_amounts *a, const char *resource, int64_t amount);
/* 0 if absent. */
int64_t gang_amounts_get(const struct gang_amounts *a, const char *resource);
void gang_amounts_done(struct gang_amounts *a);
/* Inserts a copy at its sorted position. If a key occurs twice, its first value counts. */
void gang_kvs_add(struct gang_kvs *kvs, const char *key, const char *value);
/* Sorts the values of a requirement if there are many, for the binary search in
 * gang_texts_have(). */
void gang_texts_sort(char **texts, size_t n);
bool gang_texts_have(char *const *texts, size_t n, const char *text);
void gang_ports_sort(struct gang_port *ports, size_t n);
/* The order of ports: by number, protocol and address. */
int gang_port_compare(const struct gang_port *a, const struct gang_port *b);
/* The address of the port; "": every address. */
const char *gang_port_address(const struct gang_port *port);
/* NULL if absent. */
const char *gang_kvs_get(const struct gang_kvs *kvs, const char *key);
/* Whether both have the same keys with the same values. */
bool gang_kvs_equal(const struct gang_kvs *a, const struct gang_kvs *b);

#endif
