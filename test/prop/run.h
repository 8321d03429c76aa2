/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - runs of operation lists: drawn from seeds, judged, and shrunk when they fail.
 *
 * random_ops.c makes the list of a seed. run_list() plays one in a process of its own, so that a
 * crash, an endless loop and a failed check are all the same to the caller. shrink() makes a
 * failing list small. One thread; callers own the lists.
 */
#ifndef MUSTER_TEST_PROP_RUN_H
#define MUSTER_TEST_PROP_RUN_H

#include "test/prop/model.h"

struct failure {
    bool failed;
    int line;     /* of the operation; 0: at the end, or not known */
    char tag[16]; /* what kind: I1, ledger, stuck, crash, … */
    char text[512];
};

/* The operations of a seed: the same for ever, as long as random_ops.c is the same. */
void draw_seed(uint64_t seed, struct ops *ret);

/* Plays the list here; fail() must not return. `trace` (may be NULL) gets what was done, and
 * `ret_digest` (may be NULL) a number for what the core did (digest.h). */
void play(const struct ops *ops, bool twin, bool loud, struct ops *trace, struct totals *totals,
          uint64_t *ret_digest, void (*fail)(struct model *, const char *, const char *));

/* Plays the list in a child process. `trace` (may be NULL) gets what was done up to the failure,
 * with the names that were chosen. */
struct failure run_list(const struct ops *ops, bool twin, struct ops *trace);

/* The smallest list found that fails in the same way; `ops` is replaced. Tries at most so many
 * runs. */
struct failure shrink(struct ops *ops, bool twin, struct failure failure, int tries);

#endif
