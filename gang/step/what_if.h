/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.h - whether a waiting gang would have room after a hypothetical change.
 *
 * Each query is a trial (trial.h). It changes the ledger, lets the planner place the gang with all
 * its rules, and reverts the changes. kube-scheduler's calls wait meanwhile, so all queries about a
 * gang share one limit of work. Queries beyond the limit return GANG_NOT_ASKED, or 0 nodes.
 *
 * struct what_if is on the caller's stack. Use it between two steps.
 */
#ifndef MUSTER_GANG_STEP_WHAT_IF_H
#define MUSTER_GANG_STEP_WHAT_IF_H

#include "gang/cluster/lookup.h"

struct what_if {
    struct gang_core *core;
    struct gang *gang;
    int64_t work_left; /* in scanned nodes */
};

/* Begins queries about the gang. False: the gang does not wait for room. */
bool what_if_begin(struct what_if *w, struct gang_core *core, struct gang *gang);
/* Whether the gang would have room if the other gang, with its pods and slots, or the pod ended.
 * One of `other` and `pod` must be NULL. */
enum gang_answer what_if_gone(struct what_if *w, struct gang *other, struct pod *pod);
/* With how many more nodes like this one the gang would have room. Tries `least` nodes first, then
 * more; 0: unknown. */
int what_if_nodes(struct what_if *w, const struct node *like, int least);

#endif
