/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper_internal.h - shared by the files of the grouper: grouper.c (ungrouped pods) over
 * grouper_podgroups.c (PodGroups) over owner_walk.c (from a pod up its owners).
 *
 * An owner walk finds the PodGroup that a pod must have. It is queued, parked among the stuck
 * walks, or waiting for an owner, and runs again until its creator ends it. A thing that leaves
 * may have a call under way, which must not be cancelled while a watch delivers data: it is put
 * aside, and the next pump frees it.
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
    /* No PodGroup is to be made. */
    void (*none)(struct owner_walk *s);
    /* Not now; it is looked at again. */
    void (*stuck)(struct owner_walk *s, const char *why);
};

/* A pod that has no PodGroup yet. */
struct ungrouped_pod {
    struct owner_walk walk;
    struct list dead;
    char *key, *ns, *name, *uid;
    enum {
        UNGROUPED_RESOLVING, /* what it needs is found out, or made */
        UNGROUPED_LINKING,   /* its link is being written */
        UNGROUPED_LINKED,    /* is written, and not shown by the watch yet */
        UNGROUPED_IGNORED,   /* none is to be made for it */
    } state;
    char *text;            /* why it waits, as the core knows it */
    struct gang_ref group; /* LINKS, LINKED */
    char *role;
    struct list in_created; /* waits for this to be written */
    struct background_call link;
    usec_t since;
};

/* A PodGroup that is to be made, or was. */
struct created_podgroup {
    struct grouper *g;
    struct list dead; /* also: in learnt */
    char *key;
    struct gang_ref ref;
    const struct dialect *dialect;
    bool there;         /* it exists */
    bool creates;       /* the call under way creates it, else it patches */
    usec_t there_since; /* by our own word, until the watch shows it; 0: shown */
    json_t *write;      /* the object to create, or the patch */
    char *owner;        /* for people: "Job ml/train" */
    char *why;          /* it could not be created */
    char *dispute;      /* what the pod that was asked about last says against it */
    struct background_call background_call;
    struct list ungrouped;

    /* when it is there: following its owner */
    struct workload_ref top;
    bool followed;
    bool stale;        /* what it must be is to be found out again */
    usec_t not_before; /* no write before: the last one did not help */
    int vain;          /* writes without effect, in a row */
    bool complained;   /* of that; logged */
    /* Names of pods that are linked to it, those seen first: who is scaled down keeps them. */
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
    const struct ungrouped_pod *showing; /* its pod is being shown by ourselves */
    bool link_forbidden, make_forbidden; /* logged */
};

/* ---- owner walks (owner_walk.c) ---- */

void owner_walk_init(struct owner_walk *s, struct grouper *g, const char *ns);
/* Takes the text. */
void owner_walk_start(struct owner_walk *s, char *pod);
/* Looks again, soon. */
void owner_walk_again(struct owner_walk *s);
/* Looks again after a while, or when PodGroups were listed. */
void owner_walk_park(struct owner_walk *s);
void owner_walk_end(struct owner_walk *s);
/* Looks at the first ones of the queue; those behind them have their turn after the network. */
void owner_walks_step(struct grouper *g);
/* Those that were parked look again, soon. */
void owner_walks_unpark(struct grouper *g);

/* Fires g->pump. */
void grouper_pump_soon(struct grouper *g);
/* Fires g->look after a while, unless that is due already. */
void grouper_look_later(struct grouper *g);
bool grouper_is_ready(const struct grouper *g, const struct dialect *dialect);
void grouper_set_ready(struct grouper *g, const struct dialect *dialect, bool ready);
/* What an owner reference or an identity says, borrowed; false: something is missing. */
bool grouper_ref(const json_t *reference, struct workload_ref *ret);
/* The first of the object's owner references; NULL: it has none. */
const json_t *grouper_first_owner(const json_t *object);

/* ---- PodGroups (grouper_podgroups.c) ---- */

enum created_podgroup_state {
    PODGROUP_EXISTS,  /* the pod can be linked to it */
    PODGROUP_PENDING, /* the ungrouped pod waits; it is resumed */
    PODGROUP_FAILING, /* the same, and *ret_why says what is wrong */
};
/* What the ungrouped pod needs; it is made if it is not there, and brought up to date if it is. */
enum created_podgroup_state created_podgroup_need(struct ungrouped_pod *n,
                                                  const struct dialect *dialect,
                                                  const struct gang_ref *ref,
                                                  const struct workload_group *group,
                                                  const char **ret_why);
/* A pod of this PodGroup was seen. */
void created_podgroup_member(struct grouper *g, const struct gang_ref *ref, const char *pod);
/* Follows those that were learnt of. */
void created_podgroups_follow(struct grouper *g);
/* The PodGroups of this dialect are listed: who is in those that are not ours is forgotten. */
void created_podgroups_listed(struct grouper *g, const struct dialect *dialect);
void created_podgroup_owner_changed(void *arg, const char *uid);
/* Gives up those that nobody has ever shown; true: there is more to look at later. */
bool created_podgroups_sweep(struct grouper *g);
void created_podgroup_free(struct created_podgroup *m);

#endif
