/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - what a workload of each kind needs as a gang, for PodGroups that nobody wrote.
 *
 * Users submit Jobs, RayClusters and PyTorchJobs. The way goes from a pod up its owners to the top
 * one, whose kind decides the PodGroup's name, how many members it needs and which parts it has.
 * KAI's pod-grouper and Volcano's PodGroup controller have such rules, and people rely on them: the
 * rules here are theirs (a `convention` each), by one table with a row for each kind (kinds.c). A
 * kind that the table does not know is added by the configuration.
 *
 *   1. workload_wants_podgroup() says whether a PodGroup is to be created for a pod, and by
 *      which convention.
 *   2. workload_owner() names the next owner up; the caller reads it, until there is none, or the
 *      rules end the way up.
 *   3. workload_group() says what the PodGroup must be; the caller writes it (k8s/grouper/).
 *
 * Pure: objects in, values out; no I/O, no state, any thread. Objects are borrowed.
 */
#ifndef MUSTER_WORKLOAD_WORKLOAD_H
#define MUSTER_WORKLOAD_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Whose rules: names and minimums differ. */
enum workload_convention { CONVENTION_KAI, CONVENTION_VOLCANO, CONVENTION_MAX };

/* A kind that the configuration adds. A path is keys joined by dots; "groups[*]" means each item
 * of a list, "*" each value of an object. What several values say is added up. */
struct workload_custom {
    char *api_version, *kind; /* "example.com/v1", "TrainSet" */
    char *replicas;           /* path of the number of pods: "spec.replicas" */
    char *minimum;            /* path of the minimum; NULL: all replicas */
};

/* Whose pods get PodGroups; from the configuration, const afterwards. */
struct workload_rules {
    bool on;
    char **schedulers; /* spec.schedulerName of pods that get a PodGroup unasked */
    size_t n_schedulers;
    char **namespaces; /* none named: all */
    size_t n_namespaces;
    char **excluded_namespaces;
    size_t n_excluded_namespaces;
    char *home; /* the API group of PodGroups for pods that ask for no other: "scheduling.run.ai" */
    struct workload_custom *customs;
    size_t n_customs;
};

/* An annotation of a pod or of one of its owners: "true" asks for a PodGroup, whatever the
 * scheduler's name is, "false" refuses one. The recipe's word is understood on owners too. */
#define WORKLOAD_ASK        "muster.dev/create-podgroup"
#define WORKLOAD_ASK_RECIPE "scheduling.run.ai/gang-scheduling"
/* Of a pod without an owner: the PodGroup's name. Of a pod or an owner: the minimum. */
#define WORKLOAD_GANG       "muster.dev/gang"
#define WORKLOAD_MIN_MEMBER "muster.dev/min-member"

/* More owners above each other than anybody has; the caller stops there. */
#define WORKLOAD_MAX_CHAIN 16

enum workload_wanted {
    WORKLOAD_NO,    /* it is none of ours */
    WORKLOAD_MAKE,  /* yes */
    WORKLOAD_OWNER, /* its owners decide (their annotations); until they are read it waits. Only
                     * where they are of a kind whose pods belong together. */
};

struct workload_ref {
    char *api_version, *kind, *name, *uid;
};

/* A part of the group: a role of its members, or what holds roles. */
struct workload_role {
    char *name, *parent;  /* parent NULL: the group itself; a parent stands before its children */
    int64_t min_member;   /* leaves */
    int64_t min_children; /* others; -1: all */
};

struct workload_group {
    char *api_group; /* of the PodGroup: the dialect that pods or the configuration ask for */
    char *name;
    /* Of the roles at the top so many must have theirs; -1: all of them, and min_member members.
     * Where it is not -1, min_member is only for dialects that have no roles. */
    int64_t min_children;
    int64_t min_member;
    struct workload_role *roles;
    size_t n_roles;
    char *role;           /* that of the pod that was asked about; NULL: none */
    char *queue;          /* NULL: the dialect's default */
    char *priority_class; /* NULL: none */
    /* NULL: none; quantities as text. Reckoned from the pod that was asked about, and others of
     * the group may differ: to be written with the minimum, not for each pod. */
    json_t *min_resources;
    json_t *labels, *annotations; /* that the PodGroup inherits; never NULL */
    struct workload_ref owner;    /* ownerReference: the owner that counts, or the pod */
    /* Pods without an owner share it (WORKLOAD_GANG): each adds itself as an owner, so that the
     * group goes with the last of them. */
    bool shared;
};

enum workload_wanted workload_wants_podgroup(const struct workload_rules *rules, const json_t *pod);

/* The next owner up from `object` (a pod or an owner); false: there is none, or the rules say that
 * `object` is the top. Fields are the caller's, see workload_ref_done(). */
bool workload_owner(const struct workload_rules *rules, const json_t *object,
                    struct workload_ref *ret);

/*
 * chain[0] is the pod, chain[n - 1] the top owner. 0: *ret is filled; 1: no PodGroup is to be
 * created (an annotation says so); -1: what the owner says is wrong, or it is suspended: the
 * sentence names object, field and remedy.
 */
int workload_group(const struct workload_rules *rules, const json_t *const *chain, size_t n,
                   struct workload_group *ret, struct err *err);

/* Whether the PodGroup of such a workload depends on what may change while it lives (replicas,
 * suspended parts): objects of that kind are then followed. */
bool workload_scales(const struct workload_rules *rules, const char *api_version, const char *kind);

/* The resource name in URLs of a kind in the table ("rayclusters"); NULL: not in the table, has to
 * be found out. */
const char *workload_plural(const char *api_version, const char *kind);

void workload_ref_done(struct workload_ref *r);
void workload_group_done(struct workload_group *g);

#endif
