/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victims.h - what may be evicted to make room for a gang.
 *
 * A victim is a whole gang, one member of a gang that the gang does not need, or an ordinary pod.
 * So what is left of a gang always meets its minimums.
 *
 * A gang may take room from victims of a lower priority in its own queue, unless a member has the
 * preemptionPolicy Never. Protected are gangs and pods that are not preemptible, pods without a
 * controller, which nobody would create again, pods that belong to their node, and gangs whose
 * commit is not over.
 */
#ifndef MUSTER_GANG_PLAN_VICTIMS_H
#define MUSTER_GANG_PLAN_VICTIMS_H

#include "gang/cluster/trial.h"

struct victim {
    struct gang *gang; /* NULL: an ordinary pod */
    struct pod *pod;   /* NULL: the whole gang */
    int32_t priority;
    int64_t lost; /* device-seconds since its pods were bound */
    int64_t ran;  /* pod-seconds since then */
};

struct victims {
    struct victim *items; /* lower priority first, then less lost */
    size_t n, cap;
};

/* What may be evicted for the gang. Deducts its work from *work_left, in scanned nodes, and stops
 * when nothing is left. The caller frees the result with victims_done(). */
struct victims victims_for(struct gang_core *core, const struct gang *gang, int64_t *work_left);
void victims_done(struct victims *victims);
/* Removes what makes room without an eviction: pods that are Terminating, and the plans of gangs
 * from which the gang may take room, if none of their members is bound. */
void trial_without_leaving(struct trial *t, const struct gang *gang);
/* Removes the victim. False: this would leave its gang below a minimum, or nothing of the victim is
 * left to remove. Then the caller must revert the trial to its mark before the call. */
bool victim_remove(struct trial *t, const struct victim *victim);

/* The cost of a set of victims. Each part decides only between sets with equal earlier parts. */
struct eviction_cost {
    int32_t priority; /* the highest of a victim */
    int gangs;        /* how many gangs and ordinary pods are hit */
    int64_t lost, ran;
};
/* `chosen` says for each of the first n victims whether it is in the set. */
struct eviction_cost eviction_cost(const struct victims *victims, const bool *chosen, size_t n);
int eviction_cost_compare(const struct eviction_cost *a, const struct eviction_cost *b);

#endif
