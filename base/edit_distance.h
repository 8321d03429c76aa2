/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_distance.h - how many edits two names differ by, for "did you mean" hints. Stateless.
 */
#ifndef MUSTER_BASE_EDIT_DISTANCE_H
#define MUSTER_BASE_EDIT_DISTANCE_H

#include <stddef.h>

/* Levenshtein's distance, letters in any case; SIZE_MAX when one is too long to be compared. */
size_t edit_distance(const char *a, const char *b);

#endif
