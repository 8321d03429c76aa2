/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_taker.h - which pods kube-scheduler may preempt for a pod without a gang, by the rules of
 * queues.
 *
 * kube-scheduler knows only priorities. If the pod is in a queue, its victims in other queues must
 * use what these have borrowed, as for gangs (taker.h), so that each queue keeps what it deserves.
 * Pods in no queue are not bound by queues, as before the first Queue object: kube-scheduler
 * decides for them and about them. See
 * docs/decisions/151-rules-of-queues-in-preemption-for-ordinary-pods.md.
 *
 *     struct pod_taker t = pod_taker_begin(core, facts, pod);
 *     pod_may_take(&t, victims);        for the victims of each node
 *     pod_taker_end(&t);
 *
 * In between, nothing may change, and no other trial may be open.
 */
#ifndef MUSTER_GANG_PLAN_POD_TAKER_H
#define MUSTER_GANG_PLAN_POD_TAKER_H

#include "gang/plan/taker.h"

struct pod_taker {
    struct taker taker;
    bool is_free;      /* the rules of queues do not bind the pod */
    int64_t work_left; /* in removed pods, weighted by the queues above them */
    struct trial trial;
    struct trial_mark base; /* without the pods that are ending or will end */
};

/* For one preempt call. `pod`: the same pod in the cluster cache; NULL: it is not there, so it
 * takes nothing from other queues. */
struct pod_taker pod_taker_begin(struct gang_core *core, const struct gang_pod_facts *facts,
                                 const struct pod *pod);
/* Whether the pod may take all these victims. Also false if the call has used up its work. */
bool pod_may_take(struct pod_taker *t, const struct gang_victims *victims);
void pod_taker_end(struct pod_taker *t);

#endif
