/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup.h - a PodGroup, as the core knows it, and the tree of minimums that its members count
 * in.
 *
 * Made by podgroup/podgroups.c when it is shown or named, units by podgroup/quorum.c. Owned by the
 * core; one thread. The comment before some fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_PODGROUP_H
#define MUSTER_GANG_CLUSTER_PODGROUP_H

#include "base/map.h"
#include "gang/cluster/signature.h"

/* Members counted, see gang_count(). */
struct tally {
    int members; /* neither Terminating nor Failed */
    int bound;   /* assigned or finished well */
    int binding; /* Binding sent, result open */
    int held;    /* bind call waits */
    int slots;   /* unbound, with a slot; expected ones too */
    int running, succeeded, failed;
    int gated;                    /* unbound, with somebody else's scheduling gate */
    int foreign;                  /* unbound, of a scheduler that is not ours */
    int closed;                   /* unbound, with muster's own gate; in the others too */
    int plannable;                /* unbound, no gate of others, ours */
    int rejected_early;           /* unbound, kube-scheduler refuses it unasked */
    const char *gate, *scheduler; /* an example of each; borrowed */
    const char *refused;          /* an example of those overlooked, by name */
};

/* How far a member must be to count. Each stage includes those after it. */
enum stage {
    STAGE_NONE, /* nobody counts */
    STAGE_EXISTS,
    STAGE_REACHABLE, /* bound, or the scheduler may place it */
    STAGE_PLANNED,   /* bound, or has a slot */
    STAGE_AT_BIND,   /* bound, or its bind call is held */
    STAGE_BOUND,
};

/*
 * A part of a gang that has a minimum of its own: a PodGroup, a subgroup of it, one of the equal
 * parts of a subgroup, or the bundle of several PodGroups. Owned by its group (the bundle's by the
 * gang), made anew when the group's facts change.
 */
struct unit {
    /* podgroup/quorum.c */
    struct group *group;              /* NULL: a bundle */
    const struct gang_subgroup *spec; /* NULL: the PodGroup's own; borrowed from its facts */
    char *part;                       /* the label values that make this part; NULL: no part */
    struct unit *parent;              /* NULL: the gang's root */
    struct list in_parent, children;
    int n_children;
    int min_pods;     /* members in it and below */
    int min_children; /* units below it that must have theirs */
    int max_pods;     /* at once; 0: no limit */
    bool detached;    /* its parent does not exist, or is below it */
    struct tally t;   /* of the last gang_count(), with all units below */
    struct signature
        *like;  /* of its own members, then: their signature; NULL: it has none; borrowed */
    bool mixed; /* they are of several */

    /* plan/unit_choice.c */
    int want;      /* while a plan is made: members it still must get */
    bool chosen;   /* it is to have its minimum */
    bool excluded; /* it has no room: another is chosen in its place */
};

/* One PodGroup: the object, or only a name that pods or other PodGroups refer to. */
struct group {
    /* podgroup/podgroups.c */
    char *key;
    struct gang_ref ref;
    struct gang_group_facts *facts; /* NULL: not known */
    uint64_t objects;               /* counts those of its name that have gone */
    bool declared;                  /* facts are what its pods say: there is no object */
    struct pod *declaring_pod;      /* the pod whose word that is */
    struct gang *gang;              /* never NULL */
    struct list in_gang;
    uint64_t formed;       /* core->forming when its gang was last formed; 0: to be formed again */
    uint64_t stays;        /* core->forming when it was found to belong to its gang */
    struct group_link {    /* PodGroups it names: its parent, those of its bundle */
        struct list in_to; /* to->children, or to->namers */
        struct group *from, *to;
        bool bundle;
    } * links;
    size_t n_links;
    struct list children; /* group_link of others that name it as their parent */
    struct list namers;   /* that name it for their bundle */
    size_t n_members;     /* pods linked to it */

    /* podgroup/quorum.c */
    struct unit **units; /* the first is its own, then one for each subgroup, then parts */
    size_t n_units, cap_units;
    size_t n_specs;       /* so many of them, with its own, are no parts */
    struct map subgroups; /* name -> unit */
    struct map parts;     /* subgroup and label values -> unit */

    /* messages/status_and_events.c */
    struct emitted_status {
        uint64_t words, figures, text; /* digests of the status last emitted */
        usec_t at;
    } emitted;
};

#endif
