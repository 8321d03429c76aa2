/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.h - whether a waiting gang would have room after a hypothetical change.
 *
 * Each query is a trial: muster changes its state, lets the planner place the gang with all rules,
 * and restores the state. kube-scheduler's calls wait meanwhile, so all queries about a gang share
 * one limit of work; queries beyond it return GANG_NOT_ASKED, or 0 nodes.
 *
 * Runs between two steps; one thread. Lives on the caller's stack.
 */
#ifndef MUSTER_GANG_STEP_WHAT_IF_H
#define MUSTER_GANG_STEP_WHAT_IF_H

#include "gang/cluster/lookup.h"

struct what_if {
    struct gang_core *core;
    struct gang *gang;
    int64_t work_left; /* in scanned nodes */
};

/* False: the gang does not wait for room. */
bool what_if_begin(struct what_if *w, struct gang_core *core, struct gang *gang);
/* Whether there is room without the other gang's pods and reservations, or without the pod. One of
 * `other` and `pod` is NULL. */
enum gang_answer what_if_gone(struct what_if *w, struct gang *other, struct pod *pod);
/* How many more nodes like this one are needed, trying from `least` on; 0: unknown. */
int what_if_nodes(struct what_if *w, const struct node *like, int least);

#endif
