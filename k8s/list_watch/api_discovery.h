/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_discovery.h - finds out whether, and in which version, the API server serves a custom
 * resource. It retries until the API server serves it.
 *
 * It calls found() with version NULL, at most once, when the API server first answers "not
 * served" or "forbidden". It calls found() with a version when the API server serves the
 * resource. It then stops retrying until api_discovery_again().
 *
 * gate_policy_check_start() finds out whether the API server serves MutatingAdmissionPolicy, with
 * which the chart sets muster's scheduling gate. It retries until the API server answers, and logs
 * a warning if the API server does not serve it.
 *
 * All functions belong to the client's thread.
 */
#ifndef MUSTER_K8S_LIST_WATCH_API_DISCOVERY_H
#define MUSTER_K8S_LIST_WATCH_API_DISCOVERY_H

#include "k8s/client/client.h"

struct api_discovery;

/* A custom resource. The strings are borrowed for as long as the discovery exists. */
struct api_resource {
    const char *api_group;
    const char *const *versions; /* preferred first, NULL at the end */
    const char *plural;
};

typedef void api_discovery_fn(void *arg, const char *version, bool status_subresource);

struct api_discovery *api_discovery_start(struct client *c, const struct api_resource *resource,
                                          api_discovery_fn *found, void *arg);
/* Call it when the PodGroups are no longer served. It starts to ask again. */
void api_discovery_again(struct api_discovery *d);
/* Accepts NULL; returns NULL. */
struct api_discovery *api_discovery_free(struct api_discovery *d);

struct gate_policy_check;

struct gate_policy_check *gate_policy_check_start(struct client *c);
/* Accepts NULL; returns NULL. */
struct gate_policy_check *gate_policy_check_free(struct gate_policy_check *p);

#endif
