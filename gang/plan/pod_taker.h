/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_taker.h - which pods kube-scheduler may preempt for a pod without a gang, by the rules of
 * queues.
 *
 * kube-scheduler knows only priorities. If the pod is in a queue, muster allows only victims that a
 * gang in this queue could take (taker.h), so that each queue keeps what it deserves. A pod in no
 * queue is not bound by queues, as before the first Queue object. See
 * docs/decisions/151-hold-preemption-for-single-pods-to-queues.md.
 */
#ifndef MUSTER_GANG_PLAN_POD_TAKER_H
#define MUSTER_GANG_PLAN_POD_TAKER_H

#include "gang/plan/taker.h"

struct pod_taker {
    struct taker taker;
    bool is_free;      /* the rules of queues do not bind the pod */
    int64_t work_left; /* looks at victims, and at the queues above them */
};

/* For one preempt call. `pod`: the same pod in the cluster cache; NULL: not there, so it takes
 * nothing back from other queues. Nothing may change until the last pod_may_take(). */
struct pod_taker pod_taker_of(struct gang_core *core, const struct gang_pod_facts *facts,
                              const struct pod *pod);
/* Whether the pod may take all these victims. Also false if the call has used up its work. No trial
 * may be open. */
bool pod_may_take(struct pod_taker *t, const struct gang_victims *victims);

#endif
