/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouper_internal.h - what the files of the grouper share: grouper.c (pods) over grouper_made.c
 * (PodGroups) over grouper_search.c (searches).
 *
 * A search leads from a pod up its owners to what its PodGroup must be. It stands in the queue of
 * those to look at, among the stuck, or waits for an owner, and is looked at again until its owner
 * ends it. Things that leave may have a call under way, which must not be cancelled while a watch
 * brings data: they are put aside and freed by the next pump.
 */
#ifndef MUSTER_K8S_GROUPER_GROUPER_INTERNAL_H
#define MUSTER_K8S_GROUPER_GROUPER_INTERNAL_H

#include "base/map.h"
#include "k8s/client/errand.h"
#include "k8s/grouper/grouper.h"
#include "k8s/grouper/made.h"
#include "k8s/grouper/owners.h"

#define GROUPER_TIMEOUT  (15 * USEC_PER_SEC)
#define GROUPER_MAX_BODY ((size_t)4 << 20)
#define GROUPER_MOST     (60 * USEC_PER_SEC) /* between two tries of a call */
#define GROUPER_DIALECTS 16
#define GROUPER_SAMPLES  8

struct search {
    struct grouper *g;
    struct list link;
    struct owner_wait wait;
    const char *ns; /* borrowed */
    char *pod;      /* as JSON; NULL: no search is under way */
    void (*found)(struct search *s, const struct workload_group *group);
    /* No PodGroup is to be made. */
    void (*none)(struct search *s);
    /* Not now; it is looked at again. */
    void (*stuck)(struct search *s, const char *why);
};

/* A pod that has no PodGroup yet. */
struct newcomer {
    struct search search;
    struct list dead;
    char *key, *ns, *name, *uid;
    enum {
        NEWCOMER_SEEKS,  /* what it needs is found out, or made */
        NEWCOMER_LINKS,  /* its link is being written */
        NEWCOMER_LINKED, /* is written, and not shown by the watch yet */
        NEWCOMER_ALONE,  /* none is to be made for it */
    } state;
    char *text;            /* why it waits, as the core knows it */
    struct gang_ref group; /* LINKS, LINKED */
    char *role;
    struct list in_made; /* waits for this to be written */
    struct errand link;
    usec_t since;
};

/* A PodGroup that is to be made, or was. */
struct made {
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
    struct errand errand;
    struct list newcomers;

    /* when it is there: following its owner */
    struct workload_ref top;
    bool followed;
    bool stale;        /* what it must be is to be found out again */
    usec_t not_before; /* it was written in vain */
    int vain;          /* changed in vain, in a row */
    bool complained;   /* of that; logged */
    /* Names of pods that are linked to it, those seen first: who is scaled down keeps them. */
    char *samples[GROUPER_SAMPLES];
    size_t n_samples;
    struct errand read;
    struct search search;
};

struct grouper {
    struct grouper_options o;
    struct errands *errands;
    struct owners *owners;
    bool ready[GROUPER_DIALECTS]; /* as in dialects[] */
    struct map newcomers;         /* "ns/name" -> struct newcomer */
    struct map made;              /* podgroups_key() -> struct made */
    /* A linked pod of each PodGroup, until these are listed: key -> name. */
    struct map samples;
    struct map told;          /* UID -> struct told */
    struct list queue, stuck; /* of searches */
    struct list dead_newcomers, dead_made;
    struct list learnt; /* of struct made, by `dead`: to be followed */
    struct client_timer pump, look;
    const struct newcomer *showing;      /* its pod is being shown by ourselves */
    bool link_forbidden, make_forbidden; /* logged */
};

/* ---- searches (grouper_search.c) ---- */

void search_init(struct search *s, struct grouper *g, const char *ns);
/* Takes the text. */
void search_start(struct search *s, char *pod);
/* Looks again, soon. */
void search_again(struct search *s);
/* Looks again after a while, or when PodGroups were listed. */
void search_park(struct search *s);
void search_end(struct search *s);
/* Looks at the first ones of the queue; those behind them have their turn after the network. */
void searches_step(struct grouper *g);
/* Those that were parked look again, soon. */
void searches_unpark(struct grouper *g);

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

/* ---- PodGroups (grouper_made.c) ---- */

enum made_answer {
    MADE_THERE,   /* the pod can be linked to it */
    MADE_COMING,  /* the newcomer waits and is told */
    MADE_FAILING, /* the same, and *ret_why says what is wrong */
};
/* What the newcomer needs; it is made if it is not there, and brought up to date if it is. */
enum made_answer made_need(struct newcomer *n, const struct dialect *dialect,
                           const struct gang_ref *ref, const struct workload_group *group,
                           const char **ret_why);
/* A pod of this PodGroup was seen. */
void made_member(struct grouper *g, const struct gang_ref *ref, const char *pod);
/* Follows those that were learnt of. */
void made_learn(struct grouper *g);
/* The PodGroups of this dialect are listed: who is in those that are not ours is forgotten. */
void made_listed(struct grouper *g, const struct dialect *dialect);
void made_owner_changed(void *arg, const char *uid);
/* Gives up those that nobody has ever shown; true: there is more to look at later. */
bool made_sweep(struct grouper *g);
void made_free(struct made *m);

#endif
