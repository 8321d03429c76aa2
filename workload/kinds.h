/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - the table of kinds, for the files of workload/ only.
 *
 * A row describes the PodGroup of a kind: its name, how many members it needs, and its parts. To
 * add a kind, add a row in kinds.c, and a function if the minimum is not a number at a path. The
 * rows contain KAI's rules. Volcano's rules are the same for all kinds (podgroup_from_owners.c).
 *
 * A workload_case is one call of workload_group(): the chain of owners from the pod up, and what is
 * known about it so far. It borrows everything except `marks`.
 *
 * All functions are pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_WORKLOAD_KINDS_H
#define MUSTER_WORKLOAD_KINDS_H

#include "workload/read_object.h"
#include "workload/workload.h"

/* The most parts of a PodGroup (gang/podgroup/quorum.c refuses more than 1,024). A workload with
 * more gets a PodGroup without parts. */
#define WORKLOAD_MAX_ROLES 1000

struct workload_case;
struct created_chain;

struct workload_kind {
    const char *group;           /* "" is the core group */
    const char *const *versions; /* NULL: any */
    const char *kind, *plural;
    /* Sets min_member, min_children, roles and role. NULL: the minimum is 1. -1: the owner is
     * invalid. Paths in the error are relative to the owner, and the caller adds its name. */
    int (*size)(const struct workload_case *c, struct workload_group *g, struct err *err);
    /* The number of all pods, for kinds whose minimum is 1 unless an annotation asks for all or
     * none. NULL: size() returns it. -1: as in size(). */
    int (*all)(const struct workload_case *c, int64_t *ret, struct err *err);
    /* Passes the pods that its controllers create to created_tell(), and returns its result. NULL:
     * unknown. -1: the owner is invalid. */
    int (*pods)(struct created_chain *c, const struct workload_kind *kind, struct err *err);
    const char *field;            /* for size() and pods(): path of the roles */
    const char *const *required;  /* for size(): roles that must exist */
    const char *suspend;          /* path of the field that suspends it; NULL: none */
    const char *const *templates; /* paths of the labels in its pod templates, if it has several */
    const char *instead; /* use the next object below of this kind instead; "*": of any kind */
    bool per_pod;        /* a PodGroup for each pod */
    bool together;       /* its pods start together, so an annotation on it can ask for a PodGroup
                            (podgroup_wanted.c) */
};

/* Returns the default row for a kind that is not in the table. Never NULL. */
const struct workload_kind *workload_kind(const char *api_version, const char *kind);
/* Row i of the table; NULL after the last. */
const struct workload_kind *workload_kind_at(size_t i);

struct workload_case {
    const struct workload_rules *rules;
    const json_t *const *chain;
    size_t n;
    size_t at; /* chain[at] is the owner whose rule counts */
    const struct workload_kind *kind;
    const struct workload_custom *custom; /* its kind, if the configuration adds it; else NULL */
    bool all_or_none;                     /* an annotation asks for all of its pods at once */
    const char *asked_by;                 /* this annotation */
    bool mixed; /* members have different roles, so one pod does not show what all request */
    /* Labels and annotations of this owner, and those that it inherits from skipped owners above.
     * An object {"metadata": {"labels": …, "annotations": …}}, for read_label(). */
    json_t *marks;
};

static inline const json_t *case_owner(const struct workload_case *c)
{
    return c->chain[c->at];
}

static inline const json_t *case_pod(const struct workload_case *c)
{
    return c->chain[0];
}

/* ---- identities and references (owner_reference.c) ---- */

/* The identity of chain[i], from the object itself or else from the reference to it. Borrowed. */
struct workload_identity {
    const char *api_version, *kind, *ns, *name, *uid;
};
struct workload_identity object_identity(const json_t *const *chain, size_t i);
/* Adds to the error that the pod is invalid, not the owner. Returns -1. */
int in_its_pod(const struct workload_case *c, struct err *err);
/* The reference to the next owner up; NULL: none. */
const json_t *owner_reference_of(const json_t *object);
/* The reference to the controller; NULL: none. */
const json_t *controller_reference_of(const json_t *object);
const struct workload_custom *custom_kind(const struct workload_rules *rules,
                                          const char *api_version, const char *kind);

/* ---- annotations that ask for a PodGroup (podgroup_wanted.c) ---- */

enum workload_word {
    WORD_NONE,    /* no annotation */
    WORD_YES,     /* create a PodGroup */
    WORD_ALL,     /* create a PodGroup that needs all pods */
    WORD_REFUSED, /* create no PodGroup */
};
/* -1: an annotation has an invalid value. */
int asks_for(const json_t *object, enum workload_word *ret, struct err *err);
/* Whether pods of this scheduler get a PodGroup without an annotation. */
bool is_our_scheduler(const struct workload_rules *rules, const json_t *pod);

/* ---- names (podgroup_name.c); the caller frees them ---- */

#define NAME_OBJECT_MAX 253
#define NAME_LABEL_MAX  63 /* of the value of a label */
/* Makes an object name of at most `most` characters [a-z0-9.-]. If the text is not a valid name or
 * too long, it is changed, and the name ends with a hash of the text. The same text always gives
 * the same name. */
char *name_object(const char *text, size_t most);
/* Makes a name for a part: at most 63 characters [a-z0-9-]. */
char *name_part(const char *text);
bool is_object_name(const char *text);

/* ---- parts (podgroup_roles.c) ---- */

/* Adds a part with members. parent NULL: the PodGroup itself. */
void part_add(struct workload_group *g, const char *name, const char *parent, int64_t min_member);
/* Adds a part that has parts. min_children -1: it needs all of them. */
void part_of_parts(struct workload_group *g, const char *name, int64_t min_children);
/* Removes all parts. */
void parts_done(struct workload_group *g);
/* Makes this part the pod's role, if the part exists. */
void part_join(struct workload_group *g, const char *name);
bool part_exists(const struct workload_group *g, const char *name);

/* ---- the rules of kinds ---- */

int size_job(const struct workload_case *c, struct workload_group *g, struct err *err);
int all_of_job(const struct workload_case *c, int64_t *ret, struct err *err);
/* How many pods a Job has at once. `path` is the path of its spec: "spec", "template.spec". */
int job_pods(const json_t *object, const char *path, int64_t *ret, struct err *err);
int size_statefulset(const struct workload_case *c, struct workload_group *g, struct err *err);
int all_of_statefulset(const struct workload_case *c, int64_t *ret, struct err *err);
int all_of_replicas(const struct workload_case *c, int64_t *ret, struct err *err);
int size_revision(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_custom(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_ray(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_kubeflow(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_pytorch(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_mpi(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_jobset(const struct workload_case *c, struct workload_group *g, struct err *err);
int size_lws(const struct workload_case *c, struct workload_group *g, struct err *err);

/* ---- the pods that controllers create (created_pods.c) ---- */

/* As workload_pods(), for an object of a kind that has pods. */
int created_pods(const json_t *object, const struct workload_kind *kind, workload_pod_fn *fn,
                 void *arg, struct err *err);
/* The innermost object entered; first the workload itself. */
const json_t *created_owner(const struct created_chain *c);
/* An object between the workload and its pods, which is created from the innermost one. Takes
 * ownership, and returns it. */
const json_t *created_enter(struct created_chain *c, json_t *object);
void created_leave(struct created_chain *c);
/* A pod of the innermost object. Takes ownership. 0: go on; WORKLOAD_STOPPED: return this. */
int created_tell(struct created_chain *c, json_t *pod);
/* A new object with the metadata and the spec of the template, and with the owner. The caller owns
 * it. Its metadata may be changed; parts of its spec are those of the template. */
json_t *created_object(const json_t *owner, const char *api_version, const char *kind,
                       const json_t *template, const char *name);
json_t *created_pod(const json_t *owner, const json_t *template, const char *name);
/* *ret gets the pod template at the path, which must have a spec. */
int created_template(const json_t *object, const char *path, const json_t **ret, struct err *err);
void created_label(json_t *object, const char *key, const char *value);
void created_label_number(json_t *object, const char *key, int64_t value);
void created_annotation_number(json_t *object, const char *key, int64_t value);

int pods_pod(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_job(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_cronjob(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_replicas(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_deployment(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_jobset(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_lws(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_raycluster(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_of_raycluster(struct created_chain *c, const struct workload_kind *kind, struct err *err);
int pods_kubeflow(struct created_chain *c, const struct workload_kind *kind, struct err *err);

/* KAI's annotation for the minimum of Jobs and JobSets. */
#define KAI_MIN_MEMBER   "kai.scheduler/batch-min-member"
#define KAI_SEGMENT_SIZE "kai.scheduler/segment-size"

/* *ret gets the requests of a pod times n, as {"cpu": "8", …}, which the caller owns. NULL: there
 * are none. -1: a request is invalid. */
int requests_times(const json_t *pod, int64_t n, json_t **ret, struct err *err);

#endif
