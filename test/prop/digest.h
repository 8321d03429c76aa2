/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - a number for all that the core did in a run: the replies by call, and the writes by
 * object in order, with codes and without words.
 *
 * Two cores with the same number for each of many seeds behave alike: a change of structure is
 * shown to change nothing else. One thread; digest_end() frees.
 */
#ifndef MUSTER_TEST_PROP_DIGEST_H
#define MUSTER_TEST_PROP_DIGEST_H

#include "gang/gang.h"

struct digest;

struct digest *digest_new(void);
/* The effects of a step of that operation. */
void digest_step(struct digest *d, uint64_t line, const struct gang_effect *e, size_t n);
/* The number. */
uint64_t digest_end(struct digest *d);

#endif
