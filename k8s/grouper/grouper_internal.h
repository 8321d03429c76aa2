/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper_internal.h - shared by the files of the grouper. A file calls only files further down:
 *
 *   grouper.c            pods without a PodGroup
 *   grouper_podgroups.c  PodGroups that muster creates
 *   owner_walk.c         from a pod up to its owners
 *
 * An owner walk finds the PodGroup that a pod needs. It is in the queue, among the stuck walks, or
 * waits for an owner. It runs again and again until the object that embeds it ends it.
 *
 * A pod or PodGroup that vanishes can have a call in flight, which must not be cancelled while a
 * watch delivers data. So the struct goes to a list of dead structs, and the next pump frees it.
 *
 * Everything here belongs to the API thread.
 */
#ifndef MUSTER_K8S_GROUPER_GROUPER_INTERNAL_H
#define MUSTER_K8S_GROUPER_GROUPER_INTERNAL_H

#include "base/map.h"
#include "k8s/client/background_calls.h"
#include "k8s/grouper/created_podgroup.h"
#include "k8s/grouper/grouper.h"
#include "k8s/grouper/owner_cache.h"

#define GROUPER_TIMEOUT  (15 * USEC_PER_SEC)
#define GROUPER_MAX_BODY ((size_t)4 << 20)
#define GROUPER_MOST     (60 * USEC_PER_SEC) /* longest pause before a retry */
#define GROUPER_DIALECTS 16
#define GROUPER_SAMPLES  8

struct owner_walk {
    struct grouper *g;
    struct list link;
    struct owner_wait wait;
    const char *ns; /* borrowed */
    char *pod;      /* the pod as JSON text; NULL: the walk has ended */
    /* The pod needs this PodGroup. */
    void (*found)(struct owner_walk *s, const struct workload_group *group);
    /* The pod needs no PodGroup. */
    void (*none)(struct owner_walk *s);
    /* The PodGroup cannot be determined now. The walk runs again. */
    void (*stuck)(struct owner_walk *s, const char *why);
};

/* A pod that has no PodGroup yet. */
struct ungrouped_pod {
    struct owner_walk walk;
    struct list dead;
    char *key, *ns, *name, *uid;
    enum {
        UNGROUPED_RESOLVING, /* its PodGroup is being determined or created */
        UNGROUPED_LINKING,   /* its link is being written */
        UNGROUPED_LINKED,    /* its link is written, but the watch has not shown it yet */
        UNGROUPED_IGNORED,   /* it needs no PodGroup */
    } state;
    char *text;             /* why it waits; awaits_group in its facts */
    struct gang_ref group;  /* LINKING, LINKED */
    char *role;             /* LINKING, LINKED; NULL: none */
    struct list in_created; /* in the list of a PodGroup that is being written */
    struct background_call link;
    usec_t since;
};

/* A PodGroup that muster creates, or has found already created. */
struct created_podgroup {
    struct grouper *g;
    struct list dead; /* in grouper.dead_created or grouper.learnt */
    char *key;
    struct gang_ref ref;
    const struct dialect *dialect;
    bool there;         /* it exists */
    bool creates;       /* the call in flight creates it; else it patches it */
    usec_t there_since; /* when a reply showed that it exists; 0: the watch has shown it */
    json_t *write;      /* the object to create, or the patch */
    char *owner;        /* for log lines: "Job ml/train" */
    char *why;          /* why it could not be created */
    char *dispute;      /* how the last pod disagrees, see created_podgroup_dispute() */
    struct background_call background_call;
    struct list ungrouped; /* pods that wait for it to be written */

    /* following its owner, once it exists */
    struct workload_ref top;
    bool followed;
    bool stale;        /* its spec must be determined again */
    usec_t not_before; /* the last write failed: no write before this time */
    int vain;          /* failed updates in a row */
    bool complained;   /* the failure was logged */
    /* The names of the first linked pods that were seen. Scaling down usually keeps these. */
    char *samples[GROUPER_SAMPLES];
    size_t n_samples;
    struct background_call read;
    struct owner_walk walk;
};

struct grouper {
    struct grouper_options o;
    struct background_calls *background_calls;
    struct owner_cache *owners;
    bool ready[GROUPER_DIALECTS]; /* same order as dialects[] */
    struct map ungrouped;         /* "ns/name" -> struct ungrouped_pod */
    struct map created;           /* gang_ref_key() -> struct created_podgroup */
    /* gang_ref_key() -> the name of a linked pod, until the PodGroups are listed. */
    struct map samples;
    struct map reported;      /* UID -> struct reported */
    struct list queue, stuck; /* of struct owner_walk */
    struct list dead_ungrouped, dead_created;
    struct list learnt; /* of struct created_podgroup, by `dead`: PodGroups to follow or refresh */
    struct client_timer pump, look;
    const struct ungrouped_pod *showing; /* the pod that the grouper passes to show() now */
    bool link_forbidden, make_forbidden; /* this missing right was logged */
};

/* ---- owner walks (owner_walk.c) ---- */

void owner_walk_init(struct owner_walk *s, struct grouper *g, const char *ns);
/* Takes ownership of the text. The walk runs soon. */
void owner_walk_start(struct owner_walk *s, char *pod);
/* Runs the walk again soon. */
void owner_walk_again(struct owner_walk *s);
/* Runs the walk again after grouper_options.look, or once PodGroups are listed. */
void owner_walk_park(struct owner_walk *s);
void owner_walk_end(struct owner_walk *s);
/* Runs the first walks of the queue. The others run after the next network events. */
void owner_walks_step(struct grouper *g);
/* Runs the parked walks again soon. */
void owner_walks_unpark(struct grouper *g);

/* Fires g->pump. */
void grouper_pump_soon(struct grouper *g);
/* Fires g->look after grouper_options.look, unless it is set already. */
void grouper_look_later(struct grouper *g);
bool grouper_is_ready(const struct grouper *g, const struct dialect *dialect);
void grouper_set_ready(struct grouper *g, const struct dialect *dialect, bool ready);
/* Reads an owner reference or an identity, borrowed; false: a field is missing. */
bool grouper_ref(const json_t *reference, struct workload_ref *ret);
/* The object's first owner reference; NULL: it has none. */
const json_t *grouper_first_owner(const json_t *object);

/* ---- PodGroups (grouper_podgroups.c) ---- */

enum created_podgroup_state {
    PODGROUP_EXISTS,  /* the pod can be linked to it */
    PODGROUP_PENDING, /* the pod waits, and its walk runs again when the PodGroup changes */
    PODGROUP_FAILING, /* the same, but something is wrong; *ret_why has the reason */
};
/* Creates or updates the PodGroup that the ungrouped pod needs. */
enum created_podgroup_state created_podgroup_need(struct ungrouped_pod *n,
                                                  const struct dialect *dialect,
                                                  const struct gang_ref *ref,
                                                  const struct workload_group *group,
                                                  const char **ret_why);
/* Call it for each pod that is linked to this PodGroup. */
void created_podgroup_member(struct grouper *g, const struct gang_ref *ref, const char *pod);
/* Follows the owners of the PodGroups in g->learnt, and refreshes stale ones. */
void created_podgroups_follow(struct grouper *g);
/* Call it when the PodGroups of this dialect are listed. Drops the samples that are left: their
 * PodGroups are not muster's. */
void created_podgroups_listed(struct grouper *g, const struct dialect *dialect);
void created_podgroup_owner_changed(void *arg, const char *uid);
/* Forgets PodGroups that the watch never showed. True: call it again later. */
bool created_podgroups_sweep(struct grouper *g);
void created_podgroup_free(struct created_podgroup *m);

#endif
