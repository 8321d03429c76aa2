/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - writes a recording (server/recording/record.h) while muster serves.
 *
 * The thread that runs a step turns the step into a line and puts it into memory. The recorder's
 * own thread writes the file, so the disk never delays the core. Lines reach the file within a
 * second. The recording ends early if the disk is too slow (more than `backlog` bytes wait or are
 * being written) or full, or if the file reaches its size limit. The log then has the reason, and
 * muster continues to serve.
 *
 * Life cycle: recorder_open() before the core's first step, recorder_events() before and
 * recorder_effects() after each step, recorder_close(). One thread at a time.
 */
#ifndef MUSTER_SERVER_RECORDING_RECORDER_H
#define MUSTER_SERVER_RECORDING_RECORDER_H

#include "server/recording/record.h"

#define RECORDER_BACKLOG ((size_t)128 << 20)
/* The default of --record-limit, in bytes. */
#define RECORDER_LIMIT ((int64_t)1 << 30)

struct recorder;

struct recorder_options {
    const char *path; /* an existing file is renamed to PATH.old */
    int64_t limit;    /* maximum size of the file, in bytes */
    size_t backlog;   /* maximum number of bytes that wait for the disk or are being written */
};
struct recorder *recorder_open(const struct recorder_options *options,
                               const struct gang_config *config, struct err *err);
void recorder_events(struct recorder *r, usec_t now, const struct gang_event *events, size_t n);
void recorder_effects(struct recorder *r, const struct gang_effect *effects, size_t n);
/* Writes the remaining lines and closes the file. NULL is allowed. Returns NULL. */
struct recorder *recorder_close(struct recorder *r);

#endif
