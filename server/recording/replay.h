/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - replays a recording (server/recording/record.h): a new core gets the recorded events
 * step by step, and its effects are compared with the recorded ones.
 *
 * Stateless. One thread.
 */
#ifndef MUSTER_SERVER_RECORDING_REPLAY_H
#define MUSTER_SERVER_RECORDING_REPLAY_H

#include "base/buf.h"
#include "base/err.h"
#include "gang/gang.h"

struct replay_options {
    bool check; /* check the invariants after every step */
    /* Called after every step; may be NULL. `clock` is the time since the first line. */
    void (*after)(void *arg, usec_t clock, const struct gang_core *core);
    void *arg;
};

struct replay {
    char *version, *at; /* muster's version and the time of the recording, from the first line */
    char *end;          /* why the recording ends; NULL: unknown, for example muster was killed */
    bool cut;           /* the last line is incomplete, and was ignored */
    uint64_t steps, events, effects;
    uint64_t scheduled, bindings;
    usec_t start, now; /* the core's clock at the first line, and at the last step */
    struct gang_stats stats;

    /* The first difference. It is in the last step that was replayed. */
    bool differs;
    size_t effect, n_recorded, n_decided;
    char *recorded, *decided; /* the effect as JSON; "": there is no such effect */
};

/*
 * Returns 0 if the recording was replayed to its end or to the first difference. Returns -1 if it
 * cannot be read or an invariant is violated; err names the line. The caller calls replay_done() in
 * both cases.
 */
int replay_file(const char *path, const struct replay_options *options, struct replay *ret,
                struct err *err);
void replay_done(struct replay *r);

#endif
