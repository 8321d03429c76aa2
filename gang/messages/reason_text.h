/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason_text.h - the texts that explain to users why a gang waits.
 *
 * A text states what is needed, what exists and what is missing, and names objects as kubectl
 * takes them.
 * It contains no number that changes by itself: each change of a text costs kube-scheduler another
 * try of every waiting pod.
 */
#ifndef MUSTER_GANG_MESSAGES_REASON_TEXT_H
#define MUSTER_GANG_MESSAGES_REASON_TEXT_H

#include "gang/cluster/lookup.h"

/* Sets the gang's reason and help text (may be NULL); takes both; true: something changed. */
bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help);
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);
/* Texts, allocated. Those with counts use the last gang_count(). */
char *reason_missing(const struct group *group);
char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b);
char *reason_beyond_maximum(const struct unit *own);
char *reason_members(const struct gang *gang);
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
/* NULL: no known change would help. */
char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s);
char *reason_min_resources(const struct group *group, const struct gang_amount *min, int64_t room);
char *reason_behind(const struct gang *gang);
char *reason_timeout(const struct gang *gang, usec_t timeout);
char *reason_hold(const struct gang *gang, usec_t hold);
/* The text with which filter refuses a waiting member, and the reason code it belongs to. */
const char *reason_for_pod(struct gang_core *core, struct gang *gang);
enum gang_reason_code reason_code_for_pod(const struct gang *gang);
/* Makes the next reason_for_pod() use the current reason. */
void pod_text_forget(struct gang *gang);

#endif
