/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - the core's picture as the JSON of /api/v1. On the core thread.
 */
#ifndef MUSTER_SERVER_VIEWS_H
#define MUSTER_SERVER_VIEWS_H

#include "base/buf.h"
#include "gang/gang.h"
#include "server/history.h"

/* {"gangs":[…]}; ns NULL: of all namespaces. `now` is the core's clock, `wall` the same moment. */
void views_gangs(const struct gang_core *core, const char *ns, usec_t now, usec_t wall,
                 struct buf *out);
/* One gang with its members and why it is where it is; false when there is none. api_group NULL:
 * the first of that name. */
bool views_gang(const struct gang_core *core, const struct history *history, const char *ns,
                const char *name, const char *api_group, usec_t now, usec_t wall, struct buf *out);
/* The part of it that says why, as members of an object. */
void views_explain(const struct gang_core *core, const struct history *history,
                   const struct gang_ref *ref, usec_t now, usec_t wall, struct buf *out);
/* Why there is no such gang, with the names that it may be: one sentence. */
void views_no_gang(const struct gang_core *core, const char *ns, const char *name, struct buf *out);
/* {"nodes":[…]} */
void views_nodes(const struct gang_core *core, struct buf *out);

#endif
