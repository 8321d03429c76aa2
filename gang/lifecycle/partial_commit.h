/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial_commit.h - gangs whose commit is unfinished. They go ahead of all other gangs, for a
 * limited time.
 *
 * commit.c begins one for each commit. reconcile() ends it, and finds those that a restart of
 * muster has cut short. gang_order.c puts these gangs first.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H

#include "gang/cluster/lookup.h"

/* A commit of the gang began at `since`. The gang goes first until the commit is finished. */
void partial_commit_begin(struct gang_core *core, struct gang *gang, usec_t since);
/* The time limit is over, so the gang no longer goes first. */
void partial_commit_first_over(struct gang_core *core, struct gang *gang);
/* The commit is finished: the quorum is bound, or no member is bound. */
void partial_commit_end(struct gang_core *core, struct gang *gang);
/* Finds out whether a restart of muster interrupted the commit of a gang that is partly bound. */
void partial_commit_find(struct gang_core *core, struct gang *gang);

#endif
