/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup.h - a PodGroup in the cluster cache, and the tree of units for its members.
 *
 * podgroup/podgroups.c creates a PodGroup when it appears, or when a pod or another PodGroup names
 * it. podgroup/quorum.c creates the units. The core owns both. The comment before a group of fields
 * names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_PODGROUP_H
#define MUSTER_GANG_CLUSTER_PODGROUP_H

#include "base/map.h"
#include "gang/cluster/signature.h"

/* Numbers of members, see gang_count(). */
struct tally {
    int members; /* neither Terminating nor Failed */
    int bound;   /* assigned, or Succeeded */
    int binding; /* Binding sent, no result yet */
    int held;    /* bind call held */
    int slots;   /* unbound, with a slot; includes slots of expected members */
    int running, succeeded, failed;
    int gated;          /* unbound, with a scheduling gate of another controller */
    int foreign;        /* unbound, with a schedulerName that muster does not serve */
    int closed;         /* unbound, with muster's own gate; also counted in another field */
    int plannable;      /* unbound and plannable, see pod_plannable() */
    int missed;         /* of these, without a slot, and have missed an attempt (pod->missed) */
    int rejected_early; /* unbound, rejected early by kube-scheduler */
    const char *gate, *scheduler; /* of some member that `gated`, `foreign` counts; borrowed */
    const char *refused;          /* name of some member that was rejected early; borrowed */
};

/* The stage that a member must have reached to count. Each stage includes the later ones. */
enum stage {
    STAGE_NONE, /* no member counts */
    STAGE_EXISTS,
    STAGE_REACHABLE, /* bound or plannable */
    STAGE_LIKELY,    /* bound, has a slot, or is plannable and has not missed an attempt */
    STAGE_PLANNED,   /* bound, or has a slot */
    STAGE_AT_BIND,   /* bound, or its bind call is held */
    STAGE_BOUND,
};

/*
 * A part of a gang with its own minimum: a PodGroup, a subgroup, one of the equal parts of a
 * subgroup, or a bundle of PodGroups. The PodGroup owns its units, and the gang owns a bundle. The
 * units are created again when the PodGroup's facts change.
 */
struct unit {
    /* podgroup/quorum.c */
    struct group *group;              /* NULL: a bundle */
    const struct gang_subgroup *spec; /* borrowed from the facts; NULL: the PodGroup, or a bundle */
    char *part;                       /* the label values of this part; NULL: not a part */
    struct unit *parent;              /* NULL: the gang's root */
    struct list in_parent, children;
    int n_children;
    int min_pods;           /* minimum of members in this unit and below */
    int min_children;       /* how many units directly below must meet their minimums; -1: all */
    int max_pods;           /* maximum of members at once; 0: no limit */
    bool detached;          /* its parent is missing, or is below this unit */
    struct tally t;         /* the result of the last gang_count(), including all units below */
    uint64_t counted;       /* in the root: gang->marks.members at that count; 0: count again */
    struct signature *like; /* signature of its own members in the last count; NULL: no members */
    bool mixed;             /* its own members have several signatures */

    /* plan/subgroup_choice.c */
    int want;      /* while a gang is planned: how many members still need a slot */
    bool chosen;   /* while a gang is planned: the plan must meet its minimum */
    bool excluded; /* while a gang is planned: it does not fit, so other units are chosen */
};

/* A PodGroup. It may be only a name that pods or other PodGroups use. */
struct group {
    /* podgroup/podgroups.c */
    char *key;
    struct gang_ref ref;
    struct gang_group_facts *facts; /* NULL: unknown */
    uint64_t objects;               /* how many objects of this name were deleted or replaced */
    bool declared;                  /* no object exists: the facts are from a pod */
    struct pod *declaring_pod;      /* that pod */
    struct gang *gang;              /* never NULL */
    struct list in_gang;
    uint64_t formed;       /* core->forming when its gang was last formed; 0: form it again */
    uint64_t stays;        /* core->forming when it last stayed in its gang */
    struct group_link {    /* to a PodGroup that it names: its parent, or one of its gang group */
        struct list in_to; /* to->children, or to->namers */
        struct group *from, *to;
        bool bundle;
    } * links;
    size_t n_links;
    struct list children; /* links of PodGroups that name it as their parent */
    struct list namers;   /* links of PodGroups that name it in their gang group */
    size_t n_members;     /* pods linked to it */

    /* podgroup/quorum.c */
    struct unit **units; /* the PodGroup's own unit, then subgroups, then parts */
    size_t n_units, cap_units;
    size_t n_specs;       /* how many of them are not parts */
    struct map subgroups; /* name -> unit */
    struct map parts;     /* subgroup and label values -> unit */

    /* lifecycle/suspension.c */
    uint64_t resumed; /* core->steps when muster last requested to resume its workload */

    /* messages/status_and_events.c */
    struct emitted_status {
        uint64_t words, figures, text; /* digests of the last emitted status */
        usec_t at;                     /* when it was emitted */
    } emitted;
};

#endif
