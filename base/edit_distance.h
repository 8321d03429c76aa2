/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_distance.h - the number of edits that turn one name into another, for "did you mean" hints.
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_EDIT_DISTANCE_H
#define MUSTER_BASE_EDIT_DISTANCE_H

#include <stddef.h>

/* Levenshtein distance, ignoring case. SIZE_MAX: a name has 256 bytes or more. */
size_t edit_distance(const char *a, const char *b);

#endif
