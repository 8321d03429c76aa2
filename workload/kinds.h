/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - the table of kinds, for the files of workload/ only.
 *
 * A row says of a kind how its PodGroup is called, how many members it needs and which parts it
 * has. To add a kind: one row in kinds.c, and a function where its minimum is not just a number at
 * a path. Rows are KAI's rules; Volcano's are the same for all kinds (podgroup_from_owners.c).
 *
 * A workload_case is one question: the chain of owners from the pod up, and what was found out
 * about it so far. It borrows everything but `labels` and `annotations`.
 */
#ifndef MUSTER_WORKLOAD_KINDS_H
#define MUSTER_WORKLOAD_KINDS_H

#include "workload/read_object.h"
#include "workload/workload.h"

/* Parts that a PodGroup may have (gang/podgroup/quorum.c refuses more than 1,024). A workload with
 * more is one group without parts. */
#define WORKLOAD_MAX_ROLES 1000

struct workload_case;

struct workload_kind {
    const char *group;           /* "" is the core group */
    const char *const *versions; /* NULL: any */
    const char *kind, *plural;
    /* Fills min_member, min_children, roles and role; NULL: one pod is enough. -1: what the owner
     * says is wrong. Paths are relative to the owner, whose name the caller puts before. */
    int (*size)(const struct workload_case *c, struct workload_group *g, struct err *err);
    /* All pods of an owner whose minimum is 1 unless somebody asks for all or none; NULL: size()
     * says it. Same errors. */
    int (*all)(const struct workload_case *c, int64_t *ret, struct err *err);
    const char *field;            /* for size(): what has the roles */
    const char *const *required;  /* for size(): roles that must be there */
    const char *suspend;          /* path of the switch */
    const char *const *templates; /* paths of the labels of its pods, where these have several */
    const char *instead; /* not this one, but the next one below of that kind; "*": of any kind */
    bool per_pod;        /* a PodGroup for each pod */
    bool together;       /* its pods start together, so it may ask for a PodGroup itself
                            (podgroup_wanted.c) */
};

/* One that is not in the table gets the default rule. Never NULL. */
const struct workload_kind *workload_kind(const char *api_version, const char *kind);
/* Row i of the table; NULL behind the last. */
const struct workload_kind *workload_kind_at(size_t i);

struct workload_case {
    const struct workload_rules *rules;
    const json_t *const *chain;
    size_t n;
    size_t at; /* the owner that counts is chain[at] */
    const struct workload_kind *kind;
    const struct workload_custom *custom; /* it is of a kind that the configuration added */
    bool all_or_none;                     /* somebody asks for all of its pods at once */
    const char *asked_by;                 /* the annotation that does */
    bool mixed; /* its members are of several roles: one says nothing about what all need */
    /* Of the owner that counts, and what it has not got of those above it that were skipped. As an
     * object {"metadata": {"labels": …, "annotations": …}}, for read_label(). */
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

/* ---- who is who (owner_reference.c) ---- */

/* What chain[i] is: its own word, else that of the reference below. Borrowed. */
struct workload_identity {
    const char *api_version, *kind, *ns, *name, *uid;
};
struct workload_identity object_identity(const json_t *const *chain, size_t i);
/* Says that it is the pod which is wrong, not the owner. Returns -1. */
int in_its_pod(const struct workload_case *c, struct err *err);
/* The reference that leads up from an object; NULL: none. */
const json_t *owner_reference_of(const json_t *object);
/* The reference to its controller; NULL: none. */
const json_t *controller_reference_of(const json_t *object);
const struct workload_custom *custom_kind(const struct workload_rules *rules,
                                          const char *api_version, const char *kind);

/* ---- what people ask for (podgroup_wanted.c) ---- */

enum workload_word { WORD_NONE, WORD_YES, WORD_ALL, WORD_REFUSED };
/* -1: a word that nobody knows. */
int asks_for(const json_t *object, enum workload_word *ret, struct err *err);
/* Pods of this scheduler get a PodGroup unasked. */
bool is_our_scheduler(const struct workload_rules *rules, const json_t *pod);

/* ---- names (podgroup_name.c); the caller frees them ---- */

#define NAME_OBJECT_MAX 253
#define NAME_LABEL_MAX  63 /* of the value of a label */
/* As the name of an object: at most so many of [a-z0-9.-]. A name that is not one already, or too
 * long, is changed, and ends with a hash of what it was: the same text always gives the same name.
 */
char *name_object(const char *text, size_t most);
/* As the name of a part: at most 63 of [a-z0-9-]. */
char *name_part(const char *text);
bool is_object_name(const char *text);

/* ---- parts (podgroup_roles.c) ---- */

/* A part with members. parent NULL: the group. */
void part_add(struct workload_group *g, const char *name, const char *parent, int64_t min_member);
/* A part with parts; -1: it needs all of them. */
void part_of_parts(struct workload_group *g, const char *name, int64_t min_children);
/* There are none. */
void parts_done(struct workload_group *g);
/* The pod is in this one, if it exists. */
void part_join(struct workload_group *g, const char *name);
bool part_exists(const struct workload_group *g, const char *name);

/* ---- the rules of kinds ---- */

int size_job(const struct workload_case *c, struct workload_group *g, struct err *err);
int all_of_job(const struct workload_case *c, int64_t *ret, struct err *err);
/* How many pods a Job has at once; `path` is where its spec is: "spec", "template.spec". */
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

/* KAI's word for a minimum, of Jobs and JobSets. */
#define KAI_MIN_MEMBER   "kai.scheduler/batch-min-member"
#define KAI_SEGMENT_SIZE "kai.scheduler/segment-size"

/* What one pod asks for, times n, as {"cpu": "8", …}; NULL: nothing. -1: unreadable. */
int requests_times(const json_t *pod, int64_t n, json_t **ret, struct err *err);

#endif
