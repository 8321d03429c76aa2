/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text.h - events and effects as text, one line each: for people who replay a scenario, and
 * to compare the decisions of two cores byte by byte. Stateless.
 */
#ifndef MUSTER_TEST_PROP_EVENT_TEXT_H
#define MUSTER_TEST_PROP_EVENT_TEXT_H

#include "base/buf.h"
#include "gang/gang.h"

void event_text(struct buf *b, const struct gang_event *ev);
/* Everything that is in the effect. */
void effect_text(struct buf *b, const struct gang_effect *e);

#endif
