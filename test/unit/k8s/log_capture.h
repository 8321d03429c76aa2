/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_capture.h - captures the warnings and errors that are logged, as text.
 */
#ifndef MUSTER_TEST_LOG_CAPTURE_H
#define MUSTER_TEST_LOG_CAPTURE_H

#include <stdio.h>

/* What is written to stderr from now on goes to a file; returns what was stderr. */
int capture_log(FILE **file);
/* The text, which the caller frees; stderr is what it was. */
char *end_capture(FILE *file, int saved);

#endif
