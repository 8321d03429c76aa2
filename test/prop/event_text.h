/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text.h - events and effects as text, one line each.
 *
 * test_prop prints these lines when it plays a scenario. The model also compares the effects of two
 * cores by their text, and digest.h hashes it. Stateless.
 */
#ifndef MUSTER_TEST_PROP_EVENT_TEXT_H
#define MUSTER_TEST_PROP_EVENT_TEXT_H

#include "base/buf.h"
#include "gang/gang.h"

void event_text(struct buf *b, const struct gang_event *ev);
/* Contains every field of the effect. */
void effect_text(struct buf *b, const struct gang_effect *e);

#endif
