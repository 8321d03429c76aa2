/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - a hash of everything that the core does in a run.
 *
 * The digest covers the replies to each call and the writes to each object, in order. It contains
 * reason codes but no message texts. If two versions of the core have equal digests for many seeds,
 * they behave in the same way. Use this to check a refactoring.
 *
 * digest_new() creates a digest, digest_step() adds the effects of a step, and digest_end() returns
 * the hash and frees the digest. One thread at a time.
 */
#ifndef MUSTER_TEST_PROP_DIGEST_H
#define MUSTER_TEST_PROP_DIGEST_H

#include "gang/gang.h"

struct digest;

struct digest *digest_new(void);
/* Adds the n effects of a step. `line` is the number of the operation that ran the step. */
void digest_step(struct digest *d, uint64_t line, const struct gang_effect *e, size_t n);
/* Returns the hash and frees `d`. */
uint64_t digest_end(struct digest *d);

#endif
