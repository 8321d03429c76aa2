/* SPDX-License-Identifier: Apache-2.0 */
/* json_docs.h - random JSON documents, and random mistakes in them. */
#ifndef MUSTER_TEST_JSON_DOCS_H
#define MUSTER_TEST_JSON_DOCS_H

#include <stdint.h>

#include "base/buf.h"

void docs_seed(uint64_t seed);
unsigned docs_pick(unsigned n);
/* Appends a value. Some of its scalars come from `odd` (JSON strings, ending with NULL), unless
 * that is NULL. */
void docs_put(struct buf *b, int depth, const char *const *odd);
/* Changes, drops or adds a byte. */
void docs_mutate(struct buf *b);

#endif
