/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.h - what happens to stored objects by themselves: bound pods run and end, Jobs create
 * pods, what an object owned and what ran on a lost node is deleted (kubelet, Job controller,
 * garbage collectors).
 *
 * It keeps nothing: what is under way stands in the objects and in the tasks of their store's
 * clock. Objects that come or go otherwise than through a kubelet or a controller go through here,
 * so that what follows is done. One thread.
 */
#ifndef MUSTER_SIMULATOR_CONTROLLERS_H
#define MUSTER_SIMULATOR_CONTROLLERS_H

#include "simulator/api_server.h"

/* Takes the manifest; what the API server refuses is logged. */
void run_create(struct store *s, json_t *manifest);
/* As `kubectl delete`: a bound pod ends a little later. */
void run_delete(struct store *s, struct object *o);
/* As `kubectl scale` of a Job. */
void run_scale(struct store *s, struct object *job, int64_t parallelism);
/* The pod was bound: its node starts it. */
void run_bound(struct store *s, struct object *pod);

#endif
