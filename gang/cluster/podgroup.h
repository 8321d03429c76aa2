/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup.h - a PodGroup in the cluster cache, and the tree of minimums for its members.
 *
 * podgroup/podgroups.c makes a PodGroup when it appears or something names it; podgroup/quorum.c
 * makes the units. Owned by the core; one thread. The comment before some fields names the only
 * file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_PODGROUP_H
#define MUSTER_GANG_CLUSTER_PODGROUP_H

#include "base/map.h"
#include "gang/cluster/signature.h"

/* Members counted, see gang_count(). */
struct tally {
    int members; /* neither Terminating nor Failed */
    int bound;   /* assigned, or Succeeded */
    int binding; /* Binding sent, no result yet */
    int held;    /* bind call held */
    int slots;   /* unbound, with a slot; includes expected slots */
    int running, succeeded, failed;
    int gated;          /* unbound, with a scheduling gate of others */
    int foreign;        /* unbound, with another schedulerName */
    int closed;         /* unbound, with muster's own gate; counted in another field too */
    int plannable;      /* unbound, and muster may plan it, see pod_plannable() */
    int rejected_early; /* unbound, rejected early by kube-scheduler */
    const char *gate, *scheduler; /* an example of each; borrowed */
    const char *refused;          /* the name of one member rejected early; borrowed */
};

/* How far a member must be to count. Each stage includes the later ones. */
enum stage {
    STAGE_NONE, /* no member counts */
    STAGE_EXISTS,
    STAGE_REACHABLE, /* bound, or the scheduler may place it */
    STAGE_PLANNED,   /* bound, or has a slot */
    STAGE_AT_BIND,   /* bound, or its bind call is held */
    STAGE_BOUND,
};

/*
 * A part of a gang with its own minimum: a PodGroup, one of its subgroups, one of the equal parts
 * of a subgroup, or a bundle of PodGroups. Its PodGroup owns it, the gang owns the bundle. It is
 * made again when the PodGroup's facts change.
 */
struct unit {
    /* podgroup/quorum.c */
    struct group *group;              /* NULL: a bundle */
    const struct gang_subgroup *spec; /* NULL: the PodGroup itself; borrowed from its facts */
    char *part;                       /* the label values of this part; NULL: not a part */
    struct unit *parent;              /* NULL: the gang's root */
    struct list in_parent, children;
    int n_children;
    int min_pods;           /* minimum of members in it and below */
    int min_children;       /* units directly below it that must have their minimum */
    int max_pods;           /* most members at once; 0: no limit */
    bool detached;          /* its parent is missing or below it */
    struct tally t;         /* counts of the last gang_count(), including all units below */
    struct signature *like; /* its own members' signature at the last count; NULL: none */
    bool mixed;             /* its own members have several signatures */

    /* plan/subgroup_choice.c */
    int want;      /* during planning: members it still needs */
    bool chosen;   /* during planning: it must get its minimum */
    bool excluded; /* during planning: it does not fit, another is chosen */
};

/* One PodGroup: an object, or only a name that pods or other PodGroups use. */
struct group {
    /* podgroup/podgroups.c */
    char *key;
    struct gang_ref ref;
    struct gang_group_facts *facts; /* NULL: unknown */
    uint64_t objects;               /* counts deleted objects with its name */
    bool declared;                  /* its pods state the facts; no object exists */
    struct pod *declaring_pod;      /* the pod that they come from */
    struct gang *gang;              /* never NULL */
    struct list in_gang;
    uint64_t formed;       /* core->forming when its gang was last formed; 0: to be formed again */
    uint64_t stays;        /* core->forming when it was last confirmed in its gang */
    struct group_link {    /* PodGroups that it names: its parent and its bundle */
        struct list in_to; /* to->children, or to->namers */
        struct group *from, *to;
        bool bundle;
    } * links;
    size_t n_links;
    struct list children; /* group_link of PodGroups that name it as parent */
    struct list namers;   /* group_link of PodGroups that name it in their bundle */
    size_t n_members;     /* pods linked to it */

    /* podgroup/quorum.c */
    struct unit **units; /* its own unit first, then its subgroups, then parts */
    size_t n_units, cap_units;
    size_t n_specs;       /* units that are not parts, its own included */
    struct map subgroups; /* name -> unit */
    struct map parts;     /* subgroup and label values -> unit */

    /* messages/status_and_events.c */
    struct emitted_status {
        uint64_t words, figures, text; /* digests of the status that was last emitted */
        usec_t at;
    } emitted;
};

#endif
