/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim_gangs.h - which preemptions would leave a gang running below its minimum.
 *
 * kube-scheduler chooses victims pod by pod. It may preempt all bound members of a gang, or members
 * beyond the minimum. If it preempted others, the rest of the gang would keep its devices and could
 * not work.
 */
#ifndef MUSTER_GANG_VERB_VICTIM_GANGS_H
#define MUSTER_GANG_VERB_VICTIM_GANGS_H

#include "gang/cluster/lookup.h"

/* The gangs of the victims of one preempt call. */
struct victim_gangs {
    const struct gang_core *core;
    int64_t work_left;    /* units of gangs that the call may still visit */
    struct pod **members; /* victims of one node that are members, ordered by gang */
    size_t n, cap;
    struct pod **counted_out; /* members that kube-scheduler will evict because of earlier calls */
    size_t n_counted_out, counted_out_cap;
};

/* Counts the members of all gangs with victims in the call, without those that kube-scheduler will
 * evict because of earlier calls. Until the end, nothing else may count the members of these gangs.
 */
struct victim_gangs victim_gangs_begin(const struct gang_core *core, const struct gang_event *ev);
/* Whether the preemption of these victims breaks a gang. Also true if the call has used up its
 * work. */
bool victims_break_gang(struct victim_gangs *g, const struct gang_victims *victims);
void victim_gangs_end(struct victim_gangs *g);

#endif
