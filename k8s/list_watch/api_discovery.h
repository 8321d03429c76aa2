/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_discovery.h - finds out whether, and in which version, the API server serves the PodGroups
 * of a dialect. It retries until they are served.
 *
 * found() is called with NULL, at most once, when the server first answers "not served" or
 * "forbidden", and with a version when they are served. Then the retries stop until
 * api_discovery_again(). Client's thread.
 *
 * gate_policy_check_start() finds out whether the API server can set muster's scheduling gate by
 * itself. It retries until the server answers, and logs once if it cannot.
 */
#ifndef MUSTER_K8S_LIST_WATCH_API_DISCOVERY_H
#define MUSTER_K8S_LIST_WATCH_API_DISCOVERY_H

#include "k8s/client/client.h"
#include "k8s/dialect/dialect.h"

struct api_discovery;

typedef void api_discovery_fn(void *arg, const char *version, bool status_subresource);

struct api_discovery *api_discovery_start(struct client *c, const struct dialect *dialect,
                                          api_discovery_fn *found, void *arg);
/* It was served and is no longer: ask again. */
void api_discovery_again(struct api_discovery *d);
struct api_discovery *api_discovery_free(struct api_discovery *d);

struct gate_policy_check;

struct gate_policy_check *gate_policy_check_start(struct client *c);
struct gate_policy_check *gate_policy_check_free(struct gate_policy_check *p);

#endif
