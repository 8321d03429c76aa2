/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victims.h - what may be evicted to make room for a gang.
 *
 * A victim is a whole gang, one member of a gang that the gang does not need, or an ordinary pod.
 * So a gang either ends completely or keeps its minimums.
 *
 * A gang may take room from victims of a lower priority in its own queue. It may also take back
 * room that its queue deserves and has lent to other queues (gang/queue/reclaim.h). The priorities
 * of those victims do not matter. If a member of the gang has the preemptionPolicy Never, the gang
 * takes no room.
 *
 * These are protected:
 *   - gangs and pods that are not preemptible
 *   - whole gangs and ordinary pods that have not run for the minimum time of their queue
 *   - pods without a controller, because nothing would create them again
 *   - pods of a DaemonSet, and static pods
 *   - pods with a grace period of more than an hour
 *   - pods that muster has recently failed to evict
 *   - pods whose disruption budget allows no eviction
 *   - gangs that muster is binding.
 *
 * Two protections are from reclaim only: that of a queue by the limit on reclaim, and that of a
 * gang that has just evicted others, see gang_has_won(). A gang with a protected member is never
 * evicted as a whole. Neither is a gang with members that have succeeded: these do not run again,
 * so it could not start as a whole.
 *
 * Victims whose Job would fail come last, whatever priority they have. The single pods of a Job are
 * counted from the cheapest up; those beyond what the Job may lose come last, too.
 */
#ifndef MUSTER_GANG_PLAN_VICTIMS_H
#define MUSTER_GANG_PLAN_VICTIMS_H

#include "gang/plan/taker.h"

/* Looking at this many pods, or comparing a pod with as many disruption budgets, costs as much work
 * as scanning one node. */
#define LOOKS_PER_WORK 8

struct victim {
    struct gang *gang; /* NULL: an ordinary pod */
    struct pod *pod;   /* NULL: the whole gang */
    struct take take;
    size_t owner;  /* one number for all victims of a gang, or for an ordinary pod; from 0 */
    bool ends_job; /* a Job fails, because it loses more pods than its backoffLimit allows */
    int32_t priority;
    int64_t lost; /* devices times seconds since its pods were bound, or since the last checkpoint
                     of their job if this is later */
    int64_t ran;  /* the sum of the seconds since its pods were bound, each + 1. A pod whose time is
                     unknown counts from its creation. Both stop at INT64_MAX */
};

struct victims {
    struct victim *items; /* those that end no Job first, then lower priority, then less lost */
    size_t n, cap;
    size_t n_owners;
    bool *hit;      /* for eviction_cost(), by owner; all false */
    int32_t lowest; /* the lowest priority of a gang or pod that uses room; INT32_MAX: none does */
    bool leaving;   /* something that the gang may hit is leaving already, or has slots */
    struct taker taker;
    uint32_t decision; /* list only its victims; 0: list all */
    bool relaxed; /* victim_remove() ignores minimums, disruption budgets and what queues deserve */
    /* The first disruption budget that protected a pod; NULL: none has. */
    const struct gang_budget_facts *in_the_way;
    /* Of the branches that the limit on reclaim protects, the one whose rest ends first; NULL:
     * none. */
    const struct queue *resting;
    usec_t rests_until;
    /* Of a search: the first queue that would have had less than it deserves without a victim;
     * NULL: none. */
    const struct queue *deserving;
};

/* Whether pods may be evicted for the gang: no member has the preemptionPolicy Never. */
bool gang_may_preempt(const struct gang *gang);
/* Whether muster may evict the pod, as far as this does not depend on disruption budgets, on its
 * gang or on its queue. */
bool pod_may_be_evicted(const struct gang_core *core, const struct pod *pod);
/* Whether the taker may take the slots of the other gang's plan: it may take room from that gang,
 * and no member of that gang is at bind or bound. */
bool plan_yields(const struct taker *taker, struct gang *other);
/* Lists what may be evicted for the gang. Deducts its work from *work_left, in scanned nodes. If
 * nothing is left of it, the list is incomplete and not sorted. The victims borrow gangs and pods
 * from the core. The caller frees the list with victims_done(). */
struct victims victims_for(struct gang_core *core, const struct gang *gang, int64_t *work_left);
/* Like victims_for(), but lists only victims of the decision gang->preempting.decision that may
 * still be evicted. `lowest`, `leaving`, `in_the_way` and `resting` say nothing about others. */
struct victims victims_decided(struct gang_core *core, const struct gang *gang, int64_t *work_left);
void victims_done(struct victims *victims);
/* Removes in the trial the pods that are leaving their nodes anyway. */
void trial_without_ending(struct trial *t);
/* Deducts what this takes from *work_left, `each` for a pod. False: it is too much. */
bool spend_on_ending(const struct gang_core *core, int64_t *work_left, int64_t each);
/* Removes in the trial what makes room without an eviction: all Terminating pods, and the slots of
 * gangs whose plans the gang may take, see plan_yields(). */
void trial_without_leaving(struct trial *t, const struct gang *gang);
/* Removes victim i in the trial. False: this would leave its gang below a minimum or a queue below
 * what it deserves, a disruption budget does not allow one more, or nothing of the victim is left
 * to remove. The trial may then contain a part of the removal, so the caller takes a mark before
 * the call and goes back to it. */
bool victim_remove(struct trial *t, struct victims *victims, size_t i);

#endif
