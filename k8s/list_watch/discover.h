/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - finds out whether and in which version the API server serves the PodGroups of a
 * dialect, by asking until it does.
 *
 * found() is called with NULL once, when the first answer is "not served", and with a version when
 * it is served; then the asking ends until discover_again(). Client's thread.
 *
 * policies_ask() asks, until it is answered, whether the API server can set muster's scheduling
 * gate by itself, and says it, once, where it cannot.
 */
#ifndef MUSTER_K8S_LIST_WATCH_DISCOVER_H
#define MUSTER_K8S_LIST_WATCH_DISCOVER_H

#include "k8s/client/client.h"
#include "k8s/dialect/dialect.h"

struct discover;

typedef void discover_fn(void *arg, const char *version, bool status_subresource);

struct discover *discover_start(struct client *c, const struct dialect *dialect, discover_fn *found,
                                void *arg);
/* It was served and is no longer: ask again. */
void discover_again(struct discover *d);
struct discover *discover_free(struct discover *d);

struct policies;

struct policies *policies_ask(struct client *c);
struct policies *policies_free(struct policies *p);

#endif
