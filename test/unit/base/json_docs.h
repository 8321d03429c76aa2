/* SPDX-License-Identifier: Apache-2.0 */
/* json_docs.h - JSON documents drawn at random, and mistakes in them. */
#ifndef MUSTER_TEST_JSON_DOCS_H
#define MUSTER_TEST_JSON_DOCS_H

#include <stdint.h>

#include "base/buf.h"

void docs_seed(uint64_t seed);
unsigned docs_pick(unsigned n);
/* Appends a value. Some of its scalars are from `odd` (strings of JSON, NULL at the end) unless
 * that is NULL. */
void docs_put(struct buf *b, int depth, const char *const *odd);
/* Changes, drops or adds a byte. */
void docs_mutate(struct buf *b);

#endif
