/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.h - the kubelet, the Job controller and the garbage collectors of the built-in
 * cluster. Bound pods run and end, and Jobs create pods. The objects of a deleted Job and the pods
 * of a deleted node are deleted.
 *
 * The module has no state of its own: it uses the objects in the store and the tasks in the store's
 * clock. Other modules create and delete objects through the functions below, so that the
 * controllers react. One thread.
 */
#ifndef MUSTER_SIMULATOR_CONTROLLERS_H
#define MUSTER_SIMULATOR_CONTROLLERS_H

#include "simulator/api_server.h"

/* Takes ownership of the manifest. Logs an error if the API server refuses the object. */
void run_create(struct store *s, json_t *manifest);
/* Like `kubectl delete`: a bound pod ends COST_TERMINATE later. */
void run_delete(struct store *s, struct object *o);
/* Like `kubectl scale` for a Job. */
void run_scale(struct store *s, struct object *job, int64_t parallelism);
/* Like `kubectl patch --type merge`. Takes ownership of the patch. */
void run_patch(struct store *s, struct object *o, json_t *patch);
/* Call it after a pod is bound: its node then starts the pod. */
void run_bound(struct store *s, struct object *pod);

#endif
