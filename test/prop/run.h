/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - draws lists of operations from seeds, plays them, and shrinks those that fail.
 *
 * random_ops.c draws the list of a seed. run_list() plays a list in a child process, so that the
 * caller sees a crash, an endless loop and a failed check in the same way. shrink() makes a failing
 * list smaller. The caller owns all lists. One thread at a time.
 */
#ifndef MUSTER_TEST_PROP_RUN_H
#define MUSTER_TEST_PROP_RUN_H

#include "test/prop/model.h"

struct failure {
    bool failed;
    int line;     /* the number of the operation; 0: after the last one, or unknown */
    char tag[16]; /* the kind of failure: I1, ledger, stuck, crash, … */
    char text[512];
};

/* Stores the operations of the seed in *ret. They depend only on the seed and on random_ops.c. */
void draw_seed(uint64_t seed, struct ops *ret);

/* Plays the list in this process. fail() must not return. `trace` (may be NULL) gets the operations
 * that did something, and *ret_digest (may be NULL) the digest of the run (digest.h). */
void play(const struct ops *ops, bool twin, bool loud, struct ops *trace, struct totals *totals,
          uint64_t *ret_digest, void (*fail)(struct model *, const char *, const char *));

/* Whether a signal from outside ended the child, which shows nothing about the core. */
bool killed_from_outside(int wait_status);

/* Plays the list in a child process. Exits if a signal from outside ends the child. `trace` (may be
 * NULL) gets the operations that did something up to the failure, with the subjects that were
 * chosen. */
struct failure run_list(const struct ops *ops, bool twin, struct ops *trace);

/* Replaces `ops` by the smallest list found that fails in the same way, and returns its failure.
 * `tries` is the maximum number of runs. */
struct failure shrink(struct ops *ops, bool twin, struct failure failure, int tries);

/* From now on, a run that takes too long counts as an endless loop and ends the process. */
void limit_run(void);
bool ended_by_limit(int wait_status);

#endif
