/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.h - would a gang that waits have room, if something were otherwise?
 *
 * Each question is a trial: the planner places the gang in a picture that is changed and then
 * restored, so the answer is its own, with all rules. kube-scheduler's calls wait meanwhile: all
 * questions about a gang share one bound of looks at nodes, and what is beyond it is not asked.
 *
 * Between two steps; one thread. On the caller's stack.
 */
#ifndef MUSTER_GANG_STEP_WHAT_IF_H
#define MUSTER_GANG_STEP_WHAT_IF_H

#include "gang/cluster/lookup.h"

struct what_if {
    struct gang_core *core;
    struct gang *gang;
    int64_t looks; /* that may still be spent */
};

/* False: room is not what the gang waits for. */
bool what_if_begin(struct what_if *w, struct gang_core *core, struct gang *gang);
/* If all pods and reservations of the other gang ended, or the pod did (the other is NULL). */
enum gang_answer what_if_gone(struct what_if *w, struct gang *other, struct pod *pod);
/* How many more nodes like this one would do, `least` at least; 0: not found out. */
int what_if_nodes(struct what_if *w, const struct node *like, int least);

#endif
