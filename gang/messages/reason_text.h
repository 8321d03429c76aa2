/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason_text.h - the texts that explain to users why a gang waits.
 *
 * A text states what the gang needs, what exists and what is missing, and names objects so that
 * users can pass the names to kubectl. It contains no number that changes with time alone: each
 * change of the text makes kube-scheduler retry every waiting pod. docs/pending.md quotes all
 * texts.
 */
#ifndef MUSTER_GANG_MESSAGES_REASON_TEXT_H
#define MUSTER_GANG_MESSAGES_REASON_TEXT_H

#include "gang/cluster/lookup.h"
#include "gang/plan/min_resources_check.h"

/* Whether the code differs from that of the gang's reason, or the gang has moved to another queue
 * and the code is about queues. */
bool reason_is_news(const struct gang *gang, enum gang_reason_code code);
/* Sets the gang's reason and help text, which the gang owns from now on. help may be NULL. True:
 * something has changed. */
bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help);
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);

/* The texts, which the caller frees. Texts with counts use the last gang_count(). */
/* The PodGroup has no facts. */
char *reason_missing(const struct group *group);
/* Members a and b differ in a label that must be the same. */
char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b);
/* The minimums below the PodGroup's own unit exceed its maximum. */
char *reason_beyond_maximum(const struct unit *own);
/* Members are missing or not plannable. */
char *reason_members(const struct gang *gang);
/* The plan failed. */
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
/* A change that would help; NULL: none is known. */
char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s);
/* minResources are not free. */
char *reason_min_resources(const struct min_short *below);
/* With strict order, another gang is ahead. */
char *reason_behind(const struct gang *gang);
/* For REASON_PLAN_TOO_LARGE, while the gang waits as a costly gang. */
char *reason_costly(const struct gang *gang);
/* The attempt timed out. */
char *reason_timeout(const struct gang *gang, usec_t timeout);
/* The oldest held call of the gang has reached its limit. */
char *reason_hold(const struct gang *gang, usec_t hold);

/* The text with which filter refuses a waiting member; lives as long as the step's effects. */
const char *reason_for_pod(struct gang_core *core, struct gang *gang);
/* The reason code of that text. */
enum gang_reason_code reason_code_for_pod(const struct gang *gang);
/* Makes the next reason_for_pod() use the current reason. */
void pod_text_forget(struct gang *gang);

#endif
