/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sentence a person reads. They say what is needed, what there is and what is missing, name
 * objects as kubectl would be asked for them, and hold no figure that changes by itself: a text
 * that changes costs the scheduler another try of every waiting pod.
 */
#ifndef MUSTER_GANG_MESSAGES_REASON_TEXT_H
#define MUSTER_GANG_MESSAGES_REASON_TEXT_H

#include "gang/cluster/lookup.h"

/* Sets the gang's reason, and what would help (or NULL); takes both; true when anything changed. */
bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help);
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);
/* Sentences, allocated. Those that count go by the last gang_count(). */
char *reason_missing(const struct group *group);
char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b);
char *reason_beyond_maximum(const struct unit *own);
char *reason_members(const struct gang *gang);
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
/* May be NULL: nothing is known that would help. */
char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s);
char *reason_min_resources(const struct group *group, const struct gang_amount *min, int64_t room);
char *reason_behind(const struct gang *gang);
char *reason_timeout(const struct gang *gang, usec_t timeout);
char *reason_hold(const struct gang *gang, usec_t hold);
/* What filter says to a waiting member, and the reason that this is about. */
const char *reason_for_pod(struct gang_core *core, struct gang *gang);
enum gang_reason_code reason_code_for_pod(const struct gang *gang);
/* The next call words it anew. */
void pod_text_forget(struct gang *gang);

#endif
