/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_json.h - writes the core's state as the JSON of /api/v1. Stateless. On the core thread.
 */
#ifndef MUSTER_SERVER_VIEWS_API_JSON_H
#define MUSTER_SERVER_VIEWS_API_JSON_H

#include "base/buf.h"
#include "gang/gang.h"
#include "k8s/manifest/manifest_gangs.h"
#include "server/views/history.h"

/* The maximum number of items in a page, and the default. */
#define API_JSON_PAGE 250

/*
 * Write a page of a list: {"gangs":[…],"metadata":{…}}. If the list has more items, metadata has
 * "continue". ns NULL: all namespaces. `now` is the time of the core's clock, and `wall` is the
 * same moment by the wall clock.
 */
void api_json_gangs(struct gang_core *core, const char *ns, struct gang_page *page, usec_t now,
                    usec_t wall, struct buf *out);
void api_json_nodes(struct gang_core *core, struct gang_page *page, struct buf *out);
/* The tree of queues, parents before their children. */
void api_json_queues(struct gang_core *core, struct gang_page *page, struct buf *out);
/* Writes a gang with a page of its members, without the closing brace. api_group NULL: the first
 * gang with that name. Returns the gang, until the next step of the core; NULL: it does not exist.
 */
const struct gang_ref *api_json_gang(struct gang_core *core, const char *ns, const char *name,
                                     const char *api_group, struct gang_page *page, usec_t now,
                                     usec_t wall, struct buf *out);
/* Writes the error text for a gang that does not exist. It lists the gangs of the namespace with
 * the most similar names. */
void api_json_no_gang(const struct gang_core *core, const char *ns, const char *name,
                      struct buf *out);
/* Writes the metadata of a list, as in Kubernetes, from the results in `page`. */
void api_json_metadata(struct buf *out, const struct gang_page *page);
/* Writes the first gangs ahead in the order. */
void api_json_ahead(struct buf *out, const struct gang_explained *why);
/* Writes how many more nodes would be enough, if known. */
void api_json_more_nodes(struct buf *out, const struct gang_explained *why);
/* Writes what muster may evict. to_wall: from the core's clock to the wall clock; NULL: leaves out
 * moments. */
void api_json_eviction(struct buf *out, const struct gang_explained_eviction *e,
                       const usec_t *to_wall);
/* Writes a part of the explanation of a gang's state, as members of the gang's object. Returns the
 * next part. Finds the gang by its whole ref, since each part is a turn of its own, and neither a
 * search among all gangs nor their order is needed. */
enum gang_explain api_json_explain(struct gang_core *core, const struct history *history,
                                   const struct gang_ref *ref, enum gang_explain part, usec_t now,
                                   usec_t wall, struct buf *out);
/* Writes what would happen to the gangs of the manifests. Takes the facts of their pods, and adds
 * faults that only the core can find. -1: the question cannot be answered. */
int api_json_check(struct gang_core *core, struct manifest_gangs *m, struct buf *out,
                   struct err *err);

#endif
