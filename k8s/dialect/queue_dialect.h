/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_dialect.h - one queue API as people already use it.
 *
 * A queue dialect is a constant table and two functions. Each has a file queue_*.c and a line in
 * queue_dialect.c. Nothing else in muster knows the fields of any queue API. All functions are
 * pure.
 */
#ifndef MUSTER_K8S_DIALECT_QUEUE_DIALECT_H
#define MUSTER_K8S_DIALECT_QUEUE_DIALECT_H

#include "gang/queue_facts.h"
#include "k8s/dialect/dialect.h"

/* What a status is compared with. */
struct queue_view {
    const json_t *object; /* the queue as last seen; NULL: never */
    bool orphan;          /* it names a parent that does not exist */
    usec_t wall;          /* for the times of conditions */
};

struct queue_dialect {
    const char *name;            /* "kai", for people */
    const char *api_group;       /* "scheduling.run.ai" */
    const char *const *versions; /* preferred first, NULL at the end */
    const char *plural, *kind;   /* "queues", "Queue" */
    bool namespaced;             /* the objects have a namespace */
    bool unique_names; /* namespaced, but no two may have the same name: the name alone identifies
                          the queue */
    const char *root;  /* an object with this name stands for the cluster: as a parent it means
                          none, and the object itself is not a queue; NULL: none */
    const char *fallback; /* the name of the queue for gangs that name none; NULL: there is none */
    bool has_conditions;  /* else an event on the object says why a queue is invalid */

    /* Labels and annotations in which a pod names its queue; the first that is not empty counts.
     * Closed by KEY_END. */
    const struct dialect_key *links;
    /* The annotation in which a namespace names the queue of its pods; NULL: there is none. */
    const char *namespace_annotation;
    /* Of PodGroup dialects: pods linked by one of them name a queue of this dialect; NULL: only
     * pods linked by the dialect with this API group. */
    const char *family;

    /* The label in which a pod says whether others may take its room, and its values, closed by
     * NULL. Other values mean nothing. NULL: there is none. */
    const char *preemptible_label;
    const struct queue_word {
        const char *text;
        enum gang_preemptible means;
    } * preemptible_words;
    int32_t firm_priority; /* see struct gang_queue_facts */

    /*
     * Fills in what the object states; ref, of_namespace, uid and created are already set.
     * -1: an error in the object, see `invalid` in struct gang_queue_facts.
     */
    int (*decode)(const json_t *object, struct gang_queue_facts *facts, struct err *err);
    /* The status to write, as a JSON merge patch of the whole object ({"status": {…}}); NULL if
     * nothing would change. The caller owns it. */
    json_t *(*status)(const struct gang_queue_status *status, const struct queue_view *view);
};

/* All queue dialects, in the order in which the keys of a pod count; NULL at the end. */
extern const struct queue_dialect *const queue_dialects[];

/* The namespace in the ref of a queue whose object is in that namespace; "" if the name alone
 * identifies the queue. */
static inline const char *queue_dialect_ref_ns(const struct queue_dialect *d, const char *ns)
{
    return d->namespaced && !d->unique_names ? ns : "";
}
/* The name stands for the cluster, see `root`. */
static inline bool queue_dialect_is_root(const struct queue_dialect *d, const char *name)
{
    return d->root && str_eq(d->root, name);
}
/* NULL: none. */
const struct queue_dialect *queue_dialect_by_group(const char *api_group);
/*
 * The dialect in which the pod names a queue, and the queue's name (borrowed from the pod); NULL:
 * it names none. If it names queues in several dialects, the queue of `linked` counts. `linked` is
 * the PodGroup dialect that links the pod (NULL: none).
 */
const struct queue_dialect *queue_dialect_of_pod(const json_t *pod, const struct dialect *linked,
                                                 const char **ret_name);
/* A sentence that the queue uses more than a limit; NULL: it does not. Does not name what it uses,
 * so that it stays the same while pods end. Allocated. */
char *queue_dialect_over_limit(const struct gang_queue_status *status);
/* What the labels of the pod say; not preemptible, if they disagree. */
enum gang_preemptible queue_dialect_preemptible(const json_t *pod);

#endif
