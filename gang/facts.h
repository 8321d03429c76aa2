/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - the core's input about nodes, pods and PodGroups, as plain C structs.
 *
 * Decoders (k8s/) fill these structs from JSON; the core keeps them. The maker allocates a facts
 * object with *_facts_new() and hands it over in an event; the last holder frees it with
 * *_facts_free(), which accepts NULL. The object owns all its strings and arrays. An absent string
 * is NULL; an absent array has n == 0. Nothing here is shared or locked.
 *
 * Units: amounts of "cpu" are millicores, all others the resource's own unit (bytes, devices);
 * `created` is in microseconds since 1970.
 */
#ifndef MUSTER_GANG_FACTS_H
#define MUSTER_GANG_FACTS_H

#include <stdint.h>

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
    char *key; /* NULL: every key (with exists) */
    char *value;
    bool exists;     /* operator Exists; else Equal */
    bool any_effect; /* no effect given: tolerates all */
    enum gang_taint_effect effect;
};

enum gang_match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };
struct gang_requirement {
    bool on_name; /* matchFields metadata.name instead of a label */
    char *key;
    enum gang_match_op op;
    char **values; /* sorted by strcmp if there are more than a few, see gang_texts_sort() */
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

enum gang_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED, PHASE_UNKNOWN };

/* A PodGroup: API group (which identifies the dialect), namespace and name. */
struct gang_ref {
    char *api_group; /* "scheduling.volcano.sh"; NULL: no link */
    char *ns, *name;
};

/* Selects pods by labels. An empty term selects all. */
struct gang_selector {
    struct gang_term term;
    char **namespaces; /* empty: the pod's own namespace */
    size_t n_namespaces;
    bool all_namespaces;
};

/* A required spread over hosts (whenUnsatisfiable DoNotSchedule, kubernetes.io/hostname). */
struct gang_spread {
    struct gang_selector selector; /* applies in the pod's own namespace */
    int32_t max_skew;
    int32_t min_domains; /* 0 and 1: none */
    bool any_affinity;   /* nodes count even if the pod's node affinity excludes them */
    bool taints_count;   /* nodes with a taint that the pod does not tolerate do not count */
    char **keys;         /* its other topology keys: only nodes with all these labels count */
    size_t n_keys;
};

struct gang_group_facts;

struct gang_node_facts {
    char *name;
    bool unschedulable; /* spec.unschedulable (cordoned) */
    struct gang_kvs labels;
    struct gang_taint *taints;
    size_t n_taints;
    struct gang_amounts allocatable; /* with "pods" */
    char *invalid;                   /* the part that exceeds a bound and is left out; NULL: none */
};

/* muster's own scheduling gate on a pod, see gang/lifecycle/gate_lifting.c. */
#define GANG_GATE "muster.dev/plan"

/* The annotation that a commit's Binding puts on the pod. Its value is the pod's UID, so a value
 * copied from a template or another pod does not match. */
#define GANG_COMMIT_MARK "muster.dev/commit"

struct gang_pod_facts {
    char *ns, *name, *uid;
    int64_t version; /* metadata.resourceVersion; 0: none, or not a number */
    char *node;      /* spec.nodeName; NULL: not bound */
    char *nominated; /* status.nominatedNodeName */
    char *scheduler; /* spec.schedulerName */
    enum gang_phase phase;
    bool deleting;      /* metadata.deletionTimestamp is set */
    bool unschedulable; /* kube-scheduler's last attempt failed (condition PodScheduled) */
    char *short_of;  /* the only resource that nodes lack by that condition, if kube-scheduler alone
                        wrote it; NULL: none, several, or the text names a gang */
    bool committed;  /* muster bound it in a gang's commit (GANG_COMMIT_MARK) */
    usec_t bound_at; /* when it was bound, by its status; 0: unknown */
    uint64_t said;   /* digest of the condition's text; 0: none */
    bool said_alone; /* kube-scheduler alone wrote that text: it names no gang */
    int32_t priority;
    usec_t created;
    bool gated;   /* has muster's own scheduling gate */
    char **gates; /* names of spec.schedulingGates except muster's own */
    size_t n_gates;
    struct gang_kvs labels;

    struct gang_ref group; /* the PodGroup that it is linked to, if any */
    char *role;            /* its subgroup or task in the PodGroup; NULL: none */
    char *bad_link;        /* why its link is invalid or ambiguous; then `group` is empty */
    char *awaits_group;    /* a sentence: its PodGroup is being created; then `group` is empty */
    /* The PodGroup's facts as its pods declare them, where there is no PodGroup object
     * (Koordinator's annotations, older labels of scheduler-plugins). ref equals `group`; uid is
     * "". */
    struct gang_group_facts *declared;
    /* A label whose value must be the same for all members (ACS compute class); key NULL: none. */
    struct gang_kv uniform; /* value is never NULL if key is set; "" means absent */
    bool controlled;        /* has a controller that would replace it */

    char **claims; /* names of its PersistentVolumeClaims, generated ones included */
    size_t n_claims;
    bool has_resource_claims; /* ResourceClaims, for devices */
    bool has_pvc; /* uses a PersistentVolumeClaim or ResourceClaim, which kube-scheduler prepares
                     before it binds the pod */

    struct gang_amounts requests; /* what kube-scheduler counts for it, except "pods"; unbounded,
                                     see workload/request_sums.h */
    struct gang_port *host_ports; /* sorted by number */
    size_t n_host_ports;

    struct gang_kvs node_selector;
    bool has_affinity; /* has required node affinity: one term must match */
    struct gang_term *affinity;
    size_t n_affinity;
    struct gang_toleration *tolerations;
    size_t n_tolerations;
    struct gang_selector *anti_affinity; /* required anti-affinity over hosts */
    size_t n_anti_affinity;
    struct gang_spread *spreads;
    size_t n_spreads;
    /* The first of its constraints that these facts lack and only kube-scheduler can evaluate,
     * such as "volumes". NULL: the facts are complete. */
    char *inexact;
    /* A sentence that names the field that is left out because it exceeds a bound
     * (gang/bounds.h) or cannot be read; NULL: none. The pod's gang is refused with it. For a
     * pod without a gang, kube-scheduler evaluates the rules, and muster still charges the
     * requests. */
    char *invalid;
    bool part; /* only its identity is known; the core keeps its earlier facts */
    /* Its anti-affinity over domains wider than a host, or possibly wider. */
    struct gang_selector *wide_anti_affinity;
    size_t n_wide_anti_affinity;
    bool packed; /* everything except `declared` is one block, see gang_pod_facts_pack() */
};

/*
 * A part of a PodGroup's members with its own minimum: KAI's subGroups, Volcano's minTaskMember and
 * subGroupPolicy. Its members are the pods whose role is its name. With by_labels, the selector
 * picks them instead; each distinct set of values of the split_by labels is a part of its own that
 * needs part_size members.
 */
struct gang_subgroup {
    char *name;
    char *parent;         /* its parent subgroup; NULL: the PodGroup itself */
    int64_t min_member;   /* counted in it and below; 0: no minimum of its own */
    int64_t min_children; /* subgroups or parts that must have their minimum; -1: all */
    bool by_labels;
    struct gang_term selector; /* empty: all members */
    char **split_by;
    size_t n_split_by;
    int64_t part_size;
};

/* How a PodGroup treats members after it was Scheduled, see docs/design.md. */
enum gang_match {
    MATCH_ONCE,    /* once it was Scheduled, later members schedule one by one */
    MATCH_RUNNING, /* below its minimum, later members wait until it is complete again */
    MATCH_WAITING, /* later members form a gang of their own */
    MATCH_DEFAULT, /* the setting belowMinimum decides */
};

/*
 * Minimums are as written; the core validates them. `invalid` is for errors that only the decoder
 * can see (types, ranges of the API, fields that exclude each other): a sentence that names the
 * field and the remedy. The gang is refused with it.
 */
struct gang_group_facts {
    struct gang_ref ref;
    char *uid;
    char *invalid;
    const char *min_field; /* the minimum's field name, for people; constant, NULL: minMember */
    int64_t min_member;    /* for a parent: number of children that must be Scheduled */
    int64_t max_member;    /* 0: no limit */
    int64_t min_children;  /* subgroups that must have their minimum; -1: all */
    struct gang_subgroup *subgroups;
    size_t n_subgroups;
    char *parent; /* its parent PodGroup, in the same namespace and API group; NULL: none */
    struct gang_ref *bundle; /* PodGroups placed together with it, all or none */
    size_t n_bundle;
    struct gang_amounts min_resources; /* muster does not plan with less free than this */
    bool has_priority;                 /* has a priority of its own, see gang_own_priority() */
    int32_t priority;
    char *priority_class; /* the priority by name; NULL: none */
    enum gang_match match;
    usec_t schedule_timeout; /* 0: the core's default */
    usec_t created;
};

struct gang_priority_class_facts { /* a PriorityClass */
    char *name;
    int32_t value;
};

/* Where the volume of a PersistentVolumeClaim can be used. */
struct gang_claim_facts {
    char *ns, *name;
    char *selected; /* node for which it is being prepared; NULL: none */
    bool bound;     /* bound to a volume: nothing is left to prepare */
    bool limited;   /* only some nodes can use that volume: one term must match */
    struct gang_term *terms;
    size_t n_terms;
};

bool gang_ref_equal(const struct gang_ref *a, const struct gang_ref *b);
struct gang_node_facts *gang_node_facts_new(void);
struct gang_node_facts *gang_node_facts_free(struct gang_node_facts *f);
struct gang_pod_facts *gang_pod_facts_new(void);
struct gang_pod_facts *gang_pod_facts_free(struct gang_pod_facts *f);
/* Takes f and returns the same facts in one block, with half the memory. Do not change them any
 * more. */
struct gang_pod_facts *gang_pod_facts_pack(struct gang_pod_facts *f);
/* Size of that block in bytes. */
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

/* Frees the content and leaves an empty selector. */
void gang_selector_done(struct gang_selector *s);
/* Appends a copy. The array must be empty or made by this function. */
void gang_amounts_add(struct gang_amounts *a, const char *resource, int64_t amount);
/* 0 if absent. */
int64_t gang_amounts_get(const struct gang_amounts *a, const char *resource);
void gang_amounts_done(struct gang_amounts *a);
/* Inserts a copy at its sorted place; with duplicate keys, the first value counts. */
void gang_kvs_add(struct gang_kvs *kvs, const char *key, const char *value);
/* Sorts the values of a requirement, so that gang_texts_have() is fast for many. */
void gang_texts_sort(char **texts, size_t n);
bool gang_texts_have(char *const *texts, size_t n, const char *text);
void gang_ports_sort(struct gang_port *ports, size_t n);
/* NULL if absent. */
const char *gang_kvs_get(const struct gang_kvs *kvs, const char *key);
/* Whether both have the same keys with the same values, in any order. */
bool gang_kvs_equal(const struct gang_kvs *a, const struct gang_kvs *b);

#endif
