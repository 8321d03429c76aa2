/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_facts.h - compares facts by their text in recordings.
 */
#ifndef MUSTER_TEST_FUZZ_COMPARE_FACTS_H
#define MUSTER_TEST_FUZZ_COMPARE_FACTS_H

#include "gang/event.h"
#include "test/fuzz/fuzz.h"

/* Appends the facts of a NODE_SET, POD_SET, GROUP_SET, CLASS_SET, CLAIM_SET, BUDGET_SET or JOB_SET
 * event as text. */
void facts_put(const struct gang_event *set, struct buf *out);
/* Checks that both events have the same facts. */
void facts_same(const char *what, const struct gang_event *a, const struct gang_event *b);
/* Checks that the facts stay the same when they are written and read. */
void facts_survive_recording(const struct gang_event *set);

#endif
