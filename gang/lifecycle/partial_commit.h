/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial_commit.h - commits that are only partly bound: finishing them comes first, for a limited
 * time.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_PARTIAL_COMMIT_H

#include "gang/cluster/lookup.h"

/* A commit of the gang began at `since`: the gang comes first until it is finished. */
void partial_commit_begin(struct gang_core *core, struct gang *gang, usec_t since);
/* The time is up: the gang no longer comes first. */
void partial_commit_first_over(struct gang_core *core, struct gang *gang);
/* The gang is whole, or none of its members is bound. */
void partial_commit_end(struct gang_core *core, struct gang *gang);
/* The gang is partly bound: detects a commit that a restart of muster interrupted. */
void partial_commit_find(struct gang_core *core, struct gang *gang);

#endif
