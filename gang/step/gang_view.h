/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_view.h - read-only views of gangs, members and nodes for the API and metrics.
 *
 * list_pages.c and explain.c call it between two steps, for a query. It sets only gang->rank.
 */
#ifndef MUSTER_GANG_STEP_GANG_VIEW_H
#define MUSTER_GANG_STEP_GANG_VIEW_H

#include "gang/cluster/lookup.h"

/* Whether the gang waits for a plan. */
bool gang_is_waiting(const struct gang *gang);
/* Sets gang->rank of all gangs: the position among waiting gangs, from 1; 0: the gang does not
 * wait. */
void gang_view_rank(const struct gang_core *core);
/* Passes a view to fn. For a group, call gang_count() and gang_view_rank() before. */
void view_group(const struct group *group, gang_view_fn *fn, void *arg);
void view_member(const struct pod *pod, gang_member_fn *fn, void *arg);
void view_node(const struct node *node, gang_node_fn *fn, void *arg);

#endif
