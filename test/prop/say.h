/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - events and effects in words, one line each: for people who repeat a scenario, and to
 * compare the decisions of two cores byte by byte. Stateless.
 */
#ifndef MUSTER_TEST_PROP_SAY_H
#define MUSTER_TEST_PROP_SAY_H

#include "base/buf.h"
#include "gang/gang.h"

void say_event(struct buf *b, const struct gang_event *ev);
/* Everything that is in the effect. */
void say_effect(struct buf *b, const struct gang_effect *e);

#endif
