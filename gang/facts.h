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
/* In the order of their keys, as gang_kvs_add() leaves them. */
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
    char **values; /* in order (strcmp) where there are more than a few, see gang_texts_sort() */
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

/* Which PodGroup: API group (which tells the dialect), namespace and name. */
struct gang_ref {
    char *api_group; /* "scheduling.volcano.sh"; NULL: no link */
    char *ns, *name;
};

/* Pods, by labels. An empty term selects all of them. */
struct gang_selector {
    struct gang_term term;
    char **namespaces; /* none named: the pod's own */
    size_t n_namespaces;
    bool all_namespaces;
};

/* A required spread over hosts (whenUnsatisfiable DoNotSchedule, kubernetes.io/hostname). */
struct gang_spread {
    struct gang_selector selector; /* of the pod's own namespace */
    int32_t max_skew;
    int32_t min_domains; /* 0 and 1: none */
    bool any_affinity;   /* nodes count whatever the pod's node affinity says of them */
    bool taints_count;   /* nodes with a taint that the pod does not tolerate do not count */
    char **keys;         /* only nodes with all these labels count: its other topology keys */
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
    char *invalid; /* what of it exceeds a bound and is not in these facts; NULL: nothing */
};

/* muster's own scheduling gate on a pod, see gang/lifecycle/gate_lifting.c. */
#define GANG_GATE "muster.dev/plan"

/* The annotation that a Binding of a commit puts on the pod; its value is the pod's UID, so one
 * that comes from a template or a copy says nothing. */
#define GANG_COMMIT_MARK "muster.dev/commit"

struct gang_pod_facts {
    char *ns, *name, *uid;
    int64_t version; /* metadata.resourceVersion; 0: none, or it is no number */
    char *node;      /* spec.nodeName; NULL: not bound */
    char *nominated; /* status.nominatedNodeName */
    char *scheduler; /* spec.schedulerName */
    enum gang_phase phase;
    bool deleting;      /* metadata.deletionTimestamp is set */
    bool unschedulable; /* kube-scheduler tried it last in vain (condition PodScheduled) */
    char *short_of;  /* the one resource that condition says nodes lack, in words of kube-scheduler
                      * alone; NULL: none, several, or a gang is named */
    bool committed;  /* muster bound it in a gang's commit (GANG_COMMIT_MARK), */
    usec_t bound_at; /* and when, by its status; 0: not known */
    uint64_t said;   /* digest of the words of that condition; 0: none */
    bool said_alone; /* they are kube-scheduler's alone: no gang is named */
    int32_t priority;
    usec_t created;
    bool gated;   /* has muster's own scheduling gate */
    char **gates; /* names of spec.schedulingGates, of others */
    size_t n_gates;
    struct gang_kvs labels;

    struct gang_ref group; /* the PodGroup it is linked to, if any */
    char *role;            /* its subgroup or task there; NULL: none */
    char *bad_link;        /* why its link names no PodGroup, or two; then group is empty */
    char *awaits_group;    /* its PodGroup is being made: a sentence; then group is empty */
    /* What the pod itself says of its group, where no PodGroup object does (Koordinator's
     * annotations, the older labels of scheduler-plugins). ref is that of `group`; uid is "". */
    struct gang_group_facts *declared;
    /* A label that all members must have the same value of (ACS compute class); key NULL: none */
    struct gang_kv uniform; /* value is never NULL where key is set; "" is none */
    bool controlled;        /* has a controller that makes another in its place */

    char **claims; /* its PersistentVolumeClaims by name, also those made for it */
    size_t n_claims;
    bool has_resource_claims; /* of devices */
    bool has_pvc; /* uses a PersistentVolumeClaim or a ResourceClaim: the scheduler prepares it
                   * before it binds the pod */

    struct gang_amounts requests; /* what kube-scheduler charges for it, but for "pods"; however
                                   * many there are, see workload/request_sums.h */
    struct gang_port *host_ports; /* in the order of their numbers */
    size_t n_host_ports;

    struct gang_kvs node_selector;
    bool has_affinity; /* requiredDuringScheduling… node affinity is set: one term must match */
    struct gang_term *affinity;
    size_t n_affinity;
    struct gang_toleration *tolerations;
    size_t n_tolerations;
    struct gang_selector
        *anti_affinity; /* required anti-affinity: never on one host with such pods */
    size_t n_anti_affinity;
    struct gang_spread *spreads;
    size_t n_spreads;
    /* The first of its constraints that is not in these facts, so that kube-scheduler alone knows
     * which nodes will do: "volumes". NULL: the facts say all. */
    char *inexact;
    /* What of the pod is not in these facts because it exceeds a bound (gang/bounds.h) or cannot be
     * read: a sentence that names the field. Its gang is refused with it; of a pod of no gang
     * kube-scheduler judges the rules, and its requests are charged all the same. NULL: nothing. */
    char *invalid;
    bool part; /* nothing but who it is is known: what was known of it before goes on */
    /* Pods that its anti-affinity keeps away from wider domains than hosts (or that may do so). */
    struct gang_selector *wide_anti_affinity;
    size_t n_wide_anti_affinity;
    bool packed; /* all of this but `declared` is one block, see gang_pod_facts_pack() */
};

/*
 * A part of a PodGroup's members with a minimum of its own: KAI's subGroups, Volcano's
 * minTaskMember and subGroupPolicy. Members are those whose role is its name; with by_labels those
 * that the selector picks, each distinct set of values of the labels in split_by being a part of
 * its own that needs part_size members.
 */
struct gang_subgroup {
    char *name;
    char *parent;         /* the subgroup it is in; NULL: the PodGroup itself */
    int64_t min_member;   /* in it and below; 0: none of its own */
    int64_t min_children; /* of its subgroups (or parts) must have theirs; -1: all */
    bool by_labels;
    struct gang_term selector; /* empty: all members */
    char **split_by;
    size_t n_split_by;
    int64_t part_size;
};

/* What a PodGroup counts for members that were bound before, see docs/design.md. */
enum gang_match {
    MATCH_ONCE,    /* placed once, its later members pass singly */
    MATCH_RUNNING, /* below its minimum, later members wait until it is whole again */
    MATCH_WAITING, /* later members are a gang of their own */
    MATCH_DEFAULT, /* as configured (belowMinimum) */
};

/*
 * Minimums are as written, not judged: the core refuses what makes no sense. `invalid` is for what
 * only the decoder can see (types, ranges of the API, fields that exclude each other): a sentence
 * that names the field and the remedy; such a gang is refused with it.
 */
struct gang_group_facts {
    struct gang_ref ref;
    char *uid;
    char *invalid;
    const char
        *min_field;     /* what its API calls the minimum, for people; constant, NULL: minMember */
    int64_t min_member; /* of a PodGroup that is a parent: children that must be placed */
    int64_t max_member; /* 0: no limit */
    int64_t min_children; /* of its subgroups must have their minimum; -1: all */
    struct gang_subgroup *subgroups;
    size_t n_subgroups;
    char *parent; /* the PodGroup it is a child of, in its namespace and API group; NULL: none */
    struct gang_ref *bundle; /* PodGroups that are placed together with it or not at all */
    size_t n_bundle;
    struct gang_amounts min_resources; /* planning is not tried with less room */
    bool has_priority;                 /* a priority of the group's own, instead of its pods' */
    int32_t priority;
    char *priority_class; /* or by name; NULL: none */
    enum gang_match match;
    usec_t schedule_timeout; /* 0: the core's default */
    usec_t created;
};

struct gang_priority_class_facts { /* a PriorityClass */
    char *name;
    int32_t value;
};

/* What a PersistentVolumeClaim says about nodes. */
struct gang_claim_facts {
    char *ns, *name;
    char *selected; /* the node it is being prepared for; NULL: none */
    bool bound;     /* to a volume: nothing is left to prepare */
    bool limited;   /* that volume is reached from some nodes only: one term must match */
    struct gang_term *terms;
    size_t n_terms;
};

bool gang_ref_equal(const struct gang_ref *a, const struct gang_ref *b);
struct gang_node_facts *gang_node_facts_new(void);
struct gang_node_facts *gang_node_facts_free(struct gang_node_facts *f);
struct gang_pod_facts *gang_pod_facts_new(void);
struct gang_pod_facts *gang_pod_facts_free(struct gang_pod_facts *f);
/* The same facts in one block, for keeping: half the memory. They must not be changed any more.
 * Takes f. */
struct gang_pod_facts *gang_pod_facts_pack(struct gang_pod_facts *f);
/* Bytes of that block. */
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

/* Frees what it holds and leaves it empty. */
void gang_selector_done(struct gang_selector *s);
/* Appends a copy. Only arrays that were made by it (or are empty) may be added to. */
void gang_amounts_add(struct gang_amounts *a, const char *resource, int64_t amount);
/* 0 when absent. */
int64_t gang_amounts_get(const struct gang_amounts *a, const char *resource);
void gang_amounts_done(struct gang_amounts *a);
/* The same, in order; of two values for a key the first counts. */
void gang_kvs_add(struct gang_kvs *kvs, const char *key, const char *value);
/* Puts values of a requirement in order, so that many are searched quickly. */
void gang_texts_sort(char **texts, size_t n);
/* Whether the text is one of them. */
bool gang_texts_have(char *const *texts, size_t n, const char *text);
void gang_ports_sort(struct gang_port *ports, size_t n);
/* NULL when absent. */
const char *gang_kvs_get(const struct gang_kvs *kvs, const char *key);
/* The same keys with the same values, in any order. */
bool gang_kvs_equal(const struct gang_kvs *a, const struct gang_kvs *b);

#endif
