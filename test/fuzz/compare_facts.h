/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_facts.h - facts as text (that of recordings), to compare them.
 */
#ifndef MUSTER_TEST_FUZZ_COMPARE_FACTS_H
#define MUSTER_TEST_FUZZ_COMPARE_FACTS_H

#include "gang/event.h"
#include "test/fuzz/fuzz.h"

/* What a NODE_SET, POD_SET, GROUP_SET, CLASS_SET or CLAIM_SET says. */
void facts_put(const struct gang_event *set, struct buf *out);
/* Both say the same. */
void facts_same(const char *what, const struct gang_event *a, const struct gang_event *b);
/* What is written is read, and says the same again. */
void facts_survive_recording(const struct gang_event *set);

#endif
