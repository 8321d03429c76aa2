/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper_internal.h - shared by the files of the grouper: grouper.c (ungrouped pods) over
 * grouper_podgroups.c (PodGroups) over owner_walk.c (from a pod up its owners).
 *
 * An owner walk finds the PodGroup that a pod must have. It is queued, parked among the stuck
 * walks, or waiting for an owner, and runs again until the object that embeds it ends it.
 *
 * A pod or PodGroup that leaves may have a call in flight, which must not be cancelled while a
 * watch delivers data. It is put on a list of the dead, and the next pump frees it.
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
#define GROUPER_MOST     (60 * USEC_PER_SEC) /* between two tries of a call */
#define GROUPER_DIALECTS 16
#define GROUPER_SAMPLES  8

struct owner_walk {
    struct grouper *g;
    struct list link;
    struct owner_wait wait;
    const char *ns; /* borrowed */
    char *pod;      /* as JSON; NULL: no owner walk is under way */
    void (*found)(struct owner_walk *s, const struct workload_group *group);
    /* No PodGroup is to be created. */
    void (*none)(struct owner_walk *s);
    /* Not now; the walk runs again. */
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
        UNGROUPED_LINKED,    /* written, not shown by the watch yet */
        UNGROUPED_IGNORED,   /* no PodGroup is created for it */
    } state;
    char *text;            /* why it waits, as the core knows it */
    struct gang_ref group; /* LINKING, LINKED */
    char *role;
    struct list in_created; /* waits for this PodGroup to be written */
    struct background_call link;
    usec_t since;
};

/* A PodGroup that muster is to create, or uses. */
struct created_podgroup {
    struct grouper *g;
    struct list dead; /* also: in learnt */
    char *key;
    struct gang_ref ref;
    const struct dialect *dialect;
    bool there;         /* it exists */
    bool creates;       /* the call in flight creates it; else it patches */
    usec_t there_since; /* when a call showed that it exists; 0: the watch has shown it */
    json_t *write;      /* the object to create, or the patch */
    char *owner;        /* for people: "Job ml/train" */
    char *why;          /* why it could not be created */
    char *dispute;      /* what the pod that was asked about last says against it */
    struct background_call background_call;
    struct list ungrouped;

    /* when it is there: following its owner */
    struct workload_ref top;
    bool followed;
    bool stale;        /* its spec must be determined again */
    usec_t not_before; /* no write before this time: the last one failed */
    int vain;          /* failed updates in a row */
    bool complained;   /* that failure was logged */
    /* Names of linked pods, the first that were seen: scaling down keeps these longest. */
    char *samples[GROUPER_SAMPLES];
    size_t n_samples;
    struct background_call read;
    struct owner_walk walk;
};

struct grouper {
    struct grouper_options o;
    struct background_calls *background_calls;
    struct owner_cache *owners;
    bool ready[GROUPER_DIALECTS]; /* as in dialects[] */
    struct map ungrouped;         /* "ns/name" -> struct ungrouped_pod */
    struct map created;           /* podgroups_key() -> struct created_podgroup */
    /* A linked pod of each PodGroup, until these are listed: key -> name. */
    struct map samples;
    struct map reported;      /* UID -> struct reported */
    struct list queue, stuck; /* of owner walks */
    struct list dead_ungrouped, dead_created;
    struct list learnt; /* of struct created_podgroup, by `dead`: to be followed */
    struct client_timer pump, look;
    const struct ungrouped_pod *showing; /* the grouper itself is showing this pod */
    bool link_forbidden, make_forbidden; /* logged */
};

/* ---- owner walks (owner_walk.c) ---- */

void owner_walk_init(struct owner_walk *s, struct grouper *g, const char *ns);
/* Takes the text. The walk runs soon. */
void owner_walk_start(struct owner_walk *s, char *pod);
/* Runs the walk again soon. */
void owner_walk_again(struct owner_walk *s);
/* Runs the walk again after a while, or once PodGroups are listed. */
void owner_walk_park(struct owner_walk *s);
void owner_walk_end(struct owner_walk *s);
/* Runs the first walks of the queue. The others run after the network had its turn. */
void owner_walks_step(struct grouper *g);
/* Runs the parked walks again soon. */
void owner_walks_unpark(struct grouper *g);

/* Fires g->pump. */
void grouper_pump_soon(struct grouper *g);
/* Fires g->look after a while, unless that is due already. */
void grouper_look_later(struct grouper *g);
bool grouper_is_ready(const struct grouper *g, const struct dialect *dialect);
void grouper_set_ready(struct grouper *g, const struct dialect *dialect, bool ready);
/* Reads an owner reference or an identity, borrowed; false: a field is missing. */
bool grouper_ref(const json_t *reference, struct workload_ref *ret);
/* The first of the object's owner references; NULL: it has none. */
const json_t *grouper_first_owner(const json_t *object);

/* ---- PodGroups (grouper_podgroups.c) ---- */

enum created_podgroup_state {
    PODGROUP_EXISTS,  /* the pod can be linked to it */
    PODGROUP_PENDING, /* the pod waits, and its walk runs again once there is news */
    PODGROUP_FAILING, /* the same, and *ret_why says what is wrong */
};
/* The PodGroup that the ungrouped pod needs: created if it does not exist, else updated. */
enum created_podgroup_state created_podgroup_need(struct ungrouped_pod *n,
                                                  const struct dialect *dialect,
                                                  const struct gang_ref *ref,
                                                  const struct workload_group *group,
                                                  const char **ret_why);
/* A pod of this PodGroup was seen. */
void created_podgroup_member(struct grouper *g, const struct gang_ref *ref, const char *pod);
/* Follows the owners of PodGroups that muster has newly learnt of. */
void created_podgroups_follow(struct grouper *g);
/* The PodGroups of this dialect are listed: drops the samples of those that are not ours. */
void created_podgroups_listed(struct grouper *g, const struct dialect *dialect);
void created_podgroup_owner_changed(void *arg, const char *uid);
/* Forgets PodGroups that never appeared in a watch; true: call it again later. */
bool created_podgroups_sweep(struct grouper *g);
void created_podgroup_free(struct created_podgroup *m);

#endif
