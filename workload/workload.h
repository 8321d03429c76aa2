/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - the PodGroup that a workload of each kind needs.
 *
 * Users submit Jobs, RayClusters and PyTorchJobs, and muster creates the PodGroup. From a pod, the
 * caller goes up the owners to the top one. The kind of the top owner determines the PodGroup's
 * name, how many members it needs, and its parts. The rules are those of KAI's pod-grouper and of
 * Volcano's PodGroup controller, because users rely on them. kinds.c has a table with a row for
 * each kind. The configuration can add kinds.
 *
 *   1. workload_wants_podgroup() returns whether a pod needs a PodGroup.
 *   2. workload_owner() returns the next owner up. The caller reads this object and repeats the
 *      step until there is no next owner.
 *   3. workload_group() returns the PodGroup. The caller creates it (k8s/grouper/).
 *
 * Pure: no I/O, no state, any thread. Objects are borrowed.
 */
#ifndef MUSTER_WORKLOAD_WORKLOAD_H
#define MUSTER_WORKLOAD_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/usec.h"

/* A kind that the configuration adds. A path consists of keys joined by dots. "groups[*]" stands
 * for each item of a list, and "*" for each value of an object. Several values are added up. */
struct workload_custom {
    char *api_version, *kind; /* "example.com/v1", "TrainSet" */
    char *replicas;           /* path of the number of pods: "spec.replicas" */
    char *minimum;            /* path of the minimum; NULL: all replicas */
};

/* For which pods muster creates PodGroups, from the configuration. Constant after the start. */
struct workload_rules {
    bool on;
    char **schedulers; /* spec.schedulerName of pods that get a PodGroup without an annotation */
    size_t n_schedulers;
    char **namespaces; /* empty: all */
    size_t n_namespaces;
    char **excluded_namespaces;
    size_t n_excluded_namespaces;
    char *home; /* the default API group of PodGroups: "scheduling.run.ai" */
    struct workload_custom *customs;
    size_t n_customs;
};

/* Annotations of a pod or of one of its owners. "true" asks for a PodGroup, with any
 * schedulerName; "false" refuses one. With WORKLOAD_ASK_RECIPE, the PodGroup needs all pods. */
#define WORKLOAD_ASK        "muster.dev/create-podgroup"
#define WORKLOAD_ASK_RECIPE "scheduling.run.ai/gang-scheduling"
/* The PodGroup's name, on a pod without an owner. */
#define WORKLOAD_GANG "muster.dev/gang"
/* The minimum, on a pod or an owner. */
#define WORKLOAD_MIN_MEMBER "muster.dev/min-member"

/* The longest chain from a pod to its top owner. The caller stops there. */
#define WORKLOAD_MAX_CHAIN 16

enum workload_wanted {
    WORKLOAD_NO,    /* the pod needs no PodGroup */
    WORKLOAD_MAKE,  /* the pod needs a PodGroup */
    WORKLOAD_OWNER, /* the annotations of its owners decide, and the pod waits until they are read.
                     * Only for kinds whose pods start together. */
};

struct workload_ref {
    char *api_version, *kind, *name, *uid;
};

/* A part of the PodGroup: a role of its members, or a part that contains roles. */
struct workload_role {
    char *name;
    char *parent;         /* NULL: the PodGroup itself; a parent comes before its children */
    int64_t min_member;   /* for a part without parts */
    int64_t min_children; /* for a part with parts; -1: all of them */
};

struct workload_group {
    char *api_group; /* of the PodGroup; selects the dialect */
    char *name;
    /* How many of the top roles must have their minimum. -1: all of them, and min_member members.
     * If it is not -1, min_member is only for dialects without roles. */
    int64_t min_children;
    int64_t min_member;
    struct workload_role *roles;
    size_t n_roles;
    char *role;                 /* the role of chain[0]; NULL: none */
    char *queue;                /* NULL: the dialect's default */
    char *priority_class;       /* NULL: none */
    const char *preemptibility; /* KAI's; a constant; NULL: by priority */
    usec_t preemption_delay;    /* KAI's; 0: none */
    /* Quantities as text; NULL: none. Computed from chain[0], and other pods can differ. So write
     * it only together with the minimum. */
    json_t *min_resources;
    json_t *labels, *annotations; /* of the PodGroup; never NULL */
    struct workload_ref owner; /* the PodGroup's owner: the owner whose rule counts, or the pod */
    /* Pods without an owner share the PodGroup (WORKLOAD_GANG, Spark). Each pod becomes an owner of
     * it, so that it is deleted with the last of them. */
    bool shared;
};

enum workload_wanted workload_wants_podgroup(const struct workload_rules *rules, const json_t *pod);

/* The next owner up from `object` (a pod or an owner). False: there is none, or `object` is the top
 * by the rules. The caller frees the fields with workload_ref_done(). */
bool workload_owner(const struct workload_rules *rules, const json_t *object,
                    struct workload_ref *ret);

/*
 * chain[0] is the pod, and chain[n - 1] the top owner. 0: *ret is filled; free it with
 * workload_group_done(). 1: the pod needs no PodGroup. -1: the owner or the pod is invalid, or the
 * owner is suspended; the error names the object, the field and the remedy.
 */
int workload_group(const struct workload_rules *rules, const json_t *const *chain, size_t n,
                   struct workload_group *ret, struct err *err);

/*
 * Passes each pod that the controllers create from `object` to fn, as they create it, with the
 * chain from the pod up to `object`. The pods and the owners between have UIDs made from that of
 * `object`. They are borrowed until fn returns; chain[0] may be changed. Stops when fn returns
 * false. -1: the object is invalid or suspended; the error names the field and the remedy, but not
 * the object.
 */
typedef bool workload_pod_fn(void *arg, const json_t *const *chain, size_t n);
enum workload_known {
    WORKLOAD_KNOWN,
    WORKLOAD_UNKNOWN, /* muster does not know which pods this kind creates */
    WORKLOAD_STOPPED, /* fn has returned false */
};
int workload_pods(const json_t *object, workload_pod_fn *fn, void *arg, struct err *err);
/* Pod number `index` of a Job. The caller owns it. */
json_t *workload_job_pod(const json_t *job, int64_t index);

/* Whether the PodGroup of a workload of this kind depends on fields that can change (replicas,
 * suspend). muster then follows the workload. */
bool workload_scales(const struct workload_rules *rules, const char *api_version, const char *kind);

/* ---- workloads that muster may suspend (workload_suspend.c) ---- */

/* Annotation of a workload and of its PodGroup: "suspend" or "evict". */
#define WORKLOAD_PREEMPTION "muster.dev/preemption"
/* Label of a workload that muster has suspended: "true". */
#define WORKLOAD_SUSPENDED "muster.dev/suspended"
/* Annotation of such a workload: why and when. */
#define WORKLOAD_SUSPENDED_REASON "muster.dev/suspended-reason"

/* A kind with a field that suspends its objects. The strings are constants. */
struct workload_suspendable {
    const char *api_group;       /* "batch" */
    const char *const *versions; /* preferred first, NULL at the end */
    const char *kind, *plural;
    const char *suspend; /* path of the field */
};

/* Number i of these kinds. False: there are no more. */
bool workload_suspendable_at(size_t i, struct workload_suspendable *ret);
/* False: it has no such field, or muster does not know it. */
bool workload_suspendable(const char *api_version, const char *kind,
                          struct workload_suspendable *ret);
/* The workload that owns the PodGroup, if it can be suspended. True: the caller frees *ret with
 * workload_ref_done(). */
bool workload_suspendable_owner(const json_t *group, struct workload_ref *ret);
/* A merge patch that sets the field, or a part of one. The caller owns it. */
json_t *workload_suspend_patch(const struct workload_suspendable *of, bool suspend);
/* A copy as if it were resumed, for workload_pods(). A Job creates no pods for completions that it
 * already has. The caller owns it. */
json_t *workload_resumed(const struct workload_suspendable *of, const json_t *object);

/* The resource name of a kind in URLs ("rayclusters"). NULL: the kind is not in the table. */
const char *workload_plural(const char *api_version, const char *kind);

void workload_ref_done(struct workload_ref *r);
void workload_group_done(struct workload_group *g);

#endif
