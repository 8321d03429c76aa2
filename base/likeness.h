/* SPDX-License-Identifier: Apache-2.0 */
/*
 * likeness.h - how far two words are from each other, to guess what somebody meant. Stateless.
 */
#ifndef MUSTER_BASE_LIKENESS_H
#define MUSTER_BASE_LIKENESS_H

#include <stddef.h>

/* Levenshtein's distance, letters in any case; SIZE_MAX when one is too long to be compared. */
size_t likeness_distance(const char *a, const char *b);

#endif
