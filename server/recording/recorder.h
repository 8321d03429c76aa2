/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - writes a recording (server/recording/record.h) while muster serves.
 *
 * The core thread turns each step into a line and leaves it in memory; a thread of the recorder
 * writes. So the disk never delays the core. When the disk is slower than what is recorded (more
 * than RECORDER_BACKLOG waits), full, or the size limit is reached, the recording ends with a line
 * in the log, and muster serves on. What was left is written within a second and at the end.
 *
 * Life cycle: recorder_open() before the core's first step, then for each step recorder_events()
 * before and recorder_effects() after it, recorder_close() at the end. All by one thread at a time.
 */
#ifndef MUSTER_SERVER_RECORDING_RECORDER_H
#define MUSTER_SERVER_RECORDING_RECORDER_H

#include "server/recording/record.h"

#define RECORDER_BACKLOG ((size_t)128 << 20)
/* The default of --record-limit. */
#define RECORDER_LIMIT ((int64_t)1 << 30)

struct recorder;

struct recorder_options {
    const char *path; /* a file that is there already is kept as PATH.old */
    int64_t limit;    /* bytes of the file */
    size_t backlog;   /* bytes that may wait for the disk */
};
struct recorder *recorder_open(const struct recorder_options *options,
                               const struct gang_config *config, struct err *err);
void recorder_events(struct recorder *r, usec_t now, const struct gang_event *events, size_t n);
void recorder_effects(struct recorder *r, const struct gang_effect *effects, size_t n);
/* Writes what is left. NULL is fine; returns NULL. */
struct recorder *recorder_close(struct recorder *r);

#endif
