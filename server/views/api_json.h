/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_json.h - the core's state as the JSON of /api/v1. On the core thread.
 */
#ifndef MUSTER_SERVER_VIEWS_API_JSON_H
#define MUSTER_SERVER_VIEWS_API_JSON_H

#include "base/buf.h"
#include "gang/gang.h"
#include "server/views/history.h"

/* Items of a page at most, and where nobody asks for fewer. */
#define API_JSON_PAGE 250

/*
 * Lists, a page at a time: {"gangs":[…],"metadata":{…}}, with "continue" in metadata where there is
 * more. ns NULL: of all namespaces. `now` is the core's clock, `wall` the same moment.
 */
void api_json_gangs(struct gang_core *core, const char *ns, struct gang_page *page, usec_t now,
                    usec_t wall, struct buf *out);
void api_json_nodes(struct gang_core *core, struct gang_page *page, struct buf *out);
/* One gang with a page of its members and, on the first, why it is where it is; false when there is
 * none. api_group NULL: the first of that name. */
bool api_json_gang(struct gang_core *core, const struct history *history, const char *ns,
                   const char *name, const char *api_group, struct gang_page *page, usec_t now,
                   usec_t wall, struct buf *out);
/* What there is instead of a gang that does not exist, as a sentence. */
void api_json_no_gang(const struct gang_core *core, const char *ns, const char *name,
                      struct buf *out);
/* Why a gang is where it is, as members of its object. */
void api_json_explain(struct gang_core *core, const struct history *history,
                      const struct gang_ref *ref, usec_t now, usec_t wall, struct buf *out);

#endif
