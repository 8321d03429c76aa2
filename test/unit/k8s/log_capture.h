/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_capture.h - captures logged warnings and errors as text.
 */
#ifndef MUSTER_TEST_LOG_CAPTURE_H
#define MUSTER_TEST_LOG_CAPTURE_H

#include <stdio.h>

/* Redirects stderr to a file; returns the old stderr. */
int capture_log(FILE **file);
/* Restores stderr. Returns the captured text, which the caller frees. */
char *end_capture(FILE *file, int saved);

#endif
