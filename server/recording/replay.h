/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - a recording (server/recording/record.h), decided again: a fresh core gets the recorded
 * events, step by step, and what it decides is compared with what was recorded.
 *
 * Pure but for reading the file; one thread.
 */
#ifndef MUSTER_SERVER_RECORDING_REPLAY_H
#define MUSTER_SERVER_RECORDING_REPLAY_H

#include "base/buf.h"
#include "base/err.h"
#include "gang/gang.h"

struct replay_options {
    bool check; /* the invariants, after every step */
    /* After every step, `clock` from the start of the recording; may be NULL. */
    void (*after)(void *arg, usec_t clock, const struct gang_core *core);
    void *arg;
};

struct replay {
    char *version, *at; /* of the muster that recorded, and when; from the first line */
    char *end;          /* why the recording ends; NULL: it does not say (killed) */
    bool cut;           /* its last line is not whole, and was left out */
    uint64_t steps, events, effects;
    uint64_t scheduled, bindings;
    usec_t start, now; /* the core's clock, at the first line and now */
    struct gang_stats stats;

    /* The first difference, in the last of the steps; "": there is none there. */
    bool differs;
    size_t effect, n_recorded, n_decided;
    char *recorded, *decided; /* JSON of the effect */
};

/*
 * Returns 0 when the recording was decided again, to its end or to the first difference; -1 when it
 * cannot be read or an invariant is violated, with the line in err. The caller calls replay_done()
 * in every case.
 */
int replay_file(const char *path, const struct replay_options *options, struct replay *ret,
                struct err *err);
void replay_done(struct replay *r);

#endif
