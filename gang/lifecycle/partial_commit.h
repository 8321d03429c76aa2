/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial_commit.h - commits of which a part is bound: they are finished before all else, for a
 * while.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H

#include "gang/cluster/lookup.h"

/* A commit of it began then, and is to be finished before all else. */
void partial_commit_begin(struct gang_core *core, struct gang *gang, usec_t since);
/* It has gone first for long enough. */
void partial_commit_first_over(struct gang_core *core, struct gang *gang);
/* It is whole, or nothing of it is bound. */
void partial_commit_end(struct gang_core *core, struct gang *gang);
/* Some of it is bound, and it is not whole: an earlier life may have died in its commit. */
void partial_commit_find(struct gang_core *core, struct gang *gang);

#endif
