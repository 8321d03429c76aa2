/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - a queue in the cluster cache: its limits, and what its pods use.
 *
 * All queues form one tree. Its root is the cluster; pods that no queue takes count in a leaf of
 * their own below the root. The tree exists while at least one queue object does: without queue
 * objects nothing is counted.
 *
 * queue/queues.c makes a queue when the watch shows it, or a gang or another queue names it, and
 * frees it when none of this is true any more. Owned by the core; one thread. The comment before
 * some fields names the only file that writes them.
 */
#ifndef MUSTER_GANG_CLUSTER_QUEUE_H
#define MUSTER_GANG_CLUSTER_QUEUE_H

#include "base/map.h"
#include "gang/cluster/signature.h"
#include "gang/queue_facts.h"

/* What a queue states about a resource, by resource number; see struct gang_quota. */
struct quota {
    uint32_t resource;
    int64_t reserved, deserved, cap, weight;
    bool cap_unset;
};

/* What pods need together: `times` times each of these needs. The items are borrowed. */
struct need_list {
    const struct need *items;
    size_t n;
    int64_t times;
};

/* The gangs of a queue, as its status counts them. */
enum queue_gangs {
    GANGS_WAITING,
    GANGS_PLANNED, /* with a plan, and not Scheduled yet */
    GANGS_RUNNING,
    GANGS_DONE,
    QUEUE_GANGS
};

/* The pods of a namespace are in the queue unless they name another. */
struct queue_claim {
    struct queue *queue;
    char *ns;
    bool more;                /* a claim without this comes first */
    struct list in_namespace; /* the other claims to the namespace */
};

struct queue {
    /* What each planning pass reads comes first. */

    /* queue/queues.c */
    struct gang_queue_facts *facts; /* NULL: gangs or queues name it, and no object exists */

    /* queue/queue_tree.c */
    struct queue *parent; /* NULL: it is the root */
    struct quota *quotas; /* sorted by resource number */
    size_t n_quotas;
    size_t n_children;
    const struct queue *fault; /* it or the queue above whose own_fault counts here; NULL: none */
    int level;                 /* 0: the root */
    bool closed;               /* it or a queue above takes no new pods */
    bool reserves;             /* it has a reserved amount */

    /* queue/queue_order.c: what orders it among its siblings */
    struct queue_standing {
        uint64_t as_of; /* core->queue_changes then, + 1; 0: never */
        bool under;     /* it uses less than it deserves */
        int32_t priority;
        int64_t share; /* its dominant share by weight, or what it is in debt */
        usec_t created;
    } standing;

    /* cluster/queue_usage.c */
    struct amounts used, firm; /* charged and reserved in it and all queues below it; by gangs
                                  that are not preemptible */
    struct amounts awaited;    /* the same for preempted room that does not fit into limits yet */
    uint64_t freed;            /* core->marks.clock when `used` last shrank, or a limit grew */
    uint64_t changed;          /* core->queue_changes when something that orders it last changed */
    /* what its children have reserved and do not use: the sums of the low and high halves, see
     * queue_unused_reserves() */
    struct amounts unused_reserves, unused_reserves_high;
    int own_gangs[QUEUE_GANGS];   /* gangs in it itself */
    int gangs_below[QUEUE_GANGS]; /* the same, with all queues below it */
    size_t n_counted;             /* pods and slots counted in it itself */
    uint64_t want_changed;        /* core->want_changes when `share.wanted` may last have changed */
    struct list in_changed;       /* core->queues_changed or core->queues_to_emit */
    struct queue_later {
        struct amounts used, firm;
        bool less;        /* some of it is less than before */
    } later;              /* what the queues above it have not counted yet */
    struct list in_later; /* core->queues_later */

    /* queue/reclaim.c: what other queues have taken back from it, see queue_loses() */
    struct queue_losses {
        /* In thousandths of a unit, because losses fade in small steps: */
        usec_t as_of;
        struct amounts lost; /* what counted as lost then */
        struct amounts of;   /* the most that it has used of each resource of which it lost some */
    } losses;

    /* queue/fair_share.c */
    struct queue_share {
        struct amounts fair;   /* its fair share, in thousandths of a unit */
        uint64_t as_of;        /* core->want_changes when `wanted` was summed, + 1; 0: never */
        struct amounts wanted; /* `used`, and what the waiting gangs below it need */
        int64_t fraction;      /* the largest part of the cluster that `fair` is, see SHARE_ONE */
        int64_t largest;       /* the same for its largest waiting gang */
        int64_t credit;        /* see fair_share.h; SHARE_ONE for a second */
        int64_t past;          /* its past use with decay, as a part of the cluster */
        int64_t boost;         /* factor of its weights from past use, in thousandths */
        bool waits;            /* gangs in it or below it wait */
        bool oversize;         /* its next gang needs more than its fair share */
    } share;

    /* plan/taker.c: how the present taker may take room from it */
    struct queue_as_victim {
        uint64_t round;       /* core->taker_rounds when this was found out; 0: never */
        struct queue *branch; /* see struct take; NULL: only by priority, if it is its own queue */
        usec_t min_runtime;
    } as_victim;

    /* plan/queue_picks.c: its gangs that are due in this planning pass */
    struct queue_due_gangs {
        uint64_t pass;       /* number of the pass that the fields are for */
        size_t first, last;  /* indexes of its own due gangs + 1; 0: none */
        struct queue **heap; /* children with due gangs; the first in order on top */
        size_t n, cap;
        size_t at;                        /* its index in the parent's heap */
        uint64_t line_pass;               /* the pass that `line` is for */
        struct gang **line;               /* if it is fifo: its waiting gangs, in order, */
        size_t n_line, cap_line, line_at; /* and the index of the first that still waits */
    } due_gangs;

    /* queue/queues.c */
    char *key;
    struct gang_ref ref;
    struct list gangs;          /* gangs in it, by in_queue */
    struct list in_edited;      /* core->queues.edited */
    struct list in_unused;      /* core->queues.unused */
    struct queue_claim *claims; /* the namespaces whose pods it takes */
    size_t n_claims;
    bool moved; /* it came, went or named another parent since it was settled */

    /* queue/queue_tree.c */
    struct queue *named;           /* its named parent, which may have no object; NULL: none */
    struct list in_namers, namers; /* those that name it */
    struct list in_pending;        /* to get its parent, while the tree is settled */
    struct list in_parent, children;
    bool circular;   /* it would be its own ancestor */
    char *own_fault; /* why no gang can use it, by its own fields; NULL: no reason */

    /* step/top_queues.c */
    usec_t waiting_since; /* see struct gang_queue_figures; valid while they are shown */

    /* messages/queue_status.c */
    uint64_t emitted; /* digest of the status that was last emitted; 0: none */
};

#endif
